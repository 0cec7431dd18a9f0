#include "store/vtab.h"

#include "base/mem.h"

#include <limits.h>

static const struct vtab_table *const tables[] = {
	&ctx_vtab_samples,  &ctx_vtab_wakeups, &ctx_vtab_traced,    &ctx_vtab_stack,	 &ctx_vtab_raw_stack,
	&ctx_vtab_location, &ctx_vtab_site,    &ctx_vtab_functions, &ctx_vtab_call_tree,
};

struct source { /* the client data of a module; freed by SQLite */
	struct ctx_store *store;
	const struct vtab_table *table;
};

struct vtab {
	sqlite3_vtab base;
	struct source source;
};

static int connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **ret,
		   char **ret_msg)
{
	const struct source *source = client;
	int rc = sqlite3_declare_vtab(db, source->table->declaration);
	struct vtab *vtab;

	(void)argc;
	(void)argv;
	(void)ret_msg;
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	vtab = ctx_calloc(1, sizeof(*vtab));
	if (vtab == NULL)
		return SQLITE_NOMEM;
	vtab->source = *source;
	*ret = &vtab->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* Bit i of idxNum: wish i has an argument; arguments are in this order. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab_table *table = ((const struct vtab *)base)->source.table;
	int arguments_from = table->arguments_from != 0 ? table->arguments_from : INT_MAX;
	int next_argument = 1;

	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn >= arguments_from && !info->aConstraint[i].usable &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return SQLITE_CONSTRAINT;
	}
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000000;
	for (int w = 0; w < table->n_wishes; w++) {
		const struct vtab_wish *wish = &table->wishes[w];

		for (int i = 0; i < info->nConstraint; i++) {
			const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

			if (!constraint->usable || constraint->iColumn != wish->column ||
			    (constraint->op != wish->ops[0] && constraint->op != wish->ops[1]))
				continue;
			info->aConstraintUsage[i].argvIndex = next_argument++;
			info->aConstraintUsage[i].omit = constraint->iColumn >= arguments_from;
			info->idxNum |= 1 << w;
			info->estimatedCost /= 10;
			info->estimatedRows /= 10;
			break;
		}
	}
	if (table->is_by_id && info->idxNum != 0) {
		info->estimatedCost = 1;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	const struct source *source = &((const struct vtab *)base)->source;
	struct vtab_cursor *cursor = ctx_calloc(1, source->table->cursor_bytes);

	if (cursor == NULL)
		return SQLITE_NOMEM;
	cursor->table = source->table;
	cursor->store = source->store;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static void reset(struct vtab_cursor *cursor)
{
	if (cursor->table->reset != NULL)
		cursor->table->reset(cursor);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	reset((struct vtab_cursor *)base);
	free(base);
	return SQLITE_OK;
}

/*
 * Translates the status of a cursor step: the message goes to the table, SQLite's code is returned.
 */
static int settle(struct vtab_cursor *cursor, enum ctx_status status, const struct ctx_err *err)
{
	sqlite3_vtab *vtab = cursor->base.pVtab;

	cursor->at_end = status == CTX_END;
	if (status == CTX_OK || status == CTX_END)
		return SQLITE_OK;
	if (status == CTX_E_NOMEM)
		return SQLITE_NOMEM;
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", err->msg);
	return status == CTX_E_FORMAT ? SQLITE_CORRUPT_VTAB
	       : status == CTX_E_IO   ? SQLITE_IOERR
				      : SQLITE_ERROR;
}

static int filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc, sqlite3_value **argv)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;
	sqlite3_value *values[VTAB_WISHES_MAX] = {0};
	struct ctx_err err = {0};

	(void)text;
	for (int w = 0, i = 0; w < cursor->table->n_wishes && i < argc; w++) {
		if ((given & 1 << w) != 0)
			values[w] = argv[i++];
	}
	reset(cursor);
	cursor->row = 0;
	return settle(cursor, cursor->table->first(cursor, values, &err), &err);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;
	struct ctx_err err; /* not cleared for every row: only written on failure */

	err.msg[0] = '\0';
	cursor->row++;
	return settle(cursor, cursor->table->next(cursor, &err), &err);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return ((struct vtab_cursor *)base)->at_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
	const struct vtab_cursor *cursor = (const struct vtab_cursor *)base;

	cursor->table->column(cursor, result, which);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct vtab_cursor *)base)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};

enum ctx_status ctx_vtab_register_all(struct ctx_store *store, struct ctx_err *err)
{
	for (size_t i = 0; i < CTX_COUNT_OF(tables); i++) {
		struct source *source = ctx_calloc(1, sizeof(*source));
		int rc;

		if (source == NULL)
			return ctx_err_nomem(err);
		*source = (struct source){store, tables[i]};
		/* SQLite frees it also on failure. */
		rc = sqlite3_create_module_v2(store->db, tables[i]->name, &module, source, free);
		if (rc != SQLITE_OK)
			return ctx_statement_fail(store->db, rc, store->path, err);
	}
	return CTX_OK;
}
