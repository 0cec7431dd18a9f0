/*
 * The processes and threads that live now: maps the kernel's fork, comm, mmap and exit records to
 * the writer's dense numbers.
 *
 * A process here is one image of a program (exec starts a new one), a thread one life of a tid.
 * Tasks without records (lost ones, or processes older than the recording) are looked up in /proc
 * at their first sample.
 */
#ifndef CTX_COLLECT_PROCTREE_H
#define CTX_COLLECT_PROCTREE_H

#include "collect/mapped_files.h"
#include "collect/perfrecord.h"
#include "formats/experiment/exp_writer.h"

struct ctx_proctree;

/* `writer` and `files` are borrowed and outlive it. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_create(struct ctx_exp_writer *writer,
						   struct ctx_mapped_files *files, struct ctx_proctree **ret,
						   struct ctx_err *err);
void ctx_proctree_destroy(struct ctx_proctree *tree);

/*
 * Announces the process that the recorder started, with its one thread, before any record of it.
 * Its exit is reported by ctx_proctree_root_process_exit, not by its records.
 */
CTX_MUST_CHECK enum ctx_status ctx_proctree_add_root_process(struct ctx_proctree *tree, int64_t pid,
							     const char *command, uint64_t time_ns,
							     struct ctx_err *err);

/*
 * Announces a process that already runs, with its present threads and mappings. CTX_OK too when it
 * has ended. No effect on a known process. Later records of it that are older than this call
 * (events may be enabled already) are ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_proctree_add_present(struct ctx_proctree *tree, int64_t pid,
							uint64_t time_ns, struct ctx_err *err);

/*
 * While /proc is still being scanned: an unannounced process whose first record is not after
 * `until_ns` starts at `start_ns`.
 */
void ctx_proctree_looks(struct ctx_proctree *tree, uint64_t start_ns, uint64_t until_ns);

/* Applies a FORK, EXIT, COMM or MMAP2 record; others are ignored. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_apply(struct ctx_proctree *tree,
						  const struct ctx_perf_record *record, struct ctx_err *err);

/* The task of a sample, by the kernel's ids. */
struct ctx_proctree_task {
	int64_t pid, tid; /* -1: the task was gone when the kernel took the sample */
	uint64_t time_ns;
};

/*
 * The numbers of the thread of a sample. Unknown tasks are looked up in /proc and announced. Fails
 * with CTX_E_NOTFOUND where pid or tid is -1, and as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_proctree_find(struct ctx_proctree *tree,
						 const struct ctx_proctree_task *task, uint32_t *ret_process,
						 uint32_t *ret_thread, struct ctx_err *err);

/*
 * The numbers of a known thread, by its id alone; false: unknown. Announces nothing: for records
 * (switches, wake-ups) whose threads may be untracked or have ended.
 */
bool ctx_proctree_lookup(const struct ctx_proctree *tree, int64_t tid, uint32_t *ret_process,
			 uint32_t *ret_thread);

/* The same of a thread of process `pid` that has this id in its pid namespace, which is not the recorder's. */
bool ctx_proctree_lookup_inner(const struct ctx_proctree *tree, int64_t pid, int64_t inner_tid,
			       uint32_t *ret_thread);

/*
 * When the root process ended: the exit of its last thread, or `otherwise_ns` if that was not
 * recorded.
 */
uint64_t ctx_proctree_root_process_end_ns(const struct ctx_proctree *tree, uint64_t otherwise_ns);

/* When the last process ended; `otherwise_ns` if one still lives or no exit was recorded. */
uint64_t ctx_proctree_end_ns(const struct ctx_proctree *tree, uint64_t otherwise_ns);

/* The root process has been reaped; it ended at `time_ns`. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_root_process_exit(struct ctx_proctree *tree, uint64_t time_ns,
							      int32_t status, struct ctx_err *err);

/* All threads of a process end, it lives on: nothing of it is recorded any more. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_end_threads(struct ctx_proctree *tree, int64_t pid,
							uint64_t time_ns, struct ctx_err *err);

/* A process has ended without a record. Not for the root process, which is reaped. */
CTX_MUST_CHECK enum ctx_status ctx_proctree_end(struct ctx_proctree *tree, int64_t pid, uint64_t time_ns,
						struct ctx_err *err);

/* The name of a process's first thread, "?" for an unknown one. */
void ctx_proctree_name(const struct ctx_proctree *tree, int64_t pid, char *name, size_t size);

struct ctx_proctree_live {
	int64_t pid;
	uint32_t process;
};

/* The processes that live now, at most `max` of them, the oldest first; returns how many. */
size_t ctx_proctree_live(const struct ctx_proctree *tree, struct ctx_proctree_live *out, size_t max);

/* The number of the image that a living process has now, of which threads may be unknown; CTX_NONE: it has ended, or is unknown. */
uint32_t ctx_proctree_process(const struct ctx_proctree *tree, int64_t pid);

/* The number of the root process's current image; CTX_NONE without one. */
uint32_t ctx_proctree_root_process(const struct ctx_proctree *tree);

#endif
