/*
 * Writes an experiment directory (docs/experiment-format.md) while a recording runs.
 *
 * One writer holds the root process's experiment and all descendants'. Times are absolute nanoseconds of CLOCK_MONOTONIC; the writer makes them relative to the run event. Call stacks are interned on the
 * way in: a sample on disk is a handful of bytes. Memory is bounded by options.memory_bytes whatever the target does: when the dictionaries of all processes together reach it, all blocks are written, the
 * dictionaries are emptied and go on in a new epoch. Disk is bounded by options.max_bytes: past it samples are counted as lost to the limit and dropped, the log says so once, everything else (exit, maps) goes on.
 *
 * What is on disk is always whole: blocks are written with one write each, the log and the map before the frames, the frames before the packets that name them. ctx_exp_tick writes what is older than a second.
 * A descendant's directory (_f1.er, _f1_x1.er, ...; _p<PID>.er for processes that were there before) is made when it gets its first sample; processes without samples are in the root process's log only.
 * Files are opened, appended to and closed as needed, so any number of processes costs no descriptors.
 *
 * An I/O error sticks: the call that meets it returns CTX_E_IO, later calls return it again at once, ctx_exp_close still writes what it can.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_WRITER_H
#define CTX_FORMATS_EXPERIMENT_EXP_WRITER_H

#include "base/err.h"
#include "formats/experiment/exp_maps.h"
#include "model/event_source.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_exp_metric {
	const char *name;    /* "cpu-clock" */
	const char *unit;    /* "ns", "events" */
	const char *file;    /* "profile" for clocks, "hwcounters" for all others */
	uint64_t period;     /* weight of every sample of it; 0: each sample has its own */
	double frequency_hz; /* asked for; 0: a fixed period */
};

struct ctx_exp_options {
	const char *path;    /* NAME.er */
	bool overwrite;	     /* remove an experiment (never anything else) that is there */
	uint64_t max_bytes;  /* 0: no limit */
	size_t memory_bytes; /* for dictionaries and buffers; 0: 64 MB */
	bool has_states;     /* ctx_exp_state will be called: log.xml describes the file `states` */
	bool keep_places;    /* for ctx_exp_each_sampled: up to 20 MB more */
	const char *comment; /* goes to `notes`; "" none */
	const struct ctx_exp_metric *metrics;
	uint32_t n_metrics;
	const struct ctx_property *
		properties; /* for log.xml: collector, host, arch, os, kernel, cpus, page_size, command, cwd, ... */
	size_t n_properties;
	uint64_t start_ns;     /* CLOCK_MONOTONIC of the run event */
	int64_t start_unix_ns; /* CLOCK_REALTIME at the same moment */
};

struct ctx_exp_writer;

/* Makes the directory and the root process's files. CTX_E_ARG: exists and no overwrite, or the name does not end in .er, or what is there is no experiment; CTX_E_IO, CTX_E_PERM, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_create(const struct ctx_exp_options *options,
					      struct ctx_exp_writer **ret, struct ctx_err *err);

enum ctx_exp_origin {
	CTX_EXP_ROOT_PROCESS, /* the first process; exactly once, except when whole systems or several processes are watched */
	CTX_EXP_FORK,	 /* lineage: the parent's + _f<n> */
	CTX_EXP_EXEC,	 /* lineage: that of the process that exec'ed + _x<n>; the old process ends there */
	CTX_EXP_PRESENT, /* was there before the recording: lineage _p<pid> */
};

struct ctx_exp_process {
	enum ctx_exp_origin origin;
	uint32_t parent; /* process number, CTX_NONE */
	int64_t pid;
	const char *command;
	uint64_t time_ns;
};

/* Numbers are dense from 0. Maps are not inherited by themselves: announce them again for a fork (ctx_exp_fork_maps does it). */
CTX_MUST_CHECK enum ctx_status ctx_exp_process_start(struct ctx_exp_writer *writer,
						     const struct ctx_exp_process *process,
						     uint32_t *ret_process, struct ctx_err *err);

/* Gives `child` all the maps that `parent` has now. Costs nothing until the child gets a sample. */
CTX_MUST_CHECK enum ctx_status ctx_exp_fork_maps(struct ctx_exp_writer *writer, uint32_t parent,
						 uint32_t child, uint64_t time_ns, struct ctx_err *err);

struct ctx_exp_exit {
	uint64_t time_ns;
	bool has_status;
	int32_t status; /* as waitpid gives it, if has_status */
};

/* Ends a process: its blocks are written and its dictionary released. */
CTX_MUST_CHECK enum ctx_status ctx_exp_process_exit(struct ctx_exp_writer *writer, uint32_t process,
						    const struct ctx_exp_exit *how, struct ctx_err *err);

struct ctx_exp_thread {
	uint32_t process;
	int64_t tid;
	const char *name;
	uint64_t time_ns; /* when it starts */
};

/* Numbers are dense from 0 over the whole experiment; one number is one life of a tid. */
CTX_MUST_CHECK enum ctx_status ctx_exp_thread_start(struct ctx_exp_writer *writer,
						    const struct ctx_exp_thread *thread, uint32_t *ret_thread,
						    struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_thread_name(struct ctx_exp_writer *writer, uint32_t thread,
						   const char *name, uint64_t time_ns, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_thread_exit(struct ctx_exp_writer *writer, uint32_t thread,
						   uint64_t time_ns, struct ctx_err *err);

struct ctx_exp_map {
	uint64_t address, size, file_offset;
	uint32_t protection;  /* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 */
	const char *path;     /* any bytes; "[vdso]", "//anon" as the kernel names them */
	const char *build_id; /* lower-case hex, "" unknown */
	uint64_t time_ns;
};

CTX_MUST_CHECK enum ctx_status ctx_exp_map(struct ctx_exp_writer *writer, uint32_t process,
					   const struct ctx_exp_map *map, struct ctx_err *err);

/* Of `range` address, size and time count. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unmap(struct ctx_exp_writer *writer, uint32_t process,
					     const struct ctx_exp_map *range, struct ctx_err *err);

struct ctx_exp_sample {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint32_t metric;
	int32_t cpu;	 /* -1 unknown */
	uint64_t weight; /* looked at only if the metric's period is 0 */
	const uint64_t *
		frames; /* leaf first; look-up addresses as in model/event_source.h (callers: return address - 1), CTX_FRAME_TRUNCATED last if cut */
	size_t n_frames;
};

/* Interns and buffers. O(frames), less when the stack resembles the last one of the thread. */
CTX_MUST_CHECK enum ctx_status ctx_exp_sample(struct ctx_exp_writer *writer,
					      const struct ctx_exp_sample *sample, struct ctx_err *err);

/* What is seen of a thread: see model/thread_state.h. */
struct ctx_exp_state {
	uint64_t time_ns;
	uint32_t
		process; /* whose dictionary the stack goes to: the thread's own process; woken by a thread of the recording: the waker's */
	uint32_t thread;
	enum ctx_state_change change;
	int32_t cpu;		 /* -1 unknown */
	uint32_t waker;		 /* who is woken: thread number; CTX_NONE */
	uint32_t external_waker; /* woken by none of them: as ctx_exp_external_waker gave it; CTX_NONE */
	const uint64_t *frames;	 /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/* Interns and buffers, like ctx_exp_sample; goes to the file `states` of the process. Only with options.has_states (CTX_E_ARG). */
CTX_MUST_CHECK enum ctx_status ctx_exp_state(struct ctx_exp_writer *writer, const struct ctx_exp_state *state,
					     struct ctx_err *err);

/* A number for somebody who is no thread of the recording, "kworker/0:1": a line of the log when the name is new. Numbers are dense from 0. */
CTX_MUST_CHECK enum ctx_status ctx_exp_external_waker(struct ctx_exp_writer *writer, const char *name,
						      uint64_t time_ns, uint32_t *ret, struct ctx_err *err);

/* Stores what a sample's stack can be unwound from beside it: its time, process and thread. */
CTX_MUST_CHECK enum ctx_status ctx_exp_keep_stack(struct ctx_exp_writer *writer,
						  const struct ctx_exp_sample *sample,
						  const struct ctx_user_state *state, struct ctx_err *err);

/* How the recorder's unwinding went: samples whose stack reached its root, or did not, by reason. */
struct ctx_exp_unwinding {
	uint64_t ends[CTX_TRUNCATED_N]; /* [CTX_TRUNCATED_NOT]: at the root, the joined ones included */
	uint64_t joined;		/* continued by an earlier stack of the thread */
};

/* Says so in the log; at the end of a recording. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unwound(struct ctx_exp_writer *writer, uint64_t time_ns,
					       const struct ctx_exp_unwinding *counts, struct ctx_err *err);

/* What a process has mapped now, NULL: nothing. Borrowed until the writer is told of a map, a fork or an exit. */
const struct ctx_exp_map_list *ctx_exp_maps(const struct ctx_exp_writer *writer, uint32_t process);

/* The load objects of all maps so far; borrowed. */
const struct ctx_exp_objects *ctx_exp_all_objects(const struct ctx_exp_writer *writer);

CTX_MUST_CHECK enum ctx_status ctx_exp_usage(struct ctx_exp_writer *writer,
					     const struct ctx_usage_info *usage,
					     struct ctx_err *err); /* time_ns absolute here */
CTX_MUST_CHECK enum ctx_status ctx_exp_lost(struct ctx_exp_writer *writer, uint64_t time_ns, uint64_t count,
					    struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_throttle(struct ctx_exp_writer *writer, uint64_t time_ns,
						bool throttled, struct ctx_err *err);

/* A line for the head of reports: what could not be had. Written at once. */
CTX_MUST_CHECK enum ctx_status ctx_exp_warning(struct ctx_exp_writer *writer, uint64_t time_ns,
					       const char *text, struct ctx_err *err);

/* Call about once a second (or more often): writes every buffer whose oldest record is a second old. */
CTX_MUST_CHECK enum ctx_status ctx_exp_tick(struct ctx_exp_writer *writer, uint64_t now_ns,
					    struct ctx_err *err);

struct ctx_exp_stats {
	uint64_t samples, changes; /* that came in */
	uint64_t bytes_written, stacks, epochs;
	uint64_t dropped_by_limit; /* samples and changes */
	size_t memory_bytes;
	uint32_t processes, threads, directories;
};
struct ctx_exp_stats ctx_exp_stats(const struct ctx_exp_writer *writer);

/*
 * Copies every load object that got a sample in any process (each build id once) as a zstd frame into archives/, and the kernel's kallsyms if kernel frames were seen. Objects that changed since
 * (other build id) or cannot be read are noted in the log, and are no failure. [vdso] is copied from this process's own memory when build ids agree. Call before close.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive(struct ctx_exp_writer *writer, struct ctx_err *err);

/* A load object that got samples, and where. Borrowed. */
struct ctx_exp_sampled {
	const char *path, *build_id; /* as in ctx_exp_map */
	const uint64_t *offsets;     /* in the file, ascending: leaves and look-up addresses of callers */
	size_t n_offsets;
	bool all; /* there are more, nobody knows which */
};
typedef enum ctx_status ctx_exp_sampled_fn(void *context, const struct ctx_exp_sampled *object,
					   struct ctx_err *err);

/* Calls `each` for every object that got a sample in any process; its first failure is returned. Only with keep_places. */
CTX_MUST_CHECK enum ctx_status ctx_exp_each_sampled(struct ctx_exp_writer *writer, ctx_exp_sampled_fn *each,
						    void *context, struct ctx_err *err);

struct ctx_exp_source {
	const char *path;    /* absolute */
	uint64_t max_bytes;  /* a larger file is left out */
	uint64_t left_bytes; /* the same, but what is left for all files together */
	int64_t built_seconds; /* when the load object was made, since 1970: a file changed after that is marked */
};

/*
 * Copies a source file to archives/ and adds its line to the log; call once for each path. `*ret_bytes` is its size before
 * compression, `*ret_is_newer` tells whether it was changed after built_seconds. CTX_E_NOTFOUND with the reason (which is in
 * the log too): no plain file of text, or unreadable. CTX_E_LIMIT: larger than that. CTX_E_IO, CTX_E_NOMEM: as everywhere.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_source(struct ctx_exp_writer *writer,
						      const struct ctx_exp_source *source,
						      uint64_t *ret_bytes, bool *ret_is_newer,
						      struct ctx_err *err);

/*
 * Writes what is left, the exit events, and releases the writer (also on failure). NULL is fine.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_close(struct ctx_exp_writer *writer, uint64_t time_ns,
					     struct ctx_err *err);

#endif
