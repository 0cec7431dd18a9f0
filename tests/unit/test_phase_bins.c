/* Classes of call stacks, samples by bin and class, idle time; the names of phases in intervals. */
#include "timetree/phase_bins.h"

#include "model/phase.h"

#include "chance.h"
#include "timetree_building.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ctx_trie cct;

/* Node 1 main, with 2 parse (3 read, 4 lex) and 5 solve (6 multiply); functions have the numbers of nodes. */
static int make_cct(void **state)
{
	static const uint32_t parents[] = {0, 0, 1, 2, 2, 1, 5};

	(void)state;
	if (ctx_trie_init(&cct, NULL) != CTX_OK)
		return -1;
	for (uint32_t i = 1; i < sizeof(parents) / sizeof(parents[0]); i++) {
		uint32_t node;

		if (ctx_trie_child(&cct, parents[i], i, &node, NULL) != CTX_OK || node != i)
			return -1;
	}
	return 0;
}

static int drop_cct(void **state)
{
	(void)state;
	ctx_trie_deinit(&cct);
	return 0;
}

static void add(struct ctx_histogram *histogram, uint32_t stack, uint64_t samples)
{
	assert_int_equal(
		ctx_histogram_add(
			histogram,
			(struct ctx_hist_entry){.stack = stack, .samples = samples, .weight = samples}, NULL),
		CTX_OK);
}

/* ---- classes ---- */

static void test_phase_classes__heavy_children_are_apart(void **state)
{
	struct ctx_histogram histogram = {0};
	struct ctx_phase_classes classes;

	(void)state;
	add(&histogram, 3, 400); /* main, parse and read */
	add(&histogram, 4, 7);	 /* too few for a class */
	add(&histogram, 6, 100);
	add(&histogram, 1, 20);
	assert_int_equal(ctx_phase_classes_make(&cct, &histogram, &classes, NULL), CTX_OK);
	/* Those of idle time, main itself, parse with lex, read, solve with multiply. */
	assert_int_equal(classes.n, 5);
	assert_int_not_equal(classes.of[1], CTX_PHASE_IDLE);
	assert_int_equal(classes.of[0], classes.of[1]);
	assert_int_equal(classes.of[4], classes.of[2]);
	assert_int_equal(classes.of[6], classes.of[5]);
	assert_int_not_equal(classes.of[2], classes.of[1]);
	assert_int_not_equal(classes.of[3], classes.of[2]);
	assert_int_not_equal(classes.of[5], classes.of[1]);
	assert_int_equal(classes.nodes[classes.of[6]], 6);
	assert_int_equal(classes.nodes[classes.of[3]], 3);
	ctx_phase_classes_deinit(&classes);
	ctx_histogram_deinit(&histogram);
}

static void test_phase_classes__are_not_more_than_there_may_be(void **state)
{
	struct ctx_histogram histogram = {0};
	struct ctx_phase_classes classes;
	struct ctx_trie wide;
	uint32_t heaviest = 0;

	(void)state;
	assert_int_equal(ctx_trie_init(&wide, NULL), CTX_OK);
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t node;

		assert_int_equal(ctx_trie_child(&wide, CTX_TRIE_ROOT, i, &node, NULL), CTX_OK);
		add(&histogram, node, 50 + i);
		heaviest = node;
	}
	assert_int_equal(ctx_phase_classes_make(&wide, &histogram, &classes, NULL), CTX_OK);
	assert_int_equal(classes.n, CTX_PHASE_CLASSES);
	assert_int_equal(classes.of[1], classes.of[0]);
	assert_int_not_equal(classes.of[heaviest], classes.of[0]);
	for (uint32_t i = 0; i < wide.n; i++)
		assert_in_range(classes.of[i], 1, CTX_PHASE_CLASSES - 1);
	ctx_phase_classes_deinit(&classes);
	ctx_histogram_deinit(&histogram);
	ctx_trie_deinit(&wide);
}

static void test_phase_classes__refuse_unknown_stacks(void **state)
{
	struct ctx_histogram histogram = {0};
	struct ctx_phase_classes classes;
	struct ctx_err err;

	(void)state;
	add(&histogram, 7, 1);
	assert_int_equal(ctx_phase_classes_make(&cct, &histogram, &classes, &err), CTX_E_FORMAT);
	ctx_histogram_deinit(&histogram);
}

/* ---- bins ---- */

static struct ctx_phase_classes every_node(void)
{
	struct ctx_phase_classes classes = {
		.of = calloc(cct.n, sizeof(*classes.of)), .n_nodes = cct.n, .n = cct.n + 1};

	for (uint32_t i = 0; i < cct.n; i++)
		classes.of[i] = i + 1;
	return classes;
}

static void test_phase_bins__a_time_tree_gives_what_its_samples_give(void **state)
{
	static const struct ctx_interval spans[] = {
		{0, 1000000}, {0, 1000001}, {123456, 900000}, {500000, 500064}, {999999, 1000000}};
	const struct ctx_interval run = {0, 1000000};
	struct ctx_timetree_params params = ctx_timetree_default_params();
	struct ctx_phase_classes classes = every_node();
	struct ctx_sample *samples = calloc(5000, sizeof(*samples));
	struct ctx_timetree *tree;
	struct ctx_timetree_reader reader;

	(void)state;
	random_state = 11;
	for (size_t i = 0; i < 5000; i++)
		samples[i] = (struct ctx_sample){.time_ns = i * 200 + below(200),
						 .weight = 1 + below(9),
						 .stack = (uint32_t)below(cct.n)};
	params.leaf_samples = 20;
	params.fanout = 3;
	tree = build(&params, run, &cct, samples, 5000);
	reader = ctx_timetree_reader(tree, &cct);
	for (size_t s = 0; s < sizeof(spans) / sizeof(spans[0]); s++) {
		for (size_t n = 1; n <= 64; n = n * 3 - 1) {
			struct ctx_phase_bins fast, slow;

			assert_int_equal(ctx_phase_bins_init(&fast, spans[s], n, &classes, NULL), CTX_OK);
			assert_int_equal(ctx_phase_bins_init(&slow, spans[s], n, &classes, NULL), CTX_OK);
			assert_int_equal(ctx_phase_bins_add_tree(&fast, &reader, spans[s], NULL, NULL),
					 CTX_OK);
			for (size_t i = 0; i < 5000; i++)
				ctx_phase_bins_add_sample(&slow, &samples[i]);
			assert_memory_equal(fast.cells, slow.cells, n * classes.n * sizeof(*fast.cells));
			ctx_phase_bins_deinit(&fast);
			ctx_phase_bins_deinit(&slow);
		}
	}
	ctx_timetree_destroy(tree);
	free(samples);
	free(classes.of);
}

/* A list of a damaged tree names a stack that is not in the profile. */
static void test_phase_bins__unknown_stacks_of_a_tree_are_refused(void **state)
{
	const struct ctx_interval run = {0, 1000};
	struct ctx_timetree_params params = ctx_timetree_default_params();
	struct ctx_phase_classes classes = every_node();
	struct ctx_sample samples[100] = {0};
	struct ctx_timetree *tree;
	struct ctx_timetree_reader reader;
	struct ctx_phase_bins bins;
	struct ctx_err err;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		samples[i] = (struct ctx_sample){.time_ns = i * 10, .weight = 1, .stack = i == 50 ? 7 : 1};
	params.leaf_samples = 10;
	tree = build(&params, run, NULL, samples, 100);
	reader = ctx_timetree_reader(tree, NULL);
	for (size_t n = 1; n <= 64; n *= 4) {
		assert_int_equal(ctx_phase_bins_init(&bins, run, n, &classes, NULL), CTX_OK);
		assert_int_equal(ctx_phase_bins_add_tree(&bins, &reader, run, NULL, &err), CTX_E_FORMAT);
		ctx_phase_bins_deinit(&bins);
	}
	ctx_timetree_destroy(tree);
	free(classes.of);
}

static void test_phase_bins__intervals_hold_the_samples_of_their_bins(void **state)
{
	struct ctx_phase_classes classes = every_node();
	struct ctx_phase_bins bins;

	(void)state;
	assert_int_equal(ctx_phase_bins_init(&bins, (struct ctx_interval){100, 1100}, 64, &classes, NULL),
			 CTX_OK);
	for (size_t i = 0; i < 64; i++) {
		struct ctx_interval interval = ctx_phase_bins_interval(&bins, i, i + 1);

		for (uint64_t at = interval.begin_ns; at < interval.end_ns; at++)
			ctx_phase_bins_add_sample(&bins, &(struct ctx_sample){.time_ns = at, .stack = 1});
		assert_true(bins.cells[i * classes.n + 2] == (double)(interval.end_ns - interval.begin_ns));
	}
	assert_int_equal(ctx_phase_bins_interval(&bins, 0, 64).begin_ns, 100);
	assert_int_equal(ctx_phase_bins_interval(&bins, 0, 64).end_ns, 1100);
	ctx_phase_bins_deinit(&bins);
	free(classes.of);
}

/* 300 ns from 250 on, in bins of 100 ns: a half, two whole ones, a half. What lies outside does not count. */
static void test_phase_bins__spans_are_divided(void **state)
{
	static const double wanted[] = {0, 0, 1, 2, 2, 1, 0, 0, 0, 3};
	struct ctx_phase_classes classes = every_node();
	struct ctx_phase_bins bins;

	(void)state;
	assert_int_equal(ctx_phase_bins_init(&bins, (struct ctx_interval){0, 1000}, 10, &classes, NULL),
			 CTX_OK);
	ctx_phase_bins_add_span(&bins, &(struct ctx_sample){.time_ns = 549, .weight = 300, .stack = 3}, 6);
	ctx_phase_bins_add_span(&bins, &(struct ctx_sample){.time_ns = 1099, .weight = 200, .stack = 3}, 6);
	ctx_phase_bins_add_span(&bins, &(struct ctx_sample){.time_ns = 1500, .weight = 100, .stack = 3}, 6);
	for (size_t i = 0; i < 10; i++)
		assert_true(fabs(bins.cells[i * classes.n + 4] - wanted[i]) < 1e-9);
	ctx_phase_bins_deinit(&bins);
	free(classes.of);
}

/* ---- idle time ---- */

static void test_phase_bins__idle_time_gets_a_class(void **state)
{
	struct ctx_phase_classes classes = {.n = 2};
	struct ctx_phase_bins bins;

	(void)state;
	assert_int_equal(ctx_phase_bins_init(&bins, (struct ctx_interval){0, 200}, 200, &classes, NULL),
			 CTX_OK);
	for (size_t i = 0; i < 200; i++)
		bins.cells[2 * i + 1] = i < 60 || i >= 100 ? 10 : i == 80; /* a single one in between */
	bins.cells[2 * 150 + 1] = 0;					   /* one bin alone is nothing */
	assert_int_equal(ctx_phase_bins_find_idle(&bins, NULL), CTX_OK);
	for (size_t i = 0; i < 200; i++) {
		double wanted = i < 60 || i >= 100 ? 0 : i == 80 ? 9 : 10;

		assert_true(bins.cells[2 * i + CTX_PHASE_IDLE] == wanted);
	}
	ctx_phase_bins_deinit(&bins);
}

/* Three samples in a bin in the mean, by chance: some bins have none. */
static void test_phase_bins__few_samples_are_not_idle(void **state)
{
	struct ctx_phase_classes classes = {.n = 2};
	struct ctx_phase_bins bins;

	(void)state;
	random_state = 13;
	assert_int_equal(ctx_phase_bins_init(&bins, (struct ctx_interval){0, 256}, 256, &classes, NULL),
			 CTX_OK);
	for (size_t i = 0; i < 768; i++)
		bins.cells[2 * below(256) + 1]++;
	assert_int_equal(ctx_phase_bins_find_idle(&bins, NULL), CTX_OK);
	for (size_t i = 0; i < 256; i++)
		assert_true(bins.cells[2 * i + CTX_PHASE_IDLE] == 0);
	ctx_phase_bins_deinit(&bins);
}

static void test_phase_bins__number_follows_from_the_samples(void **state)
{
	(void)state;
	assert_int_equal(ctx_phase_bins_wanted(0), 64);
	assert_int_equal(ctx_phase_bins_wanted(255), 64);
	assert_int_equal(ctx_phase_bins_wanted(256), 128);
	assert_int_equal(ctx_phase_bins_wanted(1000), 256);
	assert_int_equal(ctx_phase_bins_wanted(UINT64_MAX), 1024);
}

/* ---- names ---- */

static struct ctx_phase phases[] = {
	{.interval = {0, 100}, .letter = 0},
	{.interval = {100, 300}, .letter = 1},
	{.interval = {300, 350}, .letter = 0},
	{.interval = {350, 400}, .letter = 27},
};
static const struct ctx_phase_group group = {.phases = phases, .n = 4, .n_letters = 28};

static void assert_intervals(const char *text, const struct ctx_interval *wanted, size_t n)
{
	struct ctx_interval_list list = {0};
	struct ctx_err err;

	assert_true(ctx_phase_text_is(text));
	assert_int_equal(ctx_phase_intervals_find(&group, text, &list, &err), CTX_OK);
	assert_int_equal(list.n, n);
	assert_memory_equal(list.items, wanted, n * sizeof(*wanted));
	free(list.items);
}

static void assert_refused(const struct ctx_phase_group *of, const char *text, const char *message)
{
	struct ctx_interval_list list = {0};
	struct ctx_err err;

	assert_int_equal(ctx_phase_intervals_find(of, text, &list, &err), CTX_E_ARG);
	assert_string_equal(err.msg, message);
	assert_int_equal(list.n, 0);
	free(list.items);
}

static void test_phase__intervals_are_named_by_letters_and_numbers(void **state)
{
	static const struct ctx_interval a[] = {{0, 100}, {300, 350}}, second[] = {{100, 300}},
					 from[] = {{100, 350}}, last[] = {{350, 400}};

	(void)state;
	assert_intervals("phase:A", a, 2);
	assert_intervals("phase:a", a, 2);
	assert_intervals("phase:B", second, 1);
	assert_intervals("phase:2", second, 1);
	assert_intervals("phase:2..3", from, 1);
	assert_intervals("phase:AB", last, 1);
	assert_intervals("phase:4..4", last, 1);
	assert_intervals("phase:cc1/B", second, 1);
	assert_intervals("phase:/usr/lib/cc1/2..3", from, 1);
	assert_false(ctx_phase_text_is("300:700"));
	assert_false(ctx_phase_text_is("mark:phase:A"));
}

static void test_phase__a_text_may_name_a_process(void **state)
{
	struct ctx_buf process CTX_AUTO_BUF = {0};

	(void)state;
	assert_false(ctx_phase_text_process("phase:B", &process));
	assert_int_equal(process.n, 0);
	assert_true(ctx_phase_text_process("phase:/usr/lib/cc1/2..3", &process));
	assert_string_equal((const char *)process.bytes, "/usr/lib/cc1");
	ctx_buf_clear(&process);
	assert_true(ctx_phase_text_process("phase:/B", &process));
	assert_string_equal((const char *)process.bytes, "");
}

static void test_phase__other_names_are_refused(void **state)
{
	static const struct ctx_phase_group none, one = {.phases = phases, .n = 1, .n_letters = 1};
	static const char *const wrong[] = {"phase:",	  "phase:C",	"phase:0",	 "phase:5",
					    "phase:3..2", "phase:2..",	"phase:2..9",	 "phase:2x",
					    "phase:-1",	  "phase:A..B", "phase:9999999", "phase:2..3..4"};
	char message[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(message, sizeof(message),
			 "interval '%s': there are the phases 1 to 4, with the letters A to AB (-r phases)",
			 wrong[i]);
		assert_refused(&group, wrong[i], message);
	}
	assert_refused(&none, "phase:A",
		       "interval 'phase:A': the recording has too few samples to tell phases apart");
	assert_refused(&one, "phase:B", "interval 'phase:B': there is one phase alone, phase:A");
}

static void test_phase__a_time_is_in_one_phase(void **state)
{
	(void)state;
	assert_ptr_equal(ctx_phase_at(&group, 0), &phases[0]);
	assert_ptr_equal(ctx_phase_at(&group, 99), &phases[0]);
	assert_ptr_equal(ctx_phase_at(&group, 100), &phases[1]);
	assert_ptr_equal(ctx_phase_at(&group, 399), &phases[3]);
	assert_null(ctx_phase_at(&group, 400));
	assert_string_equal(ctx_phase_letter(25), "Z");
	assert_string_equal(ctx_phase_letter(26), "AA");
	assert_string_equal(ctx_phase_letter(103), "CZ");
	assert_string_equal(ctx_phase_letter(104), "?");
	assert_int_equal(ctx_phase_mark(&phases[1]), 'B');
	assert_int_equal(ctx_phase_mark(&phases[3]), '*');
	assert_int_equal(ctx_phase_mark(NULL), ' ');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phase_classes__heavy_children_are_apart),
		cmocka_unit_test(test_phase_classes__are_not_more_than_there_may_be),
		cmocka_unit_test(test_phase_classes__refuse_unknown_stacks),
		cmocka_unit_test(test_phase_bins__a_time_tree_gives_what_its_samples_give),
		cmocka_unit_test(test_phase_bins__unknown_stacks_of_a_tree_are_refused),
		cmocka_unit_test(test_phase_bins__intervals_hold_the_samples_of_their_bins),
		cmocka_unit_test(test_phase_bins__spans_are_divided),
		cmocka_unit_test(test_phase_bins__idle_time_gets_a_class),
		cmocka_unit_test(test_phase_bins__few_samples_are_not_idle),
		cmocka_unit_test(test_phase_bins__number_follows_from_the_samples),
		cmocka_unit_test(test_phase__intervals_are_named_by_letters_and_numbers),
		cmocka_unit_test(test_phase__a_text_may_name_a_process),
		cmocka_unit_test(test_phase__other_names_are_refused),
		cmocka_unit_test(test_phase__a_time_is_in_one_phase),
	};

	return cmocka_run_group_tests(tests, make_cct, drop_cct);
}
