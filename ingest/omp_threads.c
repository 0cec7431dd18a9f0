#include "ingest/omp_threads.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SEVERAL UINT32_MAX /* as a schedule: its loops have different ones */

enum open_kind { OPEN_REGION, OPEN_TASK, OPEN_SHARE, OPEN_WAIT };

/* What a thread is in. */
struct open {
	uint64_t begin_ns;
	uint64_t work_ns, wait_ns; /* of a region, in the part of the thread; a task: work_ns is its own */
	uint32_t raw;
	union {
		uint32_t id;   /* region: its place; task: its number */
		uint32_t skip; /* of a work-sharing construct: frames of the thread that its stack has */
	};
	uint32_t inner_raw; /* of a task: what is created in it hangs below that */
	uint32_t depth;	    /* of a task */
	uint32_t outer;	    /* of a region: place of the one around it */
	uint8_t kind;	    /* enum open_kind */
	uint8_t state;	    /* enum ctx_omp_state */
	bool is_joined;	    /* a region: of another thread */
};

struct thread {
	struct open *open; /* owned; from the outermost */
	size_t n, cap;
	uint64_t since_ns;  /* up to there its spans are emitted */
	uint32_t n_regions; /* among what is open */
	uint32_t region;    /* place of the innermost; only with n_regions */
	/* The work-sharing construct that has just ended, whose barrier may follow; raw 0: none. */
	struct ctx_omp_base ended_share;
	bool is_known, is_worker, ended;
};

struct region {
	uint64_t key; /* process << 32 | number */
	uint64_t begin_ns, work_ns, wait_ns, longest_ns;
	uint32_t raw, overhead_raw, caller_raw;
	uint32_t schedule; /* ctx_omp_share_pack, of its loops; 0: not known */
	uint32_t *members; /* owned: threads that have joined; kept when it is free */
	size_t n, cap;
	uint32_t n_parts; /* of threads that are done */
};

struct task {
	uint32_t raw; /* where it was created */
	uint32_t work, depth;
	bool is_loop; /* many begin */
};

struct ctx_omp_threads {
	struct ctx_omp_options options;
	struct thread *threads; /* by number */
	size_t n_threads, threads_cap;
	struct region *regions;
	size_t n_regions, regions_cap;
	uint32_t *free_regions;
	size_t n_free_regions, free_regions_cap;
	struct ctx_map64 region_of; /* key -> place */
	struct task *tasks;
	size_t n_tasks, tasks_cap;
	uint32_t *free_tasks;
	size_t n_free_tasks, free_tasks_cap;
	struct ctx_map64 task_of; /* key -> place */
	uint64_t now_ns;
};

enum ctx_status ctx_omp_threads_create(const struct ctx_omp_options *options, struct ctx_omp_threads **ret,
				       struct ctx_err *err)
{
	struct ctx_omp_threads *threads = ctx_calloc(1, sizeof(*threads));

	if (threads == NULL)
		return ctx_err_nomem(err);
	threads->options = *options;
	*ret = threads;
	return CTX_OK;
}

void ctx_omp_threads_destroy(struct ctx_omp_threads *threads)
{
	if (threads == NULL)
		return;
	for (size_t i = 0; i < threads->n_threads; i++)
		free(threads->threads[i].open);
	for (size_t i = 0; i < threads->n_regions; i++)
		free(threads->regions[i].members);
	free(threads->threads);
	free(threads->regions);
	free(threads->free_regions);
	free(threads->tasks);
	free(threads->free_tasks);
	ctx_map64_deinit(&threads->region_of);
	ctx_map64_deinit(&threads->task_of);
	free(threads);
}

static uint64_t key_of(uint32_t process, uint32_t number)
{
	return (uint64_t)process << 32 | number;
}

static enum ctx_status thread_of(struct ctx_omp_threads *threads, uint32_t number, struct thread **ret,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&threads->threads, &threads->threads_cap, (size_t)number + 1, err);

	if (status != CTX_OK)
		return status;
	while (threads->n_threads <= number)
		threads->threads[threads->n_threads++] = (struct thread){0};
	*ret = &threads->threads[number];
	return CTX_OK;
}

/* --- time --- */

static struct open *innermost(const struct thread *thread, enum open_kind kind)
{
	for (size_t i = thread->n; i-- != 0;) {
		if (thread->open[i].kind == kind)
			return &thread->open[i];
	}
	return NULL;
}

static struct ctx_omp_span span_of(const struct ctx_omp_threads *threads, const struct thread *thread)
{
	const struct open *top = thread->n != 0 ? &thread->open[thread->n - 1] : NULL;
	struct ctx_omp_span span = {.begin_ns = thread->since_ns,
				    .end_ns = threads->now_ns,
				    .thread = (uint32_t)(thread - threads->threads)};

	if (thread->n_regions == 0) {
		span.state = thread->is_worker ? CTX_OMP_IDLE : CTX_OMP_SERIAL;
		span.raw_stack = thread->is_worker ? threads->options.idle_raw : threads->options.serial_raw;
		return span;
	}
	span.state = (enum ctx_omp_state)top->state;
	span.raw_stack = top->kind == OPEN_REGION && top->state == CTX_OMP_OVERHEAD
				 ? threads->regions[top->id].overhead_raw
				 : top->raw;
	return span;
}

/* The thread's time up to now. */
static enum ctx_status account(struct ctx_omp_threads *threads, struct thread *thread, struct ctx_err *err)
{
	const struct ctx_omp_span span = span_of(threads, thread);
	uint64_t ns = span.end_ns - span.begin_ns;
	struct open *region = thread->n_regions != 0 ? &thread->open[thread->region] : NULL;
	struct open *top = thread->n != 0 ? &thread->open[thread->n - 1] : NULL;

	if (ns == 0)
		return CTX_OK;
	thread->since_ns = threads->now_ns;
	if (region != NULL && ctx_omp_metric_of(span.state) == CTX_OMP_METRIC_WORK)
		region->work_ns += ns;
	else if (region != NULL && span.state != CTX_OMP_OVERHEAD)
		region->wait_ns += ns;
	if (top != NULL && top->kind == OPEN_TASK)
		top->work_ns += ns;
	return threads->options.sink.span(threads->options.sink.context, &span, err);
}

static void go_on(struct ctx_omp_threads *threads, uint64_t time_ns)
{
	if (time_ns > threads->options.last_ns)
		time_ns = threads->options.last_ns;
	if (time_ns > threads->now_ns)
		threads->now_ns = time_ns;
}

/* --- what is open --- */

static enum ctx_status push(struct ctx_omp_threads *threads, struct thread *thread, const struct open *open,
			    struct ctx_err *err)
{
	enum ctx_status status;

	if (thread->n >= CTX_OMP_DEPTH_MAX)
		return CTX_OK;
	status = ctx_grow(&thread->open, &thread->cap, thread->n + 1, err);
	if (status != CTX_OK)
		return status;
	thread->open[thread->n] = *open;
	thread->open[thread->n].begin_ns = threads->now_ns;
	if (open->kind == OPEN_REGION) {
		thread->open[thread->n].outer = thread->region;
		thread->region = (uint32_t)thread->n;
		thread->n_regions++;
	}
	thread->n++;
	return CTX_OK;
}

/* The thread's part of the region ends. */
static void leave_region(struct ctx_omp_threads *threads, struct thread *thread, const struct open *part)
{
	struct region *region = &threads->regions[part->id];
	uint64_t inner_ns = threads->now_ns - part->begin_ns;
	struct open *outer;

	region->work_ns += part->work_ns;
	region->wait_ns += part->wait_ns;
	region->longest_ns = part->work_ns > region->longest_ns ? part->work_ns : region->longest_ns;
	region->n_parts++;
	thread->n_regions--;
	thread->region = part->outer;
	outer = thread->n_regions != 0 ? &thread->open[thread->region] : NULL;
	if (outer != NULL)
		outer->work_ns += inner_ns;
}

/* What is open from `to` on ends, without operations. */
static void pop_to(struct ctx_omp_threads *threads, struct thread *thread, size_t to)
{
	while (thread->n > to) {
		const struct open open = thread->open[--thread->n];

		if (open.kind == OPEN_REGION)
			leave_region(threads, thread, &open);
	}
}

/* --- regions --- */

/* A place that is free. */
static enum ctx_status new_region(struct ctx_omp_threads *threads, uint64_t key, uint32_t *ret,
				  struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&threads->region_of, key);
	enum ctx_status status;
	struct region *region;
	size_t i = threads->n_regions;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (threads->n_free_regions != 0) {
		i = threads->free_regions[--threads->n_free_regions];
	} else {
		status = ctx_grow(&threads->regions, &threads->regions_cap, i + 1, err);
		if (status != CTX_OK)
			return status;
		threads->regions[threads->n_regions++] = (struct region){0};
	}
	region = &threads->regions[i];
	*region = (struct region){
		.key = key, .begin_ns = threads->now_ns, .members = region->members, .cap = region->cap};
	*place = (uint32_t)i;
	*ret = (uint32_t)i;
	return CTX_OK;
}

static enum ctx_status add_member(struct region *region, uint32_t thread, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&region->members, &region->cap, region->n + 1, err);

	if (status == CTX_OK)
		region->members[region->n++] = thread;
	return status;
}

static enum ctx_status begin_region(struct ctx_omp_threads *threads, struct thread *thread,
				    const struct ctx_omp_input *input, struct ctx_err *err)
{
	uint64_t key = key_of(input->process, input->value);
	uint32_t place = ctx_map64_get(&threads->region_of, key);
	struct open open = {.kind = OPEN_REGION, .state = CTX_OMP_OVERHEAD, .raw = input->raw_stack};
	enum ctx_status status = CTX_OK;

	if (place != CTX_MAP64_NONE) /* its number again: the end was lost */
		return CTX_OK;
	status = new_region(threads, key, &place, err);
	if (status != CTX_OK)
		return status;
	threads->regions[place].raw = input->raw_stack;
	threads->regions[place].overhead_raw = input->overhead_raw;
	threads->regions[place].caller_raw = input->caller_raw;
	open.id = place;
	status = add_member(&threads->regions[place], input->thread, err);
	return status == CTX_OK ? push(threads, thread, &open, err) : status;
}

static enum ctx_status join(struct ctx_omp_threads *threads, struct thread *thread,
			    const struct ctx_omp_input *input, struct ctx_err *err)
{
	uint64_t key = key_of(input->process, input->value);
	uint32_t place = ctx_map64_get(&threads->region_of, key);
	struct open *part = innermost(thread, OPEN_REGION);
	struct open open = {.kind = OPEN_REGION, .state = CTX_OMP_WORK};
	enum ctx_status status = CTX_OK;

	if (place == CTX_MAP64_NONE) /* its begin was lost */
		status = new_region(threads, key, &place, err);
	if (status != CTX_OK)
		return status;
	if (part != NULL && part->id == place) {
		pop_to(threads, thread, (size_t)(part - thread->open) + 1);
		part->state = CTX_OMP_WORK;
		return CTX_OK;
	}
	pop_to(threads, thread, 0);
	thread->is_worker = true;
	open.id = place;
	open.is_joined = true;
	open.raw = threads->regions[place].raw;
	status = add_member(&threads->regions[place], input->thread, err);
	return status == CTX_OK ? push(threads, thread, &open, err) : status;
}

/* The part of the region that the thread has open; SIZE_MAX: none. */
static size_t part_of(const struct thread *thread, uint32_t place)
{
	for (size_t i = thread->n; i-- != 0;) {
		if (thread->open[i].kind == OPEN_REGION && thread->open[i].id == place)
			return i;
	}
	return SIZE_MAX;
}

/* "dynamic, 16", as the sink keeps texts. */
static enum ctx_status name_schedule(struct ctx_omp_threads *threads, const struct region *region,
				     uint32_t *ret, struct ctx_err *err)
{
	const char *word = region->schedule == SEVERAL
				   ? CTX_OMP_SEVERAL
				   : ctx_omp_schedule_word(ctx_omp_schedule_of(region->schedule));
	uint32_t chunk = region->schedule == SEVERAL ? 0 : ctx_omp_chunk_of(region->schedule);
	char text[CTX_OMP_SCHEDULE_TEXT];

	if (*word == '\0')
		return CTX_OK;
	if (chunk != 0)
		snprintf(text, sizeof(text), "%s, %" PRIu32, word, chunk);
	else
		snprintf(text, sizeof(text), "%s", word);
	return threads->options.sink.text(threads->options.sink.context, text, ret, err);
}

/* Of the team, each ends its part now. */
static enum ctx_status end_region(struct ctx_omp_threads *threads, uint32_t place, uint32_t master,
				  struct ctx_err *err)
{
	struct region *region = &threads->regions[place];
	enum ctx_status status = CTX_OK;
	struct ctx_traced operation;
	uint32_t schedule = CTX_NONE;

	for (size_t i = 0; i < region->n && status == CTX_OK; i++) {
		struct thread *thread = &threads->threads[region->members[i]];
		size_t part = part_of(thread, place);

		if (part == SIZE_MAX)
			continue;
		status = account(threads, thread, err);
		pop_to(threads, thread, part);
	}
	if (status == CTX_OK)
		status = name_schedule(threads, region, &schedule, err);
	operation = (struct ctx_traced){.time_ns = threads->now_ns,
					.duration_ns = threads->now_ns - region->begin_ns,
					.self_ns = region->work_ns,
					.off_ns = region->wait_ns,
					.longest_ns = region->longest_ns,
					.thread = master,
					.cpu = -1,
					.raw_stack = region->raw,
					.file = schedule,
					.descriptor = region->n_parts <= INT32_MAX ? (int32_t)region->n_parts
										   : INT32_MAX,
					.kind = CTX_TRACED_OMP,
					.operation = CTX_OMP_OF_REGION};
	ctx_map64_remove(&threads->region_of, region->key);
	if (status == CTX_OK)
		status = ctx_grow(&threads->free_regions, &threads->free_regions_cap,
				  threads->n_free_regions + 1, err);
	if (status == CTX_OK)
		threads->free_regions[threads->n_free_regions++] = place;
	return status == CTX_OK
		       ? threads->options.sink.operation(threads->options.sink.context, &operation, err)
		       : status;
}

static void part(struct thread *thread)
{
	struct open *open = innermost(thread, OPEN_REGION);

	if (open != NULL && open->state == CTX_OMP_WORK)
		open->state = CTX_OMP_OVERHEAD;
}

/* --- waits --- */

static enum ctx_status enter(struct ctx_omp_threads *threads, struct thread *thread,
			     const struct ctx_omp_input *input, struct ctx_err *err)
{
	const struct open open = {.kind = OPEN_WAIT, .state = (uint8_t)input->value, .raw = input->raw_stack};

	return thread->n_regions != 0 ? push(threads, thread, &open, err) : CTX_OK;
}

static bool is_barrier(uint32_t state)
{
	return state == CTX_OMP_EXPLICIT_BARRIER || state == CTX_OMP_IMPLICIT_BARRIER;
}

/* The innermost wait of that state in the innermost region, and what is above it. Of a barrier it is known which when it is entered. */
static void leave(struct ctx_omp_threads *threads, struct thread *thread, uint32_t state)
{
	for (size_t i = thread->n; i-- != 0 && thread->open[i].kind != OPEN_REGION;) {
		if (thread->open[i].kind == OPEN_WAIT &&
		    (thread->open[i].state == state ||
		     (is_barrier(state) && is_barrier(thread->open[i].state)))) {
			pop_to(threads, thread, i);
			return;
		}
	}
}

/* --- work-sharing constructs --- */

static void add_schedule(struct region *region, uint32_t schedule)
{
	if (ctx_omp_schedule_of(schedule) == CTX_OMP_SCHEDULE_NONE || region->schedule == SEVERAL)
		return;
	region->schedule = region->schedule == 0 || region->schedule == schedule ? schedule : SEVERAL;
}

static enum ctx_status begin_share(struct ctx_omp_threads *threads, struct thread *thread,
				   const struct ctx_omp_input *input, struct ctx_err *err)
{
	const struct open open = {
		.kind = OPEN_SHARE, .state = CTX_OMP_WORK, .raw = input->raw_stack, .skip = input->skip};

	if (thread->n_regions == 0)
		return CTX_OK;
	add_schedule(&threads->regions[thread->open[thread->region].id], input->value);
	return push(threads, thread, &open, err);
}

/* The innermost one of the innermost region or task, and what is in it. */
static void end_share(struct ctx_omp_threads *threads, struct thread *thread)
{
	for (size_t i = thread->n; i-- != 0;) {
		const struct open *open = &thread->open[i];

		if (open->kind == OPEN_REGION || open->kind == OPEN_TASK)
			return;
		if (open->kind != OPEN_SHARE)
			continue;
		thread->ended_share = (struct ctx_omp_base){open->raw, open->skip, true};
		pop_to(threads, thread, i);
		return;
	}
}

static void schedule_region(struct ctx_omp_threads *threads, const struct thread *thread, uint32_t schedule)
{
	if (thread->n_regions != 0)
		add_schedule(&threads->regions[thread->open[thread->region].id], schedule);
}

/* --- tasks --- */

static enum ctx_status create_task(struct ctx_omp_threads *threads, const struct thread *thread,
				   const struct ctx_omp_input *input, struct ctx_err *err)
{
	const struct open *creator = innermost(thread, OPEN_TASK);
	uint32_t *place = ctx_map64_place(&threads->task_of, key_of(input->process, input->value));
	enum ctx_status status = CTX_OK;
	uint32_t at = (uint32_t)threads->n_tasks;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE)
		at = *place;
	else if (threads->n_free_tasks != 0)
		at = threads->free_tasks[--threads->n_free_tasks];
	else
		status = ctx_grow(&threads->tasks, &threads->tasks_cap, threads->n_tasks + 1, err);
	if (status != CTX_OK)
		return status;
	threads->n_tasks += at == threads->n_tasks;
	*place = at;
	threads->tasks[at] = (struct task){.raw = input->raw_stack,
					   .work = input->work,
					   .depth = creator != NULL ? creator->depth + 1 : 0,
					   .is_loop = input->event == CTX_OMP_TASKS_CREATE ||
						      input->event == CTX_OMP_TASKS_DISPATCHED};
	return CTX_OK;
}

/* The runtime makes it ready. */
static enum ctx_status dispatch_task(struct ctx_omp_threads *threads, struct thread *thread,
				     const struct ctx_omp_input *input, struct ctx_err *err)
{
	const struct open open = {
		.kind = OPEN_WAIT, .state = CTX_OMP_TASK_DISPATCH, .raw = input->overhead_raw};
	enum ctx_status status = create_task(threads, thread, input, err);

	return status == CTX_OK && thread->n_regions != 0 ? push(threads, thread, &open, err) : status;
}

static enum ctx_status forget_task(struct ctx_omp_threads *threads, uint64_t key, uint32_t at,
				   struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&threads->free_tasks, &threads->free_tasks_cap, threads->n_free_tasks + 1, err);

	if (status != CTX_OK)
		return status;
	threads->free_tasks[threads->n_free_tasks++] = at;
	ctx_map64_remove(&threads->task_of, key);
	return CTX_OK;
}

static enum ctx_status begin_task(struct ctx_omp_threads *threads, struct thread *thread,
				  const struct ctx_omp_input *input, struct ctx_err *err)
{
	uint32_t at = ctx_map64_get(&threads->task_of, key_of(input->process, input->value));
	const struct open open = {.kind = OPEN_TASK,
				  .state = CTX_OMP_WORK,
				  .raw = at != CTX_MAP64_NONE ? threads->tasks[at].raw : input->raw_stack,
				  .id = input->value,
				  .inner_raw = input->raw_stack,
				  .depth = at != CTX_MAP64_NONE ? threads->tasks[at].depth : 0};

	return push(threads, thread, &open, err);
}

static enum ctx_status end_task(struct ctx_omp_threads *threads, struct thread *thread,
				const struct ctx_omp_input *input, struct ctx_err *err)
{
	uint64_t key = key_of(input->process, input->value);
	uint32_t at = ctx_map64_get(&threads->task_of, key);
	struct ctx_traced operation = {.time_ns = threads->now_ns,
				       .thread = input->thread,
				       .cpu = -1,
				       .file = CTX_NONE,
				       .descriptor = -1,
				       .kind = CTX_TRACED_OMP,
				       .operation = CTX_OMP_OF_TASK};
	size_t i = thread->n;
	enum ctx_status status = CTX_OK;

	while (i != 0 && !(thread->open[i - 1].kind == OPEN_TASK && thread->open[i - 1].id == input->value))
		i--;
	if (i == 0)
		return CTX_OK;
	operation.duration_ns = threads->now_ns - thread->open[i - 1].begin_ns;
	operation.self_ns = thread->open[i - 1].work_ns;
	operation.off_ns = operation.duration_ns - operation.self_ns;
	operation.value = thread->open[i - 1].depth;
	pop_to(threads, thread, i - 1);
	if (at != CTX_MAP64_NONE)
		operation.raw_stack = threads->tasks[at].raw;
	if (at != CTX_MAP64_NONE && !threads->tasks[at].is_loop)
		status = forget_task(threads, key, at, err);
	return status == CTX_OK
		       ? threads->options.sink.operation(threads->options.sink.context, &operation, err)
		       : status;
}

static enum ctx_status end_tasks(struct ctx_omp_threads *threads, const struct ctx_omp_input *input,
				 struct ctx_err *err)
{
	uint64_t key = key_of(input->process, input->value);
	uint32_t at = ctx_map64_get(&threads->task_of, key);

	return at != CTX_MAP64_NONE ? forget_task(threads, key, at, err) : CTX_OK;
}

/* --- events --- */

static enum ctx_status apply(struct ctx_omp_threads *threads, struct thread *thread,
			     const struct ctx_omp_input *input, struct ctx_err *err)
{
	uint32_t place;

	switch (input->event) {
	case CTX_OMP_REGION_BEGIN:
		return begin_region(threads, thread, input, err);
	case CTX_OMP_REGION_END:
		place = ctx_map64_get(&threads->region_of, key_of(input->process, input->value));
		return place != CTX_MAP64_NONE ? end_region(threads, place, input->thread, err) : CTX_OK;
	case CTX_OMP_JOIN:
		return join(threads, thread, input, err);
	case CTX_OMP_PART:
		part(thread);
		return CTX_OK;
	case CTX_OMP_ENTER:
		return enter(threads, thread, input, err);
	case CTX_OMP_LEAVE:
		leave(threads, thread, input->value);
		return CTX_OK;
	case CTX_OMP_TASK_CREATE:
	case CTX_OMP_TASKS_CREATE:
		return create_task(threads, thread, input, err);
	case CTX_OMP_TASK_DISPATCHED:
	case CTX_OMP_TASKS_DISPATCHED:
		return dispatch_task(threads, thread, input, err);
	case CTX_OMP_SHARE_BEGIN:
		return begin_share(threads, thread, input, err);
	case CTX_OMP_SHARE_END:
		end_share(threads, thread);
		return CTX_OK;
	case CTX_OMP_SCHEDULED:
		schedule_region(threads, thread, input->value);
		return CTX_OK;
	case CTX_OMP_TASK_BEGIN:
		return begin_task(threads, thread, input, err);
	case CTX_OMP_TASK_END:
		return end_task(threads, thread, input, err);
	case CTX_OMP_TASKS_END:
		return end_tasks(threads, input, err);
	default:
		return ctx_err_set(err, CTX_E_FORMAT, "event %u of OpenMP", (unsigned)input->event);
	}
}

/* Whether the barrier of a construct that has ended does not come any more. Reductions come before it. */
static bool ends_share(const struct ctx_omp_input *input)
{
	if (input->event == CTX_OMP_ENTER)
		return input->value == CTX_OMP_EXPLICIT_BARRIER || input->is_called;
	return input->event != CTX_OMP_LEAVE || is_barrier(input->value);
}

enum ctx_status ctx_omp_threads_event(struct ctx_omp_threads *threads, const struct ctx_omp_input *input,
				      struct ctx_err *err)
{
	struct thread *thread;
	enum ctx_status status = thread_of(threads, input->thread, &thread, err);

	go_on(threads, input->time_ns);
	if (status != CTX_OK || thread->ended)
		return status;
	if (!thread->is_known) {
		thread->is_known = true;
		thread->since_ns = input->born_ns < threads->now_ns ? input->born_ns : threads->now_ns;
		/* A thread that begins with a team has never run alone. */
		thread->is_worker = input->event == CTX_OMP_JOIN;
	}
	status = account(threads, thread, err);
	if (ends_share(input))
		thread->ended_share = (struct ctx_omp_base){0};
	return status == CTX_OK ? apply(threads, thread, input, err) : status;
}

uint32_t ctx_omp_threads_region(const struct ctx_omp_threads *threads, uint32_t number)
{
	const struct thread *thread = number < threads->n_threads ? &threads->threads[number] : NULL;

	return thread != NULL && thread->n_regions != 0 ? innermost(thread, OPEN_REGION)->raw : 0;
}

struct ctx_omp_base ctx_omp_threads_base(const struct ctx_omp_threads *threads, uint32_t number,
					 enum ctx_omp_base_of of)
{
	const struct thread *thread = number < threads->n_threads ? &threads->threads[number] : NULL;

	if (of == CTX_OMP_BASE_OF_BARRIER && thread != NULL && thread->ended_share.raw != 0)
		return thread->ended_share;
	for (size_t i = thread != NULL && thread->n_regions != 0 ? thread->n : 0; i-- != 0;) {
		const struct open *open = &thread->open[i];

		if (open->kind == OPEN_SHARE && of != CTX_OMP_BASE_OF_OUTLINED)
			return (struct ctx_omp_base){open->raw, open->skip, true};
		if (open->kind == OPEN_TASK)
			return (struct ctx_omp_base){.raw = of == CTX_OMP_BASE_OF_CREATED ? open->inner_raw
											  : open->raw};
		if (open->kind == OPEN_REGION)
			return (struct ctx_omp_base){.raw = open->raw};
	}
	return (struct ctx_omp_base){0};
}

bool ctx_omp_threads_doing(const struct ctx_omp_threads *threads, uint32_t number, struct ctx_omp_doing *ret)
{
	const struct thread *thread = number < threads->n_threads ? &threads->threads[number] : NULL;

	if (thread == NULL || !thread->is_known || thread->ended)
		return false;
	*ret = (struct ctx_omp_doing){.state = span_of(threads, thread).state};
	ret->base = ctx_omp_threads_base(threads, number,
					 ret->state == CTX_OMP_IMPLICIT_BARRIER ? CTX_OMP_BASE_OF_BARRIER
										: CTX_OMP_BASE_OF_WAIT);
	/* Who joins has left all others: it is the outermost. */
	if (thread->n != 0 && thread->open[0].kind == OPEN_REGION && thread->open[0].is_joined)
		ret->graft = threads->regions[thread->open[0].id].caller_raw;
	return true;
}

uint32_t ctx_omp_threads_task_work(const struct ctx_omp_threads *threads, uint32_t process, uint32_t number)
{
	uint32_t at = ctx_map64_get(&threads->task_of, key_of(process, number));

	return at != CTX_MAP64_NONE ? threads->tasks[at].work : 0;
}

enum ctx_status ctx_omp_threads_end(struct ctx_omp_threads *threads, uint32_t number, uint64_t time_ns,
				    struct ctx_err *err)
{
	struct thread *thread = number < threads->n_threads ? &threads->threads[number] : NULL;
	enum ctx_status status;

	go_on(threads, time_ns);
	if (thread == NULL || !thread->is_known || thread->ended)
		return CTX_OK;
	status = account(threads, thread, err);
	pop_to(threads, thread, 0);
	thread->ended = true;
	return status;
}

enum ctx_status ctx_omp_threads_finish(struct ctx_omp_threads *threads, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < threads->n_threads && status == CTX_OK; i++)
		status = ctx_omp_threads_end(threads, i, threads->options.last_ns, err);
	return status;
}
