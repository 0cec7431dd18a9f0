/*
 * Messages: "{function}: {a} -> {b}". They are read where they stand in the text, so that a wrong placeholder is
 * pointed at.
 */
#include "rules/rule_impl.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

struct message {
	const struct rule_lexer *lexer; /* at the text */
	struct ctx_rules *rules;
	struct rule *rule;
	struct ctx_buf text; /* since the last placeholder */
};

static enum ctx_status add_piece(struct message *message, struct rule_piece piece)
{
	struct rule *rule = message->rule;
	enum ctx_status status =
		ctx_grow(&rule->pieces, &rule->pieces_cap, rule->n_pieces + 1, message->lexer->err);

	if (status == CTX_OK)
		rule->pieces[rule->n_pieces++] = piece;
	return status;
}

static enum ctx_status end_text(struct message *message)
{
	struct rule_piece piece = {0};
	enum ctx_status status = ctx_buf_check(&message->text, message->lexer->err);

	if (status != CTX_OK)
		return status;
	piece.text = ctx_arena_strndup(&message->rules->arena,
				       message->text.n != 0 ? (const char *)message->text.bytes : "",
				       message->text.n);
	if (piece.text == NULL)
		return ctx_err_nomem(message->lexer->err);
	ctx_buf_clear(&message->text);
	return add_piece(message, piece);
}

static bool is_token(const struct rule_lexer *lexer, const char *word)
{
	return lexer->length == strlen(word) && memcmp(word, lexer->text + lexer->at, lexer->length) == 0;
}

/* {name}, {function}: the row's. Sets the aspect; RULE_ASPECTS: it is something else. */
static enum ctx_status parse_name(struct rule_lexer *lexer, const struct rule *rule, struct rule_field *ret)
{
	enum ctx_rule_kind kind = ctx_rule_find_kind(lexer->text + lexer->at, lexer->length);
	struct rule_lexer word = *lexer;
	bool is_object = is_token(lexer, "object");
	bool is_name = is_token(lexer, "name");
	enum ctx_status status = ctx_rule_lex(lexer);

	*ret = (struct rule_field){.kind = rule->info.kind, .unit = CTX_RULE_WORDS, .aspect = RULE_ASPECTS};
	if (status != CTX_OK)
		return status;
	if (lexer->token != RULE_TOKEN_BRACE || (kind == CTX_RULE_KINDS && !is_name)) {
		*lexer = word;
		return CTX_OK;
	}
	if (is_object && rule->info.kind == CTX_RULE_FUNCTION)
		ret->aspect = RULE_OBJECT;
	else if (is_name || (kind == rule->info.kind && ctx_rule_kind_has_rows(kind)))
		ret->aspect = RULE_NAME;
	else
		return ctx_rule_refuse(&word, CTX_E_ARG, word.at, "the rule is not about a %s",
				       ctx_rule_kind_name(kind));
	return CTX_OK;
}

/* The field in braces; `*at` is the opening one, and then the closing one. */
static enum ctx_status parse_placeholder(struct message *message, size_t *at)
{
	struct rule_lexer lexer = *message->lexer;
	struct rule_piece piece = {0};
	enum ctx_status status;

	if (memchr(lexer.text + *at, '}', lexer.at + lexer.length - 1 - *at) == NULL)
		return ctx_rule_refuse(&lexer, CTX_E_ARG, *at, "this placeholder has no end: '}' is missing");
	lexer.next = *at + 1;
	status = ctx_rule_lex(&lexer);
	if (status == CTX_OK && lexer.token != RULE_TOKEN_WORD)
		return ctx_rule_refuse(
			&lexer, CTX_E_ARG, *at,
			"a placeholder is {name}, {a}, {b}, {change} or a field; '{{' is a brace");
	if (status == CTX_OK)
		status = parse_name(&lexer, message->rule, &piece.field);
	if (status == CTX_OK && piece.field.aspect == RULE_ASPECTS)
		status = ctx_rule_parse_field(&lexer, message->rule, &piece.field);
	if (status != CTX_OK)
		return status;
	if (ctx_rule_kind_has_rows(piece.field.kind) && piece.field.kind != message->rule->info.kind)
		return ctx_rule_refuse(&lexer, CTX_E_ARG, *at + 1, "the rule is not about a %s",
				       ctx_rule_kind_name(piece.field.kind));
	if (lexer.token != RULE_TOKEN_BRACE)
		return ctx_rule_refuse(&lexer, CTX_E_ARG, lexer.at, "'}' is missing behind the field");
	*at = lexer.at;
	status = end_text(message);
	return status == CTX_OK ? add_piece(message, piece) : status;
}

enum ctx_status ctx_rule_parse_message(const struct rule_lexer *lexer, struct ctx_rules *rules,
				       struct rule *rule)
{
	struct message message = {.lexer = lexer, .rules = rules, .rule = rule};
	const char *text = lexer->text;
	enum ctx_status status = CTX_OK;

	for (size_t i = lexer->at + 1; i < lexer->at + lexer->length - 1 && status == CTX_OK; i++) {
		bool is_brace = text[i] == '{' || text[i] == '}';

		if (text[i] == '\\' && (text[i + 1] == '"' || text[i + 1] == '\\'))
			ctx_buf_put_u8(&message.text, (uint8_t)text[++i]);
		else if (is_brace && text[i + 1] == text[i])
			ctx_buf_put_u8(&message.text, (uint8_t)text[i++]);
		else if (text[i] == '{')
			status = parse_placeholder(&message, &i);
		else if (text[i] == '}')
			status = ctx_rule_refuse(lexer, CTX_E_ARG, i, "'}' without '{': '}}' is a brace");
		else
			ctx_buf_put_u8(&message.text, (uint8_t)text[i]);
	}
	if (status == CTX_OK)
		status = end_text(&message);
	ctx_buf_deinit(&message.text);
	return status;
}
