/*
 * The recorder's command line.
 */
#ifndef CTX_COLLECT_RECARGS_H
#define CTX_COLLECT_RECARGS_H

#include "base/buf.h"
#include "base/option_table.h"
#include "collect/procfs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_rec_unwind {
	CTX_REC_UNWIND_AUTO, /* call frame information where this machine can be unwound, else frame pointers */
	CTX_REC_UNWIND_FP,
	CTX_REC_UNWIND_CFI,
	CTX_REC_UNWIND_NONE, /* the program counter alone */
};

/* How much is recorded of threads that are off CPU. */
enum ctx_rec_states {
	CTX_REC_STATES_AUTO, /* the first permitted one of the following */
	CTX_REC_STATES_FULL, /* switches with their stacks and reasons, wake-ups with their wakers, faults: tracepoints */
	CTX_REC_STATES_MIN, /* switches with their stacks, faults: needs kernel samples */
	CTX_REC_STATES_OFF,
	CTX_REC_STATES_SYSCALLS, /* full, and when each system call begins and ends */
};

/* Off CPU. */
struct ctx_rec_waits {
	enum ctx_rec_states states;
	uint32_t budget_per_mille; /* of the target's CPU time; CTX_WAIT_BUDGET_OFF */
};

#define CTX_REC_CALIBRATE UINT64_MAX

#define CTX_REC_LABELS_MAX 32u

struct ctx_rec_texts {	    /* what may be given several times */
	const char **items; /* borrowed from argv; the array is owned */
	size_t n, cap;
};

/* Of what every operation is recorded: by the runtime in the target, and by indicators. */
enum ctx_rec_omp {
	CTX_REC_OMP_AUTO, /* where a runtime of OpenMP is among the command's libraries */
	CTX_REC_OMP_ON,
	CTX_REC_OMP_OFF,
	CTX_REC_OMP_LIBOMP, /* on, with LLVM's runtime in place of gcc's */
};

struct ctx_rec_vm {
	bool java;		 /* an agent reports methods and code of Java's virtual machines */
	bool python;		 /* a probe in the kernel reads which functions of Python run */
	struct ctx_rec_texts of; /* rules (collect/vm_choice.h) which of Java's are of interest */
	uint64_t limit;		 /* how many at a time; 0: all */
	uint64_t turn_ns;	 /* they take turns; 0: they do not */
};

/* Whether not all of them are of interest. */
static inline bool ctx_rec_vm_chooses(const struct ctx_rec_vm *vm)
{
	return vm->of.n != 0 || vm->limit != 0 || vm->turn_ns != 0;
}

struct ctx_rec_trace {
	bool heap, sync, io;
	bool omp;
	bool data; /* addresses of data, of the events that have them */
	enum ctx_rec_omp omp_mode;
	const char *omp_library; /* the file name of the one that was found, of AUTO; NULL: none. Static */
	bool omp_has_tool; /* the command's program has a tool for OpenMP, which is asked before ctxrec's */
	const char *omp_why_not; /* why the command is recorded without; NULL: it is not */
	bool marks;		 /* what programs say of themselves; also recorded with any of the others */
	bool has_sync_threshold;
	bool is_calibrated;	    /* the caller has found out the threshold */
	uint64_t sync_threshold_ns; /* of waits; 0: all; CTX_REC_CALIBRATE: to be found out */
	bool waits;		    /* the target waits where its ring is full */
	uint64_t sample_bytes;	    /* allocations are sampled so many bytes apart; 0: all are recorded */
	bool calls;
	bool calls_sums;       /* they are summed in the target */
	uint64_t calls_memory; /* bytes of a process for that */
	bool has_calls_prune;
	uint32_t calls_prune;	 /* per cent of its parent below which a node is pruned */
	const char *calls_of;	 /* names of functions that are patched; NULL: all */
	uint64_t calls_min_ns;	 /* shorter calls are left out; 0: none are */
	uint64_t calls_depth;	 /* deeper calls are; 0: none are */
	uint32_t calls_counters; /* that are read at calls, a bit for each of enum ctx_call_counter */
	struct ctx_rec_vm vm;
	struct ctx_rec_texts indicators;
	const char *indicators_file; /* NULL: none */
	bool match_symbols;
	bool counts; /* indicators are counted in memory; set when that is known, not by an option */
	bool once;   /* one of the indicators is coverage, of which the runtime in the target takes care */
};

/* Whether there are indicators. */
static inline bool ctx_rec_counts(const struct ctx_rec_trace *trace)
{
	return trace->indicators.n != 0 || trace->indicators_file != NULL;
}

static inline bool ctx_rec_traces(const struct ctx_rec_trace *trace)
{
	return trace->heap || trace->sync || trace->io || trace->omp || trace->marks || trace->calls ||
	       trace->once;
}

/* Whether all that is recorded in the command is OpenMP, and that by itself. */
static inline bool ctx_rec_is_automatic(const struct ctx_rec_trace *trace)
{
	return trace->omp_library != NULL && !trace->heap && !trace->sync && !trace->io && !trace->marks &&
	       !trace->calls;
}

struct ctx_rec_prints { /* the first two instead of recording */
	bool help, version;
	bool quiet; /* no summary */
};

/* What the user says of the recording. */
struct ctx_rec_notes {
	const char *comment;	     /* "" none */
	struct ctx_rec_texts labels; /* KEY=VALUE; of the same key the last one counts */
};

struct ctx_rec_options {
	struct ctx_ids pids;	       /* owned */
	uint64_t frequency_hz, period; /* 0: not asked */
	struct ctx_buf events; /* names separated by commas, zero-terminated; empty: the usual one; owned */
	const char *output;    /* NULL: <command>.<n>.er */
	uint64_t duration_ns;  /* 0: unlimited */
	struct ctx_rec_notes notes;
	const char *store;			      /* of copies; NULL: the usual place, "none": none */
	uint64_t max_bytes, memory_bytes, ring_bytes; /* 0: as usual */
	uint64_t stack_bytes;			      /* copied with each sample; 0: the default */
	char *const *command; /* ends with NULL; NULL: none. Borrowed from argv, like all strings */
	enum ctx_rec_unwind unwind;
	struct ctx_rec_waits waits;
	struct ctx_rec_trace trace;
	int realtime; /* CTX_PRIORITY_AUTO; 0: the caller's priority; else of SCHED_FIFO */
	struct ctx_rec_prints prints;
	bool fail, top;
	bool system_wide, user_only, kernel_only;
	bool no_follow, wait_descendants, keep_stacks;
	bool no_archive, archive_sources, overwrite, share;
};

/* The rows of all options. */
extern const struct ctx_option_table ctx_rec_options_table;

/*
 * Fails with CTX_E_ARG (a message of one line), CTX_E_NOMEM. ctx_rec_options_deinit is
 * required after a failure too. Uses getopt_long: not for two threads at once.
 */
CTX_MUST_CHECK enum ctx_status ctx_rec_options_parse(int argc, char **argv, struct ctx_rec_options *ret,
						     struct ctx_err *err);
void ctx_rec_options_deinit(struct ctx_rec_options *options);

/*
 * The next free default name in the current directory: <stem>.<n>.er, n one more than the highest
 * existing one. malloc'ed; NULL: out of memory.
 */
char *ctx_default_name(const char *stem);

#endif
