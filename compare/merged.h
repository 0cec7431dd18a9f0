/*
 * Two sides as one profile with the call stacks of both, and two threads: A and B. For exports.
 *
 *	functions, load objects   those of either side, matched (compare/matching.h)
 *	call stacks		  those of either side
 *	thread 0, named "A"	  side A's weight by stack: the mean of its recordings, as the weighting has it
 *	thread 1, named "B"	  side B's
 *
 * There is no time: the samples of a thread follow each other, one for each stack.
 */
#ifndef CTX_COMPARE_MERGED_H
#define CTX_COMPARE_MERGED_H

#include "compare/diff.h"

struct ctx_merged;

/* Errors as of ctx_diff_make of stacks, of which the subject need not be; shares are refused. O(stacks). */
CTX_MUST_CHECK enum ctx_status ctx_merged_make(const struct ctx_diff_spec *spec, struct ctx_merged **ret,
					       struct ctx_err *err);
void ctx_merged_destroy(struct ctx_merged *merged); /* NULL: nothing */

/*
 * The source of the merged profile: histograms of both together or of each thread, and samples. Nothing else can be
 * asked of it. Lives as long as `merged`.
 */
struct ctx_report_source *ctx_merged_source(struct ctx_merged *merged);

#endif
