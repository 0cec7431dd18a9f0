/*
 * Bins: what a recording's samples have, as series for compare/evidence.h and compare/pairs.h.
 *
 *	rows: the weight of some items, by the share of the recording's whole weight that was over
 *	      (bins of equal weight: waiting moves nothing, so that phases of two runs lie side by side);
 *	      of thread states, which are all of the time, by the share of the selected time
 *	load: the weight of everything, by time; a lane each for the heaviest threads, one for all others
 *
 * The time of a lane is the selected time in which its thread lived, without that in which it waited for a
 * processor, if the recording has thread states: what else runs on the machine is no load of the program.
 */
#ifndef CTX_COMPARE_BINS_H
#define CTX_COMPARE_BINS_H

#include "compare/diff_links.h"
#include "compare/evidence.h"

#define CTX_BINS_LANES_MAX CTX_EVIDENCE_LANES_MAX

struct ctx_bins_spec {
	const struct ctx_diff_recording *recording; /* its streams and links */
	const uint32_t *row_of;			    /* by item: the row, below n_rows; CTX_NONE: not wanted */
	uint32_t n_rows;
	size_t n_bins;	 /* of a row; at least 1 */
	size_t n_load;	 /* of all lanes together, about; at least 1 */
	uint64_t weight; /* of all samples */
	double scale;	 /* by which weights are multiplied */
};

struct ctx_bins {	 /* owned by the caller (ctx_bins_deinit) */
	double *weights; /* by row, then by bin */
	size_t n_bins;	 /* of a row */
	uint32_t n_rows;
	double *load;	   /* by bin of the lanes */
	uint64_t width_ns; /* of a bin of the load */
	size_t lane_begin[CTX_BINS_LANES_MAX +
			  1]; /* in `load`: first bin of each lane, and the end of the last one */
	size_t n_lanes;
	uint64_t samples; /* that were read */
};

/*
 * Reads all samples of the recording's streams, and the waits for a processor. CTX_E_NOMEM and what the source
 * fails with. O(samples * items of each).
 */
CTX_MUST_CHECK enum ctx_status ctx_bins_fill(struct ctx_report_source *source,
					     const struct ctx_bins_spec *spec, struct ctx_bins *ret,
					     struct ctx_err *err);
void ctx_bins_deinit(struct ctx_bins *bins);

/* The n_bins of a row. */
static inline const double *ctx_bins_row(const struct ctx_bins *bins, uint32_t row)
{
	return bins->weights + (size_t)row * bins->n_bins;
}

/* The lanes of the load; n_lanes of them. */
void ctx_bins_lanes(const struct ctx_bins *bins, struct ctx_evidence_lane ret[CTX_BINS_LANES_MAX]);

#endif
