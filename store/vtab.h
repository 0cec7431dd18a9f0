/*
 * Virtual tables that present columns in blobs as rows.
 *
 *	vtab.c     SQLite's side: one module for all tables     vtab_timed.c   rows by time, block by block
 *	vtab_*.c   one or several similar tables, each as a struct vtab_table
 */
#ifndef CTX_STORE_VTAB_H
#define CTX_STORE_VTAB_H

#include "store/store_impl.h"

#define VTAB_WISHES_MAX 4

/* A constraint of a query that a table can use. */
struct vtab_wish {
	int column;
	unsigned char ops[2]; /* SQLITE_INDEX_CONSTRAINT_*; 0: only one */
};

struct vtab_timed_cursor;

/* Base of every cursor: a query in progress. */
struct vtab_cursor {
	sqlite3_vtab_cursor base;
	const struct vtab_table *table;
	struct ctx_store *store;
	sqlite3_int64 row; /* the row's number; incremented before `next` is called */
	bool at_end;
};

struct vtab_table {
	const char *name, *declaration;
	const struct vtab_wish *wishes;
	int n_wishes;
	/*
	 * If not 0, the columns from this one on are arguments of a table-valued function, whose
	 * constraints SQLite does not check again.
	 */
	int arguments_from;
	bool is_by_id; /* the only wish selects one row */
	int kind;      /* which of the tables that share a file */
	/*
	 * Moves to the next block; CTX_END: none. Sets `n`, which may be 0, and the items. NULL:
	 * vtab_timed_* are not used.
	 */
	enum ctx_status (*next_block)(struct vtab_timed_cursor *timed, struct ctx_err *err);
	size_t cursor_bytes;
	/*
	 * Move a reset cursor to the first row, and to the next one; CTX_END: none. values[i] is
	 * the operand of wish i, NULL if it is not in the query. SQLite checks every row again, so
	 * extra rows are harmless, except for arguments.
	 */
	enum ctx_status (*first)(struct vtab_cursor *cursor, sqlite3_value *const *values,
				 struct ctx_err *err);
	enum ctx_status (*next)(struct vtab_cursor *cursor, struct ctx_err *err);
	void (*column)(const struct vtab_cursor *cursor, sqlite3_context *result, int which);
	void (*reset)(struct vtab_cursor *cursor); /* may be called twice; NULL: nothing to release */
};

CTX_MUST_CHECK enum ctx_status ctx_vtab_register_all(struct ctx_store *store, struct ctx_err *err);

/*
 * Tables with rows in blocks by time: `first` and `next`, using `next_block`. The wishes are these,
 * as many as the table has. Operands that are not integers are left to SQLite.
 */
enum { VTAB_FROM, VTAB_TO, VTAB_THREAD, VTAB_METRIC };

struct vtab_timed_cursor {
	struct vtab_cursor cursor;
	struct ctx_interval window;
	int64_t thread, metric; /* -1: any */
	/* The block. */
	size_t at, n;
	const void *items; /* each begins with its time, a uint64_t */
	size_t item_bytes;
};

enum ctx_status ctx_vtab_timed_first(struct vtab_cursor *cursor, sqlite3_value *const *values,
				     struct ctx_err *err);
enum ctx_status ctx_vtab_timed_next(struct vtab_cursor *cursor, struct ctx_err *err);

/* Those of these tables that a block walk reads. */
struct vtab_blocks_cursor {
	struct vtab_timed_cursor timed;
	struct block_walk walk;
};

extern const struct vtab_wish ctx_vtab_blocks_wishes[2];

enum ctx_status ctx_vtab_blocks_next(struct vtab_timed_cursor *timed, const struct block_table *table,
				     struct ctx_err *err);
void ctx_vtab_blocks_reset(struct vtab_cursor *cursor);

extern const struct vtab_table ctx_vtab_samples, ctx_vtab_wakeups, ctx_vtab_traced, ctx_vtab_stack,
	ctx_vtab_raw_stack, ctx_vtab_location, ctx_vtab_site, ctx_vtab_functions, ctx_vtab_call_tree;

#endif
