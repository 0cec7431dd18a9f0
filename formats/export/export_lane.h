/*
 * Where a thread's samples are drawn in time, for tools that draw lengths and not points.
 *
 *	time stamps		      t1    t2			t3
 *	weights			|--w1--|--w2-|		  |-w3--|
 *	drawn			|  w1  |  w2 |    idle	  | w3  |
 *
 * A sample of a clock stands for the time before its stamp, as much as its weight. Lengths are never changed, so that sums
 * stay what they are; where samples lie closer than their weights they are drawn one behind the other, and are late
 * until there is a pause again. Gaps that are not longer than the sample itself are no pause: clocks jitter.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_LANE_H
#define CTX_FORMATS_EXPORT_EXPORT_LANE_H

#include "model/export.h"

struct ctx_export_lane {
	uint64_t end_ns;    /* of what is drawn so far */
	uint64_t latest_ns; /* the most that a sample of any thread was drawn behind its stamp */
};

struct ctx_export_span {
	uint64_t idle_ns; /* nothing, before it */
	uint64_t begin_ns, end_ns;
};

/* True where a weight is time: ctx_metric_is_time. */
bool ctx_export_is_clock(const struct ctx_export_input *input);

/* What is selected, from the first interval's begin to the last one's end, within the run. */
struct ctx_interval ctx_export_extent(const struct ctx_export_input *input);

/* Goes back to the begin of the selection, for another thread; a lane of all zeros needs it first. */
void ctx_export_lane_begin(struct ctx_export_lane *lane, const struct ctx_export_input *input);

/* Places the next sample of the thread. */
struct ctx_export_span ctx_export_lane_place(struct ctx_export_lane *lane, const struct ctx_sample *sample);

/* Remarks how late samples are drawn where that is more than a hundredth of the selection. */
void ctx_export_lane_remark(const struct ctx_export_lane *lane, const struct ctx_export_input *input);

#endif
