/*
 * Unwind pool: unwinds many stacks in parallel, with a given number of threads, the caller's
 * included. The result does not depend on that number.
 */
#ifndef CTX_COLLECT_UNWIND_POOL_H
#define CTX_COLLECT_UNWIND_POOL_H

#include "collect/codemaps.h"

struct ctx_unwind_job {
	const struct ctx_user_state *state; /* borrowed */
	struct ctx_code_view view;
	struct ctx_unwind_chain chain;	 /* n 0: none */
	struct ctx_unwind_frame *frames; /* capacity `max`; the caller's */
	size_t max, n;
	enum ctx_truncation end; /* why it ended */
	struct ctx_unwind_steps steps;
};

struct ctx_unwind_pool;

/*
 * Useful number of threads beside the caller's on a machine with this many CPUs: 0 on small ones.
 */
unsigned ctx_unwind_pool_threads(long n_cpus);

/* Fewer threads than requested are not a failure. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_unwind_pool_create(unsigned n_threads, struct ctx_unwind_pool **ret,
						      struct ctx_err *err);
void ctx_unwind_pool_destroy(struct ctx_unwind_pool *pool);

/* One job alone. Thread-safe, as the unwinder is. */
void ctx_unwind_job_do(struct ctx_unwind_job *job);

/*
 * Runs all jobs: sets n, end and steps of each. ctx_codemaps_refresh must have been called for their
 * processes and maps.
 */
void ctx_unwind_pool_run(struct ctx_unwind_pool *pool, struct ctx_unwind_job *jobs, size_t n);

#endif
