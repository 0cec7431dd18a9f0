/*
 * Text: the rows of a section are kept until it ends, because the width that is left for names is known only then. libsmartcols aligns the columns; the last column is cut here, in the middle, which it
 * cannot do. Only the last column may hold more than ASCII, so nothing depends on the locale of the program.
 */
#include "base/mem.h"
#include "model/interval.h"
#include "report/names.h"
#include "report/out.h"

#include <inttypes.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#define MIN_NAME_WIDTH 12
#define UNLIMITED ((size_t)1 << 20)

static const char *copied(struct ctx_out *out, const char *text)
{
	return text != NULL ? ctx_out_format(out, "%s", text) : NULL;
}

void ctx_out_text_row(struct ctx_out *out, const struct ctx_cell *cells)
{
	struct ctx_cell *kept = ctx_arena_alloc(&out->arena, out->n_columns * sizeof(*kept));

	if (kept == NULL || ctx_grow(&out->rows, &out->rows_cap, out->n_rows + 1, NULL) != CTX_OK) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	memcpy(kept, cells, out->n_columns * sizeof(*kept));
	for (size_t i = 0; i < out->n_columns; i++) {
		kept[i].drawing = copied(out, cells[i].drawing);
		kept[i].index = copied(out, cells[i].index);
	}
	out->rows[out->n_rows++] = (struct ctx_out_row){.cells = kept, .rule_before = out->next_has_rule};
	out->next_has_rule = false;
}

static void put_figure(const struct ctx_out *out, enum ctx_style style, const struct ctx_cell *cell,
		       struct ctx_buf *buf)
{
	char figure[CTX_FIGURE_MAX] = "";

	if (cell->kind == CTX_CELL_SIGNED)
		snprintf(figure, sizeof(figure), "%" PRId64, (int64_t)cell->number);
	else if (style == CTX_STYLE_WEIGHT)
		ctx_figure_fixed(figure, cell->number, out->scale.divisor, out->scale.digits);
	else if (style == CTX_STYLE_PERCENT)
		ctx_figure_percent(figure, cell->number, out->totals.weight, 2);
	else if (style == CTX_STYLE_TIME)
		ctx_figure_fixed(figure, cell->number, 1000 * 1000, 3);
	else if (style == CTX_STYLE_BYTES)
		ctx_figure_fixed(figure, cell->number, 1024 * 1024, 1);
	else
		snprintf(figure, sizeof(figure), "%" PRIu64, cell->number);
	ctx_buf_put_text(buf, figure);
}

/* Drawing, name and object within `width` columns: the name gives way, the object only when it has more than half. */
static void put_name(const struct ctx_out *out, const struct ctx_cell *cell, size_t width,
		     struct ctx_buf *buf)
{
	struct ctx_buf name = {0}, object = {0};
	bool ascii = out->options->ascii;
	size_t drawing_width =
		cell->drawing != NULL ? ctx_text_width(cell->drawing, strlen(cell->drawing)) : 0;
	size_t index_width = cell->index != NULL ? ctx_text_width(cell->index, strlen(cell->index)) : 0;
	size_t left = width > drawing_width + index_width + 1 ? width - drawing_width - index_width : 1;
	size_t begin;

	ctx_name_put_text(&name, cell->name, ascii);
	if (cell->object != NULL) {
		const char *slash = strrchr(cell->object, '/');
		const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : cell->object;

		ctx_buf_put_text(&object, " [");
		begin = object.n;
		if (*base == '[') /* "[kernel]" has its brackets already */
			object.n = --begin;
		ctx_name_put_text(&object, base, ascii);
		if (*base != '[')
			ctx_buf_put_u8(&object, ']');
	}
	if (cell->drawing != NULL)
		ctx_buf_put_text(buf, cell->drawing);
	if (!name.failed && !object.failed) {
		size_t object_width = ctx_text_width((const char *)object.bytes, object.n);
		size_t object_room = object_width < left / 2 ? object_width : left / 2;
		size_t name_width = ctx_text_width((const char *)name.bytes, name.n);

		if (name_width + object_width <= left || left - name_width > object_room)
			object_room = name_width < left ? left - name_width : object_room;
		if (object_room > object_width)
			object_room = object_width;
		if (object_room < 4)
			object_room = object_room < object_width ? 0 : object_room;
		ctx_text_cut(buf, (const char *)name.bytes, name.n, left - object_room, ascii);
		if (object_room != 0)
			ctx_text_cut(buf, (const char *)object.bytes, object.n, object_room, ascii);
	} else {
		buf->failed = true;
	}
	if (cell->index != NULL)
		ctx_buf_put_text(buf, cell->index);
	ctx_buf_deinit(&name);
	ctx_buf_deinit(&object);
}

/* The cell's text with its zero byte in `buf`; returns its columns. */
static size_t put_cell(const struct ctx_out *out, enum ctx_style style, const struct ctx_cell *cell,
		       size_t width, struct ctx_buf *buf)
{
	ctx_buf_clear(buf);
	if (cell->kind == CTX_CELL_NAME)
		put_name(out, cell, width, buf);
	else if (cell->kind != CTX_CELL_NULL)
		put_figure(out, style, cell, buf);
	ctx_buf_put_u8(buf, '\0');
	return buf->failed ? 0 : ctx_text_width((const char *)buf->bytes, buf->n - 1);
}

static size_t put_title(const struct ctx_out *out, const struct ctx_column *column, struct ctx_buf *buf)
{
	ctx_buf_clear(buf);
	ctx_buf_put_text(buf, column->title);
	if (column->style == CTX_STYLE_WEIGHT && *column->title != '\0')
		ctx_buf_printf(buf, " %s", out->scale.unit);
	ctx_buf_put_u8(buf, '\0');
	return buf->failed ? 0 : buf->n - 1;
}

struct table {
	struct libscols_table *scols;
	struct libscols_line **lines;
	size_t fixed_width; /* of all columns but the last, with their separators */
	size_t last;	    /* index of the last text column */
};

static bool add_columns(struct ctx_out *out, struct table *table)
{
	for (size_t i = 0; i < out->n_columns; i++) {
		const struct ctx_column *column = &out->columns[i];

		if (column->title == NULL)
			continue;
		put_title(out, column, &out->line);
		if (out->line.failed ||
		    scols_table_new_column(table->scols, (const char *)out->line.bytes, 0,
					   column->style != CTX_STYLE_NAME ? SCOLS_FL_RIGHT : 0) == NULL)
			return false;
		table->last = i;
	}
	for (size_t row = 0; row < out->n_rows; row++) {
		table->lines[row] = scols_table_new_line(table->scols, NULL);
		if (table->lines[row] == NULL)
			return false;
	}
	return true;
}

static bool fill_columns(struct ctx_out *out, struct table *table)
{
	size_t place = 0;

	for (size_t i = 0; i <= table->last; i++) {
		const struct ctx_column *column = &out->columns[i];
		size_t widest, room = UNLIMITED;

		if (column->title == NULL)
			continue;
		if (i == table->last && out->options->width != 0)
			room = out->options->width > table->fixed_width + MIN_NAME_WIDTH
				       ? out->options->width - table->fixed_width
				       : MIN_NAME_WIDTH;
		widest = put_title(out, column, &out->line);
		for (size_t row = 0; row < out->n_rows; row++) {
			size_t width =
				put_cell(out, column->style, &out->rows[row].cells[i], room, &out->line);

			if (out->line.failed ||
			    scols_line_set_data(table->lines[row], place, (const char *)out->line.bytes) != 0)
				return false;
			widest = width > widest ? width : widest;
		}
		table->fixed_width += widest + 1;
		place++;
	}
	return true;
}

/* Line by line, without trailing spaces; the title bold, rules between. */
static void print_lines(struct ctx_out *out, const char *text)
{
	const struct ctx_report_options *options = out->options;
	size_t rule = options->width != 0 && options->width < 100 ? options->width : 100;

	for (size_t line = 0; *text != '\0'; line++) {
		const char *newline = strchrnul(text, '\n');
		size_t n = (size_t)(newline - text);
		bool bold = options->color && line == 0;

		while (n > 0 && text[n - 1] == ' ')
			n--;
		if (line > 0 && line - 1 < out->n_rows && out->rows[line - 1].rule_before) {
			for (size_t i = 0; i < rule; i++)
				fputs(options->ascii ? "-" : "─", options->out);
			fputc('\n', options->out);
		}
		fprintf(options->out, "%s%.*s%s\n", bold ? "\033[1m" : "", (int)n, text,
			bold ? "\033[0m" : "");
		text = *newline != '\0' ? newline + 1 : newline;
	}
}

static void print_table(struct ctx_out *out)
{
	struct table table = {.scols = scols_new_table(),
			      .lines = ctx_calloc(out->n_rows, sizeof(*table.lines))};
	char *text = NULL;
	bool done = table.scols != NULL && table.lines != NULL;

	if (done) {
		scols_table_enable_noencoding(table.scols, 1);
		scols_table_set_termforce(table.scols, SCOLS_TERMFORCE_ALWAYS);
		scols_table_set_termwidth(table.scols, UNLIMITED * 4);
		scols_table_set_column_separator(table.scols, " ");
		done = add_columns(out, &table) && fill_columns(out, &table) &&
		       scols_print_table_to_string(table.scols, &text) == 0 && text != NULL;
	}
	if (done)
		print_lines(out, text);
	else
		ctx_out_fail(out, CTX_E_NOMEM);
	free(text);
	free(table.lines);
	scols_unref_table(table.scols);
}

void ctx_out_text_flush(struct ctx_out *out)
{
	if (out->n_rows != 0 && out->status == CTX_OK)
		print_table(out);
	out->n_rows = 0;
	out->next_has_rule = false;
	ctx_arena_deinit(&out->arena);
}
