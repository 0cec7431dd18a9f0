/*
 * Programs that the kernel does not let anybody watch: at the exec of a setuid program, or of one that its
 * user may not read, it takes the events off the process, whoever records. That looks like an exit: an exit
 * record right after the exec, before the program's first mapping. The process lives on, what it starts is
 * not recorded either, and its real end has no record, so it is awaited here. (With -a the events are the
 * processors': only the false exit is there.)
 *
 * Source: perf_event_exit_task in begin_new_exec of the kernel's fs/exec.c.
 */
#ifndef CTX_COLLECT_SETUID_H
#define CTX_COLLECT_SETUID_H

#include "collect/proctree.h"

struct ctx_setuid;

/* `tree` and `writer` are borrowed and outlive it. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_setuid_create(struct ctx_proctree *tree, struct ctx_exp_writer *writer,
						 struct ctx_setuid **ret, struct ctx_err *err);
void ctx_setuid_destroy(struct ctx_setuid *setuid);

/* Sees an exec (COMM record) or a mapping of a process; others are ignored. A look-up. */
void ctx_setuid_note(struct ctx_setuid *setuid, const struct ctx_perf_record *record);

/* Whether an exit record is a false one. Asked once for each, since it forgets the process. */
bool ctx_setuid_is_false_exit(struct ctx_setuid *setuid, const struct ctx_perf_record *record);

/*
 * A false exit of a process whose events are gone: its threads end, the process lives until its real end. A
 * warning names it; after ten they are counted. `since_ns`: the begin of the recording. Fails as the writer
 * does.
 */
CTX_MUST_CHECK enum ctx_status ctx_setuid_begin(struct ctx_setuid *setuid,
						const struct ctx_perf_record *record, uint64_t since_ns,
						struct ctx_err *err);

/* Readable when one of them ends; -1: cannot be polled. */
int ctx_setuid_fd(const struct ctx_setuid *setuid);

/* Ends the processes that have ended, now. */
CTX_MUST_CHECK enum ctx_status ctx_setuid_reap(struct ctx_setuid *setuid, uint64_t now_ns,
					       struct ctx_err *err);

/* How many there were beyond those with a warning of their own. */
uint64_t ctx_setuid_more(const struct ctx_setuid *setuid);

#endif
