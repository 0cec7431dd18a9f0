/*
 * Several recordings as one: numbers, times, functions by name, kernels, metrics and clocks, with sources made of arrays.
 */
#include "base/mem.h"
#include "ingest/joint.h"
#include "tests/unit/list_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void close_list(struct ctx_event_source *source)
{
	(void)source;
}

static void open_list(struct list_source *list, struct ctx_event *events, size_t n, uint64_t duration_ns)
{
	list_open(list, events, n, duration_ns);
	list->source.close = close_list;
}

static struct ctx_joint_input input_of(struct list_source *list, const char *name)
{
	return (struct ctx_joint_input){.source = &list->source, .name = name};
}

static struct ctx_event_source *merge(struct ctx_joint_input *inputs, size_t n)
{
	struct ctx_event_source *merged = NULL;
	struct ctx_err err = {0};

	if (ctx_joint_place(inputs, n, &err) != CTX_OK || ctx_joint_open(inputs, n, &merged, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return merged;
}

/* "P0 T0 s10" : the events as words: kind, numbers, time. */
static void describe(struct ctx_event_source *source, char *out, size_t size)
{
	struct ctx_event event;
	enum ctx_status status;
	struct ctx_err err = {0};
	size_t used = 0;

	out[0] = '\0';
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		unsigned long long time = event.time_ns;
		char word[128] = "";

		if (event.kind == CTX_EV_PROCESS_START)
			snprintf(word, sizeof(word), "P%u(%s)<%d@%llu", event.process,
				 event.process_start.lineage, (int)event.process_start.parent, time);
		else if (event.kind == CTX_EV_THREAD_START)
			snprintf(word, sizeof(word), "T%u.%u%s@%llu", event.process, event.thread,
				 event.thread_start.without_states ? "-" : "", time);
		else if (event.kind == CTX_EV_FUNCTION)
			snprintf(word, sizeof(word), "F%u(%s)@%llu", event.function.id, event.function.name,
				 time);
		else if (event.kind == CTX_EV_SAMPLE)
			snprintf(word, sizeof(word), "s%u.%u:m%u:%u[%u]@%llu", event.process, event.thread,
				 event.sample.metric, event.sample.stack.id, event.sample.stack.n_frames,
				 time);
		else if (event.kind == CTX_EV_MAP)
			snprintf(word, sizeof(word), "map%d@%llu", (int)event.process, time);
		else if (event.kind == CTX_EV_LOST)
			snprintf(word, sizeof(word), "lost%llu-%llu@%llu",
				 (unsigned long long)event.lost.loss.time.begin_ns,
				 (unsigned long long)event.lost.loss.time.end_ns, time);
		else
			snprintf(word, sizeof(word), "k%d@%llu", (int)event.kind, time);
		used += (size_t)snprintf(out + used, size - used, "%s%s", used != 0 ? " " : "", word);
		assert_true(used < size);
	}
	if (status != CTX_END)
		fail_msg("%s", err.msg);
}

static void test_joint__events_of_all_come_in_order_of_time_with_numbers_of_their_own(void **state)
{
	struct ctx_event first[] = {process_start(0, 0, 100), thread_start(0, 0, 0, 100),
				    sample_event(10, 0, 0, 3), sample_event(30, 0, 0, 4)};
	struct ctx_event second[] = {process_start(0, 0, 200), process_start(5, 1, 201),
				     thread_start(5, 1, 0, 201), map_event(6, 0x1000, 0x1000, "/b"),
				     sample_event(20, 1, 0, 9)};
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	struct ctx_event_source *merged;
	char text[1024];

	(void)state;
	second[1].process_start.parent = 0;
	second[1].process_start.lineage = "_f1";
	second[3].process = 1;
	open_list(&lists[0], first, CTX_COUNT_OF(first), 100);
	open_list(&lists[1], second, CTX_COUNT_OF(second), 50);
	lists[0].source.info.clock.host = lists[1].source.info.clock.host = "one";
	inputs[0] = input_of(&lists[0], "a");
	inputs[1] = input_of(&lists[1], "b");
	inputs[0].has_offset = inputs[1].has_offset = true;
	inputs[1].offset_ns = -5; /* the other one begins 5 ns later */
	merged = merge(inputs, 2);
	assert_int_equal(merged->info.duration_ns, 105);
	assert_int_equal(merged->info.n_metrics, 1);
	describe(merged, text, sizeof(text));
	assert_string_equal(text,
			    "P0(b:)<-1@0 P1(a:)<-1@5 T1.0@5 P2(b:_f1)<0@5 T2.1@5 map2@6 s1.0:m0:3[0]@15 "
			    "s2.1:m0:9[0]@20 s1.0:m0:4[0]@35");
	merged->close(merged);
}

static void test_joint__functions_by_name_get_numbers_and_other_kernels_are_one_function(void **state)
{
	uint64_t frames[] = {ctx_frame_named(7, 3), CTX_KERNEL_START + 16,
			     ctx_frame_truncated(CTX_TRUNCATED_DEPTH), ctx_frame_named(99, 1)};
	struct ctx_event first[] = {process_start(0, 0, 1),
				    thread_start(0, 0, 0, 1),
				    {.kind = CTX_EV_FUNCTION},
				    {.kind = CTX_EV_SAMPLE, .time_ns = 1}};
	struct ctx_event second[] = {process_start(0, 0, 1),
				     thread_start(0, 0, 0, 1),
				     {.kind = CTX_EV_FUNCTION},
				     {.kind = CTX_EV_SAMPLE, .time_ns = 2}};
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	struct ctx_event_source *merged;
	struct ctx_event event;
	unsigned samples = 0;

	(void)state;
	first[2].function = second[2].function =
		(struct ctx_event_function){.id = 7, .name = "f", .module = "m"};
	first[3].sample.stack = second[3].sample.stack =
		(struct ctx_event_stack){.frames = frames, .n_frames = CTX_COUNT_OF(frames)};
	open_list(&lists[0], first, CTX_COUNT_OF(first), 10);
	open_list(&lists[1], second, CTX_COUNT_OF(second), 10);
	lists[0].source.info.clock.host = "one";
	lists[1].source.info.clock.host = "two";
	for (size_t i = 0; i < 2; i++) {
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : "b");
		inputs[i].has_offset = true;
	}
	merged = merge(inputs, 2);
	while (merged->next(merged, &event, NULL) == CTX_OK) {
		const uint64_t *got = event.sample.stack.frames;

		if (event.kind != CTX_EV_SAMPLE)
			continue;
		samples++;
		/* b's kernel is announced before b's functions */
		assert_true(got[0] == ctx_frame_named(event.process == 0 ? 1 : 2, 3) ||
			    got[0] == ctx_frame_named(event.process == 0 ? 0 : 2, 3));
		if (event.process == 0)
			assert_true(got[1] == CTX_KERNEL_START + 16);
		else
			assert_true(ctx_frame_is_named(got[1]));
		assert_int_equal(ctx_frame_truncation(got[2]), CTX_TRUNCATED_DEPTH);
		assert_false(
			ctx_frame_is_named(got[3])); /* a number that was never announced is an address */
	}
	assert_int_equal(samples, 2);
	merged->close(merged);
}

static enum ctx_status numbered(struct ctx_event_source *source, uint32_t process, uint32_t stack,
				struct ctx_event_stack *ret, struct ctx_err *err)
{
	static uint64_t frames[3];

	(void)source;
	(void)err;
	for (uint32_t i = 0; i < stack; i++)
		frames[i] = 0x1000 * (process + 1) + i;
	*ret = (struct ctx_event_stack){.id = stack, .frames = frames, .n_frames = stack};
	return CTX_OK;
}

static void test_joint__numbered_stacks_become_frames_by_the_numbers_of_their_source(void **state)
{
	struct ctx_event first[] = {process_start(0, 0, 1)};
	struct ctx_event second[] = {process_start(0, 0, 1), thread_start(0, 0, 0, 1),
				     sample_event(5, 0, 0, 2)};
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	struct ctx_event_source *merged;
	struct ctx_event event = {0};

	(void)state;
	open_list(&lists[0], first, CTX_COUNT_OF(first), 10);
	open_list(&lists[1], second, CTX_COUNT_OF(second), 10);
	lists[1].source.stack_frames = numbered;
	for (size_t i = 0; i < 2; i++) {
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : "b");
		inputs[i].has_offset = true;
	}
	merged = merge(inputs, 2);
	while (event.kind != CTX_EV_SAMPLE)
		assert_int_equal(merged->next(merged, &event, NULL), CTX_OK);
	assert_int_equal(event.process, 1);
	assert_int_equal(event.sample.stack.id, 0);
	assert_int_equal(event.sample.stack.n_frames, 2);
	assert_int_equal(event.sample.stack.frames[0], 0x1000);
	assert_int_equal(event.sample.stack.frames[1], 0x1001);
	merged->close(merged);
}

static void test_joint__equal_metrics_are_one_and_others_bear_the_recordings_name(void **state)
{
	struct ctx_source_metric first[] = {
		{.name = "cycles", .unit = CTX_UNIT_EVENTS},
		{.name = "Bytes", .word = "ioreadbytes", .kind = CTX_METRIC_BYTES, .unit = CTX_UNIT_BYTES}};
	struct ctx_source_metric second[] = {
		{.name = "Bytes", .word = "ioreadbytes", .kind = CTX_METRIC_BYTES, .unit = CTX_UNIT_BYTES},
		{.name = "Count", .kind = CTX_METRIC_COUNT, .of = 0},
		{.name = "cycles", .unit = CTX_UNIT_NS}};
	struct ctx_property one[] = {{"host", "x"}, {"command", "a"}},
			    two[] = {{"host", "x"}, {"command", "b"}};
	struct ctx_event events[] = {process_start(0, 0, 1), thread_start(0, 0, 0, 1),
				     sample_event(5, 0, 0, 0)};
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	struct ctx_event_source *merged;
	struct ctx_event event = {0};

	(void)state;
	open_list(&lists[0], NULL, 0, 10);
	open_list(&lists[1], events, CTX_COUNT_OF(events), 10);
	lists[0].source.info.metrics = first;
	lists[0].source.info.n_metrics = 2;
	lists[0].source.info.properties = one;
	lists[0].source.info.n_properties = 2;
	lists[0].source.info.has_states = true;
	lists[1].source.info.metrics = second;
	lists[1].source.info.n_metrics = 3;
	lists[1].source.info.properties = two;
	lists[1].source.info.n_properties = 2;
	events[2].sample.metric = 2;
	for (size_t i = 0; i < 2; i++) {
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : "b");
		inputs[i].has_offset = true;
	}
	merged = merge(inputs, 2);
	assert_int_equal(merged->info.n_metrics, 4);
	assert_string_equal(merged->info.metrics[2].name, "Count");
	assert_int_equal(merged->info.metrics[2].of, 1);
	assert_string_equal(merged->info.metrics[3].name, "cycles (b)");
	assert_int_equal(merged->info.n_properties, 5);
	assert_string_equal(merged->info.properties[4].key, "command (b)");
	assert_true(merged->info.has_states);
	while (event.kind != CTX_EV_SAMPLE) {
		assert_int_equal(merged->next(merged, &event, NULL), CTX_OK);
		if (event.kind == CTX_EV_THREAD_START)
			assert_true(event.thread_start.without_states);
	}
	assert_int_equal(event.sample.metric, 3);
	merged->close(merged);
}

static enum ctx_status place(const struct ctx_source_clock *a, const struct ctx_source_clock *b,
			     int64_t ret[2])
{
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	enum ctx_status status;

	for (size_t i = 0; i < 2; i++) {
		open_list(&lists[i], NULL, 0, 100);
		lists[i].source.info.clock = i == 0 ? *a : *b;
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : "b");
	}
	status = ctx_joint_place(inputs, 2, NULL);
	for (size_t i = 0; i < 2; i++)
		ret[i] = inputs[i].offset_ns;
	return status;
}

static void test_joint__recordings_are_placed_by_clocks_of_one_host_else_by_the_wall_clock(void **state)
{
	const struct ctx_source_clock own = {"CLOCK_MONOTONIC", "h", 1000, 0},
				      later = {"CLOCK_MONOTONIC", "h", 1500, 0},
				      elsewhere = {"CLOCK_MONOTONIC", "other", 1500, 0},
				      perfs = {"perf", "h", 1500, 0}, unknown = {0};
	const uint64_t wall = UINT64_C(1700000000000000000);
	const struct ctx_source_clock walled = {"CLOCK_MONOTONIC", "h", 1000, wall},
				      other_boot = {"CLOCK_MONOTONIC", "h", 1500,
						    wall + UINT64_C(60000000000)},
				      jfr = {NULL, NULL, 0, wall - 300};
	int64_t at[2];

	(void)state;
	assert_int_equal(place(&own, &later, at), CTX_OK);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[1], 500);
	assert_int_equal(place(&later, &own, at), CTX_OK);
	assert_int_equal(at[0], 500);
	assert_int_equal(at[1], 0);
	assert_int_equal(place(&own, &elsewhere, at), CTX_E_ARG);
	assert_int_equal(place(&own, &perfs, at), CTX_E_ARG);
	assert_int_equal(place(&unknown, &unknown, at), CTX_E_ARG);
	assert_int_equal(place(&walled, &jfr, at), CTX_OK);
	assert_int_equal(at[0], 300);
	assert_int_equal(at[1], 0);
	/* The same clock and host, but a minute apart on the wall: the machine was started anew between. */
	assert_int_equal(place(&walled, &other_boot, at), CTX_OK);
	assert_int_equal(at[1], INT64_C(60000000000));
}

static void test_joint__what_has_no_times_begins_with_the_earliest(void **state)
{
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];

	(void)state;
	open_list(&lists[0], NULL, 0, 1);
	open_list(&lists[1], NULL, 0, 100);
	inputs[0] = input_of(&lists[0], "a.folded");
	inputs[1] = input_of(&lists[1], "b");
	assert_int_equal(ctx_joint_place(inputs, 2, NULL), CTX_OK);
	assert_int_equal(inputs[0].offset_ns, 0);
	assert_string_equal(inputs[0].placed, "no times");
}

static void test_joint__losses_are_placed_and_unannounced_numbers_are_refused(void **state)
{
	struct ctx_event first[] = {{.kind = CTX_EV_LOST, .time_ns = 9}};
	struct ctx_event second[] = {sample_event(1, 3, 4, 0)};
	struct list_source lists[2];
	struct ctx_joint_input inputs[2];
	struct ctx_event_source *merged;
	struct ctx_event event;
	struct ctx_err err = {0};
	enum ctx_status status;

	(void)state;
	first[0].lost.loss = (struct ctx_loss){.time = {2, 9}, .located = true, .count = 5};
	open_list(&lists[0], first, 1, 10);
	open_list(&lists[1], second, 1, 10);
	for (size_t i = 0; i < 2; i++) {
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : "b");
		inputs[i].has_offset = true;
		inputs[i].offset_ns = i == 0 ? 100 : 0;
	}
	inputs[1].offset_ns = 200;
	merged = merge(inputs, 2);
	assert_int_equal(merged->next(merged, &event, &err), CTX_OK);
	assert_int_equal(event.kind, CTX_EV_LOST);
	assert_int_equal(event.lost.loss.time.begin_ns, 2);
	assert_int_equal(event.time_ns, 9);
	do
		status = merged->next(merged, &event, &err);
	while (status == CTX_OK);
	assert_int_equal(status, CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "b: thread 4 was not announced"));
	merged->close(merged);
}

/* The status of merging recordings with calls, each of single ones or of sums; those without have none. */
static enum ctx_status merge_calls(const char *kinds, bool *ret_sums, struct ctx_err *err)
{
	struct list_source lists[3];
	struct ctx_joint_input inputs[3];
	struct ctx_event_source *merged = NULL;
	size_t n = strlen(kinds);
	enum ctx_status status;

	for (size_t i = 0; i < n; i++) {
		open_list(&lists[i], NULL, 0, 10);
		lists[i].source.info.has_calls = kinds[i] != '-';
		lists[i].source.info.call_sums = kinds[i] == 's';
		inputs[i] = input_of(&lists[i], i == 0 ? "a" : i == 1 ? "b" : "c");
		inputs[i].has_offset = true;
		inputs[i].offset_ns = 0;
		inputs[i].placed = "";
	}
	status = ctx_joint_open(inputs, n, &merged, err);
	if (status != CTX_OK)
		return status;
	*ret_sums = merged->info.call_sums;
	merged->close(merged);
	return CTX_OK;
}

static void test_joint__sums_of_calls_stay_sums_and_are_refused_beside_single_calls(void **state)
{
	static const struct {
		const char *kinds;
		bool sums;
	} merged[] = {{"--", false}, {"1-1", false}, {"s-", true}, {"-s", true}, {"s-s", true}};
	struct ctx_err err = {0};
	bool sums;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(merged); i++) {
		assert_int_equal(merge_calls(merged[i].kinds, &sums, &err), CTX_OK);
		assert_int_equal(sums, merged[i].sums);
	}
	assert_int_equal(merge_calls("s-1", &sums, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "of a and c one has single calls"));
	assert_int_equal(merge_calls("1s", &sums, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "of a and b one has single calls"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joint__events_of_all_come_in_order_of_time_with_numbers_of_their_own),
		cmocka_unit_test(
			test_joint__functions_by_name_get_numbers_and_other_kernels_are_one_function),
		cmocka_unit_test(test_joint__numbered_stacks_become_frames_by_the_numbers_of_their_source),
		cmocka_unit_test(test_joint__equal_metrics_are_one_and_others_bear_the_recordings_name),
		cmocka_unit_test(
			test_joint__recordings_are_placed_by_clocks_of_one_host_else_by_the_wall_clock),
		cmocka_unit_test(test_joint__what_has_no_times_begins_with_the_earliest),
		cmocka_unit_test(test_joint__losses_are_placed_and_unannounced_numbers_are_refused),
		cmocka_unit_test(test_joint__sums_of_calls_stay_sums_and_are_refused_beside_single_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
