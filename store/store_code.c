/*
 * Reading code: locations, sites, source files and raw stacks as arrays, at the first call; texts and instructions row by row.
 */
#include "store/store_impl.h"

#include "base/mem.h"

#include <string.h>

void code_state_deinit(struct code_state *state)
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

/* ---- checks, before writing and after reading ---- */

static enum ctx_status check_sites(const struct ctx_code *code, const struct ctx_profile *profile,
				   enum ctx_status wrong, struct ctx_err *err)
{
	size_t n = code->n_sites;
	uint16_t *depth CTX_AUTO_FREE = n != 0 ? ctx_calloc(n, sizeof(*depth)) : NULL;

	if (n != 0 && depth == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_site *site = &code->sites[i];

		if (!store_is_id(site->function, profile->n_functions, false) ||
		    !store_is_id(site->file, code->n_files, true) || !store_is_id(site->caller, i, true))
			return store_range(wrong, "site", i, err);
		depth[i] = site->caller != CTX_NONE ? (uint16_t)(depth[site->caller] + 1) : 0;
		if (depth[i] >= SITE_DEPTH_MAX)
			return ctx_err_set(err, wrong, "site %zu is inlined more than %u times", i,
					   SITE_DEPTH_MAX);
	}
	return CTX_OK;
}

/* A join is no code: it has neither a function nor an object. */
static bool is_sound(const struct ctx_location *location, const struct ctx_code *code,
		     const struct ctx_profile *profile)
{
	if (location->joins)
		return location->object == CTX_NONE && location->function == CTX_NONE &&
		       location->site == CTX_NONE;
	return store_is_id(location->object, profile->n_objects, true) &&
	       store_is_id(location->function, profile->n_functions, false) &&
	       store_is_id(location->site, code->n_sites, true);
}

enum ctx_status store_check_code(const struct ctx_code *code, const struct ctx_profile *profile,
				 enum ctx_status wrong, struct ctx_err *err)
{
	const struct ctx_trie *raw = code->raw_stacks;
	enum ctx_status status = check_sites(code, profile, wrong, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < code->n_locations; i++) {
		if (!is_sound(&code->locations[i], code, profile))
			return store_range(wrong, "location", i, err);
	}
	for (uint32_t i = 0; i < raw->n; i++) {
		if ((i != 0 && (raw->key[i] >= code->n_locations || raw->parent[i] >= i)) ||
		    code->raw_to_stack[i] >= profile->cct.n)
			return store_range(wrong, "raw stack", i, err);
	}
	return CTX_OK;
}

/* ---- arrays ---- */

static enum ctx_status load_raw_stacks(struct ctx_store *store, struct ctx_err *err)
{
	uint32_t n = store->n_raw_stacks;
	uint32_t *parent = NULL, *key = NULL;
	enum ctx_status status = store_load_column(store, "raw_stack_block", "parent", n, true, &parent, err);

	if (status == CTX_OK)
		status = store_load_column(store, "raw_stack_block", "location", n, true, &key, err);
	if (status != CTX_OK) {
		free(parent);
		return status;
	}
	return store_take_trie(store, &store->code.raw_stacks, parent, key, n, err);
}

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

		status = store_load_column(store, "location_block", columns[k], n, true, &values, err);
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
		status = store_load_column(store, "location_block", "address", n, false, &address, err);
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

		status = store_load_column(store, "site_block", columns[k], n, true, &values, err);
		for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
			if (k == 0)
				sites[i].function = values[i];
			else if (k == 1)
				sites[i].file = values[i] - 1;
			else if (k == 2)
				sites[i].line = values[i];
			else /* A distance beyond the first wraps to a number that the check refuses. */
				sites[i].caller = values[i] != 0 ? i - values[i] : CTX_NONE;
		}
	}
	return status;
}

static enum ctx_status take_file(struct store_reader *reader, size_t i, struct ctx_err *err)
{
	struct code_state *state = &reader->store->code;
	struct ctx_source_file *file = store_append(&state->files, i, sizeof(*file));

	if (file == NULL)
		return ctx_err_nomem(err);
	file->path = store_reader_text(reader, 1);
	file->origin = store_reader_text(reader, 2);
	state->n_files = i + 1;
	return CTX_OK;
}

static enum ctx_status load_code(struct ctx_store *store, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	enum ctx_status status = load_raw_stacks(store, err);

	if (status == CTX_OK)
		status = load_locations(store, err);
	if (status == CTX_OK)
		status = load_sites(store, err);
	if (status == CTX_OK)
		status = store_read_rows(store, "SELECT id, path, origin FROM source_file ORDER BY id",
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
	status = store_check_code(&state->code, &store->profile, CTX_E_FORMAT, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", store->path);
}

enum ctx_status ctx_store_code(struct ctx_store *store, const struct ctx_code **ret, struct ctx_err *err)
{
	if (!store->code.loaded) {
		enum ctx_status status = load_code(store, err);

		if (status != CTX_OK) {
			code_state_deinit(&store->code);
			return status;
		}
		store->code.loaded = true;
	}
	*ret = &store->code.code;
	return CTX_OK;
}

/* ---- texts and instructions ---- */

static enum ctx_status decode_text(struct ctx_store *store, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	const void *payload = sqlite3_column_blob(state->get_text, 0);
	size_t size_bytes = (size_t)sqlite3_column_bytes(state->get_text, 0);
	enum ctx_status status;

	if (payload == NULL && size_bytes != 0)
		return ctx_err_nomem(err);
	ctx_buf_clear(&state->text);
	status = ctx_bytes_decode(&state->codec, payload, size_bytes, CTX_STORE_TEXT_MAX, &state->text, err);
	if (status != CTX_OK)
		return status;
	store->cost.bytes += size_bytes;
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

static enum ctx_status get_blob(struct ctx_store *store, int at, const void **ret, size_t *ret_size,
				struct ctx_err *err)
{
	*ret = sqlite3_column_blob(store->code.get_parts, at);
	*ret_size = (size_t)sqlite3_column_bytes(store->code.get_parts, at);
	store->cost.bytes += *ret_size;
	return *ret == NULL && *ret_size != 0 ? ctx_err_nomem(err) : CTX_OK;
}

/* The row that the statement is on becomes the next part. Its bytes and lines have no places yet: their arrays still grow. */
static enum ctx_status take_part(struct ctx_store *store, struct ctx_function_code *part, struct ctx_err *err)
{
	struct code_state *state = &store->code;
	size_t bytes_before = state->bytes.n, rows_before = state->rows.n, size;
	uint64_t n = ctx_column_u64(state->get_parts, 1), machine = ctx_column_u64(state->get_parts, 2);
	const void *payload;
	enum ctx_status status;

	if (n == 0 || n > CTX_STORE_CODE_MAX || bytes_before + n > CTX_STORE_PARTS_BYTES_MAX ||
	    part->address > UINT64_MAX - n || machine > UINT16_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a part that cannot be");
	status = get_blob(store, 3, &payload, &size, err);
	if (status == CTX_OK)
		status = ctx_bytes_decode(&state->codec, payload, size, (size_t)n, &state->bytes, err);
	if (status == CTX_OK && state->bytes.n - bytes_before != n)
		return ctx_err_set(err, CTX_E_FORMAT, "a part is cut short");
	if (status == CTX_OK)
		status = get_blob(store, 4, &payload, &size, err);
	if (status == CTX_OK)
		status = ctx_lines_decode(&state->codec, payload, size, part->address, (size_t)n,
					  &state->rows, err);
	for (size_t i = rows_before; i < state->rows.n && status == CTX_OK; i++) {
		if (!store_is_id(state->rows.rows[i].file, state->n_files, true))
			status = store_range(CTX_E_FORMAT, "line", i, err);
	}
	part->n_bytes = (size_t)n;
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

/* Bytes and lines of all parts lie one behind the other. */
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
	sqlite3_bind_int64(state->get_parts, 1, node_rowid(function, 0));
	sqlite3_bind_int64(state->get_parts, 2, node_rowid(function, UINT32_MAX));
	/* Ids of 2 G functions would be negative; there are none. */
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
