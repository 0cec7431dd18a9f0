#include "report/rule_evidence.h"

#include "base/mem.h"
#include "compare/diff.h"

#include <math.h>

#define TESTED_SHARE 0.001

static void set_means(const struct ctx_rule_sums *sums, size_t row, struct ctx_rule_figure *figure)
{
	size_t n = sums->n_runs[CTX_COMPARE_A] + sums->n_runs[CTX_COMPARE_B];

	for (size_t run = 0; run < n; run++) {
		size_t side = run < sums->n_runs[CTX_COMPARE_A] ? CTX_COMPARE_A : CTX_COMPARE_B;

		figure->value[side] += sums->values[row * n + run] / (double)sums->n_runs[side];
	}
}

/* Of the difference of the means; recordings that are all equal are certain. */
static struct ctx_evidence test(const struct ctx_rule_sums *sums, size_t row,
				const struct ctx_rule_figure *figure)
{
	double n_a = (double)sums->n_runs[CTX_COMPARE_A], n_b = (double)sums->n_runs[CTX_COMPARE_B];
	size_t n = sums->n_runs[CTX_COMPARE_A] + sums->n_runs[CTX_COMPARE_B];
	double change = figure->value[CTX_COMPARE_B] - figure->value[CTX_COMPARE_A], squares = 0;

	for (size_t run = 0; run < n; run++) {
		size_t side = run < sums->n_runs[CTX_COMPARE_A] ? CTX_COMPARE_A : CTX_COMPARE_B;
		double away = sums->values[row * n + run] - figure->value[side];

		squares += away * away;
	}
	if (n > CTX_COMPARE_SIDES && squares == 0)
		return (struct ctx_evidence){
			.change = change, .low = change, .high = change, .p = change == 0 ? 1 : 0};
	return ctx_evidence_of(change, squares / (n_a + n_b - 2) * (1 / n_a + 1 / n_b), n_a + n_b - 2);
}

static enum ctx_verdict verdict_of(const struct ctx_rule_figure *figure)
{
	if (figure->value[CTX_COMPARE_B] > figure->value[CTX_COMPARE_A])
		return figure->value[CTX_COMPARE_A] == 0 ? CTX_VERDICT_NEW : CTX_VERDICT_SLOWER;
	return figure->value[CTX_COMPARE_B] == 0 ? CTX_VERDICT_GONE : CTX_VERDICT_FASTER;
}

/* The evidence of those that are tested, by row; p of the tested ones. */
struct tests {
	double *p;
	size_t *row_of;
	bool *keep;
	size_t n;
};

static void test_rows(const struct ctx_rule_sums *sums, const struct ctx_rule_row *rows, size_t at,
		      struct tests *tests)
{
	double whole[CTX_COMPARE_SIDES] = {0}, least;

	for (size_t row = 0; row < sums->n && sums->selects; row++) {
		for (size_t side = 0; side < CTX_COMPARE_SIDES; side++)
			whole[side] += rows[row].figures[at].value[side];
	}
	least = TESTED_SHARE * fmax(whole[CTX_COMPARE_A], whole[CTX_COMPARE_B]);
	for (size_t row = 0; row < sums->n; row++) {
		struct ctx_rule_figure *figure = &rows[row].figures[at];
		struct ctx_evidence evidence;

		figure->verdict = ctx_verdict_word(CTX_VERDICT_NONE);
		if (fmax(figure->value[CTX_COMPARE_A], figure->value[CTX_COMPARE_B]) < least)
			continue;
		evidence = test(sums, row, figure);
		if (isfinite(evidence.low) && isfinite(evidence.high)) {
			figure->low = evidence.low;
			figure->high = evidence.high;
			figure->p = evidence.p;
		}
		tests->p[tests->n] = evidence.p;
		tests->row_of[tests->n++] = row;
	}
}

enum ctx_status ctx_rule_sums_judge(const struct ctx_rule_sums *sums, const struct ctx_rule_row *rows,
				    size_t at, struct ctx_err *err)
{
	double *p CTX_AUTO_FREE = ctx_calloc(sums->n + 1, sizeof(*p));
	size_t *row_of CTX_AUTO_FREE = ctx_calloc(sums->n + 1, sizeof(*row_of));
	bool *keep CTX_AUTO_FREE = ctx_calloc(sums->n + 1, sizeof(*keep));
	struct tests tests = {p, row_of, keep, 0};
	enum ctx_status status;

	if (p == NULL || row_of == NULL || keep == NULL)
		return ctx_err_nomem(err);
	for (size_t row = 0; row < sums->n; row++)
		set_means(sums, row, &rows[row].figures[at]);
	if (sums->n_runs[CTX_COMPARE_A] == 0)
		return CTX_OK;
	test_rows(sums, rows, at, &tests);
	status = ctx_evidence_keep(p, tests.n, CTX_DIFF_RATE, keep, err);
	for (size_t i = 0; i < tests.n && status == CTX_OK; i++) {
		struct ctx_rule_figure *figure = &rows[row_of[i]].figures[at];

		if (keep[i])
			figure->verdict = ctx_verdict_word(verdict_of(figure));
	}
	return status;
}
