#include "store/store_impl.h"

#include "base/mem.h"

enum ctx_status ctx_store_need_samples(const struct ctx_store *store, struct ctx_err *err)
{
	if (!store->profile.losses.sample_blocks)
		return CTX_OK;
	return ctx_err_set(
		err, CTX_E_NOTFOUND,
		"%s was archived without samples: it has functions, call trees, threads and states of "
		"the whole run; what is asked here needs --with-samples",
		store->path);
}

void ctx_leaf_reader_deinit(struct leaf_reader *reader)
{
	sqlite3_finalize(reader->stmt);
	ctx_block_codec_deinit(&reader->codec);
	free(reader->samples);
	*reader = (struct leaf_reader){.store = reader->store};
}

/* Checks that the codec cannot do: the ranges of ids. Fills in the stack from the raw stack. */
static enum ctx_status resolve(const struct ctx_store *store, uint32_t tree, struct ctx_sample *samples,
			       size_t n, struct ctx_err *err)
{
	const struct ctx_tree_info *info = &store->trees[tree];
	const uint32_t *depth = store->profile.cct.depth;

	for (size_t i = 0; i < n; i++) {
		struct ctx_sample *sample = &samples[i];

		if (sample->raw_stack >= store->n_raw_stacks)
			return ctx_err_set(err, CTX_E_FORMAT, "sample %zu has a raw stack that is not there",
					   i);
		if (sample->raw_stack != 0)
			sample->stack = store->raw_to_stack[sample->raw_stack];
		if (sample->stack >= store->profile.cct.n || sample->kept_depth > depth[sample->stack] ||
		    sample->thread >= store->profile.n_threads || sample->cpu < -1 ||
		    sample->metric != info->metric)
			return ctx_err_set(err, CTX_E_FORMAT, "sample %zu names something that is not there",
					   i);
	}
	return CTX_OK;
}

static enum ctx_status decode(struct leaf_reader *reader, uint32_t tree, size_t *ret_n, struct ctx_err *err)
{
	uint64_t n = ctx_column_u64(reader->stmt, 0);
	struct ctx_bytes payload = {sqlite3_column_blob(reader->stmt, 1),
				    (size_t)sqlite3_column_bytes(reader->stmt, 1)};
	struct ctx_store_cost *cost = &reader->store->cost;
	enum ctx_status status;

	if (n == 0 || n > CTX_BLOCK_SAMPLES_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "claims %llu samples", (unsigned long long)n);
	status = ctx_grow(&reader->samples, &reader->cap, (size_t)n, err);
	if (status == CTX_OK)
		status = ctx_block_decode(&reader->codec, payload, reader->samples, (size_t)n, err);
	if (status == CTX_OK)
		status = resolve(reader->store, tree, reader->samples, (size_t)n, err);
	cost->blocks++;
	cost->bytes += payload.n;
	*ret_n = (size_t)n;
	return status;
}

/*
 * The samples of one leaf, checked; n 0 if it has none. Borrowed until the next call with this
 * reader.
 */
static enum ctx_status leaf_reader_get(struct leaf_reader *reader, struct ctx_store_node leaf,
				       const struct ctx_sample **ret_samples, size_t *ret_n,
				       struct ctx_err *err)
{
	const struct ctx_store *store = reader->store;
	enum ctx_status status = CTX_OK;
	size_t n = 0;
	int rc;

	if (reader->stmt == NULL)
		status = ctx_statement_prepare(store->db, store->path,
					       "SELECT n, payload FROM sample_block WHERE id = ?",
					       &reader->stmt, err);
	if (status != CTX_OK)
		return status;
	sqlite3_bind_int64(reader->stmt, 1, ctx_store_rowid(leaf.tree, leaf.node));
	rc = sqlite3_step(reader->stmt);
	if (rc == SQLITE_ROW) {
		status = decode(reader, leaf.tree, &n, err);
		if (status != CTX_OK)
			status = ctx_err_prefix(err, status, "%s: tree %u: leaf %u", store->path, leaf.tree,
						leaf.node);
	} else if (rc != SQLITE_DONE) {
		status = ctx_statement_fail(store->db, rc, store->path, err);
	} else {
		status = ctx_store_need_samples(store, err);
	}
	sqlite3_reset(reader->stmt);
	if (status != CTX_OK)
		return status;
	*ret_samples = reader->samples;
	*ret_n = n;
	return CTX_OK;
}

/* The tree with the rows; CTX_E_ARG for an unknown one. */
static enum ctx_status follow(const struct ctx_store *store, uint32_t *tree, struct ctx_err *err)
{
	if (*tree >= store->n_trees)
		return ctx_err_set(err, CTX_E_ARG, "%s: there is no time tree %u", store->path, *tree);
	if (store->trees[*tree].same_as != CTX_NONE)
		*tree = store->trees[*tree].same_as;
	return CTX_OK;
}

enum ctx_status ctx_store_get_leaf(struct ctx_store *store, struct ctx_store_node leaf,
				   const struct ctx_sample **ret_samples, size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = follow(store, &leaf.tree, err);

	if (status == CTX_OK)
		status = leaf_reader_get(&store->leaf, leaf, ret_samples, ret_n, err);
	return status;
}

/* ---- nodes ---- */

/* Children come after their parent and are inside it, so descending by these rows terminates. */
static bool is_sound(const struct ctx_timenode *node)
{
	if (node->interval.begin_ns > node->interval.end_ns)
		return false;
	if (node->id == 0 ? node->parent != 0 || node->level != 0
			  : node->parent >= node->id || node->level == 0)
		return false;
	if (node->n_children == 0)
		return node->first_child == 0;
	return node->first_child > node->id && node->n_children <= CTX_NONE - node->first_child;
}

static enum ctx_status read_node(struct ctx_store *store, struct ctx_store_node node,
				 struct ctx_timenode *ret, struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->get_node;
	int rc;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(node.tree, node.node));
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: tree %u has no node %u", store->path, node.tree,
				   node.node);
	if (rc != SQLITE_ROW)
		return ctx_statement_fail(store->db, rc, store->path, err);
	*ret = (struct ctx_timenode){
		.id = node.node,
		.parent = ctx_column_id(stmt, 0),
		.level = ctx_column_id(stmt, 1),
		.interval = {ctx_column_u64(stmt, 2), ctx_column_u64(stmt, 3)},
		.samples = ctx_column_u64(stmt, 4),
		.weight = ctx_column_u64(stmt, 5),
		.first_child = ctx_column_id(stmt, 6),
		.n_children = ctx_column_id(stmt, 7),
		.tail_samples = ctx_column_u64(stmt, 8),
		.tail_weight = ctx_column_u64(stmt, 9),
		.tail_largest = ctx_column_u64(stmt, 10),
	};
	sqlite3_reset(stmt);
	store->cost.rows++;
	if (!is_sound(ret))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: tree %u: node %u has impossible links",
				   store->path, node.tree, node.node);
	return CTX_OK;
}

/* The statement stays on its row, which keeps the blobs alive until the next call. */
static enum ctx_status read_lists(struct ctx_store *store, uint32_t tree, struct ctx_timenode *node,
				  struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->get_list;
	int rc;

	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(tree, node->id));
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE)
		return CTX_OK;
	if (rc != SQLITE_ROW)
		return ctx_statement_fail(store->db, rc, store->path, err);
	node->top = sqlite3_column_blob(stmt, 0);
	node->top_bytes = (size_t)sqlite3_column_bytes(stmt, 0);
	node->tail = sqlite3_column_blob(stmt, 1);
	node->tail_bytes = (size_t)sqlite3_column_bytes(stmt, 1);
	node->calls = sqlite3_column_blob(stmt, 2);
	node->calls_bytes = (size_t)sqlite3_column_bytes(stmt, 2);
	if ((node->top == NULL && node->top_bytes != 0) || (node->tail == NULL && node->tail_bytes != 0) ||
	    (node->calls == NULL && node->calls_bytes != 0))
		return ctx_err_nomem(err);
	store->cost.bytes += node->top_bytes + node->tail_bytes + node->calls_bytes;
	return CTX_OK;
}

enum ctx_status ctx_store_get_node(struct ctx_store *store, struct ctx_store_node node, bool want_lists,
				   struct ctx_timenode *ret, struct ctx_err *err)
{
	struct ctx_timenode found;
	enum ctx_status status = follow(store, &node.tree, err);

	if (status == CTX_OK && store->get_node == NULL)
		status = ctx_statement_prepare(
			store->db, store->path,
			"SELECT parent, level, begin_ns, end_ns, n, weight, first_child, "
			"n_children, tail_samples, tail_weight, tail_largest "
			"FROM node_row WHERE id = ?",
			&store->get_node, err);
	if (status == CTX_OK && store->get_list == NULL)
		status = ctx_statement_prepare(store->db, store->path,
					       "SELECT top, tail, calls FROM node_list WHERE id = ?",
					       &store->get_list, err);
	if (status != CTX_OK)
		return status;
	sqlite3_reset(store->get_list);
	status = read_node(store, node, &found, err);
	if (status == CTX_OK && want_lists && (found.n_children != 0 || store->profile.losses.sample_blocks))
		status = read_lists(store, node.tree, &found, err);
	if (status == CTX_OK)
		*ret = found;
	return status;
}

/* ---- scan ---- */

static enum ctx_status push_children(struct leaf_walk *walk, const struct ctx_timenode *node,
				     struct ctx_err *err)
{
	enum ctx_status status;

	/*
	 * A tree's fanout is at most 256; a damaged row must not cause an allocation for 4 G
	 * children.
	 */
	if (node->n_children > 65536)
		return ctx_err_set(err, CTX_E_FORMAT, "node %u claims %u children", node->id,
				   node->n_children);
	status = ctx_grow(&walk->pending, &walk->pending_cap, walk->n_pending + node->n_children, err);
	for (uint32_t i = node->n_children; status == CTX_OK && i-- > 0;)
		walk->pending[walk->n_pending++] = (struct pending_node){node->first_child + i, node->id};
	return status;
}

enum ctx_status ctx_leaf_walk_init(struct leaf_walk *walk, struct ctx_store *store, uint32_t tree,
				   struct ctx_interval window, struct ctx_err *err)
{
	enum ctx_status status;

	*walk = (struct leaf_walk){
		.store = store, .tree = tree, .window = window, .reader = {.store = store}};
	status = follow(store, &walk->tree, err);
	if (status == CTX_OK)
		status = ctx_grow(&walk->pending, &walk->pending_cap, 1, err);
	if (status != CTX_OK)
		return status;
	walk->pending[0] = (struct pending_node){0, 0};
	walk->n_pending = ctx_interval_is_empty(window) ? 0 : 1;
	return CTX_OK;
}

enum ctx_status ctx_leaf_walk_next(struct leaf_walk *walk, const struct ctx_sample **ret_samples,
				   size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && walk->n_pending != 0) {
		struct pending_node next = walk->pending[--walk->n_pending];
		struct ctx_timenode node;

		status = ctx_store_get_node(walk->store, (struct ctx_store_node){walk->tree, next.node},
					    false, &node, err);
		if (status != CTX_OK)
			break;
		/* Each node has one parent, so each is visited at most once. */
		if (node.parent != next.parent)
			return ctx_err_set(err, CTX_E_FORMAT, "%s: tree %u: node %u has another parent",
					   walk->store->path, walk->tree, node.id);
		if (!ctx_interval_overlaps(node.interval, walk->window))
			continue;
		if (node.n_children == 0)
			return leaf_reader_get(&walk->reader, (struct ctx_store_node){walk->tree, node.id},
					       ret_samples, ret_n, err);
		status = push_children(walk, &node, err);
	}
	return status == CTX_OK ? CTX_END : status;
}

void ctx_leaf_walk_deinit(struct leaf_walk *walk)
{
	ctx_leaf_reader_deinit(&walk->reader);
	free(walk->pending);
	*walk = (struct leaf_walk){0};
}

enum ctx_status ctx_store_scan(struct ctx_store *store, uint32_t tree, const struct ctx_store_scan *scan,
			       struct ctx_err *err)
{
	const struct ctx_sample *samples;
	struct leaf_walk walk;
	enum ctx_status status = ctx_leaf_walk_init(&walk, store, tree, scan->window, err);
	size_t n;

	while (status == CTX_OK && (status = ctx_leaf_walk_next(&walk, &samples, &n, err)) == CTX_OK) {
		for (size_t i = 0; status == CTX_OK && i < n; i++) {
			if (ctx_interval_has(scan->window, samples[i].time_ns))
				status = scan->each(scan->context, &samples[i], err);
		}
	}
	ctx_leaf_walk_deinit(&walk);
	return status == CTX_END ? CTX_OK : status;
}

/* ---- several trees by time ---- */

struct merged_tree {
	struct leaf_walk walk;
	const struct ctx_sample *samples; /* of the current leaf */
	size_t n, at;
	bool over;
};

/* On to the next sample in the window. */
static enum ctx_status merged_next(struct merged_tree *tree, struct ctx_err *err)
{
	while (!tree->over) {
		enum ctx_status status;

		while (tree->at < tree->n &&
		       !ctx_interval_has(tree->walk.window, tree->samples[tree->at].time_ns))
			tree->at++;
		if (tree->at < tree->n)
			return CTX_OK;
		tree->n = tree->at = 0;
		status = ctx_leaf_walk_next(&tree->walk, &tree->samples, &tree->n, err);
		if (status != CTX_OK && status != CTX_END)
			return status;
		tree->over = status == CTX_END;
	}
	return CTX_OK;
}

static struct merged_tree *earliest(struct merged_tree *trees, size_t n)
{
	struct merged_tree *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!trees[i].over && (found == NULL || trees[i].samples[trees[i].at].time_ns <
								found->samples[found->at].time_ns))
			found = &trees[i];
	}
	return found;
}

enum ctx_status ctx_store_scan_merged(struct ctx_store *store, const uint32_t *trees, size_t n,
				      const struct ctx_store_scan *scan, struct ctx_err *err)
{
	struct merged_tree *merged = ctx_calloc(n, sizeof(*merged)), *next;
	enum ctx_status status = merged != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		status = ctx_leaf_walk_init(&merged[i].walk, store, trees[i], scan->window, err);
		if (status == CTX_OK)
			status = merged_next(&merged[i], err);
	}
	while (status == CTX_OK && (next = earliest(merged, n)) != NULL) {
		status = scan->each(scan->context, &next->samples[next->at++], err);
		if (status == CTX_OK)
			status = merged_next(next, err);
	}
	for (size_t i = 0; merged != NULL && i < n; i++)
		ctx_leaf_walk_deinit(&merged[i].walk);
	free(merged);
	return status == CTX_END ? CTX_OK : status;
}
