/*
 * Spans of thread states, and who takes them.
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
	uint32_t raw_stack; /* 0 not known */
	int32_t cpu;	    /* on a CPU: which; else the one it was on last; -1 not known */
};

/*
 * Spans come in order of their ends, each thread's one behind the other; wake-ups in order of when
 * the thread ran; thread_end behind all of a thread that ended.
 */
struct ctx_state_sink {
	void *context;
	enum ctx_status (*span)(void *context, const struct ctx_state_span *span, struct ctx_err *err);
	enum ctx_status (*wakeup)(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err);
	enum ctx_status (*thread_end)(void *context, uint32_t thread, struct ctx_err *err);
};

#endif
