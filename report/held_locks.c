#include "report/held_locks.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <stdlib.h>

void ctx_held_locks_deinit(struct ctx_held_locks *held)
{
	free(held->ns);
	*held = (struct ctx_held_locks){0};
}

/* Of one thread. */
static void add(const struct ctx_report_slice *slices, size_t n, struct ctx_interval hold, uint64_t *ns)
{
	/* From the first that ends behind the begin. */
	for (size_t i = ctx_count_up_to(slices, n, interval.end_ns, hold.begin_ns);
	     i < n && slices[i].interval.begin_ns < hold.end_ns; i++) {
		struct ctx_interval slice = slices[i].interval;
		uint64_t begin_ns = hold.begin_ns > slice.begin_ns ? hold.begin_ns : slice.begin_ns;
		uint64_t end_ns = hold.end_ns < slice.end_ns ? hold.end_ns : slice.end_ns;

		ns[i] += end_ns - begin_ns;
		if (ns[i] > slice.end_ns - slice.begin_ns)
			ns[i] = slice.end_ns - slice.begin_ns;
	}
}

static void add_all(const struct ctx_report_traced *traced, const struct ctx_report_slices *slices,
		    uint64_t *ns)
{
	for (size_t i = 0; i < traced->n; i++) {
		const struct ctx_traced *hold = &traced->items[i];

		if (hold->operation != CTX_SYNC_HOLD)
			continue;
		for (size_t at = 0; at < slices->n; at += slices->per_thread) {
			if (slices->slices[at].thread == hold->thread)
				add(&slices->slices[at], slices->per_thread,
				    (struct ctx_interval){hold->time_ns - hold->duration_ns, hold->time_ns},
				    &ns[at]);
		}
	}
}

enum ctx_status ctx_held_locks_make(struct ctx_report_source *source, const struct ctx_report_slices *slices,
				    uint64_t most, struct ctx_held_locks *ret, struct ctx_err *err)
{
	uint64_t n = source->selection.profile->traced[CTX_TRACED_SYNC];
	struct ctx_report_traced traced = {0};
	enum ctx_status status;

	*ret = (struct ctx_held_locks){0};
	if (n == 0 || n > most || slices->per_thread == 0)
		return CTX_OK;
	status = source->traced(source, CTX_TRACED_SYNC, &traced, err);
	if (status != CTX_OK)
		return status;
	ret->ns = ctx_calloc(slices->n, sizeof(*ret->ns));
	if (ret->ns == NULL)
		return ctx_err_nomem(err);
	ret->n = slices->n;
	add_all(&traced, slices, ret->ns);
	return CTX_OK;
}

bool ctx_held_locks_any(const struct ctx_held_locks *held, size_t first, size_t n)
{
	bool any = false;

	for (size_t i = first; i < first + n && i < held->n; i++)
		any |= held->ns[i] != 0;
	return any;
}

char ctx_held_locks_mark(uint64_t held_ns, uint64_t length_ns)
{
	return held_ns == 0 ? ' ' : held_ns > length_ns / 2 ? '=' : '-';
}
