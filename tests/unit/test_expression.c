/*
 * Expressions of filters against a slow evaluator of its own, against C, and against stacks that
 * are walked frame by frame.
 */
#include "chance.h"
#include "failing_malloc.h"
#include "model/expression.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ctx_expression *parse(const char *text)
{
	struct ctx_expression *expression = NULL;
	struct ctx_err err = {0};

	if (ctx_expression_parse(text, &expression, NULL, &err) != CTX_OK)
		fail_msg("%s: %s", text, err.msg);
	return expression;
}

static struct ctx_value value_of(const char *text)
{
	struct ctx_expression_subject subject = {0};
	struct ctx_expression *expression = parse(text);
	struct ctx_value value;

	for (int i = 0; i < CTX_EXPRESSION_NAMES_N; i++)
		subject.values[i] = 100 + i;
	value = ctx_expression_evaluate(expression, &subject);
	ctx_expression_destroy(expression);
	return value;
}

static void assert_integer(const char *text, int64_t wanted)
{
	struct ctx_value value = value_of(text);

	if (value.kind != CTX_VALUE_INTEGER || value.integer != wanted)
		fail_msg("%s: kind %d, %lld instead of %lld", text, (int)value.kind, (long long)value.integer,
			 (long long)wanted);
}

static void assert_real(const char *text, double wanted)
{
	struct ctx_value value = value_of(text);

	if (value.kind != CTX_VALUE_REAL || memcmp(&value.real, &wanted, sizeof(wanted)) != 0)
		fail_msg("%s: kind %d, %g instead of %g", text, (int)value.kind, value.real, wanted);
}

static void assert_none(const char *text)
{
	if (value_of(text).kind != CTX_VALUE_NONE)
		fail_msg("%s has a value", text);
}

/* ---- numbers ---- */

static void test_expression__integers_are_exact(void **state)
{
	(void)state;
	assert_integer("0", 0);
	assert_integer("007", 7);
	assert_integer("5e8", 500000000);
	assert_integer("5E+8", 500000000);
	assert_integer("1.5e9", 1500000000);
	assert_integer("2.50e1", 25);
	assert_integer("100e-2", 1);
	assert_integer("3.0", 3);
	assert_integer(".5e1", 5);
	assert_integer("4.", 4);
	assert_integer("0.0e-999999999999999999999", 0);
	assert_integer("9223372036854775807", INT64_MAX);
	assert_integer("9.223372036854775807e18", INT64_MAX);
	assert_integer("0x10", 16);
	assert_integer("0xFFFFffffFFFFffff", -1);
	assert_real("9.223372036854775808e18", 0x1p63);
	assert_real("0.5", 0.5);
	assert_real("1e-3", 0.001);
	assert_real("12.75e-1", 1.275);
	assert_real("1e300", 1e300);
}

static void test_expression__integers_become_decimals_beside_decimals(void **state)
{
	(void)state;
	assert_real("1 + 0.5", 1.5);
	assert_real("7 / 0.5", 14.0);
	assert_integer("7 / 2", 3);
	assert_integer("-7 / 2", -3);
	assert_integer("-7 % 3", -1);
	assert_integer("1 < 1.5", 1);
	assert_integer("1.5 == 3 / 2.0", 0);	  /* 2.0 is whole: an integer */
	assert_integer("0.5 == 1 / 2.5 + .1", 1); /* 0.4 + 0.1 */
	assert_real("0 ? 0.5 : 2", 2.0);
	assert_integer("!0.5", 0);
	assert_integer("0.5 && 0.25", 1);
	assert_real("-0.5", -0.5);
}

static void test_expression__missing_values_propagate(void **state)
{
	(void)state;
	assert_none("1 / 0");
	assert_none("1 % 0");
	assert_none("0.5 / 0");
	assert_none("1 + 1 / 0");
	assert_none("!(1 / 0)");
	assert_none("1 / 0 || 1");
	assert_none("1 / 0 ? 1 : 2");
	assert_none("9223372036854775807 + 1");
	assert_none("-9223372036854775807 - 2");
	assert_none("4611686018427387904 * 2");
	assert_none("-0x8000000000000000");
	assert_none("0x8000000000000000 / -1");
	assert_none("0x8000000000000000 % -1");
	assert_none("1 << 64");
	assert_none("1 << -1");
	assert_none("1 >> 64");
	assert_none("1e300 * 1e300");
	/* It is not looked at. */
	assert_integer("1 || 1 / 0", 1);
	assert_integer("0 && 1 / 0", 0);
	assert_integer("1 ? 2 : 1 / 0", 2);
}

static void test_expression__filters_and_keys_without_a_value(void **state)
{
	static const struct {
		const char *text;
		int64_t key;
		bool is_true;
	} cases[] = {{"1 / 0", -1, false}, {"0", 0, false},	  {"2.5", 2, true},  {"-2.5", -3, true},
		     {"1e300", -1, true},  {"-9.3e18", -1, true}, {"0.0", 0, false}, {"-0.25", -1, true}};
	struct ctx_expression_subject subject = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctx_expression *expression = parse(cases[i].text);

		assert_int_equal(ctx_expression_key(expression, &subject), cases[i].key);
		assert_int_equal(ctx_expression_is_true(expression, &subject), cases[i].is_true);
		ctx_expression_destroy(expression);
	}
}

/* ---- precedence: what the compiler makes of the same text ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#else
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#endif

#define AS_IN_C(...) assert_integer(#__VA_ARGS__, (__VA_ARGS__))

static void test_expression__precedence_is_that_of_c(void **state)
{
	(void)state;
	AS_IN_C(1 || 0 && 0);
	AS_IN_C(0 && 0 || 1);
	AS_IN_C(4 && 1 | 0);
	AS_IN_C(6 | 1 ^ 7);
	AS_IN_C(5 ^ 4 & 1);
	AS_IN_C(6 & 3 == 3);
	AS_IN_C(6 & 3 != 3);
	AS_IN_C(2 == 1 < 3);
	AS_IN_C(1 < 2 == 1);
	AS_IN_C(3 > 2 > 1);
	AS_IN_C(1 <= 2 << 1);
	AS_IN_C(16 >> 1 >= 8);
	AS_IN_C(1 << 2 + 3);
	AS_IN_C(64 >> 3 - 1);
	AS_IN_C(2 + 3 * 4);
	AS_IN_C(20 - 6 / 4);
	AS_IN_C(20 - 9 % 4);
	AS_IN_C(20 - 5 - 3);
	AS_IN_C(100 / 5 / 2);
	AS_IN_C(100 % 30 % 7);
	AS_IN_C(2 * 9 % 4);
	AS_IN_C(1 << 2 << 3);
	AS_IN_C(-3 + 5);
	AS_IN_C(- -3);
	AS_IN_C(~1 & 7);
	AS_IN_C(!0 + 1);
	AS_IN_C(!!7 * 3);
	AS_IN_C(-2 * -3);
	AS_IN_C(1 ? 2 : 3 + 4);
	AS_IN_C(0 ? 2 : 1 ? 3 : 4);
	AS_IN_C(1 ? 0 ? 5 : 6 : 7);
	AS_IN_C(1 || 0 ? 2 : 3);
	AS_IN_C((1 + 2) * (3 - -4));
}

#pragma GCC diagnostic pop

/* ---- expressions by chance ---- */

struct tree {
	char op[3]; /* "" number, "n" name, one or two bytes of an operator, "?" */
	int64_t number;
	struct tree *left, *right, *third;
};

static const struct {
	const char *op;
	int precedence;
} operators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},	{"==", 6},
		 {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
		 {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static struct tree *make_tree(unsigned depth)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	uint64_t kind = depth == 0 ? below(2) : below(8);

	assert_non_null(tree);
	if (kind == 0) {
		tree->number = (int64_t)(next_random() >> below(64) >> 1);
	} else if (kind == 1) {
		strcpy(tree->op, "n");
		tree->number = (int64_t)below(CTX_EXPRESSION_NAMES_N);
	} else if (kind == 2) {
		static const char signs[][2] = {"-", "!", "~"};

		strcpy(tree->op, signs[below(3)]);
		tree->left = make_tree(depth - 1);
	} else if (kind == 3) {
		strcpy(tree->op, "?");
		tree->left = make_tree(depth - 1);
		tree->right = make_tree(depth - 1);
		tree->third = make_tree(depth - 1);
	} else {
		strcpy(tree->op, operators[below(sizeof(operators) / sizeof(operators[0]))].op);
		tree->left = make_tree(depth - 1);
		tree->right = make_tree(depth - 1);
	}
	return tree;
}

static void free_tree(struct tree *tree)
{
	if (tree == NULL)
		return;
	free_tree(tree->left);
	free_tree(tree->right);
	free_tree(tree->third);
	free(tree);
}

static int precedence_of(const struct tree *tree)
{
	if (strcmp(tree->op, "?") == 0)
		return 0;
	for (size_t i = 0; tree->right != NULL && i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (strcmp(operators[i].op, tree->op) == 0)
			return operators[i].precedence;
	}
	return 11;
}

/* With parentheses where they are needed, and some where they are not. */
static void print_tree(const struct tree *tree, int least, FILE *out)
{
	int precedence = precedence_of(tree);
	bool closed = precedence < least || below(10) == 0;

	if (closed)
		fputs(below(2) != 0 ? "(" : " ( ", out);
	if (tree->op[0] == '\0') {
		fprintf(out, below(4) == 0 ? "0x%llx" : "%lld", (long long)tree->number);
	} else if (strcmp(tree->op, "n") == 0) {
		fputs(ctx_expression_name((enum ctx_expression_name)tree->number), out);
	} else if (tree->right == NULL) {
		fputs(tree->op, out);
		print_tree(tree->left, 11, out);
	} else if (tree->third != NULL) {
		print_tree(tree->left, 1, out);
		fputs("?", out);
		print_tree(tree->right, 0, out);
		fputs(":", out);
		print_tree(tree->third, 0, out);
	} else {
		print_tree(tree->left, precedence, out);
		fprintf(out, below(2) != 0 ? "%s" : " %s ", tree->op);
		print_tree(tree->right, precedence + 1, out);
	}
	if (closed)
		fputs(")", out);
}

/* False: no value. */
static bool fit(__int128 wide, int64_t *ret)
{
	*ret = (int64_t)wide;
	return wide >= INT64_MIN && wide <= INT64_MAX;
}

static bool slow_binary(const char *op, __int128 a, __int128 b, int64_t *ret)
{
	const char *both = op[1] != '\0' ? op : NULL;

	if (both != NULL && op[0] == op[1] && strchr("<>", op[0]) != NULL) {
		if (b < 0 || b > 63)
			return false;
		*ret = op[0] == '<' ? (int64_t)((uint64_t)a << (int)b) : (int64_t)(a >> (int)b);
		return true;
	}
	if (both != NULL)
		return fit(strcmp(op, "==") == 0   ? a == b
			   : strcmp(op, "!=") == 0 ? a != b
			   : strcmp(op, "<=") == 0 ? a <= b
						   : a >= b,
			   ret);
	switch (op[0]) {
	case '|':
		return fit(a | b, ret);
	case '^':
		return fit(a ^ b, ret);
	case '&':
		return fit(a & b, ret);
	case '<':
		return fit(a < b, ret);
	case '>':
		return fit(a > b, ret);
	case '+':
		return fit(a + b, ret);
	case '-':
		return fit(a - b, ret);
	case '*':
		return fit(a * b, ret);
	case '/':
		return b != 0 && fit(a / b, ret);
	default:
		/* The quotient that does not fit has no remainder either. */
		return b != 0 && fit(a / b, ret) && fit(a % b, ret);
	}
}

static bool slow_value(const struct tree *tree, const int64_t *values, int64_t *ret)
{
	int64_t a, b;

	if (tree->left == NULL) {
		*ret = tree->op[0] == 'n' ? values[tree->number] : tree->number;
		return tree->op[0] != 'n' || *ret != CTX_EXPRESSION_NO_VALUE;
	}
	if (!slow_value(tree->left, values, &a))
		return false;
	if (tree->right == NULL)
		return fit(tree->op[0] == '-' ? -(__int128)a : tree->op[0] == '!' ? !a : ~(__int128)a, ret);
	if (tree->third != NULL)
		return slow_value(a != 0 ? tree->right : tree->third, values, ret);
	if (strcmp(tree->op, "||") == 0 && a != 0)
		return fit(1, ret);
	if (strcmp(tree->op, "&&") == 0 && a == 0)
		return fit(0, ret);
	if (!slow_value(tree->right, values, &b))
		return false;
	if (strcmp(tree->op, "||") == 0 || strcmp(tree->op, "&&") == 0)
		return fit(b != 0, ret);
	return slow_binary(tree->op, a, b, ret);
}

static void check_tree(const struct tree *tree)
{
	static char text[1 << 16];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct ctx_expression *expression;

	assert_non_null(out);
	print_tree(tree, 0, out);
	fclose(out);
	expression = parse(text);
	for (int round = 0; round < 5; round++) {
		struct ctx_expression_subject subject = {0};
		struct ctx_value value;
		int64_t wanted = 0;
		bool has_value;

		for (int i = 0; i < CTX_EXPRESSION_NAMES_N; i++)
			subject.values[i] =
				i > CTX_NAME_SAMPLE && below(4) == 0
					? CTX_EXPRESSION_NO_VALUE
					: (int64_t)(next_random() >> below(64)) * (below(3) == 0 ? -1 : 1);
		subject.values[CTX_NAME_SAMPLE] = -1; /* it is bound to no profile */
		value = ctx_expression_evaluate(expression, &subject);
		has_value = slow_value(tree, subject.values, &wanted);
		if (has_value != (value.kind == CTX_VALUE_INTEGER) || (has_value && value.integer != wanted))
			fail_msg("%s: kind %d, %lld instead of %lld", text, (int)value.kind,
				 (long long)value.integer, (long long)wanted);
	}
	ctx_expression_destroy(expression);
}

static void test_expression__any_expression_has_the_value_of_its_tree(void **state)
{
	(void)state;
	random_state = 77;
	for (unsigned i = 0; i < 20000; i++) {
		struct tree *tree = make_tree(i % 6);

		check_tree(tree);
		free_tree(tree);
	}
}

/* ---- what is wrong ---- */

static void test_expression__errors_have_a_message_and_a_column(void **state)
{
	static const struct {
		const char *text;
		size_t column;
		const char *message;
	} cases[] = {
		{"", 1, "a number or name is missing"},
		{"   ", 4, "a number or name is missing"},
		{"THRID ==", 9, "a number or name is missing"},
		{"THRID == ", 10, "a number or name is missing"},
		{"1 + * 2", 5, "a number or name is missing"},
		{"(1 + 2", 7, "')' is missing"},
		{"(1 2)", 4, "an operator or ')' is missing before this"},
		{"1 + 2)", 6, "')' without '('"},
		{"1 2", 3, "an operator is missing before this"},
		{"THRID = 2", 7, "'=' is not an operator: '==' compares"},
		{"THRIDD == 2", 1, "no name 'THRIDD', perhaps 'THRID'"},
		{"1 + hsiz", 5, "no name 'hsiz', perhaps 'HSIZE'"},
		{"1 AND 2", 3, "the operator is '&&'"},
		{"(1 or 2)", 4, "the operator is '||'"},
		{"STACK SomeIn \"a\"", 7, "the operator is 'SOME IN'"},
		{"NOT 1", 1, "'!' is not"},
		{"LEAF IN burn", 9, "functions are in quotes: \"burn\""},
		{"(burn, \"b\") ORDERED IN STACK", 2, "functions are in quotes: \"burn\""},
		{"burn SOME IN STACK", 1, "functions are in quotes: \"burn\""},
		{"LEAF IN 'burn'", 9, "texts are in double quotes"},
		{"TSTAMP > 1.5s", 10, "'1.5s' is not a number (times are in ns: 5e6 is 5 ms)"},
		{"EXPID == 1", 1, "no name 'EXPID': PROCID is the process"},
		{"size > 1 && iovfd", 13, "no name 'iovfd': IOFD is the descriptor"},
		{"QWERTYUIOP == 2", 1,
		 "no name 'QWERTYUIOP' (THRID, LWPID, PROCID, PID, CPUID, TSTAMP, SECOND, WEIGHT, METRIC, "
		 "STATE, "
		 "DEPTH, SAMPLE, EVT_TIME, SIZE, ADDRESS, HTYPE, HSIZE, HVADDR, HOVADDR, HLEAKED, SRQST, "
		 "SOBJ, "
		 "IOTYPE, IOFD, IONBYTE, IORQST, IOFNAME, VADDR, PADDR, LATENCY, MTYPE, "
		 "MLEVEL, MOBJECT; LEAF, STACK, FNAME(\"...\"), LNAME(\"...\"))"},
		{"1 ? 2", 6, "':' is missing"},
		{"1 ? 2 : ", 9, "a number or name is missing"},
		{"1 : 2", 3, "an operator is missing before this"},
		{"5ms", 1, "'5ms' is not a number"},
		{"1 + 0x", 5, "'0x' is not a number"},
		{"0xg", 1, "'0xg' is not a number"},
		{"1.2.3", 1, "'1.2.3' is not a number"},
		{"2 * 1e", 5, "'1e' is not a number"},
		{"9223372036854775808", 1, "is too large a number"},
		{"1 + 0x10000000000000000", 5, "is too large a number"},
		{"1e999", 1, "is too large a number"},
		{"LEAF IN \"burn", 9, "this text has no end"},
		{"LEAF IN \"burn\\\"", 9, "this text has no end"},
		{"LEAF IN \"(\"", 9, "this is not a valid pattern"},
		{"LEAF IN \"a{1000}{1000}\"", 9, "this pattern is too large"},
		{"LEAF IN \"(a{200}b+){60}\"", 9, "this pattern is too large"},
		{"LEAF IN \"[]a]++++++++++++++\"", 9, "this pattern is too large"},
		{"LEAF IN \"(())++++++++++++++\"", 9, "this pattern is too large"},
		{"LEAF IN \"(a)\\1\"", 9, "references to groups"},
		{"LEAF IN 3", 6, "IN wants LEAF or STACK on one side"},
		{"LEAF IN STACK", 6, "IN wants LEAF or STACK on one side"},
		{"\"a\" IN \"b\"", 5, "IN wants LEAF or STACK on one side"},
		{"LEAF", 1, "LEAF and STACK go with IN"},
		{"1 + STACK", 5, "LEAF and STACK go with IN"},
		{"!LEAF IN \"a\"", 2, "LEAF and STACK go with IN"},
		{"FNAME(\"a\")", 1, "functions go with IN"},
		{"1 && \"a\"", 6, "a text goes with IN"},
		{"TSTAMP == \"a\"", 11, "a text goes with IN"},
		{"FNAME \"a\"", 7, "'(' is missing after FNAME"},
		{"FNAME(a)", 7, "FNAME wants a pattern in quotes"},
		{"FNAME(\"a\"", 10, "')' is missing after the pattern"},
		{"STACK SOME \"a\"", 11, "IN is missing after SOME"},
		{"(\"a\", 1) IN STACK", 7, "a list has names of functions"},
		{"STACK ORDERED IN \"a\"", 7, "ORDERED IN wants STACK on its right side"},
		{"\"a\" ORDERED IN LEAF", 5, "ORDERED IN wants STACK on its right side"},
		{"0.5 | 1", 1, "an integer is wanted"},
		{"1 % 0.5", 5, "an integer is wanted"},
		{"1 << (2 * .5)", 9, "an integer is wanted"},
		{"~0.5", 2, "an integer is wanted"},
		{"1 # 2", 3, "'#' is not known here"},
		{"LEAF IN \"\xc3\xa4\" + \xc3\xa4", 15, "'\xc3\xa4' is not known here"},
		{"1 + \x80", 5, "is not known here"},
		{"(1, 2)", 2, "a list has names of functions"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctx_expression *expression;
		struct ctx_err err = {0};
		size_t column = 0;
		char start[32];

		if (ctx_expression_parse(cases[i].text, &expression, &column, &err) == CTX_OK)
			fail_msg("'%s' was taken", cases[i].text);
		snprintf(start, sizeof(start), "column %zu: ", cases[i].column);
		if (column != cases[i].column || strncmp(err.msg, start, strlen(start)) != 0 ||
		    strstr(err.msg, cases[i].message) == NULL)
			fail_msg("'%s': column %zu instead of %zu: %s", cases[i].text, column,
				 cases[i].column, err.msg);
	}
}

/* `begin`, n times `more`, `end` n times. */
static char *repeated(const char *more, size_t n, const char *middle, const char *end)
{
	char *text = malloc(n * (strlen(more) + strlen(end)) + strlen(middle) + 1), *at = text;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, more);
	at = stpcpy(at, middle);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, end);
	return text;
}

static void check_limit(const char *more, const char *middle, const char *end, size_t fits, size_t refused)
{
	char *good = repeated(more, fits, middle, end), *bad = repeated(more, refused, middle, end);
	struct ctx_expression *expression;
	struct ctx_err err = {0};

	ctx_expression_destroy(parse(good));
	assert_int_equal(ctx_expression_parse(bad, &expression, NULL, &err), CTX_E_LIMIT);
	free(good);
	free(bad);
}

static void test_expression__depth_and_size_are_bounded(void **state)
{
	(void)state;
	check_limit("(", "1", ")", 99, 100);
	check_limit("-", "1", "", 99, 100);
	check_limit("!(", "1", ")", 49, 50);
	check_limit("1?", "1", ":1", 99, 100);
	check_limit("1+", "1", "", 999, 1000);
	check_limit("LEAF IN \"a\" || ", "1", "", 64, 65);
	check_limit("", "1", " ", CTX_EXPRESSION_TEXT_MAX - 1, CTX_EXPRESSION_TEXT_MAX);
	check_limit("\"a\",", "1", "", 0, 0 + 20000);
}

/* ---- stacks ---- */

#define N_FUNCTIONS 6u
#define N_STACKS 400u

static struct ctx_function_info functions[N_FUNCTIONS] = {
	{.name = "main", .linkage_name = "main", .object = 0},
	{.name = "work_a", .linkage_name = "work_a", .object = 0},
	{.name = "work_b(std::vector<int (*)(char)>) const", .linkage_name = "_Z6work_bv", .object = 0},
	{.name = "read", .linkage_name = "__read", .object = 1},
	{.name = "operator()(int) (inlined)", .linkage_name = "_ZclEi", .object = 0, .inlined = true},
	{.name = "<Unknown>", .linkage_name = "<Unknown>", .object = CTX_NONE},
};
static struct ctx_object_info objects[] = {{"/usr/bin/app", "", ""}, {"/usr/lib/libc.so.6", "", ""}};
static struct ctx_process_info processes[] = {{.pid = 70, .command = "./app -x"},
					      {.pid = 71, .command = "sh"}};
static struct ctx_thread_info threads[] = {{.process = 0, .tid = 70, .name = "app"},
					   {.process = 0, .tid = 72, .name = "worker-1"},
					   {.process = 1, .tid = 71, .name = "sh"}};
static struct ctx_metric_info metrics[CTX_STATE_N + 1] = {{.name = "cpu-clock", .word = NULL}};

static void make_profile(struct ctx_profile *profile)
{
	*profile = (struct ctx_profile){.functions = functions,
					.n_functions = N_FUNCTIONS,
					.objects = objects,
					.n_objects = 2,
					.processes = processes,
					.n_processes = 2,
					.threads = threads,
					.n_threads = 3,
					.metrics = metrics,
					.n_metrics = CTX_STATE_N + 1,
					.has_states = true,
					.states = 1};
	for (unsigned i = 0; i < CTX_STATE_N; i++)
		metrics[i + 1].name = ctx_state_name((enum ctx_thread_state)i);
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	random_state = 5;
	while (profile->cct.n < N_STACKS) {
		uint32_t node, parent = (uint32_t)below(profile->cct.n);

		assert_int_equal(
			ctx_trie_child(&profile->cct, parent, (uint32_t)below(N_FUNCTIONS), &node, NULL),
			CTX_OK);
	}
}

/* From the root's child to the leaf. */
static size_t path_of(const struct ctx_trie *cct, uint32_t stack, uint32_t *path)
{
	size_t n = cct->depth[stack];

	for (size_t i = n; i > 0; i--, stack = cct->parent[stack])
		path[i - 1] = cct->key[stack];
	return n;
}

static bool is_in(unsigned set, uint32_t function)
{
	return (set >> function & 1) != 0;
}

static unsigned frames_of(const uint32_t *path, size_t n)
{
	unsigned frames = 0;

	for (size_t i = 0; i < n; i++)
		frames |= 1u << path[i];
	return frames;
}

static bool slow_ordered(const uint32_t *path, size_t n, const unsigned *items, size_t n_items)
{
	for (size_t first = 0; first + n_items <= n; first++) {
		size_t i = 0;

		while (i < n_items && is_in(items[i], path[first + i]))
			i++;
		if (i == n_items)
			return true;
	}
	return false;
}

struct stack_case {
	const char *text;
	char kind; /* leaf, every, some, all, only leaf, ordered */
	unsigned items[3];
	size_t n_items;
};

static bool slow_test(const struct stack_case *test, const uint32_t *path, size_t n)
{
	unsigned set = test->items[0] | test->items[1] | test->items[2], frames = frames_of(path, n);

	switch (test->kind) {
	case 'l':
		return n != 0 && is_in(set, path[n - 1]);
	case 'e':
		return n != 0 && (frames & ~set) == 0;
	case 's':
		return (frames & set) != 0;
	case 'a':
		return set != 0 && (set & ~frames) == 0;
	case '1':
		return n != 0 && set == 1u << path[n - 1];
	default:
		return slow_ordered(path, n, test->items, test->n_items);
	}
}

#define MAIN 1u
#define WORK_A 2u
#define WORK_B 4u
#define READ 8u
#define CALL 16u
#define UNKNOWN 32u

static const struct stack_case stack_cases[] = {
	{"LEAF IN \"main\"", 'l', {MAIN}, 1},
	{"leaf in \"work_.\"", 'l', {WORK_A | WORK_B}, 1}, /* work_b without its parameters */
	{"LEAF IN \"[]a-z]{1,90}(_+)?[a-z]+((a+)*){2}\"", 'l', {MAIN | WORK_A | WORK_B | READ}, 1},
	{"LEAF IN \"work\"", 'l', {0}, 1},
	{"LEAF IN \"_Z6.*|__read\"", 'l', {WORK_B | READ}, 1},
	{"LEAF SOME IN FNAME(\"read\")", 'l', {READ}, 1},
	{"LEAF IN (\"main\", \"read\")", 'l', {MAIN, READ}, 2},
	{"LEAF IN (((\"main\")))", 'l', {MAIN}, 1},
	{"FNAME(\"main\") SOME IN LEAF", 'l', {MAIN}, 1},
	{"LEAF IN \"operator\\(\\)\"", 'l', {CALL}, 1},
	{"LEAF IN \"operator\\(\\)\\(int\\)\"", 'l', {0}, 1},
	{"LEAF IN \"operator\\(\\)\\(int\\) \\(inlined\\)\"", 'l', {CALL}, 1},
	{"LEAF IN LNAME(\"libc.*\")", 'l', {READ}, 1},
	{"LEAF IN OBJECT(\"/usr/.*\")", 'l', {MAIN | WORK_A | WORK_B | READ | CALL}, 1},
	{"LEAF IN \"<Unknown>\"", 'l', {UNKNOWN}, 1},
	{"STACK IN \"main|work_.*\"", 'e', {MAIN | WORK_A | WORK_B}, 1},
	{"STACK IN (LNAME(\"app\"), \"read\")", 'e', {MAIN | WORK_A | WORK_B | CALL, READ}, 2},
	{"STACK SOME IN \"work_.*\"", 's', {WORK_A | WORK_B}, 1},
	{"FNAME(\"work_.*\") SOME IN STACK", 's', {WORK_A | WORK_B}, 1},
	{"STACK SOME  IN \"nothing\"", 's', {0}, 1},
	{"\"main\" IN STACK", 'a', {MAIN}, 1},
	{"FNAME(\"work_.*\") IN STACK", 'a', {WORK_A | WORK_B}, 1},
	{"(\"main\", \"read\", \"work_a\") IN STACK", 'a', {MAIN, READ, WORK_A}, 3},
	{"\"nothing\" IN STACK", 'a', {0}, 1},
	{"\"main\" IN LEAF", '1', {MAIN}, 1},
	{"\"work_.*\" IN LEAF", '1', {WORK_A | WORK_B}, 1},
	{"\"main\" ORDERED IN STACK", 'o', {MAIN}, 1},
	{"(\"main\", \"work_.*\") ORDERED IN STACK", 'o', {MAIN, WORK_A | WORK_B}, 2},
	{"(\"main\", \"main\", \"read|main\") ordered in stack", 'o', {MAIN, MAIN, READ | MAIN}, 3},
	{"(\"main\", \"nothing\") ORDERED IN STACK", 'o', {MAIN, 0}, 2},
};

static void check_stacks(const struct ctx_profile *profile, const struct stack_case *test)
{
	struct ctx_expression *expression = parse(test->text);
	uint32_t path[N_STACKS];

	assert_int_equal(ctx_expression_bind(expression, profile, NULL), CTX_OK);
	for (uint32_t stack = 0; stack < profile->cct.n; stack++) {
		struct ctx_expression_subject subject = {.stack = stack};
		bool wanted = slow_test(test, path, path_of(&profile->cct, stack, path));

		if (ctx_expression_is_true(expression, &subject) != wanted)
			fail_msg("%s: stack %u should be %d", test->text, stack, wanted);
	}
	ctx_expression_destroy(expression);
}

static void test_expression__tests_of_stacks_equal_a_walk(void **state)
{
	struct ctx_profile profile;

	(void)state;
	make_profile(&profile);
	for (size_t i = 0; i < sizeof(stack_cases) / sizeof(stack_cases[0]); i++)
		check_stacks(&profile, &stack_cases[i]);
	ctx_trie_deinit(&profile.cct);
}

static bool holds(const struct ctx_profile *profile, const char *text, const struct ctx_sample *sample)
{
	struct ctx_expression *expression = parse(text);
	struct ctx_expression_subject subject;
	bool result;

	assert_int_equal(ctx_expression_bind(expression, profile, NULL), CTX_OK);
	ctx_expression_subject_of(profile, sample, &subject);
	result = ctx_expression_is_true(expression, &subject);
	ctx_expression_destroy(expression);
	return result;
}

static void test_expression__names_are_those_of_the_sample(void **state)
{
	struct ctx_profile profile;
	struct ctx_sample sample = {.time_ns = 2500000000,
				    .weight = UINT64_MAX,
				    .stack = 17,
				    .thread = 1,
				    .cpu = -1,
				    .metric = 1 + CTX_STATE_SLEEP};
	char depth[32];

	(void)state;
	make_profile(&profile);
	snprintf(depth, sizeof(depth), "DEPTH == %u", profile.cct.depth[17]);
	assert_true(holds(&profile, "THRID == 1 && LWPID == 72 && PROCID == 0 && PID == 70", &sample));
	assert_true(holds(&profile, "CPUID == -2 && TSTAMP == 2500000000 && Second == 2", &sample));
	assert_true(holds(&profile, "WEIGHT == 9223372036854775807", &sample));
	assert_true(holds(&profile, depth, &sample));
	assert_true(holds(&profile, "STATE == 7 && METRIC == 8", &sample));
	assert_true(holds(&profile, "STATE == \"SLEEP\" && \"sleep\" == STATE", &sample));
	assert_true(holds(&profile, "STATE != \"USER.*\" && METRIC == \"S.*\"", &sample));
	assert_true(holds(&profile, "THRID == \"worker-[0-9]\" && PROCID != \"sh\"", &sample));
	assert_false(holds(&profile, "THRID == \"worker\"", &sample));
	sample.metric = 1 + CTX_STATE_SYSTEM;
	assert_true(holds(&profile, "CPUID == -1 && STATE == \"SYSTEM\"", &sample));
	sample.metric = 0;
	assert_true(holds(&profile, "CPUID == -1", &sample));
	assert_true(holds(&profile, "STATE == -1 && STATE != \".*\" && METRIC == \"cpu-clock\"", &sample));
	sample.thread = CTX_NONE;
	assert_true(holds(&profile, "THRID == -1 && LWPID == -1 && PROCID == -1 && PID == -1", &sample));
	assert_false(holds(&profile, "THRID == \".*\"", &sample));
	ctx_trie_deinit(&profile.cct);
}

static bool holds_of(const struct ctx_profile *profile, const char *text, const struct ctx_traced *operation)
{
	struct ctx_expression *expression = parse(text);
	struct ctx_sample sample = {.time_ns = operation->time_ns, .cpu = -1, .metric = 0};
	struct ctx_expression_subject subject;
	bool result;

	assert_int_equal(ctx_expression_bind(expression, profile, NULL), CTX_OK);
	ctx_expression_subject_of(profile, &sample, &subject);
	ctx_expression_subject_add(operation, &subject);
	result = ctx_expression_is_true(expression, &subject);
	ctx_expression_destroy(expression);
	return result;
}

static void test_expression__operations_have_their_own_names(void **state)
{
	static const char *files[] = {"/tmp/a", "/tmp/b"};
	const struct ctx_traced heap = {.time_ns = 700,
					.kind = CTX_TRACED_HEAP,
					.operation = CTX_HEAP_REALLOCATE,
					.size = 64,
					.address = UINT64_MAX,
					.old_address = 0x10100,
					.leaked = true,
					.leaked_size = 60,
					.file = CTX_NONE};
	const struct ctx_traced wait = {
		.time_ns = 700, .duration_ns = 900, .kind = CTX_TRACED_SYNC, .address = 5, .file = CTX_NONE};
	const struct ctx_traced read = {.time_ns = 700,
					.duration_ns = 100,
					.kind = CTX_TRACED_IO,
					.size = 11,
					.file = 1,
					.descriptor = 3};
	const struct ctx_traced failed = {
		.time_ns = 700, .kind = CTX_TRACED_IO, .file = CTX_NONE, .descriptor = -1, .failed = true};
	struct ctx_profile profile;

	(void)state;
	make_profile(&profile);
	profile.files = files;
	profile.n_files = 2;
	assert_true(holds_of(&profile, "HTYPE==2 && HSIZE==64 && SIZE==64 && HLEAKED==60", &heap));
	assert_true(holds_of(&profile, "HVADDR==-1 && ADDRESS==HVADDR && HOVADDR==0x10100", &heap));
	assert_true(
		holds_of(&profile, "HTYPE==\"realloc\" && HTYPE==\"reallocate\" && HTYPE!=\"mmap\"", &heap));
	assert_true(holds_of(&profile, "SOBJ==5 && ADDRESS==5 && EVT_TIME==900 && duration==900", &wait));
	assert_true(holds_of(&profile, "SRQST==0", &wait)); /* it began before the run */
	assert_true(holds_of(&profile, "IOTYPE==0 && IOTYPE==\"read\" && IONBYTE==11 && SIZE==11 && IOFD==3",
			     &read));
	assert_true(holds_of(&profile, "IORQST==600 && IOFNAME==\"/tmp/b\" && FILE==1 && FILE!=\"/tmp/a\"",
			     &read));
	assert_true(holds_of(&profile, "IOTYPE==5 && IOTYPE==\"read error\" && IONBYTE==-1 && IOFNAME==-1",
			     &failed));
	/* What it has not has no value: neither a test nor its opposite holds. */
	assert_false(holds_of(&profile, "HSIZE>=0", &read));
	assert_false(holds_of(&profile, "!(HSIZE>=0)", &read));
	assert_false(holds_of(&profile, "EVT_TIME>=0 || 1", &heap));
	assert_true(holds_of(&profile, "1 || EVT_TIME>=0", &heap));
	assert_false(holds_of(&profile, "SIZE>=0", &wait));
	assert_false(holds_of(&profile, "ADDRESS>=0", &read));
	assert_false(holds(&profile, "SIZE>=0 || ADDRESS>=0", &(struct ctx_sample){.time_ns = 1}));
	ctx_trie_deinit(&profile.cct);
}

static int64_t sample_at(struct ctx_profile *profile, uint32_t thread, uint64_t time_ns)
{
	struct ctx_sample sample = {.time_ns = time_ns, .thread = thread};
	struct ctx_expression *expression = parse("SAMPLE");
	struct ctx_expression_subject subject;
	int64_t key;

	assert_int_equal(ctx_expression_bind(expression, profile, NULL), CTX_OK);
	ctx_expression_subject_of(profile, &sample, &subject);
	key = ctx_expression_key(expression, &subject);
	ctx_expression_destroy(expression);
	return key;
}

#define SPAN_LAST_NS UINT64_C(2999999999)

/* The last nanosecond of each part with one key, of a span of thread 2 from 0 to SPAN_LAST_NS. */
static void assert_key_until(const struct ctx_profile *profile, const char *text, const uint64_t *lasts,
			     size_t n)
{
	const struct ctx_sample span = {.time_ns = SPAN_LAST_NS, .weight = SPAN_LAST_NS + 1, .thread = 2};
	struct ctx_expression *expression = parse(text);
	struct ctx_expression_subject subject;
	uint64_t at = 0;

	assert_int_equal(ctx_expression_bind(expression, profile, NULL), CTX_OK);
	ctx_expression_subject_of(profile, &span, &subject);
	for (size_t i = 0; i < n; i++, at++) {
		ctx_expression_subject_at(at, &subject);
		at = ctx_expression_key_until(expression, &subject, SPAN_LAST_NS);
		if (at != lasts[i])
			fail_msg("%s: part %zu ends at %llu", text, i, (unsigned long long)at);
	}
	ctx_expression_destroy(expression);
}

static void test_expression__a_sample_lies_between_two_records_of_its_process(void **state)
{
	/* The first process has a record right at its start, the second one has not. */
	struct ctx_usage_info usage[] = {{.time_ns = 5, .process = 0},
					 {.time_ns = 1000000000, .process = 0},
					 {.time_ns = 1500000000, .process = 1},
					 {.time_ns = 1600000000, .process = 9},
					 {.time_ns = 2000000000, .process = 0}};
	struct ctx_property collector = {"collector", "gprofng 2.40.00"};
	struct ctx_profile profile;

	(void)state;
	make_profile(&profile);
	assert_int_equal(sample_at(&profile, 0, 100), -1);
	profile.usage = usage;
	profile.n_usage = sizeof(usage) / sizeof(usage[0]);
	assert_int_equal(sample_at(&profile, 0, 5), -1);
	assert_int_equal(sample_at(&profile, 0, 6), 1);
	assert_int_equal(sample_at(&profile, 1, 1000000000), 1);
	assert_int_equal(sample_at(&profile, 1, 1000000001), 2);
	assert_int_equal(sample_at(&profile, 1, 2000000000), 2);
	assert_int_equal(sample_at(&profile, 1, 2000000001), -1);
	assert_int_equal(sample_at(&profile, 2, 1), 1);
	assert_int_equal(sample_at(&profile, 2, 1500000000), 1);
	assert_int_equal(sample_at(&profile, 2, 1500000001), -1);
	assert_int_equal(sample_at(&profile, CTX_NONE, 100), -1);
	/* gprofng's first record is the start, even where it comes late. */
	usage[2].time_ns = 1400000000;
	usage[3].process = 1;
	profile.properties = &collector;
	profile.n_properties = 1;
	assert_int_equal(sample_at(&profile, 2, 1400000000), -1);
	assert_int_equal(sample_at(&profile, 2, 1400000001), 1);
	assert_int_equal(sample_at(&profile, 2, 1600000000), 1);
	/* Along a span: -1 before and after the records, too. */
	assert_key_until(&profile, "SAMPLE", (const uint64_t[]){1400000000, 1600000000, SPAN_LAST_NS}, 3);
	ctx_trie_deinit(&profile.cct);
}

static void test_expression__a_pattern_that_is_not_bound_matches_nothing(void **state)
{
	(void)state;
	assert_integer("LEAF IN \".*\"", 0);
	assert_integer("STATE == \".*\"", 0);
}

/* What fits nothing, as "entity pattern\n" for each. */
static void assert_unfit(const char *text, const struct ctx_profile *profile, const char *expected)
{
	struct ctx_expression *expression = parse(text);
	struct ctx_expression_unfit unfit;
	struct ctx_err err = {0};
	char found[256] = "";
	size_t at = 0;

	assert_int_equal(ctx_expression_bind(expression, profile, &err), CTX_OK);
	while (ctx_expression_next_unfit(expression, &at, &unfit)) {
		size_t used = strlen(found);

		snprintf(found + used, sizeof(found) - used, "%s %s\n", unfit.entity, unfit.pattern);
	}
	assert_string_equal(found, expected);
	ctx_expression_destroy(expression);
}

static void test_expression__reports_patterns_that_match_nothing(void **state)
{
	struct ctx_profile profile;

	(void)state;
	make_profile(&profile);
	assert_unfit("LEAF IN \"main\" || STATE==\"sleep\" || THRID==1", &profile, "");
	assert_unfit("STATE!=\"SLEEEP\"", &profile, "state SLEEEP\n");
	assert_unfit("LEAF IN \"mian\" && (\"main\", \"work*\") ORDERED IN STACK", &profile,
		     "function mian\nfunction work*\n");
	assert_unfit("STACK SOME IN LNAME(\"libnone.so\") || IOTYPE==\"raed\"", &profile,
		     "load object libnone.so\noperation raed\n");
	ctx_trie_deinit(&profile.cct);
}

static void test_expression__knows_which_names_it_uses(void **state)
{
	struct ctx_expression *alone = parse("((tstamp))"), *more = parse("TSTAMP / CPUID");

	(void)state;
	assert_int_equal(ctx_expression_only_name(alone), CTX_NAME_TSTAMP);
	assert_int_equal(ctx_expression_only_name(more), CTX_EXPRESSION_NAMES_N);
	assert_true(ctx_expression_uses(more, CTX_NAME_CPUID));
	assert_false(ctx_expression_uses(more, CTX_NAME_THRID));
	assert_int_equal(ctx_expression_asks_operations(more), CTX_EXPRESSION_NAMES_N);
	ctx_expression_destroy(more);
	more = parse("TSTAMP ? SIZE : IOFD");
	assert_int_equal(ctx_expression_asks_operations(more), CTX_NAME_SIZE);
	assert_int_equal(ctx_expression_kinds(CTX_NAME_SIZE), 1u << CTX_TRACED_HEAP | 1u << CTX_TRACED_IO);
	assert_int_equal(ctx_expression_kinds(CTX_NAME_SAMPLE), 0);
	ctx_expression_destroy(alone);
	ctx_expression_destroy(more);
}

static void test_expression__short_memory_is_a_status(void **state)
{
	static const char text[] =
		"(\"main\", \"work_.*\") ORDERED IN STACK || (\"main\", \"read\") IN STACK "
		"|| LEAF IN LNAME(\"app\") || STATE == \"SLEEP\" || 1.5e-3 > TSTAMP || SAMPLE == 3";
	struct ctx_profile profile;
	long n = 0;

	(void)state;
	make_profile(&profile);
	for (bool done = false; !done; n++) {
		struct ctx_expression *expression = NULL;
		struct ctx_err err = {0};
		enum ctx_status status;

		fail_after = n;
		status = ctx_expression_parse(text, &expression, NULL, &err);
		if (status == CTX_OK)
			status = ctx_expression_bind(expression, &profile, &err);
		done = fail_after >= 0;
		fail_after = -1;
		assert_int_equal(status, done ? CTX_OK : CTX_E_NOMEM);
		ctx_expression_destroy(expression);
	}
	assert_true(n > 10);
	ctx_trie_deinit(&profile.cct);
}

/* ---- along a span ---- */

static void test_expression__a_span_is_divided_where_the_value_changes(void **state)
{
	static const struct {
		const char *text;
		uint64_t lasts[6];
	} cases[] = {
		{"SECOND", {999999999, 1999999999, SPAN_LAST_NS}},
		{"TSTAMP / 1000000000", {999999999, 1999999999, SPAN_LAST_NS}},
		{"TSTAMP * 1e-9", {999999999, 1999999999, SPAN_LAST_NS}},
		{"TSTAMP / 0.7e9", {699999999, 1399999999, 2099999999, 2799999999, SPAN_LAST_NS}},
		{"-SECOND % 2 == 0", {999999999, 1999999999, SPAN_LAST_NS}},
		{"TSTAMP >> 30", {(1 << 30) - 1, 2147483647, SPAN_LAST_NS}},
		{"TSTAMP & 0x40000000", {(1 << 30) - 1, 2147483647, SPAN_LAST_NS}},
		{"(TSTAMP | 0x3fffffff) ^ -1", {(1 << 30) - 1, 2147483647, SPAN_LAST_NS}},
		{"TSTAMP > 5 && (TSTAMP < 8 || TSTAMP >= 2e9)", {5, 7, 1999999999, SPAN_LAST_NS}},
		{"TSTAMP == 100", {99, 100, SPAN_LAST_NS}},
		{"TSTAMP >= 3e9 ? TSTAMP : 1", {SPAN_LAST_NS}},
		{"WEIGHT == 3e9 && THRID == 2", {SPAN_LAST_NS}},
		{"TSTAMP + 1 / 0", {SPAN_LAST_NS}},
	};
	struct ctx_profile profile;

	(void)state;
	make_profile(&profile);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = 0;

		while (n < 6 && cases[i].lasts[n] != 0)
			n++;
		assert_key_until(&profile, cases[i].text, cases[i].lasts, n);
	}
	ctx_trie_deinit(&profile.cct);
}

/* Puts TSTAMP, and numbers that it is going to have, into half of the leaves. */
static void use_time(struct tree *tree, uint64_t first)
{
	if (tree == NULL)
		return;
	use_time(tree->left, first);
	use_time(tree->right, first);
	use_time(tree->third, first);
	if (tree->left != NULL || below(2) == 0)
		return;
	memset(tree->op, 0, sizeof(tree->op));
	tree->number = (int64_t)(first + below(200));
	if (below(2) == 0) {
		strcpy(tree->op, "n");
		tree->number = CTX_NAME_TSTAMP;
	}
}

/* Up to the last time of a part every nanosecond has the same value, whatever the expression. */
static void test_expression__the_value_is_the_same_up_to_the_end_of_a_part(void **state)
{
	static char text[1 << 16];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct tree *tree = make_tree((unsigned)i % 5);
		FILE *out = fmemopen(text, sizeof(text), "w");
		struct ctx_expression_subject subject = {0};
		struct ctx_expression *expression;
		uint64_t first = next_random() >> (below(60) + 1), key_until, truth_until;
		int64_t key;
		bool truth;

		assert_non_null(out);
		use_time(tree, first);
		print_tree(tree, 0, out);
		fclose(out);
		free_tree(tree);
		expression = parse(text);
		for (int name = 0; name < CTX_EXPRESSION_NAMES_N; name++)
			subject.values[name] = (int64_t)below(100) - 1;
		ctx_expression_subject_at(first, &subject);
		key = ctx_expression_key(expression, &subject);
		truth = ctx_expression_is_true(expression, &subject);
		key_until = ctx_expression_key_until(expression, &subject, first + 200);
		truth_until = ctx_expression_truth_until(expression, &subject, first + 200);
		assert_in_range(key_until, first, first + 200);
		assert_in_range(truth_until, first, first + 200);
		for (uint64_t at = first; at <= first + 200; at++) {
			ctx_expression_subject_at(at, &subject);
			if ((at <= key_until && ctx_expression_key(expression, &subject) != key) ||
			    (at <= truth_until && ctx_expression_is_true(expression, &subject) != truth))
				fail_msg("%s: %llu is in a part from %llu on", text, (unsigned long long)at,
					 (unsigned long long)first);
		}
		ctx_expression_destroy(expression);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expression__integers_are_exact),
		cmocka_unit_test(test_expression__integers_become_decimals_beside_decimals),
		cmocka_unit_test(test_expression__missing_values_propagate),
		cmocka_unit_test(test_expression__filters_and_keys_without_a_value),
		cmocka_unit_test(test_expression__precedence_is_that_of_c),
		cmocka_unit_test(test_expression__any_expression_has_the_value_of_its_tree),
		cmocka_unit_test(test_expression__errors_have_a_message_and_a_column),
		cmocka_unit_test(test_expression__depth_and_size_are_bounded),
		cmocka_unit_test(test_expression__tests_of_stacks_equal_a_walk),
		cmocka_unit_test(test_expression__names_are_those_of_the_sample),
		cmocka_unit_test(test_expression__operations_have_their_own_names),
		cmocka_unit_test(test_expression__a_sample_lies_between_two_records_of_its_process),
		cmocka_unit_test(test_expression__a_pattern_that_is_not_bound_matches_nothing),
		cmocka_unit_test(test_expression__reports_patterns_that_match_nothing),
		cmocka_unit_test(test_expression__knows_which_names_it_uses),
		cmocka_unit_test(test_expression__short_memory_is_a_status),
		cmocka_unit_test(test_expression__a_span_is_divided_where_the_value_changes),
		cmocka_unit_test(test_expression__the_value_is_the_same_up_to_the_end_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
