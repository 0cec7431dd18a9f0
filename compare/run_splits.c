#include "compare/run_splits.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define EQUAL (1 - 1e-9) /* of statistics: rounding makes no split smaller */

struct work {
	const struct ctx_run_splits_spec *spec;
	size_t n_runs;
	size_t *members; /* owned: recordings, those of side A of the split first */
	double *totals;	 /* owned: by row, of all recordings */
	double *seen;	 /* owned: by row, its statistic in the observed split */
	double *here;	 /* owned: by row, in the split that is looked at */
	size_t *order;	 /* owned: rows, the largest statistic first */
	size_t *counts;	 /* owned: by place in the order, splits that have as much there or behind */
	size_t n;	 /* splits that were looked at */
};

static enum ctx_status work_init(struct work *work, const struct ctx_run_splits_spec *spec,
				 struct ctx_err *err)
{
	*work = (struct work){.spec = spec, .n_runs = spec->n_runs[0] + spec->n_runs[1]};
	work->members = ctx_calloc(work->n_runs + 1, sizeof(*work->members));
	work->totals = ctx_calloc(spec->n + 1, sizeof(*work->totals));
	work->seen = ctx_calloc(spec->n + 1, sizeof(*work->seen));
	work->here = ctx_calloc(spec->n + 1, sizeof(*work->here));
	work->order = ctx_calloc(spec->n + 1, sizeof(*work->order));
	work->counts = ctx_calloc(spec->n + 1, sizeof(*work->counts));
	if (work->members == NULL || work->totals == NULL || work->seen == NULL || work->here == NULL ||
	    work->order == NULL || work->counts == NULL)
		return ctx_err_nomem(err);
	for (size_t run = 0; run < work->n_runs; run++) {
		work->members[run] = run;
		for (size_t row = 0; row < spec->n; row++)
			work->totals[row] += spec->sums[run * spec->stride + row];
	}
	return CTX_OK;
}

static void work_deinit(struct work *work)
{
	free(work->members);
	free(work->totals);
	free(work->seen);
	free(work->here);
	free(work->order);
	free(work->counts);
}

/* The statistics of the split whose side A are the first members. */
static void measure(const struct work *work, double *statistics)
{
	const struct ctx_run_splits_spec *spec = work->spec;
	double n_a = (double)spec->n_runs[0], n_b = (double)spec->n_runs[1];

	for (size_t row = 0; row < spec->n; row++)
		statistics[row] = 0;
	for (size_t i = 0; i < spec->n_runs[0]; i++) {
		const double *sums = spec->sums + work->members[i] * spec->stride;

		for (size_t row = 0; row < spec->n; row++)
			statistics[row] += sums[row];
	}
	for (size_t row = 0; row < spec->n; row++) {
		double difference = (work->totals[row] - statistics[row]) / n_b - statistics[row] / n_a;

		statistics[row] = spec->scale[row] > 0 ? fabs(difference) / spec->scale[row] : 0;
	}
}

static void count(struct work *work)
{
	double largest = 0;

	measure(work, work->here);
	for (size_t at = work->spec->n; at-- > 0;) {
		size_t row = work->order[at];

		largest = fmax(largest, work->here[row]);
		work->counts[at] += largest >= work->seen[row] * EQUAL;
	}
	work->n++;
}

/* As many as there are, no further than one more than the most. With sides of one size each is there twice. */
static size_t possible(const size_t n_runs[2])
{
	size_t few = n_runs[0] < n_runs[1] ? n_runs[0] : n_runs[1], n = n_runs[0] + n_runs[1];
	double ways = 1;

	for (size_t i = 0; i < few; i++)
		ways = ways * (double)(n - i) / (double)(i + 1);
	if (n_runs[0] == n_runs[1])
		ways /= 2;
	return ways <= CTX_RUN_SPLITS_MAX ? (size_t)llround(ways) : CTX_RUN_SPLITS_MAX + 1u;
}

/* The next combination of `k` of `n` in order; false: that was the last. */
static bool next_combination(size_t *chosen, size_t k, size_t n)
{
	size_t at = k;

	while (at > 0 && chosen[at - 1] == n - k + at - 1)
		at--;
	if (at == 0)
		return false;
	chosen[at - 1]++;
	for (; at < k; at++)
		chosen[at] = chosen[at - 1] + 1;
	return true;
}

/* All of them, from the observed one, which is the first in order. Of sides of one size recording 0 stays on A. */
static void count_all(struct work *work)
{
	bool halves = work->spec->n_runs[0] == work->spec->n_runs[1];
	bool more = true;

	while (more) {
		count(work);
		more = next_combination(work->members, work->spec->n_runs[0], work->n_runs) &&
		       (!halves || work->members[0] == 0);
	}
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void count_drawn(struct work *work)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	count(work);
	while (work->n < CTX_RUN_SPLITS_MAX) {
		for (size_t i = 0; i < work->spec->n_runs[0]; i++) {
			size_t other = i + (size_t)(draw(&state) % (work->n_runs - i)),
			       run = work->members[i];

			work->members[i] = work->members[other];
			work->members[other] = run;
		}
		count(work);
	}
}

static int by_statistic(const void *left, const void *right, void *context)
{
	const double *statistics = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;

	if (statistics[a] != statistics[b])
		return statistics[a] < statistics[b] ? 1 : -1;
	return (a > b) - (a < b);
}

enum ctx_status ctx_run_splits_judge(const struct ctx_run_splits_spec *spec, double *ret_p, size_t *ret_n,
				     struct ctx_err *err)
{
	struct work work;
	enum ctx_status status = work_init(&work, spec, err);
	double least = 0;

	if (status != CTX_OK) {
		work_deinit(&work);
		return status;
	}
	measure(&work, work.seen);
	for (size_t row = 0; row < spec->n; row++)
		work.order[row] = row;
	qsort_r(work.order, spec->n, sizeof(*work.order), by_statistic, work.seen);
	if (possible(spec->n_runs) <= CTX_RUN_SPLITS_MAX)
		count_all(&work);
	else
		count_drawn(&work);
	/* A row is judged only if those before it were: its p is no smaller than theirs. */
	for (size_t at = 0; at < spec->n; at++) {
		least = fmax(least, (double)work.counts[at] / (double)work.n);
		ret_p[work.order[at]] = least;
	}
	*ret_n = work.n;
	work_deinit(&work);
	return CTX_OK;
}
