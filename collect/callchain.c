#include "collect/callchain.h"

#include "model/chainwalk.h"
#include "model/event_source.h"

#define USER_MIN 4096u /* nothing is mapped in the first page */
#if defined(__x86_64__)
#define USER_END UINT64_C(0x800000000000)
#else
#define USER_END CTX_KERNEL_START
#endif

static bool is_possible(uint64_t ip, enum ctx_chainwalk_part part)
{
	return part == CTX_CHAINWALK_KERNEL ? ip >= CTX_KERNEL_START : ip >= USER_MIN && ip < USER_END;
}

void ctx_callchain_unwind(struct ctx_callchain *chain, const struct ctx_perf_record *sample)
{
	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(sample->misc));
	bool is_cut = false, skips = false;
	size_t n = 0, n_entries = 0;

	for (size_t i = 0; i < sample->sample.n_chain; i++) {
		uint64_t ip = sample->sample.chain[i];

		if (!ctx_chainwalk_step(&walk, &ip)) {
			skips = false;
			continue;
		}
		n_entries++;
		if (walk.part == CTX_CHAINWALK_ELSEWHERE || skips)
			continue;
		if (!is_possible(sample->sample.chain[i], walk.part)) {
			is_cut = true;
			skips = true; /* up to the next mark */
			continue;
		}
		if (n == CTX_CALLCHAIN_MAX) {
			is_cut = true;
			break;
		}
		chain->frames[n++] = ip;
	}
	if (n == 0 && (sample->sample.ip != 0))
		chain->frames[n++] = sample->sample.ip;
	if (is_cut || n_entries >= chain->max_stack)
		chain->frames[n++] = CTX_FRAME_TRUNCATED;
	chain->n = n;
}
