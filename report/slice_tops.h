/*
 * The function of each slice of a time line by the rules of the first screen: what the program's
 * function calls in libraries and the kernel is its own (report/hot_functions.h).
 */
#ifndef CTX_REPORT_SLICE_TOPS_H
#define CTX_REPORT_SLICE_TOPS_H

#include "report/hot_functions.h"

struct ctx_slice_top {
	uint32_t function; /* id in the fold's profile; CTX_NONE: no samples */
	uint64_t weight;
};

struct ctx_slice_tops_input { /* borrowed */
	struct ctx_fold *fold;
	const struct ctx_wait_kinds *kinds;
	const struct ctx_report_slices *slices;
};

/*
 * For each slice of all threads together the function with the largest weight of the first metric; an
 * array, owned by the caller (free). A span counts in each slice that it is in. A scan of the samples.
 */
CTX_MUST_CHECK enum ctx_status ctx_slice_tops_find(struct ctx_report_source *source,
						   const struct ctx_slice_tops_input *input,
						   struct ctx_slice_top **ret, struct ctx_err *err);

#endif
