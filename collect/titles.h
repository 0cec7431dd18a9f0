/*
 * Command lines that processes set themselves (setproctitle: postgres, nginx, sshd): the kernel reports
 * no such change, so /proc/PID/cmdline is read again, 0.1 s after a process's first sample, then once a
 * second while it has samples, and at the end of the recording.
 *
 * What was read counts when all records up to then have been taken and the process is still the same:
 * neither what it executes next nor a process that got its id is taken for it. A process that ends keeps
 * the title that was read last.
 */
#ifndef CTX_COLLECT_TITLES_H
#define CTX_COLLECT_TITLES_H

#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

struct ctx_titles;

/*
 * `root_command` is that of the command, as the log has it; "": none. `tree` and `writer` are borrowed and
 * outlive it. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_titles_create(const struct ctx_proctree *tree,
						 struct ctx_exp_writer *writer, const char *root_command,
						 struct ctx_titles **ret, struct ctx_err *err);
void ctx_titles_destroy(struct ctx_titles *titles);

/* A sample of a process. A look-up. Without memory the process is not followed. */
void ctx_titles_sampled(struct ctx_titles *titles, int64_t pid, uint32_t process, uint64_t time_ns);

/*
 * A thread ends, and all records before have been taken. With its first thread a process is no longer
 * followed. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_titles_exit(struct ctx_titles *titles, int64_t tid, uint64_t time_ns,
					       struct ctx_err *err);

/* Reads what is due, at most 256 processes; `all`: of all that had a sample since they were read. */
void ctx_titles_read(struct ctx_titles *titles, uint64_t now_ns, bool all);

/* All records before `until_ns` have been taken: writes what was read before. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_titles_settle(struct ctx_titles *titles, uint64_t until_ns,
						 struct ctx_err *err);

#endif
