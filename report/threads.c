#include "base/mem.h"
#include "report/cgroup_cells.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <string.h>

#define INNER_COLUMN 3u /* with a heading where a thread has such an id */
#define VM_COLUMN 7u	/* the first of three, with headings where there are virtual machines */

static const struct ctx_column columns[] = {
	{NULL, "No", CTX_STYLE_COUNT}, /* what --thread takes */
	{"process", "PID", CTX_STYLE_COUNT},
	{"thread", "TID", CTX_STYLE_COUNT},
	[INNER_COLUMN] = {NULL, NULL, CTX_STYLE_COUNT},
	{NULL, "Begin ms", CTX_STYLE_TIME},
	{NULL, "End ms", CTX_STYLE_TIME},
	{NULL, "Samples", CTX_STYLE_COUNT},
	[VM_COLUMN] = {NULL, NULL, CTX_STYLE_COUNT},
	{NULL, NULL, CTX_STYLE_COUNT},
	{NULL, NULL, CTX_STYLE_COUNT},
	{NULL, "Weight", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{"name", "Name", CTX_STYLE_NAME},
	{"begin", NULL, CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},
	{"samples", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},
	{"process_id", NULL, CTX_STYLE_COUNT},
	{"thread_id", NULL, CTX_STYLE_COUNT},
	{"inner_tid", NULL, CTX_STYLE_COUNT},
	{"inside_samples", NULL, CTX_STYLE_COUNT},
	{"outside_samples", NULL, CTX_STYLE_COUNT},
	{"gc_samples", NULL, CTX_STYLE_COUNT},
};

static const char *const vm_titles[] = {"Inside", "GC", "Outside"};

static const char *const sort_keys[] = {"weight",  "samples", "begin",	   "end", "name",
					"process", "thread",  "thread_id", NULL};

struct page {
	struct ctx_out *out;
	const struct ctx_report_selection *selection;
	struct ctx_report_thread_sums sums;
	struct ctx_report_vm_samples vm;
};

static uint64_t samples_of(const struct page *page, uint32_t thread)
{
	return page->sums.samples != NULL ? page->sums.samples[thread]
					  : page->selection->profile->threads[thread].samples;
}

static uint64_t weight_of(const struct page *page, uint32_t thread)
{
	return page->sums.weight != NULL ? page->sums.weight[thread]
					 : page->selection->profile->threads[thread].weight;
}

static struct ctx_cell vm_cell(const uint64_t *samples, uint32_t thread)
{
	return samples != NULL ? ctx_cell_number(samples[thread]) : ctx_cell_name(NULL);
}

static void put_row(const struct page *page, uint32_t thread)
{
	const struct ctx_profile *profile = page->selection->profile;
	const struct ctx_thread_info *info = &profile->threads[thread];
	uint64_t samples = samples_of(page, thread), weight = weight_of(page, thread);
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(thread),
		ctx_pid_cell(profile, info->process),
		ctx_cell_signed(info->tid),
		ctx_inner_id_cell(info->inner_tid),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		ctx_cell_number(samples),
		vm_cell(page->vm.inside, thread),
		vm_cell(page->vm.gc, thread),
		vm_cell(page->vm.outside, thread),
		ctx_cell_number(weight),
		ctx_cell_number(weight),
		ctx_cell_name(info->name),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		ctx_cell_number(samples),
		ctx_cell_number(weight),
		ctx_cell_number(info->process),
		ctx_cell_number(thread),
		ctx_inner_id_cell(info->inner_tid),
		vm_cell(page->vm.inside, thread),
		vm_cell(page->vm.outside, thread),
		vm_cell(page->vm.gc, thread),
	};

	ctx_out_row(page->out, cells);
}

static struct ctx_order_item sort_item(const struct page *page, uint32_t thread, size_t key)
{
	const struct ctx_thread_info *info = &page->selection->profile->threads[thread];
	const uint64_t numbers[] = {
		weight_of(page, thread),
		samples_of(page, thread),
		ctx_order_ascending(info->life.begin_ns),
		ctx_order_ascending(info->life.end_ns),
		0,
		ctx_order_ascending(info->process),
		ctx_order_ascending((uint64_t)info->tid),
		0, /* as they are numbered */
	};

	return (struct ctx_order_item){
		.index = thread, .number = numbers[key], .text = key == 4 ? info->name : NULL};
}

static size_t select_threads(const struct page *page, size_t key, struct ctx_order_item *items)
{
	const struct ctx_report_selection *selection = page->selection;
	uint32_t n_threads = selection->profile->n_threads;
	size_t n = 0;

	for (uint32_t i = 0; selection->threads == NULL && i < n_threads; i++)
		items[n++] = sort_item(page, i, key);
	for (size_t i = 0; selection->threads != NULL && i < selection->n_threads && n < n_threads; i++) {
		if (selection->threads[i] < n_threads)
			items[n++] = sort_item(page, selection->threads[i], key);
	}
	ctx_order_sort(items, n);
	return n;
}

static enum ctx_status put_page(struct page *page, const struct ctx_out_spec *spec, size_t key,
				struct ctx_err *err)
{
	uint32_t limit = spec->options->limit, n_threads = spec->selection->profile->n_threads;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n_threads, sizeof(*items));
	struct ctx_out out;
	size_t n;

	if (items == NULL)
		return ctx_err_nomem(err);
	page->out = &out;
	n = select_threads(page, key, items);
	ctx_out_begin(&out, spec);
	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++)
		put_row(page, items[i].index);
	ctx_out_section(&out, NULL);
	if (limit != 0 && n > limit)
		ctx_out_more(&out, n - limit, "thread");
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_out_spec spec = {
		.kind = &ctx_report_threads, .selection = &source->selection, .options = options};
	struct page page = {.selection = &source->selection};
	struct ctx_column shown[CTX_COUNT_OF(columns)];
	struct ctx_report_parts parts;
	size_t key;
	enum ctx_status status = ctx_order_find("threads", options->sort, sort_keys, &key, err);

	/* The report header counts truncated stacks too. */
	if (status == CTX_OK)
		status = source->parts(source, &(struct ctx_parts_query){.per_thread = options->per_thread},
				       &parts, err);
	if (status == CTX_OK)
		status = source->thread_sums(source, &page.sums, err);
	if (status == CTX_OK)
		status = source->vm_samples(source, &page.vm, err);
	if (status != CTX_OK)
		return status;
	ctx_out_spec_parts(&spec, &parts);
	memcpy(shown, columns, sizeof(columns));
	if (ctx_cgroup_columns(source->selection.profile).inner_ids)
		shown[INNER_COLUMN].title = "Inner";
	for (size_t i = 0; i < CTX_COUNT_OF(vm_titles) && page.vm.inside != NULL; i++)
		shown[VM_COLUMN + i].title = vm_titles[i];
	spec.columns = shown;
	spec.n_columns = CTX_COUNT_OF(shown);
	return put_page(&page, &spec, key, err);
}

static const struct ctx_report_alias aliases[] = {
	{"thread-list", false}, {"lwps", false}, {"lwp-list", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_threads = {
	.name = "threads",
	.no_function = true,
	.sort_exclusive = "weight",
	.sort_inclusive = "weight",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
