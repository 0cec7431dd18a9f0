/*
 * traced(time_ns, duration_ns, kind, operation, size, address, old_address, thread, cpu, descriptor, file, failed, leaked, leaked_size, stack, raw_stack): the
 * traced operations as rows. Bounds of time_ns choose the blocks.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum column {
	TIME_NS,
	DURATION_NS,
	KIND,
	OPERATION,
	SIZE,
	ADDRESS,
	OLD_ADDRESS,
	THREAD,
	CPU,
	DESCRIPTOR,
	FILE_NAME,
	FAILED,
	LEAKED,
	LEAKED_SIZE,
	STACK,
	RAW_STACK,
	N_COLUMNS
};
enum wish { WISH_FROM, WISH_TO, N_WISHES };

struct cursor {
	sqlite3_vtab_cursor base;
	struct ctx_store *store;
	struct traced_walk walk;
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

	traced_walk_deinit(&cursor->walk);
	free(cursor);
	return SQLITE_OK;
}

/* On to the first operation from `at` on that lies in the window. */
static int settle(struct cursor *cursor)
{
	enum ctx_status status;
	struct ctx_err err = {0};

	for (;;) {
		for (; cursor->at < cursor->walk.n; cursor->at++) {
			if (ctx_interval_has(cursor->walk.window,
					     cursor->walk.operations[cursor->at].time_ns))
				return SQLITE_OK;
		}
		cursor->at = 0;
		status = traced_walk_next(&cursor->walk, &err);
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
	traced_walk_deinit(&cursor->walk);
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
	status = traced_walk_init(&cursor->walk, cursor->store, CTX_TRACED_N, window, &err);
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

/* What only some kinds have: NULL for the others. */
static int64_t number_of(const struct ctx_traced *operation, int which, bool *ret_null)
{
	const bool heap = operation->kind == CTX_TRACED_HEAP, io = operation->kind == CTX_TRACED_IO;

	switch (which) {
	case TIME_NS:
		return (int64_t)operation->time_ns;
	case DURATION_NS:
		*ret_null = heap;
		return (int64_t)operation->duration_ns;
	case SIZE:
		*ret_null = operation->kind == CTX_TRACED_SYNC;
		return (int64_t)operation->size;
	case ADDRESS:
		*ret_null = io;
		return (int64_t)operation->address;
	case OLD_ADDRESS:
		*ret_null = !heap || operation->operation != CTX_HEAP_REALLOCATE;
		return (int64_t)operation->old_address;
	case THREAD:
		return operation->thread;
	case CPU:
		*ret_null = operation->cpu < 0;
		return operation->cpu;
	case DESCRIPTOR:
		*ret_null = operation->descriptor < 0;
		return operation->descriptor;
	case FILE_NAME:
		*ret_null = operation->file == CTX_NONE;
		return operation->file;
	case FAILED:
		return operation->failed;
	case LEAKED:
		return operation->leaked;
	case LEAKED_SIZE:
		*ret_null = !operation->leaked;
		return (int64_t)operation->leaked_size;
	case STACK:
		return operation->stack;
	default:
		return operation->raw_stack;
	}
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct cursor *cursor = (struct cursor *)base;
	const struct ctx_traced *operation = &cursor->walk.operations[cursor->at];
	enum ctx_traced_kind kind = (enum ctx_traced_kind)operation->kind;
	bool is_null = false;
	int64_t number;

	if (which == KIND || which == OPERATION) {
		sqlite3_result_text(context,
				    which == KIND ? ctx_traced_kind_name(kind)
						  : ctx_traced_operation_name(kind, operation->operation),
				    -1, SQLITE_STATIC);
		return SQLITE_OK;
	}
	number = number_of(operation, which, &is_null);
	if (is_null)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, number);
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

enum ctx_status vtab_register_traced(struct ctx_store *store, struct ctx_err *err)
{
	static const struct vtab_kind kind = {
		.name = "traced",
		.declaration =
			"CREATE TABLE traced(time_ns INTEGER, duration_ns INTEGER, kind TEXT, operation "
			"TEXT, "
			"size INTEGER, address INTEGER, old_address INTEGER, thread INTEGER, cpu INTEGER, "
			"descriptor INTEGER, file INTEGER, failed INTEGER, leaked INTEGER, leaked_size "
			"INTEGER, stack INTEGER, "
			"raw_stack INTEGER)",
	};

	return vtab_register(store, &kind, &module, err);
}
