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

/* Who takes what a program says. */
struct ctx_cfi_sink {
	void *context;
	/*
	 * The state applies to [begin, end), which is not empty. A status other than CTX_OK ends the
	 * program and is its result: CTX_END for a sink that has what it looks for.
	 */
	enum ctx_status (*row)(void *context, const struct ctx_cfi_state *state, uint64_t begin, uint64_t end,
			       struct ctx_err *err);
	/* The number by which places name an expression; the bytes are those of the section. */
	enum ctx_status (*expression)(void *context, const uint8_t *bytes, size_t n, int64_t *ret,
				      struct ctx_err *err);
};

#define CTX_CFI_REMEMBER_MAX 16

struct ctx_cfi_machine {		       /* interpreter of programs; large, so one is reused for all */
	const struct ctx_cfi_section *section; /* these two are set by the caller */
	const struct ctx_cfi_sink *sink;
	const struct ctx_cfi_cie *cie;
	const struct ctx_cfi_state *initial; /* NULL while the CIE's own program runs */
	uint64_t pc, end;
	struct ctx_cfi_state state;
	size_t remembered;
	struct ctx_cfi_state stack[CTX_CFI_REMEMBER_MAX];
};

/*
 * Runs a CIE's program into machine->state. Fails with CTX_E_FORMAT, CTX_E_LIMIT, and as the sink
 * does. Neither this nor ctx_cfi_run_fde allocates.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_run_cie(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
					       struct ctx_err *err);

/*
 * Runs the program of a function [begin, end): its rows. Fails as above; rows already handed out
 * stay.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_run_fde(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
					       const struct ctx_cfi_state *initial,
					       const struct ctx_cfi_fde *fde, struct ctx_err *err);

#endif
