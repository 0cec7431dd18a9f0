/*
 * Indicators: how often chosen code was executed, or chosen data accessed, by function, with threads and callers.
 *
 *	samples of an indicator's metric --leaf function--> row --thread--> pair
 *	                                                        --caller--> pair
 */
#include "base/map64.h"
#include "base/mem.h"
#include "model/indicator.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CALLERS_SHOWN 3u

enum {
	INDICATOR,
	COUNT,
	RATE,
	RAISED,
	THREADS,
	KIND,
	MECHANISM,
	FUNCTION,
	OBJECT,
	OFFSET,
	PLACES,
	INLINED,
	THRESHOLD,
	ENTRIES,
	SLOWER_THAN,
	SLOWER,
	SLOWER_TEXT,
	NAME_TEXT,
	CALLERS_TEXT,
	N_COLUMNS,
};

static const struct ctx_column columns[N_COLUMNS] = {
	[INDICATOR] = {"indicator", NULL, CTX_STYLE_NAME},
	[COUNT] = {"count", "Count", CTX_STYLE_COUNT},
	[RATE] = {"per_second", "per s", CTX_STYLE_COUNT},
	[RAISED] = {"raised", "Raised", CTX_STYLE_COUNT},
	[THREADS] = {"threads", "Threads", CTX_STYLE_COUNT},
	[KIND] = {"kind", "Kind", CTX_STYLE_NAME},
	[MECHANISM] = {"mechanism", "Mechanism", CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[OFFSET] = {"offset", NULL, CTX_STYLE_COUNT},
	[PLACES] = {"places", NULL, CTX_STYLE_COUNT},
	[INLINED] = {"inlined", NULL, CTX_STYLE_COUNT},
	[THRESHOLD] = {"threshold", NULL, CTX_STYLE_COUNT},
	[ENTRIES] = {"entries", NULL, CTX_STYLE_COUNT},
	[SLOWER_THAN] = {"slower_than", NULL, CTX_STYLE_TIME},
	[SLOWER] = {"slower", NULL, CTX_STYLE_COUNT},
	[SLOWER_TEXT] = {NULL, "Slower", CTX_STYLE_COUNT},
	[NAME_TEXT] = {NULL, "Indicator", CTX_STYLE_NAME},
	[CALLERS_TEXT] = {NULL, "Function, and its callers", CTX_STYLE_NAME},
};

static const struct ctx_column thread_columns[] = {{"thread", NULL, CTX_STYLE_COUNT},
						   {"thread_id", NULL, CTX_STYLE_COUNT},
						   {"count", NULL, CTX_STYLE_COUNT}};
static const struct ctx_column caller_columns[] = {{"function", NULL, CTX_STYLE_NAME},
						   {"object", NULL, CTX_STYLE_NAME},
						   {"count", NULL, CTX_STYLE_COUNT}};

struct row {
	size_t indicator;
	uint32_t function; /* CTX_NONE: that of the indicator, which was never executed */
	uint64_t count, raised, entries, slower;
	uint32_t threads;
};

struct pair { /* a row, and a thread or a caller */
	uint32_t row, key;
	uint64_t count;
};

struct pairs {
	struct ctx_map64 places;
	struct pair *items;
	size_t n, cap;
};

struct page {
	const struct ctx_profile *profile;
	struct ctx_indicator_list list;
	struct ctx_map64 places; /* (indicator, function) -> row */
	struct row *rows;
	size_t n, cap;
	struct pairs threads, callers;
	/* While samples are read. */
	size_t now;
	bool is_raised;
};

static void pairs_deinit(struct pairs *pairs)
{
	ctx_map64_deinit(&pairs->places);
	free(pairs->items);
}

static void page_deinit(struct page *page)
{
	ctx_indicator_list_deinit(&page->list);
	ctx_map64_deinit(&page->places);
	free(page->rows);
	pairs_deinit(&page->threads);
	pairs_deinit(&page->callers);
}

/* NULL: no memory. */
static struct row *row_of(struct page *page, uint32_t function)
{
	uint32_t *place = ctx_map64_place(&page->places, (uint64_t)page->now << 32 | function);

	if (place == NULL || ctx_grow(&page->rows, &page->cap, page->n + 1, NULL) != CTX_OK)
		return NULL;
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)page->n;
		page->rows[page->n++] = (struct row){.indicator = page->now, .function = function};
	}
	return &page->rows[*place];
}

/* *ret_is_new: it is the first of this key. */
static bool add_pair(struct pairs *pairs, uint32_t row, uint32_t key, uint64_t count, bool *ret_is_new)
{
	uint32_t *place = ctx_map64_place(&pairs->places, (uint64_t)row << 32 | key);

	if (place == NULL || ctx_grow(&pairs->items, &pairs->cap, pairs->n + 1, NULL) != CTX_OK)
		return false;
	*ret_is_new = *place == CTX_MAP64_NONE;
	if (*ret_is_new) {
		*place = (uint32_t)pairs->n;
		pairs->items[pairs->n++] = (struct pair){.row = row, .key = key};
	}
	pairs->items[*place].count += count;
	return true;
}

/* The function of a node; CTX_NONE: the root, or a mark such as <Truncated-stack>. */
static uint32_t function_at(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t function = node != 0 && node < profile->cct.n ? profile->cct.key[node] : CTX_NONE;

	return function < profile->n_functions && profile->functions[function].kind != CTX_FUNCTION_TRUNCATED
		       ? function
		       : CTX_NONE;
}

/*
 * The node of what was executed. The first instruction of a function may be one of a call that is inlined there: where entries
 * of functions are counted, it is the function's.
 */
static uint32_t leaf_of(const struct ctx_profile *profile, const struct ctx_indicator_info *info,
			uint32_t stack)
{
	bool is_code = info->kind == CTX_INDICATOR_KIND_EXECUTE || info->kind == CTX_INDICATOR_KIND_RANGE;
	uint32_t node = stack < profile->cct.n ? stack : 0;

	while (is_code && info->inlined == 0 && function_at(profile, node) != CTX_NONE &&
	       profile->functions[profile->cct.key[node]].inlined)
		node = profile->cct.parent[node];
	return node;
}

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct page *page = context;
	const struct ctx_profile *profile = page->profile;
	const struct ctx_indicator_info *info = &page->list.items[page->now];
	uint32_t leaf = leaf_of(profile, info, sample->stack);
	/* Of coverage the report of that name has functions. */
	struct row *row = row_of(page, info->sites == CTX_NONE ? function_at(profile, leaf) : CTX_NONE);
	bool is_new = false;

	if (row == NULL)
		return ctx_err_nomem(err);
	row->raised += page->is_raised || (info->raised == CTX_NONE && info->threshold != 0);
	if (page->is_raised)
		return CTX_OK;
	row->count += sample->weight;
	if (!add_pair(&page->threads, (uint32_t)(row - page->rows), sample->thread, sample->weight, &is_new))
		return ctx_err_nomem(err);
	row->threads += is_new;
	return add_pair(&page->callers, (uint32_t)(row - page->rows),
			function_at(profile, profile->cct.parent[leaf]), sample->weight, &is_new)
		       ? CTX_OK
		       : ctx_err_nomem(err);
}

static enum ctx_status count_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	uint64_t *n = context;

	(void)sample;
	(void)err;
	(*n)++;
	return CTX_OK;
}

static enum ctx_status read_indicator(struct page *page, struct ctx_report_source *source,
				      struct ctx_err *err)
{
	const struct ctx_indicator_info *info = &page->list.items[page->now];
	struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true, .metric = info->metric};
	size_t before = page->n;
	enum ctx_status status = source->samples(source, &query, take_sample, page, err);

	page->is_raised = true;
	query.metric = info->raised;
	if (status == CTX_OK && info->raised != CTX_NONE)
		status = source->samples(source, &query, take_sample, page, err);
	page->is_raised = false;
	if (status == CTX_OK && info->slower != CTX_NONE) {
		uint64_t slower = 0;

		query.metric = info->slower;
		status = source->samples(source, &query, count_sample, &slower, err);
		/* It is one function; samples of its returns are in the caller. */
		if (status == CTX_OK && page->n != before)
			page->rows[before].slower = slower;
	}
	/* What was never executed has a row, too. */
	if (status == CTX_OK && page->n == before && row_of(page, CTX_NONE) == NULL)
		status = ctx_err_nomem(err);
	return status;
}

/* Of a range: calls from functions that are not in it. */
static void count_entries(struct page *page)
{
	for (size_t i = 0; i < page->callers.n; i++) {
		const struct pair *pair = &page->callers.items[i];
		struct row *row = &page->rows[pair->row];

		if (pair->key == CTX_NONE ||
		    ctx_map64_get(&page->places, (uint64_t)row->indicator << 32 | pair->key) ==
			    CTX_MAP64_NONE)
			row->entries += pair->count;
	}
}

/*
 * The kernel's counters know all executions, those that are not the last one of a threshold, and those whose samples were
 * lost. Returns how many of the latter there are.
 */
static uint64_t take_counts(struct page *page)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < page->list.n; i++) {
		const struct ctx_indicator_info *info = &page->list.items[i];
		struct row *only = NULL;
		uint64_t sum = 0;
		size_t n = 0;

		for (size_t r = 0; r < page->n; r++) {
			if (page->rows[r].indicator != i)
				continue;
			only = &page->rows[r];
			sum += only->count;
			n++;
		}
		if (!info->has_count || info->count <= sum)
			continue;
		if (n == 1)
			only->count = info->count;
		if (info->threshold == 0 || info->raised != CTX_NONE)
			lost += info->count - sum;
	}
	return lost;
}

static int by_indicator_and_count(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->indicator != right->indicator)
		return left->indicator < right->indicator ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static int by_row_and_count(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return (left->key > right->key) - (left->key < right->key);
}

/* Rows in order; pairs get the new numbers of their rows. */
static enum ctx_status sort(struct page *page, struct ctx_err *err)
{
	uint32_t *new_of CTX_AUTO_FREE = ctx_calloc(page->n + 1, sizeof(*new_of));
	struct pairs *both[] = {&page->threads, &page->callers};

	if (new_of == NULL)
		return ctx_err_nomem(err);
	if (page->n == 0)
		return CTX_OK;
	qsort(page->rows, page->n, sizeof(*page->rows), by_indicator_and_count);
	for (size_t i = 0; i < page->n; i++) {
		uint32_t was = ctx_map64_get(&page->places, (uint64_t)page->rows[i].indicator << 32 |
								    page->rows[i].function);

		new_of[was] = (uint32_t)i;
	}
	for (size_t p = 0; p < CTX_COUNT_OF(both); p++) {
		for (size_t i = 0; i < both[p]->n; i++)
			both[p]->items[i].row = new_of[both[p]->items[i].row];
		if (both[p]->n != 0)
			qsort(both[p]->items, both[p]->n, sizeof(*both[p]->items), by_row_and_count);
	}
	return CTX_OK;
}

/* Of a row, once both are sorted: the first pair, and *ret_n of them. O(log n) would do; rows are few. */
static const struct pair *pairs_of(const struct pairs *pairs, size_t row, size_t *ret_n)
{
	size_t at = 0, n = 0;

	while (at < pairs->n && pairs->items[at].row < row)
		at++;
	while (at + n < pairs->n && pairs->items[at + n].row == row)
		n++;
	*ret_n = n;
	return pairs->items + at;
}

static const char *function_name(const struct page *page, uint32_t function)
{
	return function != CTX_NONE ? page->profile->functions[function].name : "<Unknown>";
}

static const char *text_of(struct ctx_out *out, const struct page *page, size_t number)
{
	const struct row *row = &page->rows[number];
	const struct ctx_indicator_info *info = &page->list.items[row->indicator];
	const char *text = row->function != CTX_NONE ? function_name(page, row->function) : info->function;
	size_t n;
	const struct pair *callers = pairs_of(&page->callers, number, &n);

	for (size_t i = 0; i < n && i < CALLERS_SHOWN; i++) {
		if (callers[i].key != CTX_NONE)
			text = ctx_out_format(out, "%s%s %s %" PRIu64, text, i == 0 ? " \xe2\x86\x90" : ",",
					      function_name(page, callers[i].key), callers[i].count);
	}
	return text;
}

static void put_lists(struct ctx_out *out, const struct page *page, size_t number)
{
	const struct ctx_profile *profile = page->profile;
	size_t n;
	const struct pair *pairs = pairs_of(&page->threads, number, &n);

	ctx_out_list_begin(out, "by_thread");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_cell cells[] = {ctx_thread_cell(profile, pairs[i].key),
						 ctx_cell_number(pairs[i].key),
						 ctx_cell_number(pairs[i].count)};

		ctx_out_list_row(out, thread_columns, CTX_COUNT_OF(thread_columns), cells);
	}
	ctx_out_list_end(out);
	pairs = pairs_of(&page->callers, number, &n);
	ctx_out_list_begin(out, "callers");
	for (size_t i = 0; i < n; i++) {
		uint32_t function = pairs[i].key;
		uint32_t object = function != CTX_NONE ? profile->functions[function].object : CTX_NONE;
		const struct ctx_cell cells[] = {
			ctx_cell_name(function != CTX_NONE ? function_name(page, function) : NULL),
			ctx_cell_name(object < profile->n_objects ? profile->objects[object].path : NULL),
			ctx_cell_number(pairs[i].count)};

		ctx_out_list_row(out, caller_columns, CTX_COUNT_OF(caller_columns), cells);
	}
	ctx_out_list_end(out);
}

static void put_row(struct ctx_out *out, const struct page *page, size_t number, double seconds)
{
	const struct row *row = &page->rows[number];
	const struct ctx_indicator_info *info = &page->list.items[row->indicator];
	const struct ctx_function_info *function =
		row->function != CTX_NONE ? &page->profile->functions[row->function] : NULL;
	bool has_object = function != NULL && function->object < page->profile->n_objects;
	bool is_text = ctx_out_is_text(out), is_range = info->kind == CTX_INDICATOR_KIND_RANGE;
	const struct ctx_cell cells[N_COLUMNS] = {
		[INDICATOR] = ctx_cell_name(info->name),
		[COUNT] = ctx_cell_number(row->count),
		[RATE] = ctx_cell_number(seconds > 0 ? (uint64_t)((double)row->count / seconds + 0.5) : 0),
		[RAISED] = info->threshold != 0 ? ctx_cell_number(row->raised) : ctx_cell_name(NULL),
		[THREADS] = ctx_cell_number(row->threads),
		[KIND] = ctx_cell_name(ctx_indicator_kind_word(info->kind)),
		[MECHANISM] = ctx_cell_name(info->mechanism),
		[FUNCTION] = ctx_cell_name(function != NULL ? function->name : info->function),
		[OBJECT] = ctx_cell_name(has_object ? page->profile->objects[function->object].path
						    : info->object),
		[OFFSET] =
			ctx_cell_number(function != NULL && (is_range || info->places != 1) ? function->offset
											    : info->offset),
		[PLACES] = ctx_cell_number(info->places),
		[INLINED] = ctx_cell_number(info->inlined),
		[THRESHOLD] = info->threshold != 0 ? ctx_cell_number(info->threshold) : ctx_cell_name(NULL),
		[ENTRIES] = is_range ? ctx_cell_number(row->entries) : ctx_cell_name(NULL),
		[SLOWER_THAN] = info->slower != CTX_NONE ? ctx_cell_number(info->slower_than_ns)
							 : ctx_cell_name(NULL),
		[SLOWER] = info->slower != CTX_NONE ? ctx_cell_number(row->slower) : ctx_cell_name(NULL),
		[SLOWER_TEXT] = info->slower != CTX_NONE ? ctx_cell_number(row->slower) : ctx_cell_name(NULL),
		[NAME_TEXT] = ctx_cell_name(info->name),
		[CALLERS_TEXT] = ctx_cell_name(is_text ? text_of(out, page, number) : NULL),
	};

	ctx_out_row_begin(out, cells);
	if (ctx_out_has_lists(out))
		put_lists(out, page, number);
	ctx_out_row_end(out);
}

static double seconds_of(const struct ctx_report_selection *selection)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < selection->n_intervals; i++)
		ns += selection->intervals[i].end_ns - selection->intervals[i].begin_ns;
	return (double)ns / 1e9;
}

static void put_page(const struct ctx_out_spec *spec, const struct page *page, struct ctx_out *out)
{
	uint32_t limit = spec->options->limit;

	ctx_out_begin(out, spec);
	for (size_t i = 0; i < page->n && (limit == 0 || i < limit); i++)
		put_row(out, page, i, seconds_of(spec->selection));
	ctx_out_section(out, NULL);
	if (limit != 0 && page->n > limit)
		ctx_out_more(out, page->n - limit, "row");
	ctx_out_rows_end(out);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct page page = {.profile = profile};
	struct ctx_head_topic topic = {.metric = {.name = "Indicators", .unit = CTX_UNIT_NONE},
				       .counted = "executions"};
	struct ctx_out_spec spec = {.kind = &ctx_report_indicators,
				    .selection = &source->selection,
				    .options = options,
				    .topic = &topic};
	struct ctx_out out;
	char note[160];
	uint64_t lost = 0;
	enum ctx_status status = ctx_indicator_list_read(&page.list, profile->properties,
							 profile->n_properties, profile->n_metrics, err);

	if (status == CTX_OK && page.list.n == 0)
		status = ctx_err_set(err, CTX_E_ARG, "nothing was counted (ctxrec --indicator)");
	for (page.now = 0; page.now < page.list.n && status == CTX_OK; page.now++)
		status = read_indicator(&page, source, err);
	if (status == CTX_OK)
		count_entries(&page);
	if (status == CTX_OK && ctx_head_is_whole_run(&source->selection))
		lost = take_counts(&page);
	if (status == CTX_OK)
		status = sort(&page, err);
	if (status == CTX_OK) {
		for (size_t i = 0; i < page.n; i++)
			topic.totals.samples += page.rows[i].count;
		topic.totals.weight = topic.totals.samples;
		if (lost != 0) {
			snprintf(note, sizeof(note),
				 "of %" PRIu64
				 " executions no sample was recorded: rows by function lack them",
				 lost);
			topic.note = note;
		}
		put_page(&spec, &page, &out);
		status = ctx_out_end(&out, err);
	}
	page_deinit(&page);
	return status;
}

const struct ctx_report_kind ctx_report_indicators = {
	.name = "indicators",
	.metrics = CTX_REPORT_NO_METRIC,
	.no_function = true,
	.order = ": it is in the order in which they were given",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
