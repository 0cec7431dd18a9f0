#include "report/diff_html.h"

#include "base/mem.h"
#include "report/diff_forms.h"
#include "report/diff_notes.h"
#include "report/html_file.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 400u   /* of a time line */
#define LINES_MOST 8u /* time lines of a side */

struct ctx_diff_html {
	struct ctx_buf lines, notes, left_out, tables; /* items of JSON arrays */
};

static void put_comma(struct ctx_buf *list)
{
	if (list->n != 0)
		ctx_buf_put_text(list, ",\n");
}

static void put_note(void *context, const char *path, const char *text)
{
	struct ctx_buf *notes = context;

	put_comma(notes);
	ctx_buf_put_text(notes, "{\"recording\":");
	ctx_name_put_json(notes, path);
	ctx_buf_put_text(notes, ",\"text\":");
	ctx_name_put_json(notes, text);
	ctx_buf_put_u8(notes, '}');
}

/* {"side":"A","recording":"a.er","begin_ns":0,"end_ns":1000,"weights":[...]} */
static void put_line(struct ctx_buf *lines, enum ctx_compare_side side, struct ctx_report_source *source)
{
	const struct ctx_report_selection *selection = &source->selection;
	struct ctx_report_slices slices;

	/* A run of an archive may have none. */
	if (selection->n_intervals == 0 || source->slices(source, SLICES, 0, &slices, NULL) != CTX_OK ||
	    slices.per_thread == 0)
		return;
	put_comma(lines);
	ctx_buf_printf(lines, "{\"side\":\"%c\",\"recording\":", "AB"[side]);
	ctx_name_put_json(lines, selection->path);
	ctx_buf_printf(lines, ",\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 ",\"weights\":[",
		       selection->intervals[0].begin_ns,
		       selection->intervals[selection->n_intervals - 1].end_ns);
	for (size_t i = 0; i < slices.per_thread; i++)
		ctx_buf_printf(lines, "%s%" PRIu64, i != 0 ? "," : "", slices.slices[i].weight);
	ctx_buf_put_text(lines, "]}");
}

enum ctx_status ctx_diff_html_create(const struct ctx_diff_spec *spec, struct ctx_diff_html **ret,
				     struct ctx_err *err)
{
	struct ctx_diff_html *page = ctx_calloc(1, sizeof(*page));

	if (page == NULL)
		return ctx_err_nomem(err);
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++) {
		for (size_t i = 0; i < spec->sides[side].n && i < LINES_MOST; i++)
			put_line(&page->lines, side, spec->sides[side].sources[i]);
	}
	ctx_diff_notes(spec, put_note, &page->notes);
	*ret = page;
	return CTX_OK;
}

void ctx_diff_html_destroy(struct ctx_diff_html *page)
{
	if (page == NULL)
		return;
	ctx_buf_deinit(&page->lines);
	ctx_buf_deinit(&page->notes);
	ctx_buf_deinit(&page->left_out);
	ctx_buf_deinit(&page->tables);
	free(page);
}

/* {"title":"functions, self time","data":{...}} */
static void put_table(struct ctx_buf *tables, const struct ctx_diff_spec *spec,
		      const struct ctx_diff_named *named, const char *json)
{
	const struct ctx_diff_form *form = ctx_diff_form_of(spec->subject);
	const char *whole = form->whole != NULL ? form->whole : spec->total ? "total time" : "self time";
	struct ctx_buf title CTX_AUTO_BUF = {0};

	if (named != NULL && named->title != NULL)
		ctx_buf_put_text(&title, named->title);
	else
		ctx_buf_printf(&title, "%s, %s", form->title, whole);
	ctx_buf_put_u8(&title, '\0');
	if (title.failed) {
		tables->failed = true;
		return;
	}
	put_comma(tables);
	ctx_buf_put_text(tables, "{\"title\":");
	ctx_name_put_json(tables, (const char *)title.bytes);
	ctx_buf_put_text(tables, ",\"data\":");
	ctx_buf_put_text(tables, json);
	ctx_buf_put_u8(tables, '}');
}

enum ctx_status ctx_diff_html_add(struct ctx_diff_html *page, const struct ctx_diff_spec *spec,
				  const struct ctx_diff_named *named,
				  const struct ctx_report_options *options, struct ctx_err *err)
{
	struct ctx_report_options json = *options;
	char *text CTX_AUTO_FREE = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);
	enum ctx_status status;

	if (memory == NULL)
		return ctx_err_nomem(err);
	json.format = CTX_REPORT_JSON;
	json.out = memory;
	json.limit = 0;
	status = ctx_diff_report_print(spec, named, &json, err);
	if (fclose(memory) != 0 && status == CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		put_table(&page->tables, spec, named, text);
		status = ctx_buf_check(&page->tables, err);
	}
	return status;
}

void ctx_diff_html_leave_out(struct ctx_diff_html *page, const char *text)
{
	put_comma(&page->left_out);
	ctx_name_put_json(&page->left_out, text);
}

size_t ctx_diff_html_size(const struct ctx_diff_html *page)
{
	return page->tables.n;
}

static void put_list(struct ctx_buf *text, const char *key, const struct ctx_buf *items)
{
	ctx_buf_printf(text, "\"%s\":[", key);
	ctx_buf_put(text, items->bytes, items->n);
	ctx_buf_put_u8(text, ']');
	text->failed |= items->failed;
}

enum ctx_status ctx_diff_html_write(const struct ctx_diff_html *page, size_t max_bytes, FILE *out,
				    struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0}, head CTX_AUTO_BUF = {0}, packed CTX_AUTO_BUF = {0};
	struct ctx_html_template template = ctx_html_diff_template();
	const struct ctx_html_file file = {&head, &packed};
	enum ctx_status status;
	size_t n;

	ctx_buf_put_text(&head, "{\"version\":1}");
	ctx_buf_put_u8(&text, '{');
	put_list(&text, "tables", &page->tables);
	ctx_buf_put_text(&text, ",\n");
	put_list(&text, "lines", &page->lines);
	ctx_buf_put_text(&text, ",\n");
	put_list(&text, "notes", &page->notes);
	ctx_buf_put_text(&text, ",\n");
	put_list(&text, "left_out", &page->left_out);
	ctx_buf_put_text(&text, "}\n");
	text.failed |= head.failed;
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK)
		status = ctx_html_gzip(&text, &packed, err);
	if (status != CTX_OK)
		return status;
	n = ctx_html_file_size(template, &file);
	if (n > max_bytes)
		return ctx_err_set(err, CTX_E_LIMIT, "a page of %zu bytes is larger than --max-size", n);
	return ctx_html_file_write(template, &file, out, err);
}
