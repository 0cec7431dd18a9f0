/* Records of input and output of a traced process (runtime/rt_io.h), as the experiment has them. */
#ifndef CTX_COLLECT_TRACE_IO_H
#define CTX_COLLECT_TRACE_IO_H

#include "collect/trace_ring.h"
#include "formats/experiment/exp_writer.h"

#include <stdbool.h>

struct ctx_trace_io_name {
	char text[CTX_RT_TEXT_MAX + 1];
};

struct ctx_trace_io_process { /* whose record it is */
	int64_t pid;
	const _Atomic uint64_t *closes; /* of its first segment; NULL: nothing is looked up */
};

/* Whether the name of its descriptor is to be looked up. */
bool ctx_trace_io_is_nameless(const struct ctx_trace_record *record);

/*
 * Fills what the record says, except process, thread and stack. A descriptor without a name is looked up among
 * those that the process has now, unless it may be another one by now. `ret->name` points to `room`. False: the
 * record makes no sense.
 */
bool ctx_trace_io_read(const struct ctx_trace_record *record, const struct ctx_trace_io_process *process,
		       struct ctx_trace_io_name *room, struct ctx_exp_io *ret);

#endif
