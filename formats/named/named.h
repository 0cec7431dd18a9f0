/*
 * Named stacks: what readers share whose files have call stacks of function names, not of addresses.
 *
 *	reader: names and numbers of its file --named--> processes, threads, functions, metrics, samples --> events
 *
 * A reader is a struct ctx_named with a function that reads on, and is called when all events so far
 * are taken. Before it is opened it has added its metrics, and set times and properties in
 * `source.info`. Processes, threads and functions are announced with their first use. Strings are
 * copied. All fail with CTX_E_NOMEM; what else can happen is said below.
 */
#ifndef CTX_FORMATS_NAMED_NAMED_H
#define CTX_FORMATS_NAMED_NAMED_H

#include "base/map64.h"
#include "base/strtab.h"
#include "model/event_source.h"

struct ctx_named_thread_info {
	uint32_t process, name; /* number of the process; id of its name in `names` */
};

struct ctx_named {
	struct ctx_event_source source;
	/* Adds events, or CTX_END. Other failures end the reading. */
	enum ctx_status (*read)(struct ctx_named *named, struct ctx_err *err);
	void (*destroy)(struct ctx_named *named); /* releases what the reader owns, and itself */
	struct ctx_strtab names;
	struct ctx_strtab functions; /* keys of module, name, file and line; id = number of the function */
	struct ctx_map64 processes;  /* pid -> number */
	struct ctx_map64 numbers;    /* tid -> dense number, for `threads` */
	struct ctx_map64 threads;    /* process << 32 | number of the tid -> number */
	struct ctx_named_thread_info *infos; /* owned; by number of the thread */
	size_t n_threads, infos_cap;
	struct ctx_event *events; /* owned; `at` of them are taken */
	size_t n, at, events_cap;
	uint64_t *frames; /* owned; of the samples and operations among them, one after the other */
	size_t n_frames, frames_cap;
	struct ctx_traced *operations; /* owned; of the traced ones among them, in order */
	size_t n_operations, operations_at, operations_cap;
};

/* Sets the functions of the source; *named is all zero but for `read` and `destroy`. */
void ctx_named_init(struct ctx_named *named);

/* Releases what this module owns. */
void ctx_named_deinit(struct ctx_named *named);

#define CTX_NAMED_METRICS_MAX 1024u

/* Adds a metric, or finds the one of that name. Before the source is used. CTX_E_LIMIT: there are as many. */
CTX_MUST_CHECK enum ctx_status ctx_named_metric(struct ctx_named *named, const char *name, enum ctx_unit unit,
						uint32_t *ret, struct ctx_err *err);

/* A line for the header: "collector". Before the source is used. */
CTX_MUST_CHECK enum ctx_status ctx_named_property(struct ctx_named *named, const char *key, const char *value,
						  struct ctx_err *err);

struct ctx_named_function {
	const char *name, *module; /* "" unknown */
	size_t n_name, n_module;
	const char *file; /* NULL unknown */
	uint32_t line;	  /* where it begins; 0 unknown */
};

/* The number of a function. Costs a hash of its texts. */
CTX_MUST_CHECK enum ctx_status ctx_named_function(struct ctx_named *named,
						  const struct ctx_named_function *function, uint32_t *ret,
						  struct ctx_err *err);

/* The frame of a function, at a position: a line of its file if it has one, else an offset. */
CTX_MUST_CHECK enum ctx_status ctx_named_frame(struct ctx_named *named,
					       const struct ctx_named_function *function, uint32_t position,
					       uint64_t *ret, struct ctx_err *err);

struct ctx_named_thread {
	uint64_t time_ns;
	int64_t pid, tid;
	uint32_t process_life, life; /* tell apart those that have one number after each other; 0 */
	const char *process_name;    /* of the first use */
	const char *thread_name;     /* a thread is renamed */
};

/* The event's process and thread for a thread of the file. */
CTX_MUST_CHECK enum ctx_status ctx_named_thread(struct ctx_named *named,
						const struct ctx_named_thread *thread,
						struct ctx_event *event, struct ctx_err *err);

#define CTX_NAMED_FRAMES_MAX 65536u

/*
 * Adds a sample: `event` has all but the frames, which are `n` from the leaf, and are copied. Of more than
 * CTX_NAMED_FRAMES_MAX the outermost ones are dropped, and the last one says so.
 */
CTX_MUST_CHECK enum ctx_status ctx_named_sample(struct ctx_named *named, const struct ctx_event *event,
						const uint64_t *frames, uint32_t n, struct ctx_err *err);

struct ctx_named_stack {
	const uint64_t *frames; /* from the leaf */
	uint32_t n;
};

/*
 * Adds a traced operation: `event` has all but the operation and the frames. All is copied.
 */
CTX_MUST_CHECK enum ctx_status ctx_named_traced(struct ctx_named *named, const struct ctx_event *event,
						const struct ctx_traced *operation,
						const struct ctx_named_stack *stack, struct ctx_err *err);

/* A thread ends: `event` has its number, process and time. */
CTX_MUST_CHECK enum ctx_status ctx_named_end(struct ctx_named *named, const struct ctx_event *event,
					     struct ctx_err *err);

/* The event's process has a virtual machine: `event` has all, its texts live until the source is closed. */
CTX_MUST_CHECK enum ctx_status ctx_named_vm(struct ctx_named *named, const struct ctx_event *event,
					    struct ctx_err *err);

struct ctx_named_object {
	const char *path;
	size_t n_path;
	const char *build_id;
	size_t n_build_id;
};

/* Adds a map of the event's process: `event` has all but the texts. For frames that are addresses. */
CTX_MUST_CHECK enum ctx_status ctx_named_map(struct ctx_named *named, const struct ctx_event *event,
					     const struct ctx_named_object *object, struct ctx_err *err);

/* A warning for the header. */
CTX_MUST_CHECK enum ctx_status ctx_named_warn(struct ctx_named *named, struct ctx_err *err,
					      const char *format, ...) CTX_PRINTF(3, 4);

/* Damage: text that is kept and counted. */
CTX_MUST_CHECK enum ctx_status ctx_named_damage(struct ctx_named *named, struct ctx_err *err,
						const char *format, ...) CTX_PRINTF(3, 4);

#endif
