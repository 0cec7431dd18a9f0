/*
 * Reports of thread states: states, wakers, the timeline's states, and several metrics side by
 * side.
 */
#include "base/mem.h"
#include "report/names.h"
#include "report/report.h"
#include "report_fixture.h"
#include "report_printing.h"

#include <inttypes.h>
#include <string.h>

#define N_METRICS (1 + CTX_STATE_N + CTX_STATE_METRICS_N)

static struct ctx_metric_info all_metrics[N_METRICS];
static const char *external_wakers[] = {"<interrupt>", "kworker/0:1"};

struct lives { /* what the threads of the fixture did */
	struct ctx_report_states states[2];
	struct ctx_report_wakers wakers[6];
	struct ctx_report_waits waits[5];
	struct ctx_histogram histograms[2][4]; /* by part: CPU (borrowed), user, lock, wall */
	uint32_t more_metrics[3];
};

static void give_metrics(struct ctx_profile *profile)
{
	all_metrics[0] = metrics[0];
	for (unsigned i = 0; i < CTX_STATE_N; i++)
		all_metrics[1 + i] =
			(struct ctx_metric_info){.name = ctx_state_name((enum ctx_thread_state)i),
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS,
						 .samples = 1,
						 .weight = MS};
	for (unsigned i = 0; i < CTX_STATE_METRICS_N; i++)
		all_metrics[1 + CTX_STATE_N + i] = (struct ctx_metric_info){.name = ctx_state_metrics[i].name,
									    .word = ctx_state_metrics[i].word,
									    .kind = CTX_METRIC_SPAN,
									    .unit = CTX_UNIT_NS,
									    .parts = (const uint32_t[]){1},
									    .n_parts = 1};
	profile->metrics = all_metrics;
	profile->n_metrics = N_METRICS;
	profile->has_states = true;
	profile->states = 1;
	profile->external_wakers.items = external_wakers;
	profile->external_wakers.n = CTX_COUNT_OF(external_wakers);
}

static void add_time(struct ctx_histogram *histogram, uint32_t stack, uint64_t ms)
{
	assert_int_equal(
		ctx_histogram_add(histogram,
				  (struct ctx_hist_entry){.stack = stack, .weight = ms * MS, .samples = 1},
				  NULL),
		CTX_OK);
}

/* Sets the histogram of the first metric of a part. */
static void give_first(struct fixture *fixture, struct lives *lives, unsigned part,
		       const struct ctx_histogram *histogram)
{
	lives->histograms[part][0] = *histogram;
	fixture->parts[part].histograms = lives->histograms[part];
}

static void give_lives(struct fixture *fixture, struct lives *lives)
{
	uint32_t waits = stack_of(fixture, PATH(0, 2, 3, 4)), wakes = stack_of(fixture, PATH(7, 1, 3));

	give_metrics(&fixture->profile);
	lives->states[0] = (struct ctx_report_states){.thread = 0,
						      .ns = {[CTX_STATE_USER] = 240 * MS,
							     [CTX_STATE_SYSTEM] = 18 * MS,
							     [CTX_STATE_TRAP] = 2 * MS,
							     [CTX_STATE_USER_LOCK] = 620 * MS + 7,
							     [CTX_STATE_SLEEP] = 120 * MS - 7},
						      .spans = {30, 20, 10, 0, 0, 0, 12, 3}};
	lives->states[1] = (struct ctx_report_states){.thread = 1,
						      .ns = {[CTX_STATE_USER] = 600 * MS,
							     [CTX_STATE_DATA_FAULT] = 50 * MS,
							     [CTX_STATE_WAIT_CPU] = 150 * MS},
						      .spans = {9, 0, 0, 0, 4, 0, 0, 0, 0, 5}};
	lives->wakers[0] = (struct ctx_report_wakers){
		0, CTX_STATE_USER_LOCK, waits, 1, CTX_NONE, wakes, 10, 500 * MS, 90 * MS, 20 * MS, 5 * MS};
	lives->wakers[1] = (struct ctx_report_wakers){
		0, CTX_STATE_USER_LOCK, waits, 1, CTX_NONE, wakes, 1, 120 * MS, 95 * MS, MS, MS};
	lives->wakers[2] =
		(struct ctx_report_wakers){0, CTX_STATE_USER_LOCK, waits, CTX_NONE, 1, 0, 1, 7, 7, 0, 0};
	lives->wakers[3] = (struct ctx_report_wakers){0, CTX_STATE_SLEEP, waits,   CTX_NONE, 0, 0,
						      3, 120 * MS - 7,	  80 * MS, 3 * MS,   MS};
	lives->wakers[4] = (struct ctx_report_wakers){1,
						      CTX_STATE_DATA_FAULT,
						      stack_of(fixture, PATH(7, 1)),
						      CTX_NONE,
						      CTX_NONE,
						      0,
						      4,
						      50 * MS,
						      20 * MS,
						      0,
						      0};
	lives->wakers[5] = lives->wakers[4];
	lives->wakers[5].stack = stack_of(fixture, PATH(7, 6));
	for (unsigned part = 0; part < 2; part++) {
		add_time(&lives->histograms[part][1], stack_of(fixture, PATH(0, 1)), 100);
		add_time(&lives->histograms[part][2], waits, 620);
		add_time(&lives->histograms[part][2], stack_of(fixture, PATH(0, 2, 3)), 5);
		add_time(&lives->histograms[part][3], stack_of(fixture, PATH(0, 1)), 240);
		add_time(&lives->histograms[part][3], waits, 620);
		add_time(&lives->histograms[part][3], stack_of(fixture, PATH(7, 1, 6)), 140);
	}
	lives->more_metrics[0] = 1 + CTX_STATE_N;
	lives->more_metrics[1] = 1 + CTX_STATE_N + 3;
	lives->more_metrics[2] = 1 + CTX_STATE_N + 7;
	fixture->input.states = lives->states;
	fixture->input.n_states = 2;
	fixture->input.wakers = lives->wakers;
	fixture->input.n_wakers = CTX_COUNT_OF(lives->wakers);
	lives->waits[0] = (struct ctx_report_waits){CTX_STATE_USER_LOCK, waits, 12, 620 * MS + 7, 300 * MS};
	lives->waits[1] = (struct ctx_report_waits){CTX_STATE_SLEEP, stack_of(fixture, PATH(0, 2, 3)), 2,
						    80 * MS, 70 * MS};
	lives->waits[2] = (struct ctx_report_waits){CTX_STATE_SLEEP, stack_of(fixture, PATH(7, 3)), 1,
						    40 * MS - 7, 40 * MS - 7};
	lives->waits[3] = (struct ctx_report_waits){CTX_STATE_DATA_FAULT, stack_of(fixture, PATH(7, 1)), 4,
						    50 * MS, 20 * MS};
	/* As the first, from elsewhere below the same caller: one row. */
	lives->waits[4] =
		(struct ctx_report_waits){CTX_STATE_SLEEP, stack_of(fixture, PATH(0, 2)), 1, 5 * MS, 5 * MS};
	fixture->input.waits = lives->waits;
	fixture->input.n_waits = CTX_COUNT_OF(lives->waits);
	for (unsigned part = 0; part < 2; part++)
		give_first(fixture, lives, part, &fixture->all);
	for (unsigned i = 0; i < 40; i++) {
		fixture->slices[i].state_ns[i % 7 == 0 ? CTX_STATE_SLEEP : CTX_STATE_USER] = 30 * MS;
		fixture->slices[i].state_ns[CTX_STATE_USER_LOCK] = 20 * MS + i % 3 * 10 * MS;
	}
}

static struct lives *lives_new(struct fixture *fixture)
{
	struct lives *lives = ctx_calloc(1, sizeof(*lives));

	assert_non_null(lives);
	give_lives(fixture, lives);
	return lives;
}

static void lives_free(struct lives *lives)
{
	for (unsigned i = 0; i < 6; i++)
		ctx_histogram_deinit(&lives->histograms[i / 3][i % 3 + 1]);
	free(lives);
}

static void test_report_states__prints_threads_waits_and_slices_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);

	assert_every_format("states", &fixture->input, (struct ctx_report_options){0}, "states-states");
	assert_every_format("wakers", &fixture->input, (struct ctx_report_options){0}, "states-wakers");
	assert_every_format("waits", &fixture->input, (struct ctx_report_options){0}, "states-waits");
	assert_every_format("timeline", &fixture->input, (struct ctx_report_options){0}, "states-timeline");
	assert_every_format("wakers", &fixture->input, (struct ctx_report_options){.subject = "walk"},
			    "states-of-walk-wakers");
	assert_every_format("waits", &fixture->input,
			    (struct ctx_report_options){.subject = "walk", .limit = 1, .sort = "max_ns"},
			    "states-of-walk-waits");
	lives_free(lives);
}

static void test_report_states__several_metrics_are_side_by_side(void **state)
{
	static const char *const reports[] = {"functions", "tree", "callers-callees"};
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);

	fixture->input.more_metrics = lives->more_metrics;
	fixture->input.n_more = 3;
	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++)
		assert_every_format(reports[i], &fixture->input, (struct ctx_report_options){0}, "metrics-%s",
				    reports[i]);
	fixture->parts[0].thread = 0;
	give_first(fixture, lives, 0, &fixture->main_thread);
	fixture->parts[1].thread = 1;
	give_first(fixture, lives, 1, &fixture->worker);
	fixture->input.n_parts = 2;
	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++)
		assert_every_format(reports[i], &fixture->input,
				    (struct ctx_report_options){.limit = 3, .min_percent = 20, .ascii = true},
				    "metrics-threads-%s", reports[i]);
	lives_free(lives);
}

/* The field behind `n` commas of a line. */
static uint64_t field(const char *line, unsigned n)
{
	while (n > 0)
		n -= *line++ == ',';
	return strtoull(line, NULL, 10);
}

/* Columns 3 to 21 of CSV: wall, metrics, states with the unknown time. */
static void test_report_states__rows_sum_up_exactly(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	uint64_t random = 7;

	for (unsigned round = 0; round < 50; round++) {
		char *text, *line;
		uint64_t total[19], sum[19] = {0};

		for (unsigned i = 0; i < 2 * CTX_STATE_N; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			lives->states[i / CTX_STATE_N].ns[i % CTX_STATE_N] = random >> (16 + random % 48);
		}
		text = print_report("states", &fixture->input,
				    (struct ctx_report_options){.format = CTX_REPORT_CSV});
		line = strchr(text, '\n') + 1;
		for (unsigned i = 0; i < 19; i++)
			total[i] = field(line, 3 + i);
		for (unsigned row = 0; row < 2; row++) {
			line = strchr(line, '\n') + 1;
			for (unsigned i = 0; i < 19; i++)
				sum[i] += field(line, 3 + i);
		}
		assert_memory_equal(total, sum, sizeof(total));
		for (unsigned i = 1; i < 8; i++)
			total[0] -= total[i];
		assert_int_equal(total[0], total[18]);
		for (unsigned i = 8; i < 19; i++)
			sum[0] -= sum[i];
		assert_int_equal(sum[0], 0);
		free(text);
	}
	lives_free(lives);
}

/*
 * Base of all nodes is the metric's weight, cum of a node its base and its children's; for every
 * metric.
 */
static void test_report_states__trees_of_all_metrics_sum_up(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	char *text, *line;
	uint64_t base[3] = {0}, cum[3] = {0};
	static const char header[] =
		"level,recursion_level,function,object,calls,base,cum,base_samples,cum_samples,thread,"
		"inlined,calls_exact,thread_id,base.user,cum.user,base.lock,cum.lock,base.wall,cum.wall\r\n";

	fixture->input.more_metrics = lives->more_metrics;
	fixture->input.n_more = 3;
	text = print_report("tree", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_CSV});
	assert_memory_equal(text, header, strlen(header));
	for (line = strchr(text, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
		char *end = strstr(line, "\r\n");
		unsigned at[8] = {0};
		const char *c = end;

		/* From the end, because names have commas. */
		for (unsigned n = 0; n < 6; n++) {
			do
				c--;
			while (*c != ',');
			at[n] = (unsigned)(c + 1 - line);
		}
		for (unsigned m = 0; m < 3; m++) {
			base[m] += strtoull(line + at[5 - 2 * m], NULL, 10);
			if (*line == '0')
				cum[m] = strtoull(line + at[4 - 2 * m], NULL, 10);
		}
	}
	for (unsigned m = 0; m < 3; m++) {
		assert_int_equal(base[m], lives->histograms[0][m + 1].weight);
		assert_int_equal(cum[m], lives->histograms[0][m + 1].weight);
	}
	free(text);
	lives_free(lives);
}

static void test_report_states__sorts_by_keys_of_further_metrics(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	char *text;

	fixture->input.more_metrics = lives->more_metrics;
	fixture->input.n_more = 3;
	text = print_report(
		"functions", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = "exclusive.lock", .limit = 1});
	assert_non_null(strstr(text, "\r\n\"do_syscall_64\","));
	assert_null(strstr(text, "\r\n\"main\","));
	free(text);
	text = print_report(
		"callers-callees", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = "base.wall", .limit = 1});
	assert_non_null(strstr(text, ",\"self\""));
	assert_non_null(strstr(text, "\r\n\"do_syscall_64\","));
	free(text);
	text = print_report(
		"states", &fixture->input,
		(struct ctx_report_options){.format = CTX_REPORT_CSV, .sort = "wait-cpu", .limit = 1});
	assert_non_null(strstr(text, "\r\n100,102,\"worker/1\",800000000,"));
	assert_null(strstr(text, "\"app\""));
	free(text);
	lives_free(lives);
}

/* Samples of another metric suffice if the first one has none. */
static void test_report_states__no_samples_is_noted_only_if_all_metrics_are_empty(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	const struct ctx_histogram none[4] = {0};
	char *text;

	give_first(fixture, lives, 0, &none[0]);
	fixture->input.more_metrics = lives->more_metrics;
	fixture->input.n_more = 3;
	text = print_report("functions", &fixture->input, (struct ctx_report_options){0});
	assert_null(strstr(text, "in this selection"));
	free(text);
	fixture->parts[0].histograms = none;
	text = print_report("functions", &fixture->input, (struct ctx_report_options){0});
	assert_non_null(strstr(text, "note: no samples in this selection"));
	free(text);
	lives_free(lives);
}

static void test_report_states__empty_and_huge_values_are_valid_reports(void **state)
{
	static const char *const reports[] = {"states",	   "wakers", "timeline",
					      "functions", "tree",   "callers-callees"};
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);

	fixture->input.more_metrics = lives->more_metrics;
	for (int huge = 0; huge < 2; huge++) {
		uint64_t ns = huge ? UINT64_C(400) * 24 * 3600 * 1000 * MS : 0;

		fixture->input.n_states = huge ? 2 : 0;
		fixture->input.n_wakers = huge ? CTX_COUNT_OF(lives->wakers) : 0;
		for (unsigned i = 0; i < CTX_STATE_N; i++)
			lives->states[0].ns[i] = lives->states[0].spans[i] = ns;
		lives->wakers[0].wait_ns = lives->wakers[0].wait_max_ns = lives->wakers[0].delay_ns = ns;
		if (!huge)
			for (unsigned m = 0; m < 3; m++)
				ctx_histogram_deinit(&lives->histograms[0][m + 1]);
		assert_int_equal(
			ctx_histogram_add(&lives->histograms[0][2],
					  (struct ctx_hist_entry){.stack = 1, .weight = ns, .samples = 1},
					  NULL),
			CTX_OK);
		for (size_t i = 0; i < CTX_COUNT_OF(reports); i++) {
			for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
				char *text;

				fixture->input.n_more = i >= 3 ? 3 : 0;
				text = print_report(
					reports[i], &fixture->input,
					(struct ctx_report_options){.format = (enum ctx_report_format)format,
								    .width = 120});
				if (format == CTX_REPORT_TEXT)
					assert_fits(text, 120);
				if (format == CTX_REPORT_JSON)
					assert_json(text);
				assert_int_equal(strlen(text) > 20, 1);
				free(text);
			}
		}
	}
	lives_free(lives);
}

static void test_report_states__hostile_names_are_harmless(void **state)
{
	static const char *const reports[] = {"states",	   "wakers", "timeline",
					      "functions", "tree",   "callers-callees"};
	static const char *hostile_external_wakers[] = {"\033[2J<interrupt>", "k\nworker\xff"};
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	struct ctx_function_info hostile[CTX_COUNT_OF(functions)];
	struct ctx_thread_info hostile_threads[CTX_COUNT_OF(threads)];

	memcpy(hostile, functions, sizeof(hostile));
	memcpy(hostile_threads, threads, sizeof(hostile_threads));
	for (size_t i = 0; i < CTX_COUNT_OF(hostile); i++)
		hostile[i].name = "evil\033[31m\xe2\x80\xae,\"\n\xff";
	for (size_t i = 0; i < CTX_COUNT_OF(hostile_threads); i++)
		hostile_threads[i].name = "\r\033]0;x\007漢字";
	all_metrics[1 + CTX_STATE_N].name = "m\033[2J\n漢字漢字漢字漢字漢字漢字";
	fixture->profile.functions = hostile;
	fixture->profile.threads = hostile_threads;
	fixture->profile.external_wakers.items = hostile_external_wakers;
	fixture->input.more_metrics = lives->more_metrics;
	for (size_t i = 0; i < 3 * CTX_COUNT_OF(reports); i++) {
		int format = (int)(i % 3);
		char *text;

		fixture->input.n_more = i / 3 >= 3 ? 3 : 0;
		text = print_report(
			reports[i / 3], &fixture->input,
			(struct ctx_report_options){.format = (enum ctx_report_format)format, .width = 80});
		assert_harmless(text, (enum ctx_report_format)format, 80);
		free(text);
	}
	fixture->profile.functions = functions;
	fixture->profile.threads = threads;
	lives_free(lives);
}

static void test_report_states__without_states_they_say_how_to_record_them(void **state)
{
	static const char *const reports[] = {"states", "wakers"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++) {
		struct ctx_err err = {0};
		struct ctx_report_options options = {.out = stdout};

		assert_int_equal(fake_print(reports[i], &fixture->input, &options, &err), CTX_E_NOTFOUND);
		assert_non_null(strstr(err.msg, "no thread states were recorded"));
	}
}

/* Incompletely recorded states are noted in these reports, as are the selected waits. */
static void test_report_states__headers_have_missing_data_and_selected_waits(void **state)
{
	static const struct {
		const char *level, *note; /* NULL: none */
	} cases[] = {
		{"full: switches with stacks, wake-ups", NULL},
		{"from sched:sched_switch and switch records; no syscalls", NULL},
		{"min: switches; no wakers", "note: states: min: switches; no wakers\n"},
		{"from switch records; no stacks, no syscalls",
		 "note: states: from switch records; no stacks"},
	};
	static const char *const reports[] = {"states", "wakers"};
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	struct ctx_property property = {.key = "states"};
	struct ctx_property *own = fixture->profile.properties;
	size_t n_own = fixture->profile.n_properties;
	char *text;

	fixture->profile.properties = &property;
	fixture->profile.n_properties = 1;
	for (size_t i = 0; i < 2 * CTX_COUNT_OF(cases); i++) {
		const char *note = cases[i / 2].note;

		property.value = cases[i / 2].level;
		text = print_report(reports[i % 2], &fixture->input,
				    (struct ctx_report_options){.width = 100});
		assert_true(note != NULL ? strstr(text, note) != NULL : strstr(text, "states:") == NULL);
		free(text);
	}
	fixture->profile.properties = own;
	fixture->profile.n_properties = n_own;
	fixture->input.wait_states = CTX_STATE_BIT(CTX_STATE_USER_LOCK) | CTX_STATE_BIT(CTX_STATE_STOPPED);
	text = print_report("wakers", &fixture->input, (struct ctx_report_options){0});
	assert_non_null(strstr(text, " | Waits: user lock, stopped | "));
	free(text);
	lives_free(lives);
}

/* 10 threads of a name are merged into one; 8 are kept. */
/*
 * Waits without an end are in the report of states alone: the other one says how much that is,
 * where it is much.
 */
static void test_report_states__wakers_report_waiting_without_a_waker(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	uint64_t seen_ns = 0, *sleep_ns = &lives->states[1].ns[CTX_STATE_SLEEP];
	const struct {
		uint64_t unseen_ns;
		struct ctx_report_options options;
		const char *note; /* NULL: none */
	} cases[] = {
		{0, {0}, NULL},
		{2 * MS, {0}, NULL},
		{210 * MS,
		 {0},
		 "note: 20.0 % of the waiting (210.000 ms) is not here: nobody was seen to end it\n"},
		{210 * MS, {.subject = "walk"}, NULL},
		{210 * MS, {.format = CTX_REPORT_JSON}, "\"20.0 % of the waiting (210.000 ms) is not here"},
	};

	for (size_t i = 0; i < fixture->input.n_wakers; i++)
		seen_ns += lives->wakers[i].wait_ns;
	assert_int_equal(seen_ns, 840 * MS);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		char *text;

		/* 790 ms of waits are in the other states. */
		*sleep_ns = 50 * MS + cases[i].unseen_ns;
		text = print_report("wakers", &fixture->input, cases[i].options);
		if (cases[i].note != NULL)
			assert_non_null(strstr(text, cases[i].note));
		else
			assert_null(strstr(text, "of the waiting"));
		free(text);
	}
	lives_free(lives);
}

static void test_report_states__many_threads_of_one_name_are_one_waiter(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	struct ctx_thread_info *own = fixture->profile.threads, pool[20];
	struct ctx_report_wakers rows[20];
	uint32_t n_own = fixture->profile.n_threads, waits = stack_of(fixture, PATH(0, 2, 3, 4));
	char *text, *each;

	for (uint32_t i = 0; i < 20; i++) {
		pool[i] = own[0];
		pool[i].name = i < 10 ? "pool" : i < 18 ? "few" : "main";
		pool[i].tid = 500 + i;
		rows[i] = (struct ctx_report_wakers){.thread = i,
						     .state = CTX_STATE_USER_LOCK,
						     .stack = waits,
						     .waker = (i + 1) % 18,
						     .external_waker = CTX_NONE,
						     .waits = 1,
						     .wait_ns = MS,
						     .wait_max_ns = MS};
	}
	fixture->profile.threads = pool;
	fixture->profile.n_threads = 20;
	fixture->input.wakers = rows;
	fixture->input.n_wakers = 18;
	text = print_report("wakers", &fixture->input, (struct ctx_report_options){.whole = true});
	each = print_report("wakers", &fixture->input,
			    (struct ctx_report_options){.whole = true, .per_thread = true});
	/* Nine of its waits are ended by its own kind, the tenth by another. */
	assert_non_null(strstr(text, "\npool (10 threads): user lock, 10.000 ms, in "));
	assert_non_null(strstr(text, "\n    9   9.000  50.00   1.000   1.000    0.000  pool (10 threads)\n"));
	assert_non_null(strstr(text, "\nfew 510: user lock, 1.000 ms, in "));
	assert_null(strstr(text, "pool 5"));
	assert_non_null(strstr(each, "\npool 500: user lock, 1.000 ms, in "));
	assert_null(strstr(each, "threads)"));
	free(text);
	free(each);
	fixture->profile.threads = own;
	fixture->profile.n_threads = n_own;
	lives_free(lives);
}

/* Callers that are not known do not hide what is. */
static void test_report_states__a_place_is_unknown_only_without_any_function(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	struct ctx_function_info own[CTX_COUNT_OF(functions)];
	char *text;

	memcpy(own, functions, sizeof(own));
	own[3].name = "__lll_lock_wait"; /* of libc */
	fixture->profile.functions = own;
	lives->wakers[0].stack = stack_of(fixture, PATH(6, 3, 4));
	lives->wakers[1].stack = stack_of(fixture, PATH(0, 2, 3, 4));
	text = print_report("wakers", &fixture->input, (struct ctx_report_options){.width = 120});
	assert_non_null(strstr(text, ": user lock, 500.000 ms, in __lll_lock_wait < <Unknown>\n"));
	assert_non_null(strstr(text, ", in walk < main\n"));
	free(text);
	fixture->profile.functions = functions;
	lives_free(lives);
}

static void test_report_states__of_equal_lives_those_that_slept_come_last(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	char *text;

	lives->states[0] = (struct ctx_report_states){.thread = 0, .ns = {[CTX_STATE_SLEEP] = 900 * MS}};
	lives->states[1] = (struct ctx_report_states){
		.thread = 1, .ns = {[CTX_STATE_SLEEP] = 899 * MS, [CTX_STATE_WAIT_CPU] = MS}};
	text = print_report("states", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_CSV});
	/* wall, user, system, wait-cpu */
	assert_non_null(strstr(text, ",900000000,0,0,1000000,"));
	assert_true(strstr(text, ",900000000,0,0,1000000,") < strstr(text, ",900000000,0,0,0,"));
	free(text);
	lives_free(lives);
}

/* Colours only where they are wanted, and each line of states ends without one. */
static void test_report_states__timeline_is_coloured_by_state(void **state)
{
	struct fixture *fixture = *state;
	struct lives *lives = lives_new(fixture);
	char *text = print_report("timeline", &fixture->input,
				  (struct ctx_report_options){.width = 80, .ascii = true, .color = true});

	assert_non_null(strstr(text, "           state \033[90mzzz\033[0m\033[32mUUU\033[0m"));
	assert_non_null(strstr(text, "\033[0m\n"));
	assert_non_null(strstr(text, "States: U user, L user lock, z sleep\n"));
	free(text);
	lives_free(lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_states__prints_threads_waits_and_slices_in_every_format),
		with_fixture(test_report_states__several_metrics_are_side_by_side),
		with_fixture(test_report_states__rows_sum_up_exactly),
		with_fixture(test_report_states__trees_of_all_metrics_sum_up),
		with_fixture(test_report_states__sorts_by_keys_of_further_metrics),
		with_fixture(test_report_states__no_samples_is_noted_only_if_all_metrics_are_empty),
		with_fixture(test_report_states__empty_and_huge_values_are_valid_reports),
		with_fixture(test_report_states__hostile_names_are_harmless),
		with_fixture(test_report_states__without_states_they_say_how_to_record_them),
		with_fixture(test_report_states__headers_have_missing_data_and_selected_waits),
		with_fixture(test_report_states__a_place_is_unknown_only_without_any_function),
		with_fixture(test_report_states__many_threads_of_one_name_are_one_waiter),
		with_fixture(test_report_states__wakers_report_waiting_without_a_waker),
		with_fixture(test_report_states__of_equal_lives_those_that_slept_come_last),
		with_fixture(test_report_states__timeline_is_coloured_by_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
