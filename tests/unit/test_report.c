/*
 * Reports in every format: against golden files (report_fixture.h), and what must hold of any of
 * them.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "report/calls.h"
#include "report/figures.h"
#include "report/function_names.h"
#include "report/names.h"
#include "report/order.h"
#include "report/report.h"
#include "report_fixture.h"
#include "report_printing.h"

#include <string.h>

static const char *warnings[] = {"perf_event_paranoid is 2: no kernel samples"};

/* The others are in the files beside this one. */
/* The others have tests of their own. */
static const char *const tested[] = {"header",		"overview", "samples", "functions", "objects", "tree",
				     "callers-callees", "stacks",   "threads", "processes", "timeline"};

static void check_all_formats(const char *prefix, struct fake_source *input,
			      struct ctx_report_options options)
{
	for (size_t i = 0; i < CTX_COUNT_OF(tested); i++)
		assert_every_format(tested[i], input, options, "%s%s", prefix, tested[i]);
}

static void test_report__prints_every_report_in_every_format(void **state)
{
	struct fixture *fixture = *state;

	check_all_formats("", &fixture->input, (struct ctx_report_options){0});
}

/*
 * E19: a warning for everything that distorts; <Other> for weight omitted by the time tree; threads
 * separately.
 */
static void test_report__e19_warns_about_distortions(void **state)
{
	struct fixture *fixture = *state;

	fixture->profile.closed = false;
	fixture->profile.losses.samples = 7;
	fixture->profile.losses.throttled = 2;
	fixture->profile.losses.damaged = 1;
	fixture->profile.notes = "first line\nsecond \033[31mline";
	fixture->profile.warnings = warnings;
	fixture->profile.n_warnings = 1;
	fixture->parts[0].histograms = &fixture->worker;
	fixture->input.omitted.weight = 5 * MS;
	fixture->input.omitted.samples = 5;
	fixture->input.omitted.largest = 2 * MS;
	check_all_formats("distorted-", &fixture->input,
			  (struct ctx_report_options){.ascii = true, .limit = 3});
}

static void test_report__per_thread_and_cut_short(void **state)
{
	struct fixture *fixture = *state;
	static const uint32_t selected[] = {0, 1};

	fixture->parts[0] = (struct ctx_report_part){.thread = 0, .histograms = &fixture->main_thread};
	fixture->parts[1] = (struct ctx_report_part){.thread = 1, .histograms = &fixture->worker};
	fixture->input.n_parts = 2;
	fixture->input.threads = selected;
	fixture->input.n_threads = 2;
	fixture->input.filter = "cpu 3";
	check_all_formats("threads-", &fixture->input,
			  (struct ctx_report_options){.limit = 4, .min_percent = 5});
}

/*
 * The worker has a fifth of all samples: its own 10 % are 2 % of the run, and are shown as 10 %.
 */
static void test_report__percentages_of_a_thread_are_of_the_thread(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_options options = {
		.width = 80, .ascii = true, .per_thread = true, .min_percent = 5, .min_percent_given = true};
	char *text;

	fixture->parts[0] = (struct ctx_report_part){.thread = 0, .histograms = &fixture->main_thread};
	fixture->parts[1] = (struct ctx_report_part){.thread = 1, .histograms = &fixture->worker};
	fixture->input.n_parts = 2;
	text = print_report("tree", &fixture->input, options);
	/* 4 of 60 samples */
	assert_non_null(strstr(text, " 4.000    6.67   6.67   `-<Unknown>\nhidden: "));
	assert_non_null(strstr(text, "100.00   0.00 pt_100_102"));
	free(text);
	text = print_report("functions", &fixture->input, options);
	assert_non_null(strstr(text, "  4.000   6.67    4.000   6.67       4 <Unknown>\n"));
	assert_non_null(strstr(text, " 60.000 100.00   60.000 100.00      60 <Total>\n"));
	free(text);
	text = print_report("stacks", &fixture->input, options);
	assert_non_null(strstr(text, "#1  91.67 %  55.000 ms  55 samples (cumulative 91.67 %)"));
	free(text);
}

/* A thread is a tid and a life: the kernel gives a tid again. */
static void test_report__lives_of_a_tid_are_told_apart(void **state)
{
	static const char *const names[] = {"tree", "functions", "objects", "callers-callees", "stacks"};
	struct fixture *fixture = *state;
	struct ctx_thread_info lives[2] = {threads[0], threads[1]};

	lives[0].tid = lives[1].tid = 102;
	lives[0].life.end_ns = 90 * MS;
	fixture->profile.threads = lives;
	fixture->parts[0] = (struct ctx_report_part){.thread = 0, .histograms = &fixture->main_thread};
	fixture->parts[1] = (struct ctx_report_part){.thread = 1, .histograms = &fixture->worker};
	fixture->input.n_parts = 2;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		struct ctx_report_options options = {.width = 80, .per_thread = true};
		char *text = print_report(names[i], &fixture->input, options);

		assert_non_null(strstr(text, "pt_100_102 (app), 0.000-90.000 ms\n"));
		assert_non_null(strstr(text, "pt_100_102 (worker/1), 100.000-900.000 ms\n"));
		free(text);
		options.format = CTX_REPORT_JSON;
		text = print_report(names[i], &fixture->input, options);
		assert_json(text);
		assert_non_null(strstr(text, "\"thread_id\":0"));
		assert_non_null(strstr(text, "\"thread_id\":1"));
		free(text);
	}
}

static void test_report__function_filter_shows_its_subtrees(void **state)
{
	struct fixture *fixture = *state;

	check_all_formats("filter-", &fixture->input, (struct ctx_report_options){.function = "walk"});
}

static void test_report__hostile_names_are_harmless_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_function_info hostile[CTX_COUNT_OF(functions)];
	char *long_name = ctx_calloc(10001, 1);
	static const char *const names[] = {
		"<script>alert(1)</script>",
		"\033]0;title\007\033[2Jred",
		"line\nbreak\r\ttab,\"quote\"",
		"bad\xff\xc0\x80utf",
		"bidi\xe2\x80\xae"
		"evil\xc2\x9b"
		"31m",
		"=HYPERLINK(\"x\")",
	};

	memcpy(hostile, functions, sizeof(hostile));
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++)
		hostile[i].name = names[i];
	for (size_t i = 0; i < 10000; i++)
		long_name[i] = "std::vector<"[i % 12];
	hostile[7].name = long_name;
	hostile[6].name = "漢字名前の関数はとても長い名前を持っているので切られるはずである、本当に";
	fixture->profile.functions = hostile;
	for (size_t i = 0; i < CTX_COUNT_OF(tested); i++) {
		for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
			char *text =
				print_report(tested[i], &fixture->input,
					     (struct ctx_report_options){
						     .format = (enum ctx_report_format)format, .width = 80});

			assert_harmless(text, (enum ctx_report_format)format, 80);
			free(text);
		}
	}
	check_all_formats("hostile-", &fixture->input, (struct ctx_report_options){0});
	fixture->profile.functions = functions;
	free(long_name);
}

static void test_report__refuses_unknown_sort_keys_and_functions_before_it_prints(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_err err = {0};
	char *text = NULL;
	size_t n = 0;
	struct ctx_report_options options = {.out = open_memstream(&text, &n), .sort = "beauty"};

	for (const struct ctx_report_kind *const *kind = ctx_report_kinds(); *kind != NULL; kind++)
		assert_int_equal(ctx_report_print(*kind, fake_open(&fixture->input), &options, &err),
				 CTX_E_ARG);
	options.sort = NULL;
	options.function = "no_such";
	assert_int_equal(fake_print("stacks", &fixture->input, &options, &err), CTX_E_NOTFOUND);
	assert_non_null(strstr(err.msg, "no_such"));
	fclose(options.out);
	assert_int_equal(n, 0);
	free(text);
	assert_null(ctx_report_find("func"));
}

static void test_report__sorts_functions_by_any_key(void **state)
{
	struct fixture *fixture = *state;
	char *text = print_report(
		"functions", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = "inclusive", .limit = 1});

	assert_non_null(
		strstr(text, "\r\n\"main\",\"/home/user/bin/app\",20000000,228000000,20,228,,,,\r\n"));
	free(text);
	text = print_report(
		"functions", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = "function", .limit = 1});
	assert_non_null(strstr(text, "\r\n\"<Truncated-stack>\","));
	free(text);
}

static void test_report__an_empty_selection_is_a_report_too(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_histogram nothing = {0};

	fixture->parts[0].histograms = &nothing;
	fixture->input.n_slices = 0;
	fixture->input.slices_per_thread = 0;
	check_all_formats("empty-", &fixture->input, (struct ctx_report_options){0});
}

/* A slice of several strips counts once; a gap between the selected intervals is blank. */
static void test_report__timeline_counts_the_first_strip_and_leaves_gaps_blank(void **state)
{
	struct fixture *fixture = *state;
	static const struct ctx_interval some[] = {{0, 200 * MS}, {800 * MS, 1000 * MS}};
	struct ctx_function_info changed[CTX_COUNT_OF(functions)];
	char *text;

	memcpy(changed, functions, sizeof(changed));
	changed[6].object = 1;
	fixture->profile.functions = changed;
	for (uint32_t i = 0; i < 40; i++) {
		fixture->slices[i].thread = i < 20 ? CTX_NONE : 0;
		fixture->slices[i].weight = 50 * MS;
		fixture->slices[i].function = i < 20 ? 6 : 2;
	}
	fixture->input.intervals = some;
	fixture->input.n_intervals = 2;
	text = print_report("timeline", &fixture->input,
			    (struct ctx_report_options){.ascii = true, .width = 37});
	assert_non_null(strstr(text, "\nall threads      @@@@            @@@@\n"));
	free(text);
	text = print_report("timeline", &fixture->input, (struct ctx_report_options){.ascii = true});
	assert_non_null(strstr(text, "A  heaviest in 20 of 20 slices: <Unknown> [libc.so.6]\n"));
	assert_non_null(strstr(text, "B  heaviest only in slices of single threads: walk\n"));
	free(text);
	fixture->profile.functions = functions;
}

/* Their samples are of the whole run, so their report headers must not name a selection. */
static void test_report__header_and_overview_cover_the_whole_run(void **state)
{
	struct fixture *fixture = *state;
	static const char *const names[] = {"header", "overview"};
	static const struct ctx_interval some = {10 * MS, 20 * MS};
	static const uint32_t selected[] = {1};

	fixture->input.intervals = &some;
	fixture->input.threads = selected;
	fixture->input.n_threads = 1;
	fixture->input.filter = "cpu 3";
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		char *text = print_report(names[i], &fixture->input, (struct ctx_report_options){0});

		assert_non_null(
			strstr(text, "(whole run) | all threads | cpu-clock | 300 samples | 300.000"));
		assert_non_null(strstr(text, "note: this report is about "));
		assert_null(strstr(text, "cpu 3"));
		free(text);
		text = print_report(names[i], &fixture->input,
				    (struct ctx_report_options){.format = CTX_REPORT_JSON});
		assert_non_null(strstr(text, "\"intervals_ns\":[[0,1000000000]],\"threads\":null"));
		assert_non_null(strstr(text, "\"samples\":300,\"weight\":300000000"));
		free(text);
	}
}

static void test_report__metric_names_are_made_safe_for_the_terminal(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_metric_info hostile = fixture->profile.metrics[0];
	struct ctx_property property = {"\033[2Jkey", "\033[2Jvalue"};
	const struct ctx_profile kept = fixture->profile;
	char *text;

	hostile.name = "\033[31mclock\n";
	fixture->profile.metrics = &hostile;
	fixture->profile.n_metrics = 1;
	fixture->profile.properties = &property;
	fixture->profile.n_properties = 1;
	text = print_report("header", &fixture->input, (struct ctx_report_options){0});
	fixture->profile = kept;
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "\n\\x1b[31mclock\\x0a"));
	assert_non_null(strstr(text, "\n\\x1b[2Jkey"));
	free(text);
}

/*
 * One function for each reason: the report header counts them all, the report `header` lists them.
 */
static void test_report__truncated_stacks_are_counted_by_reason(void **state)
{
	struct fixture *fixture = *state;
	static struct ctx_function_info reasons[CTX_COUNT_OF(functions)];
	char *text;

	memcpy(reasons, functions, sizeof(reasons));
	reasons[0].kind = CTX_FUNCTION_TRUNCATED;
	reasons[0].name = "<Truncated-stack: no call frame information>";
	fixture->profile.functions = reasons;
	text = print_report("header", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_CSV});
	assert_non_null(strstr(text, "\"truncated stacks\",\"<Truncated-stack>\",12\r\n"));
	assert_non_null(strstr(
		text, "\"truncated stacks\",\"<Truncated-stack: no call frame information>\",228\r\n"));
	free(text);
	text = print_report("functions", &fixture->input, (struct ctx_report_options){0});
	assert_non_null(strstr(text, "80.0 % of the samples have truncated stacks"));
	free(text);
}

/* Keys that are there only where they say something. */
static void test_report__inlined_functions_and_parts_have_keys(void **state)
{
	static const char *const names[] = {"functions", "tree", "callers-callees", "stacks"};
	struct fixture *fixture = *state;
	static struct ctx_function_info changed[CTX_COUNT_OF(functions)];
	char *text;

	memcpy(changed, functions, sizeof(changed));
	changed[2].inlined = true;
	changed[2].name = "walk (inlined)";
	changed[1].parts = "_Z5solve.cold _Z5solve.part.0";
	fixture->profile.functions = changed;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		text = print_report(names[i], &fixture->input,
				    (struct ctx_report_options){.format = CTX_REPORT_JSON});
		assert_json(text);
		assert_non_null(strstr(text, "\"inlined\":true"));
		assert_null(strstr(text, "\"inlined\":false"));
		assert_int_equal(strstr(text, "\"parts\":\"_Z5solve.cold _Z5solve.part.0\"") != NULL, i == 0);
		free(text);
	}
	text = print_report(
		"functions", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .function = "walk", .limit = 1});
	assert_non_null(strstr(
		text, "\r\n\"walk (inlined)\",\"/home/user/bin/app\",70000000,88000000,70,88,,true,,\r\n"));
	free(text);
}

static void test_report__a_full_disk_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_options options = {.out = fopen("/dev/full", "w")};
	struct ctx_err err = {0};

	if (options.out == NULL) {
		print_message("skipped: there is no /dev/full\n");
		skip();
	}
	assert_int_equal(fake_print("functions", &fixture->input, &options, &err), CTX_E_IO);
	fclose(options.out);
}

static void test_names__are_cut_in_the_middle(void **state)
{
	(void)state;
	assert_cut(ctx_text_cut, "abcdefghij", 10, false, "abcdefghij");
	assert_cut(ctx_text_cut, "abcdefghij", 9, false, "abcd…ghij");
	assert_cut(ctx_text_cut, "abcdefghij", 8, true, "abc..hij");
	assert_cut(ctx_text_cut, "abcdefghij", 1, false, "a");
	assert_cut(ctx_text_cut, "漢字漢字漢字", 7, false, "漢…漢字");
	assert_int_equal(ctx_text_width("漢字e\xcc\x81", strlen("漢字e\xcc\x81")), 5);
}

static void assert_sorts(const char *sort, const char *const *keys, const char *want)
{
	size_t place = SIZE_MAX;
	struct ctx_err err = {0};

	if (ctx_order_find("functions", sort, keys, &place, &err) == CTX_OK)
		assert_string_equal(keys[place], want);
	else
		assert_string_equal("none", want);
}

static void test_order__a_key_is_what_its_column_is_called(void **state)
{
	static const char *const flat[] = {"exclusive", "inclusive",	  "exclusive_samples",
					   "function",	"exclusive.wall", "inclusive.wall",
					   NULL};
	static const char *const edges[] = {"cum", "base", "calls", "function", NULL};
	static const char *const waits[] = {"wait_ns", "waits", "mean_ns", "max_ns", NULL};
	static const char *const states[] = {"user", "USER", "wait-cpu", NULL};
	static const char *const heap[] = {"bytes", "leaked_bytes", "begin", NULL};

	(void)state;
	assert_sorts("self", flat, "exclusive");
	assert_sorts("Total", flat, "inclusive");
	assert_sorts("total.wall", flat, "inclusive.wall");
	assert_sorts("Samples", flat, "exclusive_samples");
	assert_sorts("name", flat, "function");
	assert_sorts("exclusive", flat, "exclusive");
	assert_sorts("Total", edges, "cum");
	assert_sorts("self", edges, "base");
	assert_sorts("Calls", edges, "calls");
	assert_sorts("Longest", waits, "max_ns");
	assert_sorts("Wait", waits, "wait_ns");
	assert_sorts("user", states, "user");
	assert_sorts("USER", states, "USER");
	assert_sorts("Wait CPU", states, "wait-cpu");
	assert_sorts("Bytes", heap, "bytes");
	assert_sorts("Leaked", heap, "leaked_bytes");
	assert_sorts("Begin ms", heap, "begin");
	assert_sorts("begin s", heap, "begin");
	assert_sorts("begin us", heap, "none");
	assert_sorts(" ms", heap, "none");
	assert_sorts("sel", flat, "none");
	assert_sorts("self.user", flat, "none");
	assert_sorts("longest", flat, "none");
}

/* Of reports whose columns are not all in their declaration. */
static const struct {
	const char *report, *title;
} more_titles[] = {
	{"functions", "Self"},
	{"functions", "Total"},
	{"functions", "Samples"},
	{"functions", "Name"},
	{"objects", "Self"},
	{"objects", "Total"},
	{"callers-callees", "Self"},
	{"callers-callees", "Total"},
	{"callers-callees", "Calls"},
	{"callers-callees", "Name"},
	{"callers-callees", "Index"},
	{"states", "Wall"},
	{"states", "User CPU"},
	{"states", "Wait CPU"},
	{"states", "System CPU"},
	{"states", "Lock wait"},
	{"states", "Text fault"},
	{"states", "<Unknown>"},
	{"states", "Kernel fault"},
	{"states", "Other wait"},
	{"states", "PID"},
	{"states", "TID"},
	{"states", "Name"},
	{"wakers", "Waits"},
	{"wakers", "Wait ms"},
	{"wakers", "Wait s"},
	{"wakers", "Average"},
	{"wakers", "Longest"},
	{"wakers", "Delay ms"},
	{"heap", "Allocs"},
	{"heap", "Bytes"},
	{"heap", "Leaks"},
	{"heap", "Leaked"},
	{"heap", "At peak"},
	{"leaks", "Leaks"},
	{"leaks", "Bytes"},
	{"leaks", "Largest"},
	{"sync", "Waits"},
	{"sync", "Wait ms"},
	{"sync", "Longest"},
	{"io", "Reads"},
	{"io", "Bytes"},
	{"io", "Writes"},
	{"io", "Others"},
	{"io", "Errors"},
	{"io", "Time ms"},
	{"io", "Longest"},
	{"index", "Weight"},
	{"index", "Samples"},
	{"index", "Key"},
	{"stacks", "Samples"},
};

/* "%" belongs to the column before it; a report may refuse for another reason. */
static void assert_title_sorts(struct fixture *fixture, const struct ctx_report_kind *kind, const char *title)
{
	FILE *out = fopen("/dev/null", "w");
	struct ctx_report_options options = {.out = out, .sort = title};
	struct ctx_err err = {0};

	assert_non_null(out);
	if (title != NULL && strcmp(title, "%") != 0 && *title != '\0' && kind->order == NULL &&
	    ctx_report_print(kind, fake_open(&fixture->input), &options, &err) != CTX_OK &&
	    strstr(err.msg, "cannot be sorted") != NULL)
		fail_msg("%s", err.msg);
	fclose(out);
}

static void test_report__every_column_is_a_sort_key_by_its_title(void **state)
{
	struct fixture *fixture = *state;

	for (const struct ctx_report_kind *const *kind = ctx_report_kinds(); *kind != NULL; kind++) {
		for (size_t i = 0; i < (*kind)->n_columns; i++)
			assert_title_sorts(fixture, *kind, (*kind)->columns[i].title);
	}
	for (size_t i = 0; i < CTX_COUNT_OF(more_titles); i++)
		assert_title_sorts(fixture, ctx_report_find(more_titles[i].report), more_titles[i].title);
}

static void test_report__counted_calls_are_shown_and_exact(void **state)
{
	struct fixture *fixture = *state;
	static struct ctx_property counted[] = {{"calls", "counted: other, cpu-clock"}};
	struct ctx_report_options options = {.format = CTX_REPORT_TEXT};
	char *text = print_report("callers-callees", &fixture->input, options);

	assert_null(strstr(text, "Calls"));
	free(text);
	options.columns = true;
	text = print_report("callers-callees", &fixture->input, options);
	assert_non_null(strstr(text, "Calls"));
	assert_non_null(strstr(text, ">=9"));
	free(text);
	fixture->profile.properties = counted;
	fixture->profile.n_properties = 1;
	options.columns = false;
	text = print_report("callers-callees", &fixture->input, options);
	assert_non_null(strstr(text, "Calls"));
	assert_null(strstr(text, ">="));
	free(text);
	options.format = CTX_REPORT_JSON;
	text = print_report("tree", &fixture->input, options);
	assert_non_null(strstr(text, "\"calls_exact\":true"));
	assert_null(strstr(text, "\"calls_exact\":false"));
	free(text);
	/* The name of another metric that it begins with. */
	counted[0].value = "counted: cpu-clock:u";
	assert_false(ctx_calls_exact(&fixture->profile, 0));
}

static void test_report__callers_are_the_tree_upside_down(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_report_options options = {.function = "read", .format = CTX_REPORT_TEXT, .width = 80};
	char *text = print_report("callers", &fixture->input, options), *same;

	assert_golden("callers-of-read-80", text);
	options.callers = true;
	same = print_report("tree", &fixture->input, options);
	assert_string_equal(text, same);
	free(same);
	free(text);
	options.format = CTX_REPORT_JSON;
	text = print_report("callers", &fixture->input, options);
	assert_json(text);
	assert_golden("callers-of-read.json", text);
	free(text);
	options = (struct ctx_report_options){.root = "walk", .depth = 1, .width = 80};
	text = print_report("tree", &fixture->input, options);
	assert_golden("tree-from-walk-80", text);
	free(text);
	options.columns = true;
	text = print_report("tree", &fixture->input, options);
	assert_golden("tree-from-walk-columns-80", text);
	free(text);
}

static void test_names__of_cxx_keep_their_method(void **state)
{
	static const char tree[] = "std::_Rb_tree<int, std::pair<int const, X>, std::less<int> >::_M_erase("
				   "std::_Rb_tree_node<int>*)";

	(void)state;
	assert_cut(ctx_text_shorten, tree, 60, false, "std::_Rb_tree<…>::_M_erase(std::_Rb_tree_node<…>*)");
	assert_cut(ctx_text_shorten, tree, 40, false, "std::_Rb_tree<…>::_M_erase(…)");
	assert_cut(ctx_text_shorten, tree, 40, true, "std::_Rb_tree<..>::_M_erase(..)");
	assert_cut(ctx_text_shorten, tree, 20, false, "…::_M_erase(…)");
	assert_cut(ctx_text_shorten, "a::operator<< <char>(std::ostream&)", 30, false,
		   "a::operator<< <…>(…)");
	assert_cut(ctx_text_shorten, "f<aaaaaaaaaaaaa>::operator()(int, int) const", 25, false,
		   "f<…>::operator()(…) const");
	assert_cut(ctx_text_shorten, "(anonymous namespace)::f<aaaaaaaa>(bb)", 32, false,
		   "(anonymous namespace)::f<…>(bb)");
	assert_cut(ctx_text_shorten, "solve<a, bbbbbbbbbbbbb>(int, int) (inlined)", 25, false,
		   "solve<…>(…) (inlined)");
	assert_cut(ctx_text_shorten, "<Unknown-function>", 9, false, "<Unk…ion>");
}

static void test_names__random_bytes_never_do_harm(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char name[24] = "";
		struct ctx_buf buf = {0};

		for (size_t i = 0; i < sizeof(name) - 1; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			name[i] = (char)(random >> 40 & (random >> 60 != 0 ? 0xff : 0x7f));
		}
		ctx_name_put_json(&buf, name);
		ctx_buf_put_u8(&buf, 0);
		assert_json((const char *)buf.bytes);
		ctx_buf_clear(&buf);
		ctx_name_put_text(&buf, name, false);
		for (size_t at = 0; at < buf.n;) {
			uint32_t code;

			at += ctx_utf8_decode((const char *)buf.bytes + at, buf.n - at, &code);
			assert_int_not_equal(code, UINT32_MAX);
			assert_false(ctx_char_is_harmful(code));
		}
		ctx_buf_deinit(&buf);
	}
}

static void test_figures__round_and_keep_every_digit(void **state)
{
	char out[CTX_FIGURE_MAX];

	(void)state;
	ctx_figure_fixed(out, 1234567, 1000000, 3);
	assert_string_equal(out, "1.235");
	ctx_figure_fixed(out, UINT64_MAX, 1, 0);
	assert_string_equal(out, "18446744073709551615");
	ctx_figure_percent(out, UINT64_MAX / 2, UINT64_MAX, 2);
	assert_string_equal(out, "50.00");
	ctx_figure_percent(out, 1, 0, 2);
	ctx_figure_share(out, 1, 3);
	assert_string_equal(out, "0.333333");
	ctx_figure_share(out, 0, 0);
	assert_string_equal(out, "1.000000");
}

static void test_report__a_function_is_found_by_its_short_name(void **state)
{
	static const struct {
		const char *name, *filter;
		bool found;
	} cases[] = {
		{"work(int)", "work", true},
		{"work(int)", "work(int)", true},
		{"work(int)", "wor", false},
		{"work(int)", "int", false},
		{"void ns::run<int, (foo)3>(work const&)", "run", true},
		{"void ns::run<int, (foo)3>(work const&)", "ns::run", true},
		{"void ns::run<int, (foo)3>(work const&)", "work", false},
		{"void ns::run<int, (foo)3>(work const&)", "foo", false},
		{"void ns::run<int, (foo)3>(work const&)", "ns", false},
		{"ns::runner::run()", "runner", false},
		{"foo [isra.0]", "foo", true},
		{"foo", "", false},
		{"operator()", "operator()", true},
		{"dup (a.c)", "dup", true},
		{"dup (a.c)", "dup (a.c)", true},
		{"dup (a.c)", "a.c", false},
		{"ns::dup(int) (a.c)", "dup", true},
		{"ns::dup(int) (a.c)", "ns::dup(int)", true},
		{"part_of", "whole.cold", true},
		{"part_of", "whole", false},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_function_info function = {.name = cases[i].name,
						     .linkage_name = "_Z",
						     .aliases = "",
						     .parts = "other.part.0 whole.cold"};
		struct ctx_profile profile = {.functions = &function, .n_functions = 1};

		if (ctx_function_matches(&profile, 0, cases[i].filter) != cases[i].found)
			fail_msg("%s, %s", cases[i].name, cases[i].filter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report__prints_every_report_in_every_format),
		with_fixture(test_report__e19_warns_about_distortions),
		with_fixture(test_report__per_thread_and_cut_short),
		with_fixture(test_report__percentages_of_a_thread_are_of_the_thread),
		with_fixture(test_report__lives_of_a_tid_are_told_apart),
		with_fixture(test_report__function_filter_shows_its_subtrees),
		with_fixture(test_report__counted_calls_are_shown_and_exact),
		with_fixture(test_report__callers_are_the_tree_upside_down),
		cmocka_unit_test(test_order__a_key_is_what_its_column_is_called),
		with_fixture(test_report__every_column_is_a_sort_key_by_its_title),
		with_fixture(test_report__hostile_names_are_harmless_in_every_format),
		with_fixture(test_report__refuses_unknown_sort_keys_and_functions_before_it_prints),
		with_fixture(test_report__sorts_functions_by_any_key),
		with_fixture(test_report__an_empty_selection_is_a_report_too),
		with_fixture(test_report__timeline_counts_the_first_strip_and_leaves_gaps_blank),
		with_fixture(test_report__header_and_overview_cover_the_whole_run),
		with_fixture(test_report__metric_names_are_made_safe_for_the_terminal),
		with_fixture(test_report__truncated_stacks_are_counted_by_reason),
		with_fixture(test_report__inlined_functions_and_parts_have_keys),
		with_fixture(test_report__a_full_disk_is_an_error),
		cmocka_unit_test(test_report__a_function_is_found_by_its_short_name),
		cmocka_unit_test(test_names__are_cut_in_the_middle),
		cmocka_unit_test(test_names__of_cxx_keep_their_method),
		cmocka_unit_test(test_names__random_bytes_never_do_harm),
		cmocka_unit_test(test_figures__round_and_keep_every_digit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
