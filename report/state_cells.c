#include "report/state_cells.h"

#include <stdio.h>
#include <string.h>

const struct ctx_column ctx_state_columns[CTX_STATE_N] = {
	[CTX_STATE_USER] = {"USER", NULL, CTX_STYLE_TIME},
	[CTX_STATE_SYSTEM] = {"SYSTEM", NULL, CTX_STYLE_TIME},
	[CTX_STATE_TRAP] = {"TRAP", NULL, CTX_STYLE_TIME},
	[CTX_STATE_TEXT_FAULT] = {"TFAULT", NULL, CTX_STYLE_TIME},
	[CTX_STATE_DATA_FAULT] = {"DFAULT", NULL, CTX_STYLE_TIME},
	[CTX_STATE_KERNEL_FAULT] = {"KFAULT", NULL, CTX_STYLE_TIME},
	[CTX_STATE_USER_LOCK] = {"USER_LOCK", NULL, CTX_STYLE_TIME},
	[CTX_STATE_SLEEP] = {"SLEEP", NULL, CTX_STYLE_TIME},
	[CTX_STATE_STOPPED] = {"STOPPED", NULL, CTX_STYLE_TIME},
	[CTX_STATE_WAIT_CPU] = {"WAIT_CPU", NULL, CTX_STYLE_TIME},
	[CTX_STATE_UNKNOWN] = {"UNKNOWN", NULL, CTX_STYLE_TIME},
};

void ctx_state_fill(const uint64_t numbers[CTX_STATE_N], struct ctx_cell cells[CTX_STATE_N])
{
	for (unsigned state = 0; state < CTX_STATE_N; state++)
		cells[state] = ctx_cell_number(numbers[state]);
}

uint64_t ctx_state_sum(const uint64_t numbers[CTX_STATE_N], unsigned states)
{
	uint64_t sum = 0;

	for (unsigned state = 0; state < CTX_STATE_N; state++)
		sum += (states & CTX_STATE_BIT(state)) != 0 ? numbers[state] : 0;
	return sum;
}

unsigned ctx_state_most(const uint64_t numbers[CTX_STATE_N])
{
	unsigned most = CTX_STATE_N;

	for (unsigned state = 0; state < CTX_STATE_N; state++) {
		if (numbers[state] > (most != CTX_STATE_N ? numbers[most] : 0))
			most = state;
	}
	return most;
}

const char *ctx_state_note(const struct ctx_profile *profile, char *buf, size_t size)
{
	const char *level = ctx_profile_property(profile, "states", "");
	const char *missing = strchr(level, ';');

	/* All states are known without system calls too, as in recordings of ctxrec. */
	if (missing == NULL || strcmp(missing, "; no syscalls") == 0)
		return NULL;
	snprintf(buf, size, "states: %s", level);
	return buf;
}

enum ctx_status ctx_state_check(const struct ctx_profile *profile, struct ctx_err *err)
{
	if (profile->has_states)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "no thread states were recorded (ctxrec --states; perf record --switch-events -e "
			   "sched:sched_switch -g)");
}
