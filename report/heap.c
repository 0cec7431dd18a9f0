/*
 * The heap: allocations by call stack, the memory live at the peak and at the end, leaks, and the kinds,
 * sizes and ages of allocations. Mapped files are a kind, and nothing else.
 */
#include "report/heap_ages.h"
#include "report/heap_kinds.h"
#include "report/heap_life.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/stack_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 20u

enum {
	SECTION,
	KIND,
	BEGIN,
	END,
	FROM,
	TO,
	ALLOCATIONS,
	BYTES,
	LEAKS,
	LEAKED,
	LARGEST,
	TEMPORARY,
	HELD,
	HELD_BYTES,
	HELD_AT_END,
	AT_END,
	FIRST,
	GROWTH,
	COUNT_ERROR,
	BYTES_ERROR,
	PEAK,
	PEAK_NS,
	LIVE,
	STACK,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[KIND] = {"kind", NULL, CTX_STYLE_NAME},
	[BEGIN] = {"begin", NULL, CTX_STYLE_TIME},
	[END] = {"end", NULL, CTX_STYLE_TIME},
	[FROM] = {"from", NULL, CTX_STYLE_COUNT},
	[TO] = {"to", NULL, CTX_STYLE_COUNT},
	[ALLOCATIONS] = {"allocations", NULL, CTX_STYLE_COUNT},
	[BYTES] = {"bytes", NULL, CTX_STYLE_COUNT},
	[LEAKS] = {"leaks", NULL, CTX_STYLE_COUNT},
	[LEAKED] = {"leaked_bytes", NULL, CTX_STYLE_COUNT},
	[LARGEST] = {"largest", NULL, CTX_STYLE_COUNT},
	[TEMPORARY] = {"temporary", NULL, CTX_STYLE_COUNT},
	[HELD] = {"held", NULL, CTX_STYLE_COUNT},
	[HELD_BYTES] = {"held_bytes", NULL, CTX_STYLE_COUNT},
	[HELD_AT_END] = {"held_at_end", NULL, CTX_STYLE_COUNT},
	[AT_END] = {"held_at_end_bytes", NULL, CTX_STYLE_COUNT},
	[FIRST] = {"first_bytes", NULL, CTX_STYLE_COUNT},
	[GROWTH] = {"growth_bytes", NULL, CTX_STYLE_COUNT},
	[COUNT_ERROR] = {"allocations_error", NULL, CTX_STYLE_COUNT},
	[BYTES_ERROR] = {"bytes_error", NULL, CTX_STYLE_COUNT},
	[PEAK] = {"peak_bytes", NULL, CTX_STYLE_COUNT},
	[PEAK_NS] = {"peak_ns", NULL, CTX_STYLE_TIME},
	[LIVE] = {"live_bytes", NULL, CTX_STYLE_COUNT},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column stack_columns[] = {
	{ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"},	  {TEMPORARY, "Temp."}, {LEAKS, "Leaks"},
	{LEAKED, "Leaked"},	 {HELD_BYTES, "At peak"}, {AT_END, "At end"},	{TEXT, "Call stack"}};
static const struct ctx_section_column sampled_columns[] = {
	{ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"},	  {BYTES_ERROR, "+-"}, {LEAKS, "Leaks"},
	{LEAKED, "Leaked"},	 {HELD_BYTES, "At peak"}, {AT_END, "At end"},  {TEXT, "Call stack"}};
static const struct ctx_section_column kind_columns[] = {
	{ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"},   {LEAKS, "Leaks"}, {LEAKED, "Leaked"},
	{HELD_BYTES, "At peak"}, {AT_END, "At end"}, {KIND, ""}};
static const struct ctx_section_column growth_columns[] = {
	{FIRST, "At 1st end"}, {AT_END, "At last end"}, {GROWTH, "Growth"}, {TEXT, "Call stack"}};
static const struct ctx_section_column age_columns[] = {
	{ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"}, {TEXT, "Age when freed"}};
static const struct ctx_section_column slice_columns[] = {
	{BEGIN, "From ms"}, {END, "To ms"}, {PEAK, "Most"}, {LIVE, "At the end"}, {TEXT, ""}};
static const struct ctx_section_column size_columns[] = {
	{FROM, "From"},	    {TO, "To"}, {ALLOCATIONS, "Allocs"}, {BYTES, "Bytes"}, {LEAKS, "Leaks"},
	{LEAKED, "Leaked"}, {TEXT, ""}};
static const struct ctx_section stack_section = {"stack", NULL, stack_columns, CTX_COUNT_OF(stack_columns)};
static const struct ctx_section sampled_section = {"stack", NULL, sampled_columns,
						   CTX_COUNT_OF(sampled_columns)};
static const struct ctx_section kind_section = {"kind", "Kinds of memory", kind_columns,
						CTX_COUNT_OF(kind_columns)};
static const struct ctx_section growth_section = {"growth", "Growth between the ends of two intervals",
						  growth_columns, CTX_COUNT_OF(growth_columns)};
static const struct ctx_section age_section = {"age", "Ages", age_columns, CTX_COUNT_OF(age_columns)};
static const struct ctx_section slice_section = {"slice", NULL, slice_columns, CTX_COUNT_OF(slice_columns)};
static const struct ctx_section size_section = {"size", "Sizes in bytes", size_columns,
						CTX_COUNT_OF(size_columns)};

static const char *const sort_keys[] = {"bytes",       "allocations",	    "leaks",   "leaked_bytes",
					"held",	       "held_bytes",	    "largest", "temporary",
					"held_at_end", "held_at_end_bytes", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	const uint64_t values[] = {sums->bytes,	      sums->count,
				   sums->leaks,	      sums->leaked_bytes,
				   sums->held,	      sums->held_bytes,
				   sums->largest,     sums->temporary,
				   sums->held_at_end, sums->held_at_end_bytes};

	return values[key];
}

static struct ctx_cell number(const struct ctx_traced_sums *sums, uint64_t fixed)
{
	return ctx_cell_number(ctx_traced_whole(sums, fixed));
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[ALLOCATIONS] = number(sums, sums->count);
	cells[BYTES] = ctx_cell_number(sums->bytes);
	cells[LEAKS] = number(sums, sums->leaks);
	cells[LEAKED] = ctx_cell_number(sums->leaked_bytes);
	cells[LARGEST] = ctx_cell_number(sums->largest);
	cells[HELD] = number(sums, sums->held);
	cells[HELD_BYTES] = ctx_cell_number(sums->held_bytes);
	cells[HELD_AT_END] = number(sums, sums->held_at_end);
	cells[AT_END] = ctx_cell_number(sums->held_at_end_bytes);
	if (sums->shift == 0) {
		cells[TEMPORARY] = ctx_cell_number(sums->temporary);
	} else {
		cells[COUNT_ERROR] = ctx_cell_number((uint64_t)(sqrt(sums->count_variance) + 0.5));
		cells[BYTES_ERROR] = ctx_cell_number((uint64_t)(sqrt(sums->bytes_variance) + 0.5));
	}
}

static const struct ctx_traced_report heap_report = {.report = &ctx_report_heap,
						     .kind = CTX_TRACED_HEAP,
						     .topic = "Heap",
						     .unit = CTX_UNIT_BYTES,
						     .counted = "allocations",
						     .stack = STACK,
						     .text = TEXT,
						     .number_width = 62,
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
	struct ctx_traced_sums kinds[CTX_HEAP_KINDS];
	struct ctx_heap_ages ages;
	uint64_t sample_bytes;	  /* 0: all were recorded */
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

/* Also a mapped file, which lives but counts for its kind alone. */
static bool is_wanted(const struct heap *heap, const struct ctx_traced *operation)
{
	return (ctx_traced_is_allocation(operation) || ctx_heap_maps_file(operation->operation)) &&
	       ctx_traced_passes(&heap->page, operation);
}

static enum ctx_status add_allocation(struct heap *heap, const struct ctx_traced *operation)
{
	struct ctx_traced_group *group = ctx_traced_stack_group(&heap->stacks, operation->stack);

	if (group == NULL)
		return CTX_E_NOMEM;
	ctx_traced_add_sampled(&group->sums, operation, heap->sample_bytes);
	ctx_traced_add_sampled(&heap->page.total, operation, heap->sample_bytes);
	ctx_traced_add_sampled(&heap->sizes[ctx_traced_bucket(operation->size)], operation,
			       heap->sample_bytes);
	return CTX_OK;
}

/* The thread's operation before this one made what this one frees. */
static enum ctx_status add_temporary(struct heap *heap, const struct ctx_heap_last *made)
{
	struct ctx_traced_group *group = ctx_traced_stack_group(&heap->stacks, made->stack);

	if (group == NULL)
		return CTX_E_NOMEM;
	group->sums.temporary++;
	heap->page.total.temporary++;
	return CTX_OK;
}

static enum ctx_status sum_up(struct heap *heap)
{
	struct ctx_report_traced traced = heap->page.traced;
	uint32_t n = heap->page.profile->n_threads;
	struct ctx_heap_last *threads CTX_AUTO_FREE = ctx_calloc((size_t)n + 1, sizeof(*threads));
	enum ctx_status status = threads != NULL ? CTX_OK : CTX_E_NOMEM;

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = &traced.items[i];
		struct ctx_heap_last *last = &threads[operation->thread < n ? operation->thread : n];
		bool is_new = is_wanted(heap, operation);

		if (heap->sample_bytes == 0 && ctx_heap_last_is_freed(last, operation))
			status = add_temporary(heap, last);
		*last = ctx_heap_last_of(operation, is_new);
		if (!is_new)
			continue;
		ctx_traced_add_sampled(&heap->kinds[ctx_heap_kind_of(operation->operation)], operation,
				       heap->sample_bytes);
		if (status == CTX_OK && ctx_traced_is_allocation(operation))
			status = add_allocation(heap, operation);
	}
	return status;
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

static void note_freed(void *context, const struct ctx_heap_block *block, uint64_t time_ns)
{
	struct heap *heap = context;
	uint64_t fixed = ctx_traced_fixed(&heap->page.total, block->number);

	ctx_heap_ages_add(&heap->ages, time_ns - block->time_ns, fixed, block->size);
}

/* The sums that a held block counts for: of a mapped file its kind's; else its kind's, its stack's and the total. */
struct owners {
	struct ctx_traced_sums *of[3];
	unsigned n;
};

static enum ctx_status owners_of(struct heap *heap, const struct ctx_heap_held *held, struct owners *ret)
{
	struct ctx_traced_group *group;

	*ret = (struct owners){{&heap->kinds[ctx_heap_kind_of(held->operation)]}, 1};
	if (ctx_heap_maps_file(held->operation))
		return CTX_OK;
	group = ctx_traced_stack_group(&heap->stacks, held->stack);
	if (group == NULL)
		return CTX_E_NOMEM;
	*ret = (struct owners){{ret->of[0], &group->sums, &heap->page.total}, 3};
	return CTX_OK;
}

enum moment { AT_PEAK, AT_FIRST_END, AT_LAST_END };

/* What is live at a moment. */
struct holding {
	struct heap *heap;
	enum moment moment;
};

static void add_to(struct ctx_traced_sums *sums, enum moment moment, const struct ctx_heap_held *held)
{
	uint64_t number = ctx_traced_fixed(sums, held->number);

	switch (moment) {
	case AT_PEAK:
		sums->held += number;
		sums->held_bytes += held->bytes;
		break;
	case AT_FIRST_END:
		sums->first_bytes += held->bytes;
		break;
	case AT_LAST_END:
		sums->held_at_end += number;
		sums->held_at_end_bytes += held->bytes;
		break;
	}
}

static enum ctx_status add_held(void *context, const struct ctx_heap_held *held)
{
	const struct holding *holding = context;
	struct owners owners;
	enum ctx_status status = owners_of(holding->heap, held, &owners);

	for (unsigned i = 0; i < owners.n && status == CTX_OK; i++)
		add_to(owners.of[i], holding->moment, held);
	return status;
}

static enum ctx_status add_live(struct heap *heap, const struct ctx_heap_life *life, enum moment moment)
{
	struct holding holding = {heap, moment};

	return ctx_heap_life_each(life, add_held, &holding);
}

/* Whether growth is shown: from the end of the first selected interval to that of the last. */
static bool has_growth(const struct heap *heap)
{
	return heap->page.selection->n_intervals > 1;
}

/* A second pass: the blocks that are live at the peak, at the end of the first interval, and at the end. */
static enum ctx_status find_holders(struct heap *heap, struct ctx_heap_life *life)
{
	struct ctx_report_traced traced = heap->page.traced;
	uint64_t first_ns = has_growth(heap) ? heap->page.selection->intervals[0].end_ns : UINT64_MAX;
	enum ctx_status status = CTX_OK;

	life->freed = note_freed;
	life->context = heap;
	for (size_t i = 0; i <= traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = i < traced.n ? &traced.items[i] : NULL;

		if (i == heap->peak_at && heap->peak != 0)
			status = add_live(heap, life, AT_PEAK);
		if (status == CTX_OK && first_ns != UINT64_MAX &&
		    (operation == NULL || operation->time_ns >= first_ns)) {
			ctx_heap_life_until(life, first_ns);
			status = add_live(heap, life, AT_FIRST_END);
			first_ns = UINT64_MAX;
		}
		if (status == CTX_OK && operation != NULL)
			status = ctx_heap_life_step(life, operation, is_wanted(heap, operation));
	}
	/* At the end of the run: what the last processes leave. */
	if (heap->hull.end_ns < heap->page.profile->run.end_ns)
		ctx_heap_life_until(life, heap->hull.end_ns);
	return status == CTX_OK ? add_live(heap, life, AT_LAST_END) : status;
}

static enum ctx_status walk(struct heap *heap,
			    enum ctx_status (*through)(struct heap *heap, struct ctx_heap_life *life))
{
	struct ctx_heap_life life;
	enum ctx_status status = ctx_heap_life_init(&life, heap->page.profile);

	life.sample_bytes = heap->sample_bytes;
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
	uint64_t held = ctx_traced_whole(&page->total, page->total.held);
	char ms[CTX_FIGURE_MAX];

	ctx_figure_fixed(ms, heap->peak_ns, 1000 * 1000, 3);
	ctx_sections_begin(&page->sections, &slice_section,
			   ctx_traced_text(page,
					   "Live bytes: the peak is %" PRIu64 " at %s ms, in %" PRIu64
					   " allocation%s",
					   heap->peak, ms, held, held == 1 ? "" : "s"));
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

static void put_kinds(struct heap *heap)
{
	struct ctx_traced_page *page = &heap->page;

	ctx_sections_begin(&page->sections, &kind_section, NULL);
	for (unsigned i = 0; i < CTX_HEAP_KINDS; i++) {
		struct ctx_cell cells[CTX_TRACED_COLUMNS];

		if (heap->kinds[i].count == 0)
			continue;
		ctx_sections_clear(&page->sections, cells);
		fill(&heap->kinds[i], cells);
		cells[TEMPORARY] = (struct ctx_cell){.kind = CTX_CELL_ABSENT};
		cells[KIND] = ctx_cell_name(ctx_heap_kind_name(i));
		ctx_sections_row_begin(&page->sections, cells, NULL);
		ctx_sections_row_end(&page->sections);
	}
}

static void put_age(struct heap *heap, unsigned i, uint64_t most)
{
	const struct ctx_heap_age *age = &heap->ages.of[i];
	struct ctx_traced_page *page = &heap->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	if (age->number == 0)
		return;
	ctx_sections_clear(&page->sections, cells);
	if (i < CTX_HEAP_AGES - 1) {
		cells[FROM] = ctx_cell_number(ctx_heap_age_first_ns(i));
		cells[TO] = ctx_cell_number(ctx_heap_age_first_ns(i + 1) - 1);
	}
	cells[ALLOCATIONS] = number(&page->total, age->number);
	cells[BYTES] = ctx_cell_number(age->bytes);
	cells[TEXT] = ctx_cell_name(ctx_traced_text(page, "%-16s %s", ctx_heap_age_text(i),
						    ctx_traced_bar(page, age->number, most)));
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

/* The last row is of what was not freed in the selected time, whether its process ended or not. */
static void put_ages(struct heap *heap)
{
	struct ctx_heap_age *last = &heap->ages.of[CTX_HEAP_AGES - 1], blocks = {0};
	uint64_t most = 0;

	for (unsigned i = CTX_HEAP_KIND_MALLOC; i <= CTX_HEAP_KIND_REALLOC; i++) {
		blocks.number += heap->kinds[i].count;
		blocks.bytes += heap->kinds[i].bytes;
	}
	for (unsigned i = 0; i < CTX_HEAP_AGES - 1; i++) {
		blocks.number -= heap->ages.of[i].number;
		blocks.bytes -= heap->ages.of[i].bytes;
	}
	*last = blocks;
	for (unsigned i = 0; i < CTX_HEAP_AGES; i++)
		most = heap->ages.of[i].number > most ? heap->ages.of[i].number : most;
	ctx_sections_begin(&heap->page.sections, &age_section, NULL);
	for (unsigned i = 0; i < CTX_HEAP_AGES; i++)
		put_age(heap, i, most);
}

static void put_grown(struct heap *heap, const struct ctx_traced_group *group)
{
	struct ctx_traced_page *page = &heap->page;
	const struct ctx_traced_sums *sums = group != NULL ? &group->sums : &page->total;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	bool csv = page->out.options->format == CTX_REPORT_CSV;

	ctx_sections_clear(&page->sections, cells);
	cells[FIRST] = ctx_cell_number(sums->first_bytes);
	cells[AT_END] = ctx_cell_number(sums->held_at_end_bytes);
	cells[GROWTH] = ctx_cell_signed((int64_t)(sums->held_at_end_bytes - sums->first_bytes));
	cells[TEXT] = ctx_cell_name(group != NULL ? group->text : "<Total>");
	if (group != NULL && csv)
		cells[STACK] = ctx_stack_joined_cell(&page->out, group->stack, &page->buf);
	ctx_sections_row_begin(&page->sections, cells, NULL);
	if (group != NULL)
		ctx_stack_put_list(&page->out, "stack", group->stack);
	ctx_sections_row_end(&page->sections);
}

static int64_t growth_of(const struct ctx_traced_group *group)
{
	return (int64_t)(group->sums.held_at_end_bytes - group->sums.first_bytes);
}

static int by_growth(const void *left, const void *right)
{
	const struct ctx_traced_group *a = *(const struct ctx_traced_group *const *)left;
	const struct ctx_traced_group *b = *(const struct ctx_traced_group *const *)right;
	int64_t of_a = growth_of(a), of_b = growth_of(b);

	return of_a != of_b ? (of_a > of_b ? -1 : 1) : a->key < b->key ? -1 : a->key > b->key;
}

/* What grew most first, what shrank most last. */
static void put_growth(struct heap *heap)
{
	struct ctx_traced_page *page = &heap->page;
	const struct ctx_traced_groups *stacks = &heap->stacks;
	const struct ctx_traced_group **grown CTX_AUTO_FREE = ctx_calloc(stacks->n + 1, sizeof(*grown));
	size_t n = 0;

	if (!has_growth(heap))
		return;
	if (grown == NULL) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < stacks->n; i++) {
		if (growth_of(&stacks->items[i]) != 0)
			grown[n++] = &stacks->items[i];
	}
	qsort(grown, n, sizeof(*grown), by_growth);
	ctx_sections_begin(&page->sections, &growth_section, NULL);
	put_grown(heap, NULL);
	for (size_t i = 0; i < n && i < page->most; i++)
		put_grown(heap, grown[i]);
	ctx_traced_put_more(page, n, "stack");
}

static void put_tables(struct heap *heap)
{
	static const struct ctx_traced_table stacks = {.what = "stack", .lists = true};
	struct ctx_traced_page *page = &heap->page;

	ctx_traced_note_sampling(page);
	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &heap->stacks);
	ctx_sections_begin(&page->sections, heap->sample_bytes != 0 ? &sampled_section : &stack_section,
			   NULL);
	ctx_traced_put_total(page, add_peak, heap);
	ctx_traced_put_groups(page, &heap->stacks, &stacks);
	put_kinds(heap);
	if (page->total.count == 0)
		return;
	put_growth(heap);
	put_slices(heap);
	ctx_sections_begin(&page->sections, &size_section, NULL);
	ctx_traced_put_histogram(page,
				 &(struct ctx_traced_histogram){.from = FROM, .to = TO, .sums = heap->sizes});
	put_ages(heap);
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
	if (status == CTX_OK)
		heap->sample_bytes = ctx_traced_sample_bytes(&heap->page);
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
