/*
 *	spans of the waits --union--> intervals
 *	spans of the wakers, in all states --part in the intervals--> sum of the function that they are in
 */
#include "report/wait_during.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "model/sample.h"

#include <stdlib.h>
#include <string.h>

struct finding {
	const struct ctx_wait_table *table;
	const struct ctx_wait_row *row;
	struct ctx_report_source *source;
	struct ctx_interval *waits; /* in the end sorted and disjoint */
	size_t n_waits, waits_cap;
	bool *is_waker; /* by thread */
	uint64_t *ns;	/* by function of the program */
	uint64_t waker_ns;
	enum ctx_thread_state state; /* of the spans of the current scan */
};

static enum ctx_status take_wait(void *context, const struct ctx_sample *span, struct ctx_err *err)
{
	struct finding *finding = context;
	const struct ctx_report_selection *selection = &finding->source->selection;
	enum ctx_status status = CTX_OK;

	if (!ctx_wait_table_is_of(finding->table, finding->row, finding->state, span->stack))
		return CTX_OK;
	for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++) {
		struct ctx_sample part = *span;

		if (!ctx_sample_clip(&part, selection->intervals[i]))
			continue;
		status = ctx_grow(&finding->waits, &finding->waits_cap, finding->n_waits + 1, err);
		if (status == CTX_OK)
			finding->waits[finding->n_waits++] =
				(struct ctx_interval){ctx_sample_begin(&part), part.time_ns + 1};
	}
	return status;
}

static int compare_intervals(const void *left, const void *right)
{
	const struct ctx_interval *a = left, *b = right;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void unite(struct finding *finding)
{
	size_t n = 0;

	if (finding->n_waits != 0)
		qsort(finding->waits, finding->n_waits, sizeof(*finding->waits), compare_intervals);
	for (size_t i = 0; i < finding->n_waits; i++) {
		struct ctx_interval wait = finding->waits[i];

		if (n == 0 || wait.begin_ns > finding->waits[n - 1].end_ns)
			finding->waits[n++] = wait;
		else if (wait.end_ns > finding->waits[n - 1].end_ns)
			finding->waits[n - 1].end_ns = wait.end_ns;
	}
	finding->n_waits = n;
}

/* The first interval that ends after a time. */
static size_t first_after(const struct finding *finding, uint64_t time_ns)
{
	return ctx_count_up_to(finding->waits, finding->n_waits, end_ns, time_ns);
}

static enum ctx_status take_waker(void *context, const struct ctx_sample *span, struct ctx_err *err)
{
	struct finding *finding = context;
	uint64_t begin_ns = ctx_sample_begin(span), ns = 0;
	uint32_t caller;

	(void)err;
	/* Who stands in line itself does nothing for those who wait. */
	if (span->thread >= finding->table->profile->n_threads || !finding->is_waker[span->thread] ||
	    ctx_wait_table_is_of(finding->table, finding->row, finding->state, span->stack))
		return CTX_OK;
	for (size_t i = first_after(finding, begin_ns);
	     i < finding->n_waits && finding->waits[i].begin_ns <= span->time_ns; i++) {
		struct ctx_sample part = *span;

		if (ctx_sample_clip(&part, finding->waits[i]))
			ns += part.weight;
	}
	finding->waker_ns += ns;
	caller = ctx_wait_kinds_find(finding->table->kinds, finding->state, span->stack).caller;
	if (caller != CTX_NONE)
		finding->ns[caller] += ns;
	return CTX_OK;
}

/* The threads with the waker's name; false: there is none. */
static bool mark_wakers(struct finding *finding)
{
	const struct ctx_profile *profile = finding->table->profile;
	bool any = false;

	for (uint32_t i = 0; i < profile->n_threads; i++) {
		finding->is_waker[i] = strcmp(profile->threads[i].name, finding->row->waker) == 0;
		any |= finding->is_waker[i];
	}
	return any;
}

static enum ctx_status scan(struct finding *finding, struct ctx_err *err)
{
	struct ctx_report_source *source = finding->source;
	struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true};
	enum ctx_status status;

	finding->state = (enum ctx_thread_state)finding->row->state;
	query.metric = finding->table->profile->states + finding->row->state;
	status = source->samples(source, &query, take_wait, finding, err);
	unite(finding);
	query.whole_run = true; /* the wakers need not be selected */
	for (unsigned state = 0; state < CTX_STATE_N && status == CTX_OK && finding->n_waits != 0; state++) {
		finding->state = (enum ctx_thread_state)state;
		query.metric = finding->table->profile->states + state;
		status = source->samples(source, &query, take_waker, finding, err);
	}
	return status;
}

static void finding_cleanup(struct finding *finding)
{
	free(finding->waits);
	free(finding->is_waker);
	free(finding->ns);
}

enum ctx_status ctx_wait_during_find(const struct ctx_wait_table *table, const struct ctx_wait_row *row,
				     struct ctx_report_source *source, struct ctx_wait_during *ret,
				     struct ctx_err *err)
{
	const struct ctx_profile *profile = table->profile;
	struct finding finding __attribute__((cleanup(finding_cleanup))) = {
		.table = table,
		.row = row,
		.source = source,
		.is_waker = ctx_calloc(profile->n_threads, sizeof(bool)),
		.ns = ctx_calloc(profile->n_functions, sizeof(uint64_t))};
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_wait_during){.function = CTX_NONE};
	if (finding.is_waker == NULL || finding.ns == NULL)
		return ctx_err_nomem(err);
	if (row->waker != NULL && mark_wakers(&finding))
		status = scan(&finding, err);
	if (status != CTX_OK)
		return status;
	ret->waker_ns = finding.waker_ns;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (finding.ns[i] > ret->ns) {
			ret->ns = finding.ns[i];
			ret->function = i;
		}
	}
	return CTX_OK;
}
