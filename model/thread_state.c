#include "model/thread_state.h"

static const struct {
	const char *name, *text;
	char letter;
} states[CTX_STATE_N] = {
	[CTX_STATE_USER] = {"USER", "user", 'U'},
	[CTX_STATE_SYSTEM] = {"SYSTEM", "system", 'S'},
	[CTX_STATE_TRAP] = {"TRAP", "trap", 'T'},
	[CTX_STATE_TEXT_FAULT] = {"TFAULT", "text fault", 'x'},
	[CTX_STATE_DATA_FAULT] = {"DFAULT", "data fault", 'd'},
	[CTX_STATE_KERNEL_FAULT] = {"KFAULT", "kernel fault", 'k'},
	[CTX_STATE_USER_LOCK] = {"USER_LOCK", "user lock", 'L'},
	[CTX_STATE_SLEEP] = {"SLEEP", "sleep", 'z'},
	[CTX_STATE_STOPPED] = {"STOPPED", "stopped", 's'},
	[CTX_STATE_WAIT_CPU] = {"WAIT_CPU", "waiting for a CPU", 'W'},
	[CTX_STATE_UNKNOWN] = {"UNKNOWN", "<Unknown>", '?'},
};

static const char *const changes[CTX_CHANGE_N] = {
	[CTX_CHANGE_RUNS] = "runs",
	[CTX_CHANGE_PREEMPTED] = "preempted",
	[CTX_CHANGE_BLOCKED] = "blocked",
	[CTX_CHANGE_STOPPED] = "stopped",
	[CTX_CHANGE_WOKEN] = "woken",
	[CTX_CHANGE_ENTERS] = "enters",
	[CTX_CHANGE_RETURNS] = "returns",
	[CTX_CHANGE_TEXT_FAULT] = "text-fault",
	[CTX_SEEN_LEAVES] = "leaves",
	[CTX_SEEN_OFF] = "off",
	[CTX_SEEN_OFF_PREEMPTED] = "off-preempted",
	[CTX_SEEN_WAKING] = "waking",
	[CTX_SEEN_DEAD] = "dead",
	[CTX_SEEN_FAULT] = "fault-begins",
	[CTX_SEEN_TEXT_FAULT] = "text-fault-begins",
};

const struct ctx_state_metric ctx_state_metrics[CTX_STATE_METRICS_N] = {
	{"User CPU", "user", CTX_STATE_BIT(CTX_STATE_USER)},
	{"System CPU", "system", CTX_STATE_BIT(CTX_STATE_SYSTEM) | CTX_STATE_BIT(CTX_STATE_TRAP)},
	{"Wait CPU", "wait-cpu", CTX_STATE_BIT(CTX_STATE_WAIT_CPU)},
	{"User lock", "lock", CTX_STATE_BIT(CTX_STATE_USER_LOCK)},
	{"Text page fault", "text-fault", CTX_STATE_BIT(CTX_STATE_TEXT_FAULT)},
	{"Data page fault", "data-fault", CTX_STATE_BIT(CTX_STATE_DATA_FAULT)},
	{"Other wait", "other-wait",
	 CTX_STATE_BIT(CTX_STATE_KERNEL_FAULT) | CTX_STATE_BIT(CTX_STATE_SLEEP) |
		 CTX_STATE_BIT(CTX_STATE_STOPPED)},
	{"Wall", "wall", (1u << CTX_STATE_N) - 1},
};

const char *ctx_state_name(enum ctx_thread_state state)
{
	return states[state].name;
}

const char *ctx_state_text(enum ctx_thread_state state)
{
	return states[state].text;
}

char ctx_state_letter(enum ctx_thread_state state)
{
	return states[state].letter;
}

enum ctx_thread_state ctx_wait_state(enum ctx_wait wait)
{
	switch (wait) {
	case CTX_WAIT_LOCK:
		return CTX_STATE_USER_LOCK;
	case CTX_WAIT_TEXT_PAGE:
		return CTX_STATE_TEXT_FAULT;
	case CTX_WAIT_DATA_PAGE:
		return CTX_STATE_DATA_FAULT;
	case CTX_WAIT_UNKNOWN:
	case CTX_WAIT_TIME:
	case CTX_WAIT_IO:
	case CTX_WAIT_OTHER:
	case CTX_WAIT_N:
		break;
	}
	return CTX_STATE_SLEEP;
}

const char *ctx_state_change_text(enum ctx_state_change change)
{
	return changes[change];
}
