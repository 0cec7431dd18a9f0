/*
 * What an ingest reads: one stream of events in time order, whatever the file format.
 *
 * A format (formats/experiment, later perfdata, gprofng, ...) opens its file and hands out a struct
 * ctx_event_source. Times are ns from the start of the experiment. Processes, threads and metrics are
 * numbered by the source, densely from 0, each announced before its first use. A *process* here is one image
 * of a program: exec starts a new one. A *thread* is one life of a tid.
 *
 * Order: events come sorted by time; at equal times maps and functions come before samples. A source that cannot keep
 * the order exactly (a damaged file) hands the late event out anyway; the ingest counts it.
 *
 * Stacks: a source keeps, per process, a dictionary of frame-level stack nodes. CTX_EV_STACKS appends nodes to it; ids
 * run from 1 upward per process, 0 is the empty stack, a node's parent is always smaller. CTX_EV_STACKS_RESET forgets
 * the dictionary of a process (ids start at 1 again). A sample names its leaf's node. A source whose file has whole
 * stacks hands them out whole instead (`frames` of struct ctx_event_stack): interning is the ingest's business then. One
 * whose file numbers whole stacks hands out numbers instead of nodes (`id`), and gives the frames of a number when it is
 * asked (`stack_frames`): those of most samples never are.
 *
 * Frames are 64-bit numbers of three kinds:
 *
 *  - An address, to be looked up as it is. For frames above the leaf that is an address inside the call instruction
 *    (return address minus one), so that nobody subtracts anything later.
 *  - A function by name, for what has no address (virtual machines, traces of other tools): ctx_frame_named(id,
 *    position), of a function that CTX_EV_FUNCTION announced before. A source that announces functions passes addresses
 *    of its file through ctx_frame_address, so that none is mistaken for one.
 *  - A mark. ctx_frame_truncated(reason) as the root-most frame says that the caller of the next frame is not known, and
 *    why. CTX_FRAME_JOINED between two frames says that what is on its root side was not found by this sample, but
 *    taken over from an earlier one of the thread; it is no call.
 *
 * Calls are estimated from what consecutive stacks have in common, unless the source knows better: see `exact_calls` of
 * struct ctx_source_metric.
 *
 * States: a source that sees what threads do when they are on no CPU hands out CTX_EV_STATE, for each thread in order
 * of time with its samples: what it saw (CTX_SEEN_*), or what an older recorder made of it. A change that repeats what is
 * known already does no harm, and one that was lost costs no more than its own interval. `info.has_states` says so in
 * advance. What a thread waits for is judged by the kernel's functions on its stack, unless the source knows it (`wait`).
 *
 * Traced operations: CTX_EV_TRACED, those of each kind in order of time. What is summed up by call stack comes as samples
 * besides.
 */
#ifndef CTX_MODEL_EVENT_SOURCE_H
#define CTX_MODEL_EVENT_SOURCE_H

#include "model/interval.h"
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
	CTX_TRUNCATED_BAD_CFA, /* call frame information that makes no sense here: the stack would not shrink, a register
				   is not known */
	CTX_TRUNCATED_DEPTH,   /* more frames than are kept */
	CTX_TRUNCATED_SKIPPED, /* the recorder could not keep up with unwinding */
	CTX_TRUNCATED_N,
};

/* Pseudo addresses from here down: no program has them, nor are they marks of the kernel's call chains (-32, -128, ...). */
#define CTX_FRAME_TRUNCATED ((uint64_t)-2)
#define CTX_FRAME_JOINED ((uint64_t)-20)

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

/* A few words: "no call frame information". */
const char *ctx_truncation_text(enum ctx_truncation reason);

/* A frame that is a function by name has this in its highest byte: no program has code there (x86-64, aarch64). */
#define CTX_FRAME_NAMED_TAG 0x40u
#define CTX_FRAME_POSITION_BITS 24
#define CTX_FRAME_POSITIONS ((uint32_t)1 << CTX_FRAME_POSITION_BITS)

/* The frame at a position in a function of CTX_EV_FUNCTION; positions from CTX_FRAME_POSITIONS on are not kept (0). */
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

/* The frame of an address of a file: what looks like a function by name becomes another address where nothing is. */
static inline uint64_t ctx_frame_address(uint64_t address)
{
	return ctx_frame_is_named(address) ? address | (uint64_t)1 << 63 : address;
}

/* Addresses from here on belong to the kernel (x86-64 and aarch64 with 64-bit kernels). */
#define CTX_KERNEL_START ((uint64_t)0xffff000000000000u)

enum ctx_event_kind {
	CTX_EV_PROCESS_START,
	CTX_EV_PROCESS_EXIT,
	CTX_EV_THREAD_START,
	CTX_EV_THREAD_NAME,
	CTX_EV_THREAD_EXIT,
	CTX_EV_MAP,
	CTX_EV_UNMAP,
	CTX_EV_FUNCTION, /* a function that frames refer to by name */
	CTX_EV_STACKS,
	CTX_EV_STACKS_RESET,
	CTX_EV_SAMPLE,
	CTX_EV_USAGE,
	CTX_EV_LOST,	 /* samples that were dropped */
	CTX_EV_THROTTLE, /* the kernel throttled (count 1) or unthrottled (count 0) */
	CTX_EV_DAMAGE,	 /* something could not be used; `text` says what and where */
	CTX_EV_WARNING,	 /* `text` for the head of the reports */
	CTX_EV_PROPERTY, /* a line of the header that was not known when the source was opened */
	CTX_EV_STATE,	 /* a thread changes what it does */
	CTX_EV_TRACED,	 /* an operation that was traced */
};

/* Strings of all events are borrowed until the next call of next(). */

struct ctx_event_process_start {
	int64_t pid;
	uint32_t parent; /* process number, CTX_NONE */
	const char *command;
	const char *lineage;
};

struct ctx_event_process_exit {
	int32_t status; /* as waitpid gives it */
	bool has_status;
};

struct ctx_event_thread_start {
	int64_t tid;
	const char *name;
};

/* A load object, or JIT code, that is mapped. */
struct ctx_map_event {
	uint64_t address;
	uint64_t size;
	uint64_t file_offset; /* of `address` in the file */
	const char *path;
	const char *build_id; /* lower-case hex, "" unknown */
	const char *archive;  /* path of the archived copy (zstd) that can be opened now, "" none */
	/*
	 * "" for a load object. Otherwise the range is one function of this name that was made at run time
	 * (JIT), and `path` and `file_offset` say where it is described: the pair is unique to the function,
	 * so that another one at the same address is another one.
	 */
	const char *function;
	const uint8_t
		*code; /* its instructions, from the first; NULL not known. Valid as long as the source */
	size_t n_code;
	uint16_t machine; /* of the code: ELF's e_machine */
};

/* What the position of a frame in a function is. */
enum ctx_position {
	CTX_POSITION_CODE, /* an offset in its code: of an instruction, of a bytecode */
	CTX_POSITION_LINE, /* a line of its file; 0 not known */
};

/*
 * A function that has a name and no addresses. The number is the source's choice, of the whole source, and stands for this
 * function from here on: it is announced once, and functions of different numbers are different, whatever their names.
 */
struct ctx_event_function {
	uint32_t id;
	const char *name;   /* is demangled if it is mangled */
	const char *module; /* what it belongs to, shown as its load object: "app.jar", "<Java methods>" */
	const char *file;   /* with its source; NULL not known */
	uint32_t line;	    /* where it begins, for frames without a line of their own; 0 not known */
	uint32_t size;	    /* positions are smaller than this; 0 not known */
	enum ctx_position positions;
};

/* Nodes that are appended to the stack dictionary of a process. */
struct ctx_event_stacks {
	uint32_t first; /* id of the first node */
	uint32_t n;
	const uint32_t *parents;
	const uint64_t *addresses; /* frames */
};

/* A call stack as an event names it. No stack: `id` 0, `frames` and `user` NULL. */
struct ctx_event_stack {
	uint32_t id;	   /* when frames is NULL: in the process's dictionary, or number of a whole stack */
	uint32_t n_frames; /* of `frames` */
	const uint64_t *frames; /* the whole stack, leaf first; NULL: see `id` */
	/*
	 * The user's part is still to be unwound from this, and comes behind `frames` (which are the
	 * kernel's then, or none). NULL: all is in `frames`.
	 */
	const struct ctx_user_state *user;
};

struct ctx_event_sample {
	uint64_t weight;
	uint32_t metric;
	/*
	 * If the metric has exact_calls: how many frames, counted from the root, are still the calls that they were at the
	 * thread's previous sample of this metric. All frames above were entered since then, even if the stack looks the
	 * same. Not looked at for the first sample of a thread.
	 */
	uint32_t kept_frames;
	int32_t cpu; /* -1 unknown */
	struct ctx_event_stack stack;
};

struct ctx_event_state {
	enum ctx_state_change change;
	int32_t cpu;		    /* -1 unknown */
	enum ctx_wait wait;	    /* BLOCKED: what for, if the source knows it */
	uint32_t waker;		    /* WOKEN: thread that did it; CTX_NONE: none of the recording */
	const char *external_waker; /* WOKEN without a waker: who, "kworker/0:1"; NULL not known */
	/*
	 * The thread's own; for WOKEN the waker's, and `process` (of the event) is the process whose
	 * dictionary and maps it is of.
	 */
	struct ctx_event_stack stack;
};

struct ctx_event_traced {
	const struct ctx_traced
		*operation; /* time, thread, stacks and file are not set: they are the event's */
	const char *file;   /* I/O: its name, NULL not known */
	struct ctx_event_stack stack;
};

struct ctx_event_lost {
	uint64_t count;	   /* LOST: samples; THROTTLE: 1 throttled, 0 no longer */
	bool beyond_limit; /* LOST: the user wanted no more; else the kernel had no room */
};

struct ctx_event {
	enum ctx_event_kind kind;
	uint64_t time_ns;
	uint32_t
		process; /* of every kind but FUNCTION, LOST, THROTTLE, DAMAGE, WARNING, PROPERTY; a MAP or UNMAP with CTX_NONE is
			     of the kernel's address space */
	uint32_t thread; /* of THREAD_*, SAMPLE, STATE and TRACED */
	union {
		struct ctx_event_process_start process_start;
		struct ctx_event_process_exit process_exit;
		struct ctx_event_thread_start thread_start;
		const char *thread_name;
		struct ctx_map_event map; /* UNMAP: address and size only */
		struct ctx_event_function function;
		struct ctx_event_stacks stacks;
		struct ctx_event_sample sample;
		struct ctx_event_state state;
		struct ctx_event_traced traced;
		struct ctx_usage_info usage; /* its process field: the source's number */
		struct ctx_event_lost lost;  /* and THROTTLE */
		const char *text;	     /* DAMAGE, WARNING */
		struct ctx_property property;
	};
};

/*
 * What a file tells of the kernel that it was recorded on, for a source without a kallsyms of its own: by it the
 * ingest finds one that fits, or none. Where it lay may be filled in while events are read, before the first sample of
 * the kernel.
 */
struct ctx_source_kernel {
	const char *build_id; /* lower-case hex, "" unknown */
	const char *release;  /* as uname -r, "" unknown */
	const char *symbol;   /* "_text" or "_stext": the symbol whose address was recorded, "" none */
	uint64_t address;     /* its address then: differs from boot to boot */
};

struct ctx_source_metric {
	const char *name;
	const char *word; /* as in struct ctx_metric_info; NULL */
	enum ctx_metric_kind
		kind; /* CTX_METRIC_COUNT: no samples of its own, how many there are of metric `of` */
	enum ctx_unit unit;
	uint32_t of;
	/* All samples have kept_frames: calls are counted, not estimated. */
	bool exact_calls;
};

/* The kind that the source said, else the unit's. */
static inline enum ctx_metric_kind ctx_source_metric_kind(const struct ctx_source_metric *metric)
{
	return metric->kind != CTX_METRIC_BY_UNIT ? metric->kind : ctx_metric_kind_of_unit(metric->unit);
}

/* A source file that was kept with the recording. */
struct ctx_source_text {
	const char *
		path; /* absolute, as the debug information of a load object makes it: directories joined, without "//" and
				"/./"; ".." is left in, since what it leads to depends on links */
	const char *archive; /* path of a zstd copy that can be opened now */
};

/* What is known when the source is opened. Strings live as long as the source. */
struct ctx_source_info {
	const char *name;     /* last part of the path */
	const char *format;   /* "experiment 1" */
	uint64_t duration_ns; /* an upper bound of all times; the root interval is [0, duration) */
	bool closed;
	const char *notes; /* "" none */
	const char
		*kallsyms; /* path of a zstd copy of the target's kallsyms that can be opened now, "" none */
	struct ctx_source_kernel kernel; /* all strings NULL: nothing is known (and kallsyms says it all) */
	const char *fallback_root; /* directory of archives: where build ids are looked for first, "" none */
	struct ctx_property *properties; /* for the header: "collector", "host", "kernel", "command", "start",
					    ... in order */
	size_t n_properties;
	struct ctx_source_metric *metrics;
	uint32_t n_metrics;
	const struct ctx_source_text
		*sources; /* each path once, in no order; a text is looked for here first, then at
						  its own path. NULL: none were kept */
	size_t n_sources;
	bool has_states; /* there may be CTX_EV_STATE: threads' lives are divided into states */
	uint64_t
		states_end_ns; /* from then on changes of state are missing: nothing can be said of what threads do; 0: none are */
	/* The clock that makes samples ticks every so many ns of a thread's time on a CPU, but makes them in user mode
	 * alone: where they are missing, the thread was in the kernel. 0: no such clock. */
	uint64_t user_clock_ns;
	bool kernel_clock;  /* the clock makes samples in the kernel alone */
	uint32_t n_threads; /* upper bound of thread numbers in use; 0 not known when opened */
	uint64_t bytes;	    /* size of the data files, for progress */
};

struct ctx_event_source {
	struct ctx_source_info info;
	void *impl;
	/* Next event, or CTX_END. All fields of its kind are set, whatever was in `*ret`. Pointers in `*ret` are valid until the next call. Damage is an event; a
	 * failure here ends the ingest (I/O error, memory). */
	enum ctx_status (*next)(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err);
	/*
	 * NULL: stacks without frames are of dictionaries. Otherwise events name whole stacks by numbers, for each process dense from 1
	 * (0: no frames), and this gives the frames of one (as `frames` of a sample), valid until the next call of either function. Only numbers
	 * that an event had, and until the process has exited. Fails as next() does.
	 */
	enum ctx_status (*stack_frames)(struct ctx_event_source *source, uint32_t process, uint32_t stack,
					struct ctx_event_stack *ret, struct ctx_err *err);
	/* Bytes consumed so far, of info.bytes. */
	uint64_t (*progress)(const struct ctx_event_source *source);
	void (*close)(struct ctx_event_source *source); /* releases the source itself too */
};

#endif
