#include "collect/vm_attach.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/namespaces.h"
#include "collect/procfs.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define APPEARS_MS 5000
#define ROUND_MS 20
#define ANSWERS_MS 1000
#define ANSWER_MAX 512u

bool ctx_vm_attach_is_java(const char *maps, const char *status)
{
	const char *caught = strstr(status, "\nSigCgt:");

	return strstr(maps, "/libjvm.so") != NULL && caught != NULL &&
	       (strtoull(caught + strlen("\nSigCgt:"), NULL, 16) >> (SIGQUIT - 1) & 1) != 0;
}

/* "0\n", then in most versions "return code: 0". */
enum ctx_status ctx_vm_attach_answer(const char *text, struct ctx_err *err)
{
	const char *code = strstr(text, "return code: ");
	const char *line = strchr(text, '\n');

	if (line == NULL || (code != NULL && strchr(code, '\n') == NULL))
		return CTX_END;
	if (strtol(text, NULL, 10) != 0)
		return ctx_err_set(err, CTX_E_IO, "the virtual machine refuses the agent: %.200s", line + 1);
	if (code != NULL && strtol(code + strlen("return code: "), NULL, 10) != 0)
		return ctx_err_set(err, CTX_E_IO,
				   "the agent is in use by another recorder, or cannot reach this one");
	return code != NULL ? CTX_OK : CTX_END;
}

/* The paths, as the recorder reaches them. */
struct paths {
	char socket[96], here[96], there[96];
};

static void set_paths(struct paths *paths, int64_t pid, int64_t inner)
{
	snprintf(paths->socket, sizeof(paths->socket), "/proc/%lld/root/tmp/.java_pid%lld", (long long)pid,
		 (long long)inner);
	snprintf(paths->here, sizeof(paths->here), "/proc/%lld/cwd/.attach_pid%lld", (long long)pid,
		 (long long)inner);
	snprintf(paths->there, sizeof(paths->there), "/proc/%lld/root/tmp/.attach_pid%lld", (long long)pid,
		 (long long)inner);
}

static bool is_socket(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

/* Makes the virtual machine listen. */
static enum ctx_status wake(int64_t pid, const struct paths *paths, struct ctx_err *err)
{
	const char *made = paths->there;
	int fd = open(made, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	uint64_t end_ns = ctx_clock_ns(CLOCK_MONOTONIC) + APPEARS_MS * UINT64_C(1000000);

	if (fd < 0) {
		made = paths->here;
		fd = open(made, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		return ctx_err_errno(err, CTX_E_PERM, "%s", paths->there);
	close(fd);
	if (kill((pid_t)pid, SIGQUIT) != 0) {
		(void)ctx_err_errno(err, CTX_E_PERM, "process %lld", (long long)pid);
		(void)unlink(made);
		return CTX_E_PERM;
	}
	while (!is_socket(paths->socket) && ctx_clock_ns(CLOCK_MONOTONIC) < end_ns)
		(void)poll(NULL, 0, ROUND_MS);
	(void)unlink(made);
	return is_socket(paths->socket)
		       ? CTX_OK
		       : ctx_err_set(err, CTX_E_IO,
				     "the virtual machine does not listen: it may be stopped, or "
				     "not allow to attach (-XX:+DisableAttachMechanism)");
}

static enum ctx_status connect_to(const char *path, int *ret_fd, struct ctx_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		(void)ctx_err_errno(err, CTX_E_IO, "%s", path);
		if (fd >= 0)
			close(fd);
		return CTX_E_IO;
	}
	*ret_fd = fd;
	return CTX_OK;
}

/* Version, command and three arguments, each with a zero byte behind it. */
static enum ctx_status send_load(int fd, const char *library, const char *options, struct ctx_err *err)
{
	static const char *const words[] = {"1", "load"};
	struct ctx_buf request CTX_AUTO_BUF = {0};

	for (size_t i = 0; i < CTX_COUNT_OF(words); i++)
		ctx_buf_put(&request, words[i], strlen(words[i]) + 1);
	ctx_buf_put(&request, library, strlen(library) + 1);
	ctx_buf_put(&request, "true", sizeof("true"));
	ctx_buf_put(&request, options, strlen(options) + 1);
	if (ctx_buf_check(&request, err) != CTX_OK)
		return CTX_E_NOMEM;
	return send(fd, request.bytes, request.n, MSG_NOSIGNAL) == (ssize_t)request.n
		       ? CTX_OK
		       : ctx_err_errno(err, CTX_E_IO, "the virtual machine does not listen any more");
}

/* A late answer is not waited for: the agent of a large program reports all classes before it. */
static enum ctx_status wait_for_answer(int fd, struct ctx_err *err)
{
	uint64_t end_ns = ctx_clock_ns(CLOCK_MONOTONIC) + ANSWERS_MS * UINT64_C(1000000);
	char answer[ANSWER_MAX + 1] = "";
	enum ctx_status status = CTX_END;
	size_t n = 0;

	while (status == CTX_END && n < ANSWER_MAX && ctx_clock_ns(CLOCK_MONOTONIC) < end_ns) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (poll(&polled, 1, ROUND_MS) <= 0)
			continue;
		got = recv(fd, answer + n, ANSWER_MAX - n, MSG_DONTWAIT);
		if (got <= 0)
			break;
		n += (size_t)got;
		answer[n] = '\0';
		status = ctx_vm_attach_answer(answer, err);
	}
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_vm_attach(int64_t pid, const char *library, const char *options, int *ret_fd,
			      struct ctx_err *err)
{
	struct ctx_buf maps CTX_AUTO_BUF = {0}, text CTX_AUTO_BUF = {0};
	char seen[PATH_MAX];
	enum ctx_status status;
	struct paths paths;
	int64_t inner;
	int fd;

	if (ctx_procfs_maps(pid, &maps, NULL) < 0 || ctx_procfs_text(pid, "status", &text, NULL) != CTX_OK ||
	    !ctx_vm_attach_is_java((const char *)maps.bytes, (const char *)text.bytes))
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "process %lld is no virtual machine of Java, or ignores SIGQUIT (-Xrs)",
				   (long long)pid);
	snprintf(seen, sizeof(seen), "/proc/%lld/root%.4000s", (long long)pid, library);
	if (access(seen, R_OK) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s is not in the file system of process %lld",
				   library, (long long)pid);
	inner = ctx_namespaces_parse_inner((const char *)text.bytes);
	set_paths(&paths, pid, inner != 0 ? inner : pid);
	status = is_socket(paths.socket) ? CTX_OK : wake(pid, &paths, err);
	if (status == CTX_OK)
		status = connect_to(paths.socket, &fd, err);
	if (status != CTX_OK)
		return status;
	status = send_load(fd, library, options, err);
	if (status == CTX_OK)
		status = wait_for_answer(fd, err);
	if (status != CTX_OK) {
		close(fd);
		return status;
	}
	*ret_fd = fd;
	return CTX_OK;
}
