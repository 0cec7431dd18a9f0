#include "collect/callchain.h"

#include "model/event_source.h"

#define USER_MIN 4096u /* nothing is mapped in the first page */
#if defined(__x86_64__)
#define USER_END UINT64_C(0x800000000000)
#else
#define USER_END CTX_KERNEL_START
#endif
#define CONTEXT_MIN ((uint64_t)PERF_CONTEXT_MAX) /* markers are the numbers above */

enum part {
	PART_KERNEL,
	PART_USER,
	PART_IGNORED, /* hypervisor and guests: addresses of another machine */
};

static enum part part_of_marker(uint64_t marker, enum part before)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PART_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PART_USER;
	case (uint64_t)PERF_CONTEXT_HV:
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PART_IGNORED;
	default: /* PERF_CONTEXT_USER_DEFERRED and what comes after it */
		return before;
	}
}

static bool is_possible(uint64_t ip, enum part part)
{
	return part == PART_KERNEL ? ip >= CTX_KERNEL_START : ip >= USER_MIN && ip < USER_END;
}

static enum part part_of_sample(const struct ctx_perf_record *sample)
{
	switch (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return PART_KERNEL;
	case PERF_RECORD_MISC_USER:
		return PART_USER;
	default:
		return PART_IGNORED;
	}
}

void ctx_callchain_unwind(struct ctx_callchain *chain, const struct ctx_perf_record *sample)
{
	enum part part = part_of_sample(sample);
	bool is_exact = true, is_cut = false, skips = false;
	size_t n = 0, n_entries = 0;

	for (size_t i = 0; i < sample->sample.n_chain; i++) {
		uint64_t ip = sample->sample.chain[i];

		if (ip >= CONTEXT_MIN) {
			part = part_of_marker(ip, part);
			is_exact = true;
			skips = false;
			continue;
		}
		n_entries++;
		if (part == PART_IGNORED || skips)
			continue;
		if (!is_possible(ip, part)) {
			is_cut = true;
			skips = true; /* up to the next marker */
			continue;
		}
		if (n == CTX_CALLCHAIN_MAX) {
			is_cut = true;
			break;
		}
		chain->frames[n++] = is_exact ? ip : ip - 1;
		is_exact = false;
	}
	if (n == 0 && (sample->sample.ip != 0))
		chain->frames[n++] = sample->sample.ip;
	if (is_cut || n_entries >= chain->max_stack)
		chain->frames[n++] = CTX_FRAME_TRUNCATED;
	chain->n = n;
}
