/* Thread states of an experiment: written, read, damaged. */
#include "experiment_place.h"

#include "base/compress.h"
#include "base/xxh.h"

#include <fcntl.h>

/* ---- helpers ---- */

static struct ctx_exp_options options_with_states(const char *path)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_states = true;
	options.overwrite = true;
	return options;
}

/* A change without a stack. */
static void put_change(struct fixture_recording *recording, uint32_t process, uint32_t thread,
		       enum ctx_state_change change, uint32_t waker)
{
	struct ctx_exp_state given = {.process = process,
				      .thread = thread,
				      .change = change,
				      .cpu = 0,
				      .waker = waker,
				      .external_waker = CTX_NONE};

	fixture_put_change(recording, &given, NULL);
}

/* ---- round trips ---- */

static void test_experiment_states__random_changes_come_back(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct ctx_exp_options options = options_with_states(place->path);
		struct fixture_recording recording = {.seed = seed};
		uint64_t steps = fixture_random(&recording.seed, 3000);

		fixture_begin(&recording, &options);
		for (uint64_t i = 0; i < steps; i++)
			fixture_step(&recording, 2 + (uint32_t)seed);
		close_and_check(&recording, place->path);
	}
}

static void test_experiment_states__little_memory_only_adds_epochs(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct ctx_exp_options options = options_with_states(place->path);
		struct fixture_recording recording = {.seed = seed};
		struct ctx_exp_stats stats;

		options.memory_bytes = (size_t)256 << 10;
		fixture_begin(&recording, &options);
		for (uint32_t i = 0; i < 10000; i++) {
			fixture_step(&recording, 500);
			stats = ctx_exp_stats(recording.writer);
			assert_in_range(stats.memory_bytes, 0, (size_t)512 << 10);
		}
		assert_true(stats.epochs > 1);
		assert_int_equal(stats.samples, recording.in.n_samples);
		assert_int_equal(stats.changes, recording.in.n_changes);
		close_and_check(&recording, place->path);
	}
}

/* What the writer remembers of a stack holds for one process, until its dictionary is emptied. */
static void test_experiment_states__known_stacks_come_back(void **state)
{
	static const uint64_t FRAMES[3][3] = {{0x401001, 0x402002, 0x403003},
					      {0x401001, 0x405005, 0x403003},
					      {0xffffffff81000010u, 0x402002, 0x403003}};
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 5};
	struct ctx_exp_known_stack known[3] = {{0}};

	options.memory_bytes = (size_t)128 << 10;
	fixture_begin(&recording, &options);
	fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < 4000; i++) {
		struct ctx_exp_state given = {.process = i / 2 % 2,
					      .thread = i / 2 % 2,
					      .change = CTX_CHANGE_BLOCKED,
					      .waker = CTX_NONE,
					      .external_waker = CTX_NONE,
					      .frames = FRAMES[i % 3],
					      .n_frames = 3,
					      .known = &known[i % 3]};

		recording.now_ns += 1000;
		fixture_put_change(&recording, &given, NULL);
		assert_int_equal(known[i % 3].process, given.process);
		fixture_put_sample(&recording, i % 2, i % 2, 0, 30, 500);
	}
	assert_true(ctx_exp_stats(recording.writer).epochs > 1);
	close_and_check(&recording, place->path);
}

static void test_experiment_states__full_blocks_out_of_order_come_back_in_order(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 3};

	fixture_begin(&recording, &options);
	fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < 30000; i++) {
		recording.now_ns = 5000 + fixture_random(&recording.seed, 100000);
		fixture_put_any_change(&recording, i % 2, 8);
	}
	recording.now_ns = 200000;
	close_and_check(&recording, place->path);
}

static void test_experiment_states__at_equal_times_changes_keep_their_order(void **state)
{
	static const enum ctx_state_change CHANGES[] = {CTX_CHANGE_RUNS, CTX_CHANGE_ENTERS,
							CTX_CHANGE_BLOCKED, CTX_CHANGE_TEXT_FAULT,
							CTX_CHANGE_WOKEN};
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct fixture_contents out;
	const uint32_t n = 20000;
	uint32_t seen = 0;

	fixture_begin(&recording, &options);
	fixture_start_thread(&recording, 0, "other");
	for (uint32_t i = 0; i < n; i++) {
		recording.now_ns += i % 1000 == 0;
		put_change(&recording, 0, 0, CHANGES[i % CTX_COUNT_OF(CHANGES)], CTX_NONE);
		if (i % 1000 == 500) { /* late, so that blocks have to be sorted */
			recording.now_ns -= 700;
			put_change(&recording, 0, 1, CTX_CHANGE_RUNS, CTX_NONE);
			recording.now_ns += 700;
		}
	}
	close_and_read(&recording, place->path, &out);
	assert_int_equal(out.n_changes, recording.in.n_changes);
	assert_int_equal(out.late, 0);
	for (size_t i = 0; i < out.n_changes; i++) {
		if (out.changes[i].tid == 50000)
			assert_int_equal(out.changes[i].change, CHANGES[seen++ % CTX_COUNT_OF(CHANGES)]);
	}
	assert_int_equal(seen, n);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment_states__a_stack_of_a_waker_is_in_the_waker_s_process(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint64_t frames[] = {0x400010, 0x400020, 0x400030};
	struct ctx_exp_state given = {.thread = 1,
				      .change = CTX_CHANGE_WOKEN,
				      .waker = 0,
				      .external_waker = CTX_NONE,
				      .frames = frames,
				      .n_frames = 3};
	uint32_t child;

	fixture_begin(&recording, &options);
	child = fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < 100; i++) {
		recording.now_ns += 10;
		fixture_put_sample(&recording, 0, 0, 0, 6, 4);
		fixture_put_sample(&recording, child, 1, 0, 6, 4);
		frames[0] = 0x400010 + fixture_random(&recording.seed, 9);
		fixture_put_change(&recording, &given, NULL);
	}
	close_and_check(&recording, place->path);
}

static void test_experiment_states__external_wakers_have_numbers_by_their_names(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 3};
	char name[32];
	uint32_t number;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(
			ctx_exp_external_waker(recording.writer, name, FIXTURE_START_NS, &number, NULL),
			CTX_OK);
		/* An external waker with ever new names does not exhaust memory. */
		assert_int_equal(number, i < 65535 ? i : 65535);
	}
	assert_int_equal(ctx_exp_external_waker(recording.writer, "x7", FIXTURE_START_NS, &number, NULL),
			 CTX_OK);
	assert_int_equal(number, 7);
	close_and_check(&recording, place->path);
}

/* ---- limits and refusals ---- */

static size_t count_changes(const struct fixture_contents *contents, uint64_t end_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < contents->n_changes; i++)
		n += contents->changes[i].time_ns < end_ns;
	return n;
}

static void test_experiment_states__beyond_max_bytes_changes_are_counted_as_lost(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct fixture_contents out;

	options.max_bytes = 200000;
	fixture_begin(&recording, &options);
	fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		recording.now_ns += 100000;
		if (i % 3 == 0)
			fixture_put_sample(&recording, i % 2, i % 2, 0, 20, 300);
		else
			fixture_put_any_change(&recording, i % 2, 300);
		if (i % 500 == 0)
			fixture_flush(&recording);
	}
	close_and_read(&recording, place->path, &out);
	assert_null(out.damage);
	assert_true(out.lost > 0 && out.n_changes > 100);
	assert_int_equal(out.n_samples + out.n_changes + out.lost,
			 recording.in.n_samples + recording.in.n_changes);
	/* Up to the limit all are kept. */
	assert_in_range(out.states_end_ns, 100000, recording.now_ns);
	assert_int_equal(count_changes(&out, out.states_end_ns),
			 count_changes(&recording.in, out.states_end_ns));
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment_states__wrong_arguments_are_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 1};
	const struct ctx_exp_state good = {
		.change = CTX_CHANGE_WOKEN, .waker = CTX_NONE, .external_waker = CTX_NONE};
	struct ctx_exp_state bad[5] = {good, good, good, good, good};
	struct ctx_exp_metric metric = FIXTURE_METRICS[0];

	bad[0].process = 1;
	bad[1].thread = 1;
	bad[2].waker = 1;
	bad[3].external_waker = 0;
	bad[4].change = CTX_CHANGE_N;
	fixture_begin(&recording, &options);
	for (size_t i = 0; i < CTX_COUNT_OF(bad); i++)
		assert_int_equal(ctx_exp_state(recording.writer, &bad[i], NULL), CTX_E_ARG);
	close_and_check(&recording, place->path);
	options.has_states = false;
	recording = (struct fixture_recording){.seed = 1};
	fixture_begin(&recording, &options);
	assert_int_equal(ctx_exp_state(recording.writer, &good, NULL), CTX_E_ARG);
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
	metric.file = "states";
	options.metrics = &metric;
	options.n_metrics = 1;
	assert_int_equal(ctx_exp_create(&options, &recording.writer, NULL), CTX_E_ARG);
}

/* ---- what log.xml says of them ---- */

static bool log_has(const char *path, const char *text)
{
	char *file = ctx_path_join(path, "log.xml");
	struct ctx_buf log = {0};
	bool has;

	assert_int_equal(ctx_file_read(file, 1 << 20, &log, NULL), CTX_OK);
	has = memmem(log.bytes, log.n, text, strlen(text)) != NULL;
	ctx_buf_deinit(&log);
	free(file);
	return has;
}

/* Blanks the first line that holds `text`. */
static void spoil_line(const char *path, const char *text)
{
	char *file = ctx_path_join(path, "log.xml");
	struct ctx_buf log = {0};
	uint8_t *at;

	assert_int_equal(ctx_file_read(file, 1 << 20, &log, NULL), CTX_OK);
	at = memmem(log.bytes, log.n, text, strlen(text));
	assert_non_null(at);
	while (at > log.bytes && at[-1] != '\n')
		at--;
	memset(at, ' ', (size_t)((uint8_t *)memchr(at, '\n', log.n) - at));
	assert_int_equal(ctx_file_replace(file, log.bytes, log.n, NULL), CTX_OK);
	ctx_buf_deinit(&log);
	free(file);
}

static void test_experiment_states__the_log_describes_them_only_if_recorded(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 1};
	struct fixture_contents out;

	fixture_begin(&recording, &options);
	close_and_check(&recording, place->path); /* has_states without a change */
	assert_true(log_has(place->path, "<scheduling file=\"states\"><field name=\"time\""));
	options.has_states = false;
	recording = (struct fixture_recording){.seed = 1};
	fixture_begin(&recording, &options);
	recording.now_ns += 10;
	fixture_put_sample(&recording, 0, 0, 0, 5, 5);
	fixture_close(&recording);
	assert_false(log_has(place->path, "states"));
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_false(out.has_states);
	fixture_check(&recording.in, &out);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

/* Two processes and an external waker; the child is woken by the root process. */
static void make_known(struct fixture_recording *recording, const char *path)
{
	struct ctx_exp_options options = options_with_states(path);
	struct ctx_exp_state given = {
		.change = CTX_CHANGE_WOKEN, .waker = CTX_NONE, .external_waker = CTX_NONE};

	fixture_begin(recording, &options);
	fixture_descend(recording, CTX_EXP_FORK, 0);
	recording->now_ns += 10;
	put_change(recording, 0, 0, CTX_CHANGE_BLOCKED, CTX_NONE);
	recording->now_ns += 10;
	fixture_put_change(recording, &given, "kworker/0:1");
	recording->now_ns += 10;
	put_change(recording, 0, 1, CTX_CHANGE_WOKEN, 0);
	recording->now_ns += 10;
	put_change(recording, 1, 1, CTX_CHANGE_RUNS, CTX_NONE);
	recording->now_ns += 10;
	put_change(recording, 0, 1, CTX_CHANGE_WOKEN, 0);
	fixture_close(recording);
	assert_int_equal(recording->status, CTX_OK);
}

static void test_experiment_states__blocks_imply_states_without_the_line_in_the_log(void **state)
{
	struct place *place = *state;
	struct fixture_recording recording = {.seed = 1};
	struct fixture_contents out;

	make_known(&recording, place->path);
	spoil_line(place->path, "<scheduling ");
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_true(out.has_states);
	fixture_check_changes(&recording.in, &out);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment_states__wakers_missing_from_the_log_are_unknown(void **state)
{
	struct place *place = *state;
	struct fixture_recording recording = {.seed = 1};
	struct fixture_contents out;
	size_t n = 0;

	make_known(&recording, place->path);
	spoil_line(place->path, "kworker");
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_non_null(strstr(out.damage, "name external wakers that the log does not have"));
	assert_int_equal(out.n_changes, recording.in.n_changes);
	assert_int_equal(out.changes[1].change, CTX_CHANGE_WOKEN);
	assert_string_equal(out.changes[1].external_waker, "");
	fixture_contents_deinit(&out);
	/* A thread known only as woken by another: its process is unknown. */
	spoil_line(place->path, "kind=\"thread\" tstamp=\"0.000001000\" thread=\"1\"");
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_non_null(strstr(out.damage, "threads that the log does not have"));
	for (size_t i = 0; i < out.n_changes; i++)
		n += out.changes[i].tid == -1 && out.changes[i].change == CTX_CHANGE_RUNS &&
		     out.changes[i].pid == 1001;
	assert_int_equal(n, 1);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

/* ---- packets that no writer produces ---- */

/*
 * Puts a block of these packets where the root process's changes are, with everything right around
 * it.
 */
static void put_block(const char *path, const struct ctx_exp_packet *packets, size_t n)
{
	char *file = ctx_path_join(path, "states");
	struct ctx_compressor compressor = {0};
	struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_STATES,
					      .n_records = (uint32_t)n,
					      .epoch = 1,
					      .first_ns = packets[0].time_ns,
					      .last_ns = packets[n - 1].time_ns};
	struct ctx_buf raw = {0}, frame = {0}, all = {0};
	uint8_t encoded[CTX_EXP_BLOCK_HEADER_BYTES];

	ctx_exp_encode_packets(packets, n, &raw);
	assert_int_equal(ctx_compress(&compressor, 1, (struct ctx_bytes){raw.bytes, raw.n}, &frame, NULL),
			 CTX_OK);
	header.raw_bytes = (uint32_t)raw.n;
	header.frame_bytes = (uint32_t)frame.n;
	header.checksum = ctx_xxh3(frame.bytes, frame.n);
	ctx_exp_encode_block_header(&header, encoded);
	ctx_exp_put_file_header(&all);
	ctx_buf_put(&all, encoded, sizeof(encoded));
	ctx_buf_put(&all, frame.bytes, frame.n);
	assert_int_equal(ctx_file_replace(file, all.bytes, all.n, NULL), CTX_OK);
	ctx_buf_deinit(&raw);
	ctx_buf_deinit(&frame);
	ctx_buf_deinit(&all);
	ctx_compressor_deinit(&compressor);
	free(file);
}

static void test_experiment_states__packets_that_make_no_sense_are_left_out(void **state)
{
	const struct ctx_exp_packet packets[] = {
		{.time_ns = 1, .change = CTX_CHANGE_RUNS},
		{.time_ns = 2, .change = CTX_CHANGE_N},
		{.time_ns = 3, .change = UINT16_MAX - 1},
		{.time_ns = 4, .change = CTX_CHANGE_WOKEN, .waker = UINT64_MAX},
		{.time_ns = 5, .change = CTX_CHANGE_WOKEN, .waker = UINT64_MAX - 1},
		{.time_ns = 6, .change = CTX_CHANGE_WOKEN, .waker = 2 * (uint64_t)CTX_NONE + 1},
		{.time_ns = 7, .change = CTX_CHANGE_RUNS, .waker = 1}, /* only who is woken has a waker */
		{.time_ns = 8, .change = CTX_CHANGE_WOKEN, .waker = 1, .thread = 77}, /* whose? */
		{.time_ns = 9, .change = CTX_CHANGE_BLOCKED, .stack = 4000},	      /* kept, without */
		{.time_ns = 10, .change = CTX_CHANGE_WOKEN, .waker = 2 * (uint64_t)(CTX_NONE - 1) + 1},
		{.time_ns = 11, .change = CTX_CHANGE_WOKEN, .waker = 2 * (uint64_t)(CTX_NONE - 1) + 2},
	};
	static const uint64_t KEPT[] = {1, 9, 10, 11};
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 1};
	struct fixture_contents out;

	fixture_begin(&recording, &options);
	fixture_close(&recording);
	put_block(place->path, packets, CTX_COUNT_OF(packets));
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_non_null(strstr(out.damage, "states: offset 16: 1 changes of state lost their call stacks, "
					   "7 are of an unknown kind, thread or waker"));
	assert_int_equal(out.n_changes, CTX_COUNT_OF(KEPT));
	for (size_t i = 0; i < CTX_COUNT_OF(KEPT); i++)
		assert_int_equal(out.changes[i].time_ns, KEPT[i]);
	assert_int_equal(out.changes[1].n_frames, 0);
	assert_int_equal(out.changes[2].waker_tid, -1); /* made up: tid -1 */
	assert_int_equal(out.n_threads, 2);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

/* ---- killed ---- */

static void test_experiment_states__flushed_data_is_readable_while_recording(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = options_with_states(place->path);
	struct fixture_recording recording = {.seed = 5};

	fixture_begin(&recording, &options);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < 400; i++)
			fixture_step(&recording, 20);
		flush_and_check(&recording, place->path);
		assert_true(recording.in.n_changes > 0);
	}
	close_and_check(&recording, place->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_states__random_changes_come_back),
		place_test(test_experiment_states__little_memory_only_adds_epochs),
		place_test(test_experiment_states__known_stacks_come_back),
		place_test(test_experiment_states__full_blocks_out_of_order_come_back_in_order),
		place_test(test_experiment_states__at_equal_times_changes_keep_their_order),
		place_test(test_experiment_states__a_stack_of_a_waker_is_in_the_waker_s_process),
		place_test(test_experiment_states__external_wakers_have_numbers_by_their_names),
		place_test(test_experiment_states__beyond_max_bytes_changes_are_counted_as_lost),
		place_test(test_experiment_states__wrong_arguments_are_refused),
		place_test(test_experiment_states__the_log_describes_them_only_if_recorded),
		place_test(test_experiment_states__blocks_imply_states_without_the_line_in_the_log),
		place_test(test_experiment_states__wakers_missing_from_the_log_are_unknown),
		place_test(test_experiment_states__packets_that_make_no_sense_are_left_out),
		place_test(test_experiment_states__flushed_data_is_readable_while_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
