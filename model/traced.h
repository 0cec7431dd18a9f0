/*
 * One operation of the program, traced by a collector: an allocation, a wait for an object, an
 * input or output, or what the program says of itself (runtime/ctx_trace.h); or seen by the processor: a
 * branch, an access to memory.
 *
 * Not a sample: every operation is recorded (of branches and accesses those that samples brought). Sums by call stack (bytes, time, counts) come as
 * samples of metrics in addition; this is the input of reports by object, file, descriptor and
 * size. Source: requirement E9.
 */
#ifndef CTX_MODEL_TRACED_H
#define CTX_MODEL_TRACED_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers are in databases: only additions. */
enum ctx_traced_kind {
	CTX_TRACED_HEAP = 0,
	CTX_TRACED_SYNC,
	CTX_TRACED_IO,
	CTX_TRACED_MARK,
	CTX_TRACED_CALL,
	CTX_TRACED_BRANCH,
	CTX_TRACED_MEMORY,
	CTX_TRACED_OMP,
	CTX_TRACED_N,
};

enum ctx_heap_operation {
	CTX_HEAP_ALLOCATE = 0, /* malloc, calloc, memalign, ... */
	CTX_HEAP_FREE,
	CTX_HEAP_REALLOCATE, /* frees old_address, if that is not 0, and allocates */
	CTX_HEAP_MAP,	     /* memory of no file: mmap */
	CTX_HEAP_UNMAP,
	CTX_HEAP_MAP_FILE,   /* a file, by mmap: no allocation, but it replaces what was mapped there */
	CTX_HEAP_REMAP,	     /* what mremap returned: memory of no file, */
	CTX_HEAP_REMAP_FILE, /* or a file */
	CTX_HEAP_LEAVE,	     /* from where mremap moves; what brk gives back */
	CTX_HEAP_GROW,	     /* by brk */
	CTX_HEAP_N,
};

enum ctx_io_operation {
	CTX_IO_READ = 0,
	CTX_IO_WRITE,
	CTX_IO_OPEN,
	CTX_IO_CLOSE,
	CTX_IO_OTHER,
	CTX_IO_N,
};

enum ctx_sync_operation {
	CTX_SYNC_WAIT = 0, /* for an object of an unknown kind */
	CTX_SYNC_MUTEX,
	CTX_SYNC_READ_LOCK, /* of a read-write lock */
	CTX_SYNC_WRITE_LOCK,
	CTX_SYNC_CONDITION,
	CTX_SYNC_SEMAPHORE,
	CTX_SYNC_BARRIER,
	CTX_SYNC_JOIN, /* the object is the thread's pthread_t */
	CTX_SYNC_SPIN,
	/* These are no waits: */
	CTX_SYNC_HOLD,	/* a lock was held for this duration; the stack is that of its release */
	CTX_SYNC_ORDER, /* the thread took the lock, or asked for it, while it held the one at old_address */
	CTX_SYNC_BLOCK, /* the thread held a lock that `other` waited for so long; the stack is where it took it */
	CTX_SYNC_N,
};

/* What the program says of itself. Numbers of runtime/ctx_trace.h and of recordings, too. */
enum ctx_mark_operation {
	CTX_MARK_POINT = 0,
	CTX_MARK_BEGIN, /* of a named interval of this thread */
	CTX_MARK_END,
	CTX_MARK_BEGIN_ID, /* of one that may end in another thread, told apart by its name and a number */
	CTX_MARK_END_ID,
	CTX_MARK_COUNTER, /* a named number has this value from now on */
	CTX_MARK_PAUSE,	  /* of recording inside the process */
	CTX_MARK_RESUME,
	CTX_MARK_N,
};

/* Calls, by how the function runs. */
enum ctx_call_operation {
	CTX_CALL_OF_INSTRUMENTED = 0, /* native code with hooks, or a span that a program announces */
	CTX_CALL_OF_INTERPRETED,      /* a method of a virtual machine */
	CTX_CALL_OF_COMPILED,	      /* a method that a virtual machine has compiled */
	CTX_CALL_OPERATION_N,
};

/* Branches, by kind; numbered as the kernel does (PERF_BR_*). */
enum ctx_branch_operation {
	CTX_BRANCH_UNKNOWN = 0,
	CTX_BRANCH_CONDITIONAL,
	CTX_BRANCH_JUMP,
	CTX_BRANCH_INDIRECT,
	CTX_BRANCH_CALL,
	CTX_BRANCH_INDIRECT_CALL,
	CTX_BRANCH_RETURN,
	CTX_BRANCH_SYSCALL,
	CTX_BRANCH_SYSRET,
	CTX_BRANCH_CONDITIONAL_CALL,
	CTX_BRANCH_CONDITIONAL_RETURN,
	CTX_BRANCH_EXCEPTION_RETURN,
	CTX_BRANCH_INTERRUPT,
	CTX_BRANCH_SERROR,
	CTX_BRANCH_NO_TRANSACTION,
	CTX_BRANCH_EXTENDED,
	CTX_BRANCH_OPERATION_N,
};

/* `detail` of a branch. */
#define CTX_BRANCH_IS_PREDICTED 1u /* the processor says whether it was mispredicted */
#define CTX_BRANCH_IN_TRANSACTION 2u
#define CTX_BRANCH_ABORTS 4u

/* Accesses to memory. */
enum ctx_memory_operation {
	CTX_MEMORY_UNKNOWN = 0, /* not said: an address that an event has */
	CTX_MEMORY_LOAD,
	CTX_MEMORY_STORE,
	CTX_MEMORY_LOAD_STORE,
	CTX_MEMORY_PREFETCH,
	CTX_MEMORY_EXECUTE,
	CTX_MEMORY_FAULT, /* a page fault: of the address that was touched */
	CTX_MEMORY_OPERATION_N,
};

/* OpenMP, each when it has ended. */
enum ctx_omp_operation {
	CTX_OMP_OF_REGION = 0,
	CTX_OMP_OF_TASK,
	CTX_OMP_OPERATION_N,
};

/* `size` of CTX_SYNC_ORDER: which of the two is taken to read only. */
#define CTX_SYNC_ORDER_HELD_READ 1u
#define CTX_SYNC_ORDER_TAKEN_READ 2u

struct ctx_traced {
	uint64_t time_ns; /* its end */
	uint64_t
		duration_ns; /* the wait, the input or output, the interval or call that ends; heap: 0. Of sums of calls: of each; 0: not of these, but of a path in a period, with `self_ns` */
	union {
		uint64_t size; /* bytes allocated, unmapped, read or written */
		/* Of a call: time in which its thread did not run; of a region: all waits of its team; of a task: what is not self_ns. */
		uint64_t off_ns;
		/*
		 * Of a branch: bytes from the target of the branch before it to its own first byte, plus one; 0
		 * unknown.
		 */
		uint64_t block;
		uint64_t
			latency; /* of an access: cycles that it took, or what else its processor weighs it by; 0 unknown */
	};
	union {
		uint64_t address;    /* allocated or freed; the object waited for; accessed */
		uint64_t cycles;     /* of a branch: since the branch before it; 0 unknown */
		uint64_t call;	     /* I/O: enum ctx_io_call */
		uint64_t longest_ns; /* of a region: the work of the thread that worked most */
		/*
		 * Of CTX_MARK_COUNTER; number of an interval that has one; of a task: in how many others it was created;
		 * of sums of calls (struct ctx_profile_losses, call_log): so many
		 */
		int64_t value;
	};
	union {
		uint64_t old_address; /* of CTX_HEAP_REALLOCATE; of CTX_SYNC_ORDER */
		uint64_t error;	      /* I/O: errno; 0 none, or not known */
		/* Of a call: what its thread ran in none of the calls that it made; of a region: the work of its team; of a task: its own. */
		uint64_t self_ns;
		/*
		 * Of a branch: CTX_BRANCH_IS_PREDICTED, ...; of an access: where its data was (model/data_source.h), 0
		 * unknown.
		 */
		uint64_t detail;
	};
	uint32_t thread;
	int32_t cpu;	    /* -1 unknown */
	uint32_t raw_stack; /* 0 unknown */
	uint32_t stack;	    /* CCT node */
	union {
		/*
		 * I/O: index in profile->files; of what the program says: of its name; of an access: of what
		 * is mapped there. CTX_NONE unknown
		 */
		uint32_t file;
		uint32_t other; /* sync: thread that had the object, or waited; CTX_NONE unknown */
	};
	int32_t descriptor; /* I/O; of a region: threads of its team; -1 none */
	uint8_t kind;	    /* enum ctx_traced_kind */
	uint8_t operation; /* enum ctx_heap_operation, ctx_sync_operation, ctx_io_operation, ctx_mark_operation */
	bool failed; /* I/O: returned an error; a wait: it timed out, or was interrupted; an end: of nothing; a call: left without return; a branch: mispredicted */
	bool leaked; /* an allocation not freed up to the end */
	union {
		uint64_t
			leaked_size; /* its leaked bytes: `size`, or less if a map was unmapped in part; 0 if not leaked */
		uint64_t physical; /* of an access: its physical address; 0 unknown */
	};
};

/*
 * Heap: an address below this, and not 0, is none, but a number that an allocation and its release share, which
 * has no other use while it lives.
 */
#define CTX_TRACED_NUMBERS_END 65536u

#define CTX_TRACED_WEIGHT_MAX ((uint64_t)1 << 56) /* maximal bytes or ns of one operation */

/* Whether it is a wait for an object, and not something else of synchronisation. */
bool ctx_traced_is_wait(const struct ctx_traced *operation);

/* Whether it returned memory; false for a realloc to size 0, and for mapped files. */
bool ctx_traced_is_allocation(const struct ctx_traced *operation);

/* Whether a mark has a value: of a counter, or the number of an interval. */
static inline bool ctx_mark_has_value(unsigned operation)
{
	return operation == CTX_MARK_COUNTER || operation == CTX_MARK_BEGIN_ID ||
	       operation == CTX_MARK_END_ID;
}

/* Whether it ends something: an interval or a pause, as long as its duration. */
static inline bool ctx_mark_has_duration(const struct ctx_traced *operation)
{
	return !operation->failed &&
	       (operation->operation == CTX_MARK_END || operation->operation == CTX_MARK_END_ID ||
		operation->operation == CTX_MARK_RESUME);
}

/* Whether it maps its range of addresses, and replaces what was there; of memory or a file. */
static inline bool ctx_heap_maps(unsigned operation)
{
	return operation == CTX_HEAP_MAP || operation == CTX_HEAP_MAP_FILE || operation == CTX_HEAP_REMAP ||
	       operation == CTX_HEAP_REMAP_FILE || operation == CTX_HEAP_GROW;
}

static inline bool ctx_heap_maps_file(unsigned operation)
{
	return operation == CTX_HEAP_MAP_FILE || operation == CTX_HEAP_REMAP_FILE;
}

static inline bool ctx_heap_unmaps(unsigned operation)
{
	return operation == CTX_HEAP_UNMAP || operation == CTX_HEAP_LEAVE;
}

/*
 * Heap: the address of the block that ends with the operation; 0: none. A realloc to another size that returned nothing
 * has failed, and keeps its old block.
 */
static inline uint64_t ctx_traced_freed(const struct ctx_traced *operation)
{
	if (operation->operation == CTX_HEAP_FREE)
		return operation->address;
	return operation->operation == CTX_HEAP_REALLOCATE &&
			       (operation->address != 0 || operation->size == 0)
		       ? operation->old_address
		       : 0;
}

/*
 * The metrics of operations, by their words: heapallocbytes, heapalloccnt, heapleakbytes, heapleakcnt, sync, ioreadtime,
 * ioreadbytes, iowritetime, iowritebytes, ioothertime, ioerrortime, branch-entries, mispredicted,
 * branch-cycles, memory-accesses, memory-latency. False: another word.
 */
bool ctx_traced_kind_of_metric(const char *word, enum ctx_traced_kind *ret);

/* The operation's weight in such a metric; false: not a sample of it. */
bool ctx_traced_weigh(const struct ctx_traced *operation, const char *word, uint64_t *ret);

/* "heap", "sync", "io", "mark", "call", "branch", "memory", "omp"; "?" for other numbers. */
const char *ctx_traced_kind_name(enum ctx_traced_kind kind);

/* "allocate", ..., "wait", "read", ...; "?" for other numbers. */
const char *ctx_traced_operation_name(enum ctx_traced_kind kind, unsigned operation);

/* Operations of a kind are the numbers below this. 0 for other numbers. */
static inline unsigned ctx_traced_n_operations(enum ctx_traced_kind kind)
{
	return kind == CTX_TRACED_HEAP	   ? CTX_HEAP_N
	       : kind == CTX_TRACED_SYNC   ? CTX_SYNC_N
	       : kind == CTX_TRACED_IO	   ? CTX_IO_N
	       : kind == CTX_TRACED_MARK   ? CTX_MARK_N
	       : kind == CTX_TRACED_CALL   ? CTX_CALL_OPERATION_N
	       : kind == CTX_TRACED_BRANCH ? CTX_BRANCH_OPERATION_N
	       : kind == CTX_TRACED_MEMORY ? CTX_MEMORY_OPERATION_N
	       : kind == CTX_TRACED_OMP	   ? CTX_OMP_OPERATION_N
					   : 0;
}

#endif
