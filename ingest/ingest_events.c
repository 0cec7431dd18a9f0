/*
 *	event source --> ingest.c --+-- PROCESS_*, THREAD_*, USAGE, LOST, ... --> struct ctx_profile (profile_builder.c)
 *	                            +-- MAP, UNMAP, FORK_MAPS --> address space of the process or of the kernel (addrspace.c), mapping list
 *	                            +-- FUNCTION ---> functions by name (resolver_named.c)
 *	                            +-- STACKS -----> dictionary of the process (stackdict.c)
 *	                            +-- SAMPLE -----> raw stack, CCT node (stackdict.c or chaindict.c, resolver.c) --> time trees (forest.c) --> store
 *	                            +-- TRACED -----> raw stack, name of the file --> blocks of operations (forest.c) --> store
 *	                            +-- OMP --------> regions, tasks and waits of the thread (ingest_omp.c) --> spans, operations --> the same
 *	                            +-- CALL -------> open calls of the thread (open_calls.c) --> spans at them, completed calls --> as samples, operations
 *	                            `-- STATE ------> raw stack --> spans of states (state_feed.c) --> samples of the state metrics, as above
 */
#include "ingest/ingest_impl.h"

#include "base/mem.h"
#include "model/jit_code.h"

#include <string.h>

/* The process, and those with lower numbers. */
static enum ctx_status add_process(struct ingest *in, uint32_t number, struct process **ret,
				   struct ctx_err *err)
{
	enum ctx_status status;

	status = ctx_grow(&in->processes, &in->processes_cap, (size_t)number + 1, err);
	if (status != CTX_OK)
		return status;
	while (in->n_processes <= number)
		in->processes[in->n_processes++] = (struct process){0};
	*ret = &in->processes[number];
	return CTX_OK;
}

static inline enum ctx_status process_of(struct ingest *in, uint32_t number, struct process **ret,
					 struct ctx_err *err)
{
	if (number >= in->n_processes)
		return add_process(in, number, ret, err);
	*ret = &in->processes[number];
	return CTX_OK;
}

/* The address space of a map event; CTX_NONE is the kernel. */
static enum ctx_status space_of(struct ingest *in, uint32_t process_number, struct ctx_addrspace **ret,
				struct ctx_err *err)
{
	struct process *process;
	enum ctx_status status;

	if (process_number == CTX_NONE) {
		*ret = &in->kernel_space;
		return CTX_OK;
	}
	status = process_of(in, process_number, &process, err);
	if (status == CTX_OK)
		*ret = &process->space;
	return status;
}

/* The list of mappings covers processes only. */
static enum ctx_status add_mapping(struct ingest *in, const struct ctx_event *event, struct ctx_mapped *map,
				   struct ctx_err *err)
{
	enum ctx_status status;

	map->record = CTX_NONE;
	if (event->process == CTX_NONE)
		return CTX_OK;
	status = ctx_grow(&in->mappings, &in->mappings_cap, in->n_mappings + 1, err);
	if (status != CTX_OK)
		return status;
	map->record = (uint32_t)in->n_mappings;
	in->mappings[in->n_mappings++] = (struct ctx_mapping_info){
		.process = event->process,
		.object = map->object,
		.address = event->map.address,
		.size = event->map.size,
		.file_offset = event->map.file_offset,
		.life = {event->time_ns, in->source->info.duration_ns},
	};
	return CTX_OK;
}

static enum ctx_status map_part(struct ctx_addrspace *space, const struct ctx_mapped *map, uint64_t begin,
				uint64_t end, struct ctx_err *err)
{
	struct ctx_mapped part = *map;

	if (begin >= end)
		return CTX_OK;
	part.begin = begin;
	part.end = end;
	part.file_offset += begin - map->begin;
	return ctx_addrspace_map(space, &part, err);
}

/*
 * Memory of a virtual machine that grows: the kernel reports it whole, with what is there already. Code that was put into
 * that part stays.
 */
static enum ctx_status map_anonymous(struct process *process, const struct ctx_mapped *map,
				     struct ctx_err *err)
{
	const struct ctx_ranges *known = &process->anonymous;
	enum ctx_status status = CTX_OK;
	uint64_t end = map->end, bytes;

	for (size_t i = ctx_ranges_below(known, map->end);
	     i < known->n && known->items[i].end > map->begin && status == CTX_OK; i++) {
		status = map_part(&process->space, map, known->items[i].end, end, err);
		end = known->items[i].begin > map->begin ? known->items[i].begin : map->begin;
	}
	if (status == CTX_OK)
		status = map_part(&process->space, map, map->begin, end, err);
	return status == CTX_OK ? ctx_ranges_put(&process->anonymous,
						 (struct ctx_range){map->begin, map->end, 0}, &bytes, err)
				: status;
}

static enum ctx_status map_in_process(struct ingest *in, const struct ctx_event *event,
				      const struct ctx_mapped *map, struct ctx_err *err)
{
	struct process *process = &in->processes[event->process];
	uint64_t bytes;
	enum ctx_status status = CTX_OK;

	if (event->map.function[0] == '\0' && ctx_jit_code_is(event->map.path))
		return map_anonymous(process, map, err);
	if (event->map.function[0] == '\0' && process->anonymous.n != 0)
		status = ctx_ranges_cut(&process->anonymous, map->begin, map->end, &bytes, err);
	return status == CTX_OK ? ctx_addrspace_map(&process->space, map, err) : status;
}

static enum ctx_status on_map(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_mapped map = {
		.begin = event->map.address,
		.end = event->map.address + event->map.size,
		.file_offset = event->map.file_offset,
	};
	struct ctx_addrspace *space;
	enum ctx_status status = space_of(in, event->process, &space, err);

	if (status == CTX_OK && map.end <= map.begin)
		return ctx_profile_builder_damage(
			&in->entities, "a map without size or past the end of the address space", err);
	if (status == CTX_OK && event->map.function[0] != '\0')
		status = ctx_resolver_dynamic(in->resolver, &event->map, &map, err);
	else if (status == CTX_OK)
		status = ctx_resolver_object(in->resolver, &event->map, &map.object, err);
	if (status == CTX_OK)
		status = add_mapping(in, event, &map, err);
	if (status != CTX_OK)
		return status;
	return event->process == CTX_NONE ? ctx_addrspace_map(space, &map, err)
					  : map_in_process(in, event, &map, err);
}

#define INHERITED_MAX ((size_t)2 << 20)

/* Copies of maps, of all processes, are bounded: a line of a few bytes stands for all of a process. */
static enum ctx_status on_fork_maps(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct process *process, *parent;
	struct ctx_mapped map;
	enum ctx_status status = process_of(in, event->maps_of, &parent, err);

	if (status == CTX_OK)
		status = process_of(in, event->process, &process, err);
	if (status != CTX_OK || event->maps_of == event->process)
		return status;
	parent = &in->processes[event->maps_of]; /* may have moved */
	if (parent->space.ranges.n > CTX_RANGES_MAX ||
	    parent->space.ranges.n > INHERITED_MAX - in->inherited.n) {
		if (in->inherited.are_left_out)
			return CTX_OK;
		in->inherited.are_left_out = true;
		return ctx_profile_builder_damage(
			&in->entities,
			"more maps of forked processes than are copied: code in the others has no name", err);
	}
	in->inherited.n += parent->space.ranges.n;
	for (size_t i = 0; status == CTX_OK && ctx_addrspace_part(&parent->space, i, &map); i++) {
		struct ctx_event inherited = {.process = event->process, .time_ns = event->time_ns};

		inherited.map = (struct ctx_map_event){
			.address = map.begin, .size = map.end - map.begin, .file_offset = map.file_offset};
		status = add_mapping(in, &inherited, &map, err);
		if (status == CTX_OK)
			status = ctx_addrspace_map(&process->space, &map, err);
	}
	for (size_t i = 0; status == CTX_OK && i < parent->anonymous.n; i++) {
		uint64_t bytes;

		status = ctx_ranges_put(&process->anonymous, parent->anonymous.items[i], &bytes, err);
	}
	return status;
}

static enum ctx_status on_unmap(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	uint64_t begin = event->map.address, end = begin + event->map.size, bytes;
	struct ctx_mapped map;
	struct ctx_addrspace *space;
	enum ctx_status status = space_of(in, event->process, &space, err);

	if (status != CTX_OK)
		return status;
	if (ctx_addrspace_find(space, begin, &map) && map.record != CTX_NONE)
		in->mappings[map.record].life.end_ns = event->time_ns;
	if (event->process != CTX_NONE && begin < end && in->processes[event->process].anonymous.n != 0)
		status = ctx_ranges_cut(&in->processes[event->process].anonymous, begin, end, &bytes, err);
	return status == CTX_OK ? ctx_addrspace_unmap(space, begin, end, err) : status;
}

static enum ctx_status on_stacks(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct process *process;
	enum ctx_status status = process_of(in, event->process, &process, err);

	if (status != CTX_OK)
		return status;
	if (event->kind == CTX_EV_STACKS_RESET) {
		ctx_stackdict_reset(&process->dict);
		return CTX_OK;
	}
	return ctx_stackdict_append(&process->dict, &event->stacks, err);
}

/* A stack recorded as a copy of its memory. */
static enum ctx_status unwound_stack_of(struct ingest *in, struct process *process,
					const struct ctx_event_stack *stack, uint32_t *ret,
					struct ctx_err *err)
{
	struct ctx_stack_scope scope = {&process->space, &in->kernel_space, &in->stacks};
	enum ctx_status status = CTX_OK;
	struct ctx_chain chain;

	if (in->unwinding == NULL)
		status = ctx_unwinding_create(in->resolver, &in->unwinding, err);
	if (status == CTX_OK)
		status = ctx_unwinding_frames(in->unwinding, &process->space, stack, &chain, err);
	return status == CTX_OK ? ctx_chaindict_resolve(&process->chains, &scope, &chain, ret, err) : status;
}

/* A stack numbered by the source whose frames are unknown or may be stale. */
static enum ctx_status numbered_stack_of(struct ingest *in, uint32_t process_number, uint32_t stack,
					 uint32_t *ret, struct ctx_err *err)
{
	struct process *process = &in->processes[process_number];
	struct ctx_stack_scope scope = {&process->space, &in->kernel_space, &in->stacks};
	struct ctx_event_stack whole;
	struct ctx_chain chain;
	enum ctx_status status = in->source->stack_frames(in->source, process_number, stack, &whole, err);

	if (status != CTX_OK)
		return status;
	chain = (struct ctx_chain){.frames = whole.frames, .n = whole.n_frames, .number = stack};
	return ctx_chaindict_number(&process->chains, &scope, &chain, ret, err);
}

static enum ctx_status raw_stack_of(struct ingest *in, uint32_t process_number,
				    const struct ctx_event_stack *stack, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_stack_scope scope = {.kernel = &in->kernel_space, .forest = &in->stacks};
	struct process *process;
	enum ctx_status status = process_of(in, process_number, &process, err);

	if (status != CTX_OK)
		return status;
	if (in->source->stack_frames == NULL && stack->user == NULL && stack->frames == NULL &&
	    ctx_stackdict_get(&process->dict, &process->space, stack->id, ret))
		return CTX_OK;
	scope.process = &process->space;
	if (stack->user != NULL)
		return unwound_stack_of(in, process, stack, ret, err);
	if (stack->frames != NULL) {
		struct ctx_chain chain = {.frames = stack->frames, .n = stack->n_frames};

		return ctx_chaindict_resolve(&process->chains, &scope, &chain, ret, err);
	}
	if (in->source->stack_frames == NULL)
		return ctx_stackdict_resolve(&process->dict, &scope, stack->id, ret, err);
	*ret = ctx_chaindict_get(&process->chains, &scope, stack->id);
	return *ret != CTX_CHAIN_NONE ? CTX_OK : numbered_stack_of(in, process_number, stack->id, ret, err);
}

enum ctx_status ctx_ingest_grow_leaf_samples(struct ingest *in, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&in->leaf_samples.items, &in->leaf_samples.cap, in->stacks.raw.n, err);

	if (status != CTX_OK)
		return status;
	memset(in->leaf_samples.items + in->leaf_samples.n, 0,
	       (in->stacks.raw.n - in->leaf_samples.n) * sizeof(*in->leaf_samples.items));
	in->leaf_samples.n = in->stacks.raw.n;
	return CTX_OK;
}

static enum ctx_status on_sample(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_sample sample = {
		.time_ns = event->time_ns,
		.weight = event->sample.weight,
		.thread = event->thread,
		.cpu = event->sample.cpu,
		.metric = event->sample.metric,
	};
	const struct ctx_source_info *info = &in->source->info;
	enum ctx_status status;

	if (sample.metric >= info->n_metrics || info->metrics[sample.metric].kind == CTX_METRIC_COUNT)
		return ctx_err_set(err, CTX_E_FORMAT, "metric %u was not announced", sample.metric);
	status = ctx_profile_builder_check_thread(&in->entities, event->thread, err);
	if (status == CTX_OK)
		status = raw_stack_of(in, event->process, &event->sample.stack, &sample.raw_stack, err);
	if (status == CTX_OK && in->calls != NULL)
		status = ctx_calls_merge(in->calls, sample.thread, sample.raw_stack, &sample.raw_stack, err);
	else if (status == CTX_OK)
		status = ctx_ingest_omp_merge(in, sample.thread, &sample.raw_stack, err);
	if (status == CTX_OK && in->states != NULL && in->shows_running[sample.metric])
		status = ctx_state_feed_sample(in->states, event, sample.raw_stack, err);
	if (status == CTX_OK && in->states != NULL && sample.metric == ctx_ingest_clock(info))
		status = ctx_clock_share_seen(&in->clock_share, sample.thread, sample.weight, err);
	if (status == CTX_OK && in->stacks.raw.n > in->leaf_samples.n)
		status = ctx_ingest_grow_leaf_samples(in, err);
	if (status != CTX_OK)
		return status;
	in->leaf_samples.items[sample.raw_stack]++;
	in->stats.samples++;
	return ctx_ingest_put_at_stack(
		in, &sample,
		info->metrics[sample.metric].exact_calls ? event->sample.kept_frames : UINT32_MAX, err);
}

/* --- thread states --- */

uint32_t ctx_ingest_clock(const struct ctx_source_info *info)
{
	for (uint32_t i = 0; i < info->n_metrics; i++) {
		/* "cpu-clock:u" is limited to user mode on purpose. */
		if (ctx_source_metric_kind(&info->metrics[i]) == CTX_METRIC_CPU_TIME &&
		    strchr(info->metrics[i].name, ':') == NULL)
			return i;
	}
	return CTX_NONE;
}

/* Whether a change without a stack is a thread's leaving: its open calls are where it does so. */
static bool leaves(enum ctx_state_change change)
{
	return change == CTX_CHANGE_PREEMPTED || change == CTX_CHANGE_BLOCKED || change == CTX_CHANGE_STOPPED;
}

/* The stack is the waker's, or the thread's own. */
static enum ctx_status merge_state(struct ingest *in, const struct ctx_event *event, uint32_t *raw_stack,
				   struct ctx_err *err)
{
	uint32_t thread =
		ctx_state_change_has_waker(event->state.change) ? event->state.waker : event->thread;

	if (thread == CTX_NONE || (*raw_stack == CTX_TRIE_ROOT && !leaves(event->state.change)))
		return CTX_OK;
	return ctx_calls_merge(in->calls, thread, *raw_stack, raw_stack, err);
}

static enum ctx_status on_state(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	uint32_t raw_stack;
	enum ctx_status status = ctx_profile_builder_check_thread(&in->entities, event->thread, err);

	if (in->states == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "thread states were not announced");
	if (status == CTX_OK && event->state.waker != CTX_NONE)
		status = ctx_profile_builder_check_thread(&in->entities, event->state.waker, err);
	if (status == CTX_OK)
		status = raw_stack_of(in, event->process, &event->state.stack, &raw_stack, err);
	if (status == CTX_OK && in->calls != NULL)
		status = merge_state(in, event, &raw_stack, err);
	else if (status == CTX_OK && !ctx_state_change_has_waker(event->state.change))
		status = ctx_ingest_omp_merge(in, event->thread, &raw_stack, err);
	return status == CTX_OK ? ctx_state_feed_change(in->states, event, raw_stack, err) : status;
}

/* A span becomes a sample at its last nanosecond, with its duration in ns as weight. */
static enum ctx_status put_span(void *context, const struct ctx_state_span *span, struct ctx_err *err)
{
	struct ingest *in = context;
	struct ctx_sample sample = {
		.time_ns = span->end_ns - 1,
		.weight = span->end_ns - span->begin_ns,
		.thread = span->thread,
		.cpu = span->cpu,
		.metric = ctx_profile_state_metric(&in->entities.profile, span->state),
		.raw_stack = span->raw_stack,
	};

	enum ctx_status status = CTX_OK;

	in->stats.spans++;
	if (span->state >= CTX_STATE_USER && span->state <= CTX_STATE_TRAP)
		status = ctx_clock_share_on_cpu(&in->clock_share, sample.thread, sample.weight, err);
	return status == CTX_OK ? ctx_ingest_put_at_stack(in, &sample, UINT32_MAX, err) : status;
}

static enum ctx_status put_wakeup(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	struct ingest *in = context;

	if (in->window != NULL)
		return ctx_window_add_wakeup(in->window, wakeup, err);
	return in->worker != NULL ? ctx_tree_worker_add_wakeup(in->worker, wakeup, err)
				  : ctx_tree_forest_add_wakeup(in->trees, wakeup, err);
}

static enum ctx_status end_thread(void *context, uint32_t thread, struct ctx_err *err)
{
	struct ingest *in = context;
	enum ctx_status status = in->calls != NULL ? ctx_calls_flush(in->calls, err) : CTX_OK;

	return status == CTX_OK ? ctx_ingest_end_thread(in, thread, err) : status;
}

static enum ctx_status thread_runs(void *context, uint32_t thread, uint64_t time_ns, bool runs,
				   struct ctx_err *err)
{
	const struct ingest *in = context;

	return ctx_calls_run(in->calls, thread, time_ns, runs, err);
}

enum ctx_status ctx_ingest_begin_states(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_source_info *info = &in->source->info;
	struct ctx_state_feed_options options = {
		.stacks = &in->stacks,
		.resolver = in->resolver,
		.sink = {in, put_span, put_wakeup, end_thread, in->calls != NULL ? thread_runs : NULL},
		.user_clock_ns = info->user_clock_ns,
		.kernel_clock = info->kernel_clock,
		.end_ns = info->states_end_ns};

	if (!info->has_states)
		return CTX_OK;
	in->shows_running = ctx_calloc(info->n_metrics, sizeof(*in->shows_running));
	if (in->shows_running == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < info->n_metrics; i++)
		in->shows_running[i] = ctx_metric_shows_running(ctx_source_metric_kind(&info->metrics[i]),
								info->metrics[i].name);
	return ctx_state_feed_create(&options, &in->states, err);
}

/* --- traced operations --- */

static enum ctx_status on_traced(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_traced operation = *event->traced.operation;
	enum ctx_status status = ctx_profile_builder_check_thread(&in->entities, event->thread, err);

	operation.time_ns = event->time_ns;
	operation.thread = event->thread;
	if (operation.kind != CTX_TRACED_SYNC)
		operation.file = CTX_NONE;
	if (operation.duration_ns > operation.time_ns)
		operation.duration_ns = operation.time_ns;
	if (operation.operation >= ctx_traced_n_operations((enum ctx_traced_kind)operation.kind))
		return ctx_err_set(err, CTX_E_FORMAT, "operation %u of kind %u", operation.operation,
				   operation.kind);
	if (status == CTX_OK && operation.kind == CTX_TRACED_SYNC && operation.other != CTX_NONE)
		status = ctx_profile_builder_check_thread(&in->entities, operation.other, err);
	if (status == CTX_OK)
		status = raw_stack_of(in, event->process, &event->traced.stack, &operation.raw_stack, err);
	if (status == CTX_OK && event->traced.file != NULL)
		status = ctx_strtab_add_text(&in->files, event->traced.file, &operation.file, err);
	if (status != CTX_OK)
		return status;
	operation.stack = in->stacks.raw_to_stack[operation.raw_stack];
	return ctx_ingest_put_traced(in, &operation, err);
}

static enum ctx_status on_call(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_stack_scope scope = {.kernel = &in->kernel_space, .forest = &in->stacks};
	struct process *process;
	enum ctx_status status = ctx_profile_builder_check_thread(&in->entities, event->thread, err);

	if (in->calls == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "calls were not announced");
	if (status == CTX_OK)
		status = process_of(in, event->process, &process, err);
	if (status != CTX_OK)
		return status;
	scope.process = &process->space;
	return ctx_calls_event(in->calls, &scope, event, err);
}

static enum ctx_status on_omp(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	uint32_t raw_stack;
	enum ctx_status status = ctx_profile_builder_check_thread(&in->entities, event->thread, err);

	if (in->omp == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "OpenMP was not announced");
	if (status == CTX_OK)
		status = raw_stack_of(in, event->process, &event->omp.stack, &raw_stack, err);
	return status == CTX_OK ? ctx_ingest_omp(in, event, raw_stack, err) : status;
}

/* --- events --- */

/* With states, or calls, the trees of a thread end after its last span. */
static enum ctx_status on_thread_exit(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = ctx_profile_builder_event(&in->entities, event, err);

	if (status == CTX_OK)
		status = ctx_ingest_end_calls(in, event, err);
	if (status == CTX_OK)
		status = ctx_ingest_end_omp(in, event, err);
	if (status != CTX_OK)
		return status;
	if (in->states != NULL)
		return ctx_state_feed_life(in->states, event, err);
	return in->calls == NULL ? ctx_ingest_end_thread(in, event->thread, err) : CTX_OK;
}

static enum ctx_status on_life(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = ctx_profile_builder_event(&in->entities, event, err);

	if (event->kind == CTX_EV_PROCESS_EXIT && event->process < in->n_processes)
		ctx_chaindict_deinit(&in->processes[event->process].chains);
	if (event->kind == CTX_EV_PROCESS_EXIT && status == CTX_OK)
		status = ctx_ingest_end_calls(in, event, err);
	if (event->kind == CTX_EV_PROCESS_EXIT && status == CTX_OK)
		status = ctx_ingest_end_omp(in, event, err);
	if (event->kind == CTX_EV_THREAD_START && event->thread_start.without_states)
		return status;
	return status == CTX_OK && in->states != NULL ? ctx_state_feed_life(in->states, event, err) : status;
}

enum ctx_status ctx_ingest_event(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	switch (event->kind) {
	case CTX_EV_SAMPLE:
		return on_sample(in, event, err);
	case CTX_EV_STACKS:
	case CTX_EV_STACKS_RESET:
		return on_stacks(in, event, err);
	case CTX_EV_MAP:
		return on_map(in, event, err);
	case CTX_EV_UNMAP:
		return on_unmap(in, event, err);
	case CTX_EV_FORK_MAPS:
		return on_fork_maps(in, event, err);
	case CTX_EV_FUNCTION:
		return ctx_resolver_add_named(in->resolver, &event->function, err);
	case CTX_EV_STATE:
		return on_state(in, event, err);
	case CTX_EV_TRACED:
		return on_traced(in, event, err);
	case CTX_EV_THREAD_EXIT:
		return on_thread_exit(in, event, err);
	case CTX_EV_THREAD_START:
	case CTX_EV_PROCESS_EXIT:
	case CTX_EV_LOST:
	case CTX_EV_USAGE:
		return on_life(in, event, err);
	case CTX_EV_PROCESS_START:
	case CTX_EV_PROCESS_TITLE:
	case CTX_EV_THREAD_NAME:
	case CTX_EV_THROTTLE:
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
	case CTX_EV_PROPERTY:
	case CTX_EV_VM:
		return ctx_profile_builder_event(&in->entities, event, err);
	case CTX_EV_CALL:
		return on_call(in, event, err);
	case CTX_EV_OMP:
		return on_omp(in, event, err);
	}
	return ctx_err_set(err, CTX_E_INTERNAL, "event of unknown kind %d", (int)event->kind);
}
