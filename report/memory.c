/*
 * Accesses to memory that samples brought: where the data was, what is mapped there, latencies, the TLB, other caches.
 */
#include "report/access_owners.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"
#include "model/data_source.h"

enum {
	SECTION,
	ACCESSES,
	SHARE,
	LATENCY,
	AVERAGE,
	LONGEST,
	OPERATION,
	LEVEL,
	HIT,
	LOCKED,
	MAPPING,
	TLB,
	SNOOP,
	FUNCTION,
	FROM,
	TO,
	STACK,
	TEXT,
	N_COLUMNS
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[ACCESSES] = {"accesses", NULL, CTX_STYLE_COUNT},
	[SHARE] = {NULL, NULL, CTX_STYLE_COUNT},
	[LATENCY] = {"latency", NULL, CTX_STYLE_COUNT},
	[AVERAGE] = {NULL, NULL, CTX_STYLE_COUNT},
	[LONGEST] = {"longest", NULL, CTX_STYLE_COUNT},
	[OPERATION] = {"operation", NULL, CTX_STYLE_NAME},
	[LEVEL] = {"level", NULL, CTX_STYLE_NAME},
	[HIT] = {"hit", NULL, CTX_STYLE_COUNT},
	[LOCKED] = {"locked", NULL, CTX_STYLE_COUNT},
	[MAPPING] = {"mapping", NULL, CTX_STYLE_NAME},
	[TLB] = {"tlb", NULL, CTX_STYLE_NAME},
	[SNOOP] = {"snoop", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[FROM] = {"from", NULL, CTX_STYLE_COUNT},
	[TO] = {"to", NULL, CTX_STYLE_COUNT},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

#define COLUMNS(title)                                                                                       \
	{                                                                                                    \
		{ACCESSES, "Accesses"}, {SHARE, "%"}, {LATENCY, "Latency"}, {AVERAGE, "Average"},            \
			{LONGEST, "Longest"},                                                                \
		{                                                                                            \
			TEXT, title                                                                          \
		}                                                                                            \
	}

static const struct ctx_section_column level_columns[] = COLUMNS("Data from");
static const struct ctx_section_column mapping_columns[] = COLUMNS("Mapping");
static const struct ctx_section_column tlb_columns[] = COLUMNS("Address translated by");
static const struct ctx_section_column snoop_columns[] = COLUMNS("Other caches");
static const struct ctx_section_column function_columns[] = COLUMNS("Function");
static const struct ctx_section_column stack_columns[] = COLUMNS("Call stack");
static const struct ctx_section_column allocation_columns[] = COLUMNS("Allocated by");
static const struct ctx_section_column latency_columns[] = {
	{FROM, "From"}, {TO, "To cycles"}, {ACCESSES, "Accesses"}, {SHARE, "%"}, {TEXT, ""}};
static const struct ctx_section level_section = {"level", NULL, level_columns, CTX_COUNT_OF(level_columns)};
static const struct ctx_section mapping_section = {"mapping", "By mapping", mapping_columns,
						   CTX_COUNT_OF(mapping_columns)};
static const struct ctx_section tlb_section = {"tlb", "By TLB", tlb_columns, CTX_COUNT_OF(tlb_columns)};
static const struct ctx_section snoop_section = {"snoop", "By snoop", snoop_columns,
						 CTX_COUNT_OF(snoop_columns)};
static const struct ctx_section function_section = {"function", "By function", function_columns,
						    CTX_COUNT_OF(function_columns)};
static const struct ctx_section stack_section = {"stack", "By call stack", stack_columns,
						 CTX_COUNT_OF(stack_columns)};
static const struct ctx_section allocation_section = {"allocation", "By allocation", allocation_columns,
						      CTX_COUNT_OF(allocation_columns)};
static const struct ctx_section latency_section = {"latency", "Latency", latency_columns,
						   CTX_COUNT_OF(latency_columns)};

static const char *const sort_keys[] = {"accesses", "latency", "longest", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	return key == 0 ? sums->count : key == 1 ? sums->bytes : sums->largest;
}

/* Of what has no latency the columns are empty. The rest needs the page: see put_shares. */
static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[ACCESSES] = ctx_cell_number(sums->count);
	if (sums->bytes == 0)
		return;
	cells[LATENCY] = ctx_cell_number(sums->bytes);
	cells[LONGEST] = ctx_cell_number(sums->largest);
}

static const struct ctx_traced_report memory_report = {.report = &ctx_report_memory,
						       .kind = CTX_TRACED_MEMORY,
						       .topic = "Memory accesses",
						       .unit = CTX_UNIT_EVENTS,
						       .counted = "accesses",
						       .stack = STACK,
						       .text = TEXT,
						       .number_width = 45,
						       .sort_keys = sort_keys,
						       .value = value,
						       .fill = fill};

struct memory {
	struct ctx_traced_page page;
	struct ctx_traced_groups levels, mappings, tlbs, snoops, functions, stacks, allocations;
	struct ctx_access_owner *owners; /* by access; NULL: no heap was recorded. Owned */
	struct ctx_traced_sums of_none;	 /* in no recorded allocation */
	struct ctx_traced_sums latencies[CTX_TRACED_BUCKETS];
	bool has_sources; /* some access says where its data was */
};

/* ---- sums ---- */

static uint64_t level_key(const struct ctx_traced *access)
{
	return (uint64_t)access->operation << 16 | (uint64_t)ctx_data_level_of(access->detail) << 8 |
	       (uint64_t)ctx_data_is_miss(access->detail) << 1 | ctx_data_is_locked(access->detail);
}

static uint32_t leaf_of(const struct ctx_profile *profile, uint32_t stack)
{
	return stack != CTX_TRIE_ROOT && stack < profile->cct.n ? profile->cct.key[stack] : CTX_NONE;
}

static enum ctx_status add(struct memory *memory, const struct ctx_traced *access)
{
	const struct {
		struct ctx_traced_groups *groups;
		uint64_t key;
	} groups[] = {
		{&memory->levels, level_key(access)},
		{&memory->mappings, access->file},
		{&memory->tlbs, ctx_data_tlb_of(access->detail)},
		{&memory->snoops, ctx_data_snoop_of(access->detail)},
		{&memory->functions, leaf_of(memory->page.profile, access->stack)},
	};
	struct ctx_traced_group *stack = ctx_traced_stack_group(&memory->stacks, access->stack);

	if (stack == NULL)
		return CTX_E_NOMEM;
	ctx_traced_add(&stack->sums, access);
	for (size_t i = 0; i < CTX_COUNT_OF(groups); i++) {
		struct ctx_traced_group *group = ctx_traced_group_at(groups[i].groups, groups[i].key);

		if (group == NULL)
			return CTX_E_NOMEM;
		ctx_traced_add(&group->sums, access);
	}
	ctx_traced_add(&memory->page.total, access);
	memory->has_sources |= access->detail != 0;
	if (access->latency != 0)
		ctx_traced_add(&memory->latencies[ctx_traced_bucket(access->latency)], access);
	return CTX_OK;
}

static enum ctx_status add_owner(struct memory *memory, const struct ctx_traced *access,
				 const struct ctx_traced *allocation)
{
	struct ctx_traced_sums *sums = &memory->of_none;
	struct ctx_traced_group *group = NULL;

	if (allocation != NULL)
		group = ctx_traced_stack_group(&memory->allocations, allocation->stack);
	if (allocation != NULL && group == NULL)
		return CTX_E_NOMEM;
	ctx_traced_add(group != NULL ? &group->sums : sums, access);
	return CTX_OK;
}

/* Needs the heap of the whole run: what is accessed may have been allocated before the interval. */
static enum ctx_status find_owners(struct memory *memory, struct ctx_report_source *source,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = memory->page.profile;
	struct ctx_report_traced heap;
	enum ctx_status status;

	if (profile->traced[CTX_TRACED_HEAP] == 0 || memory->page.traced.n == 0)
		return CTX_OK;
	status = source->allocations(source, &heap, err);
	return status == CTX_OK
		       ? ctx_access_owners_find(profile, &memory->page.traced, &heap, &memory->owners, err)
		       : status;
}

static enum ctx_status collect(struct memory *memory)
{
	struct ctx_report_traced traced = memory->page.traced;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		if (!ctx_traced_passes(&memory->page, &traced.items[i]))
			continue;
		status = add(memory, &traced.items[i]);
		if (status == CTX_OK && memory->owners != NULL)
			status = add_owner(memory, &traced.items[i], memory->owners[i].allocation);
	}
	return status;
}

/* ---- rows ---- */

/* What depends on the total. */
static void put_shares(struct ctx_traced_page *page, const struct ctx_traced_sums *sums,
		       struct ctx_cell *cells)
{
	if (page->total.count != 0)
		cells[SHARE] = ctx_cell_figure(
			ctx_traced_text(page, "%.2f", 100 * (double)sums->count / (double)page->total.count));
	if (sums->bytes != 0)
		cells[AVERAGE] = ctx_cell_figure(
			ctx_traced_text(page, "%.1f", (double)sums->bytes / (double)sums->count));
}

static void name_level(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		       struct ctx_cell *cells)
{
	const char *operation = ctx_traced_operation_name(CTX_TRACED_MEMORY, (unsigned)(group->key >> 16));
	enum ctx_data_level level = (enum ctx_data_level)(group->key >> 8 & 0xff);
	bool is_miss = (group->key & 2) != 0, is_locked = (group->key & 1) != 0;

	put_shares(page, &group->sums, cells);
	cells[OPERATION] = ctx_cell_name(operation);
	cells[LOCKED] = ctx_cell_bool(is_locked);
	if (level != CTX_DATA_UNKNOWN) {
		cells[LEVEL] = ctx_cell_name(ctx_data_level_name(level));
		cells[HIT] = ctx_cell_bool(!is_miss);
	}
	cells[TEXT] = ctx_cell_name(ctx_traced_text(
		page, "%s%s%s%s%s", is_locked ? "locked " : "", operation,
		level != CTX_DATA_UNKNOWN ? ", " : "",
		level != CTX_DATA_UNKNOWN ? ctx_data_level_name(level) : "", is_miss ? " missed" : ""));
}

static void name_mapping(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			 struct ctx_cell *cells)
{
	const char *name = group->key < page->profile->n_files ? page->profile->files[group->key] : NULL;

	put_shares(page, &group->sums, cells);
	cells[MAPPING] = ctx_cell_name(name);
	cells[TEXT] = ctx_cell_name(name != NULL ? name : "<no map recorded>");
}

static void name_tlb(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		     struct ctx_cell *cells)
{
	const char *name = ctx_data_tlb_name((enum ctx_data_tlb)group->key);

	put_shares(page, &group->sums, cells);
	cells[TLB] = ctx_cell_name(group->key != CTX_TLB_UNKNOWN ? name : NULL);
	cells[TEXT] = ctx_cell_name(name);
}

static void name_snoop(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		       struct ctx_cell *cells)
{
	const char *name = ctx_data_snoop_name((enum ctx_data_snoop)group->key);

	put_shares(page, &group->sums, cells);
	cells[SNOOP] = ctx_cell_name(group->key != CTX_SNOOP_UNKNOWN ? name : NULL);
	cells[TEXT] = ctx_cell_name(name);
}

static void name_function(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			  struct ctx_cell *cells)
{
	struct ctx_cell cell = ctx_function_cell(page->profile, (uint32_t)group->key);

	put_shares(page, &group->sums, cells);
	cells[FUNCTION] = ctx_cell_name(group->key != CTX_NONE ? cell.name : NULL);
	cells[TEXT] = group->key != CTX_NONE ? cell : ctx_cell_name("<no call stack>");
}

static void name_stack(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		       struct ctx_cell *cells)
{
	put_shares(page, &group->sums, cells);
}

/* Sampled allocations leave the others out, and so do those of before a process was attached to. */
static void put_allocations(struct memory *memory)
{
	static const struct ctx_traced_table allocations = {
		.what = "allocation", .name = name_stack, .lists = true};
	struct ctx_traced_page *page = &memory->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	if (memory->owners == NULL)
		return;
	ctx_traced_merge_stacks(page, &memory->allocations);
	ctx_sections_begin(&page->sections, &allocation_section, NULL);
	ctx_traced_put_groups(page, &memory->allocations, &allocations);
	if (memory->of_none.count == 0)
		return;
	ctx_sections_clear(&page->sections, cells);
	fill(&memory->of_none, cells);
	put_shares(page, &memory->of_none, cells);
	cells[TEXT] = ctx_cell_name("<no allocation recorded>");
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

static void put_tables(struct memory *memory)
{
	static const struct ctx_traced_table levels = {.what = "level", .name = name_level};
	static const struct ctx_traced_table mappings = {.what = "mapping", .name = name_mapping};
	static const struct ctx_traced_table tlbs = {.what = "answer", .name = name_tlb};
	static const struct ctx_traced_table snoops = {.what = "answer", .name = name_snoop};
	static const struct ctx_traced_table functions = {.what = "function", .name = name_function};
	static const struct ctx_traced_table stacks = {.what = "stack", .name = name_stack, .lists = true};
	struct ctx_traced_page *page = &memory->page;

	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &memory->stacks);
	ctx_sections_begin(&page->sections, &level_section, NULL);
	ctx_traced_put_total(page, NULL, NULL);
	ctx_traced_put_groups(page, &memory->levels, &levels);
	if (page->total.count == 0)
		return;
	ctx_sections_begin(&page->sections, &mapping_section, NULL);
	ctx_traced_put_groups(page, &memory->mappings, &mappings);
	put_allocations(memory);
	if (memory->has_sources) {
		ctx_sections_begin(&page->sections, &tlb_section, NULL);
		ctx_traced_put_groups(page, &memory->tlbs, &tlbs);
		ctx_sections_begin(&page->sections, &snoop_section, NULL);
		ctx_traced_put_groups(page, &memory->snoops, &snoops);
	}
	ctx_sections_begin(&page->sections, &function_section, NULL);
	ctx_traced_put_groups(page, &memory->functions, &functions);
	ctx_sections_begin(&page->sections, &stack_section, NULL);
	ctx_traced_put_groups(page, &memory->stacks, &stacks);
	if (page->total.bytes == 0)
		return;
	ctx_sections_begin(&page->sections, &latency_section, NULL);
	ctx_traced_put_histogram(
		page, &(struct ctx_traced_histogram){.from = FROM, .to = TO, .sums = memory->latencies});
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct memory *memory CTX_AUTO_FREE = ctx_calloc(1, sizeof(*memory));
	enum ctx_status status;

	if (memory == NULL)
		return ctx_err_nomem(err);
	status = ctx_traced_page_init(&memory->page, &memory_report, source, options, err);
	if (status == CTX_OK)
		status = find_owners(memory, source, err);
	if (status == CTX_OK && collect(memory) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		memory->page.topic.totals.weight = memory->page.total.count;
		put_tables(memory);
		status = ctx_traced_page_end(&memory->page, err);
	}
	ctx_traced_groups_deinit(&memory->levels);
	ctx_traced_groups_deinit(&memory->mappings);
	ctx_traced_groups_deinit(&memory->tlbs);
	ctx_traced_groups_deinit(&memory->snoops);
	ctx_traced_groups_deinit(&memory->functions);
	ctx_traced_groups_deinit(&memory->stacks);
	ctx_traced_groups_deinit(&memory->allocations);
	free(memory->owners);
	ctx_traced_page_deinit(&memory->page);
	return status;
}

const struct ctx_report_kind ctx_report_memory = {
	.name = "memory",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_MEMORY,
	.columns = columns,
	.n_columns = N_COLUMNS,
	.print = print,
};
