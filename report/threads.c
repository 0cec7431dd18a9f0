#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/part_cells.h"

static const struct ctx_column columns[] = {
	{NULL, "No", CTX_STYLE_COUNT}, /* what --thread takes */
	{"process", "PID", CTX_STYLE_COUNT},   {"thread", "TID", CTX_STYLE_COUNT},
	{NULL, "Begin ms", CTX_STYLE_TIME},    {NULL, "End ms", CTX_STYLE_TIME},
	{NULL, "Samples", CTX_STYLE_COUNT},    {NULL, "Weight", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},	       {"name", "Name", CTX_STYLE_NAME},
	{"begin", NULL, CTX_STYLE_TIME},       {"end", NULL, CTX_STYLE_TIME},
	{"samples", NULL, CTX_STYLE_COUNT},    {"weight", NULL, CTX_STYLE_WEIGHT},
	{"process_id", NULL, CTX_STYLE_COUNT}, {"thread_id", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {"weight", "samples", "begin",  "end",
					"name",	  "process", "thread", NULL};

static uint64_t samples_of(const struct ctx_report_input *input, uint32_t thread)
{
	return input->thread_samples != NULL ? input->thread_samples[thread]
					     : input->profile->threads[thread].samples;
}

static uint64_t weight_of(const struct ctx_report_input *input, uint32_t thread)
{
	return input->thread_weight != NULL ? input->thread_weight[thread]
					    : input->profile->threads[thread].weight;
}

static void put_row(struct ctx_out *out, uint32_t thread)
{
	const struct ctx_profile *profile = out->input->profile;
	const struct ctx_thread_info *info = &profile->threads[thread];
	uint64_t samples = samples_of(out->input, thread), weight = weight_of(out->input, thread);
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(thread),
		ctx_pid_cell(profile, info->process),
		ctx_cell_signed(info->tid),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		ctx_cell_number(samples),
		ctx_cell_number(weight),
		ctx_cell_number(weight),
		ctx_cell_name(info->name),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		ctx_cell_number(samples),
		ctx_cell_number(weight),
		ctx_cell_number(info->process),
		ctx_cell_number(thread),
	};

	ctx_out_row(out, cells);
}

static struct ctx_order_item sort_item(const struct ctx_report_input *input, uint32_t thread, size_t key)
{
	const struct ctx_thread_info *info = &input->profile->threads[thread];
	const uint64_t numbers[] = {
		weight_of(input, thread),
		samples_of(input, thread),
		ctx_order_ascending(info->life.begin_ns),
		ctx_order_ascending(info->life.end_ns),
		0,
		ctx_order_ascending(info->process),
		ctx_order_ascending((uint64_t)info->tid),
	};

	return (struct ctx_order_item){
		.index = thread, .number = numbers[key], .text = key == 4 ? info->name : NULL};
}

static size_t select_threads(const struct ctx_report_input *input, size_t key, struct ctx_order_item *items)
{
	uint32_t n_threads = input->profile->n_threads;
	size_t n = 0;

	for (uint32_t i = 0; input->threads == NULL && i < n_threads; i++)
		items[n++] = sort_item(input, i, key);
	for (size_t i = 0; input->threads != NULL && i < input->n_threads && n < n_threads; i++) {
		if (input->threads[i] < n_threads)
			items[n++] = sort_item(input, input->threads[i], key);
	}
	ctx_order_sort(items, n);
	return n;
}

enum ctx_status ctx_report_threads(const struct ctx_report_input *input,
				   const struct ctx_report_options *options, struct ctx_err *err)
{
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(input->profile->n_threads, sizeof(*items));
	struct ctx_out out;
	size_t key, n;
	enum ctx_status status = ctx_order_find("threads", options->sort, sort_keys, &key, err);

	if (status != CTX_OK)
		return status;
	if (items == NULL)
		return ctx_err_nomem(err);
	n = select_threads(input, key, items);
	ctx_out_begin(&out, input, options, "threads", columns, CTX_COUNT_OF(columns));
	for (size_t i = 0; i < n && (options->limit == 0 || i < options->limit); i++)
		put_row(&out, items[i].index);
	ctx_out_section(&out, NULL);
	if (options->limit != 0 && n > options->limit)
		ctx_out_more(&out, n - options->limit, "thread");
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}
