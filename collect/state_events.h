/*
 * State events: opened beside the user's events to record what threads do off CPU; finds the
 * permitted level.
 *
 *	level     SWITCH records  sched_switch  sched_waking  context-switches  major-faults
 *	switches        x                                                       (user mode)
 *	min             x                                            x               x
 *	full            x                            x               x               x
 *	full, of all    x              x             x                               x
 *	 and, where requested, sys_enter and sys_exit of raw_syscalls
 *
 * SWITCH records have the time; samples of sched_switch (or, less exactly, of context-switches)
 * reason and stack, those of sched_waking the waker, major faults the waits for pages. Source:
 * requirement E8.
 *
 * What a new task inherits costs it time. A tracepoint is looked up by number in the list of all
 * (perf_trace_init: 10 us for each task, tracepoint and CPU), so those of single threads have
 * context-switches instead of sched_switch, and its reason from the SWITCH record and the stack; what
 * full may watch anyway, wake-ups (session_woken.h) and faults of all threads of a CPU, is not inherited.
 */
#ifndef CTX_COLLECT_STATE_EVENTS_H
#define CTX_COLLECT_STATE_EVENTS_H

#include "collect/recargs.h"
#include "formats/perfevent/pe_tracepoint.h"

#include <linux/perf_event.h>

enum ctx_states_level {
	CTX_STATES_NONE,
	CTX_STATES_SWITCHES,
	CTX_STATES_MIN,
	CTX_STATES_FULL,
};

enum ctx_state_event {
	CTX_STATE_EVENT_SWITCH, /* sched_switch: a thread leaves its CPU */
	CTX_STATE_EVENT_WAKING, /* sched_waking by any thread, on this CPU */
	CTX_STATE_EVENT_LEAVES, /* context-switches: a thread leaves its CPU, without the reason */
	CTX_STATE_EVENT_FAULT,	/* major-faults: a page has been read; at full of any thread, on this CPU */
	CTX_STATE_EVENT_ENTER,	/* sys_enter: a system call begins */
	CTX_STATE_EVENT_RETURN, /* sys_exit: it ends */
	/* Of all threads of a CPU, opened when stacks are sampled (wait_sampling.h): no call chain. */
	CTX_STATE_EVENT_SWITCH_BRIEF,
	CTX_STATE_EVENT_WAKING_BRIEF,
	CTX_STATE_EVENT_LEAVES_BRIEF,
	CTX_STATE_EVENT_SWITCH_DISK, /* brief, with the kernel's chain: waits that no signal ends, for pages and disks */
	CTX_STATE_EVENT_N,
};

struct ctx_state_events {
	enum ctx_states_level level;
	bool has_switch; /* full only, like all below: sched_switch */
	bool has_calls;
	uint64_t switch_id, waking_id, enter_id, return_id; /* of the tracepoints */
	struct ctx_pe_field prev_pid, prev_state;	    /* of sched_switch */
	struct ctx_pe_prev_states prev_states;		    /* meaning of prev_state */
	struct ctx_pe_field common_pid, pid;		    /* of sched_waking */
};

struct ctx_state_events_options {
	enum ctx_rec_states asked;
	const char *tracefs;
	bool without_kernel; /* kernel samples are not allowed */
	bool is_system;	     /* all threads of the system: no event is inherited */
};

/*
 * Whether this process's ids differ from the kernel's, which tracepoints report: then those of other
 * threads are learnt from sched_switch.
 */
bool ctx_state_events_are_ids_inner(void);

/* Whether an event is opened once for each CPU, for any thread, beside those of single threads. */
bool ctx_state_event_is_of_cpu(const struct ctx_state_events *events, enum ctx_state_event event);

/*
 * Finds the level by opening events. Fails with CTX_E_PERM or CTX_E_NOTFOUND, and a message that
 * names what is missing, where a requested level is not available; CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_state_events_choose(const struct ctx_state_events_options *options,
						       struct ctx_state_events *ret, struct ctx_err *err);

/* One line for the header of reports: what is recorded, and what is missing for more. */
const char *ctx_states_level_text(const struct ctx_state_events *events);

/* Whether the level has this event. */
bool ctx_state_events_has(const struct ctx_state_events *events, enum ctx_state_event event);

/*
 * Type, config, period and additional sample fields; the caller adds what is common to all events
 * of its session. `user_regs` 0: no registers and no stack; brief events always have pc, stack
 * pointer and CTX_WAIT_PLACE_BYTES of the stack.
 */
struct perf_event_attr ctx_state_event_attr(const struct ctx_state_events *events, enum ctx_state_event event,
					    uint64_t user_regs, uint32_t stack_bytes);

/* Whether its samples have no stack but what recognises it. */
static inline bool ctx_state_event_is_brief(enum ctx_state_event event)
{
	return event >= CTX_STATE_EVENT_SWITCH_BRIEF;
}

/* Whether stacks are copied at it, unless they are sampled. */
static inline bool ctx_state_event_has_stack(enum ctx_state_event event)
{
	return event <= CTX_STATE_EVENT_LEAVES;
}

/* For messages. */
const char *ctx_state_event_name(enum ctx_state_event event);

#endif
