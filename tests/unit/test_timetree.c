/*
 * The time tree against a plain scan of its samples, over many random trees; the source's worked
 * example; lists that are damaged; memory that runs out.
 */
#include "timetree/timenode_codec.h"
#include "timetree/timetree.h"

#include "base/mem.h"
#include "tests/unit/chance.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/timetree_building.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- data ---- */

/* A CCT of `n` nodes; every node's parent is one of the 8 before it, so that it is deep. */
static void make_cct(struct ctx_trie *cct, uint32_t n)
{
	assert_int_equal(ctx_trie_init(cct, NULL), CTX_OK);
	while (cct->n < n) {
		uint32_t back = (uint32_t)below(cct->n < 8 ? cct->n : 8), node;

		assert_int_equal(ctx_trie_child(cct, cct->n - 1 - back, cct->n, &node, NULL), CTX_OK);
	}
}

/* Few stacks are frequent, most are not. */
static uint32_t some_stack(const struct ctx_trie *cct)
{
	return (uint32_t)below(1 + below(1 + below(cct->n)));
}

enum shape { EVEN, BURSTS, EQUAL, SHAPES };

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct ctx_sample *)a)->time_ns, y = ((const struct ctx_sample *)b)->time_ns;

	return x < y ? -1 : x > y;
}

static struct ctx_sample *make_samples(size_t n, struct ctx_interval run, enum shape shape,
				       const struct ctx_trie *cct, bool unit)
{
	struct ctx_sample *samples = ctx_calloc(n, sizeof(*samples));
	uint64_t width = run.end_ns - run.begin_ns, burst = below(width);

	assert_non_null(samples);
	for (size_t i = 0; i < n; i++) {
		struct ctx_sample *sample = &samples[i];
		uint64_t at = shape == EVEN ? below(width) : burst;

		if (shape == BURSTS) {
			at = burst + below(20) < width ? burst + below(20) : burst;
			at = at < width ? at : burst;
		}
		if (below(shape == EQUAL ? 1000 : 50) == 0)
			burst = below(width);
		sample->time_ns = run.begin_ns + at;
		sample->stack = some_stack(cct);
		sample->weight = unit ? 1000 : below(4) == 0 ? 0 : below(100000);
		sample->kept_depth = (uint32_t)below(cct->depth[sample->stack] + 1);
		sample->thread = (uint32_t)below(5);
		sample->cpu = (int32_t)below(4) - 1;
	}
	qsort(samples, n, sizeof(*samples), by_time);
	return samples;
}

/* The obvious way. */
static void scan(const struct ctx_sample *samples, size_t n, struct ctx_interval window,
		 const struct ctx_trie *cct, struct ctx_histogram *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct ctx_sample *s = &samples[i];

		if (s->time_ns < window.begin_ns || s->time_ns >= window.end_ns)
			continue;
		assert_int_equal(
			ctx_histogram_add(
				out,
				(struct ctx_hist_entry){.stack = s->stack, .weight = s->weight, .samples = 1},
				NULL),
			CTX_OK);
		if (cct == NULL || s->kept_depth == cct->depth[s->stack])
			continue;
		assert_int_equal(
			ctx_histogram_add(out, (struct ctx_hist_entry){.stack = s->stack, .calls = 1}, NULL),
			CTX_OK);
		assert_int_equal(
			ctx_histogram_add(out,
					  (struct ctx_hist_entry){
						  .stack = ctx_trie_ancestor(cct, s->stack, s->kept_depth),
						  .calls = -1},
					  NULL),
			CTX_OK);
	}
}

static struct ctx_hist_entry entry_of(const struct ctx_histogram *histogram, uint32_t stack)
{
	const struct ctx_hist_entry *entry = ctx_histogram_get(histogram, stack);

	return entry != NULL ? *entry : (struct ctx_hist_entry){.stack = stack};
}

static void assert_same(const struct ctx_histogram *a, const struct ctx_histogram *b, uint32_t n_stacks)
{
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->samples, b->samples);
	for (uint32_t stack = 0; stack < n_stacks; stack++) {
		struct ctx_hist_entry x = entry_of(a, stack), y = entry_of(b, stack);

		assert_int_equal(x.weight, y.weight);
		assert_int_equal(x.samples, y.samples);
		assert_int_equal(x.calls, y.calls);
	}
}

static struct ctx_interval some_window(struct ctx_interval run)
{
	uint64_t width = run.end_ns - run.begin_ns;
	uint64_t a = below(width + 1), b = below(2) != 0 ? below(width + 1) : a + below(1 + width / 20);

	return (struct ctx_interval){run.begin_ns + a, run.begin_ns + b};
}

struct trial {
	struct ctx_timetree_params params;
	struct ctx_interval run;
	struct ctx_trie cct;
	struct ctx_sample *samples;
	size_t n;
	struct ctx_timetree *tree;
	struct ctx_timetree_reader reader;
};

static void trial_begin(struct trial *trial, enum ctx_timetree_mode mode, size_t n)
{
	static const uint64_t widths[] = {1, 2, 3, 17, 1000, 1000003, 300000000000, UINT64_MAX - 5};
	static const uint32_t percents[] = {1, 50, 90, 95, 99, 100};
	struct ctx_err err;

	*trial = (struct trial){.n = n};
	make_cct(&trial->cct, 1 + (uint32_t)below(300));
	trial->run.begin_ns = below(3);
	trial->run.end_ns = trial->run.begin_ns + widths[below(CTX_COUNT_OF(widths))];
	trial->params =
		(struct ctx_timetree_params){.leaf_samples = 1 + (uint32_t)below(1 + below(200)),
					     .fanout = 2 + (uint32_t)below(below(4) == 0 ? 255 : 15),
					     .percent = percents[below(CTX_COUNT_OF(percents))],
					     .mode = mode,
					     .keep_tail = mode == CTX_TIMETREE_CASCADE || below(4) != 0};
	trial->samples = make_samples(n, trial->run, (enum shape)below(SHAPES), &trial->cct, below(2) != 0);
	trial->tree = build(&trial->params, trial->run, &trial->cct, trial->samples, n);
	trial->reader = ctx_timetree_reader(trial->tree, &trial->cct);
	if (ctx_timetree_check(&trial->reader, &trial->params, &err) != CTX_OK)
		fail_msg("%s", err.msg);
}

static void trial_end(struct trial *trial)
{
	ctx_timetree_destroy(trial->tree);
	ctx_trie_deinit(&trial->cct);
	free(trial->samples);
}

/*
 * The result is below the truth by the omitted weight in `cost`, and no stack by more than the
 * largest omitted.
 */
static void assert_bounded(const struct ctx_histogram *part, const struct ctx_histogram *whole,
			   const struct ctx_timetree_cost *cost, uint32_t n_stacks)
{
	assert_int_equal(part->weight + cost->omitted_weight, whole->weight);
	assert_int_equal(part->samples + cost->omitted_samples, whole->samples);
	for (uint32_t stack = 0; stack < n_stacks; stack++) {
		struct ctx_hist_entry x = entry_of(part, stack), y = entry_of(whole, stack);

		assert_true(x.weight <= y.weight);
		assert_true(y.weight - x.weight <= cost->omitted_largest);
		assert_int_equal(x.calls, y.calls);
	}
}

static void ask(const struct trial *trial, struct ctx_interval window)
{
	struct ctx_histogram truth = {0}, exact = {0}, top = {0};
	struct ctx_timetree_cost cost = {0}, top_cost = {0};

	scan(trial->samples, trial->n, window, &trial->cct, &truth);
	assert_int_equal(ctx_timetree_query(&trial->reader,
					    (struct ctx_timetree_request){window, CTX_TIMETREE_EXACT}, &exact,
					    &cost, NULL),
			 CTX_OK);
	assert_int_equal(ctx_timetree_query(&trial->reader,
					    (struct ctx_timetree_request){window, CTX_TIMETREE_TOP_ONLY},
					    &top, &top_cost, NULL),
			 CTX_OK);
	if (trial->params.keep_tail) {
		assert_same(&exact, &truth, trial->cct.n);
		assert_int_equal(cost.omitted_weight, 0);
		assert_int_equal(cost.omitted_samples, 0);
	} else {
		assert_bounded(&exact, &truth, &cost, trial->cct.n);
	}
	assert_bounded(&top, &truth, &top_cost, trial->cct.n);
	assert_int_equal(cost.nodes_visited, top_cost.nodes_visited);
	assert_true(cost.leaves_partial <= 2);
	ctx_histogram_deinit(&truth);
	ctx_histogram_deinit(&exact);
	ctx_histogram_deinit(&top);
}

/* T1-T6, T8, T11 */
static void test_timetree__residual_answers_equal_a_plain_scan(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		struct trial trial;

		random_state = 1000 + i;
		trial_begin(&trial, CTX_TIMETREE_RESIDUAL, below(4) == 0 ? below(3) : below(1 + below(1500)));
		for (unsigned k = 0; k < 6; k++)
			ask(&trial, some_window(trial.run));
		ask(&trial, CTX_INTERVAL_ALL);
		trial_end(&trial);
	}
}

static void test_timetree__a_window_over_the_whole_run_reads_the_root_alone(void **state)
{
	struct trial trial;
	struct ctx_timetree_cost cost = {0};
	struct ctx_histogram out = {0};

	(void)state;
	random_state = 7;
	do {
		trial_begin(&trial, CTX_TIMETREE_RESIDUAL, 1400);
		if (trial.params.leaf_samples < 100 && trial.run.end_ns > 100000 && trial.params.keep_tail)
			break;
		trial_end(&trial);
	} while (true);
	assert_int_equal(ctx_timetree_query(&trial.reader, (struct ctx_timetree_request){trial.run, 0}, &out,
					    &cost, NULL),
			 CTX_OK);
	assert_int_equal(cost.nodes_visited, 1);
	assert_int_equal(cost.nodes_whole, 1);
	assert_int_equal(cost.samples_enumerated, 0);
	assert_int_equal(out.samples, 1400);
	ctx_histogram_deinit(&out);
	trial_end(&trial);
}

static void test_timetree__an_empty_or_reversed_window_adds_nothing(void **state)
{
	struct trial trial;
	struct ctx_histogram out = {0};
	struct ctx_interval windows[] = {{5, 5}, {9, 3}, {UINT64_MAX, 0}, {UINT64_MAX - 1, UINT64_MAX}};

	(void)state;
	random_state = 11;
	trial_begin(&trial, CTX_TIMETREE_RESIDUAL, 300);
	for (size_t i = 0; i < CTX_COUNT_OF(windows); i++)
		assert_int_equal(ctx_timetree_query(&trial.reader,
						    (struct ctx_timetree_request){windows[i], 0}, &out, NULL,
						    NULL),
				 CTX_OK);
	assert_int_equal(out.n, 0);
	trial_end(&trial);
	ctx_histogram_deinit(&out);
}

static void test_timetree__no_calls_flag_leaves_calls_out(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		struct trial trial;
		struct ctx_histogram out = {0}, truth = {0};
		struct ctx_interval window;

		random_state = 500 + i;
		trial_begin(&trial, CTX_TIMETREE_RESIDUAL, below(800));
		trial.params.keep_tail = true;
		ctx_timetree_destroy(trial.tree);
		trial.tree = build(&trial.params, trial.run, &trial.cct, trial.samples, trial.n);
		trial.reader = ctx_timetree_reader(trial.tree, &trial.cct);
		window = some_window(trial.run);
		scan(trial.samples, trial.n, window, NULL, &truth);
		assert_int_equal(
			ctx_timetree_query(&trial.reader,
					   (struct ctx_timetree_request){window, CTX_TIMETREE_NO_CALLS}, &out,
					   NULL, NULL),
			CTX_OK);
		assert_same(&out, &truth, trial.cct.n);
		trial_end(&trial);
		ctx_histogram_deinit(&out);
		ctx_histogram_deinit(&truth);
	}
}

static void test_timetree__cascade_trees_keep_their_invariants(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 600; i++) {
		struct trial trial;
		struct ctx_histogram truth = {0}, out = {0};

		random_state = 9000 + i;
		trial_begin(&trial, CTX_TIMETREE_CASCADE, below(1200));
		scan(trial.samples, trial.n, CTX_INTERVAL_ALL, &trial.cct, &truth);
		assert_int_equal(ctx_timetree_query(&trial.reader,
						    (struct ctx_timetree_request){CTX_INTERVAL_ALL, 0}, &out,
						    NULL, NULL),
				 CTX_OK);
		assert_same(&out, &truth, trial.cct.n); /* nothing is dropped above the root */
		ctx_histogram_deinit(&truth);
		ctx_histogram_deinit(&out);
		trial_end(&trial);
	}
}

/* The number of nodes grows like the depth, not like the samples (T6). */
static void test_timetree__touched_nodes_grow_like_the_logarithm(void **state)
{
	(void)state;
	for (size_t n = 1000; n <= 256000; n *= 4) {
		struct ctx_timetree_params params = {
			.leaf_samples = 100, .fanout = 4, .percent = 95, .keep_tail = true};
		struct ctx_interval run = {0, 1000000000};
		struct ctx_trie cct = {0};
		struct ctx_sample *samples;
		struct ctx_timetree *tree;
		struct ctx_timetree_reader reader;

		random_state = n;
		make_cct(&cct, 50);
		samples = make_samples(n, run, EVEN, &cct, true);
		tree = build(&params, run, &cct, samples, n);
		reader = ctx_timetree_reader(tree, &cct);
		for (unsigned k = 0; k < 50; k++) {
			struct ctx_timetree_cost cost = {0};
			struct ctx_histogram out = {0};

			assert_int_equal(ctx_timetree_query(
						 &reader, (struct ctx_timetree_request){some_window(run), 0},
						 &out, &cost, NULL),
					 CTX_OK);
			assert_true(cost.nodes_visited <= 1 + 2 * 4 * (uint64_t)cost.depth);
			/* Evenly spread: depth is log4(n / 100) and little more. */
			assert_true(cost.depth <= 4u + (n > 4000) + (n > 16000) + (n > 64000));
			ctx_histogram_deinit(&out);
		}
		ctx_timetree_destroy(tree);
		ctx_trie_deinit(&cct);
		free(samples);
	}
}

static void test_timetree__samples_out_of_order_or_run_are_moved_and_counted(void **state)
{
	static const uint64_t times[] = {5, 50, 40, 60, 100, 7, 2000, 99};
	struct ctx_timetree_params params = {
		.leaf_samples = 2, .fanout = 2, .percent = 95, .keep_tail = true};
	struct ctx_timetree *tree;
	struct ctx_timetree_builder *builder;
	struct ctx_timetree_sink sink;
	struct ctx_timetree_reader reader;
	struct ctx_histogram out = {0};

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		params.mode = (enum ctx_timetree_mode)mode;
		params.percent = mode == CTX_TIMETREE_CASCADE ? 100 : 95;
		assert_int_equal(ctx_timetree_create(&tree, NULL), CTX_OK);
		sink = ctx_timetree_sink(tree);
		assert_int_equal(
			ctx_timetree_builder_create(
				&(struct ctx_timetree_plan){.params = params, .run = {10, 100}, .sink = sink},
				&builder, NULL),
			CTX_OK);
		for (size_t i = 0; i < CTX_COUNT_OF(times); i++) {
			struct ctx_sample sample = {.time_ns = times[i], .weight = 3, .stack = (uint32_t)i};

			assert_int_equal(ctx_timetree_builder_add(builder, &sample, NULL), CTX_OK);
		}
		assert_int_equal(ctx_timetree_builder_finish(builder, NULL), CTX_OK);
		/*
		 * 5 before the run, 40 after 50, 100 and 2000 behind the run, 7 before 99. 99
		 * itself is in order.
		 */
		assert_int_equal(ctx_timetree_builder_moved(builder), 5);
		reader = ctx_timetree_reader(tree, NULL);
		assert_int_equal(ctx_timetree_check(&reader, &params, NULL), CTX_OK);
		assert_int_equal(ctx_timetree_query(&reader, (struct ctx_timetree_request){{99, 100}, 0},
						    &out, NULL, NULL),
				 CTX_OK);
		assert_int_equal(out.samples, 4);
		assert_int_equal(out.weight, 12);
		ctx_histogram_clear(&out);
		ctx_timetree_builder_destroy(builder);
		ctx_timetree_destroy(tree);
	}
	ctx_histogram_deinit(&out);
}

static void test_timetree__parameters_out_of_range_are_refused(void **state)
{
	struct ctx_timetree_params good = ctx_timetree_default_params(), bad;
	struct ctx_err err;

	(void)state;
	assert_int_equal(ctx_timetree_params_check(&good, &err), CTX_OK);
	assert_int_equal(good.percent, 95);
	assert_true(good.keep_tail && good.mode == CTX_TIMETREE_RESIDUAL);
	bad = good, bad.leaf_samples = 0;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.leaf_samples = (1u << 24) + 1;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.fanout = 1;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.fanout = 257;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.percent = 0;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.percent = 101;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
	bad = good, bad.mode = (enum ctx_timetree_mode)2;
	assert_int_equal(ctx_timetree_params_check(&bad, &err), CTX_E_ARG);
}

/* ---- T9: the source's example ---- */

#define MS 1000000ull

struct spread { /* so many samples of stacks A..I, evenly over [begin, end) ms */
	uint64_t begin, end;
	uint32_t counts[9];
};

/*
 * The leaves of the example; what is dropped above them lies anywhere in its interval. [250,375)
 * and [375,500) share A40 B26 C25 E15 D9 as 45 and 70.
 */
static const struct spread example[] = {
	{0, 250, {32, 18, 10, 11, 6, 13, 0, 0, 0}}, {250, 375, {16, 10, 10, 3, 6, 0, 0, 0, 0}},
	{375, 500, {24, 16, 15, 6, 9, 0, 0, 0, 0}}, {500, 1000, {41, 31, 11, 5, 3, 5, 3, 0, 0}},
	{0, 1000, {0, 0, 0, 0, 0, 0, 0, 9, 6}},	    {0, 500, {0, 0, 0, 0, 0, 0, 10, 0, 0}},
	{250, 500, {0, 0, 0, 0, 0, 1, 0, 0, 0}},
};

static struct ctx_sample *make_example(size_t *ret_n)
{
	struct ctx_sample *samples = ctx_calloc(400, sizeof(*samples));
	size_t n = 0;

	assert_non_null(samples);
	for (size_t i = 0; i < CTX_COUNT_OF(example); i++) {
		for (uint32_t stack = 0; stack < 9; stack++) {
			for (uint32_t k = 0; k < example[i].counts[stack]; k++) {
				uint64_t width = (example[i].end - example[i].begin) * MS;

				samples[n++] =
					(struct ctx_sample){.time_ns = example[i].begin * MS +
								       width * k / example[i].counts[stack],
							    .weight = 1,
							    .stack = stack,
							    .cpu = -1};
			}
		}
	}
	qsort(samples, n, sizeof(*samples), by_time);
	*ret_n = n;
	return samples;
}

/* The node of [begin, end) ms, found from the root. */
static struct ctx_timenode find_node(const struct ctx_timetree_reader *reader, uint64_t begin, uint64_t end)
{
	struct ctx_timenode node;
	uint32_t id = 0;

	for (;;) {
		assert_int_equal(reader->node(reader->context, id, true, &node, NULL), CTX_OK);
		if (node.interval.begin_ns == begin * MS && node.interval.end_ns == end * MS)
			return node;
		assert_int_equal(node.n_children, 2);
		id = node.first_child + (begin * MS >= (node.interval.begin_ns + node.interval.end_ns) / 2);
	}
}

/* `stacks` "ABC" and their counts, in the order of the list. */
static void assert_list(const uint8_t *bytes, size_t size, const char *stacks, const uint64_t *counts)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes, size);
	struct ctx_hist_item entries[16];
	size_t n = 0;

	assert_int_equal(ctx_timenode_list_read(&list, entries, 16, &n, NULL), CTX_OK);
	assert_int_equal(n, strlen(stacks));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(entries[i].stack, (uint32_t)(stacks[i] - 'A'));
		assert_int_equal(entries[i].weight, counts[i]);
		assert_int_equal(entries[i].samples, counts[i]);
	}
}

static void assert_inner(const struct ctx_timetree_reader *reader, uint64_t begin, uint64_t end,
			 uint64_t samples, uint64_t kept, const char *top, const char *tail,
			 const uint64_t *counts)
{
	struct ctx_timenode node = find_node(reader, begin, end);

	assert_int_equal(node.samples, samples);
	assert_int_equal(node.samples - node.tail_samples, kept);
	assert_int_equal(node.n_children, 2);
	assert_list(node.top, node.top_bytes, top, counts);
	assert_list(node.tail, node.tail_bytes, tail, counts + strlen(top));
}

static void assert_leaf(const struct ctx_timetree_reader *reader, uint64_t begin, uint64_t end,
			uint64_t samples)
{
	struct ctx_timenode node = find_node(reader, begin, end);

	assert_int_equal(node.n_children, 0);
	assert_int_equal(node.samples, samples);
}

struct expected_cost {
	struct ctx_interval window_ms;
	uint64_t visited, skipped, nodes_whole, leaves_whole, leaves_partial;
};

static void assert_example_cost(const struct ctx_timetree_reader *reader, struct expected_cost expected)
{
	struct ctx_interval window = {expected.window_ms.begin_ns * MS, expected.window_ms.end_ns * MS};
	struct ctx_timetree_cost cost = {0};
	struct ctx_histogram out = {0};

	assert_int_equal(ctx_timetree_query(reader,
					    (struct ctx_timetree_request){window, CTX_TIMETREE_TOP_ONLY},
					    &out, &cost, NULL),
			 CTX_OK);
	assert_int_equal(cost.nodes_visited, expected.visited);
	assert_int_equal(cost.nodes_skipped, expected.skipped);
	assert_int_equal(cost.nodes_whole, expected.nodes_whole);
	assert_int_equal(cost.leaves_whole, expected.leaves_whole);
	assert_int_equal(cost.leaves_partial, expected.leaves_partial);
	ctx_histogram_deinit(&out);
}

static void test_timetree__T9_example_of_the_source(void **state)
{
	struct ctx_timetree_params params = {.leaf_samples = 100,
					     .fanout = 2,
					     .percent = 95,
					     .mode = CTX_TIMETREE_CASCADE,
					     .keep_tail = true};
	struct ctx_interval run = {0, 1000 * MS};
	struct ctx_timetree_reader reader;
	struct ctx_histogram out = {0};
	struct ctx_sample *samples;
	struct ctx_timetree *tree;
	size_t n = 0;

	(void)state;
	samples = make_example(&n);
	assert_int_equal(n, 330);
	tree = build(&params, run, NULL, samples, n);
	reader = ctx_timetree_reader(tree, NULL);
	assert_int_equal(ctx_timetree_check(&reader, &params, NULL), CTX_OK);
	assert_inner(&reader, 0, 1000, 330, 315, "ABCDEFG", "HI",
		     (uint64_t[]){113, 75, 46, 25, 24, 19, 13, 9, 6});
	assert_inner(&reader, 0, 500, 216, 206, "ABCEDF", "G", (uint64_t[]){72, 44, 35, 21, 20, 14, 10});
	assert_inner(&reader, 250, 500, 116, 115, "ABCED", "F", (uint64_t[]){40, 26, 25, 15, 9, 1});
	assert_leaf(&reader, 0, 250, 90);
	assert_leaf(&reader, 250, 375, 45);
	assert_leaf(&reader, 375, 500, 70);
	assert_leaf(&reader, 500, 1000, 99);
	/* Visited, skipped, inner whole, leaves whole, leaves in part. */
	assert_example_cost(&reader, (struct expected_cost){{700, 1000}, 2, 1, 0, 0, 1});
	assert_example_cost(&reader, (struct expected_cost){{0, 700}, 3, 0, 1, 0, 1});
	assert_example_cost(&reader, (struct expected_cost){{300, 700}, 6, 1, 0, 1, 2});
	assert_int_equal(ctx_timetree_query(
				 &reader, (struct ctx_timetree_request){{0, 500 * MS}, CTX_TIMETREE_TOP_ONLY},
				 &out, NULL, NULL),
			 CTX_OK);
	assert_int_equal(out.samples, 206);
	ctx_histogram_deinit(&out);
	ctx_timetree_destroy(tree);
	free(samples);
}

/* ---- the codec ---- */

static int by_weight_then_stack(const void *a, const void *b)
{
	const struct ctx_hist_item *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Some ids with gaps, sizes as requested, in the order of a list. */
static size_t make_entries(struct ctx_hist_item *entries, size_t cap, bool unit)
{
	uint64_t stack = below(5);
	size_t n = 0;

	for (; n < cap && stack <= UINT32_MAX; n++) {
		uint64_t samples = 1 + (below(3) != 0 ? 0 : below(1000));

		entries[n] = (struct ctx_hist_item){.weight = unit ? samples * 4000000
								   : below(3) * below(1u << 20),
						    .samples = samples,
						    .stack = (uint32_t)stack};
		stack += 1 + (below(100) == 0 ? below(1u << 30) : below(40));
	}
	qsort(entries, n, sizeof(*entries), by_weight_then_stack);
	return n;
}

static void assert_decodes_to(const struct ctx_buf *bytes, const struct ctx_hist_item *entries, size_t n)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes->bytes, bytes->n);
	struct ctx_hist_item block[300];
	size_t done = 0, got = 0, cap = 1 + (size_t)below(300);

	while (ctx_timenode_list_read(&list, block, cap, &got, NULL) == CTX_OK) {
		for (size_t i = 0; i < got; i++) {
			assert_int_equal(block[i].weight, entries[done + i].weight);
			assert_int_equal(block[i].samples, entries[done + i].samples);
			assert_int_equal(block[i].stack, entries[done + i].stack);
		}
		done += got;
	}
	assert_int_equal(done, n);
	assert_int_equal(ctx_timenode_list_read(&list, block, cap, &got, NULL), CTX_END);
}

static void test_timenode_codec__lists_come_back_as_they_were(void **state)
{
	static struct ctx_hist_item entries[2000];
	struct ctx_buf bytes = {0};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		size_t n;

		random_state = 70000 + i;
		n = make_entries(entries, below(2) != 0 ? below(10) : below(2000), below(2) != 0);
		ctx_buf_clear(&bytes);
		ctx_timenode_list_encode(entries, n, &bytes);
		assert_int_equal(ctx_buf_check(&bytes, NULL), CTX_OK);
		assert_true(n != 0 || bytes.n == 0);
		assert_decodes_to(&bytes, entries, n);
	}
	ctx_buf_deinit(&bytes);
}

static void test_timenode_codec__calls_come_back_as_they_were(void **state)
{
	struct ctx_timenode_calls calls[200];
	struct ctx_histogram out = {0};
	struct ctx_buf bytes = {0};
	size_t got = 0;

	(void)state;
	random_state = 3;
	for (uint32_t i = 0; i < 200; i++) {
		calls[i] = (struct ctx_timenode_calls){.calls = (int64_t)below(UINT64_MAX),
						       .stack = i * 20000000 + (uint32_t)below(100)};
	}
	calls[0].calls = INT64_MIN;
	calls[1].calls = INT64_MAX;
	calls[199].stack = UINT32_MAX;
	ctx_timenode_calls_encode(calls, 200, &bytes);
	assert_int_equal(ctx_timenode_calls_decode(bytes.bytes, bytes.n, &out, &got, NULL), CTX_OK);
	assert_int_equal(got, 200);
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(entry_of(&out, calls[i].stack).calls, calls[i].calls);
	for (size_t n = 1; n < bytes.n; n++)
		assert_int_equal(ctx_timenode_calls_decode(bytes.bytes, n, &out, &got, NULL), CTX_E_FORMAT);
	ctx_histogram_deinit(&out);
	ctx_buf_deinit(&bytes);
}

static void test_timenode_codec__a_list_cut_anywhere_is_refused(void **state)
{
	struct ctx_hist_item entries[100];
	struct ctx_histogram out = {0};
	struct ctx_buf bytes = {0};

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		size_t n, got = 0;

		random_state = 40 + i;
		n = make_entries(entries, 1 + below(99), below(2) != 0);
		ctx_buf_clear(&bytes);
		ctx_timenode_list_encode(entries, n, &bytes);
		for (size_t cut = 1; cut < bytes.n; cut++)
			assert_int_equal(ctx_timenode_list_decode(bytes.bytes, cut, &out, &got, NULL),
					 CTX_E_FORMAT);
		ctx_buf_put_u8(&bytes, 0);
		assert_int_equal(ctx_timenode_list_decode(bytes.bytes, bytes.n, &out, &got, NULL),
				 CTX_E_FORMAT);
	}
	ctx_histogram_deinit(&out);
	ctx_buf_deinit(&bytes);
}

struct numbers {
	const char *what;
	uint64_t varints[12];
	size_t n;
};

static void test_timenode_codec__invalid_lists_are_refused(void **state)
{
	static const struct numbers lists[] = {
		{"no entries", {0, 1}, 2},
		{"more entries than bytes", {9, 1, 1, 4}, 4},
		{"an entry without samples", {1, 1, 0, 4}, 4},
		{"an entry without samples, unit 0", {1, 0, 5, 0, 4}, 5},
		{"a weight overflows", {1, UINT64_MAX, 2, 4}, 4},
		{"the sum of weights overflows", {2, UINT64_MAX / 2, 2, 4, 1, 6}, 6},
		{"the sum of samples overflows", {2, 0, 9, UINT64_MAX, 4, 1, 1, 6}, 8},
		{"ascending weight", {2, 0, 5, 1, 4, 6, 1, 6}, 8},
		{"equal weight, descending id", {2, 0, 5, 2, 8, 0, 1, 6}, 8},
		{"a run that could be one with the last", {2, 1, 5, 8, 0, 12}, 6},
		{"an id above 32 bits", {1, 1, 1, (uint64_t)1 << 33}, 4},
		{"an id above 32 bits in a run", {2, 1, 1, (uint64_t)UINT32_MAX << 1 | 1, 0, 0}, 6},
		{"a delta above 32 bits", {2, 1, 1, 3, 0, (uint64_t)1 << 32}, 6},
		{"a run longer than the list", {2, 1, 1, 3, 1, 0, 0}, 7},
		{"a run's length that overflows", {2, 1, 1, 3, UINT64_MAX, 0}, 6},
	};
	struct ctx_histogram out = {0};
	struct ctx_buf bytes = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(lists); i++) {
		size_t got = 0;
		struct ctx_err err;

		ctx_buf_clear(&bytes);
		for (size_t k = 0; k < lists[i].n; k++)
			ctx_buf_put_varint(&bytes, lists[i].varints[k]);
		if (ctx_timenode_list_decode(bytes.bytes, bytes.n, &out, &got, &err) != CTX_E_FORMAT)
			fail_msg("taken for a list: %s", lists[i].what);
	}
	ctx_histogram_deinit(&out);
	ctx_buf_deinit(&bytes);
}

/* Lists whose bytes were changed at random: a result or CTX_E_FORMAT, nothing else. */
static void test_timetree__damaged_lists_never_crash_a_query(void **state)
{
	size_t refused = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct trial trial;
		struct ctx_timenode root;

		random_state = 33000 + i;
		trial_begin(&trial, CTX_TIMETREE_RESIDUAL, 1000);
		assert_int_equal(trial.reader.node(trial.reader.context, 0, true, &root, NULL), CTX_OK);
		for (unsigned k = 0; k < 50 && root.top_bytes != 0; k++) {
			uint8_t *place = (uint8_t *)(uintptr_t)root.top + below(root.top_bytes),
				before = *place;
			struct ctx_histogram out = {0};
			enum ctx_status status;

			*place = (uint8_t)below(256);
			status = ctx_timetree_query(&trial.reader,
						    (struct ctx_timetree_request){CTX_INTERVAL_ALL, 0}, &out,
						    NULL, NULL);
			assert_true(status == CTX_OK || status == CTX_E_FORMAT);
			refused += status == CTX_E_FORMAT;
			*place = before;
			ctx_histogram_deinit(&out);
		}
		trial_end(&trial);
	}
	assert_true(refused > 1000);
}

/* A reader that damages one field of one row. */
struct damaged {
	struct ctx_timetree_reader inner;
	uint32_t id;
	unsigned kind;
};

static enum ctx_status damaged_node(void *context, uint32_t id, bool want_lists, struct ctx_timenode *ret,
				    struct ctx_err *err)
{
	const struct damaged *damaged = context;
	enum ctx_status status = damaged->inner.node(damaged->inner.context, id, want_lists, ret, err);

	if (status != CTX_OK || id != damaged->id)
		return status;
	switch (damaged->kind) {
	case 0:
		ret->id++;
		break;
	case 1:
		ret->interval.end_ns = ret->interval.begin_ns;
		break;
	case 2:
		ret->interval.begin_ns++;
		break;
	case 3:
		ret->n_children = 1000000;
		break;
	case 4:
		ret->first_child = ret->n_children != 0 ? 0 : 7;
		ret->n_children = 4;
		break;
	case 5:
		ret->samples++;
		ret->n_children = 0;
		break;
	default:
		return ctx_err_set(err, CTX_E_FORMAT, "no such row");
	}
	return CTX_OK;
}

static enum ctx_status damaged_leaf(void *context, uint32_t id, const struct ctx_sample **ret_samples,
				    size_t *ret_n, struct ctx_err *err)
{
	const struct damaged *damaged = context;

	return damaged->inner.leaf(damaged->inner.context, id, ret_samples, ret_n, err);
}

static void test_timetree__damaged_rows_are_refused(void **state)
{
	struct ctx_timetree_params params = {
		.leaf_samples = 20, .fanout = 4, .percent = 95, .keep_tail = true};
	struct ctx_interval run = {0, 1000000};
	struct ctx_trie cct = {0};
	struct ctx_sample *samples;
	struct ctx_timetree *tree;

	(void)state;
	random_state = 21;
	make_cct(&cct, 50);
	samples = make_samples(1000, run, EVEN, &cct, true);
	tree = build(&params, run, &cct, samples, 1000);
	for (unsigned kind = 0; kind <= 6; kind++) {
		for (uint32_t id = 0; id < 5; id++) {
			struct damaged damaged = {ctx_timetree_reader(tree, &cct), id, kind};
			struct ctx_timetree_reader reader = {
				.context = &damaged, .node = damaged_node, .leaf = damaged_leaf, .cct = &cct};
			struct ctx_histogram out = {0};

			/*
			 * Neither end lies on a border, so that every node of the first levels is
			 * read.
			 */
			assert_int_equal(ctx_timetree_query(&reader,
							    (struct ctx_timetree_request){{3, 999990}, 0},
							    &out, NULL, NULL),
					 CTX_E_FORMAT);
			ctx_histogram_deinit(&out);
			assert_int_equal(ctx_timetree_check(&reader, &params, NULL), CTX_E_FORMAT);
		}
	}
	ctx_timetree_destroy(tree);
	ctx_trie_deinit(&cct);
	free(samples);
}

/* ---- memory ---- */

static enum ctx_status build_and_ask(enum ctx_timetree_mode mode, const struct ctx_trie *cct,
				     const struct ctx_sample *samples, size_t n)
{
	struct ctx_timetree_params params = {
		.leaf_samples = 10, .fanout = 3, .percent = 90, .mode = mode, .keep_tail = true};
	struct ctx_timetree *tree = NULL;
	struct ctx_timetree_builder *builder = NULL;
	struct ctx_timetree_sink sink;
	struct ctx_timetree_reader reader;
	struct ctx_histogram out = {0};
	enum ctx_status status = ctx_timetree_create(&tree, NULL);

	if (status != CTX_OK)
		return status;
	sink = ctx_timetree_sink(tree);
	status = ctx_timetree_builder_create(
		&(struct ctx_timetree_plan){.params = params, .run = {0, 10000}, .cct = cct, .sink = sink},
		&builder, NULL);
	for (size_t i = 0; status == CTX_OK && i < n; i++)
		status = ctx_timetree_builder_add(builder, &samples[i], NULL);
	if (status == CTX_OK)
		status = ctx_timetree_builder_finish(builder, NULL);
	ctx_timetree_builder_destroy(builder);
	reader = ctx_timetree_reader(tree, cct);
	if (status == CTX_OK)
		status = ctx_timetree_query(&reader, (struct ctx_timetree_request){{100, 7000}, 0}, &out,
					    NULL, NULL);
	if (status == CTX_OK)
		status = ctx_timetree_check(&reader, &params, NULL);
	ctx_histogram_deinit(&out);
	ctx_timetree_destroy(tree);
	return status;
}

static void test_timetree__every_allocation_may_fail(void **state)
{
	struct ctx_interval run = {0, 10000};
	struct ctx_trie cct = {0};
	struct ctx_sample *samples;

	(void)state;
	random_state = 77;
	make_cct(&cct, 200);
	samples = make_samples(400, run, EVEN, &cct, false);
	for (int mode = 0; mode < 2; mode++) {
		enum ctx_status status;
		long n = 0;

		do {
			fail_after = n++;
			status = build_and_ask((enum ctx_timetree_mode)mode, &cct, samples, 400);
			if (fail_after < 0)
				assert_int_equal(status, CTX_E_NOMEM);
		} while (fail_after < 0);
		fail_after = -1;
		assert_int_equal(status, CTX_OK);
		assert_true(n > 20);
	}
	ctx_trie_deinit(&cct);
	free(samples);
}

static void test_timetree__weights_beyond_64_bits_are_refused(void **state)
{
	struct ctx_timetree_params params = ctx_timetree_default_params();
	struct ctx_sample sample = {.time_ns = 1, .weight = UINT64_MAX, .stack = 0};
	struct ctx_timetree_builder *builder;
	struct ctx_timetree_sink sink;
	struct ctx_timetree *tree;

	(void)state;
	assert_int_equal(ctx_timetree_create(&tree, NULL), CTX_OK);
	sink = ctx_timetree_sink(tree);
	assert_int_equal(ctx_timetree_builder_create(
				 &(struct ctx_timetree_plan){.params = params, .run = {0, 0}, .sink = sink},
				 &builder, NULL),
			 CTX_E_ARG);
	assert_int_equal(ctx_timetree_builder_create(
				 &(struct ctx_timetree_plan){.params = params, .run = {0, 10}, .sink = sink},
				 &builder, NULL),
			 CTX_OK);
	assert_int_equal(ctx_timetree_builder_add(builder, &sample, NULL), CTX_OK);
	assert_int_equal(ctx_timetree_builder_add(builder, &sample, NULL), CTX_E_LIMIT);
	assert_int_equal(ctx_timetree_builder_finish(builder, NULL), CTX_E_ARG);
	ctx_timetree_builder_destroy(builder);
	ctx_timetree_destroy(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timetree__residual_answers_equal_a_plain_scan),
		cmocka_unit_test(test_timetree__a_window_over_the_whole_run_reads_the_root_alone),
		cmocka_unit_test(test_timetree__an_empty_or_reversed_window_adds_nothing),
		cmocka_unit_test(test_timetree__no_calls_flag_leaves_calls_out),
		cmocka_unit_test(test_timetree__cascade_trees_keep_their_invariants),
		cmocka_unit_test(test_timetree__touched_nodes_grow_like_the_logarithm),
		cmocka_unit_test(test_timetree__samples_out_of_order_or_run_are_moved_and_counted),
		cmocka_unit_test(test_timetree__parameters_out_of_range_are_refused),
		cmocka_unit_test(test_timetree__T9_example_of_the_source),
		cmocka_unit_test(test_timenode_codec__lists_come_back_as_they_were),
		cmocka_unit_test(test_timenode_codec__calls_come_back_as_they_were),
		cmocka_unit_test(test_timenode_codec__a_list_cut_anywhere_is_refused),
		cmocka_unit_test(test_timenode_codec__invalid_lists_are_refused),
		cmocka_unit_test(test_timetree__damaged_lists_never_crash_a_query),
		cmocka_unit_test(test_timetree__damaged_rows_are_refused),
		cmocka_unit_test(test_timetree__every_allocation_may_fail),
		cmocka_unit_test(test_timetree__weights_beyond_64_bits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
