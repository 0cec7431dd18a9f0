/*
 * Call frame programs: the instructions of a CIE or an FDE, run into rows.
 *
 * Private to unwind/. Programs have no loops: the cost is proportional to the length. Source: DWARF
 * 5, 6.4.2.
 */
#ifndef CTX_UNWIND_CFI_PROGRAM_H
#define CTX_UNWIND_CFI_PROGRAM_H

#include "elf/cfi_reader.h"
#include "unwind/cfi_rules.h"

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

#define CTX_CFI_REMEMBER_MAX 16

struct ctx_cfi_machine {		       /* interpreter of programs; large, so one is reused for all */
	const struct ctx_cfi_section *section; /* these three are set by the caller */
	struct ctx_cfi_rules *rules;
	struct ctx_cfi_rows *rows; /* not for a CIE */
	const struct ctx_cfi_cie *cie;
	const struct ctx_cfi_state *initial; /* NULL while the CIE's own program runs */
	uint64_t pc, end;
	struct ctx_cfi_state state;
	size_t remembered;
	struct ctx_cfi_state stack[CTX_CFI_REMEMBER_MAX];
};

/* Runs a CIE's program into machine->state. Fails with CTX_E_FORMAT, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_run_cie(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
					       struct ctx_err *err);

/*
 * Runs the program of a function [begin, end): its rows, without the one that ends it. Fails as
 * above; rows already appended stay.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_run_fde(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
					       const struct ctx_cfi_state *initial,
					       const struct ctx_cfi_fde *fde, struct ctx_err *err);

#endif
