/*
 * The functions that those of input and output, and of exec, stand in front of: those that the program would
 * have without the runtime. They are looked up when the library is loaded, since later the caller may be a
 * signal handler, or a child between vfork and exec; one that is called before, by a constructor of a library
 * of the program, is looked up then.
 */
#ifndef CTX_RUNTIME_RT_REAL_H
#define CTX_RUNTIME_RT_REAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// clang-format off
#define CTX_RT_REAL_FUNCTIONS_OF_ALL(X)                                                                      \
	X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64) X(preadv2) X(preadv64v2)                  \
	X(__read_chk) X(__pread_chk) X(__pread64_chk)                                                        \
	X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2)          \
	X(sendfile) X(sendfile64) X(splice) X(copy_file_range)                                               \
	X(fsync) X(fdatasync)                                                                                \
	X(poll) X(__poll_chk) X(ppoll) X(__ppoll_chk) X(select) X(pselect) X(epoll_wait) X(epoll_pwait)      \
	X(epoll_pwait2)                                                                                      \
	X(open) X(open64) X(opendir) X(closedir) X(mkstemp) X(mkstemp64) X(mkostemp) X(mkostemp64) X(mkstemps)	\
	X(mkstemps64) X(mkostemps) X(mkostemps64) X(popen) X(pclose) X(__open_2) X(__open64_2) X(openat) X(openat64) X(__openat_2) X(__openat64_2)      \
	X(creat) X(creat64) X(close) X(close_range) X(closefrom)                                             \
	X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64) X(pipe) X(pipe2) X(chdir) X(fchdir)                       \
	X(stat) X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) X(fstatat) X(fstatat64) X(statx)           \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat) X(__fxstat64) X(__fxstatat)            \
	X(__fxstatat64)                                                                                      \
	X(socket) X(socketpair) X(bind) X(connect) X(accept) X(accept4)                                      \
	X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) X(recvmsg) X(recvmmsg)                           \
	X(send) X(sendto) X(sendmsg) X(sendmmsg)                                                             \
	X(fopen) X(fopen64) X(freopen) X(freopen64) X(fclose) X(fflush) X(fflush_unlocked)         \
	X(fread) X(fread_unlocked) X(__fread_chk) X(__fread_unlocked_chk) X(fgets) X(fgets_unlocked)         \
	X(__fgets_chk) X(__fgets_unlocked_chk) X(getline) X(getdelim) X(__getdelim) X(getc) X(fgetc)         \
	X(getc_unlocked) X(fgetc_unlocked) X(_IO_getc) X(__uflow)             \
	X(__isoc99_vfscanf)                                                                       \
	X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts) X(putc) X(fputc) X(putc_unlocked)    \
	X(fputc_unlocked) X(_IO_putc) X(__overflow) X(vfprintf)               \
	X(__vfprintf_chk) X(fseek) X(fseeko) X(fseeko64) X(rewind) X(fsetpos) X(fsetpos64)                \
	X(execve) X(execvpe) X(fexecve) X(posix_spawn) X(posix_spawnp)                                       \
	X(sigaction) X(signal) X(sigprocmask) X(pthread_sigmask) X(sigsuspend)
/* Of programs of 32 bits that are built for times of 64 (_TIME_BITS). */
#ifdef __LP64__
#define CTX_RT_REAL_FUNCTIONS_WIDE(X)
#else
#define CTX_RT_REAL_FUNCTIONS_WIDE(X)                                                                        \
	X(__stat64_time64) X(__lstat64_time64) X(__fstat64_time64) X(__fstatat64_time64) X(__fcntl_time64)   \
	X(__select64) X(__pselect64) X(__ppoll64) X(__epoll_pwait2_time64)                                   \
	X(__recvmsg64) X(__recvmmsg64) X(__sendmsg64) X(__sendmmsg64)
#endif
#define CTX_RT_REAL_FUNCTIONS(X) CTX_RT_REAL_FUNCTIONS_OF_ALL(X) CTX_RT_REAL_FUNCTIONS_WIDE(X)
// clang-format on

enum ctx_rt_real {
#define CTX_RT_REAL_NUMBER(name) CTX_RT_REAL_##name,
	CTX_RT_REAL_FUNCTIONS(CTX_RT_REAL_NUMBER)
#undef CTX_RT_REAL_NUMBER
		CTX_RT_REAL_N
};

/* Where they are; NULL: not looked up yet, or the C library has none. */
extern _Atomic(void *) ctx_rt_reals[CTX_RT_REAL_N];

void *ctx_rt_real_find(enum ctx_rt_real which);

/*
 * Whether the library was loaded into a program that ran already (rt_attach.h), behind the C library, and not with
 * the program, before it.
 */
bool ctx_rt_is_late(void);

/*
 * The function of a name that the program would have without the runtime, of this version if it is not NULL and
 * there is such a one. NULL: none. errno is changed.
 */
void *ctx_rt_find(const char *name, const char *version);

/* NULL: the C library has none, so nobody calls it. errno is kept. */
static inline void *ctx_rt_real(enum ctx_rt_real which)
{
	void *function = atomic_load_explicit(&ctx_rt_reals[which], memory_order_acquire);

	return __builtin_expect(function != NULL, 1) ? function : ctx_rt_real_find(which);
}

/* The real function of a name, with its type. */
#define CTX_RT_REAL(name) ((__typeof__(&(name)))ctx_rt_real(CTX_RT_REAL_##name))

#endif
