/*
 * The records of one file: complete at every boundary of the reader's chunks, compressed or not,
 * and found again after damage.
 */
#include "formats/perfdata/pd_stream.h"
#include "tests/unit/every.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/perfdata_files.h"

struct scene {
	struct pd_recording recording; /* what was written, and what should come out */
	struct ctx_buf bytes;	       /* of the file */
	struct pd_memory_file file;
	struct ctx_pd_stream stream;
};

static void init_stream(struct scene *scene, size_t n)
{
	ctx_pd_stream_init(&scene->stream,
			   &(struct ctx_pd_part){.fd = scene->file.fd, .name = "data", .end = n},
			   scene->recording.swap);
}

static void open_stream(struct scene *scene, const struct ctx_buf *bytes)
{
	scene->file = pd_memory_open(bytes);
	init_stream(scene, bytes->n);
}

static void end(struct scene *scene)
{
	ctx_pd_stream_deinit(&scene->stream);
	pd_memory_close(&scene->file);
	ctx_buf_deinit(&scene->bytes);
	pd_recording_deinit(&scene->recording);
}

/* Records of all sizes, most of them small; some with data behind them. */
static void draw(struct pd_recording *recording, uint64_t seed, size_t bytes, bool extra)
{
	while (recording->bytes.n < bytes) {
		uint64_t size = pd_random(&seed, 20) == 0 ? pd_random(&seed, 65528) : pd_random(&seed, 200);

		pd_begin(recording, PERF_RECORD_SAMPLE, (uint16_t)pd_random(&seed, 65536));
		for (uint64_t i = 0; i < size; i++)
			ctx_buf_put_u8(&recording->bytes, (uint8_t)pd_random(&seed, 256));
		pd_end(recording);
		if (extra && pd_random(&seed, 30) == 0)
			pd_auxtrace(recording, pd_random(&seed, 4) == 0 ? pd_random(&seed, 3u << 20)
									: pd_random(&seed, 100));
	}
}

static void check_record(const struct pd_recording *recording, size_t i, const struct ctx_pd_record *record)
{
	const uint8_t *want = recording->bytes.bytes + recording->starts[i];
	struct perf_event_header header = ctx_pe_header_read(want, recording->swap);

	assert_int_equal(record->header.type, header.type);
	assert_int_equal(record->header.misc, header.misc);
	assert_int_equal(record->header.size, header.size);
	assert_memory_equal(record->bytes, want, header.size);
}

/*
 * All records come in order and unharmed. Every seventh is held for a while, and must stay as it
 * is.
 */
static void check_all(struct scene *scene)
{
	struct ctx_pd_record held[100] = {0}, record;
	size_t held_at[100] = {0}, n = 0;
	enum ctx_status status;

	while ((status = ctx_pd_stream_next(&scene->stream, &record, NULL)) == CTX_OK) {
		size_t slot = n / 7 % 100;

		assert_string_equal(scene->stream.damage, "");
		assert_true(n < scene->recording.n);
		check_record(&scene->recording, n, &record);
		if (n % 7 == 0) {
			if (held[slot].chunk != NULL) {
				check_record(&scene->recording, held_at[slot], &held[slot]);
				ctx_pd_chunk_drop(held[slot].chunk);
			}
			held[slot] = record;
			held_at[slot] = n;
			record.chunk->references++;
		}
		n++;
	}
	assert_int_equal(status, CTX_END);
	assert_string_equal(scene->stream.damage, "");
	assert_int_equal(n, scene->recording.n);
	assert_int_equal(scene->stream.n_records >= n, true);
	for (size_t i = 0; i < 100; i++) {
		if (held[i].chunk != NULL)
			check_record(&scene->recording, held_at[i], &held[i]);
		ctx_pd_chunk_drop(held[i].chunk);
	}
}

static void test_perfdata_stream__records_of_every_size_are_complete(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 12; seed++) {
		struct scene scene = {.recording = {.swap = seed % 2 != 0}};

		draw(&scene.recording, seed, seed < 4 ? 1000 * (seed + 1) : (size_t)4 << 20, seed % 3 != 0);
		open_stream(&scene, &scene.recording.bytes);
		check_all(&scene);
		end(&scene);
	}
}

static void test_perfdata_stream__compressed_records_are_complete(void **state)
{
	static const size_t pieces[] = {1, 8, 100, 1000, 2048};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(pieces); i++) {
		for (int kind = PD_COMPRESSED; kind <= PD_COMPRESSED2; kind++) {
			struct scene scene = {.recording = {.swap = i % 2 != 0}};
			struct pd_form form = {.kind = (enum pd_kind)kind, .packed_from = pieces[i]};

			draw(&scene.recording, i, pieces[i] * 2000 + 3000, i % 3 != 0);
			pd_pack(&scene.recording, &form, &scene.bytes);
			open_stream(&scene, &scene.bytes);
			check_all(&scene);
			assert_true(scene.stream.n_compressed > 1);
			end(&scene);
		}
	}
}

/* One packed record of `n` that are 1008 bytes each. The frame stays open, as perf leaves it. */
static void check_packed_whole(size_t n)
{
	struct scene scene = {0};
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_outBuffer packed = {malloc(60000), 60000, 0};
	ZSTD_inBuffer in = {0};

	assert_true(zstd != NULL && packed.dst != NULL);
	for (size_t i = 0; i < n; i++) {
		pd_begin(&scene.recording, PERF_RECORD_SAMPLE, 0);
		pd_zeros(&scene.recording.bytes, 1000);
		pd_end(&scene.recording);
	}
	in.src = scene.recording.bytes.bytes;
	in.size = scene.recording.bytes.n;
	assert_int_equal(ZSTD_compressStream2(zstd, &packed, &in, ZSTD_e_flush), 0);
	pd_u32(&scene.bytes, false, CTX_PD_COMPRESSED);
	pd_u16(&scene.bytes, false, 0);
	pd_u16(&scene.bytes, false, (uint16_t)(packed.pos + 8));
	ctx_buf_put(&scene.bytes, packed.dst, packed.pos);
	ZSTD_freeCCtx(zstd);
	free(packed.dst);
	open_stream(&scene, &scene.bytes);
	check_all(&scene);
	end(&scene);
}

/*
 * More than one chunk holds, and just as much: all packed bytes are used up then, and still there
 * is more to come.
 */
static void test_perfdata_stream__a_packed_record_may_hold_megabytes(void **state)
{
	(void)state;
	check_packed_whole(5000);
	for (size_t n = 1000; n < 1200; n += 9)
		check_packed_whole(n);
}

static void test_perfdata_stream__formats_of_tracepoints_behind_a_record_are_passed_over(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++) {
		struct scene scene = {.recording = {.swap = n % 2 != 0}};

		draw(&scene.recording, n, 500, false);
		pd_u32(pd_begin(&scene.recording, CTX_PD_HEADER_TRACING_DATA, 0), scene.recording.swap, n);
		pd_end(&scene.recording);
		for (uint32_t i = 0; i < (n + 7) / 8 * 8; i++)
			ctx_buf_put_u8(&scene.recording.bytes, 0xfe);
		draw(&scene.recording, n, 3000, false);
		open_stream(&scene, &scene.recording.bytes);
		check_all(&scene);
		end(&scene);
	}
}

/* ---- ends ---- */

static size_t count_records(struct scene *scene, size_t *ret_damage)
{
	struct ctx_pd_record record;
	enum ctx_status status;
	size_t n = 0;

	*ret_damage = 0;
	while ((status = ctx_pd_stream_next(&scene->stream, &record, NULL)) == CTX_OK) {
		*ret_damage += scene->stream.damage[0] != '\0';
		n++;
	}
	assert_int_equal(status, CTX_END);
	*ret_damage += scene->stream.damage[0] != '\0';
	assert_int_equal(ctx_pd_stream_next(&scene->stream, &record, NULL), CTX_END);
	assert_string_equal(scene->stream.damage, "");
	return n;
}

static void test_perfdata_stream__a_cut_anywhere_leaves_what_is_before_it(void **state)
{
	struct pd_recording recording = {0};

	(void)state;
	draw(&recording, 3, 1500, false);
	for (size_t n = 0; n <= recording.bytes.n; n += EVERY) {
		struct ctx_buf cut = {.bytes = recording.bytes.bytes, .n = n};
		struct scene scene = {0};
		size_t want = 0, damage;

		while (want < recording.n && pd_end_of(&recording, want) <= n)
			want++;
		open_stream(&scene, &cut);
		assert_int_equal(count_records(&scene, &damage), want);
		assert_int_equal(damage, n != (want != 0 ? pd_end_of(&recording, want - 1) : 0));
		end(&scene);
	}
	pd_recording_deinit(&recording);
}

static void test_perfdata_stream__a_packed_stream_cut_anywhere_ends_with_damage_or_between_records(
	void **state)
{
	struct pd_recording recording = {0};
	struct ctx_buf bytes = {0};
	struct pd_form form = {.kind = PD_COMPRESSED, .packed_from = 77};
	size_t last = 0;

	(void)state;
	draw(&recording, 4, 1500, false);
	pd_pack(&recording, &form, &bytes);
	for (size_t n = 0; n <= bytes.n; n++) {
		struct ctx_buf cut = {.bytes = bytes.bytes, .n = n};
		struct scene scene = {0};
		size_t got, damage;

		open_stream(&scene, &cut);
		got = count_records(&scene, &damage);
		assert_true(got >= last && got <= recording.n);
		assert_true(damage <= 2);
		last = got;
		if (n == bytes.n)
			assert_int_equal(damage, 0);
		end(&scene);
	}
	assert_int_equal(last, recording.n);
	ctx_buf_deinit(&bytes);
	pd_recording_deinit(&recording);
}

static void test_perfdata_stream__a_file_that_became_shorter_ends_where_it_does(void **state)
{
	struct scene scene = {0};
	size_t damage;

	(void)state;
	draw(&scene.recording, 5, 5000, false);
	open_stream(&scene, &scene.recording.bytes);
	scene.stream.end = UINT64_C(1) << 40;
	assert_int_equal(count_records(&scene, &damage), scene.recording.n);
	assert_int_equal(damage, 0);
	end(&scene);
}

static void test_perfdata_stream__data_past_the_end_is_reported(void **state)
{
	static const uint64_t sizes[] = {101, 1u << 20, UINT64_C(1) << 32, INT64_MAX, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct scene scene = {.recording = {.swap = i % 2 != 0}};
		size_t damage;

		draw(&scene.recording, 5, 5000, false);
		pd_auxtrace(&scene.recording, 100);
		pd_patch64(&scene.recording.bytes, scene.recording.swap,
			   scene.recording.starts[scene.recording.n - 1] + 8, sizes[i]);
		open_stream(&scene, &scene.recording.bytes);
		assert_int_equal(count_records(&scene, &damage), scene.recording.n);
		assert_int_equal(damage, 1);
		end(&scene);
	}
}

/* ---- damage ---- */

/* Records with unique numbers. */
static void put_numbered(struct pd_recording *recording, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		pd_u64(pd_begin(recording, PERF_RECORD_SAMPLE, 0), recording->swap, i);
		pd_zeros(&recording->bytes, size - 16);
		pd_end(recording);
	}
}

/* Garbage in the file: records before it, and well after it, are read, and it is reported. */
static void test_perfdata_stream__records_behind_garbage_are_found_again(void **state)
{
	const size_t n = 4000, size = 48;

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct scene scene = {.recording = {.swap = seed % 2 != 0}};
		uint64_t drawn = seed;
		size_t first = 1000, records = 1 + pd_random(&drawn, 50), damage = 0, got = 0, last = 0;
		struct ctx_pd_record record;

		put_numbered(&scene.recording, n, size);
		for (size_t i = 0; i < records * size; i++)
			scene.recording.bytes.bytes[first * size + i] = (uint8_t)pd_random(&drawn, 256);
		/*
		 * So that the garbage is seen to be some, and does not look like a longer record.
		 */
		memset(scene.recording.bytes.bytes + first * size, 0, 8);
		open_stream(&scene, &scene.recording.bytes);
		while (ctx_pd_stream_next(&scene.stream, &record, NULL) == CTX_OK) {
			struct perf_event_header header = record.header;

			damage += scene.stream.damage[0] != '\0';
			if (header.size != size || record.offset % size != 0)
				continue; /* garbage that looks like a record */
			last = record.offset / size;
			got++;
			if (got <= first)
				assert_int_equal(last, got - 1);
		}
		assert_true(damage >= 1);
		assert_int_equal(last, n - 1);
		assert_true(got >= n - records - 65536 / size - 4 && got <= n);
		end(&scene);
	}
}

static void test_perfdata_stream__a_record_that_cannot_be_costs_itself_alone(void **state)
{
	static const struct {
		size_t at;
		uint8_t bytes[4];
		size_t n;
	} defects[] = {
		{6, {0, 0}, 2},		/* no size */
		{6, {4, 0}, 2},		/* less than its header */
		{0, {0, 0, 0, 0}, 4},	/* no type */
		{0, {200, 0, 0, 0}, 4}, /* none that there is */
		{0, {0xff, 0xff, 0xff, 0xff}, 4},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(defects); i++) {
		struct scene scene = {0};
		size_t damage;

		put_numbered(&scene.recording, 100, 64);
		memcpy(scene.recording.bytes.bytes + 64 * 50 + defects[i].at, defects[i].bytes, defects[i].n);
		open_stream(&scene, &scene.recording.bytes);
		assert_int_equal(count_records(&scene, &damage), 99);
		assert_int_equal(damage, 1);
		end(&scene);
	}
}

/*
 * Wherever the damaged one lies in what is read at a time: a large record behind it may not be
 * there whole yet.
 */
static void test_perfdata_stream__damage_at_the_end_of_a_chunk_costs_no_more_than_elsewhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < 60; i++) {
		struct scene scene = {0};
		size_t damage;

		put_numbered(&scene.recording, 60, 60000);
		memset(scene.recording.bytes.bytes + scene.recording.starts[i] + 6, 0, 2);
		open_stream(&scene, &scene.recording.bytes);
		assert_int_equal(count_records(&scene, &damage), 59);
		assert_int_equal(damage, 1);
		end(&scene);
	}
}

static void test_perfdata_stream__failed_decompression_is_reported(void **state)
{
	struct scene scene = {0};
	struct pd_form form = {.kind = PD_COMPRESSED, .packed_from = 500};
	size_t damage;

	(void)state;
	put_numbered(&scene.recording, 100, 64);
	pd_pack(&scene.recording, &form, &scene.bytes);
	memset(scene.bytes.bytes + 8, 0xee, 4); /* no zstd */
	open_stream(&scene, &scene.bytes);
	assert_int_equal(count_records(&scene, &damage), 0);
	assert_int_equal(damage, 1);
	end(&scene);
}

/* Where the first `n` records of a file end. */
static size_t end_of_packed(const struct ctx_buf *bytes, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		at += ctx_pe_header_read(bytes->bytes + at, false).size;
	assert_true(at < bytes->n);
	return at;
}

/*
 * A stream breaks off within a record, another one begins: it can be unpacked, and is not joined
 * with that record.
 */
static void test_perfdata_stream__decompression_continues_with_the_next_stream(void **state)
{
	struct scene scene = {0};
	struct pd_form form = {.kind = PD_COMPRESSED, .packed_from = 100}; /* records of 64: split */
	struct ctx_pd_record record;
	size_t got = 0, last = 0, half, damage = 0;

	(void)state;
	put_numbered(&scene.recording, 20, 64);
	pd_pack(&scene.recording, &form, &scene.bytes);
	scene.bytes.n = end_of_packed(&scene.bytes, 12); /* 1200 bytes: 18 records and 48 bytes */
	half = scene.bytes.n;
	pd_u32(&scene.bytes, false, CTX_PD_COMPRESSED);
	pd_u16(&scene.bytes, false, 0);
	pd_u16(&scene.bytes, false, 12);
	pd_u32(&scene.bytes, false, 0xeeeeeeee); /* breaks the first */
	{
		struct ctx_buf second = {0};

		pd_pack(&scene.recording, &form, &second);
		ctx_buf_put(&scene.bytes, second.bytes, second.n);
		ctx_buf_deinit(&second);
	}
	open_stream(&scene, &scene.bytes);
	while (ctx_pd_stream_next(&scene.stream, &record, NULL) == CTX_OK) {
		uint64_t number;

		damage += scene.stream.damage[0] != '\0';
		memcpy(&number, record.bytes + 8, sizeof(number));
		assert_int_equal(record.header.size, 64);
		assert_int_equal(number, got < 18 ? got : got - 18);
		last = record.offset;
		got++;
	}
	assert_int_equal(got, 38);
	assert_int_equal(damage, 1);
	assert_true(last > half);
	end(&scene);
}

static void test_perfdata_stream__a_compressed_size_that_is_too_large_is_reported(void **state)
{
	static const uint64_t sizes[] = {1000, UINT64_C(1) << 32, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct scene scene = {0};
		size_t damage;

		pd_u64(pd_begin(&scene.recording, CTX_PD_COMPRESSED2, 0), false, sizes[i]);
		pd_zeros(&scene.recording.bytes, 64);
		pd_end(&scene.recording);
		pd_begin(&scene.recording, CTX_PD_COMPRESSED2, 0); /* without any */
		pd_end(&scene.recording);
		put_numbered(&scene.recording, 3, 64);
		open_stream(&scene, &scene.recording.bytes);
		assert_int_equal(count_records(&scene, &damage), 3);
		assert_int_equal(damage, 1);
		end(&scene);
	}
}

static void test_perfdata_stream__any_noise_terminates(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct scene scene = {.recording = {.swap = seed % 2 != 0}};
		uint64_t drawn = seed;
		size_t damage;

		/* Small numbers make headers that are plausible. */
		for (uint64_t i = 0; i < 20000; i++)
			ctx_buf_put_u8(&scene.bytes,
				       (uint8_t)pd_random(&drawn, pd_random(&drawn, 4) == 0 ? 96 : 2));
		open_stream(&scene, &scene.bytes);
		assert_true(count_records(&scene, &damage) <= 20000 / 8);
		end(&scene);
	}
}

static void test_perfdata_stream__out_of_memory_fails_without_leaks(void **state)
{
	struct scene scene = {0};
	struct pd_form form = {.kind = PD_COMPRESSED, .packed_from = 2000};
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	(void)state;
	draw(&scene.recording, 6, (size_t)3 << 20, false);
	pd_pack(&scene.recording, &form, &scene.bytes);
	scene.file = pd_memory_open(&scene.bytes);
	for (n = 0; status == CTX_E_NOMEM; n++) {
		struct ctx_pd_record record;
		struct ctx_err err = {0};

		init_stream(&scene, scene.bytes.n);
		fail_after = n;
		do {
			status = ctx_pd_stream_next(&scene.stream, &record, &err);
		} while (status == CTX_OK);
		fail_after = -1;
		ctx_pd_stream_deinit(&scene.stream);
	}
	assert_int_equal(status, CTX_END);
	assert_true(n >= 3);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_stream__records_of_every_size_are_complete),
		cmocka_unit_test(test_perfdata_stream__compressed_records_are_complete),
		cmocka_unit_test(test_perfdata_stream__a_packed_record_may_hold_megabytes),
		cmocka_unit_test(
			test_perfdata_stream__formats_of_tracepoints_behind_a_record_are_passed_over),
		cmocka_unit_test(test_perfdata_stream__a_cut_anywhere_leaves_what_is_before_it),
		cmocka_unit_test(
			test_perfdata_stream__a_packed_stream_cut_anywhere_ends_with_damage_or_between_records),
		cmocka_unit_test(test_perfdata_stream__a_file_that_became_shorter_ends_where_it_does),
		cmocka_unit_test(test_perfdata_stream__data_past_the_end_is_reported),
		cmocka_unit_test(test_perfdata_stream__records_behind_garbage_are_found_again),
		cmocka_unit_test(test_perfdata_stream__a_record_that_cannot_be_costs_itself_alone),
		cmocka_unit_test(
			test_perfdata_stream__damage_at_the_end_of_a_chunk_costs_no_more_than_elsewhere),
		cmocka_unit_test(test_perfdata_stream__failed_decompression_is_reported),
		cmocka_unit_test(test_perfdata_stream__decompression_continues_with_the_next_stream),
		cmocka_unit_test(test_perfdata_stream__a_compressed_size_that_is_too_large_is_reported),
		cmocka_unit_test(test_perfdata_stream__any_noise_terminates),
		cmocka_unit_test(test_perfdata_stream__out_of_memory_fails_without_leaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
