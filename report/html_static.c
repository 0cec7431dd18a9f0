/*
 * Tables on paper: one HTML page without a script. What it shows of a selection is what the reports show.
 *
 *	head, warnings, contents
 *	top functions <--anchors--> callers and callees of the hottest ones
 *	hottest stacks, call tree: every name leads to one of the two
 *	threads, processes
 */
#include "report/html_static.h"

#include "base/mem.h"
#include "report/embedded.h"
#include "report/head.h"
#include "report/html_text.h"
#include "report/report_exports.h"

#include <inttypes.h>

static void put_pair(struct ctx_static_page *page, const char *key, const char *value)
{
	ctx_buf_put_text(&page->buf, "<tr><th scope=\"row\">");
	ctx_html_put_text(&page->buf, key);
	ctx_buf_put_text(&page->buf, "</th>");
	ctx_static_text(page, value);
	ctx_buf_put_text(&page->buf, "</tr>\n");
}

static void put_warning(void *context, const char *text)
{
	struct ctx_static_page *page = context;

	ctx_buf_put_text(&page->buf, "<li>");
	ctx_html_put_text(&page->buf, text);
	ctx_buf_put_text(&page->buf, "</li>\n");
}

static void put_warnings(struct ctx_static_page *page)
{
	size_t before = page->buf.n, filled;

	ctx_buf_put_text(&page->buf, "<ul class=\"notes\">\n");
	filled = page->buf.n;
	ctx_head_warnings(&page->head, put_warning, page);
	if (page->buf.n == filled)
		page->buf.n = before; /* a list has items */
	else
		ctx_buf_put_text(&page->buf, "</ul>\n");
}

/* The notes may have lines; each stays one. */
static void put_notes(struct ctx_static_page *page, const char *notes)
{
	struct ctx_buf line = {0};

	if (*notes == '\0')
		return;
	ctx_buf_put_text(&page->buf, "<p class=\"pre\">");
	for (;; notes++) {
		if (*notes != '\n' && *notes != '\0') {
			ctx_buf_put_u8(&line, (uint8_t)*notes);
			continue;
		}
		ctx_buf_put_u8(&line, '\0');
		page->buf.failed |= line.failed;
		if (!line.failed)
			ctx_html_put_text(&page->buf, (const char *)line.bytes);
		ctx_buf_clear(&line);
		if (*notes == '\0')
			break;
		ctx_buf_put_u8(&page->buf, '\n');
	}
	ctx_buf_put_text(&page->buf, "</p>\n");
	ctx_buf_deinit(&line);
}

static void put_pairs(struct ctx_static_page *page)
{
	const struct ctx_profile *profile = page->input->profile;
	struct ctx_buf selection = {0};
	char text[CTX_FIGURE_MAX + 8], duration[CTX_FIGURE_MAX];

	ctx_head_put_summary(&page->head, &selection);
	ctx_buf_put_u8(&selection, '\0');
	page->buf.failed |= selection.failed;
	ctx_figure_fixed(duration, profile->run.end_ns, 1000 * 1000, 3);
	snprintf(text, sizeof(text), "%s ms", duration);
	ctx_buf_put_text(&page->buf, "<div class=\"wide\"><table class=\"pairs\"><tbody>\n");
	put_pair(page, "selection", selection.failed ? "" : (const char *)selection.bytes);
	put_pair(page, "recording", page->input->selection->path);
	for (size_t i = 0; i < profile->n_properties; i++)
		put_pair(page, profile->properties[i].key, profile->properties[i].value);
	put_pair(page, "duration of the run", text);
	ctx_buf_put_text(&page->buf, "</tbody></table></div>\n");
	ctx_buf_deinit(&selection);
}

static void put_head(struct ctx_static_page *page)
{
	const char *name = page->input->profile->name;

	ctx_buf_put_text(
		&page->buf,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		"'unsafe-inline'\" />\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>");
	ctx_html_put_text(&page->buf, name);
	ctx_buf_printf(&page->buf, ": profile</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>",
		       ctx_static_style);
	ctx_html_put_text(&page->buf, name);
	ctx_buf_put_text(&page->buf, "</h1>\n");
	put_notes(page, page->input->profile->notes);
	put_warnings(page);
	put_pairs(page);
	ctx_buf_put_text(&page->buf, "<nav aria-label=\"Contents\"><ul>\n"
				     "<li><a href=\"#functions\">Top functions</a></li>\n"
				     "<li><a href=\"#stacks\">Hottest stacks</a></li>\n"
				     "<li><a href=\"#tree\">Call tree</a></li>\n"
				     "<li><a href=\"#callers-callees\">Callers and callees</a></li>\n"
				     "<li><a href=\"#threads\">Threads</a></li>\n"
				     "<li><a href=\"#processes\">Processes</a></li>\n"
				     "</ul></nav>\n");
}

static enum ctx_status make_anchors(struct ctx_static_page *page, struct ctx_err *err)
{
	uint32_t n = page->input->profile->n_functions;

	page->row_of = ctx_calloc(n, sizeof(*page->row_of));
	page->stanza_of = ctx_calloc(n, sizeof(*page->stanza_of));
	if (page->row_of == NULL || page->stanza_of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		page->row_of[i] = page->stanza_of[i] = CTX_NONE;
	for (uint32_t i = 0; i < page->flat.n && i < CTX_STATIC_FUNCTIONS; i++) {
		if (page->flat.rows[i].function < n)
			page->row_of[page->flat.rows[i].function] = i;
	}
	for (uint32_t i = 0; i < page->stanzas.n; i++) {
		uint32_t function = page->stanzas.stanzas[i].self.function;

		if (function < n && page->row_of[function] < CTX_STATIC_STANZAS)
			page->stanza_of[function] = i;
	}
	return CTX_OK;
}

static enum ctx_status put_page(struct ctx_static_page *page, struct ctx_err *err)
{
	enum ctx_status status = make_anchors(page, err);

	if (status != CTX_OK)
		return status;
	put_head(page);
	ctx_static_functions(page);
	status = ctx_static_stacks(page, err);
	if (status != CTX_OK)
		return status;
	ctx_static_tree(page);
	ctx_static_stanzas(page);
	status = ctx_static_threads(page, err);
	ctx_buf_put_text(&page->buf, "</main>\n</body>\n</html>\n");
	return status == CTX_OK ? ctx_buf_check(&page->buf, err) : status;
}

static enum ctx_status write_html_static(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct ctx_static_page page = {.input = input};
	enum ctx_status status = input->source->parts(input->source, &(struct ctx_parts_query){.calls = true},
						      &page.whole, err);

	if (status == CTX_OK)
		status = input->source->parts(input->source, &(struct ctx_parts_query){.per_thread = true},
					      &page.parts, err);
	if (status == CTX_OK)
		status = ctx_calltree_build(&input->profile->cct, input->profile->n_functions,
					    page.whole.parts[0].histogram, &page.tree, err);
	if (status != CTX_OK)
		return status;
	page.head = ctx_head_of_parts(input->selection, &page.whole);
	status = ctx_flat_build(&page.tree, &page.flat, err);
	if (status == CTX_OK)
		status = ctx_stanzas_build(&page.tree, &page.stanzas, err);
	if (status == CTX_OK)
		status = put_page(&page, err);
	if (status == CTX_OK)
		fwrite(page.buf.bytes, 1, page.buf.n, out);
	ctx_stanzas_deinit(&page.stanzas);
	ctx_flat_deinit(&page.flat);
	ctx_calltree_deinit(&page.tree);
	ctx_buf_deinit(&page.buf);
	free(page.row_of);
	free(page.stanza_of);
	return status;
}

const struct ctx_export_kind ctx_export_html_static = {
	.name = "html-static",
	.suffix = ".html",
	.write = write_html_static,
};
