#include "base/mem.h"
#include "calltree/calltree.h"
#include "chance.h"
#include "model/sample.h"
#include "tests/unit/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct ctx_trie cct;
	struct ctx_histogram histogram;
	uint32_t n_functions;
};

static void fixture_deinit(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->cct);
	ctx_histogram_deinit(&fixture->histogram);
}

/* Adds what a sample adds, calls included: a unit of one thread's stream. Routines are letters. */
static void add_sample(struct fixture *fixture, const char *routines, uint64_t weight, uint32_t *previous)
{
	uint32_t stack = CTX_TRIE_ROOT, kept;

	for (; *routines != '\0'; routines++) {
		uint32_t function = (uint32_t)(*routines - 'A');

		assert_int_equal(ctx_trie_child(&fixture->cct, stack, function, &stack, NULL), CTX_OK);
		if (function >= fixture->n_functions)
			fixture->n_functions = function + 1;
	}
	kept = ctx_trie_common_ancestor(&fixture->cct, stack, *previous);
	assert_int_equal(
		ctx_histogram_add(
			&fixture->histogram,
			(struct ctx_hist_entry){.stack = stack, .weight = weight, .samples = 1, .calls = 1},
			NULL),
		CTX_OK);
	assert_int_equal(ctx_histogram_add(&fixture->histogram,
					   (struct ctx_hist_entry){.stack = kept, .calls = -1}, NULL),
			 CTX_OK);
	*previous = stack;
}

/*
 * Random stacks of few functions, so that they recur heavily; calls as the stream of samples gives
 * them.
 */
static void random_fixture(struct fixture *fixture, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;
	uint32_t n_functions = 1 + (uint32_t)(random_of(&state) % 5);
	size_t n_samples = random_of(&state) % 40;
	uint32_t max_depth = 1 + (uint32_t)(random_of(&state) % 9);
	uint32_t previous = CTX_TRIE_ROOT;

	*fixture = (struct fixture){0};
	assert_int_equal(ctx_trie_init(&fixture->cct, NULL), CTX_OK);
	for (size_t i = 0; i < n_samples; i++) {
		char routines[16] = "";
		size_t depth = random_of(&state) % (max_depth + 1);

		for (size_t level = 0; level < depth; level++)
			routines[level] = (char)('A' + random_of(&state) % n_functions);
		/* Some stacks are in the CCT only, not in the histogram. */
		if (random_of(&state) % 4 == 0) {
			uint32_t stack = CTX_TRIE_ROOT;

			for (size_t level = 0; level < depth; level++)
				assert_int_equal(ctx_trie_child(&fixture->cct, stack,
								(uint32_t)(routines[level] - 'A'), &stack,
								NULL),
						 CTX_OK);
		} else {
			add_sample(fixture, routines, random_of(&state) % 10, &previous);
		}
	}
	fixture->n_functions = n_functions;
}

static bool is_above(const struct ctx_trie *cct, uint32_t above, uint32_t stack)
{
	while (stack > above)
		stack = cct->parent[stack];
	return stack == above;
}

static uint32_t function_of(const struct ctx_trie *cct, uint32_t stack)
{
	return stack == CTX_TRIE_ROOT ? CTX_TRIE_ROOT_KEY : cct->key[stack];
}

/* The node of a CCT stack, computed from the definition. */
static struct ctx_calltree_node slow_node(const struct fixture *fixture, uint32_t stack, bool *ret_touched)
{
	struct ctx_calltree_node node = {.stack = stack, .function = function_of(&fixture->cct, stack)};

	*ret_touched = stack == CTX_TRIE_ROOT;
	for (size_t i = 0; i < fixture->histogram.n; i++) {
		const struct ctx_hist_entry *entry = &fixture->histogram.entries[i];

		if (!is_above(&fixture->cct, stack, entry->stack))
			continue;
		*ret_touched = true;
		node.cum += entry->weight;
		node.cum_samples += entry->samples;
		node.calls += entry->calls;
		if (entry->stack == stack) {
			node.base += entry->weight;
			node.base_samples += entry->samples;
		}
	}
	for (uint32_t up = stack; up != CTX_TRIE_ROOT;) {
		up = fixture->cct.parent[up];
		node.level++;
		if (up != CTX_TRIE_ROOT && fixture->cct.key[up] == node.function)
			node.recursion_level++;
	}
	return node;
}

static const struct ctx_calltree_node *find_node(const struct ctx_calltree *tree, uint32_t stack)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		if (tree->nodes[i].stack == stack)
			return &tree->nodes[i];
	}
	return NULL;
}

static void assert_tree_is_slow_tree(const struct fixture *fixture, const struct ctx_calltree *tree)
{
	uint32_t n = 0;

	for (uint32_t stack = 0; stack < fixture->cct.n; stack++) {
		const struct ctx_calltree_node *node = find_node(tree, stack);
		bool touched;
		struct ctx_calltree_node want = slow_node(fixture, stack, &touched);

		assert_int_equal(node != NULL, touched);
		if (node == NULL)
			continue;
		n++;
		assert_int_equal(node->function, want.function);
		assert_int_equal(node->level, want.level);
		assert_int_equal(node->recursion_level, want.recursion_level);
		assert_int_equal(node->base, want.base);
		assert_int_equal(node->cum, want.cum);
		assert_int_equal(node->base_samples, want.base_samples);
		assert_int_equal(node->cum_samples, want.cum_samples);
		assert_int_equal(node->calls, want.calls);
	}
	assert_int_equal(n, tree->n);
}

static bool stack_has(const struct ctx_trie *cct, uint32_t stack, uint32_t function)
{
	for (; stack != CTX_TRIE_ROOT; stack = cct->parent[stack]) {
		if (cct->key[stack] == function)
			return true;
	}
	return false;
}

static void assert_flat_is_slow_flat(const struct fixture *fixture, const struct ctx_flat *flat)
{
	for (uint32_t i = 0; i < flat->n; i++) {
		const struct ctx_flat_row *row = &flat->rows[i];
		uint64_t base = 0, cum = 0, base_samples = 0, cum_samples = 0;

		for (size_t j = 0; j < fixture->histogram.n; j++) {
			const struct ctx_hist_entry *entry = &fixture->histogram.entries[j];

			if (function_of(&fixture->cct, entry->stack) == row->function) {
				base += entry->weight;
				base_samples += entry->samples;
			}
			if (stack_has(&fixture->cct, entry->stack, row->function)) {
				cum += entry->weight;
				cum_samples += entry->samples;
			}
		}
		assert_int_equal(row->base, base);
		assert_int_equal(row->cum, cum);
		assert_int_equal(row->base_samples, base_samples);
		assert_int_equal(row->cum_samples, cum_samples);
		if (i > 0)
			assert_true(flat->rows[i - 1].base >= row->base);
	}
	assert_int_equal(flat->weight, fixture->histogram.weight);
	assert_int_equal(flat->samples, fixture->histogram.samples);
}

/* What the entries below say of caller -> callee, sample by sample. */
static struct ctx_edge_row slow_edge(const struct fixture *fixture, uint32_t caller, uint32_t callee,
				     bool as_parent_row)
{
	const struct ctx_trie *cct = &fixture->cct;
	struct ctx_edge_row row = {0};

	for (size_t i = 0; i < fixture->histogram.n; i++) {
		const struct ctx_hist_entry *entry = &fixture->histogram.entries[i];
		uint32_t outermost = CTX_TRIE_ROOT, below_innermost = CTX_TRIE_ROOT, below = CTX_TRIE_ROOT;
		bool seen_caller = false;

		for (uint32_t stack = entry->stack; stack != CTX_TRIE_ROOT; stack = cct->parent[stack]) {
			if (cct->key[stack] == callee && function_of(cct, cct->parent[stack]) == caller)
				row.calls += entry->calls;
			if (cct->key[stack] == callee)
				outermost = stack;
			if (cct->key[stack] == caller && !seen_caller) {
				seen_caller = true;
				below_innermost = below;
			}
			below = stack;
		}
		if (caller == CTX_TRIE_ROOT_KEY)
			below_innermost = below;
		if (entry->stack != CTX_TRIE_ROOT && cct->key[entry->stack] == callee &&
		    function_of(cct, cct->parent[entry->stack]) == caller)
			row.base += entry->weight;
		if (as_parent_row && outermost != CTX_TRIE_ROOT &&
		    function_of(cct, cct->parent[outermost]) == caller)
			row.cum += entry->weight;
		if (!as_parent_row && below_innermost != CTX_TRIE_ROOT && cct->key[below_innermost] == callee)
			row.cum += entry->weight;
	}
	return row;
}

static void assert_stanzas_are_slow_stanzas(const struct fixture *fixture, const struct ctx_stanzas *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		const struct ctx_stanza *stanza = &set->stanzas[i];
		uint32_t self = stanza->self.function;

		for (uint32_t j = 0; j < stanza->n_parents; j++) {
			const struct ctx_edge_row *row = &stanza->parents[j];
			struct ctx_edge_row want = slow_edge(fixture, row->function, self, true);

			assert_int_equal(row->calls, want.calls);
			assert_int_equal(row->base, want.base);
			assert_int_equal(row->cum, want.cum);
		}
		for (uint32_t j = 0; j < stanza->n_children; j++) {
			const struct ctx_edge_row *row = &stanza->children[j];
			struct ctx_edge_row want = slow_edge(fixture, self, row->function, false);

			assert_int_equal(row->calls, want.calls);
			assert_int_equal(row->base, want.base);
			assert_int_equal(row->cum, want.cum);
		}
	}
}

static void test_calltree__equals_the_slow_version_on_random_recursive_stacks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct fixture fixture;
		struct ctx_calltree tree;
		struct ctx_stanzas stanzas;
		struct ctx_flat flat;
		struct ctx_err err = {0};

		random_fixture(&fixture, seed);
		assert_int_equal(ctx_calltree_build(&fixture.cct, fixture.n_functions, &fixture.histogram,
						    &tree, &err),
				 CTX_OK);
		if (ctx_calltree_check(&tree, &err) != CTX_OK)
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
		assert_tree_is_slow_tree(&fixture, &tree);
		assert_int_equal(ctx_flat_build(&tree, &flat, &err), CTX_OK);
		assert_flat_is_slow_flat(&fixture, &flat);
		assert_int_equal(ctx_stanzas_build(&tree, &stanzas, &err), CTX_OK);
		if (ctx_stanzas_check(&stanzas, &err) != CTX_OK)
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
		assert_int_equal(stanzas.n, flat.n + 1);
		assert_int_equal(stanzas.stanzas[0].self.function, CTX_TRIE_ROOT_KEY);
		assert_stanzas_are_slow_stanzas(&fixture, &stanzas);
		ctx_stanzas_deinit(&stanzas);
		ctx_flat_deinit(&flat);
		ctx_calltree_deinit(&tree);
		fixture_deinit(&fixture);
	}
}

static void test_calltree__is_the_root_alone_for_an_empty_histogram(void **state)
{
	struct fixture fixture = {0};
	struct ctx_calltree tree;
	struct ctx_stanzas stanzas;
	struct ctx_flat flat;

	(void)state;
	assert_int_equal(ctx_trie_init(&fixture.cct, NULL), CTX_OK);
	assert_int_equal(ctx_calltree_build(&fixture.cct, 0, &fixture.histogram, &tree, NULL), CTX_OK);
	assert_int_equal(tree.n, 1);
	assert_int_equal(tree.nodes[0].function, CTX_TRIE_ROOT_KEY);
	assert_int_equal(tree.nodes[0].first_child, CTX_CALLTREE_NONE);
	assert_int_equal(ctx_calltree_check(&tree, NULL), CTX_OK);
	assert_int_equal(ctx_flat_build(&tree, &flat, NULL), CTX_OK);
	assert_int_equal(flat.n, 0);
	assert_int_equal(ctx_stanzas_build(&tree, &stanzas, NULL), CTX_OK);
	assert_int_equal(stanzas.n, 1);
	assert_int_equal(ctx_stanzas_check(&stanzas, NULL), CTX_OK);
	ctx_stanzas_deinit(&stanzas);
	ctx_flat_deinit(&flat);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

static void test_calltree__refuses_stacks_and_functions_that_do_not_exist(void **state)
{
	struct fixture fixture = {0};
	struct ctx_calltree tree;
	struct ctx_err err = {0};
	uint32_t previous = CTX_TRIE_ROOT;

	(void)state;
	assert_int_equal(ctx_trie_init(&fixture.cct, NULL), CTX_OK);
	add_sample(&fixture, "AB", 1, &previous);
	assert_int_equal(ctx_calltree_build(&fixture.cct, 1, &fixture.histogram, &tree, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "function 1"));
	assert_int_equal(ctx_histogram_add(&fixture.histogram,
					   (struct ctx_hist_entry){.stack = 3, .weight = 1, .samples = 1},
					   NULL),
			 CTX_OK);
	assert_int_equal(ctx_calltree_build(&fixture.cct, 2, &fixture.histogram, &tree, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "no call stack 3"));
	fixture_deinit(&fixture);
}

static void test_calltree__orders_equal_siblings_by_stack_id(void **state)
{
	struct fixture fixture = {0};
	struct ctx_calltree tree;
	uint32_t previous = CTX_TRIE_ROOT;

	(void)state;
	assert_int_equal(ctx_trie_init(&fixture.cct, NULL), CTX_OK);
	add_sample(&fixture, "C", 5, &previous);
	add_sample(&fixture, "A", 5, &previous);
	add_sample(&fixture, "B", 9, &previous);
	assert_int_equal(ctx_calltree_build(&fixture.cct, 3, &fixture.histogram, &tree, NULL), CTX_OK);
	assert_int_equal(tree.n, 4);
	assert_int_equal(tree.nodes[1].function, 1);
	assert_int_equal(tree.nodes[2].function, 2);
	assert_int_equal(tree.nodes[3].function, 0);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

/*
 * As the tree table shows it: level, recursion level, calls, base, cum, routine (requirement C5).
 */
static void print_table(const struct ctx_calltree *tree, char *out, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 1; i < tree->n; i++) {
		const struct ctx_calltree_node *node = &tree->nodes[i];

		used += (size_t)snprintf(out + used, size - used, "%u %u %lld %llu %llu %c\n", node->level,
					 node->recursion_level, (long long)node->calls,
					 (unsigned long long)node->base, (unsigned long long)node->cum,
					 'A' + (char)node->function);
		assert_true(used < size);
	}
}

/* `stream` is stacks separated by a space, one a unit of time. */
static void stream_fixture(struct fixture *fixture, const char *stream)
{
	char copy[256], *rest = copy;
	uint32_t previous = CTX_TRIE_ROOT;

	*fixture = (struct fixture){0};
	assert_int_equal(ctx_trie_init(&fixture->cct, NULL), CTX_OK);
	snprintf(copy, sizeof(copy), "%s", stream);
	for (char *routines = strsep(&rest, " "); routines != NULL; routines = strsep(&rest, " "))
		add_sample(fixture, routines, 1, &previous);
}

static void assert_table(const char *stream, const char *want)
{
	struct fixture fixture;
	struct ctx_calltree tree;
	char table[1024];

	stream_fixture(&fixture, stream);
	assert_int_equal(
		ctx_calltree_build(&fixture.cct, fixture.n_functions, &fixture.histogram, &tree, NULL),
		CTX_OK);
	assert_int_equal(ctx_calltree_check(&tree, NULL), CTX_OK);
	print_table(&tree, table, sizeof(table));
	assert_string_equal(table, want);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

/*
 * Requirement C12. The node C-A-B: produced twice, 3 units in it, 4 units cumulative. In the second
 * stream everything runs below another B, which makes it recursion 1.
 */
static void test_calltree__c12_prints_the_worked_example(void **state)
{
	(void)state;
	assert_table("C CA CAB CA C CB CBA CB C CA CAB CAB CABC CA C", "1 0 1 4 15 C\n"
								       "2 0 2 4 8 A\n"
								       "3 0 2 3 4 B\n"
								       "4 1 1 1 1 C\n"
								       "2 0 1 2 3 B\n"
								       "3 0 1 1 1 A\n");
	assert_table("BC BCA BCAB BCA BC BCB BCBA BCB BC BCA BCAB BCAB BCABC BCA BC", "1 0 1 0 15 B\n"
										      "2 0 1 4 15 C\n"
										      "3 0 2 4 8 A\n"
										      "4 1 2 3 4 B\n"
										      "5 1 1 1 1 C\n"
										      "3 1 1 2 3 B\n"
										      "4 0 1 1 1 A\n");
}

static void test_calltree__c12_gives_a_base_2_cum_10_and_b_8(void **state)
{
	struct fixture fixture;
	struct ctx_calltree tree;
	struct ctx_flat flat;

	(void)state;
	stream_fixture(&fixture, "A AB AB AB AB AB AB AB AB A");
	assert_int_equal(
		ctx_calltree_build(&fixture.cct, fixture.n_functions, &fixture.histogram, &tree, NULL),
		CTX_OK);
	assert_int_equal(ctx_flat_build(&tree, &flat, NULL), CTX_OK);
	assert_int_equal(flat.n, 2);
	assert_int_equal(flat.rows[0].function, 1);
	assert_int_equal(flat.rows[0].base, 8);
	assert_int_equal(flat.rows[0].cum, 8);
	assert_int_equal(flat.rows[0].calls, 1);
	assert_int_equal(flat.rows[1].base, 2);
	assert_int_equal(flat.rows[1].cum, 10);
	assert_int_equal(flat.rows[1].calls, 1);
	ctx_flat_deinit(&flat);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

static void test_calltree__c7_direct_recursion_is_its_own_parent_without_cum(void **state)
{
	struct fixture fixture;
	struct ctx_calltree tree;
	struct ctx_stanzas stanzas;
	const struct ctx_stanza *a;

	(void)state;
	stream_fixture(&fixture, "A AA AAB AAA AAAB");
	assert_int_equal(
		ctx_calltree_build(&fixture.cct, fixture.n_functions, &fixture.histogram, &tree, NULL),
		CTX_OK);
	assert_int_equal(ctx_stanzas_build(&tree, &stanzas, NULL), CTX_OK);
	a = &stanzas.stanzas[1];
	assert_int_equal(a->self.function, 0);
	assert_int_equal(a->self.base, 3);
	assert_int_equal(a->self.cum, 5);
	assert_int_equal(a->self.calls, 3);
	assert_int_equal(a->n_parents, 2);
	assert_int_equal(a->parents[0].function, CTX_TRIE_ROOT_KEY);
	assert_int_equal(a->parents[0].cum, 5);
	assert_int_equal(a->parents[1].function, 0);
	assert_int_equal(a->parents[1].cum, 0);
	assert_int_equal(a->parents[1].calls, 2);
	assert_int_equal(a->n_children, 2);
	assert_int_equal(a->children[0].function, 1);
	assert_int_equal(a->children[0].cum, 2);
	ctx_stanzas_deinit(&stanzas);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

static void test_calltree__checks_name_the_rule_that_is_broken(void **state)
{
	struct fixture fixture;
	struct ctx_calltree tree;
	struct ctx_stanzas stanzas;
	struct ctx_err err = {0};

	(void)state;
	stream_fixture(&fixture, "A AB ABA AC ACAB");
	assert_int_equal(
		ctx_calltree_build(&fixture.cct, fixture.n_functions, &fixture.histogram, &tree, NULL),
		CTX_OK);
	assert_int_equal(ctx_stanzas_build(&tree, &stanzas, NULL), CTX_OK);
	stanzas.stanzas[1].parents[0].calls++;
	assert_int_equal(ctx_stanzas_check(&stanzas, &err), CTX_E_INTERNAL);
	assert_non_null(strstr(err.msg, "parents' calls"));
	stanzas.stanzas[1].children[0].cum++;
	assert_int_equal(ctx_stanzas_check(&stanzas, &err), CTX_E_INTERNAL);
	assert_non_null(strstr(err.msg, "children's cum"));
	tree.nodes[2].cum++;
	assert_int_equal(ctx_calltree_check(&tree, &err), CTX_E_INTERNAL);
	assert_non_null(strstr(err.msg, "node 1 has a cum"));
	tree.nodes[2].cum--;
	tree.nodes[3].recursion_level++;
	assert_int_equal(ctx_calltree_check(&tree, &err), CTX_E_INTERNAL);
	assert_non_null(strstr(err.msg, "recursion level"));
	tree.nodes[3].recursion_level--;
	tree.first_instance[2] = CTX_CALLTREE_NONE;
	assert_int_equal(ctx_calltree_check(&tree, &err), CTX_E_INTERNAL);
	assert_non_null(strstr(err.msg, "instances"));
	ctx_stanzas_deinit(&stanzas);
	ctx_calltree_deinit(&tree);
	fixture_deinit(&fixture);
}

static enum ctx_status build_all(const struct fixture *fixture)
{
	struct ctx_calltree tree = {0};
	struct ctx_stanzas stanzas = {0};
	struct ctx_flat flat = {0};
	enum ctx_status status =
		ctx_calltree_build(&fixture->cct, fixture->n_functions, &fixture->histogram, &tree, NULL);

	if (status == CTX_OK)
		status = ctx_flat_build(&tree, &flat, NULL);
	if (status == CTX_OK)
		status = ctx_stanzas_build(&tree, &stanzas, NULL);
	if (status == CTX_OK)
		status = ctx_calltree_check(&tree, NULL);
	ctx_stanzas_deinit(&stanzas);
	ctx_flat_deinit(&flat);
	ctx_calltree_deinit(&tree);
	return status;
}

static void test_calltree__every_allocation_may_fail(void **state)
{
	enum ctx_status status = CTX_E_NOMEM;
	struct fixture fixture;
	long n = 0;

	(void)state;
	stream_fixture(&fixture, "A AB ABA AC ACAB D DE DEF DEFA");
	for (; status != CTX_OK; n++) {
		assert_true(n < 100);
		fail_after = n;
		status = build_all(&fixture);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
	}
	assert_true(n > 10);
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calltree__equals_the_slow_version_on_random_recursive_stacks),
		cmocka_unit_test(test_calltree__is_the_root_alone_for_an_empty_histogram),
		cmocka_unit_test(test_calltree__refuses_stacks_and_functions_that_do_not_exist),
		cmocka_unit_test(test_calltree__orders_equal_siblings_by_stack_id),
		cmocka_unit_test(test_calltree__c12_prints_the_worked_example),
		cmocka_unit_test(test_calltree__c12_gives_a_base_2_cum_10_and_b_8),
		cmocka_unit_test(test_calltree__c7_direct_recursion_is_its_own_parent_without_cum),
		cmocka_unit_test(test_calltree__checks_name_the_rule_that_is_broken),
		cmocka_unit_test(test_calltree__every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
