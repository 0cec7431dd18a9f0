/* The call tree as a table, indented; as report/tree.c has it with --min-percent 0.5. */
#include "report/html_static.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <stdio.h>

static void put_numbers(struct ctx_static_page *page, const struct ctx_calltree_node *node, bool whole)
{
	ctx_static_count(page, node->level);
	if (whole) {
		ctx_static_signed(page, node->calls);
		ctx_static_weight(page, node->base);
	} else {
		ctx_static_empty(page, 2);
	}
	ctx_static_weight(page, node->cum);
	ctx_static_percent(page, node->cum);
}

/* One line for `node` and its later siblings, which are smaller still. */
static void put_small(struct ctx_static_page *page, uint32_t node)
{
	const struct ctx_calltree_node *nodes = page->tree.nodes;
	struct ctx_calltree_node sum = nodes[node];
	uint32_t n = 1;

	for (uint32_t i = nodes[node].next_sibling; i != CTX_CALLTREE_NONE; i = nodes[i].next_sibling) {
		sum.cum += nodes[i].cum;
		n++;
	}
	ctx_buf_put_text(&page->buf, "<tr class=\"more\">");
	put_numbers(page, &sum, false);
	ctx_static_put_indent(page, sum.level);
	ctx_buf_printf(&page->buf, "(%" PRIu32 " more below 0.5 %%)</td><td></td></tr>\n", n);
}

static bool is_small(const struct ctx_static_page *page, uint64_t weight)
{
	return (unsigned __int128)weight * 1000 <
	       (unsigned __int128)page->head.totals.weight * CTX_STATIC_SMALLEST;
}

void ctx_static_tree(struct ctx_static_page *page)
{
	const struct ctx_calltree_node *nodes = page->tree.nodes;
	char base[64], cum[64];
	const char *const titles[] = {"Level", "Calls", base, cum, "%", "<Function", "<Object", NULL};
	uint32_t lines = 0;
	uint64_t left_out = 0;

	snprintf(base, sizeof(base), "Base %.40s", page->head.scale.unit);
	snprintf(cum, sizeof(cum), "Cum %.40s", page->head.scale.unit);
	ctx_static_section(page, "tree", "Call tree", false);
	ctx_static_table(page,
			 "Down to 0.5 % of the total. Base: at that place itself; cum: there and below.",
			 titles);
	for (uint32_t i = 0; i < page->tree.n;) {
		bool small = i != 0 && is_small(page, nodes[i].cum);

		if (lines++ >= CTX_STATIC_TREE) {
			left_out++;
		} else if (small) {
			put_small(page, i);
		} else {
			ctx_buf_put_text(&page->buf, "<tr>");
			put_numbers(page, &nodes[i], true);
			ctx_static_function(page, nodes[i].function, nodes[i].level);
			ctx_buf_put_text(&page->buf, "</tr>\n");
		}
		i = small ? ctx_subtree_end(&page->tree, nodes[i].parent) : i + 1;
	}
	ctx_static_table_end(page);
	ctx_static_more(page, left_out, "lines");
}
