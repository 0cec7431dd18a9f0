/*
 * Threads of OpenMP: random programs whose states are known at every ns, drawn on a sheet of paper, against what is
 * made of their events; then events that are missing.
 */
#include "ingest/omp_threads.h"

#include "base/mem.h"
#include "model/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define THREADS 4u
#define END_NS 6000u
#define EVENTS 20000u
#define OPERATIONS 4000u
#define UNDRAWN 0xff
#define SERIAL_RAW 1u
#define IDLE_RAW 2u
#define REGION_RAW 1000u   /* and the number of the region */
#define OVERHEAD_RAW 2000u /* the same */
#define TASK_RAW 3000u	   /* and the number of the task */
#define WAIT_RAW 4000u	   /* and the state */

struct drawn {
	uint8_t state[END_NS];
	uint32_t raw[END_NS];
};

struct expected {
	uint64_t time_ns, duration_ns, self_ns, off_ns, longest_ns, depth;
	uint32_t raw, threads, operation;
};

struct world {
	struct drawn truth[THREADS], got[THREADS];
	struct ctx_omp_input events[EVENTS];
	size_t n_events;
	struct expected expected[OPERATIONS];
	size_t n_expected, n_operations;
	uint64_t spans_ns, seed;
	uint32_t number;
	bool checks_operations;
	uint64_t last_end_ns, last_operation_ns;
};

static uint64_t below(struct world *world, uint64_t n)
{
	world->seed = world->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (world->seed >> 33) % n;
}

static struct ctx_omp_input *tell(struct world *world, uint64_t time_ns, uint32_t thread,
				  enum ctx_omp_event event, uint32_t value)
{
	struct ctx_omp_input *input = &world->events[world->n_events++];

	assert_true(world->n_events <= EVENTS);
	*input = (struct ctx_omp_input){.time_ns = time_ns,
					.thread = thread,
					.event = event,
					.value = value,
					.raw_stack = event == CTX_OMP_ENTER ? WAIT_RAW + value : 0};
	return input;
}

static void draw(struct world *world, uint32_t thread, uint64_t from, uint64_t to, enum ctx_omp_state state,
		 uint32_t raw)
{
	for (uint64_t ns = from; ns < to; ns++) {
		world->truth[thread].state[ns] = (uint8_t)state;
		world->truth[thread].raw[ns] = raw;
	}
}

/* What a thread does from `from` on in its part of a region: the time at which it is done. */
struct part {
	uint32_t thread, raw;
	uint64_t at, work_ns, wait_ns;
};

static void do_work(struct world *world, struct part *part, uint32_t raw, uint64_t *self_ns)
{
	uint64_t ns = below(world, 6);

	draw(world, part->thread, part->at, part->at + ns, CTX_OMP_WORK, raw);
	part->at += ns;
	part->work_ns += ns;
	if (self_ns != NULL)
		*self_ns += ns;
}

static void do_task(struct world *world, struct part *part, unsigned depth);

/* `depth` is that of a task which is run meanwhile. */
static void do_wait(struct world *world, struct part *part, unsigned depth)
{
	enum ctx_omp_state state =
		(enum ctx_omp_state)(CTX_OMP_REDUCTION + below(world, CTX_OMP_STATE_N - CTX_OMP_REDUCTION));
	uint64_t ns = below(world, 5);

	tell(world, part->at, part->thread, CTX_OMP_ENTER, state);
	draw(world, part->thread, part->at, part->at + ns, state, WAIT_RAW + state);
	part->at += ns;
	*(state == CTX_OMP_REDUCTION ? &part->work_ns : &part->wait_ns) += ns;
	if (depth < 3 && below(world, 3) == 0)
		do_task(world, part, depth);
	tell(world, part->at, part->thread, CTX_OMP_LEAVE, state);
}

static void expect_task(struct world *world, const struct part *part, uint32_t number,
			const struct expected *sums)
{
	world->expected[world->n_expected] = *sums;
	world->expected[world->n_expected].time_ns = part->at;
	world->expected[world->n_expected].raw = TASK_RAW + number;
	world->expected[world->n_expected].operation = CTX_OMP_OF_TASK;
	world->expected[world->n_expected].off_ns = sums->duration_ns - sums->self_ns;
	world->expected[world->n_expected++].threads = UINT32_MAX;
}

/* Created and run at once, so that its depth is known. */
static void do_task(struct world *world, struct part *part, unsigned depth)
{
	uint32_t number = ++world->number;
	uint64_t begin = part->at;
	struct expected sums = {.depth = depth};

	tell(world, part->at, part->thread, CTX_OMP_TASK_CREATE, number)->raw_stack = TASK_RAW + number;
	tell(world, part->at, part->thread, CTX_OMP_TASK_BEGIN, number)->raw_stack = TASK_RAW + number;
	do_work(world, part, TASK_RAW + number, &sums.self_ns);
	if (below(world, 2) == 0)
		do_wait(world, part, depth + 1);
	do_work(world, part, TASK_RAW + number, &sums.self_ns);
	sums.duration_ns = part->at - begin;
	tell(world, part->at, part->thread, CTX_OMP_TASK_END, number);
	expect_task(world, part, number, &sums);
}

static uint64_t do_region(struct world *world, const uint32_t *team, uint32_t n, uint64_t from, bool nests);

/* A region that the thread begins inside another. */
static void do_inner(struct world *world, struct part *part)
{
	uint64_t end = do_region(world, &part->thread, 1, part->at, false);

	part->work_ns += end - part->at;
	part->at = end;
}

static uint64_t do_part(struct world *world, struct part *part, bool nests)
{
	for (uint64_t i = below(world, 4); i-- != 0;) {
		do_work(world, part, part->raw, NULL);
		if (below(world, 2) == 0)
			do_wait(world, part, 0);
		else if (nests && below(world, 2) == 0)
			do_inner(world, part);
		else
			do_task(world, part, 0);
	}
	do_work(world, part, part->raw, NULL);
	return part->at;
}

/* Returns its end. team[0] is the master. */
static uint64_t do_region(struct world *world, const uint32_t *team, uint32_t n, uint64_t from, bool nests)
{
	uint32_t number = ++world->number;
	struct expected sums = {.operation = CTX_OMP_OF_REGION, .threads = n, .raw = REGION_RAW + number};
	struct ctx_omp_input *begin = tell(world, from, team[0], CTX_OMP_REGION_BEGIN, number);
	struct part parts[THREADS];
	uint64_t end = from;

	begin->raw_stack = REGION_RAW + number;
	begin->overhead_raw = OVERHEAD_RAW + number;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t late = 1 + below(world, 4), done;

		parts[i] = (struct part){.thread = team[i], .raw = REGION_RAW + number, .at = from + late};
		draw(world, team[i], from, from + late, i == 0 ? CTX_OMP_OVERHEAD : CTX_OMP_IDLE,
		     i == 0 ? OVERHEAD_RAW + number : IDLE_RAW);
		tell(world, from + late, team[i], CTX_OMP_JOIN, number);
		done = do_part(world, &parts[i], nests);
		end = done > end ? done : end;
	}
	end += 1 + below(world, 3);
	for (uint32_t i = 0; i < n; i++) {
		/* All wait for the team; half of them never tell that they have left the barrier. */
		tell(world, parts[i].at, team[i], CTX_OMP_ENTER, CTX_OMP_IMPLICIT_BARRIER);
		draw(world, team[i], parts[i].at, end, CTX_OMP_IMPLICIT_BARRIER,
		     WAIT_RAW + CTX_OMP_IMPLICIT_BARRIER);
		sums.self_ns += parts[i].work_ns;
		sums.off_ns += parts[i].wait_ns + end - parts[i].at;
		sums.longest_ns = parts[i].work_ns > sums.longest_ns ? parts[i].work_ns : sums.longest_ns;
	}
	if (below(world, 2) == 0) {
		tell(world, end, team[0], CTX_OMP_LEAVE, CTX_OMP_IMPLICIT_BARRIER);
		tell(world, end, team[0], CTX_OMP_PART, number);
		draw(world, team[0], end, end + 2, CTX_OMP_OVERHEAD, OVERHEAD_RAW + number);
		for (uint32_t i = 1; i < n; i++) {
			draw(world, team[i], end, end + 2, CTX_OMP_IMPLICIT_BARRIER,
			     WAIT_RAW + CTX_OMP_IMPLICIT_BARRIER);
			sums.off_ns += 2;
		}
		end += 2;
	}
	tell(world, end, team[0], CTX_OMP_REGION_END, number);
	for (uint32_t i = 1; i < n; i++) /* too late */
		tell(world, end + 1, team[i], CTX_OMP_LEAVE, CTX_OMP_IMPLICIT_BARRIER);
	sums.time_ns = end;
	sums.duration_ns = end - from;
	world->expected[world->n_expected++] = sums;
	assert_true(world->n_expected < OPERATIONS);
	return end;
}

static void make(struct world *world, uint64_t seed)
{
	const uint32_t team[THREADS] = {0, 1, 2, 3};
	uint64_t at = 10;

	*world = (struct world){.seed = seed, .checks_operations = true};
	memset(world->got, UNDRAWN, sizeof(world->got));
	for (uint32_t i = 0; i < THREADS; i++)
		draw(world, i, 0, END_NS, i == 0 ? CTX_OMP_SERIAL : CTX_OMP_IDLE,
		     i == 0 ? SERIAL_RAW : IDLE_RAW);
	while (at < END_NS / 2)
		at = do_region(world, team, 1 + (uint32_t)below(world, THREADS), at, true) + 2 +
		     below(world, 9);
	assert_true(at < END_NS);
}

/* --- the sink --- */

static enum ctx_status take_span(void *context, const struct ctx_omp_span *span, struct ctx_err *err)
{
	struct world *world = context;

	(void)err;
	assert_true(span->begin_ns < span->end_ns && span->end_ns <= END_NS);
	assert_true(span->end_ns >= world->last_end_ns);
	world->last_end_ns = span->end_ns;
	world->spans_ns += span->end_ns - span->begin_ns;
	for (uint64_t ns = span->begin_ns; ns < span->end_ns; ns++) {
		assert_int_equal(world->got[span->thread].state[ns], UNDRAWN);
		world->got[span->thread].state[ns] = (uint8_t)span->state;
		world->got[span->thread].raw[ns] = span->raw_stack;
	}
	return CTX_OK;
}

/* There are few with the same end and stack: the first that fits. */
static enum ctx_status take_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	struct world *world = context;
	size_t i = 0;

	(void)err;
	assert_true(operation->time_ns >= world->last_operation_ns);
	world->last_operation_ns = operation->time_ns;
	world->n_operations++;
	assert_true(operation->duration_ns <= operation->time_ns);
	assert_int_equal(operation->kind, CTX_TRACED_OMP);
	if (!world->checks_operations)
		return CTX_OK;
	while (i < world->n_expected && !(world->expected[i].raw == operation->raw_stack))
		i++;
	assert_true(i < world->n_expected);
	assert_int_equal(operation->time_ns, world->expected[i].time_ns);
	assert_int_equal(operation->operation, world->expected[i].operation);
	assert_int_equal(operation->duration_ns, world->expected[i].duration_ns);
	assert_int_equal(operation->self_ns, world->expected[i].self_ns);
	assert_int_equal(operation->off_ns, world->expected[i].off_ns);
	assert_int_equal((uint32_t)operation->descriptor, world->expected[i].threads);
	if (operation->operation == CTX_OMP_OF_REGION)
		assert_int_equal(operation->longest_ns, world->expected[i].longest_ns);
	else
		assert_int_equal(operation->value, world->expected[i].depth);
	return CTX_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_omp_input *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->born_ns > right->born_ns) - (left->born_ns < right->born_ns);
}

/* In order of time; those of the same ns in the order in which they were told. */
static void sort(struct world *world)
{
	for (size_t i = 0; i < world->n_events; i++)
		world->events[i].born_ns = i;
	qsort(world->events, world->n_events, sizeof(*world->events), by_time);
	for (size_t i = 0; i < world->n_events; i++)
		world->events[i].born_ns = 0;
}

/* Leaves out every `omitted`-th event; 0: none. */
static void play(struct world *world, uint64_t omitted)
{
	const struct ctx_omp_options options = {.sink = {world, take_span, take_operation, NULL},
						.last_ns = END_NS - 1,
						.serial_raw = SERIAL_RAW,
						.idle_raw = IDLE_RAW};
	struct ctx_omp_threads *threads;

	assert_int_equal(ctx_omp_threads_create(&options, &threads, NULL), CTX_OK);
	for (size_t i = 0; i < world->n_events; i++) {
		if (omitted != 0 && below(world, omitted) == 0)
			continue;
		assert_int_equal(ctx_omp_threads_event(threads, &world->events[i], NULL), CTX_OK);
	}
	assert_int_equal(ctx_omp_threads_finish(threads, NULL), CTX_OK);
	ctx_omp_threads_destroy(threads);
}

static void test_omp_threads__states_and_sums_are_those_of_the_drawing(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		make(world, seed);
		sort(world);
		play(world, 0);
		for (uint32_t i = 0; i < THREADS; i++) {
			for (uint64_t ns = 0; ns < END_NS - 1; ns++) {
				if (world->got[i].state[ns] == UNDRAWN && i != 0) {
					/* It was in no team. */
					assert_int_equal(world->truth[i].state[ns], CTX_OMP_IDLE);
					continue;
				}
				assert_int_equal(world->got[i].state[ns], world->truth[i].state[ns]);
				assert_int_equal(world->got[i].raw[ns], world->truth[i].raw[ns]);
			}
		}
		assert_int_equal(world->n_operations, world->n_expected);
	}
	free(world);
}

/* Whatever is missing: each thread that has reported an event has one state at any time. */
static void test_omp_threads__lost_events_leave_no_gaps(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		make(world, seed);
		world->checks_operations = false;
		sort(world);
		play(world, 2 + seed % 9);
		assert_int_equal(world->spans_ns % (END_NS - 1), 0);
		assert_true(world->spans_ns != 0);
	}
	free(world);
}

/* A thread's end ends what it is in; its region goes on. */
static void test_omp_threads__a_thread_that_ends_has_no_more_time(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));
	const struct ctx_omp_options options = {.sink = {world, take_span, take_operation, NULL},
						.last_ns = END_NS - 1};
	struct ctx_omp_input events[] = {
		{.time_ns = 100, .thread = 0, .event = CTX_OMP_REGION_BEGIN, .value = 7, .raw_stack = 5},
		{.time_ns = 110, .thread = 0, .event = CTX_OMP_JOIN, .value = 7},
		{.time_ns = 120, .thread = 1, .event = CTX_OMP_JOIN, .value = 7, .born_ns = 115},
	};
	struct ctx_omp_threads *threads;

	(void)state;
	memset(world->got, UNDRAWN, sizeof(world->got));
	assert_int_equal(ctx_omp_threads_create(&options, &threads, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(events); i++)
		assert_int_equal(ctx_omp_threads_event(threads, &events[i], NULL), CTX_OK);
	assert_int_equal(ctx_omp_threads_base(threads, 1, CTX_OMP_BASE_OF_WAIT).raw, 5);
	assert_int_equal(ctx_omp_threads_end(threads, 1, 150, NULL), CTX_OK);
	assert_int_equal(ctx_omp_threads_base(threads, 1, CTX_OMP_BASE_OF_WAIT).raw, 0);
	assert_int_equal(ctx_omp_threads_event(threads,
					       &(struct ctx_omp_input){.time_ns = 200,
								       .thread = 0,
								       .event = CTX_OMP_REGION_END,
								       .value = 7},
					       NULL),
			 CTX_OK);
	assert_int_equal(ctx_omp_threads_finish(threads, NULL), CTX_OK);
	ctx_omp_threads_destroy(threads);
	assert_int_equal(world->n_operations, 1);
	assert_int_equal(world->got[1].state[114], UNDRAWN);
	assert_int_equal(world->got[1].state[115], CTX_OMP_IDLE);
	assert_int_equal(world->got[1].state[149], CTX_OMP_WORK);
	assert_int_equal(world->got[1].state[150], UNDRAWN);
	assert_int_equal(world->got[0].state[199], CTX_OMP_WORK);
	assert_int_equal(world->got[0].state[200], CTX_OMP_SERIAL);
	free(world);
}

/* Tasks of a loop share a number; they are forgotten when it is said that none begins any more. */
static void test_omp_threads__tasks_of_a_loop_are_counted_one_by_one(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));
	const struct ctx_omp_options options = {.sink = {world, take_span, take_operation, NULL},
						.last_ns = END_NS - 1};
	struct ctx_omp_threads *threads;
	uint64_t at = 1;

	(void)state;
	memset(world->got, UNDRAWN, sizeof(world->got));
	assert_int_equal(ctx_omp_threads_create(&options, &threads, NULL), CTX_OK);
	for (unsigned i = 0; i < 12; i++) {
		const struct ctx_omp_input input = {.time_ns = at++,
						    .value = 3,
						    .event = i == 0	  ? CTX_OMP_TASKS_CREATE
							     : i == 11	  ? CTX_OMP_TASKS_END
							     : i % 2 != 0 ? CTX_OMP_TASK_BEGIN
									  : CTX_OMP_TASK_END,
						    .work = 9};

		assert_int_equal(ctx_omp_threads_event(threads, &input, NULL), CTX_OK);
		assert_int_equal(ctx_omp_threads_task_work(threads, 0, 3), i != 11 ? 9 : 0);
	}
	assert_int_equal(world->n_operations, 5);
	ctx_omp_threads_destroy(threads);
	free(world);
}

static enum ctx_status take_text(void *context, const char *text, uint32_t *ret, struct ctx_err *err)
{
	(void)context;
	(void)err;
	*ret = strcmp(text, "dynamic, 16") == 0 ? 77 : strcmp(text, CTX_OMP_SEVERAL) == 0 ? 78 : 0;
	return CTX_OK;
}

static enum ctx_status keep_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	(void)err;
	*(struct ctx_traced *)context = *operation;
	return CTX_OK;
}

static enum ctx_status no_span(void *context, const struct ctx_omp_span *span, struct ctx_err *err)
{
	(void)context;
	(void)span;
	(void)err;
	return CTX_OK;
}

#define LOOP_16 0x1021u /* dynamic, 16 */

/* What a thread does in a work-sharing construct, and the barrier behind it, hang below it. */
static void test_omp_threads__a_loop_has_its_work_and_its_barrier(void **state)
{
	static const struct {
		struct ctx_omp_input input;
		uint32_t wait, barrier, outlined; /* bases behind it */
	} steps[] = {
		{{.event = CTX_OMP_REGION_BEGIN, .value = 7, .raw_stack = 5}, 5, 5, 5},
		{{.event = CTX_OMP_JOIN, .value = 7}, 5, 5, 5},
		{{.event = CTX_OMP_SHARE_BEGIN, .value = LOOP_16, .raw_stack = 6, .skip = 2}, 6, 6, 5},
		{{.event = CTX_OMP_ENTER, .value = CTX_OMP_CRITICAL_WAIT, .raw_stack = 9}, 6, 6, 5},
		{{.event = CTX_OMP_LEAVE, .value = CTX_OMP_CRITICAL_WAIT}, 6, 6, 5},
		{{.event = CTX_OMP_SHARE_END, .value = CTX_OMP_SHARE_LOOP}, 5, 6, 5},
		{{.event = CTX_OMP_ENTER, .value = CTX_OMP_REDUCTION}, 5, 6, 5},
		{{.event = CTX_OMP_LEAVE, .value = CTX_OMP_REDUCTION}, 5, 6, 5},
		{{.event = CTX_OMP_ENTER, .value = CTX_OMP_IMPLICIT_BARRIER}, 5, 6, 5},
		{{.event = CTX_OMP_LEAVE, .value = CTX_OMP_IMPLICIT_BARRIER}, 5, 5, 5},
		{{.event = CTX_OMP_SHARE_BEGIN, .value = LOOP_16, .raw_stack = 6}, 6, 6, 5},
		{{.event = CTX_OMP_SHARE_END, .value = LOOP_16}, 5, 6, 5},
		/* gcc's at the end of another construct, and left as the call of a barrier */
		{{.event = CTX_OMP_ENTER, .value = CTX_OMP_IMPLICIT_BARRIER, .is_called = true}, 5, 5, 5},
		{{.event = CTX_OMP_LEAVE, .value = CTX_OMP_EXPLICIT_BARRIER}, 5, 5, 5},
		{{.event = CTX_OMP_REGION_END, .value = 7}, 0, 0, 0},
	};
	struct ctx_traced region = {0};
	const struct ctx_omp_options options = {.sink = {&region, no_span, keep_operation, take_text},
						.last_ns = END_NS - 1};
	struct ctx_omp_threads *threads;
	struct ctx_omp_doing doing;

	(void)state;
	assert_int_equal(ctx_omp_threads_create(&options, &threads, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(steps); i++) {
		struct ctx_omp_input input = steps[i].input;

		input.time_ns = 100 * (i + 1);
		assert_int_equal(ctx_omp_threads_event(threads, &input, NULL), CTX_OK);
		assert_int_equal(ctx_omp_threads_base(threads, 0, CTX_OMP_BASE_OF_WAIT).raw, steps[i].wait);
		assert_int_equal(ctx_omp_threads_base(threads, 0, CTX_OMP_BASE_OF_BARRIER).raw,
				 steps[i].barrier);
		assert_int_equal(ctx_omp_threads_base(threads, 0, CTX_OMP_BASE_OF_OUTLINED).raw,
				 steps[i].outlined);
		assert_true(ctx_omp_threads_doing(threads, 0, &doing));
		assert_int_equal(doing.base.raw,
				 doing.state == CTX_OMP_IMPLICIT_BARRIER ? steps[i].barrier : steps[i].wait);
		assert_int_equal(doing.base.is_share, doing.base.raw == 6);
	}
	assert_int_equal(region.file, 77);
	assert_int_equal(region.self_ns, 1000);
	assert_int_equal(region.off_ns, 300);
	ctx_omp_threads_destroy(threads);
}

/* A task is made ready until its creator says so; it runs below where it was created, what it creates not. */
static void test_omp_threads__a_task_is_dispatched(void **state)
{
	static const struct ctx_omp_input inputs[] = {
		{.event = CTX_OMP_REGION_BEGIN, .value = 7, .raw_stack = 5},
		{.event = CTX_OMP_JOIN, .value = 7},
		{.event = CTX_OMP_SCHEDULED, .value = LOOP_16},
		{.event = CTX_OMP_SHARE_BEGIN, .value = 0x31, .raw_stack = 6}, /* guided */
		{.event = CTX_OMP_SHARE_END, .value = CTX_OMP_SHARE_LOOP},
		{.event = CTX_OMP_TASK_DISPATCHED, .value = 3, .raw_stack = 8, .overhead_raw = 11, .work = 9},
		{.event = CTX_OMP_LEAVE, .value = CTX_OMP_TASK_DISPATCH},
		{.event = CTX_OMP_TASK_BEGIN, .value = 3, .raw_stack = 10},
	};
	struct world *world = ctx_calloc(1, sizeof(*world));
	const struct ctx_omp_options options = {.sink = {world, take_span, keep_operation, take_text},
						.last_ns = END_NS - 1};
	struct ctx_omp_threads *threads;

	(void)state;
	memset(world->got, UNDRAWN, sizeof(world->got));
	assert_int_equal(ctx_omp_threads_create(&options, &threads, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(inputs); i++) {
		struct ctx_omp_input input = inputs[i];

		input.time_ns = 100 * (i + 1);
		assert_int_equal(ctx_omp_threads_event(threads, &input, NULL), CTX_OK);
	}
	assert_int_equal(ctx_omp_threads_base(threads, 0, CTX_OMP_BASE_OF_WAIT).raw, 8);
	assert_int_equal(ctx_omp_threads_base(threads, 0, CTX_OMP_BASE_OF_CREATED).raw, 10);
	assert_int_equal(ctx_omp_threads_end(threads, 0, 900, NULL), CTX_OK);
	assert_int_equal(world->got[0].state[599], CTX_OMP_WORK);
	assert_int_equal(world->got[0].state[600], CTX_OMP_TASK_DISPATCH);
	assert_int_equal(world->got[0].raw[600], 11);
	assert_int_equal(world->got[0].state[700], CTX_OMP_WORK);
	assert_int_equal(world->got[0].raw[800], 8);
	ctx_omp_threads_destroy(threads);
	free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_omp_threads__states_and_sums_are_those_of_the_drawing),
		cmocka_unit_test(test_omp_threads__lost_events_leave_no_gaps),
		cmocka_unit_test(test_omp_threads__a_thread_that_ends_has_no_more_time),
		cmocka_unit_test(test_omp_threads__tasks_of_a_loop_are_counted_one_by_one),
		cmocka_unit_test(test_omp_threads__a_loop_has_its_work_and_its_barrier),
		cmocka_unit_test(test_omp_threads__a_task_is_dispatched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
