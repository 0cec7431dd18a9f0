#include "compare/runs.h"

#include "base/mem.h"
#include "compare/moderation.h"

#include <math.h>

static double mean_of(const struct ctx_runs_row *row, const size_t n_runs[2])
{
	return (row->mean[0] * (double)n_runs[0] + row->mean[1] * (double)n_runs[1]) /
	       (double)(n_runs[0] + n_runs[1]);
}

/* By how much runs differ, as a squared share of the sum: what the blocks do not explain. Heavy rows say most. */
static double squared_share(const struct ctx_runs_row *rows, size_t n, const size_t n_runs[2])
{
	double more = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double mean = mean_of(&rows[i], n_runs);

		if (rows[i].apart)
			continue;
		more += rows[i].variance - rows[i].within;
		squares += mean * mean;
	}
	return more > 0 && squares > 0 ? more / squares : 0;
}

enum ctx_status ctx_runs_judge(const struct ctx_runs_row *rows, size_t n, const size_t n_runs[2],
			       struct ctx_evidence *ret, struct ctx_err *err)
{
	double share = squared_share(rows, n, n_runs), df = (double)(n_runs[0] + n_runs[1] - 2);
	double *expected CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*expected));
	double *ratios CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*ratios));
	const struct ctx_moderation alone = {.scale = 1};
	struct ctx_moderation moderation;

	if (expected == NULL || ratios == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		double mean = mean_of(&rows[i], n_runs);

		expected[i] = rows[i].within + share * mean * mean;
		ratios[i] = rows[i].apart || expected[i] <= 0 ? 0 : rows[i].variance / expected[i];
	}
	moderation = ctx_moderation_fit(ratios, n, df);
	for (size_t i = 0; i < n; i++) {
		double row_df, variance;

		variance = ctx_moderation_variance(rows[i].apart ? &alone : &moderation, rows[i].variance,
						   expected[i], df, &row_df);
		ret[i] = ctx_evidence_of(rows[i].mean[1] - rows[i].mean[0],
					 variance * (1 / (double)n_runs[0] + 1 / (double)n_runs[1]), row_df);
	}
	return CTX_OK;
}
