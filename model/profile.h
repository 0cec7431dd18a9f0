/*
 * The entities of an ingested experiment, as reports see them: plain arrays, loaded at once when a
 * database is opened.
 *
 * Everything is indexed by dense id. Strings are zero-terminated, never NULL unless said, can hold
 * any bytes but zero (names are untrusted data, escaped when printed), and live as long as the
 * profile. Source: requirements E1-E7, E10, E12, C1.
 */
#ifndef CTX_MODEL_PROFILE_H
#define CTX_MODEL_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/code_kind.h"
#include "model/interval.h"
#include "model/loss.h"
#include "model/metric.h"
#include "model/thread_state.h"
#include "model/traced.h"
#include "model/trie.h"
#include "model/vm_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_NONE UINT32_MAX /* no such id */

enum ctx_function_kind {
	CTX_FUNCTION_ORDINARY = 0,
	CTX_FUNCTION_UNKNOWN, /* <Unknown>: the pc is unmapped, or in an object without a symbol there */
	CTX_FUNCTION_TRUNCATED, /* <Truncated-stack>, <Truncated-stack: REASON>: pseudo caller where the stack was cut */
	CTX_FUNCTION_ARTIFICIAL, /* other names in angle brackets: <Frames-left-out>, <execve>, <Pruned> */
};

struct ctx_function_info {
	const char *name;	  /* demangled, as shown */
	const char *linkage_name; /* as in the symbol table; equal to name where not mangled */
	const char *aliases;	  /* other names at the same address, separated by a space; "" mostly */
	const char *
		parts; /* linkage names of clones and outlined parts that are folded into it, separated by a space; NULL or "" mostly */
	uint32_t object; /* object id, CTX_NONE for artificial functions */
	uint64_t offset; /* of the first byte, in the object's own address space */
	uint64_t size;	 /* bytes, 0 unknown */
	enum ctx_function_kind kind;
	bool inlined; /* the inlined instances of a function: named "NAME (inlined)"; offset and size are 0 */
	enum ctx_code_kind code_kind; /* as the source said; CTX_CODE_NATIVE: it did not (ctx_code_kind_of) */
};

struct ctx_object_info {
	const char *path; /* as mapped, "[kernel]", "[vdso]", "//anon" */
	/* Lower-case hex: as recorded, else of the file with the symbols; "" unknown. */
	const char *build_id;
	/* Where its symbols came from: "archive", "/usr/lib/debug/...", "none: <reason>". */
	const char *symbols;
};

struct ctx_process_info {
	uint32_t parent; /* process id, CTX_NONE: none recorded */
	int64_t pid;
	int32_t exit_status; /* as of waitpid; only with has_exit_status */
	bool has_exit_status;
	const char *command; /* command line, or the name if that is unknown */
	const char *lineage; /* "" for the root process, "_f1", "_f1_x1", ... */
	const char *cgroup;  /* control group, "/system.slice/x.service"; "" unknown */
	int64_t inner_pid;   /* in its own pid namespace, where that is not the recorder's; 0 none */
	struct ctx_interval life;
	uint64_t samples;
	uint64_t weight; /* of metric 0 */
};

struct ctx_thread_info {
	uint32_t process; /* process id */
	int64_t tid;
	int64_t inner_tid; /* as inner_pid; 0 none */
	const char *name;
	struct ctx_interval life; /* a thread is (tid, life), never tid alone */
	uint64_t samples;
	uint64_t weight; /* of metric 0 */
};

struct ctx_property { /* a line of the header: key "host", value "target1" */
	const char *key;
	const char *value;
};

/* One record of the overview: resource use of a process, cumulative at time_ns. */
struct ctx_usage_info {
	uint64_t time_ns;
	uint32_t process;
	uint64_t user_ns, system_ns;
	uint64_t rss_bytes, vsize_bytes;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t read_bytes, write_bytes;
	uint64_t threads;
};

/* What was computed from samples and operations before they were left out. */
struct ctx_kept_figure {
	const char *name; /* "wait.mutex": as in rules (docs/rules.md) */
	double value;	  /* ms, bytes or a count */
};

/* What is missing from the recording. */
struct ctx_profile_losses {
	uint64_t samples;	/* dropped by the kernel: the sum of `items` */
	uint64_t throttled;	/* throttle events */
	uint64_t damaged;	/* blocks, lines or records that could not be used */
	bool call_stacks;	/* no callers were recorded: inclusive weights and calls are not known */
	struct ctx_loss *items; /* where they were; at most CTX_LOSSES_MAX */
	size_t n_items;
	bool call_log;	    /* calls are known as sums of periods up to a second, not one by one */
	bool sample_blocks; /* an archived run, of which time trees were kept and no samples */
	struct ctx_kept_figure *figures; /* of the whole run, which samples would tell */
	size_t n_figures;
};

struct ctx_profile_names {
	const char **items;
	uint32_t n;
};

struct ctx_profile_vms {	   /* virtual machines */
	struct ctx_vm_info *items; /* in order of their begins, at most one of a process image */
	uint32_t n;
};

struct ctx_profile {
	struct ctx_arena arena;	 /* owns all strings */
	const char *name;	 /* "test.1.er" */
	struct ctx_interval run; /* begin_ns is 0 */
	bool closed;		 /* the recording was completed */
	bool has_states;	 /* of threads: see `states` */
	struct ctx_profile_losses losses;
	const char *notes; /* "" none */
	struct ctx_property *properties;
	size_t n_properties;
	const char **warnings; /* one line each, for the header of every report */
	size_t n_warnings;
	struct ctx_function_info *functions;
	uint32_t n_functions;
	struct ctx_object_info *objects;
	uint32_t n_objects;
	struct ctx_process_info *processes;
	uint32_t n_processes;
	struct ctx_thread_info *threads;
	uint32_t n_threads;
	struct ctx_metric_info *metrics;
	uint32_t n_metrics;
	struct ctx_profile_vms vms;
	/*
	 * With has_states: metrics[states + s] is the time in state s (enum ctx_thread_state),
	 * followed by the sums of ctx_state_metrics.
	 */
	uint32_t states;
	const char **files; /* names of the files of traced input and output */
	uint32_t n_files;
	uint64_t traced[CTX_TRACED_N]; /* number of operations, by enum ctx_traced_kind */
	struct ctx_profile_names
		external_wakers; /* wakers that are not threads of the recording: "<interrupt>", "kworker/0:1" */
	struct ctx_usage_info *usage; /* in time order */
	size_t n_usage;
	struct ctx_trie cct; /* key = function id */
};

void ctx_profile_deinit(struct ctx_profile *profile);

/*
 * Whether a load object is the kernel or one of its modules: names in brackets, except for the
 * special maps of a process ("[vdso]", "[heap]").
 */
bool ctx_object_is_kernel(const char *path);

/*
 * Whether nothing has a time: of folded stacks or pprof, all of which is at 0. Its samples are then sums,
 * one a stack, and their number says nothing of how many there were.
 */
static inline bool ctx_profile_is_timeless(const struct ctx_profile *profile)
{
	return profile->run.end_ns <= 1;
}

/* NULL if `thread` is not a thread. */
static inline const struct ctx_thread_info *ctx_profile_thread(const struct ctx_profile *profile,
							       uint32_t thread)
{
	return thread < profile->n_threads ? &profile->threads[thread] : NULL;
}

/*
 * Entries of `processes` are program images: exec begins a new one with the same pid, whose parent is
 * the image before. The first image of the process that an image belongs to. O(images of the
 * process).
 */
uint32_t ctx_profile_first_image(const struct ctx_profile *profile, uint32_t image);

/* The number of processes, each with all its images. */
uint32_t ctx_profile_count_processes(const struct ctx_profile *profile);

/*
 * The file name of a command line's program: "xz" of "/usr/bin/xz -T2"; *ret_n is its length. Borrowed. A
 * title that a process has set is whole: "postgres: checkpointer".
 */
const char *ctx_command_program(const char *command, size_t *ret_n);

/* Appends a thread's name with "*" for each number: worker-17 and worker-2 are worker-*. */
void ctx_thread_name_pattern(const char *name, struct ctx_buf *out);

/* The process of a thread; CTX_NONE if `thread` is not a thread. */
static inline uint32_t ctx_profile_process_of(const struct ctx_profile *profile, uint32_t thread)
{
	const struct ctx_thread_info *info = ctx_profile_thread(profile, thread);

	return info != NULL ? info->process : CTX_NONE;
}

/*
 * The metric of the time in a state, or in the states of ctx_state_metrics[i]. Only with
 * has_states.
 */
static inline uint32_t ctx_profile_state_metric(const struct ctx_profile *profile,
						enum ctx_thread_state state)
{
	return profile->states + (uint32_t)state;
}

static inline uint32_t ctx_profile_state_sum(const struct ctx_profile *profile, uint32_t i)
{
	return profile->states + CTX_STATE_N + i;
}

/* The states of a metric, of CTX_STATE_BIT; 0 for a metric that is not of states. */
unsigned ctx_profile_metric_states(const struct ctx_profile *profile, uint32_t metric);

/*
 * The metric of the time in which calls were open and their threads ran: its calls are exact. Without
 * states of threads it is the one below. CTX_NONE: the source saw no calls.
 */
uint32_t ctx_profile_calls_metric(const struct ctx_profile *profile);

/* The first of the metrics of OpenMP, in the order of enum ctx_omp_metric. CTX_NONE: the source saw none. */
uint32_t ctx_profile_omp_metric(const struct ctx_profile *profile);

/* The time in which calls were open, whether their threads ran or not. CTX_NONE as above. */
uint32_t ctx_profile_elapsed_metric(const struct ctx_profile *profile);

/*
 * The metric of that name: exactly, else by its word or its name ignoring case, spaces and hyphens
 * ("waitcpu", "User CPU"), else by the words of gprofng and Solaris Studio (user, system, wait,
 * lock, text, data, owait, wall). CTX_NONE: none.
 */
uint32_t ctx_profile_find_metric(const struct ctx_profile *profile, const char *name);

/*
 * Whether the first record of its process is the base of the others: always with gprofng, however
 * late it is; with other recorders if it was taken right after the process's begin. Otherwise the
 * base is zero at the process's begin.
 */
bool ctx_usage_is_start(const struct ctx_profile *profile, const struct ctx_usage_info *first);

/* The value of a property, or `otherwise`. */
const char *ctx_profile_property(const struct ctx_profile *profile, const char *key, const char *otherwise);

#endif
