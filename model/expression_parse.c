/*
 * Precedence climbing. A node is made behind its operands, so that their numbers are smaller than its own; what is wrong with types is
 * found while the nodes are made.
 */
#include "model/expression_impl.h"

#include "base/mem.h"
#include "base/near.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATTERN_MAX 1000u
#define PATTERN_SIZE_MAX 2000u /* what repetitions may make of it, see unrolled_size */

static const char *const names[CTX_EXPRESSION_NAMES_N] = {
	[CTX_NAME_THRID] = "THRID",	  [CTX_NAME_LWPID] = "LWPID",	  [CTX_NAME_PROCID] = "PROCID",
	[CTX_NAME_PID] = "PID",		  [CTX_NAME_CPUID] = "CPUID",	  [CTX_NAME_TSTAMP] = "TSTAMP",
	[CTX_NAME_SECOND] = "SECOND",	  [CTX_NAME_WEIGHT] = "WEIGHT",	  [CTX_NAME_METRIC] = "METRIC",
	[CTX_NAME_STATE] = "STATE",	  [CTX_NAME_DEPTH] = "DEPTH",	  [CTX_NAME_SAMPLE] = "SAMPLE",
	[CTX_NAME_EVT_TIME] = "EVT_TIME", [CTX_NAME_SIZE] = "SIZE",	  [CTX_NAME_ADDRESS] = "ADDRESS",
	[CTX_NAME_HTYPE] = "HTYPE",	  [CTX_NAME_HSIZE] = "HSIZE",	  [CTX_NAME_HVADDR] = "HVADDR",
	[CTX_NAME_HOVADDR] = "HOVADDR",	  [CTX_NAME_HLEAKED] = "HLEAKED", [CTX_NAME_SRQST] = "SRQST",
	[CTX_NAME_SOBJ] = "SOBJ",	  [CTX_NAME_IOTYPE] = "IOTYPE",	  [CTX_NAME_IOFD] = "IOFD",
	[CTX_NAME_IONBYTE] = "IONBYTE",	  [CTX_NAME_IORQST] = "IORQST",	  [CTX_NAME_IOFNAME] = "IOFNAME",
};

static const struct {
	const char *text;
	enum ctx_expression_name name;
} other_names[] = {{"DURATION", CTX_NAME_EVT_TIME},
		   {"FILE", CTX_NAME_IOFNAME},
		   {"TID", CTX_NAME_LWPID},
		   {"CPU", CTX_NAME_CPUID}};

/* Words of gprofng's and the Performance Analyzer's filters that have another meaning here, or none. */
static const struct {
	const char *text, *advice;
} foreign_names[] = {
	{"NOT", "'!' is not"},
	{"EXPID", "PROCID is the process"},
	{"EXPGRID", "PROCID is the process"},
	{"EXPID_CMP", "PROCID is the process"},
	{"TSTAMP_LO", "SRQST and IORQST are when an operation began, EVT_TIME is how long it took"},
	{"TSTAMP_HI", "TSTAMP is when an operation was over"},
	{"TSTAMP2", "TSTAMP is when an operation was over"},
	{"MSTATE", "STATE is the thread's state"},
	{"NTICK", "WEIGHT is what a sample weighs"},
	{"NTICK_USEC", "WEIGHT is what a sample weighs"},
	{"JTHREAD", "THRID is the thread"},
	{"USTACK", "STACK is the call stack"},
	{"XSTACK", "STACK is the call stack"},
	{"MSTACK", "STACK is the call stack"},
	{"IOVFD", "IOFD is the descriptor"},
	{"IOOFD", "IOFD is the descriptor"},
	{"IOFSTYPE", "IOFNAME is the file"},
	{"HMEM_USAGE", "the report heap says what lived when"},
	{"HFREED", "the report heap says what lived when"},
	{"HCUR_ALLOCS", "the report heap says what lived when"},
	{"HCUR_NET_ALLOC", "the report heap says what lived when"},
	{"HCUR_LEAKS", "HLEAKED is what leaked of an allocation"},
};

const char *ctx_expression_name(enum ctx_expression_name name)
{
	return names[name];
}

enum ctx_expression_name ctx_expression_find_name(const char *text, size_t n)
{
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N; i++) {
		if (strlen(names[i]) == n && strncasecmp(text, names[i], n) == 0)
			return (enum ctx_expression_name)i;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(other_names); i++) {
		if (strlen(other_names[i].text) == n && strncasecmp(text, other_names[i].text, n) == 0)
			return other_names[i].name;
	}
	return CTX_EXPRESSION_NAMES_N;
}

unsigned ctx_expression_kinds(enum ctx_expression_name name)
{
	const unsigned heap = 1u << CTX_TRACED_HEAP, sync = 1u << CTX_TRACED_SYNC, io = 1u << CTX_TRACED_IO;

	if (name < CTX_NAME_EVT_TIME)
		return 0;
	if (name == CTX_NAME_EVT_TIME)
		return sync | io;
	if (name == CTX_NAME_SIZE)
		return heap | io;
	if (name == CTX_NAME_ADDRESS)
		return heap | sync;
	return name <= CTX_NAME_HLEAKED ? heap : name <= CTX_NAME_SOBJ ? sync : io;
}

struct parser {
	struct expr_lexer lexer;
	struct ctx_expression *expression;
	struct ctx_err *err;
	unsigned depth;
};

static enum ctx_status parse_condition(struct parser *parser, uint32_t *ret);

/* ---- patterns ---- */

/* The bytes of "[^]a-z]", or of one byte that is no bracket. */
static size_t atom_length(const char *pattern)
{
	size_t n = 1;

	if (pattern[0] == '\\' && pattern[1] != '\0')
		return 2;
	if (pattern[0] != '[')
		return 1;
	n += pattern[n] == '^';
	n += pattern[n] == ']';
	return n + strcspn(pattern + n, "]");
}

/* "{2,5}": its bytes, and one more than the larger number. 0: it is no such thing. */
static size_t repeat_length(const char *pattern, uint64_t *ret_count)
{
	size_t first = strspn(pattern + 1, "0123456789");
	size_t comma = pattern[1 + first] == ',';
	size_t second = comma != 0 ? strspn(pattern + 2 + first, "0123456789") : 0;
	uint64_t low = strtoul(pattern + 1, NULL, 10);
	uint64_t high = second != 0 ? strtoul(pattern + 2 + first, NULL, 10) : low;

	high = low > high ? low : high;
	*ret_count = high < PATTERN_SIZE_MAX ? high + 1 : PATTERN_SIZE_MAX;
	return pattern[0] == '{' && pattern[1 + first + comma + second] == '}' ? 2 + first + comma + second
									       : 0;
}

/*
 * What a pattern grows to when it is compiled, about: "{9}" and "+" copy what they repeat, and what repeats itself inside of what
 * repeats itself costs time. Never more than a few times PATTERN_SIZE_MAX, squared.
 */
static uint64_t unrolled_size(const char *pattern)
{
	uint64_t sums[PATTERN_MAX + 1] = {0}; /* of the groups that are open */
	uint64_t last = 0;		      /* the atom that a count would repeat */
	size_t depth = 0;

	for (const char *at = pattern; *at != '\0' && last <= PATTERN_SIZE_MAX;) {
		uint64_t count;
		size_t length = repeat_length(at, &count);
		bool repeats = length != 0;

		length = repeats ? length : atom_length(at);
		if (*at == '(') {
			sums[depth++] += last;
			sums[depth] = last = 0;
		} else if (*at == ')' && depth != 0) {
			last += sums[depth--];
		} else if (repeats || *at == '+' || *at == '*' || *at == '?') {
			last *= repeats ? count : *at == '+' ? 3 : 2;
		} else {
			sums[depth] += last;
			last = 1;
		}
		at += length <= strlen(at) ? length : strlen(at);
	}
	for (size_t i = 0; i <= depth; i++)
		last += sums[i];
	return last;
}

static bool has_back_reference(const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '\\')
			continue;
		if (isdigit((unsigned char)pattern[1]))
			return true;
		if (pattern[1] != '\0')
			pattern++;
	}
	return false;
}

enum ctx_status expr_compile(const struct expr_lexer *lexer, const char *pattern, size_t at, regex_t *ret)
{
	char why[128];
	int error;

	if (strlen(pattern) > PATTERN_MAX || unrolled_size(pattern) > PATTERN_SIZE_MAX)
		return expr_fail(lexer, CTX_E_LIMIT, at, "this pattern is too large");
	if (has_back_reference(pattern))
		return expr_fail(lexer, CTX_E_ARG, at, "patterns have no references to groups (\\1)");
	error = regcomp(ret, pattern, REG_EXTENDED);
	if (error == 0)
		return CTX_OK;
	if (error == REG_ESPACE)
		return ctx_err_nomem(lexer->err);
	regerror(error, ret, why, sizeof(why));
	return expr_fail(lexer, CTX_E_ARG, at, "this is no pattern: %s", why);
}

static enum ctx_status check_pattern(struct parser *parser)
{
	regex_t regex;
	enum ctx_status status = expr_compile(&parser->lexer, parser->lexer.string, parser->lexer.at, &regex);

	if (status == CTX_OK)
		regfree(&regex);
	return status;
}

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
		return expr_fail(&parser->lexer, CTX_E_LIMIT, node.at,
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
		return expr_fail(&parser->lexer, CTX_E_LIMIT, at,
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
		return expr_fail(&parser->lexer, CTX_E_ARG, info->at,
				 "a number is wanted: a text goes with IN, or with == and != behind THRID, "
				 "PROCID, METRIC, STATE, HTYPE, IOTYPE and IOFNAME");
	case EXPR_TYPE_SET:
		return expr_fail(&parser->lexer, CTX_E_ARG, info->at,
				 "a number is wanted: functions go with IN, SOME IN and ORDERED IN");
	case EXPR_TYPE_FRAMES:
		break;
	}
	return expr_fail(&parser->lexer, CTX_E_ARG, info->at,
			 "a number is wanted: LEAF and STACK go with IN, SOME IN and ORDERED IN");
}

static enum ctx_status check_integer(const struct parser *parser, uint32_t node)
{
	enum ctx_status status = check_number(parser, node);

	if (status == CTX_OK && node_of(parser, node)->type == EXPR_TYPE_REAL)
		return expr_fail(&parser->lexer, CTX_E_ARG, node_of(parser, node)->at,
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
static enum ctx_status make_stack_test(struct parser *parser, enum expr_op op, size_t at, uint32_t left,
				       uint32_t right, uint32_t *ret)
{
	bool left_set = is_set(parser, left), right_set = is_set(parser, right);
	uint32_t frames = left_set ? right : left;
	bool leaf = node_of(parser, frames)->op == EXPR_LEAF;
	struct expr_node node = {.op = EXPR_TEST, .left = left, .right = right, .at = (uint32_t)at};
	struct expr_test test = {.set = left_set ? left : right};
	enum ctx_status status;

	if (left_set == right_set || node_of(parser, frames)->type != EXPR_TYPE_FRAMES)
		return expr_fail(&parser->lexer, CTX_E_ARG, at,
				 "IN wants LEAF or STACK on one side, and functions on the other");
	if (op == EXPR_ORDERED_IN && (!left_set || leaf))
		return expr_fail(&parser->lexer, CTX_E_ARG, at, "ORDERED IN wants STACK on its right side");
	if (op == EXPR_ORDERED_IN)
		test.kind = EXPR_TEST_ORDERED;
	else if (leaf)
		test.kind = left_set && op == EXPR_IN ? EXPR_TEST_ONLY_LEAF : EXPR_TEST_LEAF;
	else if (op == EXPR_SOME_IN)
		test.kind = EXPR_TEST_SOME;
	else
		test.kind = left_set ? EXPR_TEST_ALL : EXPR_TEST_EVERY;
	status = add_test(parser, test, at, &node.test);
	return status == CTX_OK ? add_node(parser, node, ret) : status;
}

static enum ctx_status make_name_test(struct parser *parser, enum expr_op op, size_t at, uint32_t left,
				      uint32_t right, uint32_t *ret)
{
	uint32_t name = node_of(parser, left)->op == EXPR_NAME ? left : right;
	uint32_t text = name == left ? right : left;
	const struct expr_node *info = node_of(parser, name);
	struct expr_node node = {.op = EXPR_NAME_LIKE, .left = name, .right = text, .at = (uint32_t)at};
	struct expr_test test = {.kind = EXPR_TEST_NAME_VALUE, .set = text, .name = info->name};
	bool named = info->name == CTX_NAME_THRID || info->name == CTX_NAME_PROCID ||
		     info->name == CTX_NAME_METRIC || info->name == CTX_NAME_STATE ||
		     info->name == CTX_NAME_HTYPE || info->name == CTX_NAME_IOTYPE ||
		     info->name == CTX_NAME_IOFNAME;
	enum ctx_status status;

	if (info->op != EXPR_NAME || !named || node_of(parser, text)->op != EXPR_STRING)
		return check_number(parser, is_set(parser, left) ? left : right);
	status = add_test(parser, test, at, &node.test);
	if (status == CTX_OK)
		status = add_node(parser, node, ret);
	if (status == CTX_OK && op == EXPR_UNEQUAL)
		status = add_node(parser,
				  (struct expr_node){.op = EXPR_NOT, .left = *ret, .at = (uint32_t)at}, ret);
	return status;
}

/* ---- operators ---- */

/* As in C; tests of stacks stand with the comparisons. 0: no binary operator. */
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

static enum ctx_status make_binary(struct parser *parser, enum expr_op op, size_t at, uint32_t left,
				   uint32_t right, uint32_t *ret)
{
	struct expr_node node = {.op = op, .left = left, .right = right, .at = (uint32_t)at};
	bool arithmetic = precedence(op) >= precedence(EXPR_ADD);
	enum ctx_status status;

	if (op == EXPR_IN || op == EXPR_SOME_IN || op == EXPR_ORDERED_IN)
		return make_stack_test(parser, op, at, left, right, ret);
	if ((op == EXPR_EQUAL || op == EXPR_UNEQUAL) && is_set(parser, left) != is_set(parser, right))
		return make_name_test(parser, op, at, left, right, ret);
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
	return expr_lex(&parser->lexer);
}

/* ---- what stands between operators ---- */

/* Whether it stands beside IN. */
static bool is_function(const struct expr_lexer *lexer)
{
	const char *before = lexer->text + lexer->at, *behind = before + lexer->length;

	while (before > lexer->text && (before[-1] == ' ' || before[-1] == '('))
		before--;
	behind += strspn(behind, " )");
	return (before - lexer->text >= 3 && strncasecmp(before - 3, " IN", 3) == 0) ||
	       strncasecmp(behind, "IN ", 3) == 0 || strncasecmp(behind, "SOME IN", 7) == 0 ||
	       strncasecmp(behind, "ORDERED IN", 10) == 0 || *behind == ',';
}

/* What is near it, where little has to be changed; else all names. */
static enum ctx_status refuse_name(const struct expr_lexer *lexer)
{
	const char *word = lexer->text + lexer->at;
	int shown = (int)(lexer->length < 40 ? lexer->length : 40);
	struct ctx_near near = {0};
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < CTX_COUNT_OF(foreign_names); i++) {
		if (expr_is_word(lexer, foreign_names[i].text))
			return expr_fail(lexer, CTX_E_ARG, lexer->at, "no name '%.*s': %s", shown, word,
					 foreign_names[i].advice);
	}
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N; i++) {
		ctx_near_consider(&near, names[i], strlen(names[i]), word, lexer->length);
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
					 names[i]);
	}
	if (is_function(lexer))
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "functions are in quotes: \"%.*s\"", shown,
				 word);
	if (near.n != 0) {
		ctx_near_list(&near, known, sizeof(known));
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "no name '%.*s', perhaps %s", shown, word,
				 known);
	}
	return expr_fail(lexer, CTX_E_ARG, lexer->at,
			 "no name '%.*s' (%s; LEAF, STACK, FNAME(\"...\"), LNAME(\"...\"))", shown, word,
			 known);
}

static enum ctx_status parse_name(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	struct expr_node node = {.op = EXPR_NAME, .at = (uint32_t)lexer->at};
	enum ctx_status status;

	node.name = ctx_expression_find_name(lexer->text + lexer->at, lexer->length);
	if (node.name == CTX_EXPRESSION_NAMES_N)
		return refuse_name(lexer);
	status = add_node(parser, node, ret);
	return status == CTX_OK ? lex(parser) : status;
}

/* The lexer is at the string; it goes on behind it. */
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
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "'(' is missing behind %.*s", length,
				 lexer->text + at);
	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_STRING)
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "%.*s wants a pattern in quotes", length,
				 lexer->text + at);
	if (status == CTX_OK)
		status = parse_string(parser, op, EXPR_TYPE_SET, at, ret);
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_CLOSE)
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "')' is missing behind the pattern");
	return status == CTX_OK ? lex(parser) : status;
}

static enum ctx_status parse_word(struct parser *parser, uint32_t *ret)
{
	const struct expr_lexer *lexer = &parser->lexer;
	struct expr_node frames = {.type = EXPR_TYPE_FRAMES, .at = (uint32_t)lexer->at};
	bool leaf = expr_is_word(lexer, "LEAF");
	enum ctx_status status;

	if (expr_is_word(lexer, "FNAME"))
		return parse_functions(parser, EXPR_STRING, ret);
	if (expr_is_word(lexer, "LNAME") || expr_is_word(lexer, "OBJECT"))
		return parse_functions(parser, EXPR_OBJECT, ret);
	if (!leaf && !expr_is_word(lexer, "STACK"))
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
			return expr_fail(&parser->lexer, CTX_E_ARG, node_of(parser, items[n - 1])->at,
					 "a list has names of functions, each a text or FNAME(\"...\")");
		if (parser->lexer.token != EXPR_TOKEN_COMMA)
			break;
		if (n == CTX_EXPRESSION_TESTS_MAX)
			return expr_fail(&parser->lexer, CTX_E_LIMIT, parser->lexer.at,
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

/* Words that other languages have for operators. */
static enum ctx_status refuse_operator(const struct expr_lexer *lexer, const char *otherwise)
{
	static const struct {
		const char *word, *operator;
	} words[] = {{"AND", "&&"}, {"OR", "||"},	   {"EQ", "=="},
		     {"NE", "!="},  {"SOMEIN", "SOME IN"}, {"ORDEREDIN", "ORDERED IN"},
		     {"MOD", "%"},  {"XOR", "^"}};

	for (size_t i = 0; lexer->token == EXPR_TOKEN_WORD && i < CTX_COUNT_OF(words); i++) {
		if (expr_is_word(lexer, words[i].word))
			return expr_fail(lexer, CTX_E_ARG, lexer->at, "the operator is '%s'",
					 words[i].operator);
	}
	return expr_fail(lexer, CTX_E_ARG, lexer->at, "%s", otherwise);
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
						      : "an operator or ')' is missing in front of this");
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
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "a number or name is missing");
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
		return expr_fail(&parser->lexer, CTX_E_LIMIT, parser->lexer.at,
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
			status = make_binary(parser, op, at, left, right, ret);
	}
	return status;
}

/* Behind the '?'. */
static enum ctx_status parse_branches(struct parser *parser, uint32_t condition, size_t at, uint32_t *ret)
{
	struct expr_node node = {.op = EXPR_CONDITION, .left = condition, .at = (uint32_t)at};
	enum ctx_status status = check_number(parser, condition);

	if (status == CTX_OK)
		status = lex(parser);
	if (status == CTX_OK)
		status = parse_condition(parser, &node.right);
	if (status == CTX_OK && parser->lexer.token != EXPR_TOKEN_COLON)
		return expr_fail(&parser->lexer, CTX_E_ARG, parser->lexer.at,
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
		return expr_fail(lexer, CTX_E_ARG, lexer->at, "')' without '('");
	if (status == CTX_OK && lexer->token != EXPR_TOKEN_END)
		return refuse_operator(lexer, "an operator is missing in front of this");
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
		status = expr_fail(&parser.lexer, CTX_E_LIMIT, 0,
				   "the expression is too large: it has more than %u bytes",
				   CTX_EXPRESSION_TEXT_MAX);
	else
		status = parse_all(&parser);
	if (status != CTX_OK) {
		ctx_expression_destroy(expression);
		return status;
	}
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
