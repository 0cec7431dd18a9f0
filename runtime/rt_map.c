/*
 * The functions that map memory: each calls the real one, and records what it did.
 *
 * Only what the program and its libraries call by name is seen: the C library maps what its malloc hands
 * out, stacks of threads, and libraries with calls of its own. As in rt_heap.c, what maps is recorded after
 * it, what unmaps before: so in order of time pages are free before another thread has them. Sizes are
 * whole pages, as mapped.
 *
 * What becomes executable is noted: a JIT compiler's code is found so (rt_code.h).
 */
#include "model/traced.h"
#include "runtime/rt_addresses.h"
#include "runtime/rt_code.h"
#include "runtime/rt_heap.h"
#include "runtime/rt_memory.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_syscall.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <stdarg.h>

#define END_OF_ADDRESSES (UINT64_C(1) << 56)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#define EXPORT __attribute__((visibility("default"), noinline))

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off64_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*brk)(void *);
	void *(*sbrk)(intptr_t);
	int (*mprotect)(void *, size_t, int);
	int (*pkey_mprotect)(void *, size_t, int, int);
} real;

static struct ctx_rt_addresses files; /* beginnings of mapped files, for mremap */

/* False: called by dlsym, or by what that needs. */
static bool is_ready(void)
{
	static __thread bool resolving __attribute__((tls_model("initial-exec")));
	int error = errno;

	if (__builtin_expect(__atomic_load_n((void **)&real.mmap, __ATOMIC_ACQUIRE) != NULL, 1))
		return true;
	if (resolving)
		return false;
	resolving = true;
	*(void **)&real.mmap64 = ctx_rt_find("mmap64", NULL);
	*(void **)&real.munmap = ctx_rt_find("munmap", NULL);
	*(void **)&real.mremap = ctx_rt_find("mremap", NULL);
	*(void **)&real.brk = ctx_rt_find("brk", NULL);
	*(void **)&real.sbrk = ctx_rt_find("sbrk", NULL);
	*(void **)&real.mprotect = ctx_rt_find("mprotect", NULL);
	*(void **)&real.pkey_mprotect = ctx_rt_find("pkey_mprotect", NULL);
	/* The last one: the others are there when this is. */
	__atomic_store_n((void **)&real.mmap, ctx_rt_find("mmap", NULL), __ATOMIC_RELEASE);
	resolving = false;
	errno = error;
	return true;
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + CTX_RT_PAGE - 1) & ~(size_t)(CTX_RT_PAGE - 1);
}

struct range {
	const void *address;
	size_t bytes;
};

static void note(enum ctx_heap_operation kind, struct range range, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_MAPPING};
	struct ctx_rt_thread *thread;

	if (!ctx_rt_is_on(CTX_RT_WHAT_HEAP) || ctx_rt_in_allocator || range.bytes == 0)
		return;
	thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);
	if (thread == NULL)
		return;
	if (ctx_rt_is_paused() && ctx_heap_maps(kind))
		kind = CTX_HEAP_UNMAP; /* of what was mapped there before */
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = range.bytes;
	operation.words[2] = (uintptr_t)range.address;
	operation.words[3] = kind;
	ctx_rt_record(thread, &operation, caller);
	ctx_rt_thread_release();
}

struct kind_of_memory {
	int protection, flags;
};

static void note_mmap(const void *at, size_t size, struct kind_of_memory kind,
		      const struct ctx_rt_registers *caller)
{
	bool is_file = (kind.flags & MAP_ANONYMOUS) == 0;

	if (at == MAP_FAILED)
		return;
	if ((kind.protection & PROT_EXEC) != 0)
		ctx_rt_code_note((uintptr_t)at, whole_pages(size));
	if (is_file)
		(void)ctx_rt_addresses_add(&files, (uintptr_t)at);
	else
		(void)ctx_rt_addresses_take(&files, (uintptr_t)at);
	note(is_file ? CTX_HEAP_MAP_FILE : CTX_HEAP_MAP, (struct range){at, whole_pages(size)}, caller);
}

/* By what dlsym needs. */
#ifdef SYS_mmap2
#define MAP_EARLY(wanted, size, protection, flags, fd, offset)                                               \
	((void *)ctx_rt_syscall(SYS_mmap2, wanted, size, protection, flags, fd,                              \
				(long)((off64_t)(offset) / 4096)))
#else
#define MAP_EARLY(wanted, size, protection, flags, fd, offset)                                               \
	((void *)ctx_rt_syscall(SYS_mmap, wanted, size, protection, flags, fd, offset))
#endif

EXPORT void *mmap(void *wanted, size_t size, int protection, int flags, int fd, off_t offset)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *at;

	if (!is_ready())
		return MAP_EARLY(wanted, size, protection, flags, fd, offset);
	at = real.mmap64(wanted, size, protection, flags, fd, offset);
	note_mmap(at, size, (struct kind_of_memory){protection, flags}, &caller);
	return at;
}

EXPORT void *mmap64(void *wanted, size_t size, int protection, int flags, int fd, off64_t offset)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *at;

	if (!is_ready())
		return MAP_EARLY(wanted, size, protection, flags, fd, offset);
	at = real.mmap64(wanted, size, protection, flags, fd, offset);
	note_mmap(at, size, (struct kind_of_memory){protection, flags}, &caller);
	return at;
}

/* What the kernel refuses without looking. */
static bool is_range(const void *at, size_t size)
{
	uint64_t end;

	return (uintptr_t)at % CTX_RT_PAGE == 0 && size != 0 &&
	       !__builtin_add_overflow((uintptr_t)at, whole_pages(size), &end) && end <= END_OF_ADDRESSES;
}

EXPORT int munmap(void *at, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	if (!is_ready())
		return (int)ctx_rt_syscall(SYS_munmap, at, size);
	if (is_range(at, size)) {
		(void)ctx_rt_addresses_take(&files, (uintptr_t)at);
		note(CTX_HEAP_UNMAP, (struct range){at, whole_pages(size)}, &caller);
	}
	return real.munmap(at, size);
}

EXPORT int mprotect(void *at, size_t size, int protection)
{
	int result = is_ready() && real.mprotect != NULL
			     ? real.mprotect(at, size, protection)
			     : (int)ctx_rt_syscall(SYS_mprotect, at, size, protection);

	if (result == 0 && (protection & PROT_EXEC) != 0)
		ctx_rt_code_note((uintptr_t)at, whole_pages(size));
	return result;
}

EXPORT int pkey_mprotect(void *at, size_t size, int protection, int key)
{
	int result = is_ready() && real.pkey_mprotect != NULL
			     ? real.pkey_mprotect(at, size, protection, key)
			     : (int)ctx_rt_syscall(SYS_pkey_mprotect, at, size, protection, key);

	if (result == 0 && (protection & PROT_EXEC) != 0)
		ctx_rt_code_note((uintptr_t)at, whole_pages(size));
	return result;
}

struct move {
	struct range old;
	size_t size;
	int flags;
	void *wanted;
	bool is_file;
};

static void *move(struct move *move, const struct ctx_rt_registers *caller)
{
	enum ctx_heap_operation kind = move->is_file ? CTX_HEAP_REMAP_FILE : CTX_HEAP_REMAP;
	struct range old = {move->old.address, whole_pages(move->old.bytes)};
	bool leaves = old.bytes != 0 && (move->flags & MREMAP_DONTUNMAP) == 0;
	/* In place it often fails; nobody else is given the old pages then. */
	bool early = leaves && ((move->flags & MREMAP_MAYMOVE) != 0 || move->size < move->old.bytes);
	void *at;

	if (early)
		note(CTX_HEAP_LEAVE, old, caller);
	at = real.mremap((void *)move->old.address, move->old.bytes, move->size, move->flags, move->wanted);
	if (at == MAP_FAILED) {
		if (early)
			note(kind, old, caller);
		return at;
	}
	if (leaves && !early)
		note(CTX_HEAP_LEAVE, old, caller);
	note(kind, (struct range){at, whole_pages(move->size)}, caller);
	return at;
}

EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct move it = {.old = {old, old_size}, .size = size, .flags = flags};
	va_list rest;
	void *at;

	va_start(rest, flags);
	if ((flags & ~MREMAP_MAYMOVE) != 0)
		it.wanted = va_arg(rest, void *);
	va_end(rest);
	if (!is_ready())
		return (void *)ctx_rt_syscall(SYS_mremap, old, old_size, size, flags, it.wanted);
	if (!is_range(old, old_size != 0 ? old_size : 1) || size == 0)
		return real.mremap(old, old_size, size, flags, it.wanted);
	it.is_file = ctx_rt_addresses_take(&files, (uintptr_t)old);
	at = move(&it, &caller);
	if (it.is_file && (at == MAP_FAILED || old_size == 0 || (flags & MREMAP_DONTUNMAP) != 0))
		(void)ctx_rt_addresses_add(&files, (uintptr_t)old);
	if (it.is_file && at != MAP_FAILED)
		(void)ctx_rt_addresses_add(&files, (uintptr_t)at);
	return at;
}

/* The end of the data moved. */
static void note_break(const char *from, const char *to, const struct ctx_rt_registers *caller)
{
	if (to > from)
		note(CTX_HEAP_GROW, (struct range){from, (size_t)(to - from)}, caller);
	else if (to < from)
		note(CTX_HEAP_LEAVE, (struct range){to, (size_t)(from - to)}, caller);
}

EXPORT int brk(void *end)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *before;
	int result;

	if (!is_ready())
		return ctx_rt_syscall(SYS_brk, end) == (long)end ? 0 : -1;
	before = real.sbrk(0);
	result = real.brk(end);
	if (result == 0)
		note_break(before, end, &caller);
	return result;
}

EXPORT void *sbrk(intptr_t more)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	char *before;

	if (!is_ready()) {
		errno = ENOMEM;
		return (void *)-1;
	}
	before = real.sbrk(more);
	if (before != (void *)-1)
		note_break(before, before + more, &caller);
	return before;
}
