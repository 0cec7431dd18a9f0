#include "ingest/span_queue.h"

#include "base/mem.h"

#define FIRST_CAP 1024u
#define WAITING_MAX 262144u

struct ctx_waiting {
	uint64_t time_ns; /* the order of the queue: the end of a span; for a wake-up when its thread ran */
	uint32_t thread;
	bool is_wakeup;
	union {
		struct ctx_state_span span; /* end_ns == begin_ns: the thread ends here */
		struct ctx_wakeup wakeup;
	};
};

enum ctx_status ctx_span_queue_init(struct ctx_span_queue *queue, const struct ctx_state_sink *sink,
				    struct ctx_err *err)
{
	*queue = (struct ctx_span_queue){.sink = *sink, .cap = FIRST_CAP};
	queue->items = ctx_calloc(queue->cap, sizeof(*queue->items));
	return queue->items != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_span_queue_deinit(struct ctx_span_queue *queue)
{
	free(queue->items);
	*queue = (struct ctx_span_queue){0};
}

static inline struct ctx_waiting *item(const struct ctx_span_queue *queue, uint64_t i)
{
	return &queue->items[i & (queue->cap - 1)];
}

static enum ctx_status hand_out(struct ctx_span_queue *queue, struct ctx_err *err)
{
	const struct ctx_waiting *first = item(queue, queue->first++);

	queue->handed_ns = first->time_ns;
	if (first->is_wakeup)
		return queue->sink.wakeup(queue->sink.context, &first->wakeup, err);
	if (first->span.begin_ns == first->span.end_ns)
		return queue->sink.thread_end(queue->sink.context, first->thread, err);
	return queue->sink.span(queue->sink.context, &first->span, err);
}

enum ctx_status ctx_span_queue_hand_out(struct ctx_span_queue *queue, uint64_t until_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && queue->first != queue->next &&
	       item(queue, queue->first)->time_ns <= until_ns)
		status = hand_out(queue, err);
	return status;
}

static enum ctx_status grow(struct ctx_span_queue *queue, struct ctx_err *err)
{
	struct ctx_waiting *items = ctx_calloc(2 * queue->cap, sizeof(*items));

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint64_t i = queue->first; i != queue->next; i++)
		items[i & (2 * queue->cap - 1)] = *item(queue, i);
	free(queue->items);
	queue->items = items;
	queue->cap *= 2;
	return CTX_OK;
}

/* In order of time: almost always it is the last. */
static enum ctx_status push(struct ctx_span_queue *queue, const struct ctx_waiting *waiting,
			    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t at;

	if (queue->next - queue->first == WAITING_MAX)
		status = hand_out(queue, err);
	else if (queue->next - queue->first == queue->cap)
		status = grow(queue, err);
	if (status != CTX_OK)
		return status;
	for (at = queue->next++; at != queue->first && item(queue, at - 1)->time_ns > waiting->time_ns; at--)
		*item(queue, at) = *item(queue, at - 1);
	*item(queue, at) = *waiting;
	return CTX_OK;
}

enum ctx_status ctx_span_queue_push(struct ctx_span_queue *queue, const struct ctx_state_span *span,
				    struct ctx_err *err)
{
	return push(queue,
		    &(struct ctx_waiting){.time_ns = span->end_ns, .thread = span->thread, .span = *span},
		    err);
}

enum ctx_status ctx_span_queue_push_wakeup(struct ctx_span_queue *queue, uint64_t time_ns,
					   const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	return push(
		queue,
		&(struct ctx_waiting){
			.time_ns = time_ns, .thread = wakeup->thread, .is_wakeup = true, .wakeup = *wakeup},
		err);
}

enum ctx_status ctx_span_queue_take_back(struct ctx_span_queue *queue, uint32_t thread, uint64_t time_ns,
					 struct ctx_err *err)
{
	uint64_t kept = queue->next, end = queue->next;
	struct ctx_state_span cut;
	bool is_cut = false;

	while (kept != queue->first && item(queue, kept - 1)->time_ns > time_ns)
		kept--;
	for (uint64_t i = kept; i != end; i++) {
		const struct ctx_waiting *waiting = item(queue, i);

		if (waiting->thread != thread) {
			*item(queue, kept++) = *waiting;
		} else if (!waiting->is_wakeup && waiting->span.begin_ns < time_ns) {
			cut = waiting->span;
			is_cut = true;
		}
	}
	queue->next = kept;
	if (!is_cut)
		return CTX_OK;
	cut.end_ns = time_ns;
	return ctx_span_queue_push(queue, &cut, err);
}

void ctx_span_queue_correct(struct ctx_span_queue *queue, uint32_t thread, uint64_t since_ns,
			    enum ctx_thread_state from, enum ctx_thread_state to)
{
	for (uint64_t i = queue->next; i-- != queue->first;) {
		struct ctx_waiting *waiting = item(queue, i);
		struct ctx_wakeup *wakeup = &waiting->wakeup;
		struct ctx_state_span *span = &waiting->span;

		if (waiting->time_ns <= since_ns)
			break;
		if (waiting->thread != thread)
			continue;
		if (!waiting->is_wakeup && span->begin_ns >= since_ns && span->state == from)
			span->state = to;
		if (waiting->is_wakeup && wakeup->time_ns - wakeup->wait_ns >= since_ns &&
		    wakeup->state == (uint32_t)from)
			wakeup->state = to;
	}
}
