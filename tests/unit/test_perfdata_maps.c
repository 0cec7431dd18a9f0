/*
 * Maps of processes that fork: lists that share their beginnings, against lists that are copied.
 * Lines of parents.
 */
#include "chance.h"
#include "formats/perfdata/pd_tasks.h"
#include "model/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROCESSES_MAX 40
#define MAPS_MAX 400
#define FIRST_PID 100

struct slow { /* what each process has, copied */
	uint64_t maps[PROCESSES_MAX][MAPS_MAX];
	size_t n_maps[PROCESSES_MAX];
	size_t n_told[PROCESSES_MAX];
	bool sampled[PROCESSES_MAX];
	uint32_t number[PROCESSES_MAX];
	size_t n;
};

struct fixture {
	struct ctx_pd_tasks tasks;
	struct ctx_pd_outbox out;
	struct slow slow;
	uint64_t time;
};

/* All emitted maps are of the latest process, the next ones of its slow list. */
static void take_events(struct fixture *fixture)
{
	struct slow *slow = &fixture->slow;

	for (; fixture->out.at < fixture->out.n; fixture->out.at++) {
		const struct ctx_event *event = &fixture->out.items[fixture->out.at];
		size_t at = 0;

		if (event->kind == CTX_EV_PROCESS_START) {
			at = (size_t)event->process_start.pid - FIRST_PID;
			assert_true(at < slow->n);
			slow->number[at] = event->process;
			slow->sampled[at] = true;
		}
		if (event->kind != CTX_EV_MAP)
			continue;
		while (!slow->sampled[at] || slow->number[at] != event->process)
			assert_true(++at < slow->n);
		assert_true(slow->n_told[at] < slow->n_maps[at]);
		assert_int_equal(event->map.address, slow->maps[at][slow->n_told[at]++]);
	}
}

static void add_map(struct fixture *fixture, size_t which)
{
	struct slow *slow = &fixture->slow;
	struct ctx_pd_map map = {.address = ++fixture->time << 12, .size = 1, .executable = true};

	if (slow->n_maps[which] == MAPS_MAX)
		return;
	slow->maps[which][slow->n_maps[which]++] = map.address;
	assert_int_equal(ctx_strtab_add_text(&fixture->tasks.names, "", &map.path, NULL), CTX_OK);
	map.build_id = map.function = map.path;
	assert_int_equal(
		ctx_pd_tasks_map(&fixture->tasks, fixture->time, FIRST_PID + (int64_t)which, &map, NULL),
		CTX_OK);
}

static void fork_from(struct fixture *fixture, size_t which)
{
	struct slow *slow = &fixture->slow;
	struct ctx_pd_fork fork = {.time_ns = ++fixture->time,
				   .pid = FIRST_PID + (int64_t)slow->n,
				   .tid = FIRST_PID + (int64_t)slow->n,
				   .parent_pid = FIRST_PID + (int64_t)which};

	if (slow->n == PROCESSES_MAX)
		return;
	memcpy(slow->maps[slow->n], slow->maps[which], sizeof(slow->maps[which]));
	slow->n_maps[slow->n++] = slow->n_maps[which];
	assert_int_equal(ctx_pd_tasks_fork(&fixture->tasks, &fork, NULL), CTX_OK);
}

static void sample(struct fixture *fixture, size_t which)
{
	int64_t pid = FIRST_PID + (int64_t)which;
	struct ctx_pd_task_at at = {.time_ns = ++fixture->time, .pid = pid, .tid = pid};
	struct ctx_pd_thread_numbers got;

	assert_int_equal(ctx_pd_tasks_sample(&fixture->tasks, &at, &got, NULL), CTX_OK);
	take_events(fixture);
	assert_true(fixture->slow.sampled[which]);
	assert_int_equal(got.process, fixture->slow.number[which]);
}

static void test_perfdata_maps__forked_processes_have_the_maps_of_their_parents_and_their_own(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct fixture *fixture = calloc(1, sizeof(*fixture));
		uint64_t random = seed;

		assert_non_null(fixture);
		fixture->tasks.out = &fixture->out;
		fixture->slow.n = 1;
		for (int i = 0; i < 300; i++) {
			size_t which = (size_t)random_below(&random, fixture->slow.n);
			uint64_t what = random_below(&random, 10);

			if (what < 7)
				add_map(fixture, which);
			else if (what < 9)
				fork_from(fixture, which);
			else
				sample(fixture, which);
			take_events(fixture);
		}
		for (size_t i = 0; i < fixture->slow.n; i++) {
			sample(fixture, i);
			assert_int_equal(fixture->slow.n_told[i], fixture->slow.n_maps[i]);
		}
		ctx_pd_tasks_deinit(&fixture->tasks);
		ctx_pd_outbox_deinit(&fixture->out);
		free(fixture);
	}
}

/* FORK records as perf writes them for processes that it finds in /proc. */
static void tell_parent(struct ctx_pd_tasks *tasks, int64_t pid, int64_t parent)
{
	struct ctx_pd_fork fork = {.pid = pid, .tid = pid, .parent_pid = parent, .synthesized = true};

	assert_int_equal(ctx_pd_tasks_fork(tasks, &fork, NULL), CTX_OK);
}

static void test_perfdata_maps__parents_in_a_circle_are_a_line(void **state)
{
	(void)state;
	for (int64_t n = 1; n <= 20; n++) {
		struct ctx_pd_outbox out = {0};
		struct ctx_pd_tasks tasks = {.out = &out};
		struct ctx_pd_task_at at = {.time_ns = 1, .pid = 1, .tid = 1};
		struct ctx_pd_thread_numbers got;
		int64_t expected = 1;

		for (int64_t pid = 1; pid <= n; pid++)
			tell_parent(&tasks, pid, pid % n + 1);
		assert_int_equal(ctx_pd_tasks_sample(&tasks, &at, &got, NULL), CTX_OK);
		assert_int_equal(got.process, n - 1);
		for (size_t i = 0; i < out.n; i++) {
			if (out.items[i].kind != CTX_EV_PROCESS_START)
				continue;
			/*
			 * The last one was not let close the circle: it is the first of the line.
			 */
			assert_int_equal(out.items[i].process_start.pid, n + 1 - expected);
			assert_int_equal(out.items[i].process_start.parent,
					 expected == 1 ? CTX_NONE : expected - 2);
			expected++;
		}
		assert_int_equal(expected, n + 1);
		ctx_pd_tasks_deinit(&tasks);
		ctx_pd_outbox_deinit(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_perfdata_maps__forked_processes_have_the_maps_of_their_parents_and_their_own),
		cmocka_unit_test(test_perfdata_maps__parents_in_a_circle_are_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
