/*
 * Comparison of two sides: matching of functions, bins against the obvious slow way, and verdicts of sides that
 * differ by construction.
 */
#include "base/mem.h"
#include "chance.h"
#include "compare/bins.h"
#include "compare/diff.h"
#include "compare/diff_items.h"
#include "failing_malloc.h"
#include "fake_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u
#define N_FUNCTIONS 6u
#define SAMPLES_MAX 8000u

enum { MAIN, PARSE, HASH, INLINED, RARE, UNKNOWN };

/* A recording of two threads; stack i + 1 is main, then function i. */
struct world {
	struct ctx_function_info functions[N_FUNCTIONS];
	struct ctx_object_info objects[2];
	struct ctx_thread_info threads[2];
	struct ctx_process_info process;
	struct ctx_metric_info metric;
	struct ctx_profile profile;
	struct ctx_interval intervals[2];
	uint32_t stacks[N_FUNCTIONS];
	struct ctx_sample samples[SAMPLES_MAX];
	size_t n;
	struct ctx_histogram histogram;
	struct ctx_report_part part;
	struct fake_source fake;
	bool refuses;
};

static enum ctx_status each_sample(void *context, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct world *world = context;
	enum ctx_status status = world->refuses ? ctx_err_set(err, CTX_E_IO, "disk") : CTX_OK;

	assert_int_equal(query->thread, CTX_NONE);
	for (size_t i = 0; i < world->n && status == CTX_OK; i++)
		status = each(each_context, &world->samples[i], err);
	return status;
}

static struct world *world_new(const char *program)
{
	static const char *const NAMES[N_FUNCTIONS] = {"main", "parse", "hash", "twice", "rare", "<Unknown>"};
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		world->functions[i] = (struct ctx_function_info){
			.name = NAMES[i], .linkage_name = NAMES[i], .aliases = "", .object = i == HASH};
	world->functions[UNKNOWN].kind = CTX_FUNCTION_UNKNOWN;
	world->objects[0] = (struct ctx_object_info){.path = program, .build_id = "", .symbols = ""};
	world->objects[1] =
		(struct ctx_object_info){.path = "/lib/libz.so.1.2.13", .build_id = "", .symbols = ""};
	world->threads[0] =
		(struct ctx_thread_info){.tid = 1, .name = "t", .life = {0, 1000 * MS}, .weight = 2};
	world->threads[1] =
		(struct ctx_thread_info){.tid = 2, .name = "u", .life = {500 * MS, 1000 * MS}, .weight = 1};
	world->metric = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	world->intervals[0] = (struct ctx_interval){0, 1000 * MS};
	world->profile = (struct ctx_profile){.name = "x.er",
					      .run = {0, 1000 * MS},
					      .functions = world->functions,
					      .n_functions = N_FUNCTIONS,
					      .objects = world->objects,
					      .n_objects = 2,
					      .processes = &world->process,
					      .n_processes = 1,
					      .threads = world->threads,
					      .n_threads = 2,
					      .metrics = &world->metric,
					      .n_metrics = 1};
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&world->profile.cct, 0, MAIN, &world->stacks[MAIN], NULL), CTX_OK);
	for (uint32_t i = 1; i < N_FUNCTIONS; i++)
		assert_int_equal(
			ctx_trie_child(&world->profile.cct, world->stacks[MAIN], i, &world->stacks[i], NULL),
			CTX_OK);
	world->fake = (struct fake_source){.profile = &world->profile,
					   .path = program,
					   .intervals = world->intervals,
					   .n_intervals = 1,
					   .parts = &world->part,
					   .n_parts = 1,
					   .samples = each_sample,
					   .samples_context = world};
	world->part = (struct ctx_report_part){.thread = CTX_NONE, .histograms = &world->histogram};
	return world;
}

static void world_free(struct world *world)
{
	ctx_trie_deinit(&world->profile.cct);
	ctx_histogram_deinit(&world->histogram);
	free(world);
}

static void put_weight(struct world *world, uint64_t time_ns, uint32_t function, uint32_t thread,
		       uint64_t weight)
{
	struct ctx_sample sample = {
		.time_ns = time_ns, .weight = weight, .stack = world->stacks[function], .thread = thread};
	struct ctx_hist_entry entry = {.weight = weight, .samples = 1, .stack = sample.stack};

	assert_true(world->n < SAMPLES_MAX);
	world->samples[world->n++] = sample;
	assert_int_equal(ctx_histogram_add(&world->histogram, entry, NULL), CTX_OK);
}

static void put(struct world *world, uint64_t time_ns, uint32_t function, uint32_t thread)
{
	put_weight(world, time_ns, function, thread, MS);
}

/* 4,000 samples: hash in `of_1000` of each thousand, by chance, and parse in the rest. */
static struct world *steady(const char *program, unsigned of_1000)
{
	struct world *world = world_new(program);

	for (uint64_t i = 0; i < 4000; i++)
		put(world, i * MS / 4, below(1000) < of_1000 ? HASH : PARSE, 0);
	return world;
}

static const struct ctx_diff_row *row_of(const struct ctx_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct ctx_diff_item *item = &diff->items.items[diff->rows[i].item];

		if (strcmp(item->profile->functions[item->function].name, name) == 0)
			return &diff->rows[i];
	}
	return NULL;
}

static void compare(struct world *a, struct world *b, bool total, struct ctx_diff *ret)
{
	struct ctx_report_source *sources[] = {fake_open(&a->fake), fake_open(&b->fake)};
	const struct ctx_diff_spec spec = {.sides = {{&sources[0], 1}, {&sources[1], 1}}, .total = total};

	assert_int_equal(ctx_diff_make(&spec, ret, NULL), CTX_OK);
}

static void test_diff__finds_what_changed_and_nothing_else(void **unused)
{
	struct world *a = steady("/bin/app", 300), *b = steady("/bin/app", 450);
	const struct ctx_diff_row *hash, *parse;
	struct ctx_diff diff;

	(void)unused;
	compare(a, b, false, &diff);
	hash = row_of(&diff, "hash");
	parse = row_of(&diff, "parse");
	assert_int_equal(diff.n, 2);
	assert_int_equal(diff.n_tested, 2);
	assert_int_equal(hash->verdict, CTX_VERDICT_SLOWER);
	assert_int_equal(parse->verdict, CTX_VERDICT_FASTER);
	assert_int_equal(diff.total_verdict, CTX_VERDICT_NONE);
	assert_true(hash->evidence.low < 150e6 * 4 && 150e6 * 4 < hash->evidence.high);
	assert_true(hash->weight[0] + parse->weight[0] == diff.sides[0].weight);
	assert_true(diff.sides[0].weight == 4000e6 && diff.sides[0].samples == 4000);
	ctx_diff_deinit(&diff);
	world_free(b);
	b = steady("/bin/app", 305);
	compare(a, b, false, &diff);
	assert_int_equal(row_of(&diff, "hash")->verdict, CTX_VERDICT_NONE);
	assert_int_equal(row_of(&diff, "parse")->verdict, CTX_VERDICT_NONE);
	ctx_diff_deinit(&diff);
	/* With itself nothing differs, in the total time neither. */
	for (int total = 0; total < 2; total++) {
		compare(a, a, total, &diff);
		for (size_t i = 0; i < diff.n; i++)
			assert_true(diff.rows[i].evidence.change == 0 &&
				    diff.rows[i].verdict == CTX_VERDICT_NONE);
		assert_int_equal(row_of(&diff, "main") != NULL, total);
		ctx_diff_deinit(&diff);
	}
	world_free(a);
	world_free(b);
}

static void test_diff__functions_of_one_side_are_new_or_gone(void **unused)
{
	struct world *a = steady("/bin/app", 300), *b = steady("/bin/app", 300);
	struct ctx_diff diff;

	(void)unused;
	b->functions[HASH].name = b->functions[HASH].linkage_name = "hash2";
	compare(a, b, false, &diff);
	assert_int_equal(row_of(&diff, "hash2")->verdict, CTX_VERDICT_NEW);
	assert_int_equal(row_of(&diff, "hash")->verdict, CTX_VERDICT_GONE);
	ctx_diff_deinit(&diff);
	/* Two samples on one side are none. */
	put(b, 500 * MS, RARE, 1);
	put(b, 600 * MS, RARE, 1);
	compare(a, b, false, &diff);
	assert_true(row_of(&diff, "rare")->evidence.high == 0); /* not tested */
	assert_int_equal(row_of(&diff, "rare")->verdict, CTX_VERDICT_NONE);
	ctx_diff_deinit(&diff);
	world_free(a);
	world_free(b);
}

/* The same change of a function of the kernel, or of a module of it; the vDSO is the program's. */
static void test_diff__one_recording_is_no_evidence_of_the_kernel(void **unused)
{
	static const struct {
		const char *path;
		enum ctx_verdict verdict;
	} objects[] = {{"[kernel.kallsyms]", CTX_VERDICT_NONE},
		       {"[ext4]", CTX_VERDICT_NONE},
		       {"[vdso]", CTX_VERDICT_SLOWER}};

	(void)unused;
	for (size_t i = 0; i < CTX_COUNT_OF(objects); i++) {
		struct world *a = steady("/bin/app", 300), *b = steady("/bin/app", 450);
		struct ctx_diff diff;

		a->objects[1].path = b->objects[1].path = objects[i].path;
		compare(a, b, false, &diff);
		assert_int_equal(row_of(&diff, "hash")->verdict, objects[i].verdict);
		assert_int_equal(row_of(&diff, "parse")->verdict, CTX_VERDICT_FASTER);
		ctx_diff_deinit(&diff);
		world_free(a);
		world_free(b);
	}
}

/* A tenth more in all is slower; but not if it is the kernel's, of which as much is assumed to be chance. */
static void test_diff__the_kernels_part_of_the_total_may_be_chance(void **unused)
{
	(void)unused;
	for (int kernel = 0; kernel < 2; kernel++) {
		struct world *a = steady("/bin/app", 300), *b = steady("/bin/app", 300);
		struct ctx_diff diff;

		if (kernel)
			a->objects[1].path = b->objects[1].path = "[kernel.kallsyms]";
		for (uint64_t i = 0; i < 400; i++)
			put(b, i * MS * 5 / 2, HASH, 0);
		compare(a, b, false, &diff);
		assert_int_equal(diff.total_verdict, kernel ? CTX_VERDICT_NONE : CTX_VERDICT_SLOWER);
		ctx_diff_deinit(&diff);
		world_free(a);
		world_free(b);
	}
}

/*
 * Four rounds of parse, hash and parse; hash takes `hash` ms of each, the rest 750. Samples every ms of its own time;
 * while it waits for a processor, one ms in `waits`, nothing.
 */
static struct world *phases(unsigned hash, unsigned waits)
{
	struct world *world = world_new("/bin/app");
	uint64_t at = 0, n = 4 * (750 + (uint64_t)hash);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t in_round = i % (750 + hash);

		put(world, at * MS, in_round >= 300 && in_round < 300 + hash ? HASH : PARSE, 0);
		at += waits != 0 && (i * i / 7919) % waits == 0 ? 1 + below(40) : 1;
	}
	world->profile.run.end_ns = world->intervals[0].end_ns = world->threads[0].life.end_ns = at * MS;
	return world;
}

/* Phases of both sides are no noise, though each side alone could be a program whose load varies. */
static void test_diff__one_recording_of_a_program_with_phases_shows_a_change(void **unused)
{
	struct world *a = phases(250, 0), *same = phases(251, 0), *b = phases(280, 0);
	struct ctx_diff diff;

	(void)unused;
	compare(a, b, false, &diff);
	assert_int_equal(row_of(&diff, "hash")->verdict, CTX_VERDICT_SLOWER);
	assert_int_equal(row_of(&diff, "parse")->verdict, CTX_VERDICT_NONE);
	ctx_diff_deinit(&diff);
	compare(a, same, false, &diff);
	assert_int_equal(row_of(&diff, "hash")->verdict, CTX_VERDICT_NONE);
	ctx_diff_deinit(&diff);
	world_free(a);
	world_free(same);
	world_free(b);
}

/* Waits of `world` for a processor: the times without samples. */
static enum ctx_status each_sample_or_wait(void *context, const struct ctx_samples_query *query,
					   ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct world *world = context;
	enum ctx_status status = CTX_OK;

	if (!query->has_metric)
		return each_sample(context, query, each, each_context, err);
	assert_int_equal(query->metric, CTX_STATE_WAIT_CPU);
	for (size_t i = 1; i < world->n && status == CTX_OK; i++) {
		struct ctx_sample wait = world->samples[i];
		uint64_t gap_ns = wait.time_ns - world->samples[i - 1].time_ns;

		wait.time_ns -= 1;
		wait.weight = gap_ns > MS ? gap_ns - MS : 0;
		if (wait.weight != 0)
			status = each(each_context, &wait, err);
	}
	return status;
}

/* Beside other programs: waiting for a processor is no load that varies, if it was recorded. */
static void test_diff__waits_for_a_processor_are_no_noise(void **unused)
{
	double errors[2];

	(void)unused;
	for (int known = 0; known < 2; known++) {
		struct world *a = phases(250, 40), *b = phases(280, 10);
		struct ctx_diff diff;

		a->profile.has_states = b->profile.has_states = known != 0;
		a->fake.samples = b->fake.samples = each_sample_or_wait;
		compare(a, b, false, &diff);
		errors[known] = diff.total.high - diff.total.low;
		assert_int_equal(row_of(&diff, "hash")->verdict,
				 known ? CTX_VERDICT_SLOWER : CTX_VERDICT_NONE);
		ctx_diff_deinit(&diff);
		world_free(a);
		world_free(b);
	}
	assert_true(errors[1] < errors[0] / 2);
}

/* Two functions in turn. */
static struct world *turns(unsigned ms)
{
	struct world *world = world_new("/bin/app");

	for (unsigned i = 0; i < ms; i++)
		put(world, (uint64_t)i * MS, i / 50 % 2 == 0 ? HASH : PARSE, 0);
	world->profile.run.end_ns = world->intervals[0].end_ns = world->threads[0].life.end_ns =
		(uint64_t)ms * MS;
	return world;
}

/* What other programs may have caused is no evidence: more time where threads waited less for a processor. */
static void test_diff__a_change_by_waiting_for_a_processor_is_no_evidence(void **unused)
{
	static const struct {
		uint64_t waited_ms[2];
		double displaced_ms;
		enum ctx_verdict verdict;
	} cases[] = {
		{{0, 0}, 0, CTX_VERDICT_SLOWER},
		{{900, 0}, 400, CTX_VERDICT_NONE},   /* all of the 400 ms */
		{{900, 500}, 400, CTX_VERDICT_NONE}, /* the same difference */
		{{20, 0}, 20, CTX_VERDICT_SLOWER},
		{{0, 500}, 0, CTX_VERDICT_SLOWER}, /* it ran more though it waited more */
	};

	(void)unused;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct world *worlds[2] = {turns(2000), turns(2400)};
		struct ctx_report_states states[2] = {0};
		struct ctx_diff diff;

		for (int side = 0; side < 2; side++) {
			states[side].ns[CTX_STATE_WAIT_CPU] = cases[i].waited_ms[side] * MS;
			worlds[side]->profile.has_states = true;
			worlds[side]->fake.samples = each_sample_or_wait;
			worlds[side]->fake.states = &states[side];
			worlds[side]->fake.n_states = 1;
		}
		compare(worlds[0], worlds[1], false, &diff);
		assert_int_equal(row_of(&diff, "hash")->verdict, cases[i].verdict);
		assert_true(fabs(diff.displaced - cases[i].displaced_ms * MS) < 1);
		ctx_diff_deinit(&diff);
		world_free(worlds[0]);
		world_free(worlds[1]);
	}
}

/* Runs that differ by a tenth from each other are no evidence of a change by a twentieth; even ones are. */
static void test_diff__several_recordings_say_how_much_runs_differ(void **unused)
{
	static const unsigned EVEN[] = {300, 301, 299, 318, 319, 317},
			      WILD[] = {300, 330, 270, 318, 345, 290};

	(void)unused;
	for (int wild = 0; wild < 2; wild++) {
		struct ctx_report_source *sources[6];
		struct world *worlds[6];
		const struct ctx_diff_spec spec = {.sides = {{sources, 3}, {sources + 3, 3}}};
		struct ctx_diff diff;

		for (int i = 0; i < 6; i++) {
			worlds[i] = world_new("/bin/app");
			for (unsigned s = 0; s < 1000; s++)
				put(worlds[i], s * MS, s < (wild ? WILD : EVEN)[i] ? HASH : PARSE, 0);
			sources[i] = fake_open(&worlds[i]->fake);
		}
		assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
		assert_int_equal(row_of(&diff, "hash")->verdict,
				 wild ? CTX_VERDICT_NONE : CTX_VERDICT_SLOWER);
		assert_int_equal(diff.sides[0].blocks, 3);
		assert_true(fabs(row_of(&diff, "hash")->weight[0] - 300e6) < 1);
		ctx_diff_deinit(&diff);
		for (int i = 0; i < 6; i++)
			world_free(worlds[i]);
	}
}

/*
 * Three runs of each side without any difference: no less is uncertain than a sample, and samples of side B are of
 * 8 ms. A change by one of them would be certain if all were of 1 ms.
 */
static void test_diff__equal_runs_are_no_more_certain_than_samples(void **unused)
{
	(void)unused;
	for (uint64_t of_b = 1; of_b <= 8; of_b += 7) {
		struct ctx_report_source *sources[6];
		struct world *worlds[6];
		const struct ctx_diff_spec spec = {.sides = {{sources, 3}, {sources + 3, 3}}};
		struct ctx_diff diff;

		for (int i = 0; i < 6; i++) {
			uint64_t each = i < 3 ? 1 : of_b, hash = i < 3 ? 296 : 304;

			worlds[i] = world_new("/bin/app");
			for (uint64_t at = 0; at < 1000; at += each)
				put_weight(worlds[i], at * MS, at < hash ? HASH : PARSE, 0, each * MS);
			sources[i] = fake_open(&worlds[i]->fake);
		}
		assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
		assert_int_equal(row_of(&diff, "hash")->verdict,
				 of_b == 1 ? CTX_VERDICT_SLOWER : CTX_VERDICT_NONE);
		ctx_diff_deinit(&diff);
		for (int i = 0; i < 6; i++)
			world_free(worlds[i]);
	}
}

static void test_diff__refuses_metrics_that_differ(void **unused)
{
	struct world *a = steady("/bin/app", 300), *b = steady("/bin/app", 300);
	struct ctx_report_source *sources[] = {fake_open(&a->fake), fake_open(&b->fake)};
	const struct ctx_diff_spec spec = {.sides = {{&sources[0], 1}, {&sources[1], 1}}};
	struct ctx_err err = {0};
	struct ctx_diff diff;

	(void)unused;
	b->metric = (struct ctx_metric_info){
		.name = "page-faults", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS};
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "page-faults"));
	b->metric = a->metric;
	b->refuses = true;
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_IO);
	world_free(a);
	world_free(b);
}

static void test_diff__survives_each_failing_allocation(void **unused)
{
	struct world *a = steady("/bin/app", 300), *b = steady("/bin/app2", 450);

	(void)unused;
	a->fake.samples = b->fake.samples = each_sample_or_wait;
	a->profile.has_states = b->profile.has_states = true;
	for (size_t runs = 1; runs <= 2; runs++) {
		struct ctx_report_source *sources[] = {fake_open(&a->fake), fake_open(&b->fake)};
		struct ctx_report_source *of_a[] = {sources[0], sources[0]},
					 *of_b[] = {sources[1], sources[1]};
		const struct ctx_diff_spec spec = {.sides = {{of_a, runs}, {of_b, runs}}};
		enum ctx_status status = CTX_E_NOMEM;
		struct ctx_diff diff;

		for (long i = 0; status != CTX_OK; i++) {
			fail_after = i;
			status = ctx_diff_make(&spec, &diff, NULL);
			fail_after = -1;
			assert_true(status == CTX_OK || status == CTX_E_NOMEM);
			assert_true(i < 1000);
		}
		ctx_diff_deinit(&diff);
	}
	world_free(a);
	world_free(b);
}

static void assert_object(const char *path, const char *name)
{
	struct ctx_buf buf CTX_AUTO_BUF = {0};

	ctx_match_put_object(&buf, path);
	ctx_buf_put_u8(&buf, '\0');
	assert_string_equal((const char *)buf.bytes, name);
}

static void test_matching__leaves_out_directories_and_versions_of_objects(void **unused)
{
	(void)unused;
	assert_object("/usr/lib/libz.so.1.2.13", "libz.so");
	assert_object("/lib/libc-2.31.so", "libc.so");
	assert_object("libc.so.6", "libc.so");
	assert_object("/a/my-tool.sock", "my-tool.sock");
	assert_object("/a/mod-x.so", "mod-x.so");
	assert_object("/tmp/app (deleted)", "app");
	assert_object("[kernel.kallsyms]", "[kernel]");
	assert_object("[vdso]", "[vdso]");
	assert_object("/bin/", "/bin/");
	assert_object("", "");
}

static enum ctx_status match(const struct ctx_match_recording *recordings, enum ctx_match_subject subject,
			     struct ctx_matching *ret)
{
	return ctx_matching_make(
		&(struct ctx_match_spec){.recordings = recordings, .n = 2, .subject = subject}, ret, NULL);
}

static void test_matching__joins_what_is_on_one_side_only(void **unused)
{
	struct world *a = world_new("/bin/app"), *b = world_new("/opt/app-new");
	const struct ctx_match_recording recordings[] = {{&a->profile, CTX_COMPARE_A},
							 {&b->profile, CTX_COMPARE_B}};
	struct ctx_matching matching;

	(void)unused;
	/* A renamed program, another version of the library, a function that is inlined now, a demangler that differs. */
	b->objects[1].path = "/usr/lib64/libz.so.1.3";
	b->functions[INLINED].name = b->functions[INLINED].linkage_name = "twice (inlined)";
	b->functions[INLINED].inlined = true;
	a->functions[RARE].name = "rare(int)";
	b->functions[RARE].name = "rare(i32)";
	assert_int_equal(match(recordings, CTX_MATCH_FUNCTIONS, &matching), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		/* By its linkage name a function is found in its own object only; unknown ones are not joined. */
		bool same = i != RARE && i != UNKNOWN;

		assert_int_equal(matching.item_of[0][i] == matching.item_of[1][i], same);
		assert_int_equal(matching.items[matching.item_of[0][i]].sides, same ? 3 : 1);
	}
	ctx_matching_deinit(&matching);
	/* The same program: the linkage name joins them. */
	b->objects[0].path = "/opt/app";
	assert_int_equal(match(recordings, CTX_MATCH_FUNCTIONS, &matching), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(matching.item_of[0][i], matching.item_of[1][i]);
	assert_int_equal(matching.n_items, N_FUNCTIONS);
	ctx_matching_deinit(&matching);
	/* Two functions of one name in a renamed program: which is which is not known. */
	b->objects[0].path = "/opt/app-new";
	b->functions[PARSE].name = b->functions[PARSE].linkage_name = "main";
	b->functions[PARSE].object = CTX_NONE;
	assert_int_equal(match(recordings, CTX_MATCH_FUNCTIONS, &matching), CTX_OK);
	assert_int_not_equal(matching.item_of[0][PARSE], matching.item_of[1][PARSE]);
	ctx_matching_deinit(&matching);
	world_free(a);
	world_free(b);
}

static void test_matching__of_objects_is_by_their_names(void **unused)
{
	struct world *a = world_new("/bin/app"), *b = world_new("/opt/app");
	const struct ctx_match_recording recordings[] = {{&a->profile, CTX_COMPARE_A},
							 {&b->profile, CTX_COMPARE_B}};
	struct ctx_matching matching;

	(void)unused;
	b->functions[RARE].object = CTX_NONE;
	assert_int_equal(match(recordings, CTX_MATCH_OBJECTS, &matching), CTX_OK);
	assert_int_equal(matching.n_items, 3);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		assert_int_equal(matching.item_of[0][i], i == HASH ? 1 : 0);
		assert_int_equal(matching.item_of[1][i], i == RARE ? 2 : i == HASH ? 1 : 0);
	}
	ctx_matching_deinit(&matching);
	world_free(a);
	world_free(b);
}

/* The bin of a point of time, by counting selected nanoseconds of a millisecond each. */
static size_t slow_bin(const struct world *world, const struct ctx_bins *bins, size_t lane, uint64_t time_ns)
{
	uint64_t begin_ns = lane == 0 ? 0 : world->threads[lane == 1 ? 0 : 1].life.begin_ns, selected = 0;

	for (uint64_t at = begin_ns; at < time_ns; at += MS / 4) {
		for (size_t i = 0; i < world->fake.n_intervals; i++)
			selected += ctx_interval_has(world->intervals[i], at) ? MS / 4 : 0;
	}
	return bins->lane_begin[lane] + selected / bins->width_ns;
}

static uint64_t weight_of(const struct world *world)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < world->n; i++)
		weight += world->samples[i].weight;
	return weight;
}

/* What of `weight` in front of which there is `over` lies in a bin of the rows. */
static double slow_part(double over, double weight, double width, size_t bin, size_t n)
{
	double begin = width * (double)bin, end = bin + 1 == n ? INFINITY : begin + width;

	return fmax(fmin(over + weight, end) - fmax(over, begin), 0);
}

/* What is wanted of which functions. */
struct wanted {
	const uint32_t *row_of; /* by function */
	bool total;
};

/* Fills the bins of one recording; `row_of` gets the rows by item. */
static void fill_bins(struct world *world, const struct wanted *wanted, const struct ctx_bins_spec *given,
		      struct ctx_bins *ret)
{
	struct ctx_report_source *source = fake_open(&world->fake);
	const enum ctx_compare_side side = CTX_COMPARE_A;
	const struct ctx_diff_items_spec items_spec = {
		.sources = &source, .sides = &side, .n = 1, .total = wanted->total};
	struct ctx_bins_spec spec = *given;
	struct ctx_diff_items items;
	uint32_t row_of[N_FUNCTIONS];

	assert_int_equal(ctx_diff_items_make(&items_spec, &items, NULL), CTX_OK);
	for (uint32_t f = 0; f < N_FUNCTIONS; f++)
		row_of[items.matching.item_of[0][f]] = wanted->row_of[f];
	spec.recording = &items.recordings[0];
	spec.row_of = row_of;
	spec.scale = 1;
	assert_int_equal(ctx_bins_fill(source, &spec, ret, NULL), CTX_OK);
	ctx_diff_items_deinit(&items);
}

static void check_bins(struct world *world, const struct wanted *wanted, const struct ctx_bins_spec *spec)
{
	struct ctx_bins bins;
	double *slow, *load, over = 0, width = (double)spec->weight / (double)spec->n_bins;

	fill_bins(world, wanted, spec, &bins);
	assert_int_equal(bins.n_lanes, 3);
	assert_int_equal(bins.n_bins, spec->n_bins);
	slow = calloc(bins.n_rows * bins.n_bins, sizeof(*slow));
	load = calloc(bins.lane_begin[bins.n_lanes], sizeof(*load));
	assert_non_null(slow);
	assert_non_null(load);
	for (size_t i = 0; i < world->n; i++) {
		const struct ctx_sample *sample = &world->samples[i];
		uint32_t leaf = world->profile.cct.key[sample->stack];

		load[slow_bin(world, &bins, sample->thread + 1, sample->time_ns)] += (double)sample->weight;
		for (uint32_t f = 0; f < N_FUNCTIONS; f++) {
			if (wanted->row_of[f] == CTX_NONE || (f != leaf && !(wanted->total && f == MAIN)))
				continue;
			for (size_t bin = 0; bin < bins.n_bins; bin++)
				slow[wanted->row_of[f] * bins.n_bins + bin] +=
					slow_part(over, (double)sample->weight, width, bin, bins.n_bins);
		}
		over += (double)sample->weight;
	}
	for (uint32_t row = 0; row < bins.n_rows; row++) {
		for (size_t i = 0; i < bins.n_bins; i++)
			assert_true(fabs(slow[row * bins.n_bins + i] - ctx_bins_row(&bins, row)[i]) < 1);
	}
	for (size_t i = 0; i < bins.lane_begin[bins.n_lanes]; i++)
		assert_true(load[i] == bins.load[i]);
	free(slow);
	free(load);
	ctx_bins_deinit(&bins);
}

static void test_bins__are_those_of_the_obvious_way(void **unused)
{
	static const uint32_t row_of[N_FUNCTIONS] = {0, 1, CTX_NONE, CTX_NONE, 2, CTX_NONE};
	struct world *world = world_new("/bin/app");

	(void)unused;
	world->intervals[0] = (struct ctx_interval){100 * MS, 300 * MS};
	world->intervals[1] = (struct ctx_interval){600 * MS, 900 * MS};
	world->fake.n_intervals = 2;
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t at = i * MS / 4;

		if ((at >= 100 * MS && at < 300 * MS) || (at >= 600 * MS && at < 900 * MS))
			put(world, at, (uint32_t)below(N_FUNCTIONS), at >= 600 * MS && below(2) != 0);
	}
	for (size_t n = 1; n < 5000; n = n * 3 + 1) {
		const struct ctx_bins_spec spec = {
			.n_rows = 3, .n_bins = n / 4 + 1, .n_load = n, .weight = weight_of(world)};

		check_bins(world, &(struct wanted){row_of, false}, &spec);
		check_bins(world, &(struct wanted){row_of, true}, &spec);
	}
	world_free(world);
}

/* A span of 1.5 bins and more lies in each bin with its part. */
static void test_bins__divide_spans(void **unused)
{
	static const uint32_t row_of[N_FUNCTIONS] = {CTX_NONE, 0, CTX_NONE, CTX_NONE, CTX_NONE, CTX_NONE};
	const struct ctx_bins_spec spec = {.n_rows = 1, .n_bins = 3, .n_load = 250, .weight = 57 * MS + 123};
	struct world *world = world_new("/bin/app");
	struct ctx_bins bins;
	double sum = 0;

	(void)unused;
	world->metric.kind = CTX_METRIC_SPAN;
	world->threads[0].life = (struct ctx_interval){0, 1000 * MS};
	put(world, 100 * MS - 1, PARSE, 0);
	world->samples[0].weight = 57 * MS + 123;
	fill_bins(world, &(struct wanted){row_of, false}, &spec, &bins);
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(bins.weights[i] - (57e6 + 123) / 3) < 1e-3);
	for (size_t i = 0; i < bins.lane_begin[3]; i++) {
		size_t at = i - bins.lane_begin[1];
		uint64_t begin = at * bins.width_ns, end = begin + bins.width_ns;

		sum += bins.load[i];
		if (i < bins.lane_begin[1] || i >= bins.lane_begin[2]) {
			assert_true(bins.load[i] == 0);
			continue;
		}
		begin = begin > 43 * MS - 123 ? begin : 43 * MS - 123;
		end = end < 100 * MS ? end : 100 * MS;
		assert_true(bins.load[i] == (end > begin ? (double)(end - begin) : 0));
	}
	assert_true(sum == 57e6 + 123);
	ctx_bins_deinit(&bins);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff__finds_what_changed_and_nothing_else),
		cmocka_unit_test(test_diff__functions_of_one_side_are_new_or_gone),
		cmocka_unit_test(test_diff__one_recording_is_no_evidence_of_the_kernel),
		cmocka_unit_test(test_diff__the_kernels_part_of_the_total_may_be_chance),
		cmocka_unit_test(test_diff__one_recording_of_a_program_with_phases_shows_a_change),
		cmocka_unit_test(test_diff__waits_for_a_processor_are_no_noise),
		cmocka_unit_test(test_diff__a_change_by_waiting_for_a_processor_is_no_evidence),
		cmocka_unit_test(test_diff__several_recordings_say_how_much_runs_differ),
		cmocka_unit_test(test_diff__equal_runs_are_no_more_certain_than_samples),
		cmocka_unit_test(test_diff__refuses_metrics_that_differ),
		cmocka_unit_test(test_diff__survives_each_failing_allocation),
		cmocka_unit_test(test_matching__leaves_out_directories_and_versions_of_objects),
		cmocka_unit_test(test_matching__joins_what_is_on_one_side_only),
		cmocka_unit_test(test_matching__of_objects_is_by_their_names),
		cmocka_unit_test(test_bins__are_those_of_the_obvious_way),
		cmocka_unit_test(test_bins__divide_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
