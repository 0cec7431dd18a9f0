/* Sums of calls in the ingest: for each second, path and thread against the numbers that the events were made of. */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/ingest.h"
#include "query/query.h"
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

#define SECOND_NS UINT64_C(1000000000)
#define SECONDS 12u
#define THREADS 3u
#define FUNCTIONS 3u
#define DEPTH_MAX 3u
#define PATHS 64u /* numbers of base 4, the root is 0 */
#define EVENTS_MAX 20000u

static char directory[] = "/tmp/ctx-call-sums-XXXXXX";

struct sums {
	uint64_t ns[PATHS], calls[PATHS];
};

struct world {
	struct ctx_event events[EVENTS_MAX];
	size_t n;
	struct sums seconds[SECONDS][THREADS];
	uint64_t took[FUNCTIONS + 1]; /* calls with a duration */
};

static uint64_t frame_of(uint32_t function)
{
	return ctx_frame_named(function, CTX_FRAME_POSITIONS);
}

static struct ctx_event *emit(struct world *world, uint64_t time_ns, uint32_t thread)
{
	assert_true(world->n < EVENTS_MAX);
	world->events[world->n] =
		(struct ctx_event){.kind = CTX_EV_CALL, .time_ns = time_ns, .thread = thread};
	world->events[world->n].call.code = CTX_CALL_INSTRUMENTED;
	return &world->events[world->n++];
}

struct walk {
	struct world *world;
	uint32_t thread, depth; /* open calls by the events so far */
	uint64_t now_ns, end_ns;
};

/* The calls of a path in a period, itself first; some of its time is that of callees. */
static void put_path(struct walk *walk, uint32_t path, uint32_t depth, uint64_t left_ns)
{
	struct sums *sums = &walk->world->seconds[walk->now_ns / SECOND_NS][walk->thread];
	struct ctx_event *event = emit(walk->world, walk->now_ns, walk->thread);
	uint64_t self_ns = below(left_ns / 2 + 1);

	event->call.kept = depth - 1;
	event->call.frame = frame_of(path & 3);
	event->call.is_sum = true;
	event->call.calls = below(4) == 0   ? 0
			    : below(3) == 0 ? UINT64_C(9000000000) + below(5)
					    : 1 + below(1000);
	sums->calls[path] += event->call.calls;
	walk->depth = depth;
	for (uint64_t at = walk->now_ns; at < walk->now_ns + self_ns;) {
		uint64_t until = at - at % SECOND_NS + SECOND_NS;

		until = until < walk->now_ns + self_ns ? until : walk->now_ns + self_ns;
		walk->world->seconds[at / SECOND_NS][walk->thread].ns[path] += until - at;
		at = until;
	}
	walk->now_ns += self_ns;
	left_ns -= self_ns;
	for (uint32_t function = 1; function <= FUNCTIONS && depth < DEPTH_MAX; function++) {
		uint64_t part_ns = left_ns / 2;

		if (below(2) == 0)
			continue;
		put_path(walk, path << 2 | function, depth + 1, part_ns);
		left_ns -= part_ns;
	}
}

static void put_period(struct world *world, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	struct walk walk = {.world = world, .thread = thread, .now_ns = begin_ns, .end_ns = end_ns};
	struct ctx_event *event;

	for (uint32_t function = 1; function <= FUNCTIONS; function++) {
		if (below(2) == 0)
			put_path(&walk, function, 1, (end_ns - walk.now_ns) / 2);
	}
	event = emit(world, walk.now_ns, thread);
	event->call.kept = walk.depth;
	event->call.frame = frame_of(1 + (uint32_t)below(FUNCTIONS));
	event->call.took_ns = 1 + below(1000000);
	event->call.calls = 1 + below(50);
	world->took[ctx_frame_function(event->call.frame)] += event->call.calls;
	event = emit(world, walk.now_ns, thread);
	event->call.kept = 0;
	event->call.unwound = true;
}

static int by_time(const void *left, const void *right)
{
	const struct ctx_event *a = *(const struct ctx_event *const *)left,
			       *b = *(const struct ctx_event *const *)right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a > b) - (a < b);
}

static void make(struct world *world, struct ctx_event *ordered)
{
	const struct ctx_event **at = calloc(EVENTS_MAX, sizeof(*at));
	size_t n = 0;

	assert_non_null(at);
	memset(world, 0, sizeof(*world));
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		for (uint64_t second = 0; second < SECONDS;) {
			/* Some are longer than a second; a thread begins and ends within one. */
			uint64_t last = second + (below(4) == 0 ? 1 + below(3) : 1);
			uint64_t begin_ns = second * SECOND_NS + (second == 0 ? below(SECOND_NS) : 0);

			last = last < SECONDS ? last : SECONDS;
			put_period(world, thread, begin_ns, last * SECOND_NS - (last == SECONDS ? 1000 : 0));
			second = last;
		}
	}
	for (size_t i = 0; i < world->n; i++)
		at[i] = &world->events[i];
	qsort(at, world->n, sizeof(*at), by_time);
	ordered[n++] = process_start(0, 0, 5);
	for (uint32_t i = 0; i < THREADS; i++)
		ordered[n++] = thread_start(0, 0, i, 5 + (int64_t)i);
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		static const char *const names[] = {"", "A", "B", "C"};

		ordered[n] = (struct ctx_event){.kind = CTX_EV_FUNCTION};
		ordered[n++].function = (struct ctx_event_function){.id = i, .name = names[i], .module = "m"};
	}
	for (size_t i = 0; i < world->n; i++)
		ordered[n++] = *at[i];
	world->n = n;
	free(at);
}

static uint32_t path_of(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t path = 0, factor = 1;

	for (; node != CTX_TRIE_ROOT; node = profile->cct.parent[node], factor *= 4)
		path += factor * (uint32_t)(profile->functions[profile->cct.key[node]].name[0] - 'A' + 1);
	return path;
}

/* By the time trees, of some seconds. */
static void check_seconds(struct ctx_store *store, const struct world *world, uint64_t from, uint64_t to)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	uint32_t metric = ctx_profile_calls_metric(profile);
	struct ctx_interval interval = {from * SECOND_NS, to * SECOND_NS};
	struct ctx_selection selection = {.profile = profile,
					  .intervals = &interval,
					  .n_intervals = 1,
					  .metrics = &metric,
					  .n_metrics = 1};
	struct ctx_histogram histogram = {0};
	uint64_t ns[PATHS] = {0};
	int64_t calls[PATHS] = {0};
	struct ctx_query query;

	if (interval.end_ns > profile->run.end_ns)
		interval.end_ns = profile->run.end_ns;
	ctx_query_init(&query, store, &selection, 0);
	assert_int_equal(ctx_query_histogram(&query,
					     &(struct ctx_query_scope){.metric = metric, .thread = CTX_NONE},
					     &histogram, NULL),
			 CTX_OK);
	for (size_t i = 0; i < histogram.n; i++) {
		const struct ctx_hist_entry *entry = &histogram.entries[i];

		ns[path_of(profile, entry->stack)] += entry->weight;
		for (uint32_t node = entry->stack; node != CTX_TRIE_ROOT; node = profile->cct.parent[node])
			calls[path_of(profile, node)] += entry->calls;
	}
	for (uint32_t path = 1; path < PATHS; path++) {
		uint64_t want_ns = 0, want_calls = 0;

		for (uint64_t second = from; second < to; second++) {
			for (uint32_t thread = 0; thread < THREADS; thread++) {
				want_ns += world->seconds[second][thread].ns[path];
				want_calls += world->seconds[second][thread].calls[path];
			}
		}
		assert_int_equal(ns[path], want_ns);
		assert_int_equal(calls[path], want_calls);
	}
	ctx_histogram_deinit(&histogram);
	ctx_query_deinit(&query);
}

struct kept {
	const struct ctx_profile *profile;
	struct sums seconds[SECONDS][THREADS];
	uint64_t took[FUNCTIONS + 1];
};

static enum ctx_status keep(void *context, const struct ctx_traced *traced, struct ctx_err *err)
{
	struct kept *kept = context;
	uint32_t path = path_of(kept->profile, traced->stack);
	struct sums *sums = &kept->seconds[traced->time_ns / SECOND_NS][traced->thread];

	(void)err;
	if (traced->duration_ns != 0) {
		assert_true(path <= FUNCTIONS);
		kept->took[path] += (uint64_t)traced->value;
	} else {
		sums->ns[path] += traced->self_ns;
		sums->calls[path] += (uint64_t)traced->value;
	}
	return CTX_OK;
}

static void check_kept(struct ctx_store *store, const struct world *world)
{
	static struct kept kept;

	memset(&kept, 0, sizeof(kept));
	kept.profile = ctx_store_profile(store);
	assert_int_equal(ctx_store_scan_traced(store,
					       &(struct ctx_store_traced_scan){CTX_TRACED_CALL,
									       CTX_INTERVAL_ALL, keep, &kept},
					       NULL),
			 CTX_OK);
	for (uint32_t i = 1; i <= FUNCTIONS; i++)
		assert_int_equal(kept.took[i], world->took[i]);
	for (uint32_t second = 0; second < SECONDS; second++) {
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			for (uint32_t path = 1; path < PATHS; path++) {
				assert_int_equal(kept.seconds[second][thread].ns[path],
						 world->seconds[second][thread].ns[path]);
				assert_int_equal(kept.seconds[second][thread].calls[path],
						 world->seconds[second][thread].calls[path]);
			}
		}
	}
}

static void test_call_sums__every_second_has_what_it_was_made_of(void **state)
{
	static struct world world;
	static struct ctx_event ordered[EVENTS_MAX];
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "test.db");

	(void)state;
	for (int round = 0; round < 6; round++) {
		struct ctx_ingest_options options = {.tree = ctx_timetree_default_params(),
						     .debug_root = "",
						     .symfs = "",
						     .fingerprint = "f"};
		struct ctx_store *store = NULL;
		struct list_source list;
		struct ctx_err err = {0};

		make(&world, ordered);
		list_open(&list, ordered, world.n, SECONDS * SECOND_NS);
		list.source.info.metrics = NULL;
		list.source.info.n_metrics = 0;
		list.source.info.has_calls = true;
		list.source.info.call_sums = true;
		options.tree.leaf_samples = 9;
		options.tree.fanout = 3;
		if (ctx_ingest(&list.source, path, &options, NULL, &err) != CTX_OK ||
		    ctx_store_open(path, &store, &err) != CTX_OK)
			fail_msg("%s", err.msg);
		assert_true(ctx_store_profile(store)->losses.call_log);
		assert_int_equal(ctx_store_profile(store)->n_warnings, 0);
		for (uint64_t from = 0; from < SECONDS; from++) {
			for (uint64_t to = from + 1; to <= SECONDS; to++)
				check_seconds(store, &world, from, to);
		}
		check_kept(store, &world);
		ctx_store_close(store);
	}
}

/* Intervals become whole seconds where they show sums, and nowhere else. */
static void test_call_sums__intervals_are_widened(void **state)
{
	struct ctx_metric_info metrics[2] = {{.name = "a", .kind = CTX_METRIC_CPU_TIME},
					     {.name = "traced", .kind = CTX_METRIC_CALL_SPAN}};
	struct ctx_profile profile = {
		.run = {0, 5500000000}, .metrics = metrics, .n_metrics = 2, .losses.call_log = true};
	struct ctx_interval intervals[3] = {{100, 200}, {1500000000, 2000000000}, {4999999999, 5000000001}};
	uint32_t metric = 0;
	struct ctx_selection selection = {
		.intervals = intervals, .n_intervals = 3, .metrics = &metric, .n_metrics = 1};

	(void)state;
	assert_false(ctx_selection_widen(&selection, &profile, false));
	assert_int_equal(intervals[0].end_ns, 200);
	profile.losses.call_log = false;
	assert_false(ctx_selection_widen(&selection, &profile, true));
	profile.losses.call_log = true;
	metric = 1;
	assert_true(ctx_selection_widen(&selection, &profile, false));
	assert_int_equal(selection.n_intervals, 2); /* the first two touch */
	assert_int_equal(intervals[0].begin_ns, 0);
	assert_int_equal(intervals[0].end_ns, 2 * SECOND_NS);
	assert_int_equal(intervals[1].begin_ns, 4 * SECOND_NS);
	assert_int_equal(intervals[1].end_ns, 5500000000);
	assert_false(ctx_selection_widen(&selection, &profile, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_sums__every_second_has_what_it_was_made_of),
		cmocka_unit_test(test_call_sums__intervals_are_widened),
	};

	if (mkdtemp(directory) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
