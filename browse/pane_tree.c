/*
 * Call trees: the folded tree of the reports, with rows that expand and collapse.
 *
 *	histogram --fold, reversed (callers)--> tree --ctx_folding_add--> rows --outline--> what is seen
 *
 * The fold outlives a selection, so a node has the same number in all of them: what was expanded stays so.
 */
#include "browse/outline.h"
#include "browse/pane.h"

#include "base/map64.h"
#include "base/mem.h"
#include "calltree/folding.h"
#include "calltree/reversed.h"
#include "report/figures.h"
#include "report/names.h"

#include <stdio.h>
#include <string.h>

#define LEAST_PERCENT 0.5 /* smaller nodes are hidden, as in the report tree */
#define OPEN_PERCENT 5	  /* rows with so much are expanded at first */
#define MOST_INDENT 24u	  /* columns */

struct line {
	uint32_t first, last; /* nodes of the tree */
	uint64_t self, total;
};

struct tree {
	bool callers;
	uint32_t of; /* callers: of which function */
	struct ctx_reversed reversed;
	bool has_reversed;
	bool *is_of; /* by function, of the reversed */
	struct ctx_calltree tree;
	struct line *lines;
	struct ctx_outline_row *outline;
	size_t n, *seen, n_seen;
	struct ctx_map64 opened; /* by stack: 1 expanded, 0 collapsed by the user */
	uint64_t weight;
	uint64_t hidden;
	size_t n_hidden;
	struct ctx_scale scale;
};

static struct tree *tree_of(const struct ctx_pane *pane)
{
	return pane->impl;
}

static void forget_rows(struct tree *tree)
{
	ctx_calltree_deinit(&tree->tree);
	free(tree->lines);
	free(tree->outline);
	free(tree->seen);
	tree->tree = (struct ctx_calltree){0};
	tree->lines = NULL;
	tree->outline = NULL;
	tree->seen = NULL;
	tree->n = tree->n_seen = 0;
}

static void forget_reversed(struct tree *tree)
{
	if (tree->has_reversed)
		ctx_reversed_deinit(&tree->reversed);
	free(tree->is_of);
	tree->is_of = NULL;
	tree->has_reversed = false;
	ctx_map64_clear(&tree->opened);
}

static void close_tree(struct ctx_pane *pane)
{
	if (pane->impl == NULL)
		return;
	forget_rows(pane->impl);
	forget_reversed(pane->impl);
	ctx_map64_deinit(&tree_of(pane)->opened);
	free(pane->impl);
}

/* Callers of another function are another tree. */
static enum ctx_status reverse_for(struct ctx_pane *pane, const struct ctx_fold *fold, struct ctx_err *err)
{
	struct tree *tree = tree_of(pane);
	uint32_t n = fold->profile.n_functions;

	tree->reversed.from = &fold->profile.cct;
	tree->reversed.instances_from = fold->restack.instances;
	if (tree->has_reversed && tree->of == pane->data->subject)
		return CTX_OK;
	forget_reversed(tree);
	tree->of = pane->data->subject;
	tree->is_of = ctx_calloc((size_t)n + 1, sizeof(*tree->is_of));
	if (tree->is_of == NULL)
		return ctx_err_nomem(err);
	if (tree->of < n)
		tree->is_of[tree->of] = true;
	tree->reversed = (struct ctx_reversed){
		.from = &fold->profile.cct, .of = tree->is_of, .instances_from = fold->restack.instances};
	tree->has_reversed = true;
	return ctx_reversed_init(&tree->reversed, err);
}

static const struct ctx_trie *trie_of(const struct ctx_pane *pane)
{
	const struct tree *tree = tree_of(pane);

	return tree->callers ? &tree->reversed.to : &pane->data->fold.profile.cct;
}

static uint32_t instances_of(const struct ctx_pane *pane, uint32_t stack)
{
	const struct tree *tree = tree_of(pane);
	const uint32_t *instances =
		tree->callers ? tree->reversed.instances : pane->data->fold.restack.instances;

	return instances != NULL ? instances[stack] : 1;
}

static enum ctx_status build(struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_histogram folded CTX_CLEANUP(ctx_histogram_deinit) = {0};
	struct ctx_histogram reversed CTX_CLEANUP(ctx_histogram_deinit) = {0};
	struct tree *tree = tree_of(pane);
	struct ctx_report_source *source;
	struct ctx_report_parts parts;
	struct ctx_fold *fold;
	enum ctx_status status = ctx_browse_data_source(pane->data, &source, err);

	if (status == CTX_OK)
		status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);
	if (status == CTX_OK)
		status = ctx_browse_data_fold(pane->data, &fold, err);
	if (status == CTX_OK)
		status = ctx_fold_histogram(fold, &parts.parts[0].histograms[0], &folded, err);
	if (status == CTX_OK && tree->callers)
		status = reverse_for(pane, fold, err);
	if (status == CTX_OK && tree->callers)
		status = ctx_reversed_histogram(&tree->reversed, &folded, &reversed, err);
	if (status != CTX_OK)
		return status;
	tree->weight = folded.weight;
	return ctx_calltree_build(trie_of(pane), fold->profile.n_functions,
				  tree->callers ? &reversed : &folded, &tree->tree, err);
}

/* Expanded or not: as the user left it, else what has much. */
static bool is_open(const struct tree *tree, const struct line *line)
{
	uint32_t said = ctx_map64_get(&tree->opened, tree->tree.nodes[line->first].stack);

	return said != CTX_MAP64_NONE ? said != 0
				      : line->total >= tree->tree.nodes[0].cum / (100 / OPEN_PERCENT);
}

static void see(struct ctx_pane *pane)
{
	struct tree *tree = tree_of(pane);

	for (size_t i = 0; i < tree->n; i++)
		tree->outline[i].is_open = is_open(tree, &tree->lines[i]);
	tree->n_seen = ctx_outline_see(tree->outline, tree->n, tree->seen);
	pane->n_rows = tree->n_seen + (tree->n_hidden != 0);
}

static enum ctx_status keep_rows(struct tree *tree, const struct ctx_folding *folding, struct ctx_err *err)
{
	tree->lines = ctx_calloc(folding->n + 1, sizeof(*tree->lines));
	tree->outline = ctx_calloc(folding->n + 1, sizeof(*tree->outline));
	tree->seen = ctx_calloc(folding->n + 1, sizeof(*tree->seen));
	if (tree->lines == NULL || tree->outline == NULL || tree->seen == NULL)
		return ctx_err_nomem(err);
	tree->n = folding->n;
	for (size_t i = 0; i < folding->n; i++) {
		const struct ctx_folding_row *row = &folding->rows[i];

		tree->lines[i] = (struct line){.first = row->first,
					       .last = row->last,
					       .self = folding->self[i],
					       .total = tree->tree.nodes[row->first].cum};
		tree->outline[i] = (struct ctx_outline_row){.level = row->level};
	}
	tree->hidden = folding->hidden[0];
	tree->n_hidden = folding->n_small;
	return CTX_OK;
}

static enum ctx_status fold_rows(struct tree *tree, struct ctx_err *err)
{
	double least = LEAST_PERCENT / 100 * (double)tree->tree.nodes[0].cum;
	const struct ctx_folding_input input = {
		.trees = &tree->tree, .n_trees = 1, .least = &least, .max_level = UINT32_MAX, .joins = true};
	struct ctx_folding folding CTX_CLEANUP(ctx_folding_deinit) = {0};
	enum ctx_status status = ctx_folding_init(&folding, &input, err);

	if (status == CTX_OK)
		status = ctx_folding_add(&folding, 0, err);
	return status == CTX_OK ? keep_rows(tree, &folding, err) : status;
}

static enum ctx_status load(struct ctx_pane *pane, bool callers, struct ctx_err *err)
{
	const struct ctx_profile *profile = pane->data->host->profile;
	struct tree *tree;
	enum ctx_status status;

	if (pane->impl == NULL)
		pane->impl = ctx_calloc(1, sizeof(struct tree));
	if (pane->impl == NULL)
		return ctx_err_nomem(err);
	tree = pane->impl;
	forget_rows(tree);
	tree->callers = callers;
	if (profile->losses.call_stacks)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "no call stacks in this recording: record with perf record -g");
	if (callers && pane->data->subject == CTX_NONE)
		return ctx_err_set(err, CTX_E_NOTFOUND, "select a function first, in another pane");
	status = build(pane, err);
	if (status == CTX_OK)
		status = fold_rows(tree, err);
	if (status != CTX_OK)
		return status;
	tree->scale = ctx_scale_for(pane->data->metric < profile->n_metrics
					    ? profile->metrics[pane->data->metric].unit
					    : CTX_UNIT_NONE,
				    tree->weight);
	see(pane);
	return CTX_OK;
}

static enum ctx_status load_tree(struct ctx_pane *pane, struct ctx_err *err)
{
	return load(pane, false, err);
}

static enum ctx_status load_callers(struct ctx_pane *pane, struct ctx_err *err)
{
	return load(pane, true, err);
}

static void heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	const struct tree *tree = tree_of(pane);
	char title[32];

	(void)width;
	if (tree == NULL)
		return;
	snprintf(title, sizeof(title), "Total %s", tree->scale.unit != NULL ? tree->scale.unit : "");
	ctx_buf_printf(buf, tree->callers ? "%14s %7s %s" : "%14s %7s  Self %% Name", title, "Total %",
		       "Called by");
}

/* Frames of a line, which it has from its first node to its last. */
static void put_frames(const struct ctx_pane *pane, size_t index, size_t width, struct ctx_buf *buf)
{
	const struct tree *tree = tree_of(pane);
	const struct line *line = &tree->lines[index];
	const struct ctx_calltree_node *nodes = tree->tree.nodes;
	size_t n = nodes[line->last].level - nodes[line->first].level + 1;
	struct ctx_fold_frame *frames CTX_AUTO_FREE = ctx_calloc(n, sizeof(*frames));
	struct ctx_fold_line_style style = {
		.width = width, .ascii = pane->data->ascii, .upward = tree->callers};
	size_t parent = ctx_outline_parent(tree->outline, index);

	if (frames == NULL) {
		buf->failed = true;
		return;
	}
	for (uint32_t at = line->last, i = (uint32_t)n; i-- > 0; at = nodes[at].parent)
		frames[i] = ctx_fold_frame(&pane->data->fold.profile, nodes[at].function,
					   instances_of(pane, nodes[at].stack));
	if (parent != index && tree->lines[parent].first != 0)
		style.object =
			ctx_fold_frame(&pane->data->fold.profile, nodes[tree->lines[parent].last].function, 1)
				.object;
	ctx_fold_line(buf, frames, n, &style);
}

static void put_name(const struct ctx_pane *pane, size_t index, size_t width, struct ctx_buf *buf)
{
	const struct tree *tree = tree_of(pane);
	const struct ctx_outline_row *row = &tree->outline[index];
	size_t indent = (size_t)row->level * 2;
	const char *mark = !row->has_children ? " " : row->is_open ? "-" : "+";

	indent = indent < MOST_INDENT ? indent : MOST_INDENT;
	indent = indent + 14 < width ? indent : 0;
	ctx_buf_printf(buf, "%*s%s ", (int)indent, "", mark);
	if (tree->lines[index].first == 0)
		ctx_buf_put_text(buf, "<Total>");
	else
		put_frames(pane, index, width - indent - 2, buf);
}

static void put_hidden(const struct tree *tree, struct ctx_buf *buf)
{
	char share[CTX_FIGURE_MAX];

	ctx_figure_percent(share, tree->hidden, tree->weight, 2);
	ctx_buf_printf(buf, "hidden: %zu %s below %g %%; the totals include their %s %%", tree->n_hidden,
		       tree->n_hidden == 1 ? "node" : "nodes", LEAST_PERCENT, share);
}

static void put(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	const struct tree *tree = tree_of(pane);
	char total[CTX_FIGURE_MAX], share[CTX_FIGURE_MAX], self[CTX_FIGURE_MAX];
	const struct line *line;
	size_t used = tree->callers ? 23 : 31;

	if (row >= tree->n_seen) {
		put_hidden(tree, buf);
		return;
	}
	line = &tree->lines[tree->seen[row]];
	ctx_figure_fixed(total, line->total, tree->scale.divisor, tree->scale.digits);
	ctx_figure_percent(share, line->total, tree->weight, 2);
	ctx_figure_percent(self, line->self, tree->weight, 2);
	ctx_buf_printf(buf, "%14s %7s ", total, share);
	if (!tree->callers)
		ctx_buf_printf(buf, "%7s ", self);
	put_name(pane, tree->seen[row], width > used + 14 ? width - used : 14, buf);
}

static enum ctx_look look(const struct ctx_pane *pane, size_t row)
{
	return row >= tree_of(pane)->n_seen ? CTX_LOOK_DIM : CTX_LOOK_PLAIN;
}

static uint32_t function(const struct ctx_pane *pane, size_t row)
{
	const struct tree *tree = tree_of(pane);
	uint32_t found;

	if (row >= tree->n_seen)
		return CTX_NONE;
	found = tree->tree.nodes[tree->lines[tree->seen[row]].last].function;
	return found != CTX_TRIE_ROOT_KEY ? found : CTX_NONE;
}

static uint64_t id(const struct ctx_pane *pane, size_t row)
{
	const struct tree *tree = tree_of(pane);

	return row < tree->n_seen ? tree->tree.nodes[tree->lines[tree->seen[row]].first].stack : UINT64_MAX;
}

static void say(struct tree *tree, size_t index, bool open)
{
	uint32_t *place = ctx_map64_place(&tree->opened, tree->tree.nodes[tree->lines[index].first].stack);

	/* Without memory the row stays as it is. */
	if (place != NULL)
		*place = open;
}

/* Closing what is closed goes to the row above. */
static bool unfold(struct ctx_pane *pane, enum ctx_pane_unfold how)
{
	struct tree *tree = tree_of(pane);
	size_t row = pane->list.selected, index;

	if (tree == NULL || row >= tree->n_seen)
		return false;
	index = tree->seen[row];
	if (how == CTX_UNFOLD_ALL) {
		for (size_t i = index;
		     i < tree->n && (i == index || tree->outline[i].level > tree->outline[index].level); i++)
			say(tree, i, true);
	} else if (how == CTX_UNFOLD_CLOSE &&
		   (!tree->outline[index].has_children || !tree->outline[index].is_open)) {
		size_t parent = ctx_outline_parent(tree->outline, index);

		while (row > 0 && tree->seen[row] != parent)
			row--;
		return ctx_list_move(&pane->list, (long)row - (long)pane->list.selected);
	} else {
		say(tree, index,
		    how == CTX_UNFOLD_OPEN || (how == CTX_UNFOLD_TOGGLE && !tree->outline[index].is_open));
	}
	see(pane);
	ctx_list_fit(&pane->list, pane->n_rows, pane->list.height, pane->list.selected);
	return true;
}

const struct ctx_pane_kind ctx_pane_tree = {
	.title = "Tree",
	.load = load_tree,
	.heading = heading,
	.put = put,
	.look = look,
	.function = function,
	.id = id,
	.unfold = unfold,
	.close = close_tree,
};

const struct ctx_pane_kind ctx_pane_callers = {
	.title = "Callers",
	.load = load_callers,
	.heading = heading,
	.put = put,
	.look = look,
	.function = function,
	.id = id,
	.unfold = unfold,
	.close = close_tree,
};
