#include "timetree/phase_code.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define CODE_BITS 3.0	/* which of CTX_PHASE_CODES */
#define LETTER_BITS 3.0 /* of a segment, beside its place: that it is there, and that it was looked for */

/* 0.25, 1, 4, ..., 1024. */
static double strength_of(size_t code)
{
	return ldexp(0.25, (int)(2 * code));
}

/* lgamma sets a global variable. */
static double ln_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

enum ctx_status ctx_phase_code_init(const struct ctx_phase_counts *counts, double dispersion,
				    struct ctx_phase_code *ret, struct ctx_err *err)
{
	size_t n = counts->n_classes, n_bins = counts->n_bins;
	struct ctx_phase_code code = {
		.n_bins = n_bins, .n_classes = n, .dispersion = dispersion > 1 ? dispersion : 1};
	double all = 0;

	code.sums = ctx_calloc((n_bins + 1) * n, sizeof(*code.sums));
	code.prior = ctx_calloc(n, sizeof(*code.prior));
	code.constants = ctx_calloc(CTX_PHASE_CODES * n, sizeof(*code.constants));
	if (code.sums == NULL || code.prior == NULL || code.constants == NULL) {
		ctx_phase_code_deinit(&code);
		return ctx_err_nomem(err);
	}
	for (size_t i = 0; i < n_bins * n; i++)
		code.sums[i + n] = code.sums[i] + counts->cells[i];
	for (size_t c = 0; c < n; c++)
		all += code.sums[n_bins * n + c];
	for (size_t c = 0; c < n && all > 0; c++)
		code.prior[c] = code.sums[n_bins * n + c] / all;
	for (size_t k = 0; k + 1 < CTX_PHASE_CODES; k++) {
		for (size_t c = 0; c < n; c++) {
			if (code.prior[c] > 0)
				code.constants[k * n + c] = ln_gamma(strength_of(k) * code.prior[c]);
		}
	}
	*ret = code;
	return CTX_OK;
}

void ctx_phase_code_deinit(struct ctx_phase_code *code)
{
	free(code->sums);
	free(code->prior);
	free(code->constants);
	*code = (struct ctx_phase_code){0};
}

void ctx_phase_code_counts(const struct ctx_phase_code *code, size_t begin, size_t end, double *ret)
{
	const double *low = code->sums + begin * code->n_classes, *high = code->sums + end * code->n_classes;

	for (size_t c = 0; c < code->n_classes; c++)
		ret[c] = high[c] - low[c];
}

/* With one A, in nats. */
static double nats_of(const struct ctx_phase_code *code, const double *counts, size_t k)
{
	const double *constants = code->constants + k * code->n_classes;
	double strength = strength_of(k), n = 0, nats = 0;

	for (size_t c = 0; c < code->n_classes; c++) {
		double count = counts[c] / code->dispersion;

		if (count <= 0)
			continue;
		nats -= ln_gamma(count + strength * code->prior[c]) - constants[c];
		n += count;
	}
	return nats + ln_gamma(n + strength) - ln_gamma(strength);
}

double ctx_phase_code_bits(const struct ctx_phase_code *code, const double *counts)
{
	double best = 0;

	for (size_t c = 0; c < code->n_classes; c++) {
		if (counts[c] > 0)
			best -= counts[c] / code->dispersion * log(code->prior[c]);
	}
	for (size_t k = 0; k + 1 < CTX_PHASE_CODES; k++) {
		double nats = nats_of(code, counts, k);

		best = nats < best ? nats : best;
	}
	return best / log(2) + CODE_BITS;
}

double ctx_phase_code_border(const struct ctx_phase_code *code)
{
	return log2((double)code->n_bins) + LETTER_BITS;
}

double ctx_phase_code_segment(const struct ctx_phase_code *code, size_t begin, size_t end)
{
	double counts[CTX_PHASE_CLASSES];

	ctx_phase_code_counts(code, begin, end, counts);
	return ctx_phase_code_bits(code, counts) + ctx_phase_code_border(code);
}

double ctx_phase_divergence(const double *a, const double *b, size_t n_classes, double dispersion)
{
	double n_a = 0, n_b = 0, bits = 0, kept = -1;

	for (size_t c = 0; c < n_classes; c++) {
		n_a += a[c];
		n_b += b[c];
		kept += a[c] + b[c] > 0;
	}
	if (n_a <= 0 || n_b <= 0)
		return 0;
	for (size_t c = 0; c < n_classes; c++) {
		double p = a[c] / n_a, q = b[c] / n_b, middle = (p + q) / 2;

		bits += p > 0 ? p * log2(p / middle) / 2 : 0;
		bits += q > 0 ? q * log2(q / middle) / 2 : 0;
	}
	bits -= kept * dispersion * (1 / n_a + 1 / n_b) / (8 * log(2));
	return bits > 0 ? bits : 0;
}
