/*
 * Source data other than addresses, from the source to the reports' queries: functions by name, the
 * calls that a stack keeps, the state of a wait.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "calltree/calltree.h"
#include "ingest/ingest.h"
#include "store/store.h"
#include "tests/unit/list_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/ctx-sources-XXXXXX";

static enum ctx_status ingest(struct list_source *list, struct ctx_store **ret, struct ctx_err *err)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "f"};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "test.db");
	enum ctx_status status;

	assert_non_null(path);
	status = ctx_ingest(&list->source, path, &options, NULL, err);
	return status == CTX_OK ? ctx_store_open(path, ret, err) : status;
}

static struct ctx_store *store_of(struct list_source *list)
{
	struct ctx_store *store = NULL;
	struct ctx_err err = {0};

	if (ingest(list, &store, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return store;
}

/* --- the histogram of all threads, by the time tree --- */

struct place {
	struct ctx_store *store;
	uint32_t tree;
};

static enum ctx_status read_node(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
				 struct ctx_err *err)
{
	const struct place *place = context;

	return ctx_store_get_node(place->store, (struct ctx_store_node){place->tree, node}, want_lists, ret,
				  err);
}

static enum ctx_status read_leaf(void *context, uint32_t node, const struct ctx_sample **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	const struct place *place = context;

	return ctx_store_get_leaf(place->store, (struct ctx_store_node){place->tree, node}, ret, ret_n, err);
}

/* The flat profile of metric 0: what is called how often. */
static struct ctx_flat flat_of(struct ctx_store *store)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	struct place place = {store, ctx_store_find_tree(store, CTX_NONE, 0)->id};
	struct ctx_timetree_reader reader = {
		.context = &place, .node = read_node, .leaf = read_leaf, .cct = &profile->cct};
	struct ctx_histogram histogram = {0};
	struct ctx_calltree tree;
	struct ctx_flat flat;

	assert_int_equal(ctx_timetree_query(&reader, (struct ctx_timetree_request){.window = profile->run},
					    &histogram, NULL, NULL),
			 CTX_OK);
	assert_int_equal(ctx_calltree_build(&profile->cct, profile->n_functions, &histogram, &tree, NULL),
			 CTX_OK);
	assert_int_equal(ctx_flat_build(&tree, &flat, NULL), CTX_OK);
	ctx_calltree_deinit(&tree);
	ctx_histogram_deinit(&histogram);
	return flat;
}

static const struct ctx_flat_row *row_of(const struct ctx_store *store, const struct ctx_flat *flat,
					 const char *name)
{
	for (uint32_t i = 0; i < flat->n; i++) {
		if (strcmp(ctx_store_profile(store)->functions[flat->rows[i].function].name, name) == 0)
			return &flat->rows[i];
	}
	fail_msg("no function %s", name);
	return NULL;
}

/* --- functions by name --- */

static struct ctx_event function_event(uint32_t id, const char *name, const char *module)
{
	struct ctx_event event = {.kind = CTX_EV_FUNCTION};

	event.function = (struct ctx_event_function){.id = id, .name = name, .module = module};
	return event;
}

static struct ctx_event whole_sample(uint64_t time, const uint64_t *frames, uint32_t n)
{
	struct ctx_event event = sample_event(time, 0, 0, 0);

	event.sample.stack.frames = frames;
	event.sample.stack.n_frames = n;
	return event;
}

/* "file:line" of a frame of a raw stack, "-" where nothing is known. */
static const char *line_of(struct ctx_store *store, uint32_t raw_stack, char out[64])
{
	const struct ctx_code *code;
	const struct ctx_site *site;
	uint32_t id;

	assert_int_equal(ctx_store_code(store, &code, NULL), CTX_OK);
	id = code->locations[code->raw_stacks->key[raw_stack]].site;
	if (id == CTX_NONE)
		return "-";
	site = &code->sites[id];
	snprintf(out, 64, "%s:%u", site->file != CTX_NONE ? code->files[site->file].path : "", site->line);
	return out;
}

/* The frames of a sample's stack as text, leaf first: function, module, line. */
static void describe(struct ctx_store *store, const struct ctx_sample *sample, char *out, size_t size)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	const struct ctx_code *code;
	uint32_t raw = sample->raw_stack;
	char line[64];
	size_t n = 0;

	assert_int_equal(ctx_store_code(store, &code, NULL), CTX_OK);
	for (; raw != CTX_TRIE_ROOT; raw = code->raw_stacks->parent[raw]) {
		const struct ctx_location *location = &code->locations[code->raw_stacks->key[raw]];
		const struct ctx_function_info *function = &profile->functions[location->function];

		n += (size_t)snprintf(out + n, size - n, "%s of %s at %s; ", function->name,
				      function->object != CTX_NONE ? profile->objects[function->object].path
								   : "nothing",
				      line_of(store, raw, line));
		assert_true(n < size);
	}
}

/* Describes the samples of metric 0, which are in one leaf, and compares. Returns them: borrowed from the store. */
static const struct ctx_sample *check_samples(struct ctx_store *store, const char *const *expected,
					      size_t n_expected,
					      void (*describe_one)(struct ctx_store *store,
								   const struct ctx_sample *sample, char *out,
								   size_t size))
{
	const struct ctx_sample *samples;
	size_t n;

	assert_int_equal(
		ctx_store_get_leaf(store,
				   (struct ctx_store_node){ctx_store_find_tree(store, CTX_NONE, 0)->id, 0},
				   &samples, &n, NULL),
		CTX_OK);
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++) {
		char text[512];

		describe_one(store, &samples[i], text, sizeof(text));
		assert_string_equal(text, expected[i]);
	}
	return samples;
}

static void test_ingest_sources__functions_by_name_coexist_with_those_of_addresses(void **state)
{
	/* Leaf first; the last has an unannounced number. */
	const uint64_t first[] = {ctx_frame_named(7, 42), ctx_frame_named(UINT32_MAX, 3), 0x1010};
	const uint64_t again[] = {ctx_frame_named(7, 43), ctx_frame_named(UINT32_MAX, 3), 0x1010};
	const uint64_t plain[] = {ctx_frame_named(9, 5), ctx_frame_named(8, 0), ctx_frame_named(1000, 1)};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(0, 0x1000, 0x1000, "/no/such/program"),
		function_event(7, "App.run", "app.jar"),
		function_event(UINT32_MAX, "App.main", "app.jar"),
		whole_sample(10, first, 3),
		whole_sample(20, again, 3),
		whole_sample(30, first, 3),
		function_event(8, "App.main", "other.jar"),
		function_event(9, "_ZN3foo3barEv", "other.jar"),
		whole_sample(40, plain, 3),
	};
	static const char *const expected[] = {
		"App.run of app.jar at App.java:42; App.main of app.jar at Main.java:9; <Unknown>@0x10 of "
		"/no/such/program at -; ",
		"App.run of app.jar at App.java:43; App.main of app.jar at Main.java:9; <Unknown>@0x10 of "
		"/no/such/program at -; ",
		"App.run of app.jar at App.java:42; App.main of app.jar at Main.java:9; <Unknown>@0x10 of "
		"/no/such/program at -; ",
		"foo::bar() of other.jar at -; App.main of other.jar at -; <Unknown> of nothing at -; ",
	};
	const struct ctx_sample *samples;
	struct list_source list;
	struct ctx_store *store;
	struct ctx_flat flat;

	(void)state;
	events[3].function.file = "App.java";
	events[3].function.line = 40;
	events[3].function.positions = CTX_POSITION_LINE;
	events[4].function.file =
		"Main.java"; /* positions in it are no lines: where it begins is all that is known */
	events[4].function.line = 9;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	store = store_of(&list);
	samples = check_samples(store, expected, CTX_COUNT_OF(expected), describe);
	/* Two lines of a function are one call stack, and two places in it. */
	assert_int_equal(samples[0].stack, samples[1].stack);
	assert_int_not_equal(samples[0].raw_stack, samples[1].raw_stack);
	assert_int_equal(samples[0].raw_stack, samples[2].raw_stack);
	flat = flat_of(store);
	assert_int_equal(row_of(store, &flat, "App.run")->base, 30);
	assert_int_equal(row_of(store, &flat, "foo::bar()")->base, 10);
	assert_int_equal(flat.weight, 40);
	ctx_flat_deinit(&flat);
	assert_string_equal(ctx_store_profile(store)->objects[1].symbols, "recorded");
	ctx_store_close(store);
}

static void test_ingest_sources__functions_by_name_may_be_in_dictionaries(void **state)
{
	static const uint32_t parents[] = {0, 1, 1};
	const uint64_t frames[] = {ctx_frame_named(1, 0), ctx_frame_named(2, 5), ctx_frame_named(2, 6)};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		function_event(1, "outer", "module"),
		function_event(2, "inner", "module"),
		stacks_event(1, 3, parents, frames),
		sample_event(10, 0, 0, 2),
		sample_event(20, 0, 0, 3),
		sample_event(30, 0, 0, 1),
	};
	struct list_source list;
	struct ctx_store *store;
	struct ctx_flat flat;

	(void)state;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	store = store_of(&list);
	flat = flat_of(store);
	assert_int_equal(row_of(store, &flat, "inner")->base, 20);
	assert_int_equal(row_of(store, &flat, "outer")->base, 10);
	assert_int_equal(row_of(store, &flat, "outer")->cum, 30);
	ctx_flat_deinit(&flat);
	ctx_store_close(store);
}

static void test_ingest_sources__a_number_is_one_function(void **state)
{
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		function_event(1, "first", "module"),
		function_event(1, "second", "module"),
	};
	struct list_source list;
	struct ctx_store *store;
	struct ctx_err err = {0};

	(void)state;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	assert_int_equal(ingest(&list, &store, &err), CTX_E_FORMAT);
	assert_string_equal(err.msg, "function 1 was announced twice");
}

/* A reader of files distinguishes such addresses from functions by name. */
static void test_ingest_sources__an_address_is_never_a_function_by_name(void **state)
{
	(void)state;
	assert_true(ctx_frame_is_named(ctx_frame_named(0, 0)));
	assert_int_equal(ctx_frame_function(ctx_frame_named(UINT32_MAX, 17)), UINT32_MAX);
	assert_int_equal(ctx_frame_position(ctx_frame_named(UINT32_MAX, 17)), 17);
	assert_int_equal(ctx_frame_position(ctx_frame_named(5, CTX_FRAME_POSITIONS)), 0);
	assert_int_equal(ctx_frame_function(ctx_frame_named(5, UINT32_MAX)), 5);
	assert_false(ctx_frame_is_named(ctx_frame_address(ctx_frame_named(5, 6))));
	assert_int_equal(ctx_frame_address(0x401000), 0x401000);
	for (int reason = 1; reason < CTX_TRUNCATED_N; reason++)
		assert_false(ctx_frame_is_named(ctx_frame_truncated((enum ctx_truncation)reason)));
	assert_false(ctx_frame_is_named(CTX_FRAME_JOINED));
}

/* --- calls --- */

#define FUNCTIONS 5u
#define CALLS 400u
#define DEPTH 12u

/*
 * A program that calls and returns at random, with a sample at each call: how often each function
 * was really called is counted on the side.
 */
struct walk {
	struct ctx_event events[2 + FUNCTIONS + CALLS];
	uint64_t frames[CALLS][DEPTH];
	int64_t calls[FUNCTIONS];
};

static size_t walk(struct walk *walk, unsigned seed)
{
	static const char *const names[FUNCTIONS] = {"a", "b", "c", "d", "e"};
	uint32_t stack[DEPTH], depth = 0;
	size_t n = 0;

	*walk = (struct walk){.events = {process_start(0, 0, 100), thread_start(0, 0, 0, 100)}};
	n = 2;
	srand(seed);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		walk->events[n++] = function_event(i, names[i], "module");
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t kept;

		while (depth != 0 && (depth == DEPTH || rand() % 2 == 0))
			depth--;
		kept = depth;
		stack[depth++] = (uint32_t)rand() % FUNCTIONS;
		walk->calls[stack[depth - 1]]++;
		/* The same activation may be at another place by now. */
		for (uint32_t k = 0; k < depth; k++)
			walk->frames[i][k] = ctx_frame_named(stack[depth - 1 - k], (uint32_t)rand() % 3);
		walk->events[n] = whole_sample(10 + i, walk->frames[i], depth);
		walk->events[n++].sample.kept_frames = kept;
	}
	return n;
}

static void test_ingest_sources__calls_are_exact_where_a_stack_says_what_it_keeps(void **state)
{
	struct ctx_source_metric exact = {
		.name = "spans", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS, .exact_calls = true};
	struct walk *steps = ctx_calloc(1, sizeof(*steps));
	int64_t missed = 0;

	(void)state;
	assert_non_null(steps);
	for (unsigned seed = 1; seed <= 5; seed++) {
		size_t n = walk(steps, seed);

		for (int guessed = 0; guessed <= 1; guessed++) {
			const char *said;
			struct list_source list;
			struct ctx_store *store;
			struct ctx_flat flat;

			list_open(&list, steps->events, n, 1000);
			if (!guessed)
				list.source.info.metrics = &exact;
			store = store_of(&list);
			flat = flat_of(store);
			for (uint32_t i = 0; i < FUNCTIONS; i++) {
				const char *name = steps->events[2 + i].function.name;
				int64_t calls = row_of(store, &flat, name)->calls;

				if (!guessed)
					assert_int_equal(calls, steps->calls[i]);
				assert_true(calls <= steps->calls[i]);
				missed += steps->calls[i] - calls;
			}
			said = ctx_profile_property(ctx_store_profile(store), "calls", "estimated");
			assert_string_equal(said, guessed ? "estimated" : "counted: spans");
			ctx_flat_deinit(&flat);
			ctx_store_close(store);
		}
	}
	assert_true(missed >
		    100); /* without what the source says, a call that follows its like is not seen */
	free(steps);
}

/*
 * A source that keeps more than there is, or than the stack before had, costs calls but nothing
 * else.
 */
static void test_ingest_sources__keeping_more_frames_than_exist_is_refused(void **state)
{
	struct ctx_source_metric exact = {
		.name = "spans", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS, .exact_calls = true};
	const uint64_t one[] = {ctx_frame_named(2, 0), ctx_frame_named(1, 0)};
	const uint64_t other[] = {ctx_frame_named(3, 0), ctx_frame_named(1, 0)};
	struct ctx_event events[] = {
		process_start(0, 0, 100),	 thread_start(0, 0, 0, 100),
		function_event(1, "main", "m"),	 function_event(2, "one", "m"),
		function_event(3, "other", "m"), whole_sample(10, one, 2),
		whole_sample(20, one, 2),	 whole_sample(30, other, 2),
	};
	struct list_source list;
	struct ctx_store *store;
	struct ctx_flat flat;

	(void)state;
	for (size_t i = 5; i < CTX_COUNT_OF(events); i++)
		events[i].sample.kept_frames = 1000;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	list.source.info.metrics = &exact;
	store = store_of(&list);
	flat = flat_of(store);
	assert_int_equal(row_of(store, &flat, "main")->calls, 1);
	assert_int_equal(row_of(store, &flat, "one")->calls, 1);
	assert_int_equal(row_of(store, &flat, "other")->calls, 1);
	ctx_flat_deinit(&flat);
	ctx_store_close(store);
}

/* --- waits --- */

static void test_ingest_sources__a_wait_is_as_the_source_reports_it(void **state)
{
	static const struct {
		enum ctx_wait wait;
		enum ctx_thread_state expected;
	} cases[] = {
		{CTX_WAIT_UNKNOWN, CTX_STATE_USER_LOCK}, /* by its stack */
		{CTX_WAIT_LOCK, CTX_STATE_USER_LOCK},
		{CTX_WAIT_TIME, CTX_STATE_SLEEP},
		{CTX_WAIT_IO, CTX_STATE_SLEEP},
		{CTX_WAIT_TEXT_PAGE, CTX_STATE_TEXT_FAULT},
		{CTX_WAIT_DATA_PAGE, CTX_STATE_DATA_FAULT},
		{CTX_WAIT_OTHER, CTX_STATE_SLEEP},
	};
	const uint64_t frames[] = {ctx_frame_named(1, 0)};

	(void)state;
	assert_int_equal(CTX_COUNT_OF(cases), CTX_WAIT_N);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_event events[] = {
			process_start(0, 0, 100),
			thread_start(0, 0, 0, 100),
			function_event(1, "futex_wait", "m"),
			change_event(0, 0, CTX_CHANGE_RUNS),
			change_event(100, 0, CTX_CHANGE_BLOCKED),
			change_event(400, 0, CTX_CHANGE_RUNS),
		};
		const struct ctx_profile *profile;
		struct list_source list;
		struct ctx_store *store;

		events[4].state.wait = cases[i].wait;
		events[4].state.stack.frames = frames;
		events[4].state.stack.n_frames = 1;
		list_open(&list, events, CTX_COUNT_OF(events), 1000);
		list.source.info.has_states = true;
		store = store_of(&list);
		profile = ctx_store_profile(store);
		for (uint32_t s = CTX_STATE_TEXT_FAULT; s <= CTX_STATE_WAIT_CPU; s++)
			assert_int_equal(profile->metrics[profile->states + s].weight,
					 s == cases[i].expected ? 300 : 0);
		ctx_store_close(store);
	}
}

/* --- symbols of the recording --- */

/*
 * The libraries are not on this host: their names come with the recording. Code at 0x1000 of a file
 * has addresses from 0x5000; the kernel's are its own.
 */
static void test_ingest_sources__symbols_of_the_recording_name_what_no_file_does(void **state)
{
	static const struct ctx_source_symbol of_kernel[] = {{CTX_KERNEL_START + 0x100, 0x40, "do_fork"}};
	static const struct ctx_source_symbol of_library[] = {{0x5200, 0, "last"},
							      {0x5100, 0x20, "_ZN3foo3barEv"}};
	static const struct ctx_source_symbols symbols[] = {
		{"/no/such/library", 0x4000, of_library, 2},
		{"[kernel.kallsyms]", 0, of_kernel, 1},
	};
	const uint64_t frames[] = {CTX_KERNEL_START + 0x110, 0x71105, 0x71210, 0x71130};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(0, 0x71000, 0x1000, "/no/such/library"),
		whole_sample(10, frames, 4),
	};
	struct list_source list;
	struct ctx_store *store;
	struct ctx_flat flat;

	(void)state;
	events[2].map.file_offset = 0x1000;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	list.source.info.symbols = symbols;
	list.source.info.n_symbols = CTX_COUNT_OF(symbols);
	store = store_of(&list);
	flat = flat_of(store);
	assert_int_equal(row_of(store, &flat, "do_fork")->base, 10);
	assert_int_equal(row_of(store, &flat, "foo::bar()")->cum, 10);
	assert_int_equal(row_of(store, &flat, "last")->cum, 10);
	assert_int_equal(row_of(store, &flat, "<Unknown>")->cum, 10); /* behind the end of foo::bar() */
	ctx_flat_deinit(&flat);
	ctx_store_close(store);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return ctx_dir_remove(directory, NULL) == CTX_OK ? 0 : -1;
}

/* --- code of virtual machines --- */

/* The functions at the frames of a sample's stack, leaf first, with what is inlined. */
static void describe_places(struct ctx_store *store, const struct ctx_sample *sample, char *out, size_t size)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	const struct ctx_code *code;
	size_t n = 0;

	assert_int_equal(ctx_store_code(store, &code, NULL), CTX_OK);
	for (uint32_t raw = sample->raw_stack; raw != CTX_TRIE_ROOT; raw = code->raw_stacks->parent[raw]) {
		const struct ctx_location *location = &code->locations[code->raw_stacks->key[raw]];
		uint32_t id = location->site;

		if (id == CTX_NONE)
			n += (size_t)snprintf(out + n, size - n, "%s; ",
					      profile->functions[location->function].name);
		for (; id != CTX_NONE; id = code->sites[id].caller) {
			const struct ctx_site *site = &code->sites[id];

			n += (size_t)snprintf(out + n, size - n, "%s:%u%s; ",
					      profile->functions[site->function].name, site->line,
					      profile->functions[site->function].inlined ? " inlined" : "");
		}
		assert_true(n < size);
	}
}

static struct ctx_event code_event(uint64_t time, uint64_t address, const char *name,
				   const struct ctx_jit_places *places)
{
	struct ctx_event event = map_event(time, address, 0x20, "<Java methods>");

	event.map.file_offset = address;
	event.map.function = name;
	event.map.code_kind = CTX_CODE_JAVA_COMPILED;
	event.map.places = places;
	return event;
}

/* A method is one function, however often it was compiled; its places and what is inlined there are sites. */
static void test_ingest_sources__code_of_methods_has_lines_and_inlined_methods(void **state)
{
	static const struct ctx_jit_site sites[] = {{CTX_NONE, "J.main()", "J.java", 3},
						    {0, "J.mid()", "J.java", 7},
						    {1, "J.leaf()", "J.java", 9}};
	static const struct ctx_jit_row rows[] = {{4, 0}, {8, 2}, {16, CTX_NONE}};
	static const struct ctx_jit_places places = {rows, sites, CTX_COUNT_OF(rows), CTX_COUNT_OF(sites)};
	const uint64_t before[] = {0x1003}, own[] = {0x1007}, deep[] = {0x1008}, behind[] = {0x101f},
		       again[] = {0x1104}, grown[] = {0x1104}, beyond[] = {0x3000};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(0, 0x1000, 0x1000, "/tmp/perf-100.map"),
		code_event(1, 0x1000, "J.main()", &places),
		code_event(1, 0x1100, "J.main()", &places),
		whole_sample(10, before, 1),
		whole_sample(20, own, 1),
		whole_sample(30, deep, 1),
		whole_sample(40, behind, 1),
		whole_sample(50, again, 1),
		/* The kernel reports memory that grows whole: the code in it stays. */
		map_event(55, 0x1000, 0x3000, "/tmp/perf-100.map"),
		whole_sample(60, grown, 1),
		whole_sample(70, beyond, 1),
		/* A file that is mapped there takes the place of all. */
		map_event(75, 0x1000, 0x3000, "/no/such/program"),
		map_event(76, 0x1000, 0x3000, "/tmp/perf-100.map"),
		whole_sample(80, grown, 1),
	};
	static const char *const expected[] = {
		"J.main(); ",  "J.main():3; ", "J.leaf():9 inlined; J.mid():7 inlined; J.main():3; ",
		"J.main(); ",  "J.main():3; ", "J.main():3; ",
		"<Unknown>; ", "<Unknown>; "};
	struct list_source list;
	struct ctx_store *store;
	struct ctx_flat flat;

	(void)state;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	store = store_of(&list);
	check_samples(store, expected, CTX_COUNT_OF(expected), describe_places);
	flat = flat_of(store);
	assert_int_equal(row_of(store, &flat, "J.main()")->cum, 60);
	assert_int_equal(row_of(store, &flat, "J.leaf()")->base, 10);
	ctx_flat_deinit(&flat);
	ctx_store_close(store);
}

/* What a fork has of its parent's memory stays, too, when that memory grows in it. */
static void test_ingest_sources__code_of_methods_stays_in_memory_that_grows_after_a_fork(void **state)
{
	const uint64_t inside[] = {0x1003}, beyond[] = {0x3000};
	struct ctx_event fork_maps = {.kind = CTX_EV_FORK_MAPS, .time_ns = 2, .process = 1};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(0, 0x1000, 0x1000, "/tmp/perf-100.map"),
		code_event(1, 0x1000, "J.main()", NULL),
		process_start(2, 1, 101),
		thread_start(2, 1, 1, 101),
		fork_maps,
		map_event(3, 0x1000, 0x3000, "/tmp/perf-101.map"),
		whole_sample(10, inside, 1),
		whole_sample(20, beyond, 1),
		map_event(30, 0x1000, 0x3000, "/tmp/perf-100.map"),
		whole_sample(40, inside, 1),
	};
	static const char *const expected[] = {"J.main(); ", "<Unknown>; ", "J.main(); "};
	struct list_source list;
	struct ctx_store *store;

	(void)state;
	events[6].maps_of = 0;
	events[7].process = 1;
	for (size_t i = 8; i < 10; i++)
		events[i].process = events[i].thread = 1;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	store = store_of(&list);
	check_samples(store, expected, CTX_COUNT_OF(expected), describe_places);
	ctx_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ingest_sources__code_of_methods_has_lines_and_inlined_methods),
		cmocka_unit_test(
			test_ingest_sources__code_of_methods_stays_in_memory_that_grows_after_a_fork),
		cmocka_unit_test(test_ingest_sources__functions_by_name_coexist_with_those_of_addresses),
		cmocka_unit_test(test_ingest_sources__functions_by_name_may_be_in_dictionaries),
		cmocka_unit_test(test_ingest_sources__a_number_is_one_function),
		cmocka_unit_test(test_ingest_sources__an_address_is_never_a_function_by_name),
		cmocka_unit_test(test_ingest_sources__calls_are_exact_where_a_stack_says_what_it_keeps),
		cmocka_unit_test(test_ingest_sources__keeping_more_frames_than_exist_is_refused),
		cmocka_unit_test(test_ingest_sources__a_wait_is_as_the_source_reports_it),
		cmocka_unit_test(test_ingest_sources__symbols_of_the_recording_name_what_no_file_does),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
