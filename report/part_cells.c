#include "report/part_cells.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "report/metric_trees.h"
#include "report/order.h"

#include <inttypes.h>
#include <stdlib.h>

struct ctx_cell ctx_function_cell(const struct ctx_profile *profile, uint32_t function)
{
	struct ctx_cell cell;
	uint32_t object;

	if (function >= profile->n_functions)
		return ctx_cell_name("<Total>");
	cell = ctx_cell_name(profile->functions[function].name);
	cell.link = function + 1;
	object = profile->functions[function].object;
	if (object < profile->n_objects)
		cell.object = profile->objects[object].path;
	return cell;
}

struct ctx_cell ctx_object_cell(const struct ctx_profile *profile, uint32_t function)
{
	return ctx_cell_name(ctx_function_cell(profile, function).object);
}

struct ctx_cell ctx_inlined_cell(const struct ctx_profile *profile, uint32_t function)
{
	return ctx_cell_if(function < profile->n_functions && profile->functions[function].inlined);
}

struct ctx_cell ctx_parts_cell(const struct ctx_profile *profile, uint32_t function)
{
	const char *parts = function < profile->n_functions ? profile->functions[function].parts : NULL;

	if (parts == NULL || *parts == '\0')
		return (struct ctx_cell){.kind = CTX_CELL_ABSENT};
	return ctx_cell_name(parts);
}

/* Whether another thread of the recording had the same tid. */
static bool is_reused(const struct ctx_profile *profile, uint32_t thread)
{
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		if (i != thread && profile->threads[i].tid == profile->threads[thread].tid)
			return true;
	}
	return false;
}

const char *ctx_thread_life(struct ctx_out *out, uint32_t thread)
{
	const struct ctx_profile *profile = out->profile;
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];

	if (thread >= profile->n_threads || !is_reused(profile, thread))
		return "";
	ctx_figure_fixed(begin, profile->threads[thread].life.begin_ns, 1000 * 1000, 3);
	ctx_figure_fixed(end, profile->threads[thread].life.end_ns, 1000 * 1000, 3);
	return ctx_out_format(out, ", %s-%s ms", begin, end);
}

const char *ctx_thread_title(struct ctx_out *out, uint32_t thread)
{
	const struct ctx_profile *profile = out->profile;
	const struct ctx_thread_info *info;
	int64_t pid = -1;

	if (thread >= profile->n_threads)
		return NULL;
	info = &profile->threads[thread];
	if (info->process < profile->n_processes)
		pid = profile->processes[info->process].pid;
	return ctx_out_format(out, "pt_%" PRId64 "_%" PRId64 " (%s)%s", pid, info->tid, info->name,
			      ctx_thread_life(out, thread));
}

const char *ctx_function_title(struct ctx_out *out, uint32_t function)
{
	struct ctx_cell cell = ctx_function_cell(out->profile, function);
	const char *object = cell.object != NULL ? ctx_path_base(cell.object) : "";

	if (object[0] == '\0')
		return cell.name;
	return ctx_out_format(out, object[0] == '[' ? "%s %s" : "%s [%s]", cell.name, object);
}

enum ctx_status ctx_part_trees_build(const struct ctx_profile *profile, const struct ctx_report_parts *parts,
				     double small_percent, struct ctx_part_trees *ret, struct ctx_err *err)
{
	struct ctx_part_trees trees = {.n_metrics = parts->n_metrics};

	trees.trees = ctx_calloc(parts->n, trees.n_metrics * sizeof(*trees.trees));
	if (trees.trees == NULL)
		return ctx_err_nomem(err);
	for (; trees.n < parts->n; trees.n++) {
		const struct ctx_metric_trees_input input = {.profile = profile,
							     .part = &parts->parts[trees.n],
							     .n_metrics = parts->n_metrics,
							     .small_percent = small_percent};
		enum ctx_status status =
			ctx_metric_trees_build(&input, &trees.trees[trees.n * trees.n_metrics], err);

		if (status != CTX_OK) {
			ctx_part_trees_deinit(&trees);
			return status;
		}
	}
	*ret = trees;
	return CTX_OK;
}

void ctx_part_trees_deinit(struct ctx_part_trees *trees)
{
	for (size_t i = 0; i < trees->n * trees->n_metrics; i++)
		ctx_calltree_deinit(&trees->trees[i]);
	free(trees->trees);
	*trees = (struct ctx_part_trees){0};
}

static enum ctx_status put_parts(const struct ctx_part_report *report, const struct ctx_report_parts *parts,
				 struct ctx_metric_view *view, struct ctx_err *err)
{
	const struct ctx_report_options *options = view->options;
	const struct ctx_profile *profile = view->selection->profile;
	struct ctx_part_trees trees;
	struct ctx_out out;
	struct ctx_part_page page = {.out = &out, .view = view};
	enum ctx_status status =
		ctx_order_find(report->kind->name, options->sort, view->sort_keys, &page.key, err);

	if (status == CTX_OK)
		status = ctx_function_check(profile, options->function, err);
	if (status == CTX_OK)
		status = ctx_part_trees_build(profile, parts, 0, &trees, err);
	if (status != CTX_OK)
		return status;
	ctx_metric_view_begin(view, &out, parts);
	for (size_t i = 0; i < trees.n && status == CTX_OK; i++) {
		page.thread = parts->parts[i].thread;
		page.tree = &trees.trees[i * trees.n_metrics];
		ctx_out_part(&out, page.thread, page.tree->nodes[0].cum);
		status = report->put(&page, err);
		ctx_out_fail(&out, status);
	}
	ctx_out_rows_end(&out);
	ctx_part_trees_deinit(&trees);
	return ctx_out_end(&out, err);
}

enum ctx_status ctx_part_trees_report(struct ctx_report_source *source,
				      const struct ctx_report_options *options,
				      const struct ctx_part_report *report, struct ctx_err *err)
{
	struct ctx_metric_view view = {.kind = report->kind,
				       .form = report->form,
				       .selection = &source->selection,
				       .options = options};
	struct ctx_report_parts parts;
	enum ctx_status status = ctx_metric_view_pull(&view, source, report->calls, &parts, err);

	if (status == CTX_OK)
		status = ctx_metric_view_init(&view, &parts, report->sort_keys, err);
	if (status == CTX_OK)
		status = put_parts(report, &parts, &view, err);
	ctx_metric_view_deinit(&view);
	return status;
}

uint32_t ctx_subtree_end(const struct ctx_calltree *tree, uint32_t node)
{
	while (node != CTX_CALLTREE_NONE && tree->nodes[node].next_sibling == CTX_CALLTREE_NONE)
		node = tree->nodes[node].parent;
	return node != CTX_CALLTREE_NONE ? tree->nodes[node].next_sibling : tree->n;
}

struct ctx_cell ctx_pid_cell(const struct ctx_profile *profile, uint32_t process)
{
	if (process >= profile->n_processes)
		return ctx_cell_name(NULL);
	return ctx_cell_signed(profile->processes[process].pid);
}

struct ctx_cell ctx_thread_cell(const struct ctx_profile *profile, uint32_t thread)
{
	if (thread >= profile->n_threads)
		return ctx_cell_name(NULL);
	return ctx_cell_signed(profile->threads[thread].tid);
}

struct ctx_cell ctx_thread_id_cell(const struct ctx_profile *profile, uint32_t thread)
{
	if (thread >= profile->n_threads)
		return (struct ctx_cell){.kind = CTX_CELL_ABSENT};
	return ctx_cell_number(thread);
}
