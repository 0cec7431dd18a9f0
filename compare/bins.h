/*
 * Bins: the weight of some items of a recording by time, as lanes for compare/evidence.h.
 *
 * The heaviest threads have a lane each, all others share one. A lane is the selected time in which its thread
 * lived, cut into bins of the same length.
 */
#ifndef CTX_COMPARE_BINS_H
#define CTX_COMPARE_BINS_H

#include "compare/evidence.h"
#include "model/report_source.h"

#define CTX_BINS_LANES_MAX 16u

struct ctx_bins_spec {
	const uint32_t *row_of; /* by function id: the row, below n_rows; CTX_NONE: not wanted */
	uint32_t n_rows;
	size_t n_bins; /* of all lanes together, about; at least 1 */
	bool total;    /* the time in the item and what it called; else its own time */
};

struct ctx_bins {	 /* owned by the caller (ctx_bins_deinit) */
	double *weights; /* by row, then by bin; the last row has everything */
	size_t n_bins;	 /* of a row */
	uint32_t n_rows;
	uint64_t width_ns;
	size_t lane_begin[CTX_BINS_LANES_MAX + 1]; /* first bin of each lane, and the end of the last one */
	size_t n_lanes;
	uint64_t samples; /* that were read */
};

/*
 * Reads all samples of the source's selection, of its first metric. CTX_E_NOMEM and what the source fails
 * with.
 */
CTX_MUST_CHECK enum ctx_status ctx_bins_fill(struct ctx_report_source *source,
					     const struct ctx_bins_spec *spec, struct ctx_bins *ret,
					     struct ctx_err *err);
void ctx_bins_deinit(struct ctx_bins *bins);

/* The lanes of a row; n_lanes of them. */
void ctx_bins_lanes(const struct ctx_bins *bins, uint32_t row,
		    struct ctx_evidence_lane ret[CTX_BINS_LANES_MAX]);

#endif
