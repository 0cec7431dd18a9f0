/*
 * Tables as rows and as chunks of columns: building blocks for writing and reading the contents.
 * Private to store/.
 */
#ifndef CTX_STORE_STORE_ROWS_H
#define CTX_STORE_STORE_ROWS_H

#include "store/store_impl.h"

/* CTX_E_FORMAT, with the file and what is wrong with it. */
enum ctx_status ctx_store_bad(const struct ctx_store *store, const char *what, struct ctx_err *err);

/* ---- writing ---- */

struct ctx_store_rows {
	struct ctx_store *store;
	const struct ctx_store_contents *contents;
	sqlite3_stmt *stmt;
	bool failed; /* out of memory while binding a row */
};

/* Binds row `i` to rows->stmt, from parameter 2 on: 1 is the id. */
typedef void (*ctx_store_bind_fn)(struct ctx_store_rows *rows, size_t i);

/* `n` rows with ids from 0. */
CTX_MUST_CHECK enum ctx_status ctx_store_put_rows(struct ctx_store_rows *rows, const char *sql, size_t n,
						  ctx_store_bind_fn bind, struct ctx_err *err);

/* An entry of a long array, as a number. */
typedef uint64_t (*ctx_store_entry_fn)(const struct ctx_store_contents *contents, size_t i);

struct ctx_store_chunks {
	const char *sql; /* inserts a row of id, n and one blob for each of `entries` */
	const ctx_store_entry_fn *entries;
	int n_entries;
	size_t total;
};

/* Writes `total` entries in chunks. */
CTX_MUST_CHECK enum ctx_status ctx_store_put_chunks(struct ctx_store *store,
						    const struct ctx_store_contents *contents,
						    const struct ctx_store_chunks *chunks,
						    struct ctx_err *err);

/* ---- reading ---- */

struct ctx_store_reader {
	struct ctx_store *store;
	sqlite3_stmt *stmt;
	bool failed; /* out of memory for a string */
};

/* Reads row `i`, the current row of reader->stmt. */
typedef enum ctx_status (*ctx_store_take_fn)(struct ctx_store_reader *reader, size_t i, struct ctx_err *err);

/* Reads a table; ids must run from 0 without a gap. */
CTX_MUST_CHECK enum ctx_status ctx_store_read_rows(struct ctx_store *store, const char *sql,
						   ctx_store_take_fn take, struct ctx_err *err);

/* A copy in the profile's arena; NULL in the database is "". Bytes after a zero byte are cut. */
static inline const char *ctx_store_reader_text(struct ctx_store_reader *reader, int at)
{
	const char *found = (const char *)sqlite3_column_text(reader->stmt, at);
	const char *copy;

	if (found == NULL)
		return "";
	copy = ctx_arena_strdup(&reader->store->profile.arena, found);
	if (copy == NULL)
		reader->failed = true;
	return copy != NULL ? copy : "";
}

/*
 * Appends one zeroed item to an array of `n` items and returns its place, NULL: out of memory. For
 * arrays without a stored capacity: it is the next power of two.
 */
void *ctx_store_append(void *items_pointer, size_t n, size_t size);

struct ctx_store_column {
	const char *table, *name;
	uint32_t n;
	bool narrow; /* into an array of uint32_t, in which its numbers must fit; otherwise of uint64_t */
};

/* The chunks of a column as one array of exactly column->n numbers. malloc'ed. */
CTX_MUST_CHECK enum ctx_status ctx_store_load_column(struct ctx_store *store,
						     const struct ctx_store_column *column, void *ret,
						     struct ctx_err *err);

/*
 * A trie from the column of its keys plus one, and the column `parent` with distances to parents.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_load_trie(struct ctx_store *store,
						   const struct ctx_store_column *keys, struct ctx_trie *ret,
						   struct ctx_err *err);

/* ---- the rows of the tables metric, outsider, traced_file, loss and vm ---- */

void ctx_store_bind_vm(struct ctx_store_rows *rows, size_t i);
CTX_MUST_CHECK enum ctx_status ctx_store_take_vm(struct ctx_store_reader *reader, size_t i,
						 struct ctx_err *err);

void ctx_store_bind_loss(struct ctx_store_rows *rows, size_t i);
CTX_MUST_CHECK enum ctx_status ctx_store_take_loss(struct ctx_store_reader *reader, size_t i,
						   struct ctx_err *err);

void ctx_store_bind_metric(struct ctx_store_rows *rows, size_t i);
void ctx_store_bind_external_waker(struct ctx_store_rows *rows, size_t i);
void ctx_store_bind_traced_file(struct ctx_store_rows *rows, size_t i);
CTX_MUST_CHECK enum ctx_status ctx_store_take_metric(struct ctx_store_reader *reader, size_t i,
						     struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_take_external_waker(struct ctx_store_reader *reader, size_t i,
							     struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_take_traced_file(struct ctx_store_reader *reader, size_t i,
							  struct ctx_err *err);

#endif
