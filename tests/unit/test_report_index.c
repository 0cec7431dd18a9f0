/* The report index: keys of every kind, one metric and several, in every format. */
#include "base/mem.h"
#include "failing_malloc.h"
#include "model/code.h"
#include "report/names.h"
#include "report/report.h"
#include "report_fixture.h"
#include "report_printing.h"

#include <string.h>

#define N_ROWS 4u
#define N_METRICS 3u

static struct ctx_metric_info all_metrics[N_METRICS] = {
	{.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS},
	{.name = "User lock", .word = "lock", .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS},
	{.name = "page-faults", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS},
};
static const uint32_t more_metrics[] = {1, 2};
static const int64_t keys[N_ROWS] = {1, -1, 0, 7};
static const struct ctx_report_sum one[N_ROWS] = {{60, 60 * MS}, {1, MS}, {240, 239 * MS}, {0, 0}};
static const struct ctx_report_sum one_total = {301, 300 * MS};
static const struct ctx_report_sum several[N_ROWS * N_METRICS] = {
	{60, 60 * MS},	 {2, 17 * MS},	  {0, 0},      /* 1 */
	{1, MS},	 {0, 0},	  {9, 9},      /* -1 */
	{240, 239 * MS}, {40, 2000 * MS}, {70, 12345}, /* 0 */
	{0, 0},		 {1, 1},	  {0, 0},      /* 7 */
};
static const struct ctx_report_sum several_totals[N_METRICS] = {
	{301, 300 * MS}, {43, 2017 * MS + 1}, {79, 12354}};

/* The key is one for all tests: the last one's. `title` NULL: it is no word. */
static struct ctx_report_index index_of(enum ctx_index_entity entity, const char *title)
{
	static struct ctx_report_index_key by;

	by = (struct ctx_report_index_key){title != NULL ? title : "DEPTH", title != NULL, entity};
	return (struct ctx_report_index){
		.by = &by, .n_by = 1, .keys = keys, .n = N_ROWS, .sums = one, .totals = &one_total};
}

static void give(struct fixture *fixture, const struct ctx_report_index *index)
{
	fixture->input.n_parts = 0;
	fixture->input.index = index;
	fixture->profile.metrics = all_metrics;
	fixture->profile.n_metrics = N_METRICS;
}

static void test_report_index__prints_keys_in_every_format(void **state)
{
	struct ctx_report_index index = index_of(CTX_INDEX_THREAD, "thread");
	struct fixture *fixture = *state;

	give(fixture, &index);
	fixture->input.filter = "filter TSTAMP<5e8";
	assert_every_format("index", &fixture->input, (struct ctx_report_options){0}, "index-threads");
	index = index_of(CTX_INDEX_NUMBER, NULL);
	assert_every_format("index", &fixture->input,
			    (struct ctx_report_options){.sort = "weight", .limit = 2}, "index-numbers");
}

static void test_report_index__several_metrics_are_side_by_side(void **state)
{
	struct ctx_report_index states = index_of(CTX_INDEX_STATE, "state");
	struct fixture *fixture = *state;

	states.sums = several;
	states.totals = several_totals;
	give(fixture, &states);
	fixture->input.more_metrics = more_metrics;
	fixture->input.n_more = 2;
	assert_every_format("index", &fixture->input, (struct ctx_report_options){0}, "index-states-metrics");
}

/*
 * One line with much room, two with some, as many as there are words with none; the longest word
 * stays whole.
 */
static void test_report_index__headings_of_metrics_use_the_available_lines(void **state)
{
	static const struct {
		unsigned width;
		const char *wanted;
	} cases[] = {{200, "\n         cpu-clock ms  Lock ms Bytes sent and received kB\n Weight "},
		     {90, "\n                               Bytes sent and\n"
			  "         cpu-clock ms  Lock ms    received kB\n"},
		     {40, "  Bytes\n                               sent and\n"
			  "                               received\n"
			  "         cpu-clock ms  Lock ms       kB\n Weight "}};
	struct ctx_report_index states = index_of(CTX_INDEX_STATE, "state");
	struct fixture *fixture = *state;
	struct ctx_metric_info *metric, before;

	states.sums = several;
	states.totals = several_totals;
	give(fixture, &states);
	metric = &fixture->profile.metrics[more_metrics[1]];
	before = *metric;
	metric->name = "Bytes sent and received kB";
	metric->unit = CTX_UNIT_NONE;
	fixture->input.more_metrics = more_metrics;
	fixture->input.n_more = 2;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		char *text = print_report("index", &fixture->input,
					  (struct ctx_report_options){.width = cases[i].width});

		if (strstr(text, cases[i].wanted) == NULL)
			fail_msg("%s", text);
		free(text);
	}
	*metric = before;
}

static void test_report_index__names_of_metrics_are_made_safe_in_headings(void **state)
{
	struct ctx_report_index states = index_of(CTX_INDEX_STATE, "state");
	struct fixture *fixture = *state;
	struct ctx_metric_info *named[2], before[2];
	char *text;

	states.sums = several;
	states.totals = several_totals;
	give(fixture, &states);
	fixture->input.more_metrics = more_metrics;
	fixture->input.n_more = 2;
	named[0] = &fixture->profile.metrics[fixture->input.metric];
	named[1] = &fixture->profile.metrics[more_metrics[1]];
	for (size_t i = 0; i < CTX_COUNT_OF(named); i++) {
		before[i] = *named[i];
		named[i]->name = "a\033[31mred";
	}
	text = print_report("index", &fixture->input, (struct ctx_report_options){.width = 200});
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "a\\x1b[31mred ms  Lock ms a\\x1b[31mred events\n"));
	free(text);
	for (size_t i = 0; i < CTX_COUNT_OF(named); i++)
		*named[i] = before[i];
}

/* The lines of CSV behind the header, by their keys. */
static void assert_order(struct fake_source *input, const char *sort, const char *wanted)
{
	char *text = print_report("index", input,
				  (struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = sort});
	char got[128] = "";

	for (char *line = strchr(text, '\n'); line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n'))
		strncat(strcat(got, " "), line + 1, strcspn(line + 1, ","));
	assert_string_equal(got, wanted);
	free(text);
}

static void test_report_index__rows_are_in_order(void **state)
{
	static const int64_t far[N_ROWS] = {INT64_MAX, 0, INT64_MIN, -2};
	struct ctx_report_index index = index_of(CTX_INDEX_NUMBER, NULL);
	struct fixture *fixture = *state;

	give(fixture, &index);
	assert_order(&fixture->input, NULL, " -1 0 1 7");
	assert_order(&fixture->input, "index", " -1 0 1 7");
	assert_order(&fixture->input, "weight", " 0 1 -1 7");
	assert_order(&fixture->input, "samples", " 0 1 -1 7");
	index.keys = far;
	assert_order(&fixture->input, NULL, " -9223372036854775808 -2 0 9223372036854775807");
}

static void test_report_index__names_are_those_of_the_keys(void **state)
{
	static const struct {
		enum ctx_index_entity entity;
		const char *line;
	} cases[] = {{CTX_INDEX_NUMBER, "\n1,,60,60000000\r"},
		     {CTX_INDEX_METRIC, "\n1,\"User lock\",60,60000000\r"},
		     {CTX_INDEX_STATE, "\n7,\"SLEEP\",0,0\r"},
		     {CTX_INDEX_THREAD, "\n7,,0,0\r"}, /* there is none */
		     {CTX_INDEX_PROCESS, "\n-1,\"<Unknown>\",1,1000000\r"}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_report_index index = index_of(cases[i].entity, NULL);
		char *text;

		give(fixture, &index);
		text = print_report("index", &fixture->input,
				    (struct ctx_report_options){.format = CTX_REPORT_CSV});
		if (strstr(text, cases[i].line) == NULL)
			fail_msg("no %s in %s", cases[i].line, text);
		free(text);
	}
}

/* ---- several keys ---- */

#define N_MOST 6u

/* Rows of one metric: the i-th has weight 10 ms * (i + 1), or 0 in the last. */
static struct ctx_report_index index_by(const struct ctx_report_index_key *by, size_t n_by,
					const int64_t *values, size_t n)
{
	static const struct ctx_report_sum sums[N_MOST] = {{10, 10 * MS}, {20, 20 * MS}, {30, 30 * MS},
							   {40, 40 * MS}, {50, 50 * MS}, {0, 0}};
	static const struct ctx_report_sum total = {150, 150 * MS};
	static const char *const names[] = {"app", "worker/1", "worker/*", "sh"};
	static const struct ctx_source_file files[] = {{"/home/user/src/solve.cc", ""}, {"/x/read.c", ""}};

	return (struct ctx_report_index){.by = by,
					 .n_by = n_by,
					 .keys = values,
					 .names = names,
					 .files = files,
					 .n = n,
					 .sums = sums,
					 .totals = &total};
}

static const struct ctx_report_index_key usual[] = {{"command", true, CTX_INDEX_COMMAND},
						    {"object", true, CTX_INDEX_OBJECT},
						    {"function", true, CTX_INDEX_FUNCTION}};
static const int64_t usual_values[] = {0, 1, 3, 0, 0, 1, 3, 2, 4, 0, -1, 6, -1, -1, -1, 3, 0, 2};

static void test_report_index__several_keys_have_a_column_each(void **state)
{
	static const struct ctx_report_index_key many[] = {
		{"thread", true, CTX_INDEX_THREAD},   {"thread-pattern", true, CTX_INDEX_THREAD_PATTERN},
		{"process", true, CTX_INDEX_PROCESS}, {"line", true, CTX_INDEX_LINE},
		{"cpu", true, CTX_INDEX_CPU},	      {"time", true, CTX_INDEX_TIME}};
	static const int64_t many_values[] = {
		0,  0,	0,  CTX_INDEX_LINE_KEY(0, 12), 3,  100000000, 1, 2, 1, -1, CTX_NO_CPU, 0,
		-1, -1, -1, CTX_INDEX_LINE_KEY(1, 7),  -1, -1,
	};
	struct ctx_report_index index = index_by(usual, 3, usual_values, 6);
	struct fixture *fixture = *state;

	give(fixture, &index);
	assert_every_format("index", &fixture->input, (struct ctx_report_options){0}, "index-functions");
	index = index_by(many, 6, many_values, 3);
	assert_every_format("index", &fixture->input, (struct ctx_report_options){0}, "index-many");
}

/* One key that is no expression has the same form. */
static void test_report_index__waits_and_states_have_names(void **state)
{
	static const struct ctx_report_index_key by[] = {{"wait", true, CTX_INDEX_WAIT},
							 {"state", true, CTX_INDEX_STATE}};
	static const int64_t values[] = {1,
					 CTX_STATE_USER_LOCK,
					 CTX_INDEX_ON_CPU,
					 CTX_STATE_USER,
					 CTX_INDEX_WAIT_CPU,
					 CTX_STATE_WAIT_CPU,
					 -1,
					 -1};
	struct ctx_report_index index = index_by(by, 2, values, 4);
	struct fixture *fixture = *state;
	char *text;

	give(fixture, &index);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "   40.000 26.67      40 <Unknown>           <Unknown>\n"
				     "   30.000 20.00      30 <Waiting for a CPU> WAIT_CPU\n"
				     "   20.000 13.33      20 <On a CPU>          USER\n"
				     "   10.000  6.67      10 mutex               USER_LOCK\n"));
	free(text);
	index.n_by = 1;
	index.by = &by[1];
	index.keys = &values[4];
	index.n = 1;
	index.by = &by[0];
	text = print_report("index", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_non_null(
		strstr(text, "{\"wait\":\"<Waiting for a CPU>\",\"samples\":10,\"weight\":10000000}"));
	free(text);
}

static void test_report_index__groups_of_processors_are_in_order(void **state)
{
	static const struct ctx_report_index_key by[] = {{"core", true, CTX_INDEX_CORE},
							 {"socket", true, CTX_INDEX_SOCKET},
							 {"node", true, CTX_INDEX_NODE},
							 {"pmu", true, CTX_INDEX_PMU}};
	static const int64_t values[] = {
		3, 10, 2, 0, 1, 2, 0, 1, CTX_NO_CPU, CTX_NO_CPU, CTX_NO_CPU, CTX_NO_CPU, -1, -1, -1, -1,
	};
	struct ctx_report_index index = index_by(by, 4, values, 4);
	struct fixture *fixture = *state;
	char *text;

	give(fixture, &index);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.width = 100});
	assert_non_null(strstr(text, "<Unknown>           <Unknown>      <Unknown> <Unknown>\n"));
	assert_non_null(strstr(text, "<No processor> <No processor> <No processor> <No processor>\n"));
	assert_non_null(strstr(text, "worker/1                    2              0 worker/1\n"));
	free(text);
	text = print_report("index", &fixture->input,
			    (struct ctx_report_options){.format = CTX_REPORT_JSON, .sort = "Socket"});
	assert_non_null(strstr(
		text,
		"\"rows\":[\n"
		"{\"core\":\"<No processor>\",\"socket\":-2,\"node\":-2,\"pmu\":\"<No "
		"processor>\",\"samples\":30,\"weight\":30000000},\n"
		"{\"core\":null,\"socket\":-1,\"node\":-1,\"pmu\":null,\"samples\":40,\"weight\":40000000},\n"
		"{\"core\":\"worker/1\",\"socket\":2,"));
	free(text);
}

/* The first column of CSV of each row. */
static void assert_words(struct fake_source *input, struct ctx_report_options options, const char *wanted)
{
	char got[256] = "", *text;

	options.format = CTX_REPORT_CSV;
	text = print_report("index", input, options);
	for (char *line = strchr(text, '\n'); line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n'))
		strncat(strcat(got, " "), line + 1, strcspn(line + 1, ",\r"));
	assert_string_equal(got, wanted);
	free(text);
}

static void test_report_index__several_keys_are_sorted_and_limited(void **state)
{
	struct ctx_report_index index = index_by(usual, 3, usual_values, 6);
	struct fixture *fixture = *state;
	struct fake_source *input = &fixture->input;
	struct ctx_err err = {0};

	give(fixture, &index);
	assert_words(input, (struct ctx_report_options){0}, "  \"app\" \"sh\" \"app\" \"app\" \"sh\"");
	assert_words(input, (struct ctx_report_options){.sort = "Samples"},
		     "  \"app\" \"sh\" \"app\" \"app\" \"sh\"");
	assert_words(input, (struct ctx_report_options){.sort = "Command"},
		     "  \"app\" \"app\" \"app\" \"sh\" \"sh\"");
	assert_words(input, (struct ctx_report_options){.sort = "function"},
		     "  \"app\" \"sh\" \"app\" \"app\" \"sh\"");
	assert_words(input, (struct ctx_report_options){.limit = 2}, "  \"app\"");
	assert_words(input, (struct ctx_report_options){.min_percent = 20}, "  \"app\" \"sh\"");
	assert_words(input, (struct ctx_report_options){.min_percent = 20.1}, "  \"app\"");
	assert_int_equal(fake_print("index", input, &(struct ctx_report_options){.sort = "bogus"}, &err),
			 CTX_E_ARG);
	assert_string_equal(err.msg, "index cannot be sorted by 'bogus': known are weight, samples, command, "
				     "object, function");
}

/* Expressions are keys of JSON and titles: any bytes, commas, and names that are there already. */
static void test_report_index__names_of_expressions_are_safe(void **state)
{
	static const struct ctx_report_index_key by[] = {
		{"weight", true, CTX_INDEX_NUMBER},
		{"DEPTH * (LEAF IN (\"a\", \"\033\"))", false, CTX_INDEX_NUMBER}};
	static const int64_t values[] = {5, 1, -1, 0};
	struct ctx_report_index index = index_by(by, 2, values, 2);
	struct fixture *fixture = *state;
	char *text;

	give(fixture, &index);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_harmless(text, CTX_REPORT_JSON, 0);
	assert_non_null(
		strstr(text, "{\"by.weight\":-1,\"DEPTH * (LEAF IN (\\\"a\\\", \\\"\\\\x1b\\\"))\":0,"));
	free(text);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_CSV});
	assert_harmless(text, CTX_REPORT_CSV, 0);
	assert_non_null(strstr(
		text, "by.weight,\"DEPTH * (LEAF IN (\"\"a\"\", \"\"\\x1b\"\"))\",samples,weight\r\n"));
	free(text);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_harmless(text, CTX_REPORT_TEXT, 80);
	free(text);
}

/* Objects with the same file name are shown with their folders. */
static void test_report_index__names_share_the_width(void **state)
{
	static const struct {
		unsigned width;
		const char *wanted;
	} cases[] = {
		{100, " app     libc.so.6 solve<std::vector<double>, 42>(int)\n"},
		{60, " app     libc.so.6 solve<\u2026>(int)\n"},
	};
	static const int64_t values[] = {0, 1, 1, 0, 0, 2};
	struct ctx_report_index index = index_by(usual, 3, values, 2);
	struct fixture *fixture = *state;
	const char *before = objects[0].path;

	give(fixture, &index);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		char *text = print_report("index", &fixture->input,
					  (struct ctx_report_options){.width = cases[i].width});

		assert_fits(text, cases[i].width);
		if (strstr(text, cases[i].wanted) == NULL)
			fail_msg("no %s in %s", cases[i].wanted, text);
		free(text);
	}
	objects[0].path = "/other/libc.so.6";
	for (unsigned width = 60; width <= 120; width += 60) {
		char *text =
			print_report("index", &fixture->input, (struct ctx_report_options){.width = width});

		assert_fits(text, width);
		assert_non_null(strstr(text, width == 60 ? "/libc.so.6" : " /other/libc.so.6 "));
		free(text);
	}
	objects[0].path = before;
}

static void test_report_index__an_empty_index_is_a_valid_report(void **state)
{
	static const struct ctx_report_sum none = {0};
	struct ctx_report_index index = index_of(CTX_INDEX_NUMBER, NULL);
	struct fixture *fixture = *state;
	char *text;

	index.n = 0;
	index.totals = &none;
	give(fixture, &index);
	text = print_report("index", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_json(text);
	assert_non_null(strstr(text, "\"samples\":0,\"weight\":0"));
	free(text);
}

static void fail_everywhere(struct fixture *fixture)
{
	FILE *sink = fopen("/dev/null", "w");
	bool failed = true;
	long n;

	assert_non_null(sink);
	for (n = 0; failed; n++) {
		struct ctx_report_options options = {.out = sink, .format = CTX_REPORT_TEXT};
		enum ctx_status status;

		fail_after = n;
		status = fake_print("index", &fixture->input, &options, NULL);
		failed = fail_after < 0;
		fail_after = -1;
		/* A width that was not measured is no failure. */
		assert_true(status == CTX_OK || (failed && status == CTX_E_NOMEM));
	}
	assert_true(n > 5);
	fclose(sink);
}

static void test_report_index__short_memory_is_a_status(void **state)
{
	struct ctx_report_index index = index_of(CTX_INDEX_THREAD, "thread");
	struct fixture *fixture = *state;

	index.sums = several;
	index.totals = several_totals;
	give(fixture, &index);
	fixture->input.more_metrics = more_metrics;
	fixture->input.n_more = 2;
	fail_everywhere(fixture);
	index.by = usual;
	index.n_by = 3;
	index.keys = usual_values;
	index.names = (const char *const[]){"app", "a", "b", "sh"};
	fail_everywhere(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_index__prints_keys_in_every_format),
		with_fixture(test_report_index__several_metrics_are_side_by_side),
		with_fixture(test_report_index__headings_of_metrics_use_the_available_lines),
		with_fixture(test_report_index__names_of_metrics_are_made_safe_in_headings),
		with_fixture(test_report_index__rows_are_in_order),
		with_fixture(test_report_index__names_are_those_of_the_keys),
		with_fixture(test_report_index__several_keys_have_a_column_each),
		with_fixture(test_report_index__waits_and_states_have_names),
		with_fixture(test_report_index__groups_of_processors_are_in_order),
		with_fixture(test_report_index__several_keys_are_sorted_and_limited),
		with_fixture(test_report_index__names_of_expressions_are_safe),
		with_fixture(test_report_index__names_share_the_width),
		with_fixture(test_report_index__an_empty_index_is_a_valid_report),
		with_fixture(test_report_index__short_memory_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
