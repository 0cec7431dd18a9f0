#include "fleet/push.h"

#include "base/cursor.h"
#include "fleet/fleet_cells.h"
#include "fleet/push_manifest.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define ROWS_MAX ((size_t)400000) /* cells in memory */
#define RUN_MAX_NS (UINT64_C(31) * 86400 * NS_PER_S)

/* ---- rows of entities ---- */

static enum ctx_status insert(struct ctx_push *push, const char *sql, const struct ctx_buf *rows,
			      struct ctx_err *err)
{
	struct ctx_buf nothing CTX_AUTO_BUF = {0};
	const struct ctx_fleet_request request = {.sql = sql, .rows = {rows->bytes, rows->n}};
	enum ctx_status status = ctx_buf_check(rows, err);

	if (status != CTX_OK || rows->n == 0)
		return status;
	push->result.bytes += rows->n;
	return push->spec->server->ask(push->spec->server->context, &request, &nothing, err);
}

static enum ctx_status put_functions(struct ctx_push *push, struct ctx_err *err)
{
	struct ctx_buf rows CTX_AUTO_BUF = {0};

	for (uint32_t i = 0; i < push->profile->n_functions; i++) {
		const struct ctx_function_info *function = &push->profile->functions[i];

		ctx_buf_put_u16(&rows, push->day);
		ctx_buf_put_u64(&rows, push->hashes.functions[i]);
		ctx_buf_put_string(&rows, function->name);
		ctx_buf_put_string(&rows, function->linkage_name);
		ctx_buf_put_string(&rows, function->object < push->profile->n_objects
						  ? push->profile->objects[function->object].path
						  : "");
		ctx_buf_put_u8(&rows, (uint8_t)function->kind);
		ctx_buf_put_u8(&rows, function->inlined);
		ctx_buf_put_u8(&rows, (uint8_t)function->code_kind);
	}
	return insert(push, "INSERT INTO ctx_function FORMAT RowBinary", &rows, err);
}

static void put_hash(struct ctx_buf *rows, struct ctx_path_hash hash)
{
	ctx_buf_put_u64(rows, hash.low);
	ctx_buf_put_u64(rows, hash.high);
}

/* The keys of the functions from the root on. */
static void put_path(struct ctx_push *push, struct ctx_buf *rows, uint32_t stack)
{
	const struct ctx_trie *cct = &push->profile->cct;
	uint32_t depth = cct->depth[stack];
	uint8_t *at;

	ctx_buf_put_varint(rows, depth);
	at = ctx_buf_reserve(rows, (size_t)depth * 8);
	if (at == NULL)
		return;
	rows->n += (size_t)depth * 8;
	for (; depth > 0; stack = cct->parent[stack]) {
		uint64_t key = push->hashes.functions[cct->key[stack]];

		depth--;
		for (unsigned i = 0; i < 8; i++)
			at[depth * 8 + i] = (uint8_t)(key >> (8 * i));
	}
}

/* Only those that cells have: others are on their way. */
static enum ctx_status put_stacks(struct ctx_push *push, struct ctx_err *err)
{
	static const char sql[] = "INSERT INTO ctx_stack FORMAT RowBinary";
	struct ctx_buf rows CTX_AUTO_BUF = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < push->profile->cct.n && status == CTX_OK; i++) {
		if (!push->has_cell[i])
			continue;
		push->result.stacks++;
		ctx_buf_put_u16(&rows, push->day);
		put_hash(&rows, push->hashes.stacks[i]);
		put_path(push, &rows, i);
		if (rows.n >= CTX_PUSH_BYTES) {
			status = insert(push, sql, &rows, err);
			ctx_buf_clear(&rows);
		}
	}
	return status == CTX_OK ? insert(push, sql, &rows, err) : status;
}

/* ---- cells ---- */

static enum ctx_status send_cells(struct ctx_push *push, struct ctx_err *err)
{
	enum ctx_status status = insert(
		push,
		"INSERT INTO ctx_cell (day, level, push, metric, thread, stack, begin_s, weight, samples, "
		"calls, carried, carried_calls, longest) FORMAT RowBinary",
		&push->rows, err);

	ctx_buf_clear(&push->rows);
	return status;
}

#define CELL_BYTES 87u /* of a row */

/* The low `n` bytes, little-endian. A row at a time: with a call for each number it would be a sixth of a push. */
static inline uint8_t *put_number(uint8_t *at, uint64_t value, size_t n)
{
	value = htole64(value);
	memcpy(at, &value, n);
	return at + n;
}

static enum ctx_status take_cells(void *context, const struct ctx_fleet_cell *cells, size_t n,
				  struct ctx_err *err)
{
	struct ctx_push *push = context;
	struct ctx_buf *rows = &push->rows;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		const struct ctx_fleet_cell *cell = &cells[i];
		struct ctx_path_hash hash = push->hashes.stacks[cell->stack];

		uint8_t *at = ctx_buf_reserve(rows, CELL_BYTES);

		if (at == NULL)
			return ctx_err_nomem(err);
		at = put_number(at, push->day, 2);
		at = put_number(at, cell->level, 1);
		at = put_number(at, push->spec->push, 8);
		at = put_number(at, push->metrics[cell->metric], 4);
		at = put_number(at, push->threads.keys[cell->group], 4);
		at = put_number(at, hash.low, 8);
		at = put_number(at, hash.high, 8);
		at = put_number(at, cell->begin_s, 4);
		at = put_number(at, cell->weight, 8);
		at = put_number(at, cell->samples, 8);
		at = put_number(at, (uint64_t)cell->calls, 8);
		at = put_number(at, cell->carried, 8);
		at = put_number(at, (uint64_t)cell->carried_calls, 8);
		(void)put_number(at, cell->longest, 8);
		rows->n += CELL_BYTES;
		push->has_cell[cell->stack] = true;
		push->checksum += hash.low ^ (cell->weight + 31 * cell->samples);
		if (rows->n >= CTX_PUSH_BYTES)
			status = send_cells(push, err);
	}
	push->result.cells += n;
	return status;
}

struct adding {
	struct ctx_push *push;
	struct ctx_fleet_cells *cells;
};

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct adding *adding = context;

	adding->push->result.samples++;
	return ctx_fleet_cells_add(adding->cells, sample, err);
}

static enum ctx_status put_cells(struct ctx_push *push, struct ctx_err *err)
{
	const struct ctx_fleet_cells_spec spec = {.profile = push->profile,
						  .wall_ns = push->wall_ns,
						  .groups = push->threads.group_of,
						  .rows_max = ROWS_MAX,
						  .each = take_cells,
						  .context = push};
	struct ctx_report_source *source = push->spec->source;
	struct ctx_fleet_cells cells;
	struct adding adding = {push, &cells};
	enum ctx_status status = CTX_OK;

	ctx_fleet_cells_init(&cells, &spec);
	for (uint32_t i = 0; i < push->profile->n_metrics && status == CTX_OK; i++) {
		const struct ctx_samples_query query = {
			.thread = CTX_NONE, .whole_run = true, .has_metric = true, .metric = i};

		if (push->profile->metrics[i].n_parts == 0)
			status = source->samples(source, &query, take_sample, &adding, err);
	}
	if (status == CTX_OK)
		status = ctx_fleet_cells_end(&cells, err);
	if (status == CTX_OK)
		status = send_cells(push, err);
	ctx_fleet_cells_deinit(&cells);
	return status;
}

/* Whether the server has all of them: an insert into several shards may have been done in part. */
static enum ctx_status check_cells(struct ctx_push *push, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	uint64_t cells, checksum;
	enum ctx_status status;

	ctx_buf_printf(&sql,
		       "SELECT count(), sum(bitXor(reinterpretAsUInt64(stack), weight + 31 * samples)) FROM "
		       "ctx_cell WHERE level IN (0, 1, 10, 60) AND push = %" PRIu64 " AND day = toDate(%u)",
		       push->spec->push, push->day);
	ctx_buf_put_u8(&sql, '\0');
	status = ctx_buf_check(&sql, err);
	if (status == CTX_OK)
		status = ctx_fleet_ask(push->spec->server, (const char *)sql.bytes, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	cells = ctx_cursor_get_u64(&cursor);
	checksum = ctx_cursor_get_u64(&cursor);
	if (cursor.failed || cells != push->result.cells || checksum != push->checksum)
		return ctx_err_set(err, CTX_E_IO,
				   "the server has %" PRIu64 " of %" PRIu64 " cells, or not the same ones",
				   cells, push->result.cells);
	return CTX_OK;
}

/* ---- the whole ---- */

/* Of two pushes with one number each would have the other's cells. */
static enum ctx_status check_number(struct ctx_push *push, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	uint64_t n;
	enum ctx_status status;

	ctx_buf_printf(&sql, "SELECT count() FROM ctx_cell WHERE level IN (0, 1, 10, 60) AND push = %" PRIu64,
		       push->spec->push);
	ctx_buf_put_u8(&sql, '\0');
	status = ctx_buf_check(&sql, err);
	if (status == CTX_OK)
		status = ctx_fleet_ask(push->spec->server, (const char *)sql.bytes, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	n = ctx_cursor_get_u64(&cursor);
	if (n != 0 || cursor.failed)
		return ctx_err_set(err, CTX_E_IO, "another push has this one's number: push again");
	return CTX_OK;
}

static enum ctx_status is_there(struct ctx_push *push, bool *ret, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_path_hash id = push->result.recording;
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_printf(&sql,
		       "SELECT count() FROM ctx_recording WHERE day = toDate(%u) AND recording = unhex('",
		       push->day);
	for (unsigned i = 0; i < CTX_PATH_HASH_BYTES; i++)
		ctx_buf_printf(&sql, "%02X", (unsigned)((i < 8 ? id.low : id.high) >> (8 * (i % 8)) & 0xff));
	ctx_buf_put_text(&sql, "')");
	ctx_buf_put_u8(&sql, '\0');
	status = ctx_buf_check(&sql, err);
	if (status == CTX_OK)
		status = ctx_fleet_ask(push->spec->server, (const char *)sql.bytes, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	*ret = ctx_cursor_get_u64(&cursor) != 0;
	return cursor.failed ? ctx_err_set(err, CTX_E_FORMAT, "the answer to a count is no number") : CTX_OK;
}

static enum ctx_status check(const struct ctx_profile *profile, struct ctx_err *err)
{
	if (ctx_path_start_ns(profile) == 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"%s: the time of day of its begin is not known (an older database: --reingest)",
			profile->name);
	if (profile->losses.sample_blocks)
		return ctx_err_set(err, CTX_E_ARG, "%s: an archived run has no samples", profile->name);
	if (profile->run.end_ns > RUN_MAX_NS)
		return ctx_err_set(err, CTX_E_ARG, "%s: it is longer than 31 days", profile->name);
	return CTX_OK;
}

static enum ctx_status write_all(struct ctx_push *push, struct ctx_err *err)
{
	struct ctx_buf row CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_path_hashes_make(push->profile, &push->hashes, err);

	push->has_cell = ctx_calloc(push->profile->cct.n + 1u, sizeof(*push->has_cell));
	if (status == CTX_OK && push->has_cell == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_push_manifest_prepare(push, err);
	if (status == CTX_OK)
		status = check_number(push, err);
	if (status == CTX_OK)
		status = put_functions(push, err);
	if (status == CTX_OK)
		status = put_cells(push, err);
	if (status == CTX_OK)
		status = put_stacks(push, err);
	if (status == CTX_OK)
		status = check_cells(push, err);
	if (status == CTX_OK)
		status = ctx_push_manifest_put(push, &row, err);
	return status == CTX_OK ? insert(push, "INSERT INTO ctx_recording FORMAT RowBinary", &row, err)
				: status;
}

enum ctx_status ctx_push_recording(const struct ctx_push_spec *spec, struct ctx_push_result *ret,
				   struct ctx_err *err)
{
	struct ctx_push push = {.spec = spec, .profile = spec->source->selection.profile};
	enum ctx_status status = check(push.profile, err);

	if (status != CTX_OK)
		return status;
	push.wall_ns = ctx_path_start_ns(push.profile);
	push.day = (uint16_t)(push.wall_ns / NS_PER_S / 86400);
	status = ctx_path_recording(push.profile, &push.result.recording, err);
	if (status == CTX_OK)
		status = is_there(&push, &push.result.was_there, err);
	if (status == CTX_OK && !push.result.was_there)
		status = write_all(&push, err);
	ctx_push_manifest_deinit(&push);
	ctx_path_hashes_deinit(&push.hashes);
	ctx_buf_deinit(&push.rows);
	free(push.has_cell);
	if (status == CTX_OK)
		*ret = push.result;
	return status;
}
