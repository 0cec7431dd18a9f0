/*
 *	ctx_trace_segments_take --> find_process --> drain --> add_turns --> take_turns --> trace_records.h
 */
#include "collect/trace_take.h"

#include "base/heap.h"
#include "base/mem.h"
#include "collect/trace_records.h"
#include "model/profile.h"

#define ROUND_OPERATIONS 131072u /* at most before the rings of perf events are read again: some 20 ms */

/*
 * Whose the segment is, with the drain's lock. One that is new is pulled, with all others of its process: if it has
 * several, they are at the same moment.
 */
static void find_process(struct ctx_trace *trace, struct ctx_trace_segment *segment, uint64_t until_ns)
{
	if (segment->process != CTX_NONE ||
	    (segment->created_ns > until_ns && !ctx_trace_is_impossible(trace, segment->created_ns)))
		return;
	segment->process = ctx_proctree_process(trace->tree, segment->pid);
	if (segment->process == CTX_NONE)
		return;
	trace->counts.processes++;
	(void)ctx_trace_drain_pull_process(trace->drain, segment->pid);
}

/* Adds the rings of a segment that have something. */
static enum ctx_status add_turns(struct ctx_trace *trace, struct ctx_trace_segment *segment,
				 struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&trace->turns, &trace->turns_cap, trace->n_turns + segment->grant.slots, err);
	for (uint32_t i = 0; i < segment->grant.slots && status == CTX_OK; i++) {
		if (segment->rings[i].queue.n != 0)
			trace->turns[trace->n_turns++] =
				(struct ctx_trace_turn){.segment = segment, .slot = i};
	}
	return status;
}

static bool is_before(const void *left, const void *right)
{
	return ((const struct ctx_trace_turn *)left)->time_ns <
	       ((const struct ctx_trace_turn *)right)->time_ns;
}

/* The process has a thread that is not known yet: what its others did from there on waits, too. */
static void remove_process(struct ctx_trace *trace, uint32_t process)
{
	size_t n = trace->n_turns;

	trace->n_turns = 0;
	for (size_t i = 0; i < n; i++) {
		if (trace->turns[i].segment->process == process)
			continue;
		trace->turns[trace->n_turns++] = trace->turns[i];
		ctx_heap_rise(trace->turns, trace->n_turns, sizeof(*trace->turns), is_before);
	}
}

/* Takes from the first ring while it is the first, up to a time. */
static enum ctx_status take_turn(struct ctx_trace *trace, struct ctx_trace_taking *taking, uint64_t end_ns,
				 struct ctx_err *err)
{
	struct ctx_trace_turn *turn = &trace->turns[0];
	enum ctx_status status;
	size_t n;

	taking->segment = turn->segment;
	taking->slot = turn->slot;
	taking->limit_ns = end_ns;
	taking->stays_ns = UINT64_MAX;
	taking->is_early = false;
	for (size_t i = 1; i < 3 && i < trace->n_turns; i++) {
		if (trace->turns[i].time_ns < taking->limit_ns)
			taking->limit_ns = trace->turns[i].time_ns;
	}
	trace->reader.take = ctx_trace_take_record;
	trace->reader.context = taking;
	status = ctx_trace_ring_read(&turn->segment->rings[turn->slot], &trace->reader, &n, err);
	if (status != CTX_OK)
		return status;
	if (taking->is_early) {
		remove_process(trace, turn->segment->process);
		return CTX_OK;
	}
	turn->time_ns = taking->stays_ns;
	if (turn->time_ns > end_ns)
		*turn = trace->turns[--trace->n_turns];
	ctx_heap_sink(trace->turns, trace->n_turns, sizeof(*trace->turns), is_before);
	return CTX_OK;
}

/*
 * Takes the records of all rings in order of time, up to the moment when they were pulled: what is older was in its
 * ring before, but for what a thread was interrupted in writing. So if two threads do something with the same
 * block, the writer gets it in the order in which they did: the first had written it before the second
 * could.
 */
static enum ctx_status take_turns(struct ctx_trace *trace, struct ctx_trace_taking *taking, uint64_t end_ns,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (trace->n_turns != 0 && status == CTX_OK && taking->left != 0)
		status = take_turn(trace, taking, end_ns, err);
	trace->n_turns = 0;
	return status;
}

static enum ctx_status take_uring(struct ctx_trace *trace, uint64_t until_ns, struct ctx_err *err)
{
	const struct ctx_trace_uring_target target = {trace->tree, trace->writer};

	return trace->uring != NULL ? ctx_trace_uring_take(trace->uring, &target, until_ns, err) : CTX_OK;
}

/* What is read from here on was done by now. */
static void look_at_clock(struct ctx_trace *trace)
{
	if (trace->has_ticks)
		ctx_call_clock_look(&trace->clock);
}

enum ctx_status ctx_trace_take(struct ctx_trace *trace, uint64_t until_ns, struct ctx_err *err)
{
	bool is_last = until_ns == UINT64_MAX;
	struct ctx_trace_taking taking = {
		.trace = trace, .until_ns = until_ns, .left = is_last ? UINT64_MAX : ROUND_OPERATIONS};
	enum ctx_status status = CTX_OK;
	uint64_t end_ns;

	trace->now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	ctx_trace_listener_seen(trace->listener);
	ctx_trace_drain_lock(trace->drain);
	end_ns = ctx_trace_drain_pull(trace->drain, &trace->reader.spent);
	/* After the horizon was set: whatever is older is in one of the segments that there are by then. */
	ctx_trace_segments_take(&trace->segments);
	for (struct ctx_trace_segment *segment = trace->segments.first; segment != NULL;
	     segment = segment->next) {
		find_process(trace, segment, until_ns);
		/* What its threads do is not known yet, and the others must not go ahead of them. */
		if (segment->process == CTX_NONE && segment->created_ns > until_ns &&
		    segment->created_ns < end_ns)
			end_ns = segment->created_ns;
		/* The queues may be full, and the rings behind them have the rest. */
		if (is_last)
			end_ns = ctx_trace_drain_pull_process(trace->drain, segment->pid);
	}
	ctx_trace_drain_unlock(trace->drain);
	look_at_clock(trace);
	for (struct ctx_trace_segment *segment = trace->segments.first; segment != NULL && status == CTX_OK;
	     segment = segment->next)
		status = add_turns(trace, segment, err);
	if (status == CTX_OK)
		status = take_turns(trace, &taking, end_ns, err);
	trace->has_backlog = taking.left == 0;
	for (struct ctx_trace_segment *segment = trace->segments.first;
	     segment != NULL && status == CTX_OK && is_last; segment = segment->next)
		status = ctx_trace_end_calls(trace, segment, &(struct ctx_trace_ending){CTX_NONE, UINT64_MAX},
					     err);
	return status == CTX_OK ? take_uring(trace, until_ns, err) : status;
}

enum ctx_status ctx_trace_before_end(struct ctx_trace *trace, const struct ctx_perf_record *record,
				     struct ctx_err *err)
{
	const int64_t pid = record->pid;
	const uint64_t time_ns = record->time_ns;
	struct ctx_trace_taking taking = {.trace = trace, .until_ns = time_ns, .left = UINT64_MAX};
	uint32_t process, thread = CTX_NONE;
	enum ctx_status status = CTX_OK;
	uint64_t end_ns;

	trace->now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	ctx_trace_drain_lock(trace->drain);
	ctx_trace_segments_take(&trace->segments);
	for (struct ctx_trace_segment *segment = trace->segments.first; segment != NULL;
	     segment = segment->next) {
		if (segment->pid == pid && segment->created_ns <= time_ns)
			find_process(trace, segment, time_ns);
	}
	end_ns = ctx_trace_drain_pull_process(trace->drain, pid);
	ctx_trace_drain_unlock(trace->drain);
	look_at_clock(trace);
	for (struct ctx_trace_segment *segment = trace->segments.first; segment != NULL && status == CTX_OK;
	     segment = segment->next) {
		if (segment->pid == pid && segment->created_ns <= time_ns)
			status = add_turns(trace, segment, err);
	}
	if (status == CTX_OK)
		status = take_turns(trace, &taking, end_ns, err);
	/* With exec all threads of the image end. */
	if (record->type == PERF_RECORD_EXIT &&
	    !ctx_proctree_lookup(trace->tree, record->tid, &process, &thread))
		return status == CTX_OK ? take_uring(trace, time_ns, err) : status;
	for (struct ctx_trace_segment *segment = trace->segments.first; segment != NULL && status == CTX_OK;
	     segment = segment->next) {
		if (segment->pid == pid && segment->created_ns <= time_ns)
			status = ctx_trace_end_calls(trace, segment,
						     &(struct ctx_trace_ending){thread, time_ns}, err);
	}
	return status == CTX_OK ? take_uring(trace, time_ns, err) : status;
}

void ctx_trace_after_end(struct ctx_trace *trace, int64_t pid, uint64_t time_ns)
{
	struct ctx_trace_segment **place = &trace->segments.first;
	uint32_t process = ctx_proctree_process(trace->tree, pid);

	ctx_trace_drain_lock(trace->drain);
	while (*place != NULL) {
		struct ctx_trace_segment *segment = *place;

		if (segment->pid == pid && segment->created_ns <= time_ns &&
		    (process == CTX_NONE || segment->process != process)) {
			ctx_trace_counts_add(&trace->counts, segment);
			ctx_trace_drain_forget(trace->drain, segment);
			ctx_trace_segments_remove(&trace->segments, place);
		} else {
			place = &segment->next;
		}
	}
	ctx_trace_drain_unlock(trace->drain);
}
