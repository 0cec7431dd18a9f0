#include "runtime/rt_recorder.h"

#include "runtime/rt_syscall.h"
#include "runtime/shared_layout.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define LOOK_S 1	 /* between two looks at a recorder that has not answered yet */
#define LOOKS_MAX 30u	 /* then it is not waited for any more */
#define CONNECTS_MAX 30u /* of one that something interrupts */
#define STAT_BYTES 128u	 /* of /proc/PID/stat: the state is within them */

static struct address {
	struct sockaddr_un name;
	socklen_t length;
} abstract, in_files; /* in no file system, and in the directory of sockets */

bool ctx_rt_recorder_name(const char *name, size_t n)
{
	if (n == 0 || n >= sizeof(abstract.name.sun_path) - sizeof(CTX_RT_SOCKETS "/"))
		return false;
	abstract.name = in_files.name = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(abstract.name.sun_path + 1, name, n);
	abstract.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	memcpy(stpcpy(in_files.name.sun_path, CTX_RT_SOCKETS "/"), name, n);
	in_files.length = sizeof(in_files.name);
	return true;
}

/*
 * Whether the recorder has been stopped (SIGSTOP). One that runs may be kept from answering for seconds, on a machine that is busy
 * with programs of a higher priority.
 */
static bool is_stopped(int socket_fd)
{
	char path[32] = "/proc/", text[STAT_BYTES + 1], digits[12], *to = path + strlen(path);
	struct ucred peer = {0};
	socklen_t length = sizeof(peer);
	const char *state;
	ssize_t n;
	int fd, i = 0;

	if (ctx_rt_syscall(SYS_getsockopt, socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		return false;
	for (pid_t left = peer.pid; left > 0; left /= 10)
		digits[i++] = (char)('0' + left % 10);
	while (i > 0)
		*to++ = digits[--i];
	strcpy(to, "/stat");
	fd = (int)ctx_rt_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* that of another pid namespace, or /proc is not there */
		return false;
	n = (ssize_t)ctx_rt_syscall(SYS_pread64, fd, text, STAT_BYTES);
	ctx_rt_close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')'); /* behind the name, which may be anything */
	return state != NULL && state[1] == ' ' && state[2] == 'T';
}

/* One answer. As recvmsg. *ret_fd: the descriptor that came with it; -1: none. */
static ssize_t receive_once(int socket_fd, int *ret_fd)
{
	char byte;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n = ctx_rt_recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *part = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_fd = -1;
	if (part != NULL && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(part), sizeof(*ret_fd));
	return n;
}

/* The descriptor of the answer; -1: none. *ret_left: there was no answer yet. What stops this process for a while interrupts the wait. */
static int receive_descriptor(int socket_fd, bool *ret_left)
{
	bool is_over = false;
	ssize_t n = -1;
	int fd = -1;

	for (unsigned looks = 0; n < 0 && !is_over && looks < LOOKS_MAX; looks++) {
		n = receive_once(socket_fd, &fd);
		is_over = n < 0 && errno != EINTR && (errno != EAGAIN || is_stopped(socket_fd));
	}
	*ret_left = n < 0;
	return fd;
}

static bool send_number(int socket_fd, uint32_t number)
{
	char byte = (char)number;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	return ctx_rt_sendmsg(socket_fd, &message, MSG_NOSIGNAL) == 1;
}

static bool connect_to(int socket_fd, const struct address *address)
{
	int result = -1;

	errno = EINTR;
	for (unsigned i = 0; result != 0 && errno == EINTR && i < CONNECTS_MAX; i++)
		result = ctx_rt_connect(socket_fd, (const struct sockaddr *)&address->name, address->length);
	return result == 0;
}

/* -2: nobody listens there. */
static int request_by(const struct address *address, uint32_t n_segments, bool *ret_left)
{
	struct timeval timeout = {.tv_sec = LOOK_S};
	int socket_fd = ctx_rt_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC), fd = -1;

	if (socket_fd < 0)
		return -1;
	if (setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect_to(socket_fd, address))
		fd = send_number(socket_fd, n_segments) ? receive_descriptor(socket_fd, ret_left) : -1;
	else
		fd = -2;
	ctx_rt_close(socket_fd);
	return fd;
}

/* Its name stays in the library: reports know by it what such a wait is (model/wait_kind.c). */
__attribute__((visibility("default"), noinline)) int ctx_rt_recorder_request(uint32_t n_segments)
{
	bool left = false;
	int fd = request_by(&abstract, n_segments, &left);

	if (fd == -2)
		fd = request_by(&in_files, n_segments, &left);
	if (left)
		ctx_rt_recorder_report(CTX_RT_UNTRACED_LEFT);
	return fd;
}

/* Waits for nothing. */
static bool report_by(const struct address *address, enum ctx_rt_untraced what)
{
	int socket_fd = ctx_rt_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	bool is_sent = socket_fd >= 0 && connect_to(socket_fd, address) && send_number(socket_fd, what);

	if (socket_fd >= 0)
		ctx_rt_close(socket_fd);
	return is_sent;
}

void ctx_rt_recorder_report(enum ctx_rt_untraced what)
{
	if (!report_by(&abstract, what))
		(void)report_by(&in_files, what);
}

static bool listens(const struct address *address)
{
	int socket_fd = ctx_rt_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
	bool listens = socket_fd >= 0 && connect_to(socket_fd, address);

	if (socket_fd >= 0)
		ctx_rt_close(socket_fd);
	return listens;
}

bool ctx_rt_recorder_is_there(void)
{
	return listens(&abstract) || listens(&in_files);
}
