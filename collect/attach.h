/*
 * Loading the runtime (runtime/) into a process that runs already, and taking it out of use again.
 *
 *	ctx_attach_create  --> a thread at a safe place --> dlopen, dlsym, ctx_rt_attach: connects to the recorder,
 *			       directs the calls of all loaded objects to itself
 *	ctx_attach_destroy --> a thread at a safe place --> ctx_rt_detach: directs them back
 *
 * One thread of the process stands still meanwhile, for some milliseconds. The library stays loaded, and is not called
 * any more: a thread may be inside.
 */
#ifndef CTX_COLLECT_ATTACH_H
#define CTX_COLLECT_ATTACH_H

#include "base/err.h"

#include <stdint.h>

struct ctx_attach;

struct ctx_attach_options {
	int64_t pid;
	const char *library; /* its path */
	const char *setting; /* as of CTX_RT_VARIABLE */
};

/* Whether the process can be attached to: as far as can be known without touching it. Fails as ctx_attach_target_check. */
CTX_MUST_CHECK enum ctx_status ctx_attach_check(const struct ctx_attach_options *options,
						struct ctx_err *err);

/*
 * Fails with CTX_E_ARG (it cannot be traced), CTX_E_PERM, CTX_E_NOTFOUND (it has ended), CTX_E_IO, CTX_E_NOMEM; the
 * process goes on as it was.
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_create(const struct ctx_attach_options *options,
						 struct ctx_attach **ret, struct ctx_err *err);

/*
 * Directs the calls back, if the process still runs the same program. What could not be done is said in `err`, with the
 * status; the process goes on either way. NULL is allowed.
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_destroy(struct ctx_attach *attach, struct ctx_err *err);

struct ctx_attach_result {
	uint64_t slots;	     /* references to functions that were changed */
	uint64_t stopped_ns; /* how long one thread stood still */
};
struct ctx_attach_result ctx_attach_result(const struct ctx_attach *attach);

#endif
