#include "model/omp.h"

#include <stddef.h>
#include <string.h>

bool ctx_omp_is_region(const char *function)
{
	return strstr(function, CTX_OMP_REGION_NAME) != NULL;
}

bool ctx_omp_is_task(const char *function)
{
	return strstr(function, CTX_OMP_TASK_NAME) != NULL;
}

const char *ctx_omp_state_function(enum ctx_omp_state state)
{
	static const char *const names[CTX_OMP_STATE_N] = {
		[CTX_OMP_SERIAL] = "<OMP-serial>",
		[CTX_OMP_OVERHEAD] = "<OMP-overhead>",
		[CTX_OMP_IDLE] = "<OMP-idle>",
		[CTX_OMP_REDUCTION] = "<OMP-reduction>",
		[CTX_OMP_IMPLICIT_BARRIER] = "<OMP-implicit_barrier>",
		[CTX_OMP_EXPLICIT_BARRIER] = "<OMP-explicit_barrier>",
		[CTX_OMP_LOCK_WAIT] = "<OMP-lock_wait>",
		[CTX_OMP_CRITICAL_WAIT] = "<OMP-critical_section_wait>",
		[CTX_OMP_ORDERED_WAIT] = "<OMP-ordered_section_wait>",
		[CTX_OMP_ATOMIC_WAIT] = "<OMP-atomic_section_wait>",
		[CTX_OMP_TASKWAIT] = "<OMP-taskwait>",
	};

	return (unsigned)state < CTX_OMP_STATE_N ? names[state] : NULL;
}
