/*
 * What the program said of itself: its intervals with how long they took, points, counters and pauses, by name.
 */
#include "report/kinds.h"
#include "report/out.h"
#include "report/traced_page.h"

#include "base/mem.h"
#include "model/mark_spans.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	SECTION,
	NAME,
	COUNT,
	TOTAL_NS,
	MIN_NS,
	P50_NS,
	P99_NS,
	MAX_NS,
	OPEN,
	UNBEGUN,
	FIRST_NS,
	LAST_NS,
	MIN,
	MEAN,
	MAX,
	LAST,
	/* Of text: times in the unit that fits. */
	TOTAL_TEXT,
	MIN_TEXT,
	P50_TEXT,
	P99_TEXT,
	MAX_TEXT,
	FIRST_TEXT,
	LAST_TEXT,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},	 [NAME] = {"name", NULL, CTX_STYLE_NAME},
	[COUNT] = {"count", NULL, CTX_STYLE_COUNT},	 [TOTAL_NS] = {"total_ns", NULL, CTX_STYLE_TIME},
	[MIN_NS] = {"min_ns", NULL, CTX_STYLE_TIME},	 [P50_NS] = {"p50_ns", NULL, CTX_STYLE_TIME},
	[P99_NS] = {"p99_ns", NULL, CTX_STYLE_TIME},	 [MAX_NS] = {"max_ns", NULL, CTX_STYLE_TIME},
	[OPEN] = {"open", NULL, CTX_STYLE_COUNT},	 [UNBEGUN] = {"unbegun", NULL, CTX_STYLE_COUNT},
	[FIRST_NS] = {"first_ns", NULL, CTX_STYLE_TIME}, [LAST_NS] = {"last_ns", NULL, CTX_STYLE_TIME},
	[MIN] = {"min", NULL, CTX_STYLE_COUNT},		 [MEAN] = {"mean", NULL, CTX_STYLE_COUNT},
	[MAX] = {"max", NULL, CTX_STYLE_COUNT},		 [LAST] = {"last", NULL, CTX_STYLE_COUNT},
	[TOTAL_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},	 [MIN_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[P50_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},	 [P99_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[MAX_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},	 [FIRST_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[LAST_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},	 [TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

#define TIMES                                                                                                \
	{TOTAL_TEXT, "Total"}, {MIN_TEXT, "Min"}, {P50_TEXT, "p50"}, {P99_TEXT, "p99"},                      \
	{                                                                                                    \
		MAX_TEXT, "Max"                                                                              \
	}

static const struct ctx_section_column interval_columns[] = {
	{COUNT, "Count"}, TIMES, {OPEN, "Open"}, {TEXT, "Interval"}};
static const struct ctx_section_column mark_columns[] = {
	{COUNT, "Count"}, {FIRST_TEXT, "First at"}, {LAST_TEXT, "Last at"}, {TEXT, "Mark"}};
static const struct ctx_section_column counter_columns[] = {
	{COUNT, "Count"}, {MIN, "Min"}, {MEAN, "Mean"}, {MAX, "Max"}, {LAST, "Last"}, {TEXT, "Counter"}};
static const struct ctx_section_column pause_columns[] = {
	{COUNT, "Count"},  {TOTAL_TEXT, "Total"},    {MIN_TEXT, "Min"}, {P50_TEXT, "p50"},
	{MAX_TEXT, "Max"}, {FIRST_TEXT, "First at"}, {TEXT, "Paused"}};

enum section { INTERVALS, MARKS, COUNTERS, PAUSES, N_SECTIONS };

static const struct ctx_section sections[N_SECTIONS] = {
	[INTERVALS] = {"interval", NULL, interval_columns, CTX_COUNT_OF(interval_columns)},
	[MARKS] = {"mark", NULL, mark_columns, CTX_COUNT_OF(mark_columns)},
	[COUNTERS] = {"counter", NULL, counter_columns, CTX_COUNT_OF(counter_columns)},
	[PAUSES] = {"pause", NULL, pause_columns, CTX_COUNT_OF(pause_columns)},
};

static const char *const sort_keys[] = {"total_ns", "count", "p50_ns", "p99_ns", "max_ns", NULL};

static const struct ctx_traced_report marks_report = {.report = &ctx_report_marks,
						      .kind = CTX_TRACED_MARK,
						      .topic = "Intervals",
						      .unit = CTX_UNIT_NS,
						      .counted = "marks",
						      .stack = TEXT,
						      .text = TEXT,
						      .number_width = 60,
						      .sort_keys = sort_keys};

/* All of one name in one section. */
struct group {
	enum section section;
	uint32_t name;
	uint64_t count, open, unbegun, total_ns;
	uint64_t first_ns, last_ns; /* the first begin, the last end */
	int64_t min, max, last;	    /* of a counter */
	double sum;
	const uint64_t *durations; /* of intervals and pauses, ascending: `count` of them */
};

struct duration {
	uint32_t group;
	uint64_t ns;
};

struct marks {
	struct ctx_traced_page page;
	struct ctx_map64 numbers; /* of sections and names */
	struct group *groups;
	size_t n, cap;
	struct duration *durations;
	size_t n_durations, durations_cap;
	uint64_t *sorted; /* the durations by group */
};

struct part { /* the groups of a section */
	struct marks *marks;
	enum section section;
};

/* NULL: no memory. */
static struct group *group_of(struct marks *marks, enum section section, uint32_t name)
{
	uint32_t number = ctx_traced_number(&marks->numbers, (uint64_t)section << 32 | name);

	if (number == CTX_MAP64_NONE || ctx_grow(&marks->groups, &marks->cap, marks->n + 1, NULL) != CTX_OK)
		return NULL;
	if (number == marks->n)
		marks->groups[marks->n++] =
			(struct group){.section = section, .name = name, .first_ns = UINT64_MAX};
	return &marks->groups[number];
}

static void note_times(struct group *group, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < group->first_ns)
		group->first_ns = begin_ns;
	if (end_ns > group->last_ns)
		group->last_ns = end_ns;
}

/* Whether it ends in the selected time; what has no end: whether it begins there; a pause: whether it is there. */
static bool is_selected(const struct ctx_report_selection *selection, const struct ctx_mark_span *span)
{
	uint64_t at_ns = span->kind == CTX_MARK_IS_OPEN ? span->begin_ns : span->end_ns;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval interval = selection->intervals[i];

		if (ctx_interval_has(interval, at_ns) ||
		    (span->kind == CTX_MARK_IS_PAUSE &&
		     ctx_interval_overlaps(interval,
					   (struct ctx_interval){span->begin_ns, span->end_ns + 1})))
			return true;
	}
	return false;
}

static bool add_span(struct marks *marks, const struct ctx_mark_span *span)
{
	static const enum section of[] = {[CTX_MARK_IS_POINT] = MARKS,
					  [CTX_MARK_IS_INTERVAL] = INTERVALS,
					  [CTX_MARK_IS_OPEN] = INTERVALS,
					  [CTX_MARK_IS_PAUSE] = PAUSES};
	struct group *group = group_of(marks, of[span->kind], span->name);
	uint64_t ns = span->end_ns - span->begin_ns;

	if (group == NULL)
		return false;
	note_times(group, span->begin_ns, span->end_ns);
	if (span->kind == CTX_MARK_IS_OPEN) {
		group->open++;
		return true;
	}
	group->count++;
	if (span->kind == CTX_MARK_IS_POINT)
		return true;
	if (ctx_grow(&marks->durations, &marks->durations_cap, marks->n_durations + 1, NULL) != CTX_OK)
		return false;
	marks->durations[marks->n_durations++] = (struct duration){(uint32_t)(group - marks->groups), ns};
	group->total_ns = ns <= UINT64_MAX - group->total_ns ? group->total_ns + ns : UINT64_MAX;
	return true;
}

/* What is no span: a value, or an end of nothing. */
static bool add_other(struct marks *marks, const struct ctx_traced *operation)
{
	bool counts = operation->operation == CTX_MARK_COUNTER;
	struct group *group;

	if (!counts && !(operation->failed && operation->operation != CTX_MARK_RESUME))
		return true;
	group = group_of(marks, counts ? COUNTERS : INTERVALS, operation->file);
	if (group == NULL)
		return false;
	note_times(group, operation->time_ns, operation->time_ns);
	if (!counts) {
		group->unbegun++;
		return true;
	}
	group->last = operation->value;
	group->min = group->count == 0 || group->last < group->min ? group->last : group->min;
	group->max = group->count == 0 || group->last > group->max ? group->last : group->max;
	group->sum += (double)group->last;
	group->count++;
	return true;
}

static int by_group_and_time(const void *a, const void *b)
{
	const struct duration *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return (left->ns > right->ns) - (left->ns < right->ns);
}

static bool sort_durations(struct marks *marks)
{
	marks->sorted = ctx_calloc(marks->n_durations, sizeof(*marks->sorted));
	if (marks->sorted == NULL)
		return false;
	if (marks->n_durations != 0)
		qsort(marks->durations, marks->n_durations, sizeof(*marks->durations), by_group_and_time);
	for (size_t i = 0; i < marks->n_durations; i++) {
		struct group *group = &marks->groups[marks->durations[i].group];

		marks->sorted[i] = marks->durations[i].ns;
		if (group->durations == NULL)
			group->durations = &marks->sorted[i];
	}
	return true;
}

static enum ctx_status collect(struct marks *marks, struct ctx_err *err)
{
	struct ctx_report_traced traced = marks->page.traced;
	struct ctx_traced *passing CTX_AUTO_FREE = ctx_calloc(traced.n, sizeof(*passing));
	struct ctx_mark_spans spans = {0};
	enum ctx_status status = passing != NULL ? CTX_OK : ctx_err_nomem(err);
	bool has_memory = true;
	size_t n = 0;

	for (size_t i = 0; i < traced.n && status == CTX_OK && has_memory; i++) {
		if (!ctx_traced_passes(&marks->page, &traced.items[i]))
			continue;
		passing[n++] = traced.items[i];
		if (!is_selected(marks->page.selection,
				 &(struct ctx_mark_span){.end_ns = traced.items[i].time_ns}))
			continue;
		marks->page.total.count++;
		has_memory = add_other(marks, &traced.items[i]);
	}
	if (status == CTX_OK && has_memory)
		status = ctx_mark_spans_make(passing, n, marks->page.profile->run.end_ns, &spans, err);
	for (size_t i = 0; i < spans.n && status == CTX_OK && has_memory; i++) {
		if (is_selected(marks->page.selection, &spans.items[i]))
			has_memory = add_span(marks, &spans.items[i]);
	}
	ctx_mark_spans_deinit(&spans);
	if (status == CTX_OK && (!has_memory || !sort_durations(marks)))
		status = ctx_err_nomem(err);
	return status;
}

static void set_time(struct ctx_traced_page *page, struct ctx_cell *cells, unsigned number, uint64_t ns)
{
	static const uint8_t texts[] = {
		[TOTAL_NS] = TOTAL_TEXT, [MIN_NS] = MIN_TEXT,	  [P50_NS] = P50_TEXT,	[P99_NS] = P99_TEXT,
		[MAX_NS] = MAX_TEXT,	 [FIRST_NS] = FIRST_TEXT, [LAST_NS] = LAST_TEXT};

	ctx_traced_set_time(page, &cells[number], &cells[texts[number]], ns);
}

static void put_group(void *context, size_t row)
{
	struct marks *marks = ((struct part *)context)->marks;
	const struct group *group = &marks->groups[row];
	struct ctx_traced_page *page = &marks->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	const char *name =
		group->name < page->profile->n_files ? page->profile->files[group->name] : "<Unknown>";

	ctx_sections_clear(&page->sections, cells);
	cells[NAME] = ctx_cell_name(group->section == PAUSES ? NULL : name);
	cells[TEXT] = ctx_cell_name(group->section == PAUSES ? "by ctx_trace_pause" : name);
	cells[COUNT] = ctx_cell_number(group->count);
	set_time(page, cells, FIRST_NS, group->first_ns);
	set_time(page, cells, LAST_NS, group->last_ns);
	if (group->section == INTERVALS) {
		cells[OPEN] = ctx_cell_number(group->open);
		cells[UNBEGUN] = ctx_cell_number(group->unbegun);
	}
	if (group->section == COUNTERS) {
		cells[MIN] = ctx_cell_signed(group->min);
		cells[MAX] = ctx_cell_signed(group->max);
		cells[LAST] = ctx_cell_signed(group->last);
		cells[MEAN] =
			ctx_cell_figure(ctx_traced_text(page, "%.3f", group->sum / (double)group->count));
	}
	if (group->durations != NULL) {
		set_time(page, cells, TOTAL_NS, group->total_ns);
		set_time(page, cells, MIN_NS, group->durations[0]);
		set_time(page, cells, P50_NS, ctx_mark_percentile(group->durations, group->count, 50));
		set_time(page, cells, P99_NS, ctx_mark_percentile(group->durations, group->count, 99));
		set_time(page, cells, MAX_NS, group->durations[group->count - 1]);
	}
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

static uint64_t value_of(const struct group *group, size_t key)
{
	const uint64_t *durations = group->durations;

	if (key == 0 && durations != NULL)
		return group->total_ns;
	if (key <= 1 || durations == NULL)
		return group->count;
	return key == 2	  ? ctx_mark_percentile(durations, group->count, 50)
	       : key == 3 ? ctx_mark_percentile(durations, group->count, 99)
			  : durations[group->count - 1];
}

static bool order_group(const void *context, size_t row, struct ctx_order_item *item)
{
	const struct part *part = context;
	const struct group *group = &part->marks->groups[row];

	if (group->section != part->section)
		return false;
	item->number = value_of(group, part->marks->page.key);
	item->second = group->count;
	return true;
}

static void put_section(struct marks *marks, enum section section)
{
	struct part part = {marks, section};

	ctx_traced_put_rows(&marks->page, &(struct ctx_traced_rows){.what = "name",
								    .section = &sections[section],
								    .n = marks->n,
								    .order = order_group,
								    .put = put_group,
								    .context = &part});
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct marks marks = {0};
	enum ctx_status status = ctx_traced_page_init(&marks.page, &marks_report, source, options, err);

	if (status == CTX_OK)
		status = collect(&marks, err);
	for (size_t i = 0; i < marks.n && status == CTX_OK; i++) {
		if (marks.groups[i].section == INTERVALS)
			marks.page.topic.totals.weight += marks.groups[i].total_ns;
	}
	if (status == CTX_OK) {
		ctx_traced_page_begin(&marks.page);
		for (unsigned section = 0; section < N_SECTIONS; section++)
			put_section(&marks, (enum section)section);
		status = ctx_traced_page_end(&marks.page, err);
	}
	ctx_map64_deinit(&marks.numbers);
	free(marks.groups);
	free(marks.durations);
	free(marks.sorted);
	ctx_traced_page_deinit(&marks.page);
	return status;
}

const struct ctx_report_kind ctx_report_marks = {
	.name = "marks",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_MARK,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
