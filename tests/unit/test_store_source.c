/* The store as a source of reports: its results equal those of the queries, and remain valid. */
#include "query_fixture.h"

#include "base/map64.h"
#include "failing_malloc.h"
#include "query/store_source.h"

#include <inttypes.h>

static const struct ctx_selection_spec words;

static struct ctx_store *make_store(struct fixture *fixture, uint64_t seed)
{
	struct ctx_store *store = NULL;

	fixture_init(fixture, seed, 5, 3000);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	put_trees(fixture, store);
	must(fixture_put_contents(fixture, store, err));
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	return store;
}

static struct ctx_report_source *open_source(struct ctx_store *store, const struct ctx_selection *selection)
{
	const struct ctx_query_source_spec spec = {
		.store = store, .selection = selection, .words = &words, .path = "a.db"};
	struct ctx_report_source *source = NULL;

	must(ctx_query_source_open(&spec, &source, err));
	return source;
}

static void assert_same(const struct ctx_histogram *a, const struct ctx_histogram *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->weight, b->weight);
	assert_memory_equal(a->entries, b->entries, a->n * sizeof(*a->entries));
}

/* Field by field: the struct has padding. */
static void assert_same_cost(const struct ctx_timetree_cost *a, const struct ctx_timetree_cost *b)
{
	assert_int_equal(a->nodes_visited, b->nodes_visited);
	assert_int_equal(a->nodes_skipped, b->nodes_skipped);
	assert_int_equal(a->nodes_whole, b->nodes_whole);
	assert_int_equal(a->leaves_whole, b->leaves_whole);
	assert_int_equal(a->leaves_partial, b->leaves_partial);
	assert_int_equal(a->samples_enumerated, b->samples_enumerated);
	assert_int_equal(a->list_entries, b->list_entries);
	assert_int_equal(a->list_bytes, b->list_bytes);
	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->omitted_weight, b->omitted_weight);
	assert_int_equal(a->omitted_samples, b->omitted_samples);
	assert_int_equal(a->omitted_largest, b->omitted_largest);
}

static void test_store_source__parts_are_those_of_the_query_and_cost_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct fixture fixture;
		struct ctx_store *store = make_store(&fixture, seed);
		struct choice choice;
		struct ctx_report_source *source;

		choose(&fixture, &choice);
		source = open_source(store, &choice.selection);
		for (unsigned i = 0; i < 4; i++) {
			const struct ctx_parts_query asked = {.per_thread = i % 2 != 0, .calls = i / 2 != 0};
			const struct ctx_query_metrics metrics = {choice.selection.metrics, 1};
			struct ctx_query query;
			struct ctx_report_parts parts, again;
			struct ctx_query_parts truth;
			struct ctx_query_source_cost cost;

			must(source->parts(source, &asked, &parts, err));
			cost = ctx_query_source_take_cost(source);
			ctx_query_init(&query, store, &choice.selection,
				       asked.calls ? 0 : CTX_TIMETREE_NO_CALLS);
			must(ctx_query_parts(&query, &metrics, asked.per_thread, &truth, err));
			assert_same_cost(&cost.tree, &query.cost);
			assert_int_equal(cost.samples_scanned, query.samples_scanned);
			assert_int_equal(parts.n, truth.n);
			for (size_t k = 0; k < truth.n; k++) {
				assert_int_equal(parts.parts[k].thread, truth.parts[k].thread);
				assert_same(parts.parts[k].histograms, truth.parts[k].histograms);
			}
			ctx_query_parts_free(&truth);
			ctx_query_deinit(&query);
			must(source->parts(source, &asked, &again, err));
			assert_ptr_equal(again.parts, parts.parts);
			cost = ctx_query_source_take_cost(source);
			assert_int_equal(cost.tree.nodes_visited + cost.samples_scanned, 0);
		}
		ctx_query_source_close(source);
		ctx_store_close(store);
		fixture_deinit(&fixture);
	}
}

static enum ctx_status sum_up(void *context, const struct ctx_sample *sample, struct ctx_err *error)
{
	(void)error;
	*(uint64_t *)context += sample->weight;
	return CTX_OK;
}

/* Rows of several keys that have the same hash: a second key is made so that it is. */
static void assert_rows_with_one_hash(struct ctx_report_source *source, const struct ctx_report_index *index)
{
	struct ctx_report_index both;
	char by[80];

	snprintf(by, sizeof(by), "thread,THRID==0?0:%" PRId64, (int64_t)(ctx_hash64(0) - ctx_hash64(1)));
	must(source->index(source, by, NULL, &both, err));
	assert_int_equal(both.n, index->n);
	for (size_t i = 0; i < index->n; i++) {
		size_t row = 0;

		while (row < both.n && both.keys[row * 2] != index->keys[i])
			row++;
		assert_true(row < both.n);
		assert_int_equal(both.sums[row].weight, index->sums[i].weight);
	}
}

/*
 * Thread sums, the index by thread, the raw histogram, samples one by one: all of them add up to
 * the same.
 */
static void test_store_source__every_answer_has_the_same_total(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct fixture fixture;
		struct ctx_store *store = make_store(&fixture, seed);
		struct choice choice;
		struct ctx_report_source *source;
		const struct ctx_histogram *raw;
		struct ctx_report_parts parts;
		struct ctx_report_thread_sums sums;
		struct ctx_report_index index, again;
		uint64_t of_threads = 0, of_samples = 0;

		choose(&fixture, &choice);
		source = open_source(store, &choice.selection);
		must(source->parts(source, &(struct ctx_parts_query){0}, &parts, err));
		must(source->raw_histogram(source, &raw, err));
		must(source->thread_sums(source, &sums, err));
		must(source->index(source, "thread", NULL, &index, err));
		must(source->index(source, NULL, NULL, &again,
				   err)); /* thread is what --by has unless it is given */
		must(source->samples(source, &(struct ctx_samples_query){.thread = CTX_NONE}, sum_up,
				     &of_samples, err));
		for (uint32_t i = 0; i < source->selection.profile->n_threads; i++)
			of_threads += sums.weight != NULL ? sums.weight[i]
							  : source->selection.profile->threads[i].weight;
		assert_int_equal(parts.parts[0].histograms->weight, raw->weight);
		assert_int_equal(of_threads, raw->weight);
		assert_int_equal(index.totals->weight, raw->weight);
		assert_int_equal(again.totals->weight, raw->weight);
		assert_int_equal(of_samples, raw->weight);
		assert_rows_with_one_hash(source, &index);
		ctx_query_source_close(source);
		ctx_store_close(store);
		fixture_deinit(&fixture);
	}
}

static void test_store_source__out_of_memory_is_a_status_and_can_be_retried(void **state)
{
	struct fixture fixture;
	struct ctx_store *store = make_store(&fixture, 3);
	struct choice choice;
	struct ctx_report_source *source;
	struct ctx_report_slices slices;
	struct ctx_report_index index;
	bool failed = true;

	(void)state;
	choose(&fixture, &choice);
	source = open_source(store, &choice.selection);
	for (long n = 0; failed; n++) {
		enum ctx_status status;

		fail_after = n;
		status = source->slices(source, 20, 4, &slices, NULL);
		if (status == CTX_OK)
			status = source->index(source, "thread,function,line,command", NULL, &index, NULL);
		failed = fail_after == -1;
		fail_after = -1;
		assert_true(status == CTX_OK || (failed && status == CTX_E_NOMEM));
		assert_true(n < 100000);
	}
	assert_int_equal(slices.per_thread, 20);
	ctx_query_source_close(source);
	ctx_query_source_close(NULL);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_own_dir(test_store_source__parts_are_those_of_the_query_and_cost_once),
		in_own_dir(test_store_source__every_answer_has_the_same_total),
		in_own_dir(test_store_source__out_of_memory_is_a_status_and_can_be_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
