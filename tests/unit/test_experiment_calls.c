/* Calls that begin and end, written to an experiment and read: against a list of the same events, limits, damage. */
#include "chance.h"
#include "experiment_place.h"

#include "formats/experiment/exp_callevents.h"

#include <fcntl.h>
#include <stdlib.h>

#define EVENTS 100000u
#define THREADS 3u
#define FUNCTIONS 700u

/* A thread's events, and how many calls were open before each. */
struct made {
	struct ctx_exp_call *calls;
	uint32_t *depths;
	size_t n;
};

static struct made make(uint64_t seed, size_t n)
{
	struct made made = {calloc(n, sizeof(*made.calls)), calloc(n, sizeof(*made.depths)), n};
	uint64_t now = FIXTURE_START_NS;
	uint32_t depth = 0;

	assert_non_null(made.calls);
	assert_non_null(made.depths);
	for (size_t i = 0; i < n; i++) {
		struct ctx_exp_call *call = &made.calls[i];

		now += random_below(&seed, 20) == 0 ? random_below(&seed, 1000000) : random_below(&seed, 90);
		*call = (struct ctx_exp_call){.time_ns = now};
		if (depth == 0 || random_below(&seed, 2) == 0)
			call->function = 0x400000 + random_below(&seed, FUNCTIONS) * 0x123;
		else
			call->left = 1;
		if (depth > 2 && random_below(&seed, 50) == 0) {
			call->left = 1 + (uint32_t)random_below(&seed, depth);
			call->unwound = true;
		}
		call->resumed = call->function != 0 && random_below(&seed, 100) == 0;
		if (call->function != 0 && random_below(&seed, 10) == 0) {
			call->is_sum = random_below(&seed, 2) == 0;
			call->took_ns = call->is_sum ? 0 : 1 + random_below(&seed, 1000000);
			call->calls = random_below(&seed, UINT32_MAX);
		}
		if (call->function != 0 && call->took_ns == 0 && !call->is_sum &&
		    random_below(&seed, 20) == 0) {
			call->function = CTX_EXP_CALLS_LOST;
			call->resumed = true;
			call->calls = 0;
			call->lost = 1 + random_below(&seed, CTX_EXP_CALLS_SUM_MAX);
		}
		call->unseen = call->function != 0 && random_below(&seed, 30) == 0;
		if (call->left == 1 && !call->unwound && call->function == 0 &&
		    random_below(&seed, 10) == 0) {
			call->left = 0;
			call->counter = (uint8_t)random_below(&seed, CTX_CALL_COUNTERS);
			call->counted = 1 + random_below(&seed, CTX_EXP_CALLS_COUNTED_MAX);
		}
		made.depths[i] = depth;
		depth = depth - call->left + (call->function != 0 && call->took_ns == 0);
	}
	return made;
}

static void release(struct made *made)
{
	free(made->calls);
	free(made->depths);
}

static void check_same(const struct ctx_exp_call *got, uint32_t kept, const struct made *made, size_t i,
		       uint64_t start_ns)
{
	assert_int_equal(got->time_ns, made->calls[i].time_ns - start_ns);
	/* Of the reader's events it is an address of its own. */
	assert_true(got->function == made->calls[i].function ||
		    (got->function == CTX_FRAME_LOST && made->calls[i].function == CTX_EXP_CALLS_LOST));
	assert_int_equal(got->left, made->calls[i].left);
	assert_int_equal(got->unwound, made->calls[i].unwound);
	assert_int_equal(got->resumed, made->calls[i].resumed);
	assert_int_equal(got->is_sum, made->calls[i].is_sum);
	assert_int_equal(got->took_ns, made->calls[i].took_ns);
	assert_int_equal(got->calls, made->calls[i].calls);
	assert_int_equal(got->unseen, made->calls[i].unseen);
	assert_int_equal(got->lost, made->calls[i].lost);
	assert_int_equal(got->counted, made->calls[i].counted);
	assert_int_equal(got->counter, made->calls[i].counter);
	assert_int_equal(kept, made->depths[i] - made->calls[i].left);
}

static void encode(const struct made *made, struct ctx_exp_call_block *block, struct ctx_buf *out)
{
	bool is_new;

	for (size_t i = 0; i < made->n; i++)
		assert_int_equal(ctx_exp_call_put(block, &made->calls[i], &is_new, NULL), CTX_OK);
	assert_int_equal(block->n, made->n);
	assert_int_equal(ctx_exp_calls_encode(block, out, NULL), CTX_OK);
}

static void test_experiment_calls__a_block_is_read_as_it_was_written(void **state)
{
	static const size_t sizes[] = {1, 2, 7, 8, 9, 63, 1000, CTX_EXP_CALLS_MAX};
	struct ctx_exp_call_block block = {.thread = 5};
	struct ctx_exp_calls_in in = {0};

	(void)state;
	for (size_t k = 0; k < CTX_COUNT_OF(sizes); k++) {
		struct made made = make(k, sizes[k]);
		struct ctx_buf out = {0};
		struct ctx_exp_call call;
		uint32_t kept;

		block.depth_now = 0;
		ctx_exp_call_block_clear(&block); /* of what the size before has left */
		encode(&made, &block, &out);
		assert_int_equal(ctx_exp_calls_begin(&in, (struct ctx_bytes){out.bytes, out.n},
						     block.first_ns, block.n, NULL),
				 CTX_OK);
		assert_int_equal(in.thread, 5);
		for (size_t i = 0; i < made.n; i++) {
			assert_int_equal(ctx_exp_calls_next(&in, &call, &kept, NULL), CTX_OK);
			check_same(&call, kept, &made, i, 0);
		}
		assert_int_equal(ctx_exp_calls_next(&in, &call, &kept, NULL), CTX_END);
		ctx_buf_deinit(&out);
		release(&made);
	}
	ctx_exp_call_block_deinit(&block);
	ctx_exp_calls_in_deinit(&in);
}

/* Whatever is read of a harmed payload: calls do not end that are not open. */
static void read_harmed(struct ctx_exp_calls_in *in, struct ctx_bytes payload, uint32_t n)
{
	struct ctx_exp_call call;
	uint32_t kept, depth;
	enum ctx_status status = ctx_exp_calls_begin(in, payload, 0, n, NULL);

	depth = in->depth;
	while (status == CTX_OK) {
		status = ctx_exp_calls_next(in, &call, &kept, NULL);
		if (status == CTX_OK)
			assert_true(call.left <= depth && kept == depth - call.left);
		depth = kept + (call.function != 0 && call.took_ns == 0);
	}
	assert_true(status == CTX_END || status == CTX_E_FORMAT);
}

static void test_experiment_calls__harmed_payloads_are_refused_or_make_sense(void **state)
{
	struct made made = make(3, 300);
	struct ctx_exp_call_block block = {0};
	struct ctx_exp_calls_in in = {0};
	struct ctx_buf out = {0};

	(void)state;
	encode(&made, &block, &out);
	for (size_t n = 0; n < out.n; n++) {
		uint8_t was = out.bytes[n];

		read_harmed(&in, (struct ctx_bytes){out.bytes, n}, block.n);
		for (unsigned bit = 0; bit < 8; bit++) {
			out.bytes[n] = (uint8_t)(was ^ 1u << bit);
			read_harmed(&in, (struct ctx_bytes){out.bytes, out.n}, block.n);
		}
		out.bytes[n] = was;
	}
	assert_int_equal(
		ctx_exp_calls_begin(&in, (struct ctx_bytes){out.bytes, out.n}, 0, CTX_EXP_CALLS_READ, NULL),
		CTX_E_FORMAT);
	ctx_buf_deinit(&out);
	ctx_exp_call_block_deinit(&block);
	ctx_exp_calls_in_deinit(&in);
	release(&made);
}

/* The example of docs/experiment-format.md, kind 14. */
static void test_experiment_calls__the_payload_is_that_of_the_document(void **state)
{
	static const uint8_t wanted[] = {7, 0, 1, 5,	3,    3,    6, 0x13, 0, 10, 2, 1, 3,
					 0, 0, 1, 0x80, 0x40, 0x40, 3, 1,    1, 0,  2, 0};
	static const struct ctx_exp_call calls[] = {{.time_ns = 1000, .function = 0x1000},
						    {.time_ns = 1010, .function = 0x1020},
						    {.time_ns = 1012, .left = 1},
						    {.time_ns = 1013, .left = 1, .unwound = true},
						    {.time_ns = 1016, .function = 0x1000, .resumed = true}};
	struct ctx_exp_call_block block = {.thread = 7};
	struct ctx_buf out = {0};
	bool is_new;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(calls); i++) {
		assert_int_equal(ctx_exp_call_put(&block, &calls[i], &is_new, NULL), CTX_OK);
		assert_int_equal(is_new, i < 2);
	}
	assert_int_equal(ctx_exp_calls_encode(&block, &out, NULL), CTX_OK);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	ctx_buf_deinit(&out);
	ctx_exp_call_block_deinit(&block);
}

/* The other one: a second of a path that was called three times, and how long that took. */
static void test_experiment_calls__sums_are_those_of_the_document(void **state)
{
	static const uint8_t wanted[] = {7, 0,	  1,	3, 2, 2, 9, 3, 0, 100, 0,  0,
					 1, 0x80, 0x40, 0, 4, 0, 3, 0, 8, 0,   33, 3};
	static const struct ctx_exp_call calls[] = {
		{.time_ns = 1000, .function = 0x1000, .is_sum = true, .calls = 3},
		{.time_ns = 1100, .function = 0x1000, .took_ns = 33, .calls = 3},
		{.time_ns = 1100, .left = 1}};
	struct ctx_exp_call_block block = {.thread = 7};
	struct ctx_buf out = {0};
	bool is_new;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(calls); i++)
		assert_int_equal(ctx_exp_call_put(&block, &calls[i], &is_new, NULL), CTX_OK);
	assert_int_equal(block.depth_now, 0);
	assert_int_equal(ctx_exp_calls_encode(&block, &out, NULL), CTX_OK);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	ctx_buf_deinit(&out);
	ctx_exp_call_block_deinit(&block);
}

struct run {
	struct ctx_exp_writer *writer;
	uint32_t process, threads[THREADS];
	struct made made[THREADS];
};

static void begin(struct run *run, const char *path, bool has_calls)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_calls = has_calls;
	run->writer = place_begin(&options, &run->process, run->threads, THREADS);
	for (uint32_t i = 0; i < THREADS; i++)
		run->made[i] = make(i + 17, EVENTS);
}

static void write_all(struct run *run)
{
	for (size_t from = 0; from < EVENTS; from += 1000) {
		for (uint32_t i = 0; i < THREADS; i++) {
			const struct ctx_exp_calls calls = {.process = run->process,
							    .thread = run->threads[i],
							    .depth = run->made[i].depths[from],
							    .items = run->made[i].calls + from,
							    .n = 1000};

			assert_int_equal(ctx_exp_calls(run->writer, &calls, NULL), CTX_OK);
		}
	}
	assert_int_equal(ctx_exp_close(run->writer, FIXTURE_START_NS + UINT64_C(10000000000), NULL), CTX_OK);
}

struct reading {
	size_t n[THREADS], n_damages;
	uint64_t last_ns;
	bool is_whole;
};

static void check_event(const struct run *run, const struct ctx_event *event, struct reading *reading)
{
	const struct made *made = &run->made[event->thread];
	size_t i = reading->n[event->thread]++;

	assert_true(event->time_ns >= reading->last_ns); /* threads too are in order of time */
	reading->last_ns = event->time_ns;
	assert_int_equal(event->call.code, CTX_CALL_INSTRUMENTED);
	assert_null(event->call.counted);
	if (!reading->is_whole)
		return;
	check_same(&(struct ctx_exp_call){.time_ns = event->time_ns,
					  .function = event->call.frame,
					  .left = made->calls[i].left,
					  .unwound = event->call.unwound,
					  .resumed = event->call.resumed,
					  .is_sum = event->call.is_sum,
					  .took_ns = event->call.took_ns,
					  .calls = event->call.calls,
					  .unseen = event->call.unseen,
					  .lost = event->call.lost,
					  .counted = made->calls[i].counted,
					  .counter = made->calls[i].counter},
		   event->call.kept, made, i, FIXTURE_START_NS);
}

static void read_back(const struct run *run, const char *path, struct reading *reading)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_true(source->info.has_calls);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_CALL)
			check_event(run, &event, reading);
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
}

static void end(struct run *run)
{
	for (uint32_t i = 0; i < THREADS; i++)
		release(&run->made[i]);
}

static void test_experiment_calls__events_of_threads_come_in_order_of_time(void **state)
{
	struct place *place = *state;
	struct reading reading = {.is_whole = true};
	struct run run;

	begin(&run, place->path, true);
	write_all(&run);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_damages, 0);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(reading.n[i], EVENTS);
	end(&run);
}

static void test_experiment_calls__a_damaged_block_costs_its_events(void **state)
{
	struct place *place = *state;
	struct reading reading = {0};
	struct run run;
	char name[512];
	uint8_t byte;
	int fd;

	begin(&run, place->path, true);
	write_all(&run);
	snprintf(name, sizeof(name), "%s/callevents", place->path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n[0] + reading.n[1] + reading.n[2], THREADS * EVENTS - CTX_EXP_CALLS_MAX,
			THREADS * EVENTS - 1);
	end(&run);
}

static void test_experiment_calls__what_does_not_fit_is_mended_or_refused(void **state)
{
	struct place *place = *state;
	static const struct ctx_exp_call made[] = {{.time_ns = FIXTURE_START_NS + 50, .function = 0x1000},
						   {.time_ns = FIXTURE_START_NS + 40, .left = 9}};
	struct ctx_exp_calls calls = {.items = made, .n = 2};
	struct ctx_event_source *source;
	struct ctx_event event;
	size_t n = 0;
	struct run run;

	begin(&run, place->path, true);
	calls.process = run.process;
	calls.thread = run.threads[0];
	assert_int_equal(ctx_exp_calls(run.writer, &calls, NULL), CTX_OK);
	calls.thread = 77;
	assert_int_equal(ctx_exp_calls(run.writer, &calls, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 100, NULL), CTX_OK);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind != CTX_EV_CALL)
			continue;
		assert_int_equal(event.time_ns, 50);
		assert_int_equal(event.call.kept, 0);
		n++;
	}
	assert_int_equal(n, 2);
	source->close(source);
	end(&run);
}

static void test_experiment_calls__without_calls_they_are_refused(void **state)
{
	struct place *place = *state;
	static const struct ctx_exp_call made = {.time_ns = FIXTURE_START_NS, .function = 1};
	struct ctx_exp_calls calls = {.items = &made, .n = 1};
	struct run run;

	begin(&run, place->path, false);
	calls.process = run.process;
	calls.thread = run.threads[0];
	assert_int_equal(ctx_exp_calls(run.writer, &calls, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_experiment_calls__a_block_is_read_as_it_was_written),
		cmocka_unit_test(test_experiment_calls__harmed_payloads_are_refused_or_make_sense),
		cmocka_unit_test(test_experiment_calls__the_payload_is_that_of_the_document),
		cmocka_unit_test(test_experiment_calls__sums_are_those_of_the_document),
		place_test(test_experiment_calls__events_of_threads_come_in_order_of_time),
		place_test(test_experiment_calls__a_damaged_block_costs_its_events),
		place_test(test_experiment_calls__what_does_not_fit_is_mended_or_refused),
		place_test(test_experiment_calls__without_calls_they_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
