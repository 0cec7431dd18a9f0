#include "ingest/span_queue.h"

#include "base/mem.h"

#define FIRST_CAP 1024u
#define WAITING_MAX 262144u

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

static struct ctx_state_span *item(const struct ctx_span_queue *queue, uint64_t i)
{
	return &queue->items[i & (queue->cap - 1)];
}

static enum ctx_status hand_out(struct ctx_span_queue *queue, struct ctx_err *err)
{
	const struct ctx_state_span *span = item(queue, queue->first++);

	queue->handed_ns = span->end_ns;
	if (span->begin_ns == span->end_ns)
		return queue->sink.thread_end(queue->sink.context, span->thread, err);
	return queue->sink.span(queue->sink.context, span, err);
}

enum ctx_status ctx_span_queue_hand_out(struct ctx_span_queue *queue, uint64_t until_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && queue->first != queue->next &&
	       item(queue, queue->first)->end_ns <= until_ns)
		status = hand_out(queue, err);
	return status;
}

static enum ctx_status grow(struct ctx_span_queue *queue, struct ctx_err *err)
{
	struct ctx_state_span *items = ctx_calloc(2 * queue->cap, sizeof(*items));

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint64_t i = queue->first; i != queue->next; i++)
		items[i & (2 * queue->cap - 1)] = *item(queue, i);
	free(queue->items);
	queue->items = items;
	queue->cap *= 2;
	return CTX_OK;
}

/* In order of ends: almost always it is the last. */
enum ctx_status ctx_span_queue_push(struct ctx_span_queue *queue, const struct ctx_state_span *span,
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
	for (at = queue->next++; at != queue->first; at--) {
		const struct ctx_state_span *before = item(queue, at - 1);

		if (before->end_ns <= span->end_ns)
			break;
		*item(queue, at) = *before;
	}
	*item(queue, at) = *span;
	return CTX_OK;
}

enum ctx_status ctx_span_queue_take_back(struct ctx_span_queue *queue, uint32_t thread, uint64_t time_ns,
					 struct ctx_err *err)
{
	uint64_t kept = queue->next, end = queue->next;
	struct ctx_state_span cut;
	bool is_cut = false;

	while (kept != queue->first && item(queue, kept - 1)->end_ns > time_ns)
		kept--;
	for (uint64_t i = kept; i != end; i++) {
		const struct ctx_state_span *span = item(queue, i);

		if (span->thread != thread) {
			*item(queue, kept++) = *span;
		} else if (span->begin_ns < time_ns) {
			cut = *span;
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
		struct ctx_state_span *span = item(queue, i);

		if (span->end_ns <= since_ns)
			break;
		if (span->thread == thread && span->begin_ns >= since_ns && span->state == from)
			span->state = to;
	}
}
