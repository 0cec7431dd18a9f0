#include "rules/rule_impl.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSAL_MAX 512
#define NUMBER_MAX 64 /* bytes of a number */

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

enum ctx_status ctx_rule_refuse(const struct rule_lexer *lexer, enum ctx_status status, size_t at,
				const char *fmt, ...)
{
	struct ctx_rule_place place = {1, 1};
	char message[REFUSAL_MAX];
	va_list arguments;

	for (size_t i = 0; i < at; i++) {
		if (lexer->text[i] == '\n')
			place = (struct ctx_rule_place){place.line + 1, 1};
		else if (((unsigned char)lexer->text[i] & 0xc0) != 0x80)
			place.column++;
	}
	va_start(arguments, fmt);
	vsnprintf(message, sizeof(message), fmt, arguments);
	va_end(arguments);
	if (lexer->ret_place != NULL)
		*lexer->ret_place = place;
	return ctx_err_set(lexer->err, status, "line %zu, column %zu: %s", place.line, place.column, message);
}

/* The text ends with a zero byte at [n]. */
static void skip_blanks(struct rule_lexer *lexer)
{
	const char *text = lexer->text;

	for (;;) {
		lexer->next += strspn(text + lexer->next, " \t\r\n");
		if (text[lexer->next] != '#')
			return;
		lexer->next += strcspn(text + lexer->next, "\n");
	}
}

static const struct {
	const char *word;
	enum ctx_rule_unit unit;
	double factor;
	char scale;
} suffixes[] = {
	{"", CTX_RULE_PLAIN, 1, '\0'},	  {"%", CTX_RULE_SHARE, 0.01, '\0'}, {"ns", CTX_RULE_MS, 1e-6, '\0'},
	{"us", CTX_RULE_MS, 1e-3, '\0'},  {"ms", CTX_RULE_MS, 1, '\0'},	     {"s", CTX_RULE_MS, 1e3, '\0'},
	{"min", CTX_RULE_MS, 60e3, '\0'}, {"B", CTX_RULE_BYTES, 1, '\0'},    {"k", CTX_RULE_PLAIN, 1e3, 'k'},
	{"K", CTX_RULE_PLAIN, 1e3, 'k'},  {"M", CTX_RULE_PLAIN, 1e6, 'M'},   {"G", CTX_RULE_PLAIN, 1e9, 'G'},
	{"T", CTX_RULE_PLAIN, 1e12, 'T'},
};

static enum ctx_status lex_number(struct rule_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t digits = strspn(text, "0123456789"), n, suffix;
	char copy[NUMBER_MAX];

	n = digits;
	if (text[n] == '.' && isdigit((unsigned char)text[n + 1]))
		n += 1 + strspn(text + n + 1, "0123456789");
	suffix = text[n] == '%' ? 1 : 0;
	while (text[n] != '%' && is_word_byte(text[n + suffix]))
		suffix++;
	lexer->token = RULE_TOKEN_NUMBER;
	lexer->length = n + suffix;
	if (n >= sizeof(copy))
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "this number is too long");
	memcpy(copy, text, n);
	copy[n] = '\0';
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strlen(suffixes[i].word) != suffix || memcmp(suffixes[i].word, text + n, suffix) != 0)
			continue;
		lexer->number = strtod(copy, NULL) * suffixes[i].factor;
		lexer->unit = suffixes[i].unit;
		lexer->scale = suffixes[i].scale;
		return CTX_OK;
	}
	return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at + n,
			       "'%.*s' is no unit of a number: %%, ns, us, ms, s, min, B, k, M, G or T",
			       (int)(suffix < 40 ? suffix : 40), text + n);
}

/* \" is a quote; other backslashes are the pattern's own. */
static enum ctx_status lex_string(struct rule_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t n = 1, used = 0;
	char *copy;

	while (text[n] != '"' && text[n] != '\n' && text[n] != '\0')
		n += text[n] == '\\' && text[n + 1] != '\0' && text[n + 1] != '\n' ? 2 : 1;
	if (text[n] != '"')
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "this text has no end: '\"' is missing on its line");
	lexer->token = RULE_TOKEN_STRING;
	lexer->length = n + 1;
	copy = ctx_arena_alloc(lexer->arena, n);
	if (copy == NULL)
		return ctx_err_nomem(lexer->err);
	for (size_t i = 1; i < n; i++) {
		if (text[i] == '\\' && text[i + 1] == '"')
			i++;
		else if (text[i] == '\\')
			copy[used++] = text[i++];
		copy[used++] = text[i];
	}
	copy[used] = '\0';
	lexer->string = copy;
	return CTX_OK;
}

/* {...}: braces inside are the pattern's own, in pairs: {a{2}}. */
static enum ctx_status lex_pattern(struct rule_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	size_t n = 1, depth = 1;

	while (text[n] != '\n' && text[n] != '\0') {
		depth += (size_t)(text[n] == '{') - (size_t)(text[n] == '}');
		if (depth == 0)
			break;
		n += text[n] == '\\' && text[n + 1] != '\0' && text[n + 1] != '\n' ? 2 : 1;
	}
	if (text[n] != '}')
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "this pattern has no end: '}' is missing on its line");
	lexer->token = RULE_TOKEN_PATTERN;
	lexer->length = n + 1;
	lexer->string = ctx_arena_strndup(lexer->arena, text + 1, n - 1);
	return lexer->string != NULL ? CTX_OK : ctx_err_nomem(lexer->err);
}

/* Longer ones first. */
static const struct {
	const char *text;
	enum rule_token token;
	enum rule_op op;
} symbols[] = {
	{"->", RULE_TOKEN_ARROW, RULE_NUMBER},
	{"||", RULE_TOKEN_OPERATOR, RULE_OR_ELSE},
	{"&&", RULE_TOKEN_OPERATOR, RULE_AND_ALSO},
	{"==", RULE_TOKEN_OPERATOR, RULE_EQUAL},
	{"!=", RULE_TOKEN_OPERATOR, RULE_UNEQUAL},
	{"<=", RULE_TOKEN_OPERATOR, RULE_LESS_EQUAL},
	{">=", RULE_TOKEN_OPERATOR, RULE_GREATER_EQUAL},
	{"<", RULE_TOKEN_OPERATOR, RULE_LESS},
	{">", RULE_TOKEN_OPERATOR, RULE_GREATER},
	{"+", RULE_TOKEN_OPERATOR, RULE_ADD},
	{"-", RULE_TOKEN_OPERATOR, RULE_SUBTRACT},
	{"*", RULE_TOKEN_OPERATOR, RULE_MULTIPLY},
	{"/", RULE_TOKEN_OPERATOR, RULE_DIVIDE},
	{"!", RULE_TOKEN_NOT, RULE_NOT},
	{"(", RULE_TOKEN_OPEN, RULE_NUMBER},
	{")", RULE_TOKEN_CLOSE, RULE_NUMBER},
	{".", RULE_TOKEN_DOT, RULE_NUMBER},
	{"}", RULE_TOKEN_BRACE, RULE_NUMBER},
};

static enum ctx_status lex_symbol(struct rule_lexer *lexer)
{
	const char *text = lexer->text + lexer->at;
	int length = 1;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (strncmp(text, symbols[i].text, strlen(symbols[i].text)) != 0)
			continue;
		lexer->token = symbols[i].token;
		lexer->op = symbols[i].op;
		lexer->length = strlen(symbols[i].text);
		return CTX_OK;
	}
	if (*text == '=')
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "'=' is not an operator: '==' compares");
	if (*text == '\'')
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "texts are in double quotes");
	while (((unsigned char)text[length] & 0xc0) == 0x80)
		length++;
	return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "'%.*s' is not known here",
			       length < 8 ? length : 8, text);
}

enum ctx_status ctx_rule_lex(struct rule_lexer *lexer)
{
	enum ctx_status status;
	const char *text = lexer->text;

	skip_blanks(lexer);
	lexer->at = lexer->next;
	lexer->length = 0;
	if (text[lexer->at] == '\0') {
		if (lexer->at < lexer->n)
			return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "a zero byte: this is no text");
		lexer->token = RULE_TOKEN_END;
		return CTX_OK;
	}
	if (isdigit((unsigned char)text[lexer->at])) {
		status = lex_number(lexer);
	} else if (text[lexer->at] == '"') {
		status = lex_string(lexer);
	} else if (text[lexer->at] == '{') {
		status = lex_pattern(lexer);
	} else if (is_word_byte(text[lexer->at])) {
		while (is_word_byte(text[lexer->at + lexer->length]))
			lexer->length++;
		lexer->token = RULE_TOKEN_WORD;
		status = CTX_OK;
	} else {
		status = lex_symbol(lexer);
	}
	lexer->next = lexer->at + lexer->length;
	return status;
}
