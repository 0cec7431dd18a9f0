#include "base/mem.h"
#include "report/cgroup_cells.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define INNER_COLUMN 2u /* with a heading where a process has such an id */

static const struct ctx_column columns[] = {
	{NULL, "No", CTX_STYLE_COUNT}, /* what --process takes */
	{"process", "PID", CTX_STYLE_COUNT},	[INNER_COLUMN] = {NULL, NULL, CTX_STYLE_COUNT},
	{"parent", "Parent", CTX_STYLE_COUNT},	{NULL, "Begin ms", CTX_STYLE_TIME},
	{NULL, "End ms", CTX_STYLE_TIME},	{NULL, "Exit", CTX_STYLE_COUNT},
	{NULL, "Samples", CTX_STYLE_COUNT},	{NULL, "Weight", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},		{"command", "Command", CTX_STYLE_NAME},
	{"begin", NULL, CTX_STYLE_TIME},	{"end", NULL, CTX_STYLE_TIME},
	{"exit_status", NULL, CTX_STYLE_COUNT}, {"samples", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},	{"lineage", NULL, CTX_STYLE_NAME},
	{"process_id", NULL, CTX_STYLE_COUNT},	{"parent_id", NULL, CTX_STYLE_COUNT},
	{"inner_pid", NULL, CTX_STYLE_COUNT},	{"cgroup", NULL, CTX_STYLE_NAME},
	{"container", NULL, CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {"weight",  "samples",	 "begin",  "end",	  "command",
					"process", "process_id", "parent", "exit_status", NULL};

/* JSON: the images of a process; their numbers are those of threads and of --process. */
static const struct ctx_column image_columns[] = {
	{"process_id", NULL, CTX_STYLE_COUNT}, {"command", NULL, CTX_STYLE_NAME},
	{"begin", NULL, CTX_STYLE_TIME},       {"end", NULL, CTX_STYLE_TIME},
	{"samples", NULL, CTX_STYLE_COUNT},    {"weight", NULL, CTX_STYLE_WEIGHT},
	{"lineage", NULL, CTX_STYLE_NAME},
};

struct use {
	uint64_t samples, weight;
};

/* What is shown, by image. */
struct page {
	const struct ctx_profile *profile;
	bool tells_cgroups;	      /* commands in text have their control group */
	struct use *uses;	      /* owned, as below: of the image */
	struct use *sums;	      /* first images: of the process */
	uint32_t *next;		      /* the next image of the process; CTX_NONE */
	uint32_t *last;		      /* first images: the last one */
	uint32_t *first;	      /* the first one */
	struct ctx_order_item *items; /* of the processes */
	uint32_t n;
};

static void page_deinit(struct page *page)
{
	free(page->uses);
	free(page->sums);
	free(page->next);
	free(page->last);
	free(page->first);
	free(page->items);
}

/* As a shell reports it: the exit code, or 128 and the signal. */
static struct ctx_cell exit_cell(const struct ctx_process_info *process)
{
	int status = process->exit_status;

	if (!process->has_exit_status)
		return ctx_cell_name(NULL);
	return ctx_cell_signed(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static void put_images(const struct page *page, struct ctx_out *out, uint32_t first)
{
	ctx_out_list_begin(out, "images");
	for (uint32_t i = first; i != CTX_NONE; i = page->next[i]) {
		const struct ctx_process_info *info = &page->profile->processes[i];
		const struct ctx_cell cells[CTX_COUNT_OF(image_columns)] = {
			ctx_cell_number(i),
			ctx_cell_name(info->command),
			ctx_cell_number(info->life.begin_ns),
			ctx_cell_number(info->life.end_ns),
			ctx_cell_number(page->uses[i].samples),
			ctx_cell_number(page->uses[i].weight),
			ctx_cell_name(info->lineage),
		};

		ctx_out_list_row(out, image_columns, CTX_COUNT_OF(image_columns), cells);
	}
	ctx_out_list_end(out);
}

static struct ctx_cell parent_cell(const struct page *page, uint32_t parent)
{
	return parent < page->profile->n_processes ? ctx_cell_number(page->first[parent])
						   : ctx_cell_name(NULL);
}

/* A process; in text `number` is that of its only image with samples, CTX_NONE if it has several. */
static void put_row(const struct page *page, struct ctx_out *out, uint32_t first, uint32_t number)
{
	const struct ctx_profile *profile = page->profile;
	const struct ctx_process_info *begin = &profile->processes[first];
	const struct ctx_process_info *end = &profile->processes[page->last[first]];
	const struct use *sum = &page->sums[first];
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		number != CTX_NONE ? ctx_cell_number(number) : ctx_cell_name(NULL),
		ctx_cell_signed(begin->pid),
		ctx_inner_id_cell(end->inner_pid),
		ctx_pid_cell(profile, begin->parent),
		ctx_cell_number(begin->life.begin_ns),
		ctx_cell_number(end->life.end_ns),
		exit_cell(end),
		ctx_cell_number(sum->samples),
		ctx_cell_number(sum->weight),
		ctx_cell_number(sum->weight),
		ctx_cgroup_command_cell(out, end, page->tells_cgroups),
		ctx_cell_number(begin->life.begin_ns),
		ctx_cell_number(end->life.end_ns),
		exit_cell(end),
		ctx_cell_number(sum->samples),
		ctx_cell_number(sum->weight),
		ctx_cell_name(end->lineage),
		ctx_cell_number(first),
		parent_cell(page, begin->parent),
		ctx_inner_id_cell(end->inner_pid),
		ctx_cgroup_cell(end),
		ctx_container_cell(out, end),
	};

	ctx_out_row_begin(out, cells);
	put_images(page, out, first);
	ctx_out_row_end(out);
}

/* In text, below the process: an image that has samples. */
static void put_image_row(const struct page *page, struct ctx_out *out, uint32_t i)
{
	const struct ctx_process_info *info = &page->profile->processes[i];
	const struct use *use = &page->uses[i];
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		[0] = ctx_cell_number(i),
		[4] = ctx_cell_number(info->life.begin_ns),
		[5] = ctx_cell_number(info->life.end_ns),
		[7] = ctx_cell_number(use->samples),
		[8] = ctx_cell_number(use->weight),
		[9] = ctx_cell_number(use->weight),
		[10] = ctx_cell_name(ctx_out_format(out, "  %s", info->command)),
	};

	ctx_out_row(out, cells);
}

/*
 * Of images that are left before they do anything, as between fork and exec, text says nothing; with
 * one that is left the process is one line.
 */
static void put_process(const struct page *page, struct ctx_out *out, uint32_t first)
{
	uint32_t last = page->last[first], only = last, n = 0;

	for (uint32_t i = first; i != CTX_NONE; i = page->next[i]) {
		if (page->uses[i].samples != 0) {
			only = i;
			n++;
		}
	}
	if (n < 2 && only == last) {
		put_row(page, out, first, last);
		return;
	}
	put_row(page, out, first, CTX_NONE);
	for (uint32_t i = first; i != CTX_NONE && ctx_out_is_text(out); i = page->next[i]) {
		if (page->uses[i].samples != 0 || i == last)
			put_image_row(page, out, i);
	}
}

static void sum_threads(struct page *page, const struct ctx_report_thread_sums *sums)
{
	const struct ctx_profile *profile = page->profile;
	bool whole = sums->samples == NULL || sums->weight == NULL;

	for (uint32_t i = 0; i < profile->n_processes && whole; i++)
		page->uses[i] = (struct use){profile->processes[i].samples, profile->processes[i].weight};
	for (uint32_t i = 0; i < profile->n_threads && !whole; i++) {
		uint32_t process = profile->threads[i].process;

		if (process >= profile->n_processes)
			continue;
		page->uses[process].samples += sums->samples[i];
		page->uses[process].weight += sums->weight[i];
	}
}

static struct ctx_order_item sort_item(const struct page *page, uint32_t first, size_t key)
{
	const struct ctx_process_info *begin = &page->profile->processes[first];
	const struct ctx_process_info *end = &page->profile->processes[page->last[first]];
	const uint64_t numbers[] = {
		page->sums[first].weight,
		page->sums[first].samples,
		ctx_order_ascending(begin->life.begin_ns),
		ctx_order_ascending(end->life.end_ns),
		0,
		ctx_order_ascending((uint64_t)begin->pid),
		0, /* as they are numbered */
		ctx_order_ascending(begin->parent < page->profile->n_processes
					    ? (uint64_t)page->profile->processes[begin->parent].pid
					    : 0),
		end->has_exit_status ? exit_cell(end).number + 1 : 0,
	};

	return (struct ctx_order_item){
		.index = first, .number = numbers[key], .text = key == 4 ? end->command : NULL};
}

/* Images follow their process's others by number. */
static void join_images(struct page *page, size_t key)
{
	uint32_t n = page->profile->n_processes;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = page->first[i] = ctx_profile_first_image(page->profile, i);

		page->next[i] = CTX_NONE;
		if (first != i)
			page->next[page->last[first]] = i;
		page->last[first] = i;
		page->sums[first].samples += page->uses[i].samples;
		page->sums[first].weight += page->uses[i].weight;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (page->first[i] == i)
			page->items[page->n++] = sort_item(page, i, key);
	}
}

static enum ctx_status put_page(const struct ctx_out_spec *spec, const struct ctx_report_thread_sums *sums,
				bool tells_cgroups, size_t key, struct ctx_err *err)
{
	struct page page = {.profile = spec->selection->profile, .tells_cgroups = tells_cgroups};
	uint32_t n = page.profile->n_processes, limit = spec->options->limit;
	struct ctx_out out;

	page.uses = ctx_calloc(n, sizeof(*page.uses));
	page.sums = ctx_calloc(n, sizeof(*page.sums));
	page.next = ctx_calloc(n, sizeof(*page.next));
	page.last = ctx_calloc(n, sizeof(*page.last));
	page.first = ctx_calloc(n, sizeof(*page.first));
	page.items = ctx_calloc(n, sizeof(*page.items));
	if (page.uses == NULL || page.sums == NULL || page.next == NULL || page.last == NULL ||
	    page.first == NULL || page.items == NULL) {
		page_deinit(&page);
		return ctx_err_nomem(err);
	}
	sum_threads(&page, sums);
	join_images(&page, key);
	ctx_order_sort(page.items, page.n);
	ctx_out_begin(&out, spec);
	for (uint32_t i = 0; i < page.n && (limit == 0 || i < limit); i++)
		put_process(&page, &out, page.items[i].index);
	ctx_out_section(&out, NULL);
	if (limit != 0 && page.n > limit)
		ctx_out_line(&out, ctx_out_format(&out, "(%" PRIu32 " more processes)", page.n - limit));
	ctx_out_rows_end(&out);
	page_deinit(&page);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_out_spec spec = {
		.kind = &ctx_report_processes, .selection = &source->selection, .options = options};
	const struct ctx_cgroup_columns told = ctx_cgroup_columns(source->selection.profile);
	struct ctx_column shown[CTX_COUNT_OF(columns)];
	struct ctx_report_thread_sums sums;
	size_t key;
	enum ctx_status status = ctx_order_find("processes", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = source->thread_sums(source, &sums, err);
	if (status != CTX_OK)
		return status;
	memcpy(shown, columns, sizeof(columns));
	shown[INNER_COLUMN].title = told.inner_ids ? "Inner" : NULL;
	spec.columns = shown;
	spec.n_columns = CTX_COUNT_OF(shown);
	spec.totals = ctx_totals_of_threads(spec.selection, &sums);
	spec.omitted = sums.omitted;
	return put_page(&spec, &sums, told.cgroups, key, err);
}

const struct ctx_report_kind ctx_report_processes = {
	.name = "processes",
	.no_function = true,
	.sort_exclusive = "weight",
	.sort_inclusive = "weight",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
