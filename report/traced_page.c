#include "report/traced_page.h"

#include "base/mem.h"
#include "model/heap_sampling.h"
#include "report/function_names.h"
#include "report/names.h"
#include "report/stack_cells.h"
#include "report/wait_chain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROWS 20u /* of a table of text */
#define BAR 24u

/* Parents have smaller ids than their children: one pass over the nodes is enough. */
static enum ctx_status find_passing(const struct ctx_profile *profile, const char *function, bool **ret,
				    struct ctx_err *err)
{
	const struct ctx_trie *cct = &profile->cct;
	bool *functions CTX_AUTO_FREE = ctx_calloc(profile->n_functions, sizeof(*functions));
	bool *nodes = ctx_calloc(cct->n, sizeof(*nodes));

	if (functions == NULL || nodes == NULL) {
		free(nodes);
		return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < profile->n_functions; i++)
		functions[i] = ctx_function_matches(profile, i, function);
	for (uint32_t i = 1; i < cct->n; i++)
		nodes[i] = nodes[cct->parent[i]] ||
			   (cct->key[i] < profile->n_functions && functions[cct->key[i]]);
	*ret = nodes;
	return CTX_OK;
}

static enum ctx_status check_recorded(const struct ctx_profile *profile, enum ctx_traced_kind kind,
				      struct ctx_err *err)
{
	static const char *const asked[CTX_TRACED_N] = {
		"heap trace", "synchronization trace", "I/O trace",	  "mark trace",
		"call trace", "branch stacks",	       "memory accesses", "OpenMP trace"};
	static const char *const hints[CTX_TRACED_N] = {
		"no allocations were traced (ctxrec --heap, gprofng collect app -H on)",
		"no waits were traced (ctxrec --sync, gprofng collect app -s all)",
		"no input and output was traced (ctxrec --io, gprofng collect app -i on)",
		"the program said nothing of itself (ctx_trace.h, ctxrec --marks)",
		"no calls were traced: they are estimated from samples in other reports",
		"no branch stacks were recorded (perf record -b)",
		"no addresses of memory were recorded (ctxrec --data, perf mem record, perf record -d)",
		"no regions or tasks of OpenMP were traced (ctxrec --openmp)"};

	/* Recorded, but none occurred: the report says so. */
	if (profile->traced[kind] != 0 || ctx_profile_property(profile, asked[kind], NULL) != NULL)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_NOTFOUND, "%s", hints[kind]);
}

/* Adds the note that the report is restricted to one function. */
static enum ctx_status note_function(struct ctx_traced_page *page, const char *function, struct ctx_err *err)
{
	static const char before[] = "only what has ", behind[] = " on its call stack";
	size_t n = sizeof(before) + sizeof(behind) + strlen(function);
	char *note = ctx_arena_alloc(&page->texts, n);

	if (note == NULL)
		return ctx_err_nomem(err);
	snprintf(note, n, "%s%s%s", before, function, behind);
	page->topic.note = note;
	return CTX_OK;
}

static size_t most_rows(const struct ctx_report_options *options)
{
	if (options->limit != 0)
		return options->limit;
	if (options->whole || options->format == CTX_REPORT_JSON || options->format == CTX_REPORT_CSV)
		return SIZE_MAX;
	return DEFAULT_ROWS;
}

enum ctx_status ctx_traced_page_init(struct ctx_traced_page *page, const struct ctx_traced_report *report,
				     struct ctx_report_source *source,
				     const struct ctx_report_options *options, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	enum ctx_status status;

	*page = (struct ctx_traced_page){.report = report,
					 .selection = &source->selection,
					 .options = options,
					 .profile = profile,
					 .most = most_rows(options)};
	page->topic.metric = (struct ctx_metric_info){
		.name = report->topic, .unit = report->unit, .kind = CTX_METRIC_SPAN};
	page->topic.counted = report->counted;
	status = ctx_order_find(report->report->name, options->sort, report->sort_keys, &page->key, err);
	if (status == CTX_OK)
		status = check_recorded(profile, report->kind, err);
	if (status == CTX_OK)
		status = ctx_function_check(profile, options->function, err);
	if (status == CTX_OK && options->function != NULL)
		status = find_passing(profile, options->function, &page->passes, err);
	if (status == CTX_OK && options->function != NULL)
		status = note_function(page, options->function, err);
	if (status == CTX_OK && !report->one_by_one)
		status = source->traced(source, report->kind, &page->traced, err);
	return status;
}

void ctx_traced_page_deinit(struct ctx_traced_page *page)
{
	free(page->passes);
	ctx_arena_deinit(&page->texts);
	ctx_buf_deinit(&page->buf);
}

bool ctx_traced_passes(const struct ctx_traced_page *page, const struct ctx_traced *operation)
{
	return page->passes == NULL ||
	       (operation->stack < page->profile->cct.n && page->passes[operation->stack]);
}

uint64_t ctx_traced_sample_bytes(const struct ctx_traced_page *page)
{
	return ctx_heap_sample_bytes(page->profile->properties, page->profile->n_properties);
}

static double percent_of(double variance, double sum)
{
	return sum != 0 ? 100 * sqrt(variance) / sum : 0;
}

void ctx_traced_note_sampling(struct ctx_traced_page *page)
{
	const struct ctx_traced_sums *total = &page->total;
	uint64_t bytes = ctx_traced_sample_bytes(page);

	if (bytes == 0)
		return;
	page->topic.second_note = ctx_traced_text(
		page,
		"allocations were sampled, %" PRIu64 " bytes apart on average: all numbers are estimates; "
		"the standard error of the total is %.1f %% of the allocations, %.1f %% of the bytes",
		bytes, percent_of(total->count_variance, (double)ctx_traced_whole(total, total->count)),
		percent_of(total->bytes_variance, (double)total->bytes));
}

void ctx_traced_page_begin(struct ctx_traced_page *page)
{
	const struct ctx_report_kind *kind = page->report->report;
	const struct ctx_out_spec spec = {
		.kind = kind, .selection = page->selection, .options = page->options, .topic = &page->topic};

	page->topic.totals.samples = ctx_traced_whole(&page->total, page->total.count);
	ctx_out_begin(&page->out, &spec);
	page->sections = (struct ctx_sections){
		.out = &page->out, .columns = kind->columns, .n_columns = kind->n_columns};
}

enum ctx_status ctx_traced_page_end(struct ctx_traced_page *page, struct ctx_err *err)
{
	ctx_sections_end(&page->sections);
	ctx_out_rows_end(&page->out);
	return ctx_out_end(&page->out, err);
}

const char *ctx_traced_text(struct ctx_traced_page *page, const char *fmt, ...)
{
	va_list args;
	char *text = NULL;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n >= 0)
		text = ctx_arena_alloc(&page->texts, (size_t)n + 1);
	if (text == NULL) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return "";
	}
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}

void ctx_traced_set_time(struct ctx_traced_page *page, struct ctx_cell *number, struct ctx_cell *text,
			 uint64_t ns)
{
	char room[40];

	ctx_time_format(ns, room, sizeof(room));
	*number = ctx_cell_number(ns);
	*text = ctx_cell_figure(ctx_traced_text(page, "%s", room));
}

/* If the leaf is the collector itself, its caller is more informative. */
static uint32_t without_collector(const struct ctx_profile *profile, uint32_t stack)
{
	static const char own[] = "__collector_";
	const struct ctx_trie *cct = &profile->cct;

	while (stack != CTX_TRIE_ROOT && stack < cct->n && cct->key[stack] < profile->n_functions &&
	       strncmp(profile->functions[cct->key[stack]].name, own, sizeof(own) - 1) == 0)
		stack = cct->parent[stack];
	return stack;
}

/* The width left by the numbers. */
static size_t room_of(const struct ctx_traced_page *page)
{
	size_t width = page->out.options->width, numbers = page->report->number_width;

	if (width == 0)
		return SIZE_MAX;
	return width > numbers ? width - numbers : 0;
}

const char *ctx_traced_chain(struct ctx_traced_page *page, uint32_t stack)
{
	struct ctx_buf *buf = &page->buf;

	ctx_buf_clear(buf);
	ctx_wait_chain_put_within(page->profile, without_collector(page->profile, stack), room_of(page),
				  page->out.options->ascii, buf);
	ctx_buf_put_u8(buf, '\0');
	if (buf->failed) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return "";
	}
	return ctx_traced_text(page, "%s", buf->n > 1 ? (const char *)buf->bytes : "<no call stack>");
}

void ctx_traced_merge_stacks(struct ctx_traced_page *page, struct ctx_traced_groups *groups)
{
	if (!ctx_out_is_text(&page->out))
		return;
	for (size_t i = 0; i < groups->n; i++)
		groups->items[i].text = ctx_traced_chain(page, groups->items[i].stack);
	ctx_traced_groups_merge(groups);
}

void ctx_traced_put_total(struct ctx_traced_page *page,
			  void (*more)(struct ctx_cell *cells, const void *context), const void *context)
{
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	page->report->fill(&page->total, cells);
	cells[page->report->text] = ctx_cell_name("<Total>");
	if (more != NULL)
		more(cells, context);
	ctx_sections_row_begin(&page->sections, cells, "total");
	ctx_sections_row_end(&page->sections);
}

void ctx_traced_put_more(struct ctx_traced_page *page, size_t n, const char *what)
{
	if (n <= page->most)
		return;
	ctx_out_section(&page->out, NULL);
	ctx_out_more(&page->out, n - page->most, what);
}

void ctx_traced_put_rows(struct ctx_traced_page *page, const struct ctx_traced_rows *rows)
{
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(rows->n, sizeof(*items));
	size_t n = 0;

	if (items == NULL) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < rows->n; i++) {
		items[n] = (struct ctx_order_item){.index = (uint32_t)i};
		n += rows->order(rows->context, i, &items[n]);
	}
	ctx_order_sort(items, n);
	if (n != 0 && rows->section != NULL)
		ctx_sections_begin(&page->sections, rows->section, NULL);
	for (size_t i = 0; i < n && i < page->most; i++)
		rows->put(rows->context, items[i].index);
	ctx_traced_put_more(page, n, rows->what);
}

/* Rows of groups. */
struct listing {
	struct ctx_traced_page *page;
	const struct ctx_traced_groups *groups;
	const struct ctx_traced_table *table;
};

static bool order_group(const void *context, size_t row, struct ctx_order_item *item)
{
	const struct listing *listing = context;
	const struct ctx_traced_report *report = listing->page->report;
	const struct ctx_traced_sums *sums = &listing->groups->items[row].sums;

	item->number = report->value(sums, listing->page->key);
	item->second = report->value(sums, 0);
	return true;
}

static void put_group(void *context, size_t row)
{
	const struct listing *listing = context;
	const struct ctx_traced_table *table = listing->table;
	const struct ctx_traced_group *group = &listing->groups->items[row];
	struct ctx_traced_page *page = listing->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	bool csv = page->out.options->format == CTX_REPORT_CSV;

	ctx_sections_clear(&page->sections, cells);
	page->report->fill(&group->sums, cells);
	cells[page->report->text] = ctx_cell_name(group->text);
	if (table->name != NULL)
		table->name(page, group, cells);
	if (table->lists && csv)
		cells[page->report->stack] = ctx_stack_joined_cell(&page->out, group->stack, &page->buf);
	ctx_sections_row_begin(&page->sections, cells, NULL);
	if (table->lists)
		ctx_stack_put_list(&page->out, "stack", group->stack);
	ctx_sections_row_end(&page->sections);
}

void ctx_traced_put_groups(struct ctx_traced_page *page, const struct ctx_traced_groups *groups,
			   const struct ctx_traced_table *table)
{
	struct listing listing = {page, groups, table};

	ctx_traced_put_rows(page, &(struct ctx_traced_rows){.what = table->what,
							    .n = groups->n,
							    .order = order_group,
							    .put = put_group,
							    .context = &listing});
}

const char *ctx_traced_bar(struct ctx_traced_page *page, uint64_t value, uint64_t largest)
{
	static const char all[] = "########################";
	double share = largest != 0 ? (double)value / (double)largest : 0;
	unsigned length = (unsigned)(share * BAR + 0.5);

	if (length == 0 && value != 0)
		length = 1;
	return ctx_traced_text(page, "%.*s", (int)(length < BAR ? length : BAR), all);
}

void ctx_traced_put_histogram(struct ctx_traced_page *page, const struct ctx_traced_histogram *histogram)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < CTX_TRACED_BUCKETS; i++)
		largest = histogram->sums[i].count > largest ? histogram->sums[i].count : largest;
	for (unsigned i = 0; i < CTX_TRACED_BUCKETS; i++) {
		struct ctx_cell cells[CTX_TRACED_COLUMNS];

		if (histogram->sums[i].count == 0)
			continue;
		ctx_sections_clear(&page->sections, cells);
		page->report->fill(&histogram->sums[i], cells);
		cells[histogram->from] = ctx_cell_number(ctx_traced_bucket_first(i));
		cells[histogram->to] = ctx_cell_number(ctx_traced_bucket_last(i));
		cells[page->report->text] =
			ctx_cell_name(ctx_traced_bar(page, histogram->sums[i].count, largest));
		ctx_sections_row_begin(&page->sections, cells, NULL);
		ctx_sections_row_end(&page->sections);
	}
}
