/*
 * Cache lines that several threads access, as perf c2c finds them: which offsets, which functions, whether anything is shared but the line.
 */
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"
#include "model/data_source.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINE_BITS 6u
#define LINE_BYTES (UINT64_C(1) << LINE_BITS)

enum {
	SECTION,
	ADDRESS,
	PROCESS,
	MAPPING,
	ACCESSES,
	LOADS,
	STORES,
	MODIFIED,
	LATENCY,
	THREADS,
	OFFSETS,
	SHARING,
	OFFSET,
	THREAD,
	THREAD_NAME,
	FUNCTION,
	TEXT,
	N_COLUMNS
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[ADDRESS] = {"address", NULL, CTX_STYLE_COUNT},
	[PROCESS] = {"process", NULL, CTX_STYLE_COUNT},
	[MAPPING] = {"mapping", NULL, CTX_STYLE_NAME},
	[ACCESSES] = {"accesses", NULL, CTX_STYLE_COUNT},
	[LOADS] = {"loads", NULL, CTX_STYLE_COUNT},
	[STORES] = {"stores", NULL, CTX_STYLE_COUNT},
	[MODIFIED] = {"hit_modified", NULL, CTX_STYLE_COUNT},
	[LATENCY] = {"latency", NULL, CTX_STYLE_COUNT},
	[THREADS] = {"threads", NULL, CTX_STYLE_COUNT},
	[OFFSETS] = {"offsets", NULL, CTX_STYLE_COUNT},
	[SHARING] = {"sharing", NULL, CTX_STYLE_NAME},
	[OFFSET] = {"offset", NULL, CTX_STYLE_COUNT},
	[THREAD] = {"thread", NULL, CTX_STYLE_COUNT},
	[THREAD_NAME] = {"thread_name", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column line_columns[] = {
	{ACCESSES, "Accesses"}, {LOADS, "Loads"},     {STORES, "Stores"},
	{MODIFIED, "Modified"}, {LATENCY, "Latency"}, {THREADS, "Threads"},
	{OFFSETS, "Offsets"},	{SHARING, "Sharing"}, {TEXT, "Line"}};
static const struct ctx_section_column access_columns[] = {
	{ACCESSES, "Accesses"}, {LOADS, "Loads"},   {STORES, "Stores"}, {MODIFIED, "Modified"},
	{LATENCY, "Latency"},	{OFFSET, "Offset"}, {THREAD, "TID"},	{TEXT, "Function"}};
static const struct ctx_section line_section = {"line", NULL, line_columns, CTX_COUNT_OF(line_columns)};
static const struct ctx_section access_section = {"access", NULL, access_columns,
						  CTX_COUNT_OF(access_columns)};

static const char *const sort_keys[] = {"hit_modified", "accesses", "stores", "latency", NULL};

struct sum {
	uint64_t accesses, loads, stores, modified, latency;
};

struct access {
	uint32_t line;	 /* index of its line */
	uint32_t offset; /* in it */
	uint32_t thread, function;
	struct sum sum;
};

struct line {
	uint64_t address; /* of its first byte */
	uint32_t process, file;
	struct sum sum;
	size_t first, n; /* its accesses, once these are sorted and joined */
	uint32_t threads, offsets;
	bool shares; /* an offset is accessed by several threads */
};

struct cachelines {
	struct ctx_traced_page page;
	struct line *lines; /* owned */
	size_t n, cap;
	struct ctx_map64 of_address; /* of lines of one process */
	struct access *accesses;     /* owned */
	size_t n_accesses, accesses_cap;
};

static uint64_t sum_value(const struct sum *sum, size_t key)
{
	const uint64_t values[] = {sum->modified, sum->accesses, sum->stores, sum->latency};

	return values[key];
}

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	(void)key;
	return sums->count;
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[ACCESSES] = ctx_cell_number(sums->count);
}

static const struct ctx_traced_report line_report = {.report = &ctx_report_cachelines,
						     .kind = CTX_TRACED_MEMORY,
						     .topic = "Memory accesses",
						     .unit = CTX_UNIT_EVENTS,
						     .counted = "accesses",
						     .stack = FUNCTION,
						     .text = TEXT,
						     .number_width = 60,
						     .sort_keys = sort_keys,
						     .value = value,
						     .fill = fill};

/* ---- sums ---- */

static void join(struct sum *to, const struct sum *from)
{
	to->accesses += from->accesses;
	to->loads += from->loads;
	to->stores += from->stores;
	to->modified += from->modified;
	to->latency += from->latency;
}

static struct sum sum_of(const struct ctx_traced *access)
{
	unsigned operation = access->operation;

	return (struct sum){
		.accesses = 1,
		.loads = operation == CTX_MEMORY_LOAD || operation == CTX_MEMORY_LOAD_STORE,
		.stores = operation == CTX_MEMORY_STORE || operation == CTX_MEMORY_LOAD_STORE,
		.modified = ctx_data_snoop_of(access->detail) == CTX_SNOOP_HITM,
		.latency = access->latency,
	};
}

/* The index of its line: addresses are those of its process. A key of both; equal ones are compared. */
static uint32_t *line_place(struct cachelines *all, uint64_t address, uint32_t process)
{
	uint64_t key = address ^ ctx_hash64(process);

	for (;; key = ctx_hash64(key + 1)) {
		uint32_t *place = ctx_map64_place(&all->of_address, key);

		if (place == NULL || *place == CTX_MAP64_NONE ||
		    (all->lines[*place].address == address && all->lines[*place].process == process))
			return place;
	}
}

static enum ctx_status add(struct cachelines *all, const struct ctx_traced *access)
{
	const struct ctx_profile *profile = all->page.profile;
	uint64_t address = access->address & ~(LINE_BYTES - 1);
	uint32_t process = ctx_profile_process_of(profile, access->thread), *place;
	struct sum sum = sum_of(access);

	if (ctx_grow(&all->lines, &all->cap, all->n + 1, NULL) != CTX_OK ||
	    ctx_grow(&all->accesses, &all->accesses_cap, all->n_accesses + 1, NULL) != CTX_OK)
		return CTX_E_NOMEM;
	place = line_place(all, address, process);
	if (place == NULL)
		return CTX_E_NOMEM;
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)all->n;
		all->lines[all->n++] =
			(struct line){.address = address, .process = process, .file = access->file};
	}
	join(&all->lines[*place].sum, &sum);
	all->accesses[all->n_accesses++] = (struct access){
		.line = *place,
		.offset = (uint32_t)(access->address & (LINE_BYTES - 1)),
		.thread = access->thread,
		.function = access->stack != CTX_TRIE_ROOT && access->stack < profile->cct.n
				    ? profile->cct.key[access->stack]
				    : CTX_NONE,
		.sum = sum,
	};
	return CTX_OK;
}

static int by_place(const void *a, const void *b)
{
	const struct access *left = a, *right = b;
	const uint32_t keys[][2] = {{left->line, right->line},
				    {left->offset, right->offset},
				    {left->thread, right->thread},
				    {left->function, right->function}};

	for (size_t i = 0; i < CTX_COUNT_OF(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

/* Equal places become one; the lines get their parts. */
static void join_accesses(struct cachelines *all)
{
	size_t n = 0;

	if (all->n_accesses == 0)
		return;
	qsort(all->accesses, all->n_accesses, sizeof(*all->accesses), by_place);
	for (size_t i = 0; i < all->n_accesses; i++) {
		struct line *line = &all->lines[all->accesses[i].line];

		if (n != 0 && by_place(&all->accesses[n - 1], &all->accesses[i]) == 0) {
			join(&all->accesses[n - 1].sum, &all->accesses[i].sum);
			continue;
		}
		if (line->n++ == 0)
			line->first = n;
		all->accesses[n++] = all->accesses[i];
	}
	all->n_accesses = n;
}

/* Its accesses are by offset, then by thread. O(n^2) for the threads of a line, of which there are few. */
static void count_threads(const struct cachelines *all, struct line *line)
{
	const struct access *accesses = &all->accesses[line->first];

	for (size_t i = 0; i < line->n; i++) {
		bool is_new = true;

		if (i == 0 || accesses[i].offset != accesses[i - 1].offset)
			line->offsets++;
		else if (accesses[i].thread != accesses[i - 1].thread)
			line->shares = true;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = accesses[k].thread != accesses[i].thread;
		line->threads += is_new;
	}
}

static enum ctx_status collect(struct cachelines *all)
{
	struct ctx_report_traced traced = all->page.traced;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		if (!ctx_traced_passes(&all->page, &traced.items[i]))
			continue;
		all->page.total.count++;
		status = add(all, &traced.items[i]);
	}
	join_accesses(all);
	for (size_t i = 0; i < all->n; i++)
		count_threads(all, &all->lines[i]);
	return status;
}

/* ---- rows ---- */

static void put_sum(const struct sum *sum, struct ctx_cell *cells)
{
	cells[ACCESSES] = ctx_cell_number(sum->accesses);
	cells[LOADS] = ctx_cell_number(sum->loads);
	cells[STORES] = ctx_cell_number(sum->stores);
	cells[MODIFIED] = ctx_cell_number(sum->modified);
	cells[LATENCY] = ctx_cell_number(sum->latency);
}

static void put_line(struct cachelines *all, const struct line *line)
{
	const struct ctx_profile *profile = all->page.profile;
	const char *file = line->file < profile->n_files ? profile->files[line->file] : NULL;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&all->page.sections, cells);
	put_sum(&line->sum, cells);
	cells[ADDRESS] = ctx_cell_number(line->address);
	cells[PROCESS] = ctx_pid_cell(profile, line->process);
	cells[MAPPING] = ctx_cell_name(file);
	cells[THREADS] = ctx_cell_number(line->threads);
	cells[OFFSETS] = ctx_cell_number(line->offsets);
	cells[SHARING] = ctx_cell_name(line->shares ? "true" : "false");
	cells[TEXT] = ctx_cell_name(ctx_traced_text(&all->page, "0x%" PRIx64 " %s", line->address,
						    file != NULL ? file : "<no map recorded>"));
	ctx_sections_row_begin(&all->page.sections, cells, NULL);
	ctx_sections_row_end(&all->page.sections);
}

static void put_access(struct cachelines *all, const struct line *line, const struct access *access)
{
	const struct ctx_profile *profile = all->page.profile;
	struct ctx_cell cells[CTX_TRACED_COLUMNS], function = ctx_function_cell(profile, access->function);

	if (access->function == CTX_NONE)
		function = ctx_cell_name("<no call stack>");
	ctx_sections_clear(&all->page.sections, cells);
	put_sum(&access->sum, cells);
	cells[ADDRESS] = ctx_cell_number(line->address);
	cells[PROCESS] = ctx_pid_cell(profile, line->process);
	cells[OFFSET] = ctx_cell_number(access->offset);
	cells[THREAD] = ctx_cell_signed(profile->threads[access->thread].tid);
	cells[THREAD_NAME] = ctx_cell_name(profile->threads[access->thread].name);
	cells[FUNCTION] = ctx_cell_name(function.name);
	cells[TEXT] = function;
	ctx_sections_row_begin(&all->page.sections, cells, NULL);
	ctx_sections_row_end(&all->page.sections);
}

/* The lines, then each with its accesses. */
static void put_lines(struct cachelines *all, const struct ctx_order_item *items, size_t n)
{
	struct ctx_traced_page *page = &all->page;

	ctx_sections_begin(&page->sections, &line_section, NULL);
	for (size_t i = 0; i < n && i < page->most; i++)
		put_line(all, &all->lines[items[i].index]);
	ctx_traced_put_more(page, n, "line");
	for (size_t i = 0; i < n && i < page->most; i++) {
		const struct line *line = &all->lines[items[i].index];

		ctx_sections_begin(&page->sections, &access_section,
				   ctx_traced_text(page, "Line 0x%" PRIx64, line->address));
		for (size_t k = 0; k < line->n; k++)
			put_access(all, line, &all->accesses[line->first + k]);
	}
}

static void put_tables(struct cachelines *all)
{
	struct ctx_traced_page *page = &all->page;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(all->n + 1, sizeof(*items));
	size_t n = 0;

	page->topic.totals.weight = page->total.count;
	page->topic.note = page->topic.note != NULL ? page->topic.note
						    : "only lines that several threads of a process access; "
						      "sharing false: no two of them the same bytes";
	ctx_traced_page_begin(page);
	if (items == NULL) {
		ctx_out_fail(&page->out, CTX_E_NOMEM);
		return;
	}
	for (uint32_t i = 0; i < all->n; i++) {
		if (all->lines[i].threads < 2)
			continue;
		items[n++] = (struct ctx_order_item){.index = i,
						     .number = sum_value(&all->lines[i].sum, page->key),
						     .second = all->lines[i].sum.accesses};
	}
	ctx_order_sort(items, n);
	put_lines(all, items, n);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct cachelines *all CTX_AUTO_FREE = ctx_calloc(1, sizeof(*all));
	enum ctx_status status;

	if (all == NULL)
		return ctx_err_nomem(err);
	status = ctx_traced_page_init(&all->page, &line_report, source, options, err);
	if (status == CTX_OK && collect(all) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		put_tables(all);
		status = ctx_traced_page_end(&all->page, err);
	}
	free(all->lines);
	free(all->accesses);
	ctx_map64_deinit(&all->of_address);
	ctx_traced_page_deinit(&all->page);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"c2c", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_cachelines = {
	.name = "cachelines",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_MEMORY,
	.aliases = aliases,
	.columns = columns,
	.n_columns = N_COLUMNS,
	.print = print,
};
