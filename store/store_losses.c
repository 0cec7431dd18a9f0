/* The table `loss`: a row without times is not located, one without parts does not say what was lost. */
#include "store/store_rows.h"

void ctx_store_bind_loss(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_loss *loss = &rows->contents->profile->losses.items[i];

	for (int column = 2; column <= 10; column++)
		sqlite3_bind_null(rows->stmt, column);
	if (loss->located) {
		ctx_bind_u64(rows->stmt, 2, loss->time.begin_ns);
		ctx_bind_u64(rows->stmt, 3, loss->time.end_ns);
	}
	if (loss->cpu >= 0)
		sqlite3_bind_int(rows->stmt, 4, loss->cpu);
	ctx_bind_u64(rows->stmt, 5, loss->count);
	for (int kind = 0; kind < CTX_LOSS_KIND_N && loss->has_kinds; kind++)
		ctx_bind_u64(rows->stmt, 6 + kind, loss->kinds[kind]);
	if (loss->has_thread)
		ctx_bind_u64(rows->stmt, 10, loss->thread);
}

static bool is_null(struct ctx_store_reader *reader, int column)
{
	return sqlite3_column_type(reader->stmt, column) == SQLITE_NULL;
}

enum ctx_status ctx_store_take_loss(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile_losses *losses = &reader->store->profile.losses;
	struct ctx_loss *item = ctx_store_append(&losses->items, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	losses->n_items = i + 1;
	item->located = !is_null(reader, 1);
	item->time.begin_ns = ctx_column_u64(reader->stmt, 1);
	item->time.end_ns = ctx_column_u64(reader->stmt, 2);
	item->cpu = is_null(reader, 3) ? -1 : sqlite3_column_int(reader->stmt, 3);
	item->count = ctx_column_u64(reader->stmt, 4);
	item->has_kinds = !is_null(reader, 5);
	for (int kind = 0; kind < CTX_LOSS_KIND_N; kind++)
		item->kinds[kind] = ctx_column_u64(reader->stmt, 5 + kind);
	item->has_thread = !is_null(reader, 9);
	if (item->has_thread && ctx_column_u64(reader->stmt, 9) >= reader->store->profile.n_threads)
		return ctx_store_bad(reader->store, "a loss of an unknown thread", err);
	item->thread = item->has_thread ? (uint32_t)ctx_column_u64(reader->stmt, 9) : 0;
	return item->located && item->time.begin_ns >= item->time.end_ns
		       ? ctx_store_bad(reader->store, "a loss that ends before it begins", err)
		       : CTX_OK;
}
