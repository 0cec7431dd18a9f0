#include "collect/trace_counts.h"

#include "model/profile.h"

#include <string.h>

#define COUNT_MAX (UINT64_C(1) << 40)

void ctx_trace_count(uint64_t *sum, uint64_t more)
{
	*sum = more <= UINT64_MAX - *sum ? *sum + more : UINT64_MAX;
}

/* Of a number that nobody counts up to nothing is left: it was overwritten. */
static void add_counted(struct ctx_trace_counts *counts, uint64_t *sum, const _Atomic uint64_t *counted)
{
	uint64_t n = atomic_load(counted);

	if (n <= COUNT_MAX)
		ctx_trace_count(sum, n);
	else
		counts->damaged++;
}

/* It may be anything. */
static void take_name(const struct ctx_trace_segment *segment, char name[CTX_RT_APART_NAME_MAX])
{
	memcpy(name, segment->header->apart_name, CTX_RT_APART_NAME_MAX - 1);
	name[CTX_RT_APART_NAME_MAX - 1] = '\0';
	for (char *at = name; *at != '\0'; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	}
}

/* What the target counted. */
void ctx_trace_counts_add(struct ctx_trace_counts *counts, const struct ctx_trace_segment *segment)
{
	/* One that was never mapped has nothing: the process reported why (enum ctx_rt_untraced), or was killed before it could. */
	if (segment->process == CTX_NONE) {
		counts->nobodys += atomic_load(&segment->header->pid) != 0;
		return;
	}
	add_counted(counts, &counts->unplaced, &segment->header->unplaced);
	add_counted(counts, &counts->calls.patched, &segment->header->patched);
	add_counted(counts, &counts->calls.unpatched, &segment->header->unpatched);
	add_counted(counts, &counts->unfit, &segment->header->unfit);
	counts->own += atomic_load(&segment->header->own_allocators) != 0;
	counts->omp_kept += atomic_load(&segment->header->omp_tool) == CTX_RT_OMP_TOOL_KEPT;
	counts->omp_replaced += atomic_load(&segment->header->omp_tool) == CTX_RT_OMP_TOOL_REPLACED;
	counts->restricted += atomic_load(&segment->header->restricted) != 0;
	if (atomic_load(&segment->header->apart) != 0 && counts->apart == 0)
		take_name(segment, counts->apart_name);
	add_counted(counts, &counts->apart, &segment->header->apart);
	for (uint32_t i = 0; i < segment->grant.slots; i++) {
		add_counted(counts, &counts->dropped, &segment->rings[i].slot->dropped);
		add_counted(counts, &counts->interrupted, &segment->rings[i].slot->interrupted);
		add_counted(counts, &counts->calls.left_out, &segment->rings[i].slot->left_out);
		ctx_trace_calls_add_unwritten(segment->rings[i].slot, &counts->calls.unwritten);
		counts->damaged += segment->rings[i].damaged + segment->rings[i].torn;
	}
}
