/*
 * Declarations shared by the files of model/expression.
 *
 *	expression_lex.c    text to tokens          expression_parse.c    tokens to nodes, with their types
 *	expression_names.c  the names               expression_pattern.c  patterns, compiled
 *	expression_bind.c   patterns to sets        expression_eval.c     the value of a sample
 *	expression_range.c  the values of a span of time
 */
#ifndef CTX_MODEL_EXPRESSION_IMPL_H
#define CTX_MODEL_EXPRESSION_IMPL_H

#include "base/arena.h"
#include "model/expression.h"

#include <regex.h>

#define EXPR_NO_NODE UINT32_MAX

enum expr_op {
	EXPR_NUMBER,
	EXPR_NAME,
	EXPR_STRING,	/* a set of functions, by name */
	EXPR_OBJECT,	/* a set of functions, by load object */
	EXPR_LIST,	/* sets: left is one, right the rest, EXPR_NO_NODE at the end */
	EXPR_LEAF,	/* frames */
	EXPR_STACK,	/* frames */
	EXPR_TEST,	/* of the stack */
	EXPR_NAME_LIKE, /* left is a name, right a string */
	EXPR_NEGATE,
	EXPR_PLUS,
	EXPR_NOT,
	EXPR_COMPLEMENT,
	EXPR_CONDITION,
	EXPR_OR_ELSE, /* || */
	EXPR_AND_ALSO,
	EXPR_OR, /* | */
	EXPR_XOR,
	EXPR_AND,
	EXPR_EQUAL,
	EXPR_UNEQUAL,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_GREATER,
	EXPR_GREATER_EQUAL,
	EXPR_IN,
	EXPR_SOME_IN,
	EXPR_ORDERED_IN,
	EXPR_SHIFT_LEFT,
	EXPR_SHIFT_RIGHT,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_REMAINDER,
};

enum expr_type { EXPR_TYPE_INTEGER, EXPR_TYPE_REAL, EXPR_TYPE_STRING, EXPR_TYPE_SET, EXPR_TYPE_FRAMES };

struct expr_node {
	enum expr_op op;
	enum expr_type type;
	uint32_t left, right, third; /* nodes; smaller than the node's own number */
	uint32_t at;		     /* byte in the text, for messages */
	struct ctx_value value;	     /* EXPR_NUMBER */
	enum ctx_expression_name name;
	const char *pattern;	     /* EXPR_STRING, EXPR_OBJECT: borrowed from the arena */
	bool fits_nothing;	     /* bound pattern: no match in the profile */
	enum ctx_expression_name of; /* and the kind of name; CTX_EXPRESSION_NAMES_N: functions or objects */
	uint32_t test;		     /* EXPR_TEST, EXPR_NAME_LIKE: index in tests */
};

/* A test evaluated when the expression is bound. */
enum expr_test_kind {
	EXPR_TEST_LEAF,	      /* the leaf is in the set */
	EXPR_TEST_EVERY,      /* every frame is */
	EXPR_TEST_SOME,	      /* some frame is */
	EXPR_TEST_ALL,	      /* every function of the set is on the stack */
	EXPR_TEST_ONLY_LEAF,  /* every function of the set is the leaf */
	EXPR_TEST_ORDERED,    /* consecutive frames are in the sets of the list */
	EXPR_TEST_NAME_VALUE, /* by value of the name: whether the name of that id matches */
};

struct expr_test {
	enum expr_test_kind kind;
	uint32_t set;		       /* node: string, object or list */
	enum ctx_expression_name name; /* EXPR_TEST_NAME_VALUE */
	uint64_t *bits;		       /* owned; by CCT node, or by value of the name; NULL: not bound */
	size_t n;
};

struct expr_range {
	size_t begin, end;
};

struct ctx_expression {
	struct ctx_arena arena;
	struct expr_node *nodes; /* owned; the root is the last */
	size_t n, cap;
	bool uses_time;		 /* TSTAMP, SECOND or SAMPLE */
	struct expr_test *tests; /* owned */
	size_t n_tests, tests_cap;
	/* Of SAMPLE, once it is bound: the times of the usage records, by process and ascending. */
	uint64_t *usage_ns;	     /* owned */
	struct expr_range *usage_of; /* owned; by process: its part of usage_ns */
	size_t usage_processes;
};

static inline bool expr_bit(const uint64_t *bits, size_t i)
{
	return (bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void expr_set_bit(uint64_t *bits, size_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* ---- values ---- */

struct ctx_value ctx_expr_integer(int64_t value);

/* No value for one that is not finite. */
struct ctx_value ctx_expr_real(double value);

bool ctx_expr_is_nonzero(struct ctx_value value);

static inline bool ctx_expr_is_sign(enum expr_op op)
{
	return op >= EXPR_NEGATE && op <= EXPR_COMPLEMENT;
}

/* The value of an operator other than the logical ones and the condition; a sign ignores `right`. */
struct ctx_value ctx_expr_operate(enum expr_op op, struct ctx_value left, struct ctx_value right);

/* Whether the subject passes the test of an EXPR_TEST or EXPR_NAME_LIKE. */
bool ctx_expr_test(const struct ctx_expression *expression, const struct expr_node *node,
		   const struct ctx_expression_subject *subject);

/* SAMPLE of a process at a time, -1: none; and its usage records before then. */
int64_t ctx_expr_sample_number(const struct ctx_expression *expression, int64_t process, uint64_t time_ns,
			       size_t *ret_before);

/* ---- tokens ---- */

enum expr_token {
	EXPR_TOKEN_END,
	EXPR_TOKEN_NUMBER,
	EXPR_TOKEN_STRING,
	EXPR_TOKEN_WORD,     /* a name, or a function such as FNAME */
	EXPR_TOKEN_OPERATOR, /* `op`, a binary operator; EXPR_SUBTRACT and EXPR_ADD are signs as well */
	EXPR_TOKEN_NOT,
	EXPR_TOKEN_COMPLEMENT,
	EXPR_TOKEN_OPEN,
	EXPR_TOKEN_CLOSE,
	EXPR_TOKEN_COMMA,
	EXPR_TOKEN_QUESTION,
	EXPR_TOKEN_COLON,
};

struct expr_lexer {
	const char *text;
	struct ctx_arena *arena; /* of strings */
	struct ctx_err *err;
	size_t *ret_column; /* may be NULL */
	size_t next;	    /* byte after the token */
	/* The token. */
	enum expr_token token;
	size_t at, length;
	enum expr_op op;
	struct ctx_value value;
	const char *string;
};

CTX_MUST_CHECK enum ctx_status ctx_expr_lex(struct expr_lexer *lexer);

/* "column N: ...", of a byte of the text. */
enum ctx_status ctx_expr_fail(const struct expr_lexer *lexer, enum ctx_status status, size_t at,
			      const char *fmt, ...) CTX_PRINTF(4, 5);

/* Whether the token is this word, in any case. */
bool ctx_expr_is_word(const struct expr_lexer *lexer, const char *word);

/* Refuses an unknown name: with the nearest names, if any is similar, else with all. */
enum ctx_status ctx_expr_refuse_name(const struct expr_lexer *lexer);

/* Whether the pattern can be used; released with regfree. A failure is reported at the byte. */
CTX_MUST_CHECK enum ctx_status ctx_expr_compile(const struct expr_lexer *lexer, const char *pattern,
						size_t at, regex_t *ret);

#endif
