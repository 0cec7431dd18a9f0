#include "collect/vm_objects.h"

#include "base/java_name.h"
#include "base/mem.h"
#include "formats/experiment/exp_functions.h"
#include "model/heap_sampling.h"

#include <stdlib.h>
#include <string.h>

#define JAVA_CLASSES "<Java classes>"

void ctx_vm_objects_deinit(struct ctx_vm_objects *objects)
{
	for (size_t i = 0; i < objects->n; i++)
		free(objects->items[i].bytes);
	free(objects->items);
	*objects = (struct ctx_vm_objects){0};
}

enum ctx_status ctx_vm_objects_add(struct ctx_vm_objects *objects, const struct ctx_vm_head *head,
				   const struct ctx_cursor *rest, struct ctx_err *err)
{
	struct ctx_vm_kept_object item = {
		.time_ns = head->time_ns, .kind = head->kind, .n = ctx_cursor_left(rest)};
	enum ctx_status status;

	if (objects->n == CTX_VM_OBJECTS_MAX) {
		objects->left_out++;
		return CTX_OK;
	}
	status = ctx_grow(&objects->items, &objects->cap, objects->n + 1, err);
	if (status != CTX_OK)
		return status;
	item.bytes = (uint8_t *)ctx_memdup0(rest->at, item.n);
	if (item.bytes == NULL)
		return ctx_err_nomem(err);
	objects->items[objects->n++] = item;
	return CTX_OK;
}

uint64_t ctx_vm_objects_weight(uint64_t heap_bytes, uint64_t bytes)
{
	const struct ctx_traced allocation = {
		.kind = CTX_TRACED_HEAP, .operation = CTX_HEAP_ALLOCATE, .size = bytes};

	return ctx_heap_sample_scale(bytes, ctx_heap_sample_number(heap_bytes, &allocation));
}

struct frames {
	uint64_t items[CTX_VM_STACK_MAX + 2];
	size_t n;
};

static enum ctx_status add_class(const struct ctx_vm_target *target, const struct ctx_vm_text *class,
				 struct frames *frames, struct ctx_err *err)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};
	struct ctx_exp_function function = {.module = JAVA_CLASSES, .kind = CTX_CODE_JAVA};
	uint32_t number;
	enum ctx_status status;

	if (class->n > 2 && class->at[0] == 'L')
		ctx_java_put_class(&name, class->at + 1, class->n - 2); /* "Ljava/lang/String;" */
	else
		(void)ctx_java_put_type(&name, class->at, class->n);
	ctx_buf_put_u8(&name, 0);
	status = ctx_buf_check(&name, err);
	function.name = (const char *)name.bytes;
	if (status == CTX_OK)
		status = ctx_exp_function(target->writer, &function, &number, err);
	if (status == CTX_OK && number != CTX_NONE)
		frames->items[frames->n++] = ctx_frame_named(number, 0);
	return status;
}

static enum ctx_status add_methods(const struct ctx_vm_target *target, const struct ctx_vm_object *object,
				   struct frames *frames, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < object->n_frames && status == CTX_OK; i++) {
		struct ctx_vm_place place = ctx_vm_object_frame(object, i);
		uint64_t frame;

		status = ctx_vm_frame_of_method(target, &place, &frame, err);
		if (status == CTX_OK && frame != 0)
			frames->items[frames->n++] = frame;
	}
	if (object->n_frames == CTX_VM_STACK_MAX)
		frames->items[frames->n++] = ctx_frame_truncated(CTX_TRUNCATED_DEPTH);
	return status;
}

static enum ctx_status write_allocation(const struct ctx_vm_objects_target *target,
					const struct ctx_vm_object *object, struct ctx_exp_sample *sample,
					struct ctx_err *err)
{
	struct frames frames = {.n = 0};
	enum ctx_status status = add_class(&target->names, &object->class, &frames, err);

	if (status == CTX_OK)
		status = add_methods(&target->names, object, &frames, err);
	if (status != CTX_OK)
		return status;
	sample->metric = target->wishes->metric;
	sample->cpu = -1;
	sample->weight = ctx_vm_objects_weight(target->wishes->heap_bytes, object->bytes);
	sample->frames = frames.items;
	sample->n_frames = frames.n;
	return ctx_exp_sample(target->names.writer, sample, err);
}

static enum ctx_sync_operation operation_of(const struct ctx_vm_object *object)
{
	if ((object->flags & CTX_VM_MONITOR_PARK) != 0)
		return (object->flags & CTX_VM_MONITOR_OWNED) != 0 ? CTX_SYNC_MUTEX : CTX_SYNC_CONDITION;
	return (object->flags & CTX_VM_MONITOR_WAIT) != 0 ? CTX_SYNC_CONDITION : CTX_SYNC_MUTEX;
}

/* The same as seen by the thread that had the object; where it took it is not known. */
static enum ctx_status write_block(const struct ctx_vm_objects_target *target,
				   const struct ctx_exp_sync *wait, const struct frames *frames,
				   struct ctx_err *err)
{
	struct ctx_exp_sync block = *wait;

	if (wait->other == CTX_NONE || wait->other == wait->thread)
		return CTX_OK;
	block.operation = CTX_SYNC_BLOCK;
	block.failed = false;
	block.thread = wait->other;
	block.other = wait->thread;
	block.n_frames = frames->n != 0; /* the class */
	return ctx_exp_sync(target->names.writer, &block, err);
}

static enum ctx_status write_wait(const struct ctx_vm_objects_target *target,
				  const struct ctx_vm_object *object, const struct ctx_exp_sample *like,
				  struct ctx_err *err)
{
	struct frames frames = {.n = 0};
	struct ctx_exp_sync sync = {.time_ns = like->time_ns,
				    .process = like->process,
				    .thread = like->thread,
				    .operation = (uint8_t)operation_of(object),
				    .failed = (object->flags & CTX_VM_MONITOR_TIMED_OUT) != 0,
				    .duration_ns = like->time_ns - object->begin_ns,
				    .object = object->hash};
	enum ctx_status status = CTX_OK;
	uint32_t process;

	if (object->owner == 0 || !ctx_proctree_lookup(target->tree, object->owner, &process, &sync.other) ||
	    process != like->process)
		sync.other = CTX_NONE;
	if (object->class.n != 0)
		status = add_class(&target->names, &object->class, &frames, err);
	sync.frames = frames.items;
	if (status == CTX_OK)
		status = write_block(target, &sync, &frames, err);
	if (status == CTX_OK)
		status = add_methods(&target->names, object, &frames, err);
	if (status != CTX_OK)
		return status;
	sync.n_frames = frames.n;
	return ctx_exp_sync(target->names.writer, &sync, err);
}

static enum ctx_status write_object(struct ctx_vm_objects *objects, const struct ctx_vm_kept_object *kept,
				    const struct ctx_vm_objects_target *target, struct ctx_err *err)
{
	bool is_allocation = kept->kind == CTX_VM_ALLOCATION;
	struct ctx_cursor rest = ctx_cursor_make(kept->bytes, kept->n);
	struct ctx_exp_sample sample = {.time_ns = kept->time_ns};
	struct ctx_vm_object object;

	if (is_allocation ? !ctx_vm_parse_allocation(&rest, &object)
			  : !ctx_vm_parse_monitor(&rest, &object) || object.begin_ns > kept->time_ns) {
		objects->damaged++;
		return CTX_OK;
	}
	if ((is_allocation ? target->wishes->heap_bytes == 0 : !target->wishes->sync) ||
	    !ctx_proctree_lookup(target->tree, object.tid, &sample.process, &sample.thread) ||
	    sample.process != target->names.process)
		return CTX_OK;
	return is_allocation ? write_allocation(target, &object, &sample, err)
			     : write_wait(target, &object, &sample, err);
}

enum ctx_status ctx_vm_objects_write(struct ctx_vm_objects *objects,
				     const struct ctx_vm_objects_target *target, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	while (n < objects->n && objects->items[n].time_ns <= target->until_ns && status == CTX_OK) {
		status = write_object(objects, &objects->items[n], target, err);
		free(objects->items[n++].bytes);
	}
	objects->n -= n;
	if (objects->n != 0)
		memmove(objects->items, objects->items + n, objects->n * sizeof(*objects->items));
	return status;
}
