/*
 * Resolving the words of --metric to metrics, and those of --by to keys.
 */
#include "base/mem.h"
#include "query/index_key.h"
#include "query/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EVENTS 4u
#define WALL (EVENTS + CTX_STATE_N + CTX_STATE_METRICS_N - 1)

static struct ctx_metric_info metrics[EVENTS + CTX_STATE_N + CTX_STATE_METRICS_N] = {
	{.name = "cpu-clock:u", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS},
	{.name = "cpu/event=1,umask=2/", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS},
	{.name = "instructions", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS},
	{.name = "a,b", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS},
};

static struct ctx_profile make_profile(void)
{
	static const uint32_t part = EVENTS;
	struct ctx_profile profile = {.run = {0, 1000}, .metrics = metrics, .n_metrics = WALL + 1};

	for (uint32_t i = 0; i < EVENTS; i++)
		metrics[i].samples = 0;
	for (unsigned state = 0; state < CTX_STATE_N; state++)
		metrics[EVENTS + state] =
			(struct ctx_metric_info){.name = ctx_state_name((enum ctx_thread_state)state),
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS};
	for (unsigned sum = 0; sum < CTX_STATE_METRICS_N; sum++)
		metrics[EVENTS + CTX_STATE_N + sum] =
			(struct ctx_metric_info){.name = ctx_state_metrics[sum].name,
						 .word = ctx_state_metrics[sum].word,
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS,
						 .parts = &part,
						 .n_parts = 1};
	profile.has_states = true;
	profile.states = EVENTS;
	return profile;
}

/* `want` ends with CTX_NONE. */
static void assert_metrics(const struct ctx_profile *profile, const char *list, const uint32_t *want)
{
	struct ctx_selection_spec spec = {.metric = list};
	struct ctx_selection selection;
	struct ctx_err err = {0};
	size_t n = 0;

	if (ctx_selection_make(&spec, profile, &selection, &err) != CTX_OK)
		fail_msg("%s: %s", list, err.msg);
	while (want[n] != CTX_NONE)
		n++;
	assert_int_equal(selection.n_metrics, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(selection.metrics[i], want[i]);
	ctx_selection_deinit(&selection);
}

#define METRICS(...) ((const uint32_t[]){__VA_ARGS__, CTX_NONE})

static void test_selection__metrics_are_a_list_of_names_that_may_have_commas(void **state)
{
	struct ctx_profile profile = make_profile();

	(void)state;
	assert_metrics(&profile, "cpu-clock", METRICS(0));
	assert_metrics(&profile, "cpu/event=1,umask=2/", METRICS(1));
	assert_metrics(&profile, "instructions,cpu/event=1,umask=2/,wall", METRICS(2, 1, WALL));
	assert_metrics(&profile, "a,b", METRICS(3));
	assert_metrics(&profile, "user,USER,User CPU,wait-cpu,waitcpu",
		       METRICS(EVENTS + CTX_STATE_N, EVENTS, EVENTS + CTX_STATE_N + 2));
}

/* Of a clock's samples no state is known: by state it is the time in each that is meant. */
static void test_selection__by_state_without_a_metric_is_wall(void **state)
{
	struct ctx_profile profile = make_profile();
	struct ctx_selection_spec spec = {.by = "state"};
	struct ctx_selection selection;

	(void)state;
	metrics[0].samples = 1;
	assert_int_equal(ctx_selection_make(&spec, &profile, &selection, NULL), CTX_OK);
	assert_int_equal(selection.n_metrics, 1);
	assert_int_equal(selection.metrics[0], WALL);
	ctx_selection_deinit(&selection);
	spec.by = "function,wait";
	assert_int_equal(ctx_selection_make(&spec, &profile, &selection, NULL), CTX_OK);
	assert_int_equal(selection.metrics[0], WALL);
	ctx_selection_deinit(&selection);
	spec.by = "thread";
	assert_int_equal(ctx_selection_make(&spec, &profile, &selection, NULL), CTX_OK);
	assert_int_equal(selection.metrics[0], 0);
	ctx_selection_deinit(&selection);
}

/* "thread function(wait) ..." of --by, or the message. */
static void assert_keys(const char *by, const char *wanted)
{
	static const char *definitions[] = {"ms=TSTAMP/1000000", "comm=DEPTH"};
	const struct ctx_selection_spec spec = {.indexes = definitions, .n_indexes = 2};
	struct ctx_index_keys keys;
	struct ctx_wrong_place place = {0};
	struct ctx_err err = {0};
	char got[512] = "";

	if (ctx_index_keys_check(&spec, by, &place, &err) != CTX_OK) {
		snprintf(got, sizeof(got), "%.*s", (int)strcspn(err.msg, "("), err.msg);
	} else {
		assert_int_equal(ctx_index_keys_read(&spec, by, &keys, &err), CTX_OK);
		for (size_t i = 0; i < keys.n; i++) {
			size_t n = strlen(got);

			snprintf(got + n, sizeof(got) - n, "%s%s=%s", i != 0 ? "; " : "", keys.keys[i].name,
				 keys.texts[i] != NULL ? keys.texts[i] : "");
		}
		ctx_index_keys_deinit(&keys);
	}
	assert_string_equal(got, wanted);
}

static void test_selection__keys_of_an_index_are_a_list(void **state)
{
	(void)state;
	assert_keys("thread", "thread=THRID");
	assert_keys("command,object,function", "command=; object=; function=");
	assert_keys(" Threads , dso,SYM,srcline", "thread=THRID; object=; function=; line=");
	assert_keys("comm,pid,tid", "comm=DEPTH; pid=pid; tid=tid");
	assert_keys("ms,cpu,DEPTH/10", "ms=TSTAMP/1000000; cpu=CPUID; DEPTH/10=DEPTH/10");
	assert_keys("(LEAF IN (\"a\", \"b,c\")),wait",
		    "(LEAF IN (\"a\", \"b,c\"))=(LEAF IN (\"a\", \"b,c\")); wait=");
	assert_keys("STATE==\"a\\\",b\",line", "STATE==\"a\\\",b\"=STATE==\"a\\\",b\"; line=");
	assert_keys("time", "time=TSTAMP/100000000*100000000");
	assert_keys("cpu, us=TSTAMP/1000 ,line", "cpu=CPUID; us=TSTAMP/1000; line=");
	assert_keys("core,sockets,node,pmu", "core=; socket=; node=; pmu=");
	assert_keys("DEPTH==3", "DEPTH==3=DEPTH==3");
}

static void test_selection__wrong_keys_are_refused_with_the_known_ones(void **state)
{
	(void)state;
	assert_keys("nonsense", "--by nonsense: no such index object ");
	assert_keys("cpu,functoin", "--by functoin: no such index object, perhaps 'function' ");
	assert_keys("function,function", "--by function,function: 'function' is there twice");
	assert_keys("sym,cpu,Function",
		    "--by sym,cpu,Function: 'Function' is 'function', which is there already");
	assert_keys("cpu,CPUID", "--by cpu,CPUID: 'CPUID' is 'cpu', which is there already");
	assert_keys(",", "--by ',': column 1: a key is missing ");
	assert_keys("", "--by '': column 1: a key is missing ");
	assert_keys("cpu,", "--by 'cpu,': column 5: a key is missing ");
	assert_keys("cpu, ,wait", "--by 'cpu, ,wait': column 6: a key is missing ");
	assert_keys("a=DEPTH,a=PID", "--by a=DEPTH,a=PID: 'a' is there twice");
	assert_keys("cpu,page4k=PID", "--by page4k=PID: an index object 'page4k' exists already");
	assert_keys("cpu,a=TSTAMP+", "--by: column 14: a number or name is missing");
	assert_keys("cpu,TSTAMP+", "--by: column 12: a number or name is missing");
	assert_keys("\xc3\xa4==1", "--by: column 1: '\xc3\xa4' is not known here");
	assert_keys("ms,DEPTH,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", "--by: more than 16 keys");
}

/* The place of an error is in the list as it was typed. */
static void test_selection__a_wrong_expression_of_a_list_is_pointed_at(void **state)
{
	const char *by = "cpu, \"\xc3\xa4\"==1,DEPTH @ 2,wait";
	struct ctx_wrong_place place = {0};

	(void)state;
	assert_int_equal(ctx_index_keys_check(&(struct ctx_selection_spec){0}, "cpu,DEPTH @ 2", &place, NULL),
			 CTX_E_ARG);
	assert_string_equal(place.text, "cpu,DEPTH @ 2");
	assert_int_equal(place.column, 11);
	assert_int_equal(ctx_index_keys_check(&(struct ctx_selection_spec){0}, by, &place, NULL), CTX_E_ARG);
	assert_ptr_equal(place.text, by);
}

static void test_selection__metrics_may_be_written_as_gprofng_does(void **state)
{
	struct ctx_profile profile = make_profile();

	(void)state;
	assert_metrics(&profile, "e.user:i.user", METRICS(EVENTS + CTX_STATE_N));
	assert_metrics(&profile, "e.%totalcpu:i.%totalcpu:name", METRICS(0));
	assert_metrics(&profile, "ei!user:size:i+wait,wall",
		       METRICS(EVENTS + CTX_STATE_N, EVENTS + CTX_STATE_N + 2, WALL));
	assert_metrics(&profile, "name:e.total", METRICS(WALL));
	assert_metrics(&profile, "totalcpu", METRICS(0));
}

static void test_selection__errors_in_gprofngs_notation_name_the_word(void **state)
{
	static const struct {
		const char *list, *says;
	} wrong[] = {{"e.user:i.bogus", "no metric 'bogus'"}, {"e.:user", "no metric 'e.:user'"},
		     {"x.user", "no metric 'x.user'"},	      {"e.user:", "no metric 'e.user:'"},
		     {"euser", "no metric 'euser'"},	      {"name:size", "names no metric"}};
	struct ctx_profile profile = make_profile();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_selection_spec spec = {.metric = wrong[i].list};
		struct ctx_selection selection;
		struct ctx_err err = {0};

		assert_int_not_equal(ctx_selection_make(&spec, &profile, &selection, &err), CTX_OK);
		assert_non_null(strstr(err.msg, wrong[i].says));
	}
}

static void test_selection__unknown_metrics_are_refused_with_the_recorded_ones(void **state)
{
	static const char *const wrong[] = {"x", "wall,x",     "wall,",		  ",wall",
					    "",	 "wall,,user", "cpu/event=1,wall"};
	struct ctx_profile profile = make_profile();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_selection_spec spec = {.metric = wrong[i]};
		struct ctx_selection selection;
		struct ctx_err err = {0};

		assert_int_not_equal(ctx_selection_make(&spec, &profile, &selection, &err), CTX_OK);
		if (i < 2)
			assert_non_null(strstr(err.msg, "no metric 'x' (recorded: cpu-clock:u, "
							"cpu/event=1,umask=2/, instructions, a,b; states: "
							"user, system, wait-cpu, lock, text-fault, "
							"data-fault, other-wait, wall, and USER, SYSTEM, "));
	}
}

/* Samples of events first; of a program that only waited its life. */
static void test_selection__the_default_metric_has_samples(void **state)
{
	struct ctx_profile profile = make_profile();

	(void)state;
	assert_metrics(&profile, NULL, METRICS(0));
	metrics[EVENTS + CTX_STATE_SLEEP].samples = 3;
	assert_metrics(&profile, NULL, METRICS(WALL));
	metrics[2].samples = 1;
	assert_metrics(&profile, NULL, METRICS(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection__metrics_are_a_list_of_names_that_may_have_commas),
		cmocka_unit_test(test_selection__by_state_without_a_metric_is_wall),
		cmocka_unit_test(test_selection__keys_of_an_index_are_a_list),
		cmocka_unit_test(test_selection__wrong_keys_are_refused_with_the_known_ones),
		cmocka_unit_test(test_selection__a_wrong_expression_of_a_list_is_pointed_at),
		cmocka_unit_test(test_selection__metrics_may_be_written_as_gprofng_does),
		cmocka_unit_test(test_selection__errors_in_gprofngs_notation_name_the_word),
		cmocka_unit_test(test_selection__unknown_metrics_are_refused_with_the_recorded_ones),
		cmocka_unit_test(test_selection__the_default_metric_has_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
