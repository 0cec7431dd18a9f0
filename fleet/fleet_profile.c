#include "fleet/fleet_profile.h"

#include "base/cursor.h"
#include "base/utc.h"
#include "fleet/fleet_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define STATES (CTX_STATE_N + CTX_STATE_METRICS_N)

static enum ctx_status cut(struct ctx_err *err, const char *what)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the fleet's %s are not as they should be", what);
}

/* ---- metrics ---- */

/* The keys of a sum's parts become ids when all metrics are known. */
static enum ctx_status take_parts(struct ctx_fleet_profile *fleet, struct ctx_cursor *cursor,
				  struct ctx_metric_info *metric, struct ctx_err *err)
{
	uint32_t n = ctx_cursor_get_varint32(cursor), *parts;

	if (n == 0 || n > ctx_cursor_left(cursor) / 4)
		return n == 0 ? CTX_OK : cut(err, "metrics");
	parts = ctx_arena_alloc(&fleet->profile.arena, n * sizeof(*parts));
	if (parts == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		parts[i] = ctx_cursor_get_u32(cursor);
	metric->parts = parts;
	metric->n_parts = n;
	return CTX_OK;
}

static enum ctx_status take_metric(struct ctx_fleet_profile *fleet, struct ctx_cursor *cursor, size_t *cap,
				   struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	size_t keys_cap = *cap;
	struct ctx_metric_info metric = {0};
	uint32_t key = ctx_cursor_get_u32(cursor);
	uint8_t kind, unit, state;
	enum ctx_status status = CTX_OK;

	metric.name = ctx_fleet_text_keep(&fleet->texts, cursor, &status, err);
	if (metric.name != NULL)
		metric.word = ctx_fleet_text_keep(&fleet->texts, cursor, &status, err);
	if (status != CTX_OK)
		return status;
	kind = ctx_cursor_get_u8(cursor);
	unit = ctx_cursor_get_u8(cursor);
	status = take_parts(fleet, cursor, &metric, err);
	metric.samples = ctx_cursor_get_u64(cursor);
	metric.weight = ctx_cursor_get_u64(cursor);
	state = ctx_cursor_get_u8(cursor);
	if (status != CTX_OK)
		return status;
	if (cursor->failed || kind == CTX_METRIC_BY_UNIT || kind >= CTX_METRIC_KIND_N || unit >= CTX_UNIT_N)
		return cut(err, "metrics");
	if (metric.word != NULL && metric.word[0] == '\0')
		metric.word = NULL;
	metric.kind = (enum ctx_metric_kind)kind;
	metric.unit = (enum ctx_unit)unit;
	if (ctx_grow(&profile->metrics, cap, profile->n_metrics + 1u, err) != CTX_OK ||
	    ctx_grow(&fleet->metric_keys, &keys_cap, profile->n_metrics + 1u, err) != CTX_OK)
		return CTX_E_NOMEM;
	if (state == 1) {
		profile->has_states = true;
		profile->states = profile->n_metrics;
	}
	fleet->metric_keys[profile->n_metrics] = key;
	profile->metrics[profile->n_metrics++] = metric;
	return CTX_OK;
}

static uint32_t find_key(const uint32_t *keys, uint32_t n, uint32_t key)
{
	uint32_t at = 0;

	while (at < n && keys[at] != key)
		at++;
	return at < n ? at : CTX_NONE;
}

/* Keys of parts become ids, which ascend. */
static enum ctx_status resolve_parts(struct ctx_fleet_profile *fleet, struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;

	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		uint32_t *parts = (uint32_t *)(uintptr_t)profile->metrics[i].parts;
		uint32_t n = profile->metrics[i].n_parts;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t at = k, id = find_key(fleet->metric_keys, profile->n_metrics, parts[k]);

			if (id == CTX_NONE || profile->metrics[id].n_parts != 0)
				return cut(err, "metrics");
			for (; at > 0 && parts[at - 1] > id; at--)
				parts[at] = parts[at - 1];
			parts[at] = id;
		}
	}
	if (profile->has_states && profile->states + STATES > profile->n_metrics)
		return cut(err, "metrics");
	return CTX_OK;
}

/* The metrics of states come last, in their order. */
static const char metrics_sql[] =
	"SELECT key, any(name), any(word), any(kind), any(unit), any(parts), sum(samples), sum(weight), "
	"toUInt8(max(if(states != 4294967295 AND position > states AND position <= states + %u, position - "
	"states, 0))) AS state FROM ctx_recording ARRAY JOIN metric_keys AS key, metric_names AS name, "
	"metric_words AS word, metric_kinds AS kind, metric_units AS unit, metric_parts AS parts, "
	"metric_samples AS samples, metric_weights AS weight, arrayEnumerate(metric_keys) AS position WHERE "
	"push "
	"GLOBAL IN (SELECT push FROM chosen) GROUP BY key ORDER BY state, min(position), key";

static enum ctx_status read_metrics(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				    const struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	size_t cap = 0;
	enum ctx_status status;

	ctx_buf_printf(&sql, metrics_sql, STATES);
	status = ctx_fleet_choice_ask(choice, server, &sql, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0)
		status = take_metric(fleet, &cursor, &cap, err);
	return status == CTX_OK ? resolve_parts(fleet, err) : status;
}

/* Where an interval cuts recordings, the sums are those of its cells. */
static enum ctx_status sum_metrics(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				   const struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_put_text(&sql, "SELECT metric, ");
	ctx_fleet_choice_put_sums(choice, &sql);
	ctx_buf_put_text(&sql, " FROM ctx_cell WHERE ");
	ctx_fleet_choice_put_cells(choice, &sql);
	ctx_buf_put_text(&sql, " GROUP BY metric");
	status = ctx_fleet_choice_ask(choice, server, &sql, &answer, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_metrics; i++)
		profile->metrics[i].samples = profile->metrics[i].weight = 0;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (ctx_cursor_left(&cursor) != 0 && !cursor.failed) {
		uint32_t id = find_key(fleet->metric_keys, profile->n_metrics, ctx_cursor_get_u32(&cursor));
		uint64_t weight = ctx_cursor_get_u64(&cursor), samples = ctx_cursor_get_u64(&cursor);

		(void)ctx_cursor_get_u64(&cursor);
		if (id == CTX_NONE || cursor.failed)
			return cut(err, "metrics");
		profile->metrics[id].weight = weight;
		profile->metrics[id].samples = samples;
	}
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		struct ctx_metric_info *metric = &profile->metrics[i];

		for (uint32_t k = 0; k < metric->n_parts; k++) {
			metric->samples += profile->metrics[metric->parts[k]].samples;
			metric->weight += profile->metrics[metric->parts[k]].weight;
		}
		if (ctx_metric_is_count(metric))
			metric->weight = metric->samples;
	}
	return CTX_OK;
}

/* ---- threads, losses ---- */

static enum ctx_status read_threads(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				    const struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	size_t cap = 0, keys_cap = 0;
	enum ctx_status status;

	ctx_buf_put_text(&sql,
			 "SELECT key, any(name) AS group FROM ctx_recording ARRAY JOIN thread_keys AS key, "
			 "thread_names AS name WHERE push GLOBAL IN (SELECT push FROM chosen) GROUP BY key "
			 "ORDER BY group, key");
	status = ctx_fleet_choice_ask(choice, server, &sql, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		uint32_t key = ctx_cursor_get_u32(&cursor), n = profile->n_threads;
		const char *name = ctx_fleet_text_keep(&fleet->texts, &cursor, &status, err);

		if (status != CTX_OK)
			return status;
		if (name == NULL)
			return cut(err, "threads");
		if (ctx_grow(&profile->threads, &cap, n + 1u, err) != CTX_OK ||
		    ctx_grow(&fleet->thread_keys, &keys_cap, n + 1u, err) != CTX_OK)
			return CTX_E_NOMEM;
		fleet->thread_keys[n] = key;
		profile->threads[n] =
			(struct ctx_thread_info){.tid = (int64_t)n + 1, .name = name, .life = profile->run};
		profile->n_threads++;
	}
	return status;
}

static enum ctx_status add_property(struct ctx_fleet_profile *fleet, const char *key, const char *value,
				    struct ctx_err *err)
{
	struct ctx_property *property = &fleet->profile.properties[fleet->profile.n_properties];
	uint32_t id;
	enum ctx_status status = ctx_strtab_add_text(&fleet->texts, value, &id, err);

	if (status != CTX_OK)
		return status;
	*property = (struct ctx_property){key, ctx_strtab_get(&fleet->texts, id)};
	fleet->profile.n_properties++;
	return CTX_OK;
}

static enum ctx_status add_time(struct ctx_fleet_profile *fleet, const char *key, uint64_t time_ns,
				struct ctx_err *err)
{
	char text[CTX_UTC_MAX];

	(void)ctx_utc_stamp((int64_t)(time_ns / NS_PER_S), text);
	return add_property(fleet, key, text, err);
}

struct facts {
	uint64_t recordings, hosts, lost, throttled, damaged;
	uint8_t closed, call_stacks;
};

#define PROPERTIES 4u

static enum ctx_status describe(struct ctx_fleet_profile *fleet, const struct facts *facts,
				const struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	char name[96], number[32];
	uint32_t id;
	enum ctx_status status;

	snprintf(name, sizeof(name), "%" PRIu64 " recording%s of %" PRIu64 " host%s", facts->recordings,
		 facts->recordings == 1 ? "" : "s", facts->hosts, facts->hosts == 1 ? "" : "s");
	profile->properties = ctx_calloc(PROPERTIES, sizeof(*profile->properties));
	profile->losses.items = ctx_calloc(1, sizeof(*profile->losses.items));
	profile->processes = ctx_calloc(1, sizeof(*profile->processes));
	if (profile->properties == NULL || profile->losses.items == NULL || profile->processes == NULL)
		return ctx_err_nomem(err);
	status = ctx_strtab_add_text(&fleet->texts, name, &id, err);
	if (status != CTX_OK)
		return status;
	profile->name = ctx_strtab_get(&fleet->texts, id);
	profile->notes = "";
	profile->closed = facts->closed != 0;
	profile->losses.call_stacks = facts->call_stacks == 0;
	profile->losses.samples = facts->lost;
	profile->losses.throttled = facts->throttled;
	profile->losses.damaged = facts->damaged;
	if (facts->lost != 0) {
		profile->losses.items[0] = (struct ctx_loss){.cpu = -1, .count = facts->lost};
		profile->losses.n_items = 1;
	}
	profile->processes[0] = (struct ctx_process_info){.parent = CTX_NONE,
							  .command = profile->name,
							  .lineage = "",
							  .cgroup = "",
							  .life = profile->run};
	profile->n_processes = 1;
	snprintf(number, sizeof(number), "%" PRIu64, facts->recordings);
	status = add_property(fleet, "recordings", number, err);
	snprintf(number, sizeof(number), "%" PRIu64, facts->hosts);
	if (status == CTX_OK)
		status = add_property(fleet, "hosts", number, err);
	if (status == CTX_OK)
		status = add_time(fleet, "start", choice->hull.begin_ns, err);
	return status == CTX_OK ? add_time(fleet, "end", choice->hull.end_ns, err) : status;
}

static enum ctx_status read_facts(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				  const struct ctx_fleet_choice *choice, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	struct facts facts;
	enum ctx_status status;

	ctx_buf_put_text(&sql,
			 "SELECT count(), uniqExact(host), sum(lost), sum(throttled), sum(damaged), "
			 "min(closed), min(call_stacks) FROM ctx_recording WHERE push GLOBAL IN (SELECT "
			 "push FROM chosen)");
	status = ctx_fleet_choice_ask(choice, server, &sql, &answer, err);
	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	facts.recordings = ctx_cursor_get_u64(&cursor);
	facts.hosts = ctx_cursor_get_u64(&cursor);
	facts.lost = ctx_cursor_get_u64(&cursor);
	facts.throttled = ctx_cursor_get_u64(&cursor);
	facts.damaged = ctx_cursor_get_u64(&cursor);
	facts.closed = ctx_cursor_get_u8(&cursor);
	facts.call_stacks = ctx_cursor_get_u8(&cursor);
	if (cursor.failed)
		return cut(err, "recordings");
	/* Retention, or someone's deletion, between two questions. */
	if (facts.recordings != choice->n)
		return ctx_err_set(err, CTX_E_NOTFOUND, "recordings were removed meanwhile: ask again");
	return describe(fleet, &facts, choice, err);
}

enum ctx_status ctx_fleet_profile_make(const struct ctx_fleet_server *server,
				       const struct ctx_fleet_choice *choice, struct ctx_fleet_profile *ret,
				       struct ctx_err *err)
{
	struct ctx_fleet_profile fleet = {
		.profile = {.run = {0, choice->hull.end_ns - choice->hull.begin_ns}}};
	enum ctx_status status = ctx_trie_init(&fleet.profile.cct, err);

	if (status == CTX_OK)
		status = read_facts(&fleet, server, choice, err);
	if (status == CTX_OK)
		status = read_metrics(&fleet, server, choice, err);
	if (status == CTX_OK && choice->n_partial != 0)
		status = sum_metrics(&fleet, server, choice, err);
	if (status == CTX_OK)
		status = read_threads(&fleet, server, choice, err);
	if (status != CTX_OK) {
		ctx_fleet_profile_deinit(&fleet);
		return status;
	}
	*ret = fleet;
	return CTX_OK;
}

void ctx_fleet_profile_deinit(struct ctx_fleet_profile *fleet)
{
	ctx_profile_deinit(&fleet->profile);
	free(fleet->metric_keys);
	free(fleet->thread_keys);
	free(fleet->hashes);
	ctx_map64_deinit(&fleet->function_of);
	ctx_map64_deinit(&fleet->stack_of);
	ctx_map64_deinit(&fleet->object_of);
	ctx_strtab_deinit(&fleet->texts);
	*fleet = (struct ctx_fleet_profile){0};
}
