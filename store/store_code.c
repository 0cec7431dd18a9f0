/*
 * Reading code: locations, sites, source files and raw stacks as arrays, at the first call; texts
 * and instructions row by row.
 */
#include "base/mem.h"
#include "store/store_check.h"
#include "store/store_rows.h"

void ctx_code_state_deinit(struct code_state *state)
{
	sqlite3_finalize(state->get_text);
	sqlite3_finalize(state->get_parts);
	ctx_trie_deinit(&state->raw_stacks);
	free(state->locations);
	free(state->sites);
	free(state->files);
	ctx_block_codec_deinit(&state->codec);
	ctx_buf_deinit(&state->text);
	free(state->parts);
	ctx_buf_deinit(&state->bytes);
	free(state->rows.rows);
	*state = (struct code_state){0};
}

/* ---- arrays ---- */

static enum ctx_status load_locations(struct ctx_store *store, struct ctx_err *err)
{
	static const char *const columns[] = {"object", "function", "site", "joins"};
	uint32_t n = store->n_locations;
	struct ctx_location *locations = store->code.locations =
		ctx_calloc((size_t)n + 1, sizeof(*locations));
	uint64_t *address CTX_AUTO_FREE = NULL;
	enum ctx_status status = locations != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t k = 0; k < CTX_COUNT_OF(columns) && status == CTX_OK; k++) {
		uint32_t *values CTX_AUTO_FREE = NULL;

		status = ctx_store_load_column(
			store, &(struct ctx_store_column){"location_block", columns[k], n, true}, &values,
			err);
		for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
			if (k == 0)
				locations[i].object = values[i] - 1;
			else if (k == 1)
				locations[i].function = values[i] - 1;
			else if (k == 2)
				locations[i].site = values[i] - 1;
			else
				locations[i].joins = values[i] != 0;
		}
	}
	if (status == CTX_OK)
		status = ctx_store_load_column(
			store, &(struct ctx_store_column){"location_block", "address", n, false}, &address,
			err);
	for (uint32_t i = 0; i < n && status == CTX_OK; i++)
		locations[i].address = address[i];
	return status;
}

static enum ctx_status load_sites(struct ctx_store *store, struct ctx_err *err)
{
	static const char *const columns[] = {"function", "file", "line", "caller"};
	uint32_t n = store->n_sites;
	struct ctx_site *sites = store->code.sites = ctx_calloc((size_t)n + 1, sizeof(*sites));
	enum ctx_status status = sites != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t k = 0; k < CTX_COUNT_OF(columns) && status == CTX_OK; k++) {
		uint32_t *values CTX_AUTO_FREE = NULL;

		status = ctx_store_load_column(
			store, &(struct ctx_store_column){"site_block", columns[k], n, true}, &values, err);
		for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
			if (k == 0)
				sites[i].function = values[i];
			else if (k == 1)
				sites[i].file = values[i] - 1;
			else if (k == 2)
				sites[i].line = values[i];
			else /* a distance to before the first entry wraps: the check refuses it */
				sites[i].caller = values[i] != 0 ? i - values[i] : CTX_NONE;
		}
	}
	return status;
}

static enum ctx_status take_file(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct code_state *state = &reader->store->code;
	struct ctx_source_file *file = ctx_store_append(&state->files, i, sizeof(*file));

	if (file == NULL)
		return ctx_err_nomem(err);
	file->path = ctx_store_reader_text(reader, 1);
	file->origin = ctx_store_reader_text(reader, 2);
	state->n_files = i + 1;
	return CTX_OK;
}

static enum ctx_status load_code(struct ctx_store *store, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	const struct ctx_store_column locations = {"raw_stack_block", "location", store->n_raw_stacks, true};
	enum ctx_status status = ctx_store_load_trie(store, &locations, &state->raw_stacks, err);

	if (status == CTX_OK)
		status = load_locations(store, err);
	if (status == CTX_OK)
		status = load_sites(store, err);
	if (status == CTX_OK)
		status = ctx_store_read_rows(store, "SELECT id, path, origin FROM source_file ORDER BY id",
					     take_file, err);
	if (status != CTX_OK)
		return status;
	state->code = (struct ctx_code){
		.raw_stacks = &state->raw_stacks,
		.raw_to_stack = store->raw_to_stack,
		.locations = state->locations,
		.n_locations = store->n_locations,
		.sites = state->sites,
		.n_sites = store->n_sites,
		.files = state->files,
		.n_files = state->n_files,
	};
	status = ctx_store_check_code(&state->code, &store->profile, CTX_E_FORMAT, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", store->path);
}

enum ctx_status ctx_store_code(struct ctx_store *store, const struct ctx_code **ret, struct ctx_err *err)
{
	if (!store->code.loaded) {
		enum ctx_status status = load_code(store, err);

		if (status != CTX_OK) {
			ctx_code_state_deinit(&store->code);
			return status;
		}
		store->code.loaded = true;
	}
	*ret = &store->code.code;
	return CTX_OK;
}

/* ---- texts and instructions ---- */

/* The blob of a row, in place; CTX_E_NOMEM if SQLite could not allocate it. */
static enum ctx_status get_blob(struct ctx_store *store, sqlite3_stmt *stmt, int at, struct ctx_bytes *ret,
				struct ctx_err *err)
{
	ret->at = sqlite3_column_blob(stmt, at);
	ret->n = (size_t)sqlite3_column_bytes(stmt, at);
	store->cost.bytes += ret->n;
	return ret->at == NULL && ret->n != 0 ? ctx_err_nomem(err) : CTX_OK;
}

static enum ctx_status decode_text(struct ctx_store *store, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	struct ctx_bytes payload;
	enum ctx_status status = get_blob(store, state->get_text, 0, &payload, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&state->text);
	status = ctx_bytes_decode(&state->codec, payload, CTX_STORE_TEXT_MAX, &state->text, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_put_u8(&state->text, 0);
	return ctx_buf_check(&state->text, err);
}

static enum ctx_status read_text(void *context, uint32_t file, const char **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	struct ctx_store *store = context;
	enum ctx_status status = CTX_OK;
	int rc;

	if (store->code.get_text == NULL)
		status = ctx_statement_prepare(store->db, store->path,
					       "SELECT text FROM source_file WHERE id = ?",
					       &store->code.get_text, err);
	if (status != CTX_OK)
		return status;
	ctx_bind_u64(store->code.get_text, 1, file);
	rc = sqlite3_step(store->code.get_text);
	if (rc == SQLITE_ROW && sqlite3_column_type(store->code.get_text, 0) != SQLITE_NULL) {
		status = decode_text(store, err);
		if (status != CTX_OK)
			status = ctx_err_prefix(err, status, "%s: text of source file %u", store->path, file);
	} else if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		status = ctx_err_set(err, CTX_E_NOTFOUND, "%s: no text of source file %u", store->path, file);
	} else {
		status = ctx_statement_fail(store->db, rc, store->path, err);
	}
	sqlite3_reset(store->code.get_text);
	if (status != CTX_OK)
		return status;
	*ret = (const char *)store->code.text.bytes;
	*ret_n = store->code.text.n - 1;
	return CTX_OK;
}

/*
 * Adds the current row of the statement as the next part. Its bytes and lines are not addressed
 * yet, because their arrays still grow.
 */
static enum ctx_status take_part(struct ctx_store *store, struct ctx_function_code *part, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	size_t bytes_before = state->bytes.n, rows_before = state->rows.n;
	uint64_t n = ctx_column_u64(state->get_parts, 1), machine = ctx_column_u64(state->get_parts, 2);
	struct ctx_bytes payload;
	enum ctx_status status;

	if (n == 0 || n > CTX_STORE_CODE_MAX || bytes_before + n > CTX_STORE_PARTS_BYTES_MAX ||
	    part->address > UINT64_MAX - n || machine > UINT16_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a part that cannot be");
	part->n_bytes = (size_t)n;
	status = get_blob(store, state->get_parts, 3, &payload, err);
	if (status == CTX_OK)
		status = ctx_bytes_decode(&state->codec, payload, part->n_bytes, &state->bytes, err);
	if (status == CTX_OK && state->bytes.n - bytes_before != n)
		return ctx_err_set(err, CTX_E_FORMAT, "a part is truncated");
	if (status == CTX_OK)
		status = get_blob(store, state->get_parts, 4, &payload, err);
	if (status == CTX_OK)
		status = ctx_lines_decode(&state->codec, payload, part, &state->rows, err);
	for (size_t i = rows_before; i < state->rows.n && status == CTX_OK; i++) {
		if (!ctx_store_is_id(state->rows.rows[i].file, state->n_files, true))
			status = ctx_store_range(CTX_E_FORMAT, "line", i, err);
	}
	part->n_lines = state->rows.n - rows_before;
	part->machine = (uint16_t)machine;
	return status;
}

static enum ctx_status take_parts(struct ctx_store *store, uint32_t function, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	uint64_t end = 0;
	int rc;

	while ((rc = sqlite3_step(state->get_parts)) == SQLITE_ROW) {
		enum ctx_status status = ctx_grow(&state->parts, &state->parts_cap, state->n_parts + 1, err);
		struct ctx_function_code *part;

		if (status != CTX_OK)
			return status;
		part = &state->parts[state->n_parts++];
		*part = (struct ctx_function_code){.function = function,
						   .address = ctx_column_u64(state->get_parts, 0)};
		if (part->address < end || state->n_parts > CTX_STORE_PARTS_MAX)
			return ctx_err_set(err, CTX_E_FORMAT, "its parts are not in order, or too many");
		status = take_part(store, part, err);
		if (status != CTX_OK)
			return status;
		end = part->address + part->n_bytes;
	}
	return rc == SQLITE_DONE ? CTX_OK : ctx_statement_fail(store->db, rc, store->path, err);
}

/* Bytes and lines of all parts are consecutive. */
static void place_parts(struct code_state *state)
{
	const struct ctx_line_row *row = state->rows.rows;
	const uint8_t *byte = state->bytes.bytes;

	for (size_t i = 0; i < state->n_parts; i++) {
		state->parts[i].bytes = byte;
		state->parts[i].lines = row;
		byte += state->parts[i].n_bytes;
		row += state->parts[i].n_lines;
	}
}

static enum ctx_status read_code(void *context, uint32_t function, const struct ctx_function_code **ret,
				 size_t *ret_n, struct ctx_err *err)
{
	struct ctx_store *store = context;
	struct code_state *state = &store->code;
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(store, &code, err);

	if (status == CTX_OK && state->get_parts == NULL)
		status = ctx_statement_prepare(store->db, store->path,
					       "SELECT address, n, machine, bytes, lines FROM function_code "
					       "WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
					       &state->get_parts, err);
	if (status != CTX_OK)
		return status;
	state->n_parts = state->rows.n = 0;
	ctx_buf_clear(&state->bytes);
	sqlite3_bind_int64(state->get_parts, 1, ctx_store_rowid(function, 0));
	sqlite3_bind_int64(state->get_parts, 2, ctx_store_rowid(function, UINT32_MAX));
	/* Row ids of functions from 2 G on would be negative; they do not exist. */
	if (function < store->profile.n_functions)
		status = take_parts(store, function, err);
	sqlite3_reset(state->get_parts);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s: code of function %u", store->path, function);
	place_parts(state);
	*ret = state->parts;
	*ret_n = state->n_parts;
	return CTX_OK;
}

struct ctx_code_reader ctx_store_code_reader(struct ctx_store *store)
{
	return (struct ctx_code_reader){.text = read_text, .code = read_code, .context = store};
}
