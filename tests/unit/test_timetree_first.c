/*
 * The first sample from a time on, against a walk over all samples.
 */
#include "timetree/timetree.h"

#include "base/mem.h"
#include "tests/unit/chance.h"
#include "tests/unit/timetree_building.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct ctx_sample *)a)->time_ns, y = ((const struct ctx_sample *)b)->time_ns;

	return x < y ? -1 : x > y;
}

static void assert_same_sample(const struct ctx_sample *a, const struct ctx_sample *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->stack, b->stack);
	assert_int_equal(a->raw_stack, b->raw_stack);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->kept_depth, b->kept_depth);
	assert_int_equal(a->metric, b->metric);
	assert_int_equal(a->kept_stack, b->kept_stack);
}

/* Samples at few moments of the run, so that most leaves are empty, or everywhere. */
static size_t make_samples(struct ctx_sample *samples, size_t max, struct ctx_interval run, uint32_t n_stacks)
{
	uint64_t width = run.end_ns - run.begin_ns, grain = next_random() % 2 == 0 ? 1 : 1 + width / 7;
	size_t n = next_random() % (max + 1);

	for (size_t i = 0; i < n; i++)
		samples[i] = (struct ctx_sample){
			.time_ns = run.begin_ns + next_random() % width / grain * grain,
			.weight = 1 + next_random() % 9,
			.stack = (uint32_t)(next_random() % n_stacks),
		};
	qsort(samples, n, sizeof(*samples), by_time);
	/* So that each can be known again, also among those of the same time. */
	for (size_t i = 0; i < n; i++)
		samples[i].raw_stack = (uint32_t)i;
	return n;
}

/*
 * What is left in the leaves, from the first on: all samples, or with a cascade those that no node
 * dropped.
 */
static size_t collect(const struct ctx_timetree_reader *reader, uint32_t id, struct ctx_sample *out, size_t n)
{
	const struct ctx_sample *samples;
	struct ctx_timenode node;
	size_t here;

	assert_int_equal(reader->node(reader->context, id, false, &node, NULL), CTX_OK);
	if (node.n_children == 0) {
		if (node.samples == 0)
			return n;
		assert_int_equal(reader->leaf(reader->context, id, &samples, &here, NULL), CTX_OK);
		memcpy(out + n, samples, here * sizeof(*samples));
		return n + here;
	}
	for (uint32_t i = 0; i < node.n_children; i++)
		n = collect(reader, node.first_child + i, out, n);
	return n;
}

static uint64_t some_time(struct ctx_interval run, const struct ctx_sample *samples, size_t n)
{
	switch (next_random() % 6) {
	case 0:
		return run.begin_ns;
	case 1:
		return run.end_ns - next_random() % 2;
	case 2:
		return next_random() % 2 == 0 ? 0 : UINT64_MAX;
	case 3:
		if (n != 0)
			return samples[next_random() % n].time_ns + next_random() % 2;
		/* fall through */
	default:
		return run.begin_ns + next_random() % (run.end_ns - run.begin_ns);
	}
}

#define N_MAX 700
#define WIDTHS 6

static void ask(enum ctx_timetree_mode mode, uint64_t width)
{
	static struct ctx_sample samples[N_MAX], left[N_MAX];
	struct ctx_interval run = {next_random() % 3, 0};
	struct ctx_timetree_params params = {.leaf_samples = 1 + (uint32_t)(next_random() % 60),
					     .fanout = 2 + (uint32_t)(next_random() % 20),
					     .percent = 60 + (uint32_t)(next_random() % 41),
					     .mode = mode,
					     .keep_tail = true};
	struct ctx_timetree_reader reader;
	struct ctx_timetree *tree;
	size_t n, n_left;

	run.end_ns = run.begin_ns + width;
	n = make_samples(samples, N_MAX, run, 40);
	tree = build(&params, run, NULL, samples, n);
	reader = ctx_timetree_reader(tree, NULL);
	n_left = collect(&reader, 0, left, 0);
	assert_true(n_left <= n && (mode == CTX_TIMETREE_CASCADE || n_left == n));
	for (unsigned k = 0; k < 60; k++) {
		uint64_t time_ns = some_time(run, samples, n);
		struct ctx_timetree_cost cost = {0};
		struct ctx_sample found = {0};
		size_t want = 0;
		enum ctx_status status = ctx_timetree_first_at(&reader, time_ns, &found, &cost, NULL);

		while (want < n_left && left[want].time_ns < time_ns)
			want++;
		assert_int_equal(status, want < n_left ? CTX_OK : CTX_END);
		if (status == CTX_OK)
			assert_same_sample(&found, &left[want]);
		/* The leaf of this time, and the first behind it that is not empty. */
		if (mode == CTX_TIMETREE_RESIDUAL) {
			assert_true(cost.leaves_partial <= 2);
			assert_true(cost.nodes_visited <=
				    (uint64_t)(params.fanout + 1) * 2 * (cost.depth + 1));
		}
	}
	ctx_timetree_destroy(tree);
}

static void ask_many(enum ctx_timetree_mode mode)
{
	static const uint64_t widths[WIDTHS] = {1, 5, 1000, 1000003, 300000000000, UINT64_MAX - 5};

	for (unsigned i = 0; i < 600; i++) {
		random_state = 77 * i + 1;
		next_random();
		ask(mode, widths[next_random() % WIDTHS]);
	}
}

static void test_timetree_first__equals_a_walk_over_all_samples(void **state)
{
	(void)state;
	ask_many(CTX_TIMETREE_RESIDUAL);
}

static void test_timetree_first__of_a_cascade_is_in_the_remainder(void **state)
{
	(void)state;
	ask_many(CTX_TIMETREE_CASCADE);
}

static enum ctx_status no_node(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
			       struct ctx_err *err)
{
	(void)context;
	(void)want_lists;
	/* Children that claim the whole interval: an endless descent, if it were believed. */
	*ret = (struct ctx_timenode){
		.id = node, .samples = 5, .interval = {0, 100}, .first_child = node + 1, .n_children = 2};
	(void)err;
	return CTX_OK;
}

static void test_timetree_first__damaged_rows_are_refused(void **state)
{
	struct ctx_timetree_reader reader = {.node = no_node};
	struct ctx_sample found;

	(void)state;
	assert_int_equal(ctx_timetree_first_at(&reader, 7, &found, NULL, NULL), CTX_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timetree_first__equals_a_walk_over_all_samples),
		cmocka_unit_test(test_timetree_first__of_a_cascade_is_in_the_remainder),
		cmocka_unit_test(test_timetree_first__damaged_rows_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
