/*
 * Exact calls, from a source of calls to the queries of reports: every interval against what the threads
 * did ns by ns; samples below open calls; what is stored of each call.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/ingest.h"
#include "query/query.h"
#include "query/sample_scan.h"
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

#define RUN_NS 400u
#define THREADS 3u
#define DEPTH_MAX 4u
#define FUNCTIONS 3u
#define PATHS 256u /* numbers of base 4, the root is 0 */
#define EVENTS_MAX 4000u

static char directory[] = "/tmp/ctx-calls-XXXXXX";

static struct ctx_event function_event(uint32_t id, const char *name)
{
	struct ctx_event event = {.kind = CTX_EV_FUNCTION};

	event.function = (struct ctx_event_function){.id = id, .name = name, .module = "m"};
	return event;
}

static struct ctx_event call_event(uint64_t time, uint32_t thread, uint32_t kept, uint32_t function)
{
	struct ctx_event event = {.kind = CTX_EV_CALL, .time_ns = time, .thread = thread};

	event.call = (struct ctx_event_call){
		.kept = kept,
		.frame = function != 0 ? ctx_frame_named(function, CTX_FRAME_POSITIONS) : 0,
		.code = CTX_CALL_INSTRUMENTED};
	return event;
}

static struct ctx_store *store_of(struct list_source *list)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "f"};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "test.db");
	struct ctx_store *store = NULL;
	struct ctx_err err = {0};

	options.tree.leaf_samples = 9;
	options.tree.fanout = 3;
	if (ctx_ingest(&list->source, path, &options, NULL, &err) != CTX_OK ||
	    ctx_store_open(path, &store, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return store;
}

/* --- the obvious way --- */

struct call {
	uint64_t begin_ns, end_ns, off_ns, self_ns;
	uint32_t path;
};

struct simulated_thread {
	uint32_t path[DEPTH_MAX + 1], depth; /* path[i]: of the i deepest calls; path[0] is the root */
	struct call open[DEPTH_MAX];
	bool off;
};

struct entry {
	uint64_t time_ns;
	uint32_t path;
};

struct simulation {
	struct ctx_event events[EVENTS_MAX];
	size_t n_events;
	struct simulated_thread threads[THREADS];
	uint32_t path[THREADS][RUN_NS]; /* in each ns */
	bool off[THREADS][RUN_NS];
	struct entry entries[EVENTS_MAX];
	size_t n_entries;
	struct call calls[EVENTS_MAX];
	size_t n_calls;
};

static void emit(struct simulation *world, struct ctx_event event)
{
	assert_true(world->n_events < EVENTS_MAX);
	world->events[world->n_events++] = event;
}

static void leave_one(struct simulation *world, struct simulated_thread *thread, uint64_t now)
{
	struct call *call = &thread->open[--thread->depth];

	call->end_ns = now;
	world->calls[world->n_calls++] = *call;
}

static void change(struct simulation *world, uint32_t number, uint64_t now, bool states)
{
	struct simulated_thread *thread = &world->threads[number];
	uint32_t what = (uint32_t)below(8), function = 1 + (uint32_t)below(FUNCTIONS), kept = thread->depth;

	if (what == 0 && states) {
		thread->off = !thread->off;
		emit(world, change_event(now, number, thread->off ? CTX_CHANGE_BLOCKED : CTX_CHANGE_RUNS));
		world->events[world->n_events - 1].state.cpu = (int32_t)number;
		return;
	}
	if (thread->off)
		return;
	if (what < 4) /* ends some, one mostly */
		kept = thread->depth == 0 ? 0 : below(5) == 0 ? (uint32_t)below(thread->depth) : kept - 1;
	if (what < 3 || kept == DEPTH_MAX)
		function = 0;
	while (thread->depth > kept)
		leave_one(world, thread, now);
	emit(world, call_event(now, number, below(2) != 0 && what >= 4 ? UINT32_MAX : kept, function));
	if (function == 0)
		return;
	thread->path[thread->depth + 1] = thread->path[thread->depth] * 4 + function;
	thread->open[thread->depth] = (struct call){.begin_ns = now, .path = thread->path[thread->depth + 1]};
	thread->depth++;
	world->entries[world->n_entries++] = (struct entry){now, thread->path[thread->depth]};
}

/* What lasts from this ns on, until the next one. */
static void pass_ns(struct simulation *world, uint64_t now)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		struct simulated_thread *thread = &world->threads[i];

		world->path[i][now] = thread->path[thread->depth];
		world->off[i][now] = thread->off;
		if (thread->depth != 0 && !thread->off)
			thread->open[thread->depth - 1].self_ns++;
		for (uint32_t k = 0; k < thread->depth; k++)
			thread->open[k].off_ns += thread->off;
	}
}

static void simulate(struct simulation *world, bool states)
{
	static const char *const names[] = {"", "A", "B", "C"};

	*world = (struct simulation){0};
	emit(world, process_start(0, 0, 1));
	for (uint32_t i = 1; i <= FUNCTIONS; i++)
		emit(world, function_event(i, names[i]));
	for (uint32_t i = 0; i < THREADS; i++)
		emit(world, thread_start(0, 0, i, 1 + i));
	for (uint64_t now = 0; now + 1 < RUN_NS; now++) {
		for (uint64_t n = below(4) == 0 ? below(6) : 0; n != 0; n--)
			change(world, (uint32_t)below(THREADS), now, states);
		pass_ns(world, now);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		while (world->threads[i].depth != 0)
			leave_one(world, &world->threads[i], RUN_NS - 1);
	}
}

/* --- what the store says --- */

static uint32_t path_of(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t path = 0, factor = 1;

	for (; node != CTX_TRIE_ROOT; node = profile->cct.parent[node], factor *= 4)
		path += factor * (uint32_t)(profile->functions[profile->cct.key[node]].name[0] - 'A' + 1);
	return path;
}

struct sums {
	uint64_t weight[PATHS * 4];
	int64_t calls[PATHS * 4];
};

static void sum_up(const struct ctx_profile *profile, const struct ctx_histogram *histogram, struct sums *ret)
{
	*ret = (struct sums){0};
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];

		ret->weight[path_of(profile, entry->stack)] += entry->weight;
		for (uint32_t node = entry->stack; node != CTX_TRIE_ROOT; node = profile->cct.parent[node])
			ret->calls[path_of(profile, node)] += entry->calls;
	}
}

static enum ctx_status add_scanned(void *context, const struct ctx_sample *sample,
				   const struct ctx_traced *operation, struct ctx_err *err)
{
	struct ctx_histogram *histogram = ((void **)context)[0];

	(void)operation;
	return ctx_histogram_add_samples(histogram, ((void **)context)[1], sample, 1, err);
}

struct question {
	uint32_t metric;
	struct ctx_interval interval;
	uint32_t thread; /* CTX_NONE: all */
};

/* By the time trees, and by passing all samples. */
static void ask(struct ctx_store *store, const struct question *question, struct sums *ret,
		struct sums *scanned)
{
	uint32_t metric = question->metric, thread = question->thread;
	struct ctx_interval interval = question->interval;
	struct ctx_selection selection = {.profile = ctx_store_profile(store),
					  .intervals = &interval,
					  .n_intervals = 1,
					  .threads = thread != CTX_NONE ? &thread : NULL,
					  .n_threads = thread != CTX_NONE,
					  .metrics = &metric,
					  .n_metrics = 1};
	struct ctx_query_scope scope = {.metric = metric, .thread = CTX_NONE};
	struct ctx_histogram histogram = {0};
	void *context[] = {&histogram, (void *)&selection.profile->cct};
	struct ctx_query query;

	ctx_query_init(&query, store, &selection, 0);
	assert_int_equal(ctx_query_histogram(&query, &scope, &histogram, NULL), CTX_OK);
	sum_up(selection.profile, &histogram, ret);
	ctx_histogram_clear(&histogram);
	assert_int_equal(ctx_scan_selected(&query,
					   &(struct ctx_scan){.metric = metric,
							      .thread = thread,
							      .interval = interval,
							      .each = add_scanned,
							      .context = context},
					   NULL),
			 CTX_OK);
	sum_up(selection.profile, &histogram, scanned);
	ctx_histogram_deinit(&histogram);
	ctx_query_deinit(&query);
}

static void expect(const struct simulation *world, const struct question *question, bool has_entries,
		   struct sums *ret)
{
	*ret = (struct sums){0};
	for (uint64_t t = question->interval.begin_ns; t < question->interval.end_ns && t + 1 < RUN_NS; t++) {
		for (uint32_t i = 0; i < THREADS; i++) {
			bool is_off = world->off[i][t];

			if (world->path[i][t] != 0 &&
			    (question->thread == CTX_NONE || question->thread == i) &&
			    (question->metric == 2 || is_off == (question->metric == 1)))
				ret->weight[world->path[i][t]]++;
		}
	}
	for (size_t i = 0; i < world->n_entries && has_entries; i++)
		ret->calls[world->entries[i].path] +=
			ctx_interval_has(question->interval, world->entries[i].time_ns);
}

static void check_sums(const struct sums *want, const struct sums *got, bool has_calls, const char *how)
{
	for (uint32_t path = 0; path < PATHS * 4; path++) {
		if (want->weight[path] != got->weight[path] ||
		    (has_calls && want->calls[path] != got->calls[path]))
			fail_msg("%s: path %x: weight %u, want %u; calls %d, want %d", how, path,
				 (unsigned)got->weight[path], (unsigned)want->weight[path],
				 (int)got->calls[path], (int)want->calls[path]);
	}
}

static void ask_much(struct ctx_store *store, const struct simulation *world, bool states)
{
	const struct ctx_profile *profile = ctx_store_profile(store);
	uint32_t first = ctx_profile_calls_metric(profile);

	for (int i = 0; i < 300; i++) {
		uint64_t begin = below(RUN_NS), length = 1 + below(i % 2 == 0 ? RUN_NS : 12);
		struct question question = {.interval = {begin, begin + length},
					    .metric = states ? (uint32_t)below(3) : 2,
					    .thread = below(3) == 0 ? (uint32_t)below(THREADS) : CTX_NONE};
		bool has_calls = question.thread == CTX_NONE;
		struct sums want, got, scanned;

		if (i == 0)
			question.interval = profile->run;
		expect(world, &question, question.metric != 1, &want);
		question.metric = states ? first + question.metric : first;
		ask(store, &question, &got, &scanned);
		check_sums(&want, &got, has_calls, "by the tree");
		check_sums(&want, &scanned, has_calls, "by the samples");
	}
}

/* By all fields, the end first. Fields, not bytes: the padding may hold anything. */
static int compare_calls(const void *left, const void *right)
{
	const struct call *a = left, *b = right;
	const uint64_t keys[][2] = {{a->end_ns, b->end_ns},
				    {a->begin_ns, b->begin_ns},
				    {a->off_ns, b->off_ns},
				    {a->self_ns, b->self_ns},
				    {a->path, b->path}};

	for (size_t i = 0; i < CTX_COUNT_OF(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

struct kept_calls {
	const struct ctx_profile *profile;
	struct call calls[EVENTS_MAX];
	size_t n;
};

static enum ctx_status keep_call(void *context, const struct ctx_traced *traced, struct ctx_err *err)
{
	struct kept_calls *kept = context;

	(void)err;
	assert_int_equal(traced->kind, CTX_TRACED_CALL);
	kept->calls[kept->n++] = (struct call){.begin_ns = traced->time_ns - traced->duration_ns,
					       .end_ns = traced->time_ns,
					       .off_ns = traced->off_ns,
					       .self_ns = traced->self_ns,
					       .path = path_of(kept->profile, traced->stack)};
	return CTX_OK;
}

static void check_calls(struct ctx_store *store, struct simulation *world)
{
	static struct kept_calls kept;

	kept = (struct kept_calls){.profile = ctx_store_profile(store)};
	assert_int_equal(ctx_store_scan_traced(store,
					       &(struct ctx_store_traced_scan){
						       CTX_TRACED_CALL, CTX_INTERVAL_ALL, keep_call, &kept},
					       NULL),
			 CTX_OK);
	assert_int_equal(kept.n, world->n_calls);
	assert_int_equal(kept.profile->traced[CTX_TRACED_CALL], world->n_calls);
	qsort(kept.calls, kept.n, sizeof(*kept.calls), compare_calls);
	qsort(world->calls, world->n_calls, sizeof(*world->calls), compare_calls);
	for (size_t i = 0; i < kept.n; i++)
		assert_int_equal(compare_calls(&kept.calls[i], &world->calls[i]), 0);
}

static void compare_with_simulation(bool states)
{
	static struct simulation world;

	for (int round = 0; round < 25; round++) {
		struct list_source list;
		struct ctx_store *store;

		simulate(&world, states);
		list_open(&list, world.events, world.n_events, RUN_NS);
		list.source.info.metrics = NULL;
		list.source.info.n_metrics = 0;
		list.source.info.has_calls = true;
		list.source.info.has_states = states;
		store = store_of(&list);
		assert_int_equal(ctx_store_profile(store)->n_warnings, 0);
		ask_much(store, &world, states);
		check_calls(store, &world);
		ctx_store_close(store);
	}
}

static void test_calls__every_interval_has_the_time_and_the_entries_of_each_ns(void **state)
{
	(void)state;
	compare_with_simulation(false);
}

static void test_calls__time_off_the_processors_is_a_metric_of_its_own(void **state)
{
	(void)state;
	compare_with_simulation(true);
}

static enum ctx_status count_failed(void *context, const struct ctx_traced *traced, struct ctx_err *err)
{
	(void)err;
	*(uint64_t *)context += traced->failed;
	return CTX_OK;
}

/* A calls B, which calls C, when 7 events are missing from 30 to 60; A is open all the time, C is called anew. */
static void test_calls__where_events_are_missing_no_call_has_the_time(void **state)
{
	struct ctx_event events[] = {
		process_start(0, 0, 1),	 function_event(1, "A"),   function_event(2, "B"),
		function_event(3, "C"),	 thread_start(0, 0, 0, 1), call_event(10, 0, 0, 1),
		call_event(20, 0, 1, 2), call_event(25, 0, 2, 3),  call_event(30, 0, 1, 0),
		call_event(60, 0, 1, 0), call_event(60, 0, 1, 3),  call_event(70, 0, 1, 0),
		call_event(80, 0, 0, 0)};
	struct list_source list;
	struct ctx_store *store;
	const struct ctx_profile *profile;
	struct ctx_interval all = {0, 100};
	struct ctx_query_scope scope = {.thread = CTX_NONE};
	struct ctx_selection selection = {
		.intervals = &all, .n_intervals = 1, .n_metrics = 1, .metrics = &scope.metric};
	struct ctx_histogram histogram = {0};
	struct ctx_query query;
	uint64_t lost_ns = 0, lost_calls = 0, all_ns = 0, n_failed = 0;

	(void)state;
	events[8].call.frame = CTX_FRAME_LOST;
	events[8].call.unwound = events[8].call.resumed = true;
	events[8].call.lost = 7;
	events[10].call.unseen = true;
	list_open(&list, events, CTX_COUNT_OF(events), 100);
	list.source.info.metrics = NULL;
	list.source.info.n_metrics = 0;
	list.source.info.has_calls = true;
	store = store_of(&list);
	profile = ctx_store_profile(store);
	assert_int_equal(profile->losses.n_items, 1);
	assert_int_equal(profile->losses.samples, 0);
	assert_int_equal(profile->losses.items[0].time.begin_ns, 30);
	assert_int_equal(profile->losses.items[0].time.end_ns, 60);
	assert_int_equal(profile->losses.items[0].count, 7);
	assert_true(profile->losses.items[0].has_thread && ctx_loss_is_of_calls(&profile->losses.items[0]));
	scope.metric = ctx_profile_calls_metric(profile);
	selection.profile = profile;
	ctx_query_init(&query, store, &selection, 0);
	assert_int_equal(ctx_query_histogram(&query, &scope, &histogram, NULL), CTX_OK);
	for (size_t i = 0; i < histogram.n; i++) {
		const struct ctx_hist_entry *entry = &histogram.entries[i];
		const char *name;

		all_ns += entry->weight;
		if (entry->stack == CTX_TRIE_ROOT)
			continue;
		name = profile->functions[profile->cct.key[entry->stack]].name;
		if (strcmp(name, "<Lost-calls>") != 0)
			continue;
		lost_ns += entry->weight;
		lost_calls += (uint64_t)entry->calls;
		assert_string_equal(
			profile->functions[profile->cct.key[profile->cct.parent[entry->stack]]].name, "A");
	}
	assert_int_equal(lost_ns, 30);
	assert_int_equal(lost_calls, 0);
	assert_int_equal(all_ns, 70);
	ctx_histogram_deinit(&histogram);
	ctx_query_deinit(&query);
	/* A, B, and C twice; B and both of C without their whole durations. */
	assert_int_equal(profile->traced[CTX_TRACED_CALL], 4);
	assert_int_equal(
		ctx_store_scan_traced(store,
				      &(struct ctx_store_traced_scan){CTX_TRACED_CALL, CTX_INTERVAL_ALL,
								      count_failed, &n_failed},
				      NULL),
		CTX_OK);
	assert_int_equal(n_failed, 3);
	ctx_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls__every_interval_has_the_time_and_the_entries_of_each_ns),
		cmocka_unit_test(test_calls__time_off_the_processors_is_a_metric_of_its_own),
		cmocka_unit_test(test_calls__where_events_are_missing_no_call_has_the_time),
	};

	if (mkdtemp(directory) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
