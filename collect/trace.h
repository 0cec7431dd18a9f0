/*
 * Tracing by the runtime in the target (runtime/): what is recorded of the heap and of the synchronisation of
 * a command or of running processes, and of their descendants.
 *
 *	environment of the command --> libctxrt.so in each process --socket--> its segments --> rings --> writer
 *	attach.h: running process --------^
 *
 * A process's segments belong to the image of the program that asked for them. Who a segment is of, and
 * which thread a ring, follows from what the kernel says: the credentials of the connection, and the records
 * of perf events, which say when threads and images begin and end. So a segment waits until these records
 * have come to the time of its creation, and before a record ends a thread or an image, all that it wrote is
 * taken. Processes that did not connect (statically linked ones, and others) are without.
 */
#ifndef CTX_COLLECT_TRACE_H
#define CTX_COLLECT_TRACE_H

#include "collect/proctree.h"
#include "collect/trace_counts.h"
#include "collect/trace_unfit.h"
#include "formats/experiment/exp_writer.h"
#include "runtime/shared_layout.h"

#include <stdbool.h>

struct ctx_entry_counters;

struct ctx_trace_options {
	bool heap, sync, io; /* marks are with any of them, and without */
	bool omp;
	bool omp_gives_way; /* to a tool of the program's own */
	bool omp_by_libomp; /* which programs of gcc get in place of libgomp */
	int once_fd;	    /* the memory file of runtime/once_layout.h, borrowed; negative: none */
	int entries_fd;	    /* that of runtime/count_layout.h, in the same way */
	const struct ctx_entry_counters *entries; /* whose it is, borrowed; NULL: none */
	bool calls;
	uint64_t calls_min_ns; /* shorter ones are left out by the target; 0: none are */
	uint32_t calls_depth;  /* deeper ones; 0: none are */
	const char *calls_of;  /* pattern of the functions that are patched; NULL: all */
	struct ctx_trace_sums calls_sums;
	uint32_t calls_counters; /* that are read at calls, a bit for each of enum ctx_call_counter */
	const char *tracefs;	 /* for io_uring, with io */
	uint64_t sample_bytes;	 /* allocations are sampled so many bytes apart; 0: all are recorded */
	uint64_t
		sync_threshold_ns; /* the shortest wait that is recorded; 0: all, and how long locks are held */
	bool waits;		   /* the target waits where a ring is full */
	const char *command;	   /* the program that is started; NULL: none */
	/* For what was taken out of rings and is not written yet, and four times as much for rings; 0: 64 MB. */
	size_t memory_bytes;
};

struct ctx_trace;

/*
 * Finds libctxrt.so and makes the socket. Fails with CTX_E_ARG (the command cannot be traced; the message
 * says why), CTX_E_NOTFOUND (the library is missing), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_create(const struct ctx_trace_options *options,
						struct ctx_trace **ret, struct ctx_err *err);
/* What still runs in the targets goes on untraced. Of processes that were attached ctx_trace_detach comes first. NULL is allowed. */
void ctx_trace_destroy(struct ctx_trace *trace);

/*
 * After a failure: targets are told that nobody reads any more, and go on without waiting for room; what begins later is not traced.
 */
void ctx_trace_give_up(struct ctx_trace *trace);

/* This process's own environment, for a child to be forked: with the runtime, and as it was. */
CTX_MUST_CHECK enum ctx_status ctx_trace_enter_environment(struct ctx_trace *trace, struct ctx_err *err);
void ctx_trace_leave_environment(struct ctx_trace *trace);

/*
 * Whether a running process can be traced, as far as is known without touching it, and then loading the runtime into
 * it, when its threads are known to the tree. `*ret` is how long one of them stood still. Fail as ctx_attach_check and
 * ctx_attach_create.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_check_process(const struct ctx_trace *trace, int64_t pid,
						       struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_trace_attach(struct ctx_trace *trace, int64_t pid, uint64_t *ret_ns,
						struct ctx_err *err);

/* Takes it out of use in all of these; the last failure, if there is one. */
CTX_MUST_CHECK enum ctx_status ctx_trace_detach(struct ctx_trace *trace, struct ctx_err *err);

/* Where it writes to; borrowed. Before the calls below. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_trace_begin(struct ctx_trace *trace, struct ctx_exp_writer *writer,
					       struct ctx_proctree *tree, struct ctx_err *err);

/* To poll on: somebody connects. */
int ctx_trace_fd(const struct ctx_trace *trace);

/* Whether the last ctx_trace_take left something, since the rings of perf events must be read in between. */
bool ctx_trace_has_backlog(const struct ctx_trace *trace);

/* Whether any process is traced now: its rings are to be read every few milliseconds, unless little is recorded. */
bool ctx_trace_is_busy(const struct ctx_trace *trace);

/* Whether so little is recorded that a ring lasts for the usual rounds: sampled allocations alone. */
bool ctx_trace_is_sparse(const struct ctx_trace *trace);

/* One line on io_uring for the header of the experiment; NULL: input and output is not recorded. Borrowed. */
const char *ctx_trace_uring_text(const struct ctx_trace *trace);

/* At the end: processes are not answered any more, and what they have reported up to now is counted. */
struct ctx_trace_counts ctx_trace_counts(struct ctx_trace *trace);

/* Which programs those were; borrowed. */
const struct ctx_trace_unfit *ctx_trace_unfit(const struct ctx_trace *trace);

#endif
