#include "report/out_backend.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void ctx_out_fail(struct ctx_out *out, enum ctx_status status)
{
	if (out->status == CTX_OK)
		out->status = status;
}

const char *ctx_out_format(struct ctx_out *out, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = n >= 0 ? ctx_arena_alloc(&out->arena, (size_t)n + 1) : NULL;
	if (text == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return "";
	}
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}

bool ctx_out_in_group(const struct ctx_out *out, size_t column)
{
	return out->groups != NULL && out->groups[column] != NULL;
}

/* Columns of a group have their own scale. */
static const struct ctx_scale *scale_of(const struct ctx_out *out, size_t column)
{
	return ctx_out_in_group(out, column) && out->scales != NULL ? &out->scales[column] : &out->head.scale;
}

uint64_t ctx_out_whole(const struct ctx_out *out)
{
	return out->has_part ? out->part_weight : out->head.totals.weight;
}

void ctx_out_put_figure(const struct ctx_out *out, size_t column, const struct ctx_cell *cell,
			struct ctx_buf *buf)
{
	enum ctx_style style = out->columns[column].style;
	char figure[CTX_FIGURE_MAX];

	if (cell->kind == CTX_CELL_FIGURE) {
		ctx_buf_put_text(buf, cell->name);
		return;
	}
	if (cell->kind == CTX_CELL_SIGNED && style == CTX_STYLE_WEIGHT) {
		int64_t number = (int64_t)cell->number;

		ctx_buf_put_text(buf, number < 0 ? "-" : number > 0 ? "+" : "");
		ctx_figure_fixed(figure, number < 0 ? 0 - (uint64_t)number : (uint64_t)number,
				 scale_of(out, column)->divisor, scale_of(out, column)->digits);
	} else if (cell->kind == CTX_CELL_SIGNED) {
		snprintf(figure, sizeof(figure), "%" PRId64, (int64_t)cell->number);
	} else if (style == CTX_STYLE_WEIGHT) {
		const struct ctx_scale *scale = scale_of(out, column);

		ctx_figure_fixed(figure, cell->number, scale->divisor, scale->digits);
	} else if (style == CTX_STYLE_PERCENT) {
		ctx_figure_percent(figure, cell->number, ctx_out_whole(out), 2);
	} else if (style == CTX_STYLE_TIME) {
		ctx_figure_fixed(figure, cell->number, 1000 * 1000, 3);
	} else if (style == CTX_STYLE_BYTES) {
		ctx_figure_fixed(figure, cell->number, 1024 * 1024, 1);
	} else {
		snprintf(figure, sizeof(figure), "%" PRIu64, cell->number);
	}
	ctx_buf_put_text(buf, figure);
}
