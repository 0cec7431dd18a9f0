#include "fleet/fleet_groups.h"

#include "fleet/fleet_text.h"
#include "fleet/where.h"

#include <stdlib.h>
#include <string.h>

struct ctx_fleet_groups {
	struct ctx_strtab values; /* ids are those of the rows, until they are sorted */
	struct ctx_strtab texts;
	struct ctx_strtab hosts; /* of the pairs (row, host) */
	struct ctx_report_fleet_group *rows;
	size_t n, cap;
	struct ctx_interval interval; /* of the choice, times of day */
};

/* A recording, as it comes. Texts are in `texts`. */
struct fact {
	const char *value, *host, *service, *version, *name;
	uint64_t begin_ns, end_ns, lost, damaged;
	bool closed;
};

static const char facts_sql[] =
	", host, service, version, name, begin_ns, end_ns, toUInt64(lost), toUInt64(damaged), "
	"toUInt8(closed) FROM ctx_recording WHERE push GLOBAL IN (SELECT push FROM chosen) "
	"ORDER BY begin_ns, push";

static enum ctx_status take_fact(struct ctx_fleet_groups *groups, struct ctx_cursor *cursor, struct fact *ret,
				 struct ctx_err *err)
{
	const char **texts[] = {&ret->value, &ret->host, &ret->service, &ret->version, &ret->name};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++)
		*texts[i] = ctx_fleet_text_keep(&groups->texts, cursor, &status, err);
	if (status != CTX_OK)
		return status;
	ret->begin_ns = ctx_cursor_get_u64(cursor);
	ret->end_ns = ctx_cursor_get_u64(cursor);
	ret->lost = ctx_cursor_get_u64(cursor);
	ret->damaged = ctx_cursor_get_u64(cursor);
	ret->closed = ctx_cursor_get_u8(cursor) != 0;
	return cursor->failed ? ctx_err_set(err, CTX_E_FORMAT, "the fleet's list of recordings is cut")
			      : CTX_OK;
}

/* Equal texts are the same pointer. */
static void keep_common(const char **common, const char *value)
{
	if (*common != value)
		*common = NULL;
}

static enum ctx_status count_host(struct ctx_fleet_groups *groups, uint32_t row, const char *host,
				  struct ctx_err *err)
{
	struct ctx_buf pair CTX_AUTO_BUF = {0};
	size_t had = groups->hosts.n;
	uint32_t id;
	enum ctx_status status;

	ctx_buf_put_u32(&pair, row);
	ctx_buf_put_text(&pair, host);
	status = ctx_buf_check(&pair, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&groups->hosts, (const char *)pair.bytes, pair.n, &id, err);
	groups->rows[row].hosts += groups->hosts.n - had;
	return status;
}

/* Of it, what lies in the interval. */
static uint64_t recorded_in(const struct ctx_fleet_groups *groups, const struct fact *fact)
{
	uint64_t begin_ns =
		fact->begin_ns > groups->interval.begin_ns ? fact->begin_ns : groups->interval.begin_ns;
	uint64_t end_ns = fact->end_ns < groups->interval.end_ns ? fact->end_ns : groups->interval.end_ns;

	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static enum ctx_status add(struct ctx_fleet_groups *groups, const struct fact *fact, struct ctx_err *err)
{
	struct ctx_report_fleet_group *row;
	uint32_t at;
	enum ctx_status status = ctx_strtab_add_text(&groups->values, fact->value, &at, err);

	if (status == CTX_OK)
		status = ctx_grow(&groups->rows, &groups->cap, at + 1u, err);
	if (status != CTX_OK)
		return status;
	row = &groups->rows[at];
	if (at == groups->n) {
		*row = (struct ctx_report_fleet_group){.value = fact->value,
						       .host = fact->host,
						       .service = fact->service,
						       .version = fact->version,
						       .name = fact->name,
						       .begin_ns = fact->begin_ns};
		groups->n++;
	} else {
		row->name = NULL;
	}
	keep_common(&row->host, fact->host);
	keep_common(&row->service, fact->service);
	keep_common(&row->version, fact->version);
	row->recordings++;
	if (fact->end_ns > row->end_ns)
		row->end_ns = fact->end_ns;
	row->recorded_ns += recorded_in(groups, fact);
	row->lost += fact->lost;
	row->damaged += fact->damaged;
	row->unclosed += !fact->closed;
	return count_host(groups, at, fact->host, err);
}

static enum ctx_status read_facts(struct ctx_fleet_groups *groups, const struct ctx_fleet_index_spec *spec,
				  struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0}, answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status;

	ctx_buf_put_text(&sql, "SELECT ");
	ctx_where_put_column(spec->by, &sql);
	ctx_buf_put_text(&sql, facts_sql);
	status = ctx_fleet_choice_ask(spec->choice, spec->server, &sql, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		struct fact fact;

		status = take_fact(groups, &cursor, &fact, err);
		if (status == CTX_OK)
			status = add(groups, &fact, err);
	}
	return status;
}

/* Groups without weight have no row there. */
static enum ctx_status weigh(struct ctx_fleet_groups *groups, const struct ctx_fleet_index_spec *spec,
			     struct ctx_err *err)
{
	struct ctx_fleet_index_spec first = *spec;
	struct ctx_fleet_index *index;
	const struct ctx_report_index *rows;
	enum ctx_status status;

	first.n_metrics = 1;
	status = ctx_fleet_index_make(&first, &index, err);
	if (status != CTX_OK)
		return status;
	rows = ctx_fleet_index_rows(index);
	for (size_t i = 0; i < rows->n; i++) {
		const char *value = rows->names[rows->keys[i]];
		uint32_t at = ctx_strtab_find(&groups->values, value, strlen(value));

		if (at < groups->n)
			groups->rows[at].sum = rows->sums[i];
	}
	ctx_fleet_index_destroy(index);
	return CTX_OK;
}

static int compare(const void *left, const void *right)
{
	const struct ctx_report_fleet_group *a = left, *b = right;

	if (a->sum.weight != b->sum.weight)
		return a->sum.weight > b->sum.weight ? -1 : 1;
	return strcmp(a->value, b->value);
}

enum ctx_status ctx_fleet_groups_make(const struct ctx_fleet_index_spec *spec, struct ctx_fleet_groups **ret,
				      struct ctx_err *err)
{
	struct ctx_fleet_groups *groups = ctx_calloc(1, sizeof(*groups));
	enum ctx_status status = CTX_OK;

	if (groups == NULL)
		return ctx_err_nomem(err);
	groups->interval = (struct ctx_interval){0, UINT64_MAX};
	if (spec->choice->has_interval)
		groups->interval = spec->choice->hull;
	status = read_facts(groups, spec, err);
	if (status == CTX_OK)
		status = weigh(groups, spec, err);
	if (status != CTX_OK) {
		ctx_fleet_groups_destroy(groups);
		return status;
	}
	if (groups->n != 0)
		qsort(groups->rows, groups->n, sizeof(*groups->rows), compare);
	*ret = groups;
	return CTX_OK;
}

void ctx_fleet_groups_destroy(struct ctx_fleet_groups *groups)
{
	if (groups == NULL)
		return;
	ctx_strtab_deinit(&groups->values);
	ctx_strtab_deinit(&groups->texts);
	ctx_strtab_deinit(&groups->hosts);
	free(groups->rows);
	free(groups);
}

const struct ctx_report_fleet_group *ctx_fleet_groups_rows(const struct ctx_fleet_groups *groups,
							   size_t *ret_n)
{
	*ret_n = groups->n;
	return groups->rows;
}
