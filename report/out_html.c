/*
 * HTML: a table for each section, lines of text in between. Output goes to the page of the options,
 * not to their stream: names become links when the page is complete (report/html_tables.h).
 */
#include "report/html_tables.h"
#include "report/html_text.h"
#include "report/names.h"
#include "report/out_backend.h"

#include <string.h>

#define LEVELS_MOST 40u /* indented */

static struct ctx_buf *body_of(const struct ctx_out *out)
{
	return ctx_html_tables_body(out->options->page);
}

/* Ends the open table or block of lines. */
static void leave(struct ctx_out *out)
{
	if (out->at == CTX_OUT_TABLE)
		ctx_buf_put_text(body_of(out), "</tbody></table></div>\n");
	else if (out->at == CTX_OUT_LINES)
		ctx_buf_put_text(body_of(out), "</pre>\n");
	out->at = CTX_OUT_NOTHING;
	out->next_has_rule = false;
}

static void put_warning(void *context, const char *text)
{
	struct ctx_out *out = context;

	if (!ctx_html_tables_is_new(out->options->page, text))
		return;
	ctx_buf_put_text(body_of(out), "<p class=\"notes\">");
	ctx_html_put_text(body_of(out), text);
	ctx_buf_put_text(body_of(out), "</p>\n");
}

static void begin(struct ctx_out *out)
{
	struct ctx_buf *body = body_of(out), summary = {0};

	ctx_html_tables_section(out->options->page, out->head.report);
	ctx_head_put_summary(&out->head, &summary);
	ctx_buf_put_u8(&summary, '\0');
	body->failed |= summary.failed;
	if (!summary.failed && ctx_html_tables_is_new(out->options->page, (const char *)summary.bytes)) {
		ctx_buf_put_text(body, "<p class=\"faint\">");
		ctx_html_put_text(body, (const char *)summary.bytes);
		ctx_buf_put_text(body, "</p>\n");
	}
	ctx_buf_deinit(&summary);
	ctx_head_warnings(&out->head, put_warning, out);
	if (out->head.preamble != NULL)
		out->backend->wrapped(out, "", out->head.preamble, 0);
}

static bool is_left(const struct ctx_column *column)
{
	return column->style >= CTX_STYLE_NAME;
}

/* Headings of groups span their columns. */
static void put_groups(const struct ctx_out *out)
{
	struct ctx_buf *body = body_of(out);

	ctx_buf_put_text(body, "<tr>");
	for (size_t i = 0, end; i < out->n_columns; i = end) {
		size_t span = 0;

		for (end = i; end < out->n_columns && out->groups[end] == out->groups[i]; end++)
			span += out->columns[end].title != NULL;
		if (span == 0)
			continue;
		ctx_buf_printf(body, "<th scope=\"colgroup\" colspan=\"%zu\">", span);
		ctx_html_put_text(body, out->groups[i] != NULL ? out->groups[i] : "");
		ctx_buf_put_text(body, "</th>");
	}
	ctx_buf_put_text(body, "</tr>\n");
}

static void put_titles(const struct ctx_out *out)
{
	struct ctx_buf *body = body_of(out);

	ctx_buf_put_text(body, "<tr>");
	for (size_t i = 0; i < out->n_columns; i++) {
		const struct ctx_column *column = &out->columns[i];

		if (column->title == NULL)
			continue;
		ctx_buf_put_text(body,
				 is_left(column) ? "<th scope=\"col\" class=\"t\">" : "<th scope=\"col\">");
		ctx_html_put_text(body, column->title);
		if (column->style == CTX_STYLE_WEIGHT && *column->title != '\0' &&
		    !ctx_out_in_group(out, i)) {
			ctx_buf_put_text(body, *out->head.scale.unit != '\0' ? " " : "");
			ctx_html_put_text(body, out->head.scale.unit);
		}
		ctx_buf_put_text(body, "</th>");
	}
	ctx_buf_put_text(body, "</tr>");
}

static void enter_table(struct ctx_out *out)
{
	if (out->at == CTX_OUT_TABLE)
		return;
	leave(out);
	ctx_buf_put_text(body_of(out), "<div class=\"wide\"><table>\n<thead>");
	if (out->groups != NULL)
		put_groups(out);
	put_titles(out);
	ctx_buf_put_text(body_of(out), "</thead>\n<tbody>\n");
	out->at = CTX_OUT_TABLE;
}

/* " [libc.so.6]", and the number after a name. */
static void put_behind(const struct ctx_out *out, const struct ctx_cell *cell)
{
	struct ctx_buf *body = body_of(out);
	const char *object = cell->object != NULL ? ctx_name_of_path(cell->object) : "";
	bool bracketed = *object == '['; /* "[kernel]" */

	if (*object != '\0') {
		ctx_buf_put_text(body, bracketed ? " <span class=\"faint\">" : " <span class=\"faint\">[");
		ctx_html_put_text(body, object);
		ctx_buf_put_text(body, bracketed ? "</span>" : "]</span>");
	}
	if (cell->index != NULL)
		ctx_html_put_text(body, cell->index);
}

/* Names wrap in the last column. */
static bool is_last(const struct ctx_out *out, size_t column)
{
	for (size_t i = column + 1; i < out->n_columns; i++) {
		if (out->columns[i].title != NULL)
			return false;
	}
	return true;
}

static void put_name(const struct ctx_out *out, size_t column, const struct ctx_cell *cell)
{
	enum ctx_style style = out->columns[column].style;
	struct ctx_buf *body = body_of(out);
	unsigned level = cell->level < LEVELS_MOST ? cell->level : LEVELS_MOST;

	ctx_buf_printf(body, "<td class=\"%s\"",
		       style == CTX_STYLE_SOURCE ? "t s"
		       : is_last(out, column)	 ? "t name"
						 : "t");
	if (level != 0)
		ctx_buf_printf(body, " style=\"--level:%u\"", level);
	ctx_buf_put_u8(body, '>');
	ctx_html_tables_put_name(out->options->page, cell);
	put_behind(out, cell);
	ctx_buf_put_text(body, "</td>");
}

static void put_cell(struct ctx_out *out, size_t column, const struct ctx_cell *cell)
{
	struct ctx_buf *body = body_of(out);
	const struct ctx_column *it = &out->columns[column];

	if (cell->kind == CTX_CELL_NAME && is_left(it)) {
		put_name(out, column, cell);
		return;
	}
	ctx_buf_put_text(body, is_left(it) ? "<td class=\"t\">" : "<td>");
	if (cell->kind == CTX_CELL_NAME)
		ctx_html_put_text(body, cell->name);
	else if (cell->kind == CTX_CELL_BOOL)
		ctx_buf_put_text(body, cell->number != 0 ? "true" : "false");
	else if (cell->kind == CTX_CELL_NUMBER || cell->kind == CTX_CELL_SIGNED ||
		 cell->kind == CTX_CELL_FIGURE)
		ctx_out_put_figure(out, column, cell, body);
	ctx_buf_put_text(body, "</td>");
}

static void row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	struct ctx_buf *body = body_of(out);

	enter_table(out);
	if (out->next_has_rule)
		ctx_buf_put_text(body, "</tbody>\n<tbody>\n");
	out->next_has_rule = false;
	ctx_buf_put_text(body, "<tr");
	for (size_t i = 0; i < out->n_columns; i++) {
		if (out->columns[i].title == NULL || cells[i].anchor == CTX_ANCHOR_NONE)
			continue;
		ctx_html_tables_put_anchor(out->options->page, &cells[i]);
		if (cells[i].anchor == CTX_ANCHOR_STANZA)
			ctx_buf_put_text(body, " class=\"self\"");
		break;
	}
	ctx_buf_put_u8(body, '>');
	for (size_t i = 0; i < out->n_columns; i++) {
		if (out->columns[i].title != NULL)
			put_cell(out, i, &cells[i]);
	}
	ctx_buf_put_text(body, "</tr>\n");
}

static void put_section(struct ctx_out *out, const char *title)
{
	leave(out);
	if (title == NULL || *title == '\0')
		return;
	ctx_buf_put_text(body_of(out), "<h3>");
	ctx_html_put_text(body_of(out), title);
	ctx_buf_put_text(body_of(out), "</h3>\n");
}

/* Consecutive lines form one block. */
static void enter_lines(struct ctx_out *out)
{
	if (out->at == CTX_OUT_LINES)
		return;
	leave(out);
	ctx_buf_put_text(body_of(out), "<pre>");
	out->at = CTX_OUT_LINES;
}

static void put_line(struct ctx_out *out, const char *text)
{
	struct ctx_buf *body = body_of(out);

	if (*text == '\0' && out->at != CTX_OUT_LINES)
		return;
	if (*text == '(') { /* "(3 more functions)" */
		leave(out);
		ctx_buf_put_text(body, "<p class=\"faint\">");
		ctx_html_put_text(body, text);
		ctx_buf_put_text(body, "</p>\n");
		return;
	}
	enter_lines(out);
	ctx_html_put_text(body, text);
	ctx_buf_put_u8(body, '\n');
}

static void put_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell)
{
	enter_lines(out);
	ctx_html_put_text(body_of(out), before);
	ctx_html_tables_put_name(out->options->page, cell);
	put_behind(out, cell);
	ctx_buf_put_u8(body_of(out), '\n');
}

/* The page wraps. A newline ends a line. */
static void put_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent)
{
	struct ctx_buf line = {0};

	(void)indent;
	enter_lines(out);
	ctx_html_put_text(body_of(out), first);
	for (;; text++) {
		if (*text != '\n' && *text != '\0') {
			ctx_buf_put_u8(&line, (uint8_t)*text);
			continue;
		}
		ctx_buf_put_u8(&line, '\0');
		body_of(out)->failed |= line.failed;
		if (!line.failed)
			ctx_html_put_text(body_of(out), (const char *)line.bytes);
		ctx_buf_put_u8(body_of(out), '\n');
		ctx_buf_clear(&line);
		if (*text == '\0')
			break;
	}
	ctx_buf_deinit(&line);
}

static void end(struct ctx_out *out)
{
	leave(out);
	if (body_of(out)->failed)
		ctx_out_fail(out, CTX_E_NOMEM);
}

const struct ctx_out_backend ctx_out_html = {
	.for_reading = true,
	.begin = begin,
	.row_begin = row_begin,
	.section = put_section,
	.line = put_line,
	.name_line = put_name_line,
	.wrapped = put_wrapped,
	.rows_end = leave,
	.end = end,
};
