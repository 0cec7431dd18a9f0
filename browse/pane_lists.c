/*
 * Lists in front of a pane: metrics to choose, the help, the warnings.
 */
#include "browse/pane.h"

#include "base/mem.h"
#include "browse/keys.h"
#include "report/figures.h"
#include "report/names.h"
#include "report/wrapping.h"

#include <stdlib.h>
#include <string.h>

/* ---- metrics ---- */

static enum ctx_status load_metrics(struct ctx_pane *pane, struct ctx_err *err)
{
	(void)err;
	pane->n_rows = pane->data->host->profile->n_metrics;
	return CTX_OK;
}

static void metrics_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	(void)pane;
	(void)width;
	ctx_buf_put_text(buf, "  In the whole run       Samples Metric (Enter selects, Esc leaves)");
}

static void put_metric(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct ctx_metric_info *metric = &pane->data->host->profile->metrics[row];
	struct ctx_scale scale = ctx_scale_for(metric->unit, metric->weight);
	struct ctx_buf name CTX_AUTO_BUF = {0};
	char figure[CTX_FIGURE_MAX], samples[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, metric->weight, scale.divisor, scale.digits);
	ctx_figure_fixed(samples, metric->samples, 1, 0);
	ctx_name_put_text(&name, metric->name, pane->data->ascii);
	if (metric->word != NULL && strcmp(metric->word, metric->name) != 0) {
		ctx_buf_put_text(&name, " (");
		ctx_name_put_text(&name, metric->word, pane->data->ascii);
		ctx_buf_put_text(&name, ")");
	}
	ctx_buf_printf(buf, "%15s %-6.6s %9s ", figure, scale.unit, samples);
	ctx_text_cut(buf, (const char *)name.bytes, name.n, width > 45 ? width - 33 : 12, pane->data->ascii);
}

static enum ctx_look look_of_metric(const struct ctx_pane *pane, size_t row)
{
	return row == pane->data->metric ? CTX_LOOK_HEADING : CTX_LOOK_PLAIN;
}

static size_t metric_now(const struct ctx_pane *pane)
{
	return pane->data->metric;
}

const struct ctx_pane_kind ctx_pane_metrics = {
	.title = "Metrics",
	.load = load_metrics,
	.heading = metrics_heading,
	.put = put_metric,
	.look = look_of_metric,
	.first = metric_now,
};

/* ---- help ---- */

/* The row of a line of the help; NULL: none. */
static const struct ctx_key_row *help_row(size_t line)
{
	for (size_t i = 0; i < ctx_n_key_rows; i++) {
		if (ctx_key_rows[i].help != NULL && line-- == 0)
			return &ctx_key_rows[i];
	}
	return NULL;
}

static enum ctx_status load_help(struct ctx_pane *pane, struct ctx_err *err)
{
	(void)err;
	while (help_row(pane->n_rows) != NULL)
		pane->n_rows++;
	return CTX_OK;
}

static void help_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	(void)pane;
	(void)width;
	ctx_buf_put_text(buf, "Keys (Esc leaves)");
}

static void put_help(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct ctx_key_row *at = help_row(row);

	(void)pane;
	(void)width;
	if (at != NULL)
		ctx_buf_printf(buf, "%-18s%s", at->shown, at->help);
}

const struct ctx_pane_kind ctx_pane_help = {
	.title = "Help", .load = load_help, .heading = help_heading, .put = put_help};

/* ---- warnings ---- */

#define NOTE_WIDTH 78u

struct notes {
	char **lines; /* owned, each too */
	size_t n, cap;
	bool failed;
};

static void take_line(void *context, const char *line, size_t n, unsigned indent)
{
	struct notes *notes = context;
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_buf_printf(&text, "%*s", (int)indent, "");
	ctx_buf_put(&text, line, n);
	if (text.failed || ctx_grow(&notes->lines, &notes->cap, notes->n + 1, NULL) != CTX_OK) {
		notes->failed = true;
		return;
	}
	notes->lines[notes->n] = ctx_memdup0(text.bytes, text.n);
	notes->failed |= notes->lines[notes->n] == NULL;
	notes->n += notes->lines[notes->n] != NULL;
}

static void close_notes(struct ctx_pane *pane)
{
	struct notes *notes = pane->impl;

	for (size_t i = 0; notes != NULL && i < notes->n; i++)
		free(notes->lines[i]);
	free(notes != NULL ? notes->lines : NULL);
	free(notes);
	pane->impl = NULL;
}

static enum ctx_status load_notes(struct ctx_pane *pane, struct ctx_err *err)
{
	const struct ctx_pane *functions = pane->data->functions;
	struct notes *notes;

	close_notes(pane);
	notes = pane->impl = ctx_calloc(1, sizeof(*notes));
	if (notes == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < ctx_pane_n_notes(functions); i++)
		ctx_text_wrap(ctx_pane_note(functions, i), NOTE_WIDTH, 2, take_line, notes);
	pane->n_rows = notes->n;
	if (notes->failed)
		return ctx_err_nomem(err);
	return notes->n != 0 ? CTX_OK : ctx_err_set(err, CTX_E_NOTFOUND, "no warnings");
}

static void notes_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	(void)pane;
	(void)width;
	ctx_buf_put_text(buf, "Warnings (Esc leaves)");
}

static void put_note(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct notes *notes = pane->impl;

	(void)width;
	ctx_buf_put_text(buf, notes->lines[row]);
}

const struct ctx_pane_kind ctx_pane_notes = {.title = "Warnings",
					     .load = load_notes,
					     .heading = notes_heading,
					     .put = put_note,
					     .close = close_notes};
