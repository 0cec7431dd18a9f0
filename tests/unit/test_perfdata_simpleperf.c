/*
 * What Android's simpleperf adds: symbols in two forms, names of events, records with a size of 32
 * bits, formats of tracepoints among the records.
 */
#include "base/protobuf.h"
#include "tests/unit/perfdata_reading.h"

#define SAMPLE_TIME UINT64_C(7000000001000)

/* --- Protocol Buffers --- */

static void test_perfdata_simpleperf__fields_of_every_kind_are_read(void **state)
{
	static const uint8_t message[] = {
		0x08, 0x96, 0x01,							/* 1: 150 */
		0x11, 1,    2,	  3,	4,    5,    6,	  7,	8,			/* 2: 64 bits */
		0x1d, 1,    2,	  3,	4,						/* 3: 32 bits */
		0x22, 3,    'a',  'b',	'c',						/* 4: text */
		0xa0, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 100: all ones */
	};
	struct ctx_protobuf in = ctx_protobuf_make(message, sizeof(message));
	struct ctx_protobuf_field field;

	(void)state;
	assert_true(ctx_protobuf_next(&in, &field));
	assert_int_equal(field.number, 1);
	assert_int_equal(field.value, 150);
	assert_true(ctx_protobuf_next(&in, &field));
	assert_int_equal(field.value, UINT64_C(0x0807060504030201));
	assert_true(ctx_protobuf_next(&in, &field));
	assert_int_equal(field.value, 0x04030201);
	assert_true(ctx_protobuf_next(&in, &field));
	assert_true(field.is_bytes);
	assert_int_equal(field.n, 3);
	assert_memory_equal(field.bytes, "abc", 3);
	assert_true(ctx_protobuf_next(&in, &field));
	assert_int_equal(field.number, 100);
	assert_int_equal(field.value, UINT64_MAX);
	assert_false(ctx_protobuf_next(&in, &field));
	assert_false(in.failed);
	for (size_t n = 1; n < sizeof(message);
	     n++) { /* cut anywhere: whole fields, then the end or a failure */
		uint8_t *copy = malloc(n);
		bool whole = n == 3 || n == 12 || n == 17 || n == 22;

		assert_non_null(copy);
		memcpy(copy, message, n);
		in = ctx_protobuf_make(copy, n);
		while (ctx_protobuf_next(&in, &field))
			;
		assert_int_equal(in.failed, !whole);
		free(copy);
	}
}

/* --- files --- */

static void begin(struct pd_recording *recording, bool swap)
{
	struct pd_attr *attr;

	*recording = (struct pd_recording){.swap = swap};
	attr = pd_add_attr(recording, PD_USUAL_TYPE, 10);
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
}

static void put_sample(struct pd_recording *recording)
{
	pd_sample(recording, &(struct pd_sample){.place = {.pid = 100, .tid = 100, .time = SAMPLE_TIME},
						 .ip = 0x400000,
						 .period = 1});
}

static void put_symbol(struct ctx_buf *buf, bool swap, uint64_t address, uint32_t size, const char *name)
{
	pd_u64(buf, swap, address);
	pd_u32(buf, swap, size);
	pd_text(buf, name, 1);
}

/* Into FILE: a library whose code is at 0x1000 of the file and has addresses from 0x5000. */
static void put_library(struct ctx_buf *out, bool swap, bool with_offset)
{
	struct ctx_buf file = {0};

	pd_text(&file, "/system/lib64/libx.so", 1);
	pd_u32(&file, swap, 2);
	pd_u64(&file, swap, 0x5000);
	pd_u32(&file, swap, 2);
	put_symbol(&file, swap, 0x5100, 0x20, "_Z3fooi");
	put_symbol(&file, swap, 0x5200, 0x10, "__dl_bar");
	if (with_offset)
		pd_u64(&file, swap, 0x1000);
	pd_u32(out, swap, (uint32_t)file.n);
	ctx_buf_put(out, file.bytes, file.n);
	ctx_buf_deinit(&file);
}

static void put_varint_field(struct ctx_buf *buf, uint8_t number, uint64_t value)
{
	ctx_buf_put_u8(buf, (uint8_t)(number << 3));
	ctx_buf_put_varint(buf, value);
}

static void put_bytes_field(struct ctx_buf *buf, uint8_t number, const void *bytes, size_t n)
{
	ctx_buf_put_u8(buf, (uint8_t)(number << 3 | 2));
	ctx_buf_put_varint(buf, n);
	ctx_buf_put(buf, bytes, n);
}

/* The same library as a message. */
static void put_library2(struct ctx_buf *out, bool swap)
{
	struct ctx_buf file = {0}, symbol = {0}, elf = {0};

	put_varint_field(&symbol, 1, 0x5100);
	put_varint_field(&symbol, 2, 0x20);
	put_bytes_field(&symbol, 3, "_Z3fooi", 7);
	put_varint_field(&elf, 1, 0x1000);
	put_bytes_field(&file, 1, "/system/lib64/libx.so", 21);
	put_varint_field(&file, 2, 2);
	put_varint_field(&file, 3, 0x5000);
	put_bytes_field(&file, 4, symbol.bytes, symbol.n);
	ctx_buf_clear(&symbol);
	put_varint_field(&symbol, 1, 0x5200);
	put_varint_field(&symbol, 2, 0x10);
	put_bytes_field(&symbol, 3, "__dl_bar", 8);
	put_bytes_field(&file, 4, symbol.bytes, symbol.n);
	put_bytes_field(&file, 6, elf.bytes, elf.n);
	pd_u32(out, swap, (uint32_t)file.n);
	ctx_buf_put(out, file.bytes, file.n);
	ctx_buf_deinit(&file);
	ctx_buf_deinit(&symbol);
	ctx_buf_deinit(&elf);
}

static struct ctx_event_source *open_recording(const struct pd_recording *recording, char *path)
{
	struct ctx_event_source *source;
	struct ctx_buf bytes = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	pd_write(recording, &(struct pd_form){.kind = PD_FILE}, &bytes);
	assert_int_equal(write(fd, bytes.bytes, bytes.n), bytes.n);
	close(fd);
	assert_int_equal(ctx_perfdata_open(path, &source, NULL), CTX_OK);
	unlink(path);
	ctx_buf_deinit(&bytes);
	return source;
}

static void check_library(const struct ctx_source_info *info, uint64_t to_address)
{
	const struct ctx_source_symbols *library = &info->symbols[0];

	assert_int_equal(info->n_symbols, 1);
	assert_string_equal(library->path, "/system/lib64/libx.so");
	assert_int_equal(library->to_address, to_address);
	assert_int_equal(library->n, 2);
	assert_int_equal(library->items[0].address, 0x5100);
	assert_int_equal(library->items[0].size, 0x20);
	assert_string_equal(library->items[0].name, "_Z3fooi");
	assert_int_equal(library->items[1].address, 0x5200);
	assert_string_equal(library->items[1].name, "bar"); /* as the linker's sources have it */
}

static void test_perfdata_simpleperf__both_forms_of_symbols_say_the_same(void **state)
{
	(void)state;
	for (int form = 0; form < 3; form++) {
		for (int swap = 0; swap < 2; swap++) {
			char path[] = "/tmp/test_simpleperf.XXXXXX";
			struct ctx_event_source *source;
			struct pd_recording recording;
			struct ctx_buf *feature;

			begin(&recording, swap != 0);
			feature = pd_add_feature(&recording, form == 2 ? CTX_PD_FEATURE_SIMPLEPERF_FILE2
								       : CTX_PD_FEATURE_SIMPLEPERF_FILE);
			if (form == 2)
				put_library2(feature, swap != 0);
			else
				put_library(feature, swap != 0, form == 1);
			put_sample(&recording);
			source = open_recording(&recording, path);
			check_library(&source->info, form == 0 ? 0x5000 : 0x4000);
			source->close(source);
			pd_recording_deinit(&recording);
		}
	}
}

/* A path that comes twice counts once, and what is behind the damage does not undo what is before. */
static void test_perfdata_simpleperf__files_are_sorted_and_damage_is_said(void **state)
{
	char path[] = "/tmp/test_simpleperf.XXXXXX";
	struct ctx_event_source *source;
	struct pd_recording recording;
	struct ctx_buf *feature;
	struct ctx_event event;

	(void)state;
	begin(&recording, false);
	feature = pd_add_feature(&recording, CTX_PD_FEATURE_SIMPLEPERF_FILE);
	put_library(feature, false, true);
	put_library(feature, false, true);
	pd_u32(feature, false, 1000); /* more than there is */
	put_sample(&recording);
	source = open_recording(&recording, path);
	check_library(&source->info, 0x4000);
	assert_int_equal(source->next(source, &event, NULL), CTX_OK);
	assert_int_equal(event.kind, CTX_EV_DAMAGE);
	assert_non_null(strstr(event.text, "cut short"));
	source->close(source);
	pd_recording_deinit(&recording);
}

/* Every cut of a feature, and a count of billions: a line of damage, never a crash. */
static void test_perfdata_simpleperf__features_cut_anywhere_are_damage(void **state)
{
	(void)state;
	for (int form = 1; form < 3; form++) {
		struct ctx_buf bytes = {0};

		if (form == 2)
			put_library2(&bytes, false);
		else
			put_library(&bytes, false, true);
		for (size_t n = 1; n < bytes.n; n++) {
			struct ctx_pd_simpleperf simpleperf = {0};
			struct ctx_arena arena = {0};
			uint8_t *copy = malloc(n);
			struct ctx_pe_wire wire;

			assert_non_null(copy);
			memcpy(copy, bytes.bytes, n);
			wire = ctx_pe_wire_make(copy, n, false);
			assert_int_equal(ctx_pd_simpleperf_read(&simpleperf, &arena,
								form == 2 ? CTX_PD_FEATURE_SIMPLEPERF_FILE2
									  : CTX_PD_FEATURE_SIMPLEPERF_FILE,
								&wire, NULL),
					 CTX_E_FORMAT);
			assert_int_equal(simpleperf.n_files, 0);
			ctx_pd_simpleperf_deinit(&simpleperf);
			ctx_arena_deinit(&arena);
			free(copy);
		}
		ctx_buf_deinit(&bytes);
	}
}

/* --- events and records --- */

static void put_meta(struct pd_recording *recording)
{
	struct ctx_buf *meta = pd_add_feature(recording, CTX_PD_FEATURE_SIMPLEPERF_META);

	pd_text(meta, "simpleperf_version", 1);
	pd_text(meta, "1.build.7", 1);
	pd_text(meta, "event_type_info", 1);
	pd_text(meta, "sched:sched_switch,2,47\ncpu-cycles,0,0\n", 1);
}

/* Longer than 64 KiB: the size of such a record is in two halves. */
static void put_own_record(struct pd_recording *recording, uint32_t size)
{
	struct ctx_buf *buf = &recording->bytes;

	pd_u32(buf, recording->swap, CTX_PD_SIMPLEPERF_FIRST + 6);
	pd_u16(buf, recording->swap, (uint16_t)(size >> 16));
	pd_u16(buf, recording->swap, (uint16_t)size);
	pd_zeros(buf, size - CTX_PE_HEADER_BYTES);
}

static void test_perfdata_simpleperf__records_and_names_of_its_own_are_understood(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct pd_recording recording;
		struct pd_reading reading;

		begin(&recording, swap != 0);
		put_meta(&recording);
		for (uint32_t size = 8; size < 0x30000; size = size * 3 + 1) {
			put_own_record(&recording, size);
			put_sample(&recording);
		}
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.damage), "");
		assert_int_equal(reading.samples, 10);
		assert_non_null(strstr(pd_lines(&reading.head), "metric cpu-cycles "));
		assert_non_null(strstr(reading.properties, "collector=simpleperf 1.build.7\n"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/* "tracing" data with the format of one tracepoint, number 47. */
static void put_tracing(struct ctx_buf *buf, bool swap)
{
	static const char format[] = "name: mine\nID: 47\nformat:\n";

	ctx_buf_put(buf, "\x17\x08\x44tracing0.5", 14);
	ctx_buf_put_u8(buf, pd_is_big_endian(swap));
	ctx_buf_put_u8(buf, 8);
	pd_u32(buf, swap, 4096);
	pd_text(buf, "header_page", 1);
	pd_u64(buf, swap, 0);
	pd_text(buf, "header_event", 1);
	pd_u64(buf, swap, 0);
	pd_u32(buf, swap, 0);
	pd_u32(buf, swap, 1);
	pd_text(buf, "own", 1);
	pd_u32(buf, swap, 1);
	pd_u64(buf, swap, strlen(format));
	ctx_buf_put(buf, format, strlen(format));
}

/* The first record: of perf's type with the data inside, or in parts. */
static void put_first(struct pd_recording *recording, bool parts)
{
	uint32_t type = parts ? CTX_PD_SIMPLEPERF_TRACING : CTX_PD_HEADER_TRACING_DATA;
	struct ctx_buf data = {0}, record = {0};

	put_tracing(&data, recording->swap);
	pd_u32(&record, recording->swap, type);
	pd_u32(&record, recording->swap, 0);
	pd_u32(&record, recording->swap, (uint32_t)data.n);
	ctx_buf_put(&record, data.bytes, data.n);
	if (!parts) {
		pd_begin(recording, type, 0);
		ctx_buf_put(&recording->bytes, record.bytes + CTX_PE_HEADER_BYTES,
			    record.n - CTX_PE_HEADER_BYTES);
		pd_end(recording);
	}
	for (size_t at = 0; parts && at < record.n; at += 50) {
		pd_begin(recording, CTX_PD_SIMPLEPERF_SPLIT, 0);
		ctx_buf_put(&recording->bytes, record.bytes + at, record.n - at < 50 ? record.n - at : 50);
		pd_end(recording);
	}
	if (parts) {
		pd_begin(recording, CTX_PD_SIMPLEPERF_SPLIT_END, 0);
		pd_end(recording);
	}
	ctx_buf_deinit(&data);
	ctx_buf_deinit(&record);
}

static void test_perfdata_simpleperf__tracepoints_are_named_by_the_first_record(void **state)
{
	(void)state;
	for (int parts = 0; parts < 2; parts++) {
		for (int swap = 0; swap < 2; swap++) {
			struct pd_recording recording;
			struct pd_reading reading;

			begin(&recording, swap != 0);
			recording.attrs[0].type = PERF_TYPE_TRACEPOINT;
			recording.attrs[0].config = 47;
			put_first(&recording, parts != 0);
			put_sample(&recording);
			pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_string_equal(pd_lines(&reading.damage), "");
			assert_int_equal(reading.samples, 1);
			assert_non_null(strstr(pd_lines(&reading.head), "metric own:mine "));
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

/* perf's file without ids: the names are in the order of the events. */
static void test_perfdata_simpleperf__names_without_ids_are_those_of_the_same_place(void **state)
{
	struct pd_recording recording;
	struct pd_reading reading;

	(void)state;
	begin(&recording, false);
	recording.attrs[0].n_ids = 0;
	recording.attrs[0].name = "cpu/mem-loads/pp";
	pd_add_event_names(&recording);
	put_sample(&recording);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_non_null(strstr(pd_lines(&reading.head), "metric cpu/mem-loads/pp "));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_simpleperf__fields_of_every_kind_are_read),
		cmocka_unit_test(test_perfdata_simpleperf__both_forms_of_symbols_say_the_same),
		cmocka_unit_test(test_perfdata_simpleperf__files_are_sorted_and_damage_is_said),
		cmocka_unit_test(test_perfdata_simpleperf__features_cut_anywhere_are_damage),
		cmocka_unit_test(test_perfdata_simpleperf__records_and_names_of_its_own_are_understood),
		cmocka_unit_test(test_perfdata_simpleperf__tracepoints_are_named_by_the_first_record),
		cmocka_unit_test(test_perfdata_simpleperf__names_without_ids_are_those_of_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
