/*
 * Writes an experiment directory (docs/experiment-format.md) while a recording runs.
 *
 * One writer handles the experiment of the root process and those of all descendants. Times are
 * absolute nanoseconds of CLOCK_MONOTONIC; the writer makes them relative to the run event. Call
 * stacks are interned on input: a sample takes a few bytes on disk. Memory is bounded by
 * options.memory_bytes: when the dictionaries of all processes together reach it, all blocks are
 * written, and the dictionaries are emptied and continue in a new epoch. Processes and threads that
 * have ended are forgotten with the ticks: their numbers stay valid, what is said of them is ignored. Disk space is bounded by
 * options.max_bytes, as du counts it: beyond it samples are dropped and counted as lost, the log
 * notes it once, and lines about processes go on for a 32nd of it.
 *
 * The files are consistent at any time: log and map are written before the frames, frames before
 * the packets that refer to them, each in whole lines and blocks. ctx_exp_tick writes buffers older
 * than 0.6 s, in the first second older than 0.2 s. The first four descendants with samples have a
 * directory each (_f1.er, _f1_x1.er, ...; _p<PID>.er for processes from before the recording); the
 * data of all others is in the root process's files, collected in memory and written together, so
 * that a short process costs no file operation. Processes without samples are in the root process's
 * log only. Files are opened, appended to and closed as needed, so that processes hold no
 * descriptors.
 *
 * An I/O error is sticky: the call returns CTX_E_IO, later calls return it again at once, and
 * ctx_exp_close still writes what it can.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_WRITER_H
#define CTX_FORMATS_EXPERIMENT_EXP_WRITER_H

#include "base/err.h"
#include "formats/experiment/exp_callevents.h"
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
	uint64_t period;     /* weight of every sample; 0: each sample has its own */
	double frequency_hz; /* requested; 0: a fixed period */
};

struct ctx_exp_options {
	const char *path;	      /* NAME.er */
	bool overwrite;		      /* remove an existing experiment (never anything else) */
	bool share;		      /* others may read it, as the umask allows; else this user alone */
	struct ctx_exp_opener opener; /* of load objects; borrowed until the writer is closed */
	uint64_t max_bytes;	      /* on disk, without archives; 0: no limit */
	uint64_t max_text_bytes;      /* of lines about processes, threads, names and maps; 0: 1 GiB */
	size_t memory_bytes;	      /* for dictionaries and buffers; 0: 64 MB */
	bool has_states;	      /* ctx_exp_state will be called: log.xml describes the file `states` */
	bool has_heap;		      /* ctx_exp_heap will be called */
	bool has_sync;		      /* ctx_exp_sync will be called */
	bool has_io;		      /* ctx_exp_io will be called */
	bool has_marks;		      /* ctx_exp_mark will be called */
	bool has_omp;		      /* ctx_exp_omp will be called */
	bool has_accesses;	      /* ctx_exp_access will be called */
	bool has_calls;		      /* ctx_exp_calls will be called */
	bool has_call_sums;	      /* with sums alone */
	uint32_t call_counters;	      /* that are read at calls, a bit for each of enum ctx_call_counter */
	bool keep_places;	      /* for ctx_exp_each_sampled: up to 20 MB more */
	const char *comment;	      /* goes to `notes`; "" none */
	/*
	 * Where copies of load objects are kept for other recordings (exp_store.h); borrowed; "": the
	 * usual place, NULL: nowhere.
	 */
	const char *store;
	const struct ctx_exp_metric *metrics;
	uint32_t n_metrics;
	const struct ctx_property *
		properties; /* for log.xml: collector, host, arch, os, kernel, cpus, page_size, command, cwd, ... */
	size_t n_properties;
	uint64_t start_ns;     /* CLOCK_MONOTONIC of the run event */
	int64_t start_unix_ns; /* CLOCK_REALTIME at the same moment */
};

struct ctx_exp_writer;

/*
 * Creates the directory and the root process's files. Fails with CTX_E_ARG (exists and no
 * overwrite, exists and is not an experiment, or the name does not end in .er), CTX_E_IO,
 * CTX_E_PERM, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_create(const struct ctx_exp_options *options,
					      struct ctx_exp_writer **ret, struct ctx_err *err);

/* CLOCK_MONOTONIC of the run event. */
uint64_t ctx_exp_start_ns(const struct ctx_exp_writer *writer);

enum ctx_exp_origin {
	/*
	 * The first process; exactly once, except when a whole system or several processes are
	 * recorded.
	 */
	CTX_EXP_ROOT_PROCESS,
	CTX_EXP_FORK,	 /* lineage: the parent's + _f<n> */
	CTX_EXP_EXEC,	 /* lineage: that of the replaced process + _x<n>; the old process ends */
	CTX_EXP_PRESENT, /* existed before the recording: lineage _p<pid> */
};

struct ctx_exp_process {
	enum ctx_exp_origin origin;
	uint32_t parent; /* process number, CTX_NONE */
	int64_t pid;
	const char *command; /* NULL, of a fork: the parent's */
	uint64_t time_ns;
	const char *cgroup; /* NULL: the parent's, or unknown */
	int64_t inner_pid;  /* in its own pid namespace; 0 none */
};

/*
 * Numbers are dense from 0. A forked process does not inherit maps automatically: call
 * ctx_exp_fork_maps.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_process_start(struct ctx_exp_writer *writer,
						     const struct ctx_exp_process *process,
						     uint32_t *ret_process, struct ctx_err *err);

/*
 * Gives `child` all current maps of `parent`. Costs nothing until the child gets a sample, and then
 * one line if both have the same maps as now.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_fork_maps(struct ctx_exp_writer *writer, uint32_t parent,
						 uint32_t child, uint64_t time_ns, struct ctx_err *err);

/*
 * A live process has this command line from now on, set by itself (setproctitle). Its last one again is
 * ignored, and so are, after 64, those within two seconds of the one before, after 128 within four: they
 * take bounded space, and the last one is never old. Longer than 4 KiB it is cut.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_process_title(struct ctx_exp_writer *writer, uint32_t process,
						     const char *title, uint64_t time_ns,
						     struct ctx_err *err);

struct ctx_exp_exit {
	uint64_t time_ns;
	bool has_status;
	int32_t status; /* as returned by waitpid, if has_status */
};

/* Ends a process: writes its blocks and releases its dictionary. */
CTX_MUST_CHECK enum ctx_status ctx_exp_process_exit(struct ctx_exp_writer *writer, uint32_t process,
						    const struct ctx_exp_exit *how, struct ctx_err *err);

struct ctx_exp_thread {
	uint32_t process;
	int64_t tid;
	const char *name;
	uint64_t time_ns;  /* when it starts */
	int64_t inner_tid; /* in its own pid namespace; 0 none */
};

/* Numbers are dense from 0 over the whole experiment; one number is one lifetime of a tid. */
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
	const char *path;     /* any bytes; "[vdso]", "//anon" as named by the kernel */
	const char *build_id; /* lower-case hex, "" unknown */
	uint64_t time_ns;
};

CTX_MUST_CHECK enum ctx_status ctx_exp_map(struct ctx_exp_writer *writer, uint32_t process,
					   const struct ctx_exp_map *map, struct ctx_err *err);

/* Uses address, size and time of `range`. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unmap(struct ctx_exp_writer *writer, uint32_t process,
					     const struct ctx_exp_map *range, struct ctx_err *err);

struct ctx_exp_sample {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint32_t metric;
	int32_t cpu;	 /* -1 unknown */
	uint64_t weight; /* used only if the metric's period is 0 */
	/*
	 * Leaf first; look-up addresses as in model/event_source.h (callers: return address - 1),
	 * CTX_FRAME_TRUNCATED last if cut.
	 */
	const uint64_t *frames;
	size_t n_frames;
};

/*
 * Interns the stack and buffers the sample. O(frames), less if the stack resembles the thread's
 * last one.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_sample(struct ctx_exp_writer *writer,
					      const struct ctx_exp_sample *sample, struct ctx_err *err);

/* The number that the writer gave a stack, for the next time that it comes. All zero: none yet. */
struct ctx_exp_known_stack {
	uint32_t process, epoch; /* whose dictionary has it, and since when */
	uint32_t stack;
};

/* A thread state change, see model/thread_state.h. */
struct ctx_exp_state {
	uint64_t time_ns;
	/*
	 * Process whose dictionary gets the stack: the thread's own; woken by a thread of the
	 * recording: the waker's.
	 */
	uint32_t process;
	uint32_t thread;
	enum ctx_state_change change;
	int32_t cpu;		 /* -1 unknown */
	uint32_t waker;		 /* number of the waking thread; CTX_NONE */
	uint32_t external_waker; /* woken from outside: from ctx_exp_external_waker; CTX_NONE */
	const uint64_t *frames;	 /* as in samples; n_frames 0: no stack */
	size_t n_frames;
	/* NULL, or of these frames: where it is valid they are not read, else it is set. Borrowed. */
	struct ctx_exp_known_stack *known;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `states` of the process. O(1) for a known
 * stack. CTX_E_ARG without options.has_states.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_state(struct ctx_exp_writer *writer, const struct ctx_exp_state *state,
					     struct ctx_err *err);

/*
 * A heap operation of a traced process. Those of a process come in the order in which they happened, as far as
 * it matters what they do to one block; a time before that of the last one counts as that.
 */
struct ctx_exp_heap {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint8_t operation;	/* enum ctx_heap_operation */
	uint64_t size;		/* bytes; of CTX_HEAP_FREE 0 */
	uint64_t address;	/* allocated, 0 for none, or freed */
	uint64_t old_address;	/* of CTX_HEAP_REALLOCATE */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `heaptrace` of the process. CTX_E_ARG without
 * options.has_heap.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_heap(struct ctx_exp_writer *writer, const struct ctx_exp_heap *heap,
					    struct ctx_err *err);

/* Of a traced process: a wait, or how a lock was held. */
struct ctx_exp_sync {
	uint64_t time_ns; /* when it was over */
	uint32_t process;
	uint32_t thread;
	uint8_t operation; /* enum ctx_sync_operation */
	bool failed;	   /* the wait timed out, or was interrupted */
	uint64_t duration_ns;
	uint64_t object;
	uint32_t other;	 /* thread that had the object; of CTX_SYNC_BLOCK: that waited; CTX_NONE unknown */
	uint64_t held;	 /* of CTX_SYNC_ORDER: the lock that it held */
	uint32_t detail; /* of CTX_SYNC_ORDER: modes; of CTX_SYNC_HOLD: the operation of a wait for it */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `synctrace` of the process. CTX_E_ARG without
 * options.has_sync.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_sync(struct ctx_exp_writer *writer, const struct ctx_exp_sync *sync,
					    struct ctx_err *err);

/* An input or output of a traced process, or the name of a descriptor (CTX_CALL_NAME). */
struct ctx_exp_io {
	uint64_t time_ns; /* its end */
	uint64_t duration_ns;
	uint32_t process;
	uint32_t thread;
	uint8_t call;	    /* enum ctx_io_call */
	uint16_t error;	    /* errno; 0: it succeeded */
	int32_t descriptor; /* -1 none */
	uint64_t size; /* bytes; where one is opened: another descriptor that it has to do with, + 1; or 0 */
	const char *name;	/* of the file, as far as it came with the operation; NULL */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `iotrace` of the process. CTX_E_ARG without
 * options.has_io.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_io(struct ctx_exp_writer *writer, const struct ctx_exp_io *io,
					  struct ctx_err *err);

/* What a traced process says of itself (runtime/ctx_trace.h). */
struct ctx_exp_mark {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint8_t operation;	/* enum ctx_mark_operation */
	int64_t value;		/* of a counter; the number of an interval */
	const char *name;	/* not empty */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `marktrace` of the process. CTX_E_ARG without
 * options.has_marks.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_mark(struct ctx_exp_writer *writer, const struct ctx_exp_mark *mark,
					    struct ctx_err *err);

/* An event of OpenMP of a thread of a traced process (model/omp.h). */
struct ctx_exp_omp {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint8_t event;		/* enum ctx_omp_event */
	bool has_body;		/* the leaf of the stack is the function that the construct runs */
	uint32_t value;		/* as ctx_omp_is_value says */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `omptrace` of the process. CTX_E_ARG without
 * options.has_omp.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_omp(struct ctx_exp_writer *writer, const struct ctx_exp_omp *omp,
					   struct ctx_err *err);

/* An access to memory that a sample brought. */
struct ctx_exp_memory_access {
	uint64_t time_ns;
	uint32_t process;
	uint32_t thread;
	uint8_t operation; /* enum ctx_memory_operation */
	int32_t cpu;	   /* -1 unknown */
	uint64_t address;
	uint64_t latency;	/* 0 unknown */
	uint64_t source;	/* where the data was (model/data_source.h); 0 unknown */
	uint64_t physical;	/* address; 0 unknown */
	const char *mapped;	/* what is mapped there; NULL unknown */
	const uint64_t *frames; /* as in samples; n_frames 0: no stack */
	size_t n_frames;
};

/*
 * Interns and buffers, like ctx_exp_sample, for the file `accesses` of the process. CTX_E_ARG without
 * options.has_accesses.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_access(struct ctx_exp_writer *writer,
					      const struct ctx_exp_memory_access *access,
					      struct ctx_err *err);

/* Calls of a thread that were seen to begin and end, behind those of the call before. */
struct ctx_exp_calls {
	uint32_t process;
	uint32_t thread;
	uint32_t depth; /* open calls before the first one */
	const struct ctx_exp_call
		*items; /* in order; times are absolute, one before that of the last counts as that */
	size_t n;
};

/*
 * Buffers them for the file `callevents` of the process. CTX_E_ARG without options.has_calls. O(1) an event, some 10 ns.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_calls(struct ctx_exp_writer *writer, const struct ctx_exp_calls *calls,
					     struct ctx_err *err);

/*
 * The number of an external waker ("kworker/0:1"), which is not a thread of the recording. A new
 * name adds a line to the log. Numbers are dense from 0.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_external_waker(struct ctx_exp_writer *writer, const char *name,
						      uint64_t time_ns, uint32_t *ret, struct ctx_err *err);

/*
 * Stores registers and stack memory for unwinding a sample. Uses time, process and thread of
 * `sample`.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_keep_stack(struct ctx_exp_writer *writer,
						  const struct ctx_exp_sample *sample,
						  const struct ctx_user_state *state, struct ctx_err *err);

/* Results of the recorder's unwinding: number of samples by reason for the end of their stacks. */
struct ctx_exp_unwinding {
	uint64_t ends[CTX_TRUNCATED_N]; /* [CTX_TRUNCATED_NOT]: at the root, including joined ones */
	uint64_t joined;		/* continued by an earlier stack of the thread */
	uint64_t gap;			/* without frames in the middle (CTX_FRAME_GAP) */
	uint64_t exec;			/* in an execve (CTX_FRAME_EXEC) */
	uint64_t unread;		/* cut: their outermost part may not be read */
	/* With frames of code without call frame information, left as its instructions say, or by the
	 * frame pointer. */
	uint64_t by_code, by_frame_pointer;
	uint64_t by_chain; /* their outer frames are from the kernel's chain of frame pointers */
};

/* Writes the counts to the log, at the end of a recording. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unwound(struct ctx_exp_writer *writer, uint64_t time_ns,
					       const struct ctx_exp_unwinding *counts, struct ctx_err *err);

/*
 * The current maps of a process; NULL: none. Borrowed until the next map, fork or exit is passed to
 * the writer.
 */
const struct ctx_exp_map_list *ctx_exp_maps(const struct ctx_exp_writer *writer, uint32_t process);

/* The load objects of all maps so far; borrowed. ctx_exp_objects_open opens one. */
const struct ctx_exp_objects *ctx_exp_all_objects(const struct ctx_exp_writer *writer);

CTX_MUST_CHECK enum ctx_status ctx_exp_usage(struct ctx_exp_writer *writer,
					     const struct ctx_usage_info *usage,
					     struct ctx_err *err); /* time_ns absolute here */
/* Records were lost; a located loss, its times are absolute. */
CTX_MUST_CHECK enum ctx_status ctx_exp_lost(struct ctx_exp_writer *writer, const struct ctx_loss *loss,
					    struct ctx_err *err);
/* The attributes with the parts of a loss, by enum ctx_loss_kind. */
extern const char *const ctx_exp_loss_kinds[CTX_LOSS_CALLS];
CTX_MUST_CHECK enum ctx_status ctx_exp_throttle(struct ctx_exp_writer *writer, uint64_t time_ns,
						bool throttled, struct ctx_err *err);

/* A line of the header that is known only now: as those of options.properties. Written at once. */
CTX_MUST_CHECK enum ctx_status ctx_exp_setting(struct ctx_exp_writer *writer, const char *key,
					       const char *value, struct ctx_err *err);

/* A line for the log alone: how the recorder came to what it recorded. */
CTX_MUST_CHECK enum ctx_status ctx_exp_remark(struct ctx_exp_writer *writer, uint64_t time_ns,
					      const char *text, struct ctx_err *err);

/* A warning for the header of reports: what could not be recorded. Written at once. */
CTX_MUST_CHECK enum ctx_status ctx_exp_warning(struct ctx_exp_writer *writer, uint64_t time_ns,
					       const char *text, struct ctx_err *err);

/*
 * Writes every buffer whose oldest record is 0.6 s old (0.2 s in the first second), so that with a
 * call every tenth of a second nothing older than a second is lost with the recorder, even if it
 * has to wait for a processor.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_tick(struct ctx_exp_writer *writer, uint64_t now_ns,
					    struct ctx_err *err);

/* The same while records of before `now_ns` are still to come: it is no sign of life up to then. */
CTX_MUST_CHECK enum ctx_status ctx_exp_write_old(struct ctx_exp_writer *writer, uint64_t now_ns,
						 struct ctx_err *err);

/*
 * The recording ends here because something went wrong: the experiment says so, also on a full disk.
 * The writer's own I/O errors are noted without this. The first reason counts.
 */
void ctx_exp_fail(struct ctx_exp_writer *writer, const char *reason);

/*
 * What targets cause lines of: a process that starts threads or changes its name without end cannot
 * fill the disk. Beyond the limits (of text in all, of names of a thread, of maps of a process) lines
 * are left out and counted; the log says so.
 */
enum ctx_exp_described {
	CTX_EXP_DESCRIBED_PROCESS,
	CTX_EXP_DESCRIBED_THREAD,
	CTX_EXP_DESCRIBED_NAME,
	CTX_EXP_DESCRIBED_MAP,
	CTX_EXP_DESCRIBED_N,
};

struct ctx_exp_stats {
	uint64_t samples, changes, heap_operations, syncs, io_operations, marks, calls, omp,
		accesses; /* received */
	uint64_t bytes_written, stacks, epochs;
	uint64_t dropped_by_limit; /* samples, changes, operations */
	uint64_t late;		   /* samples and changes of processes that ended long before; dropped */
	/* Not described because there were too many, by enum ctx_exp_described. */
	uint64_t left_out[CTX_EXP_DESCRIBED_N];
	size_t memory_bytes;
	uint32_t processes, threads;
	uint32_t directories; /* of descendants */
};
struct ctx_exp_stats ctx_exp_stats(const struct ctx_exp_writer *writer);

/*
 * Copies every load object with samples in any process (each build id once) as a zstd frame to
 * archives/, and the kernel's kallsyms if there are kernel frames. Objects that changed since
 * (other build id) or cannot be read are noted in the log and are not a failure. [vdso] is copied
 * from this process's memory if build ids match. Call before close.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive(struct ctx_exp_writer *writer, struct ctx_err *err);

/* A load object with samples, and their offsets. Borrowed. */
struct ctx_exp_sampled {
	const char *path, *build_id; /* as in ctx_exp_map */
	const uint64_t *offsets;     /* in the file, ascending: leaves and look-up addresses of callers */
	size_t n_offsets;
	bool all; /* further offsets are unknown */
};
typedef enum ctx_status ctx_exp_sampled_fn(void *context, const struct ctx_exp_sampled *object,
					   struct ctx_err *err);

/*
 * Calls `each` for every object with a sample in any process; returns its first failure. Only with
 * keep_places.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_each_sampled(struct ctx_exp_writer *writer, ctx_exp_sampled_fn *each,
						    void *context, struct ctx_err *err);

struct ctx_exp_source {
	const char *path;      /* absolute */
	int file;	       /* open for reading, borrowed; 0: opened by its path; -1: not permitted */
	uint64_t max_bytes;    /* larger files are left out */
	uint64_t left_bytes;   /* the same for what is left of the total */
	int64_t built_seconds; /* build time of the load object, since 1970: a file changed later is marked */
};

/*
 * Copies a source file to archives/ and adds its line to the log; call once for each path.
 * `*ret_bytes` is its size before compression; `*ret_is_newer`: it was changed after built_seconds.
 * Fails with CTX_E_NOTFOUND (not a regular text file, or unreadable; the reason is in the log too),
 * CTX_E_LIMIT (too large), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_source(struct ctx_exp_writer *writer,
						      const struct ctx_exp_source *source,
						      uint64_t *ret_bytes, bool *ret_is_newer,
						      struct ctx_err *err);

/*
 * Writes the remaining buffers and the exit events, and releases the writer (also on failure). NULL
 * is allowed.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_close(struct ctx_exp_writer *writer, uint64_t time_ns,
					     struct ctx_err *err);

#endif
