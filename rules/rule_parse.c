/*
 * Precedence climbing, as in model/expression_parse.c. A node is created after its operands; units and kinds are
 * checked when nodes are created, so that a message points at what is wrong.
 */
#include "rules/rule_impl.h"

#include "base/mem.h"
#include "model/name_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct rule_lexer lexer;
	struct ctx_rules *rules;
	struct rule *rule;
	struct ctx_err *err;
	unsigned depth;
};

/* ---- nodes ---- */

static enum ctx_status add_node(struct parser *parser, struct rule_node node, uint32_t *ret)
{
	struct rule *rule = parser->rule;
	enum ctx_status status;

	if (rule->n == CTX_RULE_NODES_MAX)
		return ctx_rule_refuse(&parser->lexer, CTX_E_LIMIT, node.at,
				       "the condition is too large: it has more than %u parts",
				       CTX_RULE_NODES_MAX);
	status = ctx_grow(&rule->nodes, &rule->cap, rule->n + 1, parser->err);
	if (status != CTX_OK)
		return status;
	rule->nodes[rule->n] = node;
	*ret = (uint32_t)rule->n++;
	return CTX_OK;
}

/* Compiles the lexer's string. */
static enum ctx_status compile(struct parser *parser, regex_t **ret)
{
	struct ctx_rules *rules = parser->rules;
	regex_t *compiled = ctx_arena_alloc(&rules->arena, sizeof(*compiled));
	enum ctx_status status =
		ctx_grow(&rules->patterns, &rules->patterns_cap, rules->n_patterns + 1, parser->err);
	struct ctx_err why = {0};

	if (status == CTX_OK && compiled == NULL)
		status = ctx_err_nomem(parser->err);
	if (status != CTX_OK)
		return status;
	status = ctx_name_pattern_compile(parser->lexer.string, compiled, &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(parser->err);
	if (status != CTX_OK)
		return ctx_rule_refuse(&parser->lexer, status, parser->lexer.at, "%s", why.msg);
	rules->patterns[rules->n_patterns++] = compiled;
	*ret = compiled;
	return CTX_OK;
}

/* All fields of rows are of one kind; what has one row goes with each. */
static enum ctx_status note_kind(struct parser *parser, enum ctx_rule_kind kind, size_t at)
{
	struct ctx_rule_info *info = &parser->rule->info;

	if (!ctx_rule_kind_has_rows(kind))
		return CTX_OK;
	if (info->kind != CTX_RULE_RUN && info->kind != kind)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, at,
				       "a rule is about a %s or about a %s, not about both",
				       ctx_rule_kind_name(info->kind), ctx_rule_kind_name(kind));
	info->kind = kind;
	return CTX_OK;
}

/* "{libcrypto}" behind "object", which stays the word that is parsed next: it is cut out of the way. */
static enum ctx_status parse_selector(struct parser *parser, enum ctx_rule_kind kind)
{
	struct rule_lexer *lexer = &parser->lexer;
	struct rule_lexer word = *lexer;
	struct rule *rule = parser->rule;
	enum ctx_status status = ctx_rule_lex(lexer);

	if (status != CTX_OK)
		return status;
	if (lexer->token != RULE_TOKEN_PATTERN) {
		*lexer = word;
		return CTX_OK;
	}
	if (!ctx_rule_kind_has_rows(kind))
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "a %s has no names that a pattern could choose",
				       ctx_rule_kind_name(kind));
	status = ctx_grow(&rule->selectors, &rule->selectors_cap, rule->n_selectors + 1, parser->err);
	if (status == CTX_OK)
		status = compile(parser, &rule->selectors[rule->n_selectors]);
	if (status != CTX_OK)
		return status;
	rule->n_selectors++;
	word.next = lexer->next;
	*lexer = word;
	return CTX_OK;
}

static enum ctx_status parse_field(struct parser *parser, uint32_t *ret)
{
	struct rule_lexer *lexer = &parser->lexer;
	struct rule_node node = {.op = RULE_FIELD, .at = lexer->at};
	enum ctx_rule_kind kind = ctx_rule_find_kind(lexer->text + lexer->at, lexer->length);
	enum ctx_status status = CTX_OK;

	if (kind != CTX_RULE_KINDS)
		status = note_kind(parser, kind, lexer->at);
	if (status == CTX_OK && kind != CTX_RULE_KINDS)
		status = parse_selector(parser, kind);
	if (status == CTX_OK)
		status = ctx_rule_parse_field(lexer, parser->rule, &node.field);
	if (status != CTX_OK)
		return status;
	node.unit = node.field.unit;
	parser->rule->info.compares |= ctx_rule_aspect_compares(node.field.aspect);
	if (!parser->rule->has_first && node.field.aspect != RULE_NAME && node.field.aspect != RULE_OBJECT) {
		parser->rule->has_first = true;
		parser->rule->first = node.field;
		parser->rule->first.aspect = RULE_VALUE;
		parser->rule->first.unit = node.field.base;
	}
	return add_node(parser, node, ret);
}

static enum ctx_status parse_or(struct parser *parser, int least, uint32_t *ret);

static struct rule_node *node_of(const struct parser *parser, uint32_t node)
{
	return &parser->rule->nodes[node];
}

static enum ctx_status want_number(struct parser *parser, uint32_t node, const char *of)
{
	const struct rule_node *found = node_of(parser, node);

	if (found->unit == CTX_RULE_WORDS)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, found->at,
				       "a text can only be compared by == and !=, with a text in quotes");
	if (found->is_truth)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, found->at,
				       "%s needs a number, not a comparison", of);
	return CTX_OK;
}

static enum ctx_status want_truth(struct parser *parser, uint32_t node)
{
	const struct rule_node *found = node_of(parser, node);

	if (!found->is_truth)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, found->at,
				       "this is no condition: a comparison is missing, such as > 5%%");
	return CTX_OK;
}

static enum ctx_status parse_operand(struct parser *parser, uint32_t *ret)
{
	struct rule_lexer *lexer = &parser->lexer;
	struct rule_node node = {.at = lexer->at};
	enum ctx_status status;

	switch (lexer->token) {
	case RULE_TOKEN_NUMBER:
		node.op = RULE_NUMBER;
		node.number = lexer->number;
		node.unit = lexer->unit;
		node.scale = lexer->scale;
		node.is_bare = true;
		status = ctx_rule_lex(lexer);
		return status == CTX_OK ? add_node(parser, node, ret) : status;
	case RULE_TOKEN_WORD:
		return parse_field(parser, ret);
	case RULE_TOKEN_OPEN:
		status = ctx_rule_lex(lexer);
		if (status == CTX_OK)
			status = parse_or(parser, 0, ret);
		if (status == CTX_OK && lexer->token != RULE_TOKEN_CLOSE)
			return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "')' is missing");
		return status == CTX_OK ? ctx_rule_lex(lexer) : status;
	case RULE_TOKEN_STRING:
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "a text stands on the right of == or != alone");
	case RULE_TOKEN_END:
	case RULE_TOKEN_PATTERN:
	case RULE_TOKEN_OPERATOR:
	case RULE_TOKEN_NOT:
	case RULE_TOKEN_DOT:
	case RULE_TOKEN_CLOSE:
	case RULE_TOKEN_ARROW:
	case RULE_TOKEN_BRACE:
		break;
	}
	return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "a field or number is missing");
}

/* Signs and !. */
static enum ctx_status parse_signed(struct parser *parser, uint32_t *ret)
{
	struct rule_lexer *lexer = &parser->lexer;
	struct rule_node node = {.at = lexer->at};
	bool is_not = lexer->token == RULE_TOKEN_NOT;
	bool is_minus = lexer->token == RULE_TOKEN_OPERATOR && lexer->op == RULE_SUBTRACT;
	bool is_plus = lexer->token == RULE_TOKEN_OPERATOR && lexer->op == RULE_ADD;
	enum ctx_status status;

	if (++parser->depth > CTX_RULE_DEPTH_MAX)
		return ctx_rule_refuse(lexer, CTX_E_LIMIT, lexer->at,
				       "more than %u parentheses and signs in each other",
				       CTX_RULE_DEPTH_MAX);
	if (!is_not && !is_minus && !is_plus) {
		status = parse_operand(parser, ret);
		parser->depth--;
		return status;
	}
	status = ctx_rule_lex(lexer);
	if (status == CTX_OK)
		status = parse_signed(parser, &node.left);
	parser->depth--;
	if (status == CTX_OK)
		status = is_not ? want_truth(parser, node.left) : want_number(parser, node.left, "a sign");
	if (status != CTX_OK)
		return status;
	if (is_plus) {
		*ret = node.left;
		return CTX_OK;
	}
	if (is_minus && node_of(parser, node.left)->op == RULE_NUMBER) {
		node_of(parser, node.left)->number *= -1;
		*ret = node.left;
		return CTX_OK;
	}
	node.op = is_not ? RULE_NOT : RULE_NEGATE;
	node.unit = node_of(parser, node.left)->unit;
	node.is_truth = is_not;
	return add_node(parser, node, ret);
}

static int precedence(enum rule_op op)
{
	switch (op) {
	case RULE_OR_ELSE:
		return 1;
	case RULE_AND_ALSO:
		return 2;
	case RULE_EQUAL:
	case RULE_UNEQUAL:
		return 3;
	case RULE_LESS:
	case RULE_LESS_EQUAL:
	case RULE_GREATER:
	case RULE_GREATER_EQUAL:
		return 4;
	case RULE_ADD:
	case RULE_SUBTRACT:
		return 5;
	case RULE_MULTIPLY:
	case RULE_DIVIDE:
		return 6;
	case RULE_NUMBER:
	case RULE_FIELD:
	case RULE_LIKE:
	case RULE_UNLIKE:
	case RULE_NOT:
	case RULE_NEGATE:
		break;
	}
	return 0;
}

/* 500M of bytes are powers of 1024, of anything else of 1000. */
static void take_size(struct rule_node *number, enum ctx_rule_unit other)
{
	static const char scales[] = "kMGT";
	const char *scale = number->scale != '\0' ? strchr(scales, number->scale) : NULL;

	if (!number->is_bare || number->unit != CTX_RULE_PLAIN || other != CTX_RULE_BYTES)
		return;
	number->unit = CTX_RULE_BYTES;
	for (ptrdiff_t i = 0; scale != NULL && i <= scale - scales; i++)
		number->number *= 1.024;
	number->scale = '\0';
}

/* Of the operands of a comparison or sum. */
static enum ctx_status match_units(struct parser *parser, const struct rule_node *node,
				   enum ctx_rule_unit *ret)
{
	struct rule_node *left = node_of(parser, node->left), *right = node_of(parser, node->right);

	take_size(left, right->unit);
	take_size(right, left->unit);
	*ret = left->unit == CTX_RULE_PLAIN ? right->unit : left->unit;
	if (left->unit == right->unit)
		return CTX_OK;
	if (left->unit == CTX_RULE_PLAIN || right->unit == CTX_RULE_PLAIN) {
		const struct rule_node *plain = left->unit == CTX_RULE_PLAIN ? left : right;

		if (*ret == CTX_RULE_SHARE && !(plain->is_bare && plain->number == 0))
			return ctx_rule_refuse(
				&parser->lexer, CTX_E_ARG, plain->at,
				"a share or a change is compared with a percentage, such as 5%%");
		return CTX_OK;
	}
	return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, node->at, "%s is compared with %s",
			       ctx_rule_unit_text(left->unit), ctx_rule_unit_text(right->unit));
}

static enum ctx_status check_operands(struct parser *parser, struct rule_node *node)
{
	const struct rule_node *left = node_of(parser, node->left), *right = node_of(parser, node->right);
	enum ctx_status status;

	node->is_truth = node->op < RULE_ADD;
	if (node->op == RULE_OR_ELSE || node->op == RULE_AND_ALSO) {
		status = want_truth(parser, node->left);
		return status == CTX_OK ? want_truth(parser, node->right) : status;
	}
	status = want_number(parser, node->left, node->is_truth ? "a comparison" : "an operation");
	if (status == CTX_OK)
		status = want_number(parser, node->right, node->is_truth ? "a comparison" : "an operation");
	if (status != CTX_OK)
		return status;
	if (node->op != RULE_MULTIPLY && node->op != RULE_DIVIDE) {
		status = match_units(parser, node, &node->unit);
		if (node->is_truth)
			node->unit = CTX_RULE_PLAIN;
		return status;
	}
	if (right->unit == CTX_RULE_PLAIN || (right->unit == CTX_RULE_SHARE && right->is_bare))
		node->unit = left->unit;
	else if (left->unit == CTX_RULE_PLAIN && node->op == RULE_MULTIPLY)
		node->unit = right->unit;
	return CTX_OK;
}

/* field == "pattern": the lexer is at the text. */
static enum ctx_status parse_like(struct parser *parser, enum rule_op op, uint32_t left, uint32_t *ret)
{
	struct rule_node node = {.op = op == RULE_EQUAL ? RULE_LIKE : RULE_UNLIKE,
				 .at = parser->lexer.at,
				 .is_truth = true,
				 .left = left};
	enum ctx_status status;

	if (node_of(parser, left)->unit != CTX_RULE_WORDS)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, parser->lexer.at,
				       "a number is compared with a text");
	if (op != RULE_EQUAL && op != RULE_UNEQUAL)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, parser->lexer.at,
				       "a text is compared by == and != alone");
	status = compile(parser, &node.pattern);
	if (status == CTX_OK)
		status = ctx_rule_lex(&parser->lexer);
	return status == CTX_OK ? add_node(parser, node, ret) : status;
}

/* Operators from this precedence on. */
static enum ctx_status parse_or(struct parser *parser, int least, uint32_t *ret)
{
	struct rule_lexer *lexer = &parser->lexer;
	enum ctx_status status = parse_signed(parser, ret);

	while (status == CTX_OK && lexer->token == RULE_TOKEN_OPERATOR && precedence(lexer->op) > least) {
		struct rule_node node = {.op = lexer->op, .at = lexer->at, .left = *ret};

		status = ctx_rule_lex(lexer);
		if (status == CTX_OK && lexer->token == RULE_TOKEN_STRING && node.op >= RULE_EQUAL &&
		    node.op <= RULE_GREATER_EQUAL) {
			status = parse_like(parser, node.op, node.left, ret);
			continue;
		}
		if (status == CTX_OK)
			status = parse_or(parser, precedence(node.op), &node.right);
		if (status == CTX_OK)
			status = check_operands(parser, &node);
		if (status == CTX_OK)
			status = add_node(parser, node, ret);
	}
	return status;
}

/* ---- rules ---- */

static enum ctx_status parse_action(struct parser *parser)
{
	struct rule_lexer *lexer = &parser->lexer;
	enum ctx_rule_action action = CTX_RULE_FAIL;

	while (action < CTX_RULE_ACTIONS &&
	       (lexer->token != RULE_TOKEN_WORD || strlen(ctx_rule_action_word(action)) != lexer->length ||
		memcmp(ctx_rule_action_word(action), lexer->text + lexer->at, lexer->length) != 0))
		action++;
	if (action == CTX_RULE_ACTIONS)
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at,
				       "an action is missing behind '->': fail, warn or note");
	parser->rule->info.action = action;
	return ctx_rule_lex(lexer);
}

/* The condition as it was written, with single blanks and without comments. */
static enum ctx_status keep_condition(struct parser *parser, size_t begin, size_t end)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *from = parser->lexer.text;
	bool quoted = false;

	for (size_t i = begin; i < end; i++) {
		if (from[i] == '"' && (i == 0 || from[i - 1] != '\\'))
			quoted = !quoted;
		if (!quoted && from[i] == '#')
			i += strcspn(from + i, "\n");
		if (!quoted && strchr(" \t\r\n", from[i]) != NULL) {
			if (text.n != 0 && text.bytes[text.n - 1] != ' ')
				ctx_buf_put_u8(&text, ' ');
		} else {
			ctx_buf_put_u8(&text, (uint8_t)from[i]);
		}
	}
	while (text.n != 0 && text.bytes[text.n - 1] == ' ')
		text.n--;
	parser->rule->info.condition =
		text.failed ? NULL
			    : ctx_arena_strndup(&parser->rules->arena, (const char *)text.bytes, text.n);
	return parser->rule->info.condition != NULL ? CTX_OK : ctx_err_nomem(parser->err);
}

static size_t line_of(const struct rule_lexer *lexer)
{
	size_t line = 1;

	for (size_t i = 0; i < lexer->at; i++)
		line += lexer->text[i] == '\n';
	return line;
}

static enum ctx_status parse_rule(struct parser *parser)
{
	struct rule_lexer *lexer = &parser->lexer;
	size_t begin = lexer->at;
	uint32_t root;
	enum ctx_status status;

	parser->rule->info.kind = CTX_RULE_RUN;
	parser->rule->info.line = line_of(lexer);
	parser->depth = 0;
	status = parse_or(parser, 0, &root);
	if (status == CTX_OK)
		status = want_truth(parser, root);
	if (status == CTX_OK && lexer->token != RULE_TOKEN_ARROW)
		return ctx_rule_refuse(lexer, CTX_E_ARG, lexer->at, "'->' and an action are missing");
	if (status == CTX_OK && !parser->rule->has_first)
		return ctx_rule_refuse(lexer, CTX_E_ARG, begin, "the rule has no field of numbers");
	if (status == CTX_OK)
		status = keep_condition(parser, begin, lexer->at);
	if (status == CTX_OK)
		status = ctx_rule_lex(lexer);
	if (status == CTX_OK)
		status = parse_action(parser);
	if (status != CTX_OK || lexer->token != RULE_TOKEN_STRING)
		return status;
	status = ctx_rule_parse_message(lexer, parser->rules, parser->rule);
	return status == CTX_OK ? ctx_rule_lex(lexer) : status;
}

static enum ctx_status parse_all(struct parser *parser)
{
	struct ctx_rules *rules = parser->rules;
	enum ctx_status status = ctx_rule_lex(&parser->lexer);

	while (status == CTX_OK && parser->lexer.token != RULE_TOKEN_END) {
		if (rules->n == CTX_RULES_MAX)
			return ctx_rule_refuse(&parser->lexer, CTX_E_LIMIT, parser->lexer.at,
					       "more than %u rules", CTX_RULES_MAX);
		status = ctx_grow(&rules->rules, &rules->cap, rules->n + 1, parser->err);
		if (status != CTX_OK)
			return status;
		rules->rules[rules->n] = (struct rule){0};
		parser->rule = &rules->rules[rules->n++];
		status = parse_rule(parser);
	}
	if (status == CTX_OK && rules->n == 0)
		return ctx_rule_refuse(&parser->lexer, CTX_E_ARG, parser->lexer.at, "there is no rule");
	return status;
}

enum ctx_status ctx_rules_parse(const char *text, size_t n, struct ctx_rules **ret,
				struct ctx_rule_place *ret_place, struct ctx_err *err)
{
	char *copy CTX_AUTO_FREE = NULL;
	struct parser parser = {.err = err};
	enum ctx_status status;

	if (ret_place != NULL)
		*ret_place = (struct ctx_rule_place){0};
	if (n > CTX_RULES_TEXT_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u bytes of rules", CTX_RULES_TEXT_MAX);
	copy = ctx_memdup0(text, n);
	parser.rules = ctx_calloc(1, sizeof(*parser.rules));
	if (copy == NULL || parser.rules == NULL) {
		free(parser.rules);
		return ctx_err_nomem(err);
	}
	parser.lexer = (struct rule_lexer){
		.text = copy, .n = n, .arena = &parser.rules->arena, .err = err, .ret_place = ret_place};
	status = parse_all(&parser);
	if (status != CTX_OK) {
		ctx_rules_destroy(parser.rules);
		return status;
	}
	*ret = parser.rules;
	return CTX_OK;
}
