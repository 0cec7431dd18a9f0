/*
 * Reads kept stacks (ctxrec --keep-stacks): registers and stack copy of each sample, in parallel to
 * the events of the experiment, for the comparison of unwinders.
 *
 *	ctx_exp_open(path, &source, err);
 *	ctx_exp_kept_open(source, &kept, err);
 *	while (ctx_exp_kept_next(kept, &sample, err) == CTX_OK)
 *		read events of the source up to sample.time_ns: maps; then unwind sample.state
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_KEPT_H
#define CTX_FORMATS_EXPERIMENT_EXP_KEPT_H

#include "base/err.h"
#include "model/event_source.h"

struct ctx_exp_kept;

struct ctx_exp_kept_sample {
	uint64_t time_ns;	     /* relative, as in the events */
	int64_t pid, tid;	     /* -1 unknown */
	uint32_t process, thread;    /* as announced by the source; CTX_NONE: not yet */
	struct ctx_user_state state; /* its stack is borrowed until the next call */
};

/*
 * `source` comes from ctx_exp_open, is borrowed, and may be read by the same thread only. An
 * experiment without kept stacks yields no samples. Fails with CTX_E_ARG (another kind of source),
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_kept_open(struct ctx_event_source *source, struct ctx_exp_kept **ret,
						 struct ctx_err *err);

/*
 * The next sample by time. CTX_END at the end. Damaged blocks are skipped and counted. Fails with
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_kept_next(struct ctx_exp_kept *kept, struct ctx_exp_kept_sample *ret,
						 struct ctx_err *err);

/* Number of blocks so far that could not be read, or only in part. */
uint64_t ctx_exp_kept_damaged(const struct ctx_exp_kept *kept);

void ctx_exp_kept_close(struct ctx_exp_kept *kept);

#endif
