/*
 * A query walks down from the root along the two edges of the window:
 *
 *	window                    [ - - - - - - - - - )
 *	root       |---------------------------------------------|    partly: go down
 *	children   | skipped |   partly   |  whole  |   partly   |    whole: its lists, no descent
 *	leaves               |skip|partly |         |partly|skip |    partly: sample by sample
 *
 * The intervals of children follow from that of their parent, so nodes disjoint from the window are
 * never read.
 */
#include "base/bisect.h"
#include "timetree/timenode_codec.h"
#include "timetree/timetree_parts.h"

struct walk {
	const struct ctx_timetree_reader *reader;
	struct ctx_interval window;
	unsigned flags;
	struct ctx_histogram *out;
	struct ctx_timetree_cost *cost;
	struct ctx_err *err;
};

static enum ctx_status broken(struct ctx_err *err, uint32_t node, const char *what)
{
	return ctx_err_set(err, CTX_E_FORMAT, "time tree node %u: %s", node, what);
}

static enum ctx_status check_samples(const struct walk *walk, const struct ctx_timenode *node,
				     const struct ctx_sample *samples, size_t n)
{
	const struct ctx_trie *cct = walk->reader->cct;

	if (n != node->samples)
		return broken(walk->err, node->id, "the number of its samples is another");
	for (size_t i = 0; i < n; i++) {
		if (!ctx_interval_has(node->interval, samples[i].time_ns))
			return broken(walk->err, node->id, "a sample outside its interval");
		if (cct != NULL && samples[i].stack >= cct->n)
			return broken(walk->err, node->id, "a sample with an unknown stack");
	}
	return CTX_OK;
}

/*
 * Adds the samples of a leaf that are in the window. They are checked first: the file may be
 * damaged.
 */
static enum ctx_status take_leaf(struct walk *walk, const struct ctx_timenode *node)
{
	const struct ctx_trie *cct = (walk->flags & CTX_TIMETREE_NO_CALLS) != 0 ? NULL : walk->reader->cct;
	const struct ctx_sample *samples = NULL;
	size_t n = 0;
	enum ctx_status status;

	if (ctx_interval_contains(walk->window, node->interval))
		walk->cost->leaves_whole++;
	else
		walk->cost->leaves_partial++;
	if (node->samples == 0)
		return CTX_OK;
	status = walk->reader->leaf(walk->reader->context, node->id, &samples, &n, walk->err);
	if (status == CTX_OK)
		status = check_samples(walk, node, samples, n);
	walk->cost->samples_enumerated += n;
	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		if (ctx_interval_has(walk->window, samples[i].time_ns))
			status = ctx_histogram_add_samples(walk->out, cct, &samples[i], 1, walk->err);
	}
	return status;
}

/* Adds the lists of an inner node wholly inside the window. */
static enum ctx_status take_lists(struct walk *walk, const struct ctx_timenode *node)
{
	struct ctx_timetree_cost *cost = walk->cost;
	bool top_only = (walk->flags & CTX_TIMETREE_TOP_ONLY) != 0;
	size_t top = 0, tail = 0, calls = 0;
	enum ctx_status status;

	cost->nodes_whole++;
	if ((walk->flags & CTX_TIMETREE_SUMS) != 0) {
		cost->omitted_weight += node->weight;
		cost->omitted_samples += node->samples;
		cost->omitted_largest += node->weight;
		return CTX_OK;
	}
	status = ctx_timenode_list_decode(node->top, node->top_bytes, walk->out, &top, walk->err);
	cost->list_bytes += node->top_bytes;
	if (status == CTX_OK && (top_only || node->tail_bytes == 0)) {
		cost->omitted_weight += node->tail_weight;
		cost->omitted_samples += node->tail_samples;
		cost->omitted_largest += node->tail_largest;
	} else if (status == CTX_OK) {
		status = ctx_timenode_list_decode(node->tail, node->tail_bytes, walk->out, &tail, walk->err);
		cost->list_bytes += node->tail_bytes;
	}
	if (status == CTX_OK && (walk->flags & CTX_TIMETREE_NO_CALLS) == 0) {
		status = ctx_timenode_calls_decode(node->calls, node->calls_bytes, walk->out, &calls,
						   walk->err);
		cost->list_bytes += node->calls_bytes;
	}
	cost->list_entries += top + tail + calls;
	if (status != CTX_OK)
		return ctx_err_prefix(walk->err, status, "node %u", node->id);
	return CTX_OK;
}

/* Invariants of a row that make the walk safe and finite. */
static enum ctx_status check_row(const struct walk *walk, const struct ctx_timenode *node)
{
	uint64_t width = node->interval.end_ns - node->interval.begin_ns;

	if (ctx_interval_is_empty(node->interval))
		return broken(walk->err, node->id, "its interval is empty");
	if (node->n_children == 0)
		return CTX_OK;
	if (node->n_children < 2 || node->n_children > 256 || node->n_children > width)
		return broken(walk->err, node->id, "it cannot have so many children");
	if (node->first_child <= node->id || node->first_child > UINT32_MAX - node->n_children)
		return broken(walk->err, node->id, "its children's ids are not after its own");
	return CTX_OK;
}

static enum ctx_status read_row(struct walk *walk, uint32_t id, bool want_lists, struct ctx_timenode *ret)
{
	enum ctx_status status = walk->reader->node(walk->reader->context, id, want_lists, ret, walk->err);

	if (status != CTX_OK)
		return status;
	return ret->id == id ? check_row(walk, ret) : broken(walk->err, id, "its row is another node's");
}

/* The row of a child, which must cover its share of its parent's interval. */
static enum ctx_status read_child(struct walk *walk, uint32_t id, struct ctx_interval part, bool want_lists,
				  struct ctx_timenode *ret)
{
	enum ctx_status status = read_row(walk, id, want_lists, ret);

	if (status == CTX_OK &&
	    (ret->interval.begin_ns != part.begin_ns || ret->interval.end_ns != part.end_ns))
		return broken(walk->err, id, "its interval is not its share of its parent's");
	return status;
}

static bool wants_lists(const struct walk *walk, struct ctx_interval interval)
{
	return (walk->flags & CTX_TIMETREE_SUMS) == 0 && ctx_interval_contains(walk->window, interval);
}

static enum ctx_status visit(struct walk *walk, const struct ctx_timenode *node, uint32_t level);

static enum ctx_status visit_children(struct walk *walk, const struct ctx_timenode *node, uint32_t level)
{
	for (uint32_t i = 0; i < node->n_children; i++) {
		struct ctx_interval part = ctx_timetree_part(node->interval, i, node->n_children);
		struct ctx_timenode child;
		enum ctx_status status;

		if (!ctx_interval_overlaps(part, walk->window)) {
			walk->cost->nodes_skipped++;
			continue;
		}
		status = read_child(walk, node->first_child + i, part, wants_lists(walk, part), &child);
		if (status != CTX_OK)
			return status;
		status = visit(walk, &child, level + 1);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* Every level at least halves the interval, so the recursion is at most 64 deep. */
static enum ctx_status visit(struct walk *walk, const struct ctx_timenode *node, uint32_t level)
{
	walk->cost->nodes_visited++;
	if (walk->cost->depth < level)
		walk->cost->depth = level;
	if (ctx_interval_contains(walk->window, node->interval) &&
	    (node->n_children != 0 || walk->reader->leaf_lists))
		return take_lists(walk, node);
	if (node->n_children == 0)
		return take_leaf(walk, node);
	return visit_children(walk, node, level);
}

enum ctx_status ctx_timetree_query(const struct ctx_timetree_reader *reader,
				   struct ctx_timetree_request request, struct ctx_histogram *out,
				   struct ctx_timetree_cost *cost, struct ctx_err *err)
{
	struct ctx_timetree_cost unused = {0};
	struct walk walk = {.reader = reader,
			    .window = request.window,
			    .flags = request.flags,
			    .out = out,
			    .cost = cost != NULL ? cost : &unused,
			    .err = err};
	struct ctx_timenode root;
	enum ctx_status status;

	if (ctx_interval_is_empty(request.window))
		return CTX_OK;
	/* The interval of the root is only in its row. */
	status = read_row(&walk, 0, false, &root);
	if (status != CTX_OK)
		return status;
	if (!ctx_interval_overlaps(root.interval, request.window)) {
		walk.cost->nodes_visited++;
		return CTX_OK;
	}
	if ((root.n_children != 0 || reader->leaf_lists) && wants_lists(&walk, root.interval)) {
		status = read_row(&walk, 0, true, &root);
		if (status != CTX_OK)
			return status;
	}
	return visit(&walk, &root, 0);
}

/* ---- the first sample from a time on ---- */

static enum ctx_status first_in_leaf(struct walk *walk, const struct ctx_timenode *node,
				     struct ctx_sample *ret)
{
	const struct ctx_sample *samples = NULL;
	size_t n = 0, first;
	enum ctx_status status = walk->reader->leaf(walk->reader->context, node->id, &samples, &n, walk->err);

	walk->cost->leaves_partial++;
	if (status == CTX_OK)
		status = check_samples(walk, node, samples, n);
	if (status != CTX_OK)
		return status;
	walk->cost->samples_enumerated += n;
	first = ctx_count_below(samples, n, time_ns, walk->window.begin_ns);
	if (first == n)
		return CTX_END;
	*ret = samples[first];
	return CTX_OK;
}

/* CTX_END: not below this node. As deep as the tree. */
static enum ctx_status first_below(struct walk *walk, const struct ctx_timenode *node, uint32_t level,
				   struct ctx_sample *ret)
{
	enum ctx_status status = CTX_END;

	walk->cost->nodes_visited++;
	if (walk->cost->depth < level)
		walk->cost->depth = level;
	if (node->samples == 0)
		return CTX_END;
	if (node->n_children == 0)
		return first_in_leaf(walk, node, ret);
	for (uint32_t i = 0; i < node->n_children && status == CTX_END; i++) {
		struct ctx_interval part = ctx_timetree_part(node->interval, i, node->n_children);
		struct ctx_timenode child;

		if (part.end_ns <= walk->window.begin_ns) {
			walk->cost->nodes_skipped++;
			continue;
		}
		status = read_child(walk, node->first_child + i, part, false, &child);
		if (status == CTX_OK)
			status = first_below(walk, &child, level + 1, ret);
	}
	return status;
}

enum ctx_status ctx_timetree_first_at(const struct ctx_timetree_reader *reader, uint64_t time_ns,
				      struct ctx_sample *ret, struct ctx_timetree_cost *cost,
				      struct ctx_err *err)
{
	struct ctx_timetree_cost unused = {0};
	struct walk walk = {.reader = reader,
			    .window = {time_ns, UINT64_MAX},
			    .cost = cost != NULL ? cost : &unused,
			    .err = err};
	struct ctx_timenode root;
	enum ctx_status status = read_row(&walk, 0, false, &root);

	if (status != CTX_OK)
		return status;
	return root.interval.end_ns > time_ns ? first_below(&walk, &root, 0, ret) : CTX_END;
}

/* ---- nodes of a size of the caller's ---- */

#define WALK_ITEMS 256u

static enum ctx_status walk_list(struct walk *walk, const struct ctx_timetree_walk *to,
				 const struct ctx_timenode *node, const uint8_t *bytes, size_t n_bytes)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes, n_bytes);
	struct ctx_hist_item items[WALK_ITEMS];
	enum ctx_status status = CTX_OK;
	size_t n;

	walk->cost->list_bytes += n_bytes;
	while (status == CTX_OK) {
		status = ctx_timenode_list_read(&list, items, WALK_ITEMS, &n, walk->err);
		if (status == CTX_END)
			return CTX_OK;
		if (status == CTX_OK) {
			walk->cost->list_entries += n;
			status = to->items(to->context, node->interval.begin_ns, items, n, walk->err);
		}
	}
	return ctx_err_prefix(walk->err, status, "node %u", node->id);
}

static enum ctx_status walk_leaf(struct walk *walk, const struct ctx_timetree_walk *to,
				 const struct ctx_timenode *node)
{
	const struct ctx_sample *samples = NULL;
	size_t n = 0;
	enum ctx_status status = CTX_OK;

	if (node->samples != 0)
		status = walk->reader->leaf(walk->reader->context, node->id, &samples, &n, walk->err);
	if (status == CTX_OK)
		status = check_samples(walk, node, samples, n);
	walk->cost->samples_enumerated += n;
	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		const struct ctx_hist_item item = {samples[i].weight, 1, samples[i].stack, 0};

		if (ctx_interval_has(walk->window, samples[i].time_ns))
			status = to->items(to->context, samples[i].time_ns, &item, 1, walk->err);
	}
	return status;
}

static bool is_fine(const struct walk *walk, const struct ctx_timetree_walk *to, struct ctx_interval interval)
{
	return ctx_interval_contains(walk->window, interval) && to->is_fine(to->context, interval);
}

static enum ctx_status walk_node(struct walk *walk, const struct ctx_timetree_walk *to,
				 const struct ctx_timenode *node)
{
	enum ctx_status status = CTX_OK;

	walk->cost->nodes_visited++;
	if (node->n_children == 0)
		return walk_leaf(walk, to, node);
	if (is_fine(walk, to, node->interval)) {
		walk->cost->nodes_whole++;
		status = walk_list(walk, to, node, node->top, node->top_bytes);
		return status == CTX_OK ? walk_list(walk, to, node, node->tail, node->tail_bytes) : status;
	}
	for (uint32_t i = 0; i < node->n_children && status == CTX_OK; i++) {
		struct ctx_interval part = ctx_timetree_part(node->interval, i, node->n_children);
		struct ctx_timenode child;

		if (!ctx_interval_overlaps(part, walk->window))
			continue;
		status = read_child(walk, node->first_child + i, part, is_fine(walk, to, part), &child);
		if (status == CTX_OK)
			status = walk_node(walk, to, &child);
	}
	return status;
}

enum ctx_status ctx_timetree_walk(const struct ctx_timetree_reader *reader,
				  const struct ctx_timetree_walk *to, struct ctx_timetree_cost *cost,
				  struct ctx_err *err)
{
	struct ctx_timetree_cost unused = {0};
	struct walk walk = {
		.reader = reader, .window = to->window, .cost = cost != NULL ? cost : &unused, .err = err};
	struct ctx_timenode root;
	enum ctx_status status;

	if (ctx_interval_is_empty(to->window))
		return CTX_OK;
	status = read_row(&walk, 0, true, &root);
	if (status != CTX_OK || !ctx_interval_overlaps(root.interval, to->window))
		return status;
	return walk_node(&walk, to, &root);
}
