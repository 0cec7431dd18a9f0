#include "base/mem.h"
#include "model/chainwalk.h"
#include "model/histogram.h"
#include "model/interval.h"
#include "model/jit_code.h"
#include "model/profile.h"
#include "model/traced.h"
#include "model/trie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const struct ctx_interval run = {0, 2000 * MS};

static void expect_interval(const char *text, uint64_t begin, uint64_t end)
{
	struct ctx_err err = {0};
	struct ctx_interval found;

	if (ctx_interval_parse(text, run, &found, &err) != CTX_OK)
		fail_msg("'%s': %s", text, err.msg);
	assert_int_equal(found.begin_ns, begin);
	assert_int_equal(found.end_ns, end);
}

static void test_model__intervals_are_read_in_all_their_forms(void **state)
{
	(void)state;
	expect_interval("300:700", 300 * MS, 700 * MS);
	expect_interval("300ms:0.7s", 300 * MS, 700 * MS);
	expect_interval("300:", 300 * MS, 2000 * MS);
	expect_interval(":", 0, 2000 * MS);
	expect_interval(":30%", 0, 600 * MS);
	expect_interval("10%:1.5s", 200 * MS, 1500 * MS);
	expect_interval("250us:1000001ns", 250000, 1000001);
	expect_interval("0:9000", 0, 2000 * MS);
	expect_interval("0.5:1h", 500000, 2000 * MS);
	expect_interval("0:0.01m", 0, 600 * MS);
	expect_interval("1s:+200ms", 1000 * MS, 1200 * MS);
	expect_interval("10%:+10%", 200 * MS, 400 * MS);
	expect_interval(":+5", 0, 5 * MS);
	expect_interval("1900:+1h", 1900 * MS, 2000 * MS);
}

static void test_model__wrong_intervals_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} wrong[] = {
		{"300", "has no ':'"},	   {"700:300", "ends before it begins"},
		{"300:300", "is empty"},   {"3000:4000", "behind the end of the run (2.000 s)"},
		{"x:700", "not a time"},   {"300:7q", "unknown unit"},
		{"-1:5", "not a time"},	   {"nan:5", "not a time"},
		{"1e99:", "too large"},	   {"0x10:20", "decimal"},
		{"1:2:3", "unknown unit"}, {"2000:", "behind the end"},
		{"", "has no ':'"},	   {"300:+", "not a time"},
		{"300:+0", "is empty"},	   {"300:+-5", "not a time"},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_err err = {0};
		struct ctx_interval found = {1, 2};

		assert_int_equal(ctx_interval_parse(wrong[i].text, run, &found, &err), CTX_E_ARG);
		if (strstr(err.msg, wrong[i].reason) == NULL)
			fail_msg("'%s': %s", wrong[i].text, err.msg);
		assert_int_equal(found.begin_ns, 1);
	}
}

/* All of what a pprof file holds is at 0. */
static void test_model__without_times_there_is_the_whole_run_alone(void **state)
{
	static const char *const wrong[] = {"300:700", "30%:40%", "1ns:"};
	const struct ctx_interval instant = {0, 1};
	struct ctx_interval found;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_err err = {0};

		assert_int_equal(ctx_interval_parse(wrong[i], instant, &found, &err), CTX_E_ARG);
		assert_non_null(strstr(err.msg, "': the recording has no times"));
	}
	assert_int_equal(ctx_interval_parse("0:100%", instant, &found, NULL), CTX_OK);
	assert_int_equal(found.end_ns, 1);
}

static void test_model__half_open_intervals_that_touch_do_not_overlap(void **state)
{
	struct ctx_interval a = {0, 10}, b = {10, 20}, c = {9, 11}, empty = {5, 5};

	(void)state;
	assert_false(ctx_interval_overlaps(a, b));
	assert_true(ctx_interval_overlaps(a, c));
	assert_true(ctx_interval_overlaps(c, b));
	assert_false(ctx_interval_overlaps(a, empty));
	assert_true(ctx_interval_contains(a, empty));
	assert_true(ctx_interval_has(a, 0));
	assert_false(ctx_interval_has(a, 10));
}

/* Recursion of the first function: with equal hashes each look-up would pass all of its nodes. */
static void test_model__nodes_of_a_recursion_have_different_hashes(void **state)
{
	struct ctx_trie trie;
	uint32_t node = CTX_TRIE_ROOT;

	(void)state;
	assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(ctx_trie_child(&trie, node, 0, &node, NULL), CTX_OK);
	for (uint32_t i = 1; i < trie.n; i++)
		assert_true(trie.hash[i] != trie.hash[i - 1]);
	ctx_trie_deinit(&trie);
}

static void test_model__a_trie_shares_prefixes_and_knows_depths(void **state)
{
	struct ctx_trie trie;
	uint32_t a, ab, abc, ad, again;

	(void)state;
	assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, CTX_TRIE_ROOT, 7, &a, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, a, 8, &ab, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, ab, 7, &abc, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, a, 9, &ad, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, a, 8, &again, NULL), CTX_OK);
	assert_int_equal(again, ab);
	assert_int_equal(trie.n, 5);
	assert_int_equal(trie.depth[abc], 3);
	assert_int_equal(ctx_trie_common_ancestor(&trie, abc, ad), a);
	assert_int_equal(ctx_trie_common_ancestor(&trie, abc, ab), ab);
	assert_int_equal(ctx_trie_common_ancestor(&trie, abc, CTX_TRIE_ROOT), CTX_TRIE_ROOT);
	assert_int_equal(ctx_trie_ancestor(&trie, abc, 1), a);
	ctx_trie_freeze(&trie);
	assert_int_equal(trie.key[abc], 7);
	ctx_trie_deinit(&trie);
}

static void test_model__a_trie_from_bytes_must_have_parents_first(void **state)
{
	struct ctx_trie trie;
	uint32_t *parent = ctx_calloc(3, sizeof(*parent)), *key = ctx_calloc(3, sizeof(*key));

	(void)state;
	parent[1] = 0;
	parent[2] = 2;
	assert_int_equal(ctx_trie_take(&trie, parent, key, 3, NULL), CTX_E_FORMAT);
	parent = ctx_calloc(3, sizeof(*parent));
	key = ctx_calloc(3, sizeof(*key));
	parent[2] = 1;
	assert_int_equal(ctx_trie_take(&trie, parent, key, 3, NULL), CTX_OK);
	assert_int_equal(trie.depth[2], 2);
	ctx_trie_deinit(&trie);
}

static void check_histogram(bool indexed)
{
	enum { STACKS = 700 };
	uint64_t weight[STACKS] = {0}, samples[STACKS] = {0};
	int64_t calls[STACKS] = {0};
	struct ctx_histogram histogram = {0}, sum = {0};

	if (indexed)
		assert_int_equal(ctx_histogram_index(&sum, STACKS, NULL), CTX_OK);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		uint32_t stack = (uint32_t)(rand() % STACKS);
		uint64_t w = (uint64_t)(rand() % 100);
		int64_t c = rand() % 3 - 1;

		assert_int_equal(
			ctx_histogram_add(&histogram,
					  (struct ctx_hist_entry){
						  .stack = stack, .weight = w, .samples = 1, .calls = c},
					  NULL),
			CTX_OK);
		weight[stack] += w;
		samples[stack]++;
		calls[stack] += c;
	}
	assert_int_equal(ctx_histogram_merge(&sum, &histogram, NULL), CTX_OK);
	assert_int_equal(ctx_histogram_merge(&sum, &histogram, NULL), CTX_OK);
	for (uint32_t stack = 0; stack < STACKS; stack++) {
		const struct ctx_hist_entry *entry = ctx_histogram_get(&sum, stack);

		assert_non_null(entry);
		assert_int_equal(entry->weight, 2 * weight[stack]);
		assert_int_equal(entry->samples, 2 * samples[stack]);
		assert_int_equal(entry->calls, 2 * calls[stack]);
	}
	assert_null(ctx_histogram_get(&sum, STACKS));
	assert_int_equal(sum.samples, 40000);
	if (indexed)
		assert_int_equal(
			ctx_histogram_add(&sum,
					  (struct ctx_hist_entry){.stack = STACKS, .weight = 1, .samples = 1},
					  NULL),
			CTX_E_FORMAT);
	ctx_histogram_clear(&sum);
	assert_null(ctx_histogram_get(&sum, 0));
	assert_int_equal(sum.n, 0);
	assert_int_equal(
		ctx_histogram_add(&sum, (struct ctx_hist_entry){.stack = 5, .weight = 2, .samples = 1}, NULL),
		CTX_OK);
	assert_int_equal(ctx_histogram_get(&sum, 5)->weight, 2);
	ctx_histogram_deinit(&sum);
	ctx_histogram_deinit(&histogram);
}

static void check_subtract(bool indexed)
{
	struct ctx_histogram histogram = {0};

	if (indexed)
		assert_int_equal(ctx_histogram_index(&histogram, 9, NULL), CTX_OK);
	assert_int_equal(ctx_histogram_subtract(&histogram, 3, 5), 0);
	assert_int_equal(
		ctx_histogram_add(&histogram,
				  (struct ctx_hist_entry){.stack = 3, .weight = 10, .samples = 2, .calls = 1},
				  NULL),
		CTX_OK);
	assert_int_equal(ctx_histogram_add(&histogram,
					   (struct ctx_hist_entry){.stack = 4, .weight = 7, .samples = 1},
					   NULL),
			 CTX_OK);
	assert_int_equal(ctx_histogram_subtract(&histogram, 3, 4), 4);
	assert_int_equal(ctx_histogram_get(&histogram, 3)->weight, 6);
	assert_int_equal(histogram.weight, 13);
	/* No more than there is, and nothing from others. */
	assert_int_equal(ctx_histogram_subtract(&histogram, 3, UINT64_MAX), 6);
	assert_int_equal(ctx_histogram_subtract(&histogram, 3, 1), 0);
	assert_int_equal(ctx_histogram_subtract(&histogram, 5, 1), 0);
	assert_int_equal(ctx_histogram_get(&histogram, 3)->weight, 0);
	assert_int_equal(ctx_histogram_get(&histogram, 3)->samples, 2);
	assert_int_equal(ctx_histogram_get(&histogram, 3)->calls, 1);
	assert_int_equal(histogram.weight, 7);
	assert_int_equal(histogram.samples, 3);
	ctx_histogram_deinit(&histogram);
}

static void test_model__a_histogram_subtracts_at_most_its_weight(void **state)
{
	(void)state;
	check_subtract(false);
	check_subtract(true);
}

static void test_model__a_span_is_cut_at_both_ends(void **state)
{
	struct ctx_sample span = {.time_ns = 99, .weight = 50}, part = span; /* 50 .. 99 */

	(void)state;
	assert_int_equal(ctx_sample_begin(&span), 50);
	assert_true(ctx_sample_clip(&part, (struct ctx_interval){0, 100}));
	assert_true(part.time_ns == 99 && part.weight == 50);
	assert_true(ctx_sample_clip(&part, (struct ctx_interval){60, 70}));
	assert_true(part.time_ns == 69 && part.weight == 10);
	part = span;
	assert_true(ctx_sample_clip(&part, (struct ctx_interval){99, UINT64_MAX}));
	assert_true(part.time_ns == 99 && part.weight == 1);
	part = span;
	assert_false(ctx_sample_clip(&part, (struct ctx_interval){100, 200}));
	assert_false(ctx_sample_clip(&part, (struct ctx_interval){0, 50}));
	assert_false(ctx_sample_clip(&part, (struct ctx_interval){70, 60}));
	assert_true(part.time_ns == 99 && part.weight == 50);
	/* As long as time itself, or longer. */
	part = (struct ctx_sample){.time_ns = UINT64_MAX, .weight = UINT64_MAX};
	assert_int_equal(ctx_sample_begin(&part), 1);
	part.time_ns = 5;
	assert_int_equal(ctx_sample_begin(&part), 0);
	part.weight = 0;
	assert_false(ctx_sample_clip(&part, CTX_INTERVAL_ALL));
}

/* Whether a sample knows the node that it shares with the one before, or its depth alone. */
static void test_model__calls_are_the_same_by_node_and_by_depth(void **state)
{
	struct ctx_histogram by_node = {0}, by_depth = {0};
	struct ctx_sample samples[500];
	uint32_t last = CTX_TRIE_ROOT;
	struct ctx_trie cct;

	(void)state;
	srand(7);
	assert_int_equal(ctx_trie_init(&cct, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(samples); i++) {
		uint32_t stack, kept;

		assert_int_equal(
			ctx_trie_child(&cct, (uint32_t)rand() % cct.n, (uint32_t)rand() % 4, &stack, NULL),
			CTX_OK);
		kept = ctx_trie_common_ancestor(&cct, stack, last);
		samples[i] = (struct ctx_sample){
			.weight = 3, .stack = stack, .kept_stack = kept, .kept_depth = cct.depth[kept]};
		last = stack;
	}
	assert_int_equal(ctx_histogram_add_samples(&by_node, &cct, samples, CTX_COUNT_OF(samples), NULL),
			 CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(samples); i++)
		samples[i].kept_stack = 0;
	assert_int_equal(ctx_histogram_add_samples(&by_depth, &cct, samples, CTX_COUNT_OF(samples), NULL),
			 CTX_OK);
	assert_int_equal(by_node.n, by_depth.n);
	assert_int_equal(by_node.weight, 3 * CTX_COUNT_OF(samples));
	assert_memory_equal(by_node.entries, by_depth.entries, by_node.n * sizeof(*by_node.entries));
	ctx_histogram_deinit(&by_node);
	ctx_histogram_deinit(&by_depth);
	ctx_trie_deinit(&cct);
}

static void test_model__a_histogram_agrees_with_an_array(void **state)
{
	(void)state;
	check_histogram(false);
	check_histogram(true);
}

/* Marks as enum perf_callchain_context has them; the numbers below them are addresses. */
static void test_model__a_chain_walk_knows_parts_and_what_is_exact(void **state)
{
	static const struct {
		uint64_t entry;
		bool is_address;
		uint64_t address;
		enum ctx_chainwalk_part part;
	} steps[] = {
		{0x1000, true, 0x1000, CTX_CHAINWALK_USER},
		{0x1010, true, 0x100f, CTX_CHAINWALK_USER},
		{(uint64_t)-128, false, 0, CTX_CHAINWALK_KERNEL},
		{0xffffffff81000000, true, 0xffffffff81000000, CTX_CHAINWALK_KERNEL},
		{0xffffffff81000010, true, 0xffffffff8100000f, CTX_CHAINWALK_KERNEL},
		{(uint64_t)-512, false, 0, CTX_CHAINWALK_USER},
		{0x2000, true, 0x2000, CTX_CHAINWALK_USER},
		{(uint64_t)-700, false, 0, CTX_CHAINWALK_USER}, /* nobody knows it */
		{0x3000, true, 0x3000, CTX_CHAINWALK_USER},
		{0, true, UINT64_MAX, CTX_CHAINWALK_USER},
		{(uint64_t)-32, false, 0, CTX_CHAINWALK_ELSEWHERE},
		{(uint64_t)-512, false, 0, CTX_CHAINWALK_USER},
		{(uint64_t)-2048, false, 0, CTX_CHAINWALK_ELSEWHERE},
		{(uint64_t)-2176, false, 0, CTX_CHAINWALK_ELSEWHERE},
		{(uint64_t)-2560, false, 0, CTX_CHAINWALK_ELSEWHERE},
		{(uint64_t)-4096, true, (uint64_t)-4096, CTX_CHAINWALK_ELSEWHERE},
		{(uint64_t)-4095, false, 0, CTX_CHAINWALK_ELSEWHERE},
	};
	struct ctx_chainwalk walk = ctx_chainwalk_begin(ctx_chainwalk_part_of(2));

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(steps); i++) {
		uint64_t entry = steps[i].entry;

		assert_int_equal(ctx_chainwalk_is_mark(entry), !steps[i].is_address);
		assert_int_equal(ctx_chainwalk_step(&walk, &entry), steps[i].is_address);
		assert_int_equal(entry, steps[i].is_address ? steps[i].address : steps[i].entry);
		assert_int_equal(walk.part, steps[i].part);
	}
	/* PERF_RECORD_MISC_KERNEL beside another bit, and the three of other machines */
	assert_int_equal(ctx_chainwalk_part_of(1 | 1 << 14), CTX_CHAINWALK_KERNEL);
	for (uint16_t misc = 3; misc < 6; misc++)
		assert_int_equal(ctx_chainwalk_part_of(misc), CTX_CHAINWALK_ELSEWHERE);
}

static void test_model__a_file_of_jit_code_is_known_by_its_path(void **state)
{
	static const char *const others[] = {"",
					     "//anon",
					     "/tmp/perf-.map",
					     "/tmp/perf-12.map2",
					     "/tmp/perf-1x.map",
					     "/var/perf-12.map",
					     "/tmp/perf-12/.map",
					     "/tmp/perf-12"};
	char path[CTX_JIT_CODE_PATH];

	(void)state;
	ctx_jit_code_path(4711, path);
	assert_string_equal(path, "/tmp/perf-4711.map");
	assert_true(ctx_jit_code_is(path));
	ctx_jit_code_path(INT64_MAX, path);
	assert_true(ctx_jit_code_is(path));
	for (size_t i = 0; i < CTX_COUNT_OF(others); i++)
		assert_false(ctx_jit_code_is(others[i]));
}

/* What each word weighs; UINT64_MAX: nothing. Written out once more, operation by operation. */
static uint64_t weight_of(const struct ctx_traced *operation, const char *word)
{
	bool io = operation->kind == CTX_TRACED_IO, heap = operation->kind == CTX_TRACED_HEAP;
	unsigned which = operation->operation;

	if (strcmp(word, "sync") == 0)
		return operation->kind == CTX_TRACED_SYNC ? operation->duration_ns : UINT64_MAX;
	if (strcmp(word, "heapallocbytes") == 0)
		return heap && operation->address != 0 && (which == 0 || which == 2 || which == 3)
			       ? operation->size
			       : UINT64_MAX;
	if (strcmp(word, "heapleakbytes") == 0)
		return heap && operation->leaked ? operation->leaked_size : UINT64_MAX;
	if (strcmp(word, "ioerrortime") == 0)
		return io && operation->failed ? operation->duration_ns : UINT64_MAX;
	if (!io || operation->failed)
		return UINT64_MAX;
	if (strcmp(word, "ioothertime") == 0)
		return which > 1 ? operation->duration_ns : UINT64_MAX;
	if (which != (strncmp(word, "ioread", 6) == 0 ? 0 : 1))
		return UINT64_MAX;
	if (strstr(word, "time") != NULL)
		return operation->duration_ns;
	return operation->size != 0 ? operation->size : UINT64_MAX;
}

static void test_model__an_operation_weighs_what_its_metrics_say(void **state)
{
	static const char *const words[] = {"sync",	    "heapallocbytes", "heapleakbytes",
					    "ioreadtime",   "ioreadbytes",    "iowritetime",
					    "iowritebytes", "ioothertime",    "ioerrortime"};
	enum ctx_traced_kind kind;

	(void)state;
	for (unsigned i = 0; i < 3 * 5 * 16; i++) {
		struct ctx_traced operation = {.kind = (uint8_t)(i % 3),
					       .operation = (uint8_t)(i / 3 % 5),
					       .size = (i & 1) != 0 ? 70 : 0,
					       .address = i / 15 % 2 != 0 ? 7 : 0,
					       .leaked = i / 30 % 2 != 0,
					       .leaked_size = 60,
					       .failed = i / 60 % 2 != 0,
					       .duration_ns = 900};

		for (size_t k = 0; k < CTX_COUNT_OF(words); k++) {
			uint64_t weight = UINT64_MAX;

			assert_int_equal(ctx_traced_weigh(&operation, words[k], &weight),
					 weight_of(&operation, words[k]) != UINT64_MAX);
			assert_int_equal(weight, weight_of(&operation, words[k]));
			assert_true(ctx_traced_kind_of_metric(words[k], &kind));
			if (weight != UINT64_MAX)
				assert_int_equal(kind, operation.kind);
		}
	}
	assert_false(ctx_traced_kind_of_metric("cycles", &kind));
	assert_false(ctx_traced_kind_of_metric(NULL, &kind));
	assert_false(
		ctx_traced_weigh(&(struct ctx_traced){.kind = CTX_TRACED_SYNC, .duration_ns = UINT64_MAX},
				 "sync", &(uint64_t){0}));
}

static void test_profile__names_of_the_recording_take_precedence_over_aliases(void **state)
{
	struct ctx_metric_info metrics[] = {
		{.name = "Total CPU", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS},
		{.name = "Wait CPU", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS, .word = "wait-cpu"},
		{.name = "USER", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS},
		{.name = "User CPU", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS, .word = "user"}};
	struct ctx_profile profile = {.metrics = metrics, .n_metrics = 4};

	(void)state;
	assert_int_equal(ctx_profile_find_metric(&profile, "wait"), 1);
	assert_int_equal(ctx_profile_find_metric(&profile, "waitcpu"), 1);
	assert_int_equal(ctx_profile_find_metric(&profile, "user"), 3);
	assert_int_equal(ctx_profile_find_metric(&profile, "USER"), 2);
	metrics[1].word = "wait";
	assert_int_equal(ctx_profile_find_metric(&profile, "wait"), 1);
	assert_int_equal(ctx_profile_find_metric(&profile, "text"), CTX_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile__names_of_the_recording_take_precedence_over_aliases),
		cmocka_unit_test(test_model__an_operation_weighs_what_its_metrics_say),
		cmocka_unit_test(test_model__calls_are_the_same_by_node_and_by_depth),
		cmocka_unit_test(test_model__intervals_are_read_in_all_their_forms),
		cmocka_unit_test(test_model__wrong_intervals_are_refused_with_the_reason),
		cmocka_unit_test(test_model__without_times_there_is_the_whole_run_alone),
		cmocka_unit_test(test_model__half_open_intervals_that_touch_do_not_overlap),
		cmocka_unit_test(test_model__nodes_of_a_recursion_have_different_hashes),
		cmocka_unit_test(test_model__a_trie_shares_prefixes_and_knows_depths),
		cmocka_unit_test(test_model__a_trie_from_bytes_must_have_parents_first),
		cmocka_unit_test(test_model__a_histogram_agrees_with_an_array),
		cmocka_unit_test(test_model__a_histogram_subtracts_at_most_its_weight),
		cmocka_unit_test(test_model__a_span_is_cut_at_both_ends),
		cmocka_unit_test(test_model__a_chain_walk_knows_parts_and_what_is_exact),
		cmocka_unit_test(test_model__a_file_of_jit_code_is_known_by_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
