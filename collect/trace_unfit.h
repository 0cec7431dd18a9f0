/*
 * Programs that traced processes executed, and that are without the runtime: which, and why.
 *
 * The names are what the target says: a number of different ones is kept, control characters are replaced.
 */
#ifndef CTX_COLLECT_TRACE_UNFIT_H
#define CTX_COLLECT_TRACE_UNFIT_H

#include "collect/trace_ring.h"
#include "runtime/program_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_TRACE_UNFIT_MAX 16u /* different ones */
#define CTX_TRACE_UNFIT_NAME 200u

struct ctx_trace_unfit_program {
	char name[CTX_TRACE_UNFIT_NAME]; /* as it was executed; the end of a long one */
	enum ctx_program why;
	uint64_t times;
};

struct ctx_trace_unfit { /* all zero is empty */
	struct ctx_trace_unfit_program programs[CTX_TRACE_UNFIT_MAX];
	size_t n;
	uint64_t times; /* of all in `programs` */
};

/* Adds what a record of the kind CTX_RT_UNFIT says. False: it makes no sense. */
bool ctx_trace_unfit_add(struct ctx_trace_unfit *unfit, const struct ctx_trace_record *record);

#endif
