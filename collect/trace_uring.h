/*
 * Operations of io_uring, by tracepoints of the kernel: their libraries make system calls of their own, and completions come without any.
 *
 *	io_uring_submit_req  thread, what, call stack   -.
 *	io_uring_file_get    descriptor                  +--by the request--> operation: bytes or error, time
 *	io_uring_complete    result                     -'
 *
 * They are watched on all processors, since an operation may be completed anywhere; those of other processes are left out.
 * Needs tracefs, and root or CAP_PERFMON. Stacks are those of frame pointers.
 */
#ifndef CTX_COLLECT_TRACE_URING_H
#define CTX_COLLECT_TRACE_URING_H

#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

struct ctx_trace_uring;

/* Fails with CTX_E_PERM, CTX_E_NOTFOUND (the message says what is missing), CTX_E_FORMAT, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_trace_uring_create(const char *tracefs, struct ctx_trace_uring **ret,
						      struct ctx_err *err);
void ctx_trace_uring_destroy(struct ctx_trace_uring *uring); /* NULL is allowed */

struct ctx_trace_uring_target {
	struct ctx_proctree *tree;
	struct ctx_exp_writer *writer;
};

/*
 * Writes the operations of recorded threads that were completed up to a time, to which the tree knows its threads. Fails as the writer
 * does, and with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_uring_take(struct ctx_trace_uring *uring,
						    const struct ctx_trace_uring_target *target,
						    uint64_t until_ns, struct ctx_err *err);

/* Operations written so far, and events that were lost or too many. */
uint64_t ctx_trace_uring_operations(const struct ctx_trace_uring *uring);
uint64_t ctx_trace_uring_lost(const struct ctx_trace_uring *uring);

#endif
