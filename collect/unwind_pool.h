/*
 * Unwind pool: unwinds many stacks at once, in as many threads as it was given, the caller's included. What comes out does
 * not depend on how many they are.
 */
#ifndef CTX_COLLECT_UNWIND_POOL_H
#define CTX_COLLECT_UNWIND_POOL_H

#include "collect/codemaps.h"

struct ctx_unwind_job {
	const struct ctx_user_state *state; /* borrowed */
	struct ctx_code_view view;
	struct ctx_unwind_frame *frames; /* room for `max`, the caller's */
	size_t max, n;
	enum ctx_truncation end; /* why it ended */
};

struct ctx_unwind_pool;

/* How many threads beside the caller's are of use on a machine of so many CPUs: 0 on small ones. */
unsigned ctx_unwind_pool_threads(long n_cpus);

/* Fewer threads than asked for are no failure. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_unwind_pool_create(unsigned n_threads, struct ctx_unwind_pool **ret,
						      struct ctx_err *err);
void ctx_unwind_pool_destroy(struct ctx_unwind_pool *pool);

/* Does all jobs: sets n and end of each. ctx_codemaps_refresh has been called for what they name. */
void ctx_unwind_pool_run(struct ctx_unwind_pool *pool, struct ctx_unwind_job *jobs, size_t n);

#endif
