#include "runtime/rt_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdint.h>

_Atomic(void *) ctx_rt_reals[CTX_RT_REAL_N];

static const char *const names[CTX_RT_REAL_N] = {
#define NAME(name) #name,
	CTX_RT_REAL_FUNCTIONS(NAME)
#undef NAME
};

static const char anchor; /* an address of this library */

enum place {
	PLACE_UNKNOWN = 0,
	PLACE_FIRST,
	PLACE_LATE,
};

static bool holds(const struct dl_phdr_info *object, uint64_t address)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

/* Objects come in the order in which they were loaded: which is first, this one or the C library? */
static int see_object(struct dl_phdr_info *object, size_t size, void *context)
{
	enum place *place = context;

	(void)size;
	if (holds(object, (uintptr_t)&anchor))
		*place = PLACE_FIRST;
	else if (holds(object, (uintptr_t)&gnu_get_libc_version))
		*place = PLACE_LATE;
	return *place != PLACE_UNKNOWN;
}

bool ctx_rt_is_late(void)
{
	static _Atomic int known;
	enum place place = (enum place)atomic_load(&known);

	if (place == PLACE_UNKNOWN) {
		(void)dl_iterate_phdr(see_object, &place);
		atomic_store(&known, (int)place);
	}
	return place == PLACE_LATE;
}

/* What is behind this library finds the C library alone, if that was there before: a program's own allocator is not. */
void *ctx_rt_find(const char *name, const char *version)
{
	void *from = ctx_rt_is_late() ? RTLD_DEFAULT : RTLD_NEXT;
	void *found = version != NULL ? dlvsym(from, name, version) : NULL;
	Dl_info own, other;

	if (found == NULL)
		found = dlsym(from, name);
	/* What nobody else has is found here. */
	if (from == RTLD_DEFAULT && found != NULL && dladdr(&anchor, &own) != 0 &&
	    dladdr(found, &other) != 0 && own.dli_fbase == other.dli_fbase)
		return NULL;
	return found;
}

void *ctx_rt_real_find(enum ctx_rt_real which)
{
	int error = errno;
	void *function = ctx_rt_find(names[which], NULL);

	atomic_store_explicit(&ctx_rt_reals[which], function, memory_order_release);
	errno = error;
	return function;
}

__attribute__((constructor)) static void find_all(void)
{
	for (unsigned i = 0; i < CTX_RT_REAL_N; i++)
		(void)ctx_rt_real_find((enum ctx_rt_real)i);
}
