/* The table of functions, and the stanzas of those at its top: callers, self, callees. */
#include "report/html_static.h"
#include "report/html_text.h"
#include "report/part_cells.h"

#include <inttypes.h>

static void put_flat_row(struct ctx_static_page *page, const struct ctx_flat_row *row)
{
	ctx_static_weight(page, row->base);
	ctx_static_percent(page, row->base);
	ctx_static_weight(page, row->cum);
	ctx_static_percent(page, row->cum);
	ctx_static_count(page, row->base_samples);
	ctx_static_function(page, row->function, 0);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

/* "Excl. ms"; the text lives as long as `out`. */
static const char *with_unit(char out[64], const char *title, const struct ctx_static_page *page)
{
	snprintf(out, 64, "%s%s%.40s", title, *title != '\0' ? " " : "", page->head.scale.unit);
	return out;
}

void ctx_static_functions(struct ctx_static_page *page)
{
	char exclusive[64], inclusive[64];
	const char *const titles[] = {with_unit(exclusive, "Excl.", page),
				      "%",
				      with_unit(inclusive, "Incl.", page),
				      "%",
				      "Samples",
				      "<Function",
				      "<Object",
				      NULL};
	const struct ctx_flat *flat = &page->flat;
	const struct ctx_flat_row total = {.function = CTX_TRIE_ROOT_KEY,
					   .base = flat->weight,
					   .cum = flat->weight,
					   .base_samples = flat->samples};

	ctx_static_section(page, "functions", "Top functions", true);
	ctx_static_table(page,
			 "By exclusive weight. Exclusive: the function itself ran; inclusive: it or what "
			 "it called.",
			 titles);
	ctx_buf_put_text(&page->buf, "<tr class=\"total\">");
	put_flat_row(page, &total);
	for (uint32_t i = 0; i < flat->n && i < CTX_STATIC_FUNCTIONS; i++) {
		ctx_buf_printf(&page->buf, "<tr id=\"f%" PRIu32 "\">", flat->rows[i].function);
		put_flat_row(page, &flat->rows[i]);
	}
	ctx_static_table_end(page);
	ctx_static_more(page, flat->n > CTX_STATIC_FUNCTIONS ? flat->n - CTX_STATIC_FUNCTIONS : 0,
			"functions");
}

static void put_edge(struct ctx_static_page *page, const char *relation, const struct ctx_edge_row *row)
{
	ctx_static_text(page, relation);
	ctx_static_signed(page, row->calls);
	ctx_static_weight(page, row->base);
	ctx_static_weight(page, row->cum);
	ctx_static_percent(page, row->cum);
	ctx_static_function(page, row->function, 0);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

static void put_self(struct ctx_static_page *page, const struct ctx_flat_row *self)
{
	ctx_buf_put_text(&page->buf, "<tr class=\"self\"><td class=\"t\">self</td>");
	ctx_static_signed(page, self->calls);
	ctx_static_weight(page, self->base);
	ctx_static_weight(page, self->cum);
	ctx_static_percent(page, self->cum);
	ctx_buf_put_text(&page->buf, "<td class=\"t name\">");
	ctx_static_put_link(page, self->function, true);
	ctx_buf_put_text(&page->buf, "</td>");
	ctx_static_object(page, self->function);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

/* What does not fit is summed, so that the sums of C7 can be checked on paper. */
static void put_edges(struct ctx_static_page *page, const char *relation, const struct ctx_edge_row *rows,
		      uint32_t n)
{
	struct ctx_edge_row rest = {0};

	for (uint32_t i = 0; i < n && i < CTX_STATIC_EDGES; i++) {
		ctx_buf_put_text(&page->buf, "<tr>");
		put_edge(page, relation, &rows[i]);
	}
	for (uint32_t i = CTX_STATIC_EDGES; i < n; i++) {
		rest.calls += rows[i].calls;
		rest.base += rows[i].base;
		rest.cum += rows[i].cum;
	}
	if (n <= CTX_STATIC_EDGES)
		return;
	ctx_buf_put_text(&page->buf, "<tr class=\"more\">");
	ctx_static_text(page, relation);
	ctx_static_signed(page, rest.calls);
	ctx_static_weight(page, rest.base);
	ctx_static_weight(page, rest.cum);
	ctx_static_percent(page, rest.cum);
	ctx_buf_printf(&page->buf, "<td class=\"t\">(%" PRIu32 " more)</td><td></td></tr>\n",
		       n - CTX_STATIC_EDGES);
}

static void put_stanza(struct ctx_static_page *page, const struct ctx_stanza *stanza)
{
	char base[64], cum[64];
	const char *const titles[] = {"<Relation",
				      "Calls",
				      with_unit(base, "Base", page),
				      with_unit(cum, "Cum", page),
				      "%",
				      "<Function",
				      "<Object",
				      NULL};
	uint32_t function = stanza->self.function;

	ctx_buf_printf(&page->buf, "<h3 id=\"s%" PRIu32 "\"><span class=\"f\">", function);
	ctx_html_put_text(&page->buf, ctx_function_cell(page->input->profile, function).name);
	ctx_buf_put_text(&page->buf, "</span>");
	ctx_static_put_object(page, function);
	ctx_buf_put_text(&page->buf, "</h3>\n");
	ctx_static_table(page, NULL, titles);
	put_edges(page, "caller", stanza->parents, stanza->n_parents);
	put_self(page, &stanza->self);
	put_edges(page, "callee", stanza->children, stanza->n_children);
	ctx_static_table_end(page);
}

void ctx_static_stanzas(struct ctx_static_page *page)
{
	ctx_static_section(page, "callers-callees", "Callers and callees", false);
	ctx_buf_put_text(&page->buf,
			 "<p class=\"faint\">Of the functions with the most exclusive weight.</p>\n");
	for (uint32_t i = 0; i < page->flat.n && i < CTX_STATIC_STANZAS; i++) {
		uint32_t function = page->flat.rows[i].function;

		/* An empty selection has no functions, and whatever is in the flat profile has a stanza. */
		if (function < page->input->profile->n_functions && page->stanza_of[function] != CTX_NONE)
			put_stanza(page, &page->stanzas.stanzas[page->stanza_of[function]]);
	}
}
