#include "collect/child.h"

#include "base/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_executable(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

enum ctx_status ctx_command_find(const char *command, char path[PATH_MAX], struct ctx_err *err)
{
	const char *search = getenv("PATH");
	bool is_there = false;

	if (strchr(command, '/') != NULL) {
		if (snprintf(path, PATH_MAX, "%s", command) < PATH_MAX && is_executable(path))
			return CTX_OK;
		is_there = access(command, F_OK) == 0;
		search = "";
	} else if (search == NULL) {
		search = "/bin:/usr/bin";
	}
	while (*search != '\0') {
		int n = (int)strcspn(search, ":");
		bool fits = snprintf(path, PATH_MAX, "%.*s/%s", n > 0 ? n : 1, n > 0 ? search : ".",
				     command) < PATH_MAX;

		if (fits && is_executable(path))
			return CTX_OK;
		is_there = is_there || (fits && access(path, F_OK) == 0);
		search += n + (search[n] == ':');
	}
	if (is_there)
		return ctx_err_set(err, CTX_E_PERM, "%s: not executable", command);
	return ctx_err_set(err, CTX_E_NOTFOUND, "%s: command not found", command);
}

enum ctx_status ctx_command_check(const char *command, struct ctx_err *err)
{
	char path[PATH_MAX];

	return ctx_command_find(command, path, err);
}

/* In the child: only calls that are safe after fork. */
static _Noreturn void run(int go_fd, int error_fd, char *const *argv, const struct ctx_child_signals *signals)
{
	char byte;
	int error;
	ssize_t n;

	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	sigaction(SIGPIPE, &signals->pipe, NULL);
	sigaction(SIGXFSZ, &signals->xfsz, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	if (signals->stops_at_exec)
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(argv[0], argv);
	error = errno;
	n = write(error_fd, &error, sizeof(error));
	_exit(n == (ssize_t)sizeof(error) && error == ENOENT ? 127 : 126);
}

enum ctx_status ctx_child_fork(struct ctx_child *child, char *const *argv,
			       const struct ctx_child_signals *signals, struct ctx_err *err)
{
	int go[2], error[2];

	*child = CTX_CHILD_NONE;
	if (pipe2(go, O_CLOEXEC) != 0)
		return ctx_err_errno(err, CTX_E_IO, "pipe");
	if (pipe2(error, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return ctx_err_errno(err, CTX_E_IO, "pipe");
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(go[1]);
		close(error[0]);
		run(go[0], error[1], argv, signals);
	}
	close(go[0]);
	close(error[1]);
	child->go_fd = go[1];
	child->error_fd = error[0];
	child->stops_at_exec = signals->stops_at_exec;
	if (child->pid < 0) {
		enum ctx_status status = ctx_err_errno(err, CTX_E_IO, "cannot start a process");

		ctx_child_abandon(child);
		return status;
	}
	return CTX_OK;
}

static void close_pipes(struct ctx_child *child)
{
	if (child->go_fd >= 0)
		close(child->go_fd);
	if (child->error_fd >= 0)
		close(child->error_fd);
	child->go_fd = child->error_fd = -1;
}

bool ctx_child_wait_stop(pid_t pid, int *ret_signal)
{
	siginfo_t info = {0};
	int result;

	do
		result = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL);
	while (result != 0 && errno == EINTR);
	if (result != 0 || (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED))
		return false;
	(void)waitid(P_PID, (id_t)pid, &info, WSTOPPED | __WALL);
	*ret_signal = info.si_status;
	return true;
}

/* The stop comes when exec is over. A recorder that ends before takes the child along. */
static void wait_for_exec(struct ctx_child *child)
{
	int signal;

	child->stops_at_exec = child->stops_at_exec && ctx_child_wait_stop(child->pid, &signal);
	if (child->stops_at_exec)
		(void)ptrace(PTRACE_SETOPTIONS, child->pid, NULL, (void *)PTRACE_O_EXITKILL);
}

void ctx_child_detach(struct ctx_child *child)
{
	if (child->stops_at_exec && child->pid > 0)
		(void)ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
	child->stops_at_exec = false;
}

enum ctx_status ctx_child_exec(struct ctx_child *child, const char *command, struct ctx_err *err)
{
	int error = 0;
	ssize_t n;

	do
		n = write(child->go_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	do
		n = read(child->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_pipes(child);
	if (n != (ssize_t)sizeof(error)) {
		wait_for_exec(child);
		return CTX_OK;
	}
	(void)ctx_child_wait(child, true);
	if (error == ENOENT)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: %s", command, strerror(error));
	if (error == EACCES || error == ENOEXEC)
		return ctx_err_set(err, CTX_E_PERM, "%s: %s", command, strerror(error));
	return ctx_err_set(err, CTX_E_IO, "%s: %s", command, strerror(error));
}

bool ctx_child_wait(struct ctx_child *child, bool block)
{
	pid_t pid;

	if (child->pid < 0)
		return child->has_ended;
	do
		pid = wait4(child->pid, &child->status, block ? 0 : WNOHANG, &child->usage);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	/* ECHILD: SIGCHLD is ignored (inherited), so the kernel has reaped the child. */
	if (pid < 0)
		child->status = 0;
	child->has_ended = true;
	child->pid = -1;
	return true;
}

void ctx_child_abandon(struct ctx_child *child)
{
	close_pipes(child);
	if (child->pid > 0)
		(void)ctx_child_wait(child, true);
}

int ctx_exit_code(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
