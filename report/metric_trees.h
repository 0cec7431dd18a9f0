/*
 * Call trees of several metrics over the same nodes: the union of the metrics' nodes.
 */
#ifndef CTX_REPORT_METRIC_TREES_H
#define CTX_REPORT_METRIC_TREES_H

#include "calltree/calltree.h"
#include "model/profile.h"
#include "model/report_data.h"

#include <stdbool.h>

/*
 * trees[i] is built from histograms[i] of the part: node by node the same call stacks, each tree
 * with the values of its own metric. Siblings are sorted by descending cum of the first metric,
 * then of the second, and so on; those with less than `small_percent` of the total in every metric
 * come last. `trees` has room for n_metrics, which is not 0. O(nodes * metrics).
 */
struct ctx_metric_trees_input {
	const struct ctx_profile *profile;
	const struct ctx_report_part *part;
	size_t n_metrics; /* histograms of the part */
	double small_percent;
};

CTX_MUST_CHECK enum ctx_status ctx_metric_trees_build(const struct ctx_metric_trees_input *input,
						      struct ctx_calltree *trees, struct ctx_err *err);

/* Whether a node has less than `percent` of the total in each of `n` trees. */
bool ctx_metric_trees_is_small(const struct ctx_calltree *trees, size_t n, uint32_t node, double percent);

#endif
