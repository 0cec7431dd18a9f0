#include "store/vtab.h"

#include "base/mem.h"

enum ctx_status vtab_register(struct ctx_store *store, const struct vtab_kind *kind,
			      const sqlite3_module *module, struct ctx_err *err)
{
	struct vtab_context *context = ctx_calloc(1, sizeof(*context));
	int rc;

	if (context == NULL)
		return ctx_err_nomem(err);
	*context = (struct vtab_context){store, *kind};
	/* SQLite frees the context also when this fails. */
	rc = sqlite3_create_module_v2(store->db, kind->name, module, context, free);
	return rc == SQLITE_OK ? CTX_OK : ctx_statement_fail(store->db, rc, store->path, err);
}

int vtab_connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **ret,
		 char **ret_msg)
{
	const struct vtab_context *context = client;
	int rc = sqlite3_declare_vtab(db, context->kind.declaration);
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
	vtab->store = context->store;
	vtab->kind = context->kind.kind;
	*ret = &vtab->base;
	return SQLITE_OK;
}

int vtab_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

int vtab_fail(sqlite3_vtab *vtab, enum ctx_status status, const struct ctx_err *err)
{
	if (status == CTX_E_NOMEM)
		return SQLITE_NOMEM;
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", err->msg);
	return status == CTX_E_FORMAT ? SQLITE_CORRUPT_VTAB
	       : status == CTX_E_IO   ? SQLITE_IOERR
				      : SQLITE_ERROR;
}

int vtab_best_index(sqlite3_index_info *info, const struct vtab_wish *wishes, int n, int hidden_from)
{
	int next_argument = 1;

	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn >= hidden_from && !info->aConstraint[i].usable &&
		    info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return SQLITE_CONSTRAINT;
	}
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000000;
	for (int w = 0; w < n; w++) {
		for (int i = 0; i < info->nConstraint; i++) {
			const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

			if (!constraint->usable || constraint->iColumn != wishes[w].column ||
			    (constraint->op != wishes[w].ops[0] && constraint->op != wishes[w].ops[1]))
				continue;
			info->aConstraintUsage[i].argvIndex = next_argument++;
			info->aConstraintUsage[i].omit = constraint->iColumn >= hidden_from;
			info->idxNum |= 1 << w;
			info->estimatedCost /= 10;
			info->estimatedRows /= 10;
			break;
		}
	}
	return SQLITE_OK;
}
