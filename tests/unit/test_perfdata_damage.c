/*
 * The whole source on damaged, truncated or other versions of files: usable data is used, and
 * missing data is reported.
 */
#include "tests/unit/every.h"
#include "tests/unit/perfdata_usual.h"

/* ---- attributes of other versions ---- */

static void test_perfdata_damage__attributes_of_every_size_are_read(void **state)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200, 1024};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		for (int pipe = 0; pipe < 2; pipe++) {
			struct pd_recording recording = {.swap = i % 2 != 0};
			struct pd_place place = usual_place(1, 1, 0, 0);
			struct pd_reading reading;

			pd_add_attr(&recording, PD_USUAL_TYPE, 10)->size = sizes[i];
			recording.attrs[0].flags |= UINT64_C(1) << 60; /* of the future */
			usual_sample(&recording, 0, &place);
			pd_read_form(&recording, &(struct pd_form){.kind = pipe ? PD_PIPE : PD_FILE},
				     &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_int_equal(reading.samples, 1);
			assert_string_equal(pd_lines(&reading.damage), "");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

static void test_perfdata_damage__an_invalid_attribute_is_reported_and_other_events_are_used(void **state)
{
	static const uint32_t sizes[] = {1, 63, 129, 65536, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct pd_recording recording;
		struct pd_reading reading;

		usual(&recording, false);
		recording.attrs[1].size = sizes[i];
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_non_null(strstr(pd_lines(&reading.damage), "an event attribute of"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/*
 * In a file the section of attributes is what counts, also where all records are read for their
 * times.
 */
static void test_perfdata_damage__attributes_among_the_records_are_for_pipes_only(void **state)
{
	struct pd_recording recording = {0};
	struct pd_place place = usual_place(1, 1, 0, 0);
	struct pd_reading reading;

	(void)state;
	pd_add_attr(&recording, PD_USUAL_TYPE, 10);
	pd_begin(&recording, CTX_PD_HEADER_ATTR, 0);
	pd_put_attr(&recording.bytes, false, &(struct pd_attr){.type = PERF_TYPE_HARDWARE}, PD_ATTR_BYTES);
	pd_end(&recording);
	usual_sample(&recording, 0, &place);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE, .open = true}, &reading);
	assert_int_equal(reading.samples, 1);
	assert_string_equal(pd_lines(&reading.head), "duration 1\nmetric cpu-clock (ns)\n");
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/* ---- cut, killed, flipped ---- */

static void test_perfdata_damage__a_recording_of_a_killed_perf_is_used_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(usual_kinds); i++) {
		struct pd_recording recording;
		struct pd_reading reading;

		usual(&recording, false);
		pd_read_form(&recording, &(struct pd_form){.kind = usual_kinds[i], .open = true}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.damage), "");
		assert_string_equal(pd_lines(&reading.events), usual_events);
		assert_int_equal(reading.closed, usual_kinds[i] == PD_PIPE);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/*
 * Whole samples in the first `n` bytes of the records, and whether these end between two records.
 */
static size_t samples_within(const struct pd_recording *recording, size_t n, bool *between)
{
	size_t samples = 0;

	*between = n == 0;
	for (size_t i = 0; i < recording->n; i++) {
		size_t end = pd_end_of(recording, i);

		samples += end <= n && pd_type_at(recording, recording->starts[i]) == PERF_RECORD_SAMPLE;
		*between = *between || end == n;
	}
	return samples;
}

static void test_perfdata_damage__a_file_cut_anywhere_has_all_samples_before_the_cut(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		size_t begin;

		usual(&recording, kind == 1);
		pd_write(&recording, &(struct pd_form){.kind = usual_kinds[kind], .open = true}, &bytes);
		begin = bytes.n - recording.bytes.n;
		for (size_t n = begin; n < bytes.n; n += EVERY) {
			struct ctx_buf cut = {.bytes = bytes.bytes, .n = n};
			struct pd_reading reading;
			bool between;
			size_t want = samples_within(&recording, n - begin, &between);

			pd_read_bytes(&cut, &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_int_equal(reading.samples, want);
			assert_int_equal(reading.n_damage, between ? 0 : 1);
			pd_reading_deinit(&reading);
		}
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/* As in the header. */
static uint64_t end_of_data(const struct ctx_buf *bytes)
{
	uint64_t data[2];

	memcpy(data, bytes->bytes + 40, sizeof(data));
	return data[0] + data[1];
}

/*
 * A truncated closed file is reported: in its header it cannot be opened, after it there is damage.
 */
static void test_perfdata_damage__a_truncated_closed_file_is_reported(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(usual_kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};

		if (usual_kinds[kind] == PD_PIPE)
			continue; /* its intended end is unknown */
		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = usual_kinds[kind]}, &bytes);
		for (size_t n = 0; n < bytes.n; n += EVERY) {
			struct ctx_buf cut = {.bytes = bytes.bytes, .n = n};
			struct pd_reading reading;

			pd_read_bytes(&cut, &reading);
			assert_true(reading.status == CTX_E_FORMAT ||
				    (reading.status == CTX_OK && reading.n_damage > 0));
			assert_true(reading.samples <= USUAL_SAMPLES);
			assert_false(n < end_of_data(&bytes) && reading.closed);
			pd_reading_deinit(&reading);
		}
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/*
 * Whether the changed byte is undetectable: a record of another type is another record, and a
 * record that is not a sample may have any length, even if it ends where another one does.
 */
static bool is_credible(const struct pd_recording *recording, size_t at)
{
	for (size_t i = 0; i < recording->n; i++) {
		size_t start = recording->starts[i];

		if (at - start < 4 ||
		    (at - start - 6 < 2 && pd_type_at(recording, start) != PERF_RECORD_SAMPLE))
			return true;
	}
	return false;
}

static void test_perfdata_damage__a_flipped_bit_never_crashes_or_loses_data_silently(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(usual_kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;
		size_t begin;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = usual_kinds[kind], .open = true}, &bytes);
		begin = bytes.n - recording.bytes.n;
		file = pd_memory_open(&bytes);
		for (size_t bit = 0; bit < bytes.n * 8; bit += EVERY) {
			uint8_t *byte = &bytes.bytes[bit / 8];
			struct pd_reading reading;
			bool in_records = kind < 2 && bit / 8 >= begin;

			*byte ^= (uint8_t)(1u << bit % 8);
			pd_memory_set(&file, bytes.bytes, bytes.n);
			pd_read(file.path, &reading);
			*byte ^= (uint8_t)(1u << bit % 8);
			if (kind < 2)
				assert_true(reading.samples <= USUAL_SAMPLES);
			if (in_records && reading.samples < USUAL_SAMPLES && reading.n_damage == 0 &&
			    !is_credible(&recording, bit / 8 - begin))
				assert_true(strstr(pd_lines(&reading.warnings), "not counted") != NULL ||
					    strstr(pd_lines(&reading.warnings), "longer") != NULL);
			pd_reading_deinit(&reading);
		}
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/* Eight bytes anywhere become an invalid size or position. */
static void test_perfdata_damage__invalid_numbers_never_crash(void **state)
{
	static const uint64_t numbers[] = {0, 4, UINT64_C(0xffffffff), UINT64_C(1) << 32, UINT64_MAX};

	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = usual_kinds[kind]}, &bytes);
		file = pd_memory_open(&bytes);
		for (size_t at = 8; at + 8 <= bytes.n; at += 4 * EVERY) {
			for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++) {
				struct pd_reading reading;
				uint64_t before;

				memcpy(&before, bytes.bytes + at, 8);
				memcpy(bytes.bytes + at, &numbers[i], 8);
				pd_memory_set(&file, bytes.bytes, bytes.n);
				pd_read(file.path, &reading);
				assert_true(reading.status == CTX_OK || reading.status == CTX_E_FORMAT);
				assert_true(reading.samples <= USUAL_SAMPLES);
				pd_reading_deinit(&reading);
				memcpy(bytes.bytes + at, &before, 8);
			}
		}
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_damage__reading_continues_after_an_invalid_record(void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 9, 100, 0xffff};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct pd_recording recording = {0};
		struct pd_reading reading;

		pd_add_attr(&recording, PD_USUAL_TYPE, 10);
		for (uint64_t t = 0; t < 2000; t++) {
			struct pd_place place = usual_place(1, 1, t, 0);

			usual_sample(&recording, 0, &place);
		}
		memcpy(recording.bytes.bytes + recording.starts[500] + 6, &sizes[i], 2);
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_true(reading.n_damage > 0);
		/* A size of 64 kB takes as much with it, the others one record or two. */
		assert_in_range(reading.samples,
				sizes[i] == 0xffff ? 2000 - 65536 / recording.starts[1] - 3 : 1997, 1999);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_damage__damaged_features_are_reported(void **state)
{
	struct pd_recording recording;
	struct pd_reading reading;

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		usual(&recording, false);
		memset(recording.features[0].bytes.bytes, 0xff, 4); /* the length of the host's name */
		pd_read_form(&recording, &(struct pd_form){.kind = pipe ? PD_PIPE : PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.events), usual_events);
		assert_non_null(strstr(pd_lines(&reading.damage), "name of the host"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_damage__a_damaged_compressed_record_is_reported_and_the_rest_is_read(void **state)
{
	struct pd_recording recording;
	struct ctx_buf bytes = {0};
	size_t at;

	(void)state;
	usual(&recording, false);
	pd_write(&recording, &(struct pd_form){.kind = PD_COMPRESSED, .open = true}, &bytes);
	at = 104 + 3 * 8 + 2 * (PD_ATTR_BYTES + 16) + 8; /* in the first one: the magic number of zstd */
	bytes.bytes[at] ^= 0xff;
	{
		struct pd_reading reading;

		pd_read_bytes(&bytes, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_int_equal(reading.samples, 0);
		assert_non_null(strstr(pd_lines(&reading.damage), "cannot be unpacked"));
		pd_reading_deinit(&reading);
	}
	ctx_buf_deinit(&bytes);
	pd_recording_deinit(&recording);
}

static void test_perfdata_damage__processes_that_begot_each_other_do_not_hang_it(void **state)
{
	(void)state;
	for (int32_t n = 1; n < 6; n++) {
		struct pd_recording recording = {0};
		struct pd_place place = usual_place(100, 100, 5, 0);
		struct pd_reading reading;

		pd_add_attr(&recording, PD_USUAL_TYPE, 10);
		for (int32_t i = 0; i < n; i++)
			pd_task(&recording, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC,
				&(struct pd_place){.pid = 100 + i, .tid = 100 + i}, 100 + (i + 1) % n);
		usual_sample(&recording, 0, &place);
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.samples, 1);
		assert_int_equal(reading.n_processes, n);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_damage__attributes_of_every_size_are_read),
		cmocka_unit_test(
			test_perfdata_damage__an_invalid_attribute_is_reported_and_other_events_are_used),
		cmocka_unit_test(test_perfdata_damage__attributes_among_the_records_are_for_pipes_only),
		cmocka_unit_test(test_perfdata_damage__a_recording_of_a_killed_perf_is_used_whole),
		cmocka_unit_test(test_perfdata_damage__a_file_cut_anywhere_has_all_samples_before_the_cut),
		cmocka_unit_test(test_perfdata_damage__a_truncated_closed_file_is_reported),
		cmocka_unit_test(test_perfdata_damage__a_flipped_bit_never_crashes_or_loses_data_silently),
		cmocka_unit_test(test_perfdata_damage__invalid_numbers_never_crash),
		cmocka_unit_test(test_perfdata_damage__reading_continues_after_an_invalid_record),
		cmocka_unit_test(test_perfdata_damage__damaged_features_are_reported),
		cmocka_unit_test(
			test_perfdata_damage__a_damaged_compressed_record_is_reported_and_the_rest_is_read),
		cmocka_unit_test(test_perfdata_damage__processes_that_begot_each_other_do_not_hang_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
