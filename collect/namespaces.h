/*
 * In which pid namespace and control group a process is: what tells containers apart.
 *
 * Both are read from /proc when a process is first seen and after each exec, which every container
 * runtime does once the process is in its place; forks have their parent's control group. A process
 * that is moved later keeps what was read.
 */
#ifndef CTX_COLLECT_NAMESPACES_H
#define CTX_COLLECT_NAMESPACES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_namespaces {
	char *cgroup;	   /* owned; path below the root of its hierarchy, as /proc shows it; NULL unknown */
	int64_t inner_pid; /* in the innermost pid namespace of the process; 0: the recorder's, or unknown */
	uint64_t pid_namespace; /* its inode; 0: unknown */
	bool is_inner;		/* the pid namespace is not the recorder's: its threads have inner ids, too */
};

void ctx_namespaces_deinit(struct ctx_namespaces *namespaces);

/*
 * Reads what /proc has of a running process into `namespaces`; what it has no more, since the
 * process has ended, stays as it is. `ret_moved`: the control group is another one than before.
 * Costs a stat and a read of a small file; where the namespace is not the recorder's, one read
 * more; where the process has gone, one system call. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_namespaces_look(int64_t pid, struct ctx_namespaces *namespaces,
						   bool *ret_moved, struct ctx_err *err);

/*
 * A forked process: the parent's control group, and an inner pid if it has one and still runs.
 * `ret` is set on success only. Costs a stat, or one system call where it has gone. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_namespaces_fork(const struct ctx_namespaces *parent, int64_t pid,
						   struct ctx_namespaces *ret, struct ctx_err *err);

/* The innermost id of a thread of such a process; 0: it has none, or has ended. */
int64_t ctx_namespaces_inner_tid(const struct ctx_namespaces *process, int64_t pid, int64_t tid);

/*
 * The path of the control group in the text of /proc/PID/cgroup, zero-terminated and modified:
 * that of the unified hierarchy, else of the first one in which the process is not in the root.
 * Borrowed from the text; NULL: there is none.
 */
const char *ctx_namespaces_parse_cgroup(char *text);

/* The last number of the line NSpid of a status file; 0: there is one number, or no such line. */
int64_t ctx_namespaces_parse_inner(const char *status);

#endif
