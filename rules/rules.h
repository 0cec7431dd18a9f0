/*
 * Rules: what of a recording, or of the change between two sides, is too much. Format: docs/rules.md.
 *
 *	text --parse--> rules --apply to rows--> findings, each with its message
 *
 *	function.self.share > 1% && change > +5% && verdict == "slower" -> fail "{function}: {a} -> {b}"
 *	\______________________ condition ____________________________/    \action  \message
 *
 * Operators are those of filters (model/expression.h); numbers have units, and what has different ones is not
 * compared. Names, patterns, units and placeholders are checked when the text is parsed. Source: requirement V6.
 */
#ifndef CTX_RULES_RULES_H
#define CTX_RULES_RULES_H

#include "base/err.h"
#include "rules/rule_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RULES_TEXT_MAX 1048576u /* bytes */
#define CTX_RULES_MAX 1000u
#define CTX_RULE_NODES_MAX 500u /* of a condition */
#define CTX_RULE_DEPTH_MAX 100u /* of nested parentheses and signs */

enum ctx_rule_action { CTX_RULE_FAIL, CTX_RULE_WARN, CTX_RULE_NOTE, CTX_RULE_ACTIONS };

/* "fail", "warn", "note" */
const char *ctx_rule_action_word(enum ctx_rule_action action);

/* ---- rows ---- */

#define CTX_RULE_SIDES 2u /* A, B: without a comparison only B */

/* A measure of a row in one of its units: means of the sides' recordings. */
struct ctx_rule_figure {
	bool known;
	double value[CTX_RULE_SIDES];
	double low, high;    /* of the difference B - A: the 95 % confidence interval; NAN unknown */
	double p;	     /* NAN unknown */
	const char *verdict; /* "slower"; NULL: none */
};

struct ctx_rule_row {
	const char *name;		 /* any bytes; "" of a kind without rows */
	const char *object;		 /* of a function: its load object; else "" */
	struct ctx_rule_figure *figures; /* of its kind: ctx_rule_figure_at */
};

/* The place of a measure in a unit among the figures of a row. */
static inline size_t ctx_rule_figure_at(size_t measure, enum ctx_rule_weighting weighting)
{
	return measure * CTX_RULE_WEIGHTINGS + weighting;
}

struct ctx_rule_table {
	const struct ctx_rule_row *rows;
	size_t n;
	const char *missing; /* why it could not be made; NULL: it is there */
};

struct ctx_rule_rows { /* borrowed, with all that they point to */
	struct ctx_rule_table tables[CTX_RULE_KINDS];
	bool compared; /* A is there */
	bool counted;  /* the figures by unit of work are there */
	const char *
		untimed; /* why the weights of functions, load objects, lines and threads are no times; NULL: they are */
};

/* ---- rules ---- */

struct ctx_rule_place {
	size_t line, column; /* from 1; 0: no place. A column is a character */
};

struct ctx_rules;

/*
 * Reads a text of `n` bytes. CTX_E_ARG, CTX_E_LIMIT: the message is "line 3, column 9: a number is missing", and
 * `*ret_place` (may be NULL) is that place. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_rules_parse(const char *text, size_t n, struct ctx_rules **ret,
					       struct ctx_rule_place *ret_place, struct ctx_err *err);
/* NULL is fine. */
void ctx_rules_destroy(struct ctx_rules *rules);

/* The rules that are used without a file: "--rules default". */
const char *ctx_rules_default(void);

/* Whether a rule uses this measure in this unit: it then must be in the rows. */
bool ctx_rules_use(const struct ctx_rules *rules, enum ctx_rule_kind kind, size_t measure,
		   enum ctx_rule_weighting weighting);

/* What a rule is, for a summary. Strings are borrowed from the rules. */
struct ctx_rule_info {
	enum ctx_rule_action action;
	enum ctx_rule_kind kind; /* of its rows */
	size_t line;		 /* of its beginning */
	const char *condition;	 /* as written, in one line */
	bool compares;		 /* it needs two sides */
};

size_t ctx_rules_n(const struct ctx_rules *rules);
struct ctx_rule_info ctx_rules_at(const struct ctx_rules *rules, size_t rule);

/* ---- findings ---- */

struct ctx_rule_finding {
	uint32_t rule;
	enum ctx_rule_unit unit;   /* of a and b: those of the rule's first field */
	const char *name, *object; /* of the row: borrowed from the rows */
	const char *message;	   /* owned by the findings */
	double a, b;		   /* NAN: unknown; without a comparison `a` is */
	double change;		   /* (b - a) / a; infinite from nothing; NAN: unknown */
	const char *verdict;	   /* NULL: none */
};

struct ctx_rule_findings { /* owned by the caller (ctx_rule_findings_deinit) */
	struct ctx_rule_finding
		*items; /* by rule, then by |b - a|, without a comparison by b: the largest first */
	size_t n, cap;
	const char **
		unjudged; /* by rule: why it could not be applied; NULL: it was. Borrowed from the rows, or static */
	size_t n_rules;
};

/* O(rules * rows * nodes). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_rules_apply(const struct ctx_rules *rules,
					       const struct ctx_rule_rows *rows,
					       struct ctx_rule_findings *ret, struct ctx_err *err);
void ctx_rule_findings_deinit(struct ctx_rule_findings *findings);

/* How many findings have this action. */
size_t ctx_rule_findings_count(const struct ctx_rules *rules, const struct ctx_rule_findings *findings,
			       enum ctx_rule_action action);

/* Appends a number in its unit: "12.3 ms", "4.56 %", "1.5 MiB", "7"; "-" for NAN. */
void ctx_rule_put_number(struct ctx_buf *buf, enum ctx_rule_unit unit, double value);
/* Appends a relative change: "+5.0 %"; an infinite one, from nothing, is "new". */
void ctx_rule_put_change(struct ctx_buf *buf, double change);

#endif
