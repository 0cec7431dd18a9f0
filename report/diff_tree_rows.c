#include "base/mem.h"
#include "report/diff_page.h"
#include "report/diff_tree.h"
#include "report/names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LEAST_SHARE 0.005    /* of the heavier side: changes below are hidden, */
#define LEAST_OF_LARGEST 0.1 /* unless none is larger than ten of them */
#define EXPLANATIONS 3u
#define LINES 50u

struct rows {
	struct ctx_diff_page *page;
	struct ctx_diff_tree tree;
	uint32_t *last_of; /* owned; by node: of what is shown */
	uint32_t *level;   /* owned; by node: rows above it */
};

static uint32_t item_at(const struct rows *rows, uint32_t node)
{
	uint32_t row = rows->tree.nodes[node].row;

	return row != CTX_NONE ? rows->page->diff.rows[row].item : CTX_NONE;
}

/* In JSON and CSV every node is a row. */
static bool is_folded(const struct ctx_diff_page *page)
{
	return ctx_out_is_text(&page->out) && !page->options->no_fold;
}

static double least_change(const struct rows *rows)
{
	const struct ctx_diff_page *page = rows->page;
	double whole = fmax(page->diff.sides[CTX_COMPARE_A].weight, page->diff.sides[CTX_COMPARE_B].weight);
	double largest = 0;

	if (page->options->min_percent_given || !is_folded(page))
		return page->options->min_percent / 100 * whole;
	for (uint32_t i = 1; i < rows->tree.n; i++)
		largest = fmax(largest, fabs(rows->tree.nodes[i].change));
	return fmin(LEAST_SHARE * whole, LEAST_OF_LARGEST * largest);
}

/* "  +29.000 ms: main > run > hash" */
static void put_explanation(struct rows *rows, uint32_t node)
{
	struct ctx_diff_page *page = rows->page;
	const char *before = ctx_out_format(
		&page->out, "  %s: ", ctx_diff_page_change(page, rows->tree.nodes[node].change));
	size_t taken = strlen(before), width = page->options->width;
	struct ctx_fold_line_style style = {.width = width == 0		  ? SIZE_MAX
						     : width > taken + 20 ? width - taken
									  : 20,
					    .ascii = page->options->ascii};
	struct ctx_cell cell =
		ctx_diff_frames_cell(&page->out, &page->diff.items, item_at(rows, node), CTX_NONE);
	struct ctx_buf line CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&line, before);
	if (cell.frames == NULL)
		ctx_name_put_text(&line, cell.name, page->options->ascii);
	else
		ctx_fold_line(&line, cell.frames->frames, cell.frames->n, &style);
	ctx_buf_put_u8(&line, '\0');
	if (line.failed)
		ctx_out_fail(&page->out, CTX_E_NOMEM);
	else
		ctx_out_line(&page->out, (const char *)line.bytes);
}

/* Whether a node is in the subtree of one of these, or one of them in its. */
static bool is_near(const struct rows *rows, uint32_t node, const uint32_t *others, size_t n)
{
	const struct ctx_diff_node *nodes = rows->tree.nodes;

	for (size_t i = 0; i < n; i++) {
		uint32_t other = others[i];

		if ((node >= other && node < nodes[other].end) || (other >= node && other < nodes[node].end))
			return true;
	}
	return false;
}

/* The largest changes that no node below explains, apart from each other. */
static void put_explanations(struct rows *rows)
{
	const struct ctx_diff_node *nodes = rows->tree.nodes;
	uint32_t found[EXPLANATIONS];
	size_t n = 0;

	if (!ctx_out_is_text(&rows->page->out))
		return;
	for (; n < EXPLANATIONS; n++) {
		uint32_t most = 0;

		for (uint32_t i = 1; i < rows->tree.n; i++) {
			if (nodes[i].explained == i && !is_near(rows, i, found, n) &&
			    fabs(nodes[i].change) > (most != 0 ? fabs(nodes[most].change) : 0))
				most = i;
		}
		if (most == 0)
			break;
		found[n] = most;
	}
	if (n == 0)
		return;
	ctx_out_line(&rows->page->out, "Explained by:");
	for (size_t i = 0; i < n; i++)
		put_explanation(rows, found[i]);
	ctx_out_line(&rows->page->out, "");
}

/* The name of a row in text: the chain of its nodes, indented. */
static void draw(struct rows *rows, uint32_t node, struct ctx_cell *identity)
{
	struct ctx_diff_page *page = rows->page;
	uint32_t level = rows->level[node], most = page->options->width / 8;
	uint32_t parent = rows->tree.nodes[node].parent;
	struct ctx_cell *cell = &identity[page->form->n_columns - 1];

	*cell = ctx_diff_frames_cell(&page->out, &page->diff.items, item_at(rows, rows->last_of[node]),
				     item_at(rows, parent));
	if (page->options->width != 0 && level > most)
		level = most;
	cell->drawing = ctx_out_format(&page->out, "%*s", (int)(2 * level), "");
	cell->level = (uint16_t)(level < UINT16_MAX ? level : UINT16_MAX);
}

static void put_node(struct rows *rows, uint32_t node)
{
	struct ctx_diff_page *page = rows->page;
	const struct ctx_diff_node *it = &rows->tree.nodes[node];
	struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX];
	struct ctx_cell *identity = ctx_diff_page_identity(cells);

	ctx_diff_page_fill(page, it->row, cells);
	if (ctx_out_is_text(&page->out) && node != 0)
		draw(rows, node, identity);
	identity[0] = ctx_cell_number(it->level);
	if (!ctx_out_has_lists(&page->out)) {
		ctx_out_row(&page->out, cells);
		return;
	}
	ctx_out_row_begin(&page->out, cells);
	ctx_diff_put_path(&page->out, "explained_by", &page->diff.items, item_at(rows, it->explained),
			  item_at(rows, node));
	ctx_out_row_end(&page->out);
}

/* A node's weight is at most that of its parent: what is above a heavy one is heavy. */
static bool is_heavy(const struct rows *rows, uint32_t node)
{
	const struct ctx_diff *diff = &rows->page->diff;
	const double *weight = diff->rows[rows->tree.nodes[node].row].weight;
	double least = rows->page->least_share;

	return weight[CTX_COMPARE_A] >= least * diff->sides[CTX_COMPARE_A].weight ||
	       weight[CTX_COMPARE_B] >= least * diff->sides[CTX_COMPARE_B].weight;
}

static bool is_wanted(const struct rows *rows, uint32_t node)
{
	const struct ctx_report_options *options = rows->page->options;

	return is_heavy(rows, node) &&
	       (options->depth == 0 || rows->tree.nodes[node].level <= options->depth) &&
	       ctx_diff_item_matches(&rows->page->diff.items, item_at(rows, node), options->function);
}

static void put_nodes(struct rows *rows)
{
	struct ctx_diff_page *page = rows->page;
	uint32_t limit = page->options->limit != 0		    ? page->options->limit
			 : is_folded(page) && !page->options->whole ? LINES
								    : UINT32_MAX;
	uint32_t shown = 0, left_out = 0;

	put_node(rows, 0);
	for (uint32_t i = 1; i < rows->tree.n; i++) {
		uint32_t parent = rows->tree.nodes[i].parent;
		bool is_row = rows->last_of[i] != CTX_NONE;

		rows->level[i] = rows->level[parent] + (is_row && parent != 0 ? 1 : 0);
		if (!is_row || !is_wanted(rows, i))
			continue;
		if (shown == limit) {
			left_out++;
			continue;
		}
		shown++;
		put_node(rows, i);
	}
	ctx_out_section(&page->out, NULL);
	ctx_out_more(&page->out, left_out, page->form->one);
}

enum ctx_status ctx_diff_page_put_tree(struct ctx_diff_page *page, struct ctx_err *err)
{
	struct rows rows = {.page = page};
	enum ctx_status status = ctx_diff_tree_make(&page->diff, &rows.tree, err);
	uint32_t *last_of CTX_AUTO_FREE = ctx_calloc(rows.tree.n + 1u, sizeof(*last_of));
	uint32_t *level CTX_AUTO_FREE = ctx_calloc(rows.tree.n + 1u, sizeof(*level));

	rows.last_of = last_of;
	rows.level = level;
	if (status == CTX_OK && (last_of == NULL || level == NULL))
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		(void)ctx_diff_tree_fold(&page->diff, &rows.tree, least_change(&rows), is_folded(page),
					 last_of);
		put_explanations(&rows);
		put_nodes(&rows);
	}
	ctx_diff_tree_deinit(&rows.tree);
	return status;
}
