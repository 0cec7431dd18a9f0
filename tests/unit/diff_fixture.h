/*
 * Two recordings by chance, for tests of comparisons: few functions, whose ids differ on side B, so that only names
 * tell which are the same.
 */
#ifndef CTX_TESTS_UNIT_DIFF_FIXTURE_H
#define CTX_TESTS_UNIT_DIFF_FIXTURE_H

#include "chance.h"
#include "compare/diff.h"
#include "fake_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u
#define N_FUNCTIONS 5u
#define N_THREADS 3u
#define N_SAMPLES 600u
#define DEPTH 6u
#define N_METRICS (1u + CTX_STATE_N)
#define KEYS_MAX 4000u

/* A recording; function ids of side B are turned, so that only names tell which are the same. */
struct world {
	struct ctx_function_info functions[N_FUNCTIONS];
	struct ctx_object_info objects[2];
	struct ctx_thread_info threads[N_THREADS];
	struct ctx_process_info process;
	struct ctx_metric_info metrics[N_METRICS];
	struct ctx_profile profile;
	struct ctx_interval intervals[2];
	struct ctx_sample samples[N_SAMPLES];
	struct ctx_histogram histogram;
	struct ctx_report_part part;
	struct fake_source fake;
	/* Of lines. */
	struct ctx_trie raw;
	struct ctx_location locations[8];
	struct ctx_site sites[8];
	struct ctx_source_file file;
	struct ctx_code code;
	struct ctx_code_reader reader;
	const char *text;
};

static const char *const NAMES[N_FUNCTIONS] = {"main", "parse", "hash", "read", "close"};

static inline bool is_selected(const struct world *world, uint64_t time_ns)
{
	return ctx_interval_has(world->intervals[0], time_ns) ||
	       ctx_interval_has(world->intervals[1], time_ns);
}

static inline enum ctx_status each_sample(void *context, const struct ctx_samples_query *query,
					  ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct world *world = context;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < N_SAMPLES && status == CTX_OK; i++) {
		const struct ctx_sample *sample = &world->samples[i];

		if (query->has_metric ? sample->metric == query->metric
				      : sample->metric == 0 && is_selected(world, sample->time_ns))
			status = each(each_context, sample, err);
	}
	return status;
}

static inline void make_profile(struct world *world, uint32_t turn)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		const char *name = NAMES[(i + turn) % N_FUNCTIONS];

		world->functions[i] = (struct ctx_function_info){.name = name,
								 .linkage_name = name,
								 .aliases = "",
								 .object = strcmp(name, "hash") == 0 ? 1 : 0};
	}
	world->objects[0] = (struct ctx_object_info){.path = "/bin/app", .build_id = "", .symbols = ""};
	world->objects[1] = (struct ctx_object_info){.path = "/lib/libz.so.1", .build_id = "", .symbols = ""};
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->threads[i] = (struct ctx_thread_info){
			.tid = i, .name = i == 0 ? "app" : "worker", .life = {0, 1000 * MS}, .weight = 1};
	world->metrics[0] = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	for (uint32_t i = 1; i < N_METRICS; i++)
		world->metrics[i] = (struct ctx_metric_info){
			.name = "state", .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS};
	world->intervals[0] = (struct ctx_interval){100 * MS, 400 * MS};
	world->intervals[1] = (struct ctx_interval){500 * MS, 900 * MS};
	world->profile = (struct ctx_profile){.name = "x.er",
					      .run = {0, 1000 * MS},
					      .has_states = true,
					      .states = 1,
					      .functions = world->functions,
					      .n_functions = N_FUNCTIONS,
					      .objects = world->objects,
					      .n_objects = 2,
					      .processes = &world->process,
					      .n_processes = 1,
					      .threads = world->threads,
					      .n_threads = N_THREADS,
					      .metrics = world->metrics,
					      .n_metrics = N_METRICS};
}

/* Samples by chance, of few functions: recursion and shared beginnings are frequent. */
static inline struct world *world_new(uint32_t turn)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	make_profile(world, turn);
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
	for (size_t i = 0; i < N_SAMPLES; i++) {
		struct ctx_sample *sample = &world->samples[i];
		uint64_t depth = 1 + below(DEPTH);

		*sample = (struct ctx_sample){.time_ns = (i + 1) * MS * 3 / 2,
					      .weight = 1 + below(3 * MS),
					      .thread = (uint32_t)below(N_THREADS),
					      .metric = below(2) == 0 ? 0 : (uint32_t)below(N_METRICS)};
		for (uint64_t k = 0; k < depth; k++)
			assert_int_equal(ctx_trie_child(&world->profile.cct, sample->stack,
							(uint32_t)below(N_FUNCTIONS), &sample->stack, NULL),
					 CTX_OK);
		if (sample->metric != 0 || !is_selected(world, sample->time_ns))
			continue;
		assert_int_equal(ctx_histogram_add(&world->histogram,
						   (struct ctx_hist_entry){.weight = sample->weight,
									   .samples = 1,
									   .stack = sample->stack},
						   NULL),
				 CTX_OK);
	}
	world->part = (struct ctx_report_part){.thread = CTX_NONE, .histograms = &world->histogram};
	world->fake = (struct fake_source){.profile = &world->profile,
					   .path = turn == 0 ? "a.er" : "b.er",
					   .intervals = world->intervals,
					   .n_intervals = 2,
					   .parts = &world->part,
					   .n_parts = 1,
					   .samples = each_sample,
					   .samples_context = world};
	return world;
}

static inline void world_free(struct world *world)
{
	ctx_trie_deinit(&world->profile.cct);
	ctx_trie_deinit(&world->raw);
	ctx_histogram_deinit(&world->histogram);
	free(world);
}

static inline struct ctx_diff_spec spec_of(struct ctx_report_source *sources[2],
					   enum ctx_diff_subject subject, bool flag)
{
	return (struct ctx_diff_spec){.sides = {{&sources[0], 1}, {&sources[1], 1}},
				      .subject = subject,
				      .total = flag,
				      .folds = flag};
}

#endif
