#include "compare/runs.h"

#include "base/mem.h"
#include "compare/moderation.h"
#include "compare/run_splits.h"

#include <math.h>

#define LEVEL 0.05

static double mean_of(const struct ctx_runs_row *row, const size_t n_runs[2])
{
	return (row->mean[0] * (double)n_runs[0] + row->mean[1] * (double)n_runs[1]) /
	       (double)(n_runs[0] + n_runs[1]);
}

/* By how much runs differ, as a squared share of the sum: what the blocks do not explain. Heavy rows say most. */
static double squared_share(const struct ctx_runs *runs)
{
	double more = 0, squares = 0;

	for (size_t i = 0; i < runs->n; i++) {
		double mean = mean_of(&runs->rows[i], runs->n_runs);

		if (runs->rows[i].apart)
			continue;
		more += runs->rows[i].variance - runs->rows[i].within;
		squares += mean * mean;
	}
	return more > 0 && squares > 0 ? more / squares : 0;
}

/* Variances with `df` degrees of freedom, moderated. `variances` and `dfs` have room for all rows. */
static enum ctx_status moderate(const struct ctx_runs *runs, double df, double *variances, double *dfs,
				struct ctx_err *err)
{
	double share = squared_share(runs);
	double *expected CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*expected));
	double *ratios CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*ratios));
	const struct ctx_moderation alone = {.scale = 1};
	struct ctx_moderation moderation;

	if (expected == NULL || ratios == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < runs->n; i++) {
		const struct ctx_runs_row *row = &runs->rows[i];
		double mean = mean_of(row, runs->n_runs);

		expected[i] = row->within + share * mean * mean;
		ratios[i] = row->apart || expected[i] <= 0 ? 0 : row->variance / expected[i];
	}
	moderation = ctx_moderation_fit(ratios, runs->n, df);
	for (size_t i = 0; i < runs->n; i++)
		variances[i] = ctx_moderation_variance(runs->rows[i].apart ? &alone : &moderation,
						       runs->rows[i].variance, expected[i], df, &dfs[i]);
	return CTX_OK;
}

enum ctx_status ctx_runs_judge(const struct ctx_runs *runs, struct ctx_evidence *ret, struct ctx_err *err)
{
	double *variances CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*variances));
	double *dfs CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*dfs));
	double n_a = (double)runs->n_runs[0], n_b = (double)runs->n_runs[1];
	enum ctx_status status;

	if (variances == NULL || dfs == NULL)
		return ctx_err_nomem(err);
	status = moderate(runs, n_a + n_b - 2, variances, dfs, err);
	for (size_t i = 0; i < runs->n && status == CTX_OK; i++)
		ret[i] = ctx_evidence_of(runs->rows[i].mean[1] - runs->rows[i].mean[0],
					 variances[i] * (1 / n_a + 1 / n_b), dfs[i]);
	return status;
}

/* The variance of all recordings about the mean of all, which no split changes. */
static double united_variance(const struct ctx_runs *runs, size_t row)
{
	double mean = mean_of(&runs->rows[row], runs->n_runs), squares = 0;
	size_t n_all = runs->n_runs[0] + runs->n_runs[1];

	for (size_t run = 0; run < n_all; run++) {
		double away = runs->sums[run * runs->n + row] - mean;

		squares += away * away;
	}
	return fmax(squares / (double)(n_all - 1), runs->quantum * runs->quantum);
}

static enum ctx_status split(const struct ctx_run_splits_spec *rows, double *ret_p, size_t *ret_n_splits,
			     struct ctx_err *err)
{
	struct ctx_run_splits_spec last = *rows;
	enum ctx_status status = ctx_run_splits_judge(rows, ret_p, ret_n_splits, err);

	last.sums += rows->n;
	last.scale += rows->n;
	last.n = 1;
	return status == CTX_OK ? ctx_run_splits_judge(&last, ret_p + rows->n, ret_n_splits, err) : status;
}

enum ctx_status ctx_runs_split(const struct ctx_runs *runs, double *ret_p, size_t *ret_n_splits,
			       struct ctx_err *err)
{
	struct ctx_runs_row *rows CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*rows));
	double *scales CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*scales));
	double *dfs CTX_AUTO_FREE = ctx_calloc(runs->n + 1, sizeof(*dfs));
	struct ctx_runs united = *runs;
	enum ctx_status status;

	if (rows == NULL || scales == NULL || dfs == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < runs->n; i++) {
		rows[i] = runs->rows[i];
		rows[i].variance = united_variance(runs, i);
	}
	united.rows = rows;
	status = moderate(&united, (double)(runs->n_runs[0] + runs->n_runs[1] - 1), scales, dfs, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < runs->n; i++)
		scales[i] = sqrt(scales[i]);
	return split(&(struct ctx_run_splits_spec){.sums = runs->sums,
						   .stride = runs->n,
						   .n = runs->n - 1,
						   .n_runs = {runs->n_runs[0], runs->n_runs[1]},
						   .scale = scales},
		     ret_p, ret_n_splits, err);
}

double ctx_runs_level(size_t n_splits)
{
	return fmax(LEVEL, 1 / (double)n_splits);
}
