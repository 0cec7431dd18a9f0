/*
 * Report data: results of the query engine (query/) for a selection, for reports and exports
 * (report/, formats/export/).
 */
#ifndef CTX_MODEL_REPORT_DATA_H
#define CTX_MODEL_REPORT_DATA_H

#include "model/histogram.h"
#include "model/interval.h"
#include "model/thread_state.h"
#include "model/traced.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Weights of one thread, or of all selected ones together. */
struct ctx_report_part {
	uint32_t thread;			/* thread id; CTX_NONE: all selected threads together */
	const struct ctx_histogram *histograms; /* of the pulled metrics, in order */
};

/* A slice of the time line of one thread (CTX_NONE: of all selected together). */
struct ctx_report_slice {
	uint32_t thread;
	struct ctx_interval interval;
	uint64_t samples, weight;
	uint32_t function;		/* the one with the largest exclusive weight; CTX_NONE: no samples */
	uint64_t state_ns[CTX_STATE_N]; /* of an experiment with states: time in each */
	/*
	 * Of one thread: the deepest call that was open for more than half of the slice, a CCT node, 0 none; and
	 * how often it was entered in the slice. Where calls were not seen: what has more than half of the weight.
	 */
	uint32_t call;
	uint64_t entered;
};

struct ctx_report_slices {
	const struct ctx_report_slice *slices; /* by thread (all together first), then by time */
	size_t n, per_thread;
	size_t threads_left_out; /* lighter than those with slices */
};

/* The selected time of a thread by state. */
struct ctx_report_states {
	uint32_t thread;
	uint64_t ns[CTX_STATE_N];
	uint64_t spans[CTX_STATE_N]; /* number of spans in this state */
};

/* Waits of the selection with the same waiter, waker and stacks. */
struct ctx_report_wakers {
	uint32_t thread;	 /* that waited */
	uint32_t state;		 /* enum ctx_thread_state */
	uint32_t stack;		 /* where it waited: CCT node */
	uint32_t waker;		 /* thread; CTX_NONE: not a thread of the recording */
	uint32_t external_waker; /* index in profile->external wakers; CTX_NONE */
	uint32_t waker_stack;	 /* CCT node; 0 unknown */
	uint64_t waits;
	uint64_t wait_ns, wait_max_ns;	 /* of the part inside the selected intervals */
	uint64_t delay_ns, delay_max_ns; /* between being woken and running */
};

/* Waits of the selection in the same state with the same call stack. */
struct ctx_report_waits {
	uint32_t state; /* enum ctx_thread_state */
	uint32_t stack; /* CCT node */
	uint64_t waits;
	uint64_t wait_ns, wait_max_ns; /* of the parts inside the selected intervals */
};

struct ctx_report_sum {
	uint64_t samples, weight;
};

/* The meaning of an index's keys; -1 is unknown. */
enum ctx_index_entity {
	/* Values of expressions. */
	CTX_INDEX_NUMBER,
	CTX_INDEX_CPU,
	CTX_INDEX_THREAD,
	CTX_INDEX_PROCESS,
	CTX_INDEX_METRIC,
	CTX_INDEX_STATE,
	CTX_INDEX_FILE,
	CTX_INDEX_HEAP_OPERATION,
	CTX_INDEX_MEMORY_OPERATION,
	CTX_INDEX_DATA_LEVEL,	/* enum ctx_data_level */
	CTX_INDEX_ADDRESS,	/* a number of 64 bits without a sign; in text hexadecimal */
	CTX_INDEX_IO_OPERATION, /* for a failed one CTX_IO_OTHER + 1 more */
	CTX_INDEX_TIME,		/* ns */
	CTX_INDEX_PHASE,	/* the letter of a phase, from 0 (model/phase.h) */
	/* Of the leaf of the call stack: function id, object id, CTX_INDEX_FILE_OF and CTX_INDEX_LINE_OF. */
	CTX_INDEX_FUNCTION,
	CTX_INDEX_OBJECT,
	CTX_INDEX_LINE,
	/* Of the processor, by the recording's topology (model/topology.h). */
	CTX_INDEX_SOCKET,
	CTX_INDEX_NODE,
	/* Positions in `names`. */
	CTX_INDEX_COMMAND,
	CTX_INDEX_THREAD_NAME,
	CTX_INDEX_THREAD_PATTERN,
	CTX_INDEX_CGROUP,
	CTX_INDEX_CONTAINER,
	CTX_INDEX_OMP_REGION, /* the innermost on the stack */
	CTX_INDEX_OMP_TASK,
	CTX_INDEX_CORE, /* in order */
	CTX_INDEX_PMU,
	CTX_INDEX_LABEL, /* what recordings of a fleet have: host, service, version, a label */
	CTX_INDEX_WAIT,	 /* enum ctx_wait_kind, or one of the two below */
};

#define CTX_INDEX_ON_CPU (-2)
#define CTX_INDEX_WAIT_CPU (-3)

/* A line's key: the id of its source file and its number. */
#define CTX_INDEX_LINE_KEY(file, line) ((int64_t)((uint64_t)(file) << 32 | (line)))
#define CTX_INDEX_FILE_OF(key) ((uint32_t)((uint64_t)(key) >> 32))
#define CTX_INDEX_LINE_OF(key) ((uint32_t)((uint64_t)(key)&UINT32_MAX))

/* Whether keys are values of an expression. */
static inline bool ctx_index_is_expression(enum ctx_index_entity entity)
{
	return entity <= CTX_INDEX_PHASE;
}

#define CTX_INDEX_KEYS_MAX 16u

struct ctx_report_index_key {
	const char *name; /* its word, or the expression: any bytes */
	bool is_word;	  /* of letters, digits, '_' and '-' */
	enum ctx_index_entity entity;
};

struct ctx_source_file;

/* Sums by the values of one or several keys. Unordered. */
struct ctx_report_index {
	const struct ctx_report_index_key *by;
	size_t n_by;			     /* at least 1 */
	const int64_t *keys;		     /* n_by for each row; no two rows have the same */
	const char *const *names;	     /* of CTX_INDEX_COMMAND to CTX_INDEX_LABEL */
	const struct ctx_source_file *files; /* of CTX_INDEX_LINE: by id */
	size_t n;
	const struct ctx_report_sum *sums;   /* for each row: of the metric, then of each of more_metrics */
	const struct ctx_report_sum *totals; /* the same of all rows together */
};

/* Recordings of a fleet with the same value of a key, and what is selected of them. */
struct ctx_report_fleet_group {
	const char *value;		      /* of the key */
	const char *host, *service, *version; /* where all have the same; otherwise NULL */
	const char *name;		      /* of the only recording; otherwise NULL */
	uint64_t recordings, hosts;
	uint64_t begin_ns, end_ns; /* of the first and the last, times of day since 1970; whole recordings */
	uint64_t recorded_ns;	   /* of all together, in the interval */
	uint64_t lost, damaged, unclosed; /* records, records, recordings */
	struct ctx_report_sum sum;	  /* of the first metric */
};

/* A level of the time tree, for the timeline's lower part. */
struct ctx_report_level {
	uint32_t level;
	uint64_t nodes, leaves, samples_in_leaves;
	uint64_t top_bytes, tail_bytes; /* of the encoded lists */
};

/* A list of traced operations, in order of time. */
struct ctx_report_traced {
	const struct ctx_traced *items;
	size_t n;
};

#endif
