/*
 *	part 0: next event --.
 *	part 1: next event --+-- the earliest --joint_event.c--> event of all
 *	part 2: next event --'
 *
 * A part reads on only when its event was taken: until then what the event points to stays as it is.
 */
#include "ingest/joint.h"

#include "base/mem.h"
#include "ingest/joint_impl.h"

#include <stdio.h>
#include <string.h>

#define PARTS_MAX 1000u

/* The kernel of another recording: one function, announced before all events. */
static enum ctx_status announce_kernel(struct ctx_joint *merged, struct ctx_joint_part *part,
				       struct ctx_event *ret, struct ctx_err *err)
{
	size_t n = strlen(part->name) + sizeof("<kernel of >");
	char *name = ctx_arena_alloc(&merged->arena, n);

	if (name == NULL)
		return ctx_err_nomem(err);
	snprintf(name, n, "<kernel of %s>", part->name);
	part->kernel_function = merged->n_functions++;
	*ret = (struct ctx_event){.kind = CTX_EV_FUNCTION, .time_ns = part->last_ns};
	ret->function = (struct ctx_event_function){.id = part->kernel_function,
						    .name = name,
						    .module = "[kernel]",
						    .positions = CTX_POSITION_CODE};
	return CTX_OK;
}

static enum ctx_status read_on(struct ctx_joint *merged, struct ctx_joint_part *part, struct ctx_err *err)
{
	enum ctx_status status = part->source->next(part->source, &part->event, err);

	if (status == CTX_END) {
		part->ended = true;
		return CTX_OK;
	}
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s", part->name);
	part->event.time_ns = part->event.time_ns <= UINT64_MAX - part->offset_ns
				      ? part->event.time_ns + part->offset_ns
				      : UINT64_MAX;
	if (part->event.time_ns > part->last_ns)
		part->last_ns = part->event.time_ns;
	part->has_event = true;
	if (part == &merged->parts[merged->kernel])
		merged->source.info.kernel = part->source->info.kernel;
	return CTX_OK;
}

/* The part with the earliest event; NULL: all have ended. */
static enum ctx_status choose(struct ctx_joint *merged, struct ctx_joint_part **ret, struct ctx_err *err)
{
	*ret = NULL;
	for (size_t i = 0; i < merged->n; i++) {
		struct ctx_joint_part *part = &merged->parts[i];
		enum ctx_status status = part->has_event || part->ended ? CTX_OK : read_on(merged, part, err);

		if (status != CTX_OK)
			return status;
		if (part->has_event && (*ret == NULL || part->last_ns < (*ret)->last_ns))
			*ret = part;
	}
	return CTX_OK;
}

static bool is_of_kernel(const struct ctx_event *event)
{
	return (event->kind == CTX_EV_MAP || event->kind == CTX_EV_UNMAP) && event->process == CTX_NONE;
}

static void end(struct ctx_joint *merged)
{
	struct ctx_source_info *info = &merged->source.info;

	info->no_call_stacks = true;
	for (size_t i = 0; i < merged->n; i++)
		info->no_call_stacks = info->no_call_stacks && merged->parts[i].source->info.no_call_stacks;
}

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_joint *merged = source->impl;

	for (;;) {
		struct ctx_joint_part *part;
		enum ctx_status status = choose(merged, &part, err);

		if (status != CTX_OK)
			return status;
		if (part == NULL) {
			end(merged);
			return CTX_END;
		}
		if (part->kernel_function == CTX_NONE && !ctx_joint_has_kernel(merged, part))
			return announce_kernel(merged, part, ret, err);
		part->has_event = false;
		if (part->kernel_function != CTX_NONE && is_of_kernel(&part->event))
			continue;
		*ret = part->event;
		return ctx_joint_translate(merged, part, ret, err);
	}
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct ctx_joint *merged = source->impl;
	uint64_t done = 0;

	for (size_t i = 0; i < merged->n; i++)
		done += merged->parts[i].source->progress(merged->parts[i].source);
	return done;
}

/* All but the sources of the parts. */
static void release(struct ctx_joint *merged)
{
	for (size_t i = 0; i < merged->n; i++) {
		struct ctx_joint_part *part = &merged->parts[i];

		free(part->processes.of);
		free(part->threads.of);
		free(part->metrics);
		ctx_map64_deinit(&part->functions);
	}
	free(merged->parts);
	free(merged->frames);
	free(merged->source.info.metrics);
	free(merged->source.info.properties);
	free((void *)merged->source.info.sources);
	free((void *)merged->source.info.symbols);
	ctx_arena_deinit(&merged->arena);
	free(merged);
}

static void close_merged(struct ctx_event_source *source)
{
	struct ctx_joint *merged = source->impl;

	for (size_t i = 0; i < merged->n; i++)
		merged->parts[i].source->close(merged->parts[i].source);
	release(merged);
}

enum ctx_status ctx_joint_open(const struct ctx_joint_input *inputs, size_t n, struct ctx_event_source **ret,
			       struct ctx_err *err)
{
	struct ctx_joint *merged = n <= PARTS_MAX ? ctx_calloc(1, sizeof(*merged)) : NULL;
	enum ctx_status status;

	if (n > PARTS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--merge: more than %u recordings", PARTS_MAX);
	if (merged == NULL)
		return ctx_err_nomem(err);
	merged->source = (struct ctx_event_source){
		.impl = merged, .next = next_event, .progress = progress, .close = close_merged};
	merged->parts = ctx_calloc(n, sizeof(*merged->parts));
	if (merged->parts == NULL) {
		free(merged);
		return ctx_err_nomem(err);
	}
	merged->n = n;
	for (size_t i = 0; i < n; i++) {
		merged->parts[i].source = inputs[i].source;
		merged->parts[i].name = inputs[i].name;
		merged->parts[i].offset_ns = (uint64_t)inputs[i].offset_ns;
		merged->parts[i].last_ns = (uint64_t)inputs[i].offset_ns;
		merged->parts[i].kernel_function = CTX_NONE;
	}
	status = ctx_joint_describe(merged, inputs, err);
	if (status != CTX_OK) {
		release(merged);
		return status;
	}
	*ret = &merged->source;
	return CTX_OK;
}
