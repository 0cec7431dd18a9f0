#include "ctxan/page_opening.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Makes the newest recording here the only input. */
static enum ctx_status take_newest(struct ctx_options *options, struct ctx_err *err)
{
	size_t cap = 0;
	enum ctx_status status;

	if (options->n_inputs != 0)
		return CTX_OK;
	status = ctx_opening_newest(".", &options->newest, err);
	if (status == CTX_OK)
		status = ctx_grow(&options->inputs, &cap, 1, err);
	if (status != CTX_OK)
		return status;
	options->inputs[options->n_inputs++] = options->newest;
	options->inputs_cap = cap;
	return CTX_OK;
}

/* Whether files can be made in the directory of a path. */
static bool is_writable_beside(const char *path)
{
	char *directory CTX_AUTO_FREE = ctx_path_dir(path);

	return directory != NULL && access(directory, W_OK) == 0;
}

/* A new directory for the page of a recording that has none of its own. */
static enum ctx_status in_temporary(const char *base, char **ret, struct ctx_err *err)
{
	const char *root = getenv("TMPDIR");
	char *directory CTX_AUTO_FREE =
		ctx_path_join(root != NULL && root[0] == '/' ? root : "/tmp", "ctxan-XXXXXX");

	if (directory == NULL)
		return ctx_err_nomem(err);
	if (mkdtemp(directory) == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", directory);
	if (asprintf(ret, "%s/%s.html", directory, base) < 0) {
		*ret = NULL;
		return ctx_err_nomem(err);
	}
	return CTX_OK;
}

enum ctx_status ctx_page_opening_place(struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status = take_newest(options, err);
	char *input CTX_AUTO_FREE = NULL;
	size_t n;

	if (status != CTX_OK || options->output.path != NULL)
		return status;
	n = strlen(options->inputs[0]);
	while (n > 1 && options->inputs[0][n - 1] == '/')
		n--;
	input = ctx_memdup0(options->inputs[0], n);
	if (input == NULL)
		return ctx_err_nomem(err);
	if (strcmp(input, "-") == 0 || !is_writable_beside(input))
		status = in_temporary(strcmp(input, "-") == 0 ? "recording" : ctx_path_base(input),
				      &options->page, err);
	else if (asprintf(&options->page, "%s%s.html", input, options->diff.wanted ? ".diff" : "") < 0) {
		options->page = NULL;
		status = ctx_err_nomem(err);
	}
	options->output.path = options->page;
	return status;
}

static bool has_display(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x != NULL && *x != '\0') || (wayland != NULL && *wayland != '\0');
}

void ctx_page_opening_show(const char *path)
{
	char *argv[] = {(char *)(uintptr_t) "xdg-open", (char *)(uintptr_t)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	ctx_report_put_name(stdout, path);
	fputc('\n', stdout);
	fflush(stdout);
	if (!has_display() || posix_spawn_file_actions_init(&actions) != 0)
		return;
	/* What a browser prints is not for this terminal. */
	if (posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
	    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
	    posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0)
		(void)waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&actions);
}
