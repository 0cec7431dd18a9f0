/*
 * System calls of the runtime itself. Not by the C library's functions: some of those are recorded, and
 * they are cancellation points. errno is set as they would.
 */
#ifndef CTX_RUNTIME_RT_SYSCALL_H
#define CTX_RUNTIME_RT_SYSCALL_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int ctx_rt_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static inline int ctx_rt_socket(int family, int type)
{
	return (int)syscall(SYS_socket, family, type, 0);
}

static inline int ctx_rt_connect(int fd, const struct sockaddr *address, socklen_t n)
{
	return (int)syscall(SYS_connect, fd, address, n);
}

static inline ssize_t ctx_rt_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return syscall(SYS_sendmsg, fd, message, flags);
}

static inline ssize_t ctx_rt_recvmsg(int fd, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, fd, message, flags);
}

#endif
