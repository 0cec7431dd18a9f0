/*
 * Functions of the interval beside those of a base: shares of each interval's total, and their
 * difference in points. The largest change comes first.
 */
#include "browse/pane.h"

#include "base/mem.h"
#include "calltree/calltree.h"
#include "report/cell_text.h"
#include "report/figures.h"
#include "report/part_cells.h"

#include <stdlib.h>

struct row {
	uint32_t function;
	uint64_t now, base; /* exclusive weight */
	double change;	    /* points */
};

struct compare {
	struct row *rows; /* by function while they are filled; then in order */
	size_t n;
	uint64_t now, base; /* totals */
};

static struct compare *compare_of(const struct ctx_pane *pane)
{
	return pane->impl;
}

static enum ctx_status flat_of(struct ctx_report_source *source, const struct ctx_profile *profile,
			       struct ctx_flat *ret, struct ctx_err *err)
{
	struct ctx_report_parts parts;
	struct ctx_calltree tree;
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);

	if (status == CTX_OK)
		status = ctx_calltree_build(&profile->cct, profile->n_functions,
					    &parts.parts[0].histograms[0], &tree, err);
	if (status != CTX_OK)
		return status;
	status = ctx_flat_build(&tree, ret, err);
	ctx_calltree_deinit(&tree);
	return status;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

static double size_of(double change)
{
	return change < 0 ? -change : change;
}

static int by_change(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (size_of(a->change) != size_of(b->change))
		return size_of(a->change) > size_of(b->change) ? -1 : 1;
	if (a->now != b->now)
		return a->now > b->now ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static void sort_rows(struct compare *compare, uint32_t n_functions)
{
	for (uint32_t i = 0; i < n_functions; i++) {
		struct row row = compare->rows[i];

		if (row.now == 0 && row.base == 0)
			continue;
		row.change = share(row.now, compare->now) - share(row.base, compare->base);
		compare->rows[compare->n++] = row;
	}
	if (compare->n != 0)
		qsort(compare->rows, compare->n, sizeof(*compare->rows), by_change);
}

static enum ctx_status fill(struct ctx_pane *pane, struct ctx_report_source *base, struct ctx_err *err)
{
	const struct ctx_profile *profile = pane->data->host->profile;
	struct ctx_flat now CTX_CLEANUP(ctx_flat_deinit) = {0}, before CTX_CLEANUP(ctx_flat_deinit) = {0};
	struct compare *compare = compare_of(pane);
	struct ctx_report_source *source;
	enum ctx_status status = ctx_browse_data_source(pane->data, &source, err);

	if (status == CTX_OK)
		status = flat_of(source, profile, &now, err);
	if (status == CTX_OK)
		status = flat_of(base, profile, &before, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_functions; i++)
		compare->rows[i].function = i;
	for (uint32_t i = 0; i < now.n; i++) {
		if (now.rows[i].function < profile->n_functions)
			compare->rows[now.rows[i].function].now = now.rows[i].base;
	}
	for (uint32_t i = 0; i < before.n; i++) {
		if (before.rows[i].function < profile->n_functions)
			compare->rows[before.rows[i].function].base = before.rows[i].base;
	}
	compare->now = now.weight;
	compare->base = before.weight;
	sort_rows(compare, profile->n_functions);
	return CTX_OK;
}

static void close_compare(struct ctx_pane *pane)
{
	if (pane->impl != NULL)
		free(compare_of(pane)->rows);
	free(pane->impl);
	pane->impl = NULL;
}

static enum ctx_status load(struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_report_source *base;
	enum ctx_status status;

	close_compare(pane);
	pane->impl = ctx_calloc(1, sizeof(struct compare));
	if (pane->impl == NULL)
		return ctx_err_nomem(err);
	compare_of(pane)->rows =
		ctx_calloc((size_t)pane->data->host->profile->n_functions + 1, sizeof(struct row));
	if (compare_of(pane)->rows == NULL)
		return ctx_err_nomem(err);
	status = ctx_browse_data_open(pane->data, pane->data->base, &base, err);
	if (status != CTX_OK)
		return status;
	status = fill(pane, base, err);
	pane->data->host->close(pane->data->host->context, base);
	pane->n_rows = compare_of(pane)->n;
	return status;
}

static void heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	(void)pane;
	(void)width;
	ctx_buf_put_text(buf, " Self %  Base %  Points Name");
}

static void put(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct compare *compare = compare_of(pane);
	const struct row *at = &compare->rows[row];
	struct ctx_cell cell = ctx_function_cell(pane->data->host->profile, at->function);
	char now[CTX_FIGURE_MAX], base[CTX_FIGURE_MAX];

	ctx_figure_percent(now, at->now, compare->now, 2);
	ctx_figure_percent(base, at->base, compare->base, 2);
	ctx_buf_printf(buf, "%7s %7s %+7.2f ", now, base, at->change);
	ctx_cell_put_text(buf, &cell, CTX_STYLE_NAME, width > 36 ? width - 24 : 12, pane->data->ascii);
}

static enum ctx_look look(const struct ctx_pane *pane, size_t row)
{
	double change = compare_of(pane)->rows[row].change;

	return change >= 1 ? CTX_LOOK_MORE : change <= -1 ? CTX_LOOK_LESS : CTX_LOOK_PLAIN;
}

static uint32_t function(const struct ctx_pane *pane, size_t row)
{
	return compare_of(pane)->rows[row].function;
}

static uint64_t id(const struct ctx_pane *pane, size_t row)
{
	return compare_of(pane)->rows[row].function;
}

const struct ctx_pane_kind ctx_pane_compare = {
	.title = "Functions",
	.load = load,
	.heading = heading,
	.put = put,
	.look = look,
	.function = function,
	.id = id,
	.close = close_compare,
};
