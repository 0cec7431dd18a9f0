#include "runtime/rt_omp.h"

#include "runtime/rt_real.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

_Atomic uint32_t ctx_rt_omp_wanted[CTX_RT_OMP_WANTED];

/* Ticks, where the recorder can convert them: reading them takes less than half of the clock's time. */
static inline uint64_t now(void)
{
	return ctx_rt_settings.has_tsc ? __builtin_ia32_rdtsc() : ctx_clock_ns(CLOCK_MONOTONIC);
}

/* A ring is planned only where times are ticks. */
__attribute__((hot, noinline)) static void record(struct ctx_rt_operation *operation,
						  const struct ctx_rt_registers *caller)
{
	int error = errno;
	struct ctx_rt_thread *thread = ctx_rt_thread_take(CTX_RT_WHAT_OMP);

	if (thread == NULL)
		thread = ctx_rt_thread_acquire(CTX_RT_WHAT_OMP);
	if (thread != NULL) {
		operation->words[0] = now();
		ctx_rt_record(thread, operation, caller);
		if (ctx_rt_settings.has_tsc)
			ctx_rt_ring_plan(&thread->ring);
		ctx_rt_thread_release();
	}
	errno = error;
}

__attribute__((noinline)) static void note(uint64_t word, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_OMP, .words = {0, word}};

	record(&operation, caller);
}

/* In what is usual: ticks, room, and a thread that has recorded something. */
static inline bool put(uint64_t second)
{
	const struct ctx_rt_word0 word = {.words = 3, .kind = CTX_RT_OMP};
	struct ctx_rt_thread *thread = ctx_rt_thread_take(CTX_RT_WHAT_OMP);
	bool is_done;

	if (__builtin_expect(thread == NULL, 0))
		return false;
	is_done = ctx_rt_ring_put_plain(&thread->ring, &word,
					(const uint64_t[]){__builtin_ia32_rdtsc(), second}, 2);
	ctx_rt_thread_release();
	return is_done;
}

__attribute__((hot)) void ctx_rt_omp_note(enum ctx_omp_event event, uint64_t value)
{
	if (__builtin_expect(!put(value << 8 | event), 0))
		note(value << 8 | event, NULL);
}

__attribute__((hot)) void ctx_rt_omp_note_at(enum ctx_omp_event event, uint64_t value,
					     const struct ctx_rt_registers *caller)
{
	note(value << 8 | event, caller);
}

__attribute__((hot)) void ctx_rt_omp_note_body(enum ctx_omp_event event, uint32_t number, const void *body,
					       const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_OMP_BODY,
					     .words = {0, (uint64_t)number << 8 | event, (uintptr_t)body}};

	record(&operation, caller);
}

void ctx_rt_omp_note_after(enum ctx_omp_event event, uint64_t value)
{
	__asm__ volatile("lfence" ::: "memory");
	ctx_rt_omp_note(event, value);
}

/* Numbers of a thread lie together: so threads need not wait for each other's. */
__attribute__((hot)) uint32_t ctx_rt_omp_number(void)
{
	static __thread uint32_t next CTX_RT_TLS;
	static _Atomic uint32_t blocks;
	const uint32_t n = 64;

	if (__builtin_expect(next % n == 0, 0))
		next = atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed) * n + 1;
	return next++;
}

static bool is_of_libgomp(const void *function)
{
	static const char name[] = "libgomp.so";
	const char *base;
	Dl_info info;

	if (dladdr(function, &info) == 0 || info.dli_fname == NULL)
		return false;
	base = strrchr(info.dli_fname, '/');
	base = base != NULL ? base + 1 : info.dli_fname;
	return strncmp(base, name, sizeof(name) - 1) == 0;
}

/* What the program would have without this library, or where a library that was opened later brought it. */
static void *find(const char *name)
{
	static const char *const libraries[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so"};
	void *function = ctx_rt_find(name, NULL);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries) && function == NULL; i++) {
		void *library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);

		if (library == NULL)
			continue;
		function = dlsym(library, name);
		dlclose(library);
	}
	return function;
}

uintptr_t ctx_rt_omp_look_up(const char *name, _Atomic(uintptr_t) *place)
{
	int error = errno;
	uintptr_t found;

	ctx_rt_mute();
	found = (uintptr_t)find(name);
	if (found != 0 && (found & CTX_RT_OMP_OF_LIBGOMP) == 0 && is_of_libgomp((const void *)found))
		found |= CTX_RT_OMP_OF_LIBGOMP;
	ctx_rt_unmute();
	atomic_store_explicit(place, found, memory_order_release);
	errno = error;
	return found;
}
