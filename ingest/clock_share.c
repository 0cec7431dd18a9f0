#include "ingest/clock_share.h"

#include "base/mem.h"

#include <stdlib.h>

void ctx_clock_share_deinit(struct ctx_clock_share *share)
{
	free(share->threads);
	*share = (struct ctx_clock_share){0};
}

static enum ctx_status reach(struct ctx_clock_share *share, uint32_t thread, struct ctx_err *err)
{
	enum ctx_status status;

	if (thread < share->n)
		return CTX_OK;
	status = ctx_grow(&share->threads, &share->cap, (size_t)thread + 1, err);
	while (status == CTX_OK && share->n <= thread)
		share->threads[share->n++] = (struct ctx_clock_share_of){0, 0};
	return status;
}

enum ctx_status ctx_clock_share_on_cpu(struct ctx_clock_share *share, uint32_t thread, uint64_t ns,
				       struct ctx_err *err)
{
	enum ctx_status status = reach(share, thread, err);

	if (status == CTX_OK)
		share->threads[thread].on_cpu_ns += ns;
	return status;
}

enum ctx_status ctx_clock_share_seen(struct ctx_clock_share *share, uint32_t thread, uint64_t ns,
				     struct ctx_err *err)
{
	enum ctx_status status = reach(share, thread, err);

	if (status == CTX_OK)
		share->threads[thread].seen_ns += ns;
	return status;
}

struct ctx_clock_share_sum ctx_clock_share_below(const struct ctx_clock_share *share, uint64_t below_ns)
{
	struct ctx_clock_share_sum sum = {0};

	for (size_t i = 0; i < share->n; i++) {
		const struct ctx_clock_share_of *thread = &share->threads[i];

		if (thread->on_cpu_ns == 0 || thread->on_cpu_ns >= below_ns)
			continue;
		sum.threads++;
		sum.on_cpu_ns += thread->on_cpu_ns;
		sum.seen_ns += thread->seen_ns;
	}
	return sum;
}
