/* Opening, closing, copying descriptors; asking for files. */
#include "runtime/rt_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int fd, const char *path, int flags);
int __openat64_2(int fd, const char *path, int flags);

/* The function looks at the argument only where it makes a file. */
static bool has_mode(int flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/* A name is relative to this directory, which is another descriptor. */
static uint64_t directory(int fd)
{
	return fd >= 0 ? (uint64_t)(uint32_t)fd + 1 : 0;
}

/* It can be read: the function has succeeded. */
static bool is_empty(const volatile char *path)
{
	return path == NULL || *path == '\0';
}

#define MODE(after)                                                                                          \
	({                                                                                                   \
		mode_t mode_ = 0;                                                                            \
		if (has_mode(after)) {                                                                       \
			va_list list_;                                                                       \
			va_start(list_, after);                                                              \
			mode_ = va_arg(list_, mode_t);                                                       \
			va_end(list_);                                                                       \
		}                                                                                            \
		mode_;                                                                                       \
	})

/* A function that opens `path`, below the directory `at`; `mode` is what the caller gave. */
#define OPEN(name, number, at, parameters, arguments)                                                        \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io;                                                                         \
		int result;                                                                                  \
                                                                                                             \
		if (!ctx_rt_is_on(CTX_RT_WHAT_IO))                                                           \
			return CTX_RT_REAL(name) arguments;                                                  \
		io = ctx_rt_io_begin(CTX_CALL_##number, -1);                                                 \
		io.file = path;                                                                              \
		io.size = directory(at);                                                                     \
		result = CTX_RT_REAL(name) arguments;                                                        \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

OPEN(open, OPEN, -1, (const char *path, int flags, ...), (path, flags, MODE(flags)))
OPEN(open64, OPEN, -1, (const char *path, int flags, ...), (path, flags, MODE(flags)))
OPEN(__open_2, OPEN, -1, (const char *path, int flags), (path, flags))
OPEN(__open64_2, OPEN, -1, (const char *path, int flags), (path, flags))
OPEN(openat, OPENAT, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, MODE(flags)))
OPEN(openat64, OPENAT, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, MODE(flags)))
OPEN(__openat_2, OPENAT, fd, (int fd, const char *path, int flags), (fd, path, flags))
OPEN(__openat64_2, OPENAT, fd, (int fd, const char *path, int flags), (fd, path, flags))
OPEN(creat, CREAT, -1, (const char *path, mode_t mode), (path, mode))
OPEN(creat64, CREAT, -1, (const char *path, mode_t mode), (path, mode))

/* These write the name that they have found to where the caller has given the beginning of it. */
#define TEMPORARY(name, parameters, arguments) OPEN(name, OPEN, -1, parameters, arguments)
TEMPORARY(mkstemp, (char *path), (path))
TEMPORARY(mkstemp64, (char *path), (path))
TEMPORARY(mkostemp, (char *path, int flags), (path, flags))
TEMPORARY(mkostemp64, (char *path, int flags), (path, flags))
TEMPORARY(mkstemps, (char *path, int end), (path, end))
TEMPORARY(mkstemps64, (char *path, int end), (path, end))
TEMPORARY(mkostemps, (char *path, int end, int flags), (path, end, flags))
TEMPORARY(mkostemps64, (char *path, int end, int flags), (path, end, flags))

CTX_RT_IO_FUNCTION(int, close, CTX_CALL_CLOSE, (int fd), (fd))

CTX_RT_EXPORT DIR *opendir(const char *path)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_OPENDIR, -1);
	DIR *dir = CTX_RT_REAL(opendir)(path);

	io.file = path;
	ctx_rt_io_end(&io, dir != NULL ? dirfd(dir) : -1, &caller);
	return dir;
}

CTX_RT_EXPORT int closedir(DIR *dir)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	DIR *volatile given = dir; /* NULL is refused by the real function */
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_CLOSEDIR, given != NULL ? dirfd(dir) : -1);
	int result = CTX_RT_REAL(closedir)(dir);

	ctx_rt_io_end(&io, result, &caller);
	return result;
}

CTX_RT_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	ctx_rt_io_forget(first, last);
	return CTX_RT_REAL(close_range)(first, last, flags);
}

CTX_RT_EXPORT void closefrom(int first)
{
	ctx_rt_io_forget(first > 0 ? (unsigned)first : 0, UINT_MAX);
	CTX_RT_REAL(closefrom)(first);
}

/* A function that makes a copy of the descriptor `fd`. */
#define COPY(name, number, parameters, arguments)                                                            \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_##number, -1);                                \
		int result;                                                                                  \
                                                                                                             \
		io.size = directory(fd);                                                                     \
		result = CTX_RT_REAL(name) arguments;                                                        \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

COPY(dup, DUP, (int fd), (fd))
COPY(dup2, DUP2, (int fd, int to), (fd, to))
COPY(dup3, DUP3, (int fd, int to, int flags), (fd, to, flags))

/* All commands take one word, or none. */
#define CONTROL(name)                                                                                        \
	CTX_RT_EXPORT int name(int fd, int command, ...)                                                     \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = {0};                                                                   \
		va_list list;                                                                                \
		void *argument;                                                                              \
		int result;                                                                                  \
                                                                                                             \
		va_start(list, command);                                                                     \
		argument = va_arg(list, void *);                                                             \
		va_end(list);                                                                                \
		if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                        \
			io = ctx_rt_io_begin(CTX_CALL_FCNTL, -1);                                            \
		io.size = directory(fd);                                                                     \
		result = CTX_RT_REAL(name)(fd, command, argument);                                           \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

CONTROL(fcntl)
CONTROL(fcntl64)

/* One operation, which makes two descriptors. */
#define PIPE(name, parameters, arguments)                                                                    \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_PIPE, -1);                                    \
		int result = CTX_RT_REAL(name) arguments;                                                    \
                                                                                                             \
		io.file = "pipe";                                                                            \
		ctx_rt_io_end(&io, result == 0 ? ends[0] : result, &caller);                                 \
		if (result == 0)                                                                             \
			ctx_rt_io_name(ends[1], io.file);                                                    \
		return result;                                                                               \
	}

PIPE(pipe, (int ends[2]), (ends))
PIPE(pipe2, (int ends[2], int flags), (ends, flags))

CTX_RT_IO_FUNCTION(int, fchdir, CTX_CALL_FCHDIR, (int fd), (fd))

/* A function that asks for the file `path`, below the directory `at`. */
#define ASK(name, number, at, parameters, arguments)                                                         \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_##number, -1);                                \
		int result = CTX_RT_REAL(name) arguments;                                                    \
                                                                                                             \
		io.file = path;                                                                              \
		io.size = directory(at);                                                                     \
		if (result == 0 && is_empty(path))                                                           \
			io.fd = (at) >= 0 ? (at) : -1; /* of the descriptor itself */                        \
		ctx_rt_io_end(&io, result, &caller);                                                         \
		return result;                                                                               \
	}

ASK(chdir, CHDIR, -1, (const char *path), (path))
ASK(stat, STAT, -1, (const char *path, struct stat *out), (path, out))
ASK(stat64, STAT, -1, (const char *path, struct stat64 *out), (path, out))
ASK(lstat, LSTAT, -1, (const char *path, struct stat *out), (path, out))
ASK(lstat64, LSTAT, -1, (const char *path, struct stat64 *out), (path, out))
ASK(fstatat, FSTATAT, fd, (int fd, const char *path, struct stat *out, int flags), (fd, path, out, flags))
ASK(fstatat64, FSTATAT, fd, (int fd, const char *path, struct stat64 *out, int flags), (fd, path, out, flags))
ASK(statx, STATX, fd, (int fd, const char *path, int flags, unsigned mask, struct statx *out),
    (fd, path, flags, mask, out))
CTX_RT_IO_FUNCTION(int, fstat, CTX_CALL_FSTAT, (int fd, struct stat *out), (fd, out))
CTX_RT_IO_FUNCTION(int, fstat64, CTX_CALL_FSTAT, (int fd, struct stat64 *out), (fd, out))

/* What programs call that were built with glibc before 2.33. */
int __xstat(int version, const char *path, struct stat *out);
int __xstat64(int version, const char *path, struct stat64 *out);
int __lxstat(int version, const char *path, struct stat *out);
int __lxstat64(int version, const char *path, struct stat64 *out);
int __fxstat(int version, int fd, struct stat *out);
int __fxstat64(int version, int fd, struct stat64 *out);
int __fxstatat(int version, int fd, const char *path, struct stat *out, int flags);
int __fxstatat64(int version, int fd, const char *path, struct stat64 *out, int flags);

ASK(__xstat, STAT, -1, (int version, const char *path, struct stat *out), (version, path, out))
ASK(__xstat64, STAT, -1, (int version, const char *path, struct stat64 *out), (version, path, out))
ASK(__lxstat, LSTAT, -1, (int version, const char *path, struct stat *out), (version, path, out))
ASK(__lxstat64, LSTAT, -1, (int version, const char *path, struct stat64 *out), (version, path, out))
ASK(__fxstatat, FSTATAT, fd, (int version, int fd, const char *path, struct stat *out, int flags),
    (version, fd, path, out, flags))
ASK(__fxstatat64, FSTATAT, fd, (int version, int fd, const char *path, struct stat64 *out, int flags),
    (version, fd, path, out, flags))
CTX_RT_IO_FUNCTION(int, __fxstat, CTX_CALL_FSTAT, (int version, int fd, struct stat *out), (version, fd, out))
CTX_RT_IO_FUNCTION(int, __fxstat64, CTX_CALL_FSTAT, (int version, int fd, struct stat64 *out),
		   (version, fd, out))

#ifndef __LP64__ /* what programs of 32 bits call that are built for times of 64 (_TIME_BITS) */
int __fcntl_time64(int fd, int command, ...);
int __stat64_time64(const char *path, void *out);
int __lstat64_time64(const char *path, void *out);
int __fstat64_time64(int fd, void *out);
int __fstatat64_time64(int fd, const char *path, void *out, int flags);

CONTROL(__fcntl_time64)
ASK(__stat64_time64, STAT, -1, (const char *path, void *out), (path, out))
ASK(__lstat64_time64, LSTAT, -1, (const char *path, void *out), (path, out))
ASK(__fstatat64_time64, FSTATAT, fd, (int fd, const char *path, void *out, int flags), (fd, path, out, flags))
CTX_RT_IO_FUNCTION(int, __fstat64_time64, CTX_CALL_FSTAT, (int fd, void *out), (fd, out))
#endif
