/*
 * Writing sites, source files, and the items that are read one by one: texts and code.
 */
#include "base/mem.h"
#include "store/store_check.h"
#include "store/store_rows.h"

#include <inttypes.h>

static uint64_t site_function(const struct ctx_store_contents *contents, size_t i)
{
	return contents->sites[i].function;
}

static uint64_t site_file(const struct ctx_store_contents *contents, size_t i)
{
	return (uint32_t)(contents->sites[i].file + 1);
}

static uint64_t site_line(const struct ctx_store_contents *contents, size_t i)
{
	return contents->sites[i].line;
}

/* Stored as the distance to it, which is small; 0: none. */
static uint64_t site_caller(const struct ctx_store_contents *contents, size_t i)
{
	return contents->sites[i].caller != CTX_NONE ? i - contents->sites[i].caller : 0;
}

static enum ctx_status put_files(struct ctx_store *store, const struct ctx_store_contents *contents,
				 struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(
		store->db, store->path, "INSERT INTO source_file VALUES (?, ?, ?, NULL)", &stmt, err);

	for (size_t i = 0; i < contents->n_files && status == CTX_OK; i++) {
		ctx_bind_u64(stmt, 1, i);
		ctx_bind_text(stmt, 2, contents->files[i].path);
		ctx_bind_text(stmt, 3, contents->files[i].origin);
		status = ctx_statement_run(stmt, store->path, err);
	}
	sqlite3_finalize(stmt);
	return status;
}

enum ctx_status ctx_store_put_sources(struct ctx_store *store, const struct ctx_store_contents *contents,
				      struct ctx_err *err)
{
	static const ctx_store_entry_fn site[] = {site_function, site_file, site_line, site_caller};
	const struct ctx_store_chunks sites = {"INSERT INTO site_block VALUES (?, ?, ?, ?, ?, ?)", site,
					       CTX_COUNT_OF(site), contents->n_sites};
	enum ctx_status status = ctx_store_put_chunks(store, contents, &sites, err);

	if (status == CTX_OK)
		status = put_files(store, contents, err);
	store->put_state = (struct put_state){
		.n_files = (uint32_t)contents->n_files,
		.n_functions = contents->profile->n_functions,
		.function = CTX_NONE,
	};
	return status;
}

static enum ctx_status run(struct ctx_store *store, enum put_statement which, struct ctx_err *err)
{
	enum ctx_status status = ctx_statement_run(store->put[which], store->path, err);

	sqlite3_clear_bindings(store->put[which]);
	if (status != CTX_OK)
		store->failed = true;
	return status;
}

/* Compresses and binds a copy: the codec has one payload only. */
static enum ctx_status bind_payload(struct ctx_store *store, sqlite3_stmt *stmt, int at,
				    enum ctx_status status, struct ctx_err *err)
{
	if (status == CTX_OK && sqlite3_bind_blob64(stmt, at, store->codec.payload.bytes,
						    store->codec.payload.n, SQLITE_TRANSIENT) != SQLITE_OK)
		status = ctx_err_nomem(err);
	return status;
}

enum ctx_status ctx_store_put_source_text(struct ctx_store *store, uint32_t file, const char *text, size_t n,
					  struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->put[PUT_TEXT];
	enum ctx_status status;

	if (!store->has_contents || file >= store->put_state.n_files)
		return ctx_err_set(err, CTX_E_ARG, "%s: a text of no source file (%" PRIu32 ")", store->path,
				   file);
	if (n > CTX_STORE_TEXT_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: a source file of %zu bytes", store->path, n);
	ctx_bind_u64(stmt, 1, file);
	status = bind_payload(store, stmt, 2, ctx_bytes_encode(&store->codec, text, n, err), err);
	if (status != CTX_OK)
		return status;
	return run(store, PUT_TEXT, err);
}

static enum ctx_status check_part(const struct ctx_store *store, const struct ctx_function_code *code,
				  struct ctx_err *err)
{
	const struct put_state *state = &store->put_state;
	bool first = code->function != state->function;

	if (!store->has_contents || code->function >= state->n_functions)
		return ctx_err_set(err, CTX_E_ARG, "%s: code of no function (%" PRIu32 ")", store->path,
				   code->function);
	if (code->n_bytes > CTX_STORE_CODE_MAX ||
	    (!first && (state->parts >= CTX_STORE_PARTS_MAX ||
			state->bytes + code->n_bytes > CTX_STORE_PARTS_BYTES_MAX)))
		return ctx_err_set(err, CTX_E_LIMIT, "%s: %zu bytes of code of function %" PRIu32,
				   store->path, code->n_bytes, code->function);
	if (code->n_bytes == 0 || code->address > UINT64_MAX - code->n_bytes ||
	    (!first && code->address < state->end))
		return ctx_err_set(err, CTX_E_ARG,
				   "%s: code of function %" PRIu32 " at %#" PRIx64
				   " lies before or in another part",
				   store->path, code->function, code->address);
	for (size_t i = 0; i < code->n_lines; i++) {
		if (!ctx_store_is_id(code->lines[i].file, state->n_files, true))
			return ctx_store_range(CTX_E_ARG, "line", i, err);
	}
	return CTX_OK;
}

enum ctx_status ctx_store_put_code(struct ctx_store *store, const struct ctx_function_code *code,
				   struct ctx_err *err)
{
	struct put_state *state = &store->put_state;
	sqlite3_stmt *stmt = store->put[PUT_CODE];
	enum ctx_status status = check_part(store, code, err);

	if (status == CTX_OK)
		status = bind_payload(store, stmt, 6,
				      ctx_bytes_encode(&store->codec, code->bytes, code->n_bytes, err), err);
	if (status == CTX_OK)
		status = bind_payload(store, stmt, 7, ctx_lines_encode(&store->codec, code, err), err);
	if (status != CTX_OK)
		return status;
	if (code->function != state->function)
		*state = (struct put_state){.n_files = state->n_files,
					    .n_functions = state->n_functions,
					    .function = code->function};
	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(code->function, state->parts++));
	ctx_bind_u64(stmt, 2, code->function);
	ctx_bind_u64(stmt, 3, code->address);
	ctx_bind_u64(stmt, 4, code->n_bytes);
	ctx_bind_u64(stmt, 5, code->machine);
	state->end = code->address + code->n_bytes;
	state->bytes += code->n_bytes;
	return run(store, PUT_CODE, err);
}
