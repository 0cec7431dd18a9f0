/*
 * DWARF expressions as call frame information uses them: a small stack machine over registers and
 * the copied stack.
 *
 * Private to unwind/. Bounded: steps, stack, memory. Source: DWARF 5, 2.5 and 6.4.2.
 */
#ifndef CTX_UNWIND_CFI_EXPR_H
#define CTX_UNWIND_CFI_EXPR_H

#include "model/user_regs.h"
#include "unwind/cfi_memory.h"

enum ctx_cfi_result {
	CTX_CFI_OK,
	CTX_CFI_OUTSIDE, /* memory that was not copied */
	CTX_CFI_UNKNOWN, /* a register with an unknown value */
	CTX_CFI_BAD,	 /* damaged, or not an expression for frames */
};

struct ctx_cfi_input {
	const uint64_t *registers; /* by number, CTX_USER_REGS_MAX of them */
	uint64_t valid;		   /* bit i: registers[i] is known */
	struct ctx_cfi_memory memory;
};

/*
 * Evaluates an expression; `first` (NULL none) is pushed initially. `*ret` is the value at the top
 * in the end; for CTX_CFI_UNKNOWN it is the register.
 */
enum ctx_cfi_result ctx_cfi_evaluate(const uint8_t *bytes, size_t n, const struct ctx_cfi_input *input,
				     const uint64_t *first, uint64_t *ret);

#endif
