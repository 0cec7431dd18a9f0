/*
 * wakeups(time_ns, wait_ns, delay_ns, thread, state, stack, raw_stack, waker, outsider, waker_stack, waker_raw_stack): the
 * waits that were ended as rows. Bounds of time_ns choose the blocks.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum column {
	TIME_NS,
	WAIT_NS,
	DELAY_NS,
	THREAD,
	STATE,
	STACK,
	RAW_STACK,
	WAKER,
	OUTSIDER,
	WAKER_STACK,
	WAKER_RAW_STACK,
	N_COLUMNS
};
enum wish { WISH_FROM, WISH_TO, N_WISHES };

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctx_store *store;
	struct wakeup_walk walk;
	uint64_t
		end_ns; /* of the times asked for; waits that begin before it and end behind it are no rows */
	size_t at;
	bool at_end;
	sqlite3_int64 rowid;
};

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static const struct vtab_wish wishes[N_WISHES] = {
		[WISH_FROM] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_GT}},
		[WISH_TO] = {TIME_NS, {SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE}},
	};

	(void)vtab;
	return vtab_best_index(info, wishes, N_WISHES, N_COLUMNS);
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

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	wakeup_walk_deinit(&cursor->walk);
	free(cursor);
	return SQLITE_OK;
}

/* On to the first wait from `at` on that lies in the window. */
static int settle(struct cursor *cursor)
{
	enum ctx_status status;
	struct ctx_err err = {0};

	for (;;) {
		for (; cursor->at < cursor->walk.n; cursor->at++) {
			if (wakeup_walk_has(&cursor->walk, cursor->at) &&
			    cursor->walk.wakeups[cursor->at].time_ns < cursor->end_ns)
				return SQLITE_OK;
		}
		cursor->at = 0;
		status = wakeup_walk_next(&cursor->walk, &err);
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
	wakeup_walk_deinit(&cursor->walk);
	cursor->at = 0;
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
	cursor->end_ns = window.end_ns;
	status = wakeup_walk_init(&cursor->walk, cursor->store, window, &err);
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

static void result_id(sqlite3_context *context, uint32_t id)
{
	if (id == CTX_NONE)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, id);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct cursor *cursor = (struct cursor *)base;
	const struct ctx_wakeup *wakeup = &cursor->walk.wakeups[cursor->at];
	/* The waker's stack: 0 is not known. */
	const uint32_t waker_raw = wakeup->waker_raw_stack != 0 ? wakeup->waker_raw_stack : CTX_NONE;
	const uint32_t waker_stack = wakeup->waker_raw_stack != 0 ? wakeup->waker_stack : CTX_NONE;
	const uint32_t ids[N_COLUMNS] = {
		[THREAD] = wakeup->thread,	 [STATE] = wakeup->state,	[STACK] = wakeup->stack,
		[RAW_STACK] = wakeup->raw_stack, [WAKER] = wakeup->waker,	[OUTSIDER] = wakeup->outsider,
		[WAKER_STACK] = waker_stack,	 [WAKER_RAW_STACK] = waker_raw,
	};
	const uint64_t times[] = {wakeup->time_ns, wakeup->wait_ns, wakeup->delay_ns};

	if (which < THREAD)
		sqlite3_result_int64(context, (int64_t)times[which]);
	else if (which == STATE)
		sqlite3_result_text(context, ctx_state_name((enum ctx_thread_state)wakeup->state), -1,
				    SQLITE_STATIC);
	else if (which < N_COLUMNS)
		result_id(context, ids[which]);
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

enum ctx_status vtab_register_wakeups(struct ctx_store *store, struct ctx_err *err)
{
	static const struct vtab_kind kind = {
		.name = "wakeups",
		.declaration =
			"CREATE TABLE wakeups(time_ns INTEGER, wait_ns INTEGER, delay_ns INTEGER, thread "
			"INTEGER, state TEXT, stack INTEGER, raw_stack INTEGER, waker INTEGER, outsider "
			"INTEGER, waker_stack INTEGER, waker_raw_stack INTEGER)",
	};

	return vtab_register(store, &kind, &module, err);
}
