/*
 * Sorting is most of the work. The entries are sorted by stack first, which is the order of the
 * calls list, and then by size, stably, which leaves equal sizes in the order of their stacks. Both
 * are radix sorts of 16-byte items; when all samples weigh the same their number is the size, which
 * has far fewer digits than the weight.
 */
#include "timetree/node_summary.h"

#include "base/mem.h"

#include <string.h>

#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)
#define SMALL 48 /* below it insertion sort is faster */

struct ctx_node_sort_item {
	uint64_t key;
	uint32_t stack;
	uint32_t entry; /* of the histogram */
};

void ctx_node_summary_deinit(struct ctx_node_summary *summary)
{
	free(summary->entries);
	free(summary->calls);
	free(summary->items);
	free(summary->scratch);
	ctx_buf_deinit(&summary->top_bytes);
	ctx_buf_deinit(&summary->tail_bytes);
	ctx_buf_deinit(&summary->calls_bytes);
	*summary = (struct ctx_node_summary){0};
}

static void sort_small(struct ctx_node_sort_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct ctx_node_sort_item item = items[i];
		size_t k = i;

		for (; k > 0 && items[k - 1].key > item.key; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

/* Sorts by ascending key, stably; the result is in summary->items. */
static void sort_items(struct ctx_node_summary *summary, size_t n)
{
	uint64_t all = 0;

	if (n < SMALL) {
		sort_small(summary->items, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		all |= summary->items[i].key;
	for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += DIGIT_BITS) {
		size_t place[DIGITS] = {0}, sum = 0;
		struct ctx_node_sort_item *from = summary->items, *to = summary->scratch;

		if (((all >> shift) & (DIGITS - 1)) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			place[(from[i].key >> shift) & (DIGITS - 1)]++;
		for (size_t i = 0; i < DIGITS; i++) {
			size_t count = place[i];

			place[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[place[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
		summary->items = to;
		summary->scratch = from;
	}
}

/*
 * Does every sample have the same non-zero weight? A list without a unit is in the order of
 * weights.
 */
static bool same_unit(const struct ctx_histogram *histogram)
{
	uint64_t unit, weight;

	if (histogram->samples == 0)
		return false;
	unit = histogram->weight / histogram->samples;
	if (unit == 0)
		return false;
	for (size_t i = 0; i < histogram->n; i++) {
		if (__builtin_mul_overflow(histogram->entries[i].samples, unit, &weight) ||
		    weight != histogram->entries[i].weight)
			return false;
	}
	return true;
}

/*
 * Sorts by stack. Sets the calls list, and the items: stacks with samples, keyed by descending
 * size.
 */
static size_t sort_by_stack(struct ctx_node_summary *summary, const struct ctx_histogram *histogram)
{
	bool by_samples = same_unit(histogram);
	uint64_t largest = 0;
	size_t n = 0;

	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		uint64_t size = by_samples ? entry->samples : entry->weight;

		summary->items[i] = (struct ctx_node_sort_item){
			.key = entry->stack, .stack = entry->stack, .entry = (uint32_t)i};
		largest = size > largest ? size : largest;
	}
	sort_items(summary, histogram->n);
	summary->n_calls = 0;
	for (size_t i = 0; i < histogram->n; i++) {
		struct ctx_node_sort_item item = summary->items[i];
		const struct ctx_hist_entry *entry = &histogram->entries[item.entry];

		if (entry->calls != 0)
			summary->calls[summary->n_calls++] =
				(struct ctx_timenode_calls){.calls = entry->calls, .stack = entry->stack};
		if (entry->samples == 0)
			continue;
		item.key = largest - (by_samples ? entry->samples : entry->weight);
		summary->items[n++] = item;
	}
	return n;
}

static void sort_by_size(struct ctx_node_summary *summary, const struct ctx_histogram *histogram, size_t n)
{
	sort_items(summary, n);
	summary->n_entries = n;
	for (size_t i = 0; i < n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[summary->items[i].entry];

		summary->entries[i] = (struct ctx_hist_item){
			.weight = entry->weight, .samples = entry->samples, .stack = entry->stack};
	}
}

/*
 * The end of the top: as soon as it has `percent` of the weight. 100 also keeps stacks of weight 0.
 */
static void cut(struct ctx_node_summary *summary, const struct ctx_histogram *histogram, uint32_t percent)
{
	unsigned __int128 want = (unsigned __int128)histogram->weight * percent;
	uint64_t weight = 0, samples = 0;
	size_t n = 0;

	while (n < summary->n_entries && (percent == 100 || (unsigned __int128)weight * 100 < want)) {
		weight += summary->entries[n].weight;
		samples += summary->entries[n].samples;
		n++;
	}
	summary->n_top = n;
	summary->tail_weight = histogram->weight - weight;
	summary->tail_samples = histogram->samples - samples;
	summary->tail_largest = n < summary->n_entries ? summary->entries[n].weight : 0;
}

static enum ctx_status make_room(struct ctx_node_summary *summary, size_t n, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&summary->entries, &summary->entries_cap, n, err);

	if (status == CTX_OK)
		status = ctx_grow(&summary->calls, &summary->calls_cap, n, err);
	if (status == CTX_OK && summary->items_cap < n) {
		/*
		 * The two are swapped while sorting: both must be allocated before either counts as
		 * large.
		 */
		size_t items_cap = summary->items_cap, scratch_cap = summary->items_cap;

		status = ctx_grow(&summary->scratch, &scratch_cap, n, err);
		if (status == CTX_OK)
			status = ctx_grow(&summary->items, &items_cap, n, err);
		if (status == CTX_OK)
			summary->items_cap = items_cap;
	}
	return status;
}

enum ctx_status ctx_node_summary_make(struct ctx_node_summary *summary, const struct ctx_histogram *histogram,
				      uint32_t percent, bool keep_tail, struct ctx_err *err)
{
	enum ctx_status status = make_room(summary, histogram->n, err);

	if (status != CTX_OK)
		return status;
	sort_by_size(summary, histogram, sort_by_stack(summary, histogram));
	cut(summary, histogram, percent);
	ctx_buf_clear(&summary->top_bytes);
	ctx_buf_clear(&summary->tail_bytes);
	ctx_buf_clear(&summary->calls_bytes);
	ctx_timenode_list_encode(summary->entries, summary->n_top, &summary->top_bytes);
	if (keep_tail)
		ctx_timenode_list_encode(summary->entries + summary->n_top,
					 summary->n_entries - summary->n_top, &summary->tail_bytes);
	ctx_timenode_calls_encode(summary->calls, summary->n_calls, &summary->calls_bytes);
	status = ctx_buf_check(&summary->top_bytes, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&summary->tail_bytes, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&summary->calls_bytes, err);
	return status;
}

void ctx_node_summary_fill(const struct ctx_node_summary *summary, const struct ctx_histogram *histogram,
			   struct ctx_timenode *node)
{
	node->samples = histogram->samples;
	node->weight = histogram->weight;
	node->tail_weight = summary->tail_weight;
	node->tail_samples = summary->tail_samples;
	node->tail_largest = summary->tail_largest;
	node->top = summary->top_bytes.bytes;
	node->top_bytes = summary->top_bytes.n;
	node->tail = summary->tail_bytes.bytes;
	node->tail_bytes = summary->tail_bytes.n;
	node->calls = summary->calls_bytes.bytes;
	node->calls_bytes = summary->calls_bytes.n;
}
