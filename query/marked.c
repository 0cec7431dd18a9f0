#include "query/marked.h"

#include "base/mem.h"
#include "query/phase_query.h"

#include <stdlib.h>

struct marks {
	struct ctx_traced *items;
	size_t n, cap;
};

static enum ctx_status take(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	struct marks *marks = context;
	enum ctx_status status = ctx_grow(&marks->items, &marks->cap, marks->n + 1, err);

	if (status == CTX_OK)
		marks->items[marks->n++] = *operation;
	return status;
}

/* Blocks of several threads may overlap in time. */
static int by_time(const void *a, const void *b)
{
	const struct ctx_traced *left = a, *right = b;

	return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

void ctx_marked_deinit(struct ctx_marked *marked)
{
	ctx_mark_spans_deinit(&marked->spans);
	for (size_t i = 0; i < marked->n && marked->phases != NULL; i++)
		ctx_phases_deinit(&marked->phases[i]);
	free(marked->phases);
	free(marked->groups);
}

/* The phases that an interval names, if it does. */
static enum ctx_status find_phases(struct ctx_store *store, const char *text, struct ctx_phases *ret,
				   struct ctx_err *err)
{
	struct ctx_buf process CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (!ctx_phase_text_process(text, &process))
		return ctx_query_phases_of_run(store, ret, err);
	status = ctx_buf_check(&process, err);
	if (status == CTX_OK)
		status = ctx_query_phases_of_process(store, (const char *)process.bytes, ret, err);
	return status == CTX_OK ? CTX_OK : ctx_err_prefix(err, status, "interval '%s'", text);
}

static enum ctx_status load_phases(struct ctx_store *store, const struct ctx_selection_spec *spec,
				   struct ctx_marked *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ret->phases = ctx_calloc(spec->n_intervals + 1, sizeof(*ret->phases));
	ret->groups = ctx_calloc(spec->n_intervals + 1, sizeof(struct ctx_phase_group *));
	if (ret->phases == NULL || ret->groups == NULL)
		return ctx_err_nomem(err);
	for (; ret->n < spec->n_intervals && status == CTX_OK; ret->n++) {
		if (ctx_phase_text_is(spec->intervals[ret->n]))
			status = find_phases(store, spec->intervals[ret->n], &ret->phases[ret->n], err);
		ret->groups[ret->n] = ret->phases[ret->n].groups;
	}
	return status;
}

enum ctx_status ctx_marked_load(struct ctx_store *store, struct ctx_selection_spec *spec,
				struct ctx_marked *ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	struct marks marks = {0};
	enum ctx_status status = CTX_OK;
	bool asks = false, asks_phases = false;

	*ret = (struct ctx_marked){0};
	ret->view = (struct ctx_mark_view){&ret->spans, profile->files, profile->n_files, profile->run};
	spec->marks = &ret->view;
	for (size_t i = 0; i < spec->n_intervals; i++) {
		asks |= ctx_mark_text_is(spec->intervals[i]);
		asks_phases |= ctx_phase_text_is(spec->intervals[i]);
	}
	if (asks_phases) {
		status = load_phases(store, spec, ret, err);
		spec->phases = ret->groups;
	}
	if (status == CTX_OK && asks)
		status = ctx_store_scan_traced(
			store,
			&(struct ctx_store_traced_scan){CTX_TRACED_MARK, CTX_INTERVAL_ALL, take, &marks},
			err);
	if (status == CTX_OK && marks.n != 0) {
		qsort(marks.items, marks.n, sizeof(*marks.items), by_time);
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &ret->spans, err);
	}
	free(marks.items);
	return status;
}
