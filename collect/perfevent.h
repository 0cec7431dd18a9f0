/*
 * Parses names of events, as users write them, into perf_event_attr.
 *
 *	cycles  page-faults:u  L1-dcache-load-misses  r1a8  cpu/event=0x3c,umask=0/k  sched:sched_switch
 *	page-faults/period=1/u  cpu-clock/freq=99/  mem:0x4040/8:w
 *
 * Source: perf_event_open(2) and the kernel's
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
 */
#ifndef CTX_COLLECT_PERFEVENT_H
#define CTX_COLLECT_PERFEVENT_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the samples of an event. */
enum ctx_perf_stack {
	CTX_PERF_STACK_WHOLE,  /* as of all */
	CTX_PERF_STACK_CALLER, /* at the entry of a function: it, and the return address on top of the stack */
	CTX_PERF_STACK_NONE,   /* the program counter */
};

struct ctx_perf_event {
	char *name;		     /* as the user wrote it; owned */
	struct perf_event_attr attr; /* type, config*, exclude_*, precise_ip are set by parsing; sampling by
					ctx_perf_event_set_rate */
	bool is_clock;		     /* cpu-clock, task-clock: the weight is nanoseconds */
	bool has_period;	     /* each sample says how much it stands for */
	bool is_weighed;	     /* samples of its metric may stand for more, whatever its period is */
	bool has_address;	     /* and which data was accessed */
	uint64_t period;       /* of every sample otherwise; before set_rate: the one in the name, 0 none */
	uint64_t frequency_hz; /* 0: a fixed number of events */
	enum ctx_perf_stack stack;
	bool is_late; /* not opened with the others: ctx_session_open_late */
};

struct ctx_perf_events {	      /* all zero is a valid empty list */
	struct ctx_perf_event *items; /* owned */
	size_t n, cap;
};

/* Where the kernel's lists are; tests provide their own. */
struct ctx_perf_roots {
	const char *event_sources; /* "/sys/bus/event_source/devices" */
	const char *tracefs;	   /* "/sys/kernel/tracing" */
};

struct ctx_perf_roots ctx_perf_roots_default(void);

void ctx_perf_events_deinit(struct ctx_perf_events *events);

/*
 * Appends the events of a list separated by commas (commas between slashes belong to the event).
 * Fails with CTX_E_ARG (the message names the event and the error), CTX_E_NOTFOUND, CTX_E_PERM
 * (tracefs), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_events_parse(struct ctx_perf_events *events, const char *list,
						     const struct ctx_perf_roots *roots, struct ctx_err *err);

struct ctx_perf_rate { /* what was asked for all events, at most one of the two; 0 not asked */
	uint64_t period, frequency_hz;
	uint64_t default_hz; /* of an event without a rate that is no tracepoint: these take every hit */
};

/*
 * Sets how often an event samples; a rate in the event's own name wins. Clocks tick at fixed
 * intervals. Fails with CTX_E_ARG and a hint where a rate is absurd: clocks below 10 us, which the
 * kernel does not have, more than 100 kHz, a few cycles or instructions.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_event_set_rate(struct ctx_perf_event *event,
						       const struct ctx_perf_rate *asked,
						       struct ctx_err *err);

/*
 * Whether its samples can have the address of the data: page faults, breakpoints on data, counters of the
 * processor where they are precise.
 */
bool ctx_perf_event_can_have_address(const struct ctx_perf_event *event);

/* What such a sample did: enum ctx_memory_operation. */
unsigned ctx_perf_event_operation(const struct ctx_perf_event *event, uint64_t data_source);

/* The unit of a weight: "ns" or "events". */
const char *ctx_perf_event_unit(const struct ctx_perf_event *event);

#endif
