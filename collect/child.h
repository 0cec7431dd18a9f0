/*
 * The command that is recorded: forked, held back until the events are open, executed, waited for.
 *
 * The child blocks on a pipe whose other end only the recorder holds: if the recorder dies before
 * releasing it, the child reads end of file and exits without running anything.
 */
#ifndef CTX_COLLECT_CHILD_H
#define CTX_COLLECT_CHILD_H

#include "base/err.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct ctx_child {
	pid_t pid;	    /* -1: none, or reaped */
	int go_fd;	    /* a write releases the child */
	int error_fd;	    /* errno of a failed exec, or the end of file */
	bool stops_at_exec; /* it is stopped there, traced: ctx_child_detach lets it go on */
	bool has_ended;
	int status; /* as waitpid gives it, once has_ended */
	struct rusage usage;
};

#define CTX_CHILD_NONE ((struct ctx_child){.pid = -1, .go_fd = -1, .error_fd = -1})

/*
 * Searches a program as execvp does; `path` is where it is. CTX_E_NOTFOUND: it does not exist; CTX_E_PERM: it exists
 * but cannot be executed.
 */
CTX_MUST_CHECK enum ctx_status ctx_command_find(const char *command, char path[PATH_MAX],
						struct ctx_err *err);

/* The same, where the path is not needed. */
CTX_MUST_CHECK enum ctx_status ctx_command_check(const char *command, struct ctx_err *err);

struct ctx_child_signals { /* as they were before the recorder changed them */
	sigset_t mask;
	struct sigaction pipe, xfsz; /* SIGPIPE, SIGXFSZ */
	bool stops_at_exec;	     /* the child is to be stopped when it has executed the command */
};

/*
 * Forks. The child gets the `signals` of before; `argv` ends with NULL.
 * Fails with CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_child_fork(struct ctx_child *child, char *const *argv,
					      const struct ctx_child_signals *signals, struct ctx_err *err);

/*
 * Releases the child and waits until it has executed the command, and has stopped if it does. CTX_E_NOTFOUND, CTX_E_PERM,
 * CTX_E_IO: exec failed, and the child has been reaped.
 */
CTX_MUST_CHECK enum ctx_status ctx_child_exec(struct ctx_child *child, const char *command,
					      struct ctx_err *err);

/* Waits for the next stop of a traced child. False: it has ended, and is reaped as usual. */
CTX_MUST_CHECK bool ctx_child_wait_stop(pid_t pid, int *ret_signal);

/* Lets a child go on that stopped at its exec. */
void ctx_child_detach(struct ctx_child *child);

/* Polls for the child's end, or waits for it. True: has_ended is set. */
bool ctx_child_wait(struct ctx_child *child, bool block);

/* Kills a child that has not been released. */
void ctx_child_abandon(struct ctx_child *child);

/* The exit code that a shell would report for a wait status. */
int ctx_exit_code(int status);

#endif
