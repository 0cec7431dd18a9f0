/*
 * Traced operations, in blocks of one kind each, and the names of their files.
 */
#include "store/store_check.h"
#include "store/store_rows.h"

/* ---- writing ---- */

/* Whether the operation exists, and its fields are valid for its kind. */
static bool is_sound(const struct ctx_traced *operation)
{
	return operation->operation < ctx_traced_n_operations((enum ctx_traced_kind)operation->kind) &&
	       operation->cpu >= -1 && operation->descriptor >= -1 &&
	       operation->duration_ns <= operation->time_ns &&
	       !(operation->leaked &&
		 (operation->kind == CTX_TRACED_SYNC || operation->kind == CTX_TRACED_MEMORY)) &&
	       (operation->leaked ? operation->leaked_size <= operation->size
				  : operation->leaked_size == 0 || operation->kind == CTX_TRACED_MEMORY);
}

static enum ctx_status check(const struct ctx_store *store, const void *items, size_t n, struct ctx_err *err)
{
	const struct ctx_traced *operations = items;

	for (size_t i = 0; i < n; i++) {
		if (!is_sound(&operations[i]) || operations[i].kind != operations[0].kind)
			return ctx_err_set(err, CTX_E_ARG, "%s: operation %zu cannot be", store->path, i);
	}
	return CTX_OK;
}

static enum ctx_status put(struct ctx_store *store, const void *items, size_t n, struct ctx_err *err)
{
	const struct ctx_traced *operations = items;
	sqlite3_stmt *stmt = store->put[PUT_TRACED];
	enum ctx_status status = ctx_traced_encode(&store->codec, operations, n, err);

	if (status != CTX_OK)
		return status;
	ctx_bind_u64(stmt, 1, store->n_traced_blocks++);
	ctx_bind_u64(stmt, 2, operations[0].kind);
	ctx_bind_u64(stmt, 3, n);
	ctx_bind_u64(stmt, 4, operations[0].time_ns);
	ctx_bind_u64(stmt, 5, operations[n - 1].time_ns);
	ctx_bind_blob(stmt, 6, store->codec.payload.bytes, store->codec.payload.n);
	return ctx_statement_run(stmt, store->path, err);
}

void ctx_store_bind_traced_file(struct ctx_store_rows *rows, size_t i)
{
	ctx_bind_text(rows->stmt, 2, rows->contents->profile->files[i]);
}

/* ---- reading ---- */

enum ctx_status ctx_store_take_traced_file(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	const char **item = ctx_store_append(&profile->files, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	*item = ctx_store_reader_text(reader, 1);
	profile->n_files = (uint32_t)i + 1;
	return CTX_OK;
}

/*
 * Checks that the codec cannot do: the ranges of ids and times. Fills in the stacks from the raw
 * stacks.
 */
static enum ctx_status resolve(const struct ctx_store *store, const struct block *block,
			       struct ctx_traced *operations, struct ctx_err *err)
{
	const struct ctx_profile *profile = &store->profile;

	for (size_t i = 0; i < block->n; i++) {
		struct ctx_traced *operation = &operations[i];

		operation->kind = (uint8_t)block->kind;
		if (operation->time_ns < block->span.begin_ns || operation->time_ns > block->span.end_ns ||
		    (i != 0 && operation->time_ns < operations[i - 1].time_ns))
			return ctx_err_set(err, CTX_E_FORMAT, "operation %zu lies outside its block", i);
		if (!is_sound(operation) || operation->raw_stack >= store->n_raw_stacks ||
		    operation->thread >= profile->n_threads ||
		    !ctx_store_is_id(
			    operation->file,
			    operation->kind == CTX_TRACED_SYNC ? profile->n_threads : profile->n_files, true))
			return ctx_err_set(err, CTX_E_FORMAT,
					   "operation %zu names something that is not there", i);
		operation->stack = store->raw_to_stack[operation->raw_stack];
	}
	return CTX_OK;
}

static enum ctx_status decode(struct block_walk *walk, const struct block *block, struct ctx_err *err)
{
	enum ctx_status status;

	if (block->kind >= CTX_TRACED_N)
		return ctx_err_set(err, CTX_E_FORMAT, "operations of kind %llu",
				   (unsigned long long)block->kind);
	status = ctx_traced_decode(&walk->codec, block->payload, walk->items, block->n, err);
	return status == CTX_OK ? resolve(walk->store, block, walk->items, err) : status;
}

const struct block_table ctx_traced_blocks = {
	.items = "operations",
	.select = "SELECT kind, n, first_ns, last_ns, payload FROM traced_block ORDER BY id",
	.item_bytes = sizeof(struct ctx_traced),
	.check = check,
	.put = put,
	.decode = decode,
};

enum ctx_status ctx_store_put_traced(struct ctx_store *store, const struct ctx_traced *operations, size_t n,
				     struct ctx_err *err)
{
	return ctx_blocks_put(store, &ctx_traced_blocks, operations, n, err);
}

enum ctx_status ctx_store_scan_traced(struct ctx_store *store, const struct ctx_store_traced_scan *scan,
				      struct ctx_err *err)
{
	struct block_walk walk = {
		.store = store,
		.table = &ctx_traced_blocks,
		.kind = scan->kind != CTX_TRACED_N ? (uint64_t)scan->kind : BLOCKS_OF_ALL_KINDS,
		.window = scan->window,
	};
	enum ctx_status status = ctx_store_need_samples(store, err);

	if (status != CTX_OK)
		return status;
	status = ctx_block_walk_init(&walk, err);

	while (status == CTX_OK && (status = ctx_block_walk_next(&walk, err)) == CTX_OK) {
		const struct ctx_traced *operations = walk.items;

		for (size_t i = 0; status == CTX_OK && i < walk.n; i++) {
			if (ctx_interval_has(scan->window, operations[i].time_ns))
				status = scan->each(scan->context, &operations[i], err);
		}
	}
	ctx_block_walk_deinit(&walk);
	return status == CTX_END ? CTX_OK : status;
}
