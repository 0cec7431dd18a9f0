/*
 * Explicit tasks of OpenMP: how many were created where, and how long they ran themselves, without other tasks and waits.
 */
#include "report/call_durations.h"
#include "report/kinds.h"
#include "report/omp_page.h"
#include "report/out.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	SECTION,
	FUNCTION,
	OBJECT,
	SOURCE_FILE,
	LINE,
	COUNT,
	SELF_NS,
	ELAPSED_NS,
	MEAN_NS,
	P99_NS,
	MAX_NS,
	DEPTH,
	CREATED_IN,
	/* Of text: times in the unit that fits. */
	SELF_TEXT,
	ELAPSED_TEXT,
	MEAN_TEXT,
	P99_TEXT,
	MAX_TEXT,
	CREATED_TEXT,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[SOURCE_FILE] = {"file", NULL, CTX_STYLE_NAME},
	[LINE] = {"line", NULL, CTX_STYLE_COUNT},
	[COUNT] = {"count", NULL, CTX_STYLE_COUNT},
	[SELF_NS] = {"self_ns", NULL, CTX_STYLE_TIME},
	[ELAPSED_NS] = {"elapsed_ns", NULL, CTX_STYLE_TIME},
	[MEAN_NS] = {"mean_ns", NULL, CTX_STYLE_TIME},
	[P99_NS] = {"p99_ns", NULL, CTX_STYLE_TIME},
	[MAX_NS] = {"max_ns", NULL, CTX_STYLE_TIME},
	[DEPTH] = {"depth", NULL, CTX_STYLE_COUNT},
	[CREATED_IN] = {"created_in", NULL, CTX_STYLE_NAME},
	[CREATED_TEXT] = {NULL, NULL, CTX_STYLE_NAME},
	[SELF_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[ELAPSED_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[MEAN_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[P99_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[MAX_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column shown[] = {
	{COUNT, "Tasks"},    {SELF_TEXT, "Self"}, {ELAPSED_TEXT, "Elapsed"},
	{MEAN_TEXT, "Mean"}, {P99_TEXT, "p99"},	  {MAX_TEXT, "Max"},
	{DEPTH, "Depth"},    {TEXT, "Task"},	  {CREATED_TEXT, "Created in"}};

static const struct ctx_section section = {"task", NULL, shown, CTX_COUNT_OF(shown)};

static const char *const sort_keys[] = {"self_ns", "elapsed_ns", "count", "mean_ns",
					"p99_ns",  "max_ns",	 NULL};

static const struct ctx_traced_report tasks_report = {.report = &ctx_report_omp_tasks,
						      .kind = CTX_TRACED_OMP,
						      .topic = "Tasks",
						      .unit = CTX_UNIT_NS,
						      .counted = "explicit tasks",
						      .stack = TEXT,
						      .text = TEXT,
						      .number_width = 70,
						      .sort_keys = sort_keys};

/* Those of one construct. */
struct group {
	struct ctx_omp_place place;
	uint64_t count, self_ns, elapsed_ns, depth;
	const char *created_in; /* the function or construct below whose frame it is; borrowed. "" unknown */
};

#define SEVERAL "several"

struct tasks {
	struct ctx_traced_page page;
	struct ctx_map64 numbers; /* by function of the CCT node */
	struct group *groups;
	size_t n, cap;
	struct ctx_call_durations durations; /* their own times, by index of the group */
};

/* What is below the task on its stack. */
static const char *creator_of(const struct ctx_profile *profile, const struct ctx_traced *operation)
{
	const struct ctx_trie *cct = &profile->cct;
	uint32_t parent = operation->stack < cct->n ? cct->parent[operation->stack] : CTX_TRIE_ROOT;

	return parent != CTX_TRIE_ROOT ? profile->functions[cct->key[parent]].name : "";
}

static void add_creator(struct group *group, const char *creator)
{
	if (group->created_in == NULL)
		group->created_in = creator;
	else if (strcmp(group->created_in, creator) != 0)
		group->created_in = SEVERAL;
}

static enum ctx_status add(struct tasks *tasks, const struct ctx_code *code,
			   const struct ctx_traced *operation, struct ctx_err *err)
{
	const struct ctx_trie *cct = &tasks->page.profile->cct;
	uint32_t function = operation->stack < cct->n ? cct->key[operation->stack] : CTX_NONE;
	uint32_t number = ctx_traced_number(&tasks->numbers, function);
	enum ctx_status status = ctx_grow(&tasks->groups, &tasks->cap, tasks->n + 1, err);
	struct group *group;

	if (status != CTX_OK || number == CTX_MAP64_NONE)
		return ctx_err_nomem(err);
	if (number == tasks->n)
		tasks->groups[tasks->n++] =
			(struct group){.place = ctx_omp_place_of(tasks->page.profile, code, operation)};
	group = &tasks->groups[number];
	add_creator(group, creator_of(tasks->page.profile, operation));
	group->count++;
	group->self_ns += operation->self_ns;
	group->elapsed_ns += operation->duration_ns;
	group->depth = (uint64_t)operation->value > group->depth ? (uint64_t)operation->value : group->depth;
	tasks->page.total.count++;
	tasks->page.topic.totals.weight += operation->self_ns;
	return ctx_call_durations_add(&tasks->durations, number, operation->self_ns, 1, err);
}

static enum ctx_status collect(struct tasks *tasks, struct ctx_report_source *source, struct ctx_err *err)
{
	const struct ctx_report_traced *traced = &tasks->page.traced;
	struct ctx_report_code code = {0};
	enum ctx_status status = source->code(source, &code, err);

	for (size_t i = 0; i < traced->n && status == CTX_OK; i++) {
		if (ctx_omp_is_shown(&tasks->page, &traced->items[i], CTX_OMP_OF_TASK))
			status = add(tasks, code.code, &traced->items[i], err);
	}
	if (status == CTX_OK)
		ctx_call_durations_sort(&tasks->durations);
	return status;
}

static void put(void *context, size_t row)
{
	struct tasks *tasks = context;
	const struct group *group = &tasks->groups[row];
	struct ctx_traced_page *page = &tasks->page;
	struct ctx_call_spread spread = ctx_call_durations_of(&tasks->durations, (uint32_t)row);
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	cells[FUNCTION] = ctx_cell_name(group->place.function);
	cells[TEXT] = ctx_cell_name(ctx_omp_place_text(page, &group->place));
	cells[OBJECT] = ctx_cell_name(group->place.object);
	if (group->place.file != NULL)
		cells[SOURCE_FILE] = ctx_cell_name(group->place.file);
	if (group->place.line != 0)
		cells[LINE] = ctx_cell_number(group->place.line);
	cells[CREATED_IN] = cells[CREATED_TEXT] = ctx_cell_name(group->created_in);
	cells[COUNT] = ctx_cell_number(group->count);
	cells[DEPTH] = ctx_cell_number(group->depth);
	ctx_traced_set_time(page, &cells[SELF_NS], &cells[SELF_TEXT], group->self_ns);
	ctx_traced_set_time(page, &cells[ELAPSED_NS], &cells[ELAPSED_TEXT], group->elapsed_ns);
	ctx_traced_set_time(page, &cells[MEAN_NS], &cells[MEAN_TEXT], group->self_ns / group->count);
	ctx_traced_set_time(page, &cells[P99_NS], &cells[P99_TEXT], ctx_call_spread_rank(&spread, 990));
	ctx_traced_set_time(page, &cells[MAX_NS], &cells[MAX_TEXT], ctx_call_spread_rank(&spread, 1000));
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

static bool order(const void *context, size_t row, struct ctx_order_item *item)
{
	const struct tasks *tasks = context;
	const struct group *group = &tasks->groups[row];
	const struct ctx_call_spread spread = ctx_call_durations_of(&tasks->durations, (uint32_t)row);
	const uint64_t values[] = {group->self_ns,
				   group->elapsed_ns,
				   group->count,
				   group->self_ns / group->count,
				   ctx_call_spread_rank(&spread, 990),
				   ctx_call_spread_rank(&spread, 1000)};

	item->number = values[tasks->page.key];
	item->second = group->count;
	return true;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct tasks tasks = {0};
	enum ctx_status status = ctx_traced_page_init(&tasks.page, &tasks_report, source, options, err);

	if (status == CTX_OK)
		status = collect(&tasks, source, err);
	if (status == CTX_OK) {
		ctx_traced_page_begin(&tasks.page);
		ctx_sections_begin(&tasks.page.sections, &section, NULL);
		ctx_traced_put_rows(&tasks.page, &(struct ctx_traced_rows){.what = "construct",
									   .n = tasks.n,
									   .order = order,
									   .put = put,
									   .context = &tasks});
		status = ctx_traced_page_end(&tasks.page, err);
	}
	ctx_map64_deinit(&tasks.numbers);
	free(tasks.groups);
	ctx_call_durations_deinit(&tasks.durations);
	ctx_traced_page_deinit(&tasks.page);
	return status;
}

const struct ctx_report_kind ctx_report_omp_tasks = {
	.name = "omp-tasks",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_OMP,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
