/*
 * Cells and profile of the HTML page: against adding up samples one by one.
 */
#include "base/cursor.h"
#include "base/mem.h"
#include "fake_source.h"
#include "report/html_profile.h"
#include "report/html_states.h"

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
	struct fake_source input;
};

static enum ctx_status hand_out(void *context, const struct ctx_samples_query *query,
				ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct fixture *fixture = context;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < SAMPLES && status == CTX_OK; i++) {
		if (fixture->samples[i].thread == query->thread)
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
	for (uint32_t i = 0; i < NODES; i++) {
		const char *name = i % 7 == 0 ? "bad \xff name" : "</script>";

		fixture->functions[i] = (struct ctx_function_info){
			.name = name, .linkage_name = name, .object = i % 3 == 0 ? CTX_NONE : i % 2};
	}
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
	fixture->input =
		(struct fake_source){.profile = profile, .samples = hand_out, .samples_context = fixture};
	return fixture;
}

static void drop_fixture(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->profile.cct);
	free(fixture);
}

static void collect(const struct ctx_export_input *input, uint32_t buckets, struct ctx_cells *cells)
{
	const struct ctx_cells_query query = {.input = input, .metric = input->metric, .buckets = buckets};

	assert_int_equal(ctx_cells_collect(cells, &query, NULL), CTX_OK);
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

		collect(fake_export(&fixture->input), 256, &cells);
		check_cells(fixture, &cells);
		assert_int_equal(cells.unit_weight, 250);
		assert_int_equal(cells.samples, SAMPLES);
		ctx_cells_deinit(&cells);
		drop_fixture(fixture);
	}
}

/*
 * Bucket borders of half the number are borders of the whole: halving loses nothing but resolution.
 */
static void test_html__halved_cells_are_those_collected_with_half_as_many_buckets(void **state)
{
	struct fixture *fixture = make(9, 999983);
	struct ctx_cells cells;

	(void)state;
	collect(fake_export(&fixture->input), 256, &cells);
	while (cells.buckets > 2) {
		ctx_cells_halve(&cells);
		check_cells(fixture, &cells);
	}
	ctx_cells_deinit(&cells);
	drop_fixture(fixture);
}

static void test_html__the_lightest_stacks_are_dropped_and_counted(void **state)
{
	struct fixture *fixture = make(5, 1000000);
	uint64_t weight[NODES] = {0}, least_kept = UINT64_MAX, most_dropped = 0, dropped = 0, other = 0;
	bool kept[NODES] = {false};
	struct ctx_html_metrics metrics;
	const struct ctx_cells *cells;

	(void)state;
	for (size_t i = 0; i < SAMPLES; i++)
		weight[fixture->samples[i].stack] += fixture->samples[i].weight;
	assert_int_equal(ctx_html_metrics_collect(&metrics, fake_export(&fixture->input), 64, NULL), CTX_OK);
	assert_int_equal(ctx_html_metrics_keep(&metrics, 10, NULL), CTX_OK);
	cells = &metrics.bases[0].cells;
	for (uint32_t t = 0; t < THREADS; t++) {
		for (size_t i = 0; i < cells->threads[t].n; i++) {
			const struct ctx_cell_entry *entry = &cells->threads[t].entries[i];

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
	assert_int_equal(cells->dropped_weight, dropped);
	assert_int_equal(other, dropped);
	ctx_html_metrics_deinit(&metrics);
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
	uint64_t n, n_functions, n_nodes, n_threads, unit, left, sum = 0;

	assert_memory_equal(ctx_cursor_get_bytes(&cursor, 5), "CTXP\5", 5);
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
	assert_int_equal(ctx_cursor_get_varint(&cursor), 1); /* bases */
	assert_int_equal(ctx_cursor_get_varint(&cursor), 0); /* of samples */
	unit = ctx_cursor_get_varint(&cursor);
	left = ctx_cursor_get_varint(&cursor);
	left = ctx_cursor_left(&cursor) - left;
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
	assert_int_equal(ctx_cursor_left(&cursor), left);
	pass_over(&cursor, 4 + n_functions); /* sources: none */
	pass_over(&cursor, 2);		     /* waits: no places, and no stacks of the base */
	pass_over(&cursor, 2);		     /* no states, no calls */
	assert_false(cursor.failed);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	assert_int_equal(sum, cells->weight);
}

static void test_html__a_profile_is_read_back(void **state)
{
	struct fixture *fixture = make(3, 1234567);
	const struct ctx_html_sources none = {0};
	struct ctx_buf bytes = {0};
	struct ctx_html_metrics metrics;
	const struct ctx_html_profile page = {.metrics = &metrics, .sources = &none};

	(void)state;
	assert_int_equal(ctx_html_metrics_collect(&metrics, fake_export(&fixture->input), 512, NULL), CTX_OK);
	assert_int_equal(ctx_html_profile_encode(&page, &bytes, NULL), CTX_OK);
	check_profile(fixture, &metrics.bases[0].cells, &bytes);
	ctx_buf_clear(&bytes);
	assert_int_equal(ctx_html_metrics_keep(&metrics, 3, NULL), CTX_OK);
	assert_int_equal(ctx_html_profile_encode(&page, &bytes, NULL), CTX_OK);
	check_profile(fixture, &metrics.bases[0].cells, &bytes);
	ctx_buf_deinit(&bytes);
	ctx_html_metrics_deinit(&metrics);
	drop_fixture(fixture);
}

/* ---- Spans and states ---- */

enum { STATES_THREADS = 2, SPANS = 600 };

struct span_fixture {
	struct fixture *base;
	struct ctx_metric_info metrics[1 + CTX_STATE_N + 1];
	uint32_t parts[CTX_STATE_N];
	struct ctx_sample spans[SPANS * STATES_THREADS];
	size_t n;
};

static enum ctx_status hand_out_metric(void *context, const struct ctx_samples_query *query,
				       ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct span_fixture *fixture = context;
	enum ctx_status status = CTX_OK;

	assert_true(query->has_metric && query->whole_run);
	for (size_t i = 0; i < fixture->n && status == CTX_OK; i++) {
		if (fixture->spans[i].thread == query->thread && fixture->spans[i].metric == query->metric)
			status = each(each_context, &fixture->spans[i], err);
	}
	return status;
}

/*
 * Each thread goes from state to state without a gap, for very short and very long times; the
 * second one ends early.
 */
static void make_spans(struct span_fixture *fixture, unsigned seed, uint64_t end_ns)
{
	struct ctx_profile *profile;

	*fixture = (struct span_fixture){.base = make(seed, end_ns)};
	profile = &fixture->base->profile;
	for (uint32_t i = 0; i < CTX_STATE_N; i++) {
		fixture->metrics[1 + i].kind = CTX_METRIC_SPAN;
		fixture->parts[i] = 1 + i;
	}
	fixture->metrics[1 + CTX_STATE_N] = (struct ctx_metric_info){
		.kind = CTX_METRIC_SPAN, .parts = fixture->parts, .n_parts = CTX_STATE_N};
	profile->metrics = fixture->metrics;
	profile->n_metrics = CTX_COUNT_OF(fixture->metrics);
	profile->has_states = true;
	profile->states = 1;
	for (uint32_t thread = 0; thread < STATES_THREADS; thread++) {
		uint64_t at = thread * (end_ns / 7), until = thread == 0 ? end_ns : end_ns / 2;

		for (size_t i = 0; i < SPANS && at < until; i++) {
			uint64_t length =
				1 + (uint64_t)rand() % (rand() % 4 == 0 ? end_ns / 20 : end_ns / 3000 + 1);

			length = length < until - at ? length : until - at;
			at += length;
			fixture->spans[fixture->n++] = (struct ctx_sample){
				.time_ns = at - 1,
				.weight = length,
				.stack = (uint32_t)rand() % (NODES / 2),
				.thread = thread,
				.metric = 1 + (uint32_t)rand() % CTX_STATE_N,
			};
		}
	}
	fixture->base->input.metric = 1 + CTX_STATE_N;
	fixture->base->input.samples = hand_out_metric;
	fixture->base->input.samples_context = fixture;
}

static uint64_t part_inside(const struct ctx_sample *span, uint64_t begin, uint64_t end)
{
	uint64_t from = span->time_ns + 1 - span->weight, to = span->time_ns + 1;

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return from < to ? to - from : 0;
}

/* Every entry is what its spans have of its bucket; metric 0: of all, and entries are of states. */
static void check_spans(const struct span_fixture *fixture, const struct ctx_cells *cells, uint32_t metric)
{
	uint64_t end_ns = fixture->base->profile.run.end_ns, weight = 0, samples = 0, wanted = 0, n = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		for (size_t k = 0; k < cells->threads[t].n; k++) {
			const struct ctx_cell_entry *entry = &cells->threads[t].entries[k];
			uint64_t begin = end_ns * entry->bucket / cells->buckets;
			uint64_t end = end_ns * (entry->bucket + 1) / cells->buckets;
			uint64_t sum = 0, ends = 0;

			for (size_t i = 0; i < fixture->n; i++) {
				const struct ctx_sample *span = &fixture->spans[i];

				if (span->thread != t || (metric != 0 && span->metric != metric) ||
				    (metric == 0 ? span->metric - 1 : span->stack) != entry->stack)
					continue;
				sum += part_inside(span, begin, end);
				ends += span->time_ns >= begin && span->time_ns < end;
			}
			assert_int_equal(entry->weight, sum);
			assert_int_equal(entry->samples, ends);
			weight += sum;
			samples += ends;
		}
	}
	for (size_t i = 0; i < fixture->n; i++) {
		bool counts = metric == 0 || fixture->spans[i].metric == metric;

		wanted += counts ? fixture->spans[i].weight : 0;
		n += counts;
	}
	assert_int_equal(weight, wanted);
	assert_int_equal(cells->weight, wanted);
	assert_int_equal(samples, n);
	assert_int_equal(cells->samples, n);
}

static void test_html__spans_are_cut_at_the_borders_of_buckets(void **state)
{
	static const uint64_t ends[] = {1000003, 70000, 1000000};

	(void)state;
	for (unsigned i = 0; i < CTX_COUNT_OF(ends); i++) {
		struct span_fixture fixture;
		struct ctx_cells cells;

		make_spans(&fixture, i + 20, ends[i]);
		for (unsigned k = 0; k < CTX_STATE_N; k++) {
			fixture.base->input.metric = 1 + k;
			collect(fake_export(&fixture.base->input), 256, &cells);
			assert_int_equal(cells.unit_weight, 0);
			check_spans(&fixture, &cells, 1 + k);
			ctx_cells_halve(&cells);
			check_spans(&fixture, &cells, 1 + k);
			ctx_cells_deinit(&cells);
		}
		assert_int_equal(
			ctx_cells_collect_states(&cells, fake_export(&fixture.base->input), 128, NULL),
			CTX_OK);
		check_spans(&fixture, &cells, 0);
		ctx_cells_deinit(&cells);
		drop_fixture(fixture.base);
	}
}

/* A span of one state alone: only its metric is asked for. */
static void test_html__a_metric_of_spans_has_only_its_own(void **state)
{
	struct span_fixture fixture;
	struct ctx_cells cells;
	uint64_t wanted = 0;

	(void)state;
	make_spans(&fixture, 31, 500000);
	fixture.base->input.metric = 1 + CTX_STATE_SLEEP;
	for (size_t i = 0; i < fixture.n; i++)
		wanted += fixture.spans[i].metric == 1 + CTX_STATE_SLEEP ? fixture.spans[i].weight : 0;
	collect(fake_export(&fixture.base->input), 64, &cells);
	assert_true(wanted != 0);
	assert_int_equal(cells.weight, wanted);
	ctx_cells_deinit(&cells);
	drop_fixture(fixture.base);
}

/* Reads the part back, as docs/html-page.md describes it, into times by bucket and state. */
static void read_states(struct ctx_cursor *cursor, uint64_t end_ns, uint64_t buckets, uint64_t *ns)
{
	uint64_t kinds[4096], m = ctx_cursor_get_varint(cursor), bucket = 0;
	uint64_t begins[4096];

	assert_true(m <= CTX_COUNT_OF(kinds));
	for (uint64_t i = 0; i < m; i++)
		kinds[i] = ctx_cursor_get_varint(cursor);
	for (uint64_t i = 0; i < m; i++) {
		uint64_t length = kinds[i] <= CTX_STATE_N ? ctx_cursor_get_varint(cursor) : 1;

		begins[i] = bucket;
		assert_true(length != 0 && bucket + length <= buckets);
		for (; length > 0; length--, bucket++) {
			if (kinds[i] >= 1 && kinds[i] <= CTX_STATE_N)
				ns[bucket * CTX_STATE_N + kinds[i] - 1] =
					end_ns * (bucket + 1) / buckets - end_ns * bucket / buckets;
		}
	}
	for (uint64_t i = 0; i < m; i++) {
		uint64_t bits = kinds[i] - 1 - CTX_STATE_N, *row = &ns[begins[i] * CTX_STATE_N], *last = NULL;
		uint64_t left = end_ns * (begins[i] + 1) / buckets - end_ns * begins[i] / buckets;
		bool full = bits >> CTX_STATE_N == 1;

		if (kinds[i] <= CTX_STATE_N)
			continue;
		for (unsigned s = 0; s < CTX_STATE_N; s++) {
			uint64_t behind = bits >> (s + 1) & ((1u << (CTX_STATE_N - s - 1)) - 1);

			if ((bits >> s & 1) == 0)
				continue;
			last = &row[s];
			*last = full && behind == 0 ? left : ctx_cursor_get_varint(cursor);
			assert_true(*last <= left && *last != 0);
			left -= *last;
		}
		assert_non_null(last);
		assert_true(bits >> CTX_STATE_N <= 1 && full == (left == 0));
	}
}

static void check_states(const struct ctx_cells *cells, uint64_t end_ns, size_t *bytes)
{
	struct ctx_buf buf = {0};
	struct ctx_cursor cursor;

	ctx_html_states_put(cells, end_ns, &buf);
	assert_int_equal(ctx_buf_check(&buf, NULL), CTX_OK);
	cursor = ctx_cursor_make(buf.bytes, buf.n);
	assert_int_equal(ctx_cursor_get_varint(&cursor), cells->buckets);
	for (uint32_t t = 0; t < THREADS; t++) {
		uint64_t *ns = ctx_calloc((size_t)cells->buckets * CTX_STATE_N, sizeof(*ns));

		assert_non_null(ns);
		read_states(&cursor, end_ns, cells->buckets, ns);
		for (size_t i = 0; i < cells->threads[t].n; i++) {
			const struct ctx_cell_entry *entry = &cells->threads[t].entries[i];
			uint64_t *place = &ns[(size_t)entry->bucket * CTX_STATE_N + entry->stack];

			assert_int_equal(*place, entry->weight);
			*place = 0;
		}
		for (size_t i = 0; i < (size_t)cells->buckets * CTX_STATE_N; i++)
			assert_int_equal(ns[i], 0);
		free(ns);
	}
	assert_false(cursor.failed);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	*bytes = buf.n;
	ctx_buf_deinit(&buf);
}

static void test_html__states_are_read_back(void **state)
{
	size_t bytes;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct span_fixture fixture;
		struct ctx_cells cells;

		make_spans(&fixture, i + 40, i == 2 ? 1000 : 7000001);
		assert_int_equal(
			ctx_cells_collect_states(&cells, fake_export(&fixture.base->input), 1024, NULL),
			CTX_OK);
		for (; cells.buckets >= 2; ctx_cells_halve(&cells))
			check_states(&cells, fixture.base->profile.run.end_ns, &bytes);
		ctx_cells_deinit(&cells);
		drop_fixture(fixture.base);
	}
}

/* A thread that sleeps all the time takes a few bytes, however many buckets there are. */
static void test_html__a_state_that_lasts_is_one_row(void **state)
{
	struct span_fixture fixture;
	struct ctx_cells cells;
	size_t bytes;

	(void)state;
	make_spans(&fixture, 50, 4096000);
	fixture.n = 1;
	fixture.spans[0] = (struct ctx_sample){
		.time_ns = 4095999, .weight = 4096000, .thread = 1, .metric = 1 + CTX_STATE_SLEEP};
	assert_int_equal(ctx_cells_collect_states(&cells, fake_export(&fixture.base->input), 4096, NULL),
			 CTX_OK);
	check_states(&cells, 4096000, &bytes);
	assert_int_equal(bytes, 2 + 1 + (1 + 1 + 2) + 1);
	ctx_cells_deinit(&cells);
	drop_fixture(fixture.base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html__cells_are_the_sums_of_their_samples),
		cmocka_unit_test(test_html__halved_cells_are_those_collected_with_half_as_many_buckets),
		cmocka_unit_test(test_html__the_lightest_stacks_are_dropped_and_counted),
		cmocka_unit_test(test_html__a_profile_is_read_back),
		cmocka_unit_test(test_html__spans_are_cut_at_the_borders_of_buckets),
		cmocka_unit_test(test_html__a_metric_of_spans_has_only_its_own),
		cmocka_unit_test(test_html__states_are_read_back),
		cmocka_unit_test(test_html__a_state_that_lasts_is_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
