/*
 * pprof's profiles, made here byte by byte: types of values, inlined lines, addresses without names,
 * values that cannot be, profiles cut anywhere.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/named/named.h"
#include "formats/pprof/pprof_reader.h"
#include "tests/unit/source_check.h"
#include "tests/unit/written_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- making --- */

static void put_value(struct ctx_buf *buf, unsigned number, uint64_t value)
{
	ctx_buf_put_varint(buf, number << 3);
	ctx_buf_put_varint(buf, value);
}

static void put_bytes(struct ctx_buf *buf, unsigned number, const void *bytes, size_t n)
{
	ctx_buf_put_varint(buf, number << 3 | 2);
	ctx_buf_put_varint(buf, n);
	ctx_buf_put(buf, bytes, n);
}

/* A message of values, field 1 first; zeros are left out, as writers do. */
static void put_values(struct ctx_buf *buf, unsigned number, const uint64_t *values, size_t n)
{
	struct ctx_buf message = {0};

	for (size_t i = 0; i < n; i++) {
		if (values[i] != 0)
			put_value(&message, (unsigned)i + 1, values[i]);
	}
	put_bytes(buf, number, message.bytes, message.n);
	ctx_buf_deinit(&message);
}

#define VALUES(buf, number, ...)                                                                             \
	put_values(buf, number, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

static void put_location(struct ctx_buf *buf, uint64_t id, uint64_t mapping, uint64_t address,
			 const uint64_t (*lines)[2], size_t n_lines)
{
	struct ctx_buf message = {0};

	put_value(&message, 1, id);
	put_value(&message, 2, mapping);
	put_value(&message, 3, address);
	for (size_t i = 0; i < n_lines; i++)
		VALUES(&message, 4, lines[i][0], lines[i][1]);
	put_bytes(buf, 4, message.bytes, message.n);
	ctx_buf_deinit(&message);
}

/* Numbers of a sample are packed, or one by one, as old writers have them. */
static void put_sample(struct ctx_buf *buf, bool packed, const uint64_t *locations, size_t n_locations,
		       const int64_t *values, size_t n_values)
{
	struct ctx_buf message = {0}, numbers = {0};

	for (int list = 1; list <= 2; list++) {
		ctx_buf_clear(&numbers);
		for (size_t i = 0; i < (list == 1 ? n_locations : n_values); i++) {
			uint64_t value = list == 1 ? locations[i] : (uint64_t)values[i];

			if (packed)
				ctx_buf_put_varint(&numbers, value);
			else
				put_value(&message, (unsigned)list, value);
		}
		if (packed)
			put_bytes(&message, (unsigned)list, numbers.bytes, numbers.n);
	}
	put_bytes(buf, 2, message.bytes, message.n);
	ctx_buf_deinit(&message);
	ctx_buf_deinit(&numbers);
}

static const char *const strings[] = {"",     "samples", "count",  "cpu",    "microseconds", "/bin/app",
				      "main", "work",	 "app.go", "inline", "beef"};

enum { S_SAMPLES = 1, S_COUNT, S_CPU, S_US, S_APP, S_MAIN, S_WORK, S_FILE, S_INLINE, S_BUILD_ID };

/* main calls work, into which inline is inlined; and code without names. */
static void put_profile(struct ctx_buf *out, bool packed)
{
	static const uint64_t of_main[][2] = {{1, 12}}, of_work[][2] = {{3, 7}, {2, 21}};
	static const uint64_t stack[] = {2, 1}, unnamed[] = {3, 1}, broken[] = {9};

	VALUES(out, 1, S_SAMPLES, S_COUNT);
	VALUES(out, 1, S_CPU, S_US);
	put_sample(out, packed, stack, 2, (int64_t[]){3, 30}, 2);
	put_sample(out, packed, unnamed, 2, (int64_t[]){1, 10}, 2);
	put_sample(out, packed, broken, 1, (int64_t[]){2, -5}, 2);
	VALUES(out, 3, 1, 0x400000, 0x500000, 0x1000, S_APP, S_BUILD_ID);
	put_location(out, 1, 1, 0x400100, of_main, 1);
	put_location(out, 2, 1, 0x400200, of_work, 2);
	put_location(out, 3, 1, 0x400300, NULL, 0);
	VALUES(out, 5, 1, S_MAIN, S_MAIN, S_FILE, 10);
	VALUES(out, 5, 2, S_WORK, S_WORK, S_FILE, 20);
	VALUES(out, 5, 3, S_INLINE, 0, S_FILE, 5);
	for (size_t i = 0; i < CTX_COUNT_OF(strings); i++)
		put_bytes(out, 6, strings[i], strlen(strings[i]));
	put_value(out, 9, UINT64_C(1700000000000000000));
	put_value(out, 10, UINT64_C(2500000000));
	put_value(out, 14, S_CPU);
}

/* --- reading --- */

static void note_sample(struct ctx_buf *out, const struct ctx_event_source *source,
			const struct ctx_event *event, const struct ctx_event_function *functions)
{
	ctx_buf_printf(out, "%s %llu:", source->info.metrics[event->sample.metric].name,
		       (unsigned long long)event->sample.weight);
	for (uint32_t i = 0; i < event->sample.stack.n_frames; i++) {
		uint64_t frame = event->sample.stack.frames[i];

		if (ctx_frame_is_named(frame))
			ctx_buf_printf(out, " %s[%s]:%u", functions[ctx_frame_function(frame)].name,
				       functions[ctx_frame_function(frame)].module,
				       ctx_frame_position(frame));
		else
			ctx_buf_printf(out, " %llx", (unsigned long long)frame);
	}
	ctx_buf_put_text(out, "\n");
}

static enum ctx_status read_all(struct ctx_buf *out)
{
	struct ctx_event_function functions[16] = {{0}};
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status = ctx_pprof_open(path, &source, NULL);

	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < source->info.n_metrics; i++)
		ctx_buf_printf(out, "%s in %s; ", source->info.metrics[i].name,
			       ctx_unit_word(source->info.metrics[i].unit));
	for (size_t i = 0; i < source->info.n_properties; i++)
		ctx_buf_printf(out, "%s=%s; ", source->info.properties[i].key,
			       source->info.properties[i].value);
	ctx_buf_put_text(out, "\n");
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		if (event.kind == CTX_EV_FUNCTION && event.function.id < CTX_COUNT_OF(functions))
			functions[event.function.id] = event.function;
		if (event.kind == CTX_EV_SAMPLE)
			note_sample(out, source, &event, functions);
		if (event.kind == CTX_EV_MAP)
			ctx_buf_printf(out, "map %llx+%llx %s@%llx %s\n",
				       (unsigned long long)event.map.address,
				       (unsigned long long)event.map.size, event.map.path,
				       (unsigned long long)event.map.file_offset, event.map.build_id);
		if (event.kind == CTX_EV_DAMAGE || event.kind == CTX_EV_WARNING)
			ctx_buf_printf(out, "! %s\n", event.text);
	}
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(out, 0);
	return status;
}

static void test_pprof__samples_have_the_frames_and_values_of_the_profile(void **state)
{
	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		struct ctx_buf bytes = {0}, out = {0};

		put_profile(&bytes, packed != 0);
		write_bytes(bytes.bytes, bytes.n);
		assert_true(ctx_pprof_is(path));
		assert_int_equal(read_all(&out), CTX_END);
		assert_string_equal(
			(const char *)out.bytes,
			"cpu in ns; samples in events; start=2023-11-14 22:13:20 UTC; recorded for=2.500 s; "
			"\n"
			"! no times in the file: all samples are at 0\n"
			"map 400000+100000 /bin/app@1000 beef\n"
			"samples 3: inline[/bin/app]:7 work[/bin/app]:21 main[/bin/app]:12\n"
			"cpu 30000: inline[/bin/app]:7 work[/bin/app]:21 main[/bin/app]:12\n"
			"samples 1: 400300 main[/bin/app]:12\n"
			"cpu 10000: 400300 main[/bin/app]:12\n"
			"samples 2: 0\n"
			"! 1 values are negative or impossible (a difference of profiles): left out\n"
			"! 1 frames refer to what is not in the file\n");
		ctx_buf_deinit(&bytes);
		ctx_buf_deinit(&out);
	}
}

/* What a writer calls "<Unknown> [app]" is an address again where it has one in a mapping; a function otherwise. */
static void test_pprof__an_unknown_function_is_its_address(void **state)
{
	static const char *const texts[] = {"",	     "cpu",   "nanoseconds", "/bin/app", "<Unknown> [app]",
					    "known", "<Unk>", "/nowhere"};
	static const uint64_t lines[][2] = {{1, 0}, {2, 3}}, known[][2] = {{2, 0}}, other[][2] = {{3, 0}};
	struct ctx_buf bytes = {0}, out = {0};

	(void)state;
	VALUES(&bytes, 1, 1, 2);
	for (uint64_t i = 1; i <= 6; i++)
		put_sample(&bytes, true, &i, 1, &(int64_t){(int64_t)i}, 1);
	VALUES(&bytes, 3, 1, 0x400000, 0x500000, 0x1000, 3);
	VALUES(&bytes, 3, 2, 0, 0, 0, 7);
	put_location(&bytes, 1, 1, 0x400100, lines, 1);
	put_location(&bytes, 2, 1, 0x500000, lines, 1); /* behind the mapping */
	put_location(&bytes, 3, 2, 0, lines, 1);	/* no addresses there */
	put_location(&bytes, 4, 1, 0x400200, known, 1);
	put_location(&bytes, 5, 1, 0x400300, lines, 2); /* inlined into a known function */
	put_location(&bytes, 6, 1, 0x400400, other, 1);
	VALUES(&bytes, 5, 1, 4);
	VALUES(&bytes, 5, 2, 5);
	VALUES(&bytes, 5, 3, 6);
	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++)
		put_bytes(&bytes, 6, texts[i], strlen(texts[i]));
	write_bytes(bytes.bytes, bytes.n);
	assert_int_equal(read_all(&out), CTX_END);
	assert_string_equal((const char *)out.bytes, "cpu in ns; \n"
						     "! no times in the file: all samples are at 0\n"
						     "map 400000+100000 /bin/app@1000 \n"
						     "cpu 1: 400100\n"
						     "cpu 2: <Unknown> [app][/bin/app]:0\n"
						     "cpu 3: <Unknown> [app][/nowhere]:0\n"
						     "cpu 4: known[/bin/app]:0\n"
						     "cpu 5: <Unknown> [app][/bin/app]:0 known[/bin/app]:3\n"
						     "cpu 6: <Unk>[/bin/app]:0\n");
	ctx_buf_deinit(&bytes);
	ctx_buf_deinit(&out);
}

static void test_pprof__types_of_one_name_and_two_units_are_two_metrics(void **state)
{
	struct ctx_buf bytes = {0}, out = {0};

	(void)state;
	VALUES(&bytes, 1, S_CPU, S_COUNT);
	VALUES(&bytes, 1, S_CPU, S_US);
	put_sample(&bytes, true, NULL, 0, (int64_t[]){3, 30}, 2);
	for (size_t i = 0; i < CTX_COUNT_OF(strings); i++)
		put_bytes(&bytes, 6, strings[i], strlen(strings[i]));
	write_bytes(bytes.bytes, bytes.n);
	assert_int_equal(read_all(&out), CTX_END);
	assert_string_equal((const char *)out.bytes, "cpu (microseconds) in ns; cpu (count) in events; \n"
						     "! no times in the file: all samples are at 0\n"
						     "cpu (count) 3:\ncpu (microseconds) 30000:\n");
	ctx_buf_deinit(&bytes);
	ctx_buf_deinit(&out);
}

static void test_pprof__more_types_than_a_source_has_metrics_are_refused(void **state)
{
	struct ctx_buf bytes = {0}, out = {0};

	(void)state;
	for (uint64_t i = 0; i <= CTX_NAMED_METRICS_MAX; i++)
		VALUES(&bytes, 1, i + 1, S_COUNT);
	write_bytes(bytes.bytes, bytes.n);
	assert_int_equal(read_all(&out), CTX_E_LIMIT);
	ctx_buf_deinit(&bytes);
	ctx_buf_deinit(&out);
}

/* Of a stack that is too deep the leaf's part is there; its samples of two types have the same frames. */
static void test_pprof__a_stack_that_is_too_deep_says_so(void **state)
{
	static uint64_t stack[CTX_NAMED_FRAMES_MAX + 5];
	struct ctx_event_source *source;
	struct ctx_buf bytes = {0};
	struct ctx_event event;
	unsigned n_samples = 0;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(stack); i++)
		stack[i] = i == CTX_NAMED_FRAMES_MAX - 1 ? 2 : 1;
	VALUES(&bytes, 1, S_SAMPLES, S_COUNT);
	VALUES(&bytes, 1, S_CPU, S_US);
	put_sample(&bytes, true, stack, CTX_NAMED_FRAMES_MAX, (int64_t[]){1, 2}, 2);
	put_sample(&bytes, true, stack, CTX_COUNT_OF(stack), (int64_t[]){3, 4}, 2);
	put_location(&bytes, 1, 0, 0x1000, NULL, 0);
	put_location(&bytes, 2, 0, 0x2000, NULL, 0);
	write_bytes(bytes.bytes, bytes.n);
	assert_int_equal(ctx_pprof_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		const uint64_t *frames = event.sample.stack.frames;

		if (event.kind != CTX_EV_SAMPLE)
			continue;
		assert_int_equal(event.sample.stack.n_frames, CTX_NAMED_FRAMES_MAX);
		assert_int_equal(frames[CTX_NAMED_FRAMES_MAX - 2], 0x1000);
		assert_int_equal(frames[CTX_NAMED_FRAMES_MAX - 1],
				 n_samples < 2 ? 0x2000 : ctx_frame_truncated(CTX_TRUNCATED_DEPTH));
		n_samples++;
	}
	assert_int_equal(n_samples, 4);
	source->close(source);
	ctx_buf_deinit(&bytes);
}

/* Any beginning of a profile is a profile with less in it, or damaged. */
static void test_pprof__profiles_cut_anywhere_are_less_or_damaged(void **state)
{
	struct ctx_buf bytes = {0};
	int refused = 0;

	(void)state;
	put_profile(&bytes, true);
	for (size_t n = 0; n < bytes.n; n++) {
		struct ctx_buf out = {0};
		enum ctx_status status;

		write_bytes(bytes.bytes, n);
		status = read_all(&out);
		assert_true(status == CTX_END || status == CTX_E_FORMAT);
		refused += status == CTX_E_FORMAT;
		ctx_buf_deinit(&out);
	}
	assert_true(refused > 100);
	ctx_buf_deinit(&bytes);
}

static void test_pprof__other_files_are_not_taken_for_profiles(void **state)
{
	static const char *const others[] = {"",	 "text\n",    "PERFILE2", "SQLite format 3",
					     "\n\n\n\n", "{\"a\": 1}"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(others); i++) {
		write_bytes(others[i], strlen(others[i]));
		assert_false(ctx_pprof_is(path));
	}
	assert_false(ctx_pprof_is("/no/such/file"));
	assert_false(ctx_pprof_is("/tmp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof__samples_have_the_frames_and_values_of_the_profile),
		cmocka_unit_test(test_pprof__an_unknown_function_is_its_address),
		cmocka_unit_test(test_pprof__types_of_one_name_and_two_units_are_two_metrics),
		cmocka_unit_test(test_pprof__more_types_than_a_source_has_metrics_are_refused),
		cmocka_unit_test(test_pprof__a_stack_that_is_too_deep_says_so),
		cmocka_unit_test(test_pprof__profiles_cut_anywhere_are_less_or_damaged),
		cmocka_unit_test(test_pprof__other_files_are_not_taken_for_profiles),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
