#include "ingest/joint_impl.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define NUMBERS_MAX ((uint32_t)1 << 26) /* processes or threads, as of an ingest */

/* ---- numbers ---- */

static enum ctx_status number(struct ctx_joint_numbers *numbers, uint32_t own, uint32_t *next,
			      struct ctx_err *err)
{
	enum ctx_status status;

	if (own >= NUMBERS_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "process or thread number %u", own);
	status = ctx_grow(&numbers->of, &numbers->cap, (size_t)own + 1, err);
	if (status != CTX_OK)
		return status;
	while (numbers->n <= own)
		numbers->of[numbers->n++] = CTX_NONE;
	if (numbers->of[own] == CTX_NONE)
		numbers->of[own] = (*next)++;
	return CTX_OK;
}

static uint32_t of(const struct ctx_joint_numbers *numbers, uint32_t own)
{
	return own < numbers->n ? numbers->of[own] : CTX_NONE;
}

static enum ctx_status set_process(const struct ctx_joint_part *part, struct ctx_event *event,
				   struct ctx_err *err)
{
	uint32_t process = of(&part->processes, event->process);

	if (process == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: process %u was not announced", part->name,
				   event->process);
	event->process = process;
	return CTX_OK;
}

static enum ctx_status set_subjects(const struct ctx_joint_part *part, struct ctx_event *event,
				    struct ctx_err *err)
{
	uint32_t thread = of(&part->threads, event->thread);

	if (thread == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: thread %u was not announced", part->name,
				   event->thread);
	event->thread = thread;
	return set_process(part, event, err);
}

/* ---- frames ---- */

static enum ctx_status number_function(struct ctx_joint *merged, struct ctx_joint_part *part, uint32_t own,
				       uint32_t *ret, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&part->functions, own);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE)
		*place = merged->n_functions++;
	*ret = *place;
	return CTX_OK;
}

/* One that no function was announced for is an address that looks like one. */
static uint64_t frame_of(const struct ctx_joint_part *part, uint64_t frame)
{
	if (ctx_frame_is_named(frame)) {
		uint32_t function = ctx_map64_get(&part->functions, ctx_frame_function(frame));

		return function != CTX_MAP64_NONE ? ctx_frame_named(function, ctx_frame_position(frame))
						  : ctx_frame_address(frame);
	}
	if (part->kernel_function != CTX_NONE && frame >= CTX_KERNEL_START && !ctx_frame_is_mark(frame))
		return ctx_frame_named(part->kernel_function, 0);
	return frame;
}

static enum ctx_status copy_frames(struct ctx_joint *merged, const struct ctx_joint_part *part,
				   const uint64_t *frames, size_t n, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&merged->frames, &merged->frames_cap, n, err);

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		merged->frames[i] = frame_of(part, frames[i]);
	return status;
}

/* `process` is the part's own number. */
static enum ctx_status set_stack(struct ctx_joint *merged, const struct ctx_joint_part *part,
				 uint32_t process, struct ctx_event_stack *stack, struct ctx_err *err)
{
	struct ctx_event_source *source = part->source;
	enum ctx_status status = CTX_OK;

	if (stack->frames == NULL && stack->id != 0 && source->stack_frames != NULL)
		status = source->stack_frames(source, process, stack->id, stack, err);
	if (status != CTX_OK || stack->frames == NULL)
		return status;
	status = copy_frames(merged, part, stack->frames, stack->n_frames, err);
	stack->frames = merged->frames;
	stack->id = 0;
	return status;
}

/* ---- kinds ---- */

static enum ctx_status on_process(struct ctx_joint *merged, struct ctx_joint_part *part,
				  struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_event_process_start *start = &event->process_start;
	size_t n = strlen(part->name) + strlen(start->lineage) + 2;
	char *lineage = ctx_arena_alloc(&merged->arena, n);
	enum ctx_status status;

	if (lineage == NULL)
		return ctx_err_nomem(err);
	snprintf(lineage, n, "%s:%s", part->name, start->lineage);
	start->lineage = lineage;
	start->parent = of(&part->processes, start->parent);
	status = number(&part->processes, event->process, &merged->n_processes, err);
	return status == CTX_OK ? set_process(part, event, err) : status;
}

static enum ctx_status on_thread(struct ctx_joint *merged, struct ctx_joint_part *part,
				 struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = number(&part->threads, event->thread, &merged->n_threads, err);

	event->thread_start.without_states |=
		merged->source.info.has_states && !part->source->info.has_states;
	return status == CTX_OK ? set_subjects(part, event, err) : status;
}

static enum ctx_status on_sample(struct ctx_joint *merged, struct ctx_joint_part *part,
				 struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_event_sample *sample = &event->sample;
	uint32_t own = event->process;
	enum ctx_status status = set_subjects(part, event, err);

	if (sample->metric >= part->source->info.n_metrics)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: metric %u was not announced", part->name,
				   sample->metric);
	sample->metric = part->metrics[sample->metric];
	return status == CTX_OK ? set_stack(merged, part, own, &sample->stack, err) : status;
}

static enum ctx_status on_state(struct ctx_joint *merged, struct ctx_joint_part *part,
				struct ctx_event *event, struct ctx_err *err)
{
	uint32_t own = event->process;
	enum ctx_status status = set_subjects(part, event, err);

	event->state.waker = of(&part->threads, event->state.waker);
	return status == CTX_OK ? set_stack(merged, part, own, &event->state.stack, err) : status;
}

static enum ctx_status on_traced(struct ctx_joint *merged, struct ctx_joint_part *part,
				 struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_traced *operation = &merged->operation;
	uint32_t own = event->process;
	enum ctx_status status = set_subjects(part, event, err);

	*operation = *event->traced.operation;
	if (operation->kind == CTX_TRACED_SYNC)
		operation->other = of(&part->threads, operation->other);
	event->traced.operation = operation;
	return status == CTX_OK ? set_stack(merged, part, own, &event->traced.stack, err) : status;
}

/* Its numbers are those of the process. */
static enum ctx_status on_omp(struct ctx_joint *merged, struct ctx_joint_part *part, struct ctx_event *event,
			      struct ctx_err *err)
{
	uint32_t own = event->process;
	enum ctx_status status = set_subjects(part, event, err);

	return status == CTX_OK ? set_stack(merged, part, own, &event->omp.stack, err) : status;
}

/* What a recording without states has lost hides no states. */
static void on_lost(const struct ctx_joint *merged, const struct ctx_joint_part *part, struct ctx_loss *loss)
{
	if (loss->located) {
		loss->time.begin_ns += part->offset_ns;
		loss->time.end_ns = loss->time.end_ns <= UINT64_MAX - part->offset_ns
					    ? loss->time.end_ns + part->offset_ns
					    : UINT64_MAX;
	}
	if (merged->source.info.has_states && !part->source->info.has_states) {
		loss->has_kinds = true;
		memset(loss->kinds, 0, sizeof(loss->kinds));
		loss->kinds[CTX_LOSS_SAMPLES] = loss->count;
	}
}

static enum ctx_status on_stacks(struct ctx_joint *merged, const struct ctx_joint_part *part,
				 struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = copy_frames(merged, part, event->stacks.addresses, event->stacks.n, err);

	event->stacks.addresses = merged->frames;
	return status == CTX_OK ? set_process(part, event, err) : status;
}

enum ctx_status ctx_joint_translate(struct ctx_joint *merged, struct ctx_joint_part *part,
				    struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		return on_process(merged, part, event, err);
	case CTX_EV_THREAD_START:
		return on_thread(merged, part, event, err);
	case CTX_EV_THREAD_NAME:
	case CTX_EV_THREAD_EXIT:
		return set_subjects(part, event, err);
	case CTX_EV_PROCESS_EXIT:
	case CTX_EV_PROCESS_TITLE:
	case CTX_EV_VM:
	case CTX_EV_STACKS_RESET:
		return set_process(part, event, err);
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		return event->process != CTX_NONE ? set_process(part, event, err) : CTX_OK;
	case CTX_EV_FORK_MAPS:
		event->maps_of = of(&part->processes, event->maps_of);
		if (event->maps_of == CTX_NONE)
			return ctx_err_set(err, CTX_E_FORMAT, "%s: maps of a process that was not announced",
					   part->name);
		return set_process(part, event, err);
	case CTX_EV_FUNCTION:
		return number_function(merged, part, event->function.id, &event->function.id, err);
	case CTX_EV_STACKS:
		return on_stacks(merged, part, event, err);
	case CTX_EV_SAMPLE:
		return on_sample(merged, part, event, err);
	case CTX_EV_USAGE:
		status = set_process(part, event, err);
		event->usage.process = event->process;
		return status;
	case CTX_EV_STATE:
		return on_state(merged, part, event, err);
	case CTX_EV_TRACED:
		return on_traced(merged, part, event, err);
	case CTX_EV_OMP:
		return on_omp(merged, part, event, err);
	case CTX_EV_CALL:
		event->call.frame = event->call.frame != 0 ? frame_of(part, event->call.frame) : 0;
		event->call.counted = part->has_counters ? event->call.counted : NULL;
		return set_subjects(part, event, err);
	case CTX_EV_LOST:
	case CTX_EV_THROTTLE:
		on_lost(merged, part, &event->lost.loss);
		return CTX_OK;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
	case CTX_EV_PROPERTY:
		return CTX_OK;
	}
	return ctx_err_set(err, CTX_E_INTERNAL, "event of unknown kind %d", (int)event->kind);
}
