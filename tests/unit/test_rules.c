/*
 * Rules: what is refused and where, conditions against a slow evaluation of the same text, messages, and findings.
 */
#include "failing_malloc.h"
#include "rules/rules.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIGURES (CTX_RULE_MEASURES_MAX * CTX_RULE_WEIGHTINGS)

static void assert_refused(const char *text, size_t line, size_t column, const char *part)
{
	struct ctx_rules *rules = NULL;
	struct ctx_rule_place place = {0};
	struct ctx_err err = {0};
	char prefix[64];

	if (ctx_rules_parse(text, strlen(text), &rules, &place, &err) == CTX_OK)
		fail_msg("not refused: %s", text);
	assert_null(rules);
	snprintf(prefix, sizeof(prefix), "line %zu, column %zu: ", line, column);
	if (place.line != line || place.column != column || strncmp(err.msg, prefix, strlen(prefix)) != 0 ||
	    strstr(err.msg, part) == NULL)
		fail_msg("%s\nis refused with: %s", text, err.msg);
}

static void test_rules__are_refused_with_the_place(void **state)
{
	(void)state;
	assert_refused("", 1, 1, "there is no rule");
	assert_refused("# nothing\n\n", 3, 1, "there is no rule");
	assert_refused("function.self.share > 1%", 1, 25, "'->' and an action are missing");
	assert_refused("function.self.share > 1% ->", 1, 28, "fail, warn or note");
	assert_refused("function.self.share > 1% -> stop", 1, 29, "fail, warn or note");
	assert_refused("function.self.share > 1% ->\n fial \"x\"", 2, 2, "fail, warn or note");
	assert_refused("funktion.self.share > 1% -> fail", 1, 1, "fields begin with function, object");
	assert_refused("function.selv > 1% -> fail", 1, 10,
		       "no measure of a function: self, total, name, object");
	assert_refused("line.total > 1% -> fail", 1, 6, "no measure of a line: self, name");
	assert_refused("heap.peek > 5 -> fail", 1, 6, "peak, leaked, allocated, allocations");
	assert_refused("function.self.kb > 1 -> fail", 1, 15, "ms, share, per_second, per_count");
	assert_refused("heap.peak.share > 1% -> fail", 1, 11, "which has none");
	assert_refused("heap.allocations.ms > 1 -> fail", 1, 18, ": per_second, per_count");
	assert_refused("function > 1 -> fail", 1, 10, "a '.' and a measure are missing");
	assert_refused("function. > 1 -> fail", 1, 11, "a measure is missing");
	assert_refused("change > 5% -> fail", 1, 1, "must come before it");
	assert_refused("function.self.share > 1 -> fail", 1, 23, "such as 5%");
	assert_refused("heap.peak > 5% -> fail", 1, 11, "a size is compared with a share");
	assert_refused("function.self.ms > 5M && run.cpu > 4B -> fail", 1, 34,
		       "a time is compared with a size");
	assert_refused("run.wall > 5q -> fail", 1, 13, "'q' is no unit of a number");
	assert_refused("run.wall = 5 -> fail", 1, 10, "'==' compares");
	assert_refused("run.wall > -> fail", 1, 12, "a field or number is missing");
	assert_refused("(run.wall > 5 -> fail", 1, 15, "')' is missing");
	assert_refused("run.wall -> fail", 1, 1, "no condition");
	assert_refused("run.wall > 5 && run.cpu -> fail", 1, 17, "no condition");
	assert_refused("!run.wall -> fail", 1, 2, "no condition");
	assert_refused("-(run.wall > 5) > 1 -> fail", 1, 12, "needs a number");
	assert_refused("run.wall verdict > 5 -> fail", 1, 1, "only be compared by == and !=");
	assert_refused("run.wall verdict < \"x\" -> fail", 1, 20, "== and != alone");
	assert_refused("run.wall == \"x\" -> fail", 1, 13, "a number is compared with a text");
	assert_refused("run.wall verdict == \"x -> fail", 1, 21, "has no end");
	assert_refused("run.wall verdict == \"(\" -> fail", 1, 21, "not a valid pattern");
	assert_refused("run.wall verdict == \"((((((x{99}){99}){99}\" -> fail", 1, 21, "too large");
	assert_refused("function{a.self > 1 -> fail", 1, 9, "'}' is missing");
	assert_refused("run{a}.wall > 1 -> fail", 1, 4, "no names");
	assert_refused("function.name == \"x\" -> fail", 1, 1, "no field of numbers");
	assert_refused("function.self > 1 && object.self > 1 -> fail", 1, 22, "not about both");
	assert_refused("run.wall > 1 -> fail \"{nothing}\"", 1, 24, "fields begin with");
	assert_refused("run.wall > 1 -> fail \"{function}\"", 1, 24, "the rule is not about a function");
	assert_refused("run.wall > 1 -> fail \"{object.self}\"", 1, 24, "the rule is not about a object");
	assert_refused("run.wall > 1 -> fail \"{a\"", 1, 23, "'}' is missing");
	assert_refused("run.wall > 1 -> fail \"{a b c}\"", 1, 26, "'}' is missing behind");
	assert_refused("run.wall > 1 -> fail \"a}\"", 1, 24, "'}}' is a brace");
	assert_refused("run.wall > 1 -> fail \"{}\"", 1, 23, "a placeholder is");
	assert_refused("run.wall > 1 -> fail\nrun.wall > 1 -> fail\n  \xc3\xa9 > 1 -> fail", 3, 3,
		       "is not known here");
	assert_refused("run.wall > 1 -> fail \"\xc3\xa9\xc3\xa9 {x}\"", 1, 27, "fields begin with");
}

static void test_rules__of_zero_bytes_and_without_end_are_refused(void **state)
{
	static const char zero[] = "run.wall > 1\0 -> fail";
	struct ctx_rules *rules;
	struct ctx_err err = {0};
	size_t n = CTX_RULES_TEXT_MAX + 1;
	char *text = malloc(n + 1);

	(void)state;
	assert_int_equal(ctx_rules_parse(zero, sizeof(zero) - 1, &rules, NULL, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "a zero byte"));
	assert_non_null(text);
	memset(text, ' ', n);
	assert_int_equal(ctx_rules_parse(text, n, &rules, NULL, &err), CTX_E_LIMIT);
	memset(text, '(', 2000);
	assert_int_equal(ctx_rules_parse(text, 2000, &rules, NULL, &err), CTX_E_LIMIT);
	memset(text, '!', 2000);
	assert_int_equal(ctx_rules_parse(text, 2000, &rules, NULL, &err), CTX_E_LIMIT);
	for (size_t i = 0; i < 2000; i++)
		memcpy(text + 4 * i, "1 + ", 4);
	assert_int_equal(ctx_rules_parse(text, 8000, &rules, NULL, &err), CTX_E_LIMIT);
	free(text);
}

/* ---- values ---- */

/* Two functions, and a row of the run. */
struct world {
	struct ctx_rule_figure figures[2][FIGURES], run[FIGURES];
	struct ctx_rule_row functions[2], of_run;
	struct ctx_rule_rows rows;
};

static struct ctx_rule_figure figure(double a, double b, const char *verdict)
{
	return (struct ctx_rule_figure){true, {a, b}, b - a - 1, b - a + 1, 0.25, verdict};
}

static void world_make(struct world *world, bool compared)
{
	static const char *const names[] = {"parse", "solve(int)"}, *const objects[] = {"app", "libsolve.so"};

	*world = (struct world){.rows = {.compared = compared}};
	for (size_t i = 0; i < 2; i++) {
		struct ctx_rule_figure *own = world->figures[i];

		own[ctx_rule_figure_at(CTX_RULE_SELF, CTX_RULE_ABSOLUTE)] =
			figure(100, i == 0 ? 100 : 150, i == 0 ? "no evidence" : "slower");
		own[ctx_rule_figure_at(CTX_RULE_SELF, CTX_RULE_OF_ALL)] =
			figure(0.10, i == 0 ? 0.08 : 0.12, i == 0 ? "faster" : "slower");
		own[ctx_rule_figure_at(CTX_RULE_TOTAL, CTX_RULE_ABSOLUTE)] = figure(0, i == 0 ? 0 : 7, "new");
		world->functions[i] = (struct ctx_rule_row){names[i], objects[i], own};
	}
	world->run[ctx_rule_figure_at(CTX_RULE_RUN_WALL, CTX_RULE_ABSOLUTE)] = figure(1000, 2000, "slower");
	world->run[ctx_rule_figure_at(CTX_RULE_RUN_SAMPLES, CTX_RULE_ABSOLUTE)] = figure(5000, 6000, NULL);
	world->of_run = (struct ctx_rule_row){"", "", world->run};
	world->rows.tables[CTX_RULE_FUNCTION] = (struct ctx_rule_table){world->functions, 2, NULL};
	world->rows.tables[CTX_RULE_RUN] = (struct ctx_rule_table){&world->of_run, 1, NULL};
	world->rows.tables[CTX_RULE_HEAP].missing = "no heap";
}

/* The messages of all findings, each ended by '|'; "" none; "?REASON" for a rule that was not judged. */
static char *found(const struct world *world, const char *text)
{
	static char out[1000];
	struct ctx_rules *rules;
	struct ctx_rule_findings findings;
	struct ctx_err err = {0};
	size_t n = 0;

	if (ctx_rules_parse(text, strlen(text), &rules, NULL, &err) != CTX_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_int_equal(ctx_rules_apply(rules, &world->rows, &findings, &err), CTX_OK);
	out[0] = '\0';
	for (size_t i = 0; i < findings.n; i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s|", findings.items[i].message);
	for (size_t i = 0; i < findings.n_rules; i++) {
		if (findings.unjudged[i] != NULL)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "?%s", findings.unjudged[i]);
	}
	ctx_rule_findings_deinit(&findings);
	ctx_rules_destroy(rules);
	return out;
}

static void assert_found(const char *text, const char *want)
{
	struct world world;

	world_make(&world, true);
	if (strcmp(found(&world, text), want) != 0)
		fail_msg("%s\nfinds %s\ninstead of %s", text, found(&world, text), want);
}

static void test_rules__find_rows(void **state)
{
	(void)state;
	assert_found("function.self.ms > 120 -> fail \"{name}\"", "solve(int)|");
	assert_found("function.self.ms > 90 -> fail \"{function} of {object}\"",
		     "solve(int) of libsolve.so|parse of app|");
	assert_found("function.self > 0.12s -> fail \"{name}\"", "solve(int)|");
	assert_found("function.self.share > 10% -> fail \"{a} {b} {change} {difference}\"",
		     "10.00 % 12.00 % +20.0 % 2.00 %|");
	/* Each unit has a change and a verdict of its own. */
	assert_found("function.self.share > 1% && change > +5% && verdict == \"slower\" -> fail \"{name}\"",
		     "solve(int)|");
	assert_found("function.self.share > 1% && change < -5% -> fail \"{name} {change} {verdict}\"",
		     "parse -20.0 % faster|");
	assert_found("function.self.ms > 1 && change == 0 -> fail \"{name} {verdict}\"",
		     "parse no evidence|");
	assert_found("function.self.share > 1% && function.self.ms change > 1% -> fail \"{change}\"",
		     "+20.0 %|");
	assert_found("function.total.ms change > 1000% -> fail \"{name} {change}\"", "solve(int) new|");
	assert_found("function.self verdict != \"slower\" -> fail \"{name}\"", "parse|");
	assert_found("function.self verdict == \"slow\" -> fail \"{name}\"", "");
	assert_found("function.self verdict == \"slower|new\" -> fail \"{name}\"", "solve(int)|");
	assert_found("function.self > 1 && function.name == \"par.*\" -> fail \"{name}\"", "parse|");
	assert_found("function.self > 1 && function.object == \"app\" -> fail \"{name}\"", "parse|");
	assert_found("functions{ar}.self > 1 -> fail \"{name}\"", "parse|");
	assert_found("function{^solve}.self > 1 && !(function.self > 1000) -> fail \"{name}\"",
		     "solve(int)|");
	assert_found("function{x}.self > 1 -> fail", "");
	assert_found("run.wall > 1s -> fail", "run.wall: 1000.0 ms -> 2000.0 ms (+100.0 %)|");
	assert_found("run.wall a > 1s -> fail", "");
	assert_found("run.wall b - run.wall a == run.wall difference -> fail \"{difference}\"", "1000.0 ms|");
	assert_found("run.samples > 5k -> fail \"{b}\"", "6000|");
	assert_found("run.samples / run.samples a > 1.1 -> fail \"{b}\"", "6000|");
	assert_found("function.self.ms > 120 && run.wall > 1s -> fail \"{name} {run.wall}\"",
		     "solve(int) 2000.0 ms|");
	assert_found("run.wall p < 0.3 && low < 1s && high > 1s -> fail \"{p} {low} {high}\"",
		     "0.25 999.0 ms 1001.0 ms|");
	assert_found("heap.peak > 1M -> fail", "?no heap");
	assert_found("run.wall > 1 -> fail \"{{}} \\\"{{a}}\\\"\"", "{} \"{a}\"|");
	assert_found("function.self.ms > 120 -> warn", "solve(int): 100.0 ms -> 150.0 ms (+50.0 %)|");
	/* What is not known is neither true nor false. */
	assert_found("run.cpu > 0 -> fail", "");
	assert_found("!(run.cpu > 0) -> fail", "");
	assert_found("run.cpu > 0 || run.wall > 0 -> fail \"x\"", "x|");
	assert_found("run.cpu > 0 && run.wall < 0 || run.wall / 0 > 1 -> fail \"x\"", "");
	assert_found("run.samples verdict == \"slower\" -> fail", "");
	/* Comments, and several rules. */
	assert_found("# one\nrun.wall > 1 # two\n -> note \"#\" # three\nrun.wall > 1 -> warn \"2\"#",
		     "#|2|");
}

static void test_rules__without_a_comparison_have_values_alone(void **state)
{
	struct world world;

	(void)state;
	world_make(&world, false);
	assert_string_equal(found(&world, "function.self.ms > 120 -> fail"), "solve(int): 150.0 ms|");
	assert_string_equal(found(&world, "function.self.ms > 120 -> fail \"{a} {b} {change} {verdict}\""),
			    "- 150.0 ms - slower|");
	assert_string_equal(found(&world, "function.self change > 1% -> fail"),
			    "?it compares two sides: --diff");
}

/* Sizes are powers of 1024, all other numbers with letters of 1000. */
static void test_rules__sizes_are_powers_of_1024(void **state)
{
	struct world world;
	struct ctx_rule_figure heap[FIGURES] = {0};
	struct ctx_rule_row row = {"", "", heap};

	(void)state;
	world_make(&world, false);
	world.rows.tables[CTX_RULE_HEAP] = (struct ctx_rule_table){&row, 1, NULL};
	heap[ctx_rule_figure_at(CTX_RULE_HEAP_PEAK, CTX_RULE_ABSOLUTE)] =
		figure(0, 500.0 * 1024 * 1024, NULL);
	heap[ctx_rule_figure_at(CTX_RULE_HEAP_ALLOCATIONS, CTX_RULE_ABSOLUTE)] = figure(0, 5e6, NULL);
	assert_string_equal(found(&world, "heap.peak >= 500M -> fail"), "heap.peak: 500.0 MiB|");
	assert_string_equal(found(&world, "heap.peak > 500M -> fail"), "");
	assert_string_equal(found(&world, "499.9M < heap.peak -> fail \"{b}\""), "500.0 MiB|");
	assert_string_equal(found(&world, "heap.peak > 0.4G && heap.peak < 0.5G -> fail \"x\""), "x|");
	assert_string_equal(found(&world, "heap.allocations == 5M -> fail \"{b}\""), "5e+06|");
}

/* ---- against the slow way ---- */

static uint64_t seed;

static unsigned chance(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

/* Writes an expression of numbers with all its parentheses, and its value as it is written. */
static double number(char **out, unsigned depth)
{
	double left, right;
	unsigned op = chance(5);

	if (depth == 0 || op == 4) {
		left = chance(3) == 0 ? 2000 : chance(10);
		*out += sprintf(*out, left == 2000 ? "run.wall" : "%g", left);
		return left;
	}
	*out += sprintf(*out, "(");
	left = number(out, depth - 1);
	*out += sprintf(*out, " %c ", "+-*/"[op]);
	right = number(out, depth - 1);
	*out += sprintf(*out, ")");
	return op == 0	    ? left + right
	       : op == 1    ? left - right
	       : op == 2    ? left * right
	       : right != 0 ? left / right
			    : (double)NAN;
}

/* Truth as 1, 0 and NAN. */
static double truth(char **out, unsigned depth)
{
	static const char *const words[] = {"<", "<=", ">", ">=", "==", "!="};
	unsigned op = chance(6);
	double left, right;

	if (depth == 0 || chance(3) == 0) {
		left = number(out, 2);
		*out += sprintf(*out, " %s ", words[op]);
		right = number(out, 2);
		if (isnan(left) || isnan(right))
			return (double)NAN;
		return op == 0	 ? left < right
		       : op == 1 ? left <= right
		       : op == 2 ? left > right
		       : op == 3 ? left >= right
		       : op == 4 ? left == right
				 : left != right;
	}
	if (op == 0) {
		*out += sprintf(*out, "!(");
		left = truth(out, depth - 1);
		*out += sprintf(*out, ")");
		return isnan(left) ? left : 1 - left;
	}
	*out += sprintf(*out, "(");
	left = truth(out, depth - 1);
	*out += sprintf(*out, op < 4 ? ") && (" : ") || (");
	right = truth(out, depth - 1);
	*out += sprintf(*out, ")");
	if (op < 4)
		return left == 0 || right == 0 ? 0 : isnan(left) || isnan(right) ? (double)NAN : 1;
	return left == 1 || right == 1 ? 1 : isnan(left) || isnan(right) ? (double)NAN : 0;
}

/* Units: a time and plain numbers mix, but for a time divided by a time. */
static void test_rules__conditions_are_what_they_say(void **state)
{
	struct world world;
	unsigned truths = 0;

	(void)state;
	world_make(&world, true);
	for (seed = 1; seed < 4000;) {
		uint64_t begin = seed;
		char text[4000], *at = text;
		double want = truth(&at, 3);

		sprintf(at, " || run.samples < 0 -> fail \"x\"");
		if (strcmp(found(&world, text), want == 1 ? "x|" : "") != 0)
			fail_msg("seed %llu: %s is %f", (unsigned long long)begin, text, want);
		truths += want == 1;
		seed = begin + 1;
	}
	assert_in_range(truths, 500, 3500);
}

/* Without parentheses: C's precedence, and from the left. */
static void test_rules__operators_bind_as_in_c(void **state)
{
	(void)state;
	assert_found("run.wall == 1000 + 500 * 2 -> fail \"x\"", "x|");
	assert_found("run.wall == 5000 - 2000 - 1000 -> fail \"x\"", "x|");
	assert_found("run.wall == 16000 / 4 / 2 -> fail \"x\"", "x|");
	assert_found("run.wall < 0 && run.wall < 0 || run.wall > 0 -> fail \"x\"", "x|");
	assert_found("run.wall > 0 || run.wall < 0 && run.wall < 0 -> fail \"x\"", "x|");
	assert_found("run.wall > - - 1 -> fail \"x\"", "x|");
	assert_found("run.wall > +1 -> fail \"x\"", "x|");
}

/* ---- the rest ---- */

static void test_rules__that_come_with_the_program_are_rules(void **state)
{
	struct ctx_rules *rules;
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(
		ctx_rules_parse(ctx_rules_default(), strlen(ctx_rules_default()), &rules, NULL, &err),
		CTX_OK);
	assert_int_equal(ctx_rules_n(rules), 14);
	assert_true(ctx_rules_use(rules, CTX_RULE_FUNCTION, CTX_RULE_SELF, CTX_RULE_OF_ALL));
	assert_true(ctx_rules_use(rules, CTX_RULE_FUNCTION, CTX_RULE_SELF, CTX_RULE_BY_SECOND));
	assert_true(ctx_rules_use(rules, CTX_RULE_FUNCTION, CTX_RULE_SELF, CTX_RULE_BY_COUNT));
	assert_false(ctx_rules_use(rules, CTX_RULE_FUNCTION, CTX_RULE_SELF, CTX_RULE_ABSOLUTE));
	assert_int_equal(ctx_rules_at(rules, 0).action, CTX_RULE_FAIL);
	assert_true(ctx_rules_at(rules, 0).compares);
	assert_int_equal(ctx_rules_at(rules, 0).line, 4);
	assert_string_equal(ctx_rules_at(rules, 0).condition,
			    "function.self.share > 1% && change > +3% && verdict == \"slower|new\"");
	ctx_rules_destroy(rules);
}

static void test_rules__survive_a_lack_of_memory(void **state)
{
	static const char text[] = "function{a}.self > 1 && function.name == \"p.*\" -> fail \"{name} {a}\"";
	struct world world;

	(void)state;
	world_make(&world, true);
	for (long n = 0;; n++) {
		bool failed;

		struct ctx_rules *rules = NULL;
		struct ctx_rule_findings findings = {0};
		enum ctx_status status;

		fail_after = n;
		status = ctx_rules_parse(text, sizeof(text) - 1, &rules, NULL, NULL);
		if (status == CTX_OK)
			status = ctx_rules_apply(rules, &world.rows, &findings, NULL);
		failed = fail_after == -1;
		fail_after = -1;
		if (!failed) {
			assert_int_equal(status, CTX_OK);
			assert_int_equal(findings.n, 1);
		} else {
			assert_int_equal(status, CTX_E_NOMEM);
		}
		ctx_rule_findings_deinit(&findings);
		ctx_rules_destroy(rules);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules__are_refused_with_the_place),
		cmocka_unit_test(test_rules__of_zero_bytes_and_without_end_are_refused),
		cmocka_unit_test(test_rules__find_rows),
		cmocka_unit_test(test_rules__without_a_comparison_have_values_alone),
		cmocka_unit_test(test_rules__sizes_are_powers_of_1024),
		cmocka_unit_test(test_rules__conditions_are_what_they_say),
		cmocka_unit_test(test_rules__operators_bind_as_in_c),
		cmocka_unit_test(test_rules__that_come_with_the_program_are_rules),
		cmocka_unit_test(test_rules__survive_a_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
