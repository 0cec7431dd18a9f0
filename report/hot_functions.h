/*
 * The functions of the program with the most time of their own, for the first screen, with the
 * hottest line of each.
 *
 * What a function calls in the kernel, the C library, the C++ standard library or the dynamic linker
 * is time of its own: its row says how much, and which of them most. The kernel's functions below one
 * system call or fault are one function (report/fold.h). A sample without a function of the program
 * belongs to the function that it ended in.
 */
#ifndef CTX_REPORT_HOT_FUNCTIONS_H
#define CTX_REPORT_HOT_FUNCTIONS_H

#include "model/wait_kind.h"
#include "report/fold.h"
#include "report/head.h"
#include "report/report.h"

struct ctx_hot_function {
	uint32_t function;     /* id in the fold's profile */
	uint64_t self, total;  /* exclusive, inclusive: as in the report functions */
	uint64_t with_callees; /* self, and what it called in libraries and the kernel */
	uint32_t callee;       /* the one with the most of that; CTX_NONE: none. Id in the fold's profile */
	uint32_t file, line;   /* of the program, with the most of with_callees; CTX_NONE, 0: unknown */
};

/* Whether it has most of its time in what it called. */
static inline bool ctx_hot_function_calls(const struct ctx_hot_function *row)
{
	return row->callee != CTX_NONE && row->self < row->with_callees / 2;
}

struct ctx_hot_functions {
	struct ctx_hot_function *rows; /* owned; by descending with_callees, then total */
	size_t n;
	uint64_t weight, samples;    /* of the selection */
	struct ctx_totals totals;    /* the same, and its truncated stacks */
	uint32_t hottest;	     /* folded node: the end of the hottest path */
	uint64_t hottest_weight;     /* of all samples on that path */
	const struct ctx_code *code; /* borrowed */
};

/*
 * Of the first metric. A scan of the samples. `fold` is of the source's profile, with kernel
 * functions folded. O(frames of all stacks).
 */
CTX_MUST_CHECK enum ctx_status ctx_hot_functions_build(struct ctx_report_source *source,
						       struct ctx_fold *fold,
						       const struct ctx_wait_kinds *kinds,
						       struct ctx_hot_functions *ret, struct ctx_err *err);
/* The function whose row has the samples of a folded node. O(depth). */
uint32_t ctx_hot_function_of(const struct ctx_fold *fold, const struct ctx_wait_kinds *kinds, uint32_t node);

void ctx_hot_functions_deinit(struct ctx_hot_functions *functions);

#endif
