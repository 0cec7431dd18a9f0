/*
 * The functions by which a program does input and output, as the runtime records them (runtime/rt_io.h).
 * Variants that do the same on another type of offset are one: preadv and preadv64v2.
 */
#ifndef CTX_MODEL_IO_CALL_H
#define CTX_MODEL_IO_CALL_H

#include "model/traced.h"

/* The numbers are in recordings and databases: only additions. */
enum ctx_io_call {
	CTX_CALL_NONE = 0, /* not known which */
	CTX_CALL_READ,
	CTX_CALL_PREAD,
	CTX_CALL_READV,
	CTX_CALL_PREADV,
	CTX_CALL_RECV,
	CTX_CALL_RECVFROM,
	CTX_CALL_RECVMSG,
	CTX_CALL_RECVMMSG,
	CTX_CALL_STREAM_READ, /* a function of stdio that had to read; the others of a stream alike */
	CTX_CALL_WRITE,
	CTX_CALL_PWRITE,
	CTX_CALL_WRITEV,
	CTX_CALL_PWRITEV,
	CTX_CALL_SEND,
	CTX_CALL_SENDTO,
	CTX_CALL_SENDMSG,
	CTX_CALL_SENDMMSG,
	CTX_CALL_SENDFILE, /* these three: of the descriptor that is written to */
	CTX_CALL_SPLICE,
	CTX_CALL_COPY_FILE_RANGE,
	CTX_CALL_STREAM_WRITE,
	CTX_CALL_STREAM_EXIT, /* what streams hold at the end of the program */
	CTX_CALL_OPEN,
	CTX_CALL_OPENAT,
	CTX_CALL_CREAT,
	CTX_CALL_SOCKET,
	CTX_CALL_ACCEPT,
	CTX_CALL_DUP,
	CTX_CALL_DUP2,
	CTX_CALL_DUP3,
	CTX_CALL_FCNTL, /* F_DUPFD */
	CTX_CALL_PIPE,
	CTX_CALL_SOCKETPAIR,
	CTX_CALL_STREAM_OPEN,
	CTX_CALL_CLOSE,
	CTX_CALL_STREAM_CLOSE,
	CTX_CALL_STAT,
	CTX_CALL_LSTAT,
	CTX_CALL_FSTAT,
	CTX_CALL_FSTATAT,
	CTX_CALL_STATX,
	CTX_CALL_FSYNC,
	CTX_CALL_FDATASYNC,
	CTX_CALL_CHDIR,
	CTX_CALL_FCHDIR,
	CTX_CALL_BIND,
	CTX_CALL_CONNECT,
	CTX_CALL_POLL,
	CTX_CALL_PPOLL,
	CTX_CALL_SELECT,
	CTX_CALL_PSELECT,
	CTX_CALL_EPOLL_WAIT,
	CTX_CALL_EPOLL_PWAIT,
	CTX_CALL_OPENDIR,
	CTX_CALL_CLOSEDIR,
	CTX_CALL_NAME, /* none: it tells the name of a descriptor, such as those that the process began with */
	CTX_CALL_AIO_READ, /* of libaio, when its result is fetched */
	CTX_CALL_AIO_WRITE,
	CTX_CALL_AIO_OTHER,  /* fsync, poll */
	CTX_CALL_URING_READ, /* of io_uring, by the kernel's tracepoints */
	CTX_CALL_URING_WRITE,
	CTX_CALL_URING_OTHER,
	CTX_CALL_N,
};

/* "read", "stdio read", ...; "?" for other numbers, and for CTX_CALL_NONE. */
const char *ctx_io_call_name(unsigned call);

/* What it does. CTX_IO_OTHER for other numbers. */
enum ctx_io_operation ctx_io_call_operation(unsigned call);

#endif
