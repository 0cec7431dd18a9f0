/*
 * Events of threads as recorders see them, and the resulting changes and spans.
 */
#include "base/mem.h"
#include "ingest/sched_model.h"
#include "model/profile.h"
#include "tests/unit/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ctx_thread_change seen_at(uint64_t time_ns, uint32_t thread, enum ctx_state_change kind)
{
	return (struct ctx_thread_change){.time_ns = time_ns,
					  .thread = thread,
					  .change = kind,
					  .cpu = (int32_t)thread,
					  .waker = CTX_NONE,
					  .external_waker = CTX_NONE};
}

/* --- changes --- */

/*
 * Events by letter: i runs, B P S left for this reason, X left for ever, l leaves, o off, p off
 * preempted, w waking, t and f an instruction fault and another fault, e enters.
 */
static enum ctx_state_change kind_of(char what)
{
	static const struct {
		char letter;
		enum ctx_state_change kind;
	} kinds[] = {{'i', CTX_CHANGE_RUNS},	 {'B', CTX_CHANGE_BLOCKED},	{'P', CTX_CHANGE_PREEMPTED},
		     {'S', CTX_CHANGE_STOPPED},	 {'X', CTX_SEEN_DEAD},		{'l', CTX_SEEN_LEAVES},
		     {'o', CTX_SEEN_OFF},	 {'p', CTX_SEEN_OFF_PREEMPTED}, {'w', CTX_SEEN_WAKING},
		     {'t', CTX_SEEN_TEXT_FAULT}, {'f', CTX_SEEN_FAULT},		{'e', CTX_CHANGE_ENTERS}};

	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		if (kinds[i].letter == what)
			return kinds[i].kind;
	}
	fail();
	return CTX_CHANGE_N;
}

/*
 * The results, in order: R, B, P, S, W, E(nters), t(ext fault); "-" for none, "(WR)" for several.
 */
static void check(bool is_new, const char *what, const char *want)
{
	static const char letters[CTX_CHANGE_N] = {
		[CTX_CHANGE_RUNS] = 'R',      [CTX_CHANGE_PREEMPTED] = 'P', [CTX_CHANGE_BLOCKED] = 'B',
		[CTX_CHANGE_STOPPED] = 'S',   [CTX_CHANGE_WOKEN] = 'W',	    [CTX_CHANGE_ENTERS] = 'E',
		[CTX_CHANGE_TEXT_FAULT] = 't'};
	struct ctx_sched_model model = {0};
	char got[64];
	size_t n = 0;

	if (is_new)
		assert_int_equal(ctx_sched_model_start(&model, 3, NULL), CTX_OK);
	for (size_t i = 0; what[i] != '\0'; i++) {
		struct ctx_thread_change seen = seen_at(i * 1000, 3, kind_of(what[i]));
		struct ctx_sched_changes changes;

		if (what[i] == 'w')
			seen.waker = 7;
		assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_OK);
		if (changes.n > 1)
			got[n++] = '(';
		for (unsigned k = 0; k < changes.n; k++) {
			assert_int_equal(changes.items[k].time_ns, i * 1000);
			assert_int_equal(changes.items[k].waker,
					 changes.items[k].change == CTX_CHANGE_WOKEN ? 7 : CTX_NONE);
			got[n++] = letters[changes.items[k].change];
		}
		if (changes.n != 1)
			got[n++] = changes.n == 0 ? '-' : ')';
	}
	got[n] = '\0';
	assert_string_equal(got, want);
	ctx_sched_model_deinit(&model);
}

static void test_sched_model__a_switch_that_is_seen_twice_is_one_change(void **state)
{
	(void)state;
	check(false, "iBowi", "RB-WR");
	check(false, "iPpi", "RP-R");
	check(false, "iSoi", "RS-R");
	/* Woken between the scheduler's decision and the switch. */
	check(false, "iBwoi", "RBW-R");
}

static void test_sched_model__lost_events_are_compensated(void **state)
{
	(void)state;
	check(false, "iowi", "RBWR"); /* no sample of the switch */
	check(false, "ipi", "RPR");
	check(false, "iBoBoi", "RB-B-R"); /* nor that it ran between */
	check(false, "iX", "R-");
	check(false, "iXo", "R--");
	check(false, "iBoeoi", "RB-EBR"); /* an active thread is on a CPU */
}

static void test_sched_model__a_reason_that_comes_later_is_added(void **state)
{
	(void)state;
	check(false, "iloi", "RB-R");
	check(false, "ilpi", "RBPR");
	check(false, "ilwoi", "RBW-R");
}

static void test_sched_model__an_early_wakeup_counts_when_the_thread_runs(void **state)
{
	struct ctx_sched_model model = {0};
	struct ctx_sched_changes changes;
	static const struct {
		uint64_t time_ns;
		char what;
	} late[] = {{0, 'i'}, {10, 'w'}, {20, 'B'}, {2000000, 'i'}};

	(void)state;
	/* A wakeup of a running thread changes nothing, and states.c ignores it. */
	check(false, "iwBoi", "RWB-(WR)");
	check(false, "iwBowi", "RWB-WR"); /* woken again: that one counts */
	check(false, "iwPpi", "RWP-R");
	check(false, "iwwBi", "RWWB(WR)");
	check(false, "iwli", "RWBR"); /* not known to be a wait */
	/*
	 * A thread without events: it can be asleep, unless its start was recorded.
	 */
	check(false, "wi", "WR");
	check(true, "wBoi", "WB-(WR)");
	/* An old wakeup has not ended this wait. */
	for (size_t i = 0; i < CTX_COUNT_OF(late); i++) {
		struct ctx_thread_change seen = seen_at(late[i].time_ns, 0, kind_of(late[i].what));

		assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_OK);
	}
	assert_int_equal(changes.n, 1);
	ctx_sched_model_deinit(&model);
}

static void test_sched_model__an_instruction_fault_is_emitted_after_its_wait(void **state)
{
	struct ctx_sched_model model = {0};
	struct ctx_sched_changes changes;
	struct ctx_thread_change seen;

	(void)state;
	check(false, "itBoi", "R-B-(Rt)");
	check(false, "itowi", "R-BW(Rt)");
	check(false, "itPpi", "R-P-R");		 /* it did not wait for it yet, */
	check(false, "itPpiBoi", "R-P-RB-(Rt)"); /* but does now */
	check(false, "itfBoi", "R--B-R");
	check(false, "iteBoi", "R-EB-R"); /* a wait in a system call is another one */
	/* Its first action shows that it is back. */
	check(false, "itBe", "R-B(tE)");
	check(false, "itBB", "R-B(tB)");
	for (const char *what = "tB"; *what != '\0'; what++) {
		seen = seen_at(5, 2, kind_of(*what));
		assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_OK);
	}
	assert_int_equal(ctx_sched_model_acts(&model, 2, 9, &changes, NULL), CTX_OK);
	assert_int_equal(changes.n, 1);
	assert_int_equal(changes.items[0].change, CTX_CHANGE_TEXT_FAULT);
	assert_int_equal(changes.items[0].time_ns, 9);
	ctx_sched_model_deinit(&model);
}

/* Changes of an older recorder are used as they are, in any order. */
static void test_sched_model__changes_of_older_recordings_stay_as_they_are(void **state)
{
	struct ctx_sched_model model = {0};
	uint64_t seed = 5;

	(void)state;
	for (uint64_t round = 0; round < 20000; round++) {
		struct ctx_thread_change seen;
		struct ctx_sched_changes changes;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		seen = seen_at(round * 100, (uint32_t)(seed >> 40 & 15),
			       (enum ctx_state_change)(seed >> 50 & 7));
		seen.raw_stack = (uint32_t)round;
		assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_OK);
		assert_int_equal(changes.n, 1);
		assert_memory_equal(&changes.items[0], &seen, sizeof(seen));
	}
	ctx_sched_model_deinit(&model);
}

/* --- spans --- */

#define LOG_MAX 8192u

struct entry {
	uint64_t begin_ns, end_ns;
	uint32_t thread, state, raw_stack, waker, waker_raw_stack;
	uint32_t is_wakeup; /* no padding: entries are compared as bytes */
};

struct log {
	struct entry items[LOG_MAX];
	size_t n;
};

static enum ctx_status log_span(void *context, const struct ctx_state_span *span, struct ctx_err *err)
{
	struct log *log = context;

	(void)err;
	assert_true(log->n < LOG_MAX);
	log->items[log->n++] = (struct entry){.begin_ns = span->begin_ns,
					      .end_ns = span->end_ns,
					      .thread = span->thread,
					      .state = span->state,
					      .raw_stack = span->raw_stack};
	return CTX_OK;
}

static enum ctx_status log_wakeup(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	struct log *log = context;

	(void)err;
	assert_true(log->n < LOG_MAX);
	log->items[log->n++] = (struct entry){.begin_ns = wakeup->time_ns - wakeup->wait_ns,
					      .end_ns = wakeup->time_ns,
					      .thread = wakeup->thread,
					      .state = wakeup->state,
					      .raw_stack = wakeup->raw_stack,
					      .waker = wakeup->waker,
					      .waker_raw_stack = wakeup->waker_raw_stack,
					      .is_wakeup = true};
	return CTX_OK;
}

static enum ctx_status log_end(void *context, uint32_t thread, struct ctx_err *err)
{
	(void)context;
	(void)thread;
	(void)err;
	return CTX_OK;
}

/* The observers of the same threads. */
enum observer {
	RECORDER,	/* ctxrec: each switch and wake-up once, with its reason */
	RECORDER_APART, /* ctxrec without tracepoints, what came in front of a switch in another batch than it */
	PERF,		/* sched_switch, SWITCH records, sched_waking and sched_wakeup: all twice */
	PERF_SAMPLES, /* sched_switch and sched_waking alone */
	OBSERVERS,
};

struct play {
	enum observer observer;
	struct ctx_sched_model model;
	struct ctx_states *states;
	struct log log;
};

static void see(struct play *play, const struct ctx_thread_change *seen)
{
	struct ctx_sched_changes changes;

	assert_int_equal(ctx_sched_model_take(&play->model, seen, &changes, NULL), CTX_OK);
	for (unsigned i = 0; i < changes.n; i++)
		assert_int_equal(ctx_states_change(play->states, &changes.items[i], NULL), CTX_OK);
}

static void play_runs(struct play *play, uint64_t time_ns, uint32_t thread)
{
	struct ctx_thread_change seen = seen_at(time_ns, thread, CTX_CHANGE_RUNS);

	see(play, &seen);
	if (play->observer == PERF)
		see(play, &seen);
}

static void play_leaves(struct play *play, uint64_t time_ns, uint32_t thread, bool is_preempted)
{
	struct ctx_thread_change seen =
		seen_at(time_ns, thread, is_preempted ? CTX_CHANGE_PREEMPTED : CTX_CHANGE_BLOCKED);

	if (play->observer == RECORDER_APART)
		seen.change = CTX_SEEN_LEAVES;
	seen.classes = CTX_STACK_KERNEL | CTX_STACK_FUTEX;
	seen.raw_stack = 10 + thread;
	see(play, &seen);
	seen = seen_at(time_ns + 1, thread, is_preempted ? CTX_SEEN_OFF_PREEMPTED : CTX_SEEN_OFF);
	if (play->observer == RECORDER_APART || play->observer == PERF)
		see(play, &seen);
}

static void play_waking(struct play *play, uint64_t time_ns, uint32_t thread)
{
	struct ctx_thread_change seen = seen_at(time_ns, thread, CTX_SEEN_WAKING);

	seen.waker = 9;
	seen.waker_raw_stack = 99;
	see(play, &seen);
	seen.change = CTX_CHANGE_WOKEN; /* by now the same CPU does something else */
	seen.time_ns++;
	seen.waker_raw_stack = 98;
	if (play->observer == PERF)
		see(play, &seen);
}

#define TURNS 200u

/*
 * Four threads, each on a CPU of its own: they wait, are woken in time, too early, or unrecorded,
 * or are preempted.
 */
static void play_all(struct play *play)
{
	const struct ctx_state_sink sink = {&play->log, log_span, log_wakeup, log_end, NULL};
	uint64_t time_ns = 1000, seed = 3;

	assert_int_equal(ctx_states_create(&sink, &play->states, NULL), CTX_OK);
	for (uint32_t thread = 0; thread < 4; thread++) {
		assert_int_equal(ctx_states_start(play->states, thread, 0, 100, NULL), CTX_OK);
		assert_int_equal(ctx_sched_model_start(&play->model, thread, NULL), CTX_OK);
	}
	for (unsigned turn = 0; turn < TURNS; turn++, time_ns += 1000) {
		struct ctx_thread_sample sample;
		uint32_t thread = turn % 4;
		unsigned how;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		how = (unsigned)(seed >> 60);
		play_runs(play, time_ns, thread);
		if (how < 4)
			play_waking(play, time_ns + 90, thread);
		play_leaves(play, time_ns + 100, thread, how >= 12);
		if (how >= 4 && how < 9)
			play_waking(play, time_ns + 500, thread);
		sample = (struct ctx_thread_sample){
			.time_ns = time_ns + 700, .thread = 3, .cpu = 3, .raw_stack = 55};
		assert_int_equal(ctx_states_sample(play->states, &sample, NULL), CTX_OK);
	}
	assert_int_equal(ctx_states_finish(play->states, time_ns, NULL), CTX_OK);
	ctx_states_destroy(play->states);
	ctx_sched_model_deinit(&play->model);
}

static void test_sched_model__all_observers_see_the_same_spans_and_wakers(void **state)
{
	struct play *plays = calloc(OBSERVERS, sizeof(*plays));
	size_t n_wakeups = 0;

	(void)state;
	assert_non_null(plays);
	for (unsigned i = 0; i < OBSERVERS; i++) {
		plays[i].observer = (enum observer)i;
		play_all(&plays[i]);
		assert_true(plays[i].log.n > TURNS);
		assert_int_equal(plays[i].log.n, plays[0].log.n);
		assert_memory_equal(plays[i].log.items, plays[0].log.items,
				    plays[0].log.n * sizeof(plays[0].log.items[0]));
	}
	for (size_t i = 0; i < plays[0].log.n; i++) {
		n_wakeups += plays[0].log.items[i].is_wakeup;
		if (plays[0].log.items[i].is_wakeup)
			assert_int_equal(plays[0].log.items[i].waker_raw_stack, 99);
	}
	assert_true(n_wakeups > TURNS / 4);
	free(plays);
}

static void test_sched_model__a_failing_allocation_is_a_status(void **state)
{
	struct ctx_thread_change seen = seen_at(1, 1000, CTX_CHANGE_RUNS);
	struct ctx_sched_model model = {0};
	struct ctx_sched_changes changes;

	(void)state;
	fail_after = 0;
	assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_E_NOMEM);
	fail_after = 0;
	assert_int_equal(ctx_sched_model_start(&model, 1000, NULL), CTX_E_NOMEM);
	fail_after = 0;
	assert_int_equal(ctx_sched_model_acts(&model, 1000, 1, &changes, NULL), CTX_E_NOMEM);
	fail_after = -1;
	assert_int_equal(ctx_sched_model_take(&model, &seen, &changes, NULL), CTX_OK);
	ctx_sched_model_deinit(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sched_model__a_switch_that_is_seen_twice_is_one_change),
		cmocka_unit_test(test_sched_model__lost_events_are_compensated),
		cmocka_unit_test(test_sched_model__a_reason_that_comes_later_is_added),
		cmocka_unit_test(test_sched_model__an_early_wakeup_counts_when_the_thread_runs),
		cmocka_unit_test(test_sched_model__an_instruction_fault_is_emitted_after_its_wait),
		cmocka_unit_test(test_sched_model__changes_of_older_recordings_stay_as_they_are),
		cmocka_unit_test(test_sched_model__all_observers_see_the_same_spans_and_wakers),
		cmocka_unit_test(test_sched_model__a_failing_allocation_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
