/*
 * Buffers spans of thread states, in order of their ends, until their state is final, together with
 * wake-ups, so that the span of a wait and its wake-up agree. Then they go to the sink.
 */
#ifndef CTX_INGEST_SPAN_QUEUE_H
#define CTX_INGEST_SPAN_QUEUE_H

#include "ingest/state_span.h"

#include <stddef.h>

struct ctx_waiting; /* a span, or a wake-up */

/* A ring; numbers only grow, item i lies at i % cap. */
struct ctx_span_queue {
	struct ctx_state_sink sink;
	struct ctx_waiting *items; /* owned */
	size_t cap;		   /* a power of two */
	uint64_t first, next;
	uint64_t handed_ns; /* all spans that end before this have been emitted */
};

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_init(struct ctx_span_queue *queue,
						   const struct ctx_state_sink *sink, struct ctx_err *err);
void ctx_span_queue_deinit(struct ctx_span_queue *queue);

/*
 * At most some hundred thousand are buffered; beyond that each new one emits the oldest. end_ns ==
 * begin_ns: the thread ends here.
 */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_push(struct ctx_span_queue *queue,
						   const struct ctx_state_span *span, struct ctx_err *err);

/* The same for a wake-up whose thread ran at `time_ns`, or had not run up to then. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_push_wakeup(struct ctx_span_queue *queue, uint64_t time_ns,
							  const struct ctx_wakeup *wakeup,
							  struct ctx_err *err);

/* Emits all that end up to then. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_hand_out(struct ctx_span_queue *queue, uint64_t until_ns,
						       struct ctx_err *err);

/* Cuts the buffered spans of a thread at `time_ns`, when it had ended. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_take_back(struct ctx_span_queue *queue, uint32_t thread,
							uint64_t time_ns, struct ctx_err *err);

/*
 * Changes the state of the thread's buffered spans and waits of one state that begin at `since_ns`
 * or later. O(spans that end later).
 */
void ctx_span_queue_correct(struct ctx_span_queue *queue, uint32_t thread, uint64_t since_ns,
			    enum ctx_thread_state from, enum ctx_thread_state to);

#endif
