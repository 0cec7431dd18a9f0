/*
 * The HTML page's metrics, places of waits, warnings, and what is left out of it.
 */
#include "base/mem.h"
#include "fake_source.h"
#include "report/head.h"
#include "report/html_metrics.h"
#include "report/html_waits.h"
#include "report/report_exports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	CLOCK = 0,
	STATES = 1,
	WALL = STATES + CTX_STATE_N + CTX_STATE_METRICS_N - 1,
	METRICS,
	NODES = 5,
	SAMPLES = 2000
};

#define END_NS 1000000000u

/* main > work > pthread_mutex_lock > __x64_sys_futex; main > idle */
enum { MAIN = 1, WORK, LOCK, FUTEX, IDLE };

struct fixture {
	struct ctx_profile profile;
	struct ctx_function_info functions[NODES];
	struct ctx_object_info objects[3];
	struct ctx_process_info process;
	struct ctx_thread_info thread;
	struct ctx_metric_info metrics[METRICS];
	uint32_t parts[CTX_STATE_N];
	struct ctx_sample samples[SAMPLES];
	size_t n;
	struct fake_source fake;
	struct ctx_export_input input;
};

static enum ctx_status hand_out(void *context, const struct ctx_samples_query *query,
				ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct fixture *fixture = context;
	uint32_t metric = query->has_metric ? query->metric : fixture->fake.metric;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < fixture->n && status == CTX_OK; i++) {
		if (fixture->samples[i].thread == query->thread && fixture->samples[i].metric == metric)
			status = each(each_context, &fixture->samples[i], err);
	}
	return status;
}

static void add(struct fixture *fixture, uint32_t metric, uint64_t time_ns, uint64_t weight, uint32_t stack)
{
	assert_true(fixture->n < SAMPLES);
	fixture->samples[fixture->n++] =
		(struct ctx_sample){.time_ns = time_ns, .weight = weight, .stack = stack, .metric = metric};
	fixture->metrics[metric].samples++;
	fixture->metrics[metric].weight += weight;
}

static void name_all(struct fixture *fixture)
{
	static const char *const names[NODES] = {"main", "work", "pthread_mutex_lock", "__x64_sys_futex",
						 "idle"};

	for (uint32_t i = 0; i < NODES; i++)
		fixture->functions[i] = (struct ctx_function_info){.name = names[i],
								   .linkage_name = names[i],
								   .object = i == 2   ? 1
									     : i == 3 ? 2
										      : 0};
	fixture->objects[0] = (struct ctx_object_info){.path = "/bin/app", .symbols = "symtab"};
	fixture->objects[1] = (struct ctx_object_info){.path = "/lib/libc.so.6",
						       .symbols = "none: No such file or directory"};
	fixture->objects[2] = (struct ctx_object_info){.path = "[kernel.kallsyms]", .symbols = "kallsyms"};
	fixture->process = (struct ctx_process_info){.command = "app", .pid = 7};
	fixture->thread = (struct ctx_thread_info){.tid = 7, .name = "app"};
}

static void make_metrics(struct fixture *fixture)
{
	fixture->metrics[CLOCK] = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	for (uint32_t i = 0; i < CTX_STATE_N; i++) {
		fixture->metrics[STATES + i] =
			(struct ctx_metric_info){.name = ctx_state_name((enum ctx_thread_state)i),
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS};
		fixture->parts[i] = STATES + i;
	}
	fixture->metrics[WALL] = (struct ctx_metric_info){.name = "Wall",
							  .word = "wall",
							  .kind = CTX_METRIC_SPAN,
							  .unit = CTX_UNIT_NS,
							  .parts = fixture->parts,
							  .n_parts = CTX_STATE_N};
}

static void fill(struct fixture *fixture)
{
	/* Half of the time on a CPU, then waits for a lock of 1 to 10 ms. */
	for (uint64_t ms = 0; ms < 500; ms++)
		add(fixture, CLOCK, ms * 1000000 + ms * ms * 7919 % 999983, 1000000 + ms * ms * 7919 % 99991,
		    ms % 4 == 0 ? LOCK : WORK);
	add(fixture, STATES + CTX_STATE_USER, END_NS / 2 - 1, END_NS / 2, WORK);
	for (uint64_t i = 0, at = END_NS / 2; at < END_NS; i++) {
		uint64_t length = (i % 10 + 1) * 1000000;

		length = length < END_NS - at ? length : END_NS - at;
		at += length;
		add(fixture, STATES + (i % 2 == 0 ? CTX_STATE_USER_LOCK : CTX_STATE_SLEEP), at - 1, length,
		    i % 2 == 0 ? FUTEX : IDLE);
	}
}

static struct fixture *make(void)
{
	static const uint32_t parents[NODES] = {0, MAIN, WORK, LOCK, MAIN};
	struct fixture *fixture = ctx_calloc(1, sizeof(*fixture));
	struct ctx_profile *profile = &fixture->profile;

	assert_non_null(fixture);
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t node;

		assert_int_equal(ctx_trie_child(&profile->cct, parents[i], i, &node, NULL), CTX_OK);
		assert_int_equal(node, i + 1);
	}
	name_all(fixture);
	make_metrics(fixture);
	profile->name = "app.er";
	profile->closed = true;
	profile->has_states = true;
	profile->states = STATES;
	profile->run.end_ns = END_NS;
	profile->functions = fixture->functions;
	profile->n_functions = NODES;
	profile->objects = fixture->objects;
	profile->n_objects = CTX_COUNT_OF(fixture->objects);
	profile->processes = &fixture->process;
	profile->n_processes = 1;
	profile->threads = &fixture->thread;
	profile->n_threads = 1;
	profile->metrics = fixture->metrics;
	profile->n_metrics = METRICS;
	fill(fixture);
	fixture->fake = (struct fake_source){.profile = profile,
					     .intervals = &profile->run,
					     .n_intervals = 1,
					     .samples = hand_out,
					     .samples_context = fixture};
	fixture->input = *fake_export(&fixture->fake);
	return fixture;
}

static void drop(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->profile.cct);
	free(fixture);
}

/* ---- Metrics ---- */

static void test_html_page__shows_cpu_time_wall_and_waits_unless_metrics_are_named(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_metrics metrics;
	struct ctx_html_sums sums[3];

	(void)state;
	assert_int_equal(ctx_html_metrics_collect(&metrics, &fixture->input, 64, NULL), CTX_OK);
	assert_int_equal(metrics.n, 3);
	assert_true(metrics.usual);
	assert_string_equal(metrics.metrics[1].word, "wall");
	assert_string_equal(metrics.metrics[2].word, "waits");
	assert_int_equal(metrics.n_bases, 1 + CTX_STATE_N); /* each is there once */
	for (size_t i = 0; i < 3; i++)
		sums[i] = ctx_html_metrics_sums(&metrics, &metrics.metrics[i]);
	assert_int_equal(sums[0].weight, fixture->metrics[CLOCK].weight);
	assert_int_equal(sums[1].weight, END_NS);
	assert_int_equal(sums[2].weight, END_NS / 2);
	assert_int_equal(ctx_html_metrics_first(&metrics, 64, NULL), CTX_OK);
	assert_int_equal(metrics.n, 1);
	assert_int_equal(metrics.n_bases, 1);
	ctx_html_metrics_deinit(&metrics);
	fixture->input.metric_named = true;
	assert_int_equal(ctx_html_metrics_collect(&metrics, &fixture->input, 64, NULL), CTX_OK);
	assert_int_equal(metrics.n, 1);
	assert_false(metrics.usual);
	ctx_html_metrics_deinit(&metrics);
	drop(fixture);
}

/* The heaviest stack of a metric is not dropped for another one that has a hundred times its weight. */
static void test_html_page__keeps_the_heaviest_stacks_of_every_metric(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_metrics metrics;

	(void)state;
	fixture->n = 0;
	for (uint64_t i = 0; i < 100; i++)
		add(fixture, STATES + CTX_STATE_SLEEP, (i + 1) * 10000000 - 1, 10000000,
		    i % 3 == 0 ? IDLE : FUTEX);
	add(fixture, CLOCK, 5, 1000, WORK);
	add(fixture, CLOCK, 6, 10, MAIN);
	assert_int_equal(ctx_html_metrics_collect(&metrics, &fixture->input, 64, NULL), CTX_OK);
	assert_int_equal(ctx_html_metrics_keep(&metrics, 2, NULL), CTX_OK);
	assert_int_equal(ctx_html_metrics_sums(&metrics, &metrics.metrics[0]).dropped_weight, 10);
	assert_int_equal(ctx_html_metrics_sums(&metrics, &metrics.metrics[1]).dropped_weight, 340000000);
	ctx_html_metrics_deinit(&metrics);
	drop(fixture);
}

static void test_html_page__has_a_place_for_every_stack_of_a_wait(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_metrics metrics;
	struct ctx_html_waits waits;

	(void)state;
	assert_int_equal(ctx_html_metrics_collect(&metrics, &fixture->input, 64, NULL), CTX_OK);
	assert_int_equal(ctx_html_waits_make(&waits, &metrics, NULL), CTX_OK);
	assert_int_equal(waits.n_stacks, 2); /* none of time on a CPU */
	assert_int_equal(waits.n_places, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ctx_html_wait_place *place = &waits.places[waits.stacks[i].place];
		bool lock = waits.stacks[i].stack == FUTEX;

		assert_int_equal(waits.stacks[i].stack, lock ? FUTEX : IDLE);
		assert_int_equal(waits.stacks[i].base,
				 1 + (uint32_t)(lock ? CTX_STATE_USER_LOCK : CTX_STATE_SLEEP));
		assert_int_equal(place->state, lock ? CTX_STATE_USER_LOCK : CTX_STATE_SLEEP);
		assert_int_equal(place->place.kind, lock ? CTX_WAIT_KIND_MUTEX : CTX_WAIT_KIND_OTHER);
		assert_int_equal(place->place.caller, lock ? WORK - 1 : IDLE - 1);
		assert_int_equal(place->longest_ns, lock ? 9000000 : 10000000);
	}
	ctx_html_waits_deinit(&waits);
	ctx_html_metrics_deinit(&metrics);
	drop(fixture);
}

/* ---- The page ---- */

static void keep_remark(void *context, const char *text)
{
	struct ctx_buf *remarks = context;

	ctx_buf_printf(remarks, "%s\n", text);
}

static char *write_page(struct fixture *fixture, size_t *ret_n)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_n);

	assert_non_null(out);
	assert_int_equal(ctx_export_html.write(&fixture->input, out, NULL), CTX_OK);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* "warnings" of the page, as JSON strings. */
static void put_wanted(void *context, const char *text)
{
	ctx_buf_printf(context, ",\"%s\"", text);
}

static void test_html_page__has_the_warnings_of_the_reports_and_the_missing_binaries(void **state)
{
	static const char *warnings[] = {"a warning of the recording"};
	struct fixture *fixture = make();
	struct ctx_histogram histogram = {0};
	const struct ctx_report_part part = {.thread = CTX_NONE, .histograms = &histogram};
	const struct ctx_report_parts parts = {.parts = &part, .n = 1, .n_metrics = 1};
	struct ctx_buf wanted = {0};
	struct ctx_head head;
	char *page;
	size_t n;

	(void)state;
	fixture->profile.warnings = warnings;
	fixture->profile.n_warnings = 1;
	fixture->profile.closed = false;
	fixture->profile.losses = (struct ctx_profile_losses){.samples = 12, .damaged = 3};
	fixture->functions[0].kind = CTX_FUNCTION_TRUNCATED; /* the root of all */
	for (size_t i = 0; i < fixture->n; i++) {
		const struct ctx_sample *sample = &fixture->samples[i];
		const struct ctx_hist_entry entry = {
			.weight = sample->weight, .samples = 1, .stack = sample->stack};

		if (sample->metric == CLOCK)
			assert_int_equal(ctx_histogram_add(&histogram, entry, NULL), CTX_OK);
	}
	ctx_buf_put_text(&wanted, "\"warnings\":[\"missing binaries: libc.so.6 (25.0 % of the samples)\"");
	head = ctx_head_of_parts(fixture->input.selection, &parts);
	ctx_head_warnings(&head, put_wanted, &wanted);
	ctx_buf_put(&wanted, "]", 2);
	page = write_page(fixture, &n);
	assert_non_null(strstr((const char *)wanted.bytes, "12 records were lost"));
	assert_non_null(strstr((const char *)wanted.bytes, "100.0 % of the samples have truncated stacks"));
	assert_non_null(memmem(page, n, wanted.bytes, wanted.n - 1));
	free(page);
	ctx_buf_deinit(&wanted);
	ctx_histogram_deinit(&histogram);
	drop(fixture);
}

static void test_html_page__says_what_was_left_out_and_how_to_get_it(void **state)
{
	struct fixture *fixture = make();
	struct ctx_buf remarks = {0};
	size_t whole, small;
	char *page;

	(void)state;
	fixture->input.remark = keep_remark;
	fixture->input.remark_context = &remarks;
	page = write_page(fixture, &whole);
	assert_null(memmem(page, whole, "\"left_out\"", strlen("\"left_out\"")));
	assert_int_equal(remarks.n, 0);
	free(page);
	fixture->input.max_bytes = whole - 1500;
	page = write_page(fixture, &small);
	assert_true(small <= whole - 1500);
	assert_non_null(memmem(page, small, "\"left_out\":[\"intervals begin and end at multiples of ",
			       strlen("\"left_out\":[\"intervals begin and end at multiples of ")));
	assert_non_null(memmem(page, small, "\"whole_size\":\"1M\"", strlen("\"whole_size\":\"1M\"")));
	ctx_buf_put_u8(&remarks, '\0');
	assert_non_null(strstr((const char *)remarks.bytes,
			       "to fit --max-size, intervals begin and end at multiples of "));
	free(page);
	ctx_buf_deinit(&remarks);
	drop(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html_page__shows_cpu_time_wall_and_waits_unless_metrics_are_named),
		cmocka_unit_test(test_html_page__keeps_the_heaviest_stacks_of_every_metric),
		cmocka_unit_test(test_html_page__has_a_place_for_every_stack_of_a_wait),
		cmocka_unit_test(test_html_page__has_the_warnings_of_the_reports_and_the_missing_binaries),
		cmocka_unit_test(test_html_page__says_what_was_left_out_and_how_to_get_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
