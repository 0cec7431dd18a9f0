#include "ingest/open_calls.h"

#include "base/map64.h"
#include "base/mem.h"

#define SECOND_NS 1000000000u
#define CALLEES 32768u	       /* of the table; a power of two */
#define WAITING_MAX (1u << 20) /* in the same ns: beyond that they are emitted at once */

struct open_call {
	uint64_t begin_ns;
	uint64_t inner_ns; /* of it spent in calls that have ended */
	uint64_t off_ns;   /* of the thread when it was entered */
	uint32_t raw_stack, stack;
	uint8_t operation; /* enum ctx_call_operation */
	bool is_resumed;   /* it has begun in another process, and is no call of this one */
	bool is_unseen;	   /* it began when events were missing */
	uint32_t lost;	   /* events that are missing while it is open, at most that; 0: it is a call */
};

struct thread {
	struct open_call *open; /* owned; from the root */
	size_t n, cap;
	uint64_t since_ns; /* up to there its spans are emitted */
	uint64_t off_ns;   /* in which it did not run while calls were open */
	uint32_t kept;	   /* open calls that were open at the last span, and all since */
	bool is_off;
	bool ended;
};

/* The callee of a call, remembered. */
struct callee {
	uint64_t frame;
	uint32_t process_generation, kernel_generation;
	uint32_t process; /* its number + 1; 0: unused */
	uint32_t caller;  /* raw stack */
	uint32_t raw_stack, stack;
};

/* A sample of the current ns, or the end of a thread after it. */
struct waiting {
	struct ctx_sample sample;
	bool is_end;
};

struct ctx_calls {
	struct ctx_calls_options options;
	struct thread *threads; /* by number */
	size_t n_threads, threads_cap;
	struct callee *callees;	 /* owned; CALLEES of them */
	struct ctx_map64 merged; /* raw stack of the open calls << 32 | of a sample -> together */
	uint32_t *path;		 /* scratch, owned: locations, then nodes */
	size_t path_cap;
	struct waiting *waiting; /* owned; all of now_ns */
	size_t n_waiting, waiting_cap;
	uint64_t now_ns, late;
};

enum ctx_status ctx_calls_create(const struct ctx_calls_options *options, struct ctx_calls **ret,
				 struct ctx_err *err)
{
	struct ctx_calls *calls = ctx_calloc(1, sizeof(*calls));

	if (calls == NULL)
		return ctx_err_nomem(err);
	calls->options = *options;
	calls->callees = ctx_calloc(CALLEES, sizeof(*calls->callees));
	if (calls->callees == NULL) {
		ctx_calls_destroy(calls);
		return ctx_err_nomem(err);
	}
	*ret = calls;
	return CTX_OK;
}

void ctx_calls_destroy(struct ctx_calls *calls)
{
	if (calls == NULL)
		return;
	for (size_t i = 0; i < calls->n_threads; i++)
		free(calls->threads[i].open);
	free(calls->threads);
	free(calls->callees);
	free(calls->path);
	free(calls->waiting);
	ctx_map64_deinit(&calls->merged);
	free(calls);
}

uint64_t ctx_calls_late(const struct ctx_calls *calls)
{
	return calls->late;
}

/* --- time --- */

/* What ended in an earlier ns: later spans end behind it. */
static enum ctx_status put_waiting(struct ctx_calls *calls, struct ctx_err *err)
{
	const struct ctx_calls_sink *sink = &calls->options.sink;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < calls->n_waiting && status == CTX_OK; i++) {
		const struct waiting *waiting = &calls->waiting[i];

		status = waiting->is_end ? sink->thread_end(sink->context, waiting->sample.thread, err)
					 : sink->sample(sink->context, &waiting->sample, err);
	}
	calls->n_waiting = 0;
	return status;
}

static enum ctx_status add_waiting(struct ctx_calls *calls, const struct waiting *waiting,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (calls->n_waiting == WAITING_MAX)
		status = put_waiting(calls, err);
	if (status == CTX_OK)
		status = ctx_grow(&calls->waiting, &calls->waiting_cap, calls->n_waiting + 1, err);
	if (status == CTX_OK)
		calls->waiting[calls->n_waiting++] = *waiting;
	return status;
}

static enum ctx_status go_on(struct ctx_calls *calls, uint64_t time_ns, struct ctx_err *err)
{
	if (time_ns > calls->options.last_ns)
		time_ns = calls->options.last_ns;
	if (time_ns <= calls->now_ns)
		return CTX_OK;
	calls->now_ns = time_ns;
	return calls->n_waiting != 0 ? put_waiting(calls, err) : CTX_OK;
}

/* --- spans --- */

static inline enum ctx_status thread_of(struct ctx_calls *calls, uint32_t number, struct thread **ret,
					struct ctx_err *err)
{
	if (number >= calls->n_threads) {
		enum ctx_status status =
			ctx_grow(&calls->threads, &calls->threads_cap, (size_t)number + 1, err);

		if (status != CTX_OK)
			return status;
		while (calls->n_threads <= number)
			calls->threads[calls->n_threads++] = (struct thread){0};
	}
	*ret = &calls->threads[number];
	return CTX_OK;
}

/* A sample at the thread's open calls, with those entered since the one before. */
static struct ctx_sample sample_of(const struct ctx_calls *calls, const struct thread *thread)
{
	const struct open_call *leaf = &thread->open[thread->n - 1];
	uint32_t kept = thread->kept != 0 ? thread->open[thread->kept - 1].stack : CTX_TRIE_ROOT;

	return (struct ctx_sample){.stack = leaf->stack,
				   .raw_stack = leaf->raw_stack,
				   .thread = (uint32_t)(thread - calls->threads),
				   .cpu = -1,
				   .kept_depth = calls->options.stacks->cct.depth[kept],
				   .kept_stack = kept};
}

/* Of sums: what is known of the thread's path, as an operation without a duration. */
static enum ctx_status put_path(struct ctx_calls *calls, const struct thread *thread,
				const struct ctx_traced *what, struct ctx_err *err)
{
	const struct open_call *leaf = &thread->open[thread->n - 1];
	struct ctx_traced traced = *what;

	traced.thread = (uint32_t)(thread - calls->threads);
	traced.cpu = traced.descriptor = -1;
	traced.raw_stack = leaf->raw_stack;
	traced.stack = leaf->stack;
	traced.file = CTX_NONE;
	traced.kind = CTX_TRACED_CALL;
	traced.operation = leaf->operation;
	return calls->options.sink.call(calls->options.sink.context, &traced, err);
}

/* Its time up to now, by seconds. */
static enum ctx_status put_path_time(struct ctx_calls *calls, const struct thread *thread, uint64_t since_ns,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (since_ns < calls->now_ns && status == CTX_OK) {
		uint64_t until_ns = since_ns - since_ns % SECOND_NS + SECOND_NS;

		if (until_ns > calls->now_ns)
			until_ns = calls->now_ns;
		status = put_path(
			calls, thread,
			&(struct ctx_traced){.time_ns = until_ns - 1, .self_ns = until_ns - since_ns}, err);
		since_ns = until_ns;
	}
	return status;
}

/* The thread's time up to now. */
static inline enum ctx_status put_span(struct ctx_calls *calls, struct thread *thread, struct ctx_err *err)
{
	uint64_t weight = calls->now_ns - thread->since_ns;
	struct ctx_sample sample;

	thread->since_ns = calls->now_ns;
	if (thread->n == 0 || weight == 0)
		return CTX_OK;
	if (calls->options.sums) {
		enum ctx_status status = put_path_time(calls, thread, calls->now_ns - weight, err);

		if (status != CTX_OK)
			return status;
	}
	sample = sample_of(calls, thread);
	sample.time_ns = calls->now_ns - 1;
	sample.weight = weight;
	sample.metric = thread->is_off ? calls->options.off : calls->options.running;
	thread->kept = (uint32_t)thread->n;
	if (thread->is_off)
		thread->off_ns += weight;
	return calls->options.sink.sample(calls->options.sink.context, &sample, err);
}

/* Calls that were entered now, and would be in no span. */
static inline enum ctx_status put_entered(struct ctx_calls *calls, struct thread *thread, struct ctx_err *err)
{
	struct waiting waiting = {.is_end = false};

	if (thread->kept == thread->n)
		return CTX_OK;
	waiting.sample = sample_of(calls, thread);
	waiting.sample.metric = calls->options.running;
	waiting.sample.time_ns = calls->now_ns;
	thread->kept = (uint32_t)thread->n;
	return add_waiting(calls, &waiting, err);
}

/* --- calls --- */

static inline size_t place_of(uint32_t caller, uint64_t frame)
{
	return (size_t)((frame + caller) * 0x9e3779b97f4a7c15u >> 49) & (CALLEES - 1);
}

static enum ctx_status find_callee(const struct ctx_calls *calls, const struct ctx_stack_scope *scope,
				   struct callee *callee, struct ctx_err *err)
{
	struct ctx_stack_forest *stacks = calls->options.stacks;
	uint32_t location;
	enum ctx_status status = ctx_stack_locate(scope, callee->frame, &location, err);

	if (status == CTX_OK)
		status = ctx_stack_forest_add(stacks, callee->caller, (struct ctx_trie_keys){&location, 1},
					      &callee->raw_stack, err);
	if (status == CTX_OK)
		callee->stack = stacks->raw_to_stack[callee->raw_stack];
	return status;
}

static enum ctx_call_operation operation_of(enum ctx_call_code code)
{
	return code == CTX_CALL_INTERPRETED ? CTX_CALL_OF_INTERPRETED
	       : code == CTX_CALL_COMPILED  ? CTX_CALL_OF_COMPILED
					    : CTX_CALL_OF_INSTRUMENTED;
}

/* The calls of a sum, at its begin. */
static enum ctx_status put_sum(struct ctx_calls *calls, struct thread *thread, uint64_t n,
			       struct ctx_err *err)
{
	struct waiting waiting = {.is_end = false};
	enum ctx_status status = CTX_OK;

	thread->kept = (uint32_t)thread->n - 1;
	waiting.sample = sample_of(calls, thread);
	waiting.sample.metric = calls->options.running;
	waiting.sample.time_ns = calls->now_ns;
	thread->kept = (uint32_t)thread->n;
	if (n != 0)
		status = put_path(calls, thread,
				  &(struct ctx_traced){.time_ns = calls->now_ns, .value = (int64_t)n}, err);
	while (n != 0 && status == CTX_OK) {
		uint64_t some = n < UINT32_MAX ? n : UINT32_MAX;

		waiting.sample.more_calls = (uint32_t)(some - 1);
		status = add_waiting(calls, &waiting, err);
		n -= some;
	}
	return status;
}

static enum ctx_status enter(struct ctx_calls *calls, const struct ctx_stack_scope *scope,
			     struct thread *thread, const struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_event_call *call = &event->call;
	uint32_t caller = thread->n != 0 ? thread->open[thread->n - 1].raw_stack : CTX_TRIE_ROOT;
	struct callee *callee = &calls->callees[place_of(caller, call->frame)];
	enum ctx_status status;

	if (callee->caller != caller || callee->frame != call->frame ||
	    callee->process != event->process + 1 ||
	    callee->process_generation != scope->process->generation ||
	    callee->kernel_generation != scope->kernel->generation) {
		*callee = (struct callee){.frame = call->frame,
					  .process_generation = scope->process->generation,
					  .kernel_generation = scope->kernel->generation,
					  .caller = caller};
		status = find_callee(calls, scope, callee, err);
		if (status != CTX_OK)
			return status;
		callee->process = event->process + 1;
	}
	if (thread->n == thread->cap) {
		status = ctx_grow(&thread->open, &thread->cap, thread->n + 1, err);
		if (status != CTX_OK)
			return status;
	}
	thread->open[thread->n++] =
		(struct open_call){.begin_ns = calls->now_ns,
				   .off_ns = thread->off_ns,
				   .raw_stack = callee->raw_stack,
				   .stack = callee->stack,
				   .operation = (uint8_t)operation_of(call->code),
				   .is_resumed = call->resumed,
				   .is_unseen = call->unseen,
				   .lost = call->lost < UINT32_MAX ? (uint32_t)call->lost : UINT32_MAX};
	if (call->resumed && thread->kept + 1 == thread->n)
		thread->kept++;
	return call->is_sum ? put_sum(calls, thread, call->calls, err) : CTX_OK;
}

/* Calls of a function that took so long. */
static enum ctx_status put_durations(struct ctx_calls *calls, const struct ctx_stack_scope *scope,
				     struct thread *thread, const struct ctx_event *event,
				     struct ctx_err *err)
{
	struct callee callee = {.frame = event->call.frame, .caller = CTX_TRIE_ROOT};
	struct ctx_traced traced = {.time_ns = calls->now_ns,
				    .duration_ns = event->call.took_ns,
				    .value = (int64_t)event->call.calls,
				    .thread = (uint32_t)(thread - calls->threads),
				    .cpu = -1,
				    .file = CTX_NONE,
				    .descriptor = -1,
				    .kind = CTX_TRACED_CALL,
				    .operation = (uint8_t)operation_of(event->call.code)};
	enum ctx_status status = find_callee(calls, scope, &callee, err);

	traced.raw_stack = callee.raw_stack;
	traced.stack = callee.stack;
	return status == CTX_OK && event->call.calls != 0
		       ? calls->options.sink.call(calls->options.sink.context, &traced, err)
		       : status;
}

/* Events were missing until now. */
static enum ctx_status put_lost(struct ctx_calls *calls, const struct thread *thread,
				const struct open_call *call, struct ctx_err *err)
{
	const struct ctx_calls_sink *sink = &calls->options.sink;
	const struct ctx_loss loss = {.time = {call->begin_ns, calls->now_ns},
				      .located = true,
				      .has_kinds = true,
				      .cpu = -1,
				      .has_thread = true,
				      .thread = (uint32_t)(thread - calls->threads),
				      .count = call->lost,
				      .kinds[CTX_LOSS_CALLS] = call->lost};

	return sink->lost != NULL && loss.time.begin_ns < loss.time.end_ns
		       ? sink->lost(sink->context, &loss, err)
		       : CTX_OK;
}

/* The deepest open call ends. */
static enum ctx_status leave(struct ctx_calls *calls, struct thread *thread, bool unwound,
			     struct ctx_err *err)
{
	const struct open_call *call = &thread->open[--thread->n];
	uint64_t duration_ns = calls->now_ns - call->begin_ns, off_ns = thread->off_ns - call->off_ns;
	struct ctx_traced traced = {
		.time_ns = calls->now_ns,
		.duration_ns = duration_ns,
		.off_ns = off_ns,
		.self_ns = duration_ns - off_ns - call->inner_ns,
		.thread = (uint32_t)(thread - calls->threads),
		.cpu = -1,
		.raw_stack = call->raw_stack,
		.stack = call->stack,
		.file = CTX_NONE,
		.descriptor = -1,
		.kind = CTX_TRACED_CALL,
		.operation = call->operation,
		.failed = unwound || call->is_unseen,
	};

	if (thread->n != 0)
		thread->open[thread->n - 1].inner_ns += duration_ns - off_ns;
	if (call->lost != 0)
		return put_lost(calls, thread, call, err);
	return call->is_resumed || calls->options.sums
		       ? CTX_OK
		       : calls->options.sink.call(calls->options.sink.context, &traced, err);
}

/* The open calls above `kept` end. */
static enum ctx_status leave_to(struct ctx_calls *calls, struct thread *thread, uint32_t kept, bool unwound,
				struct ctx_err *err)
{
	enum ctx_status status = put_entered(calls, thread, err);

	while (thread->n > kept && status == CTX_OK)
		status = leave(calls, thread, unwound, err);
	thread->kept = (uint32_t)thread->n;
	return status;
}

static enum ctx_status count(struct ctx_calls *calls, const struct thread *thread, const uint64_t *counted,
			     struct ctx_err *err)
{
	const struct ctx_calls_sink *sink = &calls->options.sink;
	enum ctx_status status = CTX_OK;
	struct ctx_sample sample;

	if (thread->n == 0)
		return CTX_OK;
	sample = sample_of(calls, thread);
	sample.kept_stack = sample.stack;
	sample.kept_depth = calls->options.stacks->cct.depth[sample.stack];
	sample.time_ns = calls->now_ns;
	for (uint32_t i = 0; i < calls->options.n_counters && status == CTX_OK; i++) {
		sample.metric = calls->options.first_counter + i;
		sample.weight = counted[i];
		if (counted[i] != 0)
			status = sink->sample(sink->context, &sample, err);
	}
	return status;
}

enum ctx_status ctx_calls_event(struct ctx_calls *calls, const struct ctx_stack_scope *scope,
				const struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_event_call *call = &event->call;
	struct thread *thread;
	enum ctx_status status = go_on(calls, event->time_ns, err);

	calls->late += event->time_ns < calls->now_ns && calls->now_ns < calls->options.last_ns;
	if (status == CTX_OK)
		status = thread_of(calls, event->thread, &thread, err);
	if (status != CTX_OK || thread->ended)
		return status;
	if (call->took_ns != 0)
		return put_durations(calls, scope, thread, event, err);
	status = put_span(calls, thread, err);
	thread->is_off = thread->is_off && call->kept >= thread->n && call->frame == 0;
	if (status == CTX_OK && call->counted != NULL)
		status = count(calls, thread, call->counted, err);
	if (status == CTX_OK && call->kept < thread->n)
		status = leave_to(calls, thread, call->kept, call->unwound, err);
	return status == CTX_OK && call->frame != 0 ? enter(calls, scope, thread, event, err) : status;
}

enum ctx_status ctx_calls_run(struct ctx_calls *calls, uint32_t number, uint64_t time_ns, bool runs,
			      struct ctx_err *err)
{
	struct thread *thread;
	enum ctx_status status = go_on(calls, time_ns, err);

	if (status == CTX_OK)
		status = thread_of(calls, number, &thread, err);
	if (status != CTX_OK || thread->ended || calls->options.sums)
		return status;
	status = put_span(calls, thread, err);
	thread->is_off = !runs;
	return status == CTX_OK && !runs ? put_entered(calls, thread, err) : status;
}

static enum ctx_status end_thread(struct ctx_calls *calls, struct thread *thread, struct ctx_err *err)
{
	enum ctx_status status = put_span(calls, thread, err);

	if (status == CTX_OK)
		status = leave_to(calls, thread, 0, true, err);
	thread->ended = true;
	free(thread->open);
	thread->open = NULL;
	thread->cap = 0;
	return status;
}

enum ctx_status ctx_calls_end(struct ctx_calls *calls, uint32_t number, uint64_t time_ns, struct ctx_err *err)
{
	const struct waiting end = {.sample = {.thread = number}, .is_end = true};
	struct thread *thread;
	enum ctx_status status = go_on(calls, time_ns, err);

	if (status == CTX_OK)
		status = thread_of(calls, number, &thread, err);
	if (status == CTX_OK && !thread->ended)
		status = end_thread(calls, thread, err);
	return status == CTX_OK ? add_waiting(calls, &end, err) : status;
}

enum ctx_status ctx_calls_finish(struct ctx_calls *calls, struct ctx_err *err)
{
	enum ctx_status status = go_on(calls, calls->options.last_ns, err);

	for (size_t i = 0; i < calls->n_threads && status == CTX_OK; i++) {
		if (!calls->threads[i].ended)
			status = end_thread(calls, &calls->threads[i], err);
	}
	return status == CTX_OK ? put_waiting(calls, err) : status;
}

enum ctx_status ctx_calls_flush(struct ctx_calls *calls, struct ctx_err *err)
{
	return put_waiting(calls, err);
}

/* --- samples --- */

/* The function of a raw stack's leaf that no other one is inlined into. */
static uint32_t function_of(const struct ctx_stack_forest *stacks, uint32_t raw)
{
	uint32_t outside = stacks->raw_to_stack[stacks->raw.parent[raw]], stack = stacks->raw_to_stack[raw];

	while (stacks->cct.parent[stack] != outside && stacks->cct.parent[stack] != CTX_TRIE_ROOT &&
	       stack != outside)
		stack = stacks->cct.parent[stack];
	return stacks->cct.key[stack];
}

/* Frames of a sampled stack above the topmost one of the deepest open call that is on it. */
static uint32_t frames_above(const struct ctx_stack_forest *stacks, const struct thread *thread, uint32_t raw)
{
	for (size_t i = thread->n; i-- != 0 && thread->n - i <= CTX_CALLS_MATCHED;) {
		uint32_t function = stacks->cct.key[thread->open[i].stack], above = 0;

		for (uint32_t at = raw; at != CTX_TRIE_ROOT; at = stacks->raw.parent[at], above++) {
			if (function_of(stacks, at) == function)
				return above;
		}
	}
	return stacks->raw.depth[raw];
}

static enum ctx_status merge(struct ctx_calls *calls, const struct thread *thread, uint32_t raw,
			     uint32_t *ret, struct ctx_err *err)
{
	struct ctx_stack_forest *stacks = calls->options.stacks;
	uint32_t n = frames_above(stacks, thread, raw), below = thread->open[thread->n - 1].raw_stack;
	enum ctx_status status = ctx_grow(&calls->path, &calls->path_cap, 2 * (size_t)n, err);

	if (status != CTX_OK)
		return status;
	for (uint32_t i = n; i-- != 0; raw = stacks->raw.parent[raw])
		calls->path[i] = stacks->raw.key[raw];
	*ret = below;
	if (n == 0)
		return CTX_OK;
	status = ctx_stack_forest_add(stacks, below, (struct ctx_trie_keys){calls->path, n}, calls->path + n,
				      err);
	*ret = calls->path[2 * n - 1];
	return status;
}

enum ctx_status ctx_calls_merge(struct ctx_calls *calls, uint32_t number, uint32_t raw_stack, uint32_t *ret,
				struct ctx_err *err)
{
	const struct thread *thread = number < calls->n_threads ? &calls->threads[number] : NULL;
	enum ctx_status status;
	uint32_t *place, merged;

	if (thread == NULL || thread->n == 0 || calls->options.sums) {
		*ret = raw_stack;
		return CTX_OK;
	}
	place = ctx_map64_place(&calls->merged,
				(uint64_t)thread->open[thread->n - 1].raw_stack << 32 | raw_stack);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		status = merge(calls, thread, raw_stack, &merged, err);
		if (status != CTX_OK)
			return status;
		*place = merged;
	}
	*ret = *place;
	return CTX_OK;
}
