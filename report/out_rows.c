/*
 * Rows: cells are copied; numbers become text when a row is shown.
 */
#include "report/rows.h"

#include "base/mem.h"
#include "report/cell_text.h"
#include "report/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED ((size_t)1 << 20)
#define MIN_NAME_WIDTH 12u

static struct ctx_rows *rows_of(const struct ctx_out *out)
{
	return out->options->rows;
}

static const char *keep(struct ctx_out *out, const char *text)
{
	const char *copy = text != NULL ? ctx_arena_strdup(&rows_of(out)->arena, text) : NULL;

	if (copy == NULL && text != NULL)
		ctx_out_fail(out, CTX_E_NOMEM);
	return copy;
}

static const char *keep_safe(struct ctx_out *out, const char *text)
{
	struct ctx_buf safe CTX_AUTO_BUF = {0};

	ctx_name_put_text(&safe, text, out->options->ascii);
	ctx_buf_put_u8(&safe, '\0');
	if (safe.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	return safe.failed ? NULL : keep(out, (const char *)safe.bytes);
}

static void keep_note(void *context, const char *text)
{
	struct ctx_out *out = context;
	struct ctx_rows *rows = rows_of(out);

	if (ctx_grow(&rows->notes, &rows->notes_cap, rows->n_notes + 1, NULL) != CTX_OK)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		rows->notes[rows->n_notes++] = keep_safe(out, text);
}

static void put_title(const struct ctx_column *column, const struct ctx_scale *scale, char *ret, size_t size)
{
	if (column->style == CTX_STYLE_WEIGHT && *column->title != '\0' && *scale->unit != '\0')
		snprintf(ret, size, "%s %s", column->title, scale->unit);
	else
		snprintf(ret, size, "%s", column->title);
}

static void begin(struct ctx_out *out)
{
	struct ctx_rows *rows = rows_of(out);

	ctx_rows_deinit(rows);
	rows->ascii = out->options->ascii;
	rows->scale = out->head.scale;
	rows->weight = out->head.totals.weight;
	rows->samples = out->head.totals.samples;
	rows->columns = ctx_calloc(out->n_columns + 1, sizeof(*rows->columns));
	if (rows->columns == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < out->n_columns; i++) {
		struct ctx_rows_column *column = &rows->columns[rows->n_columns];

		if (out->columns[i].title == NULL)
			continue;
		column->at = i;
		put_title(&out->columns[i], &out->head.scale, column->title, sizeof(column->title));
		column->width = strlen(column->title);
		rows->n_columns++;
	}
	ctx_head_warnings(&out->head, keep_note, out);
}

static size_t text_columns(const struct ctx_buf *text, size_t from)
{
	return text->failed || text->n == from
		       ? 0
		       : ctx_text_width((const char *)text->bytes + from, text->n - from);
}

static void put_cell(const struct ctx_out *out, size_t at, const struct ctx_cell *cell, size_t width,
		     struct ctx_buf *buf)
{
	if (cell->kind == CTX_CELL_NAME)
		ctx_cell_put_text(buf, cell, out->columns[at].style, width, out->options->ascii);
	else if (cell->kind == CTX_CELL_BOOL)
		ctx_buf_put_text(buf, cell->number != 0 ? "true" : "false");
	else if (cell->kind == CTX_CELL_NUMBER || cell->kind == CTX_CELL_SIGNED ||
		 cell->kind == CTX_CELL_FIGURE)
		ctx_out_put_figure(out, at, cell, buf);
}

/* A number is as wide as a larger one, or less. */
static void widen(struct ctx_out *out, struct ctx_rows_column *column, const struct ctx_cell *cell)
{
	size_t width;

	if (cell->kind == CTX_CELL_NUMBER && column->measured && cell->number <= column->most)
		return;
	ctx_buf_clear(&out->line);
	put_cell(out, column->at, cell, UNLIMITED, &out->line);
	width = text_columns(&out->line, 0);
	column->width = width > column->width ? width : column->width;
	if (cell->kind == CTX_CELL_NUMBER) {
		column->most = cell->number;
		column->measured = true;
	}
}

static struct ctx_rows_row *add(struct ctx_out *out, enum ctx_rows_kind kind)
{
	struct ctx_rows *rows = rows_of(out);

	if (ctx_grow(&rows->rows, &rows->cap, rows->n + 1, NULL) != CTX_OK) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return NULL;
	}
	rows->rows[rows->n] = (struct ctx_rows_row){.kind = kind, .function = CTX_NONE};
	return &rows->rows[rows->n++];
}

/* A path of frames becomes a name: its frames are the report's. */
static void keep_frames(struct ctx_out *out, struct ctx_cell *cell)
{
	ctx_buf_clear(&out->line);
	ctx_cell_put_text(&out->line, cell, CTX_STYLE_NAME, UNLIMITED, out->options->ascii);
	ctx_buf_put_u8(&out->line, '\0');
	if (out->line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	*cell = ctx_cell_name(out->line.failed ? NULL : keep(out, (const char *)out->line.bytes));
}

static void row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	struct ctx_rows *rows = rows_of(out);
	struct ctx_cell *kept = ctx_arena_alloc(&rows->arena, (rows->n_columns + 1) * sizeof(*kept));
	struct ctx_rows_row *row = add(out, CTX_ROWS_CELLS);

	if (kept == NULL || row == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	row->cells = kept;
	for (size_t i = 0; i < rows->n_columns; i++) {
		kept[i] = cells[rows->columns[i].at];
		if (kept[i].link != 0)
			row->function = kept[i].link - 1;
		if (kept[i].frames != NULL)
			keep_frames(out, &kept[i]);
		kept[i].name = keep(out, kept[i].name);
		kept[i].object = keep(out, kept[i].object);
		kept[i].drawing = keep(out, kept[i].drawing);
		kept[i].index = keep(out, kept[i].index);
		if (i + 1 < rows->n_columns)
			widen(out, &rows->columns[i], &kept[i]);
	}
}

static void put_section(struct ctx_out *out, const char *title)
{
	struct ctx_rows_row *row = title != NULL ? add(out, CTX_ROWS_TITLE) : NULL;

	if (row != NULL)
		row->text = keep_safe(out, title);
}

static void put_line(struct ctx_out *out, const char *text)
{
	struct ctx_rows_row *row = *text != '\0' ? add(out, CTX_ROWS_LINE) : NULL;

	if (row != NULL)
		row->text = keep_safe(out, text);
}

static void put_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent)
{
	(void)indent;
	put_line(out, ctx_out_format(out, "%s%s", first, text));
}

static void put_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell)
{
	put_line(out, ctx_out_format(out, "%s%s", before, cell->name));
}

/* Numbers are formatted later, when the report and its columns are gone. */
static void end(struct ctx_out *out)
{
	struct ctx_rows *rows = rows_of(out);
	struct ctx_column *columns = ctx_arena_alloc(&rows->arena, (out->n_columns + 1) * sizeof(*columns));

	if (columns == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < out->n_columns; i++)
		columns[i] = (struct ctx_column){.style = out->columns[i].style};
	rows->figures = (struct ctx_out){.backend = out->backend,
					 .profile = out->profile,
					 .head = {.scale = out->head.scale, .totals = out->head.totals},
					 .part_weight = out->part_weight,
					 .has_part = out->has_part,
					 .columns = columns,
					 .n_columns = out->n_columns};
}

const struct ctx_out_backend ctx_out_rows = {
	.for_reading = true,
	.begin = begin,
	.row_begin = row_begin,
	.section = put_section,
	.line = put_line,
	.name_line = put_name_line,
	.wrapped = put_wrapped,
	.end = end,
};

void ctx_rows_deinit(struct ctx_rows *rows)
{
	free(rows->columns);
	free(rows->rows);
	free(rows->notes);
	ctx_arena_deinit(&rows->arena);
	*rows = (struct ctx_rows){0};
}

static bool is_left(const struct ctx_rows *rows, size_t column)
{
	return rows->figures.columns[rows->columns[column].at].style >= CTX_STYLE_NAME;
}

static void pad(struct ctx_buf *buf, size_t width, size_t used)
{
	for (; used < width; used++)
		ctx_buf_put_u8(buf, ' ');
}

static void put_aligned(const struct ctx_rows *rows, size_t column, const struct ctx_buf *cell,
			struct ctx_buf *buf)
{
	size_t width = rows->columns[column].width, used = text_columns(cell, 0);
	bool last = column + 1 == rows->n_columns;

	if (!is_left(rows, column))
		pad(buf, width, used);
	ctx_buf_put(buf, cell->bytes, cell->n);
	if (last)
		return;
	if (is_left(rows, column))
		pad(buf, width, used);
	ctx_buf_put_u8(buf, ' ');
}

void ctx_rows_put_heading(const struct ctx_rows *rows, struct ctx_buf *buf)
{
	struct ctx_buf cell CTX_AUTO_BUF = {0};

	for (size_t i = 0; i < rows->n_columns && rows->figures.columns != NULL; i++) {
		ctx_buf_clear(&cell);
		ctx_buf_put_text(&cell, rows->columns[i].title);
		put_aligned(rows, i, &cell, buf);
	}
}

static void put_cells(const struct ctx_rows *rows, const struct ctx_cell *cells, size_t width,
		      struct ctx_buf *buf)
{
	struct ctx_report_options options = {.ascii = rows->ascii};
	struct ctx_out figures = rows->figures;
	struct ctx_buf cell CTX_AUTO_BUF = {0};
	size_t used = 0;

	figures.options = &options;
	for (size_t i = 0; i < rows->n_columns; i++) {
		bool last = i + 1 == rows->n_columns;
		size_t room = used + MIN_NAME_WIDTH < width ? width - used : MIN_NAME_WIDTH;

		ctx_buf_clear(&cell);
		put_cell(&figures, rows->columns[i].at, &cells[i], last ? room : rows->columns[i].width,
			 &cell);
		put_aligned(rows, i, &cell, buf);
		used += rows->columns[i].width + 1;
	}
}

void ctx_rows_put(const struct ctx_rows *rows, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct ctx_rows_row *at = &rows->rows[row];

	if (at->cells != NULL)
		put_cells(rows, at->cells, width, buf);
	else if (at->text != NULL)
		ctx_text_cut(buf, at->text, strlen(at->text), width, rows->ascii);
}
