/*
 * Which virtual machines are of interest: by what they say of themselves, at most so many at a time, and in turn.
 *
 *	KEY=TEXT, KEY=~PATTERN --> rules --> those that fit, in the order in which they came --> those that are chosen now
 *
 * Source: requirement V1.
 */
#ifndef CTX_COLLECT_VM_CHOICE_H
#define CTX_COLLECT_VM_CHOICE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a rule can ask for. */
enum ctx_vm_key {
	CTX_VM_KEY_PID,
	CTX_VM_KEY_NAME,    /* "OpenJDK 64-Bit Server VM" */
	CTX_VM_KEY_MAIN,    /* the main class, or the path of the jar */
	CTX_VM_KEY_COMMAND, /* the main class and its arguments */
	CTX_VM_KEY_VERSION,
	CTX_VM_KEY_COLLECTOR, /* "G1" */
	CTX_VM_KEY_N,
};

struct ctx_vm_rule; /* one of them */

struct ctx_vm_rules {		   /* all zero: every virtual machine fits */
	struct ctx_vm_rule *items; /* owned */
	size_t n, cap;
};

void ctx_vm_rules_deinit(struct ctx_vm_rules *rules);

/* Adds "KEY=TEXT" or "KEY=~PATTERN"; a pattern is an extended regular expression for the whole text. CTX_E_ARG: it is none; CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vm_rules_add(struct ctx_vm_rules *rules, const char *text,
						struct ctx_err *err);

/* Whether the texts, by enum ctx_vm_key, fit: for each key that rules have, one of its rules. */
bool ctx_vm_rules_fit(const struct ctx_vm_rules *rules, const char *const texts[CTX_VM_KEY_N]);

/* How many at a time, and for how long. */
struct ctx_vm_choice {
	uint32_t limit;	  /* 0: all, or one where they take turns */
	uint64_t turn_ns; /* 0: whoever is chosen stays so */
	/* The state; all zero at first. */
	uint64_t next_ns; /* when the next turn begins */
	size_t last;	  /* behind the one that was chosen last */
};

struct ctx_vm_candidate {
	bool is_there; /* it fits, and has not ended */
	bool is_chosen;
};

/*
 * Chooses at a time. Places of those that have ended go to the next ones; a new turn gives all places to the next ones. With room for
 * all nobody changes. O(n).
 */
void ctx_vm_choice_update(struct ctx_vm_choice *choice, struct ctx_vm_candidate *items, size_t n,
			  uint64_t now_ns);

#endif
