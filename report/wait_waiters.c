#include "report/wait_waiters.h"

#include "base/mem.h"
#include "model/sample.h"

#include <stdlib.h>
#include <string.h>

struct finding {
	const struct ctx_wait_table *table;
	const struct ctx_wait_row *row;
	const struct ctx_report_selection *selection;
	struct ctx_wait_waiters *waiters;
};

static bool is_selected(const struct ctx_report_selection *selection, const struct ctx_sample *span)
{
	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_sample part = *span;

		if (ctx_sample_clip(&part, selection->intervals[i]))
			return true;
	}
	return false;
}

static enum ctx_status take_span(void *context, const struct ctx_sample *span, struct ctx_err *err)
{
	const struct finding *finding = context;
	struct ctx_wait_waiters *waiters = finding->waiters;

	(void)err;
	if (span->thread >= finding->table->profile->n_threads || waiters->is_waiter[span->thread] ||
	    !is_selected(finding->selection, span) ||
	    !ctx_wait_table_is_of(finding->table, finding->row, (enum ctx_thread_state)finding->row->state,
				  span->stack))
		return CTX_OK;
	waiters->is_waiter[span->thread] = true;
	waiters->one = span->thread;
	waiters->n++;
	return CTX_OK;
}

enum ctx_status ctx_wait_waiters_find(const struct ctx_wait_table *table, const struct ctx_wait_row *row,
				      struct ctx_report_source *source, struct ctx_wait_waiters *ret,
				      struct ctx_err *err)
{
	const struct ctx_samples_query query = {
		.thread = CTX_NONE, .has_metric = true, .metric = table->profile->states + row->state};
	struct finding finding = {table, row, &source->selection, ret};

	*ret = (struct ctx_wait_waiters){.is_waiter = ctx_calloc(table->profile->n_threads, sizeof(bool)),
					 .one = CTX_NONE};
	if (ret->is_waiter == NULL)
		return ctx_err_nomem(err);
	return source->samples(source, &query, take_span, &finding, err);
}

void ctx_wait_waiters_deinit(struct ctx_wait_waiters *waiters)
{
	free(waiters->is_waiter);
	*waiters = (struct ctx_wait_waiters){0};
}

bool ctx_wait_waiters_have(const struct ctx_wait_waiters *waiters, const struct ctx_profile *profile,
			   const char *name)
{
	for (uint32_t i = 0; waiters->is_waiter != NULL && i < profile->n_threads; i++) {
		if (waiters->is_waiter[i] && strcmp(profile->threads[i].name, name) == 0)
			return true;
	}
	return false;
}
