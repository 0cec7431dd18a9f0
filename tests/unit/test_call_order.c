/*
 * Call events in order of time, from a source of calls to the report: against the list of what the threads did,
 * with calls that take no time, whatever fits into a batch.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/ingest.h"
#include "query/store_source.h"
#include "report/call_order.h"
#include "store/store.h"
#include "tests/unit/chance.h"
#include "tests/unit/list_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN_NS 60u
#define THREADS 3u
#define DEPTH_MAX 6u
#define FUNCTIONS 3u
#define EVENTS_MAX 4000u

static char directory[] = "/tmp/ctx-order-XXXXXX";

struct done { /* what a thread did */
	uint64_t time_ns;
	uint32_t thread, depth, function, major, minor;
};

struct open {
	uint32_t function, major;
};

struct world {
	struct ctx_event events[EVENTS_MAX];
	size_t n_events;
	struct done done[EVENTS_MAX]; /* in order of time; of a ns in order of threads */
	size_t n_done;
	struct open open[THREADS][DEPTH_MAX];
	uint32_t depth[THREADS];
};

static void emit(struct world *world, struct ctx_event event)
{
	assert_true(world->n_events < EVENTS_MAX);
	world->events[world->n_events++] = event;
}

static void note(struct world *world, uint64_t now, uint32_t thread, uint32_t minor)
{
	uint32_t depth = world->depth[thread];
	struct open top = depth != 0 ? world->open[thread][depth - 1] : (struct open){0};

	assert_true(world->n_done < EVENTS_MAX);
	world->done[world->n_done++] =
		(struct done){now, thread, depth, top.function, minor != 0 ? top.major : 0x40, minor};
}

static void leave(struct world *world, uint64_t now, uint32_t thread, uint32_t kept, bool unwound)
{
	for (; world->depth[thread] > kept; world->depth[thread]--)
		note(world, now, thread, unwound ? 0x7fffffff : 2);
}

/* Ends some calls, one mostly, and enters one, or only one of both. */
static void change(struct world *world, uint64_t now, uint32_t thread)
{
	static const enum ctx_call_code codes[] = {CTX_CALL_INSTRUMENTED, CTX_CALL_INTERPRETED,
						   CTX_CALL_COMPILED};
	struct ctx_event event = {.kind = CTX_EV_CALL, .time_ns = now, .thread = thread};
	uint32_t depth = world->depth[thread], function = 1 + (uint32_t)below(FUNCTIONS);
	uint32_t kept = depth == 0 || below(2) != 0 ? depth
			: below(4) == 0		    ? (uint32_t)below(depth)
						    : depth - 1;

	if (kept == DEPTH_MAX || (kept < depth && below(4) != 0))
		function = 0;
	event.call = (struct ctx_event_call){
		.kept = kept,
		.frame = function != 0 ? ctx_frame_named(function, CTX_FRAME_POSITIONS) : 0,
		.code = codes[below(CTX_COUNT_OF(codes))],
		.unwound = kept < depth && below(3) == 0};
	emit(world, event);
	leave(world, now, thread, kept, event.call.unwound);
	if (function == 0)
		return;
	world->open[thread][kept] = (struct open){function, event.call.code};
	world->depth[thread]++;
	note(world, now, thread, 1);
}

static void simulate(struct world *world)
{
	static const char *const names[] = {NULL, "A", "B", "C"};

	*world = (struct world){0};
	emit(world, process_start(0, 0, 1));
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		struct ctx_event event = {.kind = CTX_EV_FUNCTION};

		event.function = (struct ctx_event_function){.id = i, .name = names[i], .module = "m"};
		emit(world, event);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		emit(world, thread_start(0, 0, i, 1 + i));
	for (uint64_t now = 0; now + 1 < RUN_NS; now++) {
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			for (uint64_t n = below(3) == 0 ? below(20) : 0; n != 0; n--)
				change(world, now, thread);
			if (below(4) != 0)
				continue;
			emit(world, sample_event(now, 0, thread, 0));
			note(world, now, thread, 0);
		}
	}
	for (uint32_t thread = 0; thread < THREADS; thread++)
		leave(world, RUN_NS - 1, thread, 0, true);
}

static struct ctx_store *store_of(struct world *world)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "f"};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "test.db");
	struct list_source list;
	struct ctx_store *store = NULL;
	struct ctx_err err = {0};

	list_open(&list, world->events, world->n_events, RUN_NS);
	list.source.info.has_calls = true;
	if (ctx_ingest(&list.source, path, &options, NULL, &err) != CTX_OK ||
	    ctx_store_open(path, &store, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return store;
}

struct asked {
	struct ctx_interval intervals[2];
	size_t n_intervals, most;
	uint32_t thread; /* CTX_NONE: all */
};

static bool is_asked(const struct asked *asked, const struct done *done)
{
	bool in_time = false;

	for (size_t i = 0; i < asked->n_intervals; i++)
		in_time |= ctx_interval_has(asked->intervals[i], done->time_ns);
	return in_time && (asked->thread == CTX_NONE || asked->thread == done->thread);
}

static void check_event(const struct ctx_profile *profile, const struct done *want,
			const struct ctx_call_event *got)
{
	assert_int_equal(got->time_ns, want->time_ns);
	assert_int_equal(got->thread, want->thread);
	assert_int_equal(ctx_call_event_minor(got), want->minor);
	assert_int_equal(ctx_call_event_major(got), want->major);
	assert_int_equal(got->depth, want->depth);
	if (want->depth != 0)
		assert_int_equal(profile->functions[profile->cct.key[got->stack]].name[0],
				 'A' + (int)want->function - 1);
}

static void check_order(const struct world *world, struct ctx_store *store, struct asked *asked)
{
	static const struct ctx_selection_spec words;
	const struct ctx_profile *profile = ctx_store_profile(store);
	uint32_t metric = 0;
	const struct ctx_selection selection = {.profile = profile,
						.intervals = asked->intervals,
						.n_intervals = asked->n_intervals,
						.threads = asked->thread != CTX_NONE ? &asked->thread : NULL,
						.n_threads = asked->thread != CTX_NONE,
						.metrics = &metric,
						.n_metrics = 1};
	const struct ctx_query_source_spec spec = {
		.store = store, .selection = &selection, .words = &words, .path = "test.db"};
	struct ctx_report_source *source = NULL;
	struct ctx_call_order order = {.most = asked->most};
	const struct ctx_call_event *events;
	uint64_t total = 0;
	size_t at = 0, n;

	assert_int_equal(ctx_query_source_open(&spec, &source, NULL), CTX_OK);
	order.source = source;
	do {
		assert_int_equal(ctx_call_order_next(&order, &events, &n, NULL), CTX_OK);
		for (size_t i = 0; i < n; i++, at++, total++) {
			while (at < world->n_done && !is_asked(asked, &world->done[at]))
				at++;
			assert_true(at < world->n_done);
			check_event(profile, &world->done[at], &events[i]);
		}
	} while (n != 0);
	while (at < world->n_done && !is_asked(asked, &world->done[at]))
		at++;
	assert_int_equal(at, world->n_done);
	assert_int_equal(order.total, total);
	ctx_call_order_deinit(&order);
	ctx_query_source_close(source);
}

static void test_call_order__is_that_of_what_the_threads_did_whatever_fits_into_a_batch(void **state)
{
	static const size_t batches[] = {1, 2, 7, 40, 5000};
	static struct world world;

	(void)state;
	for (int round = 0; round < 12; round++) {
		struct ctx_store *store;

		simulate(&world);
		store = store_of(&world);
		for (size_t i = 0; i < 2 * CTX_COUNT_OF(batches); i++) {
			uint64_t begin = below(RUN_NS / 2), end = begin + 1 + below(RUN_NS / 4);
			struct asked asked = {.intervals = {{begin, end}, {end + 1 + below(5), RUN_NS}},
					      .n_intervals = 1 + below(2),
					      .most = batches[i / 2],
					      .thread = below(2) != 0 ? (uint32_t)below(THREADS) : CTX_NONE};

			if (i % 2 == 0)
				asked = (struct asked){.intervals = {{0, RUN_NS}},
						       .n_intervals = 1,
						       .most = batches[i / 2],
						       .thread = CTX_NONE};
			check_order(&world, store, &asked);
		}
		ctx_store_close(store);
	}
}

/* --- codes --- */

static enum ctx_status put_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	FILE *out = context;

	(void)err;
	for (int i = 0; i < row->n; i++)
		fprintf(out, "%s%s", row->values[i], i + 1 < row->n ? " " : "\n");
	return CTX_OK;
}

/* A source with calls of each kind: the codes in SQL are those of the dump. */
static void test_call_order__has_the_codes_of_interpreted_and_compiled_methods_as_sql_has_them(void **state)
{
	static const char sql[] = "SELECT time_ns, thread, major, minor FROM call_event ORDER BY 1, 2, 3, 4",
			  counts[] =
				  "SELECT count(*) FROM call_event WHERE major = 48 AND minor = 1 "
				  "UNION ALL SELECT count(*) FROM call_event WHERE major = 80 AND minor = 1";
	static struct world world;
	unsigned n_interpreted = 0, n_compiled = 0;
	char *text = NULL, want[64];
	size_t n_text = 0, n_lines = 0;
	FILE *out;
	struct ctx_store *store;

	(void)state;
	simulate(&world);
	store = store_of(&world);
	for (size_t i = 0; i < world.n_done; i++) {
		n_interpreted += world.done[i].major == 0x30 && world.done[i].minor == 1;
		n_compiled += world.done[i].major == 0x50 && world.done[i].minor == 1;
	}
	assert_true(n_interpreted != 0 && n_compiled != 0);
	out = open_memstream(&text, &n_text);
	assert_int_equal(ctx_store_sql(store, counts, put_row, out, NULL), CTX_OK);
	fclose(out);
	snprintf(want, sizeof(want), "%u\n%u\n", n_interpreted, n_compiled);
	assert_string_equal(text, want);
	free(text);
	out = open_memstream(&text, &n_text);
	assert_int_equal(ctx_store_sql(store, sql, put_row, out, NULL), CTX_OK);
	fclose(out);
	for (size_t i = 0; i < n_text; i++)
		n_lines += text[i] == '\n';
	assert_int_equal(n_lines, world.n_done);
	for (size_t i = 0; i < world.n_done; i++) {
		const struct done *done = &world.done[i];

		snprintf(want, sizeof(want), "%u %u %u %u\n", (unsigned)done->time_ns, done->thread,
			 done->major, done->minor);
		assert_non_null(strstr(text, want));
	}
	free(text);
	ctx_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_order__is_that_of_what_the_threads_did_whatever_fits_into_a_batch),
		cmocka_unit_test(
			test_call_order__has_the_codes_of_interpreted_and_compiled_methods_as_sql_has_them),
	};

	if (mkdtemp(directory) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
