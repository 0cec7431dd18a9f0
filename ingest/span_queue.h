/*
 * Spans of thread states that wait, in order of their ends, until it is known what they were, and wake-ups with them: the
 * span of the wait and its wake-up tell the same. Then they go to the sink.
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
	uint64_t handed_ns; /* all spans that end before this are handed out */
};

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_init(struct ctx_span_queue *queue,
						   const struct ctx_state_sink *sink, struct ctx_err *err);
void ctx_span_queue_deinit(struct ctx_span_queue *queue);

/* However many there are, some hundred thousand at the most wait: then the oldest is handed out for it. end_ns == begin_ns: the thread ends here. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_push(struct ctx_span_queue *queue,
						   const struct ctx_state_span *span, struct ctx_err *err);

/* The same of a wake-up whose thread ran at `time_ns`, or was not seen to run up to then. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_push_wakeup(struct ctx_span_queue *queue, uint64_t time_ns,
							  const struct ctx_wakeup *wakeup,
							  struct ctx_err *err);

/* Hands out all that end up to then. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_hand_out(struct ctx_span_queue *queue, uint64_t until_ns,
						       struct ctx_err *err);

/* What a thread is said to have done behind `time_ns`, and still waits here, was not so: it had ended. */
CTX_MUST_CHECK enum ctx_status ctx_span_queue_take_back(struct ctx_span_queue *queue, uint32_t thread,
							uint64_t time_ns, struct ctx_err *err);

/* Its spans and waits of one state that begin at `since_ns` or later were of another one. O(spans that end later). */
void ctx_span_queue_correct(struct ctx_span_queue *queue, uint32_t thread, uint64_t since_ns,
			    enum ctx_thread_state from, enum ctx_thread_state to);

#endif
