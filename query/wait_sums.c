/*
 * Waits by state and call stack: the spans of the wait states. They need no wakers, so that they are
 * complete at every level of recording.
 */
#include "query/sample_scan.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>

struct summing {
	uint32_t state;
	struct ctx_map64 row_of; /* by stack and state */
	struct ctx_report_waits *rows;
	size_t n, cap;
};

static enum ctx_status take(void *context, const struct ctx_sample *part, const struct ctx_traced *operation,
			    struct ctx_err *err)
{
	struct summing *summing = context;
	uint32_t *place = ctx_map64_place(&summing->row_of, (uint64_t)part->stack << 32 | summing->state);
	struct ctx_report_waits *row;
	enum ctx_status status;

	(void)operation;
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		status = ctx_grow(&summing->rows, &summing->cap, summing->n + 1, err);
		if (status != CTX_OK)
			return status;
		summing->rows[summing->n] =
			(struct ctx_report_waits){.state = summing->state, .stack = part->stack};
		*place = (uint32_t)summing->n++;
	}
	row = &summing->rows[*place];
	row->waits++;
	row->wait_ns += part->weight;
	row->wait_max_ns = part->weight > row->wait_max_ns ? part->weight : row->wait_max_ns;
	return CTX_OK;
}

/* The longest first; ties by stack and state, for a stable order. */
static int compare_rows(const void *left, const void *right)
{
	const struct ctx_report_waits *a = left, *b = right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

enum ctx_status ctx_query_waits(struct ctx_query *query, struct ctx_report_waits **ret, size_t *ret_n,
				struct ctx_err *err)
{
	unsigned states = ctx_query_wait_states(query);
	struct summing summing = {0};
	struct ctx_scan scan = {.each = take, .context = &summing};
	enum ctx_status status = CTX_OK;

	for (; summing.state < CTX_STATE_N && status == CTX_OK; summing.state++) {
		scan.metric = query->profile->states + summing.state;
		if ((CTX_STATE_BIT(summing.state) & (states != 0 ? states : CTX_STATES_OF_WAITS)) != 0)
			status = ctx_scan_selected(query, &scan, err);
	}
	ctx_map64_deinit(&summing.row_of);
	*ret = NULL;
	*ret_n = 0;
	if (status != CTX_OK) {
		free(summing.rows);
		return status;
	}
	if (summing.n != 0)
		qsort(summing.rows, summing.n, sizeof(*summing.rows), compare_rows);
	*ret = summing.rows;
	*ret_n = summing.n;
	return CTX_OK;
}
