/*
 * Precedence climbing. A node is created after its operands, so that their numbers are smaller than
 * its own; types are checked when nodes are created.
 */
#include "model/expression_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	struct expr_lexer lexer;
	struct ctx_expression *expression;
	struct ctx_err *err;
	unsigned depth;
};

static enum ctx_status parse_condition(struct parser *parser, uint32_t *ret);

/* ---- nodes ---- */

static struct expr_node *node_of(const struct parser *parser, uint32_t node)
{
	return &parser->expression->nodes[node];
}

static enum ctx_status add_node(struct parser *parser, struct expr_node node, uint32_t *ret)
{
	struct ctx_expression *expression = parser->expression;
	enum ctx_status status;

	if (expression->n == CTX_EXPRESSION_NODES_MAX)
		return ctx_expr_fail(&parser->lexer, CTX_E_LIMIT, node.at,
				     "the expression is too large: it has more than %u parts",
				     CTX_EXPRESSION_NODES_MAX);
	status = ctx_grow(&expression->nodes, &expression->cap, expression->n + 1, parser->err);
	if (status != CTX_OK)
		return status;
	expression->nodes[expression->n] = node;
	*ret = (uint32_t)expression->n++;
	return CTX_OK;
}

static enum ctx_status add_test(struct parser *parser, struct expr_test test, size_t at, uint32_t *ret)
{
	struct ctx_expression *expression = parser->expression;
	enum ctx_status status;

	if (expression->n_tests == CTX_EXPRESSION_TESTS_MAX)
		return ctx_expr_fail(
			&parser->lexer, CTX_E_LIMIT, at,
			"the expression is too large: it has more than %u comparisons with patterns",
			CTX_EXPRESSION_TESTS_MAX);
	status = ctx_grow(&expression->tests, &expression->tests_cap, expression->n_tests + 1, parser->err);
	if (status != CTX_OK)
		return status;
	expression->tests[expression->n_tests] = test;
	*ret = (uint32_t)expression->n_tests++;
	return CTX_OK;
}

static enum ctx_status check_number(const struct parser *parser, uint32_t node)
{
	const struct expr_node *info = node_of(parser, node);

	switch (info->type) {
	case EXPR_TYPE_INTEGER:
	case EXPR_TYPE_REAL:
		return CTX_OK;
	case EXPR_TYPE_STRING:
		return ctx_expr_fail(
			&parser->lexer, CTX_E_ARG, info->at,
			"a number is wanted: a text goes with IN, or with == and != after THRID, "
			"PROCID, METRIC, STATE, HTYPE, IOTYPE and IOFNAME");
	case EXPR_TYPE_SET:
		return ctx_expr_fail(&parser->lexer, CTX_E_ARG, info->at,
				     "a number is wanted: functions go with IN, SOME IN and ORDERED IN");
	case EXPR_TYPE_FRAMES:
		break;
	}
	return ctx_expr_fail(&parser->lexer, CTX_E_ARG, info->at,
			     "a number is wanted: LEAF and STACK go with IN, SOME IN and ORDERED IN");
}

static enum ctx_status check_integer(const struct parser *parser, uint32_t node)
{
	enum ctx_status status = check_number(parser, node);

	if (status == CTX_OK && node_of(parser, node)->type == EXPR_TYPE_REAL)
		return ctx_expr_fail(&parser->lexer, CTX_E_ARG, node_of(parser, node)->at,
				     "an integer is wanted, not a decimal");
	return status;
}

/* ---- tests of stacks ---- */

static bool is_set(const struct parser *parser, uint32_t node)
{
	enum expr_type type = node_of(parser, node)->type;

	return type == EXPR_TYPE_STRING || type == EXPR_TYPE_SET;
}

/* The right side of an operator was read. */
static enum ctx_status make_stack_test(struct parser *parser, struct expr_node node, uint32_t *ret)
{
	const enum expr_op op = node.op;
	bool left_set = is_set(parser, node.left), right_set = is_set(parser, node.right);
	uint32_t frames = left_set ? node.right : node.left;
	bool leaf = node_of(parser, frames)->op == EXPR_LEAF;
	struct expr_test test = {.set = left_set ? node.left : node.right};
	enum ctx_status status;

	if (left_set == right_set || node_of(parser, frames)->type != EXPR_TYPE_FRAMES)
		return ctx_expr_fail(&parser->lexer, CTX_E_ARG, node.at,
				     "IN wants LEAF or STACK on one side, and functions on the other");
	if (op == EXPR_ORDERED_IN && (!left_set || leaf))
		return ctx_expr_fail(&parser->lexer, CTX_E_ARG, node.at,
				     "ORDERED IN wants STACK on its right side");
	if (op == EXPR_ORDERED_IN)
		test.kind = EXPR_TEST_ORDERED;
	else if (leaf)
		test.kind = left_set && op == EXPR_IN ? EXPR_TEST_ONLY_LEAF : EXPR_TEST_LEAF;
	else if (op == EXPR_SOME_IN)
		test.kind = EXPR_TEST_SOME;
	else
		test.kind = left_set ? EXPR_TEST_ALL : EXPR_TEST_EVERY;
	node.op = EXPR_TEST;
	status = add_test(parser, test, node.at, &node.test);
	return status == CTX_OK ? add_node(parser, node, ret) : status;
}

static enum ctx_status make_name_test(struct parser *parser, struct expr_node binary, uint32_t *ret)
{
	uint32_t name = node_of(parser, binary.left)->op == EXPR_NAME ? binary.left : binary.right;
	uint32_t text = name == binary.left ? binary.right : binary.left;
	const struct expr_node *info = node_of(parser, name);
	struct expr_node node = {.op = EXPR_NAME_LIKE, .left = name, .right = text, .at = binary.at};
	struct expr_test test = {.kind = EXPR_TEST_NAME_VALUE, .set = text, .name = info->name};
	bool named = info->name == CTX_NAME_THRID || info->name == CTX_NAME_PROCID ||
		     info->name == CTX_NAME_METRIC || info->name == CTX_NAME_STATE ||
		     info->name == CTX_NAME_HTYPE || info->name == CTX_NAME_IOTYPE ||
		     info->name == CTX_NAME_IOFNAME;
	enum ctx_status status;

	if (info->op != EXPR_NAME || !named || node_of(parser, text)->op != EXPR_STRING)
		return check_number(parser, is_set(parser, binary.left) ? binary.left : binary.right);
	status = add_test(parser, test, node.at, &node.test);
	if (status == CTX_OK)
		status = add_node(parser, node, ret);
	if (status == CTX_OK && binary.op == EXPR_UNEQUAL)
		status = add_node(parser, (struct expr_node){.op = EXPR_NOT, .left = *ret, .at = node.at},
				  ret);
	return status;
}

/* ---- operators ---- */

/* As in C; tests of stacks have the precedence of comparisons. 0: not a binary operator. */
static int precedence(enum expr_op op)
{
	switch (op) {
	case EXPR_OR_ELSE:
		return 1;
	case EXPR_AND_ALSO:
		return 2;
	case EXPR_OR:
		return 3;
	case EXPR_XOR:
		return 4;
	case EXPR_AND:
		return 5;
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
		return 6;
	case EXPR_LESS:
	case EXPR_LESS_EQUAL:
	case EXPR_GREATER:
	case EXPR_GREATER_EQUAL:
	case EXPR_IN:
	case EXPR_SOME_IN:
	case EXPR_ORDERED_IN:
		return 7;
	case EXPR_SHIFT_LEFT:
	case EXPR_SHIFT_RIGHT:
		return 8;
	case EXPR_ADD:
	case EXPR_SUBTRACT:
		return 9;
	case EXPR_MULTIPLY:
	case EXPR_DIVIDE:
	case EXPR_REMAINDER:
		return 10;
	default:
		return 0;
	}
}

static bool wants_integers(enum expr_op op)
{
	return op == EXPR_OR || op == EXPR_XOR || op == EXPR_AND || op == EXPR_SHIFT_LEFT ||
	       op == EXPR_SHIFT_RIGHT || op == EXPR_REMAINDER;
}

/* The node has an operator and both sides. */
static enum ctx_status make_binary(struct parser *parser, struct expr_node node, uint32_t *ret)
{
	const enum expr_op op = node.op;
	const uint32_t left = node.left, right = node.right;
	bool arithmetic = precedence(op) >= precedence(EXPR_ADD);
	enum ctx_status status;

	if (op == EXPR_IN || op == EXPR_SOME_IN || op == EXPR_ORDERED_IN)
		return make_stack_test(parser, node, ret);
	if ((op == EXPR_EQUAL || op == EXPR_UNEQUAL) && is_set(parser, left) != is_set(parser, right))
		return make_name_test(parser, node, ret);
	status = wants_integers(op) ? check_integer(parser, left) : check_number(parser, left);
	if (status == CTX_OK)
		status = wants_integers(op) ? check_integer(parser, right) : check_number(parser, right);
	if (status != CTX_OK)
		return status;
	if (arithmetic &&
	    (node_of(parser, left)->type == EXPR_TYPE_REAL || node_of(parser, right)->type == EXPR_TYPE_REAL))
		node.type = EXPR_TYPE_REAL;
	return add_node(parser, node, ret);
}

static enum ctx_status lex(struct parser *parser)
{
	return ctx_expr_lex(&parser->lexer);
}

/* ---- operands ---- */

static enum ctx_status parse_name(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	struct expr_node node = {.op = EXPR_NAME, .at = (uint32_t)lexer->at};
	enum ctx_status status;

	node.name = ctx_expression_find_name(lexer->text + lexer->at, lexer->length);
	if (node.name == CTX_EXPRESSION_NAMES_N)
		return ctx_expr_refuse_name(lexer);
	status = add_node(parser, node, ret);
	return status == CTX_OK ? lex(parser) : status;
}

static enum ctx_status check_pattern(struct parser *parser)
{
	regex_t regex;
	enum ctx_status status =
		ctx_expr_compile(&parser->lexer, parser->lexer.string, parser->lexer.at, &regex);

	if (status == CTX_OK)
		regfree(&regex);
	return status;
}

/* The lexer is at the string and ends after it. */
static enum ctx_status parse_string(struct parser *parser, enum expr_op op, enum expr_type type, size_t at,
				    uint32_t *ret)
{
	struct expr_node node = {.op = op, .type = type, .at = (uint32_t)at, .pattern = parser->lexer.string};
	enum ctx_status status = check_pattern(parser);

	if (status == CTX_OK)
		status = add_node(parser, node, ret);
	return status == CTX_OK ? lex(parser) : status;
}

/* FNAME("...") */
static enum ctx_status parse_functions(struct parser *parser, enum expr_op op, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	size_t at = lexer->at;
	int length = (int)lexer->length;
	enum ctx_status status = lex(parser);

	if (status == CTX_OK && lexer->token != EXPR_TOKEN_OPEN)
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "'(' is missing after %.*s", length,
				     lexer->text + at);
	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_STRING)
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "%.*s wants a pattern in quotes", length,
				     lexer->text + at);
	if (status == CTX_OK)
		status = parse_string(parser, op, EXPR_TYPE_SET, at, ret);
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_CLOSE)
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "')' is missing after the pattern");
	return status == CTX_OK ? lex(parser) : status;
}

static enum ctx_status parse_word(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	struct expr_node frames = {.type = EXPR_TYPE_FRAMES, .at = (uint32_t)lexer->at};
	bool leaf = ctx_expr_is_word(lexer, "LEAF");
	enum ctx_status status;

	if (ctx_expr_is_word(lexer, "FNAME"))
		return parse_functions(parser, EXPR_STRING, ret);
	if (ctx_expr_is_word(lexer, "LNAME") || ctx_expr_is_word(lexer, "OBJECT"))
		return parse_functions(parser, EXPR_OBJECT, ret);
	if (!leaf && !ctx_expr_is_word(lexer, "STACK"))
		return parse_name(parser, ret);
	frames.op = leaf ? EXPR_LEAF : EXPR_STACK;
	status = add_node(parser, frames, ret);
	return status == CTX_OK ? lex(parser) : status;
}

/* "a", "b", ...: the lexer is at the first comma. The chain is made from its end. */
static enum ctx_status parse_list(struct parser *parser, size_t open_at, uint32_t first, uint32_t *ret)
{
	uint32_t items[CTX_EXPRESSION_TESTS_MAX];
	size_t n = 0;
	enum ctx_status status = CTX_OK;

	for (items[n++] = first; status == CTX_OK; n++) {
		if (!is_set(parser, items[n - 1]) || node_of(parser, items[n - 1])->op == EXPR_LIST)
			return ctx_expr_fail(&parser->lexer, CTX_E_ARG, node_of(parser, items[n - 1])->at,
					     "a list has names of functions, each a text or FNAME(\"...\")");
		if (parser->lexer.token != EXPR_TOKEN_COMMA)
			break;
		if (n == CTX_EXPRESSION_TESTS_MAX)
			return ctx_expr_fail(&parser->lexer, CTX_E_LIMIT, parser->lexer.at,
					     "this list has more than %u items", CTX_EXPRESSION_TESTS_MAX);
		status = lex(parser);
		if (status == CTX_OK)
			status = parse_condition(parser, &items[n]);
	}
	*ret = EXPR_NO_NODE;
	while (n > 0 && status == CTX_OK) {
		struct expr_node node = {.op = EXPR_LIST,
					 .type = EXPR_TYPE_SET,
					 .left = items[--n],
					 .right = *ret,
					 .at = (uint32_t)open_at};

		status = add_node(parser, node, ret);
	}
	return status;
}

/* Operators of other languages. */
static enum ctx_status refuse_operator(const struct expr_lexer *lexer, const char *otherwise)
{
	static const struct {
		const char *word, *operator;
	} words[] = {{"AND", "&&"}, {"OR", "||"},	   {"EQ", "=="},
		     {"NE", "!="},  {"SOMEIN", "SOME IN"}, {"ORDEREDIN", "ORDERED IN"},
		     {"MOD", "%"},  {"XOR", "^"}};

	for (size_t i = 0; lexer->token == EXPR_TOKEN_WORD && i < CTX_COUNT_OF(words); i++) {
		if (ctx_expr_is_word(lexer, words[i].word))
			return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "the operator is '%s'",
					     words[i].operator);
	}
	return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "%s", otherwise);
}

static enum ctx_status parse_parentheses(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	size_t open_at = lexer->at;
	enum ctx_status status = lex(parser);

	if (status == CTX_OK)
		status = parse_condition(parser, ret);
	if (status == CTX_OK && lexer->token == EXPR_TOKEN_COMMA)
		status = parse_list(parser, open_at, *ret, ret);
	if (status != CTX_OK)
		return status;
	if (lexer->token != EXPR_TOKEN_CLOSE)
		return refuse_operator(lexer, lexer->token == EXPR_TOKEN_END
						      ? "')' is missing"
						      : "an operator or ')' is missing before this");
	return lex(parser);
}

static enum ctx_status parse_primary(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	struct expr_node number = {.op = EXPR_NUMBER,
				   .type = lexer->value.kind == CTX_VALUE_REAL ? EXPR_TYPE_REAL
									       : EXPR_TYPE_INTEGER,
				   .at = (uint32_t)lexer->at,
				   .value = lexer->value};
	enum ctx_status status;

	switch (lexer->token) {
	case EXPR_TOKEN_NUMBER:
		status = add_node(parser, number, ret);
		return status == CTX_OK ? lex(parser) : status;
	case EXPR_TOKEN_STRING:
		return parse_string(parser, EXPR_STRING, EXPR_TYPE_STRING, lexer->at, ret);
	case EXPR_TOKEN_WORD:
		return parse_word(parser, ret);
	case EXPR_TOKEN_OPEN:
		return parse_parentheses(parser, ret);
	default:
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "a number or name is missing");
	}
}

static bool sign_of(const struct expr_lexer *lexer, enum expr_op *ret)
{
	if (lexer->token == EXPR_TOKEN_NOT)
		*ret = EXPR_NOT;
	else if (lexer->token == EXPR_TOKEN_COMPLEMENT)
		*ret = EXPR_COMPLEMENT;
	else if (lexer->token == EXPR_TOKEN_OPERATOR && lexer->op == EXPR_SUBTRACT)
		*ret = EXPR_NEGATE;
	else if (lexer->token == EXPR_TOKEN_OPERATOR && lexer->op == EXPR_ADD)
		*ret = EXPR_PLUS;
	else
		return false;
	return true;
}

static enum ctx_status enter(struct parser *parser)
{
	if (parser->depth == CTX_EXPRESSION_DEPTH_MAX)
		return ctx_expr_fail(
			&parser->lexer, CTX_E_LIMIT, parser->lexer.at,
			"the expression is too deep: more than %u parentheses, signs and conditions "
			"in each other",
			CTX_EXPRESSION_DEPTH_MAX);
	parser->depth++;
	return CTX_OK;
}

static enum ctx_status parse_unary(struct parser *parser, uint32_t *ret)
{
	struct expr_node node = {.at = (uint32_t)parser->lexer.at};
	enum ctx_status status;

	if (!sign_of(&parser->lexer, &node.op))
		return parse_primary(parser, ret);
	status = enter(parser);
	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK)
		status = parse_unary(parser, &node.left);
	if (status == CTX_OK)
		status = node.op == EXPR_COMPLEMENT ? check_integer(parser, node.left)
						    : check_number(parser, node.left);
	if (status != CTX_OK)
		return status;
	parser->depth--;
	node.type = node.op == EXPR_NOT ? EXPR_TYPE_INTEGER : node_of(parser, node.left)->type;
	return add_node(parser, node, ret);
}

static enum ctx_status parse_binary(struct parser *parser, int lowest, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	enum ctx_status status = parse_unary(parser, ret);

	while (status == CTX_OK && lexer->token == EXPR_TOKEN_OPERATOR && precedence(lexer->op) >= lowest) {
		enum expr_op op = lexer->op;
		size_t at = lexer->at;
		uint32_t left = *ret, right = EXPR_NO_NODE;

		status = lex(parser);
		if (status == CTX_OK)
			status = parse_binary(parser, precedence(op) + 1, &right);
		if (status == CTX_OK)
			status = make_binary(
				parser,
				(struct expr_node){
					.op = op, .left = left, .right = right, .at = (uint32_t)at},
				ret);
	}
	return status;
}

/* After the '?'. */
static enum ctx_status parse_branches(struct parser *parser, uint32_t condition, size_t at, uint32_t *ret)
{
	struct expr_node node = {.op = EXPR_CONDITION, .left = condition, .at = (uint32_t)at};
	enum ctx_status status = check_number(parser, condition);

	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK)
		status = parse_condition(parser, &node.right);
	if (status == CTX_OK && parser->lexer.token != EXPR_TOKEN_COLON)
		return ctx_expr_fail(&parser->lexer, CTX_E_ARG, parser->lexer.at,
				     "':' is missing: CONDITION ? VALUE : OTHERWISE");
	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK)
		status = parse_condition(parser, &node.third);
	if (status == CTX_OK)
		status = check_number(parser, node.right);
	if (status == CTX_OK)
		status = check_number(parser, node.third);
	if (status != CTX_OK)
		return status;
	if (node_of(parser, node.right)->type == EXPR_TYPE_REAL ||
	    node_of(parser, node.third)->type == EXPR_TYPE_REAL)
		node.type = EXPR_TYPE_REAL;
	return add_node(parser, node, ret);
}

static enum ctx_status parse_condition(struct parser *parser, uint32_t *ret)
{
	enum ctx_status status = enter(parser);

	if (status == CTX_OK)
		status = parse_binary(parser, 1, ret);
	if (status == CTX_OK && parser->lexer.token == EXPR_TOKEN_QUESTION)
		status = parse_branches(parser, *ret, parser->lexer.at, ret);
	parser->depth--;
	return status;
}

static enum ctx_status parse_all(struct parser *parser)
{
	const struct expr_lexer *lexer = &parser->lexer;
	uint32_t root;
	enum ctx_status status = lex(parser);

	if (status == CTX_OK)
		status = parse_condition(parser, &root);
	if (status == CTX_OK && lexer->token == EXPR_TOKEN_CLOSE)
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "')' without '('");
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_END)
		return refuse_operator(lexer, "an operator is missing before this");
	return status == CTX_OK ? check_number(parser, root) : status;
}

enum ctx_status ctx_expression_parse(const char *text, struct ctx_expression **ret, size_t *ret_column,
				     struct ctx_err *err)
{
	struct ctx_expression *expression = ctx_calloc(1, sizeof(*expression));
	struct parser parser = {.expression = expression, .err = err};
	enum ctx_status status;

	if (expression == NULL)
		return ctx_err_nomem(err);
	parser.lexer = (struct expr_lexer){
		.text = text, .arena = &expression->arena, .err = err, .ret_column = ret_column};
	if (ret_column != NULL)
		*ret_column = 1;
	if (strlen(text) > CTX_EXPRESSION_TEXT_MAX)
		status = ctx_expr_fail(&parser.lexer, CTX_E_LIMIT, 0,
				       "the expression is too large: it has more than %u bytes",
				       CTX_EXPRESSION_TEXT_MAX);
	else
		status = parse_all(&parser);
	if (status != CTX_OK) {
		ctx_expression_destroy(expression);
		return status;
	}
	expression->uses_time = ctx_expression_uses(expression, CTX_NAME_TSTAMP) ||
				ctx_expression_uses(expression, CTX_NAME_SECOND) ||
				ctx_expression_uses(expression, CTX_NAME_SAMPLE);
	*ret = expression;
	return CTX_OK;
}

void ctx_expression_destroy(struct ctx_expression *expression)
{
	if (expression == NULL)
		return;
	for (size_t i = 0; i < expression->n_tests; i++)
		free(expression->tests[i].bits);
	free(expression->tests);
	free(expression->nodes);
	free(expression->usage_ns);
	free(expression->usage_of);
	ctx_arena_deinit(&expression->arena);
	free(expression);
}

/* The root is the last node. */
enum ctx_expression_name ctx_expression_only_name(const struct ctx_expression *expression)
{
	const struct expr_node *root = &expression->nodes[expression->n - 1];

	return root->op == EXPR_NAME ? root->name : CTX_EXPRESSION_NAMES_N;
}

enum ctx_expression_name ctx_expression_asks_operations(const struct ctx_expression *expression)
{
	for (size_t i = 0; i < expression->n; i++) {
		const struct expr_node *node = &expression->nodes[i];

		if (node->op == EXPR_NAME && ctx_expression_kinds(node->name) != 0)
			return node->name;
	}
	return CTX_EXPRESSION_NAMES_N;
}

bool ctx_expression_uses(const struct ctx_expression *expression, enum ctx_expression_name name)
{
	for (size_t i = 0; i < expression->n; i++) {
		if (expression->nodes[i].op == EXPR_NAME && expression->nodes[i].name == name)
			return true;
	}
	return false;
}
