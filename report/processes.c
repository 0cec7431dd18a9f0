#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <sys/wait.h>

static const struct ctx_column columns[] = {
	{NULL, "No", CTX_STYLE_COUNT}, /* what --process takes */
	{"process", "PID", CTX_STYLE_COUNT},	{"parent", "Parent", CTX_STYLE_COUNT},
	{NULL, "Begin ms", CTX_STYLE_TIME},	{NULL, "End ms", CTX_STYLE_TIME},
	{NULL, "Exit", CTX_STYLE_COUNT},	{NULL, "Samples", CTX_STYLE_COUNT},
	{NULL, "Weight", CTX_STYLE_WEIGHT},	{NULL, "%", CTX_STYLE_PERCENT},
	{"command", "Command", CTX_STYLE_NAME}, {"begin", NULL, CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},		{"exit_status", NULL, CTX_STYLE_COUNT},
	{"samples", NULL, CTX_STYLE_COUNT},	{"weight", NULL, CTX_STYLE_WEIGHT},
	{"lineage", NULL, CTX_STYLE_NAME},	{"process_id", NULL, CTX_STYLE_COUNT},
	{"parent_id", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {"weight",  "samples", "begin",	    "end",
					"command", "process", "process_id", NULL};

struct use {
	uint64_t samples, weight;
};

/* As a shell reports it: the exit code, or 128 and the signal. */
static struct ctx_cell exit_cell(const struct ctx_process_info *process)
{
	int status = process->exit_status;

	if (!process->has_exit_status)
		return ctx_cell_name(NULL);
	return ctx_cell_signed(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static void put_row(struct ctx_out *out, const struct use *uses, uint32_t i)
{
	const struct ctx_profile *profile = out->profile;
	const struct ctx_process_info *info = &profile->processes[i];
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(i),
		ctx_cell_signed(info->pid),
		ctx_pid_cell(profile, info->parent),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		exit_cell(info),
		ctx_cell_number(uses[i].samples),
		ctx_cell_number(uses[i].weight),
		ctx_cell_number(uses[i].weight),
		ctx_cell_name(info->command),
		ctx_cell_number(info->life.begin_ns),
		ctx_cell_number(info->life.end_ns),
		exit_cell(info),
		ctx_cell_number(uses[i].samples),
		ctx_cell_number(uses[i].weight),
		ctx_cell_name(info->lineage),
		ctx_cell_number(i),
		info->parent < profile->n_processes ? ctx_cell_number(info->parent) : ctx_cell_name(NULL),
	};

	ctx_out_row(out, cells);
}

static void sum_threads(const struct ctx_profile *profile, const struct ctx_report_thread_sums *sums,
			struct use *uses)
{
	bool whole = sums->samples == NULL || sums->weight == NULL;

	for (uint32_t i = 0; i < profile->n_processes && whole; i++)
		uses[i] = (struct use){profile->processes[i].samples, profile->processes[i].weight};
	for (uint32_t i = 0; i < profile->n_threads && !whole; i++) {
		uint32_t process = profile->threads[i].process;

		if (process >= profile->n_processes)
			continue;
		uses[process].samples += sums->samples[i];
		uses[process].weight += sums->weight[i];
	}
}

static struct ctx_order_item sort_item(const struct ctx_profile *profile, const struct use *uses, uint32_t i,
				       size_t key)
{
	const struct ctx_process_info *info = &profile->processes[i];
	const uint64_t numbers[] = {
		uses[i].weight,
		uses[i].samples,
		ctx_order_ascending(info->life.begin_ns),
		ctx_order_ascending(info->life.end_ns),
		0,
		ctx_order_ascending((uint64_t)info->pid),
		0, /* as they are numbered */
	};

	return (struct ctx_order_item){
		.index = i, .number = numbers[key], .text = key == 4 ? info->command : NULL};
}

static enum ctx_status put_page(const struct ctx_out_spec *spec, const struct ctx_report_thread_sums *sums,
				size_t key, struct ctx_err *err)
{
	const struct ctx_profile *profile = spec->selection->profile;
	uint32_t n = profile->n_processes, limit = spec->options->limit;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n, sizeof(*items));
	struct use *uses CTX_AUTO_FREE = ctx_calloc(n, sizeof(*uses));
	struct ctx_out out;

	if (items == NULL || uses == NULL)
		return ctx_err_nomem(err);
	sum_threads(profile, sums, uses);
	for (uint32_t i = 0; i < n; i++)
		items[i] = sort_item(profile, uses, i, key);
	ctx_order_sort(items, n);
	ctx_out_begin(&out, spec);
	for (uint32_t i = 0; i < n && (limit == 0 || i < limit); i++)
		put_row(&out, uses, items[i].index);
	ctx_out_section(&out, NULL);
	if (limit != 0 && n > limit)
		ctx_out_line(&out, ctx_out_format(&out, "(%" PRIu32 " more processes)", n - limit));
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_out_spec spec = {
		.kind = &ctx_report_processes, .selection = &source->selection, .options = options};
	struct ctx_report_thread_sums sums;
	size_t key;
	enum ctx_status status = ctx_order_find("processes", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = source->thread_sums(source, &sums, err);
	if (status != CTX_OK)
		return status;
	spec.totals = ctx_totals_of_threads(spec.selection, &sums);
	spec.omitted = sums.omitted;
	return put_page(&spec, &sums, key, err);
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
