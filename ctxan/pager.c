#include "ctxan/pager.h"

#include "base/fileio.h"
#include "ctxan/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_FOUND 127 /* of the shell; 126: cannot be executed */

extern char **environ;

const char *ctx_pager_command(const struct ctx_options *options)
{
	const char *command = getenv("CTXAN_PAGER");

	if (options->no_pager || options->report.format != CTX_REPORT_TEXT ||
	    !ctx_terminal_is_output(options))
		return NULL;
	if (command == NULL)
		command = getenv("PAGER");
	if (command == NULL)
		command = "less";
	return *command == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* Starts the shell with the read end of the pipe as its input and the usual signals. */
static bool start(const char *command, const int ends[2], pid_t *ret)
{
	char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int failed;

	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGQUIT);
	sigaddset(&usual, SIGPIPE);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	failed = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	failed |= posix_spawnattr_setsigdefault(&attributes, &usual);
	failed |= posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (failed == 0)
		failed = posix_spawn(ret, "/bin/sh", &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return failed == 0;
}

/* Whether the command ran. */
static bool page(const char *command, const char *text, size_t n)
{
	int ends[2], status = 0;
	struct ctx_err ignored;
	pid_t pid;
	bool started;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	started = start(command, ends, &pid);
	close(ends[0]);
	if (started) {
		enum ctx_status written = ctx_file_write(ends[1], "the pager", text, n, &ignored);

		(void)written; /* what it does not read is not wanted */
	}
	close(ends[1]);
	while (started && waitpid(pid, &status, 0) < 0)
		;
	return started && !(WIFEXITED(status) && WEXITSTATUS(status) >= NOT_FOUND - 1);
}

enum ctx_status ctx_pager_print(const char *command, const char *text, size_t n, struct ctx_err *err)
{
	/* The interrupt key is the pager's; what it does not read is not an error. */
	void (*on_interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*on_quit)(int) = signal(SIGQUIT, SIG_IGN);
	void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);
	bool ran = setenv("LESS", "FRX", 0) == 0 && page(command, text, n);

	signal(SIGINT, on_interrupt);
	signal(SIGQUIT, on_quit);
	signal(SIGPIPE, on_pipe);
	return ran ? CTX_OK : ctx_file_write(STDOUT_FILENO, "standard output", text, n, err);
}
