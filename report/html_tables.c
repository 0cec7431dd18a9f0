#include "report/html_tables.h"

#include "base/mem.h"
#include "report/embedded.h"
#include "report/html_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Anchors that a function may have on the page. */
#define HAS_ROW 1u
#define HAS_STANZA 2u

/* A name in the body that may become a link. */
struct link {
	size_t begin, end; /* in the body */
	uint32_t function;
	enum ctx_anchor own; /* the name is at this anchor itself */
	uint32_t recording;
};

struct recording {
	uint8_t *places; /* owned; by function: HAS_* */
	size_t n_places;
	char **said; /* owned, as are the texts */
	size_t n_said, said_cap;
};

struct ctx_html_tables {
	struct ctx_buf body, contents;
	char *title; /* owned; NULL: none yet */
	struct link *links;
	size_t n_links, links_cap;
	struct recording *recordings; /* the last one is current */
	size_t n_recordings, recordings_cap;
	const char **sections; /* owned; names of reports, borrowed */
	size_t n_sections, sections_cap;
};

enum ctx_status ctx_html_tables_create(struct ctx_html_tables **ret, struct ctx_err *err)
{
	struct ctx_html_tables *page = ctx_calloc(1, sizeof(*page));

	if (page == NULL)
		return ctx_err_nomem(err);
	*ret = page;
	return CTX_OK;
}

void ctx_html_tables_destroy(struct ctx_html_tables *page)
{
	if (page == NULL)
		return;
	for (size_t i = 0; i < page->n_recordings; i++) {
		struct recording *recording = &page->recordings[i];

		for (size_t j = 0; j < recording->n_said; j++)
			free(recording->said[j]);
		free(recording->said);
		free(recording->places);
	}
	free(page->recordings);
	free(page->links);
	free(page->sections);
	free(page->title);
	ctx_buf_deinit(&page->body);
	ctx_buf_deinit(&page->contents);
	free(page);
}

struct ctx_buf *ctx_html_tables_body(struct ctx_html_tables *page)
{
	return &page->body;
}

static struct recording *at_hand(const struct ctx_html_tables *page)
{
	return page->n_recordings != 0 ? &page->recordings[page->n_recordings - 1] : NULL;
}

void ctx_html_tables_recording(struct ctx_html_tables *page, const char *name)
{
	if (ctx_grow(&page->recordings, &page->recordings_cap, page->n_recordings + 1, NULL) != CTX_OK) {
		page->body.failed = true;
		return;
	}
	page->recordings[page->n_recordings++] = (struct recording){0};
	if (page->title == NULL)
		page->title = strdup(name);
	page->body.failed |= page->title == NULL;
	if (page->n_recordings == 1) /* its heading is above the contents */
		return;
	ctx_buf_put_text(&page->body, "<h1>");
	ctx_html_put_text(&page->body, name);
	ctx_buf_put_text(&page->body, "</h1>\n");
}

void ctx_html_tables_section(struct ctx_html_tables *page, const char *report)
{
	char id[64];
	size_t before = 0;

	for (size_t i = 0; i < page->n_sections; i++)
		before += strcmp(page->sections[i], report) == 0;
	if (ctx_grow(&page->sections, &page->sections_cap, page->n_sections + 1, NULL) != CTX_OK) {
		page->body.failed = true;
		return;
	}
	page->sections[page->n_sections++] = report;
	if (before == 0)
		snprintf(id, sizeof(id), "%s", report);
	else
		snprintf(id, sizeof(id), "%s-%zu", report, before + 1);
	ctx_buf_printf(&page->contents, "<li><a href=\"#%s\">%s</a></li>\n", id, report);
	ctx_buf_printf(&page->body, "<h2 id=\"%s\"%s>%s</h2>\n", id,
		       page->n_sections == 1 ? " class=\"here\"" : "", report);
}

bool ctx_html_tables_is_new(struct ctx_html_tables *page, const char *text)
{
	struct recording *recording = at_hand(page);
	char *copy;

	if (recording == NULL)
		return true;
	for (size_t i = 0; i < recording->n_said; i++) {
		if (strcmp(recording->said[i], text) == 0)
			return false;
	}
	copy = strdup(text);
	if (copy == NULL ||
	    ctx_grow(&recording->said, &recording->said_cap, recording->n_said + 1, NULL) != CTX_OK) {
		free(copy);
		page->body.failed = true;
		return true;
	}
	recording->said[recording->n_said++] = copy;
	return true;
}

static unsigned place_of(enum ctx_anchor anchor)
{
	return anchor == CTX_ANCHOR_STANZA ? HAS_STANZA : HAS_ROW;
}

static void put_id(struct ctx_buf *buf, enum ctx_anchor anchor, uint32_t function, uint32_t recording)
{
	ctx_buf_printf(buf, "%c%" PRIu32, anchor == CTX_ANCHOR_STANZA ? 's' : 'f', function);
	if (recording != 0)
		ctx_buf_printf(buf, "-%" PRIu32, recording + 1);
}

void ctx_html_tables_put_anchor(struct ctx_html_tables *page, const struct ctx_cell *cell)
{
	struct recording *recording = at_hand(page);
	size_t function, before;

	if (recording == NULL || cell->anchor == CTX_ANCHOR_NONE || cell->link == 0)
		return;
	function = cell->link - 1;
	before = recording->n_places;
	if (function >= before) {
		size_t n = 2 * function + 64;
		uint8_t *places = realloc(recording->places, n);

		if (places == NULL) {
			page->body.failed = true;
			return;
		}
		memset(places + before, 0, n - before);
		recording->places = places;
		recording->n_places = n;
	}
	if ((recording->places[function] & place_of(cell->anchor)) != 0)
		return;
	recording->places[function] |= (uint8_t)place_of(cell->anchor);
	ctx_buf_put_text(&page->body, " id=\"");
	put_id(&page->body, cell->anchor, (uint32_t)function, (uint32_t)page->n_recordings - 1);
	ctx_buf_put_text(&page->body, "\"");
}

void ctx_html_tables_put_name(struct ctx_html_tables *page, const struct ctx_cell *cell)
{
	struct link link = {.begin = page->body.n, .function = cell->link - 1, .own = cell->anchor};

	ctx_html_put_text(&page->body, cell->name);
	link.end = page->body.n;
	if (cell->link == 0 || page->n_recordings == 0)
		return;
	link.recording = (uint32_t)page->n_recordings - 1;
	if (ctx_grow(&page->links, &page->links_cap, page->n_links + 1, NULL) != CTX_OK)
		page->body.failed = true;
	else
		page->links[page->n_links++] = link;
}

/* Link target of a name; CTX_ANCHOR_NONE: the page has no other row for the function. */
static enum ctx_anchor target_of(const struct ctx_html_tables *page, const struct link *link)
{
	const struct recording *recording = &page->recordings[link->recording];
	unsigned places = link->function < recording->n_places ? recording->places[link->function] : 0;

	if ((places & HAS_STANZA) != 0 && link->own != CTX_ANCHOR_STANZA)
		return CTX_ANCHOR_STANZA;
	return (places & HAS_ROW) != 0 && link->own != CTX_ANCHOR_ROW ? CTX_ANCHOR_ROW : CTX_ANCHOR_NONE;
}

static void write_body(const struct ctx_html_tables *page, struct ctx_buf *scratch, FILE *out)
{
	const uint8_t *bytes = page->body.bytes;
	size_t at = 0;

	for (size_t i = 0; i < page->n_links; i++) {
		const struct link *link = &page->links[i];
		enum ctx_anchor target = target_of(page, link);

		if (target == CTX_ANCHOR_NONE)
			continue;
		ctx_buf_clear(scratch);
		put_id(scratch, target, link->function, link->recording);
		fwrite(bytes + at, 1, link->begin - at, out);
		fprintf(out, "<a href=\"#%.*s\">", (int)scratch->n,
			scratch->n != 0 ? (const char *)scratch->bytes : "");
		fwrite(bytes + link->begin, 1, link->end - link->begin, out);
		fputs("</a>", out);
		at = link->end;
	}
	fwrite(bytes + at, 1, page->body.n - at, out);
}

enum ctx_status ctx_html_tables_write(const struct ctx_html_tables *page, FILE *out, struct ctx_err *err)
{
	struct ctx_buf head = {0};
	enum ctx_status status = CTX_OK;

	ctx_buf_put_text(
		&head, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		       "'unsafe-inline'\" />\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>");
	ctx_html_put_text(&head, page->title != NULL ? page->title : "ctxan");
	ctx_buf_printf(&head, ": profile</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
		       ctx_static_style);
	ctx_buf_put_text(&head, "<h1>");
	ctx_html_put_text(&head, page->title != NULL ? page->title : "ctxan");
	ctx_buf_put_text(&head, "</h1>\n");
	if (page->n_sections > 1) {
		ctx_buf_put_text(&head, "<nav aria-label=\"Contents\"><ul>\n");
		ctx_buf_put(&head, page->contents.bytes, page->contents.n);
		ctx_buf_put_text(&head, "</ul></nav>\n");
	}
	if (head.failed || page->body.failed || page->contents.failed)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		fwrite(head.bytes, 1, head.n, out);
		if (page->body.n != 0)
			write_body(page, &head, out);
		fputs("</main>\n</body>\n</html>\n", out);
	}
	ctx_buf_deinit(&head);
	return status;
}
