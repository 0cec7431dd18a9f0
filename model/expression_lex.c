#include "model/expression_impl.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Characters, not bytes, as in an editor. */
static size_t column_of(const char *text, size_t at)
{
	size_t column = 1;

	for (size_t i = 0; i < at; i++)
		column += ((unsigned char)text[i] & 0xc0) != 0x80;
	return column;
}

enum ctx_status ctx_expr_fail(const struct expr_lexer *lexer, enum ctx_status status, size_t at,
			      const char *fmt, ...)
{
	size_t column = column_of(lexer->text, at);
	char message[CTX_ERR_MAX / 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	if (lexer->ret_column != NULL)
		*lexer->ret_column = column;
	return ctx_err_set(lexer->err, status, "column %zu: %s", column, message);
}

bool ctx_expr_is_word(const struct expr_lexer *lexer, const char *word)
{
	return (lexer->token == EXPR_TOKEN_WORD || lexer->token == EXPR_TOKEN_OPERATOR) &&
	       lexer->length == strlen(word) &&
	       strncasecmp(lexer->text + lexer->at, word, lexer->length) == 0;
}

static bool is_word_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* ---- numbers ---- */

static enum ctx_status too_large(const struct expr_lexer *lexer)
{
	return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "'%.*s' is too large a number", (int)lexer->length,
			     lexer->text + lexer->at);
}

static enum ctx_status no_number(const struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t digits = strspn(text, "0123456789.");
	bool is_time = digits != 0 && (lexer->length - digits == 1 || lexer->length - digits == 2) &&
		       text[lexer->length - 1] == 's';

	return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "'%.*s' is not a number%s", (int)lexer->length,
			     text, is_time ? " (times are in ns: 5e6 is 5 ms)" : "");
}

/* 64 bits: addresses of the upper half are negative. */
static enum ctx_status lex_hex(struct expr_lexer *lexer)
{
	const char *digits = lexer->text + lexer->at + 2;
	size_t n = strspn(digits, "0123456789abcdefABCDEF");
	unsigned long long value;

	if (n == 0 || n + 2 != lexer->length)
		return no_number(lexer);
	errno = 0;
	value = strtoull(digits, NULL, 16);
	if (errno != 0)
		return too_large(lexer);
	lexer->value = (struct ctx_value){.kind = CTX_VALUE_INTEGER, .integer = (int64_t)value};
	return CTX_OK;
}

/* The parts of "12.5e3": digits without the point, and how far the point is from their end. */
struct decimal {
	size_t whole, fraction; /* digits before and after the point */
	long exponent;
	bool has_point, has_exponent;
};

static bool split_decimal(const char *text, size_t length, struct decimal *ret)
{
	size_t at = strspn(text, "0123456789");

	*ret = (struct decimal){.whole = at};
	if (at < length && text[at] == '.') {
		ret->has_point = true;
		ret->fraction = strspn(text + at + 1, "0123456789");
		at += 1 + ret->fraction;
	}
	if (at < length && (text[at] == 'e' || text[at] == 'E')) {
		size_t sign = text[at + 1] == '-' || text[at + 1] == '+';
		size_t digits = strspn(text + at + 1 + sign, "0123456789");

		if (digits == 0)
			return false;
		ret->has_exponent = true;
		errno = 0;
		ret->exponent = strtol(text + at + 1, NULL, 10); /* LONG_MAX is enough */
		at += 1 + sign + digits;
	}
	return at == length && ret->whole + ret->fraction != 0;
}

/* Exact, if the number is whole and fits. */
static bool whole_decimal(const char *text, const struct decimal *decimal, int64_t *ret)
{
	size_t n = decimal->whole + decimal->fraction;
	long places = 0; /* digits of the value before the point, among the given ones */
	uint64_t value = 0;

	if (decimal->exponent > 400 || decimal->exponent < -(long)CTX_EXPRESSION_TEXT_MAX)
		places = decimal->exponent > 0 ? 400 + (long)n : 0;
	else
		places = (long)decimal->whole + decimal->exponent;
	for (long i = 0; i < places || i < (long)n; i++) {
		long at = i < (long)decimal->whole ? i : i + 1;
		unsigned digit = i < (long)n ? (unsigned)(text[at] - '0') : 0;

		if (i >= places && digit != 0)
			return false;
		if (i < places && (__builtin_mul_overflow(value, 10u, &value) ||
				   __builtin_add_overflow(value, digit, &value)))
			return false;
		if (i >= (long)n && value == 0)
			break;
	}
	*ret = (int64_t)value;
	return value <= INT64_MAX;
}

static enum ctx_status lex_decimal(struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	struct decimal decimal;
	char *copy;

	if (!split_decimal(text, lexer->length, &decimal))
		return no_number(lexer);
	lexer->value = (struct ctx_value){.kind = CTX_VALUE_INTEGER};
	if (whole_decimal(text, &decimal, &lexer->value.integer))
		return CTX_OK;
	if (!decimal.has_point && !decimal.has_exponent)
		return too_large(lexer);
	copy = ctx_arena_strndup(lexer->arena, text, lexer->length);
	if (copy == NULL)
		return ctx_err_nomem(lexer->err);
	lexer->value = (struct ctx_value){.kind = CTX_VALUE_REAL, .real = strtod(copy, NULL)};
	return isfinite(lexer->value.real) ? CTX_OK : too_large(lexer);
}

static enum ctx_status lex_number(struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	size_t n = 0;

	while (is_word_byte(text[n]) || text[n] == '.' ||
	       (!hex && n != 0 && (text[n] == '-' || text[n] == '+') &&
		(text[n - 1] == 'e' || text[n - 1] == 'E')))
		n++;
	lexer->token = EXPR_TOKEN_NUMBER;
	lexer->length = n;
	return hex ? lex_hex(lexer) : lex_decimal(lexer);
}

/* ---- everything else ---- */

/* \" is a quote; other backslashes are the pattern's own. */
static enum ctx_status lex_string(struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t n = 1, used = 0;
	char *copy = ctx_arena_alloc(lexer->arena, strlen(text) + 1);

	if (copy == NULL)
		return ctx_err_nomem(lexer->err);
	while (text[n] != '"') {
		if (text[n] == '\\' && text[n + 1] == '"')
			n++;
		else if (text[n] == '\\' && text[n + 1] != '\0')
			copy[used++] = text[n++];
		if (text[n] == '\0')
			return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at,
					     "this text has no end: '\"' is missing");
		copy[used++] = text[n++];
	}
	copy[used] = '\0';
	lexer->token = EXPR_TOKEN_STRING;
	lexer->string = copy;
	lexer->length = n + 1;
	return CTX_OK;
}

/* SOME IN and ORDERED IN are one operator, including the blanks between. */
static enum ctx_status lex_word(struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t blanks;

	lexer->token = EXPR_TOKEN_WORD;
	lexer->length = 0;
	while (is_word_byte(text[lexer->length]))
		lexer->length++;
	if (ctx_expr_is_word(lexer, "IN")) {
		lexer->token = EXPR_TOKEN_OPERATOR;
		lexer->op = EXPR_IN;
		return CTX_OK;
	}
	if (!ctx_expr_is_word(lexer, "SOME") && !ctx_expr_is_word(lexer, "ORDERED"))
		return CTX_OK;
	lexer->op = ctx_expr_is_word(lexer, "SOME") ? EXPR_SOME_IN : EXPR_ORDERED_IN;
	blanks = strspn(text + lexer->length, " \t\r\n");
	if (blanks == 0 || strncasecmp(text + lexer->length + blanks, "IN", 2) != 0 ||
	    is_word_byte(text[lexer->length + blanks + 2]))
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at + lexer->length, "IN is missing after %.*s",
				     (int)lexer->length, text);
	lexer->token = EXPR_TOKEN_OPERATOR;
	lexer->length += blanks + 2;
	return CTX_OK;
}

struct symbol {
	const char *text;
	enum expr_token token;
	enum expr_op op;
};

/* Longer ones first. */
static const struct symbol symbols[] = {
	{"||", EXPR_TOKEN_OPERATOR, EXPR_OR_ELSE},
	{"&&", EXPR_TOKEN_OPERATOR, EXPR_AND_ALSO},
	{"==", EXPR_TOKEN_OPERATOR, EXPR_EQUAL},
	{"!=", EXPR_TOKEN_OPERATOR, EXPR_UNEQUAL},
	{"<=", EXPR_TOKEN_OPERATOR, EXPR_LESS_EQUAL},
	{">=", EXPR_TOKEN_OPERATOR, EXPR_GREATER_EQUAL},
	{"<<", EXPR_TOKEN_OPERATOR, EXPR_SHIFT_LEFT},
	{">>", EXPR_TOKEN_OPERATOR, EXPR_SHIFT_RIGHT},
	{"|", EXPR_TOKEN_OPERATOR, EXPR_OR},
	{"^", EXPR_TOKEN_OPERATOR, EXPR_XOR},
	{"&", EXPR_TOKEN_OPERATOR, EXPR_AND},
	{"<", EXPR_TOKEN_OPERATOR, EXPR_LESS},
	{">", EXPR_TOKEN_OPERATOR, EXPR_GREATER},
	{"+", EXPR_TOKEN_OPERATOR, EXPR_ADD},
	{"-", EXPR_TOKEN_OPERATOR, EXPR_SUBTRACT},
	{"*", EXPR_TOKEN_OPERATOR, EXPR_MULTIPLY},
	{"/", EXPR_TOKEN_OPERATOR, EXPR_DIVIDE},
	{"%", EXPR_TOKEN_OPERATOR, EXPR_REMAINDER},
	{"!", EXPR_TOKEN_NOT, EXPR_NOT},
	{"~", EXPR_TOKEN_COMPLEMENT, EXPR_COMPLEMENT},
	{"(", EXPR_TOKEN_OPEN, EXPR_LIST},
	{")", EXPR_TOKEN_CLOSE, EXPR_LIST},
	{",", EXPR_TOKEN_COMMA, EXPR_LIST},
	{"?", EXPR_TOKEN_QUESTION, EXPR_CONDITION},
	{":", EXPR_TOKEN_COLON, EXPR_CONDITION},
};

static enum ctx_status lex_symbol(struct expr_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	int length = 1;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		size_t n = strlen(symbols[i].text);

		if (strncmp(text, symbols[i].text, n) != 0)
			continue;
		lexer->token = symbols[i].token;
		lexer->op = symbols[i].op;
		lexer->length = n;
		return CTX_OK;
	}
	if (*text == '=')
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "'=' is not an operator: '==' compares");
	while (((unsigned char)text[length] & 0xc0) == 0x80)
		length++;
	if (*text == '\'')
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "texts are in double quotes");
	return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "'%.*s' is not known here", length, text);
}

enum ctx_status ctx_expr_lex(struct expr_lexer *lexer)
{
	const char *text = lexer->text;
	enum ctx_status status;

	lexer->at = lexer->next + strspn(text + lexer->next, " \t\r\n");
	lexer->length = 0;
	if (text[lexer->at] == '\0') {
		lexer->token = EXPR_TOKEN_END;
		lexer->next = lexer->at;
		return CTX_OK;
	}
	if (isdigit((unsigned char)text[lexer->at]) ||
	    (text[lexer->at] == '.' && isdigit((unsigned char)text[lexer->at + 1])))
		status = lex_number(lexer);
	else if (text[lexer->at] == '"')
		status = lex_string(lexer);
	else if (is_word_byte(text[lexer->at]))
		status = lex_word(lexer);
	else
		status = lex_symbol(lexer);
	lexer->next = lexer->at + lexer->length;
	return status;
}
