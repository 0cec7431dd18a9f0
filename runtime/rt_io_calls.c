/* Reading, writing, waiting for either. */
#include "runtime/rt_io.h"
#include "runtime/rt_once.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ(name, number, parameters, arguments)                                                            \
	CTX_RT_IO_FUNCTION(ssize_t, name, CTX_CALL_##number, parameters, arguments)
#define WRITE READ

/* What programs built with _FORTIFY_SOURCE call. */
ssize_t __read_chk(int fd, void *out, size_t n, size_t size);
ssize_t __pread_chk(int fd, void *out, size_t n, off_t at, size_t size);
ssize_t __pread64_chk(int fd, void *out, size_t n, off64_t at, size_t size);
int __poll_chk(struct pollfd *items, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *items, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t size);

READ(read, READ, (int fd, void *out, size_t n), (fd, out, n))
READ(__read_chk, READ, (int fd, void *out, size_t n, size_t size), (fd, out, n, size))
READ(pread, PREAD, (int fd, void *out, size_t n, off_t at), (fd, out, n, at))
READ(pread64, PREAD, (int fd, void *out, size_t n, off64_t at), (fd, out, n, at))
READ(__pread_chk, PREAD, (int fd, void *out, size_t n, off_t at, size_t size), (fd, out, n, at, size))
READ(__pread64_chk, PREAD, (int fd, void *out, size_t n, off64_t at, size_t size), (fd, out, n, at, size))
READ(readv, READV, (int fd, const struct iovec *parts, int n), (fd, parts, n))
READ(preadv, PREADV, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at))
READ(preadv64, PREADV, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at))
READ(preadv2, PREADV, (int fd, const struct iovec *parts, int n, off_t at, int flags),
     (fd, parts, n, at, flags))
READ(preadv64v2, PREADV, (int fd, const struct iovec *parts, int n, off64_t at, int flags),
     (fd, parts, n, at, flags))

WRITE(write, WRITE, (int fd, const void *in, size_t n), (fd, in, n))
WRITE(pwrite, PWRITE, (int fd, const void *in, size_t n, off_t at), (fd, in, n, at))
WRITE(pwrite64, PWRITE, (int fd, const void *in, size_t n, off64_t at), (fd, in, n, at))
WRITE(writev, WRITEV, (int fd, const struct iovec *parts, int n), (fd, parts, n))
WRITE(pwritev, PWRITEV, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at))
WRITE(pwritev64, PWRITEV, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at))
WRITE(pwritev2, PWRITEV, (int fd, const struct iovec *parts, int n, off_t at, int flags),
      (fd, parts, n, at, flags))
WRITE(pwritev64v2, PWRITEV, (int fd, const struct iovec *parts, int n, off64_t at, int flags),
      (fd, parts, n, at, flags))

/* Of the descriptor that is written to. */
WRITE(sendfile, SENDFILE, (int fd, int from, off_t *at, size_t n), (fd, from, at, n))
WRITE(sendfile64, SENDFILE, (int fd, int from, off64_t *at, size_t n), (fd, from, at, n))
WRITE(splice, SPLICE, (int from, off64_t *from_at, int fd, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, fd, to_at, n, flags))
WRITE(copy_file_range, COPY_FILE_RANGE,
      (int from, off64_t *from_at, int fd, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, fd, to_at, n, flags))

CTX_RT_IO_FUNCTION(int, fsync, CTX_CALL_FSYNC, (int fd), (fd))
CTX_RT_IO_FUNCTION(int, fdatasync, CTX_CALL_FDATASYNC, (int fd), (fd))

/* Waiting: epoll has a descriptor of its own, the others have several. */
#define WAIT(name, number, parameters, arguments)                                                            \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_##number, -1);                                \
		int result = CTX_RT_REAL(name) arguments;                                                    \
                                                                                                             \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

WAIT(poll, POLL, (struct pollfd * items, nfds_t n, int timeout), (items, n, timeout))
WAIT(__poll_chk, POLL, (struct pollfd * items, nfds_t n, int timeout, size_t size), (items, n, timeout, size))
WAIT(ppoll, PPOLL, (struct pollfd * items, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
     (items, n, timeout, CTX_RT_ONCE_SET(mask)))
WAIT(__ppoll_chk, PPOLL,
     (struct pollfd * items, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t size),
     (items, n, timeout, CTX_RT_ONCE_SET(mask), size))
WAIT(select, SELECT, (int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout),
     (n, in, out, except, timeout))
WAIT(pselect, PSELECT,
     (int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout, const sigset_t *mask),
     (n, in, out, except, timeout, CTX_RT_ONCE_SET(mask)))
CTX_RT_IO_FUNCTION(int, epoll_wait, CTX_CALL_EPOLL_WAIT,
		   (int fd, struct epoll_event *items, int n, int timeout), (fd, items, n, timeout))
CTX_RT_IO_FUNCTION(int, epoll_pwait, CTX_CALL_EPOLL_PWAIT,
		   (int fd, struct epoll_event *items, int n, int timeout, const sigset_t *mask),
		   (fd, items, n, timeout, CTX_RT_ONCE_SET(mask)))
CTX_RT_IO_FUNCTION(int, epoll_pwait2, CTX_CALL_EPOLL_PWAIT,
		   (int fd, struct epoll_event *items, int n, const struct timespec *timeout,
		    const sigset_t *mask),
		   (fd, items, n, timeout, CTX_RT_ONCE_SET(mask)))

#ifndef __LP64__ /* what programs of 32 bits call that are built for times of 64 (_TIME_BITS) */
int __select64(int n, fd_set *in, fd_set *out, fd_set *except, void *timeout);
int __pselect64(int n, fd_set *in, fd_set *out, fd_set *except, const void *timeout, const sigset_t *mask);
int __ppoll64(struct pollfd *items, nfds_t n, const void *timeout, const sigset_t *mask);
int __epoll_pwait2_time64(int fd, struct epoll_event *items, int n, const void *timeout,
			  const sigset_t *mask);

WAIT(__select64, SELECT, (int n, fd_set *in, fd_set *out, fd_set *except, void *timeout),
     (n, in, out, except, timeout))
WAIT(__pselect64, PSELECT,
     (int n, fd_set *in, fd_set *out, fd_set *except, const void *timeout, const sigset_t *mask),
     (n, in, out, except, timeout, CTX_RT_ONCE_SET(mask)))
WAIT(__ppoll64, PPOLL, (struct pollfd * items, nfds_t n, const void *timeout, const sigset_t *mask),
     (items, n, timeout, CTX_RT_ONCE_SET(mask)))
CTX_RT_IO_FUNCTION(int, __epoll_pwait2_time64, CTX_CALL_EPOLL_PWAIT,
		   (int fd, struct epoll_event *items, int n, const void *timeout, const sigset_t *mask),
		   (fd, items, n, timeout, CTX_RT_ONCE_SET(mask)))
#endif
