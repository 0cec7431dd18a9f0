/*
 * Questions about stores: time trees as an ingest makes them, and selections by chance.
 */
#ifndef CTX_TESTS_UNIT_QUERY_FIXTURE_H
#define CTX_TESTS_UNIT_QUERY_FIXTURE_H

#include "store_places.h"

#include "ingest/forest.h"
#include "query/query.h"

/*
 * The trees as an ingest makes them, with small leaves, so that queries take lists, whole leaves
 * and parts of leaves.
 */
static inline void put_trees(struct fixture *fixture, struct ctx_store *store)
{
	struct ctx_tree_forest_options options = {.store = store,
						  .params = ctx_timetree_default_params(),
						  .run = fixture->profile.run,
						  .cct = &fixture->profile.cct,
						  .single_thread = fixture->profile.n_threads == 1,
						  .n_metrics = fixture->profile.n_metrics,
						  .calls_metric = CTX_NONE};
	struct ctx_tree_forest *forest = NULL;
	uint64_t moved, late;
	uint32_t n;

	options.params.leaf_samples = 40;
	options.params.fanout = 4;
	must(ctx_tree_forest_create(&options, &forest, err));
	for (size_t i = 0; i < fixture->n_samples; i++)
		must(ctx_tree_forest_add(forest, &fixture->samples[i], err));
	must(ctx_tree_forest_finish(forest, &n, &moved, &late, err));
	ctx_tree_forest_destroy(forest);
}

/* Released with ctx_query_deinit. */
static inline struct ctx_query ask_of(struct ctx_store *store, const struct ctx_selection *selection,
				      unsigned flags)
{
	struct ctx_query query;

	ctx_query_init(&query, store, selection, flags);
	return query;
}

/* Adds the selection's first metric of all selected threads. */
static inline void ask_all(struct ctx_query *query, struct ctx_histogram *out)
{
	struct ctx_query_scope scope = {.metric = query->selection->metrics[0], .thread = CTX_NONE};

	must(ctx_query_histogram(query, &scope, out, err));
}

/* Up to three intervals, some of the threads or all, some of the processors or all. */
struct choice {
	struct ctx_interval intervals[3];
	uint32_t threads[8];
	struct ctx_cpu_range cpus[1];
	uint32_t metrics[2]; /* the first, 0, is selected */
	struct ctx_selection selection;
};

static inline void choose(struct fixture *fixture, struct choice *choice)
{
	struct ctx_selection *selection = &choice->selection;
	uint64_t at = 0;

	memset(choice->metrics, 0, sizeof(choice->metrics));
	*selection = (struct ctx_selection){
		.intervals = choice->intervals, .metrics = choice->metrics, .n_metrics = 1};
	while (selection->n_intervals < 1 + fixture_random(fixture, 3) && at < FIXTURE_RUN_NS) {
		uint64_t begin = at + fixture_random(fixture, (uint32_t)(FIXTURE_RUN_NS - at));
		uint64_t end = begin + 1 + fixture_random(fixture, (uint32_t)(FIXTURE_RUN_NS - begin));

		choice->intervals[selection->n_intervals++] = (struct ctx_interval){begin, end};
		at = end;
		if (selection->n_intervals == 3)
			break;
	}
	if (fixture_random(fixture, 2) != 0)
		selection->threads = choice->threads;
	for (uint32_t i = 0; selection->threads != NULL && i < fixture->profile.n_threads; i++) {
		if (fixture_random(fixture, 2) != 0)
			choice->threads[selection->n_threads++] = i;
	}
	if (fixture_random(fixture, 2) != 0) {
		choice->cpus[0] = (struct ctx_cpu_range){0, (int32_t)fixture_random(fixture, 3)};
		selection->cpus = choice->cpus;
		selection->n_cpus = 1;
	}
}

#endif
