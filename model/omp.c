#include "model/omp.h"

#include <string.h>

size_t ctx_omp_function_length(const char *name)
{
	static const char qualifier[] = " const";
	const char *end = strstr(name, CTX_OMP_NAME);
	size_t n = end != NULL ? (size_t)(end - name) : strlen(name), at, q = sizeof(qualifier) - 1;
	int depth = 0;

	at = n > q && strncmp(name + n - q, qualifier, q) == 0 ? n - q : n;
	if (at == 0 || name[at - 1] != ')')
		return n;
	do {
		at--;
		depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
	} while (at != 0 && depth != 0);
	return at != 0 ? at : n;
}

bool ctx_omp_is_region(const char *function)
{
	return strstr(function, CTX_OMP_REGION_NAME) != NULL;
}

bool ctx_omp_is_task(const char *function)
{
	return strstr(function, CTX_OMP_TASK_NAME) != NULL;
}

const char *ctx_omp_share_name(enum ctx_omp_share share)
{
	static const char *const names[CTX_OMP_SHARE_N] = {
		[CTX_OMP_SHARE_LOOP] = " -- OMP loop",
		[CTX_OMP_SHARE_SECTIONS] = " -- OMP sections",
		[CTX_OMP_SHARE_SINGLE] = " -- OMP single",
		[CTX_OMP_SHARE_WORKSHARE] = " -- OMP workshare",
		[CTX_OMP_SHARE_DISTRIBUTE] = " -- OMP distribute",
	};

	return (unsigned)share < CTX_OMP_SHARE_N && names[share] != NULL ? names[share] : "";
}

const char *ctx_omp_schedule_word(enum ctx_omp_schedule schedule)
{
	static const char *const words[CTX_OMP_SCHEDULE_N] = {
		[CTX_OMP_SCHEDULE_NONE] = "",		[CTX_OMP_SCHEDULE_STATIC] = "static",
		[CTX_OMP_SCHEDULE_DYNAMIC] = "dynamic", [CTX_OMP_SCHEDULE_GUIDED] = "guided",
		[CTX_OMP_SCHEDULE_RUNTIME] = "runtime", [CTX_OMP_SCHEDULE_AUTO] = "auto",
	};

	return (unsigned)schedule < CTX_OMP_SCHEDULE_N ? words[schedule] : "";
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
		[CTX_OMP_TASK_DISPATCH] = "<OMP-task_dispatch>",
	};

	return (unsigned)state < CTX_OMP_STATE_N ? names[state] : NULL;
}
