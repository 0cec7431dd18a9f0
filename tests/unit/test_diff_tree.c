/*
 * The compared call tree: its order, what explains a change, and which nodes are one row.
 */
#include "chance.h"
#include "report/diff_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 60u

/* A diff of items whose parents are in front of them. */
struct world {
	struct ctx_diff_item items[MOST];
	struct ctx_diff_row rows[MOST];
	struct ctx_diff diff;
};

static void add(struct world *world, uint32_t parent, double a, double b)
{
	struct ctx_diff *diff = &world->diff;
	uint32_t item = (uint32_t)diff->items.n++;

	assert_true(item < MOST);
	diff->items.items = world->items;
	diff->rows = world->rows;
	world->items[item] =
		(struct ctx_diff_item){.parent = parent, .function = CTX_NONE, .caller = CTX_NONE};
	world->rows[diff->n++] =
		(struct ctx_diff_row){.item = item, .weight = {a, b}, .evidence = {.change = b - a}};
	if (parent == CTX_NONE) {
		diff->sides[CTX_COMPARE_A].weight += a;
		diff->sides[CTX_COMPARE_B].weight += b;
	}
}

static uint32_t item_of(const struct world *world, const struct ctx_diff_tree *tree, uint32_t node)
{
	return tree->nodes[node].row != CTX_NONE ? world->rows[tree->nodes[node].row].item : CTX_NONE;
}

static uint32_t node_of(const struct world *world, const struct ctx_diff_tree *tree, uint32_t item)
{
	uint32_t node = 1;

	while (node < tree->n && item_of(world, tree, node) != item)
		node++;
	assert_true(node < tree->n);
	return node;
}

/* main(0): 100 -> 130; run(1): 90 -> 119 with hash(2): 40 -> 69 and walk(3); read(4): 10 -> 11; other(5): 20 -> 15. */
static void fill_example(struct world *world)
{
	*world = (struct world){0};
	add(world, CTX_NONE, 100, 130);
	add(world, 0, 90, 119);
	add(world, 1, 40, 69);
	add(world, 1, 50, 50);
	add(world, 0, 10, 11);
	add(world, CTX_NONE, 20, 15);
}

static void test_diff_tree__is_in_the_order_of_changes(void **unused)
{
	static const uint32_t expected[] = {CTX_NONE, 0, 1, 2, 3, 4, 5}, levels[] = {0, 1, 2, 3, 3, 2, 1},
			      ends[] = {7, 6, 5, 4, 5, 6, 7};
	struct world world;
	struct ctx_diff_tree tree;

	(void)unused;
	fill_example(&world);
	assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
	assert_int_equal(tree.n, 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(item_of(&world, &tree, i), expected[i]);
		assert_int_equal(tree.nodes[i].level, levels[i]);
		assert_int_equal(tree.nodes[i].end, ends[i]);
	}
	/* 25 in all: main has 120 % of it, run 97 % of main's, hash all of run's. */
	assert_int_equal(item_of(&world, &tree, tree.nodes[0].explained), 2);
	assert_int_equal(item_of(&world, &tree, tree.nodes[1].explained), 2);
	assert_int_equal(item_of(&world, &tree, tree.nodes[5].explained), 4);
	ctx_diff_tree_deinit(&tree);
	/* What another undoes explains nothing: 40 of 25. */
	world.rows[5].weight[1] = 0;
	world.rows[5].evidence.change = -20;
	world.diff.sides[CTX_COMPARE_B].weight = 130;
	assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
	assert_int_equal(tree.nodes[0].explained, 0);
	ctx_diff_tree_deinit(&tree);
	/* Nothing to compare. */
	world = (struct world){0};
	assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
	assert_int_equal(tree.n, 1);
	assert_int_equal(tree.nodes[0].end, 1);
	ctx_diff_tree_deinit(&tree);
}

static void test_diff_tree__joins_chains_and_hides_what_hardly_changed(void **unused)
{
	struct world world;
	struct ctx_diff_tree tree;
	uint32_t last_of[8];

	(void)unused;
	fill_example(&world);
	assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
	/* main; run hash, with 29 of its 30; other. read and walk are below 2. */
	assert_int_equal(ctx_diff_tree_fold(&world.diff, &tree, 2, true, last_of), 3);
	assert_int_equal(item_of(&world, &tree, last_of[node_of(&world, &tree, 0)]), 0);
	assert_int_equal(item_of(&world, &tree, last_of[node_of(&world, &tree, 1)]), 2);
	ctx_diff_tree_deinit(&tree);
	world.rows[0].weight[1] = 129;
	world.rows[0].evidence.change = 29;
	assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
	assert_int_equal(ctx_diff_tree_fold(&world.diff, &tree, 2, true, last_of), 2);
	assert_int_equal(item_of(&world, &tree, last_of[node_of(&world, &tree, 0)]), 2);
	assert_int_equal(last_of[node_of(&world, &tree, 1)], CTX_NONE);
	/* One that is small, but has a verdict: it and all above it are rows. */
	world.rows[4].verdict = CTX_VERDICT_SLOWER;
	assert_int_equal(ctx_diff_tree_fold(&world.diff, &tree, 2, true, last_of), 4);
	assert_int_equal(item_of(&world, &tree, last_of[node_of(&world, &tree, 4)]), 4);
	/* Every node. */
	assert_int_equal(ctx_diff_tree_fold(&world.diff, &tree, 0, false, last_of), 6);
	ctx_diff_tree_deinit(&tree);
}

static double change_of(const struct ctx_diff_tree *tree, uint32_t node)
{
	return fabs(tree->nodes[node].change);
}

/* Each item once, behind its parent and inside of it; siblings fall; explanations as by walking down. */
static void test_diff_tree__holds_for_any_tree(void **unused)
{
	(void)unused;
	for (int round = 0; round < 300; round++) {
		struct world world = {0};
		bool seen[MOST] = {0};
		struct ctx_diff_tree tree;
		uint64_t n = below(MOST);

		for (uint32_t i = 0; i < n; i++)
			add(&world, below(5) == 0 || i == 0 ? CTX_NONE : (uint32_t)below(i),
			    (double)below(20), (double)below(20));
		assert_int_equal(ctx_diff_tree_make(&world.diff, &tree, NULL), CTX_OK);
		assert_int_equal(tree.n, n + 1);
		for (uint32_t i = 1; i < tree.n; i++) {
			const struct ctx_diff_node *node = &tree.nodes[i];
			uint32_t item = item_of(&world, &tree, i), at = i;

			assert_false(seen[item]);
			seen[item] = true;
			assert_int_equal(item_of(&world, &tree, node->parent), world.items[item].parent);
			assert_true(node->parent < i && node->end <= tree.nodes[node->parent].end);
			assert_int_equal(node->level, tree.nodes[node->parent].level + 1);
			if (node->end < tree.nodes[node->parent].end)
				assert_true(change_of(&tree, node->end) <= change_of(&tree, i));
			/* Down, as long as a child has enough. */
			for (bool goes_on = true; goes_on;) {
				goes_on = false;
				for (uint32_t k = at + 1; k < tree.n && !goes_on; k++) {
					double share = tree.nodes[k].change / tree.nodes[at].change;

					if (tree.nodes[k].parent != at || !(share >= 0.8 && share <= 1.25))
						continue;
					at = k;
					goes_on = true;
				}
			}
			assert_int_equal(node->explained, at);
		}
		ctx_diff_tree_deinit(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_tree__is_in_the_order_of_changes),
		cmocka_unit_test(test_diff_tree__joins_chains_and_hides_what_hardly_changed),
		cmocka_unit_test(test_diff_tree__holds_for_any_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
