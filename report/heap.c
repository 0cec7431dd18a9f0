/*
 * The heap: allocations by call stack, the memory live at the peak, leaks, and the sizes of
 * allocations.
 */
#include "report/heap_life.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/traced_page.h"

#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

#define SLICES 20u

enum {
	SECTION,
	BEGIN,
	END,
	FROM,
	TO,
	ALLOCATIONS,
	BYTES,
	LEAKS,
	LEAKED,
	LARGEST,
	HELD,
	HELD_BYTES,
	PEAK,
	PEAK_NS,
	LIVE,
	STACK,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[BEGIN] = {"begin", NULL, CTX_STYLE_TIME},
	[END] = {"end", NULL, CTX_STYLE_TIME},
	[FROM] = {"from", NULL, CTX_STYLE_COUNT},
	[TO] = {"to", NULL, CTX_STYLE_COUNT},
	[ALLOCATIONS] = {"allocations", NULL, CTX_STYLE_COUNT},
	[BYTES] = {"bytes", NULL, CTX_STYLE_COUNT},
	[LEAKS] = {"leaks", NULL, CTX_STYLE_COUNT},
	[LEAKED] = {"leaked_bytes", NULL, CTX_STYLE_COUNT},
	[LARGEST] = {"largest", NULL, CTX_STYLE_COUNT},
	[HELD] = {"held", NULL, CTX_STYLE_COUNT},
	[HELD_BYTES] = {"held_bytes", NULL, CTX_STYLE_COUNT},
	[PEAK] = {"peak_bytes", NULL, CTX_STYLE_COUNT},
	[PEAK_NS] = {"peak_ns", NULL, CTX_STYLE_TIME},
	[LIVE] = {"live_bytes", NULL, CTX_STYLE_COUNT},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column stack_columns[] = {{ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"},
							  {LEAKS, "Leaks"},	   {LEAKED, "Leaked"},
							  {HELD_BYTES, "At peak"}, {TEXT, "Call stack"}};
static const struct ctx_section_column slice_columns[] = {
	{BEGIN, "From ms"}, {END, "To ms"}, {PEAK, "Most"}, {LIVE, "At the end"}, {TEXT, ""}};
static const struct ctx_section_column size_columns[] = {
	{FROM, "From"},	    {TO, "To"}, {ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"}, {LEAKS, "Leaks"},
	{LEAKED, "Leaked"}, {TEXT, ""}};
static const struct ctx_section stack_section = {"stack", NULL, stack_columns, CTX_COUNT_OF(stack_columns)};
static const struct ctx_section slice_section = {"slice", NULL, slice_columns, CTX_COUNT_OF(slice_columns)};
static const struct ctx_section size_section = {"size", "Sizes in bytes", size_columns,
						CTX_COUNT_OF(size_columns)};

static const char *const sort_keys[] = {"bytes", "allocations", "leaks",   "leaked_bytes",
					"held",	 "held_bytes",	"largest", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	const uint64_t values[] = {sums->bytes, sums->count,	  sums->leaks,	sums->leaked_bytes,
				   sums->held,	sums->held_bytes, sums->largest};

	return values[key];
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[ALLOCATIONS] = ctx_cell_number(sums->count);
	cells[BYTES] = ctx_cell_number(sums->bytes);
	cells[LEAKS] = ctx_cell_number(sums->leaks);
	cells[LEAKED] = ctx_cell_number(sums->leaked_bytes);
	cells[LARGEST] = ctx_cell_number(sums->largest);
	cells[HELD] = ctx_cell_number(sums->held);
	cells[HELD_BYTES] = ctx_cell_number(sums->held_bytes);
}

static const struct ctx_traced_report heap_report = {.report = &ctx_report_heap,
						     .kind = CTX_TRACED_HEAP,
						     .topic = "Heap",
						     .unit = CTX_UNIT_BYTES,
						     .counted = "allocations",
						     .stack = STACK,
						     .text = TEXT,
						     .number_width = 44,
						     .sort_keys = sort_keys,
						     .value = value,
						     .fill = fill};

struct slice {
	uint64_t most, last;
};

struct heap {
	struct ctx_traced_page page;
	struct ctx_traced_groups stacks;
	struct ctx_traced_sums sizes[CTX_TRACED_BUCKETS];
	struct ctx_interval hull; /* of the selected intervals */
	struct slice slices[SLICES];
	uint64_t peak, peak_ns;
	size_t peak_at; /* behind this many operations */
};

static struct ctx_interval hull_of(const struct ctx_report_selection *selection)
{
	struct ctx_interval hull = selection->profile->run;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (i == 0 || selection->intervals[i].begin_ns < hull.begin_ns)
			hull.begin_ns = selection->intervals[i].begin_ns;
		if (i == 0 || selection->intervals[i].end_ns > hull.end_ns)
			hull.end_ns = selection->intervals[i].end_ns;
	}
	return hull;
}

static uint64_t slice_begin(const struct heap *heap, unsigned slice)
{
	unsigned __int128 length = heap->hull.end_ns - heap->hull.begin_ns;

	return heap->hull.begin_ns + (uint64_t)(length * slice / SLICES);
}

static bool is_wanted(const struct heap *heap, const struct ctx_traced *operation)
{
	return ctx_traced_is_allocation(operation) && ctx_traced_passes(&heap->page, operation);
}

static enum ctx_status sum_up(struct heap *heap)
{
	struct ctx_report_traced traced = heap->page.traced;

	for (size_t i = 0; i < traced.n; i++) {
		const struct ctx_traced *operation = &traced.items[i];
		struct ctx_traced_group *group;

		if (!is_wanted(heap, operation))
			continue;
		group = ctx_traced_stack_group(&heap->stacks, operation->stack);
		if (group == NULL)
			return CTX_E_NOMEM;
		ctx_traced_add(&group->sums, operation);
		ctx_traced_add(&heap->page.total, operation);
		ctx_traced_add(&heap->sizes[ctx_traced_bucket(operation->size)], operation);
	}
	return CTX_OK;
}

/* What is live at its end is live at the begin of the next one. */
static void end_slice(struct heap *heap, struct ctx_heap_life *life, unsigned slice)
{
	ctx_heap_life_until(life, slice_begin(heap, slice + 1));
	heap->slices[slice].last = life->live;
	heap->slices[slice + 1].most = life->live;
}

static enum ctx_status find_peak(struct heap *heap, struct ctx_heap_life *life)
{
	struct ctx_report_traced traced = heap->page.traced;
	unsigned slice = 0;

	for (size_t i = 0; i < traced.n; i++) {
		const struct ctx_traced *operation = &traced.items[i];

		for (; slice + 1 < SLICES && operation->time_ns >= slice_begin(heap, slice + 1); slice++)
			end_slice(heap, life, slice);
		if (ctx_heap_life_step(life, operation, is_wanted(heap, operation)) != CTX_OK)
			return CTX_E_NOMEM;
		if (life->live > heap->slices[slice].most)
			heap->slices[slice].most = life->live;
		if (life->live > heap->peak) {
			heap->peak = life->live;
			heap->peak_ns = operation->time_ns;
			heap->peak_at = i + 1;
		}
	}
	for (; slice + 1 < SLICES; slice++)
		end_slice(heap, life, slice);
	heap->slices[slice].last = life->live;
	return CTX_OK;
}

static enum ctx_status add_held(void *context, uint64_t bytes, uint32_t stack)
{
	struct heap *heap = context;
	struct ctx_traced_group *group = ctx_traced_stack_group(&heap->stacks, stack);

	if (group == NULL)
		return CTX_E_NOMEM;
	group->sums.held++;
	group->sums.held_bytes += bytes;
	heap->page.total.held++;
	heap->page.total.held_bytes += bytes;
	return CTX_OK;
}

/* A second pass, up to the peak: the blocks that are live then. */
static enum ctx_status find_holders(struct heap *heap, struct ctx_heap_life *life)
{
	for (size_t i = 0; i < heap->peak_at; i++) {
		const struct ctx_traced *operation = &heap->page.traced.items[i];

		if (ctx_heap_life_step(life, operation, is_wanted(heap, operation)) != CTX_OK)
			return CTX_E_NOMEM;
	}
	return ctx_heap_life_each(life, add_held, heap);
}

static enum ctx_status walk(struct heap *heap,
			    enum ctx_status (*through)(struct heap *heap, struct ctx_heap_life *life))
{
	struct ctx_heap_life life;
	enum ctx_status status = ctx_heap_life_init(&life, heap->page.profile);

	if (status == CTX_OK)
		status = through(heap, &life);
	ctx_heap_life_deinit(&life);
	return status;
}

static enum ctx_status collect(struct heap *heap)
{
	enum ctx_status status = sum_up(heap);

	if (status == CTX_OK)
		status = walk(heap, find_peak);
	return status == CTX_OK ? walk(heap, find_holders) : status;
}

static void add_peak(struct ctx_cell *cells, const void *context)
{
	const struct heap *heap = context;

	cells[PEAK] = ctx_cell_number(heap->peak);
	cells[PEAK_NS] = ctx_cell_number(heap->peak_ns);
}

static void put_slices(struct heap *heap)
{
	struct ctx_traced_page *page = &heap->page;
	char ms[CTX_FIGURE_MAX];

	ctx_figure_fixed(ms, heap->peak_ns, 1000 * 1000, 3);
	ctx_sections_begin(
		&page->sections, &slice_section,
		ctx_traced_text(page,
				"Live bytes: the peak is %" PRIu64 " at %s ms, in %" PRIu64 " allocation%s",
				heap->peak, ms, page->total.held, page->total.held == 1 ? "" : "s"));
	for (unsigned i = 0; i < SLICES; i++) {
		struct ctx_cell cells[CTX_TRACED_COLUMNS];

		ctx_sections_clear(&page->sections, cells);
		cells[BEGIN] = ctx_cell_number(slice_begin(heap, i));
		cells[END] = ctx_cell_number(slice_begin(heap, i + 1));
		cells[PEAK] = ctx_cell_number(heap->slices[i].most);
		cells[LIVE] = ctx_cell_number(heap->slices[i].last);
		cells[TEXT] = ctx_cell_name(ctx_traced_bar(page, heap->slices[i].most, heap->peak));
		ctx_sections_row_begin(&page->sections, cells, NULL);
		ctx_sections_row_end(&page->sections);
	}
}

static void put_tables(struct heap *heap)
{
	static const struct ctx_traced_table stacks = {.what = "stack", .lists = true};
	struct ctx_traced_page *page = &heap->page;

	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &heap->stacks);
	ctx_sections_begin(&page->sections, &stack_section, NULL);
	ctx_traced_put_total(page, add_peak, heap);
	ctx_traced_put_groups(page, &heap->stacks, &stacks);
	if (page->total.count == 0)
		return;
	put_slices(heap);
	ctx_sections_begin(&page->sections, &size_section, NULL);
	ctx_traced_put_histogram(page,
				 &(struct ctx_traced_histogram){.from = FROM, .to = TO, .sums = heap->sizes});
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct heap *heap CTX_AUTO_FREE = ctx_calloc(1, sizeof(*heap));
	enum ctx_status status;

	if (heap == NULL)
		return ctx_err_nomem(err);
	heap->hull = hull_of(&source->selection);
	status = ctx_traced_page_init(&heap->page, &heap_report, source, options, err);
	if (status == CTX_OK && collect(heap) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		heap->page.topic.totals.weight = heap->page.total.bytes;
		put_tables(heap);
		status = ctx_traced_page_end(&heap->page, err);
	}
	ctx_traced_groups_deinit(&heap->stacks);
	ctx_traced_page_deinit(&heap->page);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"allocs", false}, {"heapstat", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_heap = {
	.name = "heap",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_HEAP,
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
