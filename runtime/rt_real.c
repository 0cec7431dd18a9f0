#include "runtime/rt_real.h"

#include <dlfcn.h>
#include <errno.h>

_Atomic(void *) ctx_rt_reals[CTX_RT_REAL_N];

static const char *const names[CTX_RT_REAL_N] = {
#define NAME(name) #name,
	CTX_RT_REAL_FUNCTIONS(NAME)
#undef NAME
};

void *ctx_rt_real_find(enum ctx_rt_real which)
{
	int error = errno;
	void *function = dlsym(RTLD_NEXT, names[which]);

	atomic_store_explicit(&ctx_rt_reals[which], function, memory_order_release);
	errno = error;
	return function;
}

__attribute__((constructor)) static void find_all(void)
{
	for (unsigned i = 0; i < CTX_RT_REAL_N; i++)
		(void)ctx_rt_real_find((enum ctx_rt_real)i);
}
