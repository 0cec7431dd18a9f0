/* The stacks with the most weight of their own, leaf first. */
#include "base/mem.h"
#include "report/head.h"
#include "report/html_static.h"
#include "report/html_text.h"
#include "report/order.h"

#define FRAMES_MOST 64

static void put_frame(struct ctx_static_page *page, uint32_t function)
{
	ctx_buf_put_text(&page->buf, "<li>");
	ctx_static_put_link(page, function, false);
	ctx_static_put_object(page, function);
	ctx_buf_put_text(&page->buf, "</li>\n");
}

static void put_stack(struct ctx_static_page *page, size_t number, const struct ctx_hist_entry *entry,
		      uint64_t covered)
{
	const struct ctx_trie *cct = &page->input->profile->cct;
	const struct ctx_head *out = &page->head;
	char share[CTX_FIGURE_MAX], weight[CTX_FIGURE_MAX], cumulative[CTX_FIGURE_MAX];
	char count[CTX_HEAD_COUNT_MAX];
	uint32_t shown = 0, at = entry->stack;

	ctx_figure_percent(share, entry->weight, out->totals.weight, 2);
	ctx_figure_percent(cumulative, covered, out->totals.weight, 2);
	ctx_head_count(out, entry->samples, count);
	ctx_figure_fixed(weight, entry->weight, out->scale.divisor, out->scale.digits);
	ctx_buf_printf(&page->buf, "<div class=\"stack\"><h3>%zu. %s %%, %s ", number, share, weight);
	ctx_html_put_text(&page->buf, out->scale.unit);
	ctx_buf_printf(&page->buf,
		       ", %s <span class=\"faint\">(so far %s %%)</span></h3>\n"
		       "<ol class=\"frames\">\n",
		       count, cumulative);
	if (at == CTX_TRIE_ROOT)
		put_frame(page, CTX_TRIE_ROOT_KEY);
	for (; at != CTX_TRIE_ROOT && shown < FRAMES_MOST; at = cct->parent[at], shown++)
		put_frame(page, cct->key[at]);
	ctx_buf_put_text(&page->buf, "</ol>\n");
	ctx_static_more(page, cct->depth[at], cct->depth[at] == 1 ? "frame" : "frames");
	ctx_buf_put_text(&page->buf, "</div>\n");
}

enum ctx_status ctx_static_stacks(struct ctx_static_page *page, struct ctx_err *err)
{
	const struct ctx_histogram *histogram = page->whole.parts[0].histogram;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(histogram->n, sizeof(*items));
	uint64_t covered = 0;
	size_t n = 0;

	if (items == NULL)
		return ctx_err_nomem(err);
	/* Equal weights by stack id, as in the stacks report. That the CCT has them all was asked by the call tree. */
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];

		if (entry->samples != 0 || entry->weight != 0)
			items[n++] = (struct ctx_order_item){.number = entry->weight, .index = entry->stack};
	}
	ctx_order_sort(items, n);
	ctx_static_section(page, "stacks", "Hottest stacks", false);
	ctx_buf_put_text(&page->buf, "<p class=\"faint\">The innermost function first.</p>\n");
	for (size_t i = 0; i < n && i < CTX_STATIC_STACKS; i++) {
		const struct ctx_hist_entry *entry = ctx_histogram_get(histogram, items[i].index);

		covered += entry->weight;
		put_stack(page, i + 1, entry, covered);
	}
	ctx_static_more(page, n > CTX_STATIC_STACKS ? n - CTX_STATIC_STACKS : 0, "stacks");
	return CTX_OK;
}
