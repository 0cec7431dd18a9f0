#include "ingest/forest.h"

#include "base/map64.h"
#include "base/mem.h"

#define WAKEUPS 8192u	 /* of a block */
#define OPERATIONS 8192u /* the same */
#define CALLS_FACTOR 4u

struct tree {
	struct ctx_tree_forest *forest;
	struct ctx_tree_info info;
	struct ctx_timetree_builder *builder; /* NULL: finished */
	uint64_t moved;
};

struct operations {		  /* of a kind; buffered until their block is full */
	struct ctx_traced *items; /* owned */
	size_t n, cap;
};

struct ctx_tree_forest {
	struct ctx_tree_forest_options options;
	struct tree **trees; /* by id; each is malloc'ed because its address is the sink's context */
	size_t n, cap;
	struct ctx_map64 by_key; /* thread << 32 | metric -> id */
	uint64_t late;
	struct ctx_wakeup *wakeups; /* owned; buffered until their block is full */
	size_t n_wakeups, wakeups_cap;
	struct operations traced[CTX_TRACED_N];
};

static enum ctx_status store_leaf(void *context, uint32_t node, const struct ctx_sample *samples, size_t n,
				  struct ctx_err *err)
{
	struct tree *tree = context;

	return ctx_store_put_leaf(tree->forest->options.store, (struct ctx_store_node){tree->info.id, node},
				  samples, n, err);
}

static enum ctx_status store_node(void *context, const struct ctx_timenode *node, struct ctx_err *err)
{
	struct tree *tree = context;

	return ctx_store_put_node(tree->forest->options.store, tree->info.id, node, err);
}

enum ctx_status ctx_tree_forest_create(const struct ctx_tree_forest_options *options,
				       struct ctx_tree_forest **ret, struct ctx_err *err)
{
	struct ctx_tree_forest *forest;
	enum ctx_status status = ctx_timetree_params_check(&options->params, err);

	if (status != CTX_OK)
		return status;
	forest = ctx_calloc(1, sizeof(*forest));
	if (forest == NULL)
		return ctx_err_nomem(err);
	forest->options = *options;
	*ret = forest;
	return CTX_OK;
}

void ctx_tree_forest_destroy(struct ctx_tree_forest *forest)
{
	if (forest == NULL)
		return;
	for (size_t i = 0; i < forest->n; i++) {
		ctx_timetree_builder_destroy(forest->trees[i]->builder);
		free(forest->trees[i]);
	}
	free(forest->trees);
	free(forest->wakeups);
	for (int i = 0; i < CTX_TRACED_N; i++)
		free(forest->traced[i].items);
	ctx_map64_deinit(&forest->by_key);
	free(forest);
}

void ctx_tree_forest_set_cct(struct ctx_tree_forest *forest, const struct ctx_trie *cct)
{
	forest->options.cct = cct;
}

/* Spans at open calls are many, and come in long runs: larger leaves make fewer nodes. */
static struct ctx_timetree_params params_of(const struct ctx_tree_forest_options *options, uint32_t metric)
{
	struct ctx_timetree_params params = options->params;

	if (metric - options->calls_metric < 2 &&
	    params.leaf_samples == ctx_timetree_default_params().leaf_samples)
		params.leaf_samples *= CALLS_FACTOR;
	return params;
}

static enum ctx_status new_tree(struct ctx_tree_forest *forest, uint32_t thread, uint32_t metric,
				struct tree **ret, struct ctx_err *err)
{
	struct ctx_timetree_sink sink = {.leaf = store_leaf, .node = store_node};
	struct ctx_timetree_params params = params_of(&forest->options, metric);
	enum ctx_status status = ctx_grow(&forest->trees, &forest->cap, forest->n + 1, err);
	struct tree *tree;

	if (status != CTX_OK)
		return status;
	tree = ctx_calloc(1, sizeof(*tree));
	if (tree == NULL)
		return ctx_err_nomem(err);
	tree->forest = forest;
	tree->info = (struct ctx_tree_info){
		.id = (uint32_t)forest->n,
		.thread = thread,
		.metric = metric,
		.leaf_samples = params.leaf_samples,
		.fanout = forest->options.params.fanout,
		.percent = forest->options.params.percent,
		.mode = forest->options.params.mode,
		.keep_tail = forest->options.params.keep_tail,
		.same_as = CTX_NONE,
	};
	sink.context = tree;
	status = ctx_timetree_builder_create(&(struct ctx_timetree_plan){.params = params,
									 .run = forest->options.run,
									 .cct = forest->options.cct,
									 .sink = sink},
					     &tree->builder, err);
	if (status != CTX_OK) {
		free(tree);
		return status;
	}
	forest->trees[forest->n++] = tree;
	*ret = tree;
	return CTX_OK;
}

static enum ctx_status make(struct ctx_tree_forest *forest, uint32_t thread, uint32_t metric,
			    struct tree **ret, struct ctx_err *err)
{
	enum ctx_status status = new_tree(forest, thread, metric, ret, err);
	uint32_t *place;

	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&forest->by_key, (uint64_t)thread << 32 | metric);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (*ret)->info.id;
	return CTX_OK;
}

static inline enum ctx_status find_or_make(struct ctx_tree_forest *forest, uint32_t thread, uint32_t metric,
					   struct tree **ret, struct ctx_err *err)
{
	uint32_t id = ctx_map64_get(&forest->by_key, (uint64_t)thread << 32 | metric);

	if (id == CTX_MAP64_NONE)
		return make(forest, thread, metric, ret, err);
	*ret = forest->trees[id];
	return CTX_OK;
}

enum ctx_status ctx_tree_forest_add(struct ctx_tree_forest *forest, const struct ctx_sample *sample,
				    struct ctx_err *err)
{
	struct tree *tree;
	enum ctx_status status = find_or_make(forest, CTX_NONE, sample->metric, &tree, err);

	if (status == CTX_OK)
		status = ctx_timetree_builder_add(tree->builder, sample, err);
	if (status != CTX_OK || forest->options.single_thread)
		return status;
	status = find_or_make(forest, sample->thread, sample->metric, &tree, err);
	if (status != CTX_OK)
		return status;
	if (tree->builder == NULL) {
		forest->late++;
		return CTX_OK;
	}
	return ctx_timetree_builder_add(tree->builder, sample, err);
}

static enum ctx_status put_wakeups(struct ctx_tree_forest *forest, struct ctx_err *err)
{
	size_t n = forest->n_wakeups;

	forest->n_wakeups = 0;
	return ctx_store_put_wakeups(forest->options.store, forest->wakeups, n, err);
}

enum ctx_status ctx_tree_forest_add_wakeup(struct ctx_tree_forest *forest, const struct ctx_wakeup *wakeup,
					   struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&forest->wakeups, &forest->wakeups_cap, forest->n_wakeups + 1, err);

	if (status != CTX_OK)
		return status;
	forest->wakeups[forest->n_wakeups++] = *wakeup;
	return forest->n_wakeups == WAKEUPS ? put_wakeups(forest, err) : CTX_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_traced *left = a, *right = b;

	return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* Late ones are sorted within their block. */
static enum ctx_status put_traced(struct ctx_tree_forest *forest, struct operations *traced,
				  struct ctx_err *err)
{
	size_t n = traced->n, in_order = 1;

	traced->n = 0;
	while (in_order < n && traced->items[in_order - 1].time_ns <= traced->items[in_order].time_ns)
		in_order++;
	if (in_order < n)
		qsort(traced->items, n, sizeof(*traced->items), by_time);
	return ctx_store_put_traced(forest->options.store, traced->items, n, err);
}

enum ctx_status ctx_tree_forest_add_traced(struct ctx_tree_forest *forest, const struct ctx_traced *operation,
					   struct ctx_err *err)
{
	struct operations *traced = &forest->traced[operation->kind];
	enum ctx_status status = ctx_grow(&traced->items, &traced->cap, traced->n + 1, err);

	if (status != CTX_OK)
		return status;
	traced->items[traced->n++] = *operation;
	return traced->n == OPERATIONS ? put_traced(forest, traced, err) : CTX_OK;
}

static enum ctx_status finish_tree(struct tree *tree, struct ctx_err *err)
{
	enum ctx_status status;

	if (tree->builder == NULL)
		return CTX_OK;
	status = ctx_timetree_builder_finish(tree->builder, err);
	tree->moved = ctx_timetree_builder_moved(tree->builder);
	ctx_timetree_builder_destroy(tree->builder);
	tree->builder = NULL;
	return status;
}

enum ctx_status ctx_tree_forest_end_thread(struct ctx_tree_forest *forest, uint32_t thread,
					   struct ctx_err *err)
{
	for (uint32_t metric = 0; metric < forest->options.n_metrics; metric++) {
		uint32_t id = ctx_map64_get(&forest->by_key, (uint64_t)thread << 32 | metric);
		enum ctx_status status = CTX_OK;

		if (id != CTX_MAP64_NONE)
			status = finish_tree(forest->trees[id], err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* With one thread the merged tree is the thread's: it is referenced, not stored twice. */
static enum ctx_status put_alias(struct ctx_tree_forest *forest, const struct ctx_tree_info *merged,
				 uint32_t id, struct ctx_err *err)
{
	struct ctx_tree_info alias = *merged;

	alias.id = id;
	alias.thread = 0;
	alias.same_as = merged->id;
	return ctx_store_put_tree(forest->options.store, &alias, err);
}

enum ctx_status ctx_tree_forest_finish(struct ctx_tree_forest *forest, uint32_t *ret_trees,
				       uint64_t *ret_moved, uint64_t *ret_late, struct ctx_err *err)
{
	uint32_t id = (uint32_t)forest->n;
	uint64_t moved = 0;
	enum ctx_status status = put_wakeups(forest, err);

	for (int i = 0; i < CTX_TRACED_N && status == CTX_OK; i++)
		status = put_traced(forest, &forest->traced[i], err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < forest->n; i++) {
		struct tree *tree = forest->trees[i];

		status = finish_tree(tree, err);
		if (status == CTX_OK)
			status = ctx_store_put_tree(forest->options.store, &tree->info, err);
		if (status == CTX_OK && forest->options.single_thread)
			status = put_alias(forest, &tree->info, id++, err);
		if (status != CTX_OK)
			return status;
		if (tree->info.thread == CTX_NONE)
			moved += tree->moved;
	}
	*ret_trees = id;
	*ret_moved = moved;
	*ret_late = forest->late;
	return CTX_OK;
}
