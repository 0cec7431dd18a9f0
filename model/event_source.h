/*
 * The input of an ingest: one stream of events in time order, whatever the file format.
 *
 * A format (formats/experiment, formats/perfdata, formats/gprofng, ...) opens its file and returns
 * a struct ctx_event_source. Times are ns from the start of the experiment. Processes, threads and
 * metrics are numbered by the source, densely from 0, each announced before its first use. A
 * *process* here is one image of a program: exec starts a new one. A *thread* is one life of a tid.
 *
 * Order: events come sorted by time; at equal times maps and functions come before samples. A
 * source that cannot keep the order (a damaged file) emits late events anyway; the ingest counts
 * them.
 *
 * Stacks: a source keeps, per process, a dictionary of frame-level stack nodes. CTX_EV_STACKS
 * appends nodes to it; ids run from 1 upward per process, 0 is the empty stack, a node's parent is
 * always smaller. CTX_EV_STACKS_RESET clears the dictionary of a process (ids start at 1 again). A
 * sample names its leaf's node. A source whose file has whole stacks emits them whole (`frames` of
 * struct ctx_event_stack), and the ingest interns them. One whose file numbers whole stacks emits
 * numbers instead of nodes (`id`), and returns the frames of a number on request (`stack_frames`),
 * which most samples do not need.
 *
 * Frames are 64-bit numbers of three kinds:
 *
 *  - An address, looked up unchanged. For frames above the leaf it is inside the call instruction
 *    (return address minus one); nothing is subtracted later.
 *  - A function by name, for code without addresses (virtual machines, traces of other tools):
 *    ctx_frame_named(id, position), of a function announced by CTX_EV_FUNCTION. A source that
 *    announces functions passes addresses of its file through ctx_frame_address, so that none is
 *    mistaken for one.
 *  - A mark. ctx_frame_truncated(reason) as the root-most frame means that the caller of the next
 *    frame is unknown, and why. CTX_FRAME_JOINED between two frames means that the frames on its
 *    root side were taken from an earlier sample of the thread; it is not a call. CTX_FRAME_GAP
 *    between two frames stands for an unknown number of frames. CTX_FRAME_EXEC as the root-most
 *    frame: the thread is in execve, its old program is gone, and the new one has not begun.
 *
 * Calls are estimated from the common part of consecutive stacks, unless the source counts them:
 * see `exact_calls` of struct ctx_source_metric.
 *
 * States: a source that records threads off CPU emits CTX_EV_STATE, for each thread in order of
 * time with its samples: observations (CTX_SEEN_*), or changes derived by an older recorder. A
 * repeated change is harmless, and a lost one affects only its own interval. `info.has_states`
 * announces them. The reason of a wait is classified by the kernel's functions on its stack, unless
 * the source knows it (`wait`).
 *
 * Traced operations: CTX_EV_TRACED, those of each kind in order of time. Their sums by call stack
 * come as samples in addition.
 *
 * Calls: a source that sees functions begin and end emits CTX_EV_CALL, for each thread in order of
 * time with its samples and states. The ingest keeps the open calls of each thread: the time between
 * two events of a thread is a span at the calls that are open in it, and samples in it hang below
 * them. The functions may be a subset of those that run. Calls that are open when a thread or the
 * recording ends end there. `info.has_calls` announces them. Metrics need not be announced then: the
 * ingest makes those of calls itself (ingest/open_calls.h). A thread runs unless states say otherwise.
 *
 * OpenMP: a source that sees regions, tasks and waits emits CTX_EV_OMP, for each thread in order of time. The
 * ingest makes metrics of the time in each state, and an operation of each region and task (ingest/omp_threads.h).
 * `info.has_omp` announces them.
 */
#ifndef CTX_MODEL_EVENT_SOURCE_H
#define CTX_MODEL_EVENT_SOURCE_H

#include "model/code_kind.h"
#include "model/interval.h"
#include "model/omp.h"
#include "model/profile.h"
#include "model/thread_state.h"
#include "model/traced.h"
#include "model/user_regs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a stack ends before its root. The numbers are in files: they are added to, never changed. */
enum ctx_truncation {
	CTX_TRUNCATED_NOT = 0,
	CTX_TRUNCATED_UNKNOWN,	/* the kernel's walk along frame pointers ended */
	CTX_TRUNCATED_NO_TABLE, /* code without call frame information, and no plausible frame pointer */
	CTX_TRUNCATED_NO_MAP,	/* a pc where nothing executable is mapped */
	CTX_TRUNCATED_COPY,	/* the caller's frame is outside the copied stack */
	CTX_TRUNCATED_BAD_CFA, /* invalid call frame information: the stack would not shrink, or a register is unknown */
	CTX_TRUNCATED_DEPTH,   /* more frames than are kept */
	CTX_TRUNCATED_SKIPPED, /* the recorder could not keep up with unwinding */
	CTX_TRUNCATED_BUDGET, /* a wait of which no stack was copied, at a place where callers are not known */
	CTX_TRUNCATED_COUNTED, /* of an indicator, which is counted: no more callers are recorded */
	CTX_TRUNCATED_N,
};

/*
 * Pseudo addresses from here down: neither in programs nor marks of the kernel's call chains (-32,
 * -128, ...).
 */
#define CTX_FRAME_TRUNCATED ((uint64_t)-2)
#define CTX_FRAME_JOINED ((uint64_t)-20)
#define CTX_FRAME_GAP ((uint64_t)-21)
#define CTX_FRAME_EXEC ((uint64_t)-22)
#define CTX_FRAME_PRUNED ((uint64_t)-23) /* of CTX_EV_CALL alone: <Pruned>, calls that are known as a sum */
#define CTX_FRAME_LOST                                                                                       \
	((uint64_t)-24) /* the same: <Lost-calls>, as long as events of the thread are missing */

static inline uint64_t ctx_frame_truncated(enum ctx_truncation reason)
{
	return CTX_FRAME_TRUNCATED + 1 - (uint64_t)reason;
}

/* CTX_TRUNCATED_NOT: an ordinary address. */
static inline enum ctx_truncation ctx_frame_truncation(uint64_t address)
{
	uint64_t reason = CTX_FRAME_TRUNCATED + 1 - address;

	return reason < CTX_TRUNCATED_N ? (enum ctx_truncation)reason : CTX_TRUNCATED_NOT;
}

/* Whether it is a mark, not an address. */
static inline bool ctx_frame_is_mark(uint64_t address)
{
	return ctx_frame_truncation(address) != CTX_TRUNCATED_NOT ||
	       (address >= CTX_FRAME_LOST && address <= CTX_FRAME_JOINED);
}

/* A few words: "no call frame information". */
const char *ctx_truncation_text(enum ctx_truncation reason);

/*
 * A frame that is a function by name has this in its highest byte: programs have no code there
 * (x86-64, aarch64).
 */
#define CTX_FRAME_NAMED_TAG 0x40u
#define CTX_FRAME_POSITION_BITS 24
#define CTX_FRAME_POSITIONS ((uint32_t)1 << CTX_FRAME_POSITION_BITS)

/*
 * The frame at a position in a function of CTX_EV_FUNCTION; positions from CTX_FRAME_POSITIONS on
 * are dropped (0).
 */
static inline uint64_t ctx_frame_named(uint32_t function, uint32_t position)
{
	return (uint64_t)CTX_FRAME_NAMED_TAG << 56 | (uint64_t)function << CTX_FRAME_POSITION_BITS |
	       (position < CTX_FRAME_POSITIONS ? position : 0);
}

static inline bool ctx_frame_is_named(uint64_t frame)
{
	return frame >> 56 == CTX_FRAME_NAMED_TAG;
}

static inline uint32_t ctx_frame_function(uint64_t named)
{
	return (uint32_t)(named >> CTX_FRAME_POSITION_BITS);
}

static inline uint32_t ctx_frame_position(uint64_t named)
{
	return (uint32_t)named & (CTX_FRAME_POSITIONS - 1);
}

/*
 * The frame of an address of a file: one that looks like a function by name is changed to another
 * unmapped address.
 */
static inline uint64_t ctx_frame_address(uint64_t address)
{
	return ctx_frame_is_named(address) ? address | (uint64_t)1 << 63 : address;
}

/* Addresses from here on belong to the kernel (x86-64 and aarch64 with 64-bit kernels). */
#define CTX_KERNEL_START ((uint64_t)0xffff000000000000u)

enum ctx_event_kind {
	CTX_EV_PROCESS_START,
	CTX_EV_PROCESS_EXIT,
	CTX_EV_PROCESS_TITLE, /* it has set its command line; `text` */
	CTX_EV_THREAD_START,
	CTX_EV_THREAD_NAME,
	CTX_EV_THREAD_EXIT,
	CTX_EV_MAP,
	CTX_EV_UNMAP,
	CTX_EV_FORK_MAPS, /* the process has, besides its own, the maps of another one as they are now */
	CTX_EV_FUNCTION,  /* a function that frames refer to by name */
	CTX_EV_STACKS,
	CTX_EV_STACKS_RESET,
	CTX_EV_SAMPLE,
	CTX_EV_USAGE,
	CTX_EV_LOST,	 /* samples that were dropped */
	CTX_EV_THROTTLE, /* the kernel throttled (count 1) or unthrottled (count 0) */
	CTX_EV_DAMAGE,	 /* unusable data; `text` has what and where */
	CTX_EV_WARNING,	 /* `text` for the header of reports */
	CTX_EV_PROPERTY, /* a line of the header unknown when the source was opened */
	CTX_EV_STATE,	 /* a thread changes what it does */
	CTX_EV_TRACED,	 /* a traced operation */
	CTX_EV_CALL,	 /* a thread leaves calls, enters one, or both */
	CTX_EV_OMP,	 /* an event of OpenMP of a thread: regions, tasks, waits */
	CTX_EV_VM,	 /* a process has a virtual machine, or more is known of the one that it has */
};

/* Strings of all events are borrowed until the next call of next(). */

struct ctx_event_process_start {
	int64_t pid;
	uint32_t parent; /* process number, CTX_NONE */
	const char *command;
	const char *lineage;
	const char *cgroup; /* NULL unknown */
	int64_t inner_pid;  /* in its own pid namespace; 0: none of its own, or unknown */
};

struct ctx_event_process_exit {
	int32_t status; /* as waitpid gives it */
	bool has_status;
};

struct ctx_event_thread_start {
	int64_t tid;
	int64_t inner_tid; /* as inner_pid */
	const char *name;
	bool without_states; /* what it does was not recorded, though it was of other threads */
};

/* A place in the source of JIT code; one that is inlined somewhere has that place as caller. */
struct ctx_jit_site {
	uint32_t caller;      /* index of a site before it; CTX_NONE: it is not inlined */
	const char *function; /* its name */
	const char *file;     /* NULL unknown */
	uint32_t line;	      /* 0 unknown */
};

struct ctx_jit_row {
	uint32_t begin; /* offset in the code; up to the next row's */
	uint32_t site;	/* CTX_NONE: only the function is known */
};

/* The places of the instructions of a JIT function. */
struct ctx_jit_places {
	const struct ctx_jit_row *rows; /* by offset */
	const struct ctx_jit_site *sites;
	size_t n_rows, n_sites;
};

/* A mapped load object, or JIT code. */
struct ctx_map_event {
	uint64_t address;
	uint64_t size;
	uint64_t file_offset; /* of `address` in the file */
	const char *path;
	const char *build_id; /* lower-case hex, "" unknown */
	const char *archive;  /* path of the archived copy (zstd) that can be opened now, "" none */
	/*
	 * "" for a load object. Otherwise the range is one JIT function of this name, and `path`
	 * and `file_offset` locate its description: the pair identifies the function, also when
	 * another one is at the same address later.
	 */
	const char *function;
	const uint8_t *code; /* its instructions, from the first; NULL unknown. Valid as long as the source */
	size_t n_code;
	uint16_t machine;		     /* of the code: ELF's e_machine */
	enum ctx_code_kind code_kind;	     /* of a JIT function; CTX_CODE_NATIVE: unknown */
	const struct ctx_jit_places *places; /* NULL unknown; as long as `code` */
};

/* The meaning of a frame's position in a function. */
enum ctx_position {
	CTX_POSITION_CODE, /* an offset in its code: of an instruction, of a bytecode */
	CTX_POSITION_LINE, /* a line of its file; 0 unknown */
};

/*
 * A function with a name and without addresses. The source chooses the number, unique in the
 * source: each is announced once, and functions with different numbers are different, whatever
 * their names.
 */
struct ctx_event_function {
	uint32_t id;
	const char *name;   /* is demangled if it is mangled */
	const char *module; /* its container, shown as its load object: "app.jar", "<Java methods>" */
	const char *file;   /* with its source; NULL unknown */
	uint32_t line;	    /* where it begins, for frames without a line of their own; 0 unknown */
	uint32_t size;	    /* positions are smaller than this; 0 unknown */
	enum ctx_position positions;
	enum ctx_code_kind code_kind; /* CTX_CODE_NATIVE: unknown */
};

/* Nodes to append to the stack dictionary of a process. */
struct ctx_event_stacks {
	uint32_t first; /* id of the first node */
	uint32_t n;
	const uint32_t *parents;
	const uint64_t *addresses; /* frames */
};

/* The call stack of an event. No stack: `id` 0, `frames` and `user` NULL. */
struct ctx_event_stack {
	uint32_t id;	   /* when frames is NULL: in the process's dictionary, or number of a whole stack */
	uint32_t n_frames; /* of `frames` */
	const uint64_t *frames; /* the whole stack, leaf first; NULL: see `id` */
	/*
	 * Input for unwinding the user's part, which comes after `frames` (then the kernel's, or
	 * none). NULL: all is in `frames`.
	 */
	const struct ctx_user_state *user;
};

struct ctx_event_sample {
	uint64_t weight;
	uint32_t metric;
	/*
	 * If the metric has exact_calls: how many frames, counted from the root, are still the same
	 * calls as at the thread's previous sample of this metric. All frames above were entered
	 * since then, even if the stack is equal. Ignored for the first sample of a thread.
	 */
	uint32_t kept_frames;
	int32_t cpu; /* -1 unknown */
	struct ctx_event_stack stack;
};

struct ctx_event_state {
	enum ctx_state_change change;
	int32_t cpu;	    /* -1 unknown */
	enum ctx_wait wait; /* BLOCKED: the reason, if the source knows it */
	uint32_t waker;	    /* WOKEN: the waker; CTX_NONE: not a thread of the recording */
	const char
		*external_waker; /* WOKEN without a waker: the external waker, "kworker/0:1"; NULL unknown */
	/*
	 * The thread's own; for WOKEN the waker's, and `process` (of the event) is the process of
	 * its dictionary and maps.
	 */
	struct ctx_event_stack stack;
};

struct ctx_event_traced {
	const struct ctx_traced *
		operation; /* time, thread, stacks and file are not set: they are the event's; `other` is a thread of the source */
	const char *file; /* I/O: its name, NULL unknown */
	struct ctx_event_stack stack;
};

/* How a function runs whose call was seen: the major codes of call events. In databases. */
enum ctx_call_code {
	CTX_CALL_INTERPRETED = 0x30,  /* a method of a virtual machine */
	CTX_CALL_INSTRUMENTED = 0x41, /* native code with hooks, or a span that a program announces */
	CTX_CALL_COMPILED = 0x50,     /* a method that a virtual machine has compiled */
};

/*
 * First the thread's open calls above `kept` end, then `frame` is entered, if there is one. So an
 * entry keeps all, an exit one less, an exception or longjmp any number less; a tail call keeps one
 * less and enters.
 */
struct ctx_event_call {
	uint32_t kept;	/* open calls that go on, counted from the root; larger than their number: all */
	uint64_t frame; /* of the entered function: an address in it, or a function by name; 0: none */
	enum ctx_call_code code; /* of the entered function */
	bool unwound; /* what ends is left without return: by an exception, longjmp, or because its end was lost */
	bool resumed; /* what is entered has begun before, in the process that forked this one: it is open, and no call of this one */
	bool unseen; /* what is entered has begun before, when events were missing: how long it takes is not known */
	/* See `call_sums` of struct ctx_source_info. */
	bool is_sum;	  /* what is entered stands for `calls` of it */
	uint64_t took_ns; /* not 0: nothing is entered, but `calls` of `frame` have taken so long each */
	uint64_t calls;
	uint64_t
		lost; /* not 0: `frame` is CTX_FRAME_LOST, resumed, and so many events are missing until it ends */
	/*
	 * What the thread's counters counted since its event before, as info.call_counters; NULL: no
	 * counters, or the first event of the thread.
	 */
	const uint64_t *counted;
};

/* As model/omp.h says. */
struct ctx_event_omp {
	enum ctx_omp_event event;
	bool has_body; /* the leaf of the stack is the function that the construct runs, and its caller the construct */
	uint32_t value;
	struct ctx_event_stack stack;
};

struct ctx_event_lost {
	/*
	 * LOST: comes at its begin or, where that is known too late, up to its end. What threads did in
	 * a located one is unknown until they are seen again.
	 */
	struct ctx_loss loss; /* THROTTLE: count 1 throttled, 0 no longer */
	bool beyond_limit;    /* LOST: dropped by the size limit; else by the kernel */
};

struct ctx_event {
	enum ctx_event_kind kind;
	uint64_t time_ns;
	uint32_t
		process; /* of every kind but FUNCTION, LOST, THROTTLE, DAMAGE, WARNING, PROPERTY; a MAP or UNMAP with CTX_NONE is
			     of the kernel's address space */
	uint32_t thread; /* of THREAD_*, SAMPLE, STATE, TRACED, CALL and OMP */
	union {
		struct ctx_event_process_start process_start;
		struct ctx_event_process_exit process_exit;
		struct ctx_event_thread_start thread_start;
		const char *thread_name;
		struct ctx_map_event map; /* UNMAP: address and size only */
		uint32_t maps_of;	  /* FORK_MAPS: that other process */
		struct ctx_event_function function;
		struct ctx_event_stacks stacks;
		struct ctx_event_sample sample;
		struct ctx_event_state state;
		struct ctx_event_traced traced;
		struct ctx_event_call call;
		struct ctx_event_omp omp;
		struct ctx_usage_info usage; /* its `process` is the source's number */
		struct ctx_event_lost lost;  /* and THROTTLE */
		const char *text;	     /* PROCESS_TITLE, DAMAGE, WARNING */
		struct ctx_property property;
		struct ctx_vm_info
			vm; /* `process` and the begin are the event's; the end UINT64_MAX: it goes on */
	};
};

/*
 * The recorded kernel, for a source without its own kallsyms: the ingest uses it to find a matching
 * one, or none. The address can be filled in while events are read, before the first sample of the
 * kernel.
 */
struct ctx_source_kernel {
	const char *build_id; /* lower-case hex, "" unknown */
	const char *release;  /* as uname -r, "" unknown */
	const char *symbol;   /* "_text" or "_stext": the symbol whose address was recorded, "" none */
	uint64_t address;     /* its recorded address: differs from boot to boot */
};

struct ctx_source_metric {
	const char *name;
	const char *word; /* as in struct ctx_metric_info; NULL */
	enum ctx_metric_kind
		kind; /* CTX_METRIC_COUNT: no samples of its own: the number of samples of metric `of` */
	enum ctx_unit unit;
	uint32_t of;
	/* All samples have kept_frames: calls are counted, not estimated. */
	bool exact_calls;
};

/* The kind given by the source, else the unit's. */
static inline enum ctx_metric_kind ctx_source_metric_kind(const struct ctx_source_metric *metric)
{
	return metric->kind != CTX_METRIC_BY_UNIT ? metric->kind : ctx_metric_kind_of_unit(metric->unit);
}

/* A source file kept with the recording. */
struct ctx_source_text {
	const char *
		path; /* absolute, from the debug information of a load object: directories joined, without "//" and "/./"; ".." is kept, since its target depends on links */
	const char *archive; /* path of a zstd copy that can be opened now */
};

/* A function of a load object that the recording itself names. */
struct ctx_source_symbol {
	uint64_t address; /* in the object */
	uint64_t size;	  /* 0 unknown */
	const char *name; /* as in the object: it may be mangled */
};

/* Used where no file of the object is found. */
struct ctx_source_symbols {
	const char *path;    /* as in maps; "[kernel.kallsyms]": the kernel's, at its own addresses */
	uint64_t to_address; /* added to a file offset gives an address, modulo 2^64 */
	const struct ctx_source_symbol *items; /* unordered; they may overlap */
	size_t n;
};

/*
 * The clock of a source's times, by which several recordings are put on one time line. All zero: not
 * known. Times on clocks of one name can be compared if they are of one host.
 */
struct ctx_source_clock {
	const char *name;  /* "CLOCK_MONOTONIC", "perf"; NULL unknown */
	const char *host;  /* NULL unknown */
	uint64_t begin_ns; /* this clock at time 0 */
	uint64_t wall_ns;  /* CLOCK_REALTIME at time 0; 0 unknown */
};

/* Properties known when the source is opened. Strings live as long as the source. */
struct ctx_source_info {
	const char *name;     /* last part of the path */
	const char *format;   /* "experiment 1" */
	uint64_t duration_ns; /* an upper bound of all times; the root interval is [0, duration) */
	struct ctx_source_clock clock;
	bool closed;
	const char *notes; /* "" none */
	const char
		*kallsyms; /* path of a zstd copy of the target's kallsyms that can be opened now, "" none */
	struct ctx_source_kernel kernel; /* all strings NULL: unknown, or kallsyms is enough */
	const char *fallback_root;	 /* directory of archives: searched first for build ids, "" none */
	struct ctx_property *properties; /* for the header: "collector", "host", "kernel", "command", "start",
					    ... in order */
	size_t n_properties;
	struct ctx_source_metric *metrics;
	uint32_t n_metrics;
	const struct ctx_source_text *
		sources; /* each path once, unordered; texts are searched here first, then at their own path. NULL: none */
	size_t n_sources;
	const struct ctx_source_symbols *symbols; /* by path (strcmp), each once. NULL: none */
	size_t n_symbols;
	bool has_states; /* CTX_EV_STATE can occur: threads' lives are divided into states */
	bool has_calls;	 /* CTX_EV_CALL can occur */
	bool has_omp;	 /* CTX_EV_OMP can occur */
	/*
	 * CTX_EV_CALL are sums: of each thread, for each period up to a second, what was called on each path, as if it had been called
	 * once, in depth-first order. Times are exact at borders of periods, which are whole seconds. Complete when all events were returned.
	 */
	bool call_sums;
	/* Counters read at each call event, NULL none: name, word, kind and unit count. */
	const struct ctx_source_metric *call_counters;
	uint32_t n_call_counters;
	uint64_t
		states_end_ns; /* changes of state are missing from then on, so states are unknown; 0: complete */
	/*
	 * The sampling clock ticks at this period of a thread's time on a CPU, but gives samples
	 * only in user mode: where they are missing, the thread was in the kernel. 0: no such
	 * clock.
	 */
	uint64_t user_clock_ns;
	/*
	 * Samples were taken without callers. Complete when all events were returned.
	 */
	bool no_call_stacks;
	bool kernel_clock;  /* the clock gives samples only in the kernel */
	uint32_t n_threads; /* upper bound of thread numbers in use; 0 unknown when opened */
	uint64_t bytes;	    /* size of the data files, for progress */
};

struct ctx_event_source {
	struct ctx_source_info info;
	void *impl;
	/*
	 * Next event, or CTX_END. Sets all fields of its kind. Pointers in `*ret` are valid until
	 * the next call. Damage is an event; a failure here ends the ingest (I/O error, memory).
	 */
	enum ctx_status (*next)(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err);
	/*
	 * NULL: stacks without frames are in dictionaries. Otherwise events number whole stacks,
	 * for each process densely from 1 (0: no frames), and this returns the frames of one (as
	 * `frames` of a sample), valid until the next call of either function. Only for numbers
	 * that an event had, and until the process has exited. Fails as next() does.
	 */
	enum ctx_status (*stack_frames)(struct ctx_event_source *source, uint32_t process, uint32_t stack,
					struct ctx_event_stack *ret, struct ctx_err *err);
	/* Bytes consumed so far, of info.bytes. */
	uint64_t (*progress)(const struct ctx_event_source *source);
	void (*close)(struct ctx_event_source *source); /* releases the source itself too */
};

#endif
