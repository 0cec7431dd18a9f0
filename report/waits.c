/*
 * Waits by what was waited for and by the function of the program that waited
 * (model/wait_kind.h). Complete at every level of recording; who ended the waits is there where
 * wakers were recorded.
 */
#include "base/map64.h"
#include "base/mem.h"
#include "model/wait_kind.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/wakers_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct ctx_column columns[] = {
	{NULL, "Waits", CTX_STYLE_COUNT},   {NULL, "Wait", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},	    {NULL, "Mean ms", CTX_STYLE_TIME},
	{NULL, "Longest", CTX_STYLE_TIME},  {NULL, "Kind", CTX_STYLE_NAME},
	{NULL, "Ended by", CTX_STYLE_NAME}, {NULL, "Caller", CTX_STYLE_NAME},
	{"caller", NULL, CTX_STYLE_NAME},   {"object", NULL, CTX_STYLE_NAME},
	{"kind", NULL, CTX_STYLE_NAME},	    {"state", NULL, CTX_STYLE_NAME},
	{"waits", NULL, CTX_STYLE_COUNT},   {"wait_ns", NULL, CTX_STYLE_TIME},
	{"mean_ns", NULL, CTX_STYLE_TIME},  {"max_ns", NULL, CTX_STYLE_TIME},
	{"waker", NULL, CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {"wait_ns", "waits", "mean_ns", "max_ns", "kind", "caller", NULL};

struct row {
	uint32_t caller; /* function; CTX_NONE */
	enum ctx_wait_kind kind;
	uint32_t state;
	uint64_t waits, wait_ns, max_ns;
	const char *waker; /* that ended most of its time, by name; NULL: unknown */
	uint64_t waker_ns;
};

/* Time of a row that ended by one waker. */
struct ended {
	uint32_t row;
	const char *waker;
	uint64_t ns;
};

struct table {
	const struct ctx_profile *profile;
	const struct ctx_report_options *options;
	struct ctx_wait_kinds kinds;
	struct ctx_map64 row_of; /* by caller, kind and state */
	struct row *rows;
	size_t n, cap;
};

static uint64_t key_of(struct ctx_wait_place place, uint32_t state)
{
	return (uint64_t)place.caller << 32 | (uint64_t)place.kind << 8 | state;
}

static enum ctx_status add_waits(struct table *table, const struct ctx_report_waits *waits,
				 struct ctx_err *err)
{
	struct ctx_wait_place place =
		ctx_wait_kinds_find(&table->kinds, (enum ctx_thread_state)waits->state, waits->stack);
	uint32_t *at = ctx_map64_place(&table->row_of, key_of(place, waits->state));
	struct row *row;

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		enum ctx_status status = ctx_grow(&table->rows, &table->cap, table->n + 1, err);

		if (status != CTX_OK)
			return status;
		table->rows[table->n] =
			(struct row){.caller = place.caller, .kind = place.kind, .state = waits->state};
		*at = (uint32_t)table->n++;
	}
	row = &table->rows[*at];
	row->waits += waits->waits;
	row->wait_ns += waits->wait_ns;
	row->max_ns = waits->wait_max_ns > row->max_ns ? waits->wait_max_ns : row->max_ns;
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

static size_t collect_ended(const struct table *table, const struct ctx_report_wakers *wakers, size_t n,
			    struct ended *ret)
{
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = waker_name(table->profile, &wakers[i]);
		struct ctx_wait_place place;
		uint32_t row;

		if (name == NULL || !ctx_wakers_passes(table->profile, table->options, wakers[i].stack))
			continue;
		place = ctx_wait_kinds_find(&table->kinds, (enum ctx_thread_state)wakers[i].state,
					    wakers[i].stack);
		row = ctx_map64_get(&table->row_of, key_of(place, wakers[i].state));
		if (row != CTX_MAP64_NONE)
			ret[n_ended++] = (struct ended){row, name, wakers[i].wait_ns};
	}
	return n_ended;
}

/* Each row gets the waker with the most of its time. */
static enum ctx_status name_wakers(struct table *table, const struct ctx_report_wakers *wakers, size_t n,
				   struct ctx_err *err)
{
	struct ended *ended CTX_AUTO_FREE = ctx_calloc(n, sizeof(*ended));
	size_t n_ended;

	if (ended == NULL)
		return ctx_err_nomem(err);
	n_ended = collect_ended(table, wakers, n, ended);
	if (n_ended != 0)
		qsort(ended, n_ended, sizeof(*ended), compare_ended);
	for (size_t i = 0; i < n_ended;) {
		struct row *row = &table->rows[ended[i].row];
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

static void put_row(struct ctx_out *out, const struct row *row, struct ctx_cell caller)
{
	uint64_t mean = row->waits != 0 ? row->wait_ns / row->waits : 0;
	const char *kind = row->kind != CTX_WAIT_KIND_N ? ctx_wait_kind_text(row->kind) : NULL;
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(row->waits),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(mean),
		ctx_cell_number(row->max_ns),
		ctx_cell_name(kind),
		ctx_cell_name(row->waker),
		caller,
		ctx_cell_name(row->caller != CTX_NONE ? caller.name : NULL),
		ctx_cell_name(caller.object),
		ctx_cell_name(kind),
		ctx_cell_name(ctx_wakers_state(row->state, true)),
		ctx_cell_number(row->waits),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(mean),
		ctx_cell_number(row->max_ns),
		ctx_cell_name(row->waker),
	};

	ctx_out_row(out, cells);
}

static struct ctx_cell caller_cell(const struct ctx_profile *profile, const struct row *row)
{
	return row->caller != CTX_NONE ? ctx_function_cell(profile, row->caller) : ctx_cell_name("<Unknown>");
}

static struct ctx_order_item order_item(const struct table *table, uint32_t i, size_t key)
{
	const struct row *row = &table->rows[i];
	const uint64_t numbers[] = {row->wait_ns, row->waits, row->waits != 0 ? row->wait_ns / row->waits : 0,
				    row->max_ns,  0,	      0};
	const char *caller = caller_cell(table->profile, row).name;

	return (struct ctx_order_item){.index = i,
				       .number = numbers[key],
				       .second = row->wait_ns,
				       .text = key == 4	  ? ctx_wait_kind_text(row->kind)
					       : key == 5 ? caller
							  : NULL};
}

static enum ctx_status put_rows(const struct table *table, struct ctx_out *out, const struct row *total,
				size_t key)
{
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(table->n, sizeof(*items));
	uint32_t limit = table->options->limit;

	if (items == NULL)
		return CTX_E_NOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		items[i] = order_item(table, i, key);
	ctx_order_sort(items, table->n);
	if (ctx_out_is_text(out))
		put_row(out, total, ctx_cell_name("<Total>"));
	for (size_t i = 0; i < table->n && (limit == 0 || i < limit); i++) {
		const struct row *row = &table->rows[items[i].index];

		put_row(out, row, caller_cell(table->profile, row));
	}
	ctx_out_section(out, NULL);
	if (limit != 0 && table->n > limit)
		ctx_out_more(out, table->n - limit, "place");
	return CTX_OK;
}

static enum ctx_status put_page(const struct table *table, struct ctx_out_spec *spec, size_t key,
				struct ctx_err *err)
{
	struct row total = {.kind = CTX_WAIT_KIND_N, .caller = CTX_NONE};
	char note[320];
	struct ctx_head_topic topic = {
		.metric = {.name = "Waits", .unit = CTX_UNIT_NS, .kind = CTX_METRIC_SPAN},
		.counted = "waits",
		.note = ctx_state_note(table->profile, note, sizeof(note))};
	struct ctx_out out;

	for (size_t i = 0; i < table->n; i++) {
		total.waits += table->rows[i].waits;
		total.wait_ns += table->rows[i].wait_ns;
		total.max_ns = table->rows[i].max_ns > total.max_ns ? table->rows[i].max_ns : total.max_ns;
	}
	topic.totals = (struct ctx_totals){.samples = total.waits, .weight = total.wait_ns};
	spec->totals = topic.totals;
	spec->topic = &topic;
	ctx_out_begin(&out, spec);
	ctx_out_fail(&out, put_rows(table, &out, &total, key));
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status fill(struct table *table, struct ctx_report_source *source, struct ctx_err *err)
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

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {
		.kind = &ctx_report_waits, .selection = &source->selection, .options = options};
	struct table table = {.profile = profile, .options = options};
	size_t key;
	enum ctx_status status = ctx_order_find("waits", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = ctx_wakers_check(profile, options, err);
	if (status == CTX_OK)
		status = ctx_wait_kinds_init(&table.kinds, profile, err);
	if (status == CTX_OK)
		status = fill(&table, source, err);
	if (status == CTX_OK)
		status = put_page(&table, &spec, key, err);
	ctx_wait_kinds_deinit(&table.kinds);
	ctx_map64_deinit(&table.row_of);
	free(table.rows);
	return status;
}

const struct ctx_report_kind ctx_report_waits = {
	.name = "waits",
	.metrics = CTX_REPORT_NO_METRIC,
	.takes_subject = true,
	.no_cpu = "who waits is on none",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
