/*
 * Indicators of a recording: from specifications to events that count, and to their descriptions in the header.
 *
 *	spec --load objects, ctxrec-places--> places --+- code: uprobe (root) or hardware breakpoint --+--> perf events, one or two metrics
 *	                                               +- data: hardware breakpoints -----------------+
 *	                                               +- entries with room: the runtime in the targets --> entry_counters.h, the same metrics
 *
 * An indicator of code has a metric with a sample for every execution, which has the caller where the place is a function's
 * entry; with a threshold and uprobes another one, whose samples have whole call stacks. With hardware breakpoints, of
 * which there are four, that is the same metric: its samples weigh the threshold.
 */
#ifndef CTX_COLLECT_INDICATORS_H
#define CTX_COLLECT_INDICATORS_H

#include "collect/perfevent.h"
#include "collect/perfrecord.h"
#include "collect/procfs.h"
#include "collect/proctree.h"
#include "collect/session.h"
#include "formats/experiment/exp_writer.h"

#include <sys/types.h>

struct ctx_entry_counters;
struct ctx_indicators;

struct ctx_indicators_options {
	const char *const *specs; /* as the user wrote them; borrowed during the call */
	size_t n;
	const char *file;	    /* a metadata file; NULL: none */
	bool match_symbols;	    /* its load objects may be of another build: by name then */
	const char *command;	    /* NULL: processes that run */
	const struct ctx_ids *pids; /* of those; borrowed during the call */
	const char *tracefs;	    /* borrowed */
	bool has_registers;	    /* samples can have them, which slower-than needs */
	bool only_by_kernel; /* nothing is counted in the targets' memory: their entries are changed for something else */
	bool no_follow; /* of a command: its descendants are not recorded */
};

/*
 * Parses, finds and defines everything, and appends the events to `events`. Fails with CTX_E_ARG (a specification, too many
 * hardware breakpoints: the message says how many are free), CTX_E_NOTFOUND (no such function, line, object), CTX_E_PERM,
 * CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. The message begins with the specification.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicators_create(const struct ctx_indicators_options *options,
						     struct ctx_perf_events *events,
						     struct ctx_indicators **ret, struct ctx_err *err);

/* After the session is closed. NULL is allowed. */
void ctx_indicators_destroy(struct ctx_indicators *indicators);

/* The session is open: from here on a killed recorder leaves no uprobe (uprobe_keeper.h). */
void ctx_indicators_keep(struct ctx_indicators *indicators);

/* The session is closed: uprobes are out of programs when this returns. NULL is allowed. */
void ctx_indicators_let_go(struct ctx_indicators *indicators);

/* Whether the program must be stopped at its exec, for hardware breakpoints. */
bool ctx_indicators_need_stop(const struct ctx_indicators *indicators);

/* The memory file that targets need for coverage (runtime/once_layout.h), borrowed; -1: there is none. */
int ctx_indicators_once_fd(const struct ctx_indicators *indicators);

/* The counters in the targets' memory, borrowed; NULL: there are none. And their memory file; -1. */
const struct ctx_entry_counters *ctx_indicators_entries(const struct ctx_indicators *indicators);
int ctx_indicators_entries_fd(const struct ctx_indicators *indicators);

/*
 * Writes the samples of what targets say in memory, up to `limit_ns`, to which `tree` has come (UINT64_MAX: all, nothing runs any more).
 * Fails as the writer does. O(new ones), and for counters each 0.1 s O(threads * sites).
 */
CTX_MUST_CHECK enum ctx_status ctx_indicators_take(struct ctx_indicators *indicators,
						   const struct ctx_proctree *tree,
						   struct ctx_exp_writer *writer, uint64_t limit_ns,
						   struct ctx_err *err);

/* The same of a thread or an image that ends with a record, before that is applied to `tree`. */
CTX_MUST_CHECK enum ctx_status ctx_indicators_before_end(struct ctx_indicators *indicators,
							 const struct ctx_proctree *tree,
							 struct ctx_exp_writer *writer,
							 const struct ctx_perf_record *record,
							 struct ctx_err *err);

/* Whether samples are recorded between a start and a stop alone. */
bool ctx_indicators_have_windows(const struct ctx_indicators *indicators);

/*
 * Whether a sample, of any event and in order of time, is to be recorded. Where it opens or closes a window, the times,
 * operation, name and value of `mark` are set; otherwise its name is NULL. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicators_judge(const struct ctx_indicators *indicators,
						    const struct ctx_perf_record *record,
						    struct ctx_exp_mark *mark, bool *ret_keeps,
						    struct ctx_err *err);

/* A process is recorded from now on, with the threads that it has; one was forked. Both fail with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_indicators_begin_process(struct ctx_indicators *indicators, int64_t pid,
							    const struct ctx_ids *tids, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_indicators_fork(struct ctx_indicators *indicators,
						   const struct ctx_perf_record *record, struct ctx_err *err);
void ctx_indicators_end_thread(struct ctx_indicators *indicators, uint32_t tid);

/* Writes what is counted, and how, to the header. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_indicators_describe(const struct ctx_indicators *indicators,
						       struct ctx_exp_writer *writer, struct ctx_err *err);

/*
 * Opens the hardware breakpoints of a process: of a command that is stopped at its exec, or of one that runs, for the threads
 * `tids` of it. CTX_END: it has ended before. Fails as ctx_session_open_late and ctx_breakpoint_bias do.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicators_arm(struct ctx_indicators *indicators,
						  struct ctx_session *session, pid_t pid,
						  const struct ctx_ids *tids, struct ctx_err *err);

/* At the end, before the session is closed: the exact counts for the header. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_indicators_count(const struct ctx_indicators *indicators,
						    const struct ctx_session *session,
						    struct ctx_exp_writer *writer, struct ctx_err *err);

#endif
