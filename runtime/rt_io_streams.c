/*
 * Streams of stdio. The C library's functions read and write by calls of its own, which nobody can stand in
 * for. What they read and wrote follows from the buffer before and after: bytes that the caller took
 * and that are now in the buffer, less those that were in it, were read; bytes that the caller gave and
 * that were in it, less those that are in it now, were written. A call that did neither is none
 * of input or output, and is not recorded.
 *
 * The stream is locked over both looks at it, as the function itself does. Of fgets the bytes that were taken
 * are those of the text, and of scanf they are not known: what it leaves in a buffer that it has
 * filled anew counts.
 */
#define __NO_INLINE__ 1 /* of the C library's headers: these functions are defined here */
#include "runtime/rt_io.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/single_threaded.h>

#undef getc
#undef putc
#undef getc_unlocked
#undef putc_unlocked
#undef getchar
#undef putchar

#define BACKUP 0x100	    /* of _flags: the buffer is that of ungetc */
#define CALLER_LOCKS 0x8000 /* of _flags: __fsetlocking, the functions do not */

/* A stream during a function of it. */
struct stream {
	FILE *file;
	struct ctx_rt_io io; /* begin_ns 0: not recorded */
	bool is_locked, had_ended, had_failed;
	const char *end;	    /* of what was read before */
	uint64_t to_read, to_write; /* bytes in the buffer */
};

static void unlock(void *stream)
{
	funlockfile(((struct stream *)stream)->file);
}

/* Of libc, exported; no header declares them. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*call)(void *), void *argument);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int calls);

/*
 * The lock is given back also where the thread is cancelled in the function, or a signal handler leaves it by
 * longjmp. pthread_cleanup_push would not do: in C it leaves a jump buffer behind, to which a later
 * pthread_exit of the thread jumps.
 */
#define GUARDED(stream, statement)                                                                           \
	do {                                                                                                 \
		if ((stream).is_locked) {                                                                    \
			struct _pthread_cleanup_buffer buffer_;                                              \
			_pthread_cleanup_push(&buffer_, unlock, &(stream));                                  \
			statement;                                                                           \
			_pthread_cleanup_pop(&buffer_, 1);                                                   \
		} else {                                                                                     \
			statement;                                                                           \
		}                                                                                            \
	} while (0)

static uint64_t distance(const char *from, const char *to)
{
	return to > from ? (uint64_t)(to - from) : 0;
}

static uint64_t readable(const FILE *file)
{
	return (file->_flags & BACKUP) == 0 ? distance(file->_IO_read_ptr, file->_IO_read_end)
					    : distance(file->_IO_save_base, file->_IO_save_end);
}

static uint64_t writable(const FILE *file)
{
	return distance(file->_IO_write_base, file->_IO_write_ptr);
}

/* `locks`: the function does. Streams without a descriptor, such as those of memory, do no input or output. */
static void begin(struct stream *stream, FILE *file, bool locks)
{
	*stream = (struct stream){.file = file};
	if (!ctx_rt_is_on(CTX_RT_WHAT_IO) || file->_fileno < 0)
		return;
	if (locks && !__libc_single_threaded && (file->_flags & CALLER_LOCKS) == 0) {
		flockfile(file);
		stream->is_locked = true;
	}
	stream->had_ended = feof_unlocked(file) != 0;
	stream->had_failed = ferror_unlocked(file) != 0;
	stream->end = file->_IO_read_end;
	stream->to_read = readable(file);
	stream->to_write = writable(file);
	stream->io = ctx_rt_io_begin(CTX_CALL_STREAM_READ, file->_fileno);
}

static void put(struct stream *stream, enum ctx_io_call call, uint64_t bytes, int error,
		const struct ctx_rt_registers *caller)
{
	stream->io.call = (uint8_t)call;
	stream->io.size = bytes;
	ctx_rt_io_put(&stream->io, error, caller);
}

/* The function has taken bytes; -1: nobody knows how many. */
static void has_taken(struct stream *stream, int64_t taken, const struct ctx_rt_registers *caller)
{
	const FILE *file = stream->file;
	uint64_t all, bytes;
	bool failed;

	if (stream->io.begin_ns == 0)
		return;
	failed = !stream->had_failed && ferror_unlocked(stream->file) != 0;
	if (taken >= 0) {
		all = readable(file) + (uint64_t)taken;
		bytes = all > stream->to_read ? all - stream->to_read : 0;
	} else {
		bytes = file->_IO_read_end != stream->end ? distance(file->_IO_read_base, file->_IO_read_end)
							  : 0;
	}
	if (bytes != 0 || failed || (!stream->had_ended && feof_unlocked(stream->file) != 0))
		put(stream, CTX_CALL_STREAM_READ, bytes, bytes == 0 && failed ? errno : 0, caller);
}

/* The function was given bytes. */
static void was_given(struct stream *stream, uint64_t given, bool failed,
		      const struct ctx_rt_registers *caller)
{
	uint64_t all = stream->to_write + given, now;

	if (stream->io.begin_ns == 0)
		return;
	now = writable(stream->file);
	if (failed)
		put(stream, CTX_CALL_STREAM_WRITE, 0, errno, caller);
	else if (all > now)
		put(stream, CTX_CALL_STREAM_WRITE, all - now, 0, caller);
}

/* Opening and closing */

#define OPEN(name, parameters, arguments)                                                                    \
	CTX_RT_EXPORT FILE *name parameters                                                                  \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_STREAM_OPEN, -1);                             \
		FILE *file = CTX_RT_REAL(name) arguments;                                                    \
                                                                                                             \
		io.file = path;                                                                              \
		ctx_rt_io_end(&io, file != NULL ? file->_fileno : -1, &caller);                              \
		return file;                                                                                 \
	}

OPEN(fopen, (const char *path, const char *mode), (path, mode))
OPEN(fopen64, (const char *path, const char *mode), (path, mode))
OPEN(freopen, (const char *path, const char *mode, FILE *old), (path, mode, old))
OPEN(freopen64, (const char *path, const char *mode, FILE *old), (path, mode, old))

CTX_RT_EXPORT FILE *popen(const char *command, const char *mode)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_PIPE, -1);
	FILE *file = CTX_RT_REAL(popen)(command, mode);

	io.file = "pipe";
	ctx_rt_io_end(&io, file != NULL ? file->_fileno : -1, &caller);
	return file;
}

static int close_stream(int (*close)(FILE *), FILE *file, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_io io =
		ctx_rt_io_begin(CTX_CALL_STREAM_CLOSE, ctx_rt_is_on(CTX_RT_WHAT_IO) ? file->_fileno : -1);
	uint64_t pending = io.begin_ns != 0 ? writable(file) : 0;
	struct ctx_rt_io written = io;
	int result = close(file), error = errno;

	if (pending != 0 && result != -1) {
		written.call = CTX_CALL_STREAM_WRITE;
		written.size = pending;
		written.is_over = true;
		ctx_rt_io_put(&written, 0, caller);
		io.begin_ns = ctx_clock_ns(CLOCK_MONOTONIC); /* the time is that of the writing */
	}
	errno = error;
	if (io.fd >= 0)
		ctx_rt_io_end(&io, result, caller);
	return result;
}

CTX_RT_EXPORT int fclose(FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return close_stream(CTX_RT_REAL(fclose), file, &caller);
}

/* Waits for the command, too. */
CTX_RT_EXPORT int pclose(FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return close_stream(CTX_RT_REAL(pclose), file, &caller);
}

/* Reading */

/* A function that takes bytes from `file`; `taken` is how many, by its `result`. */
#define READ(type, name, locks, parameters, arguments, taken)                                                \
	CTX_RT_EXPORT type name parameters                                                                   \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct stream stream;                                                                        \
		type result;                                                                                 \
                                                                                                             \
		if (!ctx_rt_is_on(CTX_RT_WHAT_IO))                                                           \
			return CTX_RT_REAL(name) arguments;                                                  \
		begin(&stream, file, locks);                                                                 \
		GUARDED(stream, result = CTX_RT_REAL(name) arguments;                                        \
			has_taken(&stream, (int64_t)(taken), &caller));                                      \
		return result;                                                                               \
	}

struct items { /* what fread gets */
	size_t (*real)(void *, size_t, size_t, FILE *);
	void *out;
	size_t size, n;
};

/* By items of one byte: so also bytes of a part of an item at the end are counted. */
__attribute__((noinline)) static size_t read_items(const struct items *items, FILE *file, bool locks,
						   const struct ctx_rt_registers *caller)
{
	struct stream stream;
	size_t result;

	begin(&stream, file, locks);
	GUARDED(stream, result = items->real(items->out, items->size, items->n, file);
		has_taken(&stream, (int64_t)(result * items->size), caller));
	return result;
}

#define READ_ITEMS(name, locks)                                                                              \
	CTX_RT_EXPORT size_t name(void *out, size_t size, size_t n, FILE *file)                              \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool splits = size > 1 && n <= SIZE_MAX / size;                                              \
		struct items items = {CTX_RT_REAL(name), out, splits ? 1 : size, splits ? n * size : n};     \
		size_t result = read_items(&items, file, locks, &caller);                                    \
                                                                                                             \
		return splits ? result / size : result;                                                      \
	}

size_t __fread_chk(void *out, size_t room, size_t size, size_t n, FILE *file);
size_t __fread_unlocked_chk(void *out, size_t room, size_t size, size_t n, FILE *file);
char *__fgets_chk(char *out, size_t room, int n, FILE *file);
char *__fgets_unlocked_chk(char *out, size_t room, int n, FILE *file);
int _IO_getc(FILE *file);
int __isoc99_fscanf(FILE *file, const char *format, ...);
int __isoc99_scanf(const char *format, ...);
int __isoc99_vfscanf(FILE *file, const char *format, va_list list);

READ_ITEMS(fread, true)
READ_ITEMS(fread_unlocked, false)
READ(size_t, __fread_chk, true, (void *out, size_t room, size_t size, size_t n, FILE *file),
     (out, room, size, n, file), result *size)
READ(size_t, __fread_unlocked_chk, false, (void *out, size_t room, size_t size, size_t n, FILE *file),
     (out, room, size, n, file), result *size)

static int64_t length_of(const char *text)
{
	return text != NULL ? (int64_t)strlen(text) : 0;
}

READ(char *, fgets, true, (char *out, int n, FILE *file), (out, n, file), length_of(result))
READ(char *, fgets_unlocked, false, (char *out, int n, FILE *file), (out, n, file), length_of(result))
READ(char *, __fgets_chk, true, (char *out, size_t room, int n, FILE *file), (out, room, n, file),
     length_of(result))
READ(char *, __fgets_unlocked_chk, false, (char *out, size_t room, int n, FILE *file), (out, room, n, file),
     length_of(result))
READ(ssize_t, getline, true, (char **line, size_t *room, FILE *file), (line, room, file),
     result > 0 ? result : 0)
READ(ssize_t, getdelim, true, (char **line, size_t *room, int delimiter, FILE *file),
     (line, room, delimiter, file), result > 0 ? result : 0)
READ(ssize_t, __getdelim, true, (char **line, size_t *room, int delimiter, FILE *file),
     (line, room, delimiter, file), result > 0 ? result : 0)

/* A byte that is in the buffer is taken without anything else. */
__attribute__((noinline)) static int read_byte(int (*real)(FILE *), FILE *file, bool locks,
					       const struct ctx_rt_registers *caller)
{
	struct stream stream = {0};
	int result;

	if (file->_IO_read_ptr >= file->_IO_read_end)
		begin(&stream, file, locks);
	GUARDED(stream, result = real(file); has_taken(&stream, result != EOF, caller));
	return result;
}

/* The `real` function does the same for `file`. */
#define READ_BYTE(name, real, locks, parameters, file)                                                       \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
                                                                                                             \
		return ctx_rt_is_on(CTX_RT_WHAT_IO) ? read_byte(CTX_RT_REAL(real), file, locks, &caller)     \
						    : CTX_RT_REAL(real)(file);                               \
	}

READ_BYTE(getc, getc, true, (FILE * file), file)
READ_BYTE(fgetc, fgetc, true, (FILE * file), file)
READ_BYTE(_IO_getc, _IO_getc, true, (FILE * file), file)
READ_BYTE(getchar, getc, true, (void), stdin)
READ_BYTE(getc_unlocked, getc_unlocked, false, (FILE * file), file)
READ_BYTE(fgetc_unlocked, fgetc_unlocked, false, (FILE * file), file)
READ_BYTE(getchar_unlocked, getc_unlocked, false, (void), stdin)
READ_BYTE(__uflow, __uflow, false, (FILE * file), file) /* what the macros call */

/* Writing */

int _IO_putc(int byte, FILE *file);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list list);

struct given_items { /* what fwrite gets */
	size_t (*real)(const void *, size_t, size_t, FILE *);
	const void *in;
	size_t size, n;
};

static size_t write_items(const struct given_items *items, FILE *file, bool locks,
			  const struct ctx_rt_registers *caller)
{
	struct stream stream;
	size_t result;

	begin(&stream, file, locks);
	GUARDED(stream, result = items->real(items->in, items->size, items->n, file);
		was_given(&stream, result * items->size, result < items->n && items->size != 0, caller));
	return result;
}

CTX_RT_EXPORT size_t fwrite(const void *in, size_t size, size_t n, FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct given_items items = {CTX_RT_REAL(fwrite), in, size, n};

	return write_items(&items, file, true, &caller);
}

CTX_RT_EXPORT size_t fwrite_unlocked(const void *in, size_t size, size_t n, FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct given_items items = {CTX_RT_REAL(fwrite_unlocked), in, size, n};

	return write_items(&items, file, false, &caller);
}

static int write_text(int (*real)(const char *, FILE *), const char *text, FILE *file, bool locks,
		      const struct ctx_rt_registers *caller)
{
	struct stream stream;
	int result;

	begin(&stream, file, locks);
	GUARDED(stream, result = real(text, file);
		was_given(&stream, stream.io.begin_ns != 0 ? strlen(text) : 0, result == EOF, caller));
	return result;
}

CTX_RT_EXPORT int fputs(const char *text, FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return write_text(CTX_RT_REAL(fputs), text, file, true, &caller);
}

CTX_RT_EXPORT int fputs_unlocked(const char *text, FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return write_text(CTX_RT_REAL(fputs_unlocked), text, file, false, &caller);
}

CTX_RT_EXPORT int puts(const char *text)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct stream stream;
	int result;

	begin(&stream, stdout, true);
	GUARDED(stream, result = CTX_RT_REAL(puts)(text);
		was_given(&stream, strlen(text) + 1, result == EOF, &caller));
	return result;
}

/* A byte for which there is room goes there without anything else. */
__attribute__((noinline)) static int write_byte(int (*real)(int, FILE *), int byte, FILE *file, bool locks,
						const struct ctx_rt_registers *caller)
{
	struct stream stream = {0};
	int result;

	if (file->_IO_write_ptr >= file->_IO_write_end)
		begin(&stream, file, locks);
	GUARDED(stream, result = real(byte, file); was_given(&stream, 1, result == EOF, caller));
	return result;
}

/* The `real` function does the same for `file`. */
#define WRITE_BYTE(name, real, locks, parameters, file)                                                      \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
                                                                                                             \
		return ctx_rt_is_on(CTX_RT_WHAT_IO)                                                          \
			       ? write_byte(CTX_RT_REAL(real), byte, file, locks, &caller)                   \
			       : CTX_RT_REAL(real)(byte, file);                                              \
	}

WRITE_BYTE(putc, putc, true, (int byte, FILE *file), file)
WRITE_BYTE(fputc, fputc, true, (int byte, FILE *file), file)
WRITE_BYTE(_IO_putc, _IO_putc, true, (int byte, FILE *file), file)
WRITE_BYTE(putchar, putc, true, (int byte), stdout)
WRITE_BYTE(putc_unlocked, putc_unlocked, false, (int byte, FILE *file), file)
WRITE_BYTE(fputc_unlocked, fputc_unlocked, false, (int byte, FILE *file), file)
WRITE_BYTE(putchar_unlocked, putc_unlocked, false, (int byte), stdout)

/* What the macros call, also with EOF for no byte. */
CTX_RT_EXPORT int __overflow(FILE *file, int byte)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct stream stream;
	int result;

	begin(&stream, file, false);
	result = CTX_RT_REAL(__overflow)(file, byte);
	was_given(&stream, byte != EOF, result == EOF, &caller);
	return result;
}

static int print(FILE *file, const char *format, va_list list, const struct ctx_rt_registers *caller)
{
	struct stream stream;
	int result;

	begin(&stream, file, true);
	GUARDED(stream, result = CTX_RT_REAL(vfprintf)(file, format, list);
		was_given(&stream, (uint64_t)result, result < 0, caller));
	return result;
}

static int print_checked(FILE *file, int flag, const char *format, va_list list,
			 const struct ctx_rt_registers *caller)
{
	struct stream stream;
	int result;

	begin(&stream, file, true);
	GUARDED(stream, result = CTX_RT_REAL(__vfprintf_chk)(file, flag, format, list);
		was_given(&stream, (uint64_t)result, result < 0, caller));
	return result;
}

static int scan(FILE *file, const char *format, va_list list, const struct ctx_rt_registers *caller)
{
	struct stream stream;
	int result;

	begin(&stream, file, true);
	GUARDED(stream, result = CTX_RT_REAL(__isoc99_vfscanf)(file, format, list);
		has_taken(&stream, -1, caller));
	return result;
}

/* With the arguments as a list. */
#define VARIADIC(name, parameters, last, call)                                                               \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		va_list list;                                                                                \
		int result;                                                                                  \
                                                                                                             \
		va_start(list, last);                                                                        \
		result = call;                                                                               \
		va_end(list);                                                                                \
		return result;                                                                               \
	}
#define LISTED(name, parameters, call)                                                                       \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
                                                                                                             \
		return call;                                                                                 \
	}

VARIADIC(fprintf, (FILE * file, const char *format, ...), format, print(file, format, list, &caller))
VARIADIC(printf, (const char *format, ...), format, print(stdout, format, list, &caller))
LISTED(vfprintf, (FILE * file, const char *format, va_list list), print(file, format, list, &caller))
LISTED(vprintf, (const char *format, va_list list), print(stdout, format, list, &caller))
VARIADIC(__fprintf_chk, (FILE * file, int flag, const char *format, ...), format,
	 print_checked(file, flag, format, list, &caller))
VARIADIC(__printf_chk, (int flag, const char *format, ...), format,
	 print_checked(stdout, flag, format, list, &caller))
LISTED(__vfprintf_chk, (FILE * file, int flag, const char *format, va_list list),
       print_checked(file, flag, format, list, &caller))
LISTED(__vprintf_chk, (int flag, const char *format, va_list list),
       print_checked(stdout, flag, format, list, &caller))
VARIADIC(__isoc99_fscanf, (FILE * file, const char *format, ...), format, scan(file, format, list, &caller))
VARIADIC(__isoc99_scanf, (const char *format, ...), format, scan(stdin, format, list, &caller))
LISTED(__isoc99_vfscanf, (FILE * file, const char *format, va_list list), scan(file, format, list, &caller))

/* Moving to another place: first what the buffer holds is written, then it may be filled anew. */
#define SEEK(name, parameters, arguments)                                                                    \
	CTX_RT_EXPORT int name parameters                                                                    \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		struct stream stream;                                                                        \
		int result;                                                                                  \
                                                                                                             \
		begin(&stream, file, true);                                                                  \
		GUARDED(stream, result = CTX_RT_REAL(name) arguments; after_seek(&stream, &caller));         \
		return result;                                                                               \
	}

static void after_seek(struct stream *stream, const struct ctx_rt_registers *caller)
{
	if (stream->to_write != 0)
		was_given(stream, 0, false, caller);
	else
		has_taken(stream, -1, caller);
}

SEEK(fseek, (FILE * file, long offset, int whence), (file, offset, whence))
SEEK(fseeko, (FILE * file, off_t offset, int whence), (file, offset, whence))
SEEK(fseeko64, (FILE * file, off64_t offset, int whence), (file, offset, whence))
SEEK(fsetpos, (FILE * file, const fpos_t *position), (file, position))
SEEK(fsetpos64, (FILE * file, const fpos64_t *position), (file, position))

CTX_RT_EXPORT void rewind(FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct stream stream;

	begin(&stream, file, true);
	GUARDED(stream, CTX_RT_REAL(rewind)(file); after_seek(&stream, &caller));
}

/* All streams. */
extern FILE *_IO_list_all;
void _IO_list_lock(void);
void _IO_list_unlock(void);

static uint64_t pending_of_all(void)
{
	uint64_t bytes = 0;

	_IO_list_lock();
	for (const FILE *file = _IO_list_all; file != NULL; file = file->_chain)
		bytes += file->_fileno >= 0 ? writable(file) : 0;
	_IO_list_unlock();
	return bytes;
}

static int flush_all(int (*flush)(FILE *), const struct ctx_rt_registers *caller)
{
	struct ctx_rt_io io = ctx_rt_io_begin(CTX_CALL_STREAM_WRITE, -1);
	uint64_t before = io.begin_ns != 0 ? pending_of_all() : 0, after;
	int result = flush(NULL), error = errno;

	if (io.begin_ns == 0)
		return result;
	after = pending_of_all();
	io.size = before > after ? before - after : 0;
	if (io.size != 0)
		ctx_rt_io_put(&io, 0, caller);
	errno = error;
	return result;
}

static int flush_one(int (*flush)(FILE *), FILE *file, bool locks, const struct ctx_rt_registers *caller)
{
	struct stream stream;
	int result;

	begin(&stream, file, locks);
	GUARDED(stream, result = flush(file); was_given(&stream, 0, result == EOF, caller));
	return result;
}

CTX_RT_EXPORT int fflush(FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return file == NULL ? flush_all(CTX_RT_REAL(fflush), &caller)
			    : flush_one(CTX_RT_REAL(fflush), file, true, &caller);
}

CTX_RT_EXPORT int fflush_unlocked(FILE *file)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return file == NULL ? flush_all(CTX_RT_REAL(fflush_unlocked), &caller)
			    : flush_one(CTX_RT_REAL(fflush_unlocked), file, false, &caller);
}

/*
 * At the end of the program its streams are written by the C library itself, after all destructors: what they hold
 * is recorded as it is now. Whether it could be written nobody knows.
 */
__attribute__((destructor)) static void record_end(void)
{
	if (!ctx_rt_is_on(CTX_RT_WHAT_IO))
		return;
	_IO_list_lock();
	for (const FILE *file = _IO_list_all; file != NULL; file = file->_chain) {
		struct ctx_rt_io io = {0};

		if (file->_fileno < 0 || writable(file) == 0)
			continue;
		io = ctx_rt_io_begin(CTX_CALL_STREAM_EXIT, file->_fileno);
		io.size = writable(file);
		ctx_rt_io_put(&io, 0, NULL);
	}
	_IO_list_unlock();
}
