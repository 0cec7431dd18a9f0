/*
 * The order of records: the queue is compared with the obvious slow version of the same rule, for
 * any number of rings and rounds; and it keeps no more than its limit.
 */
#include "formats/perfdata/pd_queue.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/perfdata_files.h"

#define RECORDS_MAX 4000

struct want { /* a record that should come, by its place in the file */
	uint64_t time, offset;
};

struct scene { /* records in a file, and the queue that reads them */
	struct pd_recording recording;
	struct pd_memory_file file;
	struct ctx_pd_events events;
	struct ctx_pd_queue queue;
};

static void begin(struct scene *scene, bool swap)
{
	struct ctx_buf bytes = {0};

	*scene = (struct scene){.recording = {.swap = swap}, .file = {.fd = -1}};
	pd_add_attr(&scene->recording, PERF_SAMPLE_TIME | PERF_SAMPLE_IP, 1);
	pd_put_attr(&bytes, swap, &scene->recording.attrs[0], PD_ATTR_BYTES);
	assert_int_equal(ctx_pd_events_add(&scene->events, bytes.bytes, bytes.n, swap, NULL), CTX_OK);
	assert_int_equal(ctx_pd_events_settle(&scene->events, NULL), CTX_OK);
	ctx_buf_deinit(&bytes);
}

static void open_queue(struct scene *scene, size_t bytes_max)
{
	if (scene->file.fd < 0)
		scene->file = pd_memory_open(&scene->recording.bytes);
	ctx_pd_stream_init(
		&scene->queue.stream,
		&(struct ctx_pd_part){.fd = scene->file.fd, .name = "data", .end = scene->recording.bytes.n},
		scene->recording.swap);
	ctx_pd_queue_init(&scene->queue, &scene->events, bytes_max);
}

static void end(struct scene *scene)
{
	ctx_pd_queue_deinit(&scene->queue);
	pd_memory_close(&scene->file);
	ctx_pd_events_deinit(&scene->events);
	pd_recording_deinit(&scene->recording);
}

static void put_sample(struct scene *scene, uint64_t time)
{
	pd_sample(&scene->recording, &(struct pd_sample){.place = {.time = time}, .ip = time});
}

/* ---- the slow version ---- */

static void insert_stably(struct want *waiting, size_t *n, struct want item)
{
	size_t at = *n;

	while (at > 0 && waiting[at - 1].time > item.time) {
		waiting[at] = waiting[at - 1];
		at--;
	}
	waiting[at] = item;
	++*n;
}

static size_t release(struct want *waiting, size_t *n_waiting, uint64_t limit, struct want *out)
{
	size_t n = 0;

	while (n < *n_waiting && waiting[n].time <= limit) {
		out[n] = waiting[n];
		n++;
	}
	memmove(waiting, waiting + n, (*n_waiting - n) * sizeof(*waiting));
	*n_waiting -= n;
	return n;
}

static size_t order_slowly(const struct scene *scene, struct want *out)
{
	static struct want waiting[RECORDS_MAX];
	const struct pd_recording *recording = &scene->recording;
	size_t n_waiting = 0, n = 0;
	uint64_t newest = 0, limit = 0;

	for (size_t i = 0; i < recording->n; i++) {
		const uint8_t *bytes = recording->bytes.bytes + recording->starts[i];
		struct perf_event_header header = ctx_pe_header_read(bytes, recording->swap);
		struct want item = {.offset = recording->starts[i]};

		if (header.type == CTX_PD_FINISHED_ROUND) {
			n += release(waiting, &n_waiting, limit, out + n);
			limit = newest;
			continue;
		}
		item.time = ctx_pd_record_time(&scene->events, bytes, &header);
		if (item.time == 0 || item.time == CTX_PD_NO_TIME) {
			item.time = 0;
			out[n++] = item;
			continue;
		}
		newest = item.time > newest ? item.time : newest;
		insert_stably(waiting, &n_waiting, item);
	}
	return n + release(waiting, &n_waiting, UINT64_MAX, out + n);
}

static void check_order(struct scene *scene)
{
	static struct want wants[RECORDS_MAX];
	size_t n = order_slowly(scene, wants), got = 0;
	const struct ctx_pd_queued *item;
	enum ctx_status status;

	while ((status = ctx_pd_queue_peek(&scene->queue, &item, NULL)) == CTX_OK) {
		const struct ctx_pd_queued *again;

		assert_int_equal(ctx_pd_queue_peek(&scene->queue, &again, NULL), CTX_OK);
		assert_ptr_equal(item, again);
		assert_non_null(item);
		assert_true(got < n);
		assert_int_equal(item->time, wants[got].time);
		assert_int_equal(item->record.offset, wants[got].offset);
		assert_memory_equal(item->record.bytes, scene->recording.bytes.bytes + wants[got].offset,
				    item->record.header.size);
		got++;
		ctx_pd_queue_take(&scene->queue);
	}
	assert_int_equal(status, CTX_END);
	assert_int_equal(got, n);
	assert_int_equal(scene->queue.n_cut, 0);
}

/* ---- what it is compared on ---- */

/* Rings that are emptied one after the other; each goes up, `disorder` of 100 records do not. */
static void draw_rings(struct scene *scene, uint64_t *seed, uint32_t n_rings, uint32_t n_rounds,
		       uint32_t disorder)
{
	uint64_t base = 1;

	for (uint32_t round = 0; round < n_rounds; round++) {
		for (uint32_t ring = 0; ring < n_rings; ring++) {
			uint64_t time = base + pd_random(seed, 100);
			uint64_t n = pd_random(seed, 12);

			for (uint64_t i = 0; i < n && scene->recording.n < RECORDS_MAX - 2; i++) {
				time += pd_random(seed, 4); /* equal times too */
				put_sample(scene, pd_random(seed, 100) < disorder ? 1 + pd_random(seed, 1000)
										  : time);
			}
			if (pd_random(seed, 10) == 0)
				pd_auxtrace(&scene->recording, 8 * pd_random(seed, 100));
		}
		if (pd_random(seed, 8) != 0)
			pd_round(&scene->recording);
		base += 80;
	}
}

static void test_perfdata_queue__order_is_that_of_the_slow_version(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct scene scene;
		uint64_t draw = seed;

		begin(&scene, seed % 3 == 0);
		draw_rings(&scene, &draw, 1 + (uint32_t)(seed % 17), 1 + (uint32_t)(seed % 31),
			   seed % 4 == 0 ? 20 : 0);
		assert_true(scene.recording.n < RECORDS_MAX);
		open_queue(&scene, SIZE_MAX);
		check_order(&scene);
		end(&scene);
	}
}

static void test_perfdata_queue__records_without_time_keep_their_position(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct scene scene;
		uint64_t draw = seed;

		begin(&scene, false);
		for (int i = 0; i < 300; i++) {
			switch (pd_random(&draw, 6)) {
			case 0:
				put_sample(&scene, 0);
				break;
			case 1:
				put_sample(&scene, CTX_PD_NO_TIME);
				break;
			case 2:
				pd_round(&scene.recording);
				break;
			default:
				put_sample(&scene, 1 + pd_random(&draw, 50));
			}
		}
		open_queue(&scene, SIZE_MAX);
		check_order(&scene);
		end(&scene);
	}
}

static void test_perfdata_queue__equal_times_stay_in_the_order_of_the_file(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, false);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 50; i++)
			put_sample(&scene, 7);
		pd_round(&scene.recording);
	}
	open_queue(&scene, SIZE_MAX);
	check_order(&scene);
	end(&scene);
}

static void test_perfdata_queue__an_empty_stream_ends_at_once_and_stays_at_its_end(void **state)
{
	struct scene scene;
	const struct ctx_pd_queued *item;

	(void)state;
	begin(&scene, false);
	open_queue(&scene, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ctx_pd_queue_peek(&scene.queue, &item, NULL), CTX_END);
	end(&scene);
}

/* ---- memory ---- */

/* Records of a stream without rounds, each up to `jitter` places from where it belongs. */
static void draw_unrounded(struct scene *scene, size_t n, uint64_t jitter)
{
	uint64_t seed = 5;

	for (uint64_t i = 0; i < n; i++)
		put_sample(scene, 1 + 16 * (i + pd_random(&seed, jitter)));
}

/* Reads all; returns the number of late records and the maximum that was kept. */
static size_t read_bounded(struct scene *scene, size_t *ret_late, size_t *ret_kept)
{
	const struct ctx_pd_queued *item;
	uint64_t last = 0;
	size_t n = 0;

	*ret_late = *ret_kept = 0;
	while (ctx_pd_queue_peek(&scene->queue, &item, NULL) == CTX_OK) {
		size_t kept = scene->queue.n - scene->queue.at;

		assert_non_null(item);
		*ret_late += item->time < last;
		last = item->time > last ? item->time : last;
		*ret_kept = kept > *ret_kept ? kept : *ret_kept;
		ctx_pd_queue_take(&scene->queue);
		n++;
	}
	return n;
}

static void test_perfdata_queue__a_stream_without_rounds_keeps_up_to_its_limit(void **state)
{
	const size_t n = 300000, bytes_max = (size_t)5 << 20;
	size_t late, kept;
	struct scene scene;

	(void)state;
	begin(&scene, false);
	draw_unrounded(&scene, n, 1000);
	open_queue(&scene, bytes_max);
	assert_int_equal(read_bounded(&scene, &late, &kept), n);
	assert_int_equal(late, 0); /* records are displaced by less than half of what it keeps */
	assert_true(scene.queue.n_cut > 0);
	/* A record has 24 bytes in the file and at least as many while it waits. */
	assert_true(kept <= bytes_max / 24);
	assert_true(kept >= 10000);
	end(&scene);
}

static void test_perfdata_queue__too_little_memory_gives_all_records_though_late(void **state)
{
	const size_t n = 50000;
	size_t late, kept;
	struct scene scene;

	(void)state;
	begin(&scene, true);
	draw_unrounded(&scene, n, 1000);
	open_queue(&scene, 1);
	assert_int_equal(read_bounded(&scene, &late, &kept), n);
	assert_true(late > 0);
	assert_true(kept <= 2);
	end(&scene);
}

/* One record of each chunk waits for a time that never comes: the chunks must not all stay. */
static void test_perfdata_queue__chunks_that_are_held_by_one_record_each_count_whole(void **state)
{
	const size_t bytes_max = (size_t)4 << 20;
	struct scene scene;
	const struct ctx_pd_queued *item;
	size_t chunks_max = 0;

	(void)state;
	begin(&scene, false);
	for (uint64_t i = 0; i < 20; i++) {
		put_sample(&scene, (UINT64_C(1) << 40) + i);
		for (int k = 0; k < 17; k++) { /* a megabyte without times */
			pd_begin(&scene.recording, CTX_PD_HEADER_FEATURE, 0);
			pd_zeros(&scene.recording.bytes, 65000);
			pd_end(&scene.recording);
		}
		pd_round(&scene.recording);
	}
	open_queue(&scene, bytes_max);
	while (ctx_pd_queue_peek(&scene.queue, &item, NULL) == CTX_OK) {
		size_t chunks = 0;

		for (size_t i = scene.queue.at; i < scene.queue.n; i++)
			chunks += i == scene.queue.at ||
				  scene.queue.items[i].record.chunk != scene.queue.items[i - 1].record.chunk;
		chunks_max = chunks > chunks_max ? chunks : chunks_max;
		ctx_pd_queue_take(&scene.queue);
	}
	assert_in_range(chunks_max, 1, 5);
	end(&scene);
}

static enum ctx_status read_all(struct scene *scene, struct ctx_err *err)
{
	const struct ctx_pd_queued *item;
	enum ctx_status status;

	while ((status = ctx_pd_queue_peek(&scene->queue, &item, err)) == CTX_OK)
		ctx_pd_queue_take(&scene->queue);
	return status;
}

static void test_perfdata_queue__out_of_memory_fails_without_leaks(void **state)
{
	struct scene scene;
	uint64_t seed = 9;
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	(void)state;
	begin(&scene, false);
	draw_rings(&scene, &seed, 8, 20, 10);
	for (n = 0; status == CTX_E_NOMEM; n++) {
		struct ctx_err err = {0};

		open_queue(&scene, SIZE_MAX);
		fail_after = n;
		status = read_all(&scene, &err);
		fail_after = -1;
		ctx_pd_queue_deinit(&scene.queue);
	}
	assert_int_equal(status, CTX_END);
	assert_true(n > 3);
	end(&scene);
}

/* ---- damage ---- */

static void test_perfdata_queue__damage_comes_first_and_once(void **state)
{
	struct scene scene;
	const struct ctx_pd_queued *item;
	size_t n = 0, n_damage = 0;
	enum ctx_status status;

	(void)state;
	begin(&scene, false);
	for (uint64_t i = 1; i <= 100; i++)
		put_sample(&scene, i);
	memset(scene.recording.bytes.bytes + scene.recording.starts[40] + 6, 0, 2); /* a size of 0 */
	open_queue(&scene, SIZE_MAX);
	while ((status = ctx_pd_queue_peek(&scene.queue, &item, NULL)) == CTX_OK) {
		if (item == NULL) {
			n_damage++;
			assert_int_equal(n, 0); /* the others wait for the end */
			assert_non_null(strstr(scene.queue.stream.damage, "data: offset 960: no record"));
		} else {
			n++;
			assert_int_equal(item->time, n <= 40 ? n : n + 1);
		}
		ctx_pd_queue_take(&scene.queue);
	}
	assert_int_equal(status, CTX_END);
	assert_int_equal(n, 99);
	assert_int_equal(n_damage, 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_queue__order_is_that_of_the_slow_version),
		cmocka_unit_test(test_perfdata_queue__records_without_time_keep_their_position),
		cmocka_unit_test(test_perfdata_queue__equal_times_stay_in_the_order_of_the_file),
		cmocka_unit_test(test_perfdata_queue__an_empty_stream_ends_at_once_and_stays_at_its_end),
		cmocka_unit_test(test_perfdata_queue__a_stream_without_rounds_keeps_up_to_its_limit),
		cmocka_unit_test(test_perfdata_queue__too_little_memory_gives_all_records_though_late),
		cmocka_unit_test(test_perfdata_queue__chunks_that_are_held_by_one_record_each_count_whole),
		cmocka_unit_test(test_perfdata_queue__out_of_memory_fails_without_leaks),
		cmocka_unit_test(test_perfdata_queue__damage_comes_first_and_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
