#include "collect/id_table.h"

#include "base/mem.h"

#include <stdlib.h>

void *ctx_id_table_find(const struct ctx_id_table *table, int64_t id)
{
	uint32_t row = ctx_map64_get(&table->rows_by_id, (uint64_t)id);

	return row != CTX_MAP64_NONE ? table->rows[row].element : NULL;
}

enum ctx_status ctx_id_table_add(struct ctx_id_table *table, int64_t id, void *element, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&table->rows, &table->cap, table->n + 1, err);
	uint32_t *row;

	if (status != CTX_OK)
		return status;
	row = ctx_map64_place(&table->rows_by_id, (uint64_t)id);
	if (row == NULL)
		return ctx_err_nomem(err);
	*row = (uint32_t)table->n;
	table->rows[table->n++] = (struct ctx_id_row){id, element};
	return CTX_OK;
}

/* The last row takes the place of the removed one. */
void ctx_id_table_remove(struct ctx_id_table *table, int64_t id)
{
	uint32_t row = ctx_map64_get(&table->rows_by_id, (uint64_t)id);

	ctx_map64_remove(&table->rows_by_id, (uint64_t)id);
	table->n--;
	if (row == table->n)
		return;
	table->rows[row] = table->rows[table->n];
	*ctx_map64_place(&table->rows_by_id, (uint64_t)table->rows[row].id) = row;
}

void ctx_id_table_deinit(struct ctx_id_table *table)
{
	ctx_map64_deinit(&table->rows_by_id);
	free(table->rows);
	*table = (struct ctx_id_table){0};
}
