#include "unwind/cfi_rows.h"

#include "base/mem.h"

enum ctx_status ctx_cfi_rows_add(struct ctx_cfi_rows *rows, uint64_t pc, uint32_t rule, struct ctx_err *err)
{
	uint64_t at = pc - rows->base;
	enum ctx_status status;

	if (at > UINT32_MAX || (rows->n != 0 && rows->items[rows->n - 1].pc > at))
		return ctx_err_set(err, CTX_E_FORMAT, "address out of order");
	if (rows->n != 0 && rows->items[rows->n - 1].pc == at)
		rows->n--; /* the last word counts */
	if (rows->n != 0 && rows->items[rows->n - 1].rule == rule)
		return CTX_OK;
	status = ctx_grow(&rows->items, &rows->cap, rows->n + 1, err);
	if (status == CTX_OK)
		rows->items[rows->n++] = (struct ctx_cfi_row){.pc = (uint32_t)at, .rule = rule};
	return status;
}
