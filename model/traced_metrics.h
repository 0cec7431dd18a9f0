/*
 * The metrics that a reader makes of traced operations, of one kind each: their names and words, which are those
 * of gprofng. Readers announce them behind the metrics that the recording has itself, and give samples of all
 * but the counts.
 */
#ifndef CTX_MODEL_TRACED_METRICS_H
#define CTX_MODEL_TRACED_METRICS_H

#include "model/event_source.h"
#include "model/traced.h"

/* Numbers in the list of a kind. */
enum ctx_heap_metric {
	CTX_HEAP_METRIC_BYTES,
	CTX_HEAP_METRIC_COUNT,
	CTX_HEAP_METRIC_LEAK_BYTES,
	CTX_HEAP_METRIC_LEAK_COUNT,
	CTX_HEAP_METRIC_N,
};

enum ctx_sync_metric {
	CTX_SYNC_METRIC_TIME,
	CTX_SYNC_METRIC_COUNT,
	CTX_SYNC_METRIC_N,
};

enum ctx_io_metric {
	CTX_IO_METRIC_READ_TIME,
	CTX_IO_METRIC_READ_BYTES,
	CTX_IO_METRIC_READ_COUNT,
	CTX_IO_METRIC_WRITE_TIME,
	CTX_IO_METRIC_WRITE_BYTES,
	CTX_IO_METRIC_WRITE_COUNT,
	CTX_IO_METRIC_OTHER_TIME,
	CTX_IO_METRIC_OTHER_COUNT,
	CTX_IO_METRIC_ERROR_TIME,
	CTX_IO_METRIC_ERROR_COUNT,
	CTX_IO_METRIC_N,
};

enum ctx_branch_metric {
	CTX_BRANCH_METRIC_ENTRIES,
	CTX_BRANCH_METRIC_MISPREDICTED,
	CTX_BRANCH_METRIC_CYCLES,
	CTX_BRANCH_METRIC_N,
};

enum ctx_memory_metric {
	CTX_MEMORY_METRIC_ACCESSES,
	CTX_MEMORY_METRIC_LATENCY,
	CTX_MEMORY_METRIC_N,
};

struct ctx_traced_metrics {
	const struct ctx_source_metric *items;
	uint32_t n;
};

/* The metrics of a kind; `of` of a count is its number in this list. Static. */
struct ctx_traced_metrics ctx_traced_metrics(enum ctx_traced_kind kind);

/* Appends them to `to`, which has room and is announced from number `first` on: `of` is right there. */
void ctx_traced_metrics_append(enum ctx_traced_kind kind, struct ctx_source_metric *to, uint32_t first);

/* The metric of the time of an input or output: by what it did, or that it failed. */
static inline enum ctx_io_metric ctx_io_metric_of_time(const struct ctx_traced *operation)
{
	return operation->failed		      ? CTX_IO_METRIC_ERROR_TIME
	       : operation->operation == CTX_IO_READ  ? CTX_IO_METRIC_READ_TIME
	       : operation->operation == CTX_IO_WRITE ? CTX_IO_METRIC_WRITE_TIME
						      : CTX_IO_METRIC_OTHER_TIME;
}

/* Of its bytes; `operation` reads or writes. */
static inline enum ctx_io_metric ctx_io_metric_of_bytes(const struct ctx_traced *operation)
{
	return operation->operation == CTX_IO_READ ? CTX_IO_METRIC_READ_BYTES : CTX_IO_METRIC_WRITE_BYTES;
}

#endif
