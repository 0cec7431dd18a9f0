/* Wait sampling without events: the budget, the windows, and how waits are recognised. */
#include "collect/wait_sampling.h"

#include "model/event_source.h"
#include "model/thread_state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* --- the budget --- */

/* 20 ms of a program on one CPU that switches so often; all stacks are copied, or none. */
static struct ctx_wait_counts counts_of(uint64_t switches, bool is_brief)
{
	return (struct ctx_wait_counts){.wall_ns = 20 * MS,
					.target_ns = 20 * MS,
					.switches = 2 * switches,
					.leaves = is_brief ? 0 : switches,
					.leaves_brief = is_brief ? switches : 0,
					.wakes = is_brief ? 0 : switches,
					.wakes_brief = is_brief ? switches : 0};
}

static void test_wait_budget__few_switches_have_all_their_stacks(void **state)
{
	struct ctx_wait_budget budget = {.per_mille = 100};
	struct ctx_wait_counts counts = counts_of(200, false);

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		assert_false(ctx_wait_budget_take(&budget, &counts).samples);
	/* 700 switches in 20 ms of which it needs 1 ms: most of its time, but little of a CPU's. */
	counts = (struct ctx_wait_counts){
		.wall_ns = 20 * MS, .target_ns = MS, .switches = 100, .leaves = 50, .wakes = 50};
	for (unsigned i = 0; i < 10000; i++)
		assert_false(ctx_wait_budget_take(&budget, &counts).samples);
}

static void test_wait_budget__a_short_burst_is_no_reason_to_sample(void **state)
{
	struct ctx_wait_budget budget = {.per_mille = 100};
	struct ctx_wait_counts quiet = counts_of(10, false), burst = counts_of(1500, false);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		assert_false(ctx_wait_budget_take(&budget, &burst).samples);
		for (unsigned k = 0; k < 10; k++)
			assert_false(ctx_wait_budget_take(&budget, &quiet).samples);
	}
}

static void test_wait_budget__more_switches_mean_fewer_stacks(void **state)
{
	uint32_t previous = CTX_WAIT_DUTY_ONE;

	(void)state;
	for (uint64_t switches = 1000; switches <= 64000; switches *= 2) {
		struct ctx_wait_budget budget = {.per_mille = 100};
		struct ctx_wait_counts counts = counts_of(switches, false);
		struct ctx_wait_plan plan = {0};

		for (unsigned i = 0; i < 1000 && !plan.samples; i++)
			plan = ctx_wait_budget_take(&budget, &counts);
		assert_true(plan.samples);
		counts = counts_of(switches, true);
		plan = ctx_wait_budget_take(&budget, &counts);
		assert_true(plan.samples);
		assert_true(plan.duty > 0 && plan.duty <= previous);
		assert_true(budget.cost_of_all_ns > budget.target_ns / 10);
		previous = plan.duty;
	}
	assert_true(previous < CTX_WAIT_DUTY_ONE / 50);
}

/* A ring that is nearly full is a reason, unless other samples filled it. */
static void test_wait_budget__a_full_ring_is_a_reason_to_sample(void **state)
{
	struct ctx_wait_budget budget = {.per_mille = 100}, other = budget;
	struct ctx_wait_counts many = counts_of(1500, false), few = counts_of(200, false);

	(void)state;
	assert_false(ctx_wait_budget_take(&budget, &many).samples);
	many.is_full = few.is_full = true;
	assert_true(ctx_wait_budget_take(&budget, &many).samples);
	assert_false(ctx_wait_budget_take(&other, &few).samples);
}

/* A larger budget is more stacks; none at all is the least. */
static void test_wait_budget__is_what_was_asked_for(void **state)
{
	static const uint32_t asked[] = {0, 50, 100, 200, 400};
	uint32_t previous = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct ctx_wait_budget budget = {.per_mille = asked[i], .samples = true};
		struct ctx_wait_counts counts = counts_of(1000, true);
		struct ctx_wait_plan plan = ctx_wait_budget_take(&budget, &counts);

		assert_true(plan.samples);
		assert_true(plan.duty >= previous && plan.duty > 0);
		previous = plan.duty;
	}
}

/* Where places are known a tenth of the budget is for further stacks; where one in ten is not, all of it. */
static void test_wait_budget__known_places_need_few_stacks(void **state)
{
	struct ctx_wait_budget known = {.per_mille = 100, .samples = true}, strange = known, more = known;
	struct ctx_wait_counts counts = counts_of(500, true);
	struct ctx_wait_plan of_known, of_strange, of_more;

	(void)state;
	counts.sought = 1000;
	counts.strange = 100;
	of_strange = ctx_wait_budget_take(&strange, &counts);
	counts.strange = 10;
	of_known = ctx_wait_budget_take(&known, &counts);
	more.per_mille = 400;
	of_more = ctx_wait_budget_take(&more, &counts);
	assert_true(of_known.samples && of_known.duty > 0);
	assert_true(of_known.duty * 4 < of_strange.duty);
	assert_true(of_more.duty > of_known.duty);
}

/* Before sampling begins there is time to learn places. */
static void test_wait_budget__learns_first(void **state)
{
	struct ctx_wait_budget budget = {.per_mille = 100};
	struct ctx_wait_counts counts = counts_of(1000, false);
	struct ctx_wait_plan plan = {0};
	unsigned n_learns = 0;

	(void)state;
	assert_false(ctx_wait_budget_take(&budget, &counts).learns);
	for (unsigned i = 0; i < 1000 && !plan.samples; i++) {
		plan = ctx_wait_budget_take(&budget, &counts);
		n_learns += plan.learns && !plan.samples;
	}
	assert_true(plan.samples && plan.learns);
	assert_true(n_learns > 0);
}

static void test_wait_budget__ends_when_there_are_few_switches_again(void **state)
{
	struct ctx_wait_budget budget = {.per_mille = 100, .samples = true};
	struct ctx_wait_counts many = counts_of(5000, true), few = counts_of(50, true);
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_true(ctx_wait_budget_take(&budget, &many).samples);
	while (ctx_wait_budget_take(&budget, &few).samples)
		n++;
	assert_true(n >= 40 && n <= 60); /* a second */
}

static void test_wait_budget__off_and_zero(void **state)
{
	struct ctx_wait_budget off = {.per_mille = CTX_WAIT_BUDGET_OFF}, zero = {.per_mille = 0};
	struct ctx_wait_counts many = counts_of(50000, false), none = {.wall_ns = 20 * MS};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_false(ctx_wait_budget_take(&off, &many).samples);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(ctx_wait_budget_take(&zero, &none).samples);
}

/* --- windows --- */

static void test_wait_windows__each_time_is_inside_or_outside(void **state)
{
	struct ctx_wait_windows windows = {0};

	(void)state;
	assert_false(ctx_wait_windows_has(&windows, 5));
	ctx_wait_windows_open(&windows, 0);
	assert_true(ctx_wait_windows_has(&windows, 0));
	assert_true(ctx_wait_windows_has(&windows, UINT64_MAX - 1));
	ctx_wait_windows_close(&windows, 100);
	for (uint64_t i = 1; i < 1000; i++) {
		ctx_wait_windows_open(&windows, 100 * i + 50);
		ctx_wait_windows_close(&windows, 100 * i + 60);
	}
	for (uint64_t i = 1000 - CTX_WAIT_WINDOWS; i < 1000; i++) {
		assert_false(ctx_wait_windows_has(&windows, 100 * i + 49));
		assert_true(ctx_wait_windows_has(&windows, 100 * i + 50));
		assert_true(ctx_wait_windows_has(&windows, 100 * i + 59));
		assert_false(ctx_wait_windows_has(&windows, 100 * i + 60));
	}
	/* Too long ago. */
	assert_false(ctx_wait_windows_has(&windows, 50));
}

/* --- places --- */

#define PC UINT64_C(0x7f0000001000)
#define SP UINT64_C(0x7ffe00001000)
#define KERNEL UINT64_C(0xffffffff81000000)

/*
 * A thread in kernel functions k .. k + n_kernel - 1, called from PC in a frame of 16 bytes, whose callers
 * have frames of 64 bytes each.
 */
struct wait {
	uint32_t thread;
	uint64_t sp;
	uint64_t kernel;
	const uint64_t *callers; /* return addresses; up to 8 */
	size_t n;
};

struct taken {
	struct ctx_user_state state;
	uint64_t stack[CTX_WAIT_PLACE_BYTES / 8];
	uint64_t frames[32];
	struct ctx_unwind_frame user[16];
	size_t n, n_user;
};

static void take(struct taken *taken, const struct wait *wait)
{
	struct ctx_user_regs *regs = &taken->state.regs;

	memset(taken, 0, sizeof(*taken));
	regs->machine = CTX_MACHINE_X86_64;
	regs->valid = UINT64_C(1) << 7 | UINT64_C(1) << 16;
	regs->value[7] = wait->sp;
	regs->value[16] = PC;
	taken->state.stack = (const uint8_t *)taken->stack;
	taken->state.stack_bytes = sizeof(taken->stack);
	taken->frames[taken->n++] = wait->kernel;
	taken->frames[taken->n++] = KERNEL;
	taken->frames[taken->n++] = PC;
	taken->user[taken->n_user++] = (struct ctx_unwind_frame){PC, wait->sp + 16};
	for (size_t i = 0; i < wait->n; i++) {
		size_t at = 1 + 8 * i;

		if (at < sizeof(taken->stack) / 8)
			taken->stack[at] = wait->callers[i];
		taken->frames[taken->n++] = wait->callers[i] - 1;
		taken->user[taken->n_user++] =
			(struct ctx_unwind_frame){wait->callers[i] - 1, wait->sp + 16 + 64 * (i + 1)};
	}
}

static void learn(struct ctx_wait_places *places, const struct wait *wait)
{
	struct taken taken;
	struct ctx_wait_at at = {.process = 1, .thread = wait->thread, .what = CTX_CHANGE_BLOCKED};

	take(&taken, wait);
	at.point = ctx_wait_point_of(&taken.state);
	ctx_wait_places_learn(places, &at, (struct ctx_wait_stack){.frames = taken.frames, .n = taken.n},
			      taken.user, taken.n_user);
}

static struct ctx_wait_stack find(struct ctx_wait_places *places, const struct wait *wait)
{
	struct taken taken;
	struct ctx_wait_at at = {.process = 1, .thread = wait->thread, .what = CTX_CHANGE_BLOCKED};

	take(&taken, wait);
	at.point = ctx_wait_point_of(&taken.state);
	return ctx_wait_places_find(places, &at);
}

/* Whether it is this stack, but for the mark of what was not confirmed. */
static bool is_stack_of(struct ctx_wait_stack stack, const struct wait *wait)
{
	struct taken taken;
	size_t n = 0;

	take(&taken, wait);
	for (size_t i = 0; i < stack.n; i++) {
		if (stack.frames[i] == CTX_FRAME_JOINED)
			continue;
		if (n == taken.n || stack.frames[i] != taken.frames[n])
			return false;
		n++;
	}
	return n == taken.n;
}

static const uint64_t deep_a[] = {0x401001, 0x402001, 0x403001, 0x404001, 0x405001, 0x406001};
static const uint64_t deep_b[] = {0x401001, 0x402001, 0x403001, 0x404001, 0x405001, 0x409001};
static const uint64_t near_b[] = {0x409001, 0x402001, 0x403001, 0x404001, 0x405001, 0x406001};

static void test_wait_places__two_samples_make_a_place_known(void **state)
{
	struct ctx_wait_places places = {0};
	const struct wait wait = {1, SP, KERNEL + 16, deep_a, 6};
	struct ctx_wait_stack stack;

	(void)state;
	/* Not begun: the pc is what there is. */
	learn(&places, &wait);
	stack = find(&places, &wait);
	assert_int_equal(stack.n, 2);
	assert_int_equal(stack.frames[0], PC);
	assert_int_equal(stack.frames[1], ctx_frame_truncated(CTX_TRUNCATED_BUDGET));
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	learn(&places, &wait);
	/* One sample: up to what the return addresses in 256 bytes confirm, which are four. */
	stack = find(&places, &wait);
	assert_int_equal(stack.n, 2 + 1 + 4 + 1);
	assert_int_equal(stack.frames[0], KERNEL + 16);
	assert_int_equal(stack.frames[6], 0x404000);
	assert_int_equal(stack.frames[7], ctx_frame_truncated(CTX_TRUNCATED_BUDGET));
	learn(&places, &wait);
	stack = find(&places, &wait);
	assert_true(is_stack_of(stack, &wait));
	assert_int_equal(stack.frames[7], CTX_FRAME_JOINED);
	assert_int_equal(places.counts.copied, 2);
	assert_int_equal(places.counts.known, 1);
	assert_int_equal(places.counts.partly, 1);
	assert_int_equal(places.counts.unknown, 1);
	ctx_wait_places_deinit(&places);
}

/* Another return address, thread or depth is another place. */
static void test_wait_places__another_caller_is_another_place(void **state)
{
	struct ctx_wait_places places = {0};
	const struct wait waits[] = {{1, SP, KERNEL + 16, deep_a, 6},
				     {1, SP, KERNEL + 32, near_b, 6},
				     {2, SP, KERNEL + 48, near_b + 1, 5},
				     {1, SP + 64, KERNEL + 64, deep_b, 3}};

	(void)state;
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < 4; i++)
			learn(&places, &waits[i]);
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(is_stack_of(find(&places, &waits[i]), &waits[i]));
	ctx_wait_places_deinit(&places);
}

/* Where the callers differ beyond the 256 bytes nothing is guessed, in whatever order they were seen. */
static void test_wait_places__callers_that_differ_are_never_guessed(void **state)
{
	const struct wait a = {1, SP, KERNEL + 16, deep_a, 6}, b = {1, SP, KERNEL + 16, deep_b, 6};

	(void)state;
	for (unsigned order = 0; order < 64; order++) {
		struct ctx_wait_places places = {0};
		struct ctx_wait_stack stack;
		bool has_a = false, has_b = false;

		assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
		for (unsigned i = 0; i < 6; i++) {
			bool is_a = (order >> i & 1) != 0;

			has_a |= is_a;
			has_b |= !is_a;
			learn(&places, is_a ? &a : &b);
		}
		stack = find(&places, &a);
		assert_int_equal(is_stack_of(stack, &a), has_a && !has_b);
		assert_int_equal(is_stack_of(stack, &b), has_b && !has_a);
		if (has_a && has_b) {
			assert_int_equal(stack.frames[stack.n - 1],
					 ctx_frame_truncated(CTX_TRUNCATED_BUDGET));
			assert_int_equal(stack.frames[2], PC);
			assert_int_equal(places.counts.known, 0);
		}
		ctx_wait_places_deinit(&places);
	}
}

/* A read that waits for a pipe, and one that waits for a page: the callers are known, the inner functions not. */
static void test_wait_places__of_the_kernel_what_is_common_stays(void **state)
{
	struct ctx_wait_places places = {0};
	const struct wait a = {1, SP, KERNEL + 16, deep_a, 6}, b = {1, SP, KERNEL + 32, deep_a, 6};
	struct ctx_wait_stack stack;

	(void)state;
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	learn(&places, &a);
	learn(&places, &a);
	learn(&places, &b);
	learn(&places, &a);
	stack = find(&places, &b);
	assert_int_equal(stack.frames[0], KERNEL);
	assert_int_equal(stack.frames[1], PC);
	assert_int_equal(stack.frames[stack.n - 1], deep_a[5] - 1);
	assert_int_equal(places.counts.known, 0);
	assert_int_equal(places.counts.partly, 1);
	ctx_wait_places_deinit(&places);
}

/* A new thread: the kernel's part and the leaf as in others of its process. */
static void test_wait_places__an_unknown_thread_has_its_leaf_and_the_kernels_part(void **state)
{
	struct ctx_wait_places places = {0};
	const struct wait a = {1, SP, KERNEL + 16, deep_a, 6}, b = {2, SP + 4096, KERNEL + 16, deep_b, 6};
	struct ctx_wait_stack stack;

	(void)state;
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	learn(&places, &a);
	stack = find(&places, &b);
	assert_int_equal(stack.n, 4);
	assert_int_equal(stack.frames[0], KERNEL + 16);
	assert_int_equal(stack.frames[2], PC);
	assert_int_equal(stack.frames[3], ctx_frame_truncated(CTX_TRUNCATED_BUDGET));
	ctx_wait_places_deinit(&places);
}

/* The writer's number of a place's stack is kept as long as the stack is the same. */
static void test_wait_places__what_is_learned_again_is_another_stack(void **state)
{
	struct ctx_wait_places places = {0};
	const struct wait wait = {1, SP, KERNEL + 16, deep_a, 6}, other = {1, SP, KERNEL + 16, deep_b, 6};
	struct ctx_wait_stack stack;

	(void)state;
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	assert_null(find(&places, &wait).known);
	assert_int_equal(places.counts.strange, 1);
	learn(&places, &wait);
	stack = find(&places, &wait);
	assert_int_equal(stack.known->stack, 0);
	stack.known->stack = 1;
	assert_int_equal(find(&places, &wait).known->stack, 1);
	assert_int_equal(places.counts.strange, 3); /* one whole sample is not enough */
	learn(&places, &wait);
	stack = find(&places, &wait);
	assert_int_equal(stack.known->stack, 0);
	assert_true(is_stack_of(stack, &wait));
	stack.known->stack = 2;
	learn(&places, &other);
	stack = find(&places, &wait);
	assert_int_equal(stack.known->stack, 0);
	assert_int_equal(stack.frames[stack.n - 1], ctx_frame_truncated(CTX_TRUNCATED_BUDGET));
	assert_int_equal(places.counts.strange, 3); /* more samples do not make it known */
	ctx_wait_places_deinit(&places);
}

/* More places than there is room for: what is found is right, or unknown. */
static void test_wait_places__are_bounded(void **state)
{
	struct ctx_wait_places places = {0};
	uint64_t callers[4] = {0x401001, 0x402001, 0x403001, 0x404001};
	unsigned n_known = 0;

	(void)state;
	assert_int_equal(ctx_wait_places_begin(&places, NULL), CTX_OK);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < 3 * CTX_WAIT_PLACES; i++) {
			struct wait wait = {i, SP + 16 * (uint64_t)i, KERNEL + 16, callers, 4};

			callers[3] = 0x404001 + i;
			learn(&places, &wait);
			learn(&places, &wait);
			wait.thread = i / 2;
			wait.sp = SP + 16 * (uint64_t)(i / 2);
			callers[3] = 0x404001 + i / 2;
			n_known += is_stack_of(find(&places, &wait), &wait);
		}
	}
	assert_true(n_known > 0);
	assert_true(places.counts.known == n_known);
	ctx_wait_places_deinit(&places);
}

/* The line in the header of reports. */
static void test_wait_sampling__says_what_was_done(void **state)
{
	struct ctx_wait_sampling_options options = {.per_mille = 100};
	struct ctx_wait_sampling *sampling;
	struct ctx_wait_place_counts *counts;
	char text[512] = "";

	(void)state;
	assert_int_equal(ctx_wait_sampling_create(&options, &sampling, NULL), CTX_OK);
	counts = &ctx_wait_sampling_places(sampling)->counts;
	assert_false(ctx_wait_sampling_text(sampling, text, sizeof(text)));
	*counts = (struct ctx_wait_place_counts){.copied = 1000, .known = 9000};
	assert_true(ctx_wait_sampling_text(sampling, text, sizeof(text)));
	assert_non_null(strstr(
		text, "10 % were copied, 100.0 % of the others were recognised by their place (--budget)"));
	*counts =
		(struct ctx_wait_place_counts){.copied = 1000, .known = 8000, .partly = 900, .unknown = 100};
	assert_true(ctx_wait_sampling_text(sampling, text, sizeof(text)));
	assert_non_null(strstr(
		text, "10 % were copied, 88.9 % of the others were recognised by their place; the rest "
		      "ends in <Truncated-stack> (--budget)"));
	ctx_wait_sampling_destroy(sampling);
}

/* --- windows of a recording without events --- */

static uint64_t now_ns, cpu_ns, spent_ns;

/* Opening or closing a window takes cpu_ns of CPU. */
static uint64_t clock_of(clockid_t clock)
{
	if (clock == CLOCK_MONOTONIC)
		return now_ns;
	spent_ns += cpu_ns;
	return spent_ns;
}

#define STEP_NS (MS / 4)

/* How long it is as it is now, in steps; windows are opened and closed only in between. */
static uint64_t span_ns(struct ctx_wait_sampling *sampling)
{
	bool is_whole = ctx_wait_sampling_is_whole(sampling);
	uint64_t begin_ns = now_ns;

	while (ctx_wait_sampling_is_whole(sampling) == is_whole) {
		now_ns += STEP_NS;
		assert_true(now_ns - begin_ns < 60000 * MS);
		ctx_wait_sampling_turn(sampling, now_ns, true);
	}
	return now_ns - begin_ns;
}

/*
 * Each turn interrupts the CPUs for each event of each thread: where that takes long, windows are ten times as long, up
 * to 10 ms, and turning takes one hundredth of the time, but for chance, which makes gaps half as long or half as long again.
 */
static void test_wait_sampling__windows_are_longer_where_turning_takes_long(void **state)
{
	static const uint64_t takes_us[] = {0, 50, 150, 400, 2000};
	struct ctx_session session = {.states.level = CTX_STATES_FULL};
	struct ctx_wait_sampling_options options = {
		.session = &session, .now_ns = 1000 * MS, .clock = clock_of};

	(void)state;
	for (size_t i = 0; i < sizeof(takes_us) / sizeof(*takes_us); i++) {
		uint64_t turn_ns = 2 * takes_us[i] * 1000, want_ns = 10 * turn_ns;
		struct ctx_wait_sampling *sampling;

		want_ns = want_ns < 2 * MS ? 2 * MS : want_ns > 10 * MS ? 10 * MS : want_ns;
		now_ns = options.now_ns;
		cpu_ns = takes_us[i] * 1000;
		assert_int_equal(ctx_wait_sampling_create(&options, &sampling, NULL), CTX_OK);
		ctx_wait_sampling_turn(sampling, now_ns, true);
		ctx_wait_sampling_places(sampling)->counts.copied = 1000; /* enough to recognise by */
		/* The first one is for learning, and long whatever it takes. */
		assert_int_equal(span_ns(sampling), 10 * MS);
		/* What follows from closing alone. */
		assert_true(span_ns(sampling) >= turn_ns / 2 * 50);
		assert_true(span_ns(sampling) <= want_ns);
		assert_true(span_ns(sampling) >= turn_ns * 50);
		for (int k = 0; k < 20; k++) {
			assert_int_equal(span_ns(sampling), want_ns);
			assert_true(span_ns(sampling) >= turn_ns * 50);
		}
		ctx_wait_sampling_destroy(sampling);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_budget__few_switches_have_all_their_stacks),
		cmocka_unit_test(test_wait_budget__a_short_burst_is_no_reason_to_sample),
		cmocka_unit_test(test_wait_budget__more_switches_mean_fewer_stacks),
		cmocka_unit_test(test_wait_budget__a_full_ring_is_a_reason_to_sample),
		cmocka_unit_test(test_wait_budget__is_what_was_asked_for),
		cmocka_unit_test(test_wait_budget__known_places_need_few_stacks),
		cmocka_unit_test(test_wait_budget__learns_first),
		cmocka_unit_test(test_wait_budget__ends_when_there_are_few_switches_again),
		cmocka_unit_test(test_wait_budget__off_and_zero),
		cmocka_unit_test(test_wait_windows__each_time_is_inside_or_outside),
		cmocka_unit_test(test_wait_places__two_samples_make_a_place_known),
		cmocka_unit_test(test_wait_places__another_caller_is_another_place),
		cmocka_unit_test(test_wait_places__callers_that_differ_are_never_guessed),
		cmocka_unit_test(test_wait_places__of_the_kernel_what_is_common_stays),
		cmocka_unit_test(test_wait_places__an_unknown_thread_has_its_leaf_and_the_kernels_part),
		cmocka_unit_test(test_wait_places__what_is_learned_again_is_another_stack),
		cmocka_unit_test(test_wait_places__are_bounded),
		cmocka_unit_test(test_wait_sampling__says_what_was_done),
		cmocka_unit_test(test_wait_sampling__windows_are_longer_where_turning_takes_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
