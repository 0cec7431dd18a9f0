/*
 * What weights are compared: as they are, by second, by unit of work, or as shares.
 *
 *	absolute	the weight itself: ns, bytes, events
 *	per second	of the selected time of the recording
 *	per count	of a number that the user gives for each side, or of the calls of a function
 *	share		per cent of all of the recording's weight
 */
#ifndef CTX_COMPARE_WEIGHTING_H
#define CTX_COMPARE_WEIGHTING_H

#include "compare/matching.h"
#include "model/report_source.h"

enum ctx_weights {
	CTX_WEIGHTS_ABSOLUTE,
	CTX_WEIGHTS_PER_SECOND,
	CTX_WEIGHTS_PER_COUNT,
	CTX_WEIGHTS_SHARE,
	CTX_WEIGHTS_N,
};

struct ctx_weighting { /* all zero: absolute */
	enum ctx_weights weights;
	double counts[CTX_COMPARE_SIDES]; /* per count: of each recording of the side; more than 0 */
	const char
		*function; /* per count: the calls of it instead, by name or linkage name; NULL: `counts` */
};

/* "absolute", "per second", "per count", "share". */
const char *ctx_weights_word(enum ctx_weights weights);

/* A recording of a side. */
struct ctx_weighted {
	struct ctx_report_source *source;
	enum ctx_compare_side side;
	uint64_t weight; /* all of it */
};

/*
 * The number by which its weights are multiplied. CTX_E_ARG: it has no time, no weight or no call of the function.
 * Calls are those that samples show: a lower bound, unless the recording has all.
 */
CTX_MUST_CHECK enum ctx_status ctx_weighting_scale(const struct ctx_weighting *weighting,
						   const struct ctx_weighted *recording, double *ret,
						   struct ctx_err *err);

#endif
