/*
 * Text: the rows of a section are buffered until it ends, because only then the width left for
 * names is known. Widths are computed by names.h, so the output is independent of the locale
 * (libsmartcols counts bytes in the C locale, and cannot cut in the middle).
 */
#include "base/mem.h"
#include "model/interval.h"
#include "report/cell_text.h"
#include "report/headings.h"
#include "report/names.h"
#include "report/out_backend.h"
#include "report/wrapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_NAMES 36u	/* minimum width of names for which headings stay in one line */
#define SHORT_NAMES 24u /* in two */
#define MIN_NAME_WIDTH 12
#define MIN_KEY_WIDTH 6 /* of one of several names of a row */
#define UNLIMITED ((size_t)1 << 20)

static const char *copied(struct ctx_out *out, const char *text)
{
	const char *copy = text != NULL ? ctx_arena_strdup(&out->arena, text) : NULL;

	if (copy == NULL && text != NULL)
		ctx_out_fail(out, CTX_E_NOMEM);
	return copy;
}

static void row_begin(struct ctx_out *out, const struct ctx_cell *cells)
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

/* The cell's text with its zero byte in `buf`; returns its columns. */
static size_t put_cell(const struct ctx_out *out, size_t column, const struct ctx_cell *cell, size_t width,
		       struct ctx_buf *buf)
{
	enum ctx_style style = out->columns[column].style;

	ctx_buf_clear(buf);
	if (cell->kind == CTX_CELL_NAME)
		ctx_cell_put_text(buf, cell, style, width, out->options->ascii);
	else if (cell->kind == CTX_CELL_BOOL)
		ctx_buf_put_text(buf, cell->number != 0 ? "true" : "false");
	else if (cell->kind == CTX_CELL_NUMBER || cell->kind == CTX_CELL_SIGNED ||
		 cell->kind == CTX_CELL_FIGURE)
		ctx_out_put_figure(out, column, cell, buf);
	ctx_buf_put_u8(buf, '\0');
	return buf->failed ? 0 : ctx_text_width((const char *)buf->bytes, buf->n - 1);
}

/* The unit of a group is in its heading. */
static size_t put_title(const struct ctx_out *out, size_t i, struct ctx_buf *buf)
{
	const struct ctx_column *column = &out->columns[i];

	ctx_buf_clear(buf);
	ctx_buf_put_text(buf, column->title);
	if (column->style == CTX_STYLE_WEIGHT && *column->title != '\0' && *out->head.scale.unit != '\0' &&
	    !ctx_out_in_group(out, i))
		ctx_buf_printf(buf, " %s", out->head.scale.unit);
	ctx_buf_put_u8(buf, '\0');
	return buf->failed ? 0 : buf->n - 1;
}

/* The title of a column that shares its width is cut like its names. */
static void put_cut_title(const struct ctx_out *out, size_t i, size_t width, struct ctx_buf *buf)
{
	const char *title = out->columns[i].title;
	size_t n = strlen(title);

	ctx_buf_clear(buf);
	ctx_text_cut(buf, title, n, width, out->options->ascii);
	ctx_buf_put_u8(buf, '\0');
}

/*
 * Appends the cell to the current line, padded to its column. The last column is not padded on the
 * right.
 */
static void put_aligned(struct ctx_buf *text, const struct ctx_buf *cell, size_t width, enum ctx_style style,
			bool last)
{
	size_t used = ctx_text_width((const char *)cell->bytes, cell->n - 1);
	size_t pad = width > used ? width - used : 0;

	if (style < CTX_STYLE_NAME)
		ctx_buf_printf(text, "%*s", (int)pad, "");
	ctx_buf_put(text, cell->bytes, cell->n - 1);
	if (style >= CTX_STYLE_NAME && !last)
		ctx_buf_printf(text, "%*s", (int)pad, "");
	if (!last)
		ctx_buf_put_u8(text, ' ');
}

static size_t last_column(const struct ctx_out *out)
{
	size_t last = 0;

	for (size_t i = 0; i < out->n_columns; i++)
		last = out->columns[i].title != NULL ? i : last;
	return last;
}

/* A place gets at most half of the width that numbers leave. */
static void limit_places(const struct ctx_out *out, size_t last, size_t *widths, size_t *used)
{
	for (size_t i = 0; i < last; i++) {
		size_t others = *used - widths[i], most = MIN_NAME_WIDTH;

		if (out->columns[i].title == NULL || out->columns[i].style != CTX_STYLE_PLACE)
			continue;
		if (out->options->width > others + 2 * MIN_NAME_WIDTH)
			most = (out->options->width - others) / 2;
		widths[i] = widths[i] > most ? most : widths[i];
		*used = others + widths[i];
	}
}

static bool is_name(const struct ctx_column *column)
{
	return column->title != NULL && (column->style == CTX_STYLE_KEY || column->style == CTX_STYLE_PLACE);
}

static bool has_keys(const struct ctx_out *out)
{
	for (size_t i = 0; i < out->n_columns; i++) {
		if (out->columns[i].title != NULL && out->columns[i].style == CTX_STYLE_KEY)
			return true;
	}
	return false;
}

/*
 * The names of a row share `room` columns: those that need no more than an equal share keep what they
 * need, the others get equal shares of the rest.
 */
static void share_names(const struct ctx_out *out, size_t last, size_t room, size_t *widths)
{
	size_t share = 0, before, wide;

	do {
		size_t left = room;

		before = share;
		wide = 0;
		for (size_t i = 0; i <= last; i++) {
			bool fits = widths[i] <= share;

			if (is_name(&out->columns[i]) && fits)
				left -= widths[i] < left ? widths[i] : left;
			wide += is_name(&out->columns[i]) && !fits;
		}
		share = wide != 0 ? left / wide : 0;
	} while (share > before);
	share = before > MIN_KEY_WIDTH ? before : MIN_KEY_WIDTH;
	for (size_t i = 0; i <= last && wide != 0; i++) {
		if (is_name(&out->columns[i]) && widths[i] > share)
			widths[i] = share;
	}
}

/* The natural width of a column. */
static size_t measure_column(struct ctx_out *out, size_t i)
{
	size_t widest = put_title(out, i, &out->line);

	for (size_t row = 0; row < out->n_rows; row++) {
		size_t width = put_cell(out, i, &out->rows[row].cells[i], UNLIMITED, &out->line);

		widest = width > widest ? width : widest;
	}
	return widest;
}

/* Of a table with several names: `used` are the columns before the last with their spaces. */
static size_t measure_names(struct ctx_out *out, size_t last, size_t used, size_t *widths)
{
	size_t room = out->options->width;

	widths[last] = measure_column(out, last);
	for (size_t i = 0; i < last; i++)
		used -= is_name(&out->columns[i]) ? widths[i] : 0;
	used += is_name(&out->columns[last]) ? 0 : widths[last];
	share_names(out, last, room > used ? room - used : 0, widths);
	return widths[last];
}

/*
 * The number of columns from `first` on that share a heading; `*ret_width` includes the spaces
 * between them.
 */
static size_t group_end(const struct ctx_out *out, size_t first, size_t last, const size_t *widths,
			size_t *ret_width)
{
	size_t end = first;

	*ret_width = 0;
	for (; end < last && out->groups[end] == out->groups[first]; end++)
		*ret_width += widths[end] + (end != first ? 1 : 0);
	return end;
}

/* Widens groups to the width of their headings in so many lines; returns the total widening. */
static size_t widen_groups(const struct ctx_out *out, size_t last, size_t lines, size_t *widths, bool really)
{
	size_t more = 0;

	for (size_t i = 0, end = 0, width; out->groups != NULL && i < last; i = end) {
		size_t heading;

		end = group_end(out, i, last, widths, &width);
		heading = ctx_out_in_group(out, i) ? ctx_heading_room(out->groups[i], lines) : 0;
		if (heading > width) {
			widths[i] += really ? heading - width : 0;
			more += heading - width;
		}
	}
	return more;
}

/* In one or two lines if that leaves room for names, else in more. */
static size_t make_room_for_groups(const struct ctx_out *out, size_t last, size_t used, size_t *widths)
{
	size_t limit = out->options->width, lines = 1;

	for (; lines <= 2; lines++) {
		size_t names = lines == 1 ? LONG_NAMES : SHORT_NAMES;

		if (limit == 0 || used + widen_groups(out, last, lines, widths, false) + names <= limit)
			return widen_groups(out, last, lines, widths, true);
	}
	return widen_groups(out, last, SIZE_MAX, widths, true);
}

static size_t heading_lines(const struct ctx_out *out, size_t last, const size_t *widths)
{
	size_t most = 1;

	for (size_t i = 0, end = 0, width; i < last; i = end) {
		size_t lines;

		end = group_end(out, i, last, widths, &width);
		lines = ctx_out_in_group(out, i) ? ctx_heading_lines(out->groups[i], width) : 0;
		most = lines > most ? lines : most;
	}
	return most;
}

/* One line of all headings, which are aligned at the bottom: `behind` lines follow. */
static void put_heading_line(const struct ctx_out *out, size_t last, const size_t *widths, size_t behind,
			     struct ctx_buf *text)
{
	for (size_t i = 0, end = 0, width; i < last; i = end) {
		const char *heading = ctx_out_in_group(out, i) ? out->groups[i] : "";
		size_t lines, n = 0, used;

		end = group_end(out, i, last, widths, &width);
		lines = ctx_heading_lines(heading, width);
		for (size_t line = 0; line + behind < lines; line++) {
			heading += n + (heading[n] == ' ' && line != 0);
			n = ctx_heading_line(heading, width);
		}
		used = ctx_text_width(heading, n);
		ctx_buf_printf(text, "%*s%.*s ", (int)(width > used ? width - used : 0), "", (int)n, heading);
	}
	ctx_buf_put_u8(text, '\n');
}

/* How many lines they take. */
static size_t put_groups(const struct ctx_out *out, size_t last, const size_t *widths, struct ctx_buf *text)
{
	size_t lines = heading_lines(out, last, widths);

	for (size_t line = 0; line < lines; line++)
		put_heading_line(out, last, widths, lines - line - 1, text);
	return lines;
}

/* Computes the widths of all columns but the last; returns the width left for that. */
static size_t measure(struct ctx_out *out, size_t last, size_t *widths)
{
	size_t used = 0;

	for (size_t i = 0; i < last; i++) {
		const struct ctx_column *column = &out->columns[i];

		if (column->title == NULL)
			continue;
		widths[i] = measure_column(out, i);
		used += widths[i] + 1;
	}
	used += make_room_for_groups(out, last, used, widths);
	if (out->options->width == 0)
		return UNLIMITED;
	if (has_keys(out))
		return measure_names(out, last, used, widths);
	limit_places(out, last, widths, &used);
	return out->options->width > used + MIN_NAME_WIDTH ? out->options->width - used : MIN_NAME_WIDTH;
}

/* Line by line, without trailing spaces; the title bold, rules between. */
static void print_lines(struct ctx_out *out, const char *text, size_t heads)
{
	const struct ctx_report_options *options = out->options;
	size_t rule = options->width != 0 && options->width < 100 ? options->width : 100;

	for (size_t line = 0; *text != '\0'; line++) {
		const char *newline = strchrnul(text, '\n');
		size_t n = (size_t)(newline - text);
		bool bold = options->color && line < heads;

		while (n > 0 && text[n - 1] == ' ')
			n--;
		if (line >= heads && line - heads < out->n_rows && out->rows[line - heads].rule_before) {
			for (size_t i = 0; i < rule; i++)
				fputs(options->ascii ? "-" : "─", options->out);
			fputc('\n', options->out);
		}
		if (bold)
			fputs("\033[1m", options->out);
		fwrite(text, 1, n, options->out);
		fputs(bold ? "\033[0m\n" : "\n", options->out);
		text = *newline != '\0' ? newline + 1 : newline;
	}
}

/* A number in the last column is aligned like all others. */
static void measure_last(struct ctx_out *out, size_t last, size_t *widths)
{
	const struct ctx_column *column = &out->columns[last];

	if (column->style < CTX_STYLE_NAME)
		widths[last] = measure_column(out, last);
}

static void print_table(struct ctx_out *out)
{
	size_t *widths CTX_AUTO_FREE = ctx_calloc(out->n_columns, sizeof(*widths));
	size_t last = last_column(out), room, heads = 1;
	struct ctx_buf text = {0};

	if (widths == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	room = measure(out, last, widths);
	measure_last(out, last, widths);
	if (out->groups != NULL)
		heads += put_groups(out, last, widths, &text);
	for (size_t line = 0; line <= out->n_rows; line++) {
		for (size_t i = 0; i <= last; i++) {
			const struct ctx_column *column = &out->columns[i];

			if (column->title == NULL)
				continue;
			if (line == 0 && is_name(column))
				put_cut_title(out, i, i == last ? room : widths[i], &out->line);
			else if (line == 0)
				put_title(out, i, &out->line);
			else
				put_cell(out, i, &out->rows[line - 1].cells[i],
					 i == last	   ? room
					 : is_name(column) ? widths[i]
							   : UNLIMITED,
					 &out->line);
			if (!out->line.failed)
				put_aligned(&text, &out->line, widths[i], column->style, i == last);
		}
		ctx_buf_put_u8(&text, '\n');
	}
	ctx_buf_put_u8(&text, '\0');
	if (text.failed || out->line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		print_lines(out, (const char *)text.bytes, heads);
	ctx_buf_deinit(&text);
}

static void flush(struct ctx_out *out)
{
	if (out->n_rows != 0 && out->status == CTX_OK)
		print_table(out);
	out->n_rows = 0;
	out->next_has_rule = false;
	ctx_arena_deinit(&out->arena);
}

/*
 * Both build their line before the table is printed, because printing clears the arena that may
 * hold the text.
 */
static void flush_and_print(struct ctx_out *out, struct ctx_buf *line)
{
	ctx_buf_put_u8(line, '\n');
	flush(out);
	if (line->failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(line->bytes, 1, line->n, out->options->out);
	ctx_buf_deinit(line);
}

static size_t line_width(const struct ctx_out *out)
{
	return out->options->width != 0 && !out->whole_line ? out->options->width : SIZE_MAX;
}

static void put_section(struct ctx_out *out, const char *title)
{
	struct ctx_buf safe = {0}, line = {0};

	if (title == NULL) {
		flush(out);
		return;
	}
	ctx_name_put_text(&safe, title, out->options->ascii);
	ctx_buf_put_u8(&line, '\n');
	if (safe.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		ctx_text_cut(&line, (const char *)safe.bytes, safe.n, line_width(out), out->options->ascii);
	ctx_buf_deinit(&safe);
	flush_and_print(out, &line);
}

static void put_line(struct ctx_out *out, const char *text)
{
	struct ctx_buf line = {0};

	ctx_text_cut(&line, text, strlen(text), line_width(out), out->options->ascii);
	if (out->n_rows != 0) {
		flush_and_print(out, &line);
		return;
	}
	ctx_buf_put_u8(&line, '\n');
	if (line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(line.bytes, 1, line.n, out->options->out);
	ctx_buf_deinit(&line);
}

static void print_wrapped_line(void *context, const char *line, size_t n, unsigned indent)
{
	fprintf(context, "%*s%.*s\n", (int)indent, "", (int)n, line);
}

static void put_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent)
{
	struct ctx_buf buf = {0};
	bool is_first = true;

	do {
		const char *newline = strchrnul(text, '\n');
		char *line = strndup(text, (size_t)(newline - text));

		ctx_buf_clear(&buf);
		ctx_buf_printf(&buf, "%*s", is_first ? 0 : (int)indent, "");
		if (is_first)
			ctx_name_put_text(&buf, first, out->options->ascii);
		if (line != NULL)
			ctx_name_put_text(&buf, line, out->options->ascii);
		ctx_buf_put_u8(&buf, '\0');
		if (line == NULL || buf.failed)
			ctx_out_fail(out, CTX_E_NOMEM);
		else
			ctx_text_wrap((const char *)buf.bytes, out->options->width, indent,
				      print_wrapped_line, out->options->out);
		free(line);
		is_first = false;
		text = *newline != '\0' ? newline + 1 : newline;
	} while (*text != '\0');
	ctx_buf_deinit(&buf);
}

/* As in stacks, the name is not cut in the middle. */
static void put_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell)
{
	struct ctx_buf text = {0};
	bool ascii = out->options->ascii;

	ctx_buf_put_text(&text, before);
	ctx_name_put_text(&text, cell->name, ascii);
	if (cell->object != NULL)
		ctx_name_put_object(&text, cell->object, ascii);
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		put_line(out, (const char *)text.bytes);
	ctx_buf_deinit(&text);
}

static void print_warning(void *context, const char *text)
{
	struct ctx_out *out = context;

	if (out->options->color)
		fputs("\033[33m", out->options->out);
	put_wrapped(out, "note: ", text, 6);
	if (out->options->color)
		fputs("\033[0m", out->options->out);
}

static void begin(struct ctx_out *out)
{
	struct ctx_buf title = {0};

	if (out->own_title)
		return;
	if (out->head.preamble != NULL) {
		put_wrapped(out, "", out->head.preamble, 0);
		put_line(out, "");
	}
	ctx_head_put_title(&out->head, &title);
	ctx_buf_put_u8(&title, '\0');
	if (title.failed) {
		ctx_out_fail(out, CTX_E_NOMEM);
	} else {
		/* A name is one line here. */
		for (size_t i = 0; i + 1 < title.n; i++)
			title.bytes[i] = title.bytes[i] == '\n' ? '?' : title.bytes[i];
		put_wrapped(out, "", (const char *)title.bytes, 2);
	}
	ctx_buf_deinit(&title);
	ctx_head_warnings(&out->head, print_warning, out);
	fputc('\n', out->options->out);
}

const struct ctx_out_backend ctx_out_text = {
	.for_reading = true,
	.begin = begin,
	.row_begin = row_begin,
	.section = put_section,
	.line = put_line,
	.name_line = put_name_line,
	.wrapped = put_wrapped,
	.rows_end = flush,
	.end = flush,
};
