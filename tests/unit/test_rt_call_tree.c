/*
 * The tree of calls in the target: against the same calls kept path by path, without and with too little memory, where sums must stay the same;
 * what a tree takes is bounded.
 */
#include "runtime/rt_call_tree.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEPTH 12u
#define FUNCTIONS 9u
#define PATHS 200000u
#define PRUNED_DIGIT (FUNCTIONS + 1)

/* A path is a number of base 16, the root 0: so far as DEPTH goes. */
struct path {
	uint64_t path, calls, ticks;
};

struct world {
	struct ctx_rt_tree_memory memory;
	struct ctx_rt_tree tree;
	void *bytes;
	size_t size;
	struct path *paths; /* the obvious way: a hash table of all paths */
	struct path *rows;  /* what the tree has written */
	uint64_t open_path[DEPTH + 1], open_ticks[DEPTH + 1];
	uint32_t open_node[DEPTH + 1];
	uint32_t depth;
	uint64_t now, last, calls;
};

static struct path *path_at(struct path *table, uint64_t path)
{
	size_t i = (size_t)(path * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PATHS;

	while (table[i].path != 0 && table[i].path != path)
		i = (i + 1) % PATHS;
	table[i].path = path;
	return &table[i];
}

static struct world *make_world(uint64_t limit, uint32_t share)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->size = ctx_rt_tree_bytes(limit);
	world->bytes = aligned_alloc(4096, world->size);
	world->paths = calloc(PATHS, sizeof(*world->paths));
	world->rows = calloc(PATHS, sizeof(*world->rows));
	assert_true(world->bytes != NULL && world->paths != NULL && world->rows != NULL);
	memset(world->bytes, 0, world->size);
	world->memory.limit = limit;
	world->memory.share = share;
	ctx_rt_tree_init(&world->tree, world->bytes, &world->memory);
	return world;
}

static void free_world(struct world *world)
{
	free(world->bytes);
	free(world->paths);
	free(world->rows);
	free(world);
}

static uint64_t function_of(uint64_t digit)
{
	return 0x400000 + digit * 16;
}

static void pass(struct world *world)
{
	if (world->depth != 0)
		path_at(world->paths, world->open_path[world->depth])->ticks += world->now - world->last;
	ctx_rt_tree_pass(&world->tree, world->now - world->last);
	world->last = world->now;
}

static void enter(struct world *world, uint64_t digit)
{
	uint64_t path = world->open_path[world->depth] << 4 | digit;

	pass(world);
	world->depth++;
	world->open_path[world->depth] = path;
	world->open_ticks[world->depth] = world->now;
	world->open_node[world->depth] = ctx_rt_tree_enter(&world->tree, function_of(digit));
	path_at(world->paths, path)->calls++;
	world->calls++;
}

static void leave(struct world *world)
{
	uint32_t depth = world->depth;

	pass(world);
	world->depth--;
	ctx_rt_tree_leave(&world->tree, function_of(world->open_path[depth] & 15),
			  world->now - world->open_ticks[depth], world->open_node[depth - 1],
			  world->now - world->open_ticks[depth - 1]);
}

/* As rt_calls_sums.c does. */
static void write_rows(struct world *world)
{
	struct ctx_rt_tree *tree = &world->tree;
	uint64_t path[64] = {0};
	uint32_t node = 0, up, depth = 0;

	pass(world);
	ctx_rt_tree_mark(tree);
	while ((node = ctx_rt_tree_next(tree, node, &up)) != 0) {
		uint64_t function = tree->nodes[node].function;
		uint64_t digit = function == CTX_RT_PRUNED ? PRUNED_DIGIT : (function - 0x400000) / 16;

		assert_true(up <= depth);
		depth = depth - up + 1;
		assert_true(depth <= DEPTH);
		path[depth] = path[depth - 1] << 4 | digit;
		path_at(world->rows, path[depth])->calls += tree->nodes[node].calls;
		path_at(world->rows, path[depth])->ticks += tree->nodes[node].ticks;
		tree->nodes[node].calls = tree->nodes[node].ticks = 0;
	}
}

static void sweep(struct world *world)
{
	struct ctx_rt_tree *tree = &world->tree;

	for (uint32_t i = 1; i <= world->depth; i++)
		tree->nodes[world->open_node[i]].flags |= CTX_RT_NODE_OPEN;
	ctx_rt_tree_sweep(tree, world->now);
	for (uint32_t i = 1; i <= world->depth; i++)
		tree->nodes[world->open_node[i]].flags &= ~(uint32_t)CTX_RT_NODE_OPEN;
}

static void run(struct world *world, unsigned steps, bool sweeps)
{
	for (unsigned i = 0; i < steps; i++) {
		/* Digits of small numbers come often. */
		uint64_t digit = 1 + below(1 + below(FUNCTIONS));

		world->now += below(20) == 0 ? below(10000) : below(40);
		if (world->depth == 0 || (world->depth < DEPTH && below(2) == 0))
			enter(world, digit);
		else
			leave(world);
		if (below(5000) != 0)
			continue;
		write_rows(world);
		if (sweeps)
			sweep(world);
	}
	while (world->depth != 0)
		leave(world);
	write_rows(world);
}

static bool is_below(uint64_t path, uint64_t above)
{
	while (path > above)
		path >>= 4;
	return path == above;
}

static struct path sum_below(const struct path *table, uint64_t above)
{
	struct path sum = {0};

	for (size_t i = 0; i < PATHS; i++) {
		if (table[i].path != 0 && is_below(table[i].path, above)) {
			sum.calls += table[i].calls;
			sum.ticks += table[i].ticks;
		}
	}
	return sum;
}

static void test_rt_call_tree__rows_are_those_of_each_path(void **state)
{
	struct world *world = make_world(UINT64_C(64) << 20, CTX_RT_SHARE_ONE / 10);

	(void)state;
	run(world, 300000, false);
	for (size_t i = 0; i < PATHS; i++) {
		const struct path *path = &world->paths[i], *row = path_at(world->rows, path->path);

		if (path->path == 0)
			continue;
		assert_int_equal(row->calls, path->calls);
		assert_int_equal(row->ticks, path->ticks);
	}
	assert_int_equal(world->tree.n_pruned, 0);
	free_world(world);
}

/* Where little memory is left, rows move to <Pruned>: sums over all that was below a path that stayed are the same. */
static void check_pruned(uint64_t limit, uint32_t share, bool sweeps)
{
	struct world *world = make_world(limit, share);
	struct path all, written;

	run(world, 300000, sweeps);
	assert_true(world->tree.n_pruned != 0 || share == 0);
	all = sum_below(world->paths, 0);
	written = sum_below(world->rows, 0);
	assert_int_equal(written.calls + world->tree.uncounted, all.calls);
	assert_int_equal(written.ticks, all.ticks);
	assert_int_equal(all.calls, world->calls);
	for (size_t i = 0; i < PATHS; i++) {
		const struct path *path = &world->paths[i], *row = path_at(world->rows, path->path);

		/* None has what it did not do. */
		if (path->path == 0)
			continue;
		assert_true(row->calls <= path->calls);
		assert_true(row->ticks <= path->ticks);
	}
	for (uint64_t digit = 1; digit <= FUNCTIONS; digit++)
		assert_true(sum_below(world->rows, digit).ticks <= sum_below(world->paths, digit).ticks);
	assert_true(world->memory.used <= limit + limit / 4);
	assert_true(world->tree.n_nodes <= world->tree.cap_nodes);
	free_world(world);
}

static void test_rt_call_tree__sums_stay_where_nodes_are_pruned(void **state)
{
	(void)state;
	check_pruned(65536, CTX_RT_SHARE_ONE / 10, true);
	check_pruned(65536, CTX_RT_SHARE_ONE / 10, false);
	check_pruned(200000, CTX_RT_SHARE_ONE / 10, true);
	check_pruned(200000, CTX_RT_SHARE_ONE, true);
	check_pruned(100000, 0, true); /* nothing is small: at the bound calls are <Pruned> at once */
}

/* A node that is not small is never pruned: its own sums are exact. */
static void test_rt_call_tree__what_is_not_small_stays_exact(void **state)
{
	struct world *world = make_world(65536, CTX_RT_SHARE_ONE / 10);
	const struct path *heavy, *row;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		world->now += 1;
		enter(world, 1);
		for (unsigned k = 0; k < 3; k++) { /* 1 2 3: most of the time */
			world->now += 1000;
			enter(world, k + 1);
		}
		world->now += 2;
		for (unsigned k = 0; k < 5; k++)
			enter(world, 1 + below(FUNCTIONS));
		while (world->depth != 0) {
			world->now += world->depth == 4 ? 1000 : 1;
			leave(world);
		}
		if (i % 1000 == 0) {
			write_rows(world);
			sweep(world);
		}
	}
	write_rows(world);
	assert_true(world->tree.n_pruned > 1000);
	heavy = path_at(world->paths, 0x1123);
	row = path_at(world->rows, 0x1123);
	assert_int_equal(row->calls, 20000);
	assert_int_equal(row->ticks, heavy->ticks);
	assert_int_equal(sum_below(world->rows, 0x1123).ticks, sum_below(world->paths, 0x1123).ticks);
	assert_int_equal(sum_below(world->rows, 0x1123).calls, sum_below(world->paths, 0x1123).calls);
	free_world(world);
}

static void test_rt_call_tree__durations_are_exact_to_one_per_cent(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t ticks = i < 5000 ? i : next_random() >> below(63);
		uint32_t power, step;
		uint64_t middle;

		ctx_rt_step_of(ticks, &power, &step);
		assert_true(power < CTX_RT_POWERS && step < CTX_RT_STEPS);
		middle = ctx_rt_step_ticks(power, step);
		assert_true((middle > ticks ? middle - ticks : ticks - middle) <= ticks / 100);
	}
}

static void test_rt_call_tree__durations_are_counted_by_function(void **state)
{
	struct world *world = make_world(UINT64_C(1) << 20, CTX_RT_SHARE_ONE / 10);
	uint64_t counts[3] = {0}, sums[3] = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t which = 1 + below(3);

		enter(world, which);
		world->now += 10 * which + below(100000 * which);
		counts[which - 1]++;
		sums[which - 1] += world->now - world->open_ticks[1];
		leave(world);
	}
	assert_int_equal(world->tree.n_counted, 4);
	for (uint32_t i = 1; i < 4; i++) {
		const struct ctx_rt_counted *counted = &world->tree.counted[i];
		uint64_t which = (counted->function - 0x400000) / 16 - 1, n = 0;
		double sum = 0;

		for (uint32_t power = 0; power < CTX_RT_POWERS; power++) {
			for (uint32_t step = 0; step < CTX_RT_STEPS && counted->powers[power] != 0; step++) {
				uint64_t calls = world->tree.steps[counted->powers[power]].calls[step];

				n += calls;
				sum += (double)calls * (double)ctx_rt_step_ticks(power, step);
			}
		}
		assert_int_equal(counted->calls, counts[which]);
		assert_int_equal(n, counts[which]);
		assert_true(sum > 0.99 * (double)sums[which] && sum < 1.01 * (double)sums[which]);
		assert_true(counted->least >= 10 * (which + 1) && counted->most <= (which + 1) * 100010);
	}
	free_world(world);
}

static void test_rt_call_tree__a_tree_begins_anew(void **state)
{
	struct world *world = make_world(65536, CTX_RT_SHARE_ONE / 10);

	(void)state;
	run(world, 50000, true);
	ctx_rt_tree_clear(&world->tree);
	assert_int_equal(world->memory.used, 0);
	assert_int_equal(world->tree.current, 0);
	ctx_rt_tree_mark(&world->tree);
	assert_int_equal(ctx_rt_tree_next(&world->tree, 0, &(uint32_t){0}), 0);
	memset(world->paths, 0, PATHS * sizeof(*world->paths));
	memset(world->rows, 0, PATHS * sizeof(*world->rows));
	enter(world, 3);
	world->now += 10;
	leave(world);
	write_rows(world);
	assert_int_equal(path_at(world->rows, 3)->calls, 1);
	assert_int_equal(path_at(world->rows, 3)->ticks, 10);
	free_world(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_call_tree__rows_are_those_of_each_path),
		cmocka_unit_test(test_rt_call_tree__sums_stay_where_nodes_are_pruned),
		cmocka_unit_test(test_rt_call_tree__what_is_not_small_stays_exact),
		cmocka_unit_test(test_rt_call_tree__durations_are_exact_to_one_per_cent),
		cmocka_unit_test(test_rt_call_tree__durations_are_counted_by_function),
		cmocka_unit_test(test_rt_call_tree__a_tree_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
