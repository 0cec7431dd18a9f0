#include "report/figures.h"

#include <inttypes.h>
#include <stdio.h>

struct ctx_scale ctx_scale_for(enum ctx_unit unit, uint64_t largest)
{
	if (unit != CTX_UNIT_NS)
		return (struct ctx_scale){.unit = ctx_unit_word(unit), .divisor = 1, .digits = 0};
	if (largest < UINT64_C(100) * 1000 * 1000 * 1000)
		return (struct ctx_scale){.unit = "ms", .divisor = 1000 * 1000, .digits = 3};
	return (struct ctx_scale){.unit = "s", .divisor = 1000 * 1000 * 1000, .digits = 3};
}

/* numerator / denominator; the numerator may need more than 64 bits. */
static void put_fixed(char out[CTX_FIGURE_MAX], unsigned __int128 numerator, uint64_t denominator,
		      unsigned digits)
{
	uint64_t power = 1, whole;

	for (unsigned i = 0; i < digits; i++)
		power *= 10;
	numerator = (numerator * power + denominator / 2) / denominator;
	whole = (uint64_t)(numerator / power);
	if (digits == 0)
		snprintf(out, CTX_FIGURE_MAX, "%" PRIu64, whole);
	else
		snprintf(out, CTX_FIGURE_MAX, "%" PRIu64 ".%0*" PRIu64, whole, (int)digits,
			 (uint64_t)(numerator % power));
}

void ctx_figure_fixed(char out[CTX_FIGURE_MAX], uint64_t value, uint64_t divisor, unsigned digits)
{
	put_fixed(out, value, divisor, digits);
}

void ctx_figure_percent(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole, unsigned digits)
{
	put_fixed(out, whole != 0 ? (unsigned __int128)part * 100 : 0, whole != 0 ? whole : 1, digits);
}

void ctx_figure_share(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole)
{
	put_fixed(out, whole != 0 ? part : 1, whole != 0 ? whole : 1, 6);
}
