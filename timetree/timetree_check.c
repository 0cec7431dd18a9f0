/*
 * Walks a whole tree and checks the rules at the top of timetree.h.
 */
#include "timetree/timenode_codec.h"
#include "timetree/timetree_parts.h"

#define BLOCK 256

struct checker {
	const struct ctx_timetree_reader *reader;
	const struct ctx_timetree_params *params;
	struct ctx_histogram stacks; /* of the lists being checked */
	struct ctx_err *err;
};

static enum ctx_status wrong(const struct checker *checker, uint32_t node, const char *rule)
{
	return ctx_err_set(checker->err, CTX_E_FORMAT, "time tree node %u: %s", node, rule);
}

static enum ctx_status check_leaf(const struct checker *checker, const struct ctx_timenode *node)
{
	const struct ctx_sample *samples = NULL;
	uint64_t weight = 0, before = node->interval.begin_ns;
	size_t n = 0;
	enum ctx_status status = CTX_OK;

	if (!ctx_timetree_is_leaf(checker->params, node->interval, node->samples))
		return wrong(checker, node->id, "a leaf has M samples or more");
	if (node->first_child != 0 || node->top_bytes + node->tail_bytes + node->calls_bytes != 0)
		return wrong(checker, node->id, "a leaf has children's ids or lists");
	if (node->tail_weight != 0 || node->tail_samples != 0 || node->tail_largest != 0)
		return wrong(checker, node->id, "a leaf leaves something out");
	if (node->samples != 0)
		status =
			checker->reader->leaf(checker->reader->context, node->id, &samples, &n, checker->err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		if (samples[i].time_ns < before || samples[i].time_ns >= node->interval.end_ns)
			return wrong(checker, node->id, "its samples are not in order within its interval");
		before = samples[i].time_ns;
		weight += samples[i].weight;
	}
	if (n != node->samples || weight != node->weight)
		return wrong(checker, node->id, "its samples do not add up to its totals");
	return CTX_OK;
}

struct list_sums {
	uint64_t n, weight, samples, largest, last;
};

/* Reads one list; its stacks must not be among those seen before. */
static enum ctx_status check_list(struct checker *checker, uint32_t node, const uint8_t *bytes, size_t size,
				  struct list_sums *ret)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes, size);
	struct ctx_hist_item block[BLOCK];
	struct list_sums sums = {0};
	enum ctx_status status;
	size_t n = 0;

	while ((status = ctx_timenode_list_read(&list, block, BLOCK, &n, checker->err)) == CTX_OK) {
		for (size_t i = 0; i < n; i++) {
			if (ctx_histogram_get(&checker->stacks, block[i].stack) != NULL)
				return wrong(checker, node, "a stack comes twice");
			status = ctx_histogram_add(&checker->stacks,
						   (struct ctx_hist_entry){.stack = block[i].stack,
									   .weight = block[i].weight,
									   .samples = block[i].samples},
						   checker->err);
			if (status != CTX_OK)
				return status;
			sums.largest = sums.n == 0 ? block[i].weight : sums.largest;
			sums.last = block[i].weight;
			sums.weight += block[i].weight;
			sums.samples += block[i].samples;
			sums.n++;
		}
	}
	if (status != CTX_END)
		return ctx_err_prefix(checker->err, status, "node %u", node);
	*ret = sums;
	return CTX_OK;
}

static bool covers(const struct checker *checker, uint64_t part, uint64_t whole)
{
	return (unsigned __int128)part * 100 >= (unsigned __int128)whole * checker->params->percent;
}

static enum ctx_status check_top(const struct checker *checker, const struct ctx_timenode *node,
				 const struct list_sums *top)
{
	if (top->weight != node->weight - node->tail_weight ||
	    top->samples != node->samples - node->tail_samples)
		return wrong(checker, node->id, "the top is not the totals less the tail");
	if (!covers(checker, top->weight, node->weight))
		return wrong(checker, node->id, "the top does not reach P percent");
	if (checker->params->percent != 100 && top->n != 0 &&
	    covers(checker, top->weight - top->last, node->weight))
		return wrong(checker, node->id, "the top would reach P percent without its last entry");
	if (checker->params->percent == 100 && node->tail_samples != 0)
		return wrong(checker, node->id, "it leaves something out at 100 percent");
	return CTX_OK;
}

static enum ctx_status check_calls(struct checker *checker, const struct ctx_timenode *node)
{
	size_t n = 0;
	enum ctx_status status;

	ctx_histogram_clear(&checker->stacks);
	status =
		ctx_timenode_calls_decode(node->calls, node->calls_bytes, &checker->stacks, &n, checker->err);
	if (status != CTX_OK)
		return ctx_err_prefix(checker->err, status, "node %u", node->id);
	for (size_t i = 0; i < checker->stacks.n; i++) {
		if (checker->stacks.entries[i].calls == 0)
			return wrong(checker, node->id, "its calls list holds a zero");
	}
	return CTX_OK;
}

static enum ctx_status check_lists(struct checker *checker, const struct ctx_timenode *node)
{
	struct list_sums top = {0}, tail = {0};
	enum ctx_status status;

	ctx_histogram_clear(&checker->stacks);
	status = check_list(checker, node->id, node->top, node->top_bytes, &top);
	if (status == CTX_OK)
		status = check_top(checker, node, &top);
	if (status == CTX_OK)
		status = check_list(checker, node->id, node->tail, node->tail_bytes, &tail);
	if (status != CTX_OK)
		return status;
	if (!checker->params->keep_tail && tail.n != 0)
		return wrong(checker, node->id, "it has a tail");
	if (checker->params->keep_tail &&
	    (tail.weight != node->tail_weight || tail.samples != node->tail_samples ||
	     tail.largest != node->tail_largest))
		return wrong(checker, node->id, "the tail is not what the row says of it");
	if (tail.n != 0 && top.n != 0 && tail.largest > top.last)
		return wrong(checker, node->id, "the tail is heavier than the top's end");
	return check_calls(checker, node);
}

static enum ctx_status check_inner(const struct checker *checker, const struct ctx_timenode *node)
{
	if (ctx_timetree_is_leaf(checker->params, node->interval, node->samples))
		return wrong(checker, node->id, "an inner node that could be a leaf");
	if (node->n_children != checker->params->fanout)
		return wrong(checker, node->id, "it does not have N children");
	if (node->first_child <= node->id || node->first_child > UINT32_MAX - node->n_children)
		return wrong(checker, node->id, "its children's ids are not after its own");
	if (node->tail_weight > node->weight || node->tail_samples > node->samples)
		return wrong(checker, node->id, "its tail is more than the whole");
	return CTX_OK;
}

/*
 * `expected` has what follows from the parent: id, parent, level, interval. The recursion is at
 * most 64 deep, since every level at least halves the interval.
 */
static enum ctx_status check_node(struct checker *checker, const struct ctx_timenode *expected,
				  struct ctx_timenode *ret)
{
	uint64_t weight = 0, samples = 0, dropped_weight = 0, dropped_samples = 0;
	enum ctx_status status =
		checker->reader->node(checker->reader->context, expected->id, true, ret, checker->err);

	if (status != CTX_OK)
		return status;
	if (ret->id != expected->id || ret->parent != expected->parent || ret->level != expected->level)
		return wrong(checker, expected->id, "its id, parent or level is not what its place says");
	if (ret->interval.begin_ns != expected->interval.begin_ns ||
	    ret->interval.end_ns != expected->interval.end_ns)
		return wrong(checker, expected->id, "its interval is not its share of its parent's");
	if (ret->n_children == 0)
		return check_leaf(checker, ret);
	status = check_inner(checker, ret);
	if (status == CTX_OK)
		status = check_lists(checker, ret);
	for (uint32_t i = 0; status == CTX_OK && i < ret->n_children; i++) {
		struct ctx_timenode place = {
			.id = ret->first_child + i,
			.parent = ret->id,
			.level = ret->level + 1,
			.interval = ctx_timetree_part(ret->interval, i, ret->n_children),
		};
		struct ctx_timenode child = {0};

		status = check_node(checker, &place, &child);
		weight += child.weight;
		samples += child.samples;
	}
	if (status != CTX_OK)
		return status;
	if (checker->params->mode == CTX_TIMETREE_CASCADE) {
		dropped_weight = ret->tail_weight;
		dropped_samples = ret->tail_samples;
	}
	if (weight != ret->weight - dropped_weight || samples != ret->samples - dropped_samples)
		return wrong(checker, ret->id, "its children do not add up to it");
	return CTX_OK;
}

enum ctx_status ctx_timetree_check(const struct ctx_timetree_reader *reader,
				   const struct ctx_timetree_params *params, struct ctx_err *err)
{
	struct checker checker = {.reader = reader, .params = params, .err = err};
	struct ctx_timenode root = {0}, expected = {0};
	enum ctx_status status = ctx_timetree_params_check(params, err);

	if (status == CTX_OK)
		status = reader->node(reader->context, 0, false, &root, err);
	if (status != CTX_OK)
		return status;
	if (ctx_interval_is_empty(root.interval))
		return wrong(&checker, 0, "its interval is empty");
	expected.interval = root.interval;
	status = check_node(&checker, &expected, &root);
	ctx_histogram_deinit(&checker.stacks);
	return status;
}
