#include "runtime/rt_omp.h"

#include "runtime/rt_real.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

_Atomic uint32_t ctx_rt_omp_wanted[CTX_RT_OMP_WANTED];

static void record(struct ctx_rt_operation *operation, const struct ctx_rt_registers *caller)
{
	int error = errno;
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_OMP);

	if (thread != NULL) {
		operation->words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
		ctx_rt_record(thread, operation, caller);
		ctx_rt_thread_release();
	}
	errno = error;
}

void ctx_rt_omp_note(enum ctx_omp_event event, uint64_t value, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_OMP};

	operation.words[1] = value << 8 | event;
	record(&operation, caller);
}

void ctx_rt_omp_note_body(enum ctx_omp_event event, uint32_t number, const void *body,
			  const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_OMP_BODY};

	operation.words[1] = (uint64_t)number << 8 | event;
	operation.words[2] = (uintptr_t)body;
	record(&operation, caller);
}

uint32_t ctx_rt_omp_number(void)
{
	static _Atomic uint32_t last;
	uint32_t number;

	do
		number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	while (number == 0);
	return number;
}

/* A function of libgomp has the lowest bit of its place set: functions are aligned. */
#define OF_LIBGOMP ((uintptr_t)1)

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

__attribute__((noinline)) static uintptr_t look_up(const char *name, _Atomic(void *) *place)
{
	int error = errno;
	uintptr_t found;

	ctx_rt_mute();
	found = (uintptr_t)find(name);
	if (found != 0 && (found & OF_LIBGOMP) == 0 && is_of_libgomp((const void *)found))
		found |= OF_LIBGOMP;
	ctx_rt_unmute();
	atomic_store_explicit(place, (void *)found, memory_order_release);
	errno = error;
	return found;
}

void *ctx_rt_omp_real(const char *name, _Atomic(void *) *place, bool *is_recorded)
{
	uintptr_t found = (uintptr_t)atomic_load_explicit(place, memory_order_acquire);

	if (__builtin_expect(found == 0, 0))
		found = look_up(name, place);
	*is_recorded = (found & OF_LIBGOMP) != 0 && ctx_rt_is_on(CTX_RT_WHAT_OMP);
	return (void *)(found & ~OF_LIBGOMP);
}
