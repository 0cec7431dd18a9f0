#include "fleet/fleet_check.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ctx_fleet_check_deinit(struct ctx_fleet_check *check)
{
	free(check->damaged);
	*check = (struct ctx_fleet_check){0};
}

static enum ctx_status cut(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the answer to a check is cut");
}

static enum ctx_status ask(const struct ctx_fleet_server *server, struct ctx_buf *sql, struct ctx_buf *answer,
			   struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_put_u8(sql, '\0');
	ctx_buf_clear(answer);
	status = ctx_buf_check(sql, err);
	if (status == CTX_OK)
		status = ctx_fleet_ask(server, (const char *)sql->bytes, answer, err);
	ctx_buf_clear(sql);
	return status;
}

static enum ctx_status count(const struct ctx_fleet_server *server, struct ctx_fleet_check *check,
			     struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	uint64_t pushes;
	enum ctx_status status;

	ctx_buf_put_text(&sql, "SELECT count(), uniqExact(recording) FROM ctx_recording");
	status = ask(server, &sql, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	pushes = ctx_cursor_get_u64(&cursor);
	check->recordings = ctx_cursor_get_u64(&cursor);
	check->repeated = pushes - check->recordings;
	return cursor.failed ? cut(err) : CTX_OK;
}

/* The sums of cells by push, where they are not those of the recording's row. */
static enum ctx_status find_damage(const struct ctx_fleet_server *server, struct ctx_fleet_check *check,
				   struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_put_text(&sql,
			 "SELECT push, sum(sent) AS cells, sum(there) AS found FROM (SELECT push, cells AS "
			 "sent, toUInt64(0) AS "
			 "there, checksum AS said, toUInt64(0) AS is FROM ctx_recording UNION ALL SELECT "
			 "push, toUInt64(0) AS "
			 "sent, count() AS there, toUInt64(0) AS said, "
			 "sum(bitXor(reinterpretAsUInt64(stack), weight + 31 * "
			 "samples)) AS is FROM ctx_cell WHERE push GLOBAL IN (SELECT push FROM "
			 "ctx_recording) GROUP BY push) GROUP "
			 "BY push HAVING cells != found OR sum(said) != sum(is) ORDER BY push LIMIT 1000");
	status = ask(server, &sql, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		struct ctx_fleet_damage *damage;

		status = ctx_grow(&check->damaged, &check->damaged_cap, check->n_damaged + 1, err);
		if (status != CTX_OK)
			return status;
		damage = &check->damaged[check->n_damaged++];
		damage->push = ctx_cursor_get_u64(&cursor);
		damage->cells = ctx_cursor_get_u64(&cursor);
		damage->found = ctx_cursor_get_u64(&cursor);
		if (cursor.failed)
			return cut(err);
	}
	return status;
}

/* The upper half of a push's number is the second in which it began. */
static enum ctx_status remove_unfinished(const struct ctx_fleet_server *server, const char *suffix,
					 struct ctx_fleet_check *check, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0}, list CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_printf(&sql,
		       "SELECT push, count(), toUInt8(bitShiftRight(push, 32) + %u < toUInt32(now())) FROM "
		       "ctx_cell%s "
		       "WHERE push GLOBAL NOT IN (SELECT push FROM ctx_recording) GROUP BY push ORDER BY "
		       "push LIMIT 10000",
		       CTX_FLEET_UNFINISHED_S, suffix);
	status = ask(server, &sql, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (ctx_cursor_left(&cursor) != 0) {
		uint64_t push = ctx_cursor_get_u64(&cursor), cells = ctx_cursor_get_u64(&cursor);
		bool is_old = ctx_cursor_get_u8(&cursor) != 0;

		if (cursor.failed)
			return cut(err);
		check->young += !is_old;
		if (!is_old)
			continue;
		ctx_buf_printf(&list, "%s%" PRIu64, check->removed != 0 ? ", " : "", push);
		check->removed++;
		check->removed_cells += cells;
	}
	if (check->removed == 0)
		return CTX_OK;
	ctx_buf_put_u8(&list, '\0');
	status = ctx_buf_check(&list, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_printf(&sql, "ALTER TABLE ctx_cell%s DELETE WHERE push IN (%s)", suffix,
		       (const char *)list.bytes);
	return ask(server, &sql, &answer, err);
}

/* ---- what is too old ---- */

/* A name of a partition is what the server calls it: a day or a month in digits and '-'. */
static bool is_partition(const char *name, size_t n)
{
	return n != 0 && strspn(name, "0123456789-'") >= n;
}

/* The recordings' rows go first: nobody must see one without its cells. */
static enum ctx_status drop_old(const struct ctx_fleet_server *server, const char *table, const char *older,
				struct ctx_fleet_check *check, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0}, nothing CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_printf(&sql,
		       "SELECT DISTINCT partition FROM system.parts WHERE database = currentDatabase() AND "
		       "table = '%s' "
		       "AND active AND %s ORDER BY partition",
		       table, older);
	status = ask(server, &sql, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		uint32_t n = ctx_cursor_get_varint32(&cursor);
		const char *name = (const char *)ctx_cursor_get_bytes(&cursor, n);

		if (name == NULL || !is_partition(name, n))
			return cut(err);
		ctx_buf_printf(&sql, "ALTER TABLE %s DROP PARTITION %s%.*s%s", table,
			       memchr(name, '-', n) != NULL && name[0] != '\'' ? "'" : "", (int)n, name,
			       memchr(name, '-', n) != NULL && name[0] != '\'' ? "'" : "");
		status = ask(server, &sql, &nothing, err);
		check->days++;
	}
	return status;
}

static enum ctx_status drop_all_old(const struct ctx_fleet_server *server,
				    const struct ctx_fleet_state *state, struct ctx_fleet_check *check,
				    struct ctx_err *err)
{
	static const struct {
		const char *name;
		bool by_month;
	} tables[] = {
		{"ctx_recording", false}, {"ctx_cell", false}, {"ctx_stack", true}, {"ctx_function", true}};
	char table[64], older[96];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(tables) && status == CTX_OK && state->retain_days != 0; i++) {
		snprintf(table, sizeof(table), "%s%s", tables[i].name, state->is_cluster ? "_local" : "");
		if (tables[i].by_month)
			snprintf(older, sizeof(older),
				 "toUInt32(partition) < toYYYYMM(today() - %" PRIu32 ")", state->retain_days);
		else
			snprintf(older, sizeof(older), "toDate(partition) < today() - %" PRIu32,
				 state->retain_days);
		status = drop_old(server, table, older, check, err);
	}
	return status;
}

enum ctx_status ctx_fleet_check_run(const struct ctx_fleet_server *server, struct ctx_fleet_check *ret,
				    struct ctx_err *err)
{
	struct ctx_fleet_check check = {0};
	struct ctx_fleet_state state;
	enum ctx_status status = ctx_fleet_schema_check(server, &state, err);

	if (status == CTX_OK)
		status = drop_all_old(server, &state, &check, err);
	if (status == CTX_OK)
		status = count(server, &check, err);
	if (status == CTX_OK)
		status = find_damage(server, &check, err);
	if (status == CTX_OK)
		status = remove_unfinished(server, state.is_cluster ? "_local" : "", &check, err);
	if (status != CTX_OK) {
		ctx_fleet_check_deinit(&check);
		return status;
	}
	*ret = check;
	return CTX_OK;
}
