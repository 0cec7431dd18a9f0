/*
 * Rows: which rule applies from which pc on. Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_ROWS_H
#define CTX_UNWIND_CFI_ROWS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_cfi_row {
	uint32_t pc;   /* from the table's base */
	uint32_t rule; /* applies up to the next row's pc */
};

struct ctx_cfi_rows {
	uint64_t base;		   /* addresses are relative to it, modulo 2^64 */
	struct ctx_cfi_row *items; /* owned; pcs ascend */
	size_t n, cap;
};

/*
 * Appends a row with a rule from `pc` on, unless the last row has the same rule. Fails with
 * CTX_E_NOMEM, CTX_E_FORMAT (a pc before the last row's or more than 4 GiB after the base).
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_rows_add(struct ctx_cfi_rows *rows, uint64_t pc, uint32_t rule,
						struct ctx_err *err);

#endif
