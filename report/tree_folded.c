#include "report/tree_folded.h"

#include "base/mem.h"
#include "calltree/folding.h"
#include "report/calls.h"
#include "report/out.h"

#include <stdlib.h>

#define NAME_ROOM 30u /* columns that the branches leave for names */

static const struct ctx_column columns[] = {
	{NULL, "Calls", CTX_STYLE_COUNT}, /* where they were seen */
	{NULL, "Total", CTX_STYLE_WEIGHT},   {NULL, "Total %", CTX_STYLE_PERCENT},
	{NULL, "Self %", CTX_STYLE_PERCENT}, {NULL, "Name", CTX_STYLE_NAME},
};

static const struct ctx_metric_form form = {.base_title = "Self",
					    .cum_title = "Total",
					    .base_key = "base",
					    .cum_key = "cum",
					    .n_lead = 1,
					    .lead_width = 8,
					    .name = 4,
					    .wanted = 30,
					    .traced_lead = true};

/* Of callers: what a node itself has says nothing. */
static const struct ctx_column caller_columns[] = {
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "Total %", CTX_STYLE_PERCENT},
	{NULL, "Name", CTX_STYLE_NAME},
};

static const struct ctx_metric_form caller_form = {.base_title = "Self",
						   .cum_title = "Total",
						   .base_key = "base",
						   .cum_key = "cum",
						   .name = 2,
						   .wanted = 30};

/* --columns */
static const struct ctx_column table_columns[] = {
	{NULL, "Level", CTX_STYLE_COUNT}, {NULL, "RL", CTX_STYLE_COUNT},   {NULL, "Calls", CTX_STYLE_COUNT},
	{NULL, "Base", CTX_STYLE_WEIGHT}, {NULL, "Cum", CTX_STYLE_WEIGHT}, {NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Name", CTX_STYLE_NAME},
};

static const struct ctx_metric_form table_form = {
	.base_title = "Base", .cum_title = "Cum", .n_lead = 3, .lead_width = 16, .name = 6, .wanted = 30};

struct page {
	struct ctx_out *out;
	struct ctx_metric_view *view;
	const struct ctx_tree_stacks *stacks;
	const struct ctx_calltree *trees; /* of the part, by metric */
	struct ctx_flat_row *more;	  /* scratch */
	struct ctx_folding *folding;
	struct ctx_buf drawing;
	uint32_t thread;
	bool callers;
	bool other; /* <Other> has a row */
};

double ctx_tree_min_percent(const struct ctx_report_options *options)
{
	return options->min_percent_given ? options->min_percent : CTX_TREE_MIN_PERCENT;
}

/* 0: all. */
static uint32_t most_lines(const struct ctx_report_options *options)
{
	if (options->limit != 0 || options->whole || ctx_tree_min_percent(options) <= 0)
		return options->limit;
	return CTX_TREE_LINES;
}

static const struct ctx_fold_frame *frames_of(const struct page *page, const struct ctx_folding_row *row,
					      size_t *ret_n)
{
	const struct ctx_calltree_node *nodes = page->trees[0].nodes;
	size_t n = nodes[row->last].level - nodes[row->first].level + 1;
	struct ctx_fold_frame *frames = ctx_arena_alloc(&page->out->arena, n * sizeof(*frames));

	*ret_n = n;
	if (frames == NULL) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return NULL;
	}
	for (uint32_t at = row->last; n-- > 0; at = nodes[at].parent)
		frames[n] = ctx_fold_frame(
			&page->stacks->profile, nodes[at].function,
			page->stacks->instances != NULL ? page->stacks->instances[nodes[at].stack] : 1);
	return frames;
}

static const char *object_above(const struct page *page, const struct ctx_folding_row *row)
{
	const struct ctx_folding_row *parent;

	if (row->parent == CTX_CALLTREE_NONE)
		return NULL;
	parent = &page->folding->rows[row->parent];
	return ctx_fold_frame(&page->stacks->profile, page->trees[0].nodes[parent->last].function, 1).object;
}

/* Branches that leave room for names; deeper ones are cut at the beginning. */
static uint32_t most_levels(const struct page *page)
{
	unsigned width = page->out->options->width, room = page->view->name_room;

	if (width == 0)
		return UINT32_MAX;
	if (room == 0)
		room = width > 30 ? width - 30 : 0;
	return room > NAME_ROOM + 10 ? (room - NAME_ROOM) / 2 : 5;
}

static bool is_last(const struct page *page, const struct ctx_folding_row *row)
{
	return row->is_last && !(page->other && row->level == 1);
}

static const char *draw(struct page *page, const struct ctx_folding_row *row)
{
	bool ascii = page->out->options->ascii;
	const char *bars[] = {"  ", ascii ? "| " : "│ ", ascii ? "`-" : "└─", ascii ? "|-" : "├─"};
	const char *pieces[128];
	uint32_t most = most_levels(page), n = row->level;
	const struct ctx_folding_row *at = row;

	most = most < CTX_COUNT_OF(pieces) ? most : CTX_COUNT_OF(pieces);
	ctx_buf_clear(&page->drawing);
	if (n > most) {
		n = most;
		ctx_buf_put_text(&page->drawing, ascii ? ".." : "… ");
	}
	for (uint32_t i = n; i-- > 0; at = &page->folding->rows[at->parent])
		pieces[i] = bars[(at == row ? 2 : 0) + (is_last(page, at) ? 0 : 1)];
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_text(&page->drawing, pieces[i]);
	ctx_buf_put_u8(&page->drawing, '\0');
	if (page->drawing.failed) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return "";
	}
	return (const char *)page->drawing.bytes;
}

static struct ctx_cell name_cell(struct page *page, const struct ctx_folding_row *row)
{
	struct ctx_cell cell = ctx_cell_name("<Total>");
	struct ctx_cell_frames *frames;

	cell.drawing = draw(page, row);
	if (row->first == 0) {
		if (page->thread != CTX_NONE)
			cell.name = ctx_thread_title(page->out, page->thread);
		return cell;
	}
	frames = ctx_arena_alloc(&page->out->arena, sizeof(*frames));
	if (frames == NULL) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return cell;
	}
	*frames = (struct ctx_cell_frames){.object = object_above(page, row), .upward = page->callers};
	frames->frames = frames_of(page, row, &frames->n);
	cell.frames = frames->frames != NULL ? frames : NULL;
	return cell;
}

/* Level, recursion level and calls are those of the first node. */
static void put_numbers(struct page *page, const struct ctx_folding_row *row,
			const struct ctx_flat_row *numbers, struct ctx_cell name)
{
	const struct ctx_calltree_node *node = &page->trees[0].nodes[row->first];
	uint32_t instances = page->stacks->instances != NULL ? page->stacks->instances[node->stack] : 1;
	struct ctx_calls_seen seen =
		ctx_calls_seen_of(page->view->selection, numbers, page->more, page->view->n_more);
	struct ctx_cell calls = page->callers || (seen.known && !seen.traced) ? ctx_cell_name(NULL)
				: seen.known				      ? ctx_cell_signed(seen.calls)
					     : ctx_calls_cell(page->out, node->calls);
	const struct ctx_cell cells[] = {
		calls,
		ctx_cell_number(numbers->cum),
		ctx_cell_number(numbers->cum),
		ctx_cell_number(numbers->base),
		name,
	};
	const struct ctx_cell caller_cells[] = {cells[1], cells[2], name};
	const struct ctx_cell table_cells[] = {
		ctx_cell_number(node->level),
		ctx_cell_number(instances - 1),
		calls,
		ctx_cell_number(numbers->base),
		ctx_cell_number(numbers->cum),
		ctx_cell_number(numbers->cum),
		name,
	};

	ctx_metric_view_row(page->view, page->out,
			    page->out->options->columns ? table_cells
			    : page->callers		? caller_cells
							: cells,
			    numbers, page->more);
}

static void put_row(struct page *page, size_t number)
{
	const struct ctx_folding_row *row = &page->folding->rows[number];
	const struct ctx_report_omitted *omitted = &page->out->head.omitted;
	size_t n_trees = page->view->n_more + 1;
	struct ctx_flat_row numbers = {0};

	for (size_t i = 0; i < n_trees; i++) {
		const struct ctx_calltree_node *node = &page->trees[i].nodes[row->first];
		struct ctx_flat_row *to = i == 0 ? &numbers : &page->more[i - 1];

		*to = (struct ctx_flat_row){.function = node->function,
					    .base = page->folding->self[number * n_trees + i],
					    .cum = node->cum,
					    .cum_samples = node->cum_samples,
					    .calls = node->calls};
	}
	if (row->first == 0 && page->other)
		numbers.cum += omitted->weight;
	put_numbers(page, row, &numbers, name_cell(page, row));
}

static void put_other(struct page *page)
{
	const struct ctx_report_omitted *omitted = &page->out->head.omitted;
	struct ctx_flat_row numbers = {.base = omitted->weight, .cum = omitted->weight};
	struct ctx_cell name = ctx_cell_name("<Other>");

	name.drawing = page->out->options->ascii ? "`-" : "└─";
	for (size_t i = 0; i < page->view->n_more; i++)
		page->more[i] = (struct ctx_flat_row){0};
	put_numbers(page, &page->folding->rows[0], &numbers, name);
}

/* "hidden: 37 nodes below 0.5 %; the totals include their 3.20 % (--min-percent 0)" */
static void put_hidden(struct page *page)
{
	const struct ctx_report_options *options = page->out->options;
	const struct ctx_folding *folding = page->folding;
	size_t n = folding->n_small + folding->n_deep + folding->n_beyond;
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char share[CTX_FIGURE_MAX];
	const char *before = "";

	if (n == 0)
		return;
	ctx_figure_percent(share, folding->hidden[0], ctx_out_whole(page->out), 2);
	ctx_buf_printf(&text, "hidden: %zu %s", n, n == 1 ? "node" : "nodes");
	if (folding->n_small != 0)
		ctx_buf_printf(&text, " below %g %%", ctx_tree_min_percent(options));
	before = folding->n_small != 0 ? " or" : before;
	if (folding->n_deep != 0)
		ctx_buf_printf(&text, "%s beyond --depth %u", before, options->depth);
	before = folding->n_deep != 0 ? " or" : before;
	if (folding->n_beyond != 0)
		ctx_buf_printf(&text, "%s beyond %u lines", before, most_lines(options));
	ctx_buf_printf(&text, "; the totals include %s %s %%%s", n == 1 ? "its" : "their", share,
		       folding->n_beyond != 0 && options->limit == 0	      ? " (--limit 0)"
		       : folding->n_small == n && !options->min_percent_given ? " (--min-percent 0)"
									      : "");
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(page->out, CTX_E_NOMEM);
	else
		ctx_out_wrapped(page->out, "", (const char *)text.bytes, 2);
}

/* Weights below which nodes are small, by metric. */
static void find_least(const struct page *page, double *least)
{
	double percent = ctx_tree_min_percent(page->out->options);

	least[0] = percent * (double)ctx_out_whole(page->out) / 100;
	for (size_t i = 0; i <= page->view->n_more && page->view->n_more != 0; i++)
		least[i] = percent * (double)page->trees[i].nodes[0].cum / 100;
}

static enum ctx_status fold_rows(struct page *page, struct ctx_err *err)
{
	const struct ctx_report_options *options = page->out->options;
	const struct ctx_calltree *tree = page->trees;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < tree->n && status == CTX_OK; i++) {
		if (!page->callers &&
		    !ctx_function_matches(&page->stacks->profile, tree->nodes[i].function, options->function))
			continue;
		status = ctx_folding_add(page->folding, i, err);
		/* Matches below it are shown with it. */
		i = ctx_subtree_end(tree, i) - 1;
	}
	if (status == CTX_OK && most_lines(options) != 0)
		status = ctx_folding_limit(page->folding, most_lines(options), err);
	return status;
}

static enum ctx_status put_part(struct page *page, struct ctx_err *err)
{
	double *least CTX_AUTO_FREE = ctx_calloc(page->view->n_more + 1, sizeof(*least));
	struct ctx_folding folding CTX_CLEANUP(ctx_folding_deinit) = {0};
	uint32_t depth = page->out->options->depth;
	struct ctx_folding_input input = {.trees = page->trees,
					  .n_trees = page->view->n_more + 1,
					  .max_level = depth != 0 ? depth : UINT32_MAX,
					  .joins = true};
	enum ctx_status status;

	if (least == NULL)
		return ctx_err_nomem(err);
	if (page->out->profile->losses.call_stacks)
		return CTX_OK;
	ctx_out_part(page->out, page->thread, page->trees[0].nodes[0].cum);
	find_least(page, least);
	input.least = least;
	status = ctx_folding_init(&folding, &input, err);
	page->folding = &folding;
	page->other = page->out->head.has_other && page->out->options->function == NULL;
	if (status == CTX_OK)
		status = fold_rows(page, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < folding.n; i++)
		put_row(page, i);
	if (page->other)
		put_other(page);
	ctx_out_section(page->out, NULL);
	put_hidden(page);
	if (!page->view->has_base && page->view->n_more != 0)
		ctx_out_line(page->out, page->out->options->columns
						? "(Base has no room: a larger --width, or --format csv)"
						: "(Self has no room: a larger --width, or --format csv)");
	return CTX_OK;
}

static enum ctx_status put_parts(struct page *page, const struct ctx_report_parts *parts, struct ctx_err *err)
{
	const struct ctx_part_trees *trees = &page->stacks->trees;
	struct ctx_out out;
	enum ctx_status status = CTX_OK, ended;

	page->out = &out;
	ctx_metric_view_begin(page->view, &out, parts);
	for (size_t i = 0; i < trees->n && status == CTX_OK; i++) {
		page->trees = &trees->trees[i * trees->n_metrics];
		page->thread = parts->parts[i].thread;
		if (i != 0)
			ctx_out_section(&out, "");
		status = put_part(page, err);
	}
	ctx_out_rows_end(&out);
	ended = ctx_out_end(&out, err);
	ctx_buf_deinit(&page->drawing);
	return status == CTX_OK ? ended : status;
}

enum ctx_status ctx_tree_folded_print(struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				      const struct ctx_tree_stacks *stacks, bool callers, struct ctx_err *err)
{
	bool table = view->options->columns;
	struct ctx_report_kind kind = *view->kind;
	struct ctx_flat_row *more CTX_AUTO_FREE = ctx_calloc(parts->n_metrics, sizeof(*more));
	struct page page = {.view = view, .stacks = stacks, .more = more, .callers = callers};
	enum ctx_status status;

	if (more == NULL)
		return ctx_err_nomem(err);
	kind.columns = table ? table_columns : callers ? caller_columns : columns;
	kind.n_columns = table	   ? CTX_COUNT_OF(table_columns)
			 : callers ? CTX_COUNT_OF(caller_columns)
				   : CTX_COUNT_OF(columns);
	view->kind = &kind;
	view->form = table ? &table_form : callers ? &caller_form : &form;
	status = ctx_metric_view_init(view, parts, NULL, err);
	return status == CTX_OK ? put_parts(&page, parts, err) : status;
}
