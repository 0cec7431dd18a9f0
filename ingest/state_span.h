/*
 * Spans of thread states, and their sink.
 */
#ifndef CTX_INGEST_STATE_SPAN_H
#define CTX_INGEST_STATE_SPAN_H

#include "base/err.h"
#include "model/thread_state.h"
#include "model/wakeup.h"

#include <stdint.h>

struct ctx_state_span {
	uint64_t begin_ns, end_ns; /* not empty */
	uint32_t thread;
	enum ctx_thread_state state;
	uint32_t raw_stack; /* 0 unknown */
	int32_t cpu;	    /* on a CPU: its number; else the last one; -1 unknown */
};

/*
 * Spans come in order of their ends, those of a thread without gaps; wake-ups in order of when the
 * thread ran; thread_end after the last span of a thread.
 */
struct ctx_state_sink {
	void *context;
	enum ctx_status (*span)(void *context, const struct ctx_state_span *span, struct ctx_err *err);
	enum ctx_status (*wakeup)(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err);
	enum ctx_status (*thread_end)(void *context, uint32_t thread, struct ctx_err *err);
	/*
	 * A thread gets a CPU or leaves it: at once, not in order with the spans. Threads run until they
	 * are known not to. NULL: nobody asks.
	 */
	enum ctx_status (*runs)(void *context, uint32_t thread, uint64_t time_ns, bool runs,
				struct ctx_err *err);
};

#endif
