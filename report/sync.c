/*
 * Traced waits for locks, condition variables and other synchronization objects: by object and by
 * call stack.
 */
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"

#include <inttypes.h>

enum { SECTION, PROCESS, ADDRESS, FROM, TO, WAITS, WAIT_NS, WAIT_MAX_NS, STACK, OBJECT, TEXT };

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},	[PROCESS] = {"process", NULL, CTX_STYLE_COUNT},
	[ADDRESS] = {"address", NULL, CTX_STYLE_COUNT}, [FROM] = {"from_ns", NULL, CTX_STYLE_COUNT},
	[TO] = {"to_ns", NULL, CTX_STYLE_COUNT},	[WAITS] = {"waits", NULL, CTX_STYLE_COUNT},
	[WAIT_NS] = {"wait_ns", NULL, CTX_STYLE_TIME},	[WAIT_MAX_NS] = {"wait_max_ns", NULL, CTX_STYLE_TIME},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},	[OBJECT] = {NULL, NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column object_columns[] = {{WAITS, "Waits"},
							   {WAIT_NS, "Wait ms"},
							   {WAIT_MAX_NS, "Longest"},
							   {OBJECT, "Object"},
							   {TEXT, "Longest wait in"}};
static const struct ctx_section_column stack_columns[] = {
	{WAITS, "Waits"}, {WAIT_NS, "Wait ms"}, {WAIT_MAX_NS, "Longest"}, {TEXT, "Call stack"}};
static const struct ctx_section_column latency_columns[] = {
	{FROM, "From ns"}, {TO, "To ns"}, {WAITS, "Waits"}, {WAIT_NS, "Wait ms"}, {TEXT, ""}};
static const struct ctx_section object_section = {"object", NULL, object_columns,
						  CTX_COUNT_OF(object_columns)};
static const struct ctx_section stack_section = {"stack", "By call stack", stack_columns,
						 CTX_COUNT_OF(stack_columns)};
static const struct ctx_section latency_section = {"latency", "How long the waits were", latency_columns,
						   CTX_COUNT_OF(latency_columns)};

static const char *const sort_keys[] = {"wait_ns", "waits", "wait_max_ns", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	const uint64_t values[] = {sums->time_ns, sums->count, sums->longest_ns};

	return values[key];
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[WAITS] = ctx_cell_number(sums->count);
	cells[WAIT_NS] = ctx_cell_number(sums->time_ns);
	cells[WAIT_MAX_NS] = ctx_cell_number(sums->longest_ns);
}

static const struct ctx_traced_report sync_report = {.report = &ctx_report_sync,
						     .kind = CTX_TRACED_SYNC,
						     .topic = "Waits",
						     .unit = CTX_UNIT_NS,
						     .counted = "waits",
						     .stack = STACK,
						     .text = TEXT,
						     .number_width = 28,
						     .sort_keys = sort_keys,
						     .value = value,
						     .fill = fill};

struct waits {
	struct ctx_traced_page page;
	struct ctx_map64 addresses;
	struct ctx_traced_groups objects, stacks;
	struct ctx_traced_sums latencies[CTX_TRACED_BUCKETS];
};

/* An address is of one process. */
static struct ctx_traced_group *object_of(struct waits *waits, const struct ctx_traced *operation)
{
	uint32_t process = ctx_profile_process_of(waits->page.profile, operation->thread);
	uint32_t number = ctx_traced_number(&waits->addresses, operation->address);
	struct ctx_traced_group *group = NULL;

	if (number != CTX_MAP64_NONE)
		group = ctx_traced_group_at(&waits->objects, (uint64_t)process << 32 | number);
	if (group != NULL) {
		group->process = process;
		group->address = operation->address;
	}
	return group;
}

static enum ctx_status collect(struct waits *waits)
{
	struct ctx_report_traced traced = waits->page.traced;

	for (size_t i = 0; i < traced.n; i++) {
		const struct ctx_traced *operation = &traced.items[i];
		struct ctx_traced_group *stack, *object;

		if (!ctx_traced_is_wait(operation) || !ctx_traced_passes(&waits->page, operation))
			continue;
		stack = ctx_traced_stack_group(&waits->stacks, operation->stack);
		object = object_of(waits, operation);
		if (stack == NULL || object == NULL)
			return CTX_E_NOMEM;
		ctx_traced_add(&stack->sums, operation);
		ctx_traced_add(&object->sums, operation);
		ctx_traced_add(&waits->page.total, operation);
		ctx_traced_add(&waits->latencies[ctx_traced_bucket(operation->duration_ns)], operation);
	}
	for (size_t i = 0; i < waits->objects.n; i++)
		waits->objects.items[i].stack = waits->objects.items[i].sums.longest_stack;
	return CTX_OK;
}

static void name_object(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			struct ctx_cell *cells)
{
	const struct ctx_profile *profile = page->profile;
	bool known = group->process < profile->n_processes;

	cells[PROCESS] = ctx_pid_cell(profile, group->process);
	cells[ADDRESS] = ctx_cell_number(group->address);
	if (!ctx_out_is_text(&page->out))
		return;
	cells[TEXT] = ctx_cell_name(ctx_traced_chain(page, group->stack));
	if (profile->n_processes > 1 && known)
		cells[OBJECT] = ctx_cell_name(ctx_traced_text(page, "%" PRId64 ":0x%" PRIx64,
							      profile->processes[group->process].pid,
							      group->address));
	else
		cells[OBJECT] = ctx_cell_name(ctx_traced_text(page, "0x%" PRIx64, group->address));
}

static void add_total(struct ctx_cell *cells, const void *context)
{
	(void)context;
	cells[OBJECT] = ctx_cell_name("<Total>");
	cells[TEXT] = ctx_cell_name(NULL);
}

static void put_tables(struct waits *waits)
{
	static const struct ctx_traced_table objects = {.what = "object", .name = name_object, .lists = true};
	static const struct ctx_traced_table stacks = {.what = "stack", .lists = true};
	struct ctx_traced_page *page = &waits->page;

	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &waits->stacks);
	ctx_sections_begin(&page->sections, &object_section, NULL);
	ctx_traced_put_total(page, add_total, NULL);
	ctx_traced_put_groups(page, &waits->objects, &objects);
	if (page->total.count == 0)
		return;
	ctx_sections_begin(&page->sections, &stack_section, NULL);
	ctx_traced_put_groups(page, &waits->stacks, &stacks);
	ctx_sections_begin(&page->sections, &latency_section, NULL);
	ctx_traced_put_histogram(
		page, &(struct ctx_traced_histogram){.from = FROM, .to = TO, .sums = waits->latencies});
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct waits *waits CTX_AUTO_FREE = ctx_calloc(1, sizeof(*waits));
	enum ctx_status status;

	if (waits == NULL)
		return ctx_err_nomem(err);
	status = ctx_traced_page_init(&waits->page, &sync_report, source, options, err);
	if (status == CTX_OK && collect(waits) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		waits->page.topic.totals.weight = waits->page.total.time_ns;
		put_tables(waits);
		status = ctx_traced_page_end(&waits->page, err);
	}
	ctx_map64_deinit(&waits->addresses);
	ctx_traced_groups_deinit(&waits->objects);
	ctx_traced_groups_deinit(&waits->stacks);
	ctx_traced_page_deinit(&waits->page);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"synctrace", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_sync = {
	.name = "sync",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_SYNC,
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
