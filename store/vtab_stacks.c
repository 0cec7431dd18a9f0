/*
 * stack(id, parent, function, depth), raw_stack(id, parent, location, stack), location(id, object, function, address, site, file,
 * line, joins), site(id, function, file, line, caller): long arrays as rows. Those that opening does not load are loaded at the
 * first use, and kept.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum kind { KIND_STACK, KIND_RAW_STACK, KIND_LOCATION, KIND_SITE };

struct cursor {
	sqlite3_vtab_cursor base;
	int64_t at, end;
};

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static const struct vtab_wish wish = {0, {SQLITE_INDEX_CONSTRAINT_EQ}};
	int rc;

	(void)vtab;
	rc = vtab_best_index(info, &wish, 1, 100);
	if (info->idxNum != 0) {
		info->estimatedCost = 1;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	}
	return rc;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = ctx_calloc(1, sizeof(*cursor));

	(void)vtab;
	if (cursor == NULL)
		return SQLITE_NOMEM;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int64_t count(const struct ctx_store *store, int kind)
{
	switch (kind) {
	case KIND_STACK:
		return store->profile.cct.n;
	case KIND_RAW_STACK:
		return store->n_raw_stacks;
	case KIND_LOCATION:
		return store->n_locations;
	default:
		return store->n_sites;
	}
}

static int filter(sqlite3_vtab_cursor *base, int wishes, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct vtab *vtab = (struct vtab *)base->pVtab;
	struct ctx_store *store = vtab->store;
	const struct ctx_code *code;
	enum ctx_status status = CTX_OK;
	struct ctx_err err = {0};

	(void)text;
	cursor->at = 0;
	cursor->end = count(store, vtab->kind);
	if (vtab->kind != KIND_STACK)
		status = ctx_store_code(store, &code, &err);
	if (status != CTX_OK)
		return vtab_fail(base->pVtab, status, &err);
	if (wishes != 0 && argc == 1 && sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		int64_t id = sqlite3_value_int64(argv[0]);

		cursor->at = id >= 0 && id < cursor->end ? id : cursor->end;
		cursor->end = id >= 0 && id < cursor->end ? id + 1 : cursor->end;
	}
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (struct cursor *)base;

	return cursor->at >= cursor->end;
}

static void result_id(sqlite3_context *context, uint32_t id)
{
	if (id == CTX_NONE)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, id);
}

static void stack_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_trie *cct = &store->profile.cct;

	if (which == 1)
		result_id(context, i == 0 ? CTX_NONE : cct->parent[i]);
	else
		result_id(context, which == 2 ? cct->key[i] : cct->depth[i]);
}

static void raw_stack_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_trie *raw = &store->code.raw_stacks;

	if (which == 1)
		result_id(context, i == 0 ? CTX_NONE : raw->parent[i]);
	else
		result_id(context, which == 2 ? raw->key[i] : store->raw_to_stack[i]);
}

static void result_line(sqlite3_context *context, uint32_t line)
{
	result_id(context, line != 0 ? line : CTX_NONE);
}

static void location_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_location *location = &store->code.locations[i];
	const struct ctx_site *site = location->site != CTX_NONE ? &store->code.sites[location->site] : NULL;

	if (which == 3)
		sqlite3_result_int64(context, (int64_t)location->address);
	else if (which == 5)
		result_id(context, site != NULL ? site->file : CTX_NONE);
	else if (which == 6)
		result_line(context, site != NULL ? site->line : 0);
	else if (which == 7)
		sqlite3_result_int64(context, location->joins);
	else
		result_id(context, which == 1	? location->object
				   : which == 2 ? location->function
						: location->site);
}

static void site_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_site *site = &store->code.sites[i];

	if (which == 3)
		result_line(context, site->line);
	else
		result_id(context, which == 1 ? site->function : which == 2 ? site->file : site->caller);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which)
{
	const struct vtab *vtab = (struct vtab *)base->pVtab;
	int64_t i = ((struct cursor *)base)->at;

	if (which == 0)
		sqlite3_result_int64(context, i);
	else if (vtab->kind == KIND_STACK)
		stack_column(vtab->store, context, i, which);
	else if (vtab->kind == KIND_RAW_STACK)
		raw_stack_column(vtab->store, context, i, which);
	else if (vtab->kind == KIND_LOCATION)
		location_column(vtab->store, context, i, which);
	else
		site_column(vtab->store, context, i, which);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct cursor *)base)->at;
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

enum ctx_status vtab_register_stacks(struct ctx_store *store, struct ctx_err *err)
{
	static const struct vtab_kind kinds[] = {
		{"stack", "CREATE TABLE stack(id INTEGER, parent INTEGER, function INTEGER, depth INTEGER)",
		 KIND_STACK},
		{"raw_stack",
		 "CREATE TABLE raw_stack(id INTEGER, parent INTEGER, location INTEGER, stack INTEGER)",
		 KIND_RAW_STACK},
		{"location",
		 "CREATE TABLE location(id INTEGER, object INTEGER, function INTEGER, address INTEGER, site "
		 "INTEGER, file INTEGER, line INTEGER, joins INTEGER)",
		 KIND_LOCATION},
		{"site",
		 "CREATE TABLE site(id INTEGER, function INTEGER, file INTEGER, line INTEGER, caller "
		 "INTEGER)",
		 KIND_SITE},
	};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(kinds) && status == CTX_OK; i++)
		status = vtab_register(store, &kinds[i], &module, err);
	return status;
}
