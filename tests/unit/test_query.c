/* From a selection to histograms, over real time trees. */
#include "query_fixture.h"

#include "failing_malloc.h"

static struct ctx_store *make_store(struct fixture *fixture, uint64_t seed, uint32_t n_threads)
{
	struct ctx_store *store = NULL;

	fixture_init(fixture, seed, n_threads, 3000);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	put_trees(fixture, store);
	must(fixture_put_contents(fixture, store, err));
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	return store;
}

static bool is_chosen(const struct ctx_selection *selection, const struct ctx_sample *sample)
{
	bool thread = selection->threads == NULL, time = false;

	for (size_t i = 0; i < selection->n_threads; i++)
		thread |= selection->threads[i] == sample->thread;
	for (size_t i = 0; i < selection->n_intervals; i++)
		time |= ctx_interval_has(selection->intervals[i], sample->time_ns);
	return thread && time && ctx_selection_has_cpu(selection, sample->cpu);
}

/* Every raw stack's weight, from the samples one by one. */
static void assert_by_samples(const struct fixture *fixture, const struct ctx_selection *selection,
			      const struct ctx_histogram *raw)
{
	uint64_t *weight = ctx_calloc(fixture->raw.n, sizeof(*weight));
	uint64_t *samples = ctx_calloc(fixture->raw.n, sizeof(*samples));

	assert_true(weight != NULL && samples != NULL);
	for (size_t i = 0; i < fixture->n_samples; i++) {
		const struct ctx_sample *sample = &fixture->samples[i];

		if (!is_chosen(selection, sample))
			continue;
		weight[sample->raw_stack] += sample->weight;
		samples[sample->raw_stack]++;
	}
	for (uint32_t i = 0; i < fixture->raw.n; i++) {
		const struct ctx_hist_entry *entry = ctx_histogram_get(raw, i);

		assert_int_equal(entry != NULL ? entry->weight : 0, weight[i]);
		assert_int_equal(entry != NULL ? entry->samples : 0, samples[i]);
		assert_true(entry == NULL || entry->calls == 0);
	}
	free(weight);
	free(samples);
}

/* By way of raw_to_stack it is what the time trees say. */
static void assert_by_trees(struct ctx_query *query, const struct ctx_histogram *raw)
{
	struct ctx_histogram want = {0}, mapped = {0};
	const struct ctx_code *code;

	must(ctx_store_code(query->store, &code, err));
	ask_all(query, &want);
	for (size_t i = 0; i < raw->n; i++)
		must(ctx_histogram_add(
			&mapped,
			(struct ctx_hist_entry){.stack = code->raw_to_stack[raw->entries[i].stack],
						.weight = raw->entries[i].weight,
						.samples = raw->entries[i].samples},
			err));
	assert_int_equal(want.weight, raw->weight);
	assert_int_equal(want.samples, raw->samples);
	for (uint32_t i = 0; i < ctx_store_profile(query->store)->cct.n; i++) {
		const struct ctx_hist_entry *a = ctx_histogram_get(&want, i),
					    *b = ctx_histogram_get(&mapped, i);

		assert_int_equal(a != NULL ? a->weight : 0, b != NULL ? b->weight : 0);
		assert_int_equal(a != NULL ? a->samples : 0, b != NULL ? b->samples : 0);
	}
	ctx_histogram_deinit(&want);
	ctx_histogram_deinit(&mapped);
}

static void test_query__raw_stacks_and_call_stacks_have_equal_weight(void **state)
{
	uint64_t n_found = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct fixture fixture;
		struct ctx_store *store = make_store(&fixture, seed, 1 + (uint32_t)seed % 7);

		for (int round = 0; round < 40; round++) {
			struct choice choice;
			struct ctx_query query = ask_of(store, &choice.selection, 0);
			struct ctx_histogram raw = {0};

			choose(&fixture, &choice);
			must(ctx_query_raw_histogram(&query, 0, &raw, err));
			assert_true(query.samples_scanned >= raw.samples);
			assert_true(choice.selection.cpus != NULL || query.samples_scanned == raw.samples);
			assert_by_samples(&fixture, &choice.selection, &raw);
			assert_by_trees(&query, &raw);
			n_found += raw.samples;
			ctx_histogram_deinit(&raw);
			ctx_query_deinit(&query);
		}
		ctx_store_close(store);
		fixture_deinit(&fixture);
	}
	assert_true(n_found > 10000);
}

static void test_query__a_metric_without_samples_has_no_weight(void **state)
{
	struct fixture fixture;
	struct ctx_store *store = make_store(&fixture, 5, 3);
	struct ctx_interval run = fixture.profile.run;
	uint32_t metric = 1;
	struct ctx_selection selection = {
		.intervals = &run, .n_intervals = 1, .metrics = &metric, .n_metrics = 1};
	struct ctx_query query = ask_of(store, &selection, 0);
	struct ctx_histogram raw = {0};

	(void)state;
	must(ctx_query_raw_histogram(&query, metric, &raw, err));
	assert_true(raw.n == 0 && query.samples_scanned == 0);
	ctx_histogram_deinit(&raw);
	ctx_query_deinit(&query);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

/*
 * A query of the whole run while each allocation in turn fails: `ask` reports it, until none does.
 */
static void ask_with_short_memory(enum ctx_status (*ask)(struct ctx_query *query,
							 const struct fixture *fixture))
{
	struct fixture fixture;
	struct ctx_store *store = make_store(&fixture, 7, 2);
	struct ctx_interval run = fixture.profile.run;
	uint32_t metric = 0;
	struct ctx_selection selection = {
		.intervals = &run, .n_intervals = 1, .metrics = &metric, .n_metrics = 1};
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	for (n = 0; status == CTX_E_NOMEM; n++) {
		struct ctx_query query = ask_of(store, &selection, 0);

		fail_after = n;
		status = ask(&query, &fixture);
		fail_after = -1;
		ctx_query_deinit(&query);
		assert_true(status == CTX_E_NOMEM || status == CTX_OK);
	}
	assert_true(n > 10);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static enum ctx_status ask_histogram(struct ctx_query *query, const struct fixture *fixture)
{
	struct ctx_histogram raw = {0};
	enum ctx_status status = ctx_query_raw_histogram(query, 0, &raw, NULL);

	if (status == CTX_OK)
		assert_int_equal(raw.samples, fixture->n_samples);
	ctx_histogram_deinit(&raw);
	return status;
}

static enum ctx_status ask_keys(struct ctx_query *query, const char *by)
{
	struct ctx_query_index index;
	struct ctx_index_keys keys;
	uint64_t samples = 0;
	enum ctx_status status = ctx_index_keys_read(&(struct ctx_selection_spec){0}, by, &keys, NULL);

	if (status != CTX_OK)
		return status;
	status = ctx_query_index(query, &keys, NULL, &index, NULL);
	ctx_index_keys_deinit(&keys);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < index.n; i++)
		samples += index.sums[i].samples;
	assert_int_equal(index.totals->samples, samples);
	assert_int_equal(samples, query->samples_scanned);
	ctx_query_index_free(&index);
	return CTX_OK;
}

static enum ctx_status ask_index(struct ctx_query *query, const struct fixture *fixture)
{
	(void)fixture;
	return ask_keys(query, "TSTAMP % 50 + (LEAF IN \"a.*\")");
}

static enum ctx_status ask_several_keys(struct ctx_query *query, const struct fixture *fixture)
{
	(void)fixture;
	return ask_keys(query, "command,thread-pattern,function,line,TSTAMP % 50");
}

static void test_query__memory_that_runs_out_is_a_status(void **state)
{
	(void)state;
	ask_with_short_memory(ask_histogram);
}

static void test_query__short_memory_of_an_index_is_a_status(void **state)
{
	(void)state;
	ask_with_short_memory(ask_index);
	ask_with_short_memory(ask_several_keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_own_dir(test_query__raw_stacks_and_call_stacks_have_equal_weight),
		in_own_dir(test_query__a_metric_without_samples_has_no_weight),
		in_own_dir(test_query__memory_that_runs_out_is_a_status),
		in_own_dir(test_query__short_memory_of_an_index_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
