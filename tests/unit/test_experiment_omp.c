/* OpenMP, written to an experiment and read: the same events; what is refused; damage. */
#include "chance.h"
#include "experiment_place.h"

#include "model/omp.h"

#include <fcntl.h>
#include <stdlib.h>

#define STEPS 5000u
#define THREADS 3u

struct run {
	struct ctx_exp_writer *writer;
	uint32_t process, threads[THREADS];
};

static void begin(struct run *run, const char *path, bool has_omp)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_omp = has_omp;
	run->writer = place_begin(&options, &run->process, run->threads, THREADS);
}

struct made {
	struct ctx_exp_omp omp;
	uint64_t frames[3];
};

/* The i-th event of a sequence; no two at the same time. */
static void make(const struct run *run, uint64_t i, struct made *ret)
{
	uint64_t seed = i * 77 + 5;

	*ret = (struct made){.omp = {.time_ns = FIXTURE_START_NS + 1000000 + i * 7,
				     .process = run->process,
				     .thread = run->threads[random_below(&seed, THREADS)],
				     .event = (uint8_t)random_below(&seed, CTX_OMP_EVENT_N),
				     .n_frames = random_below(&seed, 4)},
			     .frames = {0x1000 + random_below(&seed, 9), 0x2000, 0x3000}};
	if (ret->omp.event == CTX_OMP_ENTER || ret->omp.event == CTX_OMP_LEAVE)
		ret->omp.value = (uint32_t)(CTX_OMP_REDUCTION +
					    random_below(&seed, CTX_OMP_STATE_N - CTX_OMP_REDUCTION));
	else if (ret->omp.event == CTX_OMP_SHARE_BEGIN || ret->omp.event == CTX_OMP_SHARE_END ||
		 ret->omp.event == CTX_OMP_SCHEDULED)
		ret->omp.value =
			ctx_omp_share_pack((enum ctx_omp_share)(1 + random_below(&seed, CTX_OMP_SHARE_N - 1)),
					   (enum ctx_omp_schedule)random_below(&seed, CTX_OMP_SCHEDULE_N),
					   (int64_t)random_below(&seed, 1 << 25));
	else
		ret->omp.value = (uint32_t)(1 + random_below(&seed, UINT32_MAX));
	ret->omp.has_body = ret->omp.n_frames != 0 && random_below(&seed, 2) == 0;
}

static void write_all(struct run *run)
{
	struct made made;

	for (uint64_t from = 0; from < STEPS; from += 500) {
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			for (uint64_t i = from; i < from + 500; i++) {
				make(run, i, &made);
				made.omp.frames = made.frames;
				if (made.omp.thread == run->threads[thread])
					assert_int_equal(ctx_exp_omp(run->writer, &made.omp, NULL), CTX_OK);
			}
		}
	}
	assert_int_equal(ctx_exp_close(run->writer, FIXTURE_START_NS + 10000000, NULL), CTX_OK);
}

struct reading {
	uint64_t n, n_damages;
	bool has_omp;
};

static void read_back(const struct run *run, const char *path, struct reading *reading)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;

	*reading = (struct reading){0};
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	reading->has_omp = source->info.has_omp;
	assert_int_equal(source->info.n_metrics, CTX_COUNT_OF(FIXTURE_METRICS));
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
		if (event.kind == CTX_EV_OMP) {
			struct made made;

			make(run, (event.time_ns - 1000000) / 7, &made);
			assert_int_equal(event.omp.event, made.omp.event);
			assert_int_equal(event.omp.value, made.omp.value);
			assert_int_equal(event.omp.has_body, made.omp.has_body);
			assert_int_equal(event.omp.stack.id != 0, made.omp.n_frames != 0);
			reading->n++;
		}
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
}

static void test_experiment_omp__events_come_back(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;

	begin(&run, place->path, true);
	write_all(&run);
	read_back(&run, place->path, &reading);
	assert_true(reading.has_omp);
	assert_int_equal(reading.n, STEPS);
	assert_int_equal(reading.n_damages, 0);
}

static void test_experiment_omp__a_damaged_block_costs_its_events(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;
	char name[512];
	uint8_t byte;
	int fd;

	begin(&run, place->path, true);
	write_all(&run);
	snprintf(name, sizeof(name), "%s/omptrace", place->path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n, STEPS - 2048, STEPS - 1);
}

static void test_experiment_omp__what_makes_no_sense_is_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_omp omp = {.time_ns = FIXTURE_START_NS, .event = CTX_OMP_JOIN, .value = 1};
	struct run run;

	begin(&run, place->path, true);
	omp.process = run.process;
	omp.thread = run.threads[0];
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_OK);
	omp.value = 0;
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_E_ARG);
	omp.event = CTX_OMP_ENTER;
	omp.value = CTX_OMP_WORK;
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_E_ARG);
	omp.value = CTX_OMP_STATE_N;
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_E_ARG);
	omp.event = CTX_OMP_EVENT_N;
	omp.value = 1;
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

static void test_experiment_omp__what_was_not_announced_is_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_omp omp = {.time_ns = FIXTURE_START_NS, .event = CTX_OMP_JOIN, .value = 1};
	struct reading reading;
	struct run run;

	begin(&run, place->path, false);
	omp.process = run.process;
	omp.thread = run.threads[0];
	assert_int_equal(ctx_exp_omp(run.writer, &omp, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
	read_back(&run, place->path, &reading);
	assert_false(reading.has_omp);
}

/* The example of docs/experiment-format.md, kind 15. */
static void test_experiment_omp__the_payload_is_that_of_the_document(void **state)
{
	static const uint8_t wanted[] = {0, 0, 5, 1, 0, 1, 0, 1, 1, 0, 0x80, 0x02, 4, 0, 7, 5};
	const struct ctx_exp_packet packets[] = {
		{.time_ns = 1000,
		 .cpu = -1,
		 .stack = 1,
		 .operation = CTX_OMP_REGION_BEGIN | CTX_EXP_OMP_BODY,
		 .size = 7},
		{.time_ns = 1005,
		 .cpu = -1,
		 .stack = 1,
		 .operation = CTX_OMP_ENTER,
		 .size = CTX_OMP_IMPLICIT_BARRIER,
		 .order = 1},
	};
	struct ctx_buf out = {0};

	(void)state;
	ctx_exp_encode_packets(packets, 2, &out);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_omp__events_come_back),
		place_test(test_experiment_omp__a_damaged_block_costs_its_events),
		place_test(test_experiment_omp__what_makes_no_sense_is_refused),
		place_test(test_experiment_omp__what_was_not_announced_is_refused),
		cmocka_unit_test(test_experiment_omp__the_payload_is_that_of_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
