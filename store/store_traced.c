/*
 * Traced operations: blocks of columns, each of one kind and with the times that it covers, so that a question about an interval reads few of
 * them. The names of the files that they were done on.
 */
#include "store/store_impl.h"

#include "base/mem.h"

/* ---- writing ---- */

/* Whether the operation is one that there is, and its fields are what its kind has. */
static bool is_sound(const struct ctx_traced *operation)
{
	return operation->operation < ctx_traced_n_operations((enum ctx_traced_kind)operation->kind) &&
	       operation->cpu >= -1 && operation->descriptor >= -1 &&
	       operation->duration_ns <= operation->time_ns &&
	       (operation->leaked ? operation->leaked_size <= operation->size : operation->leaked_size == 0);
}

static enum ctx_status check(const struct ctx_store *store, const struct ctx_traced *operations, size_t n,
			     struct ctx_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_sound(&operations[i]) || operations[i].kind != operations[0].kind)
			return ctx_err_set(err, CTX_E_ARG, "%s: operation %zu cannot be", store->path, i);
	}
	return CTX_OK;
}

static enum ctx_status put_block(struct ctx_store *store, const struct ctx_traced *operations, size_t n,
				 struct ctx_err *err)
{
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

enum ctx_status ctx_store_put_traced(struct ctx_store *store, const struct ctx_traced *operations, size_t n,
				     struct ctx_err *err)
{
	enum ctx_status status = check(store, operations, n, err);

	for (size_t first = 0; first < n && status == CTX_OK; first += CTX_CHUNK_ENTRIES) {
		size_t some = n - first < CTX_CHUNK_ENTRIES ? n - first : CTX_CHUNK_ENTRIES;

		status = put_block(store, operations + first, some, err);
	}
	if (status == CTX_OK)
		return CTX_OK;
	store->failed = true;
	return status;
}

void store_bind_traced_file(struct store_rows *rows, size_t i)
{
	ctx_bind_text(rows->stmt, 2, rows->contents->profile->files[i]);
}

/* ---- reading ---- */

enum ctx_status store_take_traced_file(struct store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	const char **item = store_append(&profile->files, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	*item = store_reader_text(reader, 1);
	profile->n_files = (uint32_t)i + 1;
	return CTX_OK;
}

void traced_walk_deinit(struct traced_walk *walk)
{
	sqlite3_finalize(walk->stmt);
	ctx_block_codec_deinit(&walk->codec);
	free(walk->operations);
	*walk = (struct traced_walk){0};
}

enum ctx_status traced_walk_init(struct traced_walk *walk, struct ctx_store *store, enum ctx_traced_kind kind,
				 struct ctx_interval window, struct ctx_err *err)
{
	*walk = (struct traced_walk){.store = store, .kind = kind, .window = window};
	return ctx_statement_prepare(
		store->db, store->path,
		"SELECT kind, n, first_ns, last_ns, payload FROM traced_block ORDER BY id", &walk->stmt, err);
}

/* What the codec cannot know: the ranges of ids and times, and the stacks that follow from the raw ones. */
static enum ctx_status resolve(const struct ctx_store *store, struct ctx_interval span, uint8_t kind,
			       struct ctx_traced *operations, size_t n, struct ctx_err *err)
{
	const struct ctx_profile *profile = &store->profile;

	for (size_t i = 0; i < n; i++) {
		struct ctx_traced *operation = &operations[i];

		operation->kind = kind;
		if (operation->time_ns < span.begin_ns || operation->time_ns > span.end_ns ||
		    (i != 0 && operation->time_ns < operations[i - 1].time_ns))
			return ctx_err_set(err, CTX_E_FORMAT, "operation %zu lies outside its block", i);
		if (!is_sound(operation) || operation->raw_stack >= store->n_raw_stacks ||
		    operation->thread >= profile->n_threads ||
		    !store_is_id(operation->file, profile->n_files, true))
			return ctx_err_set(err, CTX_E_FORMAT,
					   "operation %zu names something that is not there", i);
		operation->stack = store->raw_to_stack[operation->raw_stack];
	}
	return CTX_OK;
}

static enum ctx_status decode(struct traced_walk *walk, struct ctx_interval span, struct ctx_err *err)
{
	uint64_t kind = ctx_column_u64(walk->stmt, 0), n = ctx_column_u64(walk->stmt, 1);
	const void *payload = sqlite3_column_blob(walk->stmt, 4);
	size_t size_bytes = (size_t)sqlite3_column_bytes(walk->stmt, 4);
	enum ctx_status status;

	if (kind >= CTX_TRACED_N || n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "claims %llu operations of kind %llu",
				   (unsigned long long)n, (unsigned long long)kind);
	if (payload == NULL && size_bytes != 0)
		return ctx_err_nomem(err);
	status = ctx_grow(&walk->operations, &walk->cap, (size_t)n, err);
	if (status == CTX_OK)
		status = ctx_traced_decode(&walk->codec, payload, size_bytes, walk->operations, (size_t)n,
					   err);
	if (status == CTX_OK)
		status = resolve(walk->store, span, (uint8_t)kind, walk->operations, (size_t)n, err);
	walk->store->cost.blocks++;
	walk->store->cost.bytes += size_bytes;
	walk->n = status == CTX_OK ? (size_t)n : 0;
	return status;
}

enum ctx_status traced_walk_next(struct traced_walk *walk, struct ctx_err *err)
{
	const struct ctx_store *store = walk->store;
	int rc;

	walk->n = 0;
	if (ctx_interval_is_empty(walk->window))
		return CTX_END;
	while ((rc = sqlite3_step(walk->stmt)) == SQLITE_ROW) {
		struct ctx_interval span = {ctx_column_u64(walk->stmt, 2), ctx_column_u64(walk->stmt, 3)};
		enum ctx_status status;

		if (walk->kind != CTX_TRACED_N && ctx_column_u64(walk->stmt, 0) != (uint64_t)walk->kind)
			continue;
		if (span.begin_ns >= walk->window.end_ns || span.end_ns < walk->window.begin_ns)
			continue;
		status = decode(walk, span, err);
		return status == CTX_OK
			       ? status
			       : ctx_err_prefix(err, status, "%s: a block of operations", store->path);
	}
	return rc == SQLITE_DONE ? CTX_END : ctx_statement_fail(store->db, rc, store->path, err);
}

enum ctx_status ctx_store_scan_traced(struct ctx_store *store, enum ctx_traced_kind kind,
				      struct ctx_interval window, ctx_store_traced_fn each, void *context,
				      struct ctx_err *err)
{
	struct traced_walk walk;
	enum ctx_status status = traced_walk_init(&walk, store, kind, window, err);

	while (status == CTX_OK && (status = traced_walk_next(&walk, err)) == CTX_OK) {
		for (size_t i = 0; status == CTX_OK && i < walk.n; i++) {
			if (ctx_interval_has(window, walk.operations[i].time_ns))
				status = each(context, &walk.operations[i], err);
		}
	}
	traced_walk_deinit(&walk);
	return status == CTX_END ? CTX_OK : status;
}
