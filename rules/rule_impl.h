/*
 * Declarations shared by the files of rules/.
 *
 *	rule_lex.c      text to tokens              rule_field.c    tokens to a field
 *	rule_parse.c    tokens to rules, checked    rule_message.c  a message to its pieces
 *	rule_value.c    the value of a field        rule_print.c    the message of a finding
 *	rule_apply.c    conditions, findings        rule_list.c     what a file has
 *	rule_text.c     numbers as text             rule_fields.c   kinds of rows, their measures
 */
#ifndef CTX_RULES_RULE_IMPL_H
#define CTX_RULES_RULE_IMPL_H

#include "base/arena.h"
#include "rules/rules.h"

#include <regex.h>

/* What of a figure is meant. */
enum rule_aspect {
	RULE_VALUE, /* B's, the only one without a comparison */
	RULE_A,
	RULE_B,
	RULE_CHANGE, /* (b - a) / a */
	RULE_DIFFERENCE,
	RULE_LOW,
	RULE_HIGH,
	RULE_P,
	RULE_VERDICT, /* the texts: from here on */
	RULE_NAME,
	RULE_OBJECT,
	RULE_ASPECTS,
};

/* A field: a measure in a unit, and what of it. */
struct rule_field {
	enum ctx_rule_kind kind;
	size_t measure;		 /* of RULE_NAME and RULE_OBJECT: none */
	enum ctx_rule_unit unit; /* of the field: of a change a share */
	enum ctx_rule_unit base; /* of the values that the aspect is made of */
	enum rule_aspect aspect;
};

enum rule_op {
	RULE_NUMBER,
	RULE_FIELD,
	RULE_LIKE, /* a field of words fits the pattern */
	RULE_UNLIKE,
	RULE_NOT,
	RULE_NEGATE,
	RULE_OR_ELSE,
	RULE_AND_ALSO,
	RULE_EQUAL,
	RULE_UNEQUAL,
	RULE_LESS,
	RULE_LESS_EQUAL,
	RULE_GREATER,
	RULE_GREATER_EQUAL,
	RULE_ADD,
	RULE_SUBTRACT,
	RULE_MULTIPLY,
	RULE_DIVIDE,
};

struct rule_node {
	enum rule_op op;
	enum ctx_rule_unit unit;
	bool is_truth;	      /* a comparison, not a number */
	bool is_bare;	      /* a number that is written out, perhaps with a sign */
	uint32_t left, right; /* smaller than the node's own number */
	size_t at;	      /* byte in the text, for messages */
	double number;
	char scale; /* of a number: 'k', 'M', 'G' or 'T'; '\0' */
	struct rule_field field;
	regex_t *pattern; /* in the rules' arena; released by regfree */
};

struct rule_piece {	  /* of a message: a text, or a field */
	const char *text; /* NULL: the field */
	struct rule_field field;
};

struct rule {
	struct ctx_rule_info info;
	struct rule_node *nodes; /* owned; the root is the last */
	size_t n, cap;
	bool has_first;
	struct rule_field first; /* the first measure that is named */
	regex_t **selectors;	 /* owned; patterns of names that a row must fit */
	size_t n_selectors, selectors_cap;
	struct rule_piece *pieces; /* owned; none: the default message */
	size_t n_pieces, pieces_cap;
};

struct ctx_rules {
	struct ctx_arena arena;
	struct rule *rules; /* owned */
	size_t n, cap;
	regex_t **patterns; /* owned; all that were compiled */
	size_t n_patterns, patterns_cap;
};

/* ---- tokens ---- */

enum rule_token {
	RULE_TOKEN_END,
	RULE_TOKEN_NUMBER,
	RULE_TOKEN_STRING,
	RULE_TOKEN_WORD,
	RULE_TOKEN_PATTERN, /* {...}, behind a word */
	RULE_TOKEN_OPERATOR,
	RULE_TOKEN_NOT,
	RULE_TOKEN_DOT,
	RULE_TOKEN_OPEN,
	RULE_TOKEN_CLOSE,
	RULE_TOKEN_ARROW,
	RULE_TOKEN_BRACE, /* '}': the end of a placeholder */
};

struct rule_lexer {
	const char *text;
	size_t n;
	struct ctx_arena *arena; /* of strings */
	struct ctx_err *err;
	struct ctx_rule_place *ret_place; /* may be NULL */
	size_t next;			  /* byte behind the token */
	/* The token. */
	enum rule_token token;
	size_t at, length;
	enum rule_op op;
	double number;
	enum ctx_rule_unit unit;
	char scale;
	const char *string; /* without quotes or braces */
};

CTX_MUST_CHECK enum ctx_status ctx_rule_lex(struct rule_lexer *lexer);

/* "line 3, column 9: ...", of a byte of the text. */
enum ctx_status ctx_rule_refuse(const struct rule_lexer *lexer, enum ctx_status status, size_t at,
				const char *fmt, ...) CTX_PRINTF(4, 5);

static inline bool ctx_rule_aspect_is_text(enum rule_aspect aspect)
{
	return aspect >= RULE_VERDICT;
}

/* Whether it takes two sides. */
static inline bool ctx_rule_aspect_compares(enum rule_aspect aspect)
{
	return aspect != RULE_VALUE && aspect != RULE_B && aspect != RULE_NAME && aspect != RULE_OBJECT;
}

/* The word of an aspect: "change". RULE_ASPECTS: none. */
enum rule_aspect ctx_rule_find_aspect(const char *text, size_t n);

/* The field with its aspect's unit: of "function.self.ms" and "change" a share. */
struct rule_field ctx_rule_field_aspect(struct rule_field field, enum rule_aspect aspect);

/* ---- parser ---- */

/*
 * Reads "function.self.share change", the lexer being at its first word and then behind its last one; without
 * selectors. `first` (may be NULL) is what "change" alone is of. CTX_E_ARG.
 */
CTX_MUST_CHECK enum ctx_status ctx_rule_parse_field(struct rule_lexer *lexer, const struct rule *rule,
						    struct rule_field *ret);

/* Divides the message in the lexer's string into pieces. */
CTX_MUST_CHECK enum ctx_status ctx_rule_parse_message(const struct rule_lexer *lexer, struct ctx_rules *rules,
						      struct rule *rule);

static inline enum ctx_rule_weighting ctx_rule_weighting_of(const struct rule_field *field)
{
	return field->base == CTX_RULE_SHARE	    ? CTX_RULE_OF_ALL
	       : field->base == CTX_RULE_PER_SECOND ? CTX_RULE_BY_SECOND
	       : field->base == CTX_RULE_PER_COUNT  ? CTX_RULE_BY_COUNT
						    : CTX_RULE_ABSOLUTE;
}

/* ---- values ---- */

/* Not of names. */
const struct ctx_rule_figure *ctx_rule_figure_of(const struct ctx_rule_row *row,
						 const struct rule_field *field);

/* NAN: none. Not of texts. */
double ctx_rule_value(const struct ctx_rule_rows *rows, const struct ctx_rule_row *row,
		      const struct rule_field *field);
/* NULL: none. */
const char *ctx_rule_text(const struct ctx_rule_row *row, const struct rule_field *field);

/* Whether it asks for times of functions, load objects, lines or threads, not only for shares. */
bool ctx_rule_asks_times(const struct rule *rule);

/* The row that a field of this kind is read from: `row` is of the rule's kind. NULL: none. */
const struct ctx_rule_row *ctx_rule_row_of(const struct ctx_rule_rows *rows, const struct rule *rule,
					   const struct ctx_rule_row *row, enum ctx_rule_kind kind);

/* Appends the message of a finding. */
void ctx_rule_put_message(struct ctx_buf *buf, const struct ctx_rule_rows *rows, const struct rule *rule,
			  const struct ctx_rule_row *row);

#endif
