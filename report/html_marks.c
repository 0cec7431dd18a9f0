#include "report/html_marks.h"

#include "base/mem.h"
#include "model/mark_spans.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdlib.h>

#define SPANS_MAX 2000u

static int by_length(const void *a, const void *b)
{
	const struct ctx_mark_span *left = a, *right = b;
	uint64_t left_ns = left->end_ns - left->begin_ns, right_ns = right->end_ns - right->begin_ns;

	if (left_ns != right_ns)
		return left_ns > right_ns ? -1 : 1;
	return left->begin_ns < right->begin_ns ? -1 : left->begin_ns > right->begin_ns;
}

static int by_begin(const void *a, const void *b)
{
	const struct ctx_mark_span *left = a, *right = b;

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

/* Names get numbers by first appearance. */
static enum ctx_status put(const struct ctx_profile *profile, struct ctx_mark_spans *spans,
			   struct ctx_buf *out, struct ctx_err *err)
{
	uint32_t *numbers CTX_AUTO_FREE = ctx_calloc((size_t)profile->n_files + 1, sizeof(*numbers));
	size_t n = spans->n < SPANS_MAX ? spans->n : SPANS_MAX;
	uint32_t n_names = 0;

	if (numbers == NULL)
		return ctx_err_nomem(err);
	if (spans->n > n)
		qsort(spans->items, spans->n, sizeof(*spans->items), by_length);
	qsort(spans->items, n, sizeof(*spans->items), by_begin);
	ctx_buf_put_text(out, ",\"marks\":{\"names\":[");
	for (size_t i = 0; i < n; i++) {
		uint32_t name = spans->items[i].name;

		if (name >= profile->n_files)
			name = profile->n_files;
		if (numbers[name] != 0)
			continue;
		numbers[name] = ++n_names;
		ctx_buf_put_text(out, n_names != 1 ? "," : "");
		ctx_name_put_json(out, name < profile->n_files ? profile->files[name] : "<Unknown>");
	}
	ctx_buf_put_text(out, "],\"spans\":[");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_mark_span *span = &spans->items[i];
		uint32_t name = span->name < profile->n_files ? span->name : profile->n_files;

		ctx_buf_printf(out, "%s[%" PRIu64 ",%" PRIu64 ",%u,%d]", i != 0 ? "," : "", span->begin_ns,
			       span->end_ns, numbers[name] - 1, (int)span->kind);
	}
	ctx_buf_printf(out, "],\"left_out\":%zu}", spans->n - n);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_html_marks_put(struct ctx_report_source *source, struct ctx_buf *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_mark_spans spans = {0};
	struct ctx_report_traced marks;
	enum ctx_status status;

	if (profile->traced[CTX_TRACED_MARK] == 0)
		return CTX_OK;
	status = source->traced(source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &spans, err);
	if (status == CTX_OK && spans.n != 0)
		status = put(profile, &spans, out, err);
	ctx_mark_spans_deinit(&spans);
	return status;
}
