#include "collect/sample_batch.h"

#include "base/mem.h"
#include "collect/callchain.h"
#include "collect/copy_trial.h"
#include "collect/outermost.h"
#include "collect/stack_memory.h"
#include "collect/unwind_pool.h"
#include "model/chainwalk.h"

#include <string.h>

#define BATCH_MAX 512u
#define JOBS_MAX 64u
#define FRAMES_SPARE 16u /* beside one for each 8 bytes of the stack */
#define JOIN_MAX 16u	 /* a switch spans at most this many items: those of other CPUs are in between */

/* Of the instructions that make a system call. */
#if defined(__x86_64__)
#define CALL_BYTES 7u
#else
#define CALL_BYTES 8u
#endif

/* What a stack is made of. */
struct input {
	struct ctx_perf_record record;
	struct ctx_user_state user;	       /* of the record; input of the unwinder */
	const struct ctx_python_chain *python; /* what the thread ran in Python; NULL: nothing, or unknown */
};

/* Small: there are a million in a second of a program that switches often. */
struct item {
	uint32_t process, thread;    /* whose stack it is */
	struct ctx_exp_state state;  /* thread CTX_NONE: the item is a sample */
	struct input *input;	     /* NULL: no stack, or no more than the point has */
	struct ctx_wait_point point; /* of a brief item */
	struct ctx_unwind_job *job;  /* NULL: only the kernel's chain is available */
	bool is_skipped;	     /* for lack of time */
	bool is_brief;		     /* the stack was not copied */
	size_t n_named;		     /* frames of interpreted methods: their pc does not tell them apart */
	bool is_edge;		     /* the sample has its program counter, and perhaps who called it */
	uint64_t
		instead; /* the one frame of the sample, which is in no virtual machine of interest; 0: it has a stack */
};

struct ctx_sample_batch {
	struct ctx_sample_batch_options options;
	struct item items[BATCH_MAX];
	struct input inputs[BATCH_MAX];
	struct ctx_unwind_job jobs[JOBS_MAX];
	size_t n, n_inputs, n_jobs;
	size_t max_frames;
	struct ctx_unwind_frame *frames; /* max_frames for each job; NULL: nothing is unwound */
	struct ctx_python_chain *chains; /* for each job; NULL: no functions of Python are recorded */
	struct ctx_codemaps *maps;
	struct ctx_unwind_pool *pool;
	struct ctx_stack_memory memory;
	struct ctx_stack_bottoms bottoms;
	struct ctx_copy_trial trial;
	struct ctx_outermost *outermost;
	struct ctx_callchain chain;
	struct ctx_exp_unwinding counts;
	bool *runs; /* by process number: a stack of its program was seen; owned */
	size_t n_runs, runs_cap;
	bool hurries;
};

static enum ctx_status prepare_unwinding(struct ctx_sample_batch *batch, struct ctx_err *err)
{
	enum ctx_status status;

	batch->max_frames = batch->options.stack_bytes / 8 + FRAMES_SPARE;
	batch->frames = ctx_calloc((JOBS_MAX + 1) * batch->max_frames, sizeof(*batch->frames));
	if (batch->options.python != NULL)
		batch->chains = ctx_calloc(JOBS_MAX, sizeof(*batch->chains));
	if (batch->frames == NULL || (batch->options.python != NULL && batch->chains == NULL))
		return ctx_err_nomem(err);
	batch->trial = (struct ctx_copy_trial){.bytes = batch->options.small_bytes,
					       .frames = batch->frames + JOBS_MAX * batch->max_frames,
					       .max = batch->max_frames,
					       .bottoms = &batch->bottoms};
	status = ctx_codemaps_create(batch->options.writer, &batch->maps, err);
	if (status == CTX_OK)
		status = ctx_unwind_pool_create(batch->options.n_threads, &batch->pool, err);
	if (status == CTX_OK)
		status = ctx_stack_memory_init(&batch->memory, err);
	if (status == CTX_OK)
		status = ctx_stack_bottoms_init(&batch->bottoms, err);
	if (status == CTX_OK)
		status = ctx_outermost_create(ctx_clock_ns, &batch->outermost, err);
	return status;
}

enum ctx_status ctx_sample_batch_create(const struct ctx_sample_batch_options *options,
					struct ctx_sample_batch **ret, struct ctx_err *err)
{
	struct ctx_sample_batch *batch = ctx_calloc(1, sizeof(*batch));
	enum ctx_status status = CTX_OK;

	if (batch == NULL)
		return ctx_err_nomem(err);
	batch->options = *options;
	batch->chain.max_stack = options->max_stack;
	if (options->stack_bytes != 0)
		status = prepare_unwinding(batch, err);
	if (status != CTX_OK) {
		ctx_sample_batch_destroy(batch);
		return status;
	}
	*ret = batch;
	return CTX_OK;
}

void ctx_sample_batch_destroy(struct ctx_sample_batch *batch)
{
	if (batch == NULL)
		return;
	ctx_unwind_pool_destroy(batch->pool);
	ctx_codemaps_destroy(batch->maps);
	ctx_stack_memory_deinit(&batch->memory);
	ctx_stack_bottoms_deinit(&batch->bottoms);
	ctx_outermost_destroy(batch->outermost);
	free(batch->frames);
	free(batch->chains);
	free(batch->runs);
	free(batch);
}

void ctx_sample_batch_hurry(struct ctx_sample_batch *batch, bool hurries)
{
	batch->hurries = hurries;
}

const struct ctx_copy_trial *ctx_sample_batch_try(struct ctx_sample_batch *batch, bool is_on)
{
	batch->trial.is_on = is_on;
	return &batch->trial;
}

struct ctx_exp_unwinding ctx_sample_batch_counts(const struct ctx_sample_batch *batch)
{
	struct ctx_exp_unwinding counts = batch->counts;

	counts.unread = ctx_outermost_unread(batch->outermost);
	return counts;
}

static bool is_brief(const struct ctx_sample_batch *batch, const struct ctx_perf_record *record)
{
	return batch->options.brief_event != 0 && record->event >= batch->options.brief_event;
}

static void set_point(struct item *item, const struct ctx_pe_sample *sample)
{
	bool has_regs = sample->regs_abi == PERF_SAMPLE_REGS_ABI_64;

	item->point = (struct ctx_wait_point){.pc = has_regs ? ctx_pe_sample_user_pc(sample) : 0,
					      .sp = has_regs ? ctx_pe_sample_user_sp(sample) : 0,
					      .stack = sample->user_stack,
					      .stack_bytes = (size_t)sample->user_stack_bytes};
}

/* What the probe read for this sample is kept with its job. */
static void set_python(struct ctx_sample_batch *batch, struct input *input)
{
	const struct ctx_python_chain *chain = ctx_python_chain_of(batch->options.python, &input->record);

	if (chain == NULL)
		return;
	memcpy(&batch->chains[batch->n_jobs], chain,
	       offsetof(struct ctx_python_chain, entries) + (size_t)chain->n * sizeof(chain->entries[0]));
	input->python = &batch->chains[batch->n_jobs];
}

static bool has_edge(const struct ctx_sample_batch *batch, const struct ctx_perf_record *record)
{
	const struct ctx_perf_events *events = batch->options.events;

	return events != NULL && record->event < events->n &&
	       events->items[record->event].stack != CTX_PERF_STACK_WHOLE;
}

/* Keeps the inputs of an item's stack. */
static void set_stack(struct ctx_sample_batch *batch, struct item *item, const struct ctx_perf_record *record)
{
	struct input *input;
	bool can_unwind;

	item->is_brief = is_brief(batch, record);
	if (item->is_brief)
		set_point(item, &record->sample);
	if (item->is_brief && record->sample.n_chain == 0)
		return;
	input = item->input = &batch->inputs[batch->n_inputs++];
	input->record = *record;
	input->user = (struct ctx_user_state){0};
	input->python = NULL;
	item->is_edge = has_edge(batch, record);
	if (item->is_edge || item->instead != 0)
		return;
	if (record->sample.user_regs != NULL)
		ctx_pe_sample_user_state(&record->sample, &input->user);
	can_unwind =
		batch->frames != NULL && input->user.regs.machine != CTX_MACHINE_UNKNOWN && !item->is_brief;
	item->is_skipped = can_unwind && batch->hurries;
	if (!can_unwind || batch->hurries)
		return;
	item->job = &batch->jobs[batch->n_jobs];
	*item->job = (struct ctx_unwind_job){
		.state = &input->user,
		.view = {.maps = batch->maps, .process = item->process, .pid = record->pid},
		.frames = batch->frames + batch->n_jobs * batch->max_frames,
		.max = batch->max_frames,
	};
	/* Kept copies are all that their stacks come from. */
	if (!batch->options.keep_stacks)
		item->job->chain = ctx_callchain_user(record);
	if (batch->chains != NULL)
		set_python(batch, input);
	batch->n_jobs++;
}

/* Room for one more. */
static enum ctx_status make_room(struct ctx_sample_batch *batch, struct ctx_err *err)
{
	return batch->n == BATCH_MAX || batch->n_jobs == JOBS_MAX ? ctx_sample_batch_flush(batch, err)
								  : CTX_OK;
}

enum ctx_status ctx_sample_batch_add(struct ctx_sample_batch *batch, const struct ctx_perf_record *record,
				     uint32_t process, uint32_t thread, struct ctx_err *err)
{
	enum ctx_status status = make_room(batch, err);
	struct item *item;

	if (status != CTX_OK)
		return status;
	item = &batch->items[batch->n++];
	*item = (struct item){.process = process, .thread = thread, .state.thread = CTX_NONE};
	if (batch->options.vms != NULL) {
		const struct ctx_vms_stack stack = {
			.process = process, .pid = record->pid, .time_ns = record->time_ns};

		status = ctx_vms_leaves_out(batch->options.vms, &stack, &item->instead, err);
	}
	set_stack(batch, item, record);
	return status;
}

enum ctx_status ctx_sample_batch_add_state(struct ctx_sample_batch *batch, const struct ctx_exp_state *state,
					   const struct ctx_perf_record *record, uint32_t thread,
					   struct ctx_err *err)
{
	enum ctx_status status = make_room(batch, err);
	struct item *item;

	if (status != CTX_OK)
		return status;
	item = &batch->items[batch->n++];
	*item = (struct item){.process = state->process, .thread = thread, .state = *state};
	if (record != NULL)
		set_stack(batch, item, record);
	return CTX_OK;
}

bool ctx_sample_batch_join(struct ctx_sample_batch *batch, uint32_t thread, enum ctx_state_change change)
{
	size_t end = batch->n > JOIN_MAX ? batch->n - JOIN_MAX : 0;

	for (size_t i = batch->n; i-- > end;) {
		struct ctx_exp_state *state = &batch->items[i].state;

		if (state->thread != thread || state->change == CTX_SEEN_WAKING)
			continue;
		switch (state->change) {
		case CTX_SEEN_LEAVES:
			state->change =
				change == CTX_SEEN_OFF_PREEMPTED ? CTX_CHANGE_PREEMPTED : CTX_CHANGE_BLOCKED;
			return true;
		case CTX_CHANGE_PREEMPTED:
		case CTX_CHANGE_BLOCKED:
		case CTX_CHANGE_STOPPED:
			return true;
		default:
			return false;
		}
	}
	return false;
}

/* Statistics of unwinding cover samples only: less is copied of other stacks. */
static void count(struct ctx_sample_batch *batch, const struct item *item, const struct ctx_unwound *user)
{
	if (item->state.thread != CTX_NONE)
		return;
	batch->counts.ends[user->end]++;
	batch->counts.joined += user->joined != NULL && !user->has_gap;
	batch->counts.gap += user->has_gap;
	batch->counts.exec += user->is_in_exec;
}

static void count_steps(struct ctx_sample_batch *batch, const struct item *item,
			const struct ctx_unwound *user)
{
	if (item->state.thread != CTX_NONE)
		return;
	batch->counts.by_code += item->job->steps.by_code != 0;
	batch->counts.by_frame_pointer += item->job->steps.by_frame_pointer != 0;
	batch->counts.by_chain += item->job->steps.by_chain != 0 && user->n == item->job->n;
	ctx_copy_trial_take(&batch->trial, item->job);
}

/* Whether a stack of this process's program was seen before; notes it if this is one. */
static bool has_run(struct ctx_sample_batch *batch, uint32_t process, bool runs)
{
	bool has = process < batch->n_runs && batch->runs[process];

	if (!runs || has)
		return has;
	/* Without memory it is asked again. */
	if (ctx_grow(&batch->runs, &batch->runs_cap, (size_t)process + 1, NULL) != CTX_OK)
		return has;
	while (batch->n_runs <= process)
		batch->runs[batch->n_runs++] = false;
	batch->runs[process] = true;
	return has;
}

/*
 * An execve in progress: the process has its new image, which has not run yet, and its registers are
 * still those of the old one, of which nothing is left.
 */
static bool is_in_exec(struct ctx_sample_batch *batch, const struct item *item)
{
	const struct ctx_unwind_job *job = item->job;
	bool is_nowhere = job->n <= 1 && job->end == CTX_TRUNCATED_NO_MAP;

	return !has_run(batch, item->process, !is_nowhere) && is_nowhere &&
	       ctx_chainwalk_part_of(item->input->record.misc) == CTX_CHAINWALK_KERNEL;
}

/* Whether the instructions in front of a pc are the system call execve or execveat, as in libc. */
static bool is_behind_execve(const struct item *item, uint64_t pc)
{
#if defined(__x86_64__)
	static const uint8_t calls[][CALL_BYTES] = {
		{0xb8, 0x3b, 0x00, 0x00, 0x00, 0x0f, 0x05},  /* mov eax, 59; syscall */
		{0xb8, 0x42, 0x01, 0x00, 0x00, 0x0f, 0x05}}; /* mov eax, 322; syscall */
#else
	static const uint8_t calls[][CALL_BYTES] = {
		{0xa8, 0x1b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},  /* mov x8, 221; svc 0 */
		{0x28, 0x23, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}}; /* mov x8, 281; svc 0 */
#endif
	struct ctx_code_view view = item->job->view;
	struct ctx_unwind_space space = ctx_code_view_space(&view);
	uint8_t code[CALL_BYTES];

	return space.read_code(space.context, pc - CALL_BYTES, code, CALL_BYTES) == CALL_BYTES &&
	       (memcmp(code, calls[0], CALL_BYTES) == 0 || memcmp(code, calls[1], CALL_BYTES) == 0);
}

/*
 * An execve in progress that has taken the memory of the old image, of which the recorder still thinks:
 * nothing of the stack could be copied.
 */
static bool is_taking_stack(const struct item *item)
{
	const struct ctx_unwind_job *job = item->job;

	return job->n == 1 && job->end == CTX_TRUNCATED_COPY && item->input->user.stack_bytes == 0 &&
	       ctx_chainwalk_part_of(item->input->record.misc) == CTX_CHAINWALK_KERNEL &&
	       is_behind_execve(item, job->frames[0].address);
}

/*
 * The rest of a stack whose copy ended too early: from the thread's remembered stacks, else its outermost
 * part from the memory of the process.
 */
static struct ctx_stack_part find_callers(struct ctx_sample_batch *batch, const struct item *item,
					  struct ctx_unwound *user)
{
	struct ctx_code_view *view = &item->job->view;
	struct ctx_outermost_cut cut = {.view = view,
					.time_ns = item->input->record.time_ns,
					.thread = item->thread,
					.part = {user->frames, user->n}};
	struct ctx_stack_part callers =
		ctx_stack_memory_callers(&batch->memory, item->thread, view, cut.part);

	if (callers.frames == NULL) {
		cut.sp = item->input->user.regs.value[ctx_machine_sp(item->input->user.regs.machine)];
		callers = ctx_outermost_find(batch->outermost, &cut);
		user->has_gap = callers.frames != NULL;
	}
	if (callers.frames != NULL) {
		user->joined = callers.frames;
		user->n_joined = callers.n;
		user->end = CTX_TRUNCATED_NOT;
	}
	return callers;
}

/*
 * Frames of the kernel's chain hold only up to the root, which the start code leads to; without it the stack is cut where its
 * copy ends.
 */
static void end_chain(const struct ctx_sample_batch *batch, const struct item *item, struct ctx_unwound *user)
{
	const struct ctx_unwind_job *job = item->job;
	struct ctx_stack_part bottom;

	if (job->steps.by_chain == 0 || user->end != CTX_TRUNCATED_COPY)
		return;
	bottom = ctx_stack_bottoms_callers(&batch->bottoms, item->process, job->frames[job->n - 1].address);
	if (bottom.frames == NULL) {
		user->n -= job->steps.by_chain;
		return;
	}
	user->joined = bottom.frames;
	user->n_joined = bottom.n;
	user->end = CTX_TRUNCATED_NOT;
}

/* A stack up to its root by its copy alone is an example for others. */
static void remember(struct ctx_sample_batch *batch, const struct item *item, const struct ctx_unwound *user,
		     struct ctx_stack_part callers)
{
	const struct ctx_stack_part part = {user->frames, user->n};
	struct ctx_code_view view = item->job->view;

	if (user->end != CTX_TRUNCATED_NOT || user->n == 0 || user->has_gap || user->is_in_exec ||
	    item->job->steps.by_chain != 0)
		return;
	ctx_stack_memory_keep(&batch->memory, item->thread, part, callers);
	if (user->joined == NULL)
		ctx_stack_bottoms_offer(&batch->bottoms, &view, part);
}

/* Builds one stack from the unwound frames and what else is known of the thread's. */
static void compose(struct ctx_sample_batch *batch, const struct item *item)
{
	struct ctx_unwind_job *job = item->job;
	struct ctx_unwound user = {.frames = job->frames, .n = job->n, .end = job->end};
	struct ctx_stack_part callers = {0};

	if (is_in_exec(batch, item))
		user = (struct ctx_unwound){
			.frames = job->frames, .end = CTX_TRUNCATED_NOT, .is_in_exec = true};
	else if (is_taking_stack(item))
		user = (struct ctx_unwound){
			.frames = job->frames, .n = 1, .end = CTX_TRUNCATED_NOT, .is_in_exec = true};
	end_chain(batch, item, &user);
	if (user.end == CTX_TRUNCATED_COPY && user.n != 0)
		callers = find_callers(batch, item, &user);
	count(batch, item, &user);
	count_steps(batch, item, &user);
	ctx_callchain_compose(&batch->chain, &item->input->record, &user);
	remember(batch, item, &user, callers);
}

static struct ctx_wait_at place_of(const struct item *item)
{
	return (struct ctx_wait_at){.process = item->process,
				    .thread = item->thread,
				    .what = item->state.change,
				    .point = item->is_brief ? item->point
							    : ctx_wait_point_of(&item->input->user)};
}

/* The kernel's part is the sample's own if it has one. */
static struct ctx_wait_stack put_recognised(struct ctx_sample_batch *batch, const struct item *item,
					    struct ctx_wait_stack stack)
{
	struct ctx_callchain *chain = &batch->chain;
	size_t skip = 0;

	ctx_callchain_unwind(chain, &item->input->record);
	while (skip < stack.n && stack.frames[skip] >= CTX_KERNEL_START &&
	       !ctx_frame_is_mark(stack.frames[skip]))
		skip++;
	if (stack.n > skip)
		memcpy(chain->frames + chain->n, stack.frames + skip,
		       (stack.n - skip) * sizeof(*stack.frames));
	chain->n += stack.n - skip;
	return (struct ctx_wait_stack){.frames = chain->frames, .n = chain->n};
}

/* What is not known whole is left to the kernel's chain, if there is one. */
static bool recognise(struct ctx_sample_batch *batch, const struct item *item, struct ctx_wait_stack *ret)
{
	struct ctx_wait_at at;

	if (!item->is_brief && (!item->is_skipped || item->state.thread == CTX_NONE ||
				!ctx_wait_places_has_begun(batch->options.places)))
		return false;
	at = place_of(item);
	*ret = ctx_wait_places_find(batch->options.places, &at);
	if (!item->is_brief &&
	    (ret->n == 0 || ctx_frame_truncation(ret->frames[ret->n - 1]) != CTX_TRUNCATED_NOT))
		return false;
	if (item->input != NULL && item->input->record.sample.n_chain != 0)
		*ret = put_recognised(batch, item, *ret);
	return true;
}

/* Registers are missing where a wake-up came from outside of the recording. */
static void learn(struct ctx_sample_batch *batch, const struct item *item)
{
	const struct ctx_wait_at at = place_of(item);
	const struct ctx_wait_stack stack = {.frames = batch->chain.frames, .n = batch->chain.n};
	const struct ctx_unwind_job *job = item->job;
	bool is_from_outside = item->state.change == CTX_SEEN_WAKING && item->state.waker != item->thread;

	if (item->state.thread == CTX_NONE || item->is_skipped || item->n_named != 0 || is_from_outside ||
	    batch->options.places == NULL || item->input->record.sample.layout->regs_user == 0)
		return;
	ctx_wait_places_learn(batch->options.places, &at, stack, job != NULL ? job->frames : NULL,
			      job != NULL ? job->n : 0);
}

static struct ctx_wait_stack make_stack(struct ctx_sample_batch *batch, const struct item *item)
{
	struct ctx_wait_stack stack;

	if (item->instead != 0)
		return (struct ctx_wait_stack){.frames = &item->instead, .n = 1};
	if (item->is_edge) {
		ctx_callchain_edge(&batch->chain, &item->input->record);
		return (struct ctx_wait_stack){.frames = batch->chain.frames, .n = batch->chain.n};
	}
	if (recognise(batch, item, &stack))
		return stack;
	if (item->job != NULL)
		compose(batch, item);
	else
		ctx_callchain_unwind(&batch->chain, &item->input->record);
	if (item->is_skipped) {
		ctx_callchain_end(&batch->chain, CTX_TRUNCATED_SKIPPED);
		count(batch, item, &(struct ctx_unwound){.end = CTX_TRUNCATED_SKIPPED});
	}
	learn(batch, item);
	return (struct ctx_wait_stack){.frames = batch->chain.frames, .n = batch->chain.n};
}

/* Puts the functions of Python between the frames of the interpreter. */
static enum ctx_status put_python(struct ctx_sample_batch *batch, const struct item *item,
				  struct ctx_wait_stack *stack, struct ctx_err *err)
{
	struct ctx_python_stack native = {.frames = stack->frames, .n = stack->n}, with;
	enum ctx_status status;
	bool is_named;

	if (item->job == NULL || item->input->python == NULL)
		return CTX_OK;
	native.pid = item->input->record.pid;
	native.process = item->process;
	native.time_ns = item->input->record.time_ns;
	native.chain = item->input->python;
	status = ctx_python_name(batch->options.python, &native, &with, &is_named, err);
	if (status == CTX_OK && is_named)
		*stack = (struct ctx_wait_stack){.frames = with.frames, .n = with.n};
	return status;
}

static enum ctx_status write_state(struct ctx_sample_batch *batch, struct item *item, struct ctx_err *err)
{
	struct ctx_wait_stack stack = {0};
	enum ctx_status status = CTX_OK;

	if (item->input != NULL || item->is_brief)
		stack = make_stack(batch, item);
	status = put_python(batch, item, &stack, err);
	if (status != CTX_OK)
		return status;
	item->state.frames = stack.frames;
	item->state.n_frames = stack.n;
	item->state.known = stack.known;
	return ctx_exp_state(batch->options.writer, &item->state, err);
}

static enum ctx_status write_access(struct ctx_sample_batch *batch, const struct ctx_exp_sample *written,
				    const struct ctx_pe_sample *sample, struct ctx_err *err)
{
	const struct ctx_perf_event *event = &batch->options.events->items[written->metric];
	struct ctx_exp_memory_access access = {.time_ns = written->time_ns,
					       .process = written->process,
					       .thread = written->thread,
					       .cpu = written->cpu,
					       .address = sample->address,
					       .latency = sample->weight,
					       .source = sample->data_source,
					       .frames = written->frames,
					       .n_frames = written->n_frames};
	enum ctx_status status;

	if (!event->has_address || sample->address == 0)
		return CTX_OK;
	access.operation = (uint8_t)ctx_perf_event_operation(event, sample->data_source);
	status = ctx_data_maps_find(batch->options.data_maps, sample->pid, sample->address, &access.mapped,
				    err);
	return status == CTX_OK ? ctx_exp_access(batch->options.writer, &access, err) : status;
}

static enum ctx_status write_sample(struct ctx_sample_batch *batch, const struct item *item,
				    struct ctx_err *err)
{
	const struct ctx_perf_record *record = &item->input->record;
	struct ctx_wait_stack stack = make_stack(batch, item);
	struct ctx_exp_sample sample = {.time_ns = record->time_ns,
					.process = item->process,
					.thread = item->thread,
					.metric = record->event,
					.cpu = record->cpu,
					.weight = record->sample.period};
	enum ctx_status status = put_python(batch, item, &stack, err);

	sample.frames = stack.frames;
	sample.n_frames = stack.n;
	if (status == CTX_OK)
		status = ctx_exp_sample(batch->options.writer, &sample, err);
	if (status == CTX_OK && batch->options.data_maps != NULL)
		status = write_access(batch, &sample, &record->sample, err);
	if (status == CTX_OK && batch->options.keep_stacks &&
	    item->input->user.regs.machine != CTX_MACHINE_UNKNOWN)
		status = ctx_exp_keep_stack(batch->options.writer, &sample, &item->input->user, err);
	return status;
}

static enum ctx_status write_item(struct ctx_sample_batch *batch, struct item *item, struct ctx_err *err)
{
	return item->state.thread != CTX_NONE ? write_state(batch, item, err)
					      : write_sample(batch, item, err);
}

/* Frames of virtual machines get their names as soon as they are unwound, before they are remembered. */
static enum ctx_status name_frames(struct ctx_sample_batch *batch, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; batch->options.vms != NULL && i < batch->n && status == CTX_OK; i++) {
		struct item *item = &batch->items[i];
		struct ctx_unwind_job *job = item->job;
		struct ctx_vms_stack stack = {.process = item->process};
		struct ctx_vms_frames frames;

		if (job == NULL)
			continue;
		frames = (struct ctx_vms_frames){.items = job->frames, .n = job->n};
		stack.pid = item->input->record.pid;
		stack.time_ns = item->input->record.time_ns;
		stack.state = &item->input->user;
		status = ctx_vms_name(batch->options.vms, &stack, &frames, err);
		item->n_named = frames.n_named;
		job->n = frames.n;
	}
	return status;
}

enum ctx_status ctx_sample_batch_flush(struct ctx_sample_batch *batch, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (batch->n_jobs != 0) {
		status = ctx_codemaps_refresh(batch->maps, err);
		if (status == CTX_OK)
			ctx_unwind_pool_run(batch->pool, batch->jobs, batch->n_jobs);
		if (status == CTX_OK)
			status = name_frames(batch, err);
	}
	for (size_t i = 0; i < batch->n && status == CTX_OK; i++)
		status = write_item(batch, &batch->items[i], err);
	batch->n = batch->n_inputs = batch->n_jobs = 0;
	return status;
}
