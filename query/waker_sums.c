/*
 * Equal waits (thread, state, call stack; waker and its call stack) become one row: a hash table of
 * rows by these fields.
 */
#include "query/query.h"
#include "query/span_parts.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FREE_SLOT UINT32_MAX
#define FIRST_SLOTS 256u

struct collecting {
	const struct ctx_selection *selection;
	const struct ctx_profile *profile;
	unsigned states; /* of CTX_STATE_BIT: states that count; 0: all */
	bool *selected;	 /* by thread; NULL: all */
	struct ctx_report_wakers *rows;
	size_t n, cap;
	uint32_t *slots; /* row number or FREE_SLOT */
	size_t n_slots;	 /* a power of two, or 0 */
};

static void key_of(const struct ctx_report_wakers *row, uint32_t key[6])
{
	const uint32_t fields[6] = {row->thread, row->state,	      row->stack,
				    row->waker,	 row->external_waker, row->waker_stack};

	memcpy(key, fields, sizeof(fields));
}

static uint64_t hash_of(const struct ctx_report_wakers *row)
{
	uint32_t key[6];
	uint64_t hash = 0;

	key_of(row, key);
	for (size_t i = 0; i < CTX_COUNT_OF(key); i++)
		hash = ctx_hash64(hash ^ key[i]);
	return hash;
}

static int compare_keys(const struct ctx_report_wakers *a, const struct ctx_report_wakers *b)
{
	uint32_t left[6], right[6];

	key_of(a, left);
	key_of(b, right);
	for (size_t i = 0; i < CTX_COUNT_OF(left); i++) {
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	}
	return 0;
}

static uint32_t *find(const struct collecting *collecting, const struct ctx_report_wakers *row)
{
	size_t i = (size_t)(hash_of(row) >> 20) & (collecting->n_slots - 1);

	while (collecting->slots[i] != FREE_SLOT &&
	       compare_keys(&collecting->rows[collecting->slots[i]], row) != 0)
		i = (i + 1) & (collecting->n_slots - 1);
	return &collecting->slots[i];
}

static enum ctx_status grow(struct collecting *collecting, struct ctx_err *err)
{
	size_t n = collecting->n_slots != 0 ? collecting->n_slots * 2 : FIRST_SLOTS;
	uint32_t *slots = ctx_calloc(n, sizeof(*slots));

	if (slots == NULL)
		return ctx_err_nomem(err);
	memset(slots, 0xff, n * sizeof(*slots));
	free(collecting->slots);
	collecting->slots = slots;
	collecting->n_slots = n;
	for (size_t i = 0; i < collecting->n; i++)
		*find(collecting, &collecting->rows[i]) = (uint32_t)i;
	return CTX_OK;
}

/* The row of these waits, created if it is new. */
static enum ctx_status place(struct collecting *collecting, const struct ctx_report_wakers *like,
			     struct ctx_report_wakers **ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint32_t *slot;

	if (collecting->n * 2 >= collecting->n_slots)
		status = grow(collecting, err);
	if (status != CTX_OK)
		return status;
	slot = find(collecting, like);
	if (*slot == FREE_SLOT) {
		status = ctx_grow(&collecting->rows, &collecting->cap, collecting->n + 1, err);
		if (status != CTX_OK)
			return status;
		collecting->rows[collecting->n] = *like;
		*slot = (uint32_t)collecting->n++;
	}
	*ret = &collecting->rows[*slot];
	return CTX_OK;
}

/* The length of the part of [begin, begin + length) inside the selected intervals. */
static uint64_t selected_part(const struct ctx_selection *selection, uint64_t begin_ns, uint64_t length)
{
	uint64_t end_ns = length <= UINT64_MAX - begin_ns ? begin_ns + length : UINT64_MAX, sum = 0;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval interval = selection->intervals[i];
		uint64_t from = begin_ns > interval.begin_ns ? begin_ns : interval.begin_ns;
		uint64_t to = end_ns < interval.end_ns ? end_ns : interval.end_ns;

		sum += to > from ? to - from : 0;
	}
	return sum;
}

static bool ends_inside(const struct ctx_selection *selection, uint64_t time_ns)
{
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (ctx_interval_has(selection->intervals[i], time_ns))
			return true;
	}
	return false;
}

/* The same of a wait, as filters see it: the span of its state. */
static enum ctx_status selected_wait(const struct collecting *collecting, const struct ctx_sample *span,
				     uint64_t *ret, struct ctx_err *err)
{
	const struct ctx_selection *selection = collecting->selection;
	enum ctx_status status = CTX_END;

	*ret = 0;
	for (size_t i = 0; i < selection->n_intervals && status == CTX_END; i++) {
		struct ctx_sample part = *span;
		struct ctx_span_parts parts;

		if (!ctx_sample_clip(&part, selection->intervals[i]))
			continue;
		ctx_span_parts_kept(selection, &part, &parts);
		while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK)
			*ret += part.weight;
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status take(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	struct collecting *collecting = context;
	const struct ctx_selection *selection = collecting->selection;
	const struct ctx_sample span = {
		.time_ns = wakeup->time_ns != 0 ? wakeup->time_ns - 1 : 0,
		.weight = wakeup->wait_ns,
		.stack = wakeup->stack,
		.raw_stack = wakeup->raw_stack,
		.thread = wakeup->thread,
		.cpu = -1,
		.metric = collecting->profile->states + wakeup->state,
	};
	uint64_t wait_ns, delay_ns = selected_part(selection, wakeup->time_ns, wakeup->delay_ns);
	struct ctx_report_wakers like = {
		.thread = wakeup->thread,
		.state = wakeup->state,
		.stack = wakeup->stack,
		.waker = wakeup->waker,
		.external_waker = wakeup->external_waker,
		.waker_stack = wakeup->waker_stack,
	};
	struct ctx_report_wakers *row;
	enum ctx_status status;

	if ((collecting->selected != NULL && !collecting->selected[wakeup->thread]) ||
	    (collecting->states != 0 && (collecting->states & CTX_STATE_BIT(wakeup->state)) == 0))
		return CTX_OK;
	status = selected_wait(collecting, &span, &wait_ns, err);
	if (status != CTX_OK)
		return status;
	/* A wait of length 0 has no part inside an interval, but counts. */
	if (wait_ns == 0 && (wakeup->wait_ns != 0 || !ends_inside(selection, wakeup->time_ns) ||
			     !ctx_selection_passes_filters(selection, &span)))
		return CTX_OK;
	status = place(collecting, &like, &row, err);
	if (status != CTX_OK)
		return status;
	row->waits++;
	row->wait_ns += wait_ns;
	row->wait_max_ns = wait_ns > row->wait_max_ns ? wait_ns : row->wait_max_ns;
	row->delay_ns += delay_ns;
	row->delay_max_ns = delay_ns > row->delay_max_ns ? delay_ns : row->delay_max_ns;
	return CTX_OK;
}

/* The longest first; ties by the key, for a stable order. */
static int compare_rows(const void *left, const void *right)
{
	const struct ctx_report_wakers *a = left, *b = right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return compare_keys(a, b);
}

unsigned ctx_query_wait_states(const struct ctx_query *query)
{
	const struct ctx_profile *profile = query->profile;
	const struct ctx_selection *selection = query->selection;
	unsigned states = 0;

	for (size_t i = 0; i < selection->n_metrics; i++)
		states |= ctx_profile_metric_states(profile, selection->metrics[i]);
	states &= CTX_STATES_OF_WAITS;
	return states != CTX_STATES_OF_WAITS ? states : 0;
}

enum ctx_status ctx_query_wakers(struct ctx_query *query, struct ctx_report_wakers **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	struct collecting collecting = {.selection = query->selection,
					.profile = query->profile,
					.states = ctx_query_wait_states(query)};
	enum ctx_status status =
		ctx_selection_mark_threads(query->selection, collecting.profile, &collecting.selected, err);

	if (status == CTX_OK)
		status = ctx_store_scan_wakeups(query->store, ctx_selection_hull(query->selection), take,
						&collecting, err);
	free(collecting.selected);
	free(collecting.slots);
	*ret = NULL;
	*ret_n = 0;
	if (status != CTX_OK) {
		free(collecting.rows);
		return status;
	}
	if (collecting.n != 0)
		qsort(collecting.rows, collecting.n, sizeof(*collecting.rows), compare_rows);
	*ret = collecting.rows;
	*ret_n = collecting.n;
	return CTX_OK;
}
