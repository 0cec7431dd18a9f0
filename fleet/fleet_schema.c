#include "fleet/fleet_schema.h"

#include "base/cursor.h"
#include "base/digits.h"
#include "fleet/sql_quote.h"

#include <inttypes.h>
#include <string.h>

struct table {
	const char *name, *columns, *engine, *shard;
};

/*
 * All of a recording is in the partition of the day, or the month, on which it began, so that an old one goes as a whole. Within
 * a recording cells are in order of the stack: its hash, which does not compress, is then equal in neighbours, and so are the columns
 * behind it.
 */
static const struct table tables[] = {
	{"ctx_recording",
	 "day Date, recording FixedString(16), push UInt64, written DateTime, begin_ns UInt64, end_ns "
	 "UInt64, "
	 "name String, host String, service String, version String, container String, command String, "
	 "program String, kernel String, arch String, label_keys Array(String), label_values Array(String), "
	 "objects Array(String), build_ids Array(String), metric_keys Array(UInt32), metric_names "
	 "Array(String), metric_words Array(String), metric_kinds Array(UInt8), metric_units Array(UInt8), "
	 "metric_parts Array(Array(UInt32)), metric_samples Array(UInt64), metric_weights Array(UInt64), "
	 "states UInt32, thread_keys Array(UInt32), thread_names Array(String), thread_counts Array(UInt32), "
	 "closed UInt8, call_stacks UInt8, lost UInt64, throttled UInt64, damaged UInt64, stacks UInt64, "
	 "cells UInt64, checksum UInt64, writer String",
	 "MergeTree PARTITION BY day ORDER BY (day, recording, push)", "push"},
	{"ctx_cell",
	 "day Date, level UInt8, push UInt64, metric UInt32, thread UInt32, stack FixedString(16), begin_s "
	 "UInt32, "
	 "weight UInt64, samples UInt64, calls Int64, carried UInt64, carried_calls Int64, longest UInt64",
	 "MergeTree PARTITION BY day ORDER BY (level, push, metric, thread, stack, begin_s)", "push"},
	{"ctx_stack", "day Date, stack FixedString(16), path Array(UInt64)",
	 "ReplacingMergeTree PARTITION BY toYYYYMM(day) ORDER BY stack", "cityHash64(stack)"},
	{"ctx_function",
	 "day Date, function UInt64, name String, linkage_name String, object String, kind UInt8, inlined "
	 "UInt8, "
	 "code_kind UInt8",
	 "ReplacingMergeTree PARTITION BY toYYYYMM(day) ORDER BY function", "function"},
};

static enum ctx_status run(const struct ctx_fleet_server *server, struct ctx_buf *sql, struct ctx_err *err)
{
	struct ctx_buf nothing CTX_AUTO_BUF = {0};

	ctx_buf_put_u8(sql, '\0');
	if (ctx_buf_check(sql, err) != CTX_OK)
		return CTX_E_NOMEM;
	return ctx_fleet_ask(server, (const char *)sql->bytes, &nothing, err);
}

static enum ctx_status create(const struct ctx_fleet_server *server, const struct table *table,
			      const char *cluster, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};
	enum ctx_status status;

	ctx_buf_printf(&sql, "CREATE TABLE IF NOT EXISTS %s%s (%s) ENGINE = %s", table->name,
		       cluster != NULL ? "_local" : "", table->columns, table->engine);
	status = run(server, &sql, err);
	if (status != CTX_OK || cluster == NULL)
		return status;
	ctx_buf_clear(&sql);
	ctx_buf_printf(&sql, "CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = Distributed(", table->name,
		       table->columns);
	ctx_sql_put_text(&sql, cluster);
	ctx_buf_printf(&sql, ", currentDatabase(), %s_local, %s)", table->name, table->shard);
	return run(server, &sql, err);
}

static enum ctx_status set_fact(const struct ctx_fleet_server *server, const char *key, uint32_t value,
				struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	ctx_buf_printf(&sql, "INSERT INTO ctx_fleet SELECT '%s', '%" PRIu32 "', count() FROM ctx_fleet", key,
		       value);
	return run(server, &sql, err);
}

static enum ctx_status put_facts(const struct ctx_fleet_server *server, const struct ctx_fleet_init *init,
				 bool is_new, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (is_new) {
		status = set_fact(server, "cluster", init->cluster != NULL, err);
		if (status == CTX_OK)
			status = set_fact(server, "retain_days", init->retain_days, err);
		/* Last: what is there with a version is complete. */
		return status == CTX_OK ? set_fact(server, "version", CTX_FLEET_SCHEMA_VERSION, err) : status;
	}
	return set_fact(server, "retain_days", init->retain_days, err);
}

enum ctx_status ctx_fleet_schema_init(const struct ctx_fleet_server *server,
				      const struct ctx_fleet_init *init, struct ctx_err *err)
{
	static const struct table facts = {"ctx_fleet", "key String, value String, at UInt64",
					   "MergeTree ORDER BY (key, at)", ""};
	struct ctx_fleet_state state = {.is_cluster = init->cluster != NULL};
	bool is_new;
	enum ctx_status status = create(server, &facts, NULL, err);

	if (status == CTX_OK)
		status = ctx_fleet_schema_check(server, &state, err);
	is_new = status == CTX_E_NOTFOUND;
	if (status != CTX_OK && !is_new)
		return status;
	if (state.is_cluster != (init->cluster != NULL))
		return ctx_err_set(err, CTX_E_ARG, "there is a fleet here already, made %s --cluster",
				   state.is_cluster ? "with" : "without");
	status = CTX_OK;
	for (size_t i = 0; i < CTX_COUNT_OF(tables) && status == CTX_OK; i++)
		status = create(server, &tables[i], init->cluster, err);
	return status == CTX_OK ? put_facts(server, init, is_new, err) : status;
}

/* ---- check ---- */

/* The first column of the answer's only row, a String: as a number. False: no row. */
static bool take_number(const struct ctx_buf *answer, uint32_t *ret)
{
	struct ctx_cursor cursor = ctx_cursor_make(answer->bytes, answer->n);
	uint32_t n = ctx_cursor_get_varint32(&cursor);
	const uint8_t *bytes = ctx_cursor_get_bytes(&cursor, n);
	uint64_t value = 0;

	for (uint32_t i = 0; bytes != NULL && i < n && value <= UINT32_MAX; i++)
		value = bytes[i] >= '0' && bytes[i] <= '9' ? value * 10 + (uint64_t)(bytes[i] - '0')
							   : UINT64_MAX;
	if (bytes == NULL || n == 0 || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* A fact; what is not there stays as it is, and *ret_has says so. */
static enum ctx_status get_fact(const struct ctx_fleet_server *server, const char *sql, uint32_t *ret,
				bool *ret_has, struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_fleet_ask(server, sql, &answer, err);

	*ret_has = status == CTX_OK && take_number(&answer, ret);
	return status;
}

#define FACT(key) "SELECT value FROM ctx_fleet WHERE key = '" key "' ORDER BY at DESC LIMIT 1"

static enum ctx_status no_fleet(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_NOTFOUND, "there is no fleet: ctxan fleet --init URL makes one");
}

enum ctx_status ctx_fleet_schema_check(const struct ctx_fleet_server *server, struct ctx_fleet_state *ret,
				       struct ctx_err *err)
{
	struct ctx_fleet_state state = {0};
	uint32_t found = 0, version = 0, skips = 0, is_cluster = 0;
	bool has;
	enum ctx_status status = get_fact(server,
					  "SELECT toString(count()) FROM system.tables WHERE database = "
					  "currentDatabase() AND name = 'ctx_fleet'",
					  &found, &has, err);

	if (status != CTX_OK)
		return status;
	if (found == 0)
		return no_fleet(err);
	status = get_fact(server, FACT("version"), &version, &has, err);
	if (status != CTX_OK)
		return status;
	if (!has)
		return no_fleet(err);
	if (version != CTX_FLEET_SCHEMA_VERSION)
		return ctx_err_set(err, CTX_E_VERSION,
				   "the fleet's tables are of version %" PRIu32
				   ", this program's of version %u",
				   version, CTX_FLEET_SCHEMA_VERSION);
	status = get_fact(server, "SELECT value FROM system.settings WHERE name = 'skip_unavailable_shards'",
			  &skips, &has, err);
	if (status == CTX_OK && skips != 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "this user's settings have skip_unavailable_shards: answers would lack "
				   "the recordings of shards that are down");
	if (status == CTX_OK)
		status = get_fact(server, FACT("retain_days"), &state.retain_days, &has, err);
	if (status == CTX_OK)
		status = get_fact(server, FACT("cluster"), &is_cluster, &has, err);
	state.is_cluster = is_cluster != 0;
	if (status == CTX_OK)
		*ret = state;
	return status;
}
