#include "collect/trace_records.h"

#include "collect/entry_counters.h"
#include "collect/trace_sync.h"
#include "model/io_call.h"
#include "model/profile.h"
#include "model/traced.h"

/*
 * A thread begins to use the ring: by its id, or that which it has in its pid namespace. One that is unknown, since
 * it has ended before it was looked at there, is taken for the main thread.
 */
static enum ctx_status enter_thread(struct ctx_trace_taking *taking, const struct ctx_trace_record *record)
{
	const struct ctx_trace_segment *segment = taking->segment;
	const struct ctx_proctree *tree = taking->trace->tree;
	int64_t tid = (int64_t)record->words[1];
	bool is_inner = atomic_load(&segment->header->pid) != (uint32_t)segment->pid;
	uint32_t process = segment->process, thread;

	if (record->words[0] > taking->until_ns &&
	    !ctx_trace_is_impossible(taking->trace, record->words[0])) {
		taking->stays_ns = record->words[0];
		taking->is_early = true;
		return CTX_END;
	}
	if ((is_inner && ctx_proctree_lookup_inner(tree, segment->pid, tid, &thread)) ||
	    (ctx_proctree_lookup(tree, tid, &process, &thread) && process == segment->process) ||
	    (ctx_proctree_lookup(tree, segment->pid, &process, &thread) && process == segment->process))
		taking->segment->threads[taking->slot] = thread;
	else
		taking->segment->threads[taking->slot] = CTX_NONE;
	taking->segment->rings[taking->slot].calls = (struct ctx_trace_call_state){0};
	return CTX_OK;
}

static enum ctx_status take_sync(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				 struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	const struct ctx_exp_sync who = {.process = taking->segment->process,
					 .thread = taking->segment->threads[taking->slot]};
	struct ctx_trace_sync sync;
	enum ctx_status status = CTX_OK;

	ctx_trace_sync_read(record, &who, trace->tree, &sync);
	if (sync.n == 0 || ctx_trace_is_impossible(trace, record->words[0])) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	for (unsigned i = 0; i < sync.n && status == CTX_OK; i++)
		status = ctx_exp_sync(trace->writer, &sync.operations[i], err);
	return status;
}

/* The counter in the first segment of the process. */
static const _Atomic uint64_t *first_closes(const struct ctx_trace_taking *taking)
{
	const struct ctx_trace_segment *first = taking->segment;

	for (const struct ctx_trace_segment *other = taking->trace->segments.first; other != NULL;
	     other = other->next) {
		if (other->pid == first->pid && other->process == first->process &&
		    other->created_ns < first->created_ns)
			first = other;
	}
	return &first->header->closes;
}

static enum ctx_status take_io(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
			       struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	const struct ctx_trace_io_process process = {
		.pid = taking->segment->pid,
		.closes = ctx_trace_io_is_nameless(record) ? first_closes(taking) : NULL};
	struct ctx_exp_io io = {.process = taking->segment->process,
				.thread = taking->segment->threads[taking->slot],
				.frames = record->frames,
				.n_frames = record->n_frames};

	if (!ctx_trace_io_read(record, &process, &trace->io_name, &io) ||
	    ctx_trace_is_impossible(trace, io.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations += io.call != CTX_CALL_NAME;
	return ctx_exp_io(trace->writer, &io, err);
}

static enum ctx_status take_mark(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				 struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_exp_mark mark = {.process = taking->segment->process,
				    .thread = taking->segment->threads[taking->slot],
				    .frames = record->frames,
				    .n_frames = record->n_frames};

	if (!ctx_trace_mark_read(record, &trace->marks, &mark) ||
	    ctx_trace_is_impossible(trace, mark.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	trace->counts.pauses += mark.operation == CTX_MARK_PAUSE;
	return ctx_exp_mark(trace->writer, &mark, err);
}

static enum ctx_status take_omp(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_exp_omp event = {.process = taking->segment->process,
				    .thread = taking->segment->threads[taking->slot]};

	if (!ctx_trace_omp_read(record, &trace->omp, &event) ||
	    ctx_trace_is_impossible(trace, event.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	trace->counts.omp++;
	return ctx_exp_omp(trace->writer, &event, err);
}

/* Of a threshold: an execution with its call stack, which stands for as many as its metric says. */
static enum ctx_status take_raised(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				   struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_exp_sample sample = {
		.time_ns = record->words[0],
		.process = taking->segment->process,
		.thread = taking->segment->threads[taking->slot],
		.metric = trace->entries != NULL ? ctx_entry_counters_raised(trace->entries, record->words[1])
						 : CTX_NONE,
		.cpu = -1,
		.frames = record->frames,
		.n_frames = record->n_frames};

	if (sample.metric == CTX_NONE || ctx_trace_is_impossible(trace, sample.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	return ctx_exp_sample(trace->writer, &sample, err);
}

/* Writes the events in trace->calls. */
static enum ctx_status put_calls_of(struct ctx_trace_taking *taking, struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	const struct ctx_exp_calls calls = {.process = taking->segment->process,
					    .thread = taking->segment->threads[taking->slot],
					    .depth = trace->calls.depth,
					    .items = trace->calls.items,
					    .n = trace->calls.n};

	trace->counts.calls.events += calls.n;
	return calls.n != 0 ? ctx_exp_calls(trace->writer, &calls, err) : CTX_OK;
}

static enum ctx_status take_calls_sync(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				       struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_trace_call_state *state = &taking->segment->rings[taking->slot].calls;

	/* It has been reported when its thread ended. */
	if (record->words[2] != 0 && record->words[3] == taking->segment->rings[taking->slot].lost_from)
		return CTX_OK;
	if (!ctx_trace_calls_sync(record, state, &trace->clock, &trace->calls)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	ctx_trace_calls_add_lost(record, &trace->clock, &trace->counts.calls.lost);
	return put_calls_of(taking, err);
}

/* Of one ring: what its thread could not write any more. */
static enum ctx_status end_ring(struct ctx_trace_taking *taking, const struct ctx_trace_ending *ending,
				struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_trace_ring *ring = &taking->segment->rings[taking->slot];
	const uint64_t from = atomic_load(&ring->slot->lost_from), lost = atomic_load(&ring->slot->lost);
	const uint64_t unwritten_ns = atomic_load(&ring->slot->unwritten);

	trace->calls.n = 0;
	if (from != 0 && ctx_call_clock_ns(&trace->clock, from) < ending->time_ns) {
		const struct ctx_trace_record record = {.words = {from + 1, 0, lost, from}};

		ctx_trace_calls_add_lost(&record, &trace->clock, &trace->counts.calls.lost);
		ctx_trace_calls_end_lost(lost, from, &ring->calls, &trace->clock, &trace->calls);
		ring->lost_from = from;
	} else if (unwritten_ns != 0 && unwritten_ns < ending->time_ns && unwritten_ns <= trace->now_ns) {
		ctx_trace_calls_end_unwritten(unwritten_ns, &ring->calls, &trace->calls);
	}
	return trace->calls.n != 0 ? put_calls_of(taking, err) : CTX_OK;
}

enum ctx_status ctx_trace_end_calls(struct ctx_trace *trace, struct ctx_trace_segment *segment,
				    const struct ctx_trace_ending *ending, struct ctx_err *err)
{
	struct ctx_trace_taking taking = {.trace = trace, .segment = segment};
	enum ctx_status status = CTX_OK;

	if (trace->reader.take_calls == NULL || segment->process == CTX_NONE)
		return CTX_OK;
	for (; taking.slot < segment->grant.slots && status == CTX_OK; taking.slot++) {
		uint32_t thread = segment->threads[taking.slot];

		if (thread != CTX_NONE && (ending->thread == CTX_NONE || ending->thread == thread))
			status = end_ring(&taking, ending, err);
	}
	return status;
}

enum ctx_status ctx_trace_take_calls(void *context, const uint64_t *words, size_t n, struct ctx_err *err)
{
	struct ctx_trace_taking *taking = context;
	struct ctx_trace *trace = taking->trace;
	struct ctx_trace_call_state *state = &taking->segment->rings[taking->slot].calls;

	if (taking->segment->threads[taking->slot] == CTX_NONE) {
		trace->counts.dropped += n;
		return CTX_OK;
	}
	trace->counts.damaged += ctx_trace_calls_read(words, n, state, &trace->clock, &trace->calls);
	return put_calls_of(taking, err);
}

/* The record with a time in the place of ticks. */
static struct ctx_trace_record timed(struct ctx_trace *trace, const struct ctx_trace_record *record)
{
	struct ctx_trace_record result = *record;

	if (trace->has_ticks && ctx_trace_omp_is(record->kind))
		result.words[0] = ctx_call_clock_ns(&trace->clock, record->words[0]);
	return result;
}

static enum ctx_status take_timed(struct ctx_trace_taking *taking, const struct ctx_trace_record *record,
				  struct ctx_err *err)
{
	static const uint8_t operations[CTX_RT_KIND_N] = {[CTX_RT_ALLOCATE] = CTX_HEAP_ALLOCATE,
							  [CTX_RT_FREE] = CTX_HEAP_FREE,
							  [CTX_RT_REALLOCATE] = CTX_HEAP_REALLOCATE};
	struct ctx_trace *trace = taking->trace;
	const uint64_t *words = record->words;
	struct ctx_exp_heap heap = {.time_ns = words[0],
				    .process = taking->segment->process,
				    .thread = taking->segment->threads[taking->slot],
				    .operation = operations[record->kind],
				    .frames = record->frames,
				    .n_frames = record->n_frames};
	bool is_possible = true;

	if (record->kind == CTX_RT_CALLS && heap.thread != CTX_NONE)
		return take_calls_sync(taking, record, err);
	if (taking->left == 0 || (words[0] > taking->limit_ns && !ctx_trace_is_impossible(trace, words[0]))) {
		taking->stays_ns = words[0];
		return CTX_END;
	}
	taking->left--;
	if (record->kind == CTX_RT_THREAD)
		return enter_thread(taking, record);
	if (record->kind == CTX_RT_UNFIT) {
		trace->counts.damaged += !ctx_trace_unfit_add(&trace->unfit, record);
		return CTX_OK;
	}
	if (heap.thread == CTX_NONE) {
		trace->counts.dropped++;
		return CTX_OK;
	}
	if (ctx_trace_sync_is(record->kind))
		return take_sync(taking, record, err);
	if (record->kind == CTX_RT_MARK)
		return take_mark(taking, record, err);
	if (ctx_trace_omp_is(record->kind))
		return take_omp(taking, record, err);
	if (record->kind == CTX_RT_RAISED)
		return take_raised(taking, record, err);
	if (record->kind >= CTX_RT_IO)
		return take_io(taking, record, err);
	if (record->kind == CTX_RT_FREE) {
		heap.address = words[1];
	} else if (record->kind == CTX_RT_MAPPING) {
		heap.size = words[1];
		heap.address = words[2];
		is_possible = words[3] < CTX_HEAP_N &&
			      (ctx_heap_maps((unsigned)words[3]) || ctx_heap_unmaps((unsigned)words[3]));
		heap.operation = is_possible ? (uint8_t)words[3] : 0;
	} else {
		heap.size = words[1];
		heap.address = words[2];
		heap.old_address = record->kind == CTX_RT_REALLOCATE ? words[3] : 0;
	}
	if (!is_possible || heap.size > CTX_TRACED_WEIGHT_MAX ||
	    ctx_trace_is_impossible(trace, heap.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	return ctx_exp_heap(trace->writer, &heap, err);
}

enum ctx_status ctx_trace_take_record(void *context, const struct ctx_trace_record *record,
				      struct ctx_err *err)
{
	struct ctx_trace_taking *taking = context;
	const struct ctx_trace_record in_time = timed(taking->trace, record);

	return take_timed(taking, &in_time, err);
}
