#include "collect/trace.h"

#include "base/clock.h"
#include "base/heap.h"
#include "base/mem.h"
#include "collect/attach.h"
#include "collect/trace_drain.h"
#include "collect/trace_io.h"
#include "collect/trace_library.h"
#include "collect/trace_listener.h"
#include "collect/trace_marks.h"
#include "collect/trace_sync.h"
#include "collect/trace_uring.h"
#include "model/io_call.h"
#include "model/traced.h"
#include "runtime/program_check.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD"
#define QUEUES_BYTES ((size_t)64 << 20)
#define MEMORY_MAX ((size_t)1 << 40)
#define RINGS_SHARE 4u		   /* times what queues may have */
#define SPARSE_BYTES 65536u	   /* between sampled allocations */
#define PAUSE_NS UINT64_C(4000000) /* the longest between two looks at rings */
#define SPARSE_PAUSE_NS UINT64_C(20000000)
#define SETTING_MAX 1152u /* of CTX_RT_VARIABLE */
#define PATTERN_MAX 480u
#define COUNT_MAX (UINT64_C(1) << 40)
#define ROUND_OPERATIONS 131072u /* at most before the rings of perf events are read again: some 20 ms */

/* A ring that is read now. */
struct turn {
	uint64_t time_ns; /* of its next record; 0: not known yet */
	struct ctx_trace_segment *segment;
	uint32_t slot;
};

struct ctx_trace {
	struct ctx_trace_library library;
	char letters[SETTING_MAX - 32]; /* behind the name of the socket: what is recorded */
	char *old_preload;		/* owned; NULL: there was none */
	struct ctx_trace_segments segments;
	struct ctx_trace_listener *listener;
	struct ctx_trace_uring *uring; /* NULL: not watched */
	char uring_text[480];
	struct ctx_trace_drain *drain;	/* of the segments */
	struct ctx_trace_reader reader; /* its context is of the ring that is read */
	struct turn *turns;		/* owned; a heap by time */
	size_t n_turns, turns_cap;
	struct ctx_attach **attached; /* owned, as what they are */
	size_t n_attached, attached_cap;
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	uint64_t now_ns;  /* not after this moment */
	bool is_sparse;	  /* as ctx_trace_is_sparse says */
	bool has_backlog; /* the last round ended early */
	struct ctx_trace_io_name io_name;
	struct ctx_trace_marks marks;
	struct ctx_trace_counts counts;
	struct ctx_trace_unfit unfit;
	struct ctx_call_clock clock;  /* with calls */
	struct ctx_trace_calls calls; /* scratch */
};

static ctx_trace_calls_fn take_call_words;

/* The beginning */

static enum ctx_status check_command(const struct ctx_trace *trace, const char *command, struct ctx_err *err)
{
	char room[PATH_MAX];
	const char *path = command != NULL ? ctx_program_find(command, room, sizeof(room)) : NULL;
	enum ctx_program program = path != NULL ? ctx_program_check(path) : CTX_PROGRAM_UNKNOWN;

	if (program == CTX_PROGRAM_FITS || program == CTX_PROGRAM_UNKNOWN ||
	    (program == CTX_PROGRAM_FITS_32 && trace->library.has_32))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "%s cannot be traced: %s", command, ctx_program_reason(program));
}

/* The pattern in letters that mean nothing else there. */
static void put_calls(struct ctx_trace *trace, const struct ctx_trace_options *options, char *out,
		      size_t size)
{
	const char *pattern = options->calls_of != NULL ? options->calls_of : "";
	uint64_t least =
		options->calls_min_ns != 0 ? ctx_call_clock_ticks(&trace->clock, options->calls_min_ns) : 0;
	size_t n =
		(size_t)snprintf(out, size, "c%llud%u%s%s", (unsigned long long)least, options->calls_depth,
				 trace->clock.has_tsc ? "t" : "", *pattern != '\0' ? "p" : "");

	for (; *pattern != '\0' && n + 2 < size; pattern++) {
		out[n++] = (char)('A' + ((unsigned char)*pattern >> 4));
		out[n++] = (char)('A' + ((unsigned char)*pattern & 15));
	}
	out[n] = '\0';
}

static void set_letters(struct ctx_trace *trace, const struct ctx_trace_options *options)
{
	char heap[24] = "", sync[24] = "", calls[64 + 2 * PATTERN_MAX] = "";

	if (options->heap)
		snprintf(heap, sizeof(heap), "h%llu", (unsigned long long)options->sample_bytes);
	if (options->sync)
		snprintf(sync, sizeof(sync), "s%llu", (unsigned long long)options->sync_threshold_ns);
	if (options->calls)
		put_calls(trace, options, calls, sizeof(calls));
	snprintf(trace->letters, sizeof(trace->letters), "m%s%s%s%s%s%s", heap, sync, options->io ? "i" : "",
		 options->waits ? "w" : "", trace->library.has_32 ? "b" : "", calls);
}

/* Where it cannot be, one line says why. */
static void watch_uring(struct ctx_trace *trace, const char *tracefs)
{
	struct ctx_err why = {0};

	if (ctx_trace_uring_create(tracefs, &trace->uring, &why) == CTX_OK)
		snprintf(trace->uring_text, sizeof(trace->uring_text), "recorded, by tracepoints");
	else
		snprintf(trace->uring_text, sizeof(trace->uring_text), "not recorded: %.400s", why.msg);
}

enum ctx_status ctx_trace_create(const struct ctx_trace_options *options, struct ctx_trace **ret,
				 struct ctx_err *err)
{
	size_t queues_bytes = options->memory_bytes == 0	   ? QUEUES_BYTES
			      : options->memory_bytes < MEMORY_MAX ? options->memory_bytes
								   : MEMORY_MAX;
	struct ctx_trace *trace = ctx_calloc(1, sizeof(*trace));
	enum ctx_status status;

	if (trace == NULL)
		return ctx_err_nomem(err);
	ctx_trace_segments_init(&trace->segments, (uint64_t)queues_bytes * RINGS_SHARE);
	status = ctx_trace_library_find(&trace->library, err);
	if (status == CTX_OK)
		status = check_command(trace, options->command, err);
	if (options->calls)
		ctx_call_clock_init(&trace->clock);
	trace->reader.take_calls = options->calls ? take_call_words : NULL;
	set_letters(trace, options);
	trace->is_sparse =
		!options->sync && !options->io && !options->calls && options->sample_bytes >= SPARSE_BYTES;
	if (status == CTX_OK)
		status = ctx_trace_listener_create(&trace->segments, &trace->listener, err);
	if (status == CTX_OK)
		status = ctx_trace_drain_create(&trace->segments, queues_bytes, &trace->drain, err);
	if (status != CTX_OK) {
		ctx_trace_destroy(trace);
		return status;
	}
	if (options->io)
		watch_uring(trace, options->tracefs);
	*ret = trace;
	return CTX_OK;
}

const char *ctx_trace_uring_text(const struct ctx_trace *trace)
{
	return trace->uring_text[0] != '\0' ? trace->uring_text : NULL;
}

void ctx_trace_destroy(struct ctx_trace *trace)
{
	if (trace == NULL)
		return;
	assert(trace->n_attached == 0);
	free(trace->attached);
	ctx_trace_listener_destroy(trace->listener);
	ctx_trace_uring_destroy(trace->uring);
	if (trace->drain != NULL) {
		ctx_trace_drain_lock(trace->drain);
		(void)ctx_trace_drain_pull(trace->drain, &trace->reader.spent);
		ctx_trace_drain_unlock(trace->drain);
	}
	ctx_trace_drain_destroy(trace->drain);
	ctx_trace_segments_deinit(&trace->segments);
	ctx_trace_reader_deinit(&trace->reader);
	ctx_trace_marks_deinit(&trace->marks);
	free(trace->turns);
	free(trace->old_preload);
	free(trace);
}

void ctx_trace_give_up(struct ctx_trace *trace)
{
	ctx_trace_segments_close(&trace->segments);
}

static void put_setting(const struct ctx_trace *trace, char out[SETTING_MAX])
{
	snprintf(out, SETTING_MAX, "%s:%s", ctx_trace_listener_name(trace->listener), trace->letters);
}

enum ctx_status ctx_trace_enter_environment(struct ctx_trace *trace, struct ctx_err *err)
{
	const char *old = getenv(PRELOAD);
	char *preload CTX_AUTO_FREE = NULL;
	char setting[SETTING_MAX];

	if (old != NULL) {
		trace->old_preload = ctx_memdup0(old, strlen(old));
		if (trace->old_preload == NULL)
			return ctx_err_nomem(err);
	}
	put_setting(trace, setting);
	if (asprintf(&preload, "%s%s%s", trace->library.word, old != NULL && *old != '\0' ? ":" : "",
		     old != NULL ? old : "") < 0 ||
	    setenv(PRELOAD, preload, 1) != 0 || setenv(CTX_RT_VARIABLE, setting, 1) != 0)
		return ctx_err_nomem(err);
	return CTX_OK;
}

void ctx_trace_leave_environment(struct ctx_trace *trace)
{
	unsetenv(CTX_RT_VARIABLE);
	if (trace->old_preload == NULL)
		unsetenv(PRELOAD);
	else
		(void)setenv(PRELOAD, trace->old_preload, 1); /* shorter than what is there */
}

/* Running processes */

enum ctx_status ctx_trace_check_process(const struct ctx_trace *trace, int64_t pid, struct ctx_err *err)
{
	return ctx_attach_check(&(struct ctx_attach_options){.pid = pid, .library = trace->library.path},
				err);
}

enum ctx_status ctx_trace_attach(struct ctx_trace *trace, int64_t pid, uint64_t *ret_ns, struct ctx_err *err)
{
	char setting[SETTING_MAX];
	const struct ctx_attach_options options = {
		.pid = pid, .library = trace->library.path, .setting = setting};
	enum ctx_status status = ctx_grow(&trace->attached, &trace->attached_cap, trace->n_attached + 1, err);

	put_setting(trace, setting);
	if (status == CTX_OK)
		status = ctx_attach_create(&options, &trace->attached[trace->n_attached], err);
	if (status == CTX_OK)
		*ret_ns = ctx_attach_result(trace->attached[trace->n_attached++]).stopped_ns;
	trace->counts.calls.is_late = true;
	return status;
}

enum ctx_status ctx_trace_detach(struct ctx_trace *trace, struct ctx_err *err)
{
	enum ctx_status result = CTX_OK;

	while (trace->n_attached != 0) {
		enum ctx_status status = ctx_attach_destroy(trace->attached[--trace->n_attached], err);

		result = status != CTX_OK ? status : result;
	}
	return result;
}

enum ctx_status ctx_trace_begin(struct ctx_trace *trace, struct ctx_exp_writer *writer,
				struct ctx_proctree *tree, struct ctx_err *err)
{
	trace->writer = writer;
	trace->tree = tree;
	ctx_trace_drain_start(trace->drain, trace->is_sparse ? SPARSE_PAUSE_NS : PAUSE_NS);
	return ctx_trace_listener_start(trace->listener, err);
}

bool ctx_trace_is_sparse(const struct ctx_trace *trace)
{
	return trace->is_sparse;
}

int ctx_trace_fd(const struct ctx_trace *trace)
{
	return ctx_trace_listener_fd(trace->listener);
}

bool ctx_trace_has_backlog(const struct ctx_trace *trace)
{
	return trace->has_backlog;
}

bool ctx_trace_is_busy(const struct ctx_trace *trace)
{
	return trace->segments.n != 0;
}

/* Operations */

struct taking {
	struct ctx_trace *trace;
	struct ctx_trace_segment *segment;
	uint32_t slot;
	uint64_t until_ns; /* threads that began by then are known */
	uint64_t limit_ns; /* later records stay */
	uint64_t stays_ns; /* the time of the one that stays; UINT64_MAX: none */
	bool is_early;	   /* it stays since its thread is not known yet */
	uint64_t left;	   /* records of this round */
};

/*
 * Is a time in the future? What was read is from before this moment, so this is no time that the runtime
 * writes.
 */
static bool is_impossible(struct ctx_trace *trace, uint64_t time_ns)
{
	if (time_ns > trace->now_ns)
		trace->now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	return time_ns > trace->now_ns;
}

/*
 * A thread begins to use the ring: by its id, or that which it has in its pid namespace. One that is unknown, since
 * it has ended before it was looked at there, is taken for the main thread.
 */
static enum ctx_status enter_thread(struct taking *taking, const struct ctx_trace_record *record)
{
	const struct ctx_trace_segment *segment = taking->segment;
	const struct ctx_proctree *tree = taking->trace->tree;
	int64_t tid = (int64_t)record->words[1];
	bool is_inner = atomic_load(&segment->header->pid) != (uint32_t)segment->pid;
	uint32_t process = segment->process, thread;

	if (record->words[0] > taking->until_ns && !is_impossible(taking->trace, record->words[0])) {
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

static enum ctx_status take_sync(struct taking *taking, const struct ctx_trace_record *record,
				 struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	const struct ctx_exp_sync who = {.process = taking->segment->process,
					 .thread = taking->segment->threads[taking->slot]};
	struct ctx_trace_sync sync;
	enum ctx_status status = CTX_OK;

	ctx_trace_sync_read(record, &who, trace->tree, &sync);
	if (sync.n == 0 || is_impossible(trace, record->words[0])) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	for (unsigned i = 0; i < sync.n && status == CTX_OK; i++)
		status = ctx_exp_sync(trace->writer, &sync.operations[i], err);
	return status;
}

/* The counter in the first segment of the process. */
static const _Atomic uint64_t *first_closes(const struct taking *taking)
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

static enum ctx_status take_io(struct taking *taking, const struct ctx_trace_record *record,
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

	if (!ctx_trace_io_read(record, &process, &trace->io_name, &io) || is_impossible(trace, io.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations += io.call != CTX_CALL_NAME;
	return ctx_exp_io(trace->writer, &io, err);
}

static enum ctx_status take_mark(struct taking *taking, const struct ctx_trace_record *record,
				 struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_exp_mark mark = {.process = taking->segment->process,
				    .thread = taking->segment->threads[taking->slot],
				    .frames = record->frames,
				    .n_frames = record->n_frames};

	if (!ctx_trace_mark_read(record, &trace->marks, &mark) || is_impossible(trace, mark.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	trace->counts.pauses += mark.operation == CTX_MARK_PAUSE;
	return ctx_exp_mark(trace->writer, &mark, err);
}

/* Writes the events in trace->calls. */
static enum ctx_status put_calls_of(struct taking *taking, struct ctx_err *err)
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

static enum ctx_status take_calls_sync(struct taking *taking, const struct ctx_trace_record *record,
				       struct ctx_err *err)
{
	struct ctx_trace *trace = taking->trace;
	struct ctx_trace_call_state *state = &taking->segment->rings[taking->slot].calls;

	if (!ctx_trace_calls_sync(record, state, &trace->clock, &trace->calls)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	ctx_trace_calls_add_lost(record, &trace->clock, &trace->counts.calls.lost);
	return put_calls_of(taking, err);
}

static enum ctx_status take_call_words(void *context, const uint64_t *words, size_t n, struct ctx_err *err)
{
	struct taking *taking = context;
	struct ctx_trace *trace = taking->trace;
	struct ctx_trace_call_state *state = &taking->segment->rings[taking->slot].calls;

	if (taking->segment->threads[taking->slot] == CTX_NONE) {
		trace->counts.dropped += n;
		return CTX_OK;
	}
	trace->counts.damaged += ctx_trace_calls_read(words, n, state, &trace->clock, &trace->calls);
	return put_calls_of(taking, err);
}

static enum ctx_status take_operation(void *context, const struct ctx_trace_record *record,
				      struct ctx_err *err)
{
	static const uint8_t operations[CTX_RT_KIND_N] = {[CTX_RT_ALLOCATE] = CTX_HEAP_ALLOCATE,
							  [CTX_RT_FREE] = CTX_HEAP_FREE,
							  [CTX_RT_REALLOCATE] = CTX_HEAP_REALLOCATE};
	struct taking *taking = context;
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
	if (taking->left == 0 || (words[0] > taking->limit_ns && !is_impossible(trace, words[0]))) {
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
	if (!is_possible || heap.size > CTX_TRACED_WEIGHT_MAX || is_impossible(trace, heap.time_ns)) {
		trace->counts.damaged++;
		return CTX_OK;
	}
	trace->counts.operations++;
	return ctx_exp_heap(trace->writer, &heap, err);
}

/*
 * Whose the segment is, with the drain's lock. One that is new is pulled, with all others of its process: if it has
 * several, they are at the same moment.
 */
static void find_process(struct ctx_trace *trace, struct ctx_trace_segment *segment, uint64_t until_ns)
{
	uint32_t process, thread;

	if (segment->process != CTX_NONE ||
	    (segment->created_ns > until_ns && !is_impossible(trace, segment->created_ns)) ||
	    !ctx_proctree_lookup(trace->tree, segment->pid, &process, &thread))
		return;
	segment->process = process;
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
			trace->turns[trace->n_turns++] = (struct turn){.segment = segment, .slot = i};
	}
	return status;
}

static bool is_before(const void *left, const void *right)
{
	return ((const struct turn *)left)->time_ns < ((const struct turn *)right)->time_ns;
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
static enum ctx_status take_turn(struct ctx_trace *trace, struct taking *taking, uint64_t end_ns,
				 struct ctx_err *err)
{
	struct turn *turn = &trace->turns[0];
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
	trace->reader.take = take_operation;
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
static enum ctx_status take_turns(struct ctx_trace *trace, struct taking *taking, uint64_t end_ns,
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
	if (trace->reader.take_calls != NULL)
		ctx_call_clock_look(&trace->clock);
}

enum ctx_status ctx_trace_take(struct ctx_trace *trace, uint64_t until_ns, struct ctx_err *err)
{
	bool is_last = until_ns == UINT64_MAX;
	struct taking taking = {
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
	return status == CTX_OK ? take_uring(trace, until_ns, err) : status;
}

enum ctx_status ctx_trace_before_end(struct ctx_trace *trace, int64_t pid, uint64_t time_ns,
				     struct ctx_err *err)
{
	struct taking taking = {.trace = trace, .until_ns = time_ns, .left = UINT64_MAX};
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
	return status == CTX_OK ? take_uring(trace, time_ns, err) : status;
}

static void add(uint64_t *sum, uint64_t more)
{
	*sum = more <= UINT64_MAX - *sum ? *sum + more : UINT64_MAX;
}

/* Of a number that nobody counts up to nothing is left: it was overwritten. */
static void add_counted(struct ctx_trace_counts *counts, uint64_t *sum, const _Atomic uint64_t *counted)
{
	uint64_t n = atomic_load(counted);

	if (n <= COUNT_MAX)
		add(sum, n);
	else
		counts->damaged++;
}

/* It may be anything. */
static void take_name(const struct ctx_trace_segment *segment, char name[CTX_RT_APART_NAME_MAX])
{
	memcpy(name, segment->header->apart_name, CTX_RT_APART_NAME_MAX - 1);
	name[CTX_RT_APART_NAME_MAX - 1] = '\0';
	for (char *at = name; *at != '\0'; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	}
}

/* What the target counted. */
static void count_segment(struct ctx_trace_counts *counts, const struct ctx_trace_segment *segment)
{
	/* Or its process did not wait for it any more. */
	if (segment->process == CTX_NONE || atomic_load(&segment->header->pid) == 0) {
		counts->nobodys++;
		return;
	}
	add_counted(counts, &counts->unplaced, &segment->header->unplaced);
	add_counted(counts, &counts->calls.patched, &segment->header->patched);
	add_counted(counts, &counts->calls.unpatched, &segment->header->unpatched);
	add_counted(counts, &counts->unfit, &segment->header->unfit);
	counts->own += atomic_load(&segment->header->own_allocators) != 0;
	counts->restricted += atomic_load(&segment->header->restricted) != 0;
	if (atomic_load(&segment->header->apart) != 0 && counts->apart == 0)
		take_name(segment, counts->apart_name);
	add_counted(counts, &counts->apart, &segment->header->apart);
	for (uint32_t i = 0; i < segment->grant.slots; i++) {
		add_counted(counts, &counts->dropped, &segment->rings[i].slot->dropped);
		add_counted(counts, &counts->interrupted, &segment->rings[i].slot->interrupted);
		add_counted(counts, &counts->calls.left_out, &segment->rings[i].slot->left_out);
		counts->damaged += segment->rings[i].damaged + segment->rings[i].torn;
	}
}

void ctx_trace_after_end(struct ctx_trace *trace, int64_t pid, uint64_t time_ns)
{
	struct ctx_trace_segment **place = &trace->segments.first;
	uint32_t process = CTX_NONE, thread;

	if (ctx_proctree_is_live(trace->tree, pid) &&
	    !ctx_proctree_lookup(trace->tree, pid, &process, &thread))
		return; /* its main thread has ended, others go on */
	ctx_trace_drain_lock(trace->drain);
	while (*place != NULL) {
		struct ctx_trace_segment *segment = *place;

		if (segment->pid == pid && segment->created_ns <= time_ns &&
		    (process == CTX_NONE || segment->process != process)) {
			count_segment(&trace->counts, segment);
			ctx_trace_drain_forget(trace->drain, segment);
			ctx_trace_segments_remove(&trace->segments, place);
		} else {
			place = &segment->next;
		}
	}
	ctx_trace_drain_unlock(trace->drain);
}

struct ctx_trace_counts ctx_trace_counts(struct ctx_trace *trace)
{
	struct ctx_trace_counts counts = trace->counts;

	ctx_trace_drain_lock(trace->drain);
	for (const struct ctx_trace_segment *segment = trace->segments.first; segment != NULL;
	     segment = segment->next)
		count_segment(&counts, segment);
	ctx_trace_drain_unlock(trace->drain);
	pthread_mutex_lock(&trace->segments.lock);
	add(&counts.nobodys, trace->segments.failed);
	counts.ringless = trace->segments.refused;
	if (trace->uring != NULL) {
		add(&counts.operations, ctx_trace_uring_operations(trace->uring));
		add(&counts.dropped, ctx_trace_uring_lost(trace->uring));
	}
	counts.rings_bytes = trace->segments.most_bytes;
	counts.rings_limit_bytes = trace->segments.limit_bytes;
	pthread_mutex_unlock(&trace->segments.lock);
	return counts;
}

const struct ctx_trace_unfit *ctx_trace_unfit(const struct ctx_trace *trace)
{
	return &trace->unfit;
}
