/*
 * Cells and profile of the HTML page: against adding up samples one by one.
 */
#include "base/cursor.h"
#include "base/mem.h"
#include "report/html_cells.h"
#include "report/html_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 3, SAMPLES = 4000, NODES = 60 };

struct fixture {
	struct ctx_profile profile;
	struct ctx_function_info functions[NODES];
	struct ctx_object_info objects[2];
	struct ctx_process_info processes[1];
	struct ctx_thread_info threads[THREADS];
	struct ctx_metric_info metric;
	struct ctx_sample samples[SAMPLES];
	struct ctx_export_input input;
};

static enum ctx_status hand_out(void *context, uint32_t thread, ctx_export_sample_fn each, void *each_context,
				struct ctx_err *err)
{
	const struct fixture *fixture = context;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < SAMPLES && status == CTX_OK; i++) {
		if (fixture->samples[i].thread == thread)
			status = each(each_context, &fixture->samples[i], err);
	}
	return status;
}

static struct fixture *make(unsigned seed, uint64_t end_ns)
{
	struct fixture *fixture = ctx_calloc(1, sizeof(*fixture));
	struct ctx_profile *profile = &fixture->profile;

	assert_non_null(fixture);
	srand(seed);
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	for (uint32_t i = 1; i < NODES; i++) {
		uint32_t node;

		assert_int_equal(ctx_trie_child(&profile->cct, (uint32_t)rand() % i, i, &node, NULL), CTX_OK);
		assert_int_equal(node, i);
	}
	for (uint32_t i = 0; i < NODES; i++)
		fixture->functions[i] =
			(struct ctx_function_info){.name = i % 7 == 0 ? "bad \xff name" : "</script>",
						   .object = i % 3 == 0 ? CTX_NONE : i % 2};
	fixture->objects[0].path = "/lib/a.so";
	fixture->objects[1].path = "/lib/b.so";
	fixture->processes[0] = (struct ctx_process_info){.command = "app", .pid = 77};
	for (uint32_t i = 0; i < THREADS; i++)
		fixture->threads[i] = (struct ctx_thread_info){.tid = 77 + i, .name = "worker"};
	profile->run.end_ns = end_ns;
	profile->functions = fixture->functions;
	profile->n_functions = NODES;
	profile->objects = fixture->objects;
	profile->n_objects = 2;
	profile->processes = fixture->processes;
	profile->n_processes = 1;
	profile->threads = fixture->threads;
	profile->n_threads = THREADS;
	profile->metrics = &fixture->metric;
	profile->n_metrics = 1;
	for (size_t i = 0; i < SAMPLES; i++)
		fixture->samples[i] = (struct ctx_sample){
			.time_ns = (uint64_t)i * end_ns / SAMPLES,
			.weight = rand() % 5 == 0 ? (uint64_t)rand() % 1000 : 250,
			.stack = (uint32_t)rand() % (NODES / 2), /* the others are not needed by anybody */
			.thread = (uint32_t)rand() % (THREADS - 1),
		};
	fixture->input = (struct ctx_export_input){
		.profile = profile, .samples = hand_out, .samples_context = fixture};
	return fixture;
}

static void drop_fixture(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->profile.cct);
	free(fixture);
}

/* What the cells must hold, one sample after the other. */
static void check_cells(const struct fixture *fixture, const struct ctx_cells *cells)
{
	uint64_t end = fixture->profile.run.end_ns;
	uint64_t *weight = ctx_calloc((size_t)THREADS * cells->buckets * NODES, sizeof(*weight));
	uint64_t sum = 0;

	assert_non_null(weight);
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct ctx_sample *sample = &fixture->samples[i];
		uint32_t bucket = 0;

		while (bucket + 1 < cells->buckets && end * (bucket + 1) / cells->buckets <= sample->time_ns)
			bucket++;
		weight[((size_t)sample->thread * cells->buckets + bucket) * NODES + sample->stack] +=
			sample->weight;
	}
	for (uint32_t t = 0; t < THREADS; t++) {
		const struct ctx_thread_cells *thread = &cells->threads[t];

		for (size_t i = 0; i < thread->n; i++) {
			const struct ctx_cell_entry *entry = &thread->entries[i];
			uint64_t *place =
				&weight[((size_t)t * cells->buckets + entry->bucket) * NODES + entry->stack];

			assert_int_equal(entry->weight, *place);
			*place = 0;
			sum += entry->weight;
			if (i != 0)
				assert_true(entry[-1].bucket < entry->bucket ||
					    (entry[-1].bucket == entry->bucket &&
					     entry[-1].stack < entry->stack));
		}
	}
	for (size_t i = 0; i < (size_t)THREADS * cells->buckets * NODES; i++)
		assert_int_equal(weight[i], 0);
	assert_int_equal(sum, cells->weight);
	free(weight);
}

static void test_html__cells_are_the_sums_of_their_samples(void **state)
{
	static const uint64_t ends[] = {1000003, 4096, 100, SAMPLES};

	(void)state;
	for (unsigned i = 0; i < CTX_COUNT_OF(ends); i++) {
		struct fixture *fixture = make(i + 1, ends[i]);
		struct ctx_cells cells;

		assert_int_equal(ctx_cells_gather(&cells, &fixture->input, 256, NULL), CTX_OK);
		check_cells(fixture, &cells);
		assert_int_equal(cells.unit_weight, 250);
		assert_int_equal(cells.samples, SAMPLES);
		ctx_cells_deinit(&cells);
		drop_fixture(fixture);
	}
}

/* Bucket borders of half the number are borders of the whole: halving loses nothing but resolution. */
static void test_html__halved_cells_are_those_gathered_with_half_as_many_buckets(void **state)
{
	struct fixture *fixture = make(9, 999983);
	struct ctx_cells cells;

	(void)state;
	assert_int_equal(ctx_cells_gather(&cells, &fixture->input, 256, NULL), CTX_OK);
	while (cells.buckets > 2) {
		ctx_cells_halve(&cells);
		check_cells(fixture, &cells);
	}
	ctx_cells_deinit(&cells);
	drop_fixture(fixture);
}

static void test_html__what_is_dropped_is_counted_and_is_the_lightest(void **state)
{
	struct fixture *fixture = make(5, 1000000);
	uint64_t weight[NODES] = {0}, least_kept = UINT64_MAX, most_dropped = 0, dropped = 0, other = 0;
	bool kept[NODES] = {false};
	struct ctx_cells cells;

	(void)state;
	for (size_t i = 0; i < SAMPLES; i++)
		weight[fixture->samples[i].stack] += fixture->samples[i].weight;
	assert_int_equal(ctx_cells_gather(&cells, &fixture->input, 64, NULL), CTX_OK);
	assert_int_equal(ctx_cells_keep(&cells, NODES, 10, NULL), CTX_OK);
	for (uint32_t t = 0; t < THREADS; t++) {
		for (size_t i = 0; i < cells.threads[t].n; i++) {
			const struct ctx_cell_entry *entry = &cells.threads[t].entries[i];

			if (entry->stack == CTX_CELLS_OTHER)
				other += entry->weight;
			else
				kept[entry->stack] = true;
		}
	}
	for (size_t i = 0; i < NODES; i++) {
		if (kept[i])
			least_kept = weight[i] < least_kept ? weight[i] : least_kept;
		else
			most_dropped = weight[i] > most_dropped ? weight[i] : most_dropped;
		dropped += kept[i] ? 0 : weight[i];
	}
	assert_true(least_kept >= most_dropped && most_dropped > 0);
	assert_int_equal(cells.dropped_weight, dropped);
	assert_int_equal(other, dropped);
	ctx_cells_deinit(&cells);
	drop_fixture(fixture);
}

static void pass_over(struct ctx_cursor *cursor, uint64_t n)
{
	while (n-- > 0)
		ctx_cursor_get_varint(cursor);
}

/* Reads the profile back, as docs/html-page.md describes it. */
static void check_profile(const struct fixture *fixture, const struct ctx_cells *cells,
			  const struct ctx_buf *bytes)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes->bytes, bytes->n);
	uint64_t n, n_functions, n_nodes, n_threads, unit, sum = 0;

	assert_memory_equal(ctx_cursor_get_bytes(&cursor, 5), "CTXP\3", 5);
	n = ctx_cursor_get_varint(&cursor);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t length = ctx_cursor_get_varint(&cursor);
		const uint8_t *text = ctx_cursor_get_bytes(&cursor, (size_t)length);

		assert_true(i != 0 || length == 0);
		assert_null(length != 0 ? memchr(text, 0xff, (size_t)length) : NULL);
	}
	pass_over(&cursor, ctx_cursor_get_varint(&cursor)); /* objects */
	n_functions = ctx_cursor_get_varint(&cursor);
	assert_true(n_functions < NODES);
	pass_over(&cursor, 3 * n_functions);
	n_nodes = ctx_cursor_get_varint(&cursor);
	for (uint64_t i = 1; i < n_nodes; i++) {
		uint64_t up = ctx_cursor_get_varint(&cursor);

		assert_true(up >= 1 && up <= i);
	}
	for (uint64_t i = 1; i < n_nodes; i++)
		assert_true(ctx_cursor_get_varint(&cursor) < n_functions);
	pass_over(&cursor, 2 * ctx_cursor_get_varint(&cursor)); /* processes */
	n_threads = ctx_cursor_get_varint(&cursor);
	assert_int_equal(n_threads, THREADS);
	pass_over(&cursor, 3 * n_threads);
	assert_int_equal(ctx_cursor_get_varint(&cursor), fixture->profile.run.end_ns);
	assert_int_equal(ctx_cursor_get_varint(&cursor), cells->buckets);
	unit = ctx_cursor_get_varint(&cursor);
	for (uint64_t t = 0; t < n_threads; t++) {
		uint64_t m = ctx_cursor_get_varint(&cursor), entries = 0, *samples;

		pass_over(&cursor, m);
		for (uint64_t i = 0; i < m; i++)
			entries += ctx_cursor_get_varint(&cursor);
		assert_int_equal(entries, cells->threads[t].n);
		pass_over(&cursor, entries); /* stacks */
		samples = ctx_calloc((size_t)entries, sizeof(*samples));
		for (uint64_t i = 0; i < entries; i++)
			samples[i] = ctx_cursor_get_varint(&cursor);
		for (uint64_t i = 0; i < entries; i++) {
			uint64_t weight = samples[i] * unit + (uint64_t)ctx_cursor_get_zigzag(&cursor);

			assert_int_equal(weight, cells->threads[t].entries[i].weight);
			sum += weight;
		}
		free(samples);
	}
	pass_over(&cursor, 3 + n_functions); /* sources: none */
	assert_false(cursor.failed);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	assert_int_equal(sum, cells->weight);
}

static void test_html__a_profile_is_read_back(void **state)
{
	struct fixture *fixture = make(3, 1234567);
	const struct ctx_html_sources none = {0};
	struct ctx_buf bytes = {0};
	struct ctx_cells cells;

	(void)state;
	assert_int_equal(ctx_cells_gather(&cells, &fixture->input, 512, NULL), CTX_OK);
	assert_int_equal(ctx_html_profile_encode(&fixture->profile, &cells, &none, NULL, &bytes, NULL),
			 CTX_OK);
	check_profile(fixture, &cells, &bytes);
	ctx_buf_clear(&bytes);
	assert_int_equal(ctx_cells_keep(&cells, NODES, 3, NULL), CTX_OK);
	assert_int_equal(ctx_html_profile_encode(&fixture->profile, &cells, &none, NULL, &bytes, NULL),
			 CTX_OK);
	check_profile(fixture, &cells, &bytes);
	ctx_buf_deinit(&bytes);
	ctx_cells_deinit(&cells);
	drop_fixture(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html__cells_are_the_sums_of_their_samples),
		cmocka_unit_test(test_html__halved_cells_are_those_gathered_with_half_as_many_buckets),
		cmocka_unit_test(test_html__what_is_dropped_is_counted_and_is_the_lightest),
		cmocka_unit_test(test_html__a_profile_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
