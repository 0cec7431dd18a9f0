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
	ctx_phases_deinit(&marked->phases);
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
		status = ctx_query_phases_of_run(store, &ret->phases, err);
		spec->phases = ret->phases.groups;
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
