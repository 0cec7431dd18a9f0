/*
 * Which virtual machines are of interest: rules by key, and who is chosen over time, against a list of turns that is kept by hand.
 */
#include "collect/vm_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const server[CTX_VM_KEY_N] = {
	[CTX_VM_KEY_PID] = "17",	 [CTX_VM_KEY_NAME] = "OpenJDK 64-Bit Server VM",
	[CTX_VM_KEY_MAIN] = "my.Server", [CTX_VM_KEY_COMMAND] = "my.Server --port 80",
	[CTX_VM_KEY_VERSION] = "17.0.2", [CTX_VM_KEY_COLLECTOR] = "G1",
};

static bool server_fits(const char *const *texts)
{
	struct ctx_vm_rules rules = {0};
	bool fits;

	for (size_t i = 0; texts[i] != NULL; i++)
		assert_int_equal(ctx_vm_rules_add(&rules, texts[i], NULL), CTX_OK);
	fits = ctx_vm_rules_fit(&rules, server);
	ctx_vm_rules_deinit(&rules);
	return fits;
}

#define FITS(...) server_fits((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void test_vm_choice__of_each_key_one_rule_fits(void **state)
{
	(void)state;
	assert_true(FITS());
	assert_true(FITS("pid=17"));
	assert_false(FITS("pid=1"));
	assert_true(FITS("main=my.Server"));
	assert_false(FITS("main=Server"));
	assert_true(FITS("main=~.*Server"));
	assert_false(FITS("main=~Server"));
	assert_true(FITS("command=~my.* --port [0-9]{2,}"));
	assert_true(FITS("version=~17.*", "collector=G1"));
	assert_false(FITS("version=~17.*", "collector=Z"));
	assert_true(FITS("collector=Z", "collector=G1", "version=17.0.2"));
	assert_true(FITS("name=~.*Server VM"));
	assert_true(FITS("main=~my[.](Client|Server)"));
}

static void test_vm_choice__what_is_no_rule_is_refused(void **state)
{
	static const char *const wrong[] = {"",	  "main",  "main=",   "class=X",
					    "=x", "mai=x", "main=~(", "main=~\\1"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ctx_vm_rules rules = {0};
		struct ctx_err err = {0};

		assert_int_not_equal(ctx_vm_rules_add(&rules, wrong[i], &err), CTX_OK);
		assert_int_not_equal(err.msg[0], '\0');
		assert_int_equal(rules.n, 0);
		ctx_vm_rules_deinit(&rules);
	}
}

#define MOST 6u

/* "+-+." for chosen, not chosen, chosen, not there. */
static void check(const struct ctx_vm_candidate *items, const char *want)
{
	char got[MOST + 1] = "";

	for (size_t i = 0; want[i] != '\0'; i++)
		got[i] = items[i].is_chosen ? '+' : items[i].is_there ? '-' : '.';
	assert_string_equal(got, want);
}

static void test_vm_choice__all_are_chosen_without_a_limit(void **state)
{
	struct ctx_vm_candidate items[MOST] = {{true, false}, {false, false}, {true, false}};
	struct ctx_vm_choice choice = {0};

	(void)state;
	ctx_vm_choice_update(&choice, items, 3, 5);
	check(items, "+.+");
	items[1].is_there = true;
	items[0].is_there = false;
	ctx_vm_choice_update(&choice, items, 3, 6);
	check(items, ".++");
}

static void test_vm_choice__a_place_goes_to_the_next_when_one_ends(void **state)
{
	struct ctx_vm_candidate items[MOST] = {{true, false}, {true, false}, {true, false}, {true, false}};
	struct ctx_vm_choice choice = {.limit = 2};

	(void)state;
	ctx_vm_choice_update(&choice, items, 4, 5);
	check(items, "++--");
	ctx_vm_choice_update(&choice, items, 4, 500);
	check(items, "++--");
	items[0].is_there = false;
	ctx_vm_choice_update(&choice, items, 4, 501);
	check(items, ".++-");
	items[1].is_there = items[2].is_there = false;
	ctx_vm_choice_update(&choice, items, 4, 502);
	check(items, "...+");
}

static void test_vm_choice__turns_go_round(void **state)
{
	static const struct {
		uint64_t time_ns;
		const char *want;
	} steps[] = {{0, "+--"},  {9, "+--"},  {10, "-+-"}, {20, "--+"}, {29, "--+"},
		     {30, "+--"}, {45, "-+-"}, {54, "-+-"}, {55, "--+"}};
	struct ctx_vm_candidate items[MOST] = {{true, false}, {true, false}, {true, false}};
	struct ctx_vm_choice choice = {.turn_ns = 10};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		ctx_vm_choice_update(&choice, items, 3, steps[i].time_ns);
		check(items, steps[i].want);
	}
	/* The one whose turn it is ends: the next one begins at once. */
	items[2].is_there = false;
	ctx_vm_choice_update(&choice, items, 3, 56);
	check(items, "+-.");
	/* One that is alone has all turns. */
	items[1].is_there = false;
	ctx_vm_choice_update(&choice, items, 3, 70);
	check(items, "+..");
	ctx_vm_choice_update(&choice, items, 3, 90);
	check(items, "+..");
}

/* With any that come and go there are never more than the limit, never fewer than there are places for, and each has as many turns as the others, but for one. */
static void test_vm_choice__turns_are_fair(void **state)
{
	(void)state;
	for (size_t n = 1; n <= MOST; n++) {
		for (uint32_t limit = 1; limit <= n; limit++) {
			struct ctx_vm_candidate items[MOST];
			struct ctx_vm_choice choice = {.turn_ns = 10, .limit = limit};
			size_t turns[MOST] = {0}, all = 0;

			for (size_t i = 0; i < n; i++)
				items[i] = (struct ctx_vm_candidate){true, false};
			for (uint64_t time_ns = 0; time_ns < 600; time_ns += 10) {
				size_t chosen = 0;

				ctx_vm_choice_update(&choice, items, n, time_ns);
				for (size_t i = 0; i < n; i++) {
					chosen += items[i].is_chosen;
					turns[i] += items[i].is_chosen;
				}
				assert_int_equal(chosen, limit);
				all += chosen;
			}
			for (size_t i = 0; i < n; i++)
				assert_true(turns[i] == all / n || turns[i] == all / n + 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vm_choice__of_each_key_one_rule_fits),
		cmocka_unit_test(test_vm_choice__what_is_no_rule_is_refused),
		cmocka_unit_test(test_vm_choice__all_are_chosen_without_a_limit),
		cmocka_unit_test(test_vm_choice__a_place_goes_to_the_next_when_one_ends),
		cmocka_unit_test(test_vm_choice__turns_go_round),
		cmocka_unit_test(test_vm_choice__turns_are_fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
