/*
 * Rows of the report wakers: filter and sums.
 */
#ifndef CTX_REPORT_WAKERS_ROWS_H
#define CTX_REPORT_WAKERS_ROWS_H

#include "report/out.h"

struct ctx_wakers_sums {
	uint64_t waits, wait_ns, wait_max_ns, delay_ns, delay_max_ns;
};

/* Inputs of the report. All borrowed. */
struct ctx_wakers_view {
	struct ctx_out *out;
	const struct ctx_profile *profile;
	const struct ctx_report_options *options;
	const struct ctx_report_wakers *wakers;
	size_t n_wakers;
	size_t key; /* of the order: a position in wait_ns, waits, wait_max_ns, delay_ns, delay_max_ns */
};

struct ctx_wakers_sums ctx_wakers_sums_of(const struct ctx_report_wakers *row);
void ctx_wakers_add(struct ctx_wakers_sums *to, const struct ctx_wakers_sums *from);
uint64_t ctx_wakers_key(const struct ctx_wakers_sums *sums, size_t key);

/*
 * Of the reports waits and wakers: CTX_E_NOTFOUND: no thread states were recorded, or no function
 * of the recording passes --function or has the name of the subject.
 */
CTX_MUST_CHECK enum ctx_status ctx_wakers_check(const struct ctx_profile *profile,
						const struct ctx_report_options *options,
						struct ctx_err *err);

/* Whether a wait with this call stack is in the functions of --function and the subject. O(depth). */
bool ctx_wakers_passes(const struct ctx_profile *profile, const struct ctx_report_options *options,
		       uint32_t stack);

/* The name of a state, "USER_LOCK" (`word`) or "user lock"; "?" if there is none. */
const char *ctx_wakers_state(uint32_t state, bool word);

/* What woke the thread, if not a recorded thread; NULL: a recorded thread, or unknown. */
const char *ctx_wakers_external_waker(const struct ctx_profile *profile, const struct ctx_report_wakers *row);

#endif
