#include "report/strip_marks.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "report/names.h"
#include "report/order.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 6u /* names that are shown */

struct row {
	const char *text;
	uint32_t name;
	bool pauses;
	int32_t *intervals; /* by column: how many more intervals touch it than the one before */
	uint32_t *points;   /* by column */
};

/* The column of a time within the edges. */
static size_t column_at(const struct ctx_strip_columns *columns, uint64_t time_ns)
{
	size_t n = ctx_count_up_to_u64(columns->edges, columns->n, time_ns);

	return n != 0 ? n - 1 : 0;
}

static bool is_seen(const struct ctx_strip_columns *columns, const struct ctx_mark_span *span)
{
	return span->begin_ns < columns->edges[columns->n] && span->end_ns >= columns->edges[0];
}

static void note(const struct row *row, const struct ctx_strip_columns *columns,
		 const struct ctx_mark_span *span)
{
	uint64_t first_ns = columns->edges[0], last_ns = columns->edges[columns->n] - 1;
	uint64_t begin_ns = span->begin_ns > first_ns ? span->begin_ns : first_ns;
	uint64_t end_ns = span->end_ns < last_ns ? span->end_ns : last_ns;

	if (span->kind == CTX_MARK_IS_POINT) {
		row->points[column_at(columns, begin_ns)]++;
		return;
	}
	row->intervals[column_at(columns, begin_ns)]++;
	row->intervals[column_at(columns, end_ns) + 1]--;
}

static void print_row(const struct row *row, const struct ctx_strip_columns *columns, struct ctx_out *out)
{
	struct ctx_buf line CTX_AUTO_BUF = {0}, name CTX_AUTO_BUF = {0};
	int64_t open = 0;
	size_t width;

	ctx_name_put_text(&name, row->text, out->options->ascii);
	width = ctx_text_width((const char *)name.bytes, name.n);
	for (; width < columns->label_width; width++)
		ctx_buf_put_u8(&line, ' ');
	ctx_text_cut(&line, (const char *)name.bytes, name.n, columns->label_width, out->options->ascii);
	ctx_buf_put_u8(&line, ' ');
	for (size_t i = 0; i < columns->n; i++) {
		open += row->intervals[i];
		ctx_buf_put_u8(&line, row->points[i] != 0 ? '|' : open == 0 ? ' ' : row->pauses ? 'x' : '=');
	}
	while (line.n > 0 && line.bytes[line.n - 1] == ' ')
		line.n--;
	ctx_buf_put_u8(&line, '\0');
	if (line.failed || name.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		ctx_out_line(out, (const char *)line.bytes);
}

static void print_name(const struct ctx_mark_spans *spans, const struct ctx_strip_names *names,
		       const struct ctx_strip_columns *columns, uint32_t index, struct ctx_out *out)
{
	int32_t *intervals CTX_AUTO_FREE = ctx_calloc(columns->n + 1, sizeof(*intervals));
	uint32_t *points CTX_AUTO_FREE = ctx_calloc(columns->n, sizeof(*points));
	const struct row row = {.text = index < names->n ? names->items[index] : "paused",
				.name = index,
				.pauses = index == names->n,
				.intervals = intervals,
				.points = points};

	if (intervals == NULL || points == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < spans->n; i++) {
		const struct ctx_mark_span *span = &spans->items[i];

		if (is_seen(columns, span) &&
		    (row.pauses ? span->kind == CTX_MARK_IS_PAUSE
				: span->kind != CTX_MARK_IS_PAUSE && span->name == row.name))
			note(&row, columns, span);
	}
	print_row(&row, columns, out);
}

void ctx_strip_marks_print(const struct ctx_mark_spans *spans, const struct ctx_strip_names *names,
			   const struct ctx_strip_columns *columns, struct ctx_out *out)
{
	uint32_t n_names = names->n, n_seen = 0;
	/* By name, the last one for pauses: the time of intervals, points count one ns. */
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc((size_t)n_names + 1, sizeof(*items));

	if (items == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (uint32_t i = 0; i <= n_names; i++)
		items[i] = (struct ctx_order_item){.index = i};
	for (size_t i = 0; i < spans->n; i++) {
		const struct ctx_mark_span *span = &spans->items[i];
		uint32_t name = span->kind == CTX_MARK_IS_PAUSE ? n_names : span->name;

		if (name > n_names || !is_seen(columns, span))
			continue;
		n_seen += items[name].number == 0;
		items[name].number += span->end_ns - span->begin_ns + 1;
	}
	ctx_order_sort(items, (size_t)n_names + 1);
	for (uint32_t i = 0; i < n_seen && i < ROWS; i++)
		print_name(spans, names, columns, items[i].index, out);
	if (n_seen > ROWS)
		ctx_out_line(out,
			     ctx_out_format(out, "%*s (%u more %s)", (int)columns->label_width, "",
					    n_seen - ROWS, n_seen - ROWS == 1 ? names->one : names->more));
}

void ctx_strip_phases_print(const struct ctx_phase_group *phases, const struct ctx_strip_columns *columns,
			    struct ctx_out *out)
{
	struct ctx_buf line CTX_AUTO_BUF = {0};

	if (phases->n < 2)
		return;
	ctx_buf_printf(&line, "%*s ", (int)columns->label_width, "phase -i phase:B");
	for (size_t i = 0; i < columns->n; i++) {
		const struct ctx_phase *phase = ctx_phase_at(phases, columns->edges[i]);

		ctx_buf_put_u8(&line, (uint8_t)ctx_phase_mark(phase));
	}
	ctx_buf_put_u8(&line, '\0');
	if (line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		ctx_out_line(out, (const char *)line.bytes);
}
