#include "report/wait_table.h"

#include "base/mem.h"
#include "report/part_cells.h"
#include "report/wakers_rows.h"

#include <stdlib.h>
#include <string.h>

/* Time of a row that ended by one waker. */
struct ended {
	uint32_t row;
	const char *waker;
	uint64_t ns;
};

static uint64_t key_of(struct ctx_wait_place place, uint32_t state)
{
	return (uint64_t)place.caller << 32 | (uint64_t)place.kind << 8 | state;
}

static enum ctx_status add_waits(struct ctx_wait_table *table, const struct ctx_report_waits *waits,
				 struct ctx_err *err)
{
	struct ctx_wait_place place =
		ctx_wait_kinds_find(table->kinds, (enum ctx_thread_state)waits->state, waits->stack);
	uint32_t *at = ctx_map64_place(&table->row_of, key_of(place, waits->state));
	struct ctx_wait_row *row;

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		enum ctx_status status = ctx_grow(&table->rows, &table->cap, table->n + 1, err);

		if (status != CTX_OK)
			return status;
		table->rows[table->n] = (struct ctx_wait_row){
			.caller = place.caller, .kind = place.kind, .state = waits->state};
		*at = (uint32_t)table->n++;
	}
	row = &table->rows[*at];
	row->waits += waits->waits;
	row->wait_ns += waits->wait_ns;
	row->max_ns = waits->wait_max_ns > row->max_ns ? waits->wait_max_ns : row->max_ns;
	if (waits->wait_ns > row->stack_ns) {
		row->stack_ns = waits->wait_ns;
		row->stack = waits->stack;
	}
	return CTX_OK;
}

/* By row, then by waker. */
static int compare_ended(const void *left, const void *right)
{
	const struct ended *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return strcmp(a->waker, b->waker);
}

static const char *waker_name(const struct ctx_profile *profile, const struct ctx_report_wakers *wakers)
{
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, wakers->waker);

	return thread != NULL ? thread->name : ctx_wakers_external_waker(profile, wakers);
}

static size_t collect_ended(const struct ctx_wait_table *table, const struct ctx_report_wakers *wakers,
			    size_t n, struct ended *ret)
{
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = waker_name(table->profile, &wakers[i]);
		struct ctx_wait_place place;
		uint32_t row;

		if (name == NULL || !ctx_wakers_passes(table->profile, table->options, wakers[i].stack))
			continue;
		place = ctx_wait_kinds_find(table->kinds, (enum ctx_thread_state)wakers[i].state,
					    wakers[i].stack);
		row = ctx_map64_get(&table->row_of, key_of(place, wakers[i].state));
		if (row != CTX_MAP64_NONE)
			ret[n_ended++] = (struct ended){row, name, wakers[i].wait_ns};
	}
	return n_ended;
}

/* Each row gets the waker with the most of its time. */
static enum ctx_status name_wakers(struct ctx_wait_table *table, const struct ctx_report_wakers *wakers,
				   size_t n, struct ctx_err *err)
{
	struct ended *ended CTX_AUTO_FREE = ctx_calloc(n, sizeof(*ended));
	size_t n_ended;

	if (ended == NULL)
		return ctx_err_nomem(err);
	n_ended = collect_ended(table, wakers, n, ended);
	if (n_ended != 0)
		qsort(ended, n_ended, sizeof(*ended), compare_ended);
	for (size_t i = 0; i < n_ended;) {
		struct ctx_wait_row *row = &table->rows[ended[i].row];
		size_t first = i;
		uint64_t ns = 0;

		for (; i < n_ended && compare_ended(&ended[first], &ended[i]) == 0; i++)
			ns += ended[i].ns;
		if (row->waker == NULL || ns > row->waker_ns) {
			row->waker = ended[first].waker;
			row->waker_ns = ns;
		}
	}
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

struct ctx_cell ctx_wait_caller_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row)
{
	return row->caller != CTX_NONE ? ctx_function_cell(profile, row->caller) : ctx_cell_name("<Unknown>");
}
