/*
 * Common part of tables with rows in blocks by time. Time constraints select the blocks.
 */
#include "store/vtab.h"

_Static_assert(offsetof(struct ctx_sample, time_ns) == 0 && offsetof(struct ctx_wakeup, time_ns) == 0 &&
		       offsetof(struct ctx_traced, time_ns) == 0,
	       "items begin with their time");

static uint64_t time_ns(const struct vtab_timed_cursor *timed, size_t i)
{
	return *(const uint64_t *)((const char *)timed->items + i * timed->item_bytes);
}

/* Moves to the first row from `at` on in the window. */
static enum ctx_status settle(struct vtab_timed_cursor *timed, struct ctx_err *err)
{
	for (;;) {
		enum ctx_status status;

		for (; timed->at < timed->n; timed->at++) {
			if (ctx_interval_has(timed->window, time_ns(timed, timed->at)))
				return CTX_OK;
		}
		timed->n = timed->at = 0;
		status = timed->cursor.table->next_block(timed, err);
		if (status != CTX_OK)
			return status;
	}
}

enum ctx_status ctx_vtab_timed_first(struct vtab_cursor *cursor, sqlite3_value *const *values,
				     struct ctx_err *err)
{
	struct vtab_timed_cursor *timed = (struct vtab_timed_cursor *)cursor;

	timed->window = CTX_INTERVAL_ALL;
	timed->thread = timed->metric = -1;
	timed->n = timed->at = 0;
	for (int w = 0; w < cursor->table->n_wishes; w++) {
		int64_t value;

		if (values[w] == NULL)
			continue;
		if (sqlite3_value_type(values[w]) == SQLITE_NULL)
			return CTX_END;
		/* A constraint like 1.5 or 'x' is left to SQLite, which compares every row. */
		if (sqlite3_value_type(values[w]) != SQLITE_INTEGER)
			continue;
		value = sqlite3_value_int64(values[w]);
		if (w != VTAB_FROM && value < 0)
			return CTX_END;
		if (w == VTAB_FROM)
			timed->window.begin_ns = value > 0 ? (uint64_t)value : 0;
		else if (w == VTAB_TO)
			timed->window.end_ns = (uint64_t)value + 1;
		else if (w == VTAB_THREAD)
			timed->thread = value;
		else
			timed->metric = value;
	}
	return settle(timed, err);
}

enum ctx_status ctx_vtab_timed_next(struct vtab_cursor *cursor, struct ctx_err *err)
{
	struct vtab_timed_cursor *timed = (struct vtab_timed_cursor *)cursor;

	timed->at++;
	return settle(timed, err);
}

/* ---- tables read by a block walk ---- */

const struct vtab_wish ctx_vtab_blocks_wishes[] = {
	[VTAB_FROM] = {0, {SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT}},
	[VTAB_TO] = {0, {SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE}},
};

enum ctx_status ctx_vtab_blocks_next(struct vtab_timed_cursor *timed, const struct block_table *table,
				     struct ctx_err *err)
{
	struct block_walk *walk = &((struct vtab_blocks_cursor *)timed)->walk;
	enum ctx_status status = CTX_OK;

	if (walk->stmt == NULL) {
		*walk = (struct block_walk){.store = timed->cursor.store,
					    .table = table,
					    .kind = BLOCKS_OF_ALL_KINDS,
					    .window = timed->window};
		status = ctx_block_walk_init(walk, err);
	}
	if (status == CTX_OK)
		status = ctx_block_walk_next(walk, err);
	timed->n = walk->n;
	timed->items = walk->items;
	timed->item_bytes = table->item_bytes;
	return status;
}

void ctx_vtab_blocks_reset(struct vtab_cursor *cursor)
{
	ctx_block_walk_deinit(&((struct vtab_blocks_cursor *)cursor)->walk);
}
