/*
 * When and in which order the rings of traced processes are read.
 */
#ifndef CTX_COLLECT_TRACE_TAKE_H
#define CTX_COLLECT_TRACE_TAKE_H

#include "collect/perfrecord.h"

#include <stdint.h>

struct ctx_trace;

/*
 * Takes what is there, or of much a part, all if `until_ns` is UINT64_MAX; records of perf events up to it have
 * been applied. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_take(struct ctx_trace *trace, uint64_t until_ns,
					      struct ctx_err *err);

/*
 * The same of one process, whose image or one of whose threads ends with this record. Calls that the thread, or all threads of the
 * image, could not write any more are said to be missing.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_before_end(struct ctx_trace *trace,
						    const struct ctx_perf_record *record,
						    struct ctx_err *err);

/* After that record: what the image that ended had is released. */
void ctx_trace_after_end(struct ctx_trace *trace, int64_t pid, uint64_t time_ns);

#endif
