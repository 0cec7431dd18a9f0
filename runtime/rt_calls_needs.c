#include "runtime/rt_calls_needs.h"

#include "runtime/rt_calls_sums.h"

#include <errno.h>

static void take_over(struct ctx_rt_calls *calls)
{
	if (ctx_rt_calls_settings.sums)
		ctx_rt_sums_take_over(calls);
}

static struct ctx_rt_calls *begin(struct ctx_rt_calls *calls)
{
	calls = ctx_rt_calls_take_ring(calls, take_over);
	return calls == NULL || !ctx_rt_calls_settings.sums || ctx_rt_sums_begin(calls) ? calls : NULL;
}

void ctx_rt_calls_work(struct ctx_rt_calls_request *request)
{
	int error = errno;

	switch (request->need) {
	case CTX_RT_CALLS_BEGIN:
		request->result = (uint64_t)(uintptr_t)begin(request->calls);
		break;
	case CTX_RT_CALLS_GROW:
		request->result = ctx_rt_calls_grow(request->calls);
		break;
	case CTX_RT_CALLS_CHUNK:
		request->result = ctx_rt_calls_make_chunk(request->value);
		break;
	case CTX_RT_CALLS_CLOCK:
		request->result = ctx_rt_calls_now();
		break;
	case CTX_RT_CALLS_SYNC:
		ctx_rt_calls_sync(request->calls, request->value);
		break;
	case CTX_RT_CALLS_WAIT:
		ctx_rt_calls_wait(request->calls);
		break;
	case CTX_RT_CALLS_BORDER:
		ctx_rt_sums_border(request->calls, request->value);
		break;
	case CTX_RT_CALLS_COUNT:
		request->result = ctx_rt_calls_count(request->calls);
		break;
	}
	errno = error;
}
