#include "base/mem.h"
#include "calltree/calltree.h"
#include "calltree/folding.h"
#include "calltree/restack.h"
#include "calltree/reversed.h"
#include "report/fold.h"
#include "report/kernel_calls.h"
#include "report/names.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N_KEYS 8u
#define MAX_PATH 24u

/* A stack written down, root first. */
struct path {
	uint32_t keys[MAX_PATH];
	size_t n;
};

static size_t find_key(const struct path *path, uint32_t key)
{
	for (size_t i = 0; i < path->n; i++) {
		if (path->keys[i] == key)
			return i;
	}
	return path->n;
}

/* The frame of a region while it goes on. */
struct region {
	uint32_t number;
	bool as_it_is, refined;
	size_t caller; /* frames before it */
};

/* The obvious slow version: a frame after the other, on a list. */
static struct path restacked(const struct path *path, const struct ctx_restack_rule *rules)
{
	struct path to = {.n = 0};
	struct region now = {0};

	for (size_t i = 0; i < path->n; i++) {
		const struct ctx_restack_rule *rule = &rules[path->keys[i]];
		bool goes_on = rule->region != 0 && now.number == rule->region;
		uint32_t key = path->keys[i];
		size_t at;

		if (rule->hidden || (goes_on && !now.as_it_is && (now.refined || !rule->refines)))
			continue;
		if (goes_on && !now.as_it_is)
			to.n = now.caller;
		if (!goes_on)
			now = (struct region){
				.number = rule->region, .as_it_is = rule->inner && to.n == 0, .caller = to.n};
		if (rule->region != 0 && !now.as_it_is) {
			key = rule->key;
			now.refined |= rule->refines;
		}
		at = find_key(&to, key);
		if (rule->apart)
			at = to.n != 0 && to.keys[to.n - 1] == key ? to.n - 1 : to.n;
		to.n = at;
		to.keys[to.n++] = key;
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

static uint32_t add_random_stack(struct ctx_trie *trie)
{
	uint32_t node = CTX_TRIE_ROOT;

	for (uint64_t n = below(MAX_PATH); n > 0; n--)
		assert_int_equal(ctx_trie_child(trie, node, (uint32_t)below(N_KEYS), &node, NULL), CTX_OK);
	return node;
}

/* Rules by chance, without hidden frames inside regions: those are the region's own affair. */
static void make_rules(struct ctx_restack_rule *rules)
{
	for (uint32_t i = 0; i < N_KEYS; i++) {
		rules[i] = (struct ctx_restack_rule){.key = i, .apart = below(8) == 0};
		if (below(3) == 0)
			rules[i] = (struct ctx_restack_rule){.key = N_KEYS + i,
							     .region = 1,
							     .refines = below(2) == 0,
							     .inner = true,
							     .apart = true};
	}
}

static void test_fold__restacking_is_what_the_slow_version_says(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct ctx_restack_rule rules[N_KEYS];
		struct ctx_restack restack;
		struct ctx_trie trie;
		uint32_t stacks[40];

		assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
		for (size_t i = 0; i < CTX_COUNT_OF(stacks); i++)
			stacks[i] = add_random_stack(&trie);
		make_rules(rules);
		assert_int_equal(
			ctx_restack_init(&restack, &trie,
					 &(struct ctx_restack_rules){.of_key = rules, .recursion = true},
					 NULL),
			CTX_OK);
		for (size_t i = 0; i < CTX_COUNT_OF(stacks); i++) {
			struct path old = path_of(&trie, stacks[i]), want = restacked(&old, rules), got;
			uint32_t node;

			assert_int_equal(ctx_restack_find(&restack, stacks[i], &node, NULL), CTX_OK);
			got = path_of(&restack.to, node);
			assert_int_equal(got.n, want.n);
			assert_memory_equal(got.keys, want.keys, want.n * sizeof(*want.keys));
		}
		ctx_restack_deinit(&restack);
		ctx_trie_deinit(&trie);
	}
}

static void test_fold__hidden_frames_vanish_and_weights_stay(void **state)
{
	struct ctx_restack_rule rules[3] = {{.key = 0}, {.key = 1, .hidden = true}, {.key = 2}};
	struct ctx_histogram from = {0}, to = {0};
	struct ctx_restack restack;
	struct ctx_trie trie;
	uint32_t a, ab, abc, b;

	(void)state;
	assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, CTX_TRIE_ROOT, 0, &a, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, a, 1, &ab, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, ab, 2, &abc, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&trie, CTX_TRIE_ROOT, 1, &b, NULL), CTX_OK);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			ctx_histogram_add(&from,
					  (struct ctx_hist_entry){.stack = (uint32_t[]){a, ab, abc, b}[i],
								  .weight = 1u << i,
								  .samples = 1},
					  NULL),
			CTX_OK);
	assert_int_equal(ctx_restack_init(&restack, &trie,
					  &(struct ctx_restack_rules){.of_key = rules, .recursion = true},
					  NULL),
			 CTX_OK);
	assert_int_equal(ctx_restack_histogram(&restack, &from, &to, NULL), CTX_OK);
	assert_int_equal(to.weight, 15);
	assert_int_equal(to.n, 3);
	assert_int_equal(ctx_histogram_get(&to, CTX_TRIE_ROOT)->weight, 8);
	assert_int_equal(ctx_histogram_get(&to, 1)->weight, 3);
	assert_int_equal(ctx_restack_find(&restack, trie.n, &a, NULL), CTX_E_ARG);
	ctx_restack_deinit(&restack);
	ctx_histogram_deinit(&from);
	ctx_histogram_deinit(&to);
	ctx_trie_deinit(&trie);
}

/* The tree of random stacks with random weights; a second one of the same stacks with other weights. */
struct forest {
	struct ctx_trie trie;
	struct ctx_calltree trees[2];
	size_t n_trees;
};

static void forest_init(struct forest *forest, size_t n_trees)
{
	struct ctx_histogram histogram = {0};

	*forest = (struct forest){.n_trees = n_trees};
	assert_int_equal(ctx_trie_init(&forest->trie, NULL), CTX_OK);
	for (uint64_t n = 1 + below(20); n > 0; n--) {
		struct ctx_hist_entry entry = {.stack = add_random_stack(&forest->trie),
					       .weight = below(3) == 0 ? below(10) : below(1000),
					       .samples = 1};

		assert_int_equal(ctx_histogram_add(&histogram, entry, NULL), CTX_OK);
	}
	for (size_t i = 0; i < n_trees; i++)
		assert_int_equal(
			ctx_calltree_build(&forest->trie, N_KEYS, &histogram, &forest->trees[i], NULL),
			CTX_OK);
	/* Another metric of the same nodes. */
	for (uint32_t i = forest->trees[1].n; i-- > 0;) {
		struct ctx_calltree_node *node = &forest->trees[1].nodes[i];

		node->base = below(3) == 0 ? below(1000) : 0;
		node->cum = node->base;
		for (uint32_t child = node->first_child; child != CTX_CALLTREE_NONE;
		     child = forest->trees[1].nodes[child].next_sibling)
			node->cum += forest->trees[1].nodes[child].cum;
	}
	ctx_histogram_deinit(&histogram);
}

static void forest_deinit(struct forest *forest)
{
	for (size_t i = 0; i < forest->n_trees; i++)
		ctx_calltree_deinit(&forest->trees[i]);
	ctx_trie_deinit(&forest->trie);
}

static bool is_shown(const struct ctx_folding_input *input, uint32_t node)
{
	for (size_t i = 0; i < input->n_trees; i++) {
		uint64_t cum = input->trees[i].nodes[node].cum;

		if (cum > 0 && (double)cum >= input->least[i])
			return true;
	}
	return false;
}

static bool joins_slowly(const struct ctx_folding_input *input, uint32_t node, uint32_t child)
{
	for (size_t i = 0; i < input->n_trees; i++) {
		const struct ctx_calltree_node *nodes = input->trees[i].nodes;

		if (nodes[node].base > 0 && (double)nodes[node].base >= input->least[i])
			return false;
		if (nodes[child].cum * 100 < nodes[node].cum * 97)
			return false;
	}
	return input->joins && node != 0;
}

/* The obvious slow version: "level:first-last=self,self;" for each row. */
static void fold_slowly(const struct ctx_folding_input *input, uint32_t node, uint32_t level,
			struct ctx_buf *ret)
{
	const struct ctx_calltree_node *nodes = input->trees[0].nodes;
	uint64_t self[2] = {0};

	ctx_buf_printf(ret, "%u:%u-", level, node);
	for (;;) {
		uint32_t shown = 0, only = 0;

		for (size_t i = 0; i < input->n_trees; i++)
			self[i] += input->trees[i].nodes[node].base;
		for (uint32_t i = nodes[node].first_child; i != CTX_CALLTREE_NONE;
		     i = nodes[i].next_sibling) {
			only = is_shown(input, i) ? i : only;
			shown += is_shown(input, i);
		}
		if (shown != 1 || !joins_slowly(input, node, only))
			break;
		node = only;
	}
	ctx_buf_printf(ret, "%u=%llu,%llu;", node, (unsigned long long)self[0], (unsigned long long)self[1]);
	for (uint32_t i = nodes[node].first_child; i != CTX_CALLTREE_NONE && level < input->max_level;
	     i = nodes[i].next_sibling) {
		if (is_shown(input, i))
			fold_slowly(input, i, level + 1, ret);
	}
}

static void put_rows(const struct ctx_folding *folding, struct ctx_buf *ret)
{
	for (size_t i = 0; i < folding->n; i++) {
		const struct ctx_folding_row *row = &folding->rows[i];
		const uint64_t *self = &folding->self[i * folding->input->n_trees];

		ctx_buf_printf(ret, "%u:%u-%u=%llu,%llu;", row->level, row->first, row->last,
			       (unsigned long long)self[0],
			       (unsigned long long)(folding->input->n_trees == 2 ? self[1] : 0));
	}
}

/* What rows have and what is hidden is all there is; siblings but the last have a next one. */
static void check_rows(const struct ctx_folding *folding)
{
	for (size_t tree = 0; tree < folding->input->n_trees; tree++) {
		uint64_t sum = folding->hidden[tree];

		for (size_t i = 0; i < folding->n; i++)
			sum += folding->self[i * folding->input->n_trees + tree];
		assert_int_equal(sum, folding->input->trees[tree].nodes[0].cum);
	}
	for (size_t i = 0; i < folding->n; i++) {
		bool has_next = false;

		for (size_t j = i + 1; j < folding->n; j++)
			has_next |= folding->rows[j].parent == folding->rows[i].parent;
		assert_int_equal(folding->rows[i].is_last, !has_next);
		if (i != 0)
			assert_true(folding->rows[i].parent < i);
	}
}

static void test_fold__rows_are_what_the_slow_version_says(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		struct ctx_buf want CTX_AUTO_BUF = {0}, got CTX_AUTO_BUF = {0};
		const double least[] = {(double)below(200), (double)below(200)};
		struct ctx_folding_input input = {.n_trees = 1 + below(2),
						  .least = least,
						  .max_level =
							  below(3) == 0 ? (uint32_t)below(6) : UINT32_MAX,
						  .joins = below(4) != 0};
		struct ctx_folding folding;
		struct forest forest;

		forest_init(&forest, 2);
		input.trees = forest.trees;
		assert_int_equal(ctx_folding_init(&folding, &input, NULL), CTX_OK);
		assert_int_equal(ctx_folding_add(&folding, 0, NULL), CTX_OK);
		put_rows(&folding, &got);
		fold_slowly(&input, 0, 0, &want);
		assert_int_equal(got.n, want.n);
		assert_memory_equal(got.bytes, want.bytes, want.n);
		check_rows(&folding);
		ctx_folding_deinit(&folding);
		forest_deinit(&forest);
	}
}

static void test_fold__a_limit_keeps_the_heaviest_rows(void **state)
{
	const double least[] = {1};

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct ctx_folding_input input = {
			.n_trees = 1, .least = least, .max_level = UINT32_MAX, .joins = below(2) == 0};
		size_t limit = 1 + below(12), before;
		uint64_t lightest = UINT64_MAX;
		struct ctx_folding folding, all;
		struct forest forest;

		forest_init(&forest, 2);
		input.trees = forest.trees;
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(ctx_folding_init(i == 0 ? &folding : &all, &input, NULL), CTX_OK);
			assert_int_equal(ctx_folding_add(i == 0 ? &folding : &all, 0, NULL), CTX_OK);
		}
		before = folding.n;
		assert_int_equal(ctx_folding_limit(&folding, limit, NULL), CTX_OK);
		assert_int_equal(folding.n, before < limit ? before : limit);
		check_rows(&folding);
		for (size_t i = 0; i < folding.n; i++) {
			uint64_t cum = forest.trees[0].nodes[folding.rows[i].first].cum;

			lightest = cum < lightest ? cum : lightest;
		}
		for (size_t i = 0, heavier = 0; i < all.n; i++) {
			heavier += forest.trees[0].nodes[all.rows[i].first].cum > lightest;
			assert_true(heavier < limit || before <= limit);
		}
		ctx_folding_deinit(&folding);
		ctx_folding_deinit(&all);
		forest_deinit(&forest);
	}
}

static void test_fold__reversed_stacks_are_read_backwards(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		bool of[N_KEYS] = {false, true};
		struct ctx_reversed reversed = {.of = below(2) == 0 ? of : NULL};
		struct ctx_histogram to = {0};
		uint64_t weight = 0;
		struct ctx_trie trie;

		assert_int_equal(ctx_trie_init(&trie, NULL), CTX_OK);
		reversed.from = &trie;
		assert_int_equal(ctx_reversed_init(&reversed, NULL), CTX_OK);
		for (unsigned i = 0; i < 20; i++) {
			uint32_t stack = add_random_stack(&trie);
			struct path old = path_of(&trie, stack), got;
			struct ctx_histogram one = {0};
			struct ctx_hist_entry entry = {
				.stack = stack, .weight = 1 + below(100), .samples = 1};
			size_t n = old.n, first = find_key(&old, 1), before = to.weight;

			assert_int_equal(ctx_histogram_add(&one, entry, NULL), CTX_OK);
			assert_int_equal(ctx_reversed_histogram(&reversed, &one, &to, NULL), CTX_OK);
			ctx_histogram_deinit(&one);
			if (reversed.of != NULL)
				n = first < old.n ? first + 1 : 0;
			if (reversed.of != NULL && n == 0) {
				assert_int_equal(to.weight, before);
				continue;
			}
			weight += entry.weight;
			assert_int_equal(to.weight, weight);
			got = (struct path){0};
			for (size_t j = n; j-- > 0;)
				got.keys[got.n++] = old.keys[j];
			for (size_t j = 0; j < to.n; j++) {
				struct path path = path_of(&reversed.to, to.entries[j].stack);

				if (path.n == got.n &&
				    memcmp(path.keys, got.keys, got.n * sizeof(*got.keys)) == 0)
					got.n = SIZE_MAX;
			}
			assert_int_equal(got.n, SIZE_MAX);
		}
		ctx_histogram_deinit(&to);
		ctx_reversed_deinit(&reversed);
		ctx_trie_deinit(&trie);
	}
}

static struct ctx_object_info objects[] = {
	{.path = "/bin/app"}, {.path = "/lib/libc.so.6"}, {.path = "[kernel]"}};

/* By letter: a is functions[0]. */
static struct ctx_function_info functions[] = {
	{.name = "main", .linkage_name = "main", .object = 0},
	{.name = "even", .linkage_name = "even", .object = 0},
	{.name = "odd", .linkage_name = "odd", .object = 0},
	{.name = "write", .linkage_name = "write", .object = 1},
	{.name = "entry_SYSCALL_64_after_hwframe", .linkage_name = "", .object = 2},
	{.name = "do_syscall_64", .linkage_name = "", .object = 2},
	{.name = "__x64_sys_write", .linkage_name = "", .object = 2},
	{.name = "vfs_write", .linkage_name = "", .object = 2},
	{.name = "asm_exc_page_fault", .linkage_name = "", .object = 2},
	{.name = "<Unknown>", .linkage_name = "", .object = 0, .kind = CTX_FUNCTION_UNKNOWN},
};

struct world {
	struct ctx_profile profile;
	struct ctx_fold fold;
};

static void world_init(struct world *world)
{
	world->profile = (struct ctx_profile){.functions = functions,
					      .n_functions = CTX_COUNT_OF(functions),
					      .objects = objects,
					      .n_objects = CTX_COUNT_OF(objects)};
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
}

static uint32_t stack_of(struct world *world, const char *letters)
{
	uint32_t node = CTX_TRIE_ROOT;

	for (; *letters != '\0'; letters++)
		assert_int_equal(
			ctx_trie_child(&world->profile.cct, node, (uint32_t)(*letters - 'a'), &node, NULL),
			CTX_OK);
	return node;
}

static void assert_folded(const char *letters, const char *want)
{
	const struct ctx_fold_options options = {.recursion = true, .kernel = true};
	const struct ctx_fold_line_style style = {.width = SIZE_MAX};
	struct ctx_fold_frame *frames CTX_AUTO_FREE = NULL;
	struct ctx_buf buf CTX_AUTO_BUF = {0};
	struct world world;
	uint32_t stack, node;
	size_t n;

	world_init(&world);
	stack = stack_of(&world, letters);
	assert_int_equal(ctx_fold_init(&world.fold, &world.profile, &options, NULL), CTX_OK);
	assert_int_equal(ctx_fold_find(&world.fold, stack, &node, NULL), CTX_OK);
	assert_int_equal(ctx_fold_path(&world.fold, node, &frames, &n, NULL), CTX_OK);
	ctx_fold_line(&buf, frames, n, &style);
	ctx_buf_put_u8(&buf, '\0');
	assert_string_equal((const char *)buf.bytes, want);
	ctx_fold_deinit(&world.fold);
	ctx_trie_deinit(&world.profile.cct);
}

static void test_fold__recursion_is_one_frame(void **state)
{
	(void)state;
	assert_folded("abc", "main [app] › even › odd");
	assert_folded("abbbbc", "main [app] › even ×4 › odd");
	assert_folded("abcbcbc", "main [app] › even ×3 › odd ×3");
	assert_folded("abcb", "main [app] › even ×2");
	/* Frames without a name are not one function; those that follow each other are one frame. */
	assert_folded("ajjbj", "main [app] › <Unknown> ×2 › even › <Unknown>");
}

static void test_fold__the_kernel_is_one_frame_below_the_program(void **state)
{
	(void)state;
	assert_folded("adefgh", "main [app] › write [libc.so.6] › [kernel] write");
	assert_folded("ade", "main [app] › write [libc.so.6] › [kernel] system call");
	assert_folded("ai", "main [app] › [kernel] page fault");
	/* What happens during a call is the call's. */
	assert_folded("adefghi", "main [app] › write [libc.so.6] › [kernel] write");
	/* A thread of the kernel. */
	assert_folded("fh", "do_syscall_64 [kernel] › vfs_write");
}

static void assert_call(const char *function, const char *want, bool want_tells)
{
	bool tells = !want_tells;
	const char *label = ctx_kernel_call(function, &tells);

	if (want == NULL)
		assert_null(label);
	else
		assert_string_equal(label, want);
	assert_int_equal(tells, want_tells);
}

static void test_fold__functions_of_the_kernel_tell_the_call(void **state)
{
	(void)state;
	assert_call("__x64_sys_futex", "futex", true);
	assert_call("__arm64_sys_clock_nanosleep", "clock_nanosleep", true);
	assert_call("ksys_read", "read", true);
	assert_call("do_syscall_64", "system call", false);
	assert_call("asm_exc_page_fault", "page fault", true);
	assert_call("asm_sysvec_apic_timer_interrupt", "interrupt", true);
	assert_call("schedule", "schedule", false);
	assert_call("sys_", "sys_", false);
	assert_call("<Unknown>", NULL, false);
}

static void assert_hottest(struct world *world, const struct ctx_histogram *histogram, const char *want,
			   uint64_t want_weight)
{
	uint32_t node, stack = stack_of(world, want), want_node;
	uint64_t weight;

	assert_int_equal(ctx_fold_hottest(&world->fold, histogram, &node, &weight, NULL), CTX_OK);
	assert_int_equal(ctx_fold_find(&world->fold, stack, &want_node, NULL), CTX_OK);
	assert_int_equal(node, want_node);
	assert_int_equal(weight, want_weight);
}

static void test_fold__the_hottest_path_ends_where_the_weight_is(void **state)
{
	const struct ctx_fold_options options = {.recursion = true, .kernel = true};
	struct ctx_histogram histogram = {0};
	struct world world;
	const struct {
		const char *stack;
		uint64_t weight;
	} samples[] = {{"ab", 60}, {"abbc", 30}, {"ad", 50}, {"a", 10}};

	(void)state;
	world_init(&world);
	for (size_t i = 0; i < CTX_COUNT_OF(samples); i++)
		(void)stack_of(&world, samples[i].stack);
	assert_int_equal(ctx_fold_init(&world.fold, &world.profile, &options, NULL), CTX_OK);
	assert_hottest(&world, &histogram, "", 0);
	for (size_t i = 0; i < CTX_COUNT_OF(samples); i++)
		assert_int_equal(
			ctx_histogram_add(&histogram,
					  (struct ctx_hist_entry){.stack = stack_of(&world, samples[i].stack),
								  .weight = samples[i].weight,
								  .samples = 1},
					  NULL),
			CTX_OK);
	assert_hottest(&world, &histogram, "ab", 90);
	ctx_fold_deinit(&world.fold);
	ctx_histogram_deinit(&histogram);
	ctx_trie_deinit(&world.profile.cct);
}

static void assert_line(const struct ctx_fold_frame *frames, size_t n, size_t width, const char *want)
{
	const struct ctx_fold_line_style style = {.width = width};
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	ctx_fold_line(&buf, frames, n, &style);
	assert_false(buf.failed);
	assert_true(ctx_text_width((const char *)buf.bytes, buf.n) <= width);
	ctx_buf_put_u8(&buf, '\0');
	assert_string_equal((const char *)buf.bytes, want);
}

static void test_fold__a_line_loses_arguments_then_frames_then_scopes(void **state)
{
	const struct ctx_fold_frame frames[] = {
		{.name = "main", .instances = 1, .object = "/bin/app"},
		{.name = "ns::Pool<int, long>::run(std::__cxx11::basic_string<char, std::char_traits<char>, "
			 "std::allocator<char> > const&)",
		 .instances = 12,
		 .object = "/bin/app"},
		{.name = "middle", .instances = 1, .object = "/bin/app"},
		{.name = "deep::scope::leaf(int)", .instances = 1, .object = "/lib/libx.so"},
	};

	(void)state;
	assert_line(frames, 4, 200,
		    "main [app] › ns::Pool<int, long>::run(std::string const&) ×12 › middle › "
		    "deep::scope::leaf(int) [libx.so]");
	assert_line(frames, 4, 100,
		    "main [app] › ns::Pool<…>::run(std::string const&) ×12 › middle › "
		    "deep::scope::leaf(int) [libx.so]");
	assert_line(frames, 4, 80,
		    "main [app] › ns::Pool<…>::run(…) ×12 › middle › deep::scope::leaf(…) [libx.so]");
	assert_line(frames, 4, 60, "main [app] › ·1· › middle › deep::scope::leaf(…) [libx.so]");
	assert_line(frames, 4, 40, "·3· › deep::scope::leaf(…) [libx.so]");
	assert_line(frames, 4, 26, "main › ·2· › …::leaf(…)");
	assert_line(frames, 1, 10, "main [app]");
	assert_line(frames, 1, 6, "main");
	assert_line(frames, 1, 3, "m…n");
}

static void test_fold__a_line_of_callers_keeps_its_first_frame(void **state)
{
	const struct ctx_fold_frame frames[] = {
		{.name = "malloc", .instances = 1, .object = "/lib/libc.so.6"},
		{.name = "ns::parse(int)", .instances = 1, .object = "/bin/app"},
		{.name = "main", .instances = 1, .object = "/bin/app"},
	};
	const struct {
		size_t width;
		const char *want;
	} lines[] = {
		{60, "malloc [libc.so.6] ‹ ns::parse(int) [app] ‹ main"},
		{44, "malloc [libc.so.6] ‹ ·1· ‹ main [app]"},
		{30, "malloc [libc.so.6] ‹ ·2·"},
		{5, "ma…oc"},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(lines); i++) {
		const struct ctx_fold_line_style style = {.width = lines[i].width, .upward = true};
		struct ctx_buf buf CTX_AUTO_BUF = {0};

		ctx_fold_line(&buf, frames, CTX_COUNT_OF(frames), &style);
		ctx_buf_put_u8(&buf, '\0');
		assert_string_equal((const char *)buf.bytes, lines[i].want);
	}
}

static void test_fold__a_line_of_any_frames_fits(void **state)
{
	struct ctx_fold_frame frames[300];
	static const char *const names[] = {
		"f",	   "\x1b[31m",		"operator<<<int>",
		"a<b<c<d", "日本語::関数(int)", "std::basic_string<char, std::char_traits<char>"};

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		size_t n = 1 + below(CTX_COUNT_OF(frames));
		const struct ctx_fold_line_style style = {
			.width = 1 + below(120), .ascii = below(2) == 0, .upward = below(2) == 0};
		struct ctx_buf buf CTX_AUTO_BUF = {0};

		for (size_t i = 0; i < n; i++)
			frames[i] = (struct ctx_fold_frame){.name = names[below(CTX_COUNT_OF(names))],
							    .object = below(2) == 0 ? "/lib/libfoo.so" : NULL,
							    .instances = 1 + (uint32_t)below(3)};
		ctx_fold_line(&buf, frames, n, &style);
		assert_false(buf.failed);
		assert_true(ctx_text_width((const char *)buf.bytes, buf.n) <= style.width);
		assert_null(memchr(buf.bytes, '\x1b', buf.n));
	}
}

static void assert_abbreviated(const char *name, const char *want)
{
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	ctx_text_abbreviate(&buf, name, strlen(name));
	ctx_buf_put_u8(&buf, '\0');
	assert_string_equal((const char *)buf.bytes, want);
}

static void test_fold__types_of_the_standard_library_have_their_usual_names(void **state)
{
	(void)state;
	assert_abbreviated(
		"f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
		"f(std::string)");
	assert_abbreviated("std::__1::basic_string_view<wchar_t, std::__1::char_traits<wchar_t> >::size()",
			   "std::wstring_view::size()");
	assert_abbreviated("std::basic_ostream<char, std::char_traits<char> >::operator<<(int)",
			   "std::ostream::operator<<(int)");
	assert_abbreviated(
		"std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, "
		"std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >::at",
		"std::map<int, std::vector<int>>::at");
	/* Not defaults: the first argument, other types, what is not balanced. */
	assert_abbreviated("std::allocator<char>::deallocate", "std::allocator<char>::deallocate");
	assert_abbreviated("basic_string<char>", "basic_string<char>");
	assert_abbreviated("f<int, std::allocator<int", "f<int, std::allocator<int");
	assert_abbreviated("a > b", "a > b");
}

static void test_fold__hostile_names_take_linear_time(void **state)
{
	const size_t n = 200000;
	char *name = malloc(n + 1);
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < n; i++)
		name[i] = ", std::allocator<"[i % 17];
	name[n] = '\0';
	ctx_text_abbreviate(&buf, name, n);
	assert_int_equal(buf.n, n);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold__restacking_is_what_the_slow_version_says),
		cmocka_unit_test(test_fold__hidden_frames_vanish_and_weights_stay),
		cmocka_unit_test(test_fold__rows_are_what_the_slow_version_says),
		cmocka_unit_test(test_fold__a_limit_keeps_the_heaviest_rows),
		cmocka_unit_test(test_fold__reversed_stacks_are_read_backwards),
		cmocka_unit_test(test_fold__recursion_is_one_frame),
		cmocka_unit_test(test_fold__the_kernel_is_one_frame_below_the_program),
		cmocka_unit_test(test_fold__functions_of_the_kernel_tell_the_call),
		cmocka_unit_test(test_fold__the_hottest_path_ends_where_the_weight_is),
		cmocka_unit_test(test_fold__a_line_loses_arguments_then_frames_then_scopes),
		cmocka_unit_test(test_fold__a_line_of_callers_keeps_its_first_frame),
		cmocka_unit_test(test_fold__a_line_of_any_frames_fits),
		cmocka_unit_test(test_fold__types_of_the_standard_library_have_their_usual_names),
		cmocka_unit_test(test_fold__hostile_names_take_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
