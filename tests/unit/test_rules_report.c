/*
 * What rules find, printed in four formats, with names that would be markup; and the rows that rules are applied to, of a
 * source that is made up.
 */
#include "fake_source.h"
#include "report/rule_evidence.h"
#include "report/rule_rows.h"
#include "report/rules_report.h"
#include "report_printing.h"

#include <libxml/parser.h>
#include <math.h>

#define MS UINT64_C(1000000)

/* ---- formats ---- */

#define FIGURES (CTX_RULE_MEASURES_MAX * CTX_RULE_WEIGHTINGS)

static const char hostile[] = "a<b>&\"'|*_`[x](y)@me #1 ~~ \x1b[31m\xff\xe2\x80\xae\xef\xbf\xbf]]>\n!";

static const char text[] =
	"function.self.ms > 1 && change > 1% -> fail \"{function} of {object}: {a} -> {b}\"\n"
	"function{^a<b>}.self.ms > 1 -> warn\n"
	"run.wall > 1 -> note \"]]> -->\"\n";

struct world {
	struct ctx_rule_figure figures[30][FIGURES], run[FIGURES];
	struct ctx_rule_row functions[30], of_run;
	struct ctx_rule_rows rows;
	struct fake_source fakes[3];
	struct ctx_report_source *sources[3];
	struct ctx_diff_side sides[CTX_COMPARE_SIDES];
	struct ctx_metric_info metric;
	struct ctx_profile profile;
};

static void world_make(struct world *world, bool compared)
{
	static const char *const paths[] = {"base.db:1", "a<b>&\"\xff.er", "new.er"};

	*world = (struct world){.rows = {.compared = compared}};
	for (size_t i = 0; i < 30; i++) {
		struct ctx_rule_figure *figure =
			&world->figures[i][ctx_rule_figure_at(CTX_RULE_SELF, CTX_RULE_ABSOLUTE)];

		*figure = (struct ctx_rule_figure){true,	{i == 1 ? 0 : 10, 10 + (double)i},
						   (double)NAN, (double)NAN,
						   (double)NAN, "slower"};
		world->functions[i] = (struct ctx_rule_row){i == 0   ? hostile
							    : i == 1 ? "new<one>"
								     : "plain",
							    "lib&.so", world->figures[i]};
	}
	world->figures[0][ctx_rule_figure_at(CTX_RULE_SELF, CTX_RULE_ABSOLUTE)].value[1] = 99.5;
	world->run[ctx_rule_figure_at(CTX_RULE_RUN_WALL, CTX_RULE_ABSOLUTE)] =
		(struct ctx_rule_figure){true, {120e3, 110e3}, -2, -1, 0.01, "faster"};
	world->of_run = (struct ctx_rule_row){"", "", world->run};
	world->rows.tables[CTX_RULE_FUNCTION] = (struct ctx_rule_table){world->functions, 30, NULL};
	world->rows.tables[CTX_RULE_RUN] = (struct ctx_rule_table){&world->of_run, 1, NULL};
	world->rows.tables[CTX_RULE_HEAP].missing = "a recording has no allocations (ctxrec --heap)";
	world->profile = (struct ctx_profile){.metrics = &world->metric, .n_metrics = 1};
	for (size_t i = 0; i < 3; i++) {
		world->fakes[i] = (struct fake_source){.profile = &world->profile, .path = paths[i]};
		world->sources[i] = fake_open(&world->fakes[i]);
	}
	world->sides[CTX_COMPARE_A] = (struct ctx_diff_side){world->sources, compared ? 2 : 0};
	world->sides[CTX_COMPARE_B] = (struct ctx_diff_side){world->sources + 2, 1};
}

static char *print(const struct world *world, const char *rules_text, enum ctx_rules_format format,
		   size_t limit)
{
	struct ctx_rules *rules = NULL;
	struct ctx_rule_findings findings;
	struct ctx_rules_report report = {
		.findings = &findings, .name = "a<b>&\".rules", .sides = world->sides, .limit = limit};
	struct ctx_err err = {0};
	char *out = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&out, &n);

	if (ctx_rules_parse(rules_text, strlen(rules_text), &rules, NULL, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	report.rules = rules;
	assert_int_equal(ctx_rules_apply(rules, &world->rows, &findings, &err), CTX_OK);
	assert_int_equal(ctx_rules_report_print(&report, format, file, &err), CTX_OK);
	fclose(file);
	ctx_rule_findings_deinit(&findings);
	ctx_rules_destroy(rules);
	return out;
}

static void assert_xml(const char *xml)
{
	xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), "rules.xml", NULL, XML_PARSE_NONET);

	assert_non_null(document);
	xmlFreeDoc(document);
}

static void assert_formats(const struct world *world, const char *rules, const char *name)
{
	static const char *const endings[] = {"", ".json", ".md", ".xml"};

	for (enum ctx_rules_format format = CTX_RULES_TEXT; format <= CTX_RULES_JUNIT; format++) {
		char *out = print(world, rules, format, 20), path[100];

		snprintf(path, sizeof(path), "%s%s", name, endings[format]);
		assert_golden(path, out);
		assert_harmless(out, format == CTX_RULES_JSON ? CTX_REPORT_JSON : CTX_REPORT_HTML, 0);
		if (format == CTX_RULES_JSON)
			assert_json(out);
		if (format == CTX_RULES_JUNIT)
			assert_xml(out);
		free(out);
	}
}

static void test_rules_report__prints_in_four_formats(void **state)
{
	char rules[500];
	struct world world;

	(void)state;
	world_make(&world, true);
	snprintf(rules, sizeof(rules), "%sheap.peak > 500M -> fail\nrun.wall < 0 -> fail", text);
	assert_formats(&world, rules, "rules");
	world_make(&world, false);
	assert_formats(&world, rules, "rules-one-side");
}

static void test_rules_report__names_are_no_markup(void **state)
{
	struct world world;
	char *out;

	(void)state;
	world_make(&world, true);
	out = print(&world, "function.self.ms > 1 -> fail \"{function}\"", CTX_RULES_MARKDOWN, 0);
	assert_null(strstr(out, "@me"));
	assert_null(strstr(out, "#1 "));
	assert_null(strstr(out, "<b>"));
	assert_null(strstr(out, "[x](y)"));
	free(out);
	out = print(&world, "function.self.ms > 1 -> fail \"{function}\"", CTX_RULES_JUNIT, 0);
	assert_null(strstr(out, "<b>"));
	assert_null(strstr(out, "\xef\xbf\xbf"));
	assert_xml(out);
	free(out);
}

/* ---- rows ---- */

/* Two threads, main (0) calls solve (1): 30 ms in main, 70 ms in solve, in a run of 200 ms. */
struct recording {
	struct ctx_function_info functions[2];
	struct ctx_object_info object;
	struct ctx_thread_info threads[3];
	struct ctx_process_info process;
	struct ctx_metric_info metric;
	struct ctx_profile profile;
	struct ctx_histogram histogram;
	struct ctx_report_part part;
	struct ctx_traced operations[4];
	struct ctx_report_states states;
	struct ctx_report_waits waits[2];
	struct fake_source fake;
	struct ctx_report_source *source;
};

static struct recording *recording_new(uint64_t solve_ms)
{
	static const uint32_t parents[] = {0, 0, 1}, keys[] = {CTX_TRIE_ROOT_KEY, 0, 1};
	struct recording *r = calloc(1, sizeof(*r));
	uint32_t *parent = malloc(sizeof(parents)), *key = malloc(sizeof(keys));

	assert_true(r != NULL && parent != NULL && key != NULL);
	memcpy(parent, parents, sizeof(parents));
	memcpy(key, keys, sizeof(keys));
	r->functions[0] = (struct ctx_function_info){.name = "main", .linkage_name = "main", .aliases = ""};
	r->functions[1] = (struct ctx_function_info){.name = "solve", .linkage_name = "solve", .aliases = ""};
	r->object = (struct ctx_object_info){.path = "/usr/bin/app-1.2", .build_id = "", .symbols = ""};
	r->process = (struct ctx_process_info){.command = "app", .life = {0, 200 * MS}};
	for (unsigned i = 0; i < 3; i++)
		r->threads[i] = (struct ctx_thread_info){.tid = 1 + i,
							 .name = i == 0	  ? "app"
								 : i == 1 ? "worker-1"
									  : "worker-2",
							 .life = {0, 200 * MS},
							 .weight = i == 0 ? 30 * MS : i * 10 * MS};
	r->metric = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	r->profile = (struct ctx_profile){.name = "x.er",
					  .run = {0, 200 * MS},
					  .has_states = true,
					  .functions = r->functions,
					  .n_functions = 2,
					  .objects = &r->object,
					  .n_objects = 1,
					  .threads = r->threads,
					  .n_threads = 3,
					  .processes = &r->process,
					  .n_processes = 1,
					  .metrics = &r->metric,
					  .n_metrics = 1,
					  .traced = {[CTX_TRACED_HEAP] = 4}};
	r->profile.losses.samples = 3;
	assert_int_equal(ctx_trie_take(&r->profile.cct, parent, key, 3, NULL), CTX_OK);
	assert_int_equal(
		ctx_histogram_add(&r->histogram, (struct ctx_hist_entry){30 * MS, 30, 0, 1, 0}, NULL),
		CTX_OK);
	assert_int_equal(ctx_histogram_add(&r->histogram,
					   (struct ctx_hist_entry){solve_ms * MS, solve_ms, 0, 2, 0}, NULL),
			 CTX_OK);
	r->part = (struct ctx_report_part){CTX_NONE, &r->histogram};
	for (unsigned i = 0; i < 4; i++)
		r->operations[i] =
			(struct ctx_traced){.time_ns = i * MS,
					    .kind = CTX_TRACED_HEAP,
					    .operation = i == 2 ? CTX_HEAP_FREE : CTX_HEAP_ALLOCATE,
					    .address = i == 2 ? 16 : 16 + 16 * i,
					    .size = i == 2 ? 0 : 1000 * (i + 1),
					    .file = CTX_NONE,
					    .leaked = i == 3,
					    .leaked_size = i == 3 ? 4000 : 0};
	r->states = (struct ctx_report_states){.ns = {[CTX_STATE_USER] = 80 * MS,
						      [CTX_STATE_SYSTEM] = 20 * MS,
						      [CTX_STATE_SLEEP] = 300 * MS}};
	r->waits[0] = (struct ctx_report_waits){.state = CTX_STATE_DATA_FAULT,
						.stack = 2,
						.waits = 2,
						.wait_ns = 40 * MS,
						.wait_max_ns = 30 * MS};
	r->waits[1] = (struct ctx_report_waits){
		.state = CTX_STATE_SLEEP, .stack = 1, .waits = 1, .wait_ns = 10 * MS, .wait_max_ns = 10 * MS};
	r->fake = (struct fake_source){.profile = &r->profile,
				       .path = "x.er",
				       .intervals = &r->profile.run,
				       .n_intervals = 1,
				       .parts = &r->part,
				       .n_parts = 1,
				       .states = &r->states,
				       .n_states = 1,
				       .waits = r->waits,
				       .n_waits = 2};
	r->fake.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){r->operations, 4};
	r->source = fake_open(&r->fake);
	return r;
}

static void recording_free(struct recording *r)
{
	ctx_histogram_deinit(&r->histogram);
	ctx_trie_deinit(&r->profile.cct);
	free(r);
}

static const struct ctx_weighting *units_of_work; /* of --per-count; NULL: not known */

/* What a rule finds in the sources: messages, each ended by '|'. */
static const char *found(const struct ctx_diff_side sides[CTX_COMPARE_SIDES], const char *rule)
{
	static char out[2000];
	struct ctx_rule_world_spec spec = {.sides = {sides[0], sides[1]}, .per_count = units_of_work};
	struct ctx_rules *rules = NULL;
	struct ctx_rule_findings findings;
	struct ctx_rule_world *world = NULL;
	struct ctx_err err = {0};
	size_t n = 0;

	if (ctx_rules_parse(rule, strlen(rule), &rules, NULL, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	spec.rules = rules;
	if (ctx_rule_world_make(&spec, &world, &err) != CTX_OK) {
		snprintf(out, sizeof(out), "%s", err.msg);
		ctx_rules_destroy(rules);
		return out;
	}
	assert_int_equal(ctx_rules_apply(rules, ctx_rule_world_rows(world), &findings, &err), CTX_OK);
	out[0] = '\0';
	for (size_t i = 0; i < findings.n; i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s|", findings.items[i].message);
	if (findings.unjudged[0] != NULL)
		snprintf(out, sizeof(out), "?%s", findings.unjudged[0]);
	ctx_rule_findings_deinit(&findings);
	ctx_rule_world_destroy(world);
	ctx_rules_destroy(rules);
	return out;
}

static void test_rules_report__rows_of_a_recording(void **state)
{
	static const char *const cases[][2] = {
		{"function.self.ms > 1 -> note \"{name} {object} {b} {function.self.share} "
		 "{function.self.per_second}\"",
		 "solve app-1.2 70.0 ms 70.00 % 350.00 per s|main app-1.2 30.0 ms 30.00 % 150.00 per s|"},
		{"function.total.share > 1% -> note \"{name} {b}\"", "main 100.00 %|solve 70.00 %|"},
		{"object.self.share > 1% -> note \"{name} {b}\"", "app-1.2 100.00 %|"},
		{"thread.total.ms > 1 -> note \"{name} {b}\"", "app 30.0 ms|worker-* 30.0 ms|"},
		{"state.user.share > 1% -> note \"{b} {state.user.ms} {state.sleep.share}\"",
		 "20.00 % 80.0 ms 75.00 %|"},
		{"wait.any.ms > 1 -> note \"{b} {wait.page_fault} {wait.other} {wait.lock} {wait.any.share} "
		 "{wait.any.per_second}\"",
		 "50.0 ms 40.0 ms 10.0 ms 0.0 ms 12.50 % 250.00 per s|"},
		{"wait.count > 1 -> note \"{b} {wait.count.per_second} {wait.longest} {wait.lock_count} "
		 "{wait.lock_longest}\"",
		 "3 15.00 per s 30.0 ms 0 0.0 ms|"},
		{"function.self.per_count > 1 -> note \"{b}\"",
		 "?how much work was done is not said: --per-count"},
		{"heap.peak > 1 -> note \"{b} {heap.leaked} {heap.allocated} {heap.allocations} "
		 "{heap.allocations.per_second}\"",
		 "5.9 KiB 3.9 KiB 6.8 KiB 3 15.00 per s|"},
		{"run.wall > 1 -> note \"{b} {run.cpu} {run.cpu.share} {run.samples} {run.lost}\"",
		 "200.0 ms 100.0 ms 50.00 % 100 3|"},
		{"function.self change > 1% -> note", "?it compares two sides: --diff"},
	};
	struct recording *recording = recording_new(70);
	const struct ctx_diff_side sides[CTX_COMPARE_SIDES] = {{NULL, 0}, {&recording->source, 1}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		if (strcmp(found(sides, cases[i][0]), cases[i][1]) != 0)
			fail_msg("%s\nfinds %s\ninstead of %s", cases[i][0], found(sides, cases[i][0]),
				 cases[i][1]);
	}
	recording->profile.has_states = false;
	recording->profile.traced[CTX_TRACED_HEAP] = 0;
	assert_string_equal(found(sides, "wait.any > 1 -> note"), "?a recording has no thread states");
	assert_string_equal(found(sides, "heap.peak > 1 -> note"),
			    "?a recording has no allocations (ctxrec --heap)");
	assert_string_equal(found(sides, "run.cpu > 1 -> note"), "run.cpu: 100.0 ms|");
	recording->metric.unit = CTX_UNIT_EVENTS;
	assert_string_equal(
		found(sides, "function.self.ms > 1 -> note"),
		"?it asks for times, and the metric 'cpu-clock' of x.er is none: shares are known, or "
		"--metric");
	assert_string_equal(found(sides, "function.self.share > 1% -> note \"{function.self.ms}\""),
			    found(sides, "function.self.ms > 1 -> note"));
	assert_string_equal(found(sides, "function.self.share > 50% -> note"), "solve: 70.00 %|");
	recording_free(recording);
}

/* Of a side that did 4 units of work, and one that did 8. */
static void test_rules_report__figures_by_unit_of_work(void **state)
{
	const struct ctx_weighting weighting = {.weights = CTX_WEIGHTS_PER_COUNT, .counts = {4, 8}};
	struct recording *recordings[] = {recording_new(70), recording_new(70)};
	const struct ctx_diff_side sides[CTX_COMPARE_SIDES] = {{&recordings[0]->source, 1},
							       {&recordings[1]->source, 1}};

	(void)state;
	units_of_work = &weighting;
	assert_string_equal(found(sides, "run.cpu.per_count > 1 -> note \"{a} {b} {wait.count.per_count}\""),
			    "25 12.5 0.375|");
	/* By their sums alone: the fake has no samples. */
	recordings[0]->profile.losses.sample_blocks = recordings[1]->profile.losses.sample_blocks = true;
	assert_string_equal(found(sides, "function.self.per_count > 1 -> note \"{name} {a} {b} {change}\""),
			    "solve 17.5 8.75 -50.0 %|main 7.5 3.75 -50.0 %|");
	units_of_work = NULL;
	recording_free(recordings[0]);
	recording_free(recordings[1]);
}

/* Of an archived run the figures that it kept, of the whole alone. */
static void test_rules_report__an_archived_run_has_kept_figures(void **state)
{
	static const struct ctx_interval part = {0, 100 * MS};
	struct ctx_kept_figure figures[] = {{"wait.mutex", 12}, {"heap.peak", 2048}};
	struct recording *recording = recording_new(70);
	const struct ctx_diff_side sides[CTX_COMPARE_SIDES] = {{NULL, 0}, {&recording->source, 1}};

	(void)state;
	recording->profile.losses.sample_blocks = true;
	recording->profile.losses.figures = figures;
	recording->profile.losses.n_figures = 2;
	assert_string_equal(found(sides, "wait.mutex > 1 -> note \"{b} {wait.any} {heap.peak}\""),
			    "12.0 ms - 2.0 KiB|");
	recording->fake.intervals = &part;
	recording->fake.n_intervals = 1;
	recording->source = fake_open(&recording->fake);
	assert_non_null(strstr(found(sides, "wait.mutex > 1 -> note"), "only the whole is known"));
	recording_free(recording);
}

/* ---- evidence ---- */

/* The two-sample t test by hand: means 11 and 21, variance 1 and 1, n 3 and 3: t = 12.25 with 4 degrees of freedom. */
static void test_rules_report__several_recordings_are_evidence(void **state)
{
	static const double values[] = {10, 11, 12, 20, 21, 22, 5, 5, 5, 5, 5, 5, 0, 0, 0, 9, 9, 9};
	struct ctx_rule_figure figures[3] = {{.known = true}, {.known = true}, {.known = true}};
	struct ctx_rule_row rows[3] = {
		{"a", "", &figures[0]}, {"b", "", &figures[1]}, {"c", "", &figures[2]}};
	const struct ctx_rule_sums sums = {values, 3, {3, 3}, false}, pair = {values, 1, {1, 1}, false};

	(void)state;
	assert_int_equal(ctx_rule_sums_judge(&sums, rows, 0, NULL), CTX_OK);
	assert_true(figures[0].value[0] == 11 && figures[0].value[1] == 21);
	assert_true(fabs(figures[0].p - 0.000255) < 0.00001);
	assert_true(fabs(figures[0].low - (10 - 2.776 * sqrt(2.0 / 3))) < 0.01);
	assert_string_equal(figures[0].verdict, "slower");
	assert_string_equal(figures[1].verdict, "no evidence");
	assert_true(figures[1].p == 1);
	assert_string_equal(figures[2].verdict, "new");
	figures[0] = (struct ctx_rule_figure){.known = true, .p = (double)NAN};
	assert_int_equal(ctx_rule_sums_judge(&pair, rows, 0, NULL), CTX_OK);
	assert_true(figures[0].value[0] == 10 && figures[0].value[1] == 11);
	assert_string_equal(figures[0].verdict, "no evidence");
	assert_true(isnan(figures[0].p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_report__prints_in_four_formats),
		cmocka_unit_test(test_rules_report__names_are_no_markup),
		cmocka_unit_test(test_rules_report__rows_of_a_recording),
		cmocka_unit_test(test_rules_report__figures_by_unit_of_work),
		cmocka_unit_test(test_rules_report__an_archived_run_has_kept_figures),
		cmocka_unit_test(test_rules_report__several_recordings_are_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
