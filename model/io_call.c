#include "model/io_call.h"

static const struct {
	const char *name;
	enum ctx_io_operation operation;
} calls[CTX_CALL_N] = {
	[CTX_CALL_NONE] = {"?", CTX_IO_OTHER},
	[CTX_CALL_READ] = {"read", CTX_IO_READ},
	[CTX_CALL_PREAD] = {"pread", CTX_IO_READ},
	[CTX_CALL_READV] = {"readv", CTX_IO_READ},
	[CTX_CALL_PREADV] = {"preadv", CTX_IO_READ},
	[CTX_CALL_RECV] = {"recv", CTX_IO_READ},
	[CTX_CALL_RECVFROM] = {"recvfrom", CTX_IO_READ},
	[CTX_CALL_RECVMSG] = {"recvmsg", CTX_IO_READ},
	[CTX_CALL_RECVMMSG] = {"recvmmsg", CTX_IO_READ},
	[CTX_CALL_STREAM_READ] = {"stdio read", CTX_IO_READ},
	[CTX_CALL_WRITE] = {"write", CTX_IO_WRITE},
	[CTX_CALL_PWRITE] = {"pwrite", CTX_IO_WRITE},
	[CTX_CALL_WRITEV] = {"writev", CTX_IO_WRITE},
	[CTX_CALL_PWRITEV] = {"pwritev", CTX_IO_WRITE},
	[CTX_CALL_SEND] = {"send", CTX_IO_WRITE},
	[CTX_CALL_SENDTO] = {"sendto", CTX_IO_WRITE},
	[CTX_CALL_SENDMSG] = {"sendmsg", CTX_IO_WRITE},
	[CTX_CALL_SENDMMSG] = {"sendmmsg", CTX_IO_WRITE},
	[CTX_CALL_SENDFILE] = {"sendfile", CTX_IO_WRITE},
	[CTX_CALL_SPLICE] = {"splice", CTX_IO_WRITE},
	[CTX_CALL_COPY_FILE_RANGE] = {"copy_file_range", CTX_IO_WRITE},
	[CTX_CALL_STREAM_WRITE] = {"stdio write", CTX_IO_WRITE},
	[CTX_CALL_STREAM_EXIT] = {"stdio at exit", CTX_IO_WRITE},
	[CTX_CALL_OPEN] = {"open", CTX_IO_OPEN},
	[CTX_CALL_OPENAT] = {"openat", CTX_IO_OPEN},
	[CTX_CALL_CREAT] = {"creat", CTX_IO_OPEN},
	[CTX_CALL_SOCKET] = {"socket", CTX_IO_OPEN},
	[CTX_CALL_ACCEPT] = {"accept", CTX_IO_OPEN},
	[CTX_CALL_DUP] = {"dup", CTX_IO_OPEN},
	[CTX_CALL_DUP2] = {"dup2", CTX_IO_OPEN},
	[CTX_CALL_DUP3] = {"dup3", CTX_IO_OPEN},
	[CTX_CALL_FCNTL] = {"fcntl", CTX_IO_OPEN},
	[CTX_CALL_PIPE] = {"pipe", CTX_IO_OPEN},
	[CTX_CALL_SOCKETPAIR] = {"socketpair", CTX_IO_OPEN},
	[CTX_CALL_STREAM_OPEN] = {"stdio open", CTX_IO_OPEN},
	[CTX_CALL_CLOSE] = {"close", CTX_IO_CLOSE},
	[CTX_CALL_STREAM_CLOSE] = {"stdio close", CTX_IO_CLOSE},
	[CTX_CALL_STAT] = {"stat", CTX_IO_OTHER},
	[CTX_CALL_LSTAT] = {"lstat", CTX_IO_OTHER},
	[CTX_CALL_FSTAT] = {"fstat", CTX_IO_OTHER},
	[CTX_CALL_FSTATAT] = {"fstatat", CTX_IO_OTHER},
	[CTX_CALL_STATX] = {"statx", CTX_IO_OTHER},
	[CTX_CALL_FSYNC] = {"fsync", CTX_IO_OTHER},
	[CTX_CALL_FDATASYNC] = {"fdatasync", CTX_IO_OTHER},
	[CTX_CALL_CHDIR] = {"chdir", CTX_IO_OTHER},
	[CTX_CALL_FCHDIR] = {"fchdir", CTX_IO_OTHER},
	[CTX_CALL_BIND] = {"bind", CTX_IO_OTHER},
	[CTX_CALL_CONNECT] = {"connect", CTX_IO_OTHER},
	[CTX_CALL_POLL] = {"poll", CTX_IO_OTHER},
	[CTX_CALL_PPOLL] = {"ppoll", CTX_IO_OTHER},
	[CTX_CALL_SELECT] = {"select", CTX_IO_OTHER},
	[CTX_CALL_PSELECT] = {"pselect", CTX_IO_OTHER},
	[CTX_CALL_EPOLL_WAIT] = {"epoll_wait", CTX_IO_OTHER},
	[CTX_CALL_EPOLL_PWAIT] = {"epoll_pwait", CTX_IO_OTHER},
	[CTX_CALL_OPENDIR] = {"opendir", CTX_IO_OPEN},
	[CTX_CALL_CLOSEDIR] = {"closedir", CTX_IO_CLOSE},
	[CTX_CALL_NAME] = {"name", CTX_IO_OTHER},
	[CTX_CALL_AIO_READ] = {"aio read", CTX_IO_READ},
	[CTX_CALL_AIO_WRITE] = {"aio write", CTX_IO_WRITE},
	[CTX_CALL_AIO_OTHER] = {"aio", CTX_IO_OTHER},
	[CTX_CALL_URING_READ] = {"io_uring read", CTX_IO_READ},
	[CTX_CALL_URING_WRITE] = {"io_uring write", CTX_IO_WRITE},
	[CTX_CALL_URING_OTHER] = {"io_uring", CTX_IO_OTHER},
};

const char *ctx_io_call_name(unsigned call)
{
	return call < CTX_CALL_N ? calls[call].name : "?";
}

enum ctx_io_operation ctx_io_call_operation(unsigned call)
{
	return call < CTX_CALL_N ? calls[call].operation : CTX_IO_OTHER;
}
