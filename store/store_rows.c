#include "store/store_rows.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum ctx_status ctx_store_bad(const struct ctx_store *store, const char *what, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "%s: %s", store->path, what);
}

/* ---- rows ---- */

enum ctx_status ctx_store_put_rows(struct ctx_store_rows *rows, const char *sql, size_t n,
				   ctx_store_bind_fn bind, struct ctx_err *err)
{
	struct ctx_store *store = rows->store;
	enum ctx_status status = ctx_statement_prepare(store->db, store->path, sql, &rows->stmt, err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		ctx_bind_u64(rows->stmt, 1, i);
		bind(rows, i);
		status = rows->failed ? ctx_err_nomem(err) : ctx_statement_run(rows->stmt, store->path, err);
	}
	sqlite3_finalize(rows->stmt);
	rows->stmt = NULL;
	return status;
}

enum ctx_status ctx_store_read_rows(struct ctx_store *store, const char *sql, ctx_store_take_fn take,
				    struct ctx_err *err)
{
	struct ctx_store_reader reader = {.store = store};
	enum ctx_status status = ctx_statement_prepare(store->db, store->path, sql, &reader.stmt, err);
	size_t i = 0;
	int rc = SQLITE_DONE;

	while (status == CTX_OK && (rc = sqlite3_step(reader.stmt)) == SQLITE_ROW) {
		if (sqlite3_column_int64(reader.stmt, 0) != (int64_t)i || i >= INT32_MAX)
			status = ctx_err_set(err, CTX_E_FORMAT, "%s: ids have a gap (%s)", store->path, sql);
		else
			status = take(&reader, i++, err);
		if (status == CTX_OK && reader.failed)
			status = ctx_err_nomem(err);
	}
	if (status == CTX_OK && rc != SQLITE_DONE)
		status = ctx_statement_fail(store->db, rc, store->path, err);
	sqlite3_finalize(reader.stmt);
	return status;
}

void *ctx_store_append(void *items_pointer, size_t n, size_t size)
{
	void **items = items_pointer;
	char *grown = *items;

	if ((n & (n - 1)) == 0) {
		size_t bytes;

		if (__builtin_mul_overflow(n != 0 ? n * 2 : 1, size, &bytes))
			return NULL;
		grown = realloc(*items, bytes);
		if (grown == NULL)
			return NULL;
		*items = grown;
	}
	return memset(grown + n * size, 0, size);
}

/* ---- long arrays in chunks ---- */

struct chunk { /* being written: n entries from `first` on */
	struct ctx_store *store;
	const struct ctx_store_contents *contents;
	sqlite3_stmt *stmt;
	size_t first, n;
};

static enum ctx_status bind_chunk(const struct chunk *chunk, int at, ctx_store_entry_fn entry,
				  struct ctx_err *err)
{
	const struct ctx_store_contents *contents = chunk->contents;
	struct ctx_block_codec *codec = &chunk->store->codec;
	uint64_t *values = codec->values;
	size_t first = chunk->first, n = chunk->n;
	enum ctx_status status;

	for (size_t i = 0; i < n; i++)
		values[i] = entry(contents, first + i);
	status = ctx_column_encode(codec, values, n, err);
	if (status == CTX_OK && sqlite3_bind_blob64(chunk->stmt, at, codec->payload.bytes, codec->payload.n,
						    SQLITE_TRANSIENT) != SQLITE_OK)
		status = ctx_err_nomem(err);
	return status;
}

enum ctx_status ctx_store_put_chunks(struct ctx_store *store, const struct ctx_store_contents *contents,
				     const struct ctx_store_chunks *chunks, struct ctx_err *err)
{
	struct chunk chunk = {.store = store, .contents = contents};
	enum ctx_status status = ctx_statement_prepare(store->db, store->path, chunks->sql, &chunk.stmt, err);

	if (status == CTX_OK)
		status = ctx_grow(&store->codec.values, &store->codec.values_cap, CTX_CHUNK_ENTRIES, err);
	for (; chunk.first < chunks->total && status == CTX_OK; chunk.first += CTX_CHUNK_ENTRIES) {
		size_t left = chunks->total - chunk.first;

		chunk.n = left < CTX_CHUNK_ENTRIES ? left : CTX_CHUNK_ENTRIES;
		ctx_bind_u64(chunk.stmt, 1, chunk.first / CTX_CHUNK_ENTRIES);
		ctx_bind_u64(chunk.stmt, 2, chunk.n);
		for (int k = 0; k < chunks->n_entries && status == CTX_OK; k++)
			status = bind_chunk(&chunk, k + 3, chunks->entries[k], err);
		if (status == CTX_OK)
			status = ctx_statement_run(chunk.stmt, store->path, err);
	}
	sqlite3_finalize(chunk.stmt);
	return status;
}

/* False: a number does not fit. */
static bool copy_values(const uint64_t *values, size_t n, bool narrow, void *to)
{
	uint64_t all = 0;

	if (!narrow) {
		memcpy(to, values, n * sizeof(*values));
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		all |= values[i];
		((uint32_t *)to)[i] = (uint32_t)values[i];
	}
	return all <= UINT32_MAX;
}

static enum ctx_status load_chunks(struct ctx_store *store, sqlite3_stmt *stmt,
				   const struct ctx_store_column *column, char *items, struct ctx_err *err)
{
	size_t size = column->narrow ? sizeof(uint32_t) : sizeof(uint64_t), n = column->n;
	enum ctx_status status =
		ctx_grow(&store->codec.values, &store->codec.values_cap, CTX_CHUNK_ENTRIES, err);

	for (size_t first = 0; first < n && status == CTX_OK; first += CTX_CHUNK_ENTRIES) {
		size_t here = n - first < CTX_CHUNK_ENTRIES ? n - first : CTX_CHUNK_ENTRIES;
		struct ctx_bytes payload;
		int rc = sqlite3_step(stmt);

		if (rc != SQLITE_ROW)
			return rc == SQLITE_DONE ? ctx_store_bad(store, "an array is truncated", err)
						 : ctx_statement_fail(store->db, rc, store->path, err);
		if (ctx_column_u64(stmt, 0) != first / CTX_CHUNK_ENTRIES || ctx_column_u64(stmt, 1) != here)
			return ctx_store_bad(store, "a chunk of an array is missing", err);
		payload.at = sqlite3_column_blob(stmt, 2);
		payload.n = (size_t)sqlite3_column_bytes(stmt, 2);
		status = ctx_column_decode(&store->codec, payload, store->codec.values, here, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%s", store->path);
		if (!copy_values(store->codec.values, here, column->narrow, items + first * size))
			return ctx_store_bad(store, "a number of an array is out of range", err);
	}
	return status;
}

enum ctx_status ctx_store_load_column(struct ctx_store *store, const struct ctx_store_column *column,
				      void *ret, struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status;
	char sql[128];
	char *items;

	snprintf(sql, sizeof(sql), "SELECT id, n, %s FROM %s ORDER BY id", column->name, column->table);
	status = ctx_statement_prepare(store->db, store->path, sql, &stmt, err);
	if (status != CTX_OK)
		return status;
	items = ctx_calloc((size_t)column->n + 1, column->narrow ? sizeof(uint32_t) : sizeof(uint64_t));
	status = items != NULL ? load_chunks(store, stmt, column, items, err) : ctx_err_nomem(err);
	sqlite3_finalize(stmt);
	if (status != CTX_OK) {
		free(items);
		return ctx_err_prefix(err, status, "%s.%s", column->table, column->name);
	}
	*(void **)ret = items;
	return CTX_OK;
}

enum ctx_status ctx_store_load_trie(struct ctx_store *store, const struct ctx_store_column *keys,
				    struct ctx_trie *ret, struct ctx_err *err)
{
	struct ctx_store_column parents = *keys;
	uint32_t *parent = NULL, *key = NULL, n = keys->n;
	enum ctx_status status;

	parents.name = "parent";
	status = ctx_store_load_column(store, &parents, &parent, err);
	if (status == CTX_OK)
		status = ctx_store_load_column(store, keys, &key, err);
	if (status != CTX_OK) {
		free(parent);
		return status;
	}
	/* A distance to before the root wraps to a number that the check of parents refuses. */
	for (uint32_t i = 0; i < n; i++) {
		parent[i] = i - parent[i];
		key[i]--;
	}
	key[0] = CTX_TRIE_ROOT_KEY; /* allocates at least one entry */
	status = ctx_trie_take(ret, parent, key, n, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", store->path);
}
