#include "model/chainwalk.h"

#include <linux/perf_event.h>

#define MARK_MIN ((uint64_t)PERF_CONTEXT_MAX) /* marks are the numbers from here on */

enum ctx_chainwalk_part ctx_chainwalk_part_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return CTX_CHAINWALK_KERNEL;
	case PERF_RECORD_MISC_USER:
		return CTX_CHAINWALK_USER;
	default:
		return CTX_CHAINWALK_ELSEWHERE;
	}
}

bool ctx_chainwalk_is_mark(uint64_t entry)
{
	return entry >= MARK_MIN;
}

struct ctx_chainwalk ctx_chainwalk_begin(enum ctx_chainwalk_part part)
{
	return (struct ctx_chainwalk){.part = part, .exact = true};
}

static enum ctx_chainwalk_part part_of_mark(uint64_t mark, enum ctx_chainwalk_part before)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return CTX_CHAINWALK_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return CTX_CHAINWALK_USER;
	case (uint64_t)PERF_CONTEXT_HV:
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return CTX_CHAINWALK_ELSEWHERE;
	default: /* PERF_CONTEXT_USER_DEFERRED and what comes after it */
		return before;
	}
}

bool ctx_chainwalk_step(struct ctx_chainwalk *walk, uint64_t *entry)
{
	if (ctx_chainwalk_is_mark(*entry)) {
		walk->part = part_of_mark(*entry, walk->part);
		walk->exact = true;
		return false;
	}
	*entry -= !walk->exact;
	walk->exact = false;
	return true;
}
