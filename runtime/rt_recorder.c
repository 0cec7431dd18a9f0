#include "runtime/rt_recorder.h"

#include "runtime/rt_syscall.h"
#include "runtime/shared_layout.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define ANSWER_TIMEOUT_S 1 /* for a recorder that does not accept */

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

/* The descriptor of the answer; -1: none. */
static int receive_descriptor(int socket_fd)
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
	struct cmsghdr *part;
	int fd = -1;

	if (ctx_rt_recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	part = CMSG_FIRSTHDR(&message);
	if (part != NULL && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

static bool send_number(int socket_fd, uint32_t number)
{
	char byte = (char)number;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	return ctx_rt_sendmsg(socket_fd, &message, MSG_NOSIGNAL) == 1;
}

/* -2: nobody listens there. */
static int request_by(const struct address *address, uint32_t n_segments)
{
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	int socket_fd = ctx_rt_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC), fd = -1;

	if (socket_fd < 0)
		return -1;
	if (setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    ctx_rt_connect(socket_fd, (const struct sockaddr *)&address->name, address->length) == 0)
		fd = send_number(socket_fd, n_segments) ? receive_descriptor(socket_fd) : -1;
	else
		fd = -2;
	ctx_rt_close(socket_fd);
	return fd;
}

/* Its name stays in the library: reports know by it what such a wait is (model/wait_kind.c). */
__attribute__((visibility("default"), noinline)) int ctx_rt_recorder_request(uint32_t n_segments)
{
	int fd = request_by(&abstract, n_segments);

	return fd == -2 ? request_by(&in_files, n_segments) : fd;
}

static bool listens(const struct address *address)
{
	int socket_fd = ctx_rt_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
	bool listens = socket_fd >= 0 && ctx_rt_connect(socket_fd, (const struct sockaddr *)&address->name,
							address->length) == 0;

	if (socket_fd >= 0)
		ctx_rt_close(socket_fd);
	return listens;
}

bool ctx_rt_recorder_is_there(void)
{
	return listens(&abstract) || listens(&in_files);
}
