/*
 * Positions of a thread's samples in time, for tools that draw intervals instead of points.
 *
 *	time stamps		      t1    t2			t3
 *	weights			|--w1--|--w2-|		  |-w3--|
 *	drawn			|  w1  |  w2 |    idle	  | w3  |
 *
 * A sample of a clock covers the time before its stamp, as long as its weight. Lengths are never
 * changed, so sums are preserved. Samples closer together than their weights are drawn back to
 * back, and are late until the next pause. A gap no longer than the sample itself is not a pause:
 * clocks jitter.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_LANE_H
#define CTX_FORMATS_EXPORT_EXPORT_LANE_H

#include "model/export.h"

struct ctx_export_lane {
	uint64_t end_ns;    /* of the samples drawn so far */
	uint64_t latest_ns; /* largest delay of a drawn sample behind its stamp, over all threads */
	bool exact;	    /* spans at open calls: drawn where they are */
};

struct ctx_export_span {
	uint64_t idle_ns; /* idle time before it */
	uint64_t begin_ns, end_ns;
};

/* True where a weight is time: ctx_metric_is_time. */
bool ctx_export_is_clock(const struct ctx_export_input *input);

/* Whether the metric is the time at open calls. */
bool ctx_export_is_exact(const struct ctx_export_input *input);

/*
 * The span of the selection, from the begin of the first interval to the end of the last, within
 * the run.
 */
struct ctx_interval ctx_export_extent(const struct ctx_export_input *input);

/* Restarts at the begin of the selection, for another thread; required first for a zeroed lane. */
void ctx_export_lane_begin(struct ctx_export_lane *lane, const struct ctx_export_input *input);

/* Places the next sample of the thread. */
struct ctx_export_span ctx_export_lane_place(struct ctx_export_lane *lane, const struct ctx_sample *sample);

/*
 * The deepest node of the stack drawn last, `open`, that goes on with the sample: a common ancestor, and where calls
 * are exact none that the sample entered anew.
 */
uint32_t ctx_export_lane_kept(const struct ctx_export_lane *lane, const struct ctx_trie *cct, uint32_t open,
			      const struct ctx_sample *sample);

/* Emits a remark on the delay of drawn samples if it exceeds a hundredth of the selection. */
void ctx_export_lane_remark(const struct ctx_export_lane *lane, const struct ctx_export_input *input);

#endif
