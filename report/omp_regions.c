/*
 * Parallel regions of OpenMP: how long they took, what the threads of their teams did, and how evenly they worked.
 *
 *	executions, one by one --> sums by the region's function
 *
 * Of an execution with n threads: n times its elapsed time is work, wait and overhead; its imbalance is the longest
 * work of a thread less the mean; without waits it could be as fast as its work divided by the longest.
 */
#include "report/kinds.h"
#include "report/omp_page.h"
#include "report/out.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/omp.h"

#include <stdlib.h>
#include <string.h>

enum {
	SECTION,
	FUNCTION,
	OBJECT,
	SOURCE_FILE,
	LINE,
	EXECUTIONS,
	THREADS,
	ELAPSED_NS,
	WORK_NS,
	WAIT_NS,
	OVERHEAD_NS,
	IMBALANCE_NS,
	IMBALANCE_MEAN_NS,
	IMBALANCE_MAX_NS,
	IMBALANCE,
	WAIT_SHARE,
	BOUND,
	SCHEDULE,
	CHUNK,
	/* Of text: times in the unit that fits. */
	ELAPSED_TEXT,
	WORK_TEXT,
	WAIT_TEXT,
	OVERHEAD_TEXT,
	IMBALANCE_TEXT,
	MEAN_TEXT,
	MAX_TEXT,
	WAIT_SHARE_TEXT,
	SCHEDULE_TEXT,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[SOURCE_FILE] = {"file", NULL, CTX_STYLE_NAME},
	[LINE] = {"line", NULL, CTX_STYLE_COUNT},
	[EXECUTIONS] = {"executions", NULL, CTX_STYLE_COUNT},
	[THREADS] = {"threads", NULL, CTX_STYLE_COUNT},
	[ELAPSED_NS] = {"elapsed_ns", NULL, CTX_STYLE_TIME},
	[WORK_NS] = {"work_ns", NULL, CTX_STYLE_TIME},
	[WAIT_NS] = {"wait_ns", NULL, CTX_STYLE_TIME},
	[OVERHEAD_NS] = {"overhead_ns", NULL, CTX_STYLE_TIME},
	[IMBALANCE_NS] = {"imbalance_ns", NULL, CTX_STYLE_TIME},
	[IMBALANCE_MEAN_NS] = {"imbalance_mean_ns", NULL, CTX_STYLE_TIME},
	[IMBALANCE_MAX_NS] = {"imbalance_max_ns", NULL, CTX_STYLE_TIME},
	[IMBALANCE] = {"imbalance", NULL, CTX_STYLE_COUNT},
	[WAIT_SHARE] = {"wait_percent", NULL, CTX_STYLE_COUNT},
	[BOUND] = {"bound", NULL, CTX_STYLE_COUNT},
	[SCHEDULE] = {"schedule", NULL, CTX_STYLE_NAME},
	[CHUNK] = {"chunk", NULL, CTX_STYLE_COUNT},
	[ELAPSED_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[WORK_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[WAIT_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[OVERHEAD_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[IMBALANCE_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[MEAN_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[MAX_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[WAIT_SHARE_TEXT] = {NULL, NULL, CTX_STYLE_COUNT},
	[SCHEDULE_TEXT] = {NULL, NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column shown[] = {{EXECUTIONS, "Runs"},
						  {THREADS, "Threads"},
						  {ELAPSED_TEXT, "Elapsed"},
						  {WORK_TEXT, "Work"},
						  {WAIT_TEXT, "Wait"},
						  {WAIT_SHARE_TEXT, "Wait %"},
						  {OVERHEAD_TEXT, "Overhead"},
						  {IMBALANCE_TEXT, "Imbalance"},
						  {MEAN_TEXT, "Mean"},
						  {MAX_TEXT, "Most"},
						  {BOUND, "Bound"},
						  {SCHEDULE_TEXT, "Schedule"},
						  {TEXT, "Region"}};

static const struct ctx_section section = {"region", NULL, shown, CTX_COUNT_OF(shown)};

static const char *const sort_keys[] = {"elapsed_ns",  "imbalance_ns", "wait_ns", "work_ns",
					"overhead_ns", "executions",   NULL};

static const struct ctx_traced_report regions_report = {.report = &ctx_report_omp_regions,
							.kind = CTX_TRACED_OMP,
							.topic = "Parallel regions",
							.unit = CTX_UNIT_NS,
							.counted = "executions of parallel regions",
							.stack = TEXT,
							.text = TEXT,
							.number_width = 110,
							.sort_keys = sort_keys};

struct region {
	struct ctx_omp_place place;
	uint64_t executions, threads;
	uint64_t elapsed_ns, work_ns, wait_ns, overhead_ns;
	uint64_t longest_ns;  /* the sum of the longest works of each execution */
	const char *schedule; /* of the loops in it: "dynamic, 16"; NULL unknown. Borrowed from the profile */
	double imbalance_ns, imbalance_max_ns;
};

struct regions {
	struct ctx_traced_page page;
	struct ctx_map64 numbers; /* by function of the CCT node */
	struct region *items;
	size_t n, cap;
};

/* NULL: no memory. */
static struct region *region_of(struct regions *regions, const struct ctx_code *code,
				const struct ctx_traced *operation)
{
	const struct ctx_trie *cct = &regions->page.profile->cct;
	uint32_t function = operation->stack < cct->n ? cct->key[operation->stack] : CTX_NONE;
	uint32_t number = ctx_traced_number(&regions->numbers, function);

	if (number == CTX_MAP64_NONE ||
	    ctx_grow(&regions->items, &regions->cap, regions->n + 1, NULL) != CTX_OK)
		return NULL;
	if (number == regions->n)
		regions->items[regions->n++] =
			(struct region){.place = ctx_omp_place_of(regions->page.profile, code, operation)};
	return &regions->items[number];
}

/* Executions may have different ones. */
static void add_schedule(struct region *region, const char *schedule)
{
	if (region->schedule == NULL)
		region->schedule = schedule;
	else if (schedule != NULL && strcmp(region->schedule, schedule) != 0)
		region->schedule = CTX_OMP_SEVERAL;
}

static void add(struct region *region, const struct ctx_traced *operation)
{
	uint64_t threads = ctx_omp_team(operation);
	uint64_t inside_ns = operation->self_ns + operation->off_ns,
		 all_ns = threads * operation->duration_ns;
	double imbalance = ctx_omp_imbalance_ns(operation);

	region->executions++;
	region->threads = threads > region->threads ? threads : region->threads;
	region->elapsed_ns += operation->duration_ns;
	region->work_ns += operation->self_ns;
	region->wait_ns += operation->off_ns;
	region->overhead_ns += all_ns > inside_ns ? all_ns - inside_ns : 0;
	region->longest_ns += operation->longest_ns;
	region->imbalance_ns += imbalance;
	region->imbalance_max_ns =
		imbalance > region->imbalance_max_ns ? imbalance : region->imbalance_max_ns;
}

static enum ctx_status collect(struct regions *regions, struct ctx_report_source *source, struct ctx_err *err)
{
	const struct ctx_report_traced *traced = &regions->page.traced;
	struct ctx_report_code code = {0};
	enum ctx_status status = source->code(source, &code, err);

	for (size_t i = 0; i < traced->n && status == CTX_OK; i++) {
		struct region *region;

		if (!ctx_omp_is_shown(&regions->page, &traced->items[i], CTX_OMP_OF_REGION))
			continue;
		region = region_of(regions, code.code, &traced->items[i]);
		if (region == NULL)
			return ctx_err_nomem(err);
		add(region, &traced->items[i]);
		if (traced->items[i].file < regions->page.profile->n_files)
			add_schedule(region, regions->page.profile->files[traced->items[i].file]);
		regions->page.total.count++;
		regions->page.topic.totals.weight += traced->items[i].duration_ns;
	}
	return status;
}

/* "dynamic, 16": what it is, and how many iterations a thread gets at once. */
static void put_schedule(struct ctx_traced_page *page, const char *schedule, struct ctx_cell *cells)
{
	const char *comma = strchr(schedule, ',');
	size_t n = comma != NULL ? (size_t)(comma - schedule) : strlen(schedule);

	cells[SCHEDULE_TEXT] = ctx_cell_name(schedule);
	cells[SCHEDULE] = ctx_cell_name(ctx_traced_text(page, "%.*s", (int)n, schedule));
	if (comma != NULL)
		cells[CHUNK] = ctx_cell_number(strtoull(comma + 1, NULL, 10));
}

static void put(void *context, size_t row)
{
	struct regions *regions = context;
	const struct region *region = &regions->items[row];
	struct ctx_traced_page *page = &regions->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	uint64_t all_ns = region->work_ns + region->wait_ns + region->overhead_ns;

	ctx_sections_clear(&page->sections, cells);
	cells[FUNCTION] = ctx_cell_name(region->place.function);
	cells[TEXT] = ctx_cell_name(ctx_omp_place_text(page, &region->place));
	cells[OBJECT] = ctx_cell_name(region->place.object);
	if (region->place.file != NULL)
		cells[SOURCE_FILE] = ctx_cell_name(region->place.file);
	if (region->place.line != 0)
		cells[LINE] = ctx_cell_number(region->place.line);
	if (region->schedule != NULL)
		put_schedule(page, region->schedule, cells);
	cells[EXECUTIONS] = ctx_cell_number(region->executions);
	cells[THREADS] = ctx_cell_number(region->threads);
	ctx_traced_set_time(page, &cells[ELAPSED_NS], &cells[ELAPSED_TEXT], region->elapsed_ns);
	ctx_traced_set_time(page, &cells[WORK_NS], &cells[WORK_TEXT], region->work_ns);
	ctx_traced_set_time(page, &cells[WAIT_NS], &cells[WAIT_TEXT], region->wait_ns);
	ctx_traced_set_time(page, &cells[OVERHEAD_NS], &cells[OVERHEAD_TEXT], region->overhead_ns);
	ctx_traced_set_time(page, &cells[IMBALANCE_NS], &cells[IMBALANCE_TEXT],
			    (uint64_t)(region->imbalance_ns + 0.5));
	ctx_traced_set_time(page, &cells[IMBALANCE_MEAN_NS], &cells[MEAN_TEXT],
			    (uint64_t)(region->imbalance_ns / (double)region->executions + 0.5));
	ctx_traced_set_time(page, &cells[IMBALANCE_MAX_NS], &cells[MAX_TEXT],
			    (uint64_t)(region->imbalance_max_ns + 0.5));
	/* Of the time that the longest took. */
	cells[IMBALANCE] = ctx_cell_figure(ctx_traced_text(
		page, "%.4f",
		region->longest_ns != 0 ? region->imbalance_ns / (double)region->longest_ns : 0.0));
	cells[WAIT_SHARE] = ctx_cell_figure(ctx_traced_text(
		page, "%.2f", all_ns != 0 ? 100.0 * (double)region->wait_ns / (double)all_ns : 0.0));
	cells[WAIT_SHARE_TEXT] = cells[WAIT_SHARE];
	cells[BOUND] = ctx_cell_figure(ctx_traced_text(
		page, "%.3f",
		region->longest_ns != 0 ? (double)region->work_ns / (double)region->longest_ns : 0.0));
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

static bool order(const void *context, size_t row, struct ctx_order_item *item)
{
	const struct regions *regions = context;
	const struct region *region = &regions->items[row];
	const uint64_t values[] = {region->elapsed_ns,	(uint64_t)(region->imbalance_ns + 0.5),
				   region->wait_ns,	region->work_ns,
				   region->overhead_ns, region->executions};

	item->number = values[regions->page.key];
	item->second = region->executions;
	return true;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct regions regions = {0};
	enum ctx_status status = ctx_traced_page_init(&regions.page, &regions_report, source, options, err);

	if (status == CTX_OK)
		status = collect(&regions, source, err);
	if (status == CTX_OK) {
		ctx_traced_page_begin(&regions.page);
		ctx_sections_begin(&regions.page.sections, &section, NULL);
		ctx_traced_put_rows(&regions.page, &(struct ctx_traced_rows){.what = "region",
									     .n = regions.n,
									     .order = order,
									     .put = put,
									     .context = &regions});
		status = ctx_traced_page_end(&regions.page, err);
	}
	ctx_map64_deinit(&regions.numbers);
	free(regions.items);
	ctx_traced_page_deinit(&regions.page);
	return status;
}

const struct ctx_report_kind ctx_report_omp_regions = {
	.name = "omp-regions",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_OMP,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
