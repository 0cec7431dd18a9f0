/*
 * The functions with the most self weight, for the first screen, with the hottest line of each.
 *
 * A function of the kernel, the C library or the dynamic linker says little without its caller: it
 * has a row for each function of the program that called it. The kernel's functions below one
 * system call or fault are one function (report/fold.h).
 */
#ifndef CTX_REPORT_HOT_FUNCTIONS_H
#define CTX_REPORT_HOT_FUNCTIONS_H

#include "model/wait_kind.h"
#include "report/fold.h"
#include "report/head.h"
#include "report/report.h"

struct ctx_hot_function {
	uint32_t function; /* id in the fold's profile */
	uint32_t caller;   /* the function of the program that called it; CTX_NONE: it is of the program */
	uint64_t self, total;
	uint32_t file, line; /* of the program, with the most self weight; CTX_NONE, 0: unknown */
};

struct ctx_hot_functions {
	struct ctx_hot_function *rows; /* owned; by descending self, then total */
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
void ctx_hot_functions_deinit(struct ctx_hot_functions *functions);

#endif
