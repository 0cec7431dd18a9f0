/*
 * The instructions of one function with their weights: the function itself, its split-off parts
 * (cold code), and sampled addresses without known bytes.
 *
 *	slots:	| instructions of part 0 | of part 1 | ... | addresses without bytes, in order |
 */
#ifndef CTX_REPORT_CODE_PARTS_H
#define CTX_REPORT_CODE_PARTS_H

#include "report/code_rows.h"
#include "report/instructions.h"

struct ctx_code_part {
	struct ctx_function_code code;	       /* bytes and lines are borrowed from the reader */
	struct ctx_disassembler *disassembler; /* borrowed */
	struct ctx_instructions instructions;  /* owned */
	size_t first_slot;
};

struct ctx_code_parts {
	struct ctx_code_part *parts; /* owned */
	size_t n;
	uint32_t *strays; /* owned; locations without bytes, by address: equal addresses share a slot */
	size_t n_strays, first_stray;
	struct ctx_code_sum *sums;	       /* owned; by slot */
	struct ctx_disassembler *disassembler; /* owned; NULL: no part */
	uint64_t largest_exclusive, largest_inclusive;
};

/*
 * Reads the code of `function`, which is not inlined, decodes it and adds up the weights. Code of
 * an unknown machine is skipped: its addresses are strays. Valid until the reader is asked for code
 * again.
 */
CTX_MUST_CHECK enum ctx_status ctx_code_parts_build(const struct ctx_code_view *view, uint32_t function,
						    struct ctx_code_parts *ret, struct ctx_err *err);
void ctx_code_parts_deinit(struct ctx_code_parts *parts);

#endif
