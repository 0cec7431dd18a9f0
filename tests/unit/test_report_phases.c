/* The report phases, and phases under the strips of the time line. */
#include "report_fixture.h"
#include "report_printing.h"

#include "base/mem.h"
#include "model/phase.h"

#include <string.h>

static void add_to(struct ctx_phase *phase, uint32_t stack, uint64_t samples)
{
	assert_int_equal(
		ctx_histogram_add(
			&phase->histogram,
			(struct ctx_hist_entry){.stack = stack, .samples = samples, .weight = samples * MS},
			NULL),
		CTX_OK);
}

struct world {
	struct ctx_phase phases[4], own[1];
	struct ctx_phase_group groups[3];
	struct ctx_phase_period periods[2];
	struct ctx_phases all;
};

/* It solves, is idle, solves again, and walks through files; one process alone solves; another has few samples. */
static void fill(struct fixture *fixture, struct world *world)
{
	static double similarity[] = {1, 0.02, 0.25, 0.02, 1, 0, 0.25, 0, 1}, one[] = {1};
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2)),
		 system = stack_of(fixture, PATH(0, 2, 3, 4));

	*world = (struct world){
		.phases = {{.interval = {0, 400 * MS}},
			   {.interval = {400 * MS, 500 * MS}, .letter = 1, .idle = true},
			   {.interval = {500 * MS, 700 * MS}},
			   {.interval = {700 * MS, 1000 * MS}, .letter = 2}},
		.own = {{.interval = {100 * MS, 900 * MS}}},
		.periods = {{.thread = 0,
			     .function = 2,
			     .length_ns = 16667 * 1000,
			     .jitter_ns = 812 * 1000,
			     .cycles = 58,
			     .strength = 0.7},
			    {.thread = 1,
			     .function = CTX_NONE,
			     .length_ns = 1250 * MS,
			     .jitter_ns = 0,
			     .cycles = 9,
			     .strength = 0.25}},
	};
	world->groups[0] = (struct ctx_phase_group){.process = CTX_NONE,
						    .samples = 900,
						    .phases = world->phases,
						    .n = 4,
						    .n_letters = 3,
						    .similarity = similarity};
	world->groups[1] = (struct ctx_phase_group){.process = 0,
						    .samples = 700,
						    .phases = world->own,
						    .n = 1,
						    .n_letters = 1,
						    .similarity = one};
	world->groups[2] = (struct ctx_phase_group){.process = 1, .samples = 42, .too_few = true};
	world->all = (struct ctx_phases){.groups = world->groups,
					 .n_groups = 3,
					 .processes_left_out = 5,
					 .periods = world->periods,
					 .n_periods = 2};
	add_to(&world->phases[0], solve, 390);
	add_to(&world->phases[0], walk, 10);
	add_to(&world->phases[2], solve, 180);
	add_to(&world->phases[2], walk, 20);
	add_to(&world->phases[3], solve, 10);
	add_to(&world->phases[3], walk, 100);
	add_to(&world->phases[3], system, 190);
	add_to(&world->own[0], solve, 700);
	fixture->input.phases = &world->all;
}

static void drop(struct world *world)
{
	for (size_t i = 0; i < CTX_COUNT_OF(world->phases); i++)
		ctx_histogram_deinit(&world->phases[i].histogram);
	ctx_histogram_deinit(&world->own[0].histogram);
}

static void test_report_phases__prints_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct world world;

	fill(fixture, &world);
	assert_every_format("phases", &fixture->input, (struct ctx_report_options){0}, "phases");
	drop(&world);
}

/* Of thousands of stacks light ones are cut, and the dominant path is the same. */
static void test_report_phases__a_path_is_found_among_many_stacks(void **state)
{
	enum { LEVELS = 8, STACKS = 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 };
	struct fixture *fixture = *state;
	struct world world;
	uint32_t path[2 + LEVELS + 1] = {0, 2, [2 + LEVELS] = CTX_NONE};
	char *text, *row;

	fill(fixture, &world);
	for (unsigned i = 0; i < STACKS; i++) {
		unsigned rest = i;

		for (size_t level = 0; level < LEVELS; level++, rest /= 3)
			path[2 + level] = 2 + rest % 3;
		add_to(&world.phases[0], stack_of(fixture, path), 1);
	}
	add_to(&world.phases[0], stack_of(fixture, PATH(0, 1)), 2 * STACKS);
	assert_true(world.phases[0].histogram.n > 5000);
	text = print_report("phases", &fixture->input, (struct ctx_report_options){.width = 160});
	row = strstr(text, " 20083 ");
	assert_non_null(row);
	*strchr(row, '\n') = '\0';
	assert_non_null(strstr(row, "solve"));
	assert_null(strstr(row, "walk"));
	free(text);
	drop(&world);
}

static void test_report_phases__few_samples_are_said(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_phase_group group = {.process = CTX_NONE, .samples = 199, .too_few = true};
	struct ctx_phases phases = {.groups = &group, .n_groups = 1};

	fixture->input.phases = &phases;
	assert_every_format("phases", &fixture->input, (struct ctx_report_options){0}, "phases-few");
}

/* Of folded stacks there is one sample for each: their number says nothing. */
static void test_report_phases__without_times_there_are_none(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_phase_group group = {.process = CTX_NONE, .samples = 4, .too_few = true};
	struct ctx_phases phases = {.groups = &group, .n_groups = 1};
	char *text;

	fixture->input.phases = &phases;
	text = print_report("phases", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\n4 samples: too few to tell phases apart"));
	free(text);
	fixture->profile.run.end_ns = 1;
	text = print_report("phases", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\nWithout times there are no phases.\n"));
	assert_null(strstr(text, "too few"));
	free(text);
}

static void test_report_phases__the_time_line_has_their_letters(void **state)
{
	struct fixture *fixture = *state;
	struct world world;
	char *text;

	fill(fixture, &world);
	text = print_report("timeline", &fixture->input, (struct ctx_report_options){.width = 80});
	/* In the columns of the other rows. */
	assert_non_null(strstr(text, "\nphase -i phase:B AAAA"));
	free(text);
	/* One alone is not shown. */
	world.groups[0].n = 1;
	text = print_report("timeline", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_null(strstr(text, "phase"));
	free(text);
	world.groups[0].n = 4;
	drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_phases__prints_in_every_format),
		with_fixture(test_report_phases__a_path_is_found_among_many_stacks),
		with_fixture(test_report_phases__few_samples_are_said),
		with_fixture(test_report_phases__without_times_there_are_none),
		with_fixture(test_report_phases__the_time_line_has_their_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
