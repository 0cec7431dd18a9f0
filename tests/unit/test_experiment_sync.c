/* Synchronisation of an experiment: written, read, damaged. */
#include "traced_fixture.h"

#include "model/traced.h"

#include <stdlib.h>

#define STEPS 7000u

struct run {
	struct ctx_exp_sync operations[STEPS]; /* in order of time */
	uint64_t frames[STEPS][4];
	struct traced_recording recording;
	bool is_seen[STEPS];
};

static void begin(struct run *run, const char *path, bool has_sync)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_sync = has_sync;
	traced_begin(&run->recording, &options);
}

static void make_operations(struct run *run, uint64_t seed)
{
	for (size_t i = 0; i < STEPS; i++) {
		struct ctx_exp_sync *operation = &run->operations[i];
		uint32_t other = (uint32_t)random_below(&seed, TRACED_THREADS + 1);

		*operation = (struct ctx_exp_sync){
			.time_ns = traced_time_ns(i),
			.process = run->recording.process,
			.thread = run->recording.threads[random_below(&seed, TRACED_THREADS)],
			.operation = (uint8_t)random_below(&seed, CTX_SYNC_BLOCK + 1),
			.object = random_below(&seed, 9) == 0 ? UINT64_MAX : 4096 * random_below(&seed, 300),
			.other = CTX_NONE,
			.frames = run->frames[i],
			.n_frames = random_below(&seed, 5)};
		for (size_t j = 0; j < operation->n_frames; j++)
			run->frames[i][j] = 0x1000 + random_below(&seed, 9);
		if (operation->operation == CTX_SYNC_ORDER) {
			operation->held = random_below(&seed, UINT64_MAX);
			operation->detail = (uint32_t)random_below(&seed, 4);
			continue;
		}
		operation->duration_ns = random_below(&seed, 1000000);
		if (operation->operation == CTX_SYNC_HOLD)
			operation->detail = (uint32_t)random_below(&seed, CTX_SYNC_HOLD);
		else if (other < TRACED_THREADS)
			operation->other = run->recording.threads[other];
		operation->failed = operation->operation < CTX_SYNC_HOLD && random_below(&seed, 5) == 0;
	}
}

static void put(void *context, size_t i, uint32_t thread)
{
	const struct run *run = context;

	if (run->operations[i].thread == thread)
		assert_int_equal(ctx_exp_sync(run->recording.writer, &run->operations[i], NULL), CTX_OK);
}

static void write_operations(struct run *run, size_t burst)
{
	traced_write(&run->recording, STEPS, burst, put, run);
}

static void check_operation(struct run *run, const struct ctx_event *event)
{
	const struct ctx_traced *got = event->traced.operation;
	size_t i = traced_number(event->time_ns);
	const struct ctx_exp_sync *wanted = &run->operations[i];
	bool is_order = wanted->operation == CTX_SYNC_ORDER;

	assert_in_range(i, 0, STEPS - 1);
	assert_false(run->is_seen[i]);
	run->is_seen[i] = true;
	assert_int_equal(got->kind, CTX_TRACED_SYNC);
	assert_int_equal(got->operation, wanted->operation);
	assert_int_equal(got->failed, wanted->failed);
	assert_int_equal(got->duration_ns, wanted->duration_ns);
	assert_int_equal(got->address, wanted->object);
	assert_int_equal(got->other, wanted->other);
	assert_int_equal(got->old_address, is_order ? wanted->held : 0);
	assert_int_equal(got->size, wanted->detail);
	assert_int_equal(event->thread, wanted->thread);
	assert_int_equal(event->traced.stack.id != 0, wanted->n_frames != 0);
}

static size_t read_back(struct run *run, const char *path, size_t *ret_damages)
{
	uint64_t waited = 0, sampled = 0;
	uint32_t n = CTX_COUNT_OF(FIXTURE_METRICS);
	struct ctx_event_source *source;
	struct ctx_event event;
	size_t seen = 0;

	*ret_damages = 0;
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_int_equal(source->info.n_metrics, n + 2);
	assert_string_equal(source->info.metrics[n].word, "sync");
	assert_string_equal(source->info.metrics[n + 1].word, "syncn");
	assert_int_equal(source->info.metrics[n + 1].of, n);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind == CTX_EV_TRACED) {
			check_operation(run, &event);
			waited += ctx_traced_is_wait(event.traced.operation)
					  ? event.traced.operation->duration_ns
					  : 0;
			seen++;
		} else if (event.kind == CTX_EV_SAMPLE) {
			assert_int_equal(event.sample.metric, n);
			sampled += event.sample.weight;
		}
		*ret_damages += event.kind == CTX_EV_DAMAGE;
	}
	source->close(source);
	assert_int_equal(sampled, waited);
	return seen;
}

static void test_experiment_sync__operations_come_back_with_their_threads(void **state)
{
	static const size_t bursts[] = {1, 60, STEPS};
	struct place *place = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(bursts); i++) {
		struct run *run = calloc(1, sizeof(*run));
		size_t damages;

		assert_non_null(run);
		begin(run, place->path, true);
		make_operations(run, i + 1);
		write_operations(run, bursts[i]);
		assert_int_equal(read_back(run, place->path, &damages), STEPS);
		assert_int_equal(damages, 0);
		free(run);
		assert_int_equal(ctx_dir_remove(place->path, NULL), CTX_OK);
	}
}

static void test_experiment_sync__a_damaged_block_costs_its_operations(void **state)
{
	struct place *place = *state;
	struct run *run = calloc(1, sizeof(*run));
	size_t damages;

	assert_non_null(run);
	begin(run, place->path, true);
	make_operations(run, 7);
	write_operations(run, 100);
	traced_damage(place->path, "synctrace");
	assert_in_range(read_back(run, place->path, &damages), STEPS - 2048, STEPS - 1);
	assert_int_equal(damages, 1);
	free(run);
}

static void test_experiment_sync__what_cannot_be_is_refused(void **state)
{
	struct place *place = *state;
	struct run *run = calloc(1, sizeof(*run));
	struct ctx_exp_sync sync = {.other = CTX_NONE};

	assert_non_null(run);
	begin(run, place->path, false);
	sync.process = run->recording.process;
	sync.thread = run->recording.threads[0];
	assert_int_equal(ctx_exp_sync(run->recording.writer, &sync, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run->recording.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
	assert_int_equal(ctx_dir_remove(place->path, NULL), CTX_OK);
	begin(run, place->path, true);
	assert_int_equal(ctx_exp_sync(run->recording.writer, &sync, NULL), CTX_OK);
	sync.operation = CTX_SYNC_BLOCK + 1;
	assert_int_equal(ctx_exp_sync(run->recording.writer, &sync, NULL), CTX_E_ARG);
	sync.operation = CTX_SYNC_MUTEX;
	sync.other = 12345;
	assert_int_equal(ctx_exp_sync(run->recording.writer, &sync, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run->recording.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
	free(run);
}

/* A payload byte by byte: what docs/experiment-format.md shows. */
static void test_experiment_sync__the_payload_is_as_it_is_documented(void **state)
{
	static const uint8_t wanted[] = {
		0x00, 0x00, 0x5a, 0x0a, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, /* time, thread, cpu */
		0x00, 0x01, 0x02, 0x00, 0x00, 0x01, 0x09, 0x0a,		    /* stack, operation */
		0x00, 0x50, 0x0a, 0x00,					    /* duration */
		0x80, 0x40, 0x00, 0x80, 0x40, 0x02, 0x01, 0xff, 0x3f	    /* objects, the rest */
	};
	const struct ctx_exp_packet packets[3] = {
		{.time_ns = 10, .operation = CTX_SYNC_MUTEX, .duration_ns = 80, .stack = 1, .cpu = -1},
		{.time_ns = 100,
		 .thread = 0,
		 .operation = CTX_SYNC_HOLD,
		 .duration_ns = 10,
		 .stack = 2,
		 .cpu = -1,
		 .order = 1},
		{.time_ns = 110, .thread = 1, .operation = CTX_SYNC_ORDER, .cpu = -1, .order = 2}};
	const struct ctx_exp_sync_rest rests[3] = {{0x1000, 2}, {0x1000, 1}, {0x2000, 0x1000}};
	struct ctx_exp_packet got[3];
	struct ctx_exp_sync_rest got_rests[3];
	const struct ctx_exp_sync_block block = {got, got_rests, 3};
	struct ctx_buf out = {0};

	(void)state;
	ctx_exp_encode_sync(packets, rests, 3, &out);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	assert_int_equal(ctx_exp_decode_sync((struct ctx_bytes){out.bytes, out.n}, 10, &block, NULL), CTX_OK);
	assert_memory_equal(got_rests, rests, sizeof(rests));
	for (size_t n = 0; n < out.n; n++)
		assert_int_equal(ctx_exp_decode_sync((struct ctx_bytes){out.bytes, n}, 10, &block, NULL),
				 CTX_E_FORMAT);
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_sync__operations_come_back_with_their_threads),
		place_test(test_experiment_sync__a_damaged_block_costs_its_operations),
		place_test(test_experiment_sync__what_cannot_be_is_refused),
		cmocka_unit_test(test_experiment_sync__the_payload_is_as_it_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
