/*
 * The first screen: hot functions beside the obvious slow way; golden files; it fits whatever there
 * is; memory that runs out.
 */
#include "base/mem.h"
#include "failing_malloc.h"
#include "report/function_names.h"
#include "report/report.h"
#include "report/slice_tops.h"
#include "report/summary_plan.h"
#include "report_printing.h"
#include "tests/unit/chance.h"

#include <stdio.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define N_PROGRAM 6u
#define N_FUNCTIONS 12u
#define PLACES 3u /* locations of a function */
#define N_LOCATIONS (N_FUNCTIONS * PLACES)
#define N_STACKS 60u
#define DEEPEST 9u
#define N_THREADS 8u
#define N_SLICES 60u

static const char *const names[N_FUNCTIONS] = {
	"main",
	"pool::queue<int, pool::arena<int> >::push_back(int const&)",
	"parse",
	"worker",
	"render",
	"log_line(char const*)",
	"memcpy",
	"write",
	"__x64_sys_write",
	"vfs_write",
	"copy",
	"<Truncated-stack: no call frame information>",
};

static const struct ctx_object_info objects[] = {
	{"/home/user/bin/app", "", ""},
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", "", ""},
	{"[kernel]", "", ""},
};

static const struct ctx_source_file files[] = {{"/home/user/src/app.cc", ""}, {"/home/user/src/log.cc", ""}};

struct stack {
	uint32_t locations[DEEPEST]; /* root first */
	size_t n;
	uint64_t weight;
	uint32_t raw;
};

struct world {
	struct ctx_profile profile;
	struct ctx_function_info functions[N_FUNCTIONS];
	struct ctx_metric_info metrics[1 + CTX_STATE_N + CTX_STATE_METRICS_N];
	struct ctx_process_info processes[3];
	struct ctx_thread_info threads[N_THREADS];
	struct ctx_property properties[2];
	const char *warnings[3];
	struct ctx_location locations[N_LOCATIONS];
	struct ctx_site sites[N_LOCATIONS];
	struct stack stacks[N_STACKS];
	struct ctx_trie raw_stacks;
	uint32_t raw_to_stack[1 + N_STACKS * DEEPEST];
	struct ctx_histogram raw;
	struct ctx_code code;
	struct ctx_report_states states[N_THREADS];
	struct ctx_report_waits waits[4];
	struct ctx_report_wakers wakers[1];
	struct ctx_report_slice slices[N_SLICES];
	struct fake_source input;
};

static const struct ctx_interval whole_run = {0, 1000 * MS};

static uint32_t function_of(const struct world *world, uint32_t location)
{
	return world->locations[location].function;
}

static void make_functions(struct world *world)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		bool placeholder = i == N_FUNCTIONS - 1;

		world->functions[i] = (struct ctx_function_info){.name = names[i],
								 .linkage_name = names[i],
								 .aliases = "",
								 .kind = placeholder ? CTX_FUNCTION_TRUNCATED
										     : CTX_FUNCTION_ORDINARY,
								 .object = placeholder	       ? CTX_NONE
									   : i < N_PROGRAM     ? 0
									   : i < N_PROGRAM + 2 ? 1
											       : 2};
		for (uint32_t j = 0; j < PLACES; j++) {
			uint32_t at = i * PLACES + j;
			bool has_line = i < N_PROGRAM && below(4) != 0;

			world->sites[at] = (struct ctx_site){i, has_line ? (uint32_t)below(2) : CTX_NONE,
							     has_line ? (uint32_t)below(3) + 1 : 0, CTX_NONE};
			world->locations[at] = (struct ctx_location){world->functions[i].object, i, at,
								     below(5) != 0 ? at : CTX_NONE, false};
		}
	}
}

static void add_stack(struct world *world, struct stack *stack)
{
	uint32_t raw = CTX_TRIE_ROOT, node = CTX_TRIE_ROOT;

	for (size_t i = 0; i < stack->n; i++) {
		assert_int_equal(ctx_trie_child(&world->raw_stacks, raw, stack->locations[i], &raw, NULL),
				 CTX_OK);
		assert_int_equal(ctx_trie_child(&world->profile.cct, node,
						function_of(world, stack->locations[i]), &node, NULL),
				 CTX_OK);
		world->raw_to_stack[raw] = node;
	}
	stack->raw = raw;
	assert_int_equal(ctx_histogram_add(&world->raw,
					   (struct ctx_hist_entry){.stack = raw,
								   .weight = stack->weight,
								   .samples = stack->weight / MS},
					   NULL),
			 CTX_OK);
}

static void make_stacks(struct world *world)
{
	for (size_t i = 0; i < N_STACKS; i++) {
		struct stack *stack = &world->stacks[i];

		stack->n = 1 + below(DEEPEST);
		stack->weight = (1 + below(20)) * MS;
		for (size_t j = 0; j < stack->n; j++)
			stack->locations[j] = (uint32_t)below(j == 0 ? N_LOCATIONS : N_LOCATIONS - PLACES);
		add_stack(world, stack);
	}
}

/*
 * Samples of the first metric: each stack in PARTS pieces over the run. Of the waits in futex: of each thread one,
 * at the first stack; the threads that end them are in the stacks 2 and 3 meanwhile.
 */
#define PARTS 5u

static enum ctx_status put_parts(const struct world *world, ctx_report_sample_fn each, void *context,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint64_t i = 0; i < PARTS * N_STACKS && status == CTX_OK; i++) {
		const struct stack *stack = &world->stacks[i * 7 % N_STACKS];
		const struct ctx_sample sample = {.time_ns = i * 1000 * MS / (PARTS * N_STACKS),
						  .weight = stack->weight / PARTS,
						  .stack = world->raw_to_stack[stack->raw],
						  .raw_stack = stack->raw};

		status = each(context, &sample, err);
	}
	return status;
}

static enum ctx_status put_span(const struct world *world, const struct ctx_sample *span, size_t stack,
				ctx_report_sample_fn each, void *context)
{
	struct ctx_sample sample = *span;

	sample.stack = world->raw_to_stack[world->stacks[stack].raw];
	return each(context, &sample, NULL);
}

static enum ctx_status fake_spans(void *context, const struct ctx_samples_query *query,
				  ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct world *world = context;
	struct ctx_sample span = {
		.time_ns = 500 * MS - 1, .weight = 400 * MS, .thread = 1, .metric = query->metric};
	enum ctx_status status;

	if (!query->has_metric)
		return put_parts(world, each, each_context, err);
	if (query->metric == world->profile.states + CTX_STATE_USER_LOCK) {
		status = CTX_OK;
		for (span.thread = 0; span.thread < world->profile.n_threads && status == CTX_OK;
		     span.thread++)
			status = put_span(world, &span, 0, each, each_context);
		return status;
	}
	if (query->metric != world->profile.states + CTX_STATE_USER)
		return CTX_OK;
	span.thread = 2;
	span.time_ns = 300 * MS - 1;
	span.weight = 300 * MS; /* 200 ms of it during the wait */
	status = put_span(world, &span, 2, each, each_context);
	span.time_ns = 900 * MS - 1;
	span.weight = 550 * MS; /* 150 ms */
	return status == CTX_OK ? put_span(world, &span, 3, each, each_context) : status;
}

static struct world *make_world(uint64_t seed)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	assert_non_null(world);
	random_state = seed * 2654435761u + 1;
	world->metrics[0] = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	world->profile = (struct ctx_profile){.name = "test.1.er",
					      .run = whole_run,
					      .closed = true,
					      .notes = "",
					      .functions = world->functions,
					      .n_functions = N_FUNCTIONS,
					      .objects = (struct ctx_object_info *)objects,
					      .n_objects = CTX_COUNT_OF(objects),
					      .metrics = world->metrics,
					      .n_metrics = 1};
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
	assert_int_equal(ctx_trie_init(&world->raw_stacks, NULL), CTX_OK);
	make_functions(world);
	make_stacks(world);
	world->code = (struct ctx_code){.raw_stacks = &world->raw_stacks,
					.raw_to_stack = world->raw_to_stack,
					.locations = world->locations,
					.n_locations = N_LOCATIONS,
					.sites = world->sites,
					.n_sites = N_LOCATIONS,
					.files = files,
					.n_files = CTX_COUNT_OF(files)};
	world->input = (struct fake_source){.profile = &world->profile,
					    .path = "test.1.er",
					    .intervals = &whole_run,
					    .n_intervals = 1,
					    .raw = &world->raw,
					    .code = &world->code,
					    .samples = fake_spans,
					    .samples_context = world};
	return world;
}

static void free_world(struct world *world)
{
	ctx_trie_deinit(&world->profile.cct);
	ctx_trie_deinit(&world->raw_stacks);
	ctx_histogram_deinit(&world->raw);
	free(world);
}

/* ---- beside the obvious slow way ---- */

static bool is_program(uint32_t function)
{
	return function < N_PROGRAM;
}

/* The position of the innermost frame of the program; that of the leaf without any. */
static size_t owner_of(const struct world *world, const struct stack *stack)
{
	for (size_t i = stack->n; i-- > 0;) {
		if (is_program(function_of(world, stack->locations[i])))
			return i;
	}
	return stack->n - 1;
}

static bool owns(const struct world *world, const struct stack *stack, const struct ctx_hot_function *row)
{
	return function_of(world, stack->locations[owner_of(world, stack)]) == row->function;
}

/* Weight of a row in a line of the program. */
static uint64_t slow_line(const struct world *world, const struct ctx_hot_function *row, uint32_t file,
			  uint32_t line)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &world->stacks[i];
		uint32_t location = stack->locations[owner_of(world, stack)];
		uint32_t site =
			is_program(function_of(world, location)) ? world->locations[location].site : CTX_NONE;

		if (owns(world, stack, row) && site != CTX_NONE && world->sites[site].file == file &&
		    world->sites[site].line == line)
			weight += stack->weight;
	}
	return weight;
}

static void assert_hottest_line(const struct world *world, const struct ctx_hot_function *row)
{
	uint64_t most = 0;

	for (uint32_t file = 0; file < CTX_COUNT_OF(files); file++) {
		for (uint32_t line = 1; line <= 3; line++) {
			uint64_t weight = slow_line(world, row, file, line);

			most = weight > most ? weight : most;
		}
	}
	assert_int_equal(row->file == CTX_NONE, most == 0);
	if (most != 0)
		assert_int_equal(slow_line(world, row, row->file, row->line), most);
}

/* Weight of a row that ended in a function that it called. */
static uint64_t slow_callee(const struct world *world, const struct ctx_hot_function *row, uint32_t callee)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &world->stacks[i];

		if (owns(world, stack, row) && callee != row->function &&
		    function_of(world, stack->locations[stack->n - 1]) == callee)
			weight += stack->weight;
	}
	return weight;
}

static void assert_callee(const struct world *world, const struct ctx_hot_function *row)
{
	uint64_t most = 0, sum = 0;

	for (uint32_t callee = 0; callee < N_FUNCTIONS; callee++) {
		uint64_t weight = slow_callee(world, row, callee);

		most = weight > most ? weight : most;
		sum += weight;
	}
	assert_int_equal(row->with_callees - row->self, sum);
	assert_int_equal(row->callee == CTX_NONE, most == 0);
	if (most != 0)
		assert_int_equal(slow_callee(world, row, row->callee), most);
}

static void assert_row(const struct world *world, const struct ctx_hot_function *row)
{
	uint64_t self = 0, with_callees = 0, total = 0;

	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &world->stacks[i];
		uint32_t leaf = function_of(world, stack->locations[stack->n - 1]);
		bool found = owns(world, stack, row);

		with_callees += found ? stack->weight : 0;
		self += found && leaf == row->function ? stack->weight : 0;
		for (size_t j = 0; j < stack->n; j++)
			found |= is_program(row->function) &&
				 function_of(world, stack->locations[j]) == row->function;
		total += found ? stack->weight : 0;
	}
	assert_int_equal(row->self, self);
	assert_int_equal(row->with_callees, with_callees);
	assert_int_equal(row->total, total);
	assert_true(total != 0);
	assert_hottest_line(world, row);
	assert_callee(world, row);
}

/* The hottest path has the weight of all samples on it. */
static void assert_hottest(const struct world *world, const struct ctx_fold *fold,
			   const struct ctx_hot_functions *functions)
{
	struct ctx_fold_frame *frames = NULL;
	uint64_t weight = 0;
	size_t n = 0;

	assert_int_equal(ctx_fold_path(fold, functions->hottest, &frames, &n, NULL), CTX_OK);
	assert_true(n != 0);
	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &world->stacks[i];
		size_t same = 0;

		while (same < n && same < stack->n &&
		       function_of(world, stack->locations[same]) == frames[same].function)
			same++;
		weight += same == n ? stack->weight : 0;
	}
	assert_int_equal(weight, functions->hottest_weight);
	free(frames);
}

static void test_hot_functions__are_those_of_the_obvious_slow_way(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct world *world = make_world(seed);
		struct ctx_report_source *source = fake_open(&world->input);
		struct ctx_hot_functions functions;
		struct ctx_wait_kinds kinds;
		struct ctx_fold fold;
		uint64_t weight = 0;

		assert_int_equal(ctx_fold_init(&fold, &world->profile, &(struct ctx_fold_options){0}, NULL),
				 CTX_OK);
		assert_int_equal(ctx_wait_kinds_init(&kinds, &world->profile, NULL), CTX_OK);
		assert_int_equal(ctx_hot_functions_build(source, &fold, &kinds, &functions, NULL), CTX_OK);
		for (size_t i = 0; i < functions.n; i++) {
			assert_row(world, &functions.rows[i]);
			weight += functions.rows[i].with_callees;
			if (i != 0)
				assert_true(functions.rows[i - 1].with_callees >=
					    functions.rows[i].with_callees);
		}
		assert_int_equal(weight, functions.weight);
		assert_int_equal(weight, world->raw.weight);
		assert_hottest(world, &fold, &functions);
		ctx_hot_functions_deinit(&functions);
		ctx_wait_kinds_deinit(&kinds);
		ctx_fold_deinit(&fold);
		free_world(world);
	}
}

/* ---- the screen ---- */

static void make_metrics(struct world *world)
{
	for (uint32_t i = 0; i < CTX_STATE_N + CTX_STATE_METRICS_N; i++)
		world->metrics[1 + i] = (struct ctx_metric_info){
			.name = i < CTX_STATE_N ? ctx_state_name((enum ctx_thread_state)i)
						: ctx_state_metrics[i - CTX_STATE_N].name,
			.kind = CTX_METRIC_SPAN,
			.unit = CTX_UNIT_NS,
			.samples = 1,
			.weight = 1};
	world->profile.n_metrics = CTX_COUNT_OF(world->metrics);
	world->profile.has_states = true;
	world->profile.states = 1;
}

static void make_threads(struct world *world)
{
	static const char *const threads[N_THREADS] = {"app",	    "worker-1", "worker-2", "worker-3",
						       "worker-14", "cc1",	"cc1",	    "as"};
	static const char *const commands[] = {"./app --fast input", "/usr/bin/cc1 -O2 x.c", "as -o x.o"};

	for (uint32_t i = 0; i < 3; i++)
		world->processes[i] = (struct ctx_process_info){.parent = CTX_NONE,
								.pid = 100 + i,
								.command = commands[i],
								.lineage = "",
								.life = whole_run};
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->threads[i] = (struct ctx_thread_info){.process = i < 5	? 0
									: i < 7 ? 1
										: 2,
							     .tid = 100 + i,
							     .name = threads[i],
							     .life = whole_run,
							     .samples = 10 + i,
							     .weight = (10 + i) * MS};
	world->profile.processes = world->processes;
	world->profile.n_processes = 3;
	world->profile.threads = world->threads;
	world->profile.n_threads = N_THREADS;
	world->properties[0] = (struct ctx_property){"command", "./app --fast input"};
	world->properties[1] = (struct ctx_property){"cpus", "4"};
	world->profile.properties = world->properties;
	world->profile.n_properties = 2;
}

/* `lock_ms` of each thread are waits for a mutex. */
static void make_states(struct world *world, uint64_t lock_ms)
{
	uint32_t lock = world->raw_to_stack[world->stacks[0].raw];

	make_metrics(world);
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->states[i] = (struct ctx_report_states){.thread = i,
							      .ns = {[CTX_STATE_USER] = (800 - lock_ms) * MS,
								     [CTX_STATE_SYSTEM] = 50 * MS,
								     [CTX_STATE_WAIT_CPU] = 50 * MS,
								     [CTX_STATE_USER_LOCK] = lock_ms * MS,
								     [CTX_STATE_SLEEP] = 100 * MS},
							      .spans = {3, 2, 0, 0, 0, 0, 5, 1, 0, 1}};
	world->waits[0] = (struct ctx_report_waits){CTX_STATE_USER_LOCK, lock, 40,
						    lock_ms * world->profile.n_threads * MS, 90 * MS};
	world->waits[1] =
		(struct ctx_report_waits){CTX_STATE_SLEEP, world->raw_to_stack[world->stacks[1].raw], 8,
					  100 * N_THREADS * MS, 100 * MS};
	world->wakers[0] = (struct ctx_report_wakers){.thread = 1,
						      .state = CTX_STATE_USER_LOCK,
						      .stack = lock,
						      .waker = 2,
						      .external_waker = CTX_NONE,
						      .waits = 40,
						      .wait_ns = lock_ms * world->profile.n_threads * MS};
	world->input.states = world->states;
	world->input.n_states = world->profile.n_threads;
	world->input.waits = world->waits;
	world->input.n_waits = 2;
	world->input.wakers = world->wakers;
	world->input.n_wakers = 1;
}

static void make_slices(struct world *world)
{
	for (uint32_t i = 0; i < N_SLICES; i++) {
		struct ctx_interval interval = {i * 1000 * MS / N_SLICES, (i + 1) * 1000 * MS / N_SLICES};
		uint64_t busy = (interval.end_ns - interval.begin_ns) * (i % 20) / 5;

		world->slices[i] = (struct ctx_report_slice){.thread = CTX_NONE,
							     .interval = interval,
							     .samples = i % 20,
							     .weight = busy,
							     .function = i < 30 ? 0 : 3,
							     .state_ns = {[CTX_STATE_USER] = busy}};
	}
	world->input.slices = world->slices;
	world->input.n_slices = N_SLICES;
	world->input.slices_per_thread = N_SLICES;
}

/* ---- the functions of slices ---- */

/* Weight of a function in a slice by the rules of the table. */
static uint64_t slow_weight(const struct world *world, const struct ctx_interval *slice, uint32_t function)
{
	uint64_t weight = 0;

	for (uint64_t i = 0; i < PARTS * N_STACKS; i++) {
		const struct stack *stack = &world->stacks[i * 7 % N_STACKS];

		if (ctx_interval_has(*slice, i * 1000 * MS / (PARTS * N_STACKS)) &&
		    function_of(world, stack->locations[owner_of(world, stack)]) == function)
			weight += stack->weight / PARTS;
	}
	return weight;
}

static void test_slice_tops__are_those_of_the_obvious_slow_way(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct world *world = make_world(seed);
		struct ctx_report_slices slices = {
			.slices = world->slices, .n = N_SLICES, .per_thread = N_SLICES};
		struct ctx_slice_top *tops = NULL;
		struct ctx_wait_kinds kinds;
		struct ctx_fold fold;

		make_slices(world);
		assert_int_equal(ctx_fold_init(&fold, &world->profile, &(struct ctx_fold_options){0}, NULL),
				 CTX_OK);
		assert_int_equal(ctx_wait_kinds_init(&kinds, &world->profile, NULL), CTX_OK);
		assert_int_equal(ctx_slice_tops_find(fake_open(&world->input),
						     &(struct ctx_slice_tops_input){&fold, &kinds, &slices},
						     &tops, NULL),
				 CTX_OK);
		for (uint32_t i = 0; i < N_SLICES; i++) {
			uint64_t most = 0;

			for (uint32_t function = 0; function < N_FUNCTIONS; function++) {
				uint64_t weight = slow_weight(world, &world->slices[i].interval, function);

				most = weight > most ? weight : most;
			}
			assert_int_equal(tops[i].weight, most);
			if (most != 0)
				assert_int_equal(
					slow_weight(world, &world->slices[i].interval, tops[i].function),
					most);
		}
		free(tops);
		ctx_wait_kinds_deinit(&kinds);
		ctx_fold_deinit(&fold);
		free_world(world);
	}
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* At most 23 lines, none wider; but commands, which are for copying. */
static void assert_screen(const char *text, unsigned width)
{
	assert_true(count_lines(text) <= 23);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (strncmp(text, "Next: ctxan ", 12) != 0 && strncmp(text, "      ctxan ", 12) != 0 &&
		    ctx_text_width(text, n) > width)
			fail_msg("wider than %u columns: %.*s", width, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void test_summary__prints_every_kind_of_recording(void **state)
{
	struct world *world = make_world(7);
	const struct ctx_report_options options = {0};

	(void)state;
	make_threads(world);
	make_slices(world);
	assert_every_format("summary", &world->input, options, "summary-without-states");
	make_states(world, 100);
	assert_every_format("summary", &world->input, options, "summary-computes");
	make_states(world, 760);
	assert_every_format("summary", &world->input, options, "summary-waits");
	world->profile.n_threads = 5;
	world->profile.n_processes = 1;
	make_states(world, 760);
	assert_every_format("summary", &world->input, options, "summary-threads");
	free_world(world);
}

static void test_summary__fits_whatever_there_is(void **state)
{
	static const char *const warnings[] = {"one", "two", "three"};

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct world *world = make_world(seed);
		struct ctx_report_options options = {
			.width = (unsigned)(seed % 3 == 0 ? 80 : 60 + below(140))};
		char *text;

		if (below(4) != 0)
			make_threads(world);
		if (world->profile.n_threads != 0 && below(3) != 0)
			make_states(world, below(800));
		if (below(4) != 0)
			make_slices(world);
		if (below(2) != 0) {
			world->profile.n_warnings = 1 + below(3);
			world->profile.warnings = (const char **)warnings;
		}
		options.ascii = below(2) != 0;
		text = print_report("summary", &world->input, options);
		assert_screen(text, options.width);
		if (options.ascii)
			for (const char *c = text; *c != '\0'; c++)
				assert_true((unsigned char)*c < 0x80);
		free(text);
		free_world(world);
	}
}

static void test_summary__hostile_names_are_harmless(void **state)
{
	static const char hostile[] = "\033]0;x\007\xff\xe2\x80\xae'$(reboot)'\n\xc2\x9b";
	struct world *world = make_world(3);

	(void)state;
	make_threads(world);
	make_states(world, 760);
	make_slices(world);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		world->functions[i].name = hostile;
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->threads[i].name = hostile;
	world->processes[1].command = hostile;
	world->properties[0].value = hostile;
	world->profile.name = hostile;
	for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
		char *text = print_report(
			"summary", &world->input,
			(struct ctx_report_options){.format = (enum ctx_report_format)format, .width = 80});

		assert_harmless(text, (enum ctx_report_format)format, 80);
		/* No command to copy has such a name. */
		assert_null(strstr(text, "-r source="));
		assert_null(strstr(text, "-r wakers="));
		free(text);
	}
	free_world(world);
}

static void test_summary__an_empty_selection_is_a_screen_too(void **state)
{
	struct world *world = make_world(3);
	struct ctx_histogram nothing = {0};
	char *text;

	(void)state;
	world->input.raw = &nothing;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "0 samples"));
	assert_null(strstr(text, "First look"));
	assert_null(strstr(text, "-r tree"));
	free(text);
	free_world(world);
}

static void test_summary__ends_with_the_last_thread(void **state)
{
	struct world *world = make_world(3);
	const struct ctx_interval part = {200 * MS, 900 * MS};
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 100);
	make_slices(world);
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->threads[i].life.end_ns = (300 + i) * MS;
	for (uint32_t i = 20; i < N_SLICES; i++)
		world->slices[i].weight = 0;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\n0.307 s | "));
	assert_non_null(strstr(text, "▏0.307 s\n"));
	free(text);
	world->input.intervals = &part;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\n0.107 s | "));
	free(text);
	world->threads[2].life = whole_run;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\n0.700 s | "));
	free(text);
	free_world(world);
}

/* 30 processes, each forked by a shell, which then executed another program. */
#define CHILDREN 30u

static void test_summary__many_short_processes_are_told_by_their_number(void **state)
{
	struct world *world = make_world(3);
	struct ctx_process_info processes[1 + 2 * CHILDREN];
	struct ctx_thread_info threads[1 + 2 * CHILDREN];
	struct ctx_report_states states[1 + 2 * CHILDREN];
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 100);
	for (uint32_t i = 0; i < CTX_COUNT_OF(processes); i++) {
		bool execed = i != 0 && i % 2 == 0;

		processes[i] = (struct ctx_process_info){.parent = i == 0   ? CTX_NONE
								   : execed ? i - 1
									    : 0,
							 .pid = 100 + (i + 1) / 2,
							 .command = execed ? "/bin/true x" : "sh run.sh",
							 .lineage = "",
							 .life = whole_run};
		threads[i] = (struct ctx_thread_info){.process = i,
						      .tid = processes[i].pid,
						      .name = execed ? "true" : "sh",
						      .life = {i * MS, (i + 2) * MS},
						      .samples = 1,
						      .weight = MS};
		states[i] = (struct ctx_report_states){.thread = i, .ns = {[CTX_STATE_USER] = 2 * MS}};
	}
	world->profile.processes = processes;
	world->profile.n_processes = CTX_COUNT_OF(processes);
	world->profile.threads = threads;
	world->profile.n_threads = CTX_COUNT_OF(threads);
	world->input.states = states;
	world->input.n_states = CTX_COUNT_OF(states);
	world->input.n_waits = world->input.n_wakers = 0;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(
		strstr(text, "\nFirst look: 31 processes, 30 of true, 2.000 ms each, started by sh\n"));
	assert_non_null(strstr(text, "\n      ctxan test.1.er -r processes\n"));
	/* They are of another program than the shell. */
	assert_null(strstr(text, "main [app] › "));
	free(text);
	world->properties[0].value = "sh run.sh";
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "main [app] › "));
	free(text);
	/* There is nothing to ask about a function without a name. */
	for (uint32_t i = 0; i < N_PROGRAM; i++)
		world->functions[i].name = "<static>@0x2310";
	for (uint32_t i = 0; i < N_LOCATIONS; i++)
		world->sites[i].file = CTX_NONE;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(
		strstr(text, "\nNext: ctxan test.1.er -r tree\n      ctxan test.1.er -r processes\n"));
	free(text);
	for (uint32_t i = 0; i < N_PROGRAM; i++)
		world->functions[i].name = names[i];
	/* Long ones are not the problem. */
	for (uint32_t i = 0; i < CTX_COUNT_OF(processes); i++)
		threads[i].life.end_ns = threads[i].life.begin_ns + 100 * MS;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_null(strstr(text, " each, started by "));
	assert_non_null(strstr(text, "\nFirst look: 31 processes; "));
	free(text);
	free_world(world);
}

static void test_summary__a_command_with_many_functions_is_named(void **state)
{
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 100);
	world->threads[5].weight = world->raw.weight / 10 * 9;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\nFirst look: cc1, 92.9 %; main (log.cc:1), 17.2 % of CPU time\n"));
	free(text);
	free_world(world);
}

/* The thread that ends the waits is meanwhile in the function of stack 2 or 3, or what that calls. */
static void test_summary__says_that_others_wait_for_the_hottest_function(void **state)
{
	unsigned told = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct world *world = make_world(seed);
		const char *line;
		char *text, first[80];

		make_threads(world);
		make_states(world, 300);
		text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
		line = strstr(text, "\nFirst look: ");
		assert_non_null(line);
		assert_int_equal(sscanf(line, "\nFirst look: %70[^ ,]", first), 1);
		line = strstr(text, "\nOthers wait for it: futex");
		for (size_t i = 2; line != NULL && i <= 3; i++) {
			const struct stack *stack = &world->stacks[i];
			uint32_t owner = function_of(world, stack->locations[owner_of(world, stack)]);

			told += strncmp(first, names[owner], strlen(first)) == 0;
		}
		free(text);
		free_world(world);
	}
	assert_true(told != 0);
}

/* perf.data of one sample lasts for a nanosecond. */
static void test_summary__a_run_without_a_length_has_no_load(void **state)
{
	struct world *world = make_world(3);
	const struct ctx_interval one = {0, 1};
	char *text;

	(void)state;
	make_slices(world);
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "CPUs busy"));
	free(text);
	world->profile.run = one;
	world->input.intervals = &one;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_null(strstr(text, "CPUs busy"));
	assert_null(strstr(text, "\nOver time"));
	free(text);
	free_world(world);
}

/* ---- what waits, and why ---- */

/* A node of the CCT with these functions, root first; the last one of the program has a line. */
static uint32_t own_stack(struct world *world, const uint32_t *functions, size_t n)
{
	uint32_t node = CTX_TRIE_ROOT;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ctx_trie_child(&world->profile.cct, node, functions[i], &node, NULL),
				 CTX_OK);
		if (is_program(functions[i])) {
			world->sites[functions[i] * PLACES].file = 0;
			world->sites[functions[i] * PLACES].line = 1;
		}
	}
	return node;
}

enum { MAIN, PUSH_BACK, PARSE, WORKER, RENDER, LOG_LINE, LIBRARY, WRITE, KERNEL, VFS };

/* A server: thread 0 polls, 1 waits for what that gives it, 2 for something else. Main joins. */
struct server {
	struct world *world;
	struct ctx_sample spans[3];
};

static enum ctx_status server_spans(void *context, const struct ctx_samples_query *query,
				    ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct server *server = context;
	enum ctx_status status = CTX_OK;

	if (!query->has_metric)
		return put_parts(server->world, each, each_context, err);
	for (size_t i = 0; i < CTX_COUNT_OF(server->spans) && status == CTX_OK; i++) {
		struct ctx_sample span = server->spans[i];

		if (query->metric == server->world->profile.states + CTX_STATE_SLEEP)
			status = each(each_context, &span, err);
	}
	return status;
}

static void add_wait(struct server *server, uint32_t thread, uint32_t stack, uint64_t ms)
{
	struct world *world = server->world;

	server->spans[thread] = (struct ctx_sample){.time_ns = ms * MS - 1,
						    .weight = ms * MS,
						    .thread = thread,
						    .stack = stack,
						    .metric = world->profile.states + CTX_STATE_SLEEP};
	world->states[thread] = (struct ctx_report_states){
		.thread = thread, .ns = {[CTX_STATE_USER] = (1000 - ms) * MS, [CTX_STATE_SLEEP] = ms * MS}};
	world->waits[world->input.n_waits++] =
		(struct ctx_report_waits){CTX_STATE_SLEEP, stack, 10, ms * MS, 50 * MS};
}

static struct server make_server(struct world *world)
{
	struct server server = {.world = world};

	world->functions[LIBRARY].name = "pthread_cond_wait";
	world->functions[WRITE].name = "usleep";
	make_threads(world);
	make_metrics(world);
	make_slices(world);
	world->profile.n_threads = 3;
	world->profile.n_processes = 1;
	world->threads[2].name = "disk";
	add_wait(&server, 0, own_stack(world, (uint32_t[]){MAIN, WORKER, WRITE, KERNEL}, 4), 970);
	add_wait(&server, 1, own_stack(world, (uint32_t[]){RENDER, LIBRARY, KERNEL}, 3), 900);
	add_wait(&server, 2, own_stack(world, (uint32_t[]){PARSE, LIBRARY, KERNEL}, 3), 800);
	world->wakers[0] = (struct ctx_report_wakers){.thread = 1,
						      .state = CTX_STATE_SLEEP,
						      .stack = world->waits[1].stack,
						      .waker = 0,
						      .external_waker = CTX_NONE,
						      .waits = 10,
						      .wait_ns = 900 * MS};
	world->input.waits = world->waits;
	world->input.states = world->states;
	world->input.n_states = 3;
	world->input.wakers = world->wakers;
	world->input.n_wakers = 1;
	world->input.samples = server_spans;
	return server;
}

static char *print_server(struct server *server)
{
	server->world->input.samples_context = server;
	return print_report("summary", &server->world->input, (struct ctx_report_options){.width = 80});
}

static void test_summary__a_sleep_is_of_who_sleeps(void **state)
{
	struct world *world = make_world(5);
	struct server server = make_server(world);
	char *text = print_server(&server);

	(void)state;
	assert_non_null(
		strstr(text, "\nFirst look: sleeps in worker, 10 × 97.000 ms, 97.0 % of app's time\n"));
	assert_non_null(strstr(text, "\nWait path, 97.0 %: main "));
	assert_non_null(strstr(text, "\nNext: ctxan test.1.er -r source=worker\n"));
	free(text);
	free_world(world);
}

static void test_summary__waits_for_work_come_after_others(void **state)
{
	struct world *world = make_world(5);
	struct server server = make_server(world);
	char *text = print_server(&server), *idle = strstr(text, " render (idle)\n"),
	     *other = strstr(text, "  parse\n");

	(void)state;
	assert_non_null(idle);
	assert_non_null(other);
	assert_true(other < idle);
	free(text);
	/* Another thread ends it. */
	world->wakers[0].waker = 2;
	text = print_server(&server);
	assert_null(strstr(text, "(idle)"));
	free(text);
	free_world(world);
}

/* A lock's holder is who releases it, whatever that calls meanwhile. */
static void test_summary__the_text_is_of_what_holds_the_first_wait_up(void **state)
{
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 760);
	make_slices(world);
	world->wakers[0].waker_stack = own_stack(world, (uint32_t[]){MAIN, PARSE, LIBRARY}, 3);
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\nEnded by worker-2 in parse; "));
	assert_non_null(strstr(text, " -r source=parse\n"));
	free(text);
	/* Without its text that of what waits. */
	for (uint32_t i = 0; i < N_LOCATIONS; i++) {
		if (world->sites[i].function == PARSE)
			world->sites[i].file = CTX_NONE;
	}
	own_stack(world, &(uint32_t){RENDER}, 1);
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, " -r source=render\n"));
	free(text);
	free_world(world);
}

static void test_summary__little_computing_has_few_rows(void **state)
{
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 760);
	make_slices(world);
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, " Function (% of 0.720 s on a CPU)\n"));
	assert_null(strstr(text, "\nTop function "));
	assert_non_null(strstr(text, "\nB   "));
	assert_null(strstr(text, "\nC   "));
	free(text);
	free_world(world);
}

/* Teams of OpenMP wait for 40 of 100 ms, in regions of `region_ns` each: the plan of the screen. */
static struct ctx_summary_plan plan_of_regions(uint64_t region_ns)
{
	struct ctx_wait_row wait = {.kind = CTX_WAIT_KIND_BARRIER, .wait_ns = 40 * MS};
	struct ctx_order_item order = {0};
	struct ctx_report_options options = {0};
	struct ctx_profile profile = {0};
	struct ctx_report_source source = {.selection = {.profile = &profile, .filter = ""}};
	struct ctx_summary summary = {.source = &source, .options = &options, .thread_ns = 100 * MS};
	struct ctx_summary_screen screen = {.summary = &summary, .width = 80};

	summary.cpu_ns = summary.elapsed_ns = 100 * MS;
	summary.waits.rows = &wait;
	summary.waits.n = 1;
	summary.wait_order = &order;
	summary.waiting.omp = (struct ctx_summary_omp){
		.work_ns = 60 * MS, .wait_ns = 40 * MS, .most_ns = region_ns, .n_regions = 1};
	summary.waiting.omp.regions[0].wait_ns = region_ns;
	return ctx_summary_make_plan(&screen);
}

static void test_summary__waits_are_left_to_regions_only_where_regions_are_shown(void **state)
{
	struct ctx_summary_plan plan = plan_of_regions(40 * MS);

	(void)state;
	assert_int_equal(plan.regions, 1);
	assert_int_equal(plan.waits, 0);
	plan = plan_of_regions(MS / 2); /* one of many: each is too small for a row */
	assert_int_equal(plan.regions, 0);
	assert_int_equal(plan.waits, 1);
}

/* ---- the hottest path and how often ---- */

static char *print_hottest(struct world *world, const uint32_t *functions, size_t n)
{
	struct stack stack = {.n = n, .weight = 100000 * MS};

	for (size_t i = 0; i < n; i++)
		stack.locations[i] = functions[i] * PLACES;
	/* Joined locations have no site of the program. */
	for (uint32_t i = 0; i < N_LOCATIONS; i++)
		world->locations[i].site = i;
	add_stack(world, &stack);
	return print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
}

static void test_summary__the_hottest_path_has_the_programs_own_frame(void **state)
{
	static const uint32_t functions[] = {MAIN, PUSH_BACK, PARSE, PUSH_BACK, RENDER, WRITE, LIBRARY};
	struct world *world = make_world(7);
	char *text;

	(void)state;
	world->functions[LIBRARY].name = "__memmove_avx_unaligned_erms_of_a_very_long_name";
	text = print_hottest(world, functions, CTX_COUNT_OF(functions));
	assert_non_null(strstr(text, "\nHottest path, "));
	assert_non_null(strstr(strstr(text, "\nHottest path, "), " › render"));
	assert_screen(text, 80);
	free(text);
	free_world(world);
}

static void test_summary__page_faults_are_counted(void **state)
{
	static const uint32_t functions[] = {MAIN, PARSE, KERNEL};
	struct ctx_usage_info usage[] = {{.time_ns = 500 * MS, .minor_faults = 300},
					 {.time_ns = 999 * MS, .minor_faults = 800}};
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	world->functions[KERNEL].name = "asm_exc_page_fault";
	world->profile.usage = usage;
	world->profile.n_usage = 2;
	text = print_hottest(world, functions, CTX_COUNT_OF(functions));
	/* Which process had them is not known. */
	assert_non_null(strstr(text, "\nFirst look: parse › [kernel] page fault"));
	assert_null(strstr(text, " faults\n"));
	free(text);
	world->profile.n_threads = 5;
	world->profile.n_processes = 1;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\nFirst look: parse › [kernel] page fault, "));
	assert_non_null(strstr(text, " % of CPU time, 800 faults\n"));
	free(text);
	free_world(world);
}

static void test_summary__waits_of_the_hottest_function_are_counted(void **state)
{
	static const uint32_t functions[] = {MAIN, PARSE, WRITE};
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 100);
	world->functions[WRITE].name = "fsync";
	world->waits[1] = (struct ctx_report_waits){CTX_STATE_SLEEP, own_stack(world, functions, 3), 1580,
						    700 * MS, 9 * MS};
	text = print_hottest(world, functions, CTX_COUNT_OF(functions));
	assert_non_null(strstr(text, "\nFirst look: parse › fsync"));
	assert_non_null(strstr(text, " % of CPU time, 1580 waits\n"));
	free(text);
	free_world(world);
}

static void test_summary__who_traced_is_led_to_what_was_traced(void **state)
{
	static const struct {
		uint64_t traced[CTX_TRACED_N];
		const char *reports;
	} cases[] = {
		{{[CTX_TRACED_HEAP] = 1}, "heap,leaks"}, {{[CTX_TRACED_SYNC] = 1}, "sync"},
		{{[CTX_TRACED_IO] = 1}, "io"},		 {{[CTX_TRACED_MARK] = 1}, "marks"},
		{{[CTX_TRACED_CALL] = 1}, "calls"},	 {{1, 1, 1, 1, 1}, "marks,calls,heap,leaks,sync,io"},
	};
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 100);
	make_slices(world);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		char command[80];

		memcpy(world->profile.traced, cases[i].traced, sizeof(cases[i].traced));
		snprintf(command, sizeof(command), "\nNext: ctxan test.1.er -r %s\n", cases[i].reports);
		text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
		assert_non_null(strstr(text, command));
		assert_screen(text, 80);
		free(text);
	}
	free_world(world);
}

/* Each thread could run for 800 of 1000 units of time and did for `cpu`, on a machine of 4 CPUs. */
static char *print_kept_off(struct world *world, uint64_t cpu, uint64_t unit_ns)
{
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->states[i] =
			(struct ctx_report_states){.thread = i,
						   .ns = {[CTX_STATE_USER] = cpu * unit_ns,
							  [CTX_STATE_WAIT_CPU] = (800 - cpu) * unit_ns}};
	return print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
}

static void test_summary__says_that_others_have_the_processors(void **state)
{
	struct world *world = make_world(7);
	char *text;

	(void)state;
	make_threads(world);
	make_states(world, 0);
	make_slices(world);
	/* 8 threads with 0.8 of 4 CPUs are not in each other's way. */
	text = print_kept_off(world, 100, MS);
	assert_non_null(strstr(
		text, "\n! waits for a CPU: 7.0 times its CPU time; other programs, a quota or affinity\n"));
	assert_null(strstr(text, " threads on "));
	assert_screen(text, 80);
	free(text);
	/* With 2.4 of 4 they are. */
	text = print_kept_off(world, 300, MS);
	assert_null(strstr(text, "waits for a CPU: "));
	assert_non_null(strstr(text, "\nFirst look: 8 threads on 4 CPUs; "));
	free(text);
	/* 5.6 ms say nothing. */
	text = print_kept_off(world, 100, MS / 1000);
	assert_null(strstr(text, "waits for a CPU: "));
	free(text);
	/* Of a part of the threads it is not known. */
	world->input.filter = "cpu 3";
	text = print_kept_off(world, 100, MS);
	assert_null(strstr(text, "waits for a CPU: "));
	free(text);
	free_world(world);
}

static void test_summary__warnings_end_at_a_word(void **state)
{
	static const char *const warnings[] = {
		"one that is as long as this cannot be on one line of a terminal, its last words are left "
		"out"};
	struct world *world = make_world(3);
	char *text;

	(void)state;
	world->profile.n_warnings = 1;
	world->profile.warnings = (const char **)warnings;
	text = print_report("summary", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(
		text, "\n! one that is as long as this cannot be on one line of a terminal… (-r header)\n"));
	free(text);
	free_world(world);
}

static void test_function_names__the_shortest_that_only_one_function_has(void **state)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{"main", "main"},
		{"a::run(int)", "a::run"},
		{"b::run(int)", "b::run"},
		{"(anonymous namespace)::load_rates(char const*) [constprop.0]", "load_rates"},
		{"std::vector<int, std::allocator<int> >::push_back(int const&)",
		 "vector<int, std::allocator<int> >::push_back"},
		{"std::vector<long, std::allocator<long> >::push_back(long const&)",
		 "vector<long, std::allocator<long> >::push_back"},
		{"pool::get<int>(int)", "get<int>"},
		{"pool::get<long>(int)", "get<long>"},
		{"f(int)", "_Zf3"},
		{"f(long)", "_Zf4"},
		{"main.work", "work"},
		{"dup (a.c)", "dup (a.c)"},
		{"dup (b.c)", "dup (b.c)"},
		{"walk", "walk"},
		{"walk (inlined)", "walk"},
	};
	struct ctx_function_info functions[CTX_COUNT_OF(cases)];
	struct ctx_profile profile = {.functions = functions, .n_functions = CTX_COUNT_OF(cases)};
	char linkage[CTX_COUNT_OF(cases)][16];

	(void)state;
	for (uint32_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		snprintf(linkage[i], sizeof(linkage[i]), "_Zf%u", i < 8 ? 100 + i : i - 5);
		if (strncmp(cases[i].name, "dup", 3) == 0)
			snprintf(linkage[i], sizeof(linkage[i]), "dup");
		functions[i] = (struct ctx_function_info){.name = cases[i].name,
							  .linkage_name = linkage[i],
							  .aliases = "",
							  .inlined = strstr(cases[i].name, "(inl") != NULL};
	}
	for (uint32_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_buf name = {0};

		ctx_function_put_short(&profile, i, &name);
		ctx_buf_put_u8(&name, '\0');
		assert_false(name.failed);
		assert_string_equal((const char *)name.bytes, cases[i].expected);
		ctx_buf_deinit(&name);
	}
}

static void test_summary__memory_that_runs_out_is_an_error(void **state)
{
	struct world *world = make_world(7);

	(void)state;
	make_threads(world);
	make_states(world, 760);
	make_slices(world);
	for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
		enum ctx_status status = CTX_E_NOMEM;
		long n;

		for (n = 0; status != CTX_OK; n++) {
			struct ctx_report_options options = {.format = (enum ctx_report_format)format,
							     .width = 80,
							     .out = fopen("/dev/null", "w")};
			struct ctx_err err = {0};

			assert_non_null(options.out);
			fail_after = n;
			status = fake_print("summary", &world->input, &options, &err);
			fail_after = -1;
			fclose(options.out);
			if (status != CTX_OK)
				assert_int_equal(status, CTX_E_NOMEM);
			assert_true(n < 100000);
		}
		assert_true(n > 20);
	}
	free_world(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_functions__are_those_of_the_obvious_slow_way),
		cmocka_unit_test(test_slice_tops__are_those_of_the_obvious_slow_way),
		cmocka_unit_test(test_function_names__the_shortest_that_only_one_function_has),
		cmocka_unit_test(test_summary__prints_every_kind_of_recording),
		cmocka_unit_test(test_summary__fits_whatever_there_is),
		cmocka_unit_test(test_summary__hostile_names_are_harmless),
		cmocka_unit_test(test_summary__an_empty_selection_is_a_screen_too),
		cmocka_unit_test(test_summary__many_short_processes_are_told_by_their_number),
		cmocka_unit_test(test_summary__a_command_with_many_functions_is_named),
		cmocka_unit_test(test_summary__says_that_others_wait_for_the_hottest_function),
		cmocka_unit_test(test_summary__a_sleep_is_of_who_sleeps),
		cmocka_unit_test(test_summary__waits_for_work_come_after_others),
		cmocka_unit_test(test_summary__the_text_is_of_what_holds_the_first_wait_up),
		cmocka_unit_test(test_summary__little_computing_has_few_rows),
		cmocka_unit_test(test_summary__waits_are_left_to_regions_only_where_regions_are_shown),
		cmocka_unit_test(test_summary__the_hottest_path_has_the_programs_own_frame),
		cmocka_unit_test(test_summary__page_faults_are_counted),
		cmocka_unit_test(test_summary__waits_of_the_hottest_function_are_counted),
		cmocka_unit_test(test_summary__who_traced_is_led_to_what_was_traced),
		cmocka_unit_test(test_summary__says_that_others_have_the_processors),
		cmocka_unit_test(test_summary__warnings_end_at_a_word),
		cmocka_unit_test(test_summary__a_run_without_a_length_has_no_load),
		cmocka_unit_test(test_summary__ends_with_the_last_thread),
		cmocka_unit_test(test_summary__memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
