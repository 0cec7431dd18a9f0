#include "report/html_marks.h"

#include "base/mem.h"
#include "model/mark_spans.h"
#include "model/phase.h"
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

/* Names of marks, then the letters of phases. */
static void put_name(const struct ctx_profile *profile, uint32_t name, struct ctx_buf *out)
{
	if (name <= profile->n_files) {
		ctx_name_put_json(out, name < profile->n_files ? profile->files[name] : "<Unknown>");
		return;
	}
	ctx_buf_printf(out, "\"phase %s\"", ctx_phase_letter(name - profile->n_files - 1));
}

static uint32_t name_of(const struct ctx_profile *profile, const struct ctx_mark_span *span, uint32_t n_names)
{
	return span->name < n_names ? span->name : profile->n_files;
}

/* Names get numbers by first appearance. */
static enum ctx_status put(const struct ctx_profile *profile, uint32_t n_names, struct ctx_mark_spans *spans,
			   struct ctx_buf *out, struct ctx_err *err)
{
	uint32_t *numbers CTX_AUTO_FREE = ctx_calloc((size_t)n_names, sizeof(*numbers));
	size_t n = spans->n < SPANS_MAX ? spans->n : SPANS_MAX;
	uint32_t n_numbers = 0;

	if (numbers == NULL)
		return ctx_err_nomem(err);
	if (spans->n > n)
		qsort(spans->items, spans->n, sizeof(*spans->items), by_length);
	qsort(spans->items, n, sizeof(*spans->items), by_begin);
	ctx_buf_put_text(out, ",\"marks\":{\"names\":[");
	for (size_t i = 0; i < n; i++) {
		uint32_t name = name_of(profile, &spans->items[i], n_names);

		if (numbers[name] != 0)
			continue;
		numbers[name] = ++n_numbers;
		ctx_buf_put_text(out, n_numbers != 1 ? "," : "");
		put_name(profile, name, out);
	}
	ctx_buf_put_text(out, "],\"spans\":[");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_mark_span *span = &spans->items[i];

		ctx_buf_printf(out, "%s[%" PRIu64 ",%" PRIu64 ",%u,%d]", i != 0 ? "," : "", span->begin_ns,
			       span->end_ns, numbers[name_of(profile, span, n_names)] - 1, (int)span->kind);
	}
	ctx_buf_printf(out, "],\"left_out\":%zu}", spans->n - n);
	return ctx_buf_check(out, err);
}

/* Phases as intervals, with names behind those of marks. `*n_names` with them. */
static enum ctx_status add_phases(struct ctx_report_source *source, struct ctx_mark_spans *spans,
				  uint32_t *n_names, struct ctx_err *err)
{
	const struct ctx_phases *phases;
	const struct ctx_phase_group *group;
	enum ctx_status status = source->phases(source, true, &phases, err);

	if (status != CTX_OK || phases->n_groups == 0 || phases->groups[0].n < 2)
		return status;
	group = phases->groups;
	for (size_t i = 0; i < group->n && status == CTX_OK; i++) {
		const struct ctx_phase *phase = &group->phases[i];

		status = ctx_grow(&spans->items, &spans->cap, spans->n + 1, err);
		if (status == CTX_OK)
			spans->items[spans->n++] =
				(struct ctx_mark_span){.begin_ns = phase->interval.begin_ns,
						       .end_ns = phase->interval.end_ns - 1,
						       .name = *n_names + phase->letter,
						       .thread = CTX_NONE,
						       .kind = CTX_MARK_IS_INTERVAL};
	}
	*n_names += group->n_letters;
	return status;
}

enum ctx_status ctx_html_marks_put(struct ctx_report_source *source, struct ctx_buf *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	uint32_t n_names = profile->n_files + 1; /* the last one: an unknown name */
	struct ctx_mark_spans spans = {0};
	struct ctx_report_traced marks = {0};
	enum ctx_status status = CTX_OK;

	if (profile->traced[CTX_TRACED_MARK] != 0)
		status = source->traced(source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &spans, err);
	if (status == CTX_OK)
		status = add_phases(source, &spans, &n_names, err);
	if (status == CTX_OK && spans.n != 0)
		status = put(profile, n_names, &spans, out, err);
	ctx_mark_spans_deinit(&spans);
	return status;
}
