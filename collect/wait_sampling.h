/*
 * Wait sampling: keeps the cost of recording waits within its budget (wait_budget.h), by copying the
 * stacks of waits and wake-ups only in short spans of time.
 *
 *	begin       |---- all whole ----|                         (few switches: that is all)
 *	                          over budget
 *	brief events                   |------------------------------------------ ...
 *	whole events ------------------|    |--|      |---|   |--|     |--|
 *	                               windows, at irregular times
 *
 * Whole samples have the call chain of the kernel, registers and a copy of the stack. Brief ones
 * (state_events.h) have the reason, pc, stack pointer and 256 bytes of the stack: their stacks are
 * recognised (wait_places.h). They are opened for each CPU, when first needed: events that threads
 * inherit would cost every fork and every switch. Periods of events that were inherited cannot be
 * changed, but they can be enabled and disabled at any time. Windows, and not each Nth switch: a
 * loop of N waits would always show the same one.
 *
 * At the level `full`: within a window whole samples are used and brief ones ignored, outside of it vice versa; which one
 * is a question of the time alone, as both are complete around its ends. So every switch is used
 * exactly once.
 */
#ifndef CTX_COLLECT_WAIT_SAMPLING_H
#define CTX_COLLECT_WAIT_SAMPLING_H

#include "base/clock.h"
#include "collect/perfrecord.h"
#include "collect/session.h"
#include "collect/wait_budget.h"
#include "collect/wait_places.h"

#define CTX_WAIT_WINDOWS 256u

/* The spans of time in which whole samples are complete. All zero: none. */
struct ctx_wait_windows {
	struct {
		uint64_t begin_ns, end_ns;
	} items[CTX_WAIT_WINDOWS]; /* a circular buffer */
	unsigned n;		   /* ever opened; the last one may be open: end_ns UINT64_MAX */
};

void ctx_wait_windows_open(struct ctx_wait_windows *windows, uint64_t begin_ns);
void ctx_wait_windows_close(struct ctx_wait_windows *windows, uint64_t end_ns);

/* Whether a time is in one of the last CTX_WAIT_WINDOWS. O(windows since then). */
bool ctx_wait_windows_has(const struct ctx_wait_windows *windows, uint64_t time_ns);

struct ctx_wait_sampling;

struct ctx_wait_sampling_options {
	struct ctx_session *session; /* borrowed, like all */
	uint32_t per_mille;	     /* CTX_WAIT_BUDGET_OFF: all stacks are copied */
	uint64_t now_ns;	     /* all of them from here on */
	ctx_clock_fn *clock;
};

CTX_MUST_CHECK enum ctx_status ctx_wait_sampling_create(const struct ctx_wait_sampling_options *options,
							struct ctx_wait_sampling **ret, struct ctx_err *err);
void ctx_wait_sampling_destroy(struct ctx_wait_sampling *sampling);

/* What is learned and recognised; borrowed. */
struct ctx_wait_places *ctx_wait_sampling_places(struct ctx_wait_sampling *sampling);

/*
 * Counts a sample of a state event; whether it is used. Of two samples of one switch, which are some
 * microseconds apart where a window begins or ends, only the first one is.
 */
bool ctx_wait_sampling_takes(struct ctx_wait_sampling *sampling, enum ctx_state_event event,
			     const struct ctx_perf_record *record);

/* Counts a SWITCH record of a recorded thread; also to be called for its exec and its exit. */
void ctx_wait_sampling_switch(struct ctx_wait_sampling *sampling, const struct ctx_perf_record *record,
			      bool runs);

/* Whether the events with stacks are enabled. */
bool ctx_wait_sampling_is_whole(const struct ctx_wait_sampling *sampling);

/* A ring is nearly full: whole samples are larger than brief ones. */
void ctx_wait_sampling_hurry(struct ctx_wait_sampling *sampling, bool hurries);

/*
 * Opens or closes a window if it is time to, or plans anew. Windows are opened only where `may_open`:
 * just before the recorder sleeps. Where brief events are not permitted, everything stays as it is.
 */
void ctx_wait_sampling_turn(struct ctx_wait_sampling *sampling, uint64_t now_ns, bool may_open);

/* Ends it: with ctx_session_disable. */
void ctx_wait_sampling_stop(struct ctx_wait_sampling *sampling);

/* The next time to call it, in ms from now, at most `usual_ms`. */
int ctx_wait_sampling_timeout(const struct ctx_wait_sampling *sampling, uint64_t now_ns, int usual_ms);

/* A line for the header of reports: what was done; false: all stacks were copied. */
bool ctx_wait_sampling_text(const struct ctx_wait_sampling *sampling, char *text, size_t size);

#endif
