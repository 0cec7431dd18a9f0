/*
 * samples(time_ns, thread, cpu, metric, weight, stack, raw_stack, kept_depth): the sample blocks as rows.
 *
 * A query that names a thread walks that thread's tree, any other the tree of all threads; bounds of time
 * choose the leaves. SQLite checks every row against its constraints again, so the bounds here may be wider.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum column { TIME_NS, THREAD, CPU, METRIC, WEIGHT, STACK, RAW_STACK, KEPT_DEPTH };
enum wish { WISH_FROM, WISH_TO, WISH_THREAD, WISH_METRIC, N_WISHES };

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctx_store *store;
	struct ctx_interval window;
	int64_t thread, metric; /* -1: any */
	size_t next_tree;	/* to try, by id */
	bool walking;
	struct leaf_walk walk;
	const struct ctx_sample *samples; /* of the current leaf */
	size_t n, at;
	bool at_end;
	sqlite3_int64 rowid;
};

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static const struct vtab_wish wishes[N_WISHES] = {
		[WISH_FROM] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT}},
		[WISH_TO] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE}},
		[WISH_THREAD] = {THREAD, {SQLITE_INDEX_CONSTRAINT_EQ}},
		[WISH_METRIC] = {METRIC, {SQLITE_INDEX_CONSTRAINT_EQ}},
	};

	(void)vtab;
	return vtab_best_index(info, wishes, N_WISHES, KEPT_DEPTH + 1);
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = ctx_calloc(1, sizeof(*cursor));

	if (cursor == NULL)
		return SQLITE_NOMEM;
	cursor->store = ((struct vtab *)vtab)->store;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static void stop_walk(struct cursor *cursor)
{
	if (cursor->walking)
		leaf_walk_deinit(&cursor->walk);
	cursor->walking = false;
	cursor->n = cursor->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	stop_walk((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* Is this one of the trees that the query walks? For all threads: the merged tree of the metric, or where
 * there is none, each thread's. */
static bool is_wanted(const struct cursor *cursor, const struct ctx_tree_info *tree)
{
	if (cursor->metric >= 0 && tree->metric != cursor->metric)
		return false;
	if (cursor->thread >= 0)
		return tree->thread == cursor->thread;
	return tree->thread == CTX_NONE || ctx_store_find_tree(cursor->store, CTX_NONE, tree->metric) == NULL;
}

/* The next leaf of the current tree, or the first of the next. CTX_END behind the last tree. */
static enum ctx_status next_leaf(struct cursor *cursor, struct ctx_err *err)
{
	enum ctx_status status;

	if (cursor->walking) {
		status = leaf_walk_next(&cursor->walk, &cursor->samples, &cursor->n, err);
		if (status != CTX_END)
			return status;
		stop_walk(cursor);
	}
	while (cursor->next_tree < cursor->store->n_trees &&
	       !is_wanted(cursor, &cursor->store->trees[cursor->next_tree]))
		cursor->next_tree++;
	if (cursor->next_tree == cursor->store->n_trees)
		return CTX_END;
	cursor->walking = true;
	cursor->n = 0;
	return leaf_walk_init(&cursor->walk, cursor->store, (uint32_t)cursor->next_tree++, cursor->window,
			      err);
}

/* On to the first sample from `at` on that lies in the window. */
static int settle(struct cursor *cursor)
{
	enum ctx_status status;
	struct ctx_err err = {0};

	for (;;) {
		for (; cursor->at < cursor->n; cursor->at++) {
			if (ctx_interval_has(cursor->window, cursor->samples[cursor->at].time_ns))
				return SQLITE_OK;
		}
		cursor->n = cursor->at = 0;
		status = next_leaf(cursor, &err);
		if (status == CTX_END) {
			cursor->at_end = true;
			return SQLITE_OK;
		}
		if (status != CTX_OK)
			return vtab_fail(cursor->base.pVtab, status, &err);
	}
}

static int filter(sqlite3_vtab_cursor *base, int wishes, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	bool nothing = false;

	(void)text;
	stop_walk(cursor);
	cursor->window = CTX_INTERVAL_ALL;
	cursor->thread = cursor->metric = -1;
	cursor->next_tree = 0;
	cursor->rowid = 0;
	for (int w = 0, i = 0; w < N_WISHES && i < argc; w++) {
		/* A bound like 1.5 or 'x' is left to SQLite, which compares every row. */
		int64_t value = sqlite3_value_int64(argv[i]);

		if ((wishes & 1 << w) == 0)
			continue;
		nothing |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
		if (sqlite3_value_type(argv[i++]) != SQLITE_INTEGER)
			continue;
		nothing |= w != WISH_FROM && value < 0;
		if (w == WISH_FROM)
			cursor->window.begin_ns = value > 0 ? (uint64_t)value : 0;
		else if (w == WISH_TO)
			cursor->window.end_ns = (uint64_t)value + 1;
		else if (w == WISH_THREAD)
			cursor->thread = value;
		else
			cursor->metric = value;
	}
	cursor->at_end = nothing;
	return nothing ? SQLITE_OK : settle(cursor);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->at++;
	cursor->rowid++;
	return settle(cursor);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->at_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct cursor *cursor = (struct cursor *)base;
	const struct ctx_sample *sample = &cursor->samples[cursor->at];

	switch ((enum column)which) {
	case TIME_NS:
		sqlite3_result_int64(context, (int64_t)sample->time_ns);
		break;
	case THREAD:
		sqlite3_result_int64(context, sample->thread);
		break;
	case CPU:
		sqlite3_result_int(context, sample->cpu);
		break;
	case METRIC:
		sqlite3_result_int64(context, sample->metric);
		break;
	case WEIGHT:
		sqlite3_result_int64(context, (int64_t)sample->weight);
		break;
	case STACK:
		sqlite3_result_int64(context, sample->stack);
		break;
	case RAW_STACK:
		sqlite3_result_int64(context, sample->raw_stack);
		break;
	case KEPT_DEPTH:
		sqlite3_result_int64(context, sample->kept_depth);
		break;
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct cursor *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = vtab_connect,
	.xBestIndex = best_index,
	.xDisconnect = vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};

enum ctx_status vtab_register_samples(struct ctx_store *store, struct ctx_err *err)
{
	static const struct vtab_kind kind = {
		.name = "samples",
		.declaration =
			"CREATE TABLE samples(time_ns INTEGER, thread INTEGER, cpu INTEGER, metric INTEGER, "
			"weight INTEGER, stack INTEGER, raw_stack INTEGER, kept_depth INTEGER)",
	};

	return vtab_register(store, &kind, &module, err);
}
