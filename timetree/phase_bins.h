/*
 * The samples of a run by bins of time and classes of call stacks, for finding phases.
 */
#ifndef CTX_TIMETREE_PHASE_BINS_H
#define CTX_TIMETREE_PHASE_BINS_H

#include "model/interval.h"
#include "model/sample.h"
#include "timetree/phase_classes.h"
#include "timetree/timetree.h"

struct ctx_phase_bins {
	struct ctx_interval span;		 /* what the bins divide into equal parts */
	const struct ctx_phase_classes *classes; /* borrowed */
	double *cells; /* owned; by bin and class; the first class is for ctx_phase_bins_find_idle */
	size_t n;
};

/*
 * The number of bins for so many samples: a power of two, at least 64, so that a bin is not longer than one and a
 * half percent of the run, and at most 1024, with two samples in the mean bin in between.
 */
size_t ctx_phase_bins_wanted(uint64_t samples);

/* `span` is not empty, `n` not 0. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_phase_bins_init(struct ctx_phase_bins *bins, struct ctx_interval span,
						   size_t n, const struct ctx_phase_classes *classes,
						   struct ctx_err *err);
void ctx_phase_bins_deinit(struct ctx_phase_bins *bins);

/*
 * Adds the samples of a time tree in a part of the span: of its nodes that are in one bin the lists, so that it reads as many nodes as
 * there are of the size of a bin, and leaves where these are larger. Fails as ctx_timetree_query does.
 */
CTX_MUST_CHECK enum ctx_status ctx_phase_bins_add_tree(struct ctx_phase_bins *bins,
						       const struct ctx_timetree_reader *reader,
						       struct ctx_interval window,
						       struct ctx_timetree_cost *cost, struct ctx_err *err);

/* Adds a sample; outside the span it is ignored. */
void ctx_phase_bins_add_sample(struct ctx_phase_bins *bins, const struct ctx_sample *sample);

/* Adds a span of time that weighs `count` samples: each bin gets its part. */
void ctx_phase_bins_add_span(struct ctx_phase_bins *bins, const struct ctx_sample *span, double count);

/* The interval of the bins from `begin` up to `end`. */
struct ctx_interval ctx_phase_bins_interval(const struct ctx_phase_bins *bins, size_t begin, size_t end);

/*
 * Finds stretches in which there is next to nothing: less than an eighth of what there is in the
 * busy ones, for a percent of the bins and 16 samples of busy ones at least. Their bins get samples of the class
 * CTX_PHASE_IDLE instead of those that are missing, so that idle time can be a phase.
 */
CTX_MUST_CHECK enum ctx_status ctx_phase_bins_find_idle(struct ctx_phase_bins *bins, struct ctx_err *err);

#endif
