#include "collect/top.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VIEWER "ctxan"
#define END_MS 10000u /* after so long ctxan is told to end */
#define STEP_MS 10u
#define PIECE ((size_t)64 * 1024)

static const char leave_text[] = "\033[?7h\033[?25h\033[?1049l";

static enum ctx_status find_viewer(struct ctx_top *top, struct ctx_err *err)
{
	ssize_t n = readlink("/proc/self/exe", top->program, sizeof(top->program) - sizeof(VIEWER));
	char *slash;

	if (n > 0) {
		top->program[n] = '\0';
		slash = strrchr(top->program, '/');
		if (slash != NULL) {
			memcpy(slash + 1, VIEWER, sizeof(VIEWER));
			if (access(top->program, X_OK) == 0)
				return CTX_OK;
		}
	}
	memcpy(top->program, VIEWER, sizeof(VIEWER));
	/* With more rights than its caller, this program starts nothing that the caller names. */
	if (getauxval(AT_SECURE) == 0 && ctx_command_check(VIEWER, NULL) == CTX_OK)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "--top: " VIEWER " is neither beside this program nor in the PATH");
}

static enum ctx_status find_terminal(struct ctx_top *top, struct ctx_err *err)
{
	const char *term = getenv("TERM");

	if (term != NULL && strcmp(term, "dumb") != 0)
		top->screen = isatty(STDOUT_FILENO) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
						    : open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (top->screen < 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "--top needs a terminal; elsewhere, " VIEWER " --follow prints screens");
	top->has_modes = tcgetattr(top->screen, &top->modes) == 0;
	return CTX_OK;
}

static enum ctx_status open_output(struct ctx_top *top, struct ctx_err *err)
{
	const char *directory = getenv("TMPDIR");

	top->output =
		open(directory != NULL ? directory : "/tmp", O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (top->output < 0)
		top->output = memfd_create("output", MFD_CLOEXEC);
	return top->output >= 0 ? CTX_OK
				: ctx_err_errno(err, CTX_E_IO, "--top: no place for the command's output");
}

/* Replaces a standard stream that is a terminal. */
static enum ctx_status replace(struct ctx_top *top, int stream, int by, struct ctx_err *err)
{
	if (!isatty(stream))
		return CTX_OK;
	top->saved[stream] = fcntl(stream, F_DUPFD_CLOEXEC, 3);
	if (top->saved[stream] < 0 || dup2(by, stream) < 0)
		return ctx_err_errno(err, CTX_E_IO, "--top: dup2");
	return CTX_OK;
}

enum ctx_status ctx_top_begin(struct ctx_top *top, struct ctx_err *err)
{
	int nothing CTX_AUTO_CLOSE = open("/dev/null", O_RDONLY | O_CLOEXEC);
	enum ctx_status status;

	*top = (struct ctx_top){
		.screen = -1, .saved = {-1, -1, -1}, .output = -1, .priority = ctx_priority_get()};
	status = find_viewer(top, err);
	if (status == CTX_OK)
		status = find_terminal(top, err);
	if (status == CTX_OK)
		status = open_output(top, err);
	if (status == CTX_OK && nothing >= 0)
		status = replace(top, STDIN_FILENO, nothing, err);
	if (status == CTX_OK)
		status = replace(top, STDOUT_FILENO, top->output, err);
	return status == CTX_OK ? replace(top, STDERR_FILENO, top->output, err) : status;
}

/* In the forked process, where other threads are missing: only what signal handlers may call. */
static _Noreturn void become_viewer(const struct ctx_top *top, char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)ctx_priority_set(&top->priority);
	if (dup2(top->screen, STDOUT_FILENO) >= 0)
		(void)execvp(top->program, argv);
	_exit(127);
}

void ctx_top_start(struct ctx_top *top, const char *experiment)
{
	const char *prefix = experiment[0] == '-' ? "./" : ""; /* not an option */
	char *path = NULL;

	if (top->viewer != 0 || asprintf(&path, "%s%s", prefix, experiment) < 0)
		return;
	top->viewer = fork();
	if (top->viewer == 0)
		become_viewer(top, (char *const[]){(char[]){VIEWER}, (char[]){"--follow"},
						   (char[]){"--quiet"}, path, NULL});
	free(path);
	if (top->viewer < 0) {
		top->viewer = 0;
		fprintf(stderr, "ctxrec: --top: " VIEWER " cannot be started: %s\n", strerror(errno));
	}
}

static void wait_for_viewer(struct ctx_top *top)
{
	const struct timespec step = {0, STEP_MS * 1000000};
	int status = 0;

	if (top->viewer == 0)
		return;
	for (unsigned ms = 0; waitpid(top->viewer, &status, WNOHANG) == 0; ms += STEP_MS) {
		if (ms == END_MS)
			(void)kill(top->viewer, SIGTERM);
		if (ms == 2 * END_MS)
			(void)kill(top->viewer, SIGKILL);
		(void)nanosleep(&step, NULL);
	}
	top->viewer = 0;
	if (!WIFSIGNALED(status))
		return;
	if (ctx_file_write(top->screen, "the terminal", leave_text, sizeof(leave_text) - 1, NULL) == CTX_OK &&
	    top->has_modes)
		(void)tcsetattr(top->screen, TCSANOW, &top->modes);
}

/* To the terminal: what the command and this program printed. */
static void show_output(const struct ctx_top *top)
{
	char *piece CTX_AUTO_FREE = malloc(PIECE);
	off_t at = 0;
	ssize_t n;

	while (piece != NULL && (n = pread(top->output, piece, PIECE, at)) > 0) {
		if (ctx_file_write(top->screen, "the terminal", piece, (size_t)n, NULL) != CTX_OK)
			return;
		at += n;
	}
}

void ctx_top_end(struct ctx_top *top)
{
	wait_for_viewer(top);
	(void)fflush(NULL);
	for (int stream = 0; stream < 3; stream++) {
		if (top->saved[stream] < 0)
			continue;
		(void)dup2(top->saved[stream], stream);
		close(top->saved[stream]);
	}
	if (top->output >= 0) {
		show_output(top);
		close(top->output);
	}
	if (top->screen >= 0)
		close(top->screen);
}
