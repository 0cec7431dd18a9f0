/*
 * System calls of the runtime itself. Not by the C library's functions: some of those are recorded, and
 * they are cancellation points. errno is set as they would.
 */
#ifndef CTX_RUNTIME_RT_SYSCALL_H
#define CTX_RUNTIME_RT_SYSCALL_H

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
static inline long ctx_rt_syscall6(long number, const long arguments[6])
{
	register long d __asm__("r10") = arguments[3];
	register long e __asm__("r8") = arguments[4];
	register long f __asm__("r9") = arguments[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(d),
			   "r"(e), "r"(f)
			 : "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
#elif defined(__i386__)
/* As above. The sixth argument is in ebp, which is the frame pointer. */
static inline long ctx_rt_syscall6(long number, const long arguments[6])
{
	long result = number;

	__asm__ volatile("push %%ebp\n\tpush %%ebx\n\t"
			 "mov (%%esi), %%ebx\n\tmov 4(%%esi), %%ecx\n\tmov 8(%%esi), %%edx\n\t"
			 "mov 16(%%esi), %%edi\n\tmov 20(%%esi), %%ebp\n\tmov 12(%%esi), %%esi\n\t"
			 "int $0x80\n\t"
			 "pop %%ebx\n\tpop %%ebp"
			 : "+a"(result), "+S"(arguments)
			 :
			 : "ecx", "edx", "edi", "memory", "cc");
	if ((unsigned long)result > -4096UL) {
		errno = (int)-result;
		return -1;
	}
	return result;
}
#else
static inline long ctx_rt_syscall6(long number, const long arguments[6])
{
	return syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		       arguments[5]);
}
#endif

/* A number and up to six arguments, like the C library's syscall, which the runtime stands in for. */
#define ctx_rt_syscall(...) CTX_RT_SYSCALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define CTX_RT_SYSCALL(number, a, b, c, d, e, f, ...)                                                        \
	ctx_rt_syscall6((long)(number),                                                                      \
			(const long[6]){(long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)})

static inline int ctx_rt_close(int fd)
{
	return (int)ctx_rt_syscall(SYS_close, fd);
}

static inline int ctx_rt_socket(int family, int type)
{
	return (int)ctx_rt_syscall(SYS_socket, family, type, 0);
}

static inline int ctx_rt_connect(int fd, const struct sockaddr *address, socklen_t n)
{
	return (int)ctx_rt_syscall(SYS_connect, fd, address, n);
}

static inline ssize_t ctx_rt_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return ctx_rt_syscall(SYS_sendmsg, fd, message, flags);
}

static inline ssize_t ctx_rt_recvmsg(int fd, struct msghdr *message, int flags)
{
	return ctx_rt_syscall(SYS_recvmsg, fd, message, flags);
}

#endif
