/*
 * Call frame programs: the instructions of a CIE or an FDE, run into rows.
 *
 * Private to unwind/. A program has no loops, so that its cost is its length. Source: DWARF 5,
 * 6.4.2.
 */
#ifndef CTX_UNWIND_CFI_PROGRAM_H
#define CTX_UNWIND_CFI_PROGRAM_H

#include "elf/cfi_reader.h"
#include "unwind/cfi_rules.h"

struct ctx_cfi_row {
	uint32_t pc;   /* from the table's base */
	uint32_t rule; /* holds up to the next row's pc */
};

struct ctx_cfi_rows {
	uint64_t base;		   /* addresses are taken from it modulo 2^64 */
	struct ctx_cfi_row *items; /* owned; pcs ascend */
	size_t n, cap;
};

/*
 * A rule from `pc` on; one that the row before has already costs nothing. Fails with CTX_E_NOMEM,
 * CTX_E_FORMAT (a pc before the last row's or more than 4 GiB behind the base).
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_rows_add(struct ctx_cfi_rows *rows, uint64_t pc, uint32_t rule,
						struct ctx_err *err);

#define CTX_CFI_REMEMBER_MAX 16

struct ctx_cfi_machine {		       /* what runs programs; large, so one for all */
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
 * above; the rows that were made until then stay.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_run_fde(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
					       const struct ctx_cfi_state *initial,
					       const struct ctx_cfi_fde *fde, struct ctx_err *err);

#endif
