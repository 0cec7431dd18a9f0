#include "runtime/rt_io.h"

#include "base/clock.h"
#include "runtime/rt_filter.h"
#include "runtime/rt_syscall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct entry { /* as getdents64 writes them */
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* Whether the recorder knows the descriptor's name; says so from now on. */
static bool know(int32_t fd)
{
	_Atomic uint64_t *word;
	uint64_t bit = UINT64_C(1) << (fd % 64);

	if (fd < 0 || (uint32_t)fd >= CTX_RT_DESCRIPTORS_MAX)
		return fd < 0;
	word = &ctx_rt_process_descriptors()->known[fd / 64];
	if ((atomic_load_explicit(word, memory_order_relaxed) & bit) != 0)
		return true;
	return (atomic_fetch_or(word, bit) & bit) != 0;
}

static void forget(int32_t fd)
{
	atomic_fetch_add(ctx_rt_process_closes(), 1);
	if (fd >= 0 && (uint32_t)fd < CTX_RT_DESCRIPTORS_MAX)
		atomic_fetch_and(&ctx_rt_process_descriptors()->known[fd / 64], ~(UINT64_C(1) << (fd % 64)));
}

static void record_name(struct ctx_rt_thread *thread, int32_t fd, const char *name, size_t n)
{
	const struct ctx_rt_io_what what = {.descriptor = fd, .call = CTX_CALL_NAME};
	struct ctx_rt_operation operation = {
		.kind = CTX_RT_IO_NAMED, .text = name, .text_bytes = (uint32_t)n};

	if (n == 0 || n > CTX_RT_TEXT_MAX)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[3] = ctx_rt_io_pack(&what);
	ctx_rt_record(thread, &operation, NULL);
	(void)know(fd);
}

/* -1: no number. */
static int32_t number_of(const char *text)
{
	int32_t number = 0;

	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || number > INT32_MAX / 10 - 1)
			return -1;
		number = number * 10 + (*text - '0');
	}
	return number;
}

/*
 * Room for a name, and for as many bytes behind it: not on the stack, which may be a small one of a signal handler.
 * Records without a stack leave it alone.
 */
static char *name_room(struct ctx_rt_thread *thread)
{
	_Static_assert(sizeof(thread->frames) >= (size_t)2 * CTX_RT_TEXT_MAX, "room for two");
	return (char *)thread->frames;
}

/* Those that the process has when it is recorded first. */
static void list_descriptors(struct ctx_rt_thread *thread)
{
	char *name = name_room(thread), *listing = name + CTX_RT_TEXT_MAX;
	int dir = (int)ctx_rt_syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	while (dir >= 0 && (n = ctx_rt_syscall(SYS_getdents64, dir, listing, CTX_RT_TEXT_MAX)) > 0) {
		for (long at = 0; at < n; at += ((const struct entry *)(listing + at))->bytes) {
			const struct entry *entry = (const struct entry *)(listing + at);
			int32_t fd = number_of(entry->name);
			long length;

			if (fd < 0 || fd == dir)
				continue;
			length = ctx_rt_syscall(SYS_readlinkat, dir, entry->name, name, CTX_RT_TEXT_MAX);
			if (length > 0)
				record_name(thread, fd, name, (size_t)length);
		}
	}
	if (dir >= 0)
		ctx_rt_close(dir);
}

/* The working directory, to which names are relative: that of no descriptor. */
static void tell_directory(struct ctx_rt_thread *thread)
{
	char *name = name_room(thread);
	long n = ctx_rt_syscall(SYS_readlink, "/proc/self/cwd", name, CTX_RT_TEXT_MAX);

	if (n > 0)
		record_name(thread, -1, name, (size_t)n);
}

static void list_once(struct ctx_rt_thread *thread)
{
	_Atomic uint32_t *listed = &ctx_rt_process_descriptors()->listed;
	uint32_t expected = 0;
	int error = errno;

	if (__builtin_expect(atomic_load_explicit(listed, memory_order_relaxed) != 0, 1) ||
	    !atomic_compare_exchange_strong(listed, &expected, 1) || ctx_rt_is_restricted())
		return;
	list_descriptors(thread);
	tell_directory(thread);
	errno = error;
}

void ctx_rt_io_list(void)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_IO);

	if (thread == NULL)
		return;
	list_once(thread);
	ctx_rt_thread_release();
}

/* A child of vfork runs as its parent, with descriptors of its own. */
static bool is_foreign(const struct ctx_rt_thread *thread, enum ctx_io_call call)
{
	enum ctx_io_operation operation = ctx_io_call_operation(call);
	bool changes = operation == CTX_IO_OPEN || operation == CTX_IO_CLOSE || call == CTX_CALL_CHDIR ||
		       call == CTX_CALL_FCHDIR || call == CTX_CALL_BIND || call == CTX_CALL_CONNECT;

	return changes && !ctx_rt_is_restricted() && ctx_rt_syscall(SYS_gettid) != thread->tid;
}

/* In a pause all that names of descriptors follow from is recorded, and nothing else. */
static bool is_left_out(enum ctx_io_call call)
{
	enum ctx_io_operation operation = ctx_io_call_operation(call);

	return ctx_rt_is_paused() && operation != CTX_IO_OPEN && operation != CTX_IO_CLOSE &&
	       call != CTX_CALL_CHDIR && call != CTX_CALL_FCHDIR && call != CTX_CALL_BIND &&
	       call != CTX_CALL_CONNECT;
}

void ctx_rt_io_start(struct ctx_rt_io *io)
{
	struct ctx_rt_thread *thread = NULL;

	if (!is_left_out((enum ctx_io_call)io->call))
		thread = ctx_rt_thread_acquire(CTX_RT_WHAT_IO);
	if (thread == NULL)
		return;
	list_once(thread);
	io->foreign = is_foreign(thread, (enum ctx_io_call)io->call);
	if (ctx_io_call_operation(io->call) == CTX_IO_CLOSE && !io->foreign)
		forget(io->fd); /* another thread may have the number before the function returns */
	ctx_rt_thread_release();
	io->begin_ns = ctx_clock_ns(CLOCK_MONOTONIC);
}

/* Whether the recorder has to look for the name of the descriptor; it is told once. */
static bool is_nameless(const struct ctx_rt_io *io, int error)
{
	enum ctx_io_operation operation = ctx_io_call_operation(io->call);

	if (operation == CTX_IO_OPEN && error == 0)
		(void)know(io->fd);
	return operation != CTX_IO_OPEN && operation != CTX_IO_CLOSE && error == 0 && !io->is_over &&
	       !know(io->fd);
}

static void record(struct ctx_rt_thread *thread, const struct ctx_rt_io *io, int error,
		   const struct ctx_rt_registers *caller)
{
	struct ctx_rt_io_what what = {.descriptor = io->fd, .error = (uint16_t)error, .call = io->call};
	size_t n = io->file != NULL ? strlen(io->file) : 0;
	struct ctx_rt_operation operation = {.kind = n != 0 && n <= CTX_RT_TEXT_MAX ? CTX_RT_IO_NAMED
										    : CTX_RT_IO};
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);

	if (io->foreign && (io->call == CTX_CALL_CHDIR || io->call == CTX_CALL_FCHDIR))
		return; /* the process's own directory stays */
	if (io->foreign)
		what.flags = CTX_RT_IO_FOREIGN;
	else if (is_nameless(io, error)) {
		what.flags = CTX_RT_IO_NAMELESS;
		what.error = (uint16_t)atomic_load(ctx_rt_process_closes());
	}
	if (operation.kind == CTX_RT_IO_NAMED) {
		operation.text = io->file;
		operation.text_bytes = (uint32_t)n;
	}
	operation.words[0] = now_ns;
	operation.words[1] = now_ns - io->begin_ns;
	operation.words[2] = io->size;
	operation.words[3] = ctx_rt_io_pack(&what);
	ctx_rt_record(thread, &operation, caller);
}

void ctx_rt_io_put(const struct ctx_rt_io *io, int error, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_thread *thread = NULL;

	if (io->begin_ns != 0 && !is_left_out((enum ctx_io_call)io->call))
		thread = ctx_rt_thread_acquire(CTX_RT_WHAT_IO);
	if (thread == NULL)
		return;
	record(thread, io, error, caller);
	ctx_rt_thread_release();
}

void ctx_rt_io_finish(struct ctx_rt_io *io, int64_t result, const struct ctx_rt_registers *caller)
{
	enum ctx_io_operation operation = ctx_io_call_operation(io->call);

	if (result < 0 && (errno == EFAULT || errno == EINVAL))
		io->file = NULL; /* nobody has read it, and perhaps nobody can */
	if (result >= 0 && operation <= CTX_IO_WRITE)
		io->size = (uint64_t)result;
	if (operation == CTX_IO_OPEN)
		io->fd = result >= 0 ? (int32_t)result : -1;
	ctx_rt_io_put(io, result < 0 ? errno : 0, caller);
}

void ctx_rt_io_name(int fd, const char *name)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_IO);

	if (thread == NULL)
		return;
	record_name(thread, fd, name, strlen(name));
	ctx_rt_thread_release();
}

void ctx_rt_io_forget(unsigned first, unsigned last)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_IO);

	if (thread == NULL)
		return;
	for (unsigned fd = first; fd <= last && fd < CTX_RT_DESCRIPTORS_MAX; fd++)
		forget((int32_t)fd);
	ctx_rt_thread_release();
}
