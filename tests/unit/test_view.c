#include "base/mem.h"
#include "calltree/view.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_PATH 16u

/* Keys of the tests: what becomes of their frames. */
enum {
	NATIVE,
	LIBRARY,
	VM,
	MISSING,
	METHOD,
	OTHER_METHOD, /* is shown as METHOD */
	CUT,
	RUNTIME,
	OUTLINED,
	STATE,
	GRAFT,
	RESTART,
	HIDDEN,
	N_KEYS,
	VM_LABEL = N_KEYS,
	MISSING_LABEL,
	RUNTIME_LABEL,
};

static const struct ctx_view_rule rules[N_KEYS] = {
	[NATIVE] = {.key = NATIVE},
	[LIBRARY] = {.key = LIBRARY},
	[VM] = {.key = VM_LABEL, .action = CTX_VIEW_LEAF, .drops = true},
	[MISSING] = {.key = MISSING_LABEL, .action = CTX_VIEW_LEAF, .drops = true, .strong = true},
	[METHOD] = {.key = METHOD, .action = CTX_VIEW_METHOD, .drops = true, .absorbs = true},
	[OTHER_METHOD] = {.key = METHOD, .action = CTX_VIEW_METHOD, .drops = true, .absorbs = true},
	[CUT] = {.key = CUT, .action = CTX_VIEW_MARK},
	[RUNTIME] = {.key = RUNTIME_LABEL, .action = CTX_VIEW_LEAF},
	[OUTLINED] = {.key = OUTLINED, .action = CTX_VIEW_METHOD},
	[STATE] = {.key = STATE, .action = CTX_VIEW_LEAF, .strong = true},
	[GRAFT] = {.key = GRAFT, .action = CTX_VIEW_GRAFT},
	[RESTART] = {.key = RESTART, .action = CTX_VIEW_RESTART},
	[HIDDEN] = {.key = HIDDEN, .action = CTX_VIEW_HIDE},
};

struct path { /* root first */
	uint32_t keys[MAX_PATH];
	size_t n;
};

/* The obvious slow version: looks for what decides, in the whole list. */
static struct path viewed(const struct path *path)
{
	struct path to = {.n = 0};
	size_t at = 0, floor = 0; /* frames of `to` that stay */
	bool absorbing = false, leaf = false, graft = false;

	for (size_t i = 0; i < path->n; i++) {
		if (rules[path->keys[i]].action == CTX_VIEW_RESTART)
			at = i + 1;
	}
	for (; at < path->n; at++) {
		const struct ctx_view_rule *rule = &rules[path->keys[at]];
		bool weak = leaf && !rule->strong;

		if (rule->action == CTX_VIEW_HIDE || (rule->action == CTX_VIEW_LEAF && (absorbing || weak)) ||
		    (rule->action == CTX_VIEW_KEEP && (absorbing || leaf || graft)) ||
		    (rule->action == CTX_VIEW_MARK && (leaf || graft)))
			continue;
		if (leaf && (rule->action == CTX_VIEW_METHOD || rule->action == CTX_VIEW_LEAF ||
			     rule->action == CTX_VIEW_GRAFT))
			to.n--; /* the label */
		if (rule->drops)
			to.n = floor;
		if (rule->action == CTX_VIEW_GRAFT) {
			graft = true;
			absorbing = leaf = false;
			continue;
		}
		if (rule->action == CTX_VIEW_MARK && to.n == floor)
			floor++;
		to.keys[to.n++] = rule->key;
		if (rule->action == CTX_VIEW_METHOD) {
			floor = to.n;
			absorbing = rule->absorbs;
			leaf = graft = false;
		}
		if (rule->action == CTX_VIEW_LEAF) {
			leaf = true;
			graft = false;
		}
	}
	return to;
}

static struct path path_of(const struct ctx_trie *trie, uint32_t node)
{
	struct path path = {.n = trie->depth[node]};

	for (size_t i = path.n; i-- > 0; node = trie->parent[node])
		path.keys[i] = trie->key[node];
	return path;
}

static uint32_t add(struct ctx_trie *trie, const uint32_t *keys, size_t n)
{
	uint32_t nodes[MAX_PATH] = {0};

	if (n != 0)
		assert_int_equal(
			ctx_trie_path(trie, CTX_TRIE_ROOT, (struct ctx_trie_keys){keys, n}, nodes, NULL),
			CTX_OK);
	return n != 0 ? nodes[n - 1] : CTX_TRIE_ROOT;
}

/* "2 4": the view of one stack. */
static void assert_view(const struct path *from, const struct path *want)
{
	struct ctx_trie trie;
	struct ctx_view_map map;
	struct path got;
	uint32_t node;

	assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
	node = add(&trie, from->keys, from->n);
	assert_int_equal(ctx_view_map_make(&map, &trie, rules, NULL), CTX_OK);
	got = path_of(&map.to, map.of[node]);
	assert_int_equal(got.n, want->n);
	for (size_t i = 0; i < want->n; i++)
		assert_int_equal(got.keys[i], want->keys[i]);
	ctx_view_map_deinit(&map);
	ctx_trie_deinit(&trie);
}

#define PATH(...) (&(const struct path){{__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})

static void test_view__methods_alone(void **state)
{
	(void)state;
	assert_view(PATH(NATIVE, VM, METHOD, VM, OTHER_METHOD, LIBRARY), PATH(METHOD, METHOD));
	assert_view(PATH(NATIVE, METHOD, RUNTIME, METHOD), PATH(METHOD, METHOD));
	assert_view(PATH(CUT, NATIVE, VM, METHOD), PATH(CUT, METHOD));
}

static void test_view__a_vm_without_methods_is_a_label(void **state)
{
	(void)state;
	assert_view(PATH(NATIVE, VM, LIBRARY), PATH(VM_LABEL));
	assert_view(PATH(NATIVE, VM, LIBRARY, MISSING), PATH(MISSING_LABEL));
	assert_view(PATH(NATIVE, MISSING, VM), PATH(MISSING_LABEL));
	assert_view(PATH(CUT, VM), PATH(CUT, VM_LABEL));
	assert_view(PATH(NATIVE, LIBRARY), PATH(NATIVE, LIBRARY));
}

static void test_view__a_runtime_is_a_leaf_of_its_caller(void **state)
{
	(void)state;
	assert_view(PATH(NATIVE, RUNTIME, LIBRARY), PATH(NATIVE, RUNTIME_LABEL));
	assert_view(PATH(NATIVE, RUNTIME, LIBRARY, STATE), PATH(NATIVE, STATE));
	assert_view(PATH(NATIVE, RUNTIME, OUTLINED, LIBRARY), PATH(NATIVE, OUTLINED, LIBRARY));
	assert_view(PATH(NATIVE, RUNTIME, GRAFT, LIBRARY, RUNTIME, OUTLINED, LIBRARY),
		    PATH(NATIVE, OUTLINED, LIBRARY));
}

static void test_view__machines_stacks_begin_anew(void **state)
{
	(void)state;
	assert_view(PATH(NATIVE, LIBRARY, RESTART, LIBRARY), PATH(LIBRARY));
	assert_view(PATH(NATIVE, HIDDEN, LIBRARY, HIDDEN), PATH(NATIVE, LIBRARY));
}

static void fill(struct ctx_trie *trie)
{
	for (int i = 0; i < 3000; i++) {
		uint32_t keys[MAX_PATH];
		size_t n = below(MAX_PATH);

		for (size_t k = 0; k < n; k++)
			keys[k] = (uint32_t)below(below(3) == 0 ? N_KEYS : 5);
		(void)add(trie, keys, n);
	}
}

/* Random stacks, and their view. */
static void make_random(struct ctx_trie *trie, struct ctx_view_map *map)
{
	assert_int_equal(ctx_trie_init(trie, NULL), CTX_OK);
	fill(trie);
	assert_int_equal(ctx_view_map_make(map, trie, rules, NULL), CTX_OK);
}

static bool is_above(const struct ctx_trie *trie, uint32_t above, uint32_t node)
{
	return trie->depth[above] <= trie->depth[node] &&
	       ctx_trie_ancestor(trie, node, trie->depth[above]) == above;
}

static void test_view__every_stack_is_as_on_a_list(void **state)
{
	struct ctx_trie trie;
	struct ctx_view_map map;

	(void)state;
	make_random(&trie, &map);
	assert_int_equal(map.n, trie.n);
	for (uint32_t i = 0; i < trie.n; i++) {
		struct path from = path_of(&trie, i), want = viewed(&from), got = path_of(&map.to, map.of[i]);

		assert_int_equal(got.n, want.n);
		for (size_t k = 0; k < want.n; k++)
			assert_int_equal(got.keys[k], want.keys[k]);
		/* The old nodes keep their numbers. */
		assert_int_equal(map.to.key[i], trie.key[i]);
		assert_int_equal(map.to.parent[i], trie.parent[i]);
	}
	ctx_view_map_deinit(&map);
	ctx_trie_deinit(&trie);
}

static void test_view__what_is_common_is_above_all_that_goes_on(void **state)
{
	struct ctx_trie trie;
	struct ctx_view_map map;

	(void)state;
	make_random(&trie, &map);
	for (uint32_t i = 0; i < trie.n; i++) {
		uint32_t deepest = map.of[i];

		for (uint32_t at = trie.parent[i], last = i; last != CTX_TRIE_ROOT;
		     last = at, at = trie.parent[at])
			assert_true(is_above(&map.to, map.common[at], map.of[i]));
		/* And no deeper than it must be: below it is nothing that is common. */
		for (uint32_t k = i; k < trie.n; k++) {
			if (is_above(&trie, i, k))
				deepest = ctx_trie_common_ancestor(&map.to, deepest, map.of[k]);
		}
		assert_int_equal(map.common[i], deepest);
		if (i == 400)
			i = trie.n - 400; /* the slow part is quadratic */
	}
	ctx_view_map_deinit(&map);
	ctx_trie_deinit(&trie);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view__methods_alone),
		cmocka_unit_test(test_view__a_vm_without_methods_is_a_label),
		cmocka_unit_test(test_view__a_runtime_is_a_leaf_of_its_caller),
		cmocka_unit_test(test_view__machines_stacks_begin_anew),
		cmocka_unit_test(test_view__every_stack_is_as_on_a_list),
		cmocka_unit_test(test_view__what_is_common_is_above_all_that_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
