/*
 * What a recording lacks, and what its reports say about it: binaries, call stacks.
 */
#include "report/missing_objects.h"
#include "report_fixture.h"
#include "report_printing.h"

static struct ctx_object_info lacking[] = {
	{"/home/user/bin/app", "0123abcd", "none: build id is ffff, wanted 0123abcd"},
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", "ffee", "none: No such file or directory"},
	{"[kernel]", "", "none: no kallsyms in the experiment"},
};

static struct ctx_report_parts parts_of(const struct fixture *fixture)
{
	return (struct ctx_report_parts){.parts = fixture->parts, .n = 1, .n_metrics = 1};
}

static void test_missing__binaries_are_found_with_their_samples(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_parts parts = parts_of(fixture);
	struct ctx_missing_objects missing;

	fixture->profile.objects = lacking;
	assert_int_equal(ctx_missing_objects_find(&fixture->profile, &parts, &missing, NULL), CTX_OK);
	assert_int_equal(missing.n, 2);
	assert_int_equal(missing.items[0].object, 0);
	assert_string_equal(missing.items[0].reason, "build id is ffff, wanted 0123abcd");
	assert_int_equal(missing.items[0].samples, 20 + 120 + 40 + 30 + 55);
	assert_int_equal(missing.items[0].weight, (20 + 120 + 40 + 30 + 55) * MS);
	/* `read` is a leaf in 12 + 1 samples; those where it calls the kernel are the kernel's. */
	assert_int_equal(missing.items[1].object, 1);
	assert_int_equal(missing.items[1].samples, 13);
	assert_int_equal(missing.samples, missing.items[0].samples + 13);
	assert_int_equal(missing.all_samples, 300);
	ctx_missing_objects_deinit(&missing);
}

static void test_missing__stripped_special_and_unsampled_objects_are_not_missing(void **state)
{
	static const struct {
		struct ctx_object_info object;
		bool missing;
	} cases[] = {
		{{"/bin/app", "", "archive"}, false},
		{{"/bin/app", "", "none: no file"}, true},
		{{"/bin/app", "", "none: not an ELF file"}, true},
		{{"/bin/app", "", "none: no symbols"}, false},
		{{"/bin/app", "", "none: /usr/lib/debug/app.debug: damaged; no symbols"}, false},
		{{"/bin/app", "", "not needed: no samples there"}, false},
		{{"//anon", "", "none: not a file"}, false},
		{{"[vdso]", "", "none: no file"}, false},
		{{"[kernel]", "", "none: no kallsyms in the experiment"}, false},
	};
	struct fixture *fixture = *state;
	struct ctx_report_parts parts = parts_of(fixture);
	struct ctx_missing_objects missing;

	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_object_info changed[3] = {lacking[0], lacking[1], lacking[2]};

		changed[0] = cases[i].object;
		fixture->profile.objects = changed;
		if ((ctx_missing_object_reason(&fixture->profile, 0) != NULL) != cases[i].missing)
			fail_msg("%s: %s", changed[0].path, changed[0].symbols);
	}
	assert_null(ctx_missing_object_reason(&fixture->profile, CTX_NONE));
	fixture->profile.objects = lacking;
	parts.n = 0;
	assert_int_equal(ctx_missing_objects_find(&fixture->profile, &parts, &missing, NULL), CTX_OK);
	assert_int_equal(missing.n, 0);
	ctx_missing_objects_deinit(&missing);
}

static void test_missing__the_header_names_the_binaries(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	fixture->profile.objects = lacking;
	assert_every_format("header", &fixture->input, (struct ctx_report_options){0},
			    "missing-binaries-header");
	text = print_report("header", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "Missing binaries (share of the samples)\n"
				     " 88.33 % /home/user/bin/app (build id is ffff, wanted 0123abcd)\n"
				     "  4.33 % /usr/lib/x86_64-linux-gnu/libc.so.6 (No such file or "
				     "directory)\n"));
	free(text);
	text = print_report("header", &fixture->input,
			    (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_non_null(strstr(text, "{\"section\":\"missing object\",\"key\":\"/home/user/bin/app\","
				     "\"value\":265}"));
	free(text);
}

/* perf record without -g: every stack is a leaf. */
static void make_flat(struct fixture *fixture, struct ctx_histogram *flat)
{
	add(fixture, flat, 200, 3, PATH(1));
	add(fixture, flat, 100, 2, PATH(3));
	fixture->parts[0].histograms = flat;
	fixture->profile.losses.call_stacks = true;
}

static void test_missing__call_stacks_are_not_invented(void **state)
{
	static const char *const without_rows[] = {"tree", "callers-callees", "stacks"};
	static const char note[] = "no call stacks in this recording: record with perf record -g";
	struct fixture *fixture = *state;
	struct ctx_histogram flat = {0};
	struct ctx_property collector = {"collector", "perf 6.1"};
	struct ctx_report_options options = {.width = 80};
	char *text;

	make_flat(fixture, &flat);
	fixture->profile.properties = &collector;
	fixture->profile.n_properties = 1;
	for (size_t i = 0; i < CTX_COUNT_OF(without_rows); i++) {
		options.format = CTX_REPORT_TEXT;
		text = print_report(without_rows[i], &fixture->input, options);
		assert_non_null(strstr(text, note));
		assert_null(strstr(strstr(text, note) + 1, note));
		assert_null(strstr(text, "solve"));
		free(text);
		options.format = CTX_REPORT_JSON;
		text = print_report(without_rows[i], &fixture->input, options);
		assert_json(text);
		assert_non_null(strstr(text, "\"call_stacks\":false"));
		assert_non_null(strstr(text, "\"rows\":[\n\n]"));
		free(text);
	}
	options.format = CTX_REPORT_TEXT;
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(text, "Self ms      % Samples Name\n"
				     "300.000 100.00     300 <Total>\n"
				     "200.000  66.67     200 solve"));
	free(text);
	text = print_report("objects", &fixture->input, options);
	assert_null(strstr(text, "Total "));
	free(text);
	options.format = CTX_REPORT_JSON;
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(text, "\"exclusive\":200000000,\"inclusive\":null,"
				     "\"exclusive_samples\":200,\"inclusive_samples\":null,"));
	free(text);
	collector.value = "ctxrec 0.1.0";
	text = print_report("tree", &fixture->input, options);
	assert_non_null(strstr(text, "record without --unwind none"));
	free(text);
	ctx_histogram_deinit(&flat);
}

static void test_missing__inclusive_columns_of_several_metrics_too(void **state)
{
	static const uint32_t more[] = {1};
	struct ctx_metric_info two[] = {metrics[0],
					{.name = "page-faults", .unit = CTX_UNIT_EVENTS, .samples = 3}};
	struct fixture *fixture = *state;
	struct ctx_histogram flat[2] = {0};
	struct ctx_report_options options = {.width = 80};
	char *text;

	make_flat(fixture, &flat[0]);
	add(fixture, &flat[1], 3, 3, PATH(3));
	fixture->profile.metrics = two;
	fixture->profile.n_metrics = 2;
	fixture->input.more_metrics = more;
	fixture->input.n_more = 1;
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(text, "<Total>"));
	assert_non_null(strstr(text, "Self"));
	assert_null(strstr(text, "Total "));
	free(text);
	options.format = CTX_REPORT_JSON;
	text = print_report("functions", &fixture->input, options);
	assert_json(text);
	assert_non_null(strstr(text, "\"exclusive\":3000000,\"inclusive\":null"));
	free(text);
	ctx_histogram_deinit(&flat[0]);
	ctx_histogram_deinit(&flat[1]);
}

/* What was lost is said of the time that it was lost in, and of the whole run. */
static void test_missing__losses_are_said_of_the_intervals_that_they_touch(void **state)
{
	static const struct ctx_interval intervals[] = {
		{0, 100 * MS}, {100 * MS, 312 * MS}, {312 * MS, 313 * MS}, {800 * MS, 1000 * MS}};
	static const char other[] =
		"note: 8 samples were lost on CPU 2 between 900.000 and 910.000 ms: the kernel's "
		"buffer was full\n",
			  of_calls[] = "note: 70 begins and ends of calls were lost in thread 102 between "
				       "950.000 and 960.000 ms: the time there is <Lost-calls>\n";
	struct ctx_loss losses[] = {
		{{312 * MS, 340 * MS}, .located = true, .cpu = 1, .count = 1123},
		{{341 * MS, 341 * MS + 1}, .located = true, .cpu = 0, .count = 1},
		{{900 * MS, 910 * MS},
		 .located = true,
		 .cpu = 2,
		 .count = 8,
		 .has_kinds = true,
		 .kinds = {8}},
		{{950 * MS, 960 * MS},
		 .located = true,
		 .cpu = -1,
		 .count = 70,
		 .has_kinds = true,
		 .has_thread = true,
		 .thread = 1,
		 .kinds = {[CTX_LOSS_CALLS] = 70}},
	};
	struct fixture *fixture = *state;
	struct ctx_report_options options = {.width = 200};
	char *text;

	fixture->profile.losses.samples = 1132;
	fixture->profile.losses.items = losses;
	fixture->profile.losses.n_items = 4;
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(
		text, "note: 1132 records were lost, 1124 on CPUs 0 and 1 between 312.000 and 341.000 ms, "
		      "8 on CPU 2 between 900.000 and 910.000 ms: the kernel's buffer was full\n"));
	assert_non_null(strstr(text, of_calls));
	free(text);
	text = print_report("timeline", &fixture->input, options);
	assert_non_null(strstr(text, "lost records   "));
	free(text);
	text = print_report("header", &fixture->input, options);
	assert_non_null(strstr(text, "lost on CPU 1      1123 records, 312.000-340.000 ms\n"));
	assert_non_null(strstr(text, "lost on CPU 2      8 records, 900.000-910.000 ms, 8 samples\n"));
	assert_non_null(strstr(text, "70 begins and ends of calls\n"));
	free(text);
	fixture->input.n_intervals = 1;
	for (size_t i = 0; i < CTX_COUNT_OF(intervals); i++) {
		fixture->input.intervals = &intervals[i];
		options.format = CTX_REPORT_TEXT;
		text = print_report("functions", &fixture->input, options);
		if (i == 3)
			assert_true(strstr(text, other) != NULL && strstr(text, of_calls) != NULL);
		else if (i == 2)
			assert_non_null(strstr(
				text,
				"note: 1123 records were lost on CPU 1 between 312.000 and 340.000 ms"));
		else
			assert_null(strstr(text, "lost"));
		free(text);
		options.format = CTX_REPORT_JSON;
		text = print_report("functions", &fixture->input, options);
		assert_json(text);
		assert_int_equal(strstr(text, "\"losses\":") != NULL, i >= 2);
		if (i == 3)
			assert_non_null(strstr(
				text,
				"\"losses\":[{\"begin\":900000000,\"end\":910000000,\"cpu\":2,\"count\":8,"
				"\"samples\":8,\"changes\":0,\"others\":0},{\"begin\":950000000,"
				"\"end\":960000000,\"count\":70,\"thread\":102,\"thread_id\":1,\"samples\":0,"
				"\"changes\":0,\"others\":0,\"calls\":70}]"));
		free(text);
	}
	losses[0].located = false;
	losses[0].count = 2;
	options.format = CTX_REPORT_TEXT;
	fixture->input.intervals = &intervals[1];
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(text, "note: 2 records were lost: the kernel's buffer was full\n"));
	free(text);
	fixture->profile.losses.items = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_missing__binaries_are_found_with_their_samples),
		with_fixture(test_missing__stripped_special_and_unsampled_objects_are_not_missing),
		with_fixture(test_missing__the_header_names_the_binaries),
		with_fixture(test_missing__call_stacks_are_not_invented),
		with_fixture(test_missing__inclusive_columns_of_several_metrics_too),
		with_fixture(test_missing__losses_are_said_of_the_intervals_that_they_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
