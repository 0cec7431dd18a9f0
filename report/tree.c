#include "base/heap.h"
#include "base/mem.h"
#include "report/calls.h"
#include "report/kinds.h"
#include "report/metric_trees.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/tree_folded.h"

#include <stdlib.h>

static const struct ctx_column columns[] = {
	{"level", "Level", CTX_STYLE_COUNT},	{"recursion_level", "RL", CTX_STYLE_COUNT},
	{NULL, "Calls", CTX_STYLE_COUNT},	{NULL, "Base", CTX_STYLE_WEIGHT},
	{NULL, "Cum", CTX_STYLE_WEIGHT},	{NULL, "%", CTX_STYLE_PERCENT},
	{"function", "Name", CTX_STYLE_NAME},	{"object", NULL, CTX_STYLE_NAME},
	{"calls", NULL, CTX_STYLE_COUNT},	{"base", NULL, CTX_STYLE_WEIGHT},
	{"cum", NULL, CTX_STYLE_WEIGHT},	{"base_samples", NULL, CTX_STYLE_COUNT},
	{"cum_samples", NULL, CTX_STYLE_COUNT}, {"thread", NULL, CTX_STYLE_COUNT},
	{"inlined", NULL, CTX_STYLE_COUNT},	{"calls_exact", NULL, CTX_STYLE_COUNT},
	{"thread_id", NULL, CTX_STYLE_COUNT},	{"elapsed", NULL, CTX_STYLE_TIME},
	{"origin", NULL, CTX_STYLE_NAME},
};

static const struct ctx_metric_form form = {
	.base_title = "Base",
	.cum_title = "Cum",
	.base_key = "base",
	.cum_key = "cum",
	.base_samples_key = "base_samples",
	.cum_samples_key = "cum_samples",
	.has_calls = true,
	.n_lead = 3,
	.lead_width = 16,
	.name = 6,
	.wanted = 30,
	.n_traced = 2,
};

struct node_order {
	uint64_t cum;
	uint32_t node;
};

struct walk {
	struct ctx_out *out;
	struct ctx_metric_view *view;
	const struct ctx_calltree *tree; /* of the first metric; the others follow */
	struct ctx_flat_row *more;	 /* scratch: the node's values in the other metrics */
	uint32_t thread;
	uint32_t top;	   /* root of the displayed subtree */
	bool other;	   /* the total has omitted weight */
	bool *kept;	   /* by node: those that --limit leaves; NULL: all. Owned */
	uint64_t left_out; /* rows */
	bool callers;	   /* upside down: calls have no meaning */
	struct ctx_buf drawing;
};

static struct ctx_flat_row row_of(const struct ctx_calltree_node *node)
{
	return (struct ctx_flat_row){.function = node->function,
				     .base = node->base,
				     .cum = node->cum,
				     .base_samples = node->base_samples,
				     .cum_samples = node->cum_samples,
				     .calls = node->calls};
}

static void put_row(struct walk *walk, const struct ctx_calltree_node *node, struct ctx_cell name,
		    bool has_calls)
{
	struct ctx_out *out = walk->out;
	struct ctx_flat_row numbers = row_of(node);
	struct ctx_calls_seen seen =
		ctx_calls_seen_of(walk->view->selection, &numbers, walk->more, walk->view->n_more);
	bool known = has_calls && !walk->callers && (!seen.known || seen.traced);
	struct ctx_cell calls =
		known ? ctx_cell_signed(seen.known ? seen.calls : node->calls) : ctx_cell_name(NULL);
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(node->level),
		ctx_cell_number(node->recursion_level),
		known && !seen.known ? ctx_calls_cell(out, node->calls) : calls,
		ctx_cell_number(node->base),
		ctx_cell_number(node->cum),
		ctx_cell_number(node->cum),
		name,
		ctx_cell_name(name.object),
		calls,
		ctx_cell_number(node->base),
		ctx_cell_number(node->cum),
		ctx_cell_number(node->base_samples),
		ctx_cell_number(node->cum_samples),
		ctx_thread_cell(out->profile, walk->thread),
		ctx_inlined_cell(out->profile, node->function),
		known ? ctx_cell_bool(seen.known || ctx_calls_exact_here(out)) : ctx_cell_name(NULL),
		ctx_thread_id_cell(out->profile, walk->thread),
		ctx_calls_elapsed_cell(&seen),
		ctx_calls_origin_cell(&seen),
	};

	ctx_metric_view_row(walk->view, out, cells, &numbers, walk->more);
}

static void add_more(struct walk *walk, uint32_t node)
{
	for (size_t i = 0; i < walk->view->n_more; i++) {
		struct ctx_flat_row row = row_of(&walk->tree[i + 1].nodes[node]);

		walk->more[i].base += row.base;
		walk->more[i].cum += row.cum;
		walk->more[i].base_samples += row.base_samples;
		walk->more[i].cum_samples += row.cum_samples;
		walk->more[i].calls += row.calls;
	}
}

static void clear_more(struct walk *walk)
{
	for (size_t i = 0; i < walk->view->n_more; i++)
		walk->more[i] = (struct ctx_flat_row){0};
}

/* Maximum number of branches drawn, which leaves some columns for names. */
static uint32_t most_levels(const struct walk *walk)
{
	unsigned width = walk->out->options->width, room = walk->view->name_room;

	if (width == 0)
		return UINT32_MAX;
	if (walk->view->n_more == 0)
		return width / 5 + 1;
	return room > 34 ? (room - 24) / 2 : room > 22 ? (room - 12) / 2 : 5;
}

static bool is_too_deep(const struct walk *walk, uint32_t node)
{
	uint32_t depth = walk->out->options->depth;

	return depth != 0 && walk->tree->nodes[node].level - walk->tree->nodes[walk->top].level > depth;
}

static bool is_kept(const struct walk *walk, uint32_t node)
{
	return (walk->kept == NULL || walk->kept[node]) && !is_too_deep(walk, node);
}

/* <Other> is the root's last child, but one of the rows that --limit counts. */
static bool has_other_row(const struct walk *walk)
{
	return walk->other && walk->kept == NULL;
}

static bool has_next(const struct walk *walk, uint32_t node)
{
	const struct ctx_calltree_node *it = &walk->tree->nodes[node];

	if (it->next_sibling != CTX_CALLTREE_NONE && is_kept(walk, it->next_sibling))
		return true;
	return has_other_row(walk) && it->level == 1;
}

/*
 * The branches to the left of a line `level` levels below the top, whose ancestor there is `node`.
 * Very deep ones are cut at the beginning: the level is in its own column.
 */
static const char *draw(struct walk *walk, uint32_t node, bool last)
{
	const struct ctx_report_options *options = walk->out->options;
	const struct ctx_calltree_node *nodes = walk->tree->nodes;
	uint32_t level = nodes[node].level - nodes[walk->top].level;
	uint32_t most = most_levels(walk);
	bool deep = level > most;
	uint32_t n = deep ? most : level;
	const char *bars[] = {"  ", options->ascii ? "| " : "│ ", options->ascii ? "`-" : "└─",
			      options->ascii ? "|-" : "├─"};
	const char *pieces[128];

	if (n > CTX_COUNT_OF(pieces)) {
		n = CTX_COUNT_OF(pieces);
		deep = true;
	}
	for (uint32_t i = n, at = node; i-- > 0; at = nodes[at].parent) {
		bool more = at == node ? !last : has_next(walk, at);

		pieces[i] = bars[(at == node ? 2 : 0) + (more ? 1 : 0)];
	}
	ctx_buf_clear(&walk->drawing);
	if (deep)
		ctx_buf_put_text(&walk->drawing, options->ascii ? ".." : "… ");
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_text(&walk->drawing, pieces[i]);
	ctx_buf_put_u8(&walk->drawing, '\0');
	if (walk->drawing.failed) {
		ctx_out_fail(walk->out, CTX_E_NOMEM);
		return "";
	}
	return (const char *)walk->drawing.bytes;
}

static bool is_small(const struct walk *walk, uint32_t node)
{
	double share = (double)walk->tree->nodes[node].cum * 100;

	if (walk->view->n_more != 0)
		return node != walk->top && ctx_metric_trees_is_small(walk->tree, walk->view->n_more + 1,
								      node, walk->out->options->min_percent);
	return node != walk->top &&
	       share < walk->out->options->min_percent * (double)ctx_out_whole(walk->out);
}

/* In HTML: levels below the top, up to a maximum. */
static uint16_t indent_of(const struct walk *walk, uint32_t node)
{
	uint32_t level = walk->tree->nodes[node].level - walk->tree->nodes[walk->top].level;

	return (uint16_t)(level < UINT16_MAX ? level : UINT16_MAX);
}

/*
 * One line for `node` and its later siblings, which are smaller. Text only: a row of JSON is a
 * node.
 */
static void put_small(struct walk *walk, uint32_t node)
{
	const struct ctx_calltree_node *nodes = walk->tree->nodes;
	struct ctx_calltree_node sum = nodes[node];
	struct ctx_cell name;
	unsigned n = 1;

	if (!ctx_out_is_text(walk->out))
		return;
	if (walk->kept != NULL) {
		walk->left_out++;
		return;
	}
	sum.recursion_level = 0;
	sum.base = 0;
	clear_more(walk);
	add_more(walk, node);
	for (uint32_t i = nodes[node].next_sibling; i != CTX_CALLTREE_NONE; i = nodes[i].next_sibling) {
		sum.cum += nodes[i].cum;
		add_more(walk, i);
		n++;
	}
	for (size_t i = 0; i < walk->view->n_more; i++)
		walk->more[i].base = 0;
	name = ctx_cell_name(
		ctx_out_format(walk->out, "(%u more below %g %%)", n, walk->out->options->min_percent));
	name.drawing = draw(walk, node, !(has_other_row(walk) && nodes[node].level == 1));
	name.level = indent_of(walk, node);
	put_row(walk, &sum, name, false);
}

static void put_subtree(struct walk *walk)
{
	const struct ctx_calltree_node *nodes = walk->tree->nodes;
	uint32_t end = walk->top == 0 ? walk->tree->n : ctx_subtree_end(walk->tree, walk->top);

	for (uint32_t i = walk->top; i < end;) {
		struct ctx_cell name;

		if (is_small(walk, i)) {
			put_small(walk, i);
			i = ctx_subtree_end(walk->tree, nodes[i].parent);
			continue;
		}
		if (!is_kept(walk, i)) {
			walk->left_out++;
			i++;
			continue;
		}
		name = ctx_function_cell(walk->out->profile, nodes[i].function);
		if (i == 0 && walk->thread != CTX_NONE)
			name.name = ctx_thread_title(walk->out, walk->thread);
		name.drawing = draw(walk, i, !has_next(walk, i));
		name.level = indent_of(walk, i);
		clear_more(walk);
		add_more(walk, i);
		if (i == 0 && walk->other) {
			struct ctx_calltree_node total = nodes[0];

			total.cum += walk->out->head.omitted.weight;
			total.cum_samples += walk->out->head.omitted.samples;
			put_row(walk, &total, name, true);
		} else {
			put_row(walk, &nodes[i], name, true);
		}
		i++;
	}
}

static void put_other(struct walk *walk)
{
	const struct ctx_report_omitted *omitted = &walk->out->head.omitted;
	struct ctx_calltree_node other = {.function = CTX_TRIE_ROOT_KEY,
					  .level = 1,
					  .base = omitted->weight,
					  .cum = omitted->weight,
					  .base_samples = omitted->samples,
					  .cum_samples = omitted->samples};
	struct ctx_cell name = ctx_cell_name("<Other>");

	name.drawing = walk->out->options->ascii ? "`-" : "└─";
	name.level = 1;
	put_row(walk, &other, name, false);
}

struct choosing {
	struct walk *walk;
	struct node_order *waiting; /* a heap: nodes whose parent or previous sibling is kept */
	size_t n, cap;
	uint32_t n_small; /* lines of put_small */
};

/* Larger ones first, parents before their children. */
static bool is_heavier(const void *left, const void *right)
{
	const struct node_order *a = left, *b = right;

	return a->cum != b->cum ? a->cum > b->cum : a->node < b->node;
}

static enum ctx_status wait_for(struct choosing *choosing, uint32_t node, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&choosing->waiting, &choosing->cap, choosing->n + 1, err);

	if (status != CTX_OK)
		return status;
	choosing->waiting[choosing->n++] = (struct node_order){choosing->walk->tree->nodes[node].cum, node};
	ctx_heap_rise(choosing->waiting, choosing->n, sizeof(*choosing->waiting), is_heavier);
	return CTX_OK;
}

/* The first small child of a node stands for it and its later siblings, which are smaller. */
static enum ctx_status consider(struct choosing *choosing, uint32_t node, struct ctx_err *err)
{
	if (node == CTX_CALLTREE_NONE)
		return CTX_OK;
	if (!is_small(choosing->walk, node))
		return wait_for(choosing, node, err);
	choosing->n_small += ctx_out_is_text(choosing->walk->out);
	return CTX_OK;
}

static enum ctx_status add_tops(struct choosing *choosing, struct ctx_err *err)
{
	const struct ctx_calltree *tree = choosing->walk->tree;
	const struct ctx_out *out = choosing->walk->out;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < tree->n && status == CTX_OK; i++) {
		if (!ctx_function_matches(out->profile, tree->nodes[i].function, out->options->function))
			continue;
		status = wait_for(choosing, i, err);
		i = ctx_subtree_end(tree, i) - 1;
	}
	return status;
}

/*
 * With --limit: marks the heaviest nodes. A node is never heavier than its parent or its previous
 * sibling, so that they are found from the top: O(nodes + limit * log limit).
 */
static enum ctx_status keep_heaviest(struct walk *walk, struct ctx_err *err)
{
	const struct ctx_calltree_node *nodes = walk->tree->nodes;
	uint32_t limit = walk->out->options->limit, n = 0;
	struct choosing choosing = {.walk = walk};
	bool *tops CTX_AUTO_FREE = NULL;
	enum ctx_status status;
	size_t n_tops;

	if (limit == 0)
		return CTX_OK;
	tops = ctx_calloc(walk->tree->n, sizeof(*tops));
	walk->kept = ctx_calloc(walk->tree->n, sizeof(*walk->kept));
	status = tops != NULL && walk->kept != NULL ? add_tops(&choosing, err) : ctx_err_nomem(err);
	n_tops = choosing.n;
	for (size_t i = 0; status == CTX_OK && i < n_tops; i++)
		tops[choosing.waiting[i].node] = true;
	walk->top = CTX_CALLTREE_NONE; /* of is_small: tops are not asked */
	for (; status == CTX_OK && choosing.n != 0 && n < limit; n++) {
		uint32_t node = choosing.waiting[0].node;

		walk->kept[node] = true;
		choosing.waiting[0] = choosing.waiting[--choosing.n];
		ctx_heap_sink(choosing.waiting, choosing.n, sizeof(*choosing.waiting), is_heavier);
		status = consider(&choosing, nodes[node].first_child, err);
		if (status == CTX_OK && !tops[node])
			status = consider(&choosing, nodes[node].next_sibling, err);
	}
	if (status == CTX_OK && choosing.n == 0 && n + choosing.n_small + walk->other <= limit) {
		free(walk->kept);
		walk->kept = NULL;
	}
	free(choosing.waiting);
	return status;
}

static void put_tree(struct walk *walk)
{
	const struct ctx_calltree *tree = walk->tree;
	const char *filter = walk->callers ? NULL : walk->out->options->function;

	if (walk->out->profile->losses.call_stacks)
		return;
	ctx_out_part(walk->out, walk->thread, tree->nodes[0].cum);
	walk->other = walk->out->head.has_other && filter == NULL;
	ctx_out_fail(walk->out, keep_heaviest(walk, NULL));
	for (uint32_t i = 0; i < tree->n; i++) {
		if (!ctx_function_matches(walk->out->profile, tree->nodes[i].function, filter))
			continue;
		walk->top = i;
		put_subtree(walk);
		/* Matches below it were printed with it. */
		i = ctx_subtree_end(tree, i) - 1;
	}
	if (has_other_row(walk))
		put_other(walk);
	else
		walk->left_out += walk->other;
	ctx_out_section(walk->out, NULL);
	ctx_out_more(walk->out, walk->left_out, "line");
	if (!walk->view->has_base && walk->view->n_more != 0)
		ctx_out_line(walk->out, "(Base has no room: a larger --width, or --format csv)");
	free(walk->kept);
	ctx_buf_deinit(&walk->drawing);
}

static enum ctx_status put_parts(struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				 const struct ctx_tree_stacks *stacks, bool callers, struct ctx_err *err)
{
	struct ctx_flat_row *more CTX_AUTO_FREE = ctx_calloc(parts->n_metrics, sizeof(*more));
	const struct ctx_part_trees *trees = &stacks->trees;
	struct ctx_out out;
	enum ctx_status status;

	if (more == NULL)
		return ctx_err_nomem(err);
	status = ctx_metric_view_init(view, parts, NULL, err);
	if (status != CTX_OK)
		return status;
	ctx_metric_view_begin(view, &out, parts);
	for (size_t i = 0; i < trees->n; i++) {
		struct walk walk = {.out = &out,
				    .view = view,
				    .tree = &trees->trees[i * trees->n_metrics],
				    .more = more,
				    .callers = callers,
				    .thread = parts->parts[i].thread};

		if (i != 0)
			ctx_out_section(&out, "");
		put_tree(&walk);
	}
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

/* Whether some node is a function of that name. */
static bool has_function(const struct ctx_tree_stacks *stacks, const char *name)
{
	for (size_t i = 0; i < stacks->trees.n; i++) {
		const struct ctx_calltree *tree = &stacks->trees.trees[i * stacks->trees.n_metrics];

		for (uint32_t node = 0; node < tree->n; node++) {
			if (ctx_function_matches(&stacks->profile, tree->nodes[node].function, name))
				return true;
		}
	}
	return false;
}

/* Folded, unless folding hides the function that is asked for: one of the kernel. */
static enum ctx_status make_stacks(const struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				   bool callers, struct ctx_tree_stacks *stacks, struct ctx_err *err)
{
	const struct ctx_report_options *options = view->options;
	struct ctx_tree_stacks_options wanted = {
		.folds = options->format == CTX_REPORT_TEXT && !options->no_fold,
		.callers = callers,
		.root = options->root,
		.function = options->function,
	};
	enum ctx_status status;

	wanted.small_percent = wanted.folds ? ctx_tree_min_percent(options) : options->min_percent;
	status = ctx_tree_stacks_init(stacks, view->selection->profile, parts, &wanted, err);
	if (status != CTX_OK || !wanted.folds || options->function == NULL ||
	    has_function(stacks, options->function))
		return status;
	ctx_tree_stacks_deinit(stacks);
	wanted.folds = false;
	return ctx_tree_stacks_init(stacks, view->selection->profile, parts, &wanted, err);
}

static enum ctx_status print_view(struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				  bool callers, struct ctx_err *err)
{
	struct ctx_tree_stacks stacks CTX_CLEANUP(ctx_tree_stacks_deinit);
	enum ctx_status status = make_stacks(view, parts, callers, &stacks, err);

	if (status != CTX_OK)
		return status;
	if (view->options->format == CTX_REPORT_TEXT && !view->options->no_fold)
		return ctx_tree_folded_print(view, parts, &stacks, callers, err);
	return put_parts(view, parts, &stacks, callers, err);
}

static enum ctx_status print_kind(struct ctx_report_source *source, const struct ctx_report_options *options,
				  bool callers, struct ctx_err *err)
{
	struct ctx_metric_view view = {.kind = callers ? &ctx_report_callers : &ctx_report_tree,
				       .form = &form,
				       .selection = &source->selection,
				       .options = options};
	struct ctx_report_parts parts;
	enum ctx_status status = ctx_function_check(source->selection.profile, options->function, err);

	if (status == CTX_OK)
		status = ctx_function_check(source->selection.profile, options->root, err);
	if (status == CTX_OK)
		status = ctx_metric_view_pull(&view, source, true, &parts, err);
	if (status == CTX_OK)
		status = print_view(&view, &parts, callers, err);
	ctx_metric_view_deinit(&view);
	return status;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	return print_kind(source, options, options->callers, err);
}

static enum ctx_status print_callers(struct ctx_report_source *source,
				     const struct ctx_report_options *options, struct ctx_err *err)
{
	return print_kind(source, options, true, err);
}

static const struct ctx_report_alias aliases[] = {{"calltree", true}, {"ctree", true}, {NULL, false}};

const struct ctx_report_kind ctx_report_tree = {
	.name = "tree",
	.metrics = CTX_REPORT_METRICS,
	.takes_function = true,
	.alias_unfolded = true,
	.order = ": the heaviest child comes first",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};

const struct ctx_report_kind ctx_report_callers = {
	.name = "callers",
	.metrics = CTX_REPORT_METRICS,
	.takes_function = true,
	.order = ": the heaviest caller comes first",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print_callers,
};
