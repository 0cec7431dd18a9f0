#include "query/query.h"

#include "base/mem.h"

#include <stdlib.h>

struct collecting {
	const struct ctx_selection *selection;
	bool *selected; /* by thread; NULL: all */
	struct ctx_traced *items;
	size_t n, cap;
	bool out_of_order;
};

/*
 * Apart from its time. For filters it is a sample without a metric whose weight is its bytes or its
 * duration.
 */
static bool passes(const struct collecting *collecting, const struct ctx_traced *operation)
{
	const struct ctx_selection *selection = collecting->selection;
	struct ctx_sample sample = {
		.time_ns = operation->time_ns,
		.weight = operation->kind == CTX_TRACED_HEAP ? operation->size : operation->duration_ns,
		.thread = operation->thread,
		.cpu = operation->cpu,
		.metric = CTX_NONE,
		.raw_stack = operation->raw_stack,
		.stack = operation->stack,
	};

	if (collecting->selected != NULL && !collecting->selected[operation->thread])
		return false;
	return ctx_selection_has_operation(selection, &sample, operation);
}

static bool is_selected(const struct collecting *collecting, const struct ctx_traced *operation)
{
	const struct ctx_selection *selection = collecting->selection;

	if (!passes(collecting, operation))
		return false;
	/* What ends behind an interval may touch it, and begins and ends belong together. */
	if (operation->kind == CTX_TRACED_MARK)
		return true;
	return ctx_intervals_have(selection->intervals, selection->n_intervals, operation->time_ns);
}

/* Heap only: an unselected operation is reduced to freeing memory of selected ones. */
static void leave_frees(struct ctx_traced *operation)
{
	if (operation->operation == CTX_HEAP_FREE || ctx_heap_unmaps(operation->operation))
		return;
	if (ctx_heap_maps(operation->operation)) { /* replaces the mappings in its range */
		operation->operation = CTX_HEAP_UNMAP;
		operation->leaked = false;
		operation->leaked_size = 0;
		return;
	}
	if (ctx_traced_freed(operation) != 0)
		operation->address = ctx_traced_freed(operation);
	operation->operation = CTX_HEAP_FREE;
	operation->size = 0;
	operation->old_address = 0;
	operation->leaked = false;
	operation->leaked_size = 0;
}

static enum ctx_status collect(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	struct collecting *collecting = context;
	enum ctx_status status = ctx_grow(&collecting->items, &collecting->cap, collecting->n + 1, err);

	if (status != CTX_OK)
		return status;
	if (collecting->n != 0 && collecting->items[collecting->n - 1].time_ns > operation->time_ns)
		collecting->out_of_order = true;
	collecting->items[collecting->n++] = *operation;
	return CTX_OK;
}

static enum ctx_status take(void *context, const struct ctx_traced *item, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_traced taken = *item, *operation = &taken;

	if (!is_selected(collecting, operation)) {
		if (operation->kind != CTX_TRACED_HEAP)
			return CTX_OK;
		leave_frees(operation);
	}
	return collect(collecting, operation, err);
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_traced *left = a, *right = b;

	return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* Hands the operations over, in order of time. */
static enum ctx_status finish(struct collecting *collecting, enum ctx_status status,
			      struct ctx_report_traced *ret)
{
	*ret = (struct ctx_report_traced){0};
	if (status != CTX_OK) {
		free(collecting->items);
		return status;
	}
	if (collecting->out_of_order)
		qsort(collecting->items, collecting->n, sizeof(*collecting->items), by_time);
	*ret = (struct ctx_report_traced){collecting->items, collecting->n};
	return CTX_OK;
}

enum ctx_status ctx_query_traced(struct ctx_query *query, enum ctx_traced_kind kind,
				 struct ctx_report_traced *ret, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	struct ctx_interval span = kind == CTX_TRACED_MARK ? CTX_INTERVAL_ALL : ctx_selection_hull(selection);
	struct collecting collecting = {.selection = selection};
	enum ctx_status status =
		ctx_selection_mark_threads(selection, query->profile, &collecting.selected, err);

	if (status == CTX_OK)
		status = ctx_store_scan_traced(
			query->store, &(struct ctx_store_traced_scan){kind, span, take, &collecting}, err);
	free(collecting.selected);
	return finish(&collecting, status, ret);
}

enum ctx_status ctx_query_allocations(struct ctx_query *query, struct ctx_report_traced *ret,
				      struct ctx_err *err)
{
	struct collecting collecting = {.selection = query->selection};
	enum ctx_status status = ctx_store_scan_traced(
		query->store,
		&(struct ctx_store_traced_scan){CTX_TRACED_HEAP, CTX_INTERVAL_ALL, collect, &collecting},
		err);

	return finish(&collecting, status, ret);
}

struct passing_calls {
	struct collecting selecting;
	ctx_report_call_fn each;
	void *context;
};

static enum ctx_status pass_call(void *context, const struct ctx_traced *call, struct ctx_err *err)
{
	const struct passing_calls *passing = context;

	return passing->each(passing->context, call, passes(&passing->selecting, call), err);
}

enum ctx_status ctx_query_calls(struct ctx_query *query, uint64_t from_ns, ctx_report_call_fn each,
				void *context, struct ctx_err *err)
{
	struct passing_calls passing = {
		.selecting = {.selection = query->selection}, .each = each, .context = context};
	enum ctx_status status = ctx_selection_mark_threads(query->selection, query->profile,
							    &passing.selecting.selected, err);

	if (status == CTX_OK)
		status = ctx_store_scan_traced(
			query->store,
			&(struct ctx_store_traced_scan){
				CTX_TRACED_CALL, {from_ns, UINT64_MAX}, pass_call, &passing},
			err);
	free(passing.selecting.selected);
	return status;
}
