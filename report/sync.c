/*
 * Traced waits for locks, condition variables and other synchronization objects: by object and by
 * call stack; who had the objects, and how long locks were held.
 */
#include "report/kinds.h"
#include "report/names.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/sync_cycles.h"
#include "report/traced_page.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	SECTION,
	PROCESS,
	ADDRESS,
	FROM,
	TO,
	WAITS,
	WAIT_NS,
	WAIT_MAX_NS,
	STACK,
	KIND,
	HOLDS,
	HOLD_NS,
	HOLD_MAX_NS,
	THREAD,
	CYCLE,
	HELD,
	/* Text only */
	OBJECT,
	HELD_TEXT,
	HOLD_MEAN_NS,
	HOLDER,
	TEXT
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[PROCESS] = {"process", NULL, CTX_STYLE_COUNT},
	[ADDRESS] = {"address", NULL, CTX_STYLE_COUNT},
	[FROM] = {"from_ns", NULL, CTX_STYLE_COUNT},
	[TO] = {"to_ns", NULL, CTX_STYLE_COUNT},
	[WAITS] = {"waits", NULL, CTX_STYLE_COUNT},
	[WAIT_NS] = {"wait_ns", NULL, CTX_STYLE_TIME},
	[WAIT_MAX_NS] = {"wait_max_ns", NULL, CTX_STYLE_TIME},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},
	[KIND] = {"kind", NULL, CTX_STYLE_NAME},
	[HOLDS] = {"holds", NULL, CTX_STYLE_COUNT},
	[HOLD_NS] = {"hold_ns", NULL, CTX_STYLE_TIME},
	[HOLD_MAX_NS] = {"hold_max_ns", NULL, CTX_STYLE_TIME},
	[THREAD] = {"thread", NULL, CTX_STYLE_COUNT},
	[CYCLE] = {"cycle", NULL, CTX_STYLE_COUNT},
	[HELD] = {"held", NULL, CTX_STYLE_COUNT},
	[OBJECT] = {NULL, NULL, CTX_STYLE_NAME},
	[HELD_TEXT] = {NULL, NULL, CTX_STYLE_NAME},
	[HOLD_MEAN_NS] = {NULL, NULL, CTX_STYLE_COUNT},
	[HOLDER] = {NULL, NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column object_columns[] = {{WAITS, "Waits"},
							   {WAIT_NS, "Wait ms"},
							   {WAIT_MAX_NS, "Longest"},
							   {OBJECT, "Object"},
							   {TEXT, "Longest wait in"}};
static const struct ctx_section_column hold_columns[] = {{HOLDS, "Holds"},	   {HOLD_NS, "Held ms"},
							 {HOLD_MAX_NS, "Longest"}, {HOLD_MEAN_NS, "Mean ns"},
							 {OBJECT, "Object"},	   {TEXT, "Released in"}};
static const struct ctx_section_column holder_columns[] = {{WAITS, "Waits"},	     {WAIT_NS, "Wait ms"},
							   {WAIT_MAX_NS, "Longest"}, {OBJECT, "Object"},
							   {HOLDER, "Thread"},	     {TEXT, "Taken in"}};
static const struct ctx_section_column stack_columns[] = {
	{WAITS, "Waits"}, {WAIT_NS, "Wait ms"}, {WAIT_MAX_NS, "Longest"}, {TEXT, "Call stack"}};
static const struct ctx_section_column latency_columns[] = {
	{FROM, "From ns"}, {TO, "To ns"}, {WAITS, "Waits"}, {WAIT_NS, "Wait ms"}, {TEXT, ""}};
static const struct ctx_section object_section = {"object", NULL, object_columns,
						  CTX_COUNT_OF(object_columns)};
static const struct ctx_section hold_section = {"held", "How long locks were held", hold_columns,
						CTX_COUNT_OF(hold_columns)};
static const struct ctx_section holder_section = {"holder", "Who had it", holder_columns,
						  CTX_COUNT_OF(holder_columns)};
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
	struct ctx_sync_locks locks;
	struct ctx_map64 holders;
	struct ctx_traced_groups objects, stacks, blocks, holds;
	uint8_t *kinds; /* by number of the lock; enum ctx_sync_operation of a wait for it */
	size_t kinds_cap;
	struct ctx_traced_sums latencies[CTX_TRACED_BUCKETS];
};

/* What the lock is, if the operation knows it. */
static enum ctx_status note_kind(struct waits *waits, uint32_t lock, uint64_t kind)
{
	size_t before = waits->kinds_cap;

	if (ctx_grow(&waits->kinds, &waits->kinds_cap, (size_t)lock + 1, NULL) != CTX_OK)
		return CTX_E_NOMEM;
	memset(waits->kinds + before, CTX_SYNC_WAIT, waits->kinds_cap - before);
	if (kind != CTX_SYNC_WAIT && kind < CTX_SYNC_HOLD)
		waits->kinds[lock] = (uint8_t)kind;
	return CTX_OK;
}

/* The number of the operation's lock, whose kind the operation says. CTX_MAP64_NONE: no memory. */
static uint32_t lock_of(struct waits *waits, const struct ctx_traced *operation, uint64_t kind)
{
	uint32_t process = ctx_profile_process_of(waits->page.profile, operation->thread);
	uint32_t lock = ctx_sync_lock_number(&waits->locks, process, operation->address);

	return lock != CTX_MAP64_NONE && note_kind(waits, lock, kind) == CTX_OK ? lock : CTX_MAP64_NONE;
}

/* The groups' keys are numbers of locks. */
static struct ctx_traced_group *object_of(struct waits *waits, struct ctx_traced_groups *groups,
					  const struct ctx_traced *operation)
{
	uint64_t kind = operation->operation == CTX_SYNC_HOLD ? operation->size : operation->operation;
	uint32_t lock = lock_of(waits, operation, kind);
	struct ctx_traced_group *group = lock != CTX_MAP64_NONE ? ctx_traced_group_at(groups, lock) : NULL;

	if (group != NULL) {
		group->process = ctx_profile_process_of(waits->page.profile, operation->thread);
		group->address = operation->address;
	}
	return group;
}

static enum ctx_status add_hold(struct waits *waits, const struct ctx_traced *operation)
{
	struct ctx_traced_group *object = object_of(waits, &waits->holds, operation);

	if (object == NULL)
		return CTX_E_NOMEM;
	ctx_traced_add(&object->sums, operation);
	object->stack = object->sums.longest_stack;
	return CTX_OK;
}

/* By object, thread and where it took it: the lock's number is the upper half of the key. */
static enum ctx_status add_block(struct waits *waits, const struct ctx_traced *operation)
{
	uint32_t holder =
		ctx_traced_number(&waits->holders, (uint64_t)operation->thread << 32 | operation->stack);
	uint32_t lock = lock_of(waits, operation, CTX_SYNC_WAIT);
	struct ctx_traced_group *group = NULL;

	if (lock != CTX_MAP64_NONE && holder != CTX_MAP64_NONE)
		group = ctx_traced_group_at(&waits->blocks, (uint64_t)lock << 32 | holder);
	if (group == NULL)
		return CTX_E_NOMEM;
	group->process = ctx_profile_process_of(waits->page.profile, operation->thread);
	group->address = operation->address;
	group->stack = operation->stack;
	group->thread = operation->thread;
	ctx_traced_add(&group->sums, operation);
	return CTX_OK;
}

static enum ctx_status add_wait(struct waits *waits, const struct ctx_traced *operation)
{
	struct ctx_traced_group *stack = ctx_traced_stack_group(&waits->stacks, operation->stack);
	struct ctx_traced_group *object = object_of(waits, &waits->objects, operation);

	if (stack == NULL || object == NULL)
		return CTX_E_NOMEM;
	ctx_traced_add(&stack->sums, operation);
	ctx_traced_add(&object->sums, operation);
	ctx_traced_add(&waits->page.total, operation);
	ctx_traced_add(&waits->latencies[ctx_traced_bucket(operation->duration_ns)], operation);
	return CTX_OK;
}

static enum ctx_status collect(struct waits *waits)
{
	struct ctx_report_traced traced = waits->page.traced;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = &traced.items[i];

		if (!ctx_traced_passes(&waits->page, operation))
			continue;
		if (ctx_traced_is_wait(operation))
			status = add_wait(waits, operation);
		else if (operation->operation == CTX_SYNC_HOLD)
			status = add_hold(waits, operation);
		else if (operation->operation == CTX_SYNC_BLOCK)
			status = add_block(waits, operation);
	}
	for (size_t i = 0; i < waits->objects.n; i++)
		waits->objects.items[i].stack = waits->objects.items[i].sums.longest_stack;
	return status;
}

/* NULL: not known. */
static const char *kind_name(unsigned operation)
{
	if (operation == CTX_SYNC_WAIT)
		return NULL;
	if (operation == CTX_SYNC_READ_LOCK || operation == CTX_SYNC_WRITE_LOCK)
		return "read-write lock";
	return ctx_traced_operation_name(CTX_TRACED_SYNC, operation);
}

/* What it is, and its address. */
static void name_lock(struct ctx_traced_page *page, const struct ctx_traced_group *group, uint64_t lock,
		      struct ctx_cell *cells)
{
	const struct waits *waits = (const struct waits *)page;
	const char *kind = kind_name(waits->kinds[lock]);

	cells[PROCESS] = ctx_pid_cell(page->profile, group->process);
	cells[ADDRESS] = ctx_cell_number(group->address);
	if (kind != NULL)
		cells[KIND] = ctx_cell_name(kind);
	if (ctx_out_is_text(&page->out))
		cells[OBJECT] =
			ctx_cell_name(ctx_sync_object_text(page, group->process, group->address, kind));
}

static void name_object(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			struct ctx_cell *cells)
{
	name_lock(page, group, group->key, cells);
	if (ctx_out_is_text(&page->out))
		cells[TEXT] = ctx_cell_name(ctx_traced_chain(page, group->stack));
}

static void name_held(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		      struct ctx_cell *cells)
{
	name_object(page, group, cells);
	cells[HOLDS] = cells[WAITS];
	cells[HOLD_NS] = cells[WAIT_NS];
	cells[HOLD_MAX_NS] = cells[WAIT_MAX_NS];
	cells[HOLD_MEAN_NS] = ctx_cell_number(group->sums.time_ns / group->sums.count);
	cells[WAITS] = cells[WAIT_NS] = cells[WAIT_MAX_NS] = cells[FROM]; /* none */
}

static void name_holder(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			struct ctx_cell *cells)
{
	name_lock(page, group, group->key >> 32, cells);
	cells[THREAD] = ctx_thread_cell(page->profile, group->thread);
	if (!ctx_out_is_text(&page->out))
		return;
	cells[HOLDER] = ctx_cell_name(ctx_sync_thread_text(page, group->thread));
	cells[TEXT] = ctx_cell_name(group->stack != 0 ? ctx_traced_chain(page, group->stack) : "");
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
	static const struct ctx_traced_table holds = {.what = "lock", .name = name_held, .lists = true};
	static const struct ctx_traced_table blocks = {.what = "holder", .name = name_holder, .lists = true};
	static const struct ctx_traced_table stacks = {.what = "stack", .lists = true};
	struct ctx_traced_page *page = &waits->page;

	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &waits->stacks);
	ctx_sections_begin(&page->sections, &object_section, NULL);
	ctx_traced_put_total(page, add_total, NULL);
	ctx_traced_put_groups(page, &waits->objects, &objects);
	if (waits->blocks.n != 0) {
		ctx_sections_begin(&page->sections, &holder_section, NULL);
		ctx_traced_put_groups(page, &waits->blocks, &blocks);
	}
	if (waits->holds.n != 0) {
		ctx_sections_begin(&page->sections, &hold_section, NULL);
		ctx_traced_put_groups(page, &waits->holds, &holds);
	}
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
	if (status == CTX_OK && !options->cycles && collect(waits) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK && options->cycles) {
		const struct ctx_sync_cycle_columns cycle = {.cycle = CYCLE,
							     .process = PROCESS,
							     .thread = THREAD,
							     .held = HELD,
							     .address = ADDRESS,
							     .holder = HOLDER,
							     .held_text = HELD_TEXT,
							     .object = OBJECT,
							     .text = TEXT,
							     .stack = STACK};

		status = ctx_sync_cycles_put(&waits->page, &cycle, err);
		if (status == CTX_OK)
			status = ctx_traced_page_end(&waits->page, err);
	} else if (status == CTX_OK) {
		waits->page.topic.totals.weight = waits->page.total.time_ns;
		put_tables(waits);
		status = ctx_traced_page_end(&waits->page, err);
	}
	ctx_sync_locks_deinit(&waits->locks);
	ctx_map64_deinit(&waits->holders);
	free(waits->kinds);
	ctx_traced_groups_deinit(&waits->blocks);
	ctx_traced_groups_deinit(&waits->holds);
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
