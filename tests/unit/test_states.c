/*
 * The state machine of threads: single scenarios, and many random threads whose true states are
 * known because they were generated first.
 */
#include "ingest/states.h"
#include "model/profile.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPANS_MAX 65536u
#define THREADS_MAX 64u
#define MS UINT64_C(1000000)

struct seen {
	struct ctx_state_span spans[SPANS_MAX];
	size_t n;
	struct ctx_wakeup wakeups[SPANS_MAX];
	size_t n_wakeups;
	uint64_t covered_ns[THREADS_MAX]; /* where the last span ended */
	uint64_t state_ns[THREADS_MAX][CTX_STATE_N];
	bool begun[THREADS_MAX], ended[THREADS_MAX];
	uint64_t last_ns;
};

static enum ctx_status take_span(void *context, const struct ctx_state_span *span, struct ctx_err *err)
{
	struct seen *seen = context;

	(void)err;
	assert_true(span->begin_ns < span->end_ns);
	assert_true(span->end_ns >= seen->last_ns);
	assert_false(seen->ended[span->thread]);
	if (seen->begun[span->thread])
		assert_int_equal(span->begin_ns, seen->covered_ns[span->thread]);
	seen->begun[span->thread] = true;
	seen->covered_ns[span->thread] = span->end_ns;
	seen->state_ns[span->thread][span->state] += span->end_ns - span->begin_ns;
	seen->last_ns = span->end_ns;
	assert_true(seen->n < SPANS_MAX);
	seen->spans[seen->n++] = *span;
	return CTX_OK;
}

static enum ctx_status take_wakeup(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	struct seen *seen = context;

	(void)err;
	assert_true(seen->n_wakeups < SPANS_MAX);
	seen->wakeups[seen->n_wakeups++] = *wakeup;
	return CTX_OK;
}

static enum ctx_status take_end(void *context, uint32_t thread, struct ctx_err *err)
{
	struct seen *seen = context;

	(void)err;
	assert_false(seen->ended[thread]);
	seen->ended[thread] = true;
	return CTX_OK;
}

struct world {
	struct seen seen;
	struct ctx_states *states;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct ctx_state_sink sink;

	assert_non_null(world);
	sink = (struct ctx_state_sink){&world->seen, take_span, take_wakeup, take_end, NULL};
	assert_int_equal(ctx_states_create(&sink, &world->states, NULL), CTX_OK);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	ctx_states_destroy(world->states);
	free(world);
	return 0;
}

static void start(struct world *world, uint32_t thread, uint64_t time_ns)
{
	assert_int_equal(ctx_states_start(world->states, thread, thread / 4, time_ns, NULL), CTX_OK);
}

static void change(struct world *world, uint32_t thread, uint64_t time_ns, enum ctx_state_change what,
		   uint32_t stack, unsigned classes)
{
	struct ctx_thread_change it = {.time_ns = time_ns,
				       .thread = thread,
				       .change = what,
				       .cpu = (int32_t)thread, /* one for each */
				       .raw_stack = stack,
				       .classes = classes,
				       .user_stack = 100 + stack,
				       .waker = CTX_NONE,
				       .external_waker = CTX_NONE};

	assert_int_equal(ctx_states_change(world->states, &it, NULL), CTX_OK);
}

/* Without a stack; on a CPU that may be another's. */
static void change_on(struct world *world, uint32_t thread, int32_t cpu, uint64_t time_ns,
		      enum ctx_state_change what)
{
	struct ctx_thread_change it = {.time_ns = time_ns,
				       .thread = thread,
				       .change = what,
				       .cpu = cpu,
				       .waker = CTX_NONE,
				       .external_waker = CTX_NONE};

	assert_int_equal(ctx_states_change(world->states, &it, NULL), CTX_OK);
}

static void wake(struct world *world, uint32_t thread, uint64_t time_ns, uint32_t waker, uint32_t stack)
{
	struct ctx_thread_change it = {.time_ns = time_ns,
				       .thread = thread,
				       .change = CTX_CHANGE_WOKEN,
				       .cpu = (int32_t)thread, /* one for each */
				       .waker = waker,
				       .external_waker = waker == CTX_NONE ? 0 : CTX_NONE,
				       .waker_raw_stack = stack};

	assert_int_equal(ctx_states_change(world->states, &it, NULL), CTX_OK);
}

static void sample(struct world *world, uint32_t thread, uint64_t time_ns, uint32_t stack, unsigned classes)
{
	struct ctx_thread_sample it = {.time_ns = time_ns,
				       .thread = thread,
				       .cpu = (int32_t)thread,
				       .raw_stack = stack,
				       .classes = classes};

	assert_int_equal(ctx_states_sample(world->states, &it, NULL), CTX_OK);
}

static void end(struct world *world, uint32_t thread, uint64_t time_ns)
{
	assert_int_equal(ctx_states_end(world->states, thread, time_ns, NULL), CTX_OK);
}

static void end_process(struct world *world, uint32_t process, uint64_t time_ns)
{
	assert_int_equal(ctx_states_end_process(world->states, process, time_ns, NULL), CTX_OK);
}

static void finish(struct world *world, uint64_t time_ns)
{
	assert_int_equal(ctx_states_finish(world->states, time_ns, NULL), CTX_OK);
}

static void check_span(const struct world *world, size_t i, enum ctx_thread_state state, uint64_t begin_ns,
		       uint64_t end_ns, uint32_t stack)
{
	const struct ctx_state_span *span = &world->seen.spans[i];

	assert_true(i < world->seen.n);
	assert_string_equal(ctx_state_name(span->state), ctx_state_name(state));
	assert_int_equal(span->begin_ns, begin_ns);
	assert_int_equal(span->end_ns, end_ns);
	assert_int_equal(span->raw_stack, stack);
}

static void test_states__a_wait_for_a_lock_ends_with_its_waker_and_then_the_cpu_is_waited_for(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	sample(world, 0, 10, 1, 0);
	change(world, 0, 20, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL | CTX_STACK_FUTEX);
	wake(world, 0, 50, 3, 7);
	change(world, 0, 58, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 100);
	assert_int_equal(world->seen.n, 5);
	check_span(world, 0, CTX_STATE_USER, 0, 10, 1);
	check_span(world, 1, CTX_STATE_USER, 10, 20, 1);
	check_span(world, 2, CTX_STATE_USER_LOCK, 20, 50, 5);
	check_span(world, 3, CTX_STATE_WAIT_CPU, 50, 58, 5);
	check_span(world, 4, CTX_STATE_USER, 58, 100, 1);
	assert_int_equal(world->seen.n_wakeups, 1);
	assert_int_equal(world->seen.wakeups[0].time_ns, 50);
	assert_int_equal(world->seen.wakeups[0].wait_ns, 30);
	assert_int_equal(world->seen.wakeups[0].delay_ns, 8);
	assert_int_equal(world->seen.wakeups[0].waker, 3);
	assert_int_equal(world->seen.wakeups[0].waker_raw_stack, 7);
	assert_int_equal(world->seen.wakeups[0].state, CTX_STATE_USER_LOCK);
}

static void test_states__the_wait_state_follows_from_the_stack(void **state)
{
	static const struct {
		enum ctx_state_change change;
		unsigned classes;
		enum ctx_thread_state want;
	} cases[] = {
		{CTX_CHANGE_BLOCKED, 0, CTX_STATE_SLEEP},
		{CTX_CHANGE_BLOCKED, CTX_STACK_KERNEL, CTX_STATE_SLEEP},
		{CTX_CHANGE_BLOCKED, CTX_STACK_KERNEL | CTX_STACK_FUTEX, CTX_STATE_USER_LOCK},
		{CTX_CHANGE_BLOCKED, CTX_STACK_KERNEL | CTX_STACK_TRAP | CTX_STACK_FAULT,
		 CTX_STATE_DATA_FAULT},
		{CTX_CHANGE_BLOCKED, CTX_STACK_FAULT | CTX_STACK_TEXT_FAULT, CTX_STATE_TEXT_FAULT},
		{CTX_CHANGE_BLOCKED, CTX_STACK_KERNEL_FAULT, CTX_STATE_KERNEL_FAULT},
		{CTX_CHANGE_BLOCKED, CTX_STACK_STOP, CTX_STATE_STOPPED},
		{CTX_CHANGE_STOPPED, CTX_STACK_KERNEL, CTX_STATE_STOPPED},
		{CTX_CHANGE_PREEMPTED, CTX_STACK_FUTEX, CTX_STATE_WAIT_CPU},
	};
	struct world *world = *state;

	start(world, 0, 0);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		change(world, 0, 100 * i + 10, cases[i].change, i + 1, cases[i].classes);
		change(world, 0, 100 * i + 50, CTX_CHANGE_RUNS, 0, 0);
	}
	finish(world, 10000);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_span(world, 2 * i + 1, cases[i].want, 100 * i + 10, 100 * i + 50, i + 1);
}

static void test_states__samples_divide_the_time_on_a_cpu(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 100, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 110, 1, 0);
	sample(world, 0, 130, 2, CTX_STACK_KERNEL);
	sample(world, 0, 160, 3, CTX_STACK_KERNEL | CTX_STACK_TRAP);
	change(world, 0, 170, CTX_CHANGE_BLOCKED, 4, CTX_STACK_KERNEL);
	change(world, 0, 200, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 205, CTX_CHANGE_BLOCKED, 4, CTX_STACK_KERNEL);
	finish(world, 300);
	assert_int_equal(world->seen.n, 8);
	check_span(world, 1, CTX_STATE_USER, 100, 110, 1);
	check_span(world, 2, CTX_STATE_SYSTEM, 110, 130, 2);
	check_span(world, 3, CTX_STATE_TRAP, 130, 160, 3);
	check_span(world, 4, CTX_STATE_TRAP, 160, 170, 3);
	check_span(world, 5, CTX_STATE_SLEEP, 170, 200, 4);
	check_span(world, 6, CTX_STATE_TRAP, 200, 205, 3);
}

static void test_states__recorded_system_calls_separate_user_from_system(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 100, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 110, CTX_CHANGE_ENTERS, 0, 0);
	sample(world, 0, 120, 2, CTX_STACK_KERNEL);
	change(world, 0, 130, CTX_CHANGE_RETURNS, 0, 0);
	change(world, 0, 150, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 151, CTX_CHANGE_BLOCKED, 4, CTX_STACK_KERNEL);
	change(world, 0, 160, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 165, CTX_CHANGE_RETURNS, 0, 0);
	finish(world, 170);
	assert_int_equal(world->seen.n, 9);
	check_span(world, 1, CTX_STATE_USER, 100, 110, 0);
	check_span(world, 2, CTX_STATE_SYSTEM, 110, 120, 2);
	check_span(world, 3, CTX_STATE_SYSTEM, 120, 130, 2);
	check_span(world, 4, CTX_STATE_USER, 130, 150, 2);
	check_span(world, 5, CTX_STATE_SYSTEM, 150, 151, 2);
	check_span(world, 6, CTX_STATE_SLEEP, 151, 160, 4);
	check_span(world, 7, CTX_STATE_SYSTEM, 160, 165, 2);
	check_span(world, 8, CTX_STATE_USER, 165, 170, 2);
}

static void test_states__a_sample_in_a_system_call_implies_nothing_outside_it(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 100, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 110, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 120, CTX_CHANGE_RETURNS, 0, 0);
	sample(world, 0, 130, 1, CTX_STACK_KERNEL | CTX_STACK_TRAP);
	change(world, 0, 140, CTX_CHANGE_ENTERS, 0, 0);
	sample(world, 0, 150, 2, CTX_STACK_KERNEL | CTX_STACK_TRAP);
	change(world, 0, 160, CTX_CHANGE_RETURNS, 0, 0);
	change(world, 0, 170, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 180, CTX_CHANGE_RETURNS, 0, 0);
	sample(world, 0, 190, 3, 0);
	change(world, 0, 200, CTX_CHANGE_ENTERS, 0, 0);
	finish(world, 210);
	check_span(world, 3, CTX_STATE_TRAP, 120, 130, 1);
	check_span(world, 4, CTX_STATE_TRAP, 130, 140, 1);
	check_span(world, 5, CTX_STATE_SYSTEM, 140, 150, 2);
	check_span(world, 6, CTX_STATE_SYSTEM, 150, 160, 2);
	check_span(world, 7, CTX_STATE_TRAP, 160, 170, 1);
	check_span(world, 8, CTX_STATE_SYSTEM, 170, 180, 2);
	check_span(world, 9, CTX_STATE_USER, 180, 190, 3);
	check_span(world, 10, CTX_STATE_USER, 190, 200, 3);
	check_span(world, 11, CTX_STATE_SYSTEM, 200, 210, 2);
	assert_int_equal(world->seen.n, 12);
}

/* Entering and leaving a call, which takes longer if calls are recorded. */
static void test_states__a_sample_in_the_kernel_outside_of_system_calls_is_system(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 100, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 110, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 120, CTX_CHANGE_RETURNS, 0, 0);
	sample(world, 0, 125, 1, CTX_STACK_KERNEL);
	change(world, 0, 130, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 140, CTX_CHANGE_RETURNS, 0, 0);
	change(world, 0, 150, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 160, CTX_CHANGE_RETURNS, 0, 0);
	sample(world, 0, 190, 2, 0);
	finish(world, 200);
	check_span(world, 1, CTX_STATE_USER, 100, 110, 0);
	check_span(world, 3, CTX_STATE_SYSTEM, 120, 125, 1);
	check_span(world, 4, CTX_STATE_SYSTEM, 125, 130, 1);
	check_span(world, 6, CTX_STATE_SYSTEM, 140, 150, 1);
	check_span(world, 8, CTX_STATE_USER, 160, 190, 2);
	check_span(world, 9, CTX_STATE_USER, 190, 200, 2);
	assert_int_equal(world->seen.n, 10);
}

static void test_states__a_clock_of_the_kernel_alone_does_not_divide_the_time_outside_of_system_calls(
	void **state)
{
	struct world *world = *state;

	ctx_states_kernel_clock(world->states);
	start(world, 0, 0);
	change(world, 0, 100, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 110, CTX_CHANGE_ENTERS, 0, 0);
	change(world, 0, 120, CTX_CHANGE_RETURNS, 0, 0);
	sample(world, 0, 125, 1, CTX_STACK_KERNEL);
	change(world, 0, 130, CTX_CHANGE_ENTERS, 0, 0);
	finish(world, 140);
	check_span(world, 2, CTX_STATE_SYSTEM, 110, 120, 0);
	check_span(world, 3, CTX_STATE_USER, 120, 125, 1);
	check_span(world, 4, CTX_STATE_USER, 125, 130, 1);
	check_span(world, 5, CTX_STATE_SYSTEM, 130, 140, 1);
}

static void test_states__an_instruction_fault_is_known_at_its_end(void **state)
{
	struct world *world = *state;
	const unsigned fault = CTX_STACK_KERNEL | CTX_STACK_TRAP | CTX_STACK_FAULT;

	start(world, 0, 0);
	change(world, 0, 10, CTX_CHANGE_BLOCKED, 1, fault);
	wake(world, 0, 20, CTX_NONE, 9);
	change(world, 0, 21, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 22, CTX_CHANGE_BLOCKED, 1, fault);
	change(world, 0, 30, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 31, CTX_CHANGE_TEXT_FAULT, 0, 0);
	change(world, 0, 40, CTX_CHANGE_BLOCKED, 2, fault);
	change(world, 0, 50, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 60, CTX_CHANGE_BLOCKED, 3, CTX_STACK_KERNEL);
	change(world, 0, 70, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 71, CTX_CHANGE_TEXT_FAULT, 0, 0); /* of a fault that did not wait */
	finish(world, 100);
	check_span(world, 1, CTX_STATE_TEXT_FAULT, 10, 20, 1);
	check_span(world, 2, CTX_STATE_WAIT_CPU, 20, 21, 1);
	check_span(world, 4, CTX_STATE_TEXT_FAULT, 22, 30, 1);
	check_span(world, 6, CTX_STATE_DATA_FAULT, 40, 50, 2);
	check_span(world, 8, CTX_STATE_SLEEP, 60, 70, 3);
}

static void test_states__a_wait_for_instructions_is_the_same_in_the_span_and_in_the_wake_up(void **state)
{
	struct world *world = *state;
	const unsigned fault = CTX_STACK_KERNEL | CTX_STACK_TRAP | CTX_STACK_FAULT;

	start(world, 0, 0);
	change(world, 0, 10, CTX_CHANGE_BLOCKED, 1, fault);
	wake(world, 0, 20, 1, 9);
	change(world, 0, 21, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 30, CTX_CHANGE_BLOCKED, 2, fault);
	wake(world, 0, 40, 1, 9);
	change(world, 0, 41, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 42, CTX_CHANGE_BLOCKED, 2, fault);
	wake(world, 0, 50, 1, 9);
	change(world, 0, 51, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 52, CTX_CHANGE_TEXT_FAULT, 0, 0);
	finish(world, 100);
	check_span(world, 1, CTX_STATE_DATA_FAULT, 10, 20, 1);
	check_span(world, 4, CTX_STATE_TEXT_FAULT, 30, 40, 2);
	check_span(world, 7, CTX_STATE_TEXT_FAULT, 42, 50, 2);
	assert_int_equal(world->seen.n_wakeups, 3);
	assert_int_equal(world->seen.wakeups[0].state, CTX_STATE_DATA_FAULT);
	assert_int_equal(world->seen.wakeups[1].state, CTX_STATE_TEXT_FAULT);
	assert_int_equal(world->seen.wakeups[2].state, CTX_STATE_TEXT_FAULT);
}

/* Without callers each fault is one of its own: which of them belong together is unknown. */
static void test_states__without_stacks_of_the_program_a_fault_for_instructions_is_one_wait(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	for (uint64_t at = 10; at < 50; at += 10) {
		struct ctx_thread_change blocked = {.time_ns = at,
						    .change = CTX_CHANGE_BLOCKED,
						    .raw_stack = 1,
						    .classes = CTX_STACK_KERNEL | CTX_STACK_FAULT,
						    .waker = CTX_NONE,
						    .external_waker = CTX_NONE};

		assert_int_equal(ctx_states_change(world->states, &blocked, NULL), CTX_OK);
		change(world, 0, at + 5, CTX_CHANGE_RUNS, 0, 0);
	}
	change(world, 0, 46, CTX_CHANGE_TEXT_FAULT, 0, 0);
	finish(world, 100);
	for (size_t i = 0; i < 3; i++)
		check_span(world, 1 + 2 * i, CTX_STATE_DATA_FAULT, 10 + 10 * i, 15 + 10 * i, 1);
	check_span(world, 7, CTX_STATE_TEXT_FAULT, 40, 45, 1);
}

/* A program that waits for page after page of data, and then for one of instructions. */
static void test_states__an_instruction_fault_implies_no_earlier_faults(void **state)
{
	struct world *world = *state;
	const unsigned fault = CTX_STACK_KERNEL | CTX_STACK_TRAP | CTX_STACK_FAULT;

	start(world, 0, 0);
	for (uint64_t at = 10; at < 50; at += 10) {
		change(world, 0, at, CTX_CHANGE_BLOCKED, 1, fault);
		change(world, 0, at + 5, CTX_CHANGE_RUNS, 0, 0);
	}
	change(world, 0, 50, CTX_CHANGE_BLOCKED, 2, fault);
	change(world, 0, 55, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 56, CTX_CHANGE_TEXT_FAULT, 0, 0);
	finish(world, 100);
	for (size_t i = 0; i < 4; i++)
		check_span(world, 1 + 2 * i, CTX_STATE_DATA_FAULT, 10 + 10 * i, 15 + 10 * i, 1);
	check_span(world, 9, CTX_STATE_TEXT_FAULT, 50, 55, 2);
}

/* Threads 0 and 1 are of one process, 4 of another. */
static void test_states__threads_without_a_sample_did_what_others_of_their_process_did(void **state)
{
	struct world *world = *state;

	start(world, 1, 0);
	change(world, 1, 10, CTX_CHANGE_RUNS, 0, 0);
	change(world, 1, 20, CTX_CHANGE_BLOCKED, 7, CTX_STACK_KERNEL);
	start(world, 0, 20);
	sample(world, 0, 30, 1, 0);
	change(world, 1, 30, CTX_CHANGE_RUNS, 0, 0);
	change(world, 1, 40, CTX_CHANGE_BLOCKED, 7, CTX_STACK_KERNEL);
	start(world, 4, 40);
	change(world, 4, 40, CTX_CHANGE_RUNS, 0, 0);
	change(world, 4, 50, CTX_CHANGE_BLOCKED, 8, CTX_STACK_KERNEL);
	sample(world, 0, 50, 2, CTX_STACK_KERNEL);
	change(world, 1, 50, CTX_CHANGE_RUNS, 0, 0);
	change(world, 1, 60, CTX_CHANGE_BLOCKED, 7, CTX_STACK_KERNEL);
	finish(world, 60);
	check_span(world, 1, CTX_STATE_SYSTEM, 10, 20, 7); /* nobody has a sample yet */
	check_span(world, 4, CTX_STATE_USER, 30, 40, 107);
	check_span(world, 5, CTX_STATE_USER, 40, 50, 108);
	check_span(world, 8, CTX_STATE_SYSTEM, 50, 60, 7);
}

static void test_states__a_switch_recorded_twice_is_merged(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 10, CTX_CHANGE_BLOCKED, 5, CTX_STACK_FUTEX);
	change(world, 0, 11, CTX_CHANGE_BLOCKED, 0, 0);
	change(world, 0, 20, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 30, CTX_CHANGE_BLOCKED, 0, 0);
	change(world, 0, 31, CTX_CHANGE_BLOCKED, 6, CTX_STACK_FUTEX);
	change(world, 0, 40, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 40, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 50);
	assert_int_equal(world->seen.n, 5);
	check_span(world, 1, CTX_STATE_USER_LOCK, 10, 20, 5);
	check_span(world, 3, CTX_STATE_USER_LOCK, 30, 40, 6);
}

static void test_states__of_two_reports_of_a_switch_the_second_may_know_that_the_thread_would_go_on(
	void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 10 * MS, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	change(world, 0, 10 * MS + 1, CTX_CHANGE_PREEMPTED, 0, 0);
	change(world, 0, 20 * MS, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 22 * MS, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	change(world, 0, 29 * MS, CTX_CHANGE_PREEMPTED, 0, 0); /* late: the CPU was away in between */
	change(world, 0, 29 * MS + 1, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 30 * MS, CTX_CHANGE_BLOCKED, 6, CTX_STACK_KERNEL);
	change(world, 0, 60 * MS, CTX_CHANGE_PREEMPTED, 0, 0); /* of a switch whose beginning was lost */
	finish(world, 70 * MS);
	assert_int_equal(world->seen.n, 6);
	check_span(world, 1, CTX_STATE_WAIT_CPU, 10 * MS, 20 * MS, 5);
	check_span(world, 3, CTX_STATE_WAIT_CPU, 22 * MS, 29 * MS + 1, 5);
	check_span(world, 5, CTX_STATE_SLEEP, 30 * MS, 70 * MS, 6);
}

static void test_states__lost_events_affect_only_their_own_span(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 10, CTX_CHANGE_BLOCKED, 5, CTX_STACK_FUTEX);
	sample(world, 0, 30, 1, 0); /* it must have been given a CPU */
	change(world, 0, 40, CTX_CHANGE_BLOCKED, 6, 0);
	wake(world, 0, 50, 1, 2);
	wake(world, 0, 60, 2, 3); /* once is enough */
	change(world, 0, 400 * MS, CTX_CHANGE_BLOCKED, 7, 0);
	finish(world, 500 * MS);
	check_span(world, 1, CTX_STATE_USER_LOCK, 10, 30, 5);
	check_span(world, 2, CTX_STATE_USER, 30, 40, 1);
	check_span(world, 3, CTX_STATE_SLEEP, 40, 50, 6);
	check_span(world, 4, CTX_STATE_WAIT_CPU, 50, 400 * MS, 6);
	check_span(world, 5, CTX_STATE_SLEEP, 400 * MS, 500 * MS, 7);
	assert_int_equal(world->seen.n_wakeups, 1);
	assert_int_equal(world->seen.wakeups[0].waker, 1);
}

static void test_states__a_new_thread_waits_for_a_cpu_and_an_old_one_slept(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 100);
	start(world, 2, 0);
	change(world, 0, 150, CTX_CHANGE_RUNS, 0, 0);
	change(world, 1, 160, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 200);
	check_span(world, 0, CTX_STATE_SLEEP, 0, 150, 0);
	check_span(world, 1, CTX_STATE_WAIT_CPU, 100, 160, 0);
	check_span(world, 4, CTX_STATE_SLEEP, 0, 200, 0);
}

static void test_states__a_life_ends_once_and_takes_nothing_more(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 0);
	start(world, 4, 0);
	sample(world, 0, 10, 1, 0);
	end(world, 0, 20);
	end(world, 0, 25);
	change(world, 0, 30, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 40, 1, 0);
	wake(world, 0, 41, 1, 1);
	change(world, 77, 41, CTX_CHANGE_RUNS, 0, 0);
	end_process(world, 0, 50);
	finish(world, 90);
	assert_true(world->seen.ended[0] && world->seen.ended[1] && world->seen.ended[4]);
	assert_int_equal(world->seen.covered_ns[0], 20);
	assert_int_equal(world->seen.covered_ns[1], 50);
	assert_int_equal(world->seen.covered_ns[4], 90);
}

static void test_states__the_end_of_a_process_ends_exactly_its_live_threads(void **state)
{
	struct world *world = *state;

	/* Four threads a process, those of all processes in turn. */
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		start(world, i % 16 * 4 + i / 16, 10);
	end(world, 9, 20);
	end_process(world, 2, 30);
	end_process(world, 2, 40);
	end_process(world, 1000, 40);
	finish(world, 90);
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		assert_int_equal(world->seen.covered_ns[i], i == 9 ? 20 : i / 4 == 2 ? 30 : 90);
}

static void test_states__a_thread_starts_once(void **state)
{
	struct world *world = *state;
	struct ctx_err err = {0};

	start(world, 3, 10);
	assert_int_equal(ctx_states_start(world->states, 3, 0, 20, &err), CTX_E_FORMAT);
	assert_string_equal(err.msg, "thread 3 starts twice");
	end_process(world, 0, 30);
	finish(world, 90);
	assert_int_equal(world->seen.covered_ns[3], 30);
}

static void test_states__of_two_reports_of_a_wake_up_the_one_with_the_waker_counts(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	change(world, 0, 10, CTX_CHANGE_BLOCKED, 5, 0);
	wake(world, 0, 50, CTX_NONE, 2);
	wake(world, 0, 51, 3, 7);
	change(world, 0, 60, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 90);
	assert_int_equal(world->seen.n_wakeups, 1);
	assert_int_equal(world->seen.wakeups[0].waker, 3);
	assert_int_equal(world->seen.wakeups[0].external_waker, CTX_NONE);
	assert_int_equal(world->seen.wakeups[0].time_ns, 50);
	assert_int_equal(world->seen.wakeups[0].waker_raw_stack, 7);
}

static void test_states__an_end_reported_late_keeps_its_time(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 0);
	sample(world, 0, 10, 1, 0);
	for (uint64_t i = 1; i < 50; i++)
		sample(world, 1, 10 + MS * i, 1, 0);
	end(world, 0, 20 * MS);
	finish(world, 90 * MS);
	assert_true(world->seen.ended[0]);
	assert_int_equal(world->seen.covered_ns[0], 20 * MS);
	assert_int_equal(world->seen.covered_ns[1], 90 * MS);
}

static void test_states__spans_after_the_end_of_a_thread_are_removed(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 0);
	sample(world, 0, 10, 1, 0);
	/* The CPU of the thread whose end was not recorded is used by another one. */
	change_on(world, 1, 0, 60 * MS, CTX_CHANGE_RUNS);
	change(world, 1, 70 * MS, CTX_CHANGE_BLOCKED, 5, 0);
	change(world, 0, 80 * MS, CTX_CHANGE_BLOCKED, 6, 0);
	wake(world, 0, 80 * MS + 1, 1, 7);
	change(world, 0, 81 * MS, CTX_CHANGE_RUNS, 0, 0);
	end(world, 0, 20 * MS);
	finish(world, 90 * MS);
	assert_true(world->seen.ended[0]);
	assert_int_equal(world->seen.covered_ns[0], 20 * MS);
	assert_int_equal(world->seen.covered_ns[1], 90 * MS);
	assert_int_equal(world->seen.n_wakeups, 0);
	check_span(world, 0, CTX_STATE_USER, 0, 10, 1);
	check_span(world, 1, CTX_STATE_USER, 10, 20 * MS, 1);
}

static void test_states__a_missing_switch_out_is_implied_by_the_next_thread_on_the_cpu(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 0);
	sample(world, 0, 10, 1, 0);
	change_on(world, 1, 0, 100, CTX_CHANGE_RUNS);
	change(world, 0, 400, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 500);
	check_span(world, 0, CTX_STATE_USER, 0, 10, 1);
	check_span(world, 1, CTX_STATE_USER, 10, 100, 1);
	check_span(world, 2, CTX_STATE_SLEEP, 0, 100, 0); /* of thread 1 */
	check_span(world, 3, CTX_STATE_USER, 100, 400, 0);
	check_span(world, 4, CTX_STATE_SLEEP, 100, 400, 0); /* of thread 0 */
}

/* ---- losses ---- */

/* On a CPU, -1: unknown; it comes at its begin if `early`. */
static void lost_on(struct world *world, int32_t cpu, uint64_t since_ns, uint64_t time_ns, bool early)
{
	struct ctx_loss loss = {.time = {since_ns, time_ns}, .located = true, .cpu = cpu, .count = 1};

	assert_int_equal(ctx_states_lost(world->states, &loss, early ? since_ns : time_ns, NULL), CTX_OK);
}

static void lost(struct world *world, uint64_t since_ns, uint64_t time_ns)
{
	lost_on(world, -1, since_ns, time_ns, false);
}

static void test_states__what_follows_without_the_lost_records_goes_on(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	sample(world, 0, 10, 1, 0);
	lost(world, 12, 15);
	change(world, 0, 20, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL | CTX_STACK_FUTEX);
	lost(world, 30, 35);
	lost(world, 36, 40);
	wake(world, 0, 50, 3, 7);
	lost(world, 53, 55);
	change(world, 0, 58, CTX_CHANGE_RUNS, 0, 0);
	finish(world, 100);
	check_span(world, 0, CTX_STATE_USER, 0, 10, 1);
	check_span(world, 1, CTX_STATE_USER, 10, 12, 1);
	check_span(world, 2, CTX_STATE_UNKNOWN, 12, 15, 0);
	check_span(world, 3, CTX_STATE_USER, 15, 20, 1);
	check_span(world, 4, CTX_STATE_USER_LOCK, 20, 30, 5);
	check_span(world, 5, CTX_STATE_UNKNOWN, 30, 35, 0);
	check_span(world, 6, CTX_STATE_USER_LOCK, 35, 50, 5);
	check_span(world, 7, CTX_STATE_WAIT_CPU, 50, 53, 5);
	check_span(world, 8, CTX_STATE_UNKNOWN, 53, 55, 0);
	check_span(world, 9, CTX_STATE_WAIT_CPU, 55, 58, 5);
	check_span(world, 10, CTX_STATE_USER, 58, 100, 1);
	assert_int_equal(world->seen.n, 11);
	assert_int_equal(world->seen.n_wakeups, 1);
	assert_int_equal(world->seen.wakeups[0].wait_ns, 15); /* the part that is known */
	assert_int_equal(world->seen.wakeups[0].delay_ns, 8);
	assert_int_equal(ctx_states_known_until(world->states, 0), UINT64_MAX);
}

static void test_states__what_does_not_follow_was_unknown_since_the_loss(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	sample(world, 0, 10, 1, 0);
	change(world, 0, 20, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	lost(world, 30, 40);
	sample(world, 0, 60, 2, 0); /* it had been woken and had got a CPU */
	lost(world, 61, 62);
	change(world, 0, 70, CTX_CHANGE_RUNS, 0, 0); /* it had left the CPU */
	change(world, 0, 80, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	lost(world, 0, 90); /* it was seen since then: unknown from there on */
	end(world, 0, 100); /* it had run again */
	start(world, 1, 110);
	change(world, 1, 120, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	finish(world, 200);
	check_span(world, 2, CTX_STATE_SLEEP, 20, 30, 5);
	check_span(world, 3, CTX_STATE_UNKNOWN, 30, 40, 0);
	check_span(world, 4, CTX_STATE_UNKNOWN, 40, 60, 0);
	check_span(world, 5, CTX_STATE_USER, 60, 61, 2);
	check_span(world, 6, CTX_STATE_UNKNOWN, 61, 62, 0);
	check_span(world, 7, CTX_STATE_UNKNOWN, 62, 70, 0);
	check_span(world, 8, CTX_STATE_USER, 70, 80, 2);
	check_span(world, 9, CTX_STATE_UNKNOWN, 80, 90, 0);
	check_span(world, 10, CTX_STATE_UNKNOWN, 90, 100, 0);
	check_span(world, 12, CTX_STATE_SLEEP, 120, 200, 5); /* after the losses nothing is in doubt */
	assert_int_equal(world->seen.spans[3].cpu, -1);
}

static void test_states__a_thread_that_is_not_seen_after_a_loss_has_ended_there(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	start(world, 1, 5);
	start(world, 2, 0); /* there before, and never seen */
	start(world, 3, 0);
	sample(world, 0, 10, 1, 0);
	sample(world, 1, 11, 1, 0);
	lost(world, 30, 40);
	sample(world, 0, 50, 1, 0);
	lost(world, 60, 70);
	change_on(world, 3, 0, 80, CTX_CHANGE_RUNS); /* on the CPU of thread 0 */
	finish(world, 400);
	assert_int_equal(ctx_states_known_until(world->states, 0), UINT64_MAX);
	assert_int_equal(ctx_states_known_until(world->states, 1), 40);
	assert_int_equal(ctx_states_known_until(world->states, 2), UINT64_MAX);
	assert_int_equal(world->seen.covered_ns[0], 400);
	assert_int_equal(world->seen.covered_ns[1], 40);
	assert_int_equal(world->seen.covered_ns[2], 400);
	assert_int_equal(world->seen.covered_ns[3], 400);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(world->seen.ended[i]);
	/* What thread 0 does after it has lost its CPU is unknown, too. */
	assert_int_equal(world->seen.spans[world->seen.n - 3].thread, 0);
	check_span(world, world->seen.n - 3, CTX_STATE_UNKNOWN, 80, 400, 0);
}

/*
 * The loss is on CPU 1. Who is on another CPU is seen leaving it; who was on that one, or on none, is
 * unknown in the loss alone, if it then goes on.
 */
static void test_states__a_loss_concerns_who_can_have_been_on_its_cpu(void **state)
{
	struct world *world = *state;

	for (unsigned i = 0; i < 2; i++) {
		bool early = i == 0;

		for (uint32_t k = 0; k < 4; k++)
			start(world, k, 0);
		sample(world, 0, 1, 1, 0);
		sample(world, 1, 2, 1, 0);
		change(world, 2, 3, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
		change(world, 3, 4, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
		if (early)
			lost_on(world, 1, 10, 30, true);
		change_on(world, 3, 3, 20, CTX_CHANGE_RUNS);
		if (!early)
			lost_on(world, 1, 10, 30, false);
		change(world, 0, 40, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
		change_on(world, 2, 1, 50, CTX_CHANGE_BLOCKED); /* nobody saw it get that CPU: it had it */
		change_on(world, 1, 0, 60, CTX_CHANGE_RUNS);
		finish(world, 100);
		assert_int_equal(world->seen.state_ns[0][CTX_STATE_UNKNOWN], 0);
		assert_int_equal(world->seen.state_ns[0][CTX_STATE_USER], 40);
		/* The CPU was another's: it left it in the loss, and came back at 60. */
		assert_int_equal(world->seen.state_ns[1][CTX_STATE_UNKNOWN], 60 - 10);
		assert_int_equal(world->seen.state_ns[2][CTX_STATE_UNKNOWN], 30 - 10);
		assert_int_equal(world->seen.state_ns[2][CTX_STATE_SLEEP], 10 - 3 + 100 - 50);
		/* It slept up to 20, or ran unseen. */
		assert_int_equal(world->seen.state_ns[3][CTX_STATE_UNKNOWN], early ? 20 - 10 : 0);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(world->seen.covered_ns[k], 100);
		if (early) {
			void *again = world;

			teardown(&again);
			setup(&again);
			*state = world = again;
		}
	}
}

/* Leaving another CPU in a loss that goes on, a thread may then run on the one of the loss. */
static void test_states__in_a_loss_who_leaves_its_cpu_is_unknown(void **state)
{
	struct world *world = *state;

	start(world, 0, 0);
	sample(world, 0, 1, 1, 0);
	lost_on(world, 1, 10, 50, true);
	change(world, 0, 20, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	wake(world, 0, 60, 3, 7);
	finish(world, 100);
	assert_int_equal(world->seen.state_ns[0][CTX_STATE_USER], 20);
	assert_int_equal(world->seen.state_ns[0][CTX_STATE_UNKNOWN], 50 - 20);
	assert_int_equal(world->seen.state_ns[0][CTX_STATE_SLEEP], 60 - 50);
	assert_int_equal(world->seen.state_ns[0][CTX_STATE_WAIT_CPU], 100 - 60);
}

/* No end is among the lost records, or the process is seen to have all its threads: lives go on. */
static void test_states__a_loss_without_ends_ends_no_life(void **state)
{
	struct world *world = *state;
	struct ctx_loss changes = {.time = {20, 30},
				   .located = true,
				   .has_kinds = true,
				   .cpu = 1,
				   .count = 2,
				   .kinds = {[CTX_LOSS_CHANGES] = 2}};

	start(world, 0, 0);
	start(world, 4, 0);
	start(world, 8, 0);
	for (uint32_t i = 0; i <= 8; i += 4)
		change(world, i, 5, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	assert_int_equal(ctx_states_lost(world->states, &changes, 20, NULL), CTX_OK);
	change_on(world, 4, 0, 35, CTX_CHANGE_RUNS);
	change(world, 4, 36, CTX_CHANGE_BLOCKED, 5, CTX_STACK_KERNEL);
	lost_on(world, 2, 40, 50, true);
	ctx_states_live(world->states, 1, 1);
	ctx_states_live(world->states, 2, 2); /* another one, which is not known */
	finish(world, 100);
	assert_int_equal(ctx_states_known_until(world->states, 0), 50); /* in the second loss */
	assert_int_equal(ctx_states_known_until(world->states, 4), UINT64_MAX);
	assert_int_equal(world->seen.covered_ns[4], 100);
	assert_int_equal(ctx_states_known_until(world->states, 8), 50);
}

/* Random threads: the truth is kept while events are emitted. */
struct truth {
	uint64_t ns[CTX_STATE_N];
	uint64_t since_ns;
	enum ctx_thread_state state; /* USER: on a CPU */
	bool lives, lived;
};

static void pass(struct truth *truth, uint64_t now_ns, enum ctx_thread_state next)
{
	truth->ns[truth->state] += now_ns - truth->since_ns;
	truth->since_ns = now_ns;
	truth->state = next;
}

static void random_step(struct world *world, struct truth *truth, uint32_t thread, uint64_t now_ns)
{
	static const struct {
		enum ctx_thread_state state;
		unsigned classes;
	} waits[] = {{CTX_STATE_SLEEP, CTX_STACK_KERNEL},
		     {CTX_STATE_USER_LOCK, CTX_STACK_KERNEL | CTX_STACK_FUTEX},
		     {CTX_STATE_DATA_FAULT, CTX_STACK_FAULT},
		     {CTX_STATE_KERNEL_FAULT, CTX_STACK_KERNEL_FAULT},
		     {CTX_STATE_STOPPED, CTX_STACK_STOP}};
	uint64_t chance = next_random();

	switch (truth->state) {
	case CTX_STATE_USER:
		if (chance % 3 == 0) {
			sample(world, thread, now_ns, 1, 0);
		} else if (chance % 3 == 1) {
			change(world, thread, now_ns, CTX_CHANGE_PREEMPTED, 2, 0);
			pass(truth, now_ns, CTX_STATE_WAIT_CPU);
		} else {
			size_t i = chance / 3 % (sizeof(waits) / sizeof(waits[0]));

			change(world, thread, now_ns, CTX_CHANGE_BLOCKED, 3, waits[i].classes);
			pass(truth, now_ns, waits[i].state);
		}
		break;
	case CTX_STATE_WAIT_CPU:
		change(world, thread, now_ns, CTX_CHANGE_RUNS, 0, 0);
		pass(truth, now_ns, CTX_STATE_USER);
		break;
	default:
		wake(world, thread, now_ns, 0, 1);
		pass(truth, now_ns, CTX_STATE_WAIT_CPU);
		break;
	}
}

static void check_truth(const struct world *world, const struct truth *truths)
{
	static uint64_t sums[THREADS_MAX][CTX_STATE_N];

	memset(sums, 0, sizeof(sums));
	for (size_t i = 0; i < world->seen.n; i++) {
		const struct ctx_state_span *span = &world->seen.spans[i];
		/*
		 * A thread that left the CPU before any sample is taken to have been in the kernel.
		 */
		enum ctx_thread_state state = span->state == CTX_STATE_SYSTEM ? CTX_STATE_USER : span->state;

		sums[span->thread][state] += span->end_ns - span->begin_ns;
	}
	for (uint32_t t = 0; t < THREADS_MAX; t++) {
		for (uint32_t s = 0; s < CTX_STATE_N; s++)
			assert_int_equal(sums[t][s], truths[t].ns[s]);
	}
}

static void test_states__random_threads_get_exactly_what_they_did(void **state)
{
	struct world *world = *state;
	uint64_t now_ns = 0;
	struct truth truths[THREADS_MAX] = {0};

	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t thread = (uint32_t)(next_random() % THREADS_MAX);
		struct truth *truth = &truths[thread];

		now_ns += next_random() % (20 * 1000);
		if (truth->lived)
			continue;
		if (!truth->lives) {
			start(world, thread, now_ns);
			*truth = (struct truth){
				.since_ns = now_ns, .state = CTX_STATE_WAIT_CPU, .lives = true};
			/* At time 0 it would be taken for a thread from before the recording. */
			random_step(world, truth, thread, ++now_ns);
		} else if (next_random() % 1000 == 0) {
			end(world, thread, now_ns);
			pass(truth, now_ns, CTX_STATE_USER);
			truth->lives = false;
			truth->lived = true;
		} else {
			random_step(world, truth, thread, now_ns);
		}
	}
	finish(world, ++now_ns);
	for (uint32_t t = 0; t < THREADS_MAX; t++) {
		if (truths[t].lives)
			pass(&truths[t], now_ns, CTX_STATE_USER);
	}
	check_truth(world, truths);
}

struct counted {
	uint64_t n, sum_ns;
};

static enum ctx_status count_span(void *context, const struct ctx_state_span *span, struct ctx_err *err)
{
	struct counted *counted = context;

	(void)err;
	counted->n++;
	counted->sum_ns += span->end_ns - span->begin_ns;
	return CTX_OK;
}

static enum ctx_status ignore_end(void *context, uint32_t thread, struct ctx_err *err)
{
	(void)context;
	(void)thread;
	(void)err;
	return CTX_OK;
}

/*
 * A nanosecond each: none is old enough to be emitted, but memory does not grow without limit.
 */
static void test_states__spans_do_not_pile_up_however_short_they_are(void **state)
{
	const uint32_t n = 600000;
	struct counted counted = {0};
	struct ctx_state_sink sink = {&counted, count_span, NULL, ignore_end, NULL};
	struct ctx_states *states;

	(void)state;
	assert_int_equal(ctx_states_create(&sink, &states, NULL), CTX_OK);
	assert_int_equal(ctx_states_start(states, 0, 0, 1, NULL), CTX_OK);
	for (uint32_t i = 1; i <= n; i++) {
		struct ctx_thread_change it = {.time_ns = 1 + i,
					       .change = i % 2 != 0 ? CTX_CHANGE_RUNS : CTX_CHANGE_BLOCKED,
					       .raw_stack = i % 2 != 0 ? 0 : 1};

		assert_int_equal(ctx_states_change(states, &it, NULL), CTX_OK);
	}
	assert_true(counted.n > n / 2);
	assert_int_equal(ctx_states_finish(states, 1 + n, NULL), CTX_OK);
	assert_int_equal(counted.n, n);
	assert_int_equal(counted.sum_ns, n);
	ctx_states_destroy(states);
}

/*
 * A tick each ms, seen in user mode alone: where they are missing, 3 to 7 and 11 to 15 ms, is the
 * kernel.
 */
static void test_states__a_user_mode_clock_implies_the_kernel_by_missing_ticks(void **state)
{
	struct world *world = *state;

	ctx_states_user_clock(world->states, MS);
	start(world, 0, 0);
	change(world, 0, 0, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 1 * MS, 7, 0);
	sample(world, 0, 2 * MS + 3000, 7, 0); /* a little late */
	sample(world, 0, 8 * MS, 8, 0);
	change(world, 0, 9 * MS, CTX_CHANGE_BLOCKED, 0, 0); /* before the tick: as before */
	change(world, 0, 10 * MS, CTX_CHANGE_RUNS, 0, 0);
	change(world, 0, 15 * MS, CTX_CHANGE_PREEMPTED, 0, 0);
	finish(world, 16 * MS);
	check_span(world, 0, CTX_STATE_USER, 0, 1 * MS, 7);
	check_span(world, 1, CTX_STATE_USER, 1 * MS, 2 * MS + 3000, 7);
	check_span(world, 2, CTX_STATE_SYSTEM, 2 * MS + 3000, 7 * MS, 0);
	check_span(world, 3, CTX_STATE_USER, 7 * MS, 8 * MS, 8);
	check_span(world, 4, CTX_STATE_USER, 8 * MS, 9 * MS, 8);
	check_span(world, 5, CTX_STATE_SLEEP, 9 * MS, 10 * MS, 0);
	check_span(world, 6, CTX_STATE_SYSTEM, 10 * MS, 15 * MS, 0);
	check_span(world, 7, CTX_STATE_WAIT_CPU, 15 * MS, 16 * MS, 0);
	assert_int_equal(world->seen.n, 8);
}

/*
 * The hypervisor takes the CPU away from 2.4 to 7.3 ms and from 8.1 to 8.7: the ticks that are due
 * then come when it is back, and the next one is on the grid again. What is missing on the grid, 10
 * to 14 ms, is the kernel.
 */
static void test_states__a_late_tick_means_a_lost_cpu_and_not_kernel_time(void **state)
{
	struct world *world = *state;

	ctx_states_user_clock(world->states, MS);
	start(world, 0, 0);
	change(world, 0, 0, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 1 * MS, 7, 0);
	sample(world, 0, 2 * MS + 10000, 7, 0);
	sample(world, 0, 7 * MS + 300000, 7, 0);
	sample(world, 0, 8 * MS, 7, 0);
	sample(world, 0, 8 * MS + 700000, 7, 0);
	sample(world, 0, 10 * MS, 7, 0);
	sample(world, 0, 15 * MS, 8, 0);
	finish(world, 15 * MS);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(world->seen.spans[i].state, CTX_STATE_USER);
	check_span(world, 6, CTX_STATE_SYSTEM, 10 * MS, 14 * MS, 0);
	check_span(world, 7, CTX_STATE_USER, 14 * MS, 15 * MS, 8);
	assert_int_equal(world->seen.n, 8);
}

/* The grid is of the thread's time on the CPU: 5 ms without the CPU do not move it. */
static void test_states__the_tick_grid_continues_from_where_the_thread_left_the_cpu(void **state)
{
	struct world *world = *state;

	ctx_states_user_clock(world->states, MS);
	start(world, 0, 0);
	change(world, 0, 0, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 1 * MS, 7, 0);
	change(world, 0, 1 * MS + 400000, CTX_CHANGE_PREEMPTED, 0, 0);
	change(world, 0, 6 * MS + 500000, CTX_CHANGE_RUNS, 0, 0);
	sample(world, 0, 10 * MS + 100000, 7, 0); /* 4 ms of its time later: three were due in the kernel */
	sample(world, 0, 12 * MS + 600000, 7, 0); /* 2.5 ms: the CPU was away */
	finish(world, 12 * MS + 600000);
	check_span(world, 0, CTX_STATE_USER, 0, 1 * MS, 7);
	check_span(world, 1, CTX_STATE_USER, 1 * MS, 1 * MS + 400000, 7);
	check_span(world, 2, CTX_STATE_WAIT_CPU, 1 * MS + 400000, 6 * MS + 500000, 0);
	check_span(world, 3, CTX_STATE_SYSTEM, 6 * MS + 500000, 9 * MS + 100000, 0);
	check_span(world, 4, CTX_STATE_USER, 9 * MS + 100000, 10 * MS + 100000, 7);
	check_span(world, 5, CTX_STATE_USER, 10 * MS + 100000, 12 * MS + 600000, 7);
	assert_int_equal(world->seen.n, 6);
}

/* Each CPU counts for itself how much of a thread's time is left until it ticks. */
static void test_states__on_another_processor_the_clock_may_be_silent_for_as_long_again(void **state)
{
	struct world *world = *state;

	ctx_states_user_clock(world->states, MS);
	start(world, 0, 0);
	for (uint32_t i = 0; i < 6; i++) {
		int32_t cpu = i < 4 ? (int32_t)(i % 2) : 1;

		change_on(world, 0, cpu, i * MS, CTX_CHANGE_RUNS);
		change_on(world, 0, cpu, (i + 1) * MS - 1000, CTX_CHANGE_PREEMPTED);
	}
	finish(world, 6 * MS);
	assert_int_equal(world->seen.n, 12);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(world->seen.spans[i].state, i % 2 != 0 ? CTX_STATE_WAIT_CPU
							     : i < 8	? CTX_STATE_USER
									: CTX_STATE_SYSTEM);
}

#define in_world(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_world(test_states__a_wait_for_a_lock_ends_with_its_waker_and_then_the_cpu_is_waited_for),
		in_world(test_states__the_wait_state_follows_from_the_stack),
		in_world(test_states__a_wait_for_instructions_is_the_same_in_the_span_and_in_the_wake_up),
		in_world(test_states__without_stacks_of_the_program_a_fault_for_instructions_is_one_wait),
		in_world(test_states__samples_divide_the_time_on_a_cpu),
		in_world(test_states__recorded_system_calls_separate_user_from_system),
		in_world(test_states__a_sample_in_a_system_call_implies_nothing_outside_it),
		in_world(test_states__a_sample_in_the_kernel_outside_of_system_calls_is_system),
		in_world(
			test_states__a_clock_of_the_kernel_alone_does_not_divide_the_time_outside_of_system_calls),
		in_world(test_states__an_instruction_fault_is_known_at_its_end),
		in_world(test_states__an_instruction_fault_implies_no_earlier_faults),
		in_world(test_states__threads_without_a_sample_did_what_others_of_their_process_did),
		in_world(test_states__a_switch_recorded_twice_is_merged),
		in_world(test_states__lost_events_affect_only_their_own_span),
		in_world(test_states__a_new_thread_waits_for_a_cpu_and_an_old_one_slept),
		in_world(test_states__a_life_ends_once_and_takes_nothing_more),
		in_world(test_states__of_two_reports_of_a_wake_up_the_one_with_the_waker_counts),
		in_world(test_states__an_end_reported_late_keeps_its_time),
		in_world(test_states__spans_after_the_end_of_a_thread_are_removed),
		in_world(test_states__a_missing_switch_out_is_implied_by_the_next_thread_on_the_cpu),
		in_world(
			test_states__of_two_reports_of_a_switch_the_second_may_know_that_the_thread_would_go_on),
		in_world(test_states__the_end_of_a_process_ends_exactly_its_live_threads),
		in_world(test_states__a_thread_starts_once),
		in_world(test_states__a_user_mode_clock_implies_the_kernel_by_missing_ticks),
		in_world(test_states__what_follows_without_the_lost_records_goes_on),
		in_world(test_states__what_does_not_follow_was_unknown_since_the_loss),
		in_world(test_states__a_thread_that_is_not_seen_after_a_loss_has_ended_there),
		in_world(test_states__a_loss_concerns_who_can_have_been_on_its_cpu),
		in_world(test_states__in_a_loss_who_leaves_its_cpu_is_unknown),
		in_world(test_states__a_loss_without_ends_ends_no_life),
		in_world(test_states__a_late_tick_means_a_lost_cpu_and_not_kernel_time),
		in_world(test_states__the_tick_grid_continues_from_where_the_thread_left_the_cpu),
		in_world(test_states__on_another_processor_the_clock_may_be_silent_for_as_long_again),
		in_world(test_states__spans_do_not_pile_up_however_short_they_are),
		in_world(test_states__random_threads_get_exactly_what_they_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
