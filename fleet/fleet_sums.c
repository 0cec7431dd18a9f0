#include "fleet/fleet_sums.h"

#include <inttypes.h>

void ctx_fleet_sums_put_metric(const struct ctx_fleet_sums *sums, uint32_t metric, struct ctx_buf *sql)
{
	const struct ctx_metric_info *info = &sums->fleet->profile.metrics[metric];

	ctx_buf_put_text(sql, " AND metric IN (");
	if (info->n_parts == 0)
		ctx_buf_printf(sql, "%" PRIu32, sums->fleet->metric_keys[metric]);
	for (uint32_t i = 0; i < info->n_parts; i++)
		ctx_buf_printf(sql, "%s%" PRIu32, i != 0 ? ", " : "",
			       sums->fleet->metric_keys[info->parts[i]]);
	ctx_buf_put_u8(sql, ')');
}

/* The chosen recordings with the part that each belongs to. */
static void put_chosen(const struct ctx_fleet_sums *sums, struct ctx_buf *rows)
{
	struct ctx_cursor cursor = ctx_cursor_make(sums->choice->pushes.bytes, sums->choice->pushes.n);

	for (size_t i = 0; i < sums->choice->n; i++) {
		ctx_buf_put_u64(rows, ctx_cursor_get_u64(&cursor));
		ctx_buf_put_u8(rows, ctx_cursor_get_u8(&cursor));
		ctx_buf_put_u32(rows, sums->parts[i]);
	}
}

static enum ctx_status ask_by_part(const struct ctx_fleet_sums *sums, struct ctx_buf *sql,
				   struct ctx_buf *answer, struct ctx_err *err)
{
	struct ctx_buf rows CTX_AUTO_BUF = {0};
	enum ctx_status status;

	put_chosen(sums, &rows);
	ctx_buf_put_u8(sql, '\0');
	status = ctx_buf_check(&rows, err);
	if (status == CTX_OK)
		status = ctx_buf_check(sql, err);
	if (status != CTX_OK)
		return status;
	return sums->server->ask(
		sums->server->context,
		&(struct ctx_fleet_request){
			.sql = (const char *)sql->bytes,
			.table = {"chosen", "push UInt64, whole UInt8, part UInt32", {rows.bytes, rows.n}}},
		answer, err);
}

enum ctx_status ctx_fleet_sums_ask(const struct ctx_fleet_sums *sums, const char *by, uint32_t metric,
				   struct ctx_buf *answer, struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	ctx_buf_printf(&sql, "SELECT %s, ", by);
	ctx_fleet_choice_put_sums(sums->choice, &sql);
	ctx_buf_put_text(&sql, " FROM ctx_cell ");
	if (sums->parts != NULL)
		ctx_buf_put_text(&sql, "GLOBAL ANY INNER JOIN (SELECT push, part FROM chosen) USING push ");
	ctx_buf_put_text(&sql, "WHERE ");
	ctx_fleet_choice_put_cells(sums->choice, &sql);
	ctx_fleet_sums_put_metric(sums, metric, &sql);
	ctx_buf_printf(&sql, " GROUP BY %s ORDER BY %s", by, by);
	return sums->parts != NULL ? ask_by_part(sums, &sql, answer, err)
				   : ctx_fleet_choice_ask(sums->choice, sums->server, &sql, answer, err);
}

struct ctx_hist_entry ctx_fleet_sums_take(const struct ctx_fleet_sums *sums, uint32_t metric,
					  struct ctx_cursor *cursor)
{
	struct ctx_hist_entry entry = {.stack = CTX_NONE};

	entry.weight = ctx_cursor_get_u64(cursor);
	entry.samples = ctx_cursor_get_u64(cursor);
	entry.calls = (int64_t)ctx_cursor_get_u64(cursor);
	if (ctx_metric_is_count(&sums->fleet->profile.metrics[metric]))
		entry.weight = entry.samples;
	return entry;
}
