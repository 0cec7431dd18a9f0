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
#include "runtime/rt_heap.h"
#include "runtime/rt_addresses.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_sampler.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static bool is_foreign; /* the allocator is not the C library's */
__thread bool ctx_rt_in_allocator __attribute__((tls_model("initial-exec")));
__thread uint64_t ctx_rt_allocated __attribute__((tls_model("initial-exec")));

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

/* Allocators stand in for __libc_malloc, too; for this function nobody does. */
static bool is_of_libc(const void *function)
{
	Dl_info of_function, of_libc;

	return dladdr(function, &of_function) != 0 &&
	       dladdr((const void *)gnu_get_libc_version, &of_libc) != 0 &&
	       of_function.dli_fbase == of_libc.dli_fbase;
}

static inline bool has_scratch(void)
{
	return __builtin_expect(ctx_rt_scratch.at != NULL, 0);
}

/* A block of zeros, or with what is in the old one and behind it. */
__attribute__((noinline)) static void *take_scratch(const void *old, size_t size)
{
	char *block = ctx_rt_scratch.at;
	size_t bytes = (size + 15) & ~(size_t)15;

	if (size > ctx_rt_scratch.size || bytes > ctx_rt_scratch.size) {
		errno = ENOMEM;
		return NULL;
	}
	ctx_rt_scratch.at += bytes;
	ctx_rt_scratch.size -= bytes;
	return old != NULL ? memmove(block, old, size) : memset(block, 0, size);
}

__attribute__((noinline)) static bool resolve(void)
{
	int error = errno;
	void *next;

	if (resolving)
		return false;
	resolving = true;
	*(void **)&real.calloc = ctx_rt_find("calloc", NULL);
	*(void **)&real.realloc = ctx_rt_find("realloc", NULL);
	*(void **)&real.free = ctx_rt_find("free", NULL);
	*(void **)&real.memalign = ctx_rt_find("memalign", NULL);
	*(void **)&real.posix_memalign = ctx_rt_find("posix_memalign", NULL);
	*(void **)&real.aligned_alloc = ctx_rt_find("aligned_alloc", NULL);
	*(void **)&real.valloc = ctx_rt_find("valloc", NULL);
	*(void **)&real.pvalloc = ctx_rt_find("pvalloc", NULL);
	/* The last one: the others are there when this is. */
	next = ctx_rt_find("malloc", NULL);
	is_foreign = !is_of_libc(next);
	__atomic_store_n((void **)&real.malloc, next, __ATOMIC_RELEASE);
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

/* A call of a real function that returns something. */
#define CALL(call)                                                                                           \
	({                                                                                                   \
		bool outer_ = enter();                                                                       \
		__auto_type result_ = (call);                                                                \
		leave(outer_);                                                                               \
		result_;                                                                                     \
	})

static inline bool enter(void)
{
	bool outer = ctx_rt_in_allocator;

	ctx_rt_in_allocator = outer || is_foreign;
	return outer;
}

static inline void leave(bool outer)
{
	ctx_rt_in_allocator = outer;
}

/* Sampling: of an allocation that is not recorded nothing is done but to count its bytes. */

static __thread struct ctx_rt_sampler sampler __attribute__((tls_model("initial-exec")));
static struct ctx_rt_addresses sampled;

static inline bool is_sampled(size_t size)
{
	return ctx_rt_sample_bytes == 0 || ctx_rt_sampler_take(&sampler, ctx_rt_sample_bytes, size);
}

/* Whether the release of a block is recorded; it is no longer among the sampled ones. */
static inline bool was_sampled(const void *block)
{
	return ctx_rt_sample_bytes == 0 || (ctx_rt_addresses_may_have(&sampled, (uintptr_t)block) &&
					    ctx_rt_addresses_take(&sampled, (uintptr_t)block));
}

/* With the first operation of a process it is known whether there is sampling: then it is decided here. */
__attribute__((noinline)) static bool keep(bool was_known, const void *block, size_t size)
{
	if ((was_known || is_sampled(size)) && ctx_rt_addresses_add(&sampled, (uintptr_t)block))
		return true;
	ctx_rt_thread_release();
	return false;
}

/* The calling thread, to record an allocation; NULL: not this one. */
static inline struct ctx_rt_thread *acquire_for(const void *block, size_t size)
{
	bool was_known = ctx_rt_sample_bytes != 0;
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);

	if (__builtin_expect(ctx_rt_sample_bytes != 0, 0) && thread != NULL && !keep(was_known, block, size))
		return NULL;
	return thread;
}

/* A forked child would sample the same bytes as all its siblings. */
EXPORT pid_t fork(void)
{
	static pid_t (*real_fork)(void);
	pid_t pid;

	if (real_fork == NULL)
		*(void **)&real_fork = ctx_rt_find("fork", NULL);
	pid = real_fork();
	if (pid == 0)
		sampler = (struct ctx_rt_sampler){0};
	return pid;
}

/* What records is apart from what decides about it, which is all that most calls do where there is sampling. */
__attribute__((noinline)) static void record_allocation(const void *block, size_t size,
							const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_ALLOCATE};
	struct ctx_rt_thread *thread = acquire_for(block, size);

	if (thread == NULL)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = size;
	operation.words[2] = (uintptr_t)block;
	ctx_rt_record(thread, &operation, caller);
	ctx_rt_thread_release();
}

static inline void note(const void *block, size_t size, const struct ctx_rt_registers *caller)
{
	if (block == NULL || ctx_rt_in_allocator)
		return;
	ctx_rt_allocated += size;
	if (!ctx_rt_is_on(CTX_RT_WHAT_HEAP) || ctx_rt_is_paused() || !is_sampled(size))
		return;
	record_allocation(block, size, caller);
}

EXPORT void *malloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block;

	if (has_scratch())
		return take_scratch(NULL, size);
	if (!is_ready())
		return allocate_early(size);
	block = CALL(real.malloc(size));
	note(block, size, &caller);
	return block;
}

EXPORT void *calloc(size_t n, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	size_t bytes;
	void *block;

	if (has_scratch())
		return __builtin_mul_overflow(n, size, &bytes) ? NULL : take_scratch(NULL, bytes);
	if (!is_ready()) /* fresh memory of the program is zero */
		return __builtin_mul_overflow(n, size, &bytes) ? NULL : allocate_early(bytes);
	block = CALL(real.calloc(n, size));
	note(block, n * size, &caller);
	return block;
}

__attribute__((noinline)) static void record_free(const void *block)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_FREE};
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);

	if (thread == NULL)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = (uintptr_t)block;
	ctx_rt_record(thread, &operation, NULL);
	ctx_rt_thread_release();
}

EXPORT void free(void *block)
{
	bool outer;

	if (block == NULL || is_early(block) || has_scratch() || !is_ready())
		return;
	if (ctx_rt_is_on(CTX_RT_WHAT_HEAP) && !ctx_rt_in_allocator && was_sampled(block))
		record_free(block);
	outer = enter();
	real.free(block);
	leave(outer);
}

/* The old block was recorded; of the new one that is not sampled, or made in a pause, only its release is. */
static void note_resized(struct ctx_rt_operation *operation, const struct ctx_rt_registers *caller)
{
	size_t size = (size_t)operation->words[1];
	const void *block = (const void *)(uintptr_t)operation->words[2];
	struct ctx_rt_thread *thread = NULL;

	if (block != NULL && !ctx_rt_is_paused() && is_sampled(size))
		thread = acquire_for(block, size);
	if (thread == NULL) {
		thread = ctx_rt_thread_acquire(CTX_RT_WHAT_HEAP);
		if (ctx_rt_sample_bytes != 0 || ctx_rt_is_paused())
			operation->words[1] = operation->words[2] = 0;
	}
	if (thread == NULL)
		return;
	operation->words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	ctx_rt_record(thread, operation, caller);
	ctx_rt_thread_release();
}

static void *reallocate(void *old, size_t size, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_REALLOCATE,
					     .words = {[1] = size, [3] = (uintptr_t)old}};
	bool was;
	void *block;

	if (has_scratch())
		return take_scratch(old, size);
	if (is_early(old))
		return move_early(old, size);
	if (!is_ready())
		return allocate_early(size);
	was = old != NULL && was_sampled(old);
	block = CALL(real.realloc(old, size));
	if (block == NULL && size != 0) { /* the old block is still there */
		if (was && ctx_rt_sample_bytes != 0)
			(void)ctx_rt_addresses_add(&sampled, (uintptr_t)old);
		return NULL;
	}
	operation.words[2] = (uintptr_t)block;
	if (!was)
		note(block, size, caller);
	else if (!ctx_rt_in_allocator)
		note_resized(&operation, caller);
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
	void *block = is_ready() ? CALL(real.memalign(alignment, size)) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	int error = is_ready() ? CALL(real.posix_memalign(ret, alignment, size)) : ENOMEM;

	if (error == 0)
		note(*ret, size, &caller);
	return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? CALL(real.aligned_alloc(alignment, size)) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT void *valloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? CALL(real.valloc(size)) : NULL;

	note(block, size, &caller);
	return block;
}

EXPORT void *pvalloc(size_t size)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *block = is_ready() ? CALL(real.pvalloc(size)) : NULL;

	note(block, size, &caller);
	return block;
}

/* Rows of code that is gone must not be used for what comes there next. */
EXPORT int dlclose(void *handle)
{
	static int (*real_dlclose)(void *);
	int result;

	if (real_dlclose == NULL)
		*(void **)&real_dlclose = ctx_rt_find("dlclose", NULL);
	result = real_dlclose(handle);
	ctx_rt_forget_objects();
	return result;
}

/*
 * A malloc in the program itself comes before all libraries, also before this one. Of a program that is linked to
 * fixed addresses and takes that of malloc, the search finds a stub in the program, whose symbol is undefined.
 */
__attribute__((constructor)) static void look_for_own_allocator(void)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info found, own;
	void *first;

	if (getenv(CTX_RT_VARIABLE) == NULL || ctx_rt_is_late())
		return;
	first = dlsym(RTLD_DEFAULT, "malloc");
	if (first != NULL && dladdr1(first, &found, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
	    dladdr((const void *)&is_foreign, &own) != 0 && found.dli_fbase != own.dli_fbase &&
	    (symbol == NULL || symbol->st_shndx != SHN_UNDEF))
		ctx_rt_note_own_allocator();
}
