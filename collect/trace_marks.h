/* Records of what a traced process says of itself (runtime/ctx_trace.h), as the experiment has them. */
#ifndef CTX_COLLECT_TRACE_MARKS_H
#define CTX_COLLECT_TRACE_MARKS_H

#include "base/strtab.h"
#include "collect/trace_ring.h"
#include "formats/experiment/exp_writer.h"

#include <stdbool.h>

#define CTX_TRACE_NAMES_MAX 4096u /* of a recording; further ones are "<Others>" */

struct ctx_trace_marks { /* all zero is empty */
	struct ctx_strtab names;
};

void ctx_trace_marks_deinit(struct ctx_trace_marks *marks);

/*
 * Fills what the record says, except process, thread and stack. `ret->name` lives as long as `marks`. False: the record makes no sense.
 */
bool ctx_trace_mark_read(const struct ctx_trace_record *record, struct ctx_trace_marks *marks,
			 struct ctx_exp_mark *ret);

#endif
