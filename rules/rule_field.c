/*
 * Fields: "function.self.share change".
 */
#include "rules/rule_impl.h"

#include <string.h>

#define WORD_SHOWN 60 /* bytes of a word in a message */

static int shown(const struct rule_lexer *lexer)
{
	return (int)(lexer->length < WORD_SHOWN ? lexer->length : WORD_SHOWN);
}

enum rule_aspect ctx_rule_find_aspect(const char *text, size_t n)
{
	static const char *const words[RULE_ASPECTS] = {
		[RULE_VALUE] = "value",
		[RULE_A] = "a",
		[RULE_B] = "b",
		[RULE_CHANGE] = "change",
		[RULE_DIFFERENCE] = "difference",
		[RULE_LOW] = "low",
		[RULE_HIGH] = "high",
		[RULE_P] = "p",
		[RULE_VERDICT] = "verdict",
		[RULE_NAME] = "name",
		[RULE_OBJECT] = "object",
	};
	enum rule_aspect aspect = RULE_VALUE;

	while (aspect < RULE_ASPECTS && (strlen(words[aspect]) != n || memcmp(words[aspect], text, n) != 0))
		aspect++;
	return aspect;
}

struct rule_field ctx_rule_field_aspect(struct rule_field field, enum rule_aspect aspect)
{
	field.aspect = aspect;
	if (aspect == RULE_CHANGE)
		field.unit = CTX_RULE_SHARE;
	else if (aspect == RULE_P)
		field.unit = CTX_RULE_PLAIN;
	else if (ctx_rule_aspect_is_text(aspect))
		field.unit = CTX_RULE_WORDS;
	return field;
}

static enum ctx_status refuse_field(const struct rule_lexer *lexer, enum ctx_rule_kind kind)
{
	struct ctx_buf names CTX_AUTO_BUF = {0};

	if (kind == CTX_RULE_KINDS)
		ctx_rule_put_kinds(&names);
	else
		ctx_rule_put_measures(&names, kind);
	ctx_buf_put_u8(&names, '\0');
	if (names.failed)
		return ctx_err_nomem(lexer->err);
	if (kind == CTX_RULE_KINDS)
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "there is no field '%.*s': fields begin with %s", shown(lexer),
				       lexer->text + lexer->at, (const char *)names.bytes);
	return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "'%.*s' is no measure of a %s: %s%s",
			       shown(lexer), lexer->text + lexer->at, ctx_rule_kind_name(kind),
			       (const char *)names.bytes,
			       kind == CTX_RULE_FUNCTION      ? ", name, object"
			       : ctx_rule_kind_has_rows(kind) ? ", name"
							      : "");
}

/* ".share": the lexer is at the dot, if there is one. */
static enum ctx_status parse_unit(struct rule_lexer *lexer, struct rule_field *field)
{
	const struct ctx_rule_measure *measure = ctx_rule_measure_at(field->kind, field->measure);
	enum ctx_status status;

	field->unit = field->base = measure->unit;
	if (lexer->token != RULE_TOKEN_DOT)
		return CTX_OK;
	status = ctx_rule_lex(lexer);
	if (status != CTX_OK)
		return status;
	if (lexer->token != RULE_TOKEN_WORD ||
	    !ctx_rule_find_unit(measure, lexer->text + lexer->at, lexer->length, &field->unit))
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "'%.*s' is no unit of %s.%s%s",
				       shown(lexer), lexer->text + lexer->at, ctx_rule_kind_name(field->kind),
				       measure->name,
				       measure->unit == CTX_RULE_MS ? ": ms, share, per_second, per_count"
				       : measure->unit == CTX_RULE_COUNT ? ": per_second, per_count"
									 : ", which has none");
	field->base = field->unit;
	return ctx_rule_lex(lexer);
}

/* "change" behind a field. */
static enum ctx_status parse_aspect(struct rule_lexer *lexer, struct rule_field *field)
{
	enum rule_aspect aspect = RULE_ASPECTS;

	if (lexer->token == RULE_TOKEN_WORD)
		aspect = ctx_rule_find_aspect(lexer->text + lexer->at, lexer->length);
	if (aspect == RULE_ASPECTS || aspect == RULE_NAME || aspect == RULE_OBJECT)
		return CTX_OK;
	*field = ctx_rule_field_aspect(*field, aspect);
	return ctx_rule_lex(lexer);
}

/* The measure behind the kind's dot: "self", or "name". */
static enum ctx_status parse_measure(struct rule_lexer *lexer, struct rule_field *field)
{
	const char *text = lexer->text + lexer->at;
	enum rule_aspect aspect = RULE_ASPECTS;
	enum ctx_status status;

	if (lexer->token != RULE_TOKEN_WORD)
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "a measure is missing, such as %s.%s",
				       ctx_rule_kind_name(field->kind),
				       ctx_rule_measure_at(field->kind, 0)->name);
	field->measure = ctx_rule_find_measure(field->kind, text, lexer->length);
	if (ctx_rule_kind_has_rows(field->kind))
		aspect = ctx_rule_find_aspect(text, lexer->length);
	if (aspect == RULE_NAME || (aspect == RULE_OBJECT && field->kind == CTX_RULE_FUNCTION)) {
		*field = ctx_rule_field_aspect(*field, aspect);
		return ctx_rule_lex(lexer);
	}
	if (field->measure == CTX_RULE_MEASURES_MAX)
		return refuse_field(lexer, field->kind);
	status = ctx_rule_lex(lexer);
	if (status == CTX_OK)
		status = parse_unit(lexer, field);
	return status == CTX_OK ? parse_aspect(lexer, field) : status;
}

/* "change" by itself is that of the rule's first field. */
static enum ctx_status parse_bare_aspect(struct rule_lexer *lexer, const struct rule *rule,
					 struct rule_field *ret)
{
	enum rule_aspect aspect = ctx_rule_find_aspect(lexer->text + lexer->at, lexer->length);

	if (aspect == RULE_ASPECTS || aspect == RULE_NAME || aspect == RULE_OBJECT)
		return refuse_field(lexer, CTX_RULE_KINDS);
	if (!rule->has_first)
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "'%.*s' is of the first field of the rule, which must come before it",
				       shown(lexer), lexer->text + lexer->at);
	*ret = ctx_rule_field_aspect(rule->first, aspect);
	return ctx_rule_lex(lexer);
}

enum ctx_status ctx_rule_parse_field(struct rule_lexer *lexer, const struct rule *rule,
				     struct rule_field *ret)
{
	struct rule_field field = {.kind = ctx_rule_find_kind(lexer->text + lexer->at, lexer->length)};
	enum ctx_status status;

	if (field.kind == CTX_RULE_KINDS)
		return parse_bare_aspect(lexer, rule, ret);
	status = ctx_rule_lex(lexer);
	if (status == CTX_OK && lexer->token != RULE_TOKEN_DOT)
		return ctx_rule_refuse(
			lexer, CTX_E_ARG, lexer->at, "a '.' and a measure are missing, such as %s.%s",
			ctx_rule_kind_name(field.kind), ctx_rule_measure_at(field.kind, 0)->name);
	if (status == CTX_OK)
		status = ctx_rule_lex(lexer);
	if (status == CTX_OK)
		status = parse_measure(lexer, &field);
	if (status == CTX_OK)
		*ret = field;
	return status;
}
