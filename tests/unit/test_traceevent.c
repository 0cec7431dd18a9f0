/* The reader of traces in the Trace Event Format. */
#include "formats/traceevent/te_parse.h"
#include "formats/traceevent/te_sort.h"
#include "formats/traceevent/traceevent.h"
#include "tests/unit/call_text.h"
#include "tests/unit/source_memory.h"

#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/ctx-trace-XXXXXX";

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* What the reader makes of a trace. */
static char *read_trace(const char *text)
{
	struct ctx_event_source *source;
	struct ctx_err err = {0};

	write_file(text);
	if (ctx_traceevent_open(path, &source, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return call_text_of(source);
}

static void expect(const char *text, const char *expected)
{
	char *found = read_trace(text);

	assert_string_equal(found, expected);
	free(found);
}

#define BEGIN "process 0 pid 0 \nthread 0 of 0 tid 0 \n"

static void test_traceevent__slices_nest_by_time_in_any_order(void **state)
{
	(void)state;
	expect("[{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"b\"},{\"ph\":\"X\",\"ts\":1,\"dur\":3,\"name\":"
	       "\"a\"},"
	       "{\"name\":\"c\",\"ts\":3.5,\"ph\":\"B\"},{\"ph\":\"E\",\"ts\":3.75}]",
	       BEGIN "0 0 +a\n1000 0 +b\n2000 0 1\n2500 0 +c\n2750 0 1\n3000 0 0\n3000 exit 0\n3000 end 0\n");
}

static void test_traceevent__ends_come_before_begins_of_the_same_time(void **state)
{
	(void)state;
	expect("[{\"ph\":\"X\",\"ts\":0,\"dur\":1,\"name\":\"a\"},{\"ph\":\"X\",\"ts\":1,\"dur\":0,\"name\":"
	       "\"b\"},"
	       "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"c\"}]",
	       BEGIN "0 0 +a\n1000 0 0\n1000 0 +c\n1000 0 +b\n1000 0 1\n2000 0 0\n2000 exit 0\n2000 end 0\n");
}

static void test_traceevent__the_order_of_the_file_says_which_of_two_equal_slices_is_outside(void **state)
{
	(void)state;
	expect("[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"inner\"},{\"ph\":\"X\",\"ts\":1,\"dur\":1,"
	       "\"name\":\"outer\"},"
	       "{\"ph\":\"X\",\"ts\":0,\"dur\":3,\"name\":\"all\"}]",
	       BEGIN "0 0 +all\n1000 0 +outer\n1000 0 +inner\n2000 0 2\n2000 0 1\n3000 0 0\n3000 exit "
		     "0\n3000 end 0\n");
	expect("[{\"ph\":\"X\",\"ts\":0,\"dur\":3,\"name\":\"all\"},{\"ph\":\"X\",\"ts\":1,\"dur\":1,"
	       "\"name\":\"outer\"},"
	       "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"inner\"}]",
	       BEGIN "0 0 +all\n1000 0 +outer\n1000 0 +inner\n2000 0 2\n2000 0 1\n3000 0 0\n3000 exit "
		     "0\n3000 end 0\n");
}

static void test_traceevent__what_does_not_nest_is_mended_and_counted(void **state)
{
	(void)state;
	expect("[{\"ph\":\"X\",\"ts\":0,\"dur\":2,\"name\":\"a\"},{\"ph\":\"X\",\"ts\":1,\"dur\":5,\"name\":"
	       "\"b\"},"
	       "{\"ph\":\"E\",\"ts\":3,\"name\":\"never\"},{\"ph\":\"B\",\"ts\":4,\"name\":\"c\"},"
	       "{\"ph\":\"B\",\"ts\":5,\"name\":\"d\"},{\"ph\":\"E\",\"ts\":6,\"name\":\"c\"},{\"ph\":\"B\","
	       "\"ts\":7,\"name\":\"e\"}]",
	       BEGIN "0 0 +a\n1000 0 +b\n2000 0 1\n2000 0 0\n4000 0 +c\n5000 0 +d\n6000 0 0\n7000 0 +e\n"
		     "7000 exit 0\n7000 end 0\n"
		     "! 1 slices would end after the one around them, by up to 4000 ns, and are cut\n"
		     "! 1 ends of slices that have not begun are left out\n"
		     "! 1 slices without an end last up to the last event of their thread\n"
		     "! 1 slices were ended by the end of the one around them\n");
}

static void test_traceevent__an_id_has_a_lane_as_long_as_it_is_open(void **state)
{
	(void)state;
	expect("[{\"ph\":\"b\",\"ts\":0,\"cat\":\"net\",\"id\":1,\"name\":\"get\"},"
	       "{\"ph\":\"b\",\"ts\":1,\"cat\":\"net\",\"id\":2,\"name\":\"put\"},{\"ph\":\"e\",\"ts\":2,"
	       "\"cat\":\"net\",\"id\":1,\"name\":\"get\"},"
	       "{\"ph\":\"b\",\"ts\":3,\"cat\":\"net\",\"id\":3,\"name\":\"head\"},{\"ph\":\"e\",\"ts\":4,"
	       "\"cat\":\"net\",\"id\":3,\"name\":\"head\"},"
	       "{\"ph\":\"e\",\"ts\":5,\"cat\":\"net\",\"id\":2,\"name\":\"put\"}]",
	       "process 0 pid 0 \nthread 0 of 0 tid 4294967297 net #1\n0 0 +get\n"
	       "thread 1 of 0 tid 4294967298 net #2\n1000 1 +put\n2000 0 0\n3000 0 +head\n4000 0 0\n5000 1 "
	       "0\n"
	       "5000 exit 1\n5000 exit 0\n5000 end 0\n");
}

static void test_traceevent__moments_and_counters_are_marks_and_names_are_taken_from_anywhere(void **state)
{
	(void)state;
	expect("{\"traceEvents\":[{\"ph\":\"i\",\"pid\":\"app\",\"tid\":5,\"ts\":1,\"name\":\"go\"},"
	       "{\"ph\":\"C\",\"pid\":\"app\",\"tid\":5,\"ts\":2,\"name\":\"n\",\"args\":{\"value\":3,\"x\":{"
	       "\"y\":9},\"old\":-4.5}},"
	       "{\"ph\":\"s\",\"ts\":2},{\"ph\":\"?\",\"ts\":2},{\"ph\":\"X\",\"dur\":2},"
	       "{\"ph\":\"M\",\"pid\":\"app\",\"tid\":5,\"name\":\"thread_name\",\"args\":{\"name\":\"Main\"}"
	       "}],\"x\":[{\"ph\":\"X\"}]}",
	       "process 0 pid 4294967296 app\nthread 0 of 0 tid 5 Main\n0 0 mark mark go 0\n"
	       "1000 0 mark counter n 3\n1000 0 mark counter n.old -4\n1000 exit 0\n1000 end 0\n"
	       "! 1 events without a time are left out\n! 1 values of counters are cut to whole numbers\n"
	       "! 1 flow events are not read\n! 1 events of other kinds are not read\n");
}

static void test_traceevent__cpu_time_is_a_counter_of_calls(void **state)
{
	(void)state;
	expect("[{\"ph\":\"X\",\"ts\":0,\"dur\":9,\"tts\":100,\"tdur\":5,\"name\":\"a\"},"
	       "{\"ph\":\"X\",\"ts\":2,\"dur\":3,\"tts\":101,\"tdur\":3,\"name\":\"b\"}]",
	       BEGIN
	       "0 0 +a\n2000 0 cpu 1000 +b\n5000 0 1 cpu 3000\n9000 0 0 cpu 1000\n9000 exit 0\n9000 end 0\n");
}

static void test_traceevent__microseconds_are_exact_nanoseconds(void **state)
{
	static const struct {
		const char *text;
		bool is_valid;
		int64_t ns;
	} cases[] = {
		{"0", true, 0},
		{"1", true, 1000},
		{"1.5", true, 1500},
		{"1.0625", true, 1062},
		{"0.001", true, 1},
		{"0.0009", true, 0},
		{"-2.25", true, -2250},
		{"12.", true, 12000},
		{"1e3", true, 1000000},
		{"2.5E-1", true, 250},
		{"x", false, 0},
		{"99999999999999999999", false, 0},
		{"1e99", false, 0},
		{"1.5x", false, 0},
		{"1663837021123456.789", true, 1663837021123456789},
		{"9999999999999999", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ns = 0;
		bool is_valid = ctx_te_parse_us(cases[i].text, strlen(cases[i].text), &ns);

		if (is_valid != cases[i].is_valid || (is_valid && ns != cases[i].ns))
			fail_msg("%s: %d, %lld ns", cases[i].text, is_valid, (long long)ns);
	}
}

/* Sorting in pieces of a file is sorting in memory. */
static void test_te_sort__pieces_give_the_order_of_the_whole(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 20; seed++) {
		struct ctx_te_sort whole = {0}, pieces = {.limit = seed * 7};
		const struct ctx_te_record *a, *b;

		srand(seed);
		for (uint64_t i = 0; i < 5000; i++) {
			struct ctx_te_record record = {.time_ns = rand() % 300,
						       .dur_ns = rand() % 4,
						       .order = i << CTX_TE_KIND_BITS |
								(unsigned)(rand() % 3)};

			assert_int_equal(ctx_te_sort_add(&whole, &record, NULL), CTX_OK);
			assert_int_equal(ctx_te_sort_add(&pieces, &record, NULL), CTX_OK);
		}
		assert_int_equal(ctx_te_sort_freeze(&whole, NULL), CTX_OK);
		assert_int_equal(ctx_te_sort_freeze(&pieces, NULL), CTX_OK);
		for (uint64_t i = 0, last = 0; i < 5000; i++) {
			assert_int_equal(ctx_te_sort_next(&whole, &a, NULL), CTX_OK);
			assert_int_equal(ctx_te_sort_next(&pieces, &b, NULL), CTX_OK);
			assert_memory_equal(a, b, sizeof(*a));
			assert_true((uint64_t)a->time_ns >= last);
			last = (uint64_t)a->time_ns;
		}
		assert_int_equal(ctx_te_sort_next(&pieces, &b, NULL), CTX_END);
		ctx_te_sort_deinit(&whole);
		ctx_te_sort_deinit(&pieces);
	}
}

/* Whatever a line is changed to, the other lines' events are there. */
static void test_traceevent__an_error_costs_the_event_that_has_it(void **state)
{
	static const char *const wrong[] = {"{\"ph\" \"X\"}", "{\"ph\":\"X\",,}", "}",		"]]",
					    "garbage",	      "{\"a\":[}",	  "{\"x\":tru}"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[1024], *found;

		snprintf(text, sizeof(text),
			 "[\n{\"ph\":\"X\",\"ts\":0,\"dur\":1,\"name\":\"a\"},\n%s,\n{\"ph\":\"X\",\"ts\":2,"
			 "\"dur\":1,\"name\":\"b\"},\n"
			 "{\"ph\":\"X\",\"ts\":4,\"dur\":1,\"name\":\"c\"}\n]\n",
			 wrong[i]);
		found = read_trace(text);
		if (wrong[i][0] != ']' && /* which ends the list */
		    (strstr(found, "+a\n") == NULL || strstr(found, "+b\n") == NULL ||
		     strstr(found, "+c\n") == NULL || strstr(found, "line 3, offset") == NULL))
			fail_msg("%s: %s", wrong[i], found);
		free(found);
	}
}

static void test_traceevent__files_without_events_are_refused_with_a_place(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "offset 0: ends before its list of events"},
		{"[]", "has no events with a time"},
		{"{\"traceEvents\": 3}", "ends before its list of events"},
		{"{\n\n\"a\" 3 }", "line 3, offset 8: no JSON"},
		{"[{\"ph\":\"M\"}]", "has no events with a time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctx_event_source *source;
		struct ctx_err err = {0};

		write_file(cases[i].text);
		assert_int_equal(ctx_traceevent_open(path, &source, &err), CTX_E_FORMAT);
		if (strstr(err.msg, cases[i].message) == NULL)
			fail_msg("%s", err.msg);
	}
}

static void test_traceevent__is_recognised_by_its_begin(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{" [ {\"ph\":\"X\"}", true},
		{"[]", true},
		{"{\"x\":1, \"traceEvents\":[", true},
		{"{\"nodes\":[]}", false},
		{"[1,2]", false},
		{"[{\"a\":1}]", false},
		{"", false},
		{"# text", false},
		{"\xef\xbb\xbf[{\"ph\":\"X\"}", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(cases[i].text);
		if (ctx_traceevent_is(path) != cases[i].is)
			fail_msg("%s", cases[i].text);
	}
	assert_false(ctx_traceevent_is("/"));
	assert_false(ctx_traceevent_is("/nonexistent"));
}

static void test_traceevent__running_out_of_memory_is_reported(void **state)
{
	(void)state;
	write_file("[{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"b\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"m\"},"
		   "{\"ph\":\"b\",\"ts\":3,\"cat\":\"net\",\"id\":1,\"name\":\"get\"},{\"ph\":\"s\"},"
		   "{\"ph\":\"C\",\"ts\":3,\"name\":\"c\",\"args\":{\"value\":1}},{\"ph\":\"e\",\"ts\":4}]");
	assert_true(fail_each_allocation(ctx_traceevent_open, path) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traceevent__slices_nest_by_time_in_any_order),
		cmocka_unit_test(test_traceevent__ends_come_before_begins_of_the_same_time),
		cmocka_unit_test(
			test_traceevent__the_order_of_the_file_says_which_of_two_equal_slices_is_outside),
		cmocka_unit_test(test_traceevent__what_does_not_nest_is_mended_and_counted),
		cmocka_unit_test(test_traceevent__an_id_has_a_lane_as_long_as_it_is_open),
		cmocka_unit_test(
			test_traceevent__moments_and_counters_are_marks_and_names_are_taken_from_anywhere),
		cmocka_unit_test(test_traceevent__cpu_time_is_a_counter_of_calls),
		cmocka_unit_test(test_traceevent__microseconds_are_exact_nanoseconds),
		cmocka_unit_test(test_te_sort__pieces_give_the_order_of_the_whole),
		cmocka_unit_test(test_traceevent__an_error_costs_the_event_that_has_it),
		cmocka_unit_test(test_traceevent__files_without_events_are_refused_with_a_place),
		cmocka_unit_test(test_traceevent__is_recognised_by_its_begin),
		cmocka_unit_test(test_traceevent__running_out_of_memory_is_reported),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
