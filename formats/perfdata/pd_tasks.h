/*
 * Tasks: which processes and threads there are, told as events once they matter.
 *
 * perf.data of a whole system names hundreds of processes that never run. So an *image* (a process until it execs)
 * and its threads get their numbers with their first sample; what was known by then (name, maps) comes out in front
 * of it. Its ancestors are announced with it, except those that only were there to exec (the fork between a shell and
 * its command).
 *
 *	FORK, COMM, EXIT, MMAP --> images, threads --first sample--> PROCESS_START, THREAD_START, MAP ...
 *
 * A thread is one life of a tid. Its end is told a little late: the kernel still samples a thread in its last moments,
 * when its EXIT record is written already.
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
	bool executable; /* otherwise it only takes the place of what was there */
};

struct ctx_pd_maps;

struct ctx_pd_image {
	int64_t pid;
	uint32_t parent; /* image, CTX_NONE */
	uint32_t number; /* as announced, CTX_NONE: not yet */
	uint32_t name;	 /* id of the name */
	uint32_t lineage;
	uint32_t n_forks, n_execs;
	uint32_t n_threads; /* that have not ended */
	uint32_t newest;    /* task of it that began last, CTX_NONE */
	bool replaced;	    /* by exec */
	bool named;	    /* a COMM or FORK told of it, not only a sample */
	uint64_t begin_ns;
	struct ctx_pd_maps *maps; /* in the order in which they came; shared with forked children */
	size_t n_maps;		  /* of these, how many are its own business: what a child adds is not */
	uint32_t root;		  /* towards the first of its line of parents; CTX_NONE: is that itself */
	uint32_t below;		  /* while a line of images is announced: the next one down */
};

struct ctx_pd_task {
	int64_t tid;
	uint32_t image, number, name;
	uint32_t sibling; /* task of the image that began before it, CTX_NONE */
	bool ended, told; /* told: its end was told */
	uint64_t begin_ns, end_ns;
};

struct ctx_pd_outbox {		 /* events that come next; all zero is empty */
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
	uint32_t *exits; /* owned; tasks whose end is still to be told, by time, from exits_at on */
	size_t exits_at, n_exits, exits_cap;
	uint32_t n_processes, n_threads; /* announced */
	bool told_of;			 /* any COMM or FORK: who is not among those is a untracked task */
	struct ctx_pd_outbox *out;	 /* borrowed */
};

void ctx_pd_tasks_deinit(struct ctx_pd_tasks *tasks);

struct ctx_pd_fork {
	uint64_t time_ns; /* from the start of the experiment, as everywhere here */
	int64_t pid, parent_pid, tid, parent_tid;
	bool synthesized; /* perf wrote it for a process that was there before: it inherits nothing */
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

struct ctx_pd_task_at { /* the thread that had these ids at this time */
	uint64_t time_ns;
	int64_t pid, tid;
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

/* The name of a thread that only samples told of, though COMM or FORK told of others: it is not one of those that were to be
 * recorded. NULL otherwise. Borrowed from the names. */
const char *ctx_pd_tasks_untracked_task(const struct ctx_pd_tasks *tasks, int64_t tid);

/* Did the thread that has this tid end? */
bool ctx_pd_tasks_has_ended(const struct ctx_pd_tasks *tasks, int64_t tid);

/* Tells the ends of threads and processes that are far enough back at `now_ns` (UINT64_MAX: all). */
CTX_MUST_CHECK enum ctx_status ctx_pd_tasks_expire(struct ctx_pd_tasks *tasks, uint64_t now_ns,
						   struct ctx_err *err);

#endif
