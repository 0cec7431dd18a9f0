#include "store/store_impl.h"

#include "base/mem.h"

enum ctx_status ctx_blocks_put(struct ctx_store *store, const struct block_table *table, const void *items,
			       size_t n, struct ctx_err *err)
{
	enum ctx_status status = table->check(store, items, n, err);

	for (size_t first = 0; first < n && status == CTX_OK; first += CTX_CHUNK_ENTRIES) {
		size_t some = n - first < CTX_CHUNK_ENTRIES ? n - first : CTX_CHUNK_ENTRIES;

		status = table->put(store, (const char *)items + first * table->item_bytes, some, err);
	}
	if (status != CTX_OK)
		store->failed = true;
	return status;
}

enum ctx_status ctx_block_walk_init(struct block_walk *walk, struct ctx_err *err)
{
	return ctx_statement_prepare(walk->store->db, walk->store->path, walk->table->select, &walk->stmt,
				     err);
}

void ctx_block_walk_deinit(struct block_walk *walk)
{
	sqlite3_finalize(walk->stmt);
	ctx_block_codec_deinit(&walk->codec);
	free(walk->items);
	*walk = (struct block_walk){0};
}

static enum ctx_status decode(struct block_walk *walk, struct block *block, struct ctx_err *err)
{
	uint64_t n = ctx_column_u64(walk->stmt, 1);
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "claims %llu %s", (unsigned long long)n,
				   walk->table->items);
	block->n = (size_t)n;
	block->payload.at = sqlite3_column_blob(walk->stmt, 4);
	block->payload.n = (size_t)sqlite3_column_bytes(walk->stmt, 4);
	if (block->payload.at == NULL && block->payload.n != 0)
		return ctx_err_nomem(err);
	status = ctx_grow_if(&walk->items, &walk->cap, block->n, walk->table->item_bytes, err);
	if (status == CTX_OK)
		status = walk->table->decode(walk, block, err);
	walk->store->cost.blocks++;
	walk->store->cost.bytes += block->payload.n;
	walk->n = status == CTX_OK ? block->n : 0;
	return status;
}

enum ctx_status ctx_block_walk_next(struct block_walk *walk, struct ctx_err *err)
{
	const struct ctx_store *store = walk->store;
	int rc;

	walk->n = 0;
	if (ctx_interval_is_empty(walk->window))
		return CTX_END;
	while ((rc = sqlite3_step(walk->stmt)) == SQLITE_ROW) {
		struct block block = {.kind = ctx_column_u64(walk->stmt, 0),
				      .span = {ctx_column_u64(walk->stmt, 2), ctx_column_u64(walk->stmt, 3)}};
		enum ctx_status status;

		if (walk->kind != BLOCKS_OF_ALL_KINDS && walk->kind != block.kind)
			continue;
		if (block.span.begin_ns >= walk->window.end_ns || block.span.end_ns < walk->window.begin_ns)
			continue;
		status = decode(walk, &block, err);
		return status == CTX_OK ? status
					: ctx_err_prefix(err, status, "%s: a block of %s", store->path,
							 walk->table->items);
	}
	return rc == SQLITE_DONE ? CTX_END : ctx_statement_fail(store->db, rc, store->path, err);
}
