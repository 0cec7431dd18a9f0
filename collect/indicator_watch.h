/*
 * Indicator watch: which samples are kept, by what indicators have seen before.
 *
 *	start, stop	a window of a thread, or of a process: from the N-th execution of a start to the next execution of a stop.
 *			With any start, samples outside of windows are dropped, those of indicators too.
 *	slower-than	an entry and the return that belongs to it, by thread and stack pointer: the return is kept if it came so late.
 *
 * Samples must come in order of time. A pure structure. Source: requirements I5, I7.
 */
#ifndef CTX_COLLECT_INDICATOR_WATCH_H
#define CTX_COLLECT_INDICATOR_WATCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_indicator_role {
	CTX_INDICATOR_COUNTS, /* nothing else depends on it */
	CTX_INDICATOR_STARTS,
	CTX_INDICATOR_STOPS,
	CTX_INDICATOR_ENTERS, /* its return is the event behind it */
	CTX_INDICATOR_RETURNS,
};

struct ctx_indicator_rule { /* of an event */
	enum ctx_indicator_role role;
	bool of_process;  /* a window of all threads of the process */
	uint64_t from;	  /* of starts: the execution that opens the window, from 1 */
	uint64_t slow_ns; /* of returns: those that came earlier are dropped */
};

struct ctx_indicator_hit { /* a sample of any event */
	uint32_t event;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t sp; /* stack pointer; 0: unknown */
};

enum ctx_indicator_turn { /* of the window */
			  CTX_INDICATOR_NO_TURN,
			  CTX_INDICATOR_OPENS,
			  CTX_INDICATOR_CLOSES,
};

struct ctx_indicator_verdict {
	bool keeps;
	enum ctx_indicator_turn turn;
	bool of_process;
};

struct ctx_indicator_watch;

/* Copies the rules: one for each event. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_indicator_watch_create(const struct ctx_indicator_rule *rules, size_t n,
							  struct ctx_indicator_watch **ret,
							  struct ctx_err *err);
void ctx_indicator_watch_destroy(struct ctx_indicator_watch *watch);

/* Events without a rule count. O(1), and the open calls of the thread that are over. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_indicator_watch_take(struct ctx_indicator_watch *watch,
							const struct ctx_indicator_hit *hit,
							struct ctx_indicator_verdict *ret,
							struct ctx_err *err);

/* A thread has ended: its number can come again. */
void ctx_indicator_watch_end_thread(struct ctx_indicator_watch *watch, uint32_t tid);

#endif
