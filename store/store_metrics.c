/*
 * Metrics and external wakers: their rows. The parts of a sum are a text, "4,5", since SQL has no
 * lists.
 */
#include "base/mem.h"
#include "store/store_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- writing ---- */

static void bind_parts(struct ctx_store_rows *rows, int at, const struct ctx_metric_info *metric)
{
	struct ctx_buf text = {0};

	for (uint32_t k = 0; k < metric->n_parts; k++)
		ctx_buf_printf(&text, "%s%" PRIu32, k != 0 ? "," : "", metric->parts[k]);
	if (ctx_buf_check(&text, NULL) != CTX_OK ||
	    sqlite3_bind_text64(rows->stmt, at, (const char *)text.bytes, text.n, SQLITE_TRANSIENT,
				SQLITE_UTF8) != SQLITE_OK)
		rows->failed = true;
	ctx_buf_deinit(&text);
}

void ctx_store_bind_metric(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_metric_info *metric = &rows->contents->profile->metrics[i];

	ctx_bind_text(rows->stmt, 2, metric->name);
	ctx_bind_text(rows->stmt, 3, ctx_unit_word(metric->unit));
	ctx_bind_u64(rows->stmt, 4, metric->samples);
	ctx_bind_u64(rows->stmt, 5, metric->weight);
	ctx_bind_text(rows->stmt, 6, metric->word); /* NULL is NULL */
	ctx_bind_u64(rows->stmt, 7, ctx_metric_is_clipped(metric));
	if (metric->parts == NULL)
		sqlite3_bind_null(rows->stmt, 8);
	else
		bind_parts(rows, 8, metric);
	ctx_bind_u64(rows->stmt, 9, ctx_metric_is_count(metric));
	ctx_bind_text(rows->stmt, 10, ctx_metric_kind_word(metric->kind));
}

void ctx_store_bind_external_waker(struct ctx_store_rows *rows, size_t i)
{
	ctx_bind_text(rows->stmt, 2, rows->contents->profile->external_wakers.items[i]);
}

/* ---- reading ---- */

/* "4,5" into an array in the profile's arena. A metric cannot have more parts than there are
 * metrics before it. */
static enum ctx_status take_parts(struct ctx_store_reader *reader, struct ctx_metric_info *metric, size_t i,
				  struct ctx_err *err)
{
	const char *text = (const char *)sqlite3_column_text(reader->stmt, 7);
	uint32_t *parts = ctx_arena_alloc(&reader->store->profile.arena, (i + 1) * sizeof(*parts));

	if (text == NULL || parts == NULL)
		return ctx_err_nomem(err);
	for (const char *at = text;; at++) {
		char *end;
		unsigned long id;

		errno = 0;
		id = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || errno != 0 || (*end != ',' && *end != '\0') || id >= i ||
		    metric->n_parts == i)
			return ctx_err_set(err, CTX_E_FORMAT, "%s: metric %zu is a sum of what it cannot be",
					   reader->store->path, i);
		parts[metric->n_parts++] = (uint32_t)id;
		at = end;
		if (*at == '\0')
			break;
	}
	metric->parts = parts;
	return CTX_OK;
}

enum ctx_status ctx_store_take_metric(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_metric_info *item = ctx_store_append(&profile->metrics, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	item->name = ctx_store_reader_text(reader, 1);
	item->unit = ctx_unit_of_word(ctx_store_reader_text(reader, 2));
	item->samples = ctx_column_u64(reader->stmt, 3);
	item->weight = ctx_column_u64(reader->stmt, 4);
	if (sqlite3_column_type(reader->stmt, 5) != SQLITE_NULL)
		item->word = ctx_store_reader_text(reader, 5);
	item->kind = ctx_metric_kind_of_word(ctx_store_reader_text(reader, 9));
	profile->n_metrics = (uint32_t)i + 1;
	/* Both columns follow from the kind; they exist for SQL. */
	if (ctx_metric_is_clipped(item) != (sqlite3_column_int64(reader->stmt, 6) != 0) ||
	    ctx_metric_is_count(item) != (sqlite3_column_int64(reader->stmt, 8) != 0))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: metric %zu is of two kinds", reader->store->path,
				   i);
	if (sqlite3_column_type(reader->stmt, 7) == SQLITE_NULL)
		return CTX_OK;
	return take_parts(reader, item, i, err);
}

enum ctx_status ctx_store_take_external_waker(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	const char **item = ctx_store_append(&profile->external_wakers.items, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	*item = ctx_store_reader_text(reader, 1);
	profile->external_wakers.n = (uint32_t)i + 1;
	return CTX_OK;
}
