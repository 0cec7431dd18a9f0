/*
 * Which processes and threads live now: turns the kernel's fork, comm, mmap and exit records into the
 * writer's dense numbers.
 *
 * A process here is one image of a program (exec starts a new one), a thread one life of a tid. What the
 * records leave out (they can be lost; processes may have been there before) is looked up in /proc when the
 * first sample comes.
 */
#ifndef CTX_COLLECT_PROCTREE_H
#define CTX_COLLECT_PROCTREE_H

#include "collect/perfrecord.h"
#include "formats/experiment/exp_writer.h"

struct ctx_proctree;

CTX_MUST_CHECK enum ctx_status ctx_proctree_create(struct ctx_exp_writer *writer, struct ctx_proctree **ret,
						   struct ctx_err *err);
void ctx_proctree_destroy(struct ctx_proctree *tree);

/* Announces the process that we started, with its one thread, before any record of it. Its exit is told by
 * ctx_proctree_root_process_exit, not by its records. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_add_root_process(struct ctx_proctree *tree, int64_t pid,
							     const char *command, uint64_t time_ns,
							     struct ctx_err *err);

/* Announces a process that was there before, with the threads and mappings that it has now. CTX_OK too when
 * it is gone already. Nothing happens when it is known. Records of it that are older than this look (the
 * events may be on already) change nothing later. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_add_present(struct ctx_proctree *tree, int64_t pid,
							uint64_t time_ns, struct ctx_err *err);

/* A process that nobody announced, but that a record up to `until_ns` is of, was there at `start_ns`: /proc is still being looked through. */
void ctx_proctree_looks(struct ctx_proctree *tree, uint64_t start_ns, uint64_t until_ns);

/* Takes a FORK, EXIT, COMM or MMAP2 record; others are ignored. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_apply(struct ctx_proctree *tree,
						  const struct ctx_perf_record *record, struct ctx_err *err);

/* The task of a sample, by the kernel's ids. */
struct ctx_proctree_task {
	int64_t pid, tid; /* -1: the task was gone when the kernel took the sample */
	uint64_t time_ns;
};

/*
 * The numbers of the thread of a sample. Unknown tasks are looked up in /proc and announced. Fails with CTX_E_NOTFOUND
 * where pid or tid is -1, and as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_proctree_find(struct ctx_proctree *tree,
						 const struct ctx_proctree_task *task, uint32_t *ret_process,
						 uint32_t *ret_thread, struct ctx_err *err);

/*
 * The numbers of a thread that is known, found by its id alone; false: there is none. Announces nothing, for records that may
 * be of threads that are not recorded, or are over: switches, wake-ups.
 */
bool ctx_proctree_lookup(const struct ctx_proctree *tree, int64_t tid, uint32_t *ret_process,
			 uint32_t *ret_thread);

/* The process that we started has been waited for. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_root_process_exit(struct ctx_proctree *tree, uint64_t time_ns,
							      int32_t status, struct ctx_err *err);

struct ctx_proctree_live {
	int64_t pid;
	uint32_t process;
};

/* The processes that live now, at most `max` of them, the oldest first; returns how many. */
size_t ctx_proctree_live(const struct ctx_proctree *tree, struct ctx_proctree_live *out, size_t max);

bool ctx_proctree_is_live(const struct ctx_proctree *tree, int64_t pid);

/* The number of the root process's current image; CTX_NONE without one. */
uint32_t ctx_proctree_root_process(const struct ctx_proctree *tree);

#endif
