/*
 *	offsets --memory file--> ctxrec-sources --pipe--> paths
 *
 * The offsets are in a file, so that neither side waits for the other to read.
 */
#include "collect/source_helper.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "collect/installation.h"
#include "collect/spawn.h"
#include "model/source_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)64 << 20)
#define STEP_BYTES ((size_t)16 * 1024)

enum ctx_status ctx_source_helper_find(char path[PATH_MAX], struct ctx_err *err)
{
	if (ctx_installation_find(CTX_SOURCE_HELPER_NAME, X_OK, path))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "the program " CTX_SOURCE_HELPER_NAME " of this installation is missing");
}

static enum ctx_status make_input(const struct ctx_source_helper_request *request, int *ret,
				  struct ctx_err *err)
{
	*ret = memfd_create("offsets", MFD_CLOEXEC);
	if (*ret < 0)
		return ctx_err_errno(err, CTX_E_IO, "memfd_create");
	if (request->all)
		return CTX_OK;
	if (ctx_file_write(*ret, "offsets", request->offsets, request->n_offsets * sizeof(*request->offsets),
			   err) != CTX_OK)
		return CTX_E_IO;
	return lseek(*ret, 0, SEEK_SET) == 0 ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "lseek");
}

/* It can write to the pipe only. */
static int spawn(const struct ctx_source_helper_request *request, int input, int output, pid_t *ret)
{
	char *argv[] = {(char *)(uintptr_t)request->program, (char *)(uintptr_t)request->object,
			(char *)(uintptr_t)request->build_id, request->all ? (char[]){"all"} : NULL, NULL};

	return ctx_spawn(argv, (const int[]){input, output, -1}, ret);
}

static int64_t now_ms(void)
{
	return (int64_t)(ctx_clock_ns(CLOCK_MONOTONIC) / 1000000);
}

/* Reads the pipe to its end. False: timeout or too much data. */
static bool read_paths(int pipe, unsigned seconds, struct ctx_buf *out)
{
	int64_t end = now_ms() + (int64_t)seconds * 1000;

	for (;;) {
		struct pollfd wait = {.fd = pipe, .events = POLLIN};
		int64_t left = end - now_ms();
		uint8_t *room;
		ssize_t n;

		if (left <= 0 || out->n > OUTPUT_MAX)
			return false;
		if (poll(&wait, 1, (int)left) <= 0)
			continue; /* a signal, or the timeout */
		room = ctx_buf_reserve(out, STEP_BYTES);
		n = room != NULL ? read(pipe, room, STEP_BYTES) : -1;
		if (n == 0)
			return true;
		if (n < 0 && (room == NULL || errno != EINTR))
			return false;
		out->n += n > 0 ? (size_t)n : 0;
	}
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

/* Only terminated paths; the last one can be cut. */
static enum ctx_status hand_out(const struct ctx_buf *paths, ctx_source_path_fn each, void *context,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t at = 0;

	while (status == CTX_OK && at < paths->n) {
		const char *path = (const char *)paths->bytes + at;
		size_t n = strnlen(path, paths->n - at);

		if (at + n == paths->n)
			break;
		if (path[0] == '/' && n < PATH_MAX)
			status = each(context, path, err);
		at += n + 1;
	}
	return status;
}

enum ctx_status ctx_source_helper_run(const struct ctx_source_helper_request *request,
				      ctx_source_path_fn each, void *context, struct ctx_err *err)
{
	int input CTX_AUTO_CLOSE = -1, output CTX_AUTO_CLOSE = -1;
	struct ctx_buf paths CTX_AUTO_BUF = {0};
	enum ctx_status status = make_input(request, &input, err);
	int ends[2], result, error;
	bool is_whole;
	pid_t pid;

	if (status != CTX_OK)
		return status;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return ctx_err_errno(err, CTX_E_IO, "pipe");
	output = ends[0];
	error = spawn(request, input, ends[1], &pid);
	close(ends[1]);
	if (error != 0)
		return ctx_err_set(err, CTX_E_IO, "%s: %s", request->program, strerror(error));
	is_whole = read_paths(output, request->seconds, &paths);
	if (!is_whole)
		(void)kill(pid, SIGKILL);
	result = wait_for(pid);
	if (paths.failed)
		return ctx_err_nomem(err);
	if (is_whole && WIFEXITED(result) && WEXITSTATUS(result) == CTX_SOURCE_HELPER_NO_LINES)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: no line tables", request->object);
	status = hand_out(&paths, each, context, err);
	if (status == CTX_OK && (!is_whole || !WIFEXITED(result) || WEXITSTATUS(result) != 0))
		return ctx_err_set(err, CTX_E_LIMIT, "%s: line tables that could not be read",
				   request->object);
	return status;
}
