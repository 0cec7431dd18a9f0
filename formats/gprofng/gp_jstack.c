#include "formats/gprofng/gp_jstack.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CODES_MAX 65536u /* size limit of a method's bytecode */

static const char unknown_method[] = "<no Java callstack recorded>"; /* as gprofng says */

void ctx_gp_jstacks_deinit(struct ctx_gp_jstacks *stacks)
{
	ctx_strtab_deinit(&stacks->names);
	ctx_map64_deinit(&stacks->announced);
	free(stacks->stack.frames);
	free(stacks->stack.work);
	free(stacks->due);
	*stacks = (struct ctx_gp_jstacks){0};
}

void ctx_gp_jimage_deinit(struct ctx_gp_jimage *image)
{
	ctx_gp_java_deinit(&image->methods);
}

/* Processes */

static void stretch(uint64_t *begin, uint64_t *end, const struct ctx_gp_map_entry *entry)
{
	uint64_t last = entry->address + (entry->size - 1);

	if (entry->size == 0)
		return;
	if (*end == 0 || entry->address < *begin)
		*begin = entry->address;
	if (last >= *end)
		*end = last != UINT64_MAX ? last + 1 : last;
}

/*
 * Finds the virtual machine and its JIT code: one region, in which each stub and method is a map of
 * its own.
 */
static void find_regions(struct ctx_gp_jimage *image, const struct ctx_gp_map *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct ctx_gp_map_entry *entry = &map->entries[i];
		const char *path = ctx_strtab_get(&map->names, entry->path);

		if (entry->is_unmap)
			continue;
		if (entry->method != 0 || (entry->function != UINT32_MAX && path[0] != '['))
			stretch(&image->code_begin, &image->code_end, entry);
		else if (entry->executable && strcmp(ctx_path_base(path), "libjvm.so") == 0)
			stretch(&image->jvm_begin, &image->jvm_end, entry);
	}
}

static enum ctx_status read_classes(struct ctx_gp_jimage *image, const char *path, bool big_endian,
				    struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct ctx_gp_blocks blocks = {0};
	struct stat info;
	uint64_t damaged;
	enum ctx_status status;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "jclasses");
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "jclasses is no plain file");
	status = ctx_gp_blocks_init(&blocks, fd, "jclasses", big_endian, err);
	if (status == CTX_OK)
		status = ctx_gp_java_read(&image->methods, &blocks, &image->shared->names, err);
	damaged = blocks.invalid + image->methods.damaged;
	if (status == CTX_OK && damaged != 0)
		status = ctx_err_set(err, CTX_E_FORMAT, "jclasses: %llu records that make no sense",
				     (unsigned long long)damaged);
	ctx_gp_blocks_deinit(&blocks);
	return status;
}

enum ctx_status ctx_gp_jimage_start(struct ctx_gp_jimage *image, const struct ctx_gp_experiment *experiment,
				    struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = NULL;

	if (experiment->log.settings.jvm[0] == '\0')
		return CTX_OK;
	find_regions(image, &experiment->map);
	path = ctx_path_join(experiment->path, "jclasses");
	return path != NULL ? read_classes(image, path, experiment->log.machine.big_endian, err)
			    : ctx_err_nomem(err);
}

enum ctx_status ctx_gp_jimage_name(struct ctx_gp_jimage *image, uint64_t method, int64_t time_ns,
				   uint32_t *ret, struct ctx_err *err)
{
	uint32_t name = ctx_gp_java_find(&image->methods, method, time_ns);
	char text[64];

	if (name != CTX_NONE) {
		*ret = name;
		return CTX_OK;
	}
	snprintf(text, sizeof(text), "<method 0x%llx>", (unsigned long long)method);
	return ctx_strtab_add_text(&image->shared->names, text, ret, err);
}

/* Stacks */

static enum ctx_status make_room(struct ctx_gp_java_stack *stack, struct ctx_err *err)
{
	stack->max = CTX_GP_STACK_MAX;
	if (stack->frames == NULL)
		stack->frames = ctx_calloc(stack->max, sizeof(*stack->frames));
	if (stack->work == NULL)
		stack->work = ctx_calloc(stack->max, 2 * sizeof(*stack->work));
	return stack->frames != NULL && stack->work != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The frame of a position in a method; a new method is announced. */
static enum ctx_status frame_of(struct ctx_gp_jstacks *stacks, uint32_t name, int32_t index, uint64_t *ret,
				struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&stacks->announced, name);

	if (place == NULL)
		return ctx_err_nomem(err);
	*ret = ctx_frame_named(name, index > 0 && index < (int32_t)CODES_MAX ? (uint32_t)index : 0);
	if (*place != CTX_MAP64_NONE)
		return CTX_OK;
	if (ctx_grow(&stacks->due, &stacks->due_cap, stacks->n_due + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	*place = 0;
	stacks->due[stacks->n_due++] = name;
	return CTX_OK;
}

/*
 * Number of frames, counted from the leaf, of the native method at the leaf of the Java stack: up
 * to the JIT code that called it. 0 if the callee is the virtual machine itself.
 */
static uint32_t count_native(const struct ctx_gp_jimage *image, const uint64_t *frames, uint32_t n)
{
	uint32_t k = 0;

	while (k < n && (frames[k] < image->code_begin || frames[k] >= image->code_end))
		k++;
	if (k == n || k == 0 || (frames[k - 1] >= image->jvm_begin && frames[k - 1] < image->jvm_end))
		return 0;
	return k;
}

/* Appends the Java frames after the native frames that are kept. */
static enum ctx_status put_java(struct ctx_gp_jimage *image, int64_t time_ns, struct ctx_gp_stack_frames *to,
				struct ctx_err *err)
{
	struct ctx_gp_jstacks *stacks = image->shared;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < stacks->stack.n && to->n < CTX_GP_STACK_MAX - 1 && status == CTX_OK; i++) {
		const struct ctx_gp_java_frame *frame = &stacks->stack.frames[i];
		uint32_t name = ctx_gp_java_find(&image->methods, frame->method, time_ns);

		if (frame->method == CTX_GP_JAVA_TRUNCATED) {
			to->frames[to->n++] = ctx_frame_truncated(CTX_TRUNCATED_DEPTH);
			break;
		}
		if (name == CTX_NONE)
			status = ctx_strtab_add_text(&stacks->names, unknown_method, &name, err);
		if (status == CTX_OK)
			status = frame_of(stacks, name, frame->index, &to->frames[to->n], err);
		to->n += status == CTX_OK;
	}
	return status;
}

enum ctx_status ctx_gp_jimage_take(struct ctx_gp_jimage *image, const struct ctx_gp_frames *frames,
				   struct ctx_gp_numbered *stack, struct ctx_gp_stack_frames *to,
				   struct ctx_err *err)
{
	struct ctx_gp_java_stack *java = &image->shared->stack;
	enum ctx_gp_stack_state state;
	enum ctx_status status;

	if (!ctx_gp_frames_have_java(frames, stack->uid))
		return CTX_OK;
	status = make_room(java, err);
	if (status != CTX_OK)
		return status;
	state = ctx_gp_frames_get_java(frames, stack->uid, java);
	/*
	 * The virtual machine may not have been able to unwind: then only the native stack exists.
	 */
	if (java->n == 0 ||
	    ctx_gp_java_find(&image->methods, java->frames[0].method, stack->time_ns) == CTX_NONE)
		return CTX_OK;
	stack->is_java = true;
	stack->state = state;
	to->n = java->frames[0].index == CTX_GP_JAVA_NATIVE ? count_native(image, to->frames, to->n) : 0;
	status = put_java(image, stack->time_ns, to, err);
	if (status == CTX_OK && state == CTX_GP_STACK_CUT)
		to->frames[to->n++] = ctx_frame_truncated(CTX_TRUNCATED_UNKNOWN);
	return status;
}

bool ctx_gp_jstacks_next(struct ctx_gp_jstacks *stacks, struct ctx_event *ret)
{
	uint32_t name;

	if (stacks->due_at == stacks->n_due) {
		stacks->due_at = stacks->n_due = 0;
		return false;
	}
	name = stacks->due[stacks->due_at++];
	*ret = (struct ctx_event){.kind = CTX_EV_FUNCTION, .time_ns = stacks->time_ns};
	ret->function = (struct ctx_event_function){.id = name,
						    .name = ctx_strtab_get(&stacks->names, name),
						    .module = "<Java methods>",
						    .size = CODES_MAX};
	return true;
}
