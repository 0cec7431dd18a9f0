/*
 * Raw stacks and the call tree's: a location that is no frame, but a function inside the frame that follows it (a construct of OpenMP, in the
 * function that has it).
 */
#include "ingest/stackdict.h"

#include "base/arena.h"
#include "base/map64.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN, F, G, LOOP, SINGLE, N };
static const char *const names[] = {"main", "f", "g", "loop", "single"};

struct forest {
	struct ctx_arena arena;
	struct ctx_resolver *resolver;
	struct ctx_map64 inside;
	struct ctx_stack_forest forest;
	uint32_t locations[N];
};

static void begin(struct forest *all)
{
	const struct ctx_resolver_options options = {0};

	*all = (struct forest){0};
	assert_int_equal(ctx_resolver_create(&options, &all->arena, &all->resolver, NULL), CTX_OK);
	assert_int_equal(ctx_stack_forest_init(&all->forest, all->resolver, NULL), CTX_OK);
	for (uint32_t i = 0; i < N; i++) {
		const struct ctx_event_function function = {.id = i, .name = names[i], .module = "m"};

		assert_int_equal(ctx_resolver_add_named(all->resolver, &function, NULL), CTX_OK);
		assert_int_equal(
			ctx_resolver_named(all->resolver, ctx_frame_named(i, 0), &all->locations[i], NULL),
			CTX_OK);
	}
	all->forest.inside = &all->inside;
}

static void end(struct forest *all)
{
	ctx_stack_forest_deinit(&all->forest);
	ctx_resolver_destroy(all->resolver);
	ctx_map64_deinit(&all->inside);
	ctx_arena_deinit(&all->arena);
}

/* The function is behind the first n of the frame that follows it. */
static void put_inside(struct forest *all, uint32_t which, uint32_t n)
{
	uint32_t *place = ctx_map64_place(&all->inside, all->locations[which]);

	assert_non_null(place);
	*place = n;
}

/* Adds what a word has, a letter for each function, below a raw stack; the last raw stack. */
static uint32_t add(struct forest *all, uint32_t raw, const char *letters)
{
	uint32_t keys[8], nodes[8] = {0};
	uint32_t n = 0;

	for (; letters[n] != '\0'; n++) {
		uint32_t which = 0;

		while (names[which][0] != letters[n])
			which++;
		keys[n] = all->locations[which];
	}
	assert_int_equal(
		ctx_stack_forest_add(&all->forest, raw, (struct ctx_trie_keys){keys, n}, nodes, NULL),
		CTX_OK);
	return nodes[n - 1];
}

/* The functions of a raw stack in the call tree, from the root, by their letters. */
static const char *functions_of(const struct forest *all, uint32_t raw)
{
	static char text[16];
	char *at = text + sizeof(text) - 1;

	*at = '\0';
	for (uint32_t node = all->forest.raw_to_stack[raw]; node != CTX_TRIE_ROOT;
	     node = all->forest.cct.parent[node])
		*--at = *ctx_resolver_function_name(all->resolver, all->forest.cct.key[node]);
	return at;
}

static void test_stackdict__what_is_inside_a_frame_is_behind_its_first_functions(void **state)
{
	struct forest all;

	(void)state;
	begin(&all);
	put_inside(&all, LOOP, 0);
	put_inside(&all, SINGLE, 1);
	assert_string_equal(functions_of(&all, add(&all, CTX_TRIE_ROOT, "mfg")), "mfg");
	assert_string_equal(functions_of(&all, add(&all, CTX_TRIE_ROOT, "mlfg")), "mlfg");
	assert_string_equal(functions_of(&all, add(&all, CTX_TRIE_ROOT, "msfg")), "mfsg");
	/* There are no more functions than one in the frame: it is behind that. */
	put_inside(&all, SINGLE, 7);
	assert_string_equal(functions_of(&all, add(&all, CTX_TRIE_ROOT, "msg")), "mgs");
	end(&all);
}

static void test_stackdict__what_is_inside_a_frame_is_none_by_itself(void **state)
{
	struct forest all;
	uint32_t loop;

	(void)state;
	begin(&all);
	put_inside(&all, LOOP, 0);
	/* Nothing follows yet: the stack is that of its caller. */
	loop = add(&all, CTX_TRIE_ROOT, "ml");
	assert_string_equal(functions_of(&all, loop), "m");
	assert_int_equal(all.forest.raw_to_stack[loop],
			 all.forest.raw_to_stack[add(&all, CTX_TRIE_ROOT, "m")]);
	/* What is added below it later has it. */
	assert_string_equal(functions_of(&all, add(&all, loop, "f")), "mlf");
	assert_string_equal(functions_of(&all, add(&all, loop, "g")), "mlg");
	end(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stackdict__what_is_inside_a_frame_is_behind_its_first_functions),
		cmocka_unit_test(test_stackdict__what_is_inside_a_frame_is_none_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
