/*
 * The operand in memory of an instruction, and what a function's instructions before it left in registers.
 *
 * x86-64. Registers are numbered as DWARF does. Source: capstone.
 */
#ifndef CTX_SYMBOLS_DATA_OPERAND_H
#define CTX_SYMBOLS_DATA_OPERAND_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_DATA_REGISTERS 16u
#define CTX_DATA_NO_REGISTER (-1)

struct ctx_data_operand {
	int base, index; /* registers; CTX_DATA_NO_REGISTER: none */
	int64_t offset;	 /* of a fixed address (`base` none): it itself */
	bool is_absolute;
};

enum ctx_data_effect {
	CTX_DATA_FORGETS,   /* the registers in `written` have something else */
	CTX_DATA_LOADS,	    /* `to` has what the operand in memory had */
	CTX_DATA_ADDRESSES, /* `to` has the operand's address */
	CTX_DATA_COPIES,    /* `to` has what `from` has */
	CTX_DATA_ADDS,	    /* `to` is `addend` more */
	CTX_DATA_INDEXES,   /* `to` is more by a number that `from` has, or the other way round */
};

/* One instruction. */
struct ctx_data_step {
	uint64_t address, next;
	enum ctx_data_effect effect;
	int to, from;
	int64_t addend;
	uint32_t written; /* bits of registers, besides `to` */
	bool is_target;	  /* other instructions of the function jump here */
	bool has_memory;  /* `operand`: it accesses memory at one place, beside the stack of calls */
	struct ctx_data_operand operand;
};

struct ctx_data_code;

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_data_code_create(struct ctx_data_code **ret, struct ctx_err *err);
void ctx_data_code_destroy(struct ctx_data_code *code); /* NULL does nothing */

/* The code of a function, borrowed until the next call of this; `address` is of its first byte. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_data_code_begin(struct ctx_data_code *code, const uint8_t *bytes, size_t n,
						   uint64_t address, struct ctx_err *err);
/* The next instruction; false: no more that can be read. */
bool ctx_data_code_next(struct ctx_data_code *code, struct ctx_data_step *ret);

#endif
