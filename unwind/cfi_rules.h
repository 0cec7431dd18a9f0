/*
 * Rules: how to find the caller's registers from those of a frame. Equal rules of a table are
 * stored once, so that a row is a pc and the number of a rule.
 *
 * Every rule has a summary of 8 bytes, which is sufficient for most x86-64 frames (CFA = stack or
 * frame pointer + offset, return address below the CFA, where the frame pointer was saved), and a
 * whole description beside it. Private to unwind/. Source: DWARF 5, 6.4.1.
 */
#ifndef CTX_UNWIND_CFI_RULES_H
#define CTX_UNWIND_CFI_RULES_H

#include "base/err.h"
#include "base/strtab.h"
#include "model/user_regs.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_CFI_RULE_NONE 0u /* the rule of pcs without information; always exists */

enum ctx_cfi_how {
	CTX_CFI_UNSPECIFIED =
		0, /* as in the machine's ABI: callee-saved registers keep their values, others are lost */
	CTX_CFI_UNDEFINED,
	CTX_CFI_SAME,
	CTX_CFI_OFFSET,	    /* saved at CFA + value */
	CTX_CFI_VAL_OFFSET, /* is CFA + value */
	CTX_CFI_REGISTER,   /* is in register `value` */
	CTX_CFI_EXPRESSION, /* saved where expression `value` says */
	CTX_CFI_VAL_EXPRESSION,
};

struct ctx_cfi_place {
	int64_t value; /* offset, register or number of an expression */
	uint8_t how;   /* enum ctx_cfi_how */
};

/*
 * The state at one pc while a program runs. The CFA: CTX_CFI_REGISTER (of cfa_register, + value) or
 * CTX_CFI_VAL_EXPRESSION; CTX_CFI_UNSPECIFIED before its definition.
 */
struct ctx_cfi_state {
	struct ctx_cfi_place cfa;
	uint64_t cfa_register;
	uint64_t touched;	 /* bit i: registers[i] was set once */
	uint8_t return_register; /* these two are the CIE's */
	bool signal;
	struct ctx_cfi_place registers[CTX_USER_REGS_MAX];
};

enum ctx_cfi_kind {
	CTX_CFI_NONE = 0, /* no information */
	CTX_CFI_ROOT,	  /* there is no caller */
	CTX_CFI_SP,	  /* CFA = stack pointer + cfa_offset */
	CTX_CFI_FP,	  /* CFA = frame pointer + cfa_offset */
	CTX_CFI_FULL,	  /* see the whole rule */
};

struct ctx_cfi_summary {
	int32_t cfa_offset;
	int16_t fp_offset; /* the frame pointer was saved at CFA + this; 0: it has not been changed */
	uint8_t kind;	   /* enum ctx_cfi_kind */
	bool signal;	   /* the caller was interrupted by a signal; it did not make a call */
};

/* The summary of a state. Allocates nothing. */
struct ctx_cfi_summary ctx_cfi_summarize(enum ctx_machine machine, const struct ctx_cfi_state *state);

struct ctx_cfi_save { /* one register of a rule */
	struct ctx_cfi_place place;
	uint8_t reg;
};

struct ctx_cfi_rule {
	struct ctx_cfi_place cfa;
	uint8_t cfa_register;
	uint8_t return_register; /* the register whose value in the caller is its pc */
	bool signal;
	uint8_t n_saves;
	uint32_t first_save;
};

struct ctx_cfi_rules { /* all zero, then init */
	enum ctx_machine machine;
	struct ctx_strtab keys; /* rules as bytes; id + 1 = number of the rule */
	struct ctx_strtab expressions;
	struct ctx_cfi_summary *summaries; /* owned, by number */
	struct ctx_cfi_rule *items;	   /* owned, by number */
	struct ctx_cfi_save *saves;	   /* owned */
	size_t n, summaries_cap, items_cap;
	size_t n_saves, saves_cap;
	size_t n_full;
};

/* Creates rule CTX_CFI_RULE_NONE. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_rules_init(struct ctx_cfi_rules *rules, enum ctx_machine machine,
						  struct ctx_err *err);
void ctx_cfi_rules_deinit(struct ctx_cfi_rules *rules);

/*
 * The number of the rule for a state. Fails with CTX_E_FORMAT (no CFA), CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_rules_add(struct ctx_cfi_rules *rules,
						 const struct ctx_cfi_state *state, uint32_t *ret,
						 struct ctx_err *err);

/* The number of an expression. Fails with CTX_E_LIMIT (too long), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_rules_add_expression(struct ctx_cfi_rules *rules, const uint8_t *bytes,
							    size_t n, int64_t *ret, struct ctx_err *err);

/* Releases the parts that only building needs. */
void ctx_cfi_rules_freeze(struct ctx_cfi_rules *rules);

size_t ctx_cfi_rules_bytes(const struct ctx_cfi_rules *rules);

#endif
