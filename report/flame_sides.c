#include "report/flame_sides.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define NEUTRAL 0xeeeeeeu
#define LEAST 0.12 /* of the way to the strongest colour, of what changed at all */

struct ctx_flame_sides {
	uint64_t (*cum)[2]; /* owned; by stack: A's and B's, with all below it */
	double largest;	    /* change */
};

enum ctx_status ctx_flame_sides_make(const struct ctx_export_input *input, struct ctx_flame_sides **ret,
				     struct ctx_err *err)
{
	const struct ctx_trie *cct = &input->profile->cct;
	struct ctx_flame_sides *sides = ctx_calloc(1, sizeof(*sides));
	struct ctx_report_parts parts;
	enum ctx_status status = input->source->parts(
		input->source, &(struct ctx_parts_query){.per_thread = true}, &parts, err);

	if (sides != NULL)
		sides->cum = ctx_calloc((size_t)cct->n + 1, sizeof(*sides->cum));
	if (status == CTX_OK && (sides == NULL || sides->cum == NULL))
		status = ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_flame_sides_destroy(sides);
		return status;
	}
	for (size_t side = 0; side < 2 && side < parts.n; side++) {
		const struct ctx_histogram *histogram = parts.parts[side].histograms;

		for (size_t i = 0; i < histogram->n; i++)
			sides->cum[histogram->entries[i].stack][side] += histogram->entries[i].weight;
	}
	for (uint32_t node = cct->n; node-- > 0;) {
		double change = (double)sides->cum[node][1] - (double)sides->cum[node][0];

		sides->largest = fmax(sides->largest, fabs(change));
		if (node == 0)
			break;
		sides->cum[cct->parent[node]][0] += sides->cum[node][0];
		sides->cum[cct->parent[node]][1] += sides->cum[node][1];
	}
	*ret = sides;
	return CTX_OK;
}

void ctx_flame_sides_destroy(struct ctx_flame_sides *sides)
{
	if (sides == NULL)
		return;
	free(sides->cum);
	free(sides);
}

static uint32_t mixed(uint32_t from, uint32_t to, double share)
{
	uint32_t color = 0;

	for (int shift = 16; shift >= 0; shift -= 8) {
		double a = from >> shift & 255, b = to >> shift & 255;

		color |= (uint32_t)lround(a + (b - a) * share) << shift;
	}
	return color;
}

uint32_t ctx_flame_sides_color(const struct ctx_flame_sides *sides, uint32_t stack)
{
	double change = (double)sides->cum[stack][1] - (double)sides->cum[stack][0];

	if (change == 0)
		return NEUTRAL;
	return mixed(NEUTRAL, change > 0 ? CTX_FLAME_MORE_COLOR : CTX_FLAME_LESS_COLOR,
		     LEAST + (1 - LEAST) * fabs(change) / sides->largest);
}

static void put_weight(struct ctx_buf *buf, uint64_t weight, const struct ctx_scale *scale)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, weight, scale->divisor, scale->digits);
	ctx_buf_printf(buf, "%s%s%s", figure, *scale->unit != '\0' ? " " : "", scale->unit);
}

void ctx_flame_sides_put(const struct ctx_flame_sides *sides, uint32_t stack, const struct ctx_scale *scale,
			 struct ctx_buf *buf)
{
	uint64_t a = sides->cum[stack][0], b = sides->cum[stack][1];

	ctx_buf_put_text(buf, "A ");
	put_weight(buf, a, scale);
	ctx_buf_put_text(buf, ", B ");
	put_weight(buf, b, scale);
	ctx_buf_put_text(buf, b < a ? ": -" : ": +");
	put_weight(buf, b < a ? a - b : b - a, scale);
	if (sides->cum[0][0] != 0)
		ctx_buf_printf(buf, ", %+.2f points of A's total",
			       100 * ((double)b - (double)a) / (double)sides->cum[0][0]);
}

void ctx_flame_sides_put_summary(const struct ctx_flame_sides *sides, const struct ctx_scale *scale,
				 struct ctx_buf *buf)
{
	ctx_flame_sides_put(sides, 0, scale, buf);
	ctx_buf_put_text(buf, " | width: the mean of both sides");
}
