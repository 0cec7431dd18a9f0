#include "formats/perfdata/pd_tasks.h"

#include "base/mem.h"
#include "model/data_source.h"

#include <stdio.h>
#include <string.h>

#define EXIT_DELAY_NS 100000000u

/*
 * Lists of maps share prefixes: a fork copies nothing. Each image stores the number of items that
 * it sees of its list. An image that sees all items appends to the list; another starts a new list,
 * with what it sees as base.
 */
struct ctx_pd_maps {
	uint32_t references;
	size_t n, cap;
	struct ctx_pd_map *items;
	struct ctx_pd_maps *base; /* a reference; its first base_n items precede `items` */
	size_t base_n;
	struct ctx_pd_maps *above; /* scratch of emit_maps: the list with this one as base */
};

static void drop_maps(struct ctx_pd_maps *maps)
{
	while (maps != NULL && --maps->references == 0) {
		struct ctx_pd_maps *base = maps->base;

		free(maps->items);
		free(maps);
		maps = base;
	}
}

void ctx_pd_tasks_deinit(struct ctx_pd_tasks *tasks)
{
	for (size_t i = 0; i < tasks->n_images; i++)
		drop_maps(tasks->images[i].maps);
	ctx_strtab_deinit(&tasks->names);
	ctx_map64_deinit(&tasks->image_of_pid);
	ctx_map64_deinit(&tasks->task_of_tid);
	ctx_map64_deinit(&tasks->cgroups);
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

/* Adds an image, which becomes the process of its pid. */
static enum ctx_status add_image(struct ctx_pd_tasks *tasks, const struct ctx_pd_image *image, uint32_t *ret,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&tasks->images, &tasks->images_cap, tasks->n_images + 1, err);

	if (status == CTX_OK)
		status = set_value(&tasks->image_of_pid, image->pid, (uint32_t)tasks->n_images, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)tasks->n_images;
	tasks->images[tasks->n_images] = *image;
	tasks->images[tasks->n_images++].newest = CTX_NONE;
	return CTX_OK;
}

/* An unknown process is named after its pid, as in perf. */
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
	struct ctx_pd_image image = {.pid = pid,
				     .parent = CTX_NONE,
				     .root = CTX_NONE,
				     .number = CTX_NONE,
				     .cgroup = CTX_NONE,
				     .begin_ns = time_ns};
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

/*
 * The lineage of the next child of an image: "<lineage of the parent>_f3". `kind`: 'f' fork, 'x'
 * exec.
 */
static enum ctx_status make_lineage(struct ctx_pd_tasks *tasks, struct ctx_pd_image *parent, char kind,
				    uint32_t *ret, struct ctx_err *err)
{
	uint32_t number = kind == 'f' ? ++parent->n_forks : ++parent->n_execs;
	char lineage[256];
	int n = snprintf(lineage, sizeof(lineage), "%s_%c%u", text(tasks, parent->lineage), kind, number);

	if (n < 0 || (size_t)n >= sizeof(lineage)) { /* too deep to be of use */
		*ret = parent->lineage;
		return CTX_OK;
	}
	return ctx_strtab_add_text(&tasks->names, lineage, ret, err);
}

/*
 * Adds a task, which becomes the thread of its tid. Uses tid, image, name and begin_ns of `task`.
 */
static enum ctx_status add_task(struct ctx_pd_tasks *tasks, const struct ctx_pd_task *task, uint32_t *ret,
				struct ctx_err *err)
{
	struct ctx_pd_image *image = &tasks->images[task->image];
	enum ctx_status status = ctx_grow(&tasks->tasks, &tasks->tasks_cap, tasks->n_tasks + 1, err);

	if (status == CTX_OK)
		status = set_value(&tasks->task_of_tid, task->tid, (uint32_t)tasks->n_tasks, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)tasks->n_tasks;
	tasks->tasks[tasks->n_tasks++] = (struct ctx_pd_task){.tid = task->tid,
							      .image = task->image,
							      .number = CTX_NONE,
							      .name = task->name,
							      .sibling = image->newest,
							      .begin_ns = task->begin_ns};
	image->newest = *ret;
	image->n_threads++;
	return CTX_OK;
}

/* The idle threads of all CPUs have tid 0 and are indistinguishable: they are one task. */
static enum ctx_status find_task(struct ctx_pd_tasks *tasks, const struct ctx_pd_task_at *at, uint32_t *ret,
				 struct ctx_err *err)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)at->tid);
	struct ctx_pd_task task = {.tid = at->tid, .image = CTX_NONE};
	enum ctx_status status;

	if (known != CTX_MAP64_NONE && !tasks->tasks[known].exit_emitted &&
	    tasks->images[tasks->tasks[known].image].pid == at->pid) {
		*ret = known;
		return CTX_OK;
	}
	/* A tid that was never seen before existed when the recording began. */
	task.begin_ns = known != CTX_MAP64_NONE ? at->time_ns : 0;
	status = find_image(tasks, task.begin_ns, at->pid, &task.image, err);
	if (status != CTX_OK)
		return status;
	task.name = tasks->images[task.image].name;
	return add_task(tasks, &task, ret, err);
}

/* Marks a task as ended; its exit is emitted later. */
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

/* The oldest ancestor. Compresses the path. */
static uint32_t root_of(struct ctx_pd_tasks *tasks, uint32_t index)
{
	uint32_t root = index;

	while (tasks->images[root].root != CTX_NONE)
		root = tasks->images[root].root;
	while (index != root) {
		uint32_t next = tasks->images[index].root;

		tasks->images[index].root = root;
		index = next;
	}
	return root;
}

/*
 * A process from before the recording, which perf found in /proc. It inherits nothing: its maps
 * follow.
 */
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
	/* Refuses cycles, from a damaged file or a pid reused while perf read /proc. */
	if (tasks->images[image].root == CTX_NONE && root_of(tasks, parent) != image)
		tasks->images[image].parent = tasks->images[image].root = parent;
	return find_task(tasks, &(struct ctx_pd_task_at){.pid = fork->pid, .tid = fork->tid}, &task, err);
}

/* A child has the name of the forking thread, which may differ from the name of its process. */
static uint32_t name_of_parent(const struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
			       uint32_t parent_image)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)fork->parent_tid);

	return known != CTX_MAP64_NONE && tasks->tasks[known].image == parent_image
		       ? tasks->tasks[known].name
		       : tasks->images[parent_image].name;
}

/* Adds a new image, which takes its lineage and maps from its parent. */
static enum ctx_status fork_image(struct ctx_pd_tasks *tasks, struct ctx_pd_image *child, uint32_t *ret,
				  struct ctx_err *err)
{
	struct ctx_pd_image *parent = &tasks->images[child->parent];
	enum ctx_status status = make_lineage(tasks, parent, 'f', &child->lineage, err);

	if (status == CTX_OK)
		status = add_image(tasks, child, ret, err);
	if (status != CTX_OK)
		return status;
	parent = &tasks->images[child->parent];
	if (parent->maps != NULL) {
		tasks->images[*ret].maps = parent->maps;
		tasks->images[*ret].n_maps = parent->n_maps;
		parent->maps->references++;
	}
	return CTX_OK;
}

enum ctx_status ctx_pd_tasks_fork(struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
				  struct ctx_err *err)
{
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)fork->tid);
	struct ctx_pd_task task = {.tid = fork->tid, .begin_ns = fork->time_ns};
	uint32_t index;
	enum ctx_status status = CTX_OK;

	tasks->has_task_records = true;
	if (fork->synthesized)
		return fork_before(tasks, fork, err);
	if (known != CTX_MAP64_NONE) /* the tid is reused */
		status = end_task(tasks, known, fork->time_ns, err);
	if (status == CTX_OK)
		status = find_image(tasks, 0, fork->parent_pid, &task.image, err);
	if (status != CTX_OK)
		return status;
	task.name = name_of_parent(tasks, fork, task.image);
	if (fork->pid != fork->parent_pid) {
		struct ctx_pd_image child = {.pid = fork->pid,
					     .parent = task.image,
					     .root = task.image,
					     .number = CTX_NONE,
					     .name = task.name,
					     .cgroup = tasks->images[task.image].cgroup,
					     .begin_ns = fork->time_ns,
					     .named = true};

		status = fork_image(tasks, &child, &task.image, err);
	}
	return status == CTX_OK ? add_task(tasks, &task, &index, err) : status;
}

/*
 * Ends all threads of an image, including the one that called exec: it takes over the tid of the
 * main thread, without an EXIT record for its old tid.
 */
static enum ctx_status end_image(struct ctx_pd_tasks *tasks, uint32_t image, uint64_t time_ns,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = tasks->images[image].newest; i != CTX_NONE && status == CTX_OK;
	     i = tasks->tasks[i].sibling)
		status = end_task(tasks, i, time_ns, err);
	return status;
}

/* The process called exec: adds a new image with one thread. */
static enum ctx_status exec_image(struct ctx_pd_tasks *tasks, const struct ctx_pd_comm *comm,
				  uint32_t old_index, uint32_t name, struct ctx_err *err)
{
	uint64_t time_ns = comm->time_ns;
	struct ctx_pd_image *old = &tasks->images[old_index];
	struct ctx_pd_image image = {.pid = old->pid,
				     .parent = old_index,
				     .root = old_index,
				     .number = CTX_NONE,
				     .name = name,
				     .cgroup = old->cgroup,
				     .begin_ns = time_ns,
				     .named = true};
	struct ctx_pd_task task = {.tid = comm->tid, .name = name, .begin_ns = time_ns};
	uint32_t known = ctx_map64_get(&tasks->task_of_tid, (uint64_t)comm->tid), index;
	enum ctx_status status = CTX_OK;

	old->replaced = true;
	if (old->number == CTX_NONE && text(tasks, old->lineage)[0] == '\0')
		image.lineage = old->lineage; /* the root process, not sampled before exec */
	else
		status = make_lineage(tasks, old, 'x', &image.lineage, err);
	if (status == CTX_OK && known != CTX_MAP64_NONE)
		status = end_task(tasks, known, time_ns, err);
	if (status == CTX_OK)
		status = end_image(tasks, old_index, time_ns, err);
	if (status == CTX_OK)
		status = add_image(tasks, &image, &task.image, err);
	return status == CTX_OK ? add_task(tasks, &task, &index, err) : status;
}

enum ctx_status ctx_pd_tasks_comm(struct ctx_pd_tasks *tasks, const struct ctx_pd_comm *comm,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_NAME, .time_ns = comm->time_ns};
	uint32_t id = 0, image = 0, index = 0;
	enum ctx_status status = ctx_strtab_add_text(&tasks->names, comm->name, &id, err);
	struct ctx_pd_task *task;

	tasks->has_task_records = true;
	if (status == CTX_OK)
		status = find_image(tasks, comm->time_ns, comm->pid, &image, err);
	if (status == CTX_OK && comm->is_exec)
		return exec_image(tasks, comm, image, id, err);
	if (status == CTX_OK)
		status = find_task(tasks,
				   &(struct ctx_pd_task_at){
					   .time_ns = comm->time_ns, .pid = comm->pid, .tid = comm->tid},
				   &index, err);
	if (status != CTX_OK)
		return status;
	task = &tasks->tasks[index];
	task->name = id;
	image = task->image;
	tasks->images[image].named = true;
	if (comm->tid == comm->pid && tasks->images[image].number == CTX_NONE)
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
		return CTX_OK; /* unknown task: nothing to end */
	return end_task(tasks, known, time_ns, err);
}

static enum ctx_status emit_map(struct ctx_pd_tasks *tasks, uint64_t time_ns, uint32_t process,
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

/* Appends a map to the image's list. Other images do not see it. */
static enum ctx_status append_map(struct ctx_pd_image *image, const struct ctx_pd_map *map,
				  struct ctx_err *err)
{
	struct ctx_pd_maps *maps = image->maps;
	enum ctx_status status;

	if (maps == NULL || maps->n != image->n_maps) {
		maps = ctx_calloc(1, sizeof(*maps));
		if (maps == NULL)
			return ctx_err_nomem(err);
		maps->references = 1;
		maps->base = image->maps;
		maps->base_n = image->n_maps;
		image->maps = maps;
		image->n_maps = 0;
	}
	status = ctx_grow(&maps->items, &maps->cap, maps->n + 1, err);
	if (status != CTX_OK)
		return status;
	maps->items[maps->n++] = *map;
	image->n_maps = maps->n;
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
	status = append_map(image, map, err);
	if (status != CTX_OK)
		return status;
	return image->number != CTX_NONE ? emit_map(tasks, time_ns, image->number, map, err) : CTX_OK;
}

const char *ctx_pd_tasks_mapped(const struct ctx_pd_tasks *tasks, int64_t pid, uint64_t address)
{
	uint32_t known = ctx_map64_get(&tasks->image_of_pid, (uint64_t)pid);
	const struct ctx_pd_maps *maps;
	const char *stack = NULL;
	size_t n;

	if (known == CTX_MAP64_NONE)
		return NULL;
	maps = tasks->images[known].maps;
	n = tasks->images[known].n_maps;
	while (maps != NULL) { /* the newest one counts */
		for (size_t i = n; i > 0; i--) {
			const struct ctx_pd_map *map = &maps->items[i - 1];

			if (address - map->address < map->size)
				return text(tasks, map->path);
			if (map->address - address <= CTX_STACK_GROWTH_MAX &&
			    strcmp(text(tasks, map->path), "[stack]") == 0)
				stack = "[stack]";
		}
		n = maps->base_n;
		maps = maps->base;
	}
	return stack;
}

/* Was it replaced by exec before it was announced? */
static bool is_transient(const struct ctx_pd_image *image)
{
	return image->number == CTX_NONE && image->replaced;
}

/* The nearest ancestor that is announced: skips transient images. Compresses the path. */
static uint32_t announced_parent(struct ctx_pd_tasks *tasks, uint32_t index)
{
	struct ctx_pd_image *images = tasks->images;
	uint32_t parent = images[index].parent;

	while (parent != CTX_NONE && is_transient(&images[parent]))
		parent = images[parent].parent;
	while (images[index].parent != parent) {
		uint32_t next = images[index].parent;

		images[index].parent = parent;
		index = next;
	}
	return parent != CTX_NONE && (images[parent].number != CTX_NONE || images[parent].named) ? parent
												 : CTX_NONE;
}

/* Emits all maps that an image sees, oldest first. */
static enum ctx_status emit_maps(struct ctx_pd_tasks *tasks, const struct ctx_pd_image *image,
				 uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_pd_maps *maps = image->maps;
	enum ctx_status status = CTX_OK;

	if (maps == NULL)
		return CTX_OK;
	maps->above = NULL;
	for (; maps->base != NULL; maps = maps->base)
		maps->base->above = maps;
	for (; maps != NULL; maps = maps->above) {
		size_t n = maps->above != NULL ? maps->above->base_n : image->n_maps;

		for (size_t i = 0; i < n && status == CTX_OK; i++)
			status = emit_map(tasks, time_ns, image->number, &maps->items[i], err);
	}
	return status;
}

static enum ctx_status emit_image(struct ctx_pd_tasks *tasks, uint32_t index, uint64_t time_ns,
				  struct ctx_err *err)
{
	struct ctx_pd_image *image = &tasks->images[index];
	uint32_t parent = announced_parent(tasks, index);
	struct ctx_event event = {.kind = CTX_EV_PROCESS_START, .time_ns = image->begin_ns};
	enum ctx_status status;

	event.process = image->number = tasks->n_processes++;
	event.process_start.pid = image->pid;
	event.process_start.parent = parent != CTX_NONE ? tasks->images[parent].number : CTX_NONE;
	event.process_start.command = text(tasks, image->name);
	event.process_start.lineage = text(tasks, image->lineage);
	event.process_start.cgroup = image->cgroup != CTX_NONE ? text(tasks, image->cgroup) : NULL;
	status = ctx_pd_outbox_put(tasks->out, &event, err);
	return status == CTX_OK ? emit_maps(tasks, image, time_ns, err) : status;
}

/* Announces an image, ancestors first. */
static enum ctx_status announce(struct ctx_pd_tasks *tasks, uint32_t index, uint64_t time_ns,
				struct ctx_err *err)
{
	uint32_t parent, next = index;
	enum ctx_status status = CTX_OK;

	if (tasks->images[index].number != CTX_NONE)
		return CTX_OK;
	tasks->images[index].below = CTX_NONE;
	while ((parent = announced_parent(tasks, next)) != CTX_NONE &&
	       tasks->images[parent].number == CTX_NONE) {
		tasks->images[parent].below = next;
		next = parent;
	}
	for (; next != CTX_NONE && status == CTX_OK; next = tasks->images[next].below)
		status = emit_image(tasks, next, time_ns, err);
	return status;
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

/*
 * Records activity of a thread: announces it if needed, and moves its end to `time_ns` if that is
 * later.
 */
static inline enum ctx_status touch_task(struct ctx_pd_tasks *tasks, uint64_t time_ns, uint32_t index,
					 struct ctx_pd_thread_numbers *ret, struct ctx_err *err)
{
	struct ctx_pd_task *task = &tasks->tasks[index];
	enum ctx_status status = CTX_OK;

	if (task->ended && time_ns > task->end_ns)
		task->end_ns = time_ns;
	if (task->number == CTX_NONE) {
		status = announce(tasks, task->image, time_ns, err);
		if (status == CTX_OK)
			status = announce_task(tasks, task, err);
	}
	ret->process = tasks->images[task->image].number;
	ret->thread = task->number;
	return status;
}

enum ctx_status ctx_pd_tasks_cgroup(struct ctx_pd_tasks *tasks, uint64_t id, const char *path,
				    struct ctx_err *err)
{
	uint32_t name = 0, *place;
	enum ctx_status status = ctx_strtab_add_text(&tasks->names, path, &name, err);

	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&tasks->cgroups, id);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = name;
	return CTX_OK;
}

enum ctx_status ctx_pd_tasks_sample(struct ctx_pd_tasks *tasks, const struct ctx_pd_task_at *at,
				    struct ctx_pd_thread_numbers *ret, struct ctx_err *err)
{
	uint32_t index = 0;
	enum ctx_status status = find_task(tasks, at, &index, err);

	if (status == CTX_OK && at->cgroup != 0)
		tasks->images[tasks->tasks[index].image].cgroup = ctx_map64_get(&tasks->cgroups, at->cgroup);
	return status == CTX_OK ? touch_task(tasks, at->time_ns, index, ret, err) : status;
}

enum ctx_status ctx_pd_tasks_find(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t tid,
				  struct ctx_pd_thread_numbers *ret, struct ctx_err *err)
{
	uint32_t index = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid);

	if (index != CTX_MAP64_NONE && !tasks->tasks[index].exit_emitted &&
	    ctx_pd_tasks_untracked_task(tasks, tid) == NULL)
		return touch_task(tasks, time_ns, index, ret, err);
	*ret = (struct ctx_pd_thread_numbers){.process = CTX_NONE, .thread = CTX_NONE};
	return CTX_OK;
}

const char *ctx_pd_tasks_untracked_task(const struct ctx_pd_tasks *tasks, int64_t tid)
{
	uint32_t index = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid);

	if (!tasks->has_task_records || index == CTX_MAP64_NONE ||
	    tasks->images[tasks->tasks[index].image].named)
		return NULL;
	return text(tasks, tasks->tasks[index].name);
}

bool ctx_pd_tasks_has_ended(const struct ctx_pd_tasks *tasks, int64_t tid)
{
	uint32_t index = ctx_map64_get(&tasks->task_of_tid, (uint64_t)tid);

	return index != CTX_MAP64_NONE && tasks->tasks[index].ended;
}

static enum ctx_status emit_exit(struct ctx_pd_tasks *tasks, struct ctx_pd_task *task, struct ctx_err *err)
{
	struct ctx_pd_image *image = &tasks->images[task->image];
	struct ctx_event event = {.kind = CTX_EV_THREAD_EXIT, .time_ns = task->end_ns};
	enum ctx_status status = CTX_OK;

	task->exit_emitted = true;
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
		status = emit_exit(tasks, task, err);
	}
	return status;
}
