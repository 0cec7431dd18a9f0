/*
 * samples(time_ns, thread, cpu, metric, weight, stack, raw_stack, kept_depth): the sample blocks as
 * rows.
 *
 * A query with a thread walks that thread's tree, any other the tree of all threads; time
 * constraints select the leaves.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum column { TIME_NS, THREAD, CPU, METRIC, WEIGHT, STACK, RAW_STACK, KEPT_DEPTH };

static const struct vtab_wish wishes[] = {
	[VTAB_FROM] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT}},
	[VTAB_TO] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE}},
	[VTAB_THREAD] = {THREAD, {SQLITE_INDEX_CONSTRAINT_EQ}},
	[VTAB_METRIC] = {METRIC, {SQLITE_INDEX_CONSTRAINT_EQ}},
};

struct cursor {
	struct vtab_timed_cursor timed;
	size_t next_tree; /* to try, by id */
	bool walking;
	struct leaf_walk walk;
};

static void stop_walk(struct cursor *cursor)
{
	if (cursor->walking)
		ctx_leaf_walk_deinit(&cursor->walk);
	cursor->walking = false;
}

static void reset(struct vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	stop_walk(cursor);
	cursor->next_tree = 0;
}

/*
 * Is this one of the trees that the query walks? For all threads: the merged tree of the metric or,
 * without one, each thread's.
 */
static bool is_wanted(const struct vtab_timed_cursor *timed, const struct ctx_tree_info *tree)
{
	if (timed->metric >= 0 && tree->metric != timed->metric)
		return false;
	if (timed->thread >= 0)
		return tree->thread == timed->thread;
	return tree->thread == CTX_NONE ||
	       ctx_store_find_tree(timed->cursor.store, CTX_NONE, tree->metric) == NULL;
}

/* The next leaf of the current tree, or the first one of the next tree. */
static enum ctx_status next_leaf(struct vtab_timed_cursor *timed, struct ctx_err *err)
{
	struct cursor *cursor = (struct cursor *)timed;
	struct ctx_store *store = timed->cursor.store;
	const struct ctx_sample *samples = NULL;
	enum ctx_status status;

	timed->item_bytes = sizeof(*samples);
	if (cursor->walking) {
		status = ctx_leaf_walk_next(&cursor->walk, &samples, &timed->n, err);
		timed->items = samples;
		if (status != CTX_END)
			return status;
		stop_walk(cursor);
	}
	while (cursor->next_tree < store->n_trees && !is_wanted(timed, &store->trees[cursor->next_tree]))
		cursor->next_tree++;
	if (cursor->next_tree == store->n_trees)
		return CTX_END;
	cursor->walking = true;
	return ctx_leaf_walk_init(&cursor->walk, store, (uint32_t)cursor->next_tree++, timed->window, err);
}

static void column(const struct vtab_cursor *cursor, sqlite3_context *result, int which)
{
	const struct vtab_timed_cursor *timed = (const struct vtab_timed_cursor *)cursor;
	const struct ctx_sample *sample = (const struct ctx_sample *)timed->items + timed->at;

	switch ((enum column)which) {
	case TIME_NS:
		sqlite3_result_int64(result, (int64_t)sample->time_ns);
		break;
	case THREAD:
		sqlite3_result_int64(result, sample->thread);
		break;
	case CPU:
		sqlite3_result_int(result, sample->cpu);
		break;
	case METRIC:
		sqlite3_result_int64(result, sample->metric);
		break;
	case WEIGHT:
		sqlite3_result_int64(result, (int64_t)sample->weight);
		break;
	case STACK:
		sqlite3_result_int64(result, sample->stack);
		break;
	case RAW_STACK:
		sqlite3_result_int64(result, sample->raw_stack);
		break;
	case KEPT_DEPTH:
		sqlite3_result_int64(result, sample->kept_depth);
		break;
	}
}

const struct vtab_table ctx_vtab_samples = {
	.name = "samples",
	.declaration = "CREATE TABLE samples(time_ns INTEGER, thread INTEGER, cpu INTEGER, metric INTEGER, "
		       "weight INTEGER, stack INTEGER, raw_stack INTEGER, kept_depth INTEGER)",
	.wishes = wishes,
	.n_wishes = CTX_COUNT_OF(wishes),
	.next_block = next_leaf,
	.cursor_bytes = sizeof(struct cursor),
	.first = ctx_vtab_timed_first,
	.next = ctx_vtab_timed_next,
	.column = column,
	.reset = reset,
};
