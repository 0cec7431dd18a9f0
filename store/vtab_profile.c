/*
 * functions(begin_ns, end_ns, metric, threads) and call_tree(the same): the reports of these names
 * as tables.
 *
 *	samples of the interval -> base per CCT node -> (from the last node to the first) cum -> touched nodes, depth first
 *
 * They scan the samples: the lists of the time tree belong to another folder. All arguments are
 * optional; `threads` is a text of thread ids, '0,3,7'.
 */
#include "store/vtab.h"

#include "base/mem.h"
#include "model/span_clip.h"

#include <string.h>

enum kind { KIND_FUNCTIONS, KIND_CALL_TREE };
enum argument { ARGUMENT_BEGIN, ARGUMENT_END, ARGUMENT_METRIC, ARGUMENT_THREADS, N_ARGUMENTS };

#define FUNCTIONS_HIDDEN 7 /* number of the first hidden column */
#define CALL_TREE_HIDDEN 11

struct sums {
	uint64_t base, cum, base_samples, cum_samples;
	uint64_t calls; /* differences, which may be negative meanwhile: modulo 2^64 */
};

struct line { /* of a call tree */
	uint32_t stack, level, recursion_level;
};

struct cursor {
	struct vtab_cursor cursor;
	struct sums *sums;	/* by CCT node */
	struct sums *functions; /* by function id */
	struct line *lines;	/* depth first, heaviest child first */
	size_t n_lines, lines_cap;
	size_t end;		    /* number of lines, or of function ids */
	struct ctx_interval window; /* at which durations are cut */
};

static void reset(struct vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	free(cursor->sums);
	free(cursor->functions);
	free(cursor->lines);
	cursor->sums = cursor->functions = NULL;
	cursor->lines = NULL;
	cursor->n_lines = cursor->lines_cap = cursor->end = 0;
}

/* ---- sums ---- */

static enum ctx_status add_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct cursor *cursor = context;
	uint32_t kept =
		ctx_trie_ancestor(&cursor->cursor.store->profile.cct, sample->stack, sample->kept_depth);

	(void)err;
	cursor->sums[sample->stack].base += sample->weight;
	cursor->sums[sample->stack].base_samples++;
	cursor->sums[sample->stack].calls++;
	cursor->sums[kept].calls--;
	return CTX_OK;
}

/*
 * Durations of one thread, in order of time: the first one that ends after the window is the last
 * relevant one.
 */
static enum ctx_status add_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct cursor *cursor = context;
	struct ctx_sample part = *sample;

	if (ctx_span_clip(&cursor->cursor.store->profile, &part, cursor->window))
		add_sample(context, &part, err);
	return sample->time_ns >= cursor->window.end_ns ? CTX_END : CTX_OK;
}

static enum ctx_status add_tree(struct cursor *cursor, uint32_t thread, uint32_t metric,
				struct ctx_interval window, struct ctx_err *err)
{
	const struct ctx_profile *profile = &cursor->cursor.store->profile;
	const struct ctx_tree_info *tree = ctx_store_find_tree(cursor->cursor.store, thread, metric);

	if (tree == NULL)
		return CTX_OK;
	if (!ctx_metric_is_clipped(&profile->metrics[metric]) || thread == CTX_NONE)
		return ctx_store_scan(cursor->cursor.store, tree->id,
				      &(struct ctx_store_scan){window, add_sample, cursor}, err);
	cursor->window = window;
	return ctx_store_scan(cursor->cursor.store, tree->id,
			      &(struct ctx_store_scan){{window.begin_ns, UINT64_MAX}, add_span, cursor}, err);
}

/*
 * All threads: their merged tree if there is one. If durations are cut, the tree of each thread is
 * needed, since the scan must stop per thread.
 */
static enum ctx_status add_all(struct cursor *cursor, uint32_t metric, struct ctx_interval window,
			       struct ctx_err *err)
{
	const struct ctx_profile *profile = &cursor->cursor.store->profile;
	bool cuts = ctx_metric_is_clipped(&profile->metrics[metric]) &&
		    !ctx_interval_contains(window, profile->run);
	enum ctx_status status = CTX_OK;

	if (!cuts && ctx_store_find_tree(cursor->cursor.store, CTX_NONE, metric) != NULL)
		return add_tree(cursor, CTX_NONE, metric, window, err);
	for (uint32_t i = 0; i < cursor->cursor.store->profile.n_threads && status == CTX_OK; i++)
		status = add_tree(cursor, i, metric, window, err);
	return status;
}

static enum ctx_status add_threads(struct cursor *cursor, const char *threads, uint32_t metric,
				   struct ctx_interval window, struct ctx_err *err)
{
	uint32_t n_threads = cursor->cursor.store->profile.n_threads;
	bool *wanted CTX_AUTO_FREE = ctx_calloc((size_t)n_threads + 1, sizeof(*wanted));
	enum ctx_status status = CTX_OK;

	if (wanted == NULL)
		return ctx_err_nomem(err);
	for (const char *at = threads; *at != '\0';) {
		char *end;
		unsigned long long id = strtoull(at, &end, 10);

		if (*at < '0' || *at > '9' || (*end != '\0' && *end != ',') || id >= n_threads)
			return ctx_err_set(err, CTX_E_ARG,
					   "'%.40s' is not a list of thread ids such as '0,3,7'", threads);
		wanted[id] = true;
		at = *end == ',' ? end + 1 : end;
	}
	for (uint32_t i = 0; i < n_threads && status == CTX_OK; i++) {
		if (wanted[i])
			status = add_tree(cursor, i, metric, window, err);
	}
	return status;
}

static void sum_up(struct cursor *cursor)
{
	const struct ctx_trie *cct = &cursor->cursor.store->profile.cct;
	struct sums *sums = cursor->sums;

	for (uint32_t i = cct->n; i-- > 0;) {
		sums[i].cum += sums[i].base;
		sums[i].cum_samples += sums[i].base_samples;
		if (i == 0)
			break;
		sums[cct->parent[i]].cum += sums[i].cum;
		sums[cct->parent[i]].cum_samples += sums[i].cum_samples;
		sums[cct->parent[i]].calls += sums[i].calls;
	}
}

/* ---- the order of a call tree ---- */

struct order {
	const struct ctx_trie *cct;
	const struct sums *sums;
};

/* By parent; then lightest first, because the stack of pending nodes reverses the order. */
static int compare_nodes(const void *a_pointer, const void *b_pointer, void *context)
{
	const struct order *order = context;
	uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
	uint32_t parent_a = order->cct->parent[a], parent_b = order->cct->parent[b];

	if (parent_a != parent_b)
		return parent_a < parent_b ? -1 : 1;
	if (order->sums[a].cum != order->sums[b].cum)
		return order->sums[a].cum < order->sums[b].cum ? -1 : 1;
	return a > b ? -1 : a < b;
}

/* Index in `nodes` of the first child of each node; CTX_NONE: none. */
static uint32_t *index_children(const struct ctx_trie *cct, const uint32_t *nodes, size_t n)
{
	uint32_t *first = ctx_calloc(cct->n, sizeof(*first));

	if (first == NULL)
		return NULL;
	memset(first, 0xff, cct->n * sizeof(*first));
	for (size_t i = n; i-- > 0;)
		first[cct->parent[nodes[i]]] = (uint32_t)i;
	return first;
}

struct tree {
	const uint32_t *nodes; /* those with samples, by parent, the lightest child first */
	size_t n;
	const uint32_t *first; /* by CCT node: index of its first child in `nodes`; CTX_NONE: none */
	uint32_t *instances;   /* by function: how often it is on the path to the current node */
};

/*
 * Depth first. A pending entry below the top is a later sibling; leaving a node removes its
 * function again.
 */
static enum ctx_status walk_tree(struct cursor *cursor, const struct tree *tree, struct ctx_err *err)
{
	const struct ctx_trie *cct = &cursor->cursor.store->profile.cct;
	const uint32_t *nodes = tree->nodes;
	uint32_t *instances = tree->instances;
	size_t n = tree->n;
	uint32_t *pending CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*pending));
	size_t n_pending = 1;
	uint32_t last = 0;

	if (pending == NULL)
		return ctx_err_nomem(err);
	while (n_pending != 0) {
		uint32_t node = pending[--n_pending];
		struct line *line = &cursor->lines[cursor->n_lines++];

		/* Moves up to the parent and leaves the functions on the path. */
		for (; last != 0 && (node == 0 || last != cct->parent[node]); last = cct->parent[last])
			instances[cct->key[last]]--;
		*line = (struct line){node, cct->depth[node], node != 0 ? instances[cct->key[node]]++ : 0};
		last = node;
		for (size_t i = tree->first[node]; i < n && cct->parent[nodes[i]] == node; i++)
			pending[n_pending++] = nodes[i];
	}
	return CTX_OK;
}

static enum ctx_status make_lines(struct cursor *cursor, struct ctx_err *err)
{
	const struct ctx_trie *cct = &cursor->cursor.store->profile.cct;
	struct order order = {cct, cursor->sums};
	uint32_t *nodes CTX_AUTO_FREE = ctx_calloc(cct->n, sizeof(*nodes));
	uint32_t *instances CTX_AUTO_FREE =
		ctx_calloc((size_t)cursor->cursor.store->profile.n_functions + 1, sizeof(*instances));
	uint32_t *first CTX_AUTO_FREE = NULL;
	enum ctx_status status;
	size_t n = 0;

	if (nodes == NULL || instances == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 1; i < cct->n; i++) {
		if (cursor->sums[i].cum_samples != 0)
			nodes[n++] = i;
	}
	qsort_r(nodes, n, sizeof(*nodes), compare_nodes, &order);
	first = index_children(cct, nodes, n);
	status = ctx_grow(&cursor->lines, &cursor->lines_cap, n + 1, err);
	if (status != CTX_OK)
		return status;
	return first != NULL ? walk_tree(cursor, &(struct tree){nodes, n, first, instances}, err)
			     : ctx_err_nomem(err);
}

/* Exclusive: every instance. Inclusive: the outermost ones. */
static enum ctx_status make_functions(struct cursor *cursor, struct ctx_err *err)
{
	const struct ctx_trie *cct = &cursor->cursor.store->profile.cct;

	cursor->functions =
		ctx_calloc((size_t)cursor->cursor.store->profile.n_functions + 1, sizeof(*cursor->functions));
	if (cursor->functions == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 1; i < cursor->n_lines; i++) {
		const struct line *line = &cursor->lines[i];
		const struct sums *node = &cursor->sums[line->stack];
		struct sums *function = &cursor->functions[cct->key[line->stack]];

		function->base += node->base;
		function->base_samples += node->base_samples;
		if (line->recursion_level != 0)
			continue;
		function->cum += node->cum;
		function->cum_samples += node->cum_samples;
	}
	return CTX_OK;
}

/* ---- the cursor ---- */

struct arguments {
	struct ctx_interval window;
	uint32_t metric;
	const char *threads; /* NULL: all */
};

static enum ctx_status read_arguments(struct arguments *arguments, sqlite3_value *const *values,
				      struct ctx_err *err)
{
	*arguments = (struct arguments){.window = CTX_INTERVAL_ALL};
	for (int a = 0; a < N_ARGUMENTS; a++) {
		sqlite3_value *value = values[a];
		int64_t number;

		if (value == NULL || sqlite3_value_type(value) == SQLITE_NULL)
			continue;
		if (a == ARGUMENT_THREADS) {
			arguments->threads = (const char *)sqlite3_value_text(value);
			if (arguments->threads == NULL)
				return ctx_err_nomem(err);
			continue;
		}
		number = sqlite3_value_int64(value);
		if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || number < 0)
			return ctx_err_set(err, CTX_E_ARG,
					   "begin_ns, end_ns and metric are whole numbers from 0 up");
		if (a == ARGUMENT_BEGIN)
			arguments->window.begin_ns = (uint64_t)number;
		else if (a == ARGUMENT_END)
			arguments->window.end_ns = (uint64_t)number;
		else
			arguments->metric = number < CTX_NONE ? (uint32_t)number : CTX_NONE;
	}
	return CTX_OK;
}

static enum ctx_status add_metric(struct cursor *cursor, const struct arguments *arguments, uint32_t metric,
				  struct ctx_err *err)
{
	if (arguments->threads != NULL)
		return add_threads(cursor, arguments->threads, metric, arguments->window, err);
	return add_all(cursor, metric, arguments->window, err);
}

/* An existing metric, or the parts of a sum. */
static enum ctx_status add_metrics(struct cursor *cursor, const struct arguments *arguments,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = &cursor->cursor.store->profile;
	const struct ctx_metric_info *metric;
	enum ctx_status status = CTX_OK;

	if (arguments->metric >= profile->n_metrics)
		return CTX_OK;
	metric = &profile->metrics[arguments->metric];
	if (metric->parts == NULL)
		return add_metric(cursor, arguments, arguments->metric, err);
	for (uint32_t i = 0; i < metric->n_parts && status == CTX_OK; i++)
		status = add_metric(cursor, arguments, metric->parts[i], err);
	for (uint32_t i = 0; i < profile->cct.n && ctx_metric_is_count(metric); i++)
		cursor->sums[i].base = cursor->sums[i].base_samples;
	return status;
}

static enum ctx_status compute(struct cursor *cursor, const struct arguments *arguments, struct ctx_err *err)
{
	enum ctx_status status;

	cursor->sums = ctx_calloc(cursor->cursor.store->profile.cct.n, sizeof(*cursor->sums));
	if (cursor->sums == NULL)
		return ctx_err_nomem(err);
	status = add_metrics(cursor, arguments, err);
	if (status != CTX_OK)
		return status;
	sum_up(cursor);
	status = make_lines(cursor, err);
	cursor->end = cursor->n_lines;
	if (status == CTX_OK && cursor->cursor.table->kind == KIND_FUNCTIONS) {
		status = make_functions(cursor, err);
		cursor->end = cursor->cursor.store->profile.n_functions;
	}
	return status;
}

/* A function without samples in the interval has no row. */
static enum ctx_status next(struct vtab_cursor *base, struct ctx_err *err)
{
	const struct cursor *cursor = (const struct cursor *)base;
	size_t at = (size_t)base->row;

	(void)err;
	while (cursor->functions != NULL && at < cursor->end && cursor->functions[at].cum_samples == 0)
		at++;
	base->row = (sqlite3_int64)at;
	return at < cursor->end ? CTX_OK : CTX_END;
}

static enum ctx_status first(struct vtab_cursor *base, sqlite3_value *const *values, struct ctx_err *err)
{
	struct arguments arguments;
	enum ctx_status status = read_arguments(&arguments, values, err);

	if (status == CTX_OK)
		status = compute((struct cursor *)base, &arguments, err);
	return status == CTX_OK ? next(base, err) : status;
}

static void result_object(sqlite3_context *context, const struct ctx_profile *profile, uint32_t function)
{
	uint32_t object = profile->functions[function].object;

	if (object == CTX_NONE)
		sqlite3_result_null(context);
	else
		sqlite3_result_text(context, profile->objects[object].path, -1, SQLITE_STATIC);
}

static void function_column(const struct vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct ctx_profile *profile = &cursor->cursor.store->profile;
	uint32_t function = (uint32_t)base->row;
	const struct sums *sums = &cursor->functions[function];
	const uint64_t numbers[] = {function,	      0, 0, sums->base, sums->cum, sums->base_samples,
				    sums->cum_samples};

	if (which == 1)
		sqlite3_result_text(context, profile->functions[function].name, -1, SQLITE_STATIC);
	else if (which == 2)
		result_object(context, profile, function);
	else if (which < FUNCTIONS_HIDDEN)
		sqlite3_result_int64(context, (int64_t)numbers[which]);
}

static void call_tree_column(const struct vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct ctx_profile *profile = &cursor->cursor.store->profile;
	const struct line *line = &cursor->lines[base->row];
	const struct sums *sums = &cursor->sums[line->stack];
	uint32_t function = profile->cct.key[line->stack];
	const uint64_t numbers[] = {
		line->stack,
		profile->cct.parent[line->stack],
		line->level,
		line->recursion_level,
		0,
		0,
		sums->calls,
		sums->base,
		sums->cum,
		sums->base_samples,
		sums->cum_samples,
	};

	if (which >= CALL_TREE_HIDDEN)
		return;
	if (which != 4 && which != 5 && (which != 1 || line->stack != 0))
		sqlite3_result_int64(context, (int64_t)numbers[which]);
	else if (which == 4 && line->stack == 0)
		sqlite3_result_text(context, "<Total>", -1, SQLITE_STATIC);
	else if (which == 4)
		sqlite3_result_text(context, profile->functions[function].name, -1, SQLITE_STATIC);
	else if (which == 5 && line->stack != 0)
		result_object(context, profile, function);
}

#define ARGUMENTS(from)                                                                                      \
	{                                                                                                    \
		[ARGUMENT_BEGIN] = {(from), {SQLITE_INDEX_CONSTRAINT_EQ}},                                   \
		[ARGUMENT_END] = {(from) + 1, {SQLITE_INDEX_CONSTRAINT_EQ}},                                 \
		[ARGUMENT_METRIC] = {(from) + 2, {SQLITE_INDEX_CONSTRAINT_EQ}},                              \
		[ARGUMENT_THREADS] = {(from) + 3, {SQLITE_INDEX_CONSTRAINT_EQ}},                             \
	}
#define HIDDEN_COLUMNS                                                                                       \
	"begin_ns INTEGER HIDDEN, end_ns INTEGER HIDDEN, metric INTEGER HIDDEN, threads TEXT HIDDEN)"

static const struct vtab_wish function_arguments[N_ARGUMENTS] = ARGUMENTS(FUNCTIONS_HIDDEN);
static const struct vtab_wish call_tree_arguments[N_ARGUMENTS] = ARGUMENTS(CALL_TREE_HIDDEN);

const struct vtab_table ctx_vtab_functions = {
	.name = "functions",
	.declaration =
		"CREATE TABLE functions(id INTEGER, function TEXT, object TEXT, exclusive INTEGER, "
		"inclusive INTEGER, exclusive_samples INTEGER, inclusive_samples INTEGER, " HIDDEN_COLUMNS,
	.wishes = function_arguments,
	.n_wishes = N_ARGUMENTS,
	.arguments_from = FUNCTIONS_HIDDEN,
	.kind = KIND_FUNCTIONS,
	.cursor_bytes = sizeof(struct cursor),
	.first = first,
	.next = next,
	.column = function_column,
	.reset = reset,
};

const struct vtab_table ctx_vtab_call_tree = {
	.name = "call_tree",
	.declaration =
		"CREATE TABLE call_tree(id INTEGER, parent INTEGER, level INTEGER, recursion_level INTEGER, "
		"function TEXT, object TEXT, calls INTEGER, base INTEGER, cum INTEGER, base_samples INTEGER, "
		"cum_samples INTEGER, " HIDDEN_COLUMNS,
	.wishes = call_tree_arguments,
	.n_wishes = N_ARGUMENTS,
	.arguments_from = CALL_TREE_HIDDEN,
	.kind = KIND_CALL_TREE,
	.cursor_bytes = sizeof(struct cursor),
	.first = first,
	.next = next,
	.column = call_tree_column,
	.reset = reset,
};
