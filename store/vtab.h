/*
 * The virtual tables that make columns in blobs look like rows; each file registers its own.
 */
#ifndef CTX_STORE_VTAB_H
#define CTX_STORE_VTAB_H

#include "store/store_impl.h"

/* What every table of ours begins with. */
struct vtab {
	sqlite3_vtab base;
	struct ctx_store *store;
	int kind; /* which of the tables that share a file */
};

struct vtab_kind {
	const char *name;
	const char *declaration;
	int kind;
};

struct vtab_context { /* the client data of a module; freed by SQLite */
	struct ctx_store *store;
	struct vtab_kind kind;
};

CTX_MUST_CHECK enum ctx_status vtab_register(struct ctx_store *store, const struct vtab_kind *kind,
					     const sqlite3_module *module, struct ctx_err *err);

/* xConnect and xDisconnect of every table. */
int vtab_connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **ret,
		 char **ret_msg);
int vtab_disconnect(sqlite3_vtab *vtab);

/* Makes a failure of ours SQLite's: the message goes to the table, the code is returned. */
int vtab_fail(sqlite3_vtab *vtab, enum ctx_status status, const struct ctx_err *err);

/* The bounds of a query, handed from xBestIndex to xFilter: bit i of idxNum says that argument i of this list
 * is given, in this order. */
struct vtab_wish {
	int column;
	unsigned char ops[2]; /* SQLITE_INDEX_CONSTRAINT_*; 0: only one */
};

/*
 * Finds a usable constraint for each wish. `hidden_from`: from this column on constraints must be taken as
 * they are (arguments of a table-valued function): an unusable one makes the plan impossible,
 * SQLITE_CONSTRAINT.
 */
int vtab_best_index(sqlite3_index_info *info, const struct vtab_wish *wishes, int n, int hidden_from);

/*
 * A table whose rows lie in blocks by time; its first column is time_ns. The walk hands out one block after the other, CTX_END behind
 * the last; all zero it can be deinitialized, and so it can after a failure.
 */
struct vtab_blocks {
	const char *name, *declaration;
	size_t walk_bytes;
	enum ctx_status (*init)(void *walk, struct ctx_store *store, struct ctx_interval window,
				struct ctx_err *err);
	enum ctx_status (*next)(void *walk, size_t *ret_n, struct ctx_err *err);
	bool (*has)(const void *walk, size_t i); /* row i of the block lies in the window */
	void (*column)(const void *walk, size_t i, sqlite3_context *result, int which);
	void (*deinit)(void *walk);
};

extern const struct vtab_blocks vtab_wakeups, vtab_traced;

CTX_MUST_CHECK enum ctx_status vtab_register_samples(struct ctx_store *store, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status vtab_register_blocks(struct ctx_store *store, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status vtab_register_stacks(struct ctx_store *store, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status vtab_register_profile(struct ctx_store *store, struct ctx_err *err);

#endif
