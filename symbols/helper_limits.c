#include "symbols/helper_limits.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MEMORY_MAX ((rlim_t)4 << 30)
#define SECONDS_MAX 60

static void limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return;
	now.rlim_cur = now.rlim_max < value ? now.rlim_max : value;
	(void)setrlimit(resource, &now);
}

void ctx_helper_limit(void)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CPU, SECONDS_MAX);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, CTX_HELPER_OUTPUT_MAX);
#ifndef CTX_SANITIZED /* ASan reserves terabytes of address space */
	limit(RLIMIT_AS, MEMORY_MAX);
#endif
	(void)unsetenv("DEBUGINFOD_URLS");
}
