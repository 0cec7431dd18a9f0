#include "model/traced_metrics.h"

#define TIME(name_, word_) .name = (name_), .word = (word_), .kind = CTX_METRIC_DURATION, .unit = CTX_UNIT_NS
#define BYTES(name_, word_) .name = (name_), .word = (word_), .kind = CTX_METRIC_BYTES, .unit = CTX_UNIT_BYTES
#define EVENTS(name_, word_)                                                                                 \
	.name = (name_), .word = (word_), .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS
#define COUNT(name_, word_, of_)                                                                             \
	.name = (name_), .word = (word_), .kind = CTX_METRIC_COUNT, .unit = CTX_UNIT_NONE, .of = (of_)

static const struct ctx_source_metric heap[CTX_HEAP_METRIC_N] = {
	[CTX_HEAP_METRIC_BYTES] = {BYTES("Bytes Allocated", "heapallocbytes")},
	[CTX_HEAP_METRIC_COUNT] = {COUNT("Allocations", "heapalloccnt", CTX_HEAP_METRIC_BYTES)},
	[CTX_HEAP_METRIC_LEAK_BYTES] = {BYTES("Bytes Leaked", "heapleakbytes")},
	[CTX_HEAP_METRIC_LEAK_COUNT] = {COUNT("Leaks", "heapleakcnt", CTX_HEAP_METRIC_LEAK_BYTES)},
};

static const struct ctx_source_metric sync[CTX_SYNC_METRIC_N] = {
	[CTX_SYNC_METRIC_TIME] = {TIME("Sync Wait Time", "sync")},
	[CTX_SYNC_METRIC_COUNT] = {COUNT("Sync Wait Count", "syncn", CTX_SYNC_METRIC_TIME)},
};

static const struct ctx_source_metric io[CTX_IO_METRIC_N] = {
	[CTX_IO_METRIC_READ_TIME] = {TIME("Read Time", "ioreadtime")},
	[CTX_IO_METRIC_READ_BYTES] = {BYTES("Read Bytes", "ioreadbytes")},
	[CTX_IO_METRIC_READ_COUNT] = {COUNT("Read Count", "ioreadcnt", CTX_IO_METRIC_READ_TIME)},
	[CTX_IO_METRIC_WRITE_TIME] = {TIME("Write Time", "iowritetime")},
	[CTX_IO_METRIC_WRITE_BYTES] = {BYTES("Write Bytes", "iowritebytes")},
	[CTX_IO_METRIC_WRITE_COUNT] = {COUNT("Write Count", "iowritecnt", CTX_IO_METRIC_WRITE_TIME)},
	[CTX_IO_METRIC_OTHER_TIME] = {TIME("Other I/O Time", "ioothertime")},
	[CTX_IO_METRIC_OTHER_COUNT] = {COUNT("Other I/O Count", "ioothercnt", CTX_IO_METRIC_OTHER_TIME)},
	[CTX_IO_METRIC_ERROR_TIME] = {TIME("I/O Error Time", "ioerrortime")},
	[CTX_IO_METRIC_ERROR_COUNT] = {COUNT("I/O Error Count", "ioerrorcnt", CTX_IO_METRIC_ERROR_TIME)},
};

static const struct ctx_source_metric branch[CTX_BRANCH_METRIC_N] = {
	[CTX_BRANCH_METRIC_ENTRIES] = {EVENTS("Branch Entries", "branch-entries")},
	[CTX_BRANCH_METRIC_MISPREDICTED] = {EVENTS("Mispredicted Branches", "mispredicted")},
	[CTX_BRANCH_METRIC_CYCLES] = {EVENTS("Cycles of Branches", "branch-cycles")},
};

static const struct ctx_source_metric memory[CTX_MEMORY_METRIC_N] = {
	[CTX_MEMORY_METRIC_ACCESSES] = {EVENTS("Memory Accesses", "memory-accesses")},
	[CTX_MEMORY_METRIC_LATENCY] = {EVENTS("Memory Latency", "memory-latency")},
};

struct ctx_traced_metrics ctx_traced_metrics(enum ctx_traced_kind kind)
{
	static const struct ctx_traced_metrics all[CTX_TRACED_N] = {
		[CTX_TRACED_HEAP] = {heap, CTX_HEAP_METRIC_N},
		[CTX_TRACED_SYNC] = {sync, CTX_SYNC_METRIC_N},
		[CTX_TRACED_IO] = {io, CTX_IO_METRIC_N},
		[CTX_TRACED_BRANCH] = {branch, CTX_BRANCH_METRIC_N},
		[CTX_TRACED_MEMORY] = {memory, CTX_MEMORY_METRIC_N},
	};

	return all[kind];
}

void ctx_traced_metrics_append(enum ctx_traced_kind kind, struct ctx_source_metric *to, uint32_t first)
{
	struct ctx_traced_metrics metrics = ctx_traced_metrics(kind);

	for (uint32_t i = 0; i < metrics.n; i++) {
		to[i] = metrics.items[i];
		if (to[i].kind == CTX_METRIC_COUNT)
			to[i].of += first;
	}
}
