#include "formats/perfdata/pd_tasks.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define EXIT_DELAY_NS 100000000u
#define DEPTH_MAX 1000 /* of processes that begot each other before the recording */

struct ctx_pd_maps {
	uint32_t references;
	size_t n, cap;
	struct ctx_pd_map *items;
};

static void drop_maps(struct ctx_pd_maps *maps)
{
	if (maps == NULL || --maps->references != 0)
		return;
	free(maps->items);
	free(maps);
}

void ctx_pd_tasks_deinit(struct ctx_pd_tasks *tasks)
{
	for (size_t i = 0; i < tasks->n_images; i++)
		drop_maps(tasks->images[i].maps);
	ctx_strtab_deinit(&tasks->names);
	ctx_map64_deinit(&tasks->image_of_pid);
	ctx_map64_deinit(&tasks->task_of_tid);
	free(tasks->images);
	free(tasks->tasks);
	free(tasks->exits);
	*tasks = (struct ctx_pd_tasks){0};
}

enum ctx_status ctx_pd_outbox_put(struct ctx_pd_outbox *out, const struct ctx_event *event,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (out->at == out->n)
		out->at = out->n = 0;
	status = ctx_grow(&out->items, &out->cap, out->n + 1, err);
	if (status == CTX_OK)
		out->items[out->n++] = *event;
	return status;
}

void ctx_pd_outbox_deinit(struct ctx_pd_outbox *out)
{
	free(out->items);
	*out = (struct ctx_pd_outbox){0};
}

static const char *text(const struct ctx_pd_tasks *tasks, uint32_t id)
{
	return ctx_strtab_get(&tasks->names, id);
}

static enum ctx_status set_value(struct ctx_map64 *map, int64_t key, uint32_t value, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, (uint64_t)key);

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = value;
	return CTX_OK;
}

/* A new image becomes the process of its pid. */
static enum ctx_status add_image(struct ctx_pd_tasks *tasks, const struct ctx_pd_image *image, uint32_t *ret,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&tasks->images, &tasks->images_cap, tasks->n_images + 1, err);

	if (status == CTX_OK)
		status = set_value(&tasks->image_of_pid, image->pid, (uint32_t)tasks->n_images, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)tasks->n_images;
	tasks->images[tasks->n_images++] = *image;
	return CTX_OK;
}

/* A process that nobody told of has its number for a name, as in perf. */
static enum ctx_status name_of_number(struct ctx_pd_tasks *tasks, int64_t number, uint32_t *ret,
				      struct ctx_err *err)
{
	char name[32];

	if (number == 0)
		snprintf(name, sizeof(name), "swapper");
	else
		snprintf(name, sizeof(name), ":%lld", (long long)number);
	return ctx_strtab_add_text(&tasks->names, name, ret, err);
}

static enum ctx_status find_image(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid, uint32_t *ret,
				  struct ctx_err *err)
{
	struct ctx_pd_image image = {.pid = pid, .parent = CTX_NONE, .number = CTX_NONE, .begin_ns = time_ns};
	uint32_t known = ctx_map64_get(&tasks->image_of_pid, (uint64_t)pid);
	enum ctx_status status;

	if (known != CTX_MAP64_NONE) {
		*ret = known;
		return CTX_OK;
	}
	status = name_of_number(tasks, pid, &image.name, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&tasks->names, "", &image.lineage, err);
	return status == CTX_OK ? add_image(tasks, &image, ret, err) : status;
}

/* "<lineage of the parent>_f3" */
static enum ctx_status make_lineage(struct ctx_pd_tasks *tasks, uint32_t parent, char kind, uint32_t number,
				    uint32_t *ret, struct ctx_err *err)
{
	char lineage[256];
	int n = snprintf(lineage, sizeof(lineage), "%s_%c%u", text(tasks, parent), kind, number);

	if (n < 0 || (size_t)n >= sizeof(lineage)) { /* deeper than anybody reads */
		*ret = parent;
		return CTX_OK;
	}
	return ctx_strtab_add_text(&tasks->names, lineage, ret, err);
}

static enum ctx_status add_task(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t tid, uint32_t image,
				uint32_t name, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&tasks->tasks, &tasks->tasks_cap, tasks->n_tasks + 1, err);

	if (status == CTX_OK)
		status = set_value(&tasks->task_of_tid, tid, (uint32_t)tasks->n_tasks, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)tasks->n_tasks;
	tasks->tasks[tasks->n_tasks++] = (struct ctx_pd_task){
		.tid = tid, .image = image, .number = CTX_NONE, .name = name, .begin_ns = time_ns};
	tasks->images[image].n_threads++;
	return CTX_OK;
}

/* The idle threads of all processors have the number 0: told apart from nothing else, they are one. */
static enum ctx_status find_task(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid, int64_t tid,
				 uint32_t *ret, struct ctx_err *err)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid);
	uint32_t image = CTX_NONE;
	enum ctx_status status;

	if (known != CTX_MAP64_NONE && !tasks->tasks[known].told &&
	    tasks->images[tasks->tasks[known].image].pid == pid) {
		*ret = known;
		return CTX_OK;
	}
	if (known == CTX_MAP64_NONE)
		time_ns = 0; /* it was there before anybody told of it */
	status = find_image(tasks, time_ns, pid, &image, err);
	return status == CTX_OK ? add_task(tasks, time_ns, tid, image, tasks->images[image].name, ret, err)
				: status;
}

/* Notes the end of a task; it is told later. */
static enum ctx_status end_task(struct ctx_pd_tasks *tasks, uint32_t index, uint64_t time_ns,
				struct ctx_err *err)
{
	struct ctx_pd_task *task = &tasks->tasks[index];
	enum ctx_status status;

	if (task->ended)
		return CTX_OK;
	if (tasks->exits_at != 0 && tasks->exits_at * 2 > tasks->n_exits) {
		memmove(tasks->exits, tasks->exits + tasks->exits_at,
			(tasks->n_exits - tasks->exits_at) * sizeof(*tasks->exits));
		tasks->n_exits -= tasks->exits_at;
		tasks->exits_at = 0;
	}
	status = ctx_grow(&tasks->exits, &tasks->exits_cap, tasks->n_exits + 1, err);
	if (status != CTX_OK)
		return status;
	tasks->exits[tasks->n_exits++] = index;
	task->ended = true;
	task->end_ns = time_ns;
	return CTX_OK;
}

/* May `parent` become the parent of `image`? Not when it descends from it (a damaged file, or a pid that was used again
 * while perf read /proc), and not so deep that nobody can tell. */
static bool may_descend(const struct ctx_pd_tasks *tasks, uint32_t image, uint32_t parent)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (parent == image)
			return false;
		parent = tasks->images[parent].parent;
		if (parent == CTX_NONE)
			return true;
	}
	return false;
}

/* A process that was there before the recording, as perf found it in /proc. It inherits nothing: its maps follow. */
static enum ctx_status fork_before(struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
				   struct ctx_err *err)
{
	uint32_t image = 0, parent = 0, task;
	enum ctx_status status = find_image(tasks, 0, fork->pid, &image, err);

	if (status == CTX_OK)
		status = find_image(tasks, 0, fork->parent_pid, &parent, err);
	if (status != CTX_OK)
		return status;
	tasks->images[image].named = true;
	if (tasks->images[image].parent == CTX_NONE && may_descend(tasks, image, parent))
		tasks->images[image].parent = parent;
	return find_task(tasks, 0, fork->pid, fork->tid, &task, err);
}

/* A new image with the name and the maps of its parent. */
static enum ctx_status fork_image(struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
				  uint32_t parent_index, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_pd_image *parent = &tasks->images[parent_index];
	struct ctx_pd_image image = {.pid = fork->pid,
				     .parent = parent_index,
				     .number = CTX_NONE,
				     .name = parent->name,
				     .begin_ns = fork->time_ns,
				     .named = true};
	enum ctx_status status =
		make_lineage(tasks, parent->lineage, 'f', ++parent->n_forks, &image.lineage, err);

	if (status == CTX_OK)
		status = add_image(tasks, &image, ret, err);
	if (status != CTX_OK)
		return status;
	parent = &tasks->images[parent_index];
	if (parent->maps != NULL) {
		tasks->images[*ret].maps = parent->maps;
		parent->maps->references++;
	}
	return CTX_OK;
}

enum ctx_status ctx_pd_tasks_fork(struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
				  struct ctx_err *err)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)fork->tid), image = 0, task;
	enum ctx_status status = CTX_OK;

	if (fork->synthesized)
		return fork_before(tasks, fork, err);
	if (known != CTX_MAP64_NONE) /* its number is used again */
		status = end_task(tasks, known, fork->time_ns, err);
	if (status == CTX_OK)
		status = find_image(tasks, 0, fork->parent_pid, &image, err);
	if (status == CTX_OK && fork->pid != fork->parent_pid)
		status = fork_image(tasks, fork, image, &image, err);
	return status == CTX_OK ? add_task(tasks, fork->time_ns, fork->tid, image, tasks->images[image].name,
					   &task, err)
				: status;
}

/* The process goes on as another program: a new image, and its one thread. */
static enum ctx_status exec_image(struct ctx_pd_tasks *tasks, uint64_t time_ns, uint32_t old_index,
				  int64_t tid, uint32_t name, struct ctx_err *err)
{
	struct ctx_pd_image *old = &tasks->images[old_index];
	struct ctx_pd_image image = {.pid = old->pid,
				     .parent = old_index,
				     .number = CTX_NONE,
				     .name = name,
				     .begin_ns = time_ns,
				     .named = true};
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid), index, task;
	enum ctx_status status = CTX_OK;

	old->replaced = true;
	if (old->number == CTX_NONE && text(tasks, old->lineage)[0] == '\0')
		image.lineage = old->lineage; /* the founder: nobody saw what it was before */
	else
		status = make_lineage(tasks, old->lineage, 'x', ++old->n_execs, &image.lineage, err);
	if (status == CTX_OK && known != CTX_MAP64_NONE)
		status = end_task(tasks, known, time_ns, err);
	if (status == CTX_OK)
		status = add_image(tasks, &image, &index, err);
	return status == CTX_OK ? add_task(tasks, time_ns, tid, index, name, &task, err) : status;
}

enum ctx_status ctx_pd_tasks_comm(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid, int64_t tid,
				  const char *name, bool exec, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_NAME, .time_ns = time_ns};
	uint32_t id = 0, image = 0, index = 0;
	enum ctx_status status = ctx_strtab_add_text(&tasks->names, name, &id, err);
	struct ctx_pd_task *task;

	if (status == CTX_OK)
		status = find_image(tasks, time_ns, pid, &image, err);
	if (status == CTX_OK && exec)
		return exec_image(tasks, time_ns, image, tid, id, err);
	if (status == CTX_OK)
		status = find_task(tasks, time_ns, pid, tid, &index, err);
	if (status != CTX_OK)
		return status;
	task = &tasks->tasks[index];
	task->name = id;
	image = task->image;
	tasks->images[image].named = true;
	if (tid == pid && tasks->images[image].number == CTX_NONE)
		tasks->images[image].name = id;
	if (task->number == CTX_NONE)
		return CTX_OK;
	event.process = tasks->images[image].number;
	event.thread = task->number;
	event.thread_name = text(tasks, id);
	return ctx_pd_outbox_put(tasks->out, &event, err);
}

enum ctx_status ctx_pd_tasks_exit(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid, int64_t tid,
				  struct ctx_err *err)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid);

	if (known == CTX_MAP64_NONE || tasks->images[tasks->tasks[known].image].pid != pid)
		return CTX_OK; /* never seen: nothing to end */
	return end_task(tasks, known, time_ns, err);
}

static enum ctx_status tell_map(struct ctx_pd_tasks *tasks, uint64_t time_ns, uint32_t process,
				const struct ctx_pd_map *map, struct ctx_err *err)
{
	struct ctx_event event = {
		.kind = map->executable ? CTX_EV_MAP : CTX_EV_UNMAP, .time_ns = time_ns, .process = process};

	event.map = (struct ctx_map_event){
		.address = map->address,
		.size = map->size,
		.file_offset = map->file_offset,
		.path = text(tasks, map->path),
		.build_id = text(tasks, map->build_id),
		.archive = "",
		.function = text(tasks, map->function),
	};
	return ctx_pd_outbox_put(tasks->out, &event, err);
}

/* The image's own list of maps, with room for one more. */
static enum ctx_status own_maps(struct ctx_pd_image *image, struct ctx_err *err)
{
	struct ctx_pd_maps *old = image->maps, *maps = old;
	enum ctx_status status;

	if (old == NULL || old->references > 1) {
		maps = ctx_calloc(1, sizeof(*maps));
		if (maps == NULL)
			return ctx_err_nomem(err);
		maps->references = 1;
	}
	status = ctx_grow(&maps->items, &maps->cap, (old != NULL ? old->n : 0) + 1, err);
	if (status != CTX_OK) {
		if (maps != old)
			drop_maps(maps);
		return status;
	}
	if (maps != old && old != NULL) {
		memcpy(maps->items, old->items, old->n * sizeof(*maps->items));
		maps->n = old->n;
	}
	if (maps != old)
		drop_maps(old);
	image->maps = maps;
	return CTX_OK;
}

enum ctx_status ctx_pd_tasks_map(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid,
				 const struct ctx_pd_map *map, struct ctx_err *err)
{
	struct ctx_pd_image *image;
	uint32_t index = 0;
	enum ctx_status status = find_image(tasks, time_ns, pid, &index, err);

	if (status != CTX_OK)
		return status;
	image = &tasks->images[index];
	status = own_maps(image, err);
	if (status != CTX_OK)
		return status;
	image->maps->items[image->maps->n++] = *map;
	return image->number != CTX_NONE ? tell_map(tasks, time_ns, image->number, map, err) : CTX_OK;
}

/* The nearest ancestor that is worth telling: not one that only was there to exec. */
static uint32_t telling_parent(const struct ctx_pd_tasks *tasks, uint32_t index)
{
	uint32_t parent = tasks->images[index].parent;

	while (parent != CTX_NONE && tasks->images[parent].number == CTX_NONE &&
	       (tasks->images[parent].replaced || !tasks->images[parent].named))
		parent = tasks->images[parent].parent;
	return parent;
}

static enum ctx_status tell_image(struct ctx_pd_tasks *tasks, uint32_t index, uint64_t time_ns,
				  struct ctx_err *err)
{
	struct ctx_pd_image *image = &tasks->images[index];
	uint32_t parent = telling_parent(tasks, index);
	struct ctx_event event = {.kind = CTX_EV_PROCESS_START, .time_ns = image->begin_ns};
	enum ctx_status status;

	event.process = image->number = tasks->n_processes++;
	event.process_start.pid = image->pid;
	event.process_start.parent = parent != CTX_NONE ? tasks->images[parent].number : CTX_NONE;
	event.process_start.command = text(tasks, image->name);
	event.process_start.lineage = text(tasks, image->lineage);
	status = ctx_pd_outbox_put(tasks->out, &event, err);
	for (size_t i = 0; status == CTX_OK && image->maps != NULL && i < image->maps->n; i++)
		status = tell_map(tasks, time_ns, image->number, &image->maps->items[i], err);
	return status;
}

/* Announces an image, ancestors first. */
static enum ctx_status announce(struct ctx_pd_tasks *tasks, uint32_t index, uint64_t time_ns,
				struct ctx_err *err)
{
	while (tasks->images[index].number == CTX_NONE) {
		uint32_t first = index, parent;
		enum ctx_status status;

		while ((parent = telling_parent(tasks, first)) != CTX_NONE &&
		       tasks->images[parent].number == CTX_NONE)
			first = parent;
		status = tell_image(tasks, first, time_ns, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static enum ctx_status announce_task(struct ctx_pd_tasks *tasks, struct ctx_pd_task *task,
				     struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_START, .time_ns = task->begin_ns};

	event.process = tasks->images[task->image].number;
	event.thread = task->number = tasks->n_threads++;
	event.thread_start.tid = task->tid;
	event.thread_start.name = text(tasks, task->name);
	return ctx_pd_outbox_put(tasks->out, &event, err);
}

enum ctx_status ctx_pd_tasks_sample(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid, int64_t tid,
				    uint32_t *ret_process, uint32_t *ret_thread, struct ctx_err *err)
{
	uint32_t index = 0;
	enum ctx_status status = find_task(tasks, time_ns, pid, tid, &index, err);
	struct ctx_pd_task *task;

	if (status != CTX_OK)
		return status;
	task = &tasks->tasks[index];
	if (task->ended && time_ns > task->end_ns)
		task->end_ns = time_ns;
	if (task->number == CTX_NONE) {
		status = announce(tasks, task->image, time_ns, err);
		if (status == CTX_OK)
			status = announce_task(tasks, task, err);
	}
	*ret_process = tasks->images[task->image].number;
	*ret_thread = task->number;
	return status;
}

static enum ctx_status tell_end(struct ctx_pd_tasks *tasks, struct ctx_pd_task *task, struct ctx_err *err)
{
	struct ctx_pd_image *image = &tasks->images[task->image];
	struct ctx_event event = {.kind = CTX_EV_THREAD_EXIT, .time_ns = task->end_ns};
	enum ctx_status status = CTX_OK;

	task->told = true;
	event.process = image->number;
	event.thread = task->number;
	if (task->number != CTX_NONE)
		status = ctx_pd_outbox_put(tasks->out, &event, err);
	if (--image->n_threads != 0 || status != CTX_OK)
		return status;
	event.kind = CTX_EV_PROCESS_EXIT;
	event.process_exit.status = 0;
	event.process_exit.has_status = false;
	return image->number != CTX_NONE ? ctx_pd_outbox_put(tasks->out, &event, err) : CTX_OK;
}

enum ctx_status ctx_pd_tasks_expire(struct ctx_pd_tasks *tasks, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && tasks->exits_at < tasks->n_exits) {
		struct ctx_pd_task *task = &tasks->tasks[tasks->exits[tasks->exits_at]];

		if (now_ns != UINT64_MAX && (now_ns < task->end_ns || now_ns - task->end_ns < EXIT_DELAY_NS))
			break;
		tasks->exits_at++;
		status = tell_end(tasks, task, err);
	}
	return status;
}
