#include "report/head.h"
#include "report/html_static.h"
#include "report/html_text.h"
#include "report/part_cells.h"

#include <inttypes.h>

#define LEVELS_MOST 40 /* indented; deeper ones have their level in its own column */

void ctx_static_section(struct ctx_static_page *page, const char *id, const char *title, bool first)
{
	ctx_buf_printf(&page->buf, "<h2 id=\"%s\"%s>%s</h2>\n", id, first ? " class=\"here\"" : "", title);
}

void ctx_static_table(struct ctx_static_page *page, const char *caption, const char *const *titles)
{
	ctx_buf_put_text(&page->buf, "<div class=\"wide\"><table>\n");
	if (caption != NULL)
		ctx_buf_printf(&page->buf, "<caption>%s</caption>\n", caption);
	ctx_buf_put_text(&page->buf, "<thead><tr>");
	for (; *titles != NULL; titles++) {
		bool text = **titles == '<';

		ctx_buf_put_text(&page->buf, text ? "<th scope=\"col\" class=\"t\">" : "<th scope=\"col\">");
		ctx_html_put_text(&page->buf, *titles + text);
		ctx_buf_put_text(&page->buf, "</th>");
	}
	ctx_buf_put_text(&page->buf, "</tr></thead>\n<tbody>\n");
}

void ctx_static_table_end(struct ctx_static_page *page)
{
	ctx_buf_put_text(&page->buf, "</tbody></table></div>\n");
}

void ctx_static_weight(struct ctx_static_page *page, uint64_t weight)
{
	const struct ctx_scale *scale = &page->head.scale;
	char figure[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, weight, scale->divisor, scale->digits);
	ctx_buf_printf(&page->buf, "<td>%s</td>", figure);
}

void ctx_static_percent(struct ctx_static_page *page, uint64_t weight)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_percent(figure, weight, page->head.totals.weight, 2);
	ctx_buf_printf(&page->buf, "<td>%s</td>", figure);
}

void ctx_static_count(struct ctx_static_page *page, uint64_t count)
{
	ctx_buf_printf(&page->buf, "<td>%" PRIu64 "</td>", count);
}

void ctx_static_signed(struct ctx_static_page *page, int64_t count)
{
	ctx_buf_printf(&page->buf, "<td>%" PRId64 "</td>", count);
}

void ctx_static_time(struct ctx_static_page *page, uint64_t time_ns)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, time_ns, 1000 * 1000, 3);
	ctx_buf_printf(&page->buf, "<td>%s</td>", figure);
}

void ctx_static_text(struct ctx_static_page *page, const char *text)
{
	ctx_buf_put_text(&page->buf, "<td class=\"t\">");
	ctx_html_put_text(&page->buf, text);
	ctx_buf_put_text(&page->buf, "</td>");
}

void ctx_static_empty(struct ctx_static_page *page, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ctx_buf_put_text(&page->buf, "<td></td>");
}

void ctx_static_put_link(struct ctx_static_page *page, uint32_t function, bool to_row)
{
	const char *name = ctx_function_cell(page->input->profile, function).name;
	bool known = function < page->input->profile->n_functions;
	bool stanza = known && !to_row && page->stanza_of[function] != CTX_NONE;
	bool row = known && !stanza && page->row_of[function] != CTX_NONE;

	if (stanza || row)
		ctx_buf_printf(&page->buf, "<a href=\"#%c%" PRIu32 "\">", stanza ? 's' : 'f', function);
	ctx_html_put_text(&page->buf, name);
	if (stanza || row)
		ctx_buf_put_text(&page->buf, "</a>");
}

void ctx_static_put_object(struct ctx_static_page *page, uint32_t function)
{
	const char *object = ctx_function_cell(page->input->profile, function).object;
	const char *file = object != NULL ? ctx_html_file_name(object) : "";
	bool bracketed = *file == '['; /* "[kernel]" */

	if (*file == '\0')
		return;
	ctx_buf_put_text(&page->buf, bracketed ? " <span class=\"faint\">" : " <span class=\"faint\">[");
	ctx_html_put_text(&page->buf, file);
	ctx_buf_put_text(&page->buf, bracketed ? "</span>" : "]</span>");
}

void ctx_static_put_indent(struct ctx_static_page *page, uint32_t level)
{
	ctx_buf_put_text(&page->buf, "<td class=\"t name\"");
	if (level != 0)
		ctx_buf_printf(&page->buf, " style=\"--level:%u\"",
			       level < LEVELS_MOST ? level : LEVELS_MOST);
	ctx_buf_put_u8(&page->buf, '>');
}

void ctx_static_object(struct ctx_static_page *page, uint32_t function)
{
	const char *object = ctx_function_cell(page->input->profile, function).object;

	ctx_buf_put_text(&page->buf, "<td class=\"t o\">");
	ctx_html_put_text(&page->buf, object != NULL ? ctx_html_file_name(object) : "");
	ctx_buf_put_text(&page->buf, "</td>");
}

void ctx_static_function(struct ctx_static_page *page, uint32_t function, uint32_t level)
{
	ctx_static_put_indent(page, level);
	ctx_static_put_link(page, function, false);
	ctx_buf_put_text(&page->buf, "</td>");
	ctx_static_object(page, function);
}

void ctx_static_more(struct ctx_static_page *page, uint64_t n, const char *what)
{
	if (n != 0)
		ctx_buf_printf(&page->buf, "<p class=\"faint\">(%" PRIu64 " more %s)</p>\n", n, what);
}
