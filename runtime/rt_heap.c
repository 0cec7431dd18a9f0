/*
 * The heap's functions: each calls the real one, and records what it did.
 *
 * The real ones are those that the program would have without the runtime (its own allocator, if that is
 * a shared library). An allocation is recorded after it was made, and the release of memory before:
 * so in order of time a block is free before another thread has it. realloc does both: its record has
 * the time at which it ended, and frees the oldest block of its old address.
 *
 * Frames of libc's functions that call these (strdup, fopen) are in the stacks; those of the runtime
 * are not.
 */
#include "runtime/rt_process.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"), noinline))

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} real;

/* What dlsym itself allocates while the real functions are not known; never freed. */
static _Alignas(16) char early[16384];
static _Atomic size_t early_used;
static __thread bool resolving __attribute__((tls_model("initial-exec")));

static bool is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof(early);
}

/* The size is in front, for realloc. */
static void *allocate_early(size_t size)
{
	size_t bytes = (size + 31) & ~(size_t)15, at;

	if (size > sizeof(early))
		return NULL;
	at = atomic_fetch_add(&early_used, bytes);
	if (at > sizeof(early) - bytes)
		return NULL;
	memcpy(early + at, &size, sizeof(size));
	return early + at + 16;
}

static void *move_early(const void *block, size_t size)
{
	void *moved = malloc(size);
	size_t old;

	memcpy(&old, (const char *)block - 16, sizeof(old));
	return moved != NULL ? memcpy(moved, block, old < size ? old : size) : NULL;
}

__attribute__((noinline)) static bool resolve(void)
{
	int error = errno;

	if (resolving)
		return false;
	resolving = true;
	*(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real.free = dlsym(RTLD_NEXT, "free");
	*(void **)&real.memalign = dlsym(RTLD_NEXT, "memalign");
	*(void **)&real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)&real.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real.valloc = dlsym(RTLD_NEXT, "valloc");
	*(void **)&real.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	/* The last one: the others are there when this is. */
	__atomic_store_n((void **)&real.malloc, dlsym(RTLD_NEXT, "malloc"), __ATOMIC_RELEASE);
	resolving = false;
	errno = error;
	return true;
}

/* False: called by dlsym. */
static inline bool is_ready(void)
{
	return __builtin_expect(__atomic_load_n((void **)&real.malloc, __ATOMIC_ACQUIRE) != NULL, 1) ||
	       resolve();
}

static inline void note(const void *block, size_t size, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_thread *thread;
	struct ctx_rt_operation operation = {.kind = CTX_RT_ALLOCATE};

	if (block == NULL)
		return;
	thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);
	if (thread == NULL)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = size;
	operation.words[2] = (uint64_t)block;
	ctx_rt_record(thread, &operation, caller);
	ctx_rt_thread_release();
}

EXPORT void *malloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block;

	if (!is_ready())
		return allocate_early(size);
	block = real.malloc(size);
	note(block, size, &caller);
	return block;
}

EXPORT void *calloc(size_t n, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	size_t bytes;
	void *block;

	if (!is_ready()) /* fresh memory of the program is zero */
		return __builtin_mul_overflow(n, size, &bytes) ? NULL : allocate_early(bytes);
	block = real.calloc(n, size);
	note(block, n * size, &caller);
	return block;
}

static void note_free(void *block)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);
	struct ctx_rt_operation operation = {.kind = CTX_RT_FREE};

	if (thread == NULL)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = (uint64_t)block;
	ctx_rt_record(thread, &operation, NULL);
	ctx_rt_thread_release();
}

EXPORT void free(void *block)
{
	if (block == NULL || is_early(block) || !is_ready())
		return;
	note_free(block);
	real.free(block);
}

static void *reallocate(void *old, size_t size, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_REALLOCATE};
	struct ctx_rt_thread *thread;
	void *block;

	if (is_early(old))
		return move_early(old, size);
	if (!is_ready())
		return allocate_early(size);
	if (old == NULL) {
		block = real.realloc(NULL, size);
		note(block, size, caller);
		return block;
	}
	block = real.realloc(old, size);
	if (block == NULL && size != 0)
		return NULL; /* the old block is still there */
	thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);
	if (thread == NULL)
		return block;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = size;
	operation.words[2] = (uint64_t)block;
	operation.words[3] = (uint64_t)old;
	ctx_rt_record(thread, &operation, caller);
	ctx_rt_thread_release();
	return block;
}

EXPORT void *realloc(void *old, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	return reallocate(old, size, &caller);
}

EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(old, bytes, &caller);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? real.memalign(alignment, size) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	int error = is_ready() ? real.posix_memalign(ret, alignment, size) : ENOMEM;

	if (error == 0)
		note(*ret, size, &caller);
	return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? real.aligned_alloc(alignment, size) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT void *valloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? real.valloc(size) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT void *pvalloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? real.pvalloc(size) : NULL;

	note(block, size, &caller);
	return block;
}

/* Rows of code that is gone must not be used for what comes there next. */
EXPORT int dlclose(void *handle)
{
	static int (*real_dlclose)(void *);
	int result;

	if (real_dlclose == NULL)
		*(void **)&real_dlclose = dlsym(RTLD_NEXT, "dlclose");
	result = real_dlclose(handle);
	ctx_rt_forget_objects();
	return result;
}
