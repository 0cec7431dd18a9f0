/* Sockets. Their names are the address that they are bound or connected to. */
#include "runtime/rt_io.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

ssize_t __recv_chk(int fd, void *out, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *out, size_t n, size_t size, int flags, struct sockaddr *from,
		       socklen_t *length);

#define NAME_BYTES 160

/* "tcp socket", "unix socket", ... */
static const char *name_of_new(int family, int type)
{
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (family == AF_UNIX)
		return "unix socket";
	if (family == AF_NETLINK)
		return "netlink socket";
	if (family != AF_INET && family != AF_INET6)
		return "socket";
	return kind == SOCK_STREAM ? "tcp socket" : kind == SOCK_DGRAM ? "udp socket" : "raw socket";
}

static void put_number(char *out, unsigned number)
{
	char digits[12];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (n != 0)
		*out++ = digits[--n];
	*out = '\0';
}

/* "unix /run/x", "unix @x" of an abstract name. */
static const char *name_of_unix(const struct sockaddr_un *address, socklen_t length, char *out)
{
	size_t at = offsetof(struct sockaddr_un, sun_path);
	size_t n = length > at ? length - at : 0;

	if (n > sizeof(address->sun_path))
		n = sizeof(address->sun_path);
	if (n == 0)
		return NULL;
	out = stpcpy(out, "unix ");
	memcpy(out, address->sun_path, n);
	out[n] = '\0';
	if (out[0] == '\0')
		out[0] = '@';
	return out - strlen("unix ");
}

/* NULL: it has no name. "inet 127.0.0.1:80", "inet [::1]:80". */
static const char *name_of_address(const struct sockaddr *address, socklen_t length, char out[NAME_BYTES])
{
	const struct sockaddr_in *inet = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)address;
	bool is_6 = length >= sizeof(*inet6) && address->sa_family == AF_INET6;
	char *end;

	if (length < sizeof(sa_family_t))
		return NULL;
	if (address->sa_family == AF_UNIX)
		return name_of_unix((const struct sockaddr_un *)address, length, out);
	if (!is_6 && (length < sizeof(*inet) || address->sa_family != AF_INET))
		return NULL;
	end = stpcpy(out, is_6 ? "inet [" : "inet ");
	if (inet_ntop(address->sa_family, is_6 ? (const void *)&inet6->sin6_addr : &inet->sin_addr, end,
		      INET6_ADDRSTRLEN) == NULL)
		return NULL;
	end = stpcpy(end + strlen(end), is_6 ? "]:" : ":");
	put_number(end, ntohs(is_6 ? inet6->sin6_port : inet->sin_port));
	return out;
}

CTX_RT_EXPORT int socket(int family, int type, int protocol)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_SOCKET, -1);
	int result = CTX_RT_REAL(socket)(family, type, protocol);

	io.file = name_of_new(family, type);
	ctx_rt_io_end(&io, result, &caller);
	return result;
}

CTX_RT_EXPORT int socketpair(int family, int type, int protocol, int ends[2])
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_SOCKETPAIR, -1);
	int result = CTX_RT_REAL(socketpair)(family, type, protocol, ends);

	io.file = "socketpair";
	ctx_rt_io_end(&io, result == 0 ? ends[0] : result, &caller);
	if (result == 0)
		ctx_rt_io_name(ends[1], io.file);
	return result;
}

/* Whether the kernel has read the address before it refused it. */
static bool is_read(int error)
{
	return error != EFAULT && error != EINVAL && error != EBADF && error != ENOTSOCK;
}

/* A function that gives the socket a name. */
#define NAMING(name, number)                                                                                 \
	CTX_RT_EXPORT int name(int fd, const struct sockaddr *address, socklen_t length)                     \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_##number, fd);                                \
		int result = CTX_RT_REAL(name)(fd, address, length), error = errno;                          \
		char room[NAME_BYTES];                                                                       \
                                                                                                             \
		if (io.begin_ns != 0 && (result == 0 || is_read(error)))                                     \
			io.file = name_of_address(address, length, room);                                    \
		errno = error;                                                                               \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

NAMING(bind, BIND)
NAMING(connect, CONNECT)

/* A connection has the name of the socket that accepts it. */
CTX_RT_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_ACCEPT, -1);
	int result = CTX_RT_REAL(accept)(fd, address, length);

	io.size = fd >= 0 ? (uint64_t)(uint32_t)fd + 1 : 0;
	ctx_rt_io_end(&io, result, &caller);
	return result;
}

CTX_RT_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_ACCEPT, -1);
	int result = CTX_RT_REAL(accept4)(fd, address, length, flags);

	io.size = fd >= 0 ? (uint64_t)(uint32_t)fd + 1 : 0;
	ctx_rt_io_end(&io, result, &caller);
	return result;
}

#define MOVE(name, number, parameters, arguments)                                                            \
	CTX_RT_IO_FUNCTION(ssize_t, name, CTX_CALL_##number, parameters, arguments)

MOVE(recv, RECV, (int fd, void *out, size_t n, int flags), (fd, out, n, flags))
MOVE(__recv_chk, RECV, (int fd, void *out, size_t n, size_t size, int flags), (fd, out, n, size, flags))
MOVE(recvfrom, RECVFROM, (int fd, void *out, size_t n, int flags, struct sockaddr *from, socklen_t *length),
     (fd, out, n, flags, from, length))
MOVE(__recvfrom_chk, RECVFROM,
     (int fd, void *out, size_t n, size_t size, int flags, struct sockaddr *from, socklen_t *length),
     (fd, out, n, size, flags, from, length))
MOVE(recvmsg, RECVMSG, (int fd, struct msghdr *message, int flags), (fd, message, flags))
MOVE(send, SEND, (int fd, const void *in, size_t n, int flags), (fd, in, n, flags))
MOVE(sendto, SENDTO,
     (int fd, const void *in, size_t n, int flags, const struct sockaddr *to, socklen_t length),
     (fd, in, n, flags, to, length))
MOVE(sendmsg, SENDMSG, (int fd, const struct msghdr *message, int flags), (fd, message, flags))

/* Bytes of the messages that were received or sent. */
static int64_t bytes_of(const struct mmsghdr *messages, int n)
{
	int64_t bytes = n < 0 ? n : 0;

	for (int i = 0; i < n; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

#define MOVE_SEVERAL(name, number, parameters, arguments)                                                    \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_##number, fd);                                \
		int result = CTX_RT_REAL(name) arguments;                                                    \
                                                                                                             \
		ctx_rt_io_end(&io, bytes_of(messages, result), &caller);                                     \
		return result;                                                                               \
	}

MOVE_SEVERAL(recvmmsg, RECVMMSG,
	     (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout),
	     (fd, messages, n, flags, timeout))
MOVE_SEVERAL(sendmmsg, SENDMMSG, (int fd, struct mmsghdr *messages, unsigned n, int flags),
	     (fd, messages, n, flags))

#ifndef __LP64__ /* what programs of 32 bits call that are built for times of 64 (_TIME_BITS) */
ssize_t __recvmsg64(int fd, struct msghdr *message, int flags);
ssize_t __sendmsg64(int fd, const struct msghdr *message, int flags);
int __recvmmsg64(int fd, struct mmsghdr *messages, unsigned n, int flags, void *timeout);
int __sendmmsg64(int fd, struct mmsghdr *messages, unsigned n, int flags);

MOVE(__recvmsg64, RECVMSG, (int fd, struct msghdr *message, int flags), (fd, message, flags))
MOVE(__sendmsg64, SENDMSG, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
MOVE_SEVERAL(__recvmmsg64, RECVMMSG, (int fd, struct mmsghdr *messages, unsigned n, int flags, void *timeout),
	     (fd, messages, n, flags, timeout))
MOVE_SEVERAL(__sendmmsg64, SENDMMSG, (int fd, struct mmsghdr *messages, unsigned n, int flags),
	     (fd, messages, n, flags))
#endif
