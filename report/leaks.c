/*
 * Allocations not freed by the end of the run, by call stack.
 */
#include "report/kinds.h"
#include "report/out.h"
#include "report/traced_page.h"

#include "base/mem.h"

enum { SECTION, LEAKS, LEAKED, LARGEST, STACK, TEXT };

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},	    [LEAKS] = {"leaks", NULL, CTX_STYLE_COUNT},
	[LEAKED] = {"leaked_bytes", NULL, CTX_STYLE_COUNT}, [LARGEST] = {"largest", NULL, CTX_STYLE_COUNT},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},	    [TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column stack_columns[] = {
	{LEAKS, "Leaks"}, {LEAKED, "Bytes"}, {LARGEST, "Largest"}, {TEXT, "Call stack"}};
static const struct ctx_section stack_section = {"stack", NULL, stack_columns, CTX_COUNT_OF(stack_columns)};
static const char *const sort_keys[] = {"leaked_bytes", "leaks", "largest", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	const uint64_t values[] = {sums->leaked_bytes, ctx_traced_whole(sums, sums->leaks),
				   sums->largest_leak};

	return values[key];
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[LEAKS] = ctx_cell_number(ctx_traced_whole(sums, sums->leaks));
	cells[LEAKED] = ctx_cell_number(sums->leaked_bytes);
	cells[LARGEST] = ctx_cell_number(sums->largest_leak);
}

static const struct ctx_traced_report leaks_report = {.report = &ctx_report_leaks,
						      .kind = CTX_TRACED_HEAP,
						      .topic = "Leaks",
						      .unit = CTX_UNIT_BYTES,
						      .counted = "leaks",
						      .stack = STACK,
						      .text = TEXT,
						      .number_width = 24,
						      .sort_keys = sort_keys,
						      .value = value,
						      .fill = fill};

static enum ctx_status collect(struct ctx_traced_page *page, struct ctx_traced_groups *stacks)
{
	struct ctx_report_traced traced = page->traced;
	uint64_t sample_bytes = ctx_traced_sample_bytes(page);

	for (size_t i = 0; i < traced.n; i++) {
		const struct ctx_traced *operation = &traced.items[i];
		struct ctx_traced_group *group;

		if (!operation->leaked || !ctx_traced_is_allocation(operation) ||
		    !ctx_traced_passes(page, operation))
			continue;
		group = ctx_traced_stack_group(stacks, operation->stack);
		if (group == NULL)
			return CTX_E_NOMEM;
		ctx_traced_add_sampled(&group->sums, operation, sample_bytes);
		ctx_traced_add_sampled(&page->total, operation, sample_bytes);
	}
	return CTX_OK;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	static const struct ctx_traced_table table = {.what = "stack", .lists = true};
	struct ctx_traced_page page;
	struct ctx_traced_groups stacks = {0};
	enum ctx_status status = ctx_traced_page_init(&page, &leaks_report, source, options, err);

	if (status == CTX_OK && collect(&page, &stacks) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		page.topic.totals.weight = page.total.leaked_bytes;
		ctx_traced_note_sampling(&page);
		ctx_traced_page_begin(&page);
		ctx_traced_merge_stacks(&page, &stacks);
		ctx_sections_begin(&page.sections, &stack_section, NULL);
		ctx_traced_put_total(&page, NULL, NULL);
		ctx_traced_put_groups(&page, &stacks, &table);
		status = ctx_traced_page_end(&page, err);
	}
	ctx_traced_groups_deinit(&stacks);
	ctx_traced_page_deinit(&page);
	return status;
}

const struct ctx_report_kind ctx_report_leaks = {
	.name = "leaks",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_HEAP,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
