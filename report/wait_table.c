#include "report/wait_table.h"

#include "base/mem.h"
#include "model/sample.h"
#include "report/part_cells.h"
#include "report/wakers_rows.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_HOLDER 10u /* a holder that is not in line ended one part of so many */

/* Time of a row that ended by one waker. */
struct ended {
	uint32_t row;
	const char *waker;
	uint32_t function; /* from which; CTX_NONE */
	uint64_t ns;
};

static uint64_t key_of(struct ctx_wait_place place, uint32_t state)
{
	return (uint64_t)place.caller << 32 | (uint64_t)place.kind << 8 | state;
}

/* The row of a place and a state, which is made if it is missing. */
static enum ctx_status find_row(struct ctx_wait_table *table, struct ctx_wait_place place, uint32_t state,
				struct ctx_wait_row **ret, struct ctx_err *err)
{
	uint32_t *at = ctx_map64_place(&table->row_of, key_of(place, state));

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		enum ctx_status status = ctx_grow(&table->rows, &table->cap, table->n + 1, err);

		if (status != CTX_OK)
			return status;
		table->rows[table->n] = (struct ctx_wait_row){.caller = place.caller,
							      .kind = place.kind,
							      .state = state,
							      .waker_function = CTX_NONE};
		*at = (uint32_t)table->n++;
	}
	*ret = &table->rows[*at];
	return CTX_OK;
}

static enum ctx_status add_waits(struct ctx_wait_table *table, const struct ctx_report_waits *waits,
				 struct ctx_err *err)
{
	struct ctx_wait_place place =
		ctx_wait_kinds_find(table->kinds, (enum ctx_thread_state)waits->state, waits->stack);
	struct ctx_wait_row *row;
	enum ctx_status status = find_row(table, place, waits->state, &row, err);

	if (status != CTX_OK)
		return status;
	row->waits += waits->waits;
	row->wait_ns += waits->wait_ns;
	row->max_ns = waits->wait_max_ns > row->max_ns ? waits->wait_max_ns : row->max_ns;
	if (waits->wait_ns > row->stack_ns) {
		row->stack_ns = waits->wait_ns;
		row->stack = waits->stack;
	}
	return CTX_OK;
}

/* ---- who ended them ---- */

/* By row, then by waker and its function. */
static int compare_ended(const void *left, const void *right)
{
	const struct ended *a = left, *b = right;
	int order;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	order = strcmp(a->waker, b->waker);
	return order != 0 ? order : (a->function > b->function) - (a->function < b->function);
}

static const char *waker_name(const struct ctx_profile *profile, const struct ctx_report_wakers *wakers)
{
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, wakers->waker);

	return thread != NULL ? thread->name : ctx_wakers_external_waker(profile, wakers);
}

/* The row of waits that somebody ended; CTX_MAP64_NONE: none. */
static uint32_t row_of(const struct ctx_wait_table *table, const struct ctx_report_wakers *wakers)
{
	struct ctx_wait_place place =
		ctx_wait_kinds_find(table->kinds, (enum ctx_thread_state)wakers->state, wakers->stack);

	if (place.kind == CTX_WAIT_KIND_OTHER && place.caller == CTX_NONE && table->start_ns != 0 &&
	    wakers->thread == 0 && wakers->waits == 1 && wakers->wait_ns == table->start_ns)
		place.kind = CTX_WAIT_KIND_START;
	return ctx_map64_get(&table->row_of, key_of(place, wakers->state));
}

static size_t collect_ended(const struct ctx_wait_table *table, const struct ctx_report_wakers *wakers,
			    size_t n, struct ended *ret)
{
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++) {
		enum ctx_thread_state state = (enum ctx_thread_state)wakers[i].state;
		const char *name = waker_name(table->profile, &wakers[i]);
		uint32_t row, function = CTX_NONE;

		if (name == NULL || !ctx_wakers_passes(table->profile, table->options, wakers[i].stack))
			continue;
		row = row_of(table, &wakers[i]);
		/* What an interrupt interrupted has nothing to do with the wait. */
		if (wakers[i].waker < table->profile->n_threads)
			function = ctx_wait_kinds_find(table->kinds, state, wakers[i].waker_stack).caller;
		if (row != CTX_MAP64_NONE)
			ret[n_ended++] = (struct ended){row, name, function, wakers[i].wait_ns};
	}
	return n_ended;
}

/* Adds up what has the same row, waker and function; the number of what is left. */
static size_t add_up(struct ended *ended, size_t n)
{
	size_t n_sums = 0;

	if (n != 0)
		qsort(ended, n, sizeof(*ended), compare_ended);
	for (size_t i = 0; i < n; i++) {
		if (n_sums != 0 && compare_ended(&ended[n_sums - 1], &ended[i]) == 0)
			ended[n_sums - 1].ns += ended[i].ns;
		else
			ended[n_sums++] = ended[i];
	}
	return n_sums;
}

static bool is_lock(enum ctx_wait_kind kind)
{
	return kind == CTX_WAIT_KIND_MUTEX || kind == CTX_WAIT_KIND_RWLOCK || kind == CTX_WAIT_KIND_FUTEX;
}

/* The waker with the most time of a row, and its function; only those outside of the line, or all. */
static void find_waker(struct ctx_wait_row *row, const struct ended *ended, size_t n, bool outside)
{
	uint64_t function_ns = 0;

	row->waker_ns = 0;
	for (size_t i = 0; i < n;) {
		const struct ended *first = &ended[i], *most = NULL;
		uint64_t ns = 0;

		for (; i < n && strcmp(first->waker, ended[i].waker) == 0; i++) {
			if (outside && (ended[i].function == CTX_NONE || ended[i].function == row->caller))
				continue;
			ns += ended[i].ns;
			if (most == NULL || ended[i].ns > most->ns)
				most = &ended[i];
		}
		if (most == NULL || (row->waker_ns != 0 && ns <= row->waker_ns))
			continue;
		row->waker = most->waker;
		row->waker_ns = ns;
		row->waker_function = most->function;
		function_ns = most->ns;
	}
	if (function_ns < row->waker_ns / 2)
		row->waker_function = CTX_NONE;
}

/* Of one row. */
static void name_waker(struct ctx_wait_row *row, const struct ended *ended, size_t n)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += ended[i].ns;
	if (is_lock(row->kind)) {
		find_waker(row, ended, n, true);
		if (row->waker_ns != 0 && row->waker_ns >= ns / LEAST_HOLDER)
			return;
	}
	find_waker(row, ended, n, false);
}

static enum ctx_status name_wakers(struct ctx_wait_table *table, const struct ctx_report_wakers *wakers,
				   size_t n, struct ctx_err *err)
{
	struct ended *ended CTX_AUTO_FREE = ctx_calloc(n, sizeof(*ended));
	size_t n_ended;

	if (ended == NULL)
		return ctx_err_nomem(err);
	n_ended = add_up(ended, collect_ended(table, wakers, n, ended));
	for (size_t i = 0; i < n_ended;) {
		size_t first = i;

		while (i < n_ended && ended[i].row == ended[first].row)
			i++;
		name_waker(&table->rows[ended[first].row], &ended[first], i - first);
	}
	return CTX_OK;
}

/* ---- the wait for the recorder ---- */

struct start {
	const struct ctx_wait_table *table;
	const struct ctx_report_selection *selection;
	uint64_t ns;	 /* of the first wait, in the selection */
	uint64_t max_ns; /* of the others without a place in the program */
	bool is_first;
};

static uint64_t selected_ns(const struct start *start, const struct ctx_sample *span, uint64_t *ret_longest)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < start->selection->n_intervals; i++) {
		struct ctx_sample part = *span;

		if (!ctx_sample_clip(&part, start->selection->intervals[i]))
			continue;
		ns += part.weight;
		*ret_longest = part.weight > *ret_longest ? part.weight : *ret_longest;
	}
	return ns;
}

/* The first wait is told by when it began, with the first thread: nothing else is known of it. */
static enum ctx_status take_wait(void *context, const struct ctx_sample *span, struct ctx_err *err)
{
	struct start *start = context;
	uint64_t longest = 0;
	struct ctx_wait_place place;

	(void)err;
	if (start->is_first) {
		start->is_first = false;
		if (!ctx_wait_is_start(start->table->profile, span))
			return CTX_END;
		start->ns = selected_ns(start, span, &longest);
		return CTX_OK;
	}
	place = ctx_wait_kinds_find(start->table->kinds, CTX_STATE_SLEEP, span->stack);
	if (place.kind == CTX_WAIT_KIND_OTHER && place.caller == CTX_NONE)
		(void)selected_ns(start, span, &start->max_ns);
	return CTX_OK;
}

/* Divides it from the other waits without a stack. */
static enum ctx_status split_start(struct ctx_wait_table *table, struct ctx_report_source *source,
				   struct ctx_err *err)
{
	const struct ctx_wait_place unknown = {CTX_WAIT_KIND_OTHER, CTX_NONE};
	const struct ctx_samples_query query = {
		.thread = CTX_NONE, .has_metric = true, .metric = table->profile->states + CTX_STATE_SLEEP};
	struct start start = {.table = table, .selection = &source->selection, .is_first = true};
	uint32_t at = ctx_map64_get(&table->row_of, key_of(unknown, CTX_STATE_SLEEP));
	struct ctx_wait_row *row, *rest;
	enum ctx_status status;

	if (at == CTX_MAP64_NONE ||
	    strcmp(ctx_profile_property(table->profile, "target", ""), "command") != 0)
		return CTX_OK;
	status = source->samples(source, &query, take_wait, &start, err);
	if ((status != CTX_OK && status != CTX_END) || start.ns == 0)
		return status == CTX_END ? CTX_OK : status;
	if (table->rows[at].waits <= 1) {
		table->rows[at].kind = CTX_WAIT_KIND_START;
		return CTX_OK;
	}
	status = find_row(table, (struct ctx_wait_place){CTX_WAIT_KIND_START, CTX_NONE}, CTX_STATE_SLEEP,
			  &row, err);
	if (status != CTX_OK)
		return status;
	rest = &table->rows[at];
	table->start_ns = start.ns;
	row->waits = 1;
	row->wait_ns = row->max_ns = start.ns;
	rest->waits--;
	rest->wait_ns -= start.ns < rest->wait_ns ? start.ns : rest->wait_ns;
	rest->max_ns = start.max_ns;
	return CTX_OK;
}

static enum ctx_status fill(struct ctx_wait_table *table, struct ctx_report_source *source,
			    struct ctx_err *err)
{
	const struct ctx_report_waits *waits;
	const struct ctx_report_wakers *wakers;
	size_t n_waits, n_wakers;
	enum ctx_status status = source->waits(source, &waits, &n_waits, err);

	for (size_t i = 0; status == CTX_OK && i < n_waits; i++) {
		if (ctx_wakers_passes(table->profile, table->options, waits[i].stack))
			status = add_waits(table, &waits[i], err);
	}
	if (status == CTX_OK)
		status = split_start(table, source, err);
	if (status == CTX_OK)
		status = source->wakers(source, &wakers, &n_wakers, err);
	return status == CTX_OK ? name_wakers(table, wakers, n_wakers, err) : status;
}

enum ctx_status ctx_wait_table_build(struct ctx_wait_table *table, struct ctx_report_source *source,
				     const struct ctx_report_options *options,
				     const struct ctx_wait_kinds *kinds, struct ctx_err *err)
{
	*table = (struct ctx_wait_table){
		.profile = source->selection.profile, .options = options, .kinds = kinds};
	return fill(table, source, err);
}

void ctx_wait_table_deinit(struct ctx_wait_table *table)
{
	ctx_map64_deinit(&table->row_of);
	free(table->rows);
}

bool ctx_wait_table_is_of(const struct ctx_wait_table *table, const struct ctx_wait_row *row,
			  enum ctx_thread_state state, uint32_t stack)
{
	struct ctx_wait_place place;

	if (row->state != (uint32_t)state || !ctx_wakers_passes(table->profile, table->options, stack))
		return false;
	place = ctx_wait_kinds_find(table->kinds, state, stack);
	return place.caller == row->caller && place.kind == row->kind;
}

struct ctx_cell ctx_wait_caller_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row)
{
	return row->caller != CTX_NONE ? ctx_function_cell(profile, row->caller) : ctx_cell_name("<Unknown>");
}

struct ctx_cell ctx_wait_waker_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row)
{
	return row->waker_function < profile->n_functions ? ctx_function_cell(profile, row->waker_function)
							  : ctx_cell_name(NULL);
}
