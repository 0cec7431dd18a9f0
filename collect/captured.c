/*
 * The streams are files in memory: nobody waits for the other to read.
 */
#include "collect/captured.h"

#include "base/fileio.h"
#include "collect/spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPTURED_MAX ((size_t)64 << 20)

void ctx_captured_deinit(struct ctx_captured *captured)
{
	ctx_buf_deinit(&captured->out);
	ctx_buf_deinit(&captured->errors);
}

/* Whether it ended in time; a kernel without descriptors of processes does not limit it. */
static bool ends_in_time(pid_t pid, unsigned seconds)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int n;

	if (end.fd < 0)
		return true;
	do
		n = poll(&end, 1, (int)seconds * 1000);
	while (n < 0 && errno == EINTR);
	close(end.fd);
	return n != 0;
}

static enum ctx_status take(int fd, struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (lseek(fd, 0, SEEK_SET) != 0)
		return ctx_err_errno(err, CTX_E_IO, "lseek");
	status = ctx_file_read_fd(fd, "output", CAPTURED_MAX, out, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_put_u8(out, 0);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_captured_run(char *const *argv, unsigned seconds, struct ctx_captured *ret,
				 struct ctx_err *err)
{
	int out CTX_AUTO_CLOSE = memfd_create("output", MFD_CLOEXEC);
	int errors CTX_AUTO_CLOSE = memfd_create("errors", MFD_CLOEXEC);
	enum ctx_status status;
	bool in_time;
	pid_t pid;
	int error;

	if (out < 0 || errors < 0)
		return ctx_err_errno(err, CTX_E_IO, "memfd_create");
	error = ctx_spawn(argv, (const int[]){-1, out, errors}, &pid);
	if (error != 0)
		return ctx_err_set(err, CTX_E_IO, "%s: %s", argv[0], strerror(error));
	in_time = ends_in_time(pid, seconds);
	if (!in_time)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &ret->status, 0) < 0) {
		if (errno != EINTR)
			return ctx_err_errno(err, CTX_E_IO, "%s", argv[0]);
	}
	if (!in_time)
		return ctx_err_set(err, CTX_E_LIMIT, "%s took longer than %u s", argv[0], seconds);
	status = take(out, &ret->out, err);
	return status == CTX_OK ? take(errors, &ret->errors, err) : status;
}
