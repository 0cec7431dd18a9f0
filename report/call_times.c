/*
 * Calls that were seen to begin and end: how often each function was called and how long its calls took;
 * of one function how the durations are distributed, and the longest calls.
 *
 *	completed calls, one by one --> sums by function, durations (call_durations.c)
 *	                            `-> the longest: a heap of as many as are shown
 */
#include "report/call_durations.h"
#include "report/function_names.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/stack_cells.h"
#include "report/traced_page.h"

#include "base/heap.h"
#include "base/mem.h"
#include "base/strtab.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST_SHOWN 10u
#define LONGEST_MAX 65536u

enum {
	SECTION,
	FUNCTION,
	OBJECT,
	CALLS,
	TOTAL,
	SELF,
	ELAPSED,
	MIN,
	MEAN,
	P50,
	P90,
	P99,
	P999,
	MAX,
	SLOWER,
	UNWOUND,
	INLINED,
	FROM_NS,
	TO_NS,
	NUMBER,
	BEGIN_NS,
	DURATION_NS,
	OFF_NS,
	SELF_NS,
	TID,
	THREAD,
	STACK,
	/* Of text: times in the unit that fits. */
	TOTAL_TEXT,
	SELF_TEXT,
	ELAPSED_TEXT,
	MIN_TEXT,
	MEAN_TEXT,
	P50_TEXT,
	P90_TEXT,
	P99_TEXT,
	P999_TEXT,
	MAX_TEXT,
	FROM_TEXT,
	TO_TEXT,
	BEGIN_TEXT,
	DURATION_TEXT,
	SELF_OF_TEXT,
	TEXT,
};

#define TIME(column, key) [column] = {key, NULL, CTX_STYLE_TIME}
#define COUNT(column, key) [column] = {key, NULL, CTX_STYLE_COUNT}
#define NAME(column, key) [column] = {key, NULL, CTX_STYLE_NAME}

static const struct ctx_column columns[] = {
	NAME(SECTION, "section"),   NAME(FUNCTION, "function"),
	NAME(OBJECT, "object"),	    COUNT(CALLS, "calls"),
	TIME(TOTAL, "total"),	    TIME(SELF, "self"),
	TIME(ELAPSED, "elapsed"),   TIME(MIN, "min"),
	TIME(MEAN, "mean"),	    TIME(P50, "p50"),
	TIME(P90, "p90"),	    TIME(P99, "p99"),
	TIME(P999, "p999"),	    TIME(MAX, "max"),
	COUNT(SLOWER, "slower"),    COUNT(UNWOUND, "unwound"),
	NAME(INLINED, "inlined"),   TIME(FROM_NS, "from_ns"),
	TIME(TO_NS, "to_ns"),	    COUNT(NUMBER, "number"),
	TIME(BEGIN_NS, "begin_ns"), TIME(DURATION_NS, "duration_ns"),
	TIME(OFF_NS, "off_ns"),	    TIME(SELF_NS, "self_ns"),
	COUNT(TID, "tid"),	    NAME(THREAD, "thread"),
	NAME(STACK, "stack"),	    COUNT(TOTAL_TEXT, NULL),
	COUNT(SELF_TEXT, NULL),	    COUNT(ELAPSED_TEXT, NULL),
	COUNT(MIN_TEXT, NULL),	    COUNT(MEAN_TEXT, NULL),
	COUNT(P50_TEXT, NULL),	    COUNT(P90_TEXT, NULL),
	COUNT(P99_TEXT, NULL),	    COUNT(P999_TEXT, NULL),
	COUNT(MAX_TEXT, NULL),	    COUNT(FROM_TEXT, NULL),
	COUNT(TO_TEXT, NULL),	    COUNT(BEGIN_TEXT, NULL),
	COUNT(DURATION_TEXT, NULL), COUNT(SELF_OF_TEXT, NULL),
	NAME(TEXT, NULL),
};

_Static_assert(CTX_COUNT_OF(columns) <= CTX_TRACED_COLUMNS, "cells of a row");

#define SPREAD                                                                                               \
	{CALLS, "Calls"}, {TOTAL_TEXT, "Total"}, {SELF_TEXT, "Self"}, {MIN_TEXT, "Min"},                     \
		{MEAN_TEXT, "Mean"}, {P50_TEXT, "p50"}, {P90_TEXT, "p90"}, {P99_TEXT, "p99"},                \
		{P999_TEXT, "p99.9"},                                                                        \
	{                                                                                                    \
		MAX_TEXT, "Longest"                                                                          \
	}

static const struct ctx_section_column function_columns[] = {SPREAD, {TEXT, "Function"}};
static const struct ctx_section_column slower_columns[] = {SPREAD, {SLOWER, "Slower"}, {TEXT, "Function"}};
static const struct ctx_section_column bucket_columns[] = {
	{FROM_TEXT, "From"}, {TO_TEXT, "To"}, {CALLS, "Calls"}, {TEXT, ""}};
static const struct ctx_section_column longest_columns[] = {
	{NUMBER, "#"},		{BEGIN_TEXT, "Begin"}, {DURATION_TEXT, "Took"},
	{SELF_OF_TEXT, "Self"}, {TID, "TID"},	       {TEXT, "Call stack"}};

static const struct ctx_section function_section = {"function", NULL, function_columns,
						    CTX_COUNT_OF(function_columns)};
static const struct ctx_section slower_section = {"function", NULL, slower_columns,
						  CTX_COUNT_OF(slower_columns)};
static const struct ctx_section bucket_section = {"duration", "How long the calls took", bucket_columns,
						  CTX_COUNT_OF(bucket_columns)};
static const struct ctx_section longest_section = {"call", NULL, longest_columns,
						   CTX_COUNT_OF(longest_columns)};

static const char *const sort_keys[] = {"total", "self", "calls", "elapsed", "mean", "max", "slower", NULL};

static const struct ctx_traced_report calls_report = {.report = &ctx_report_calls,
						      .kind = CTX_TRACED_CALL,
						      .topic = "Calls",
						      .unit = CTX_UNIT_NS,
						      .counted = "calls",
						      .stack = STACK,
						      .text = TEXT,
						      .number_width = 46,
						      .sort_keys = sort_keys,
						      .one_by_one = true};

struct sums { /* of a function */
	uint64_t calls, slower, unwound;
	uint64_t total_ns, elapsed_ns; /* of calls that are not in another one of the function */
	uint64_t self_ns, all_ns;      /* of all */
	uint64_t ended;		       /* calls that all_ns is of */
};

struct longest { /* of a heap: the shortest of them first */
	uint64_t duration_ns;
	uint32_t index; /* of `calls` */
};

struct call_times {
	struct ctx_traced_page page;
	struct sums *sums; /* by function */
	uint32_t *name_of; /* the same: number of the name; functions of one name are counted together */
	uint64_t *numbers; /* by number of a name: calls that have ended */
	bool *wanted;	   /* by function */
	bool *outermost;   /* by CCT node: no caller is the same function */
	uint64_t *path_ns; /* of sums of calls, by CCT node: time in it; NULL: calls are known one by one */
	struct ctx_call_durations durations;
	struct ctx_traced *calls; /* the longest; with their number as address */
	struct longest *heap;
	size_t n_heap, most;
	uint64_t n_listed; /* calls that would be listed */
};

static void deinit(struct call_times *times)
{
	free(times->sums);
	free(times->name_of);
	free(times->numbers);
	free(times->wanted);
	free(times->outermost);
	free(times->path_ns);
	free(times->calls);
	free(times->heap);
	ctx_call_durations_deinit(&times->durations);
	ctx_traced_page_deinit(&times->page);
}

/* --- which calls --- */

/* Children of CCT nodes, for walks depth first. */
struct walk {
	uint32_t *first_child, *next_sibling; /* 0: none */
	uint32_t *inside;		      /* by function: nodes of it on the path */
};

static void enter(const struct ctx_profile *profile, struct walk *walk, uint32_t node, bool *outermost)
{
	uint32_t function = profile->cct.key[node];

	outermost[node] = function >= profile->n_functions || walk->inside[function] == 0;
	if (function < profile->n_functions)
		walk->inside[function]++;
}

static void mark_outermost(const struct ctx_profile *profile, struct walk *walk, bool *outermost)
{
	const struct ctx_trie *cct = &profile->cct;
	uint32_t node = CTX_TRIE_ROOT;

	for (uint32_t i = cct->n; i-- > 1;) {
		walk->next_sibling[i] = walk->first_child[cct->parent[i]];
		walk->first_child[cct->parent[i]] = i;
	}
	for (;;) {
		if (walk->first_child[node] != 0) {
			node = walk->first_child[node];
			enter(profile, walk, node, outermost);
			continue;
		}
		for (; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
			if (cct->key[node] < profile->n_functions)
				walk->inside[cct->key[node]]--;
			if (walk->next_sibling[node] != 0)
				break;
		}
		if (node == CTX_TRIE_ROOT)
			return;
		node = walk->next_sibling[node];
		enter(profile, walk, node, outermost);
	}
}

static bool find_outermost(struct call_times *times, const struct ctx_profile *profile)
{
	struct walk walk = {.first_child = ctx_calloc(profile->cct.n, sizeof(*walk.first_child)),
			    .next_sibling = ctx_calloc(profile->cct.n, sizeof(*walk.next_sibling)),
			    .inside = ctx_calloc(profile->n_functions, sizeof(*walk.inside))};
	bool has_memory;

	times->outermost = ctx_calloc(profile->cct.n, sizeof(*times->outermost));
	has_memory = walk.first_child != NULL && walk.next_sibling != NULL && walk.inside != NULL &&
		     times->outermost != NULL;
	if (has_memory)
		mark_outermost(profile, &walk, times->outermost);
	free(walk.first_child);
	free(walk.next_sibling);
	free(walk.inside);
	return has_memory;
}

static enum ctx_status number_names(struct call_times *times, const struct ctx_profile *profile,
				    struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++)
		status = ctx_strtab_add_text(&names, profile->functions[i].name, &times->name_of[i], err);
	ctx_strtab_deinit(&names);
	return status;
}

static enum ctx_status prepare(struct call_times *times, struct ctx_err *err)
{
	const struct ctx_report_options *options = times->page.options;
	const struct ctx_profile *profile = times->page.profile;
	uint32_t n = profile->n_functions;
	enum ctx_status status = ctx_function_check(profile, options->subject, err);

	if (status != CTX_OK)
		return status;
	times->most = options->limit != 0	     ? options->limit
		      : times->page.most == SIZE_MAX ? LONGEST_MAX
						     : LONGEST_SHOWN;
	if (times->most > LONGEST_MAX)
		times->most = LONGEST_MAX;
	times->sums = ctx_calloc(n, sizeof(*times->sums));
	times->name_of = ctx_calloc(n, sizeof(*times->name_of));
	times->numbers = ctx_calloc(n, sizeof(*times->numbers));
	times->wanted = ctx_calloc(n, sizeof(*times->wanted));
	times->calls = ctx_calloc(times->most, sizeof(*times->calls));
	times->heap = ctx_calloc(times->most, sizeof(*times->heap));
	if (times->sums == NULL || times->name_of == NULL || times->numbers == NULL ||
	    times->wanted == NULL || times->calls == NULL || times->heap == NULL ||
	    !find_outermost(times, profile))
		return ctx_err_nomem(err);
	if (profile->losses.call_log) {
		times->path_ns = ctx_calloc(profile->cct.n, sizeof(*times->path_ns));
		if (times->path_ns == NULL)
			return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < n; i++)
		times->wanted[i] = ctx_function_matches(profile, i, options->subject);
	return number_names(times, profile, err);
}

/* --- counting them --- */

static bool is_shorter(const void *a, const void *b)
{
	const struct longest *left = a, *right = b;

	/* Of equally long ones the first stays. */
	return left->duration_ns != right->duration_ns ? left->duration_ns < right->duration_ns
						       : left->index > right->index;
}

static void keep_longest(struct call_times *times, const struct ctx_traced *call, uint64_t number)
{
	struct longest new = {.duration_ns = call->duration_ns, .index = (uint32_t)times->n_heap};

	times->n_listed++;
	if (times->n_heap == times->most) {
		if (call->duration_ns <= times->heap[0].duration_ns)
			return;
		new.index = times->heap[0].index;
		times->heap[0] = new;
		ctx_heap_sink(times->heap, times->n_heap, sizeof(*times->heap), is_shorter);
	} else {
		times->heap[times->n_heap++] = new;
		ctx_heap_rise(times->heap, times->n_heap, sizeof(*times->heap), is_shorter);
	}
	times->calls[new.index] = *call;
	times->calls[new.index].address = number;
}

/* What is known of a path, or of how long calls of a function took. */
static enum ctx_status add_sum(struct call_times *times, const struct ctx_traced *sum, uint32_t function,
			       struct ctx_err *err)
{
	struct sums *sums = &times->sums[function];
	uint64_t slower_ns = times->page.options->slower_than_ns, calls = (uint64_t)sum->value;

	if (sum->duration_ns == 0) {
		times->path_ns[sum->stack] += sum->self_ns;
		if (!times->wanted[function])
			return CTX_OK;
		sums->calls += calls;
		sums->self_ns += sum->self_ns;
		times->page.total.count += calls;
		times->page.topic.totals.weight += sum->self_ns;
		return CTX_OK;
	}
	if (!times->wanted[function])
		return CTX_OK;
	sums->ended += calls;
	sums->all_ns += calls * sum->duration_ns;
	sums->slower += slower_ns != 0 && sum->duration_ns > slower_ns ? calls : 0;
	return ctx_call_durations_add(&times->durations, function, sum->duration_ns, calls, err);
}

/* Time of functions with what they called, from that of paths. */
static void add_up_paths(struct call_times *times)
{
	const struct ctx_profile *profile = times->page.profile;
	const struct ctx_trie *cct = &profile->cct;

	for (uint32_t i = cct->n; i-- > 1;) {
		uint32_t function = cct->key[i];

		times->path_ns[cct->parent[i]] += times->path_ns[i];
		if (function < profile->n_functions && times->wanted[function] && times->outermost[i])
			times->sums[function].total_ns += times->path_ns[i];
	}
	for (uint32_t i = 0; i < profile->n_functions; i++)
		times->sums[i].elapsed_ns = times->sums[i].total_ns;
}

static enum ctx_status add(void *context, const struct ctx_traced *call, bool passes, struct ctx_err *err)
{
	struct call_times *times = context;
	const struct ctx_profile *profile = times->page.profile;
	const struct ctx_report_options *options = times->page.options;
	uint32_t function = call->stack < profile->cct.n ? profile->cct.key[call->stack] : CTX_NONE;
	bool is_slower = options->slower_than_ns != 0 && call->duration_ns > options->slower_than_ns;
	struct sums *sums;
	uint64_t number;

	if (function >= profile->n_functions)
		return CTX_OK;
	if (times->path_ns != NULL)
		return passes && ctx_traced_passes(&times->page, call) &&
				       ctx_intervals_have(times->page.selection->intervals,
							  times->page.selection->n_intervals, call->time_ns)
			       ? add_sum(times, call, function, err)
			       : CTX_OK;
	number = ++times->numbers[times->name_of[function]];
	if (!passes || !times->wanted[function] || !ctx_traced_passes(&times->page, call) ||
	    !ctx_intervals_have(times->page.selection->intervals, times->page.selection->n_intervals,
				call->time_ns))
		return CTX_OK;
	sums = &times->sums[function];
	sums->calls++;
	sums->slower += is_slower;
	sums->unwound += call->failed;
	sums->self_ns += call->self_ns;
	sums->all_ns += call->duration_ns;
	sums->ended++;
	if (times->outermost[call->stack]) {
		sums->elapsed_ns += call->duration_ns;
		sums->total_ns += call->duration_ns - call->off_ns;
	}
	times->page.total.count++;
	times->page.topic.totals.weight += call->self_ns;
	if (options->slower_than_ns != 0 ? is_slower : options->subject != NULL)
		keep_longest(times, call, number);
	return ctx_call_durations_add(&times->durations, function, call->duration_ns, 1, err);
}

/* --- rows --- */

static void set_time(struct ctx_traced_page *page, struct ctx_cell *cells, unsigned number, uint64_t ns)
{
	static const uint8_t texts[] = {[TOTAL] = TOTAL_TEXT,	  [SELF] = SELF_TEXT,
					[ELAPSED] = ELAPSED_TEXT, [MIN] = MIN_TEXT,
					[MEAN] = MEAN_TEXT,	  [P50] = P50_TEXT,
					[P90] = P90_TEXT,	  [P99] = P99_TEXT,
					[P999] = P999_TEXT,	  [MAX] = MAX_TEXT,
					[FROM_NS] = FROM_TEXT,	  [TO_NS] = TO_TEXT,
					[BEGIN_NS] = BEGIN_TEXT,  [DURATION_NS] = DURATION_TEXT,
					[SELF_NS] = SELF_OF_TEXT};

	ctx_traced_set_time(page, &cells[number], &cells[texts[number]], ns);
}

static uint64_t value_of(const struct call_times *times, uint32_t function)
{
	const struct sums *sums = &times->sums[function];
	struct ctx_call_spread spread;

	switch (times->page.key) {
	case 0:
		return sums->total_ns;
	case 1:
		return sums->self_ns;
	case 2:
		return sums->calls;
	case 3:
		return sums->elapsed_ns;
	case 4:
		return sums->ended != 0 ? sums->all_ns / sums->ended : 0;
	case 5:
		spread = ctx_call_durations_of(&times->durations, function);
		return spread.n != 0 ? spread.items[spread.n - 1].ns : 0;
	default:
		return sums->slower;
	}
}

static bool order_function(const void *context, size_t function, struct ctx_order_item *item)
{
	const struct call_times *times = context;
	const struct sums *sums = &times->sums[function];

	if (sums->calls == 0 && sums->total_ns == 0 && sums->ended == 0)
		return false;
	item->number = value_of(times, (uint32_t)function);
	item->second = sums->calls;
	return true;
}

static void put_function(void *context, size_t row)
{
	static const struct {
		unsigned column, permille;
	} ranks[] = {{MIN, 0}, {P50, 500}, {P90, 900}, {P99, 990}, {P999, 999}, {MAX, 1000}};
	struct call_times *times = context;
	struct ctx_traced_page *page = &times->page;
	uint32_t function = (uint32_t)row;
	const struct sums *sums = &times->sums[function];
	struct ctx_call_spread spread = ctx_call_durations_of(&times->durations, function);
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	cells[FUNCTION] = cells[TEXT] = ctx_function_cell(page->profile, function);
	cells[OBJECT] = ctx_object_cell(page->profile, function);
	cells[CALLS] = ctx_cell_number(sums->calls);
	if (times->path_ns == NULL)
		cells[UNWOUND] = ctx_cell_number(sums->unwound);
	cells[INLINED] = ctx_cell_bool(page->profile->functions[function].inlined);
	if (page->options->slower_than_ns != 0)
		cells[SLOWER] = ctx_cell_number(sums->slower);
	set_time(page, cells, TOTAL, sums->total_ns);
	set_time(page, cells, SELF, sums->self_ns);
	set_time(page, cells, ELAPSED, sums->elapsed_ns);
	if (sums->ended != 0)
		set_time(page, cells, MEAN, sums->all_ns / sums->ended);
	for (size_t i = 0; i < CTX_COUNT_OF(ranks) && spread.n != 0; i++)
		set_time(page, cells, ranks[i].column, ctx_call_spread_rank(&spread, ranks[i].permille));
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

static void put_functions(struct call_times *times)
{
	struct ctx_traced_page *page = &times->page;

	ctx_sections_begin(&page->sections,
			   page->options->slower_than_ns != 0 ? &slower_section : &function_section, NULL);
	ctx_traced_put_rows(page, &(struct ctx_traced_rows){.what = "function",
							    .n = page->profile->n_functions,
							    .order = order_function,
							    .put = put_function,
							    .context = times});
}

static void put_histogram(struct call_times *times)
{
	struct ctx_traced_page *page = &times->page;
	uint64_t counts[CTX_TRACED_BUCKETS] = {0}, largest = 0;

	for (size_t i = 0; i < times->durations.n; i++)
		counts[ctx_traced_bucket(times->durations.items[i].ns)] += times->durations.items[i].count;
	for (unsigned i = 0; i < CTX_TRACED_BUCKETS; i++)
		largest = counts[i] > largest ? counts[i] : largest;
	ctx_sections_begin(&page->sections, &bucket_section, NULL);
	for (unsigned i = 0; i < CTX_TRACED_BUCKETS; i++) {
		struct ctx_cell cells[CTX_TRACED_COLUMNS];

		if (counts[i] == 0)
			continue;
		ctx_sections_clear(&page->sections, cells);
		set_time(page, cells, FROM_NS, ctx_traced_bucket_first(i));
		set_time(page, cells, TO_NS, ctx_traced_bucket_last(i));
		cells[CALLS] = ctx_cell_number(counts[i]);
		cells[TEXT] = ctx_cell_name(ctx_traced_bar(page, counts[i], largest));
		ctx_sections_row_begin(&page->sections, cells, NULL);
		ctx_sections_row_end(&page->sections);
	}
}

static void put_call(struct call_times *times, const struct ctx_traced *call)
{
	struct ctx_traced_page *page = &times->page;
	const struct ctx_thread_info *thread = ctx_profile_thread(page->profile, call->thread);
	uint32_t function = page->profile->cct.key[call->stack];
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	cells[FUNCTION] = ctx_function_cell(page->profile, function);
	cells[OBJECT] = ctx_object_cell(page->profile, function);
	cells[NUMBER] = ctx_cell_number(call->address);
	cells[TID] = ctx_cell_signed(ctx_head_tid(page->profile, call->thread));
	cells[THREAD] = ctx_cell_name(thread != NULL ? thread->name : NULL);
	cells[UNWOUND] = ctx_cell_number(call->failed);
	cells[OFF_NS] = ctx_cell_number(call->off_ns);
	cells[TEXT] = ctx_cell_name(ctx_traced_chain(page, call->stack));
	set_time(page, cells, BEGIN_NS, call->time_ns - call->duration_ns);
	set_time(page, cells, DURATION_NS, call->duration_ns);
	set_time(page, cells, SELF_NS, call->self_ns);
	if (page->options->format == CTX_REPORT_CSV)
		cells[STACK] = ctx_stack_joined_cell(&page->out, call->stack, &page->buf);
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_stack_put_list(&page->out, "stack", call->stack);
	ctx_sections_row_end(&page->sections);
}

/* The longest first. */
static void put_longest(struct call_times *times)
{
	struct ctx_traced_page *page = &times->page;
	uint64_t slower_ns = page->options->slower_than_ns;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(times->n_heap, sizeof(*items));
	const char *title = "The longest calls";
	char limit[40];

	if (items == NULL) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return;
	}
	if (slower_ns != 0) {
		ctx_time_format(slower_ns, limit, sizeof(limit));
		title = ctx_traced_text(page, "Calls that took longer than %s: %" PRIu64, limit,
					times->n_listed);
	}
	for (uint32_t i = 0; i < times->n_heap; i++)
		items[i] = (struct ctx_order_item){.index = i,
						   .number = times->calls[i].duration_ns,
						   .second = UINT64_MAX - times->calls[i].time_ns};
	ctx_order_sort(items, times->n_heap);
	ctx_sections_begin(&page->sections, &longest_section, title);
	for (size_t i = 0; i < times->n_heap; i++)
		put_call(times, &times->calls[items[i].index]);
	if (slower_ns != 0 && times->n_listed > times->n_heap) {
		ctx_out_section(&page->out, NULL);
		ctx_out_more(&page->out, times->n_listed - times->n_heap, "call");
	}
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct call_times times = {0};
	enum ctx_status status = ctx_traced_page_init(&times.page, &calls_report, source, options, err);

	if (status == CTX_OK)
		status = prepare(&times, err);
	if (status == CTX_OK)
		status = source->calls(source, 0, add, &times, err);
	if (status == CTX_OK) {
		ctx_call_durations_sort(&times.durations);
		if (times.path_ns != NULL) {
			add_up_paths(&times);
			times.page.topic.second_note = "calls are sums of a second each: durations to 1 %, "
						       "single calls are not known";
		} else if (!ctx_head_is_whole_run(times.page.selection)) {
			times.page.topic.second_note = "an interval has the calls that end in it";
		}
		ctx_traced_page_begin(&times.page);
		put_functions(&times);
		if (options->subject != NULL && times.page.total.count != 0)
			put_histogram(&times);
		if (times.n_heap != 0)
			put_longest(&times);
		status = ctx_traced_page_end(&times.page, err);
	}
	deinit(&times);
	return status;
}

const struct ctx_report_kind ctx_report_calls = {
	.name = "calls",
	.metrics = CTX_REPORT_NO_METRIC,
	.takes_subject = true,
	.traced = 1u << CTX_TRACED_CALL,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
