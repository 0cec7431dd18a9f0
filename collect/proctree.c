/*
 *	processes by pid ----> process (number, name, command)
 *	                          | list of its living threads
 *	threads by tid ------> thread (number, name)
 */
#include "collect/proctree.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/id_table.h"
#include "collect/namespaces.h"
#include "collect/procfs.h"
#include "formats/experiment/exp_archive.h"
#include "model/jit_code.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NAME_BYTES 64

struct process;

struct thread {
	int64_t tid, inner_tid; /* the latter as ctx_namespaces_inner_tid says */
	uint32_t number;
	char name[NAME_BYTES];
	struct process *process;
	struct thread *previous, *next; /* of the same process */
};

struct process {
	int64_t pid;
	uint32_t number;
	char name[NAME_BYTES];
	char *command; /* owned */
	struct ctx_mapper mapper;
	struct ctx_namespaces namespaces;
	uint64_t looked_ns; /* when /proc was read: older records are already reflected */
	struct thread *threads;
	struct process *previous, *next; /* in the order in which they were started */
};

struct ctx_proctree {
	struct ctx_exp_writer *writer;	/* borrowed */
	struct ctx_mapped_files *files; /* borrowed */
	struct ctx_id_table by_pid, by_tid;
	struct process *processes, *last_process;
	uint64_t looks_until_ns, looks_start_ns; /* processes first seen up to then existed at the start */
	int64_t root_process_pid;		 /* -1: none, or reaped */
	bool root_process_has_execed;
	bool root_process_is_gone;    /* its last thread has ended, its status is unknown yet */
	uint64_t root_process_end_ns; /* when that was */
	uint64_t last_exit_ns;	      /* of a thread; 0: none yet */
	bool maps_left_out;	      /* of a process, and said so */
	char vdso_build_id[CTX_BUILDID_TEXT];
};

enum ctx_status ctx_proctree_create(struct ctx_exp_writer *writer, struct ctx_mapped_files *files,
				    struct ctx_proctree **ret, struct ctx_err *err)
{
	struct ctx_proctree *tree = ctx_calloc(1, sizeof(*tree));
	const uint8_t *image;
	size_t n;

	if (tree == NULL)
		return ctx_err_nomem(err);
	tree->writer = writer;
	tree->files = files;
	tree->root_process_pid = -1;
	(void)ctx_exp_own_vdso(&image, &n, tree->vdso_build_id);
	*ret = tree;
	return CTX_OK;
}

/*
 * The vdso is no file. Above 4 GiB it is that of 64-bit processes, thus our own.
 */
static enum ctx_status find_build_id(struct ctx_proctree *tree, struct process *process,
				     const struct ctx_mapped_file *mapped, char text[CTX_BUILDID_TEXT],
				     struct ctx_err *err)
{
	if (strcmp(mapped->path, "[vdso]") != 0 || mapped->address <= UINT32_MAX)
		return ctx_mapped_files_add(tree->files, &process->mapper, mapped, text, err);
	memcpy(text, tree->vdso_build_id, CTX_BUILDID_TEXT);
	return CTX_OK;
}

static void drop_thread(struct ctx_proctree *tree, struct thread *thread)
{
	struct process *process = thread->process;

	ctx_id_table_remove(&tree->by_tid, thread->tid);
	if (thread->previous != NULL)
		thread->previous->next = thread->next;
	else
		process->threads = thread->next;
	if (thread->next != NULL)
		thread->next->previous = thread->previous;
	free(thread);
}

static void free_process(struct process *process)
{
	ctx_namespaces_deinit(&process->namespaces);
	free(process->command);
	free(process);
}

static void drop_process(struct ctx_proctree *tree, struct process *process)
{
	while (process->threads != NULL)
		drop_thread(tree, process->threads);
	ctx_id_table_remove(&tree->by_pid, process->pid);
	*(process->previous != NULL ? &process->previous->next : &tree->processes) = process->next;
	*(process->next != NULL ? &process->next->previous : &tree->last_process) = process->previous;
	free_process(process);
}

void ctx_proctree_destroy(struct ctx_proctree *tree)
{
	if (tree == NULL)
		return;
	while (tree->processes != NULL)
		drop_process(tree, tree->processes);
	ctx_id_table_deinit(&tree->by_pid);
	ctx_id_table_deinit(&tree->by_tid);
	free(tree);
}

static struct process *find_process(const struct ctx_proctree *tree, int64_t pid)
{
	return ctx_id_table_find(&tree->by_pid, pid);
}

static struct thread *find_thread(const struct ctx_proctree *tree, int64_t tid)
{
	return ctx_id_table_find(&tree->by_tid, tid);
}

static enum ctx_status end_thread(struct ctx_proctree *tree, struct thread *thread, uint64_t time_ns,
				  struct ctx_err *err)
{
	uint32_t number = thread->number;

	drop_thread(tree, thread);
	return ctx_exp_thread_exit(tree->writer, number, time_ns, err);
}

static enum ctx_status end_threads(struct ctx_proctree *tree, struct process *process, uint64_t time_ns,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && process->threads != NULL)
		status = end_thread(tree, process->threads, time_ns, err);
	return status;
}

static enum ctx_status end_process(struct ctx_proctree *tree, struct process *process, uint64_t time_ns,
				   struct ctx_err *err)
{
	uint32_t number = process->number;
	enum ctx_status status = end_threads(tree, process, time_ns, err);

	if (status != CTX_OK)
		return status;
	drop_process(tree, process);
	return ctx_exp_process_exit(tree->writer, number, &(struct ctx_exp_exit){time_ns, false, 0}, err);
}

/* A process that begins. */
struct image {
	struct ctx_exp_process start;
	const char *name;
	struct ctx_namespaces namespaces; /* start_process takes them, whether it succeeds or not */
};

/* NULL: no memory. */
static struct process *new_process(struct image *image, struct ctx_err *err)
{
	struct process *process = ctx_calloc(1, sizeof(*process));
	char *command = ctx_memdup0(image->start.command, strlen(image->start.command));

	if (process == NULL || command == NULL) {
		free(process);
		free(command);
		(void)ctx_err_nomem(err);
		return NULL;
	}
	process->pid = process->mapper.pid = image->start.pid;
	process->command = command;
	process->namespaces = image->namespaces;
	image->namespaces = (struct ctx_namespaces){0};
	snprintf(process->name, sizeof(process->name), "%s", image->name);
	return process;
}

/* Of a process or image that has just begun: where it is. */
static enum ctx_status look_at_namespaces(struct image *image, struct ctx_err *err)
{
	bool moved;
	enum ctx_status status = ctx_namespaces_look(image->start.pid, &image->namespaces, &moved, err);

	if (status != CTX_OK) {
		ctx_namespaces_deinit(&image->namespaces);
		return status;
	}
	image->start.inner_pid = image->namespaces.inner_pid;
	image->start.cgroup = moved ? image->namespaces.cgroup : NULL;
	return CTX_OK;
}

/*
 * Removes a pid (below: a tid) whose number was reused: its owner has called exec, or its exit
 * record was lost.
 */
static enum ctx_status start_process(struct ctx_proctree *tree, struct image *image, struct process **ret,
				     struct ctx_err *err)
{
	struct ctx_exp_process start = image->start;
	struct process *process = find_process(tree, start.pid);
	enum ctx_status status = CTX_OK;

	if (process != NULL)
		status = end_process(tree, process, start.time_ns, err);
	process = status == CTX_OK ? new_process(image, err) : NULL;
	if (process == NULL) {
		ctx_namespaces_deinit(&image->namespaces);
		return status != CTX_OK ? status : CTX_E_NOMEM;
	}
	status = ctx_id_table_add(&tree->by_pid, process->pid, process, err);
	if (status != CTX_OK) {
		free_process(process);
		return status;
	}
	process->previous = tree->last_process;
	*(process->previous != NULL ? &process->previous->next : &tree->processes) = process;
	tree->last_process = process;
	if (start.origin == CTX_EXP_FORK)
		start.command = NULL; /* the parent's */
	status = ctx_exp_process_start(tree->writer, &start, &process->number, err);
	if (status != CTX_OK) {
		drop_process(tree, process);
		return status;
	}
	*ret = process;
	return CTX_OK;
}

/* Starts a thread of `process`, whatever number `start` has. `ret` may be NULL. */
static enum ctx_status start_thread(struct ctx_proctree *tree, struct process *process,
				    struct ctx_exp_thread start, struct thread **ret, struct ctx_err *err)
{
	struct thread *thread = find_thread(tree, start.tid);
	enum ctx_status status;

	if (thread != NULL) {
		status = end_thread(tree, thread, start.time_ns, err);
		if (status != CTX_OK)
			return status;
	}
	thread = ctx_calloc(1, sizeof(*thread));
	if (thread == NULL)
		return ctx_err_nomem(err);
	thread->tid = start.tid;
	thread->process = process;
	snprintf(thread->name, sizeof(thread->name), "%s", start.name);
	status = ctx_id_table_add(&tree->by_tid, thread->tid, thread, err);
	if (status != CTX_OK) {
		free(thread);
		return status;
	}
	thread->next = process->threads;
	if (thread->next != NULL)
		thread->next->previous = thread;
	process->threads = thread;
	start.process = process->number;
	start.inner_tid = ctx_namespaces_inner_tid(&process->namespaces, process->pid, start.tid);
	thread->inner_tid = start.inner_tid;
	status = ctx_exp_thread_start(tree->writer, &start, &thread->number, err);
	if (status != CTX_OK) {
		drop_thread(tree, thread);
		return status;
	}
	if (ret != NULL)
		*ret = thread;
	return CTX_OK;
}

enum ctx_status ctx_proctree_add_root_process(struct ctx_proctree *tree, int64_t pid, const char *command,
					      uint64_t time_ns, struct ctx_err *err)
{
	struct image image = {.start = {.origin = CTX_EXP_ROOT_PROCESS,
					.parent = CTX_NONE,
					.pid = pid,
					.command = command,
					.time_ns = time_ns},
			      .name = ""};
	struct process *process;
	enum ctx_status status = look_at_namespaces(&image, err);

	if (status == CTX_OK)
		status = start_process(tree, &image, &process, err);
	if (status != CTX_OK)
		return status;
	tree->root_process_pid = pid;
	ctx_mapped_files_see_user(tree->files, &process->mapper);
	return start_thread(tree, process,
			    (struct ctx_exp_thread){.tid = pid, .name = "", .time_ns = time_ns}, NULL, err);
}

/*
 * Code in anonymous memory is JIT code: its map gets the path of the perf map file that lists its
 * functions, as in other profilers, so that it is archived and read like any object.
 */
static enum ctx_status name_jit_code(struct ctx_proctree *tree, struct process *process,
				     struct ctx_exp_map *map, char path[CTX_JIT_CODE_PATH],
				     struct ctx_err *err)
{
	static const char *const begins[] = {"//anon", "[anon:", "/anon_hugepage", "/dev/zero",
					     "/memfd:doublemapper"};
	bool is_anonymous = false;

	for (size_t i = 0; i < CTX_COUNT_OF(begins); i++)
		is_anonymous = is_anonymous || strncmp(map->path, begins[i], strlen(begins[i])) == 0;
	if ((map->protection & PROT_EXEC) == 0 || !is_anonymous)
		return CTX_OK;
	ctx_jit_code_path(process->pid, path);
	map->path = path;
	map->build_id = "";
	map->file_offset = map->address;
	return ctx_mapped_files_add_jit(tree->files, &process->mapper, err);
}

/* A map of a live process. */
static enum ctx_status put_map(struct ctx_proctree *tree, struct process *process,
			       const struct ctx_mapped_file *mapped, struct ctx_exp_map map,
			       struct ctx_err *err)
{
	char build_id[CTX_BUILDID_TEXT] = "", path[CTX_JIT_CODE_PATH];
	enum ctx_status status;

	map.address = mapped->address;
	map.size = mapped->size;
	map.path = mapped->path;
	map.build_id = build_id;
	status = name_jit_code(tree, process, &map, path, err);
	if (status == CTX_OK && map.path == mapped->path)
		status = find_build_id(tree, process, mapped, build_id, err);
	return status == CTX_OK ? ctx_exp_map(tree->writer, process->number, &map, err) : status;
}

static enum ctx_status warn_of_maps(struct ctx_proctree *tree, const struct process *process,
				    uint64_t time_ns, struct ctx_err *err)
{
	char text[192];

	if (tree->maps_left_out)
		return CTX_OK;
	tree->maps_left_out = true;
	snprintf(text, sizeof(text),
		 "PID %lld (%s) has more than 64 MiB of lines in /proc/PID/maps: code in its last maps has "
		 "no name",
		 (long long)process->pid, process->name);
	return ctx_exp_warning(tree->writer, time_ns, text, err);
}

static enum ctx_status add_maps(struct ctx_proctree *tree, struct process *process, uint64_t time_ns,
				struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	struct ctx_procfs_map raw;
	enum ctx_status status = ctx_procfs_maps(process->pid, &buf, NULL);
	char *text = status >= CTX_OK ? (char *)buf.bytes : NULL;

	/*
	 * Kernel threads have no maps; for a process that has ended or is not accessible none are
	 * added.
	 */
	status = status == CTX_END ? warn_of_maps(tree, process, time_ns, err) : CTX_OK;
	while (status == CTX_OK && ctx_procfs_next_map(&text, &raw)) {
		const struct ctx_mapped_file mapped = {.path = raw.path,
						       .address = raw.address,
						       .size = raw.size,
						       .major = raw.major,
						       .minor = raw.minor,
						       .inode = raw.inode,
						       .build_id = ""};
		const struct ctx_exp_map map = {
			.file_offset = raw.file_offset, .protection = raw.protection, .time_ns = time_ns};

		status = put_map(tree, process, &mapped, map, err);
	}
	ctx_buf_deinit(&buf);
	return status;
}

static enum ctx_status add_threads(struct ctx_proctree *tree, struct process *process, uint64_t time_ns,
				   struct ctx_err *err)
{
	struct ctx_ids tids = {0};
	enum ctx_status status = CTX_OK;

	if (ctx_procfs_tids(process->pid, &tids, NULL) != CTX_OK)
		tids.n = 0;
	for (size_t i = 0; i < tids.n && status == CTX_OK; i++) {
		char name[NAME_BYTES];
		struct ctx_exp_thread start = {.tid = tids.items[i], .name = name, .time_ns = time_ns};

		if (ctx_procfs_comm(process->pid, tids.items[i], name, sizeof(name), NULL) == CTX_OK)
			status = start_thread(tree, process, start, NULL, err);
	}
	ctx_ids_deinit(&tids);
	return status;
}

void ctx_proctree_looks(struct ctx_proctree *tree, uint64_t start_ns, uint64_t until_ns)
{
	tree->looks_start_ns = start_ns;
	tree->looks_until_ns = until_ns;
}

/* The start of a process whose first record is of this time. */
static uint64_t begin_of_met(const struct ctx_proctree *tree, uint64_t time_ns)
{
	return time_ns <= tree->looks_until_ns ? tree->looks_start_ns : time_ns;
}

/* Announces a process as /proc shows it, or by its id alone where it has left /proc. */
static enum ctx_status start_present(struct ctx_proctree *tree, int64_t pid, uint64_t time_ns,
				     struct process **ret, struct ctx_err *err)
{
	struct ctx_buf command = {0};
	char name[NAME_BYTES] = "";
	struct image image = {.start = {.origin = CTX_EXP_PRESENT,
					.parent = CTX_NONE,
					.pid = pid,
					.command = name,
					.time_ns = time_ns},
			      .name = name};
	struct process *process = NULL;
	enum ctx_status status;

	if (pid == 0)
		snprintf(name, sizeof(name), "swapper");
	else if (ctx_procfs_comm(pid, 0, name, sizeof(name), NULL) != CTX_OK)
		snprintf(name, sizeof(name), "<process %lld>", (long long)pid);
	if (ctx_procfs_command(pid, &command, NULL) == CTX_OK && command.n > 0)
		image.start.command = (const char *)command.bytes;
	status = look_at_namespaces(&image, err);
	if (status == CTX_OK)
		status = start_process(tree, &image, &process, err);
	if (status == CTX_OK)
		ctx_mapped_files_see_user(tree->files, &process->mapper);
	if (status == CTX_OK)
		status = add_threads(tree, process, time_ns, err);
	if (status == CTX_OK)
		status = add_maps(tree, process, time_ns, err);
	if (status == CTX_OK) {
		process->looked_ns = ctx_clock_ns(CLOCK_MONOTONIC);
		*ret = process;
	}
	ctx_buf_deinit(&command);
	return status;
}

enum ctx_status ctx_proctree_add_present(struct ctx_proctree *tree, int64_t pid, uint64_t time_ns,
					 struct ctx_err *err)
{
	struct process *process;
	char name[NAME_BYTES];

	if (find_process(tree, pid) != NULL || ctx_procfs_comm(pid, 0, name, sizeof(name), NULL) != CTX_OK)
		return CTX_OK;
	return start_present(tree, pid, time_ns, &process, err);
}

enum ctx_status ctx_proctree_find(struct ctx_proctree *tree, const struct ctx_proctree_task *task,
				  uint32_t *ret_process, uint32_t *ret_thread, struct ctx_err *err)
{
	struct ctx_exp_thread start = {.tid = task->tid, .time_ns = task->time_ns};
	struct thread *thread = find_thread(tree, task->tid);
	int64_t pid = task->pid;
	struct process *process;
	enum ctx_status status = CTX_OK;

	/* The idle thread of every CPU has tid 0 and belongs to pid 0. */
	if (thread == NULL || thread->process->pid != pid) {
		if (pid < 0 || pid >= INT32_MAX || task->tid < 0 || task->tid >= INT32_MAX)
			return ctx_err_set(err, CTX_E_NOTFOUND, "a sample of a task that is gone");
		process = find_process(tree, pid);
		if (process == NULL) {
			start.time_ns = begin_of_met(tree, task->time_ns);
			status = start_present(tree, pid, start.time_ns, &process, err);
		}
		thread = status == CTX_OK ? find_thread(tree, task->tid) : NULL;
		if (status == CTX_OK && (thread == NULL || thread->process != process)) {
			start.name = process->name;
			status = start_thread(tree, process, start, &thread, err);
		}
		if (status != CTX_OK)
			return status;
	}
	*ret_process = thread->process->number;
	*ret_thread = thread->number;
	return CTX_OK;
}

bool ctx_proctree_lookup(const struct ctx_proctree *tree, int64_t tid, uint32_t *ret_process,
			 uint32_t *ret_thread)
{
	const struct thread *thread = find_thread(tree, tid);

	if (thread == NULL)
		return false;
	*ret_process = thread->process->number;
	*ret_thread = thread->number;
	return true;
}

bool ctx_proctree_lookup_inner(const struct ctx_proctree *tree, int64_t pid, int64_t inner_tid,
			       uint32_t *ret_thread)
{
	const struct process *process = find_process(tree, pid);
	const struct thread *thread = process != NULL ? process->threads : NULL;

	while (thread != NULL && thread->inner_tid != inner_tid)
		thread = thread->next;
	if (thread != NULL)
		*ret_thread = thread->number;
	return thread != NULL;
}

static enum ctx_status apply_fork(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct process *parent = find_process(tree, record->task.parent_pid);
	struct thread *creator = find_thread(tree, record->task.parent_tid);
	struct image image = {
		.start = {.origin = CTX_EXP_FORK, .pid = record->pid, .time_ns = record->time_ns}};
	struct process *child = find_process(tree, record->pid);
	struct ctx_exp_thread first = {.tid = record->tid, .time_ns = record->time_ns};
	enum ctx_status status = CTX_OK;

	if (child != NULL && record->time_ns <= child->looked_ns)
		return CTX_OK;
	if (parent == NULL)
		status = start_present(tree, record->task.parent_pid, begin_of_met(tree, record->time_ns),
				       &parent, err);
	if (status != CTX_OK)
		return status;
	first.name = creator != NULL ? creator->name : parent->name;
	if (record->pid == (uint32_t)record->task.parent_pid)
		return start_thread(tree, parent, first, NULL, err);
	image.start.parent = parent->number;
	image.start.command = parent->command;
	image.name = parent->name;
	status = ctx_namespaces_fork(&parent->namespaces, record->pid, &image.namespaces, err);
	image.start.inner_pid = image.namespaces.inner_pid;
	if (status == CTX_OK)
		status = start_process(tree, &image, &child, err);
	if (status == CTX_OK) {
		child->mapper.parent_pid = parent->pid;
		child->mapper.user = parent->mapper.user;
		status = start_thread(tree, child, first, NULL, err);
	}
	if (status == CTX_OK)
		status = ctx_exp_fork_maps(tree->writer, image.start.parent, child->number, record->time_ns,
					   err);
	return status;
}

/* The command line of an image that has just started, if it still runs; its name otherwise. */
static void command_of_exec(int64_t pid, const char *name, struct ctx_buf *out)
{
	char name_now[NAME_BYTES];

	if (ctx_procfs_exists(pid) && ctx_procfs_command(pid, out, NULL) == CTX_OK && out->n > 0 &&
	    ctx_procfs_comm(pid, 0, name_now, sizeof(name_now), NULL) == CTX_OK &&
	    strcmp(name_now, name) == 0)
		return;
	ctx_buf_clear(out);
	ctx_buf_put(out, name, strlen(name) + 1);
}

/*
 * The old image and all its threads end; the thread that called exec continues under the process's
 * id.
 */
static enum ctx_status apply_exec(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct process *old = find_process(tree, record->pid), *process;
	struct image image = {.start = {.origin = old != NULL ? CTX_EXP_EXEC : CTX_EXP_PRESENT,
					.pid = record->pid,
					.parent = old != NULL ? old->number : CTX_NONE,
					.time_ns = record->time_ns},
			      .name = record->comm};
	struct ctx_exp_thread first = {.tid = record->tid, .name = record->comm, .time_ns = record->time_ns};
	struct ctx_mapper mapper = old != NULL ? old->mapper : (struct ctx_mapper){.pid = record->pid};
	struct ctx_buf command = {0};
	enum ctx_status status = CTX_OK;

	command_of_exec(record->pid, record->comm, &command);
	status = ctx_buf_check(&command, err);
	if (status == CTX_OK) {
		/* start_process ends the old image, which has the same pid. */
		image.start.command = (const char *)command.bytes;
		if (old != NULL) {
			image.namespaces = old->namespaces;
			old->namespaces = (struct ctx_namespaces){0};
		}
		status = look_at_namespaces(&image, err);
	}
	if (status == CTX_OK)
		status = start_process(tree, &image, &process, err);
	if (status == CTX_OK)
		process->mapper = mapper;
	ctx_buf_deinit(&command);
	return status == CTX_OK ? start_thread(tree, process, first, NULL, err) : status;
}

static enum ctx_status apply_comm(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	bool is_exec = (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
	struct process *process = find_process(tree, record->pid);
	struct thread *thread = find_thread(tree, record->tid);

	/*
	 * The first exec of our own child makes it the root process, which is announced already
	 * with its command line.
	 */
	if (is_exec && record->pid == tree->root_process_pid && !tree->root_process_has_execed)
		tree->root_process_has_execed = true;
	else if (is_exec && (process == NULL || record->time_ns > process->looked_ns))
		return apply_exec(tree, record, err);
	if (process == NULL || thread == NULL || thread->process != process)
		return CTX_OK;
	snprintf(thread->name, sizeof(thread->name), "%s", record->comm);
	if (record->tid == record->pid)
		snprintf(process->name, sizeof(process->name), "%s", record->comm);
	return ctx_exp_thread_name(tree->writer, thread->number, record->comm, record->time_ns, err);
}

static enum ctx_status apply_exit(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct thread *thread = find_thread(tree, record->tid);
	struct process *process;
	enum ctx_status status;

	if (thread == NULL || thread->process->pid != record->pid)
		return CTX_OK;
	process = thread->process;
	tree->last_exit_ns = record->time_ns > tree->last_exit_ns ? record->time_ns : tree->last_exit_ns;
	status = end_thread(tree, thread, record->time_ns, err);
	if (status != CTX_OK || process->threads != NULL)
		return status;
	if (process->pid == tree->root_process_pid) {
		tree->root_process_is_gone = true;
		tree->root_process_end_ns = record->time_ns;
		return CTX_OK;
	}
	return end_process(tree, process, record->time_ns, err);
}

static enum ctx_status apply_mmap(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct process *process = find_process(tree, record->pid);
	const struct ctx_pe_mmap *mmap = &record->mmap;
	const struct ctx_mapped_file mapped = {.path = mmap->path,
					       .address = mmap->address,
					       .size = mmap->size,
					       .major = mmap->major,
					       .minor = mmap->minor,
					       .inode = mmap->inode,
					       .build_id = mmap->build_id};
	const struct ctx_exp_map map = {
		.file_offset = mmap->file_offset, .protection = mmap->protection, .time_ns = record->time_ns};

	if (process == NULL || mmap->size == 0)
		return CTX_OK;
	return put_map(tree, process, &mapped, map, err);
}

enum ctx_status ctx_proctree_apply(struct ctx_proctree *tree, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	/* -1: the task was already gone. */
	if (record->pid > INT32_MAX || record->tid > INT32_MAX)
		return CTX_OK;
	switch (record->type) {
	case PERF_RECORD_FORK:
		return apply_fork(tree, record, err);
	case PERF_RECORD_EXIT:
		return apply_exit(tree, record, err);
	case PERF_RECORD_COMM:
		return apply_comm(tree, record, err);
	case PERF_RECORD_MMAP2:
		return apply_mmap(tree, record, err);
	default:
		return CTX_OK;
	}
}

enum ctx_status ctx_proctree_root_process_exit(struct ctx_proctree *tree, uint64_t time_ns,
					       int32_t status_value, struct ctx_err *err)
{
	struct process *process =
		tree->root_process_pid >= 0 ? find_process(tree, tree->root_process_pid) : NULL;
	uint32_t number;
	enum ctx_status status;

	tree->root_process_pid = -1;
	if (process == NULL)
		return CTX_OK;
	number = process->number;
	status = end_threads(tree, process, time_ns, err);
	if (status != CTX_OK)
		return status;
	drop_process(tree, process);
	return ctx_exp_process_exit(tree->writer, number, &(struct ctx_exp_exit){time_ns, true, status_value},
				    err);
}

enum ctx_status ctx_proctree_end_threads(struct ctx_proctree *tree, int64_t pid, uint64_t time_ns,
					 struct ctx_err *err)
{
	struct process *process = find_process(tree, pid);

	return process != NULL ? end_threads(tree, process, time_ns, err) : CTX_OK;
}

enum ctx_status ctx_proctree_end(struct ctx_proctree *tree, int64_t pid, uint64_t time_ns,
				 struct ctx_err *err)
{
	struct process *process = find_process(tree, pid);

	if (process == NULL || pid == tree->root_process_pid)
		return CTX_OK;
	tree->last_exit_ns = time_ns > tree->last_exit_ns ? time_ns : tree->last_exit_ns;
	return end_process(tree, process, time_ns, err);
}

void ctx_proctree_name(const struct ctx_proctree *tree, int64_t pid, char *name, size_t size)
{
	const struct process *process = find_process(tree, pid);

	snprintf(name, size, "%s", process != NULL ? process->name : "?");
}

size_t ctx_proctree_live(const struct ctx_proctree *tree, struct ctx_proctree_live *out, size_t max)
{
	size_t n = 0;

	for (const struct process *process = tree->processes; process != NULL && n < max;
	     process = process->next) {
		if (process->pid != tree->root_process_pid || !tree->root_process_is_gone)
			out[n++] =
				(struct ctx_proctree_live){.pid = process->pid, .process = process->number};
	}
	return n;
}

uint32_t ctx_proctree_process(const struct ctx_proctree *tree, int64_t pid)
{
	const struct process *process = find_process(tree, pid);

	if (process == NULL || (pid == tree->root_process_pid && tree->root_process_is_gone))
		return CTX_NONE;
	return process->number;
}

uint64_t ctx_proctree_end_ns(const struct ctx_proctree *tree, uint64_t otherwise_ns)
{
	struct ctx_proctree_live live;

	return tree->last_exit_ns != 0 && ctx_proctree_live(tree, &live, 1) == 0 ? tree->last_exit_ns
										 : otherwise_ns;
}

uint64_t ctx_proctree_root_process_end_ns(const struct ctx_proctree *tree, uint64_t otherwise_ns)
{
	return tree->root_process_is_gone ? tree->root_process_end_ns : otherwise_ns;
}

uint32_t ctx_proctree_root_process(const struct ctx_proctree *tree)
{
	const struct process *process =
		tree->root_process_pid >= 0 ? find_process(tree, tree->root_process_pid) : NULL;

	return process != NULL ? process->number : CTX_NONE;
}
