/*
 * Tables whose rows lie in blocks by time: what is the same for all of them. Bounds of time_ns, the first column, choose the blocks.
 */
#include "store/vtab.h"

#include "base/mem.h"

#include <limits.h>

enum wish { WISH_FROM, WISH_TO, N_WISHES };

static const struct vtab_blocks *const tables[] = {&vtab_wakeups, &vtab_traced};

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctx_store *store;
	const struct vtab_blocks *table;
	void *walk;   /* owned */
	size_t at, n; /* in the block */
	bool at_end;
	sqlite3_int64 rowid;
};

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static const struct vtab_wish wishes[N_WISHES] = {
		[WISH_FROM] = {0, {SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT}},
		[WISH_TO] = {0, {SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE}},
	};

	(void)vtab;
	return vtab_best_index(info, wishes, N_WISHES, INT_MAX);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	const struct vtab *vtab = (const struct vtab *)base;
	struct cursor *cursor = ctx_calloc(1, sizeof(*cursor));

	if (cursor == NULL)
		return SQLITE_NOMEM;
	cursor->store = vtab->store;
	cursor->table = tables[vtab->kind];
	cursor->walk = ctx_calloc(1, cursor->table->walk_bytes);
	if (cursor->walk == NULL) {
		free(cursor);
		return SQLITE_NOMEM;
	}
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->table->deinit(cursor->walk);
	free(cursor->walk);
	free(cursor);
	return SQLITE_OK;
}

/* On to the first row from `at` on that lies in the window. */
static int settle(struct cursor *cursor)
{
	enum ctx_status status;
	struct ctx_err err = {0};

	for (;;) {
		for (; cursor->at < cursor->n; cursor->at++) {
			if (cursor->table->has(cursor->walk, cursor->at))
				return SQLITE_OK;
		}
		cursor->at = 0;
		status = cursor->table->next(cursor->walk, &cursor->n, &err);
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
	struct ctx_interval window = CTX_INTERVAL_ALL;
	enum ctx_status status;
	struct ctx_err err = {0};

	(void)text;
	cursor->table->deinit(cursor->walk);
	cursor->at = cursor->n = 0;
	cursor->rowid = 0;
	cursor->at_end = false;
	for (int w = 0, i = 0; w < N_WISHES && i < argc; w++) {
		/* A bound like 1.5 or 'x' is left to SQLite, which compares every row. */
		int64_t value = sqlite3_value_int64(argv[i]);

		if ((wishes & 1 << w) == 0)
			continue;
		cursor->at_end |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
		if (sqlite3_value_type(argv[i++]) != SQLITE_INTEGER)
			continue;
		cursor->at_end |= w == WISH_TO && value < 0;
		if (w == WISH_FROM)
			window.begin_ns = value > 0 ? (uint64_t)value : 0;
		else
			window.end_ns = (uint64_t)value + 1;
	}
	if (cursor->at_end)
		return SQLITE_OK;
	status = cursor->table->init(cursor->walk, cursor->store, window, &err);
	return status == CTX_OK ? settle(cursor) : vtab_fail(base->pVtab, status, &err);
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
	const struct cursor *cursor = (const struct cursor *)base;

	cursor->table->column(cursor->walk, cursor->at, context, which);
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

enum ctx_status vtab_register_blocks(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(tables) && status == CTX_OK; i++) {
		struct vtab_kind kind = {
			.name = tables[i]->name, .declaration = tables[i]->declaration, .kind = (int)i};

		status = vtab_register(store, &kind, &module, err);
	}
	return status;
}
