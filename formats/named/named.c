#include "formats/named/named.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_frames(const struct ctx_named *named, struct ctx_event_stack *stack)
{
	stack->frames = named->frames + stack->id;
	stack->id = 0;
}

/* Frames are copied one after the other into an array that may move: what is handed out is set last. */
static void hand_out(struct ctx_named *named, struct ctx_event *ret)
{
	*ret = named->events[named->at++];
	if (ret->kind == CTX_EV_SAMPLE)
		set_frames(named, &ret->sample.stack);
	if (ret->kind != CTX_EV_TRACED)
		return;
	set_frames(named, &ret->traced.stack);
	ret->traced.operation = &named->operations[named->operations_at++];
}

static enum ctx_status next(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_named *named = source->impl;

	while (named->at == named->n) {
		enum ctx_status status;

		named->at = named->n = named->n_frames = 0;
		named->n_operations = named->operations_at = 0;
		status = named->read(named, err);
		if (status != CTX_OK && !(status == CTX_END && named->n != 0))
			return status;
	}
	hand_out(named, ret);
	return CTX_OK;
}

static uint64_t no_progress(const struct ctx_event_source *source)
{
	(void)source;
	return 0;
}

static void close_source(struct ctx_event_source *source)
{
	struct ctx_named *named = source->impl;

	named->destroy(named);
}

void ctx_named_init(struct ctx_named *named)
{
	struct ctx_source_info *info = &named->source.info;

	named->source.impl = named;
	named->source.next = next;
	named->source.close = close_source;
	if (named->source.progress == NULL)
		named->source.progress = no_progress;
	info->notes = info->kallsyms = info->fallback_root = "";
	info->closed = true;
}

void ctx_named_deinit(struct ctx_named *named)
{
	struct ctx_source_info *info = &named->source.info;

	ctx_strtab_deinit(&named->names);
	ctx_strtab_deinit(&named->functions);
	ctx_map64_deinit(&named->processes);
	ctx_map64_deinit(&named->numbers);
	ctx_map64_deinit(&named->threads);
	free(named->infos);
	free(named->events);
	free(named->frames);
	free(named->operations);
	free(info->metrics);
	free(info->properties);
}

static enum ctx_status put(struct ctx_named *named, const struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&named->events, &named->events_cap, named->n + 1, err);

	if (status == CTX_OK)
		named->events[named->n++] = *event;
	return status;
}

static enum ctx_status intern(struct ctx_named *named, const char *text, size_t n, const char **ret,
			      struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status = ctx_strtab_add(&named->names, text, n, &id, err);

	if (status == CTX_OK)
		*ret = ctx_strtab_get(&named->names, id);
	return status;
}

/* --- what is known from the start --- */

enum ctx_status ctx_named_metric(struct ctx_named *named, const char *name, enum ctx_unit unit, uint32_t *ret,
				 struct ctx_err *err)
{
	struct ctx_source_info *info = &named->source.info;
	struct ctx_source_metric *metrics;

	for (*ret = 0; *ret < info->n_metrics; (*ret)++) {
		if (strcmp(info->metrics[*ret].name, name) == 0)
			return CTX_OK;
	}
	if (info->n_metrics == CTX_NAMED_METRICS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u kinds of values", CTX_NAMED_METRICS_MAX);
	metrics = realloc(info->metrics, (info->n_metrics + 1) * sizeof(*metrics));
	if (metrics == NULL)
		return ctx_err_nomem(err);
	info->metrics = metrics;
	metrics[info->n_metrics] = (struct ctx_source_metric){.unit = unit};
	if (intern(named, name, strlen(name), &metrics[info->n_metrics].name, err) != CTX_OK)
		return CTX_E_NOMEM;
	info->n_metrics++;
	return CTX_OK;
}

enum ctx_status ctx_named_property(struct ctx_named *named, const char *key, const char *value,
				   struct ctx_err *err)
{
	struct ctx_source_info *info = &named->source.info;
	struct ctx_property *properties =
		realloc(info->properties, (info->n_properties + 1) * sizeof(*properties));
	enum ctx_status status;

	if (properties == NULL)
		return ctx_err_nomem(err);
	info->properties = properties;
	status = intern(named, value, strlen(value), &properties[info->n_properties].value, err);
	if (status == CTX_OK)
		status = intern(named, key, strlen(key), &properties[info->n_properties].key, err);
	if (status == CTX_OK)
		info->n_properties++;
	return status;
}

/* --- functions --- */

static enum ctx_status announce(struct ctx_named *named, const struct ctx_named_function *function,
				uint32_t id, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_FUNCTION};
	enum ctx_status status = intern(named, function->name, function->n_name, &event.function.name, err);

	event.function.id = id;
	event.function.line = function->line;
	event.function.positions = function->file != NULL ? CTX_POSITION_LINE : CTX_POSITION_CODE;
	if (status == CTX_OK)
		status = intern(named, function->module, function->n_module, &event.function.module, err);
	if (status == CTX_OK && function->file != NULL)
		status = intern(named, function->file, strlen(function->file), &event.function.file, err);
	return status == CTX_OK ? put(named, &event, err) : status;
}

enum ctx_status ctx_named_function(struct ctx_named *named, const struct ctx_named_function *function,
				   uint32_t *ret, struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	size_t n_before = named->functions.n;
	enum ctx_status status;

	ctx_buf_put_u32(&key, function->line);
	ctx_buf_put_u32(&key, (uint32_t)function->n_module);
	ctx_buf_put_u32(&key, (uint32_t)function->n_name);
	ctx_buf_put(&key, function->module, function->n_module);
	ctx_buf_put(&key, function->name, function->n_name);
	if (function->file != NULL)
		ctx_buf_put_text(&key, function->file);
	status = ctx_buf_check(&key, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&named->functions, (const char *)key.bytes, key.n, ret, err);
	return status == CTX_OK && *ret == n_before ? announce(named, function, *ret, err) : status;
}

enum ctx_status ctx_named_frame(struct ctx_named *named, const struct ctx_named_function *function,
				uint32_t position, uint64_t *ret, struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status = ctx_named_function(named, function, &id, err);

	if (status == CTX_OK)
		*ret = ctx_frame_named(id, position);
	return status;
}

/* --- processes and threads --- */

/* A dense number for a key, in order of first use. */
static enum ctx_status number_of(struct ctx_map64 *map, uint64_t key, uint32_t *ret, bool *ret_new,
				 struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	*ret_new = *place == CTX_MAP64_NONE;
	if (*ret_new)
		*place = (uint32_t)map->n - 1;
	*ret = *place;
	return CTX_OK;
}

static enum ctx_status start_process(struct ctx_named *named, const struct ctx_named_thread *thread,
				     uint32_t process, struct ctx_err *err)
{
	struct ctx_event event = {
		.kind = CTX_EV_PROCESS_START, .time_ns = thread->time_ns, .process = process};
	enum ctx_status status = intern(named, thread->process_name, strlen(thread->process_name),
					&event.process_start.command, err);

	event.process_start.pid = thread->pid;
	event.process_start.parent = CTX_NONE;
	event.process_start.lineage = "";
	return status == CTX_OK ? put(named, &event, err) : status;
}

/* A thread begins, or has another name than before. */
static enum ctx_status name_thread(struct ctx_named *named, const struct ctx_named_thread *thread,
				   const struct ctx_event *of, bool is_new, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_NAME,
				  .time_ns = thread->time_ns,
				  .process = of->process,
				  .thread = of->thread};
	enum ctx_status status = ctx_grow(&named->infos, &named->infos_cap, (size_t)of->thread + 1, err);
	uint32_t name;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&named->names, thread->thread_name, &name, err);
	if (status != CTX_OK || (!is_new && named->infos[of->thread].name == name))
		return status;
	named->infos[of->thread] = (struct ctx_named_thread_info){of->process, name};
	if (!is_new) {
		event.thread_name = ctx_strtab_get(&named->names, name);
		return put(named, &event, err);
	}
	event.kind = CTX_EV_THREAD_START;
	event.thread_start.tid = thread->tid;
	event.thread_start.name = ctx_strtab_get(&named->names, name);
	return put(named, &event, err);
}

static uint64_t key_of(int64_t number, uint32_t life)
{
	return (uint64_t)number ^ (uint64_t)life << 32;
}

enum ctx_status ctx_named_thread(struct ctx_named *named, const struct ctx_named_thread *thread,
				 struct ctx_event *event, struct ctx_err *err)
{
	uint32_t tid;
	bool is_new;
	enum ctx_status status = number_of(&named->processes, key_of(thread->pid, thread->process_life),
					   &event->process, &is_new, err);

	if (status == CTX_OK && is_new)
		status = start_process(named, thread, event->process, err);
	if (status == CTX_OK)
		status = number_of(&named->numbers, key_of(thread->tid, thread->life), &tid, &is_new, err);
	if (status == CTX_OK)
		status = number_of(&named->threads, (uint64_t)event->process << 32 | tid, &event->thread,
				   &is_new, err);
	if (status == CTX_OK)
		status = name_thread(named, thread, event, is_new, err);
	named->n_threads = named->threads.n;
	return status;
}

/* --- samples and remarks --- */

/* Whether the last event is a sample with the same frames as the `n` behind all others. */
static bool is_last_stack(const struct ctx_named *named, uint32_t n)
{
	const struct ctx_event *last = named->n != 0 ? &named->events[named->n - 1] : NULL;

	return last != NULL && last->kind == CTX_EV_SAMPLE && last->sample.stack.n_frames == n &&
	       memcmp(named->frames + last->sample.stack.id, named->frames + named->n_frames,
		      n * sizeof(*named->frames)) == 0;
}

/* Copies a stack behind all others; of one that is too deep the leaf's part. */
static enum ctx_status copy_frames(struct ctx_named *named, const struct ctx_named_stack *stack,
				   struct ctx_event_stack *ret, struct ctx_err *err)
{
	uint32_t kept = stack->n <= CTX_NAMED_FRAMES_MAX ? stack->n : CTX_NAMED_FRAMES_MAX;
	enum ctx_status status =
		ctx_grow(&named->frames, &named->frames_cap, named->n_frames + kept + 1, err);

	if (status != CTX_OK)
		return status;
	*ret = (struct ctx_event_stack){.id = (uint32_t)named->n_frames, .n_frames = kept};
	if (kept != 0)
		memcpy(named->frames + named->n_frames, stack->frames, kept * sizeof(*stack->frames));
	if (kept != stack->n)
		named->frames[named->n_frames + kept - 1] = ctx_frame_truncated(CTX_TRUNCATED_DEPTH);
	return CTX_OK;
}

enum ctx_status ctx_named_sample(struct ctx_named *named, const struct ctx_event *event,
				 const uint64_t *frames, uint32_t n, struct ctx_err *err)
{
	struct ctx_event sample = *event;
	enum ctx_status status =
		copy_frames(named, &(struct ctx_named_stack){frames, n}, &sample.sample.stack, err);

	if (status != CTX_OK)
		return status;
	sample.kind = CTX_EV_SAMPLE;
	if (is_last_stack(named, sample.sample.stack.n_frames)) /* another value of the same */
		sample.sample.stack.id = named->events[named->n - 1].sample.stack.id;
	else
		named->n_frames += sample.sample.stack.n_frames;
	return put(named, &sample, err);
}

enum ctx_status ctx_named_traced(struct ctx_named *named, const struct ctx_event *event,
				 const struct ctx_traced *operation, const struct ctx_named_stack *stack,
				 struct ctx_err *err)
{
	struct ctx_event traced = *event;
	enum ctx_status status = copy_frames(named, stack, &traced.traced.stack, err);

	traced.kind = CTX_EV_TRACED;
	named->n_frames += status == CTX_OK ? traced.traced.stack.n_frames : 0;
	if (status == CTX_OK && event->traced.file != NULL)
		status = intern(named, event->traced.file, strlen(event->traced.file), &traced.traced.file,
				err);
	if (status == CTX_OK)
		status = ctx_grow(&named->operations, &named->operations_cap, named->n_operations + 1, err);
	if (status == CTX_OK)
		status = put(named, &traced, err);
	if (status == CTX_OK)
		named->operations[named->n_operations++] = *operation;
	return status;
}

enum ctx_status ctx_named_end(struct ctx_named *named, const struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_event end = *event;

	end.kind = CTX_EV_THREAD_EXIT;
	return put(named, &end, err);
}

enum ctx_status ctx_named_vm(struct ctx_named *named, const struct ctx_event *event, struct ctx_err *err)
{
	return put(named, event, err);
}

enum ctx_status ctx_named_map(struct ctx_named *named, const struct ctx_event *event,
			      const struct ctx_named_object *object, struct ctx_err *err)
{
	struct ctx_event map = *event;
	enum ctx_status status = intern(named, object->path, object->n_path, &map.map.path, err);

	if (status == CTX_OK)
		status = intern(named, object->build_id, object->n_build_id, &map.map.build_id, err);
	map.kind = CTX_EV_MAP;
	map.map.archive = map.map.function = "";
	return status == CTX_OK ? put(named, &map, err) : status;
}

static enum ctx_status remark(struct ctx_named *named, enum ctx_event_kind kind, const char *text,
			      struct ctx_err *err)
{
	struct ctx_event event = {.kind = kind};
	enum ctx_status status = intern(named, text, strlen(text), &event.text, err);

	return status == CTX_OK ? put(named, &event, err) : status;
}

enum ctx_status ctx_named_warn(struct ctx_named *named, struct ctx_err *err, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return remark(named, CTX_EV_WARNING, text, err);
}

enum ctx_status ctx_named_damage(struct ctx_named *named, struct ctx_err *err, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return remark(named, CTX_EV_DAMAGE, text, err);
}
