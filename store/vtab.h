/*
 * The virtual tables that make columns in blobs look like rows.
 *
 *	vtab.c     SQLite's side: one module for all tables     vtab_timed.c   rows by time, block by block
 *	vtab_*.c   a table or some that are alike, each as a struct vtab_table
 */
#ifndef CTX_STORE_VTAB_H
#define CTX_STORE_VTAB_H

#include "store/store_impl.h"

#define VTAB_WISHES_MAX 4

/* A bound of a query that a table can make use of. */
struct vtab_wish {
	int column;
	unsigned char ops[2]; /* SQLITE_INDEX_CONSTRAINT_*; 0: only one */
};

struct vtab_timed_cursor;

/* What every cursor of ours begins with: a query under way. */
struct vtab_cursor {
	sqlite3_vtab_cursor base;
	const struct vtab_table *table;
	struct ctx_store *store;
	sqlite3_int64 row; /* the row's number; `next` finds it one larger */
	bool at_end;
};

struct vtab_table {
	const char *name, *declaration;
	const struct vtab_wish *wishes;
	int n_wishes;
	/* The columns from this one on, if it is not 0, are arguments of a table-valued function:
	 * bounds of them are taken as they are. */
	int arguments_from;
	bool is_by_id; /* the only wish finds one row */
	int kind;      /* which of the tables that share a file */
	/* On to the next block, CTX_END: there is none. Sets `n`, which may be 0, and the items.
	 * NULL: vtab_timed_* are not used. */
	enum ctx_status (*next_block)(struct vtab_timed_cursor *timed, struct ctx_err *err);
	size_t cursor_bytes;
	/*
	 * On to the first row, from a cursor that was reset, and to the next one; CTX_END: there is
	 * none. values[i] is what wish i is to be compared with, NULL if it is not in the query.
	 * SQLite checks every row again: there may be too many, but for arguments.
	 */
	enum ctx_status (*first)(struct vtab_cursor *cursor, sqlite3_value *const *values,
				 struct ctx_err *err);
	enum ctx_status (*next)(struct vtab_cursor *cursor, struct ctx_err *err);
	void (*column)(const struct vtab_cursor *cursor, sqlite3_context *result, int which);
	void (*reset)(struct vtab_cursor
			      *cursor); /* frees what the cursor has; may come twice. NULL: it has nothing */
};

CTX_MUST_CHECK enum ctx_status ctx_vtab_register_all(struct ctx_store *store, struct ctx_err *err);

/*
 * Tables whose rows lie in blocks by time: `first` and `next`, by way of `next_block`. The wishes
 * are these, as many of them as the table has. SQLite compares what is no integer.
 */
enum { VTAB_FROM, VTAB_TO, VTAB_THREAD, VTAB_METRIC };

struct vtab_timed_cursor {
	struct vtab_cursor cursor;
	struct ctx_interval window;
	int64_t thread, metric; /* -1: any */
	/* The block. */
	size_t at, n;
	const void *items; /* each begins with its time, an uint64_t */
	size_t item_bytes;
};

enum ctx_status ctx_vtab_timed_first(struct vtab_cursor *cursor, sqlite3_value *const *values,
				     struct ctx_err *err);
enum ctx_status ctx_vtab_timed_next(struct vtab_cursor *cursor, struct ctx_err *err);

/* Those of them that a block walk reads. */
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
