/*
 * Reads an experiment that is still being written, further and further.
 *
 *	ctx_exp_follow_open(path, &source, &err);	CTX_END: there is none yet
 *	do {
 *		ctx_exp_follow_update(source, &state, &err);
 *		while (source->next(source, &event, &err) == CTX_OK)
 *			;				CTX_END: no more for now
 *	} while (state.is == CTX_EXP_RECORDED);
 *	source->close(source);
 *
 * An update reads what was appended since the last one: lines of log.xml and map.xml, headers of
 * blocks, and directories of new descendants. A line or a block at the end of a file that is not
 * whole is being written, and is left for the next update. A block is read once. So an update costs
 * what is new, and a look at the files of the processes that run.
 *
 * Blocks come in any order of time, but within a second: the recorder says in last.xml how far it
 * is, and what is CTX_EXP_FOLLOW_LAG_NS older is written. Events after this *horizon* wait for a
 * later update, so that they come in the order of a reading of the whole. When the recording is over
 * everything is read as ctx_exp_open does, and the events of all updates together are the same.
 *
 * Memory: as an ordinary reading, but for the blocks' places and the log's lines, which are dropped
 * when they were used.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_FOLLOW_H
#define CTX_FORMATS_EXPERIMENT_EXP_FOLLOW_H

#include "base/err.h"
#include "model/event_source.h"

/* The writer flushes what is 0.6 s old (FLUSH_NS of exp_create.c). */
#define CTX_EXP_FOLLOW_LAG_NS UINT64_C(900000000)

enum ctx_exp_follow {
	CTX_EXP_RECORDED, /* it goes on */
	CTX_EXP_ENDED,	  /* it was closed in order */
	CTX_EXP_KILLED,	  /* it was not: the recorder is gone */
	CTX_EXP_REPLACED, /* the path is of another directory now; what was read is the old one */
	CTX_EXP_REMOVED,  /* the path is gone; the same */
};

struct ctx_exp_follow_state {
	enum ctx_exp_follow is;
	uint64_t
		until_ns; /* next() returns the events before this time; the end of the run when it is over */
};

/*
 * Opens an experiment and takes a first look. CTX_END: it is not there, or its first lines are being
 * written. Otherwise fails as ctx_exp_open does. `source->info` changes with each update.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_follow_open(const char *path, struct ctx_event_source **ret,
						   struct ctx_err *err);

/*
 * Looks for what is new; all events must have been taken. After the end of the recording it changes
 * nothing. Fails with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_follow_update(struct ctx_event_source *source,
						     struct ctx_exp_follow_state *ret, struct ctx_err *err);

#endif
