/*
 * Tasks: processes and threads of the recording, emitted as events with their first sample.
 *
 * A system-wide perf.data names hundreds of processes that never run. So an *image* (a process
 * until it calls exec) and its threads are announced, which gives them their numbers, with their
 * first sample; earlier state (name, maps) is emitted before it. Ancestors are announced too,
 * except those that were replaced by exec before any sample (the fork between a shell and its
 * command).
 *
 *	FORK, COMM, EXIT, MMAP --> images, threads --first sample--> PROCESS_START, THREAD_START, MAP ...
 *
 * A thread is one lifetime of a tid. Its exit is emitted with a delay: the kernel still samples a
 * thread after it has written its EXIT record.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_TASKS_H
#define CTX_FORMATS_PERFDATA_PD_TASKS_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "model/event_source.h"

struct ctx_pd_map { /* strings are ids of the table of names */
	uint64_t address, size, file_offset;
	uint32_t path, build_id, function;
	bool executable; /* false: it only replaces overlapping maps */
};

struct ctx_pd_maps;

struct ctx_pd_image {
	int64_t pid;
	uint32_t parent; /* image, CTX_NONE */
	uint32_t number; /* CTX_NONE: not announced yet */
	uint32_t name;	 /* id of the name */
	uint32_t lineage;
	uint32_t cgroup; /* id of its path; CTX_NONE unknown */
	uint32_t n_forks, n_execs;
	uint32_t n_threads; /* whose exit is not emitted yet */
	uint32_t newest;    /* its youngest task, CTX_NONE */
	bool replaced;	    /* by exec */
	bool named;	    /* known from COMM or FORK, not only from samples */
	uint64_t begin_ns;
	struct ctx_pd_maps *maps; /* in order of arrival; shared with forked children */
	size_t n_maps;		  /* number of these that the image sees; a child may append more */
	uint32_t root;		  /* union-find link to its oldest ancestor; CTX_NONE: the oldest itself */
	uint32_t below;		  /* scratch while ancestors are announced: the child */
};

struct ctx_pd_task {
	int64_t tid;
	uint32_t image, number, name;
	uint32_t sibling; /* next older task of the image, CTX_NONE */
	bool ended, exit_emitted;
	uint64_t begin_ns, end_ns;
};

struct ctx_pd_outbox {		 /* pending events; all zero is empty */
	struct ctx_event *items; /* owned */
	size_t at, n, cap;
};

CTX_MUST_CHECK enum ctx_status ctx_pd_outbox_put(struct ctx_pd_outbox *out, const struct ctx_event *event,
						 struct ctx_err *err);
void ctx_pd_outbox_deinit(struct ctx_pd_outbox *out);

struct ctx_pd_tasks { /* all zero is a valid empty one */
	struct ctx_strtab names;
	struct ctx_pd_image *images; /* owned */
	size_t n_images, images_cap;
	struct ctx_pd_task *tasks; /* owned */
	size_t n_tasks, tasks_cap;
	struct ctx_map64 image_of_pid, task_of_tid;
	struct ctx_map64 cgroups; /* id -> id of its path */
	uint32_t *exits;	  /* owned; ended tasks in order of time, pending from exits_at on */
	size_t exits_at, n_exits, exits_cap;
	uint32_t n_processes, n_threads; /* announced so far */
	bool has_task_records;		 /* any COMM or FORK: a task without one is untracked */
	struct ctx_pd_outbox *out;	 /* borrowed */
};

void ctx_pd_tasks_deinit(struct ctx_pd_tasks *tasks);

struct ctx_pd_fork {
	uint64_t time_ns; /* since the first sample, like all times here */
	int64_t pid, parent_pid, tid, parent_tid;
	bool synthesized; /* written by perf for an existing process: inherits nothing */
};

/* Each of these fails with CTX_E_NOMEM only. */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_fork(struct ctx_pd_tasks *tasks, const struct ctx_pd_fork *fork,
						 struct ctx_err *err);
struct ctx_pd_comm {
	uint64_t time_ns;
	int64_t pid, tid;
	const char *name;
	bool is_exec;
};

CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_comm(struct ctx_pd_tasks *tasks, const struct ctx_pd_comm *comm,
						 struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_exit(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid,
						 int64_t tid, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_map(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t pid,
						const struct ctx_pd_map *map, struct ctx_err *err);

/* The control group with this id has this path from now on. */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_cgroup(struct ctx_pd_tasks *tasks, uint64_t id, const char *path,
						   struct ctx_err *err);

struct ctx_pd_task_at { /* the thread that had these ids at this time */
	uint64_t time_ns;
	int64_t pid, tid;
	uint64_t cgroup; /* id of the process's control group; 0 unknown. Of the first sample alone */
};

struct ctx_pd_thread_numbers { /* of a thread and its process, as announced */
	uint32_t process, thread;
};

/* The numbers of a sample's process and thread. Announces them when they are new. */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_sample(struct ctx_pd_tasks *tasks,
						   const struct ctx_pd_task_at *at,
						   struct ctx_pd_thread_numbers *ret, struct ctx_err *err);

/*
 * The thread that has this tid now; untracked tasks are not searched. Announces it when it is new.
 * ret->thread is CTX_NONE when no such thread is known.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_find(struct ctx_pd_tasks *tasks, uint64_t time_ns, int64_t tid,
						 struct ctx_pd_thread_numbers *ret, struct ctx_err *err);

/*
 * The name of the thread with this tid if it is untracked: the recording has COMM or FORK records,
 * but none for its process. NULL otherwise. Borrowed from the names.
 */
const char *ctx_pd_tasks_untracked_task(const struct ctx_pd_tasks *tasks, int64_t tid);

/*
 * The path of what the process has mapped at an address; NULL: no recorded map. Data is
 * known only where maps of data were recorded. Borrowed from the names. O(maps).
 */
const char *ctx_pd_tasks_mapped(const struct ctx_pd_tasks *tasks, int64_t pid, uint64_t address);

/* Has the thread with this tid ended? */
bool ctx_pd_tasks_has_ended(const struct ctx_pd_tasks *tasks, int64_t tid);

/*
 * Emits the exits of threads and processes that ended long enough before `now_ns` (UINT64_MAX:
 * all). Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_expire(struct ctx_pd_tasks *tasks, uint64_t now_ns,
						   struct ctx_err *err);

#endif
