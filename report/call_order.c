#include "report/call_order.h"

#include "base/mem.h"
#include "model/event_source.h"

#include <stdlib.h>

#define MAJOR_SAMPLE 0x40u
#define MINOR_UNWIND 0x7fffffffu

/* Of the exits in one ns of a thread, in their order. */
struct ctx_call_order_exit {
	uint32_t shallowest; /* of this exit and those behind it */
	uint32_t depth;	     /* a stack of exits that no shallower one has followed: its depth, */
	size_t first;	     /* and the first of those in it that began in this ns, or itself */
};

static int by_place(uint64_t left_ns, uint32_t left_thread, uint64_t right_ns, uint32_t right_thread)
{
	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left_thread > right_thread) - (left_thread < right_thread);
}

static bool is_exit(const struct ctx_call_event *event)
{
	return event->kind == CTX_CALL_EVENT_EXIT || event->kind == CTX_CALL_EVENT_UNWIND;
}

/* Of one thread and ns: exits, entries, samples. */
static unsigned rank_of(const struct ctx_call_event *event)
{
	return is_exit(event) ? 0 : event->kind == CTX_CALL_EVENT_ENTRY ? 1 : 2;
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_call_event *left = a, *right = b;
	int place = by_place(left->time_ns, left->thread, right->time_ns, right->thread);

	if (place != 0)
		return place;
	if (rank_of(left) != rank_of(right))
		return rank_of(left) < rank_of(right) ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* `number` is a place between exits then. */
static int by_number_and_depth(const void *a, const void *b)
{
	const struct ctx_call_event *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->depth > right->depth) - (left->depth < right->depth);
}

/* --- a pass over all calls and samples --- */

/* Keeps the first `most`, the others come in a later pass. */
static void leave_later(struct ctx_call_order *order)
{
	const struct ctx_call_event *last;

	qsort(order->events, order->n, sizeof(*order->events), by_time);
	order->n = order->most;
	last = &order->events[order->n - 1];
	order->has_bound = true;
	order->bound_ns = last->time_ns;
	order->bound_thread = last->thread;
}

static bool is_later(const struct ctx_call_order *order, const struct ctx_call_event *event)
{
	return order->has_bound &&
	       by_place(event->time_ns, event->thread, order->bound_ns, order->bound_thread) > 0;
}

static enum ctx_status add(struct ctx_call_order *order, const struct ctx_call_event *event,
			   struct ctx_err *err)
{
	enum ctx_status status;

	if (!order->has_cursor)
		order->total++;
	else if (by_place(event->time_ns, event->thread, order->after_ns, order->after_thread) <= 0)
		return CTX_OK;
	if (is_later(order, event))
		return CTX_OK;
	if (order->n == 2 * order->most) {
		leave_later(order);
		if (is_later(order, event))
			return CTX_OK;
	}
	status = ctx_grow(&order->events, &order->cap, order->n + 1, err);
	if (status == CTX_OK)
		order->events[order->n++] = *event;
	return status;
}

static bool passes(const struct ctx_call_order *order, uint32_t stack)
{
	return stack < order->source->selection.profile->cct.n &&
	       (order->passes == NULL || order->passes[stack]);
}

static enum ctx_status add_call(void *context, const struct ctx_traced *call, bool is_selected,
				struct ctx_err *err)
{
	struct ctx_call_order *order = context;
	const struct ctx_report_selection *selection = &order->source->selection;
	struct ctx_call_event event = {.time_ns = call->time_ns - call->duration_ns,
				       .number = order->number++,
				       .duration_ns = call->duration_ns,
				       .thread = call->thread,
				       .stack = call->stack,
				       .kind = CTX_CALL_EVENT_ENTRY,
				       .code = call->operation};
	enum ctx_status status = CTX_OK;

	if (!is_selected || !passes(order, call->stack))
		return CTX_OK;
	event.depth = selection->profile->cct.depth[call->stack];
	if (ctx_intervals_have(selection->intervals, selection->n_intervals, event.time_ns))
		status = add(order, &event, err);
	if (status != CTX_OK ||
	    !ctx_intervals_have(selection->intervals, selection->n_intervals, call->time_ns))
		return status;
	event.time_ns = call->time_ns;
	event.kind = call->failed ? CTX_CALL_EVENT_UNWIND : CTX_CALL_EVENT_EXIT;
	return add(order, &event, err);
}

static enum ctx_status add_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct ctx_call_order *order = context;

	if (!passes(order, sample->stack))
		return CTX_OK;
	return add(
		order,
		&(struct ctx_call_event){.time_ns = sample->time_ns,
					 .number = order->number++,
					 .thread = sample->thread,
					 .stack = sample->stack,
					 .depth = order->source->selection.profile->cct.depth[sample->stack],
					 .kind = CTX_CALL_EVENT_SAMPLE},
		err);
}

/* Those that were taken: not spans, nor what was counted at calls, whose metrics follow those of calls. */
static enum ctx_status add_samples(struct ctx_call_order *order, struct ctx_err *err)
{
	const struct ctx_profile *profile = order->source->selection.profile;
	enum ctx_status status = CTX_OK;
	uint32_t last = ctx_profile_elapsed_metric(profile);

	for (uint32_t i = 0; i < profile->n_metrics && i < last && status == CTX_OK; i++) {
		if (profile->metrics[i].parts != NULL || ctx_metric_is_clipped(&profile->metrics[i]))
			continue;
		status = order->source->samples(
			order->source,
			&(struct ctx_samples_query){.thread = CTX_NONE, .has_metric = true, .metric = i},
			add_sample, order, err);
	}
	return status;
}

/* --- the events of a thread in one ns --- */

/*
 * An exit is at an odd place, 1 + 2 * its number among them. A call that begins and ends in this ns encloses
 * those before its exit that are deeper, and is entered before them; one that goes on is entered behind
 * the last exit that is not deeper than itself.
 */
static enum ctx_status put_in_order(struct ctx_call_order *order, struct ctx_call_event *events, size_t n,
				    struct ctx_err *err)
{
	size_t n_exits = 0, n_open = 0, n_short = 0, at_exit = 0, first_sample;
	struct ctx_call_order_exit *exits;
	enum ctx_status status;

	while (n_exits < n && is_exit(&events[n_exits]))
		n_exits++;
	for (first_sample = n_exits; first_sample < n && events[first_sample].kind == CTX_CALL_EVENT_ENTRY;)
		first_sample++;
	if (n_exits == 0) {
		for (size_t i = 0; i < first_sample; i++)
			events[i].number = 0;
		qsort(events, first_sample, sizeof(*events), by_number_and_depth);
		return CTX_OK;
	}
	status = ctx_grow(&order->scratch, &order->scratch_cap, n_exits, err);
	if (status != CTX_OK)
		return status;
	exits = order->scratch;
	for (size_t i = n_exits; i-- != 0;) {
		exits[i].shallowest = events[i].depth;
		if (i + 1 < n_exits && exits[i + 1].shallowest < exits[i].shallowest)
			exits[i].shallowest = exits[i + 1].shallowest;
	}
	/* Exits and entries of the calls within this ns are both in order of numbers. */
	for (; at_exit < n_exits; at_exit++) {
		uint64_t number = events[at_exit].number;
		size_t entry = n_exits + n_short, first = at_exit;

		while (n_open != 0 && exits[n_open - 1].depth > events[at_exit].depth)
			first = exits[--n_open].first;
		exits[n_open].depth = events[at_exit].depth;
		exits[n_open++].first = first;
		events[at_exit].number = 1 + 2 * at_exit;
		if (entry < first_sample && events[entry].number == number) {
			events[entry].number = 2 * first;
			n_short++;
		}
	}
	for (size_t i = n_exits + n_short; i < first_sample; i++) {
		size_t low = 0, high = n_exits; /* the first exit behind which all are deeper */

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (exits[middle].shallowest <= events[i].depth)
				low = middle + 1;
			else
				high = middle;
		}
		events[i].number = 2 * low;
	}
	qsort(events, first_sample, sizeof(*events), by_number_and_depth);
	return CTX_OK;
}

static bool is_same(const struct ctx_call_event *left, const struct ctx_call_event *right)
{
	return left->time_ns == right->time_ns && left->thread == right->thread;
}

/* The begin of the last thread's events in the last ns. */
static size_t last_group(const struct ctx_call_event *events, size_t n)
{
	size_t begin = n - 1;

	while (begin != 0 && is_same(&events[begin - 1], &events[n - 1]))
		begin--;
	return begin;
}

static enum ctx_status make_batch(struct ctx_call_order *order, struct ctx_err *err)
{
	const struct ctx_report_selection *selection = &order->source->selection;
	uint64_t from_ns = order->has_cursor		 ? order->after_ns
			   : selection->n_intervals != 0 ? selection->intervals[0].begin_ns
							 : 0;
	enum ctx_status status = order->source->calls(order->source, from_ns, add_call, order, err);

	if (status == CTX_OK)
		status = add_samples(order, err);
	if (order->n != 0)
		qsort(order->events, order->n, sizeof(*order->events), by_time);
	return status;
}

enum ctx_status ctx_call_order_next(struct ctx_call_order *order, const struct ctx_call_event **ret,
				    size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t end;

	*ret = NULL;
	*ret_n = 0;
	do {
		if (order->is_done)
			return CTX_OK;
		order->n = 0;
		order->number = 0;
		order->has_bound = false;
		if (!order->has_cursor)
			order->total = 0;
		status = make_batch(order, err);
		if (status != CTX_OK)
			return status;
		end = order->n;
		/* Not all of the last group may be there. */
		if (order->has_bound)
			end = last_group(order->events, order->n);
		if (order->has_bound && end == 0)
			order->most *= 2;
		order->is_done = !order->has_bound;
	} while (end == 0);
	for (size_t begin = 0, i = 1; i <= end && status == CTX_OK; i++) {
		if (i < end && is_same(&order->events[i], &order->events[begin]))
			continue;
		status = put_in_order(order, &order->events[begin], i - begin, err);
		begin = i;
	}
	order->has_cursor = true;
	order->after_ns = order->events[end - 1].time_ns;
	order->after_thread = order->events[end - 1].thread;
	*ret = order->events;
	*ret_n = end;
	return status;
}

void ctx_call_order_deinit(struct ctx_call_order *order)
{
	free(order->events);
	free(order->scratch);
	order->events = NULL;
	order->scratch = NULL;
}

unsigned ctx_call_event_major(const struct ctx_call_event *event)
{
	if (event->kind == CTX_CALL_EVENT_SAMPLE)
		return MAJOR_SAMPLE;
	return event->code == CTX_CALL_OF_INTERPRETED ? CTX_CALL_INTERPRETED
	       : event->code == CTX_CALL_OF_COMPILED  ? CTX_CALL_COMPILED
						      : CTX_CALL_INSTRUMENTED;
}

unsigned ctx_call_event_minor(const struct ctx_call_event *event)
{
	static const unsigned minors[] = {[CTX_CALL_EVENT_ENTRY] = 1,
					  [CTX_CALL_EVENT_EXIT] = 2,
					  [CTX_CALL_EVENT_UNWIND] = MINOR_UNWIND,
					  [CTX_CALL_EVENT_SAMPLE] = 0};

	return minors[event->kind];
}
