/*
 * Metrics: the meaning and the unit of samples' weights.
 *
 * The kind defines the operations on weights:
 *
 *	                 a sample is                                an interval has       rate
 *	events           events of a counter, or one traced         points of time        events a second
 *	CPU time         a tick of a clock of time on a CPU         points of time        processors busy
 *	thread time      a tick of a clock that waits count for     points of time        threads at a time
 *	span             a span of a thread's time                  the part inside       threads at a time
 *	duration         an operation, as long as it took           those that end in it  threads at a time
 *	bytes            an operation, the bytes that it moved      those that end in it  bytes a second
 *	count            what another metric has samples of         as that metric        samples a second
 *	call-span        a span at a thread's open calls            the part inside       threads at a time
 *	omp-span         a span of a thread's time with OpenMP      the part inside       threads at a time
 */
#ifndef CTX_MODEL_METRIC_H
#define CTX_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_unit {
	CTX_UNIT_NONE = 0, /* a plain number */
	CTX_UNIT_NS,
	CTX_UNIT_BYTES,
	CTX_UNIT_EVENTS,
	CTX_UNIT_N,
};

enum ctx_metric_kind {
	CTX_METRIC_BY_UNIT = 0, /* of sources: unspecified, see ctx_metric_kind_of_unit; not in profiles */
	CTX_METRIC_EVENTS,
	CTX_METRIC_CPU_TIME,
	CTX_METRIC_THREAD_TIME,
	/*
	 * A sample ends with the nanosecond time_ns and weighs as many as it is long, so it began
	 * at time_ns + 1 - weight. The spans of a thread do not overlap, not even those of
	 * different metrics. An interval that cuts a span gets the part inside.
	 */
	CTX_METRIC_SPAN,
	CTX_METRIC_DURATION,
	CTX_METRIC_BYTES,
	CTX_METRIC_COUNT, /* with parts: the number of their samples, not the sum of their weights; no unit */
	/*
	 * As CTX_METRIC_SPAN, at the calls that a source has seen begin and end: no two overlap, but
	 * they lie beside the thread's spans of states. Calls are exact: a span has those that were
	 * entered at its begin. One of no weight has calls that were entered at time_ns, and ended in
	 * the same ns.
	 */
	CTX_METRIC_CALL_SPAN,
	/* As CTX_METRIC_SPAN, by what OpenMP does (model/omp.h): no two overlap, but they lie beside those of states. */
	CTX_METRIC_OMP_SPAN,
	CTX_METRIC_KIND_N,
};

struct ctx_metric_info {
	const char *name;	   /* "cpu-clock" */
	const char *word;	   /* a short name for options and keys: "wait-cpu"; NULL: the name itself */
	enum ctx_metric_kind kind; /* of a sum: the kind of its parts, or CTX_METRIC_COUNT */
	enum ctx_unit unit;
	uint64_t samples;
	uint64_t weight;
	/*
	 * A sum of other metrics, which have samples; it has none of its own. Ascending. NULL: no
	 * sum.
	 */
	const uint32_t *parts;
	uint32_t n_parts;
};

/* "ns", "bytes", "events"; "" for none: as in files, databases and reports. */
const char *ctx_unit_word(enum ctx_unit unit);

/* CTX_UNIT_NONE for an unknown word. */
enum ctx_unit ctx_unit_of_word(const char *word);

/* "cpu-time", "span", ...: as in databases. */
const char *ctx_metric_kind_word(enum ctx_metric_kind kind);

/* CTX_METRIC_BY_UNIT for an unknown word. */
enum ctx_metric_kind ctx_metric_kind_of_word(const char *word);

/* The kind of a metric by its unit alone: ns are ticks of a clock of CPU time. */
enum ctx_metric_kind ctx_metric_kind_of_unit(enum ctx_unit unit);

/* Whether samples are cut at the ends of an interval, instead of being points of time. */
static inline bool ctx_metric_is_clipped(const struct ctx_metric_info *metric)
{
	return metric->kind == CTX_METRIC_SPAN || metric->kind == CTX_METRIC_CALL_SPAN ||
	       metric->kind == CTX_METRIC_OMP_SPAN;
}

/* Whether its calls were seen, each where it begins; others are estimated from samples. */
static inline bool ctx_metric_has_exact_calls(const struct ctx_metric_info *metric)
{
	return metric->kind == CTX_METRIC_CALL_SPAN;
}

/* Whether each sample weighs 1, whatever it weighs in the metric that has it. */
static inline bool ctx_metric_is_count(const struct ctx_metric_info *metric)
{
	return metric->kind == CTX_METRIC_COUNT;
}

/*
 * Whether weights are times: divided by the length of an interval they are a number of processors
 * or threads.
 */
static inline bool ctx_metric_is_time(const struct ctx_metric_info *metric)
{
	return metric->unit == CTX_UNIT_NS;
}

/*
 * Whether samples show where a thread spends its time on a CPU: those of a clock of CPU time, and
 * of counters that run with it (cycles, instructions). Sources call it before the metric exists.
 */
bool ctx_metric_shows_running(enum ctx_metric_kind kind, const char *name);

#endif
