#include "model/traced.h"

#include "base/mem.h"

#include <string.h>

const char *ctx_traced_kind_name(enum ctx_traced_kind kind)
{
	static const char *const names[CTX_TRACED_N] = {"heap", "sync",	  "io",	    "mark",
							"call", "branch", "memory", "omp"};

	return (unsigned)kind < CTX_TRACED_N ? names[kind] : "?";
}

const char *ctx_traced_operation_name(enum ctx_traced_kind kind, unsigned operation)
{
	static const char *const heap[] = {"allocate", "free",	"reallocate", "map",   "unmap",
					   "map file", "remap", "remap file", "leave", "grow"};
	static const char *const sync[] = {"wait",	"mutex",     "read lock", "write lock",
					   "condition", "semaphore", "barrier",	  "join",
					   "spin lock", "hold",	     "order",	  "block"};
	static const char *const io[] = {"read", "write", "open", "close", "other"};
	static const char *const mark[] = {"mark",   "begin",	"end",	 "begin id",
					   "end id", "counter", "pause", "resume"};
	static const char *const call[] = {"instrumented", "interpreted", "compiled"};
	static const char *const branch[] = {"branch",
					     "conditional",
					     "jump",
					     "indirect jump",
					     "call",
					     "indirect call",
					     "return",
					     "system call",
					     "system return",
					     "conditional call",
					     "conditional return",
					     "exception return",
					     "interrupt",
					     "system error",
					     "no transaction",
					     "extended"};
	static const char *const memory[] = {"access",	 "load",    "store", "load and store",
					     "prefetch", "execute", "fault"};
	static const char *const omp[] = {"region", "task"};

	if (kind == CTX_TRACED_HEAP)
		return operation < CTX_COUNT_OF(heap) ? heap[operation] : "?";
	if (kind == CTX_TRACED_IO)
		return operation < CTX_COUNT_OF(io) ? io[operation] : "?";
	if (kind == CTX_TRACED_MARK)
		return operation < CTX_COUNT_OF(mark) ? mark[operation] : "?";
	if (kind == CTX_TRACED_CALL)
		return operation < CTX_COUNT_OF(call) ? call[operation] : "?";
	if (kind == CTX_TRACED_BRANCH)
		return operation < CTX_COUNT_OF(branch) ? branch[operation] : "?";
	if (kind == CTX_TRACED_MEMORY)
		return operation < CTX_COUNT_OF(memory) ? memory[operation] : "?";
	if (kind == CTX_TRACED_OMP)
		return operation < CTX_COUNT_OF(omp) ? omp[operation] : "?";
	return kind == CTX_TRACED_SYNC && operation < CTX_COUNT_OF(sync) ? sync[operation] : "?";
}

bool ctx_traced_is_wait(const struct ctx_traced *operation)
{
	return operation->kind == CTX_TRACED_SYNC && operation->operation < CTX_SYNC_HOLD;
}

bool ctx_traced_is_allocation(const struct ctx_traced *operation)
{
	return operation->kind == CTX_TRACED_HEAP && operation->address != 0 &&
	       (operation->operation == CTX_HEAP_ALLOCATE || operation->operation == CTX_HEAP_REALLOCATE ||
		(ctx_heap_maps(operation->operation) && !ctx_heap_maps_file(operation->operation)));
}

enum measure {
	ALLOCATED,
	ALLOCATIONS,
	LEAKED,
	LEAKS,
	WAITED,
	READ_TIME,
	READ_BYTES,
	WRITE_TIME,
	WRITE_BYTES,
	OTHER_TIME,
	ERROR_TIME,
	BRANCHES,
	MISPREDICTED,
	BRANCH_CYCLES,
	ACCESSES,
	LATENCY,
};

static const struct {
	const char *word;
	enum ctx_traced_kind kind;
} metrics[] = {
	[ALLOCATED] = {"heapallocbytes", CTX_TRACED_HEAP},
	[ALLOCATIONS] = {"heapalloccnt", CTX_TRACED_HEAP},
	[LEAKED] = {"heapleakbytes", CTX_TRACED_HEAP},
	[LEAKS] = {"heapleakcnt", CTX_TRACED_HEAP},
	[WAITED] = {"sync", CTX_TRACED_SYNC},
	[READ_TIME] = {"ioreadtime", CTX_TRACED_IO},
	[READ_BYTES] = {"ioreadbytes", CTX_TRACED_IO},
	[WRITE_TIME] = {"iowritetime", CTX_TRACED_IO},
	[WRITE_BYTES] = {"iowritebytes", CTX_TRACED_IO},
	[OTHER_TIME] = {"ioothertime", CTX_TRACED_IO},
	[ERROR_TIME] = {"ioerrortime", CTX_TRACED_IO},
	[BRANCHES] = {"branch-entries", CTX_TRACED_BRANCH},
	[MISPREDICTED] = {"mispredicted", CTX_TRACED_BRANCH},
	[BRANCH_CYCLES] = {"branch-cycles", CTX_TRACED_BRANCH},
	[ACCESSES] = {"memory-accesses", CTX_TRACED_MEMORY},
	[LATENCY] = {"memory-latency", CTX_TRACED_MEMORY},
};

/* CTX_COUNT_OF(metrics): none. */
static size_t find_measure(const char *word)
{
	size_t i = 0;

	while (i < CTX_COUNT_OF(metrics) && (word == NULL || strcmp(metrics[i].word, word) != 0))
		i++;
	return i;
}

bool ctx_traced_kind_of_metric(const char *word, enum ctx_traced_kind *ret)
{
	size_t i = find_measure(word);

	if (i == CTX_COUNT_OF(metrics))
		return false;
	*ret = metrics[i].kind;
	return true;
}

static bool is_measured(const struct ctx_traced *operation, enum measure measure)
{
	bool reads = operation->operation == CTX_IO_READ, writes = operation->operation == CTX_IO_WRITE;

	switch (measure) {
	case ALLOCATED:
	case ALLOCATIONS:
		return ctx_traced_is_allocation(operation);
	case LEAKED:
	case LEAKS:
		return operation->leaked;
	case WAITED:
		return ctx_traced_is_wait(operation);
	case READ_TIME:
		return reads && !operation->failed;
	case READ_BYTES:
		return reads && !operation->failed && operation->size != 0;
	case WRITE_TIME:
		return writes && !operation->failed;
	case WRITE_BYTES:
		return writes && !operation->failed && operation->size != 0;
	case OTHER_TIME:
		return !reads && !writes && !operation->failed;
	case BRANCHES:
	case ACCESSES:
		return true;
	case BRANCH_CYCLES:
		return operation->cycles != 0;
	case LATENCY:
		return operation->latency != 0;
	default:
		return operation->failed;
	}
}

static uint64_t weight_of(const struct ctx_traced *operation, enum measure measure)
{
	switch (measure) {
	case ALLOCATIONS:
	case LEAKS:
	case BRANCHES:
	case MISPREDICTED:
	case ACCESSES:
		return 1;
	case LEAKED:
		return operation->leaked_size;
	case ALLOCATED:
	case READ_BYTES:
	case WRITE_BYTES:
		return operation->size;
	case BRANCH_CYCLES:
		return operation->cycles;
	case LATENCY:
		return operation->latency;
	default:
		return operation->duration_ns;
	}
}

bool ctx_traced_weigh(const struct ctx_traced *operation, const char *word, uint64_t *ret)
{
	size_t measure = find_measure(word);
	uint64_t weight;

	if (measure == CTX_COUNT_OF(metrics) || operation->kind != metrics[measure].kind ||
	    !is_measured(operation, (enum measure)measure))
		return false;
	weight = weight_of(operation, (enum measure)measure);
	if (weight > CTX_TRACED_WEIGHT_MAX)
		return false;
	*ret = weight;
	return true;
}
