/* Accesses to memory, written to an experiment and read: the same ones; what is refused; damage. */
#include "chance.h"
#include "experiment_place.h"

#include "formats/experiment/exp_io_block.h"
#include "model/traced_metrics.h"

#include <fcntl.h>
#include <stdlib.h>

#define STEPS 5000u
#define THREADS 3u

struct run {
	struct ctx_exp_writer *writer;
	uint32_t process, threads[THREADS];
};

static void begin(struct run *run, const char *path, bool has_accesses)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_accesses = has_accesses;
	run->writer = place_begin(&options, &run->process, run->threads, THREADS);
}

struct made {
	struct ctx_exp_memory_access access;
	uint64_t frames[3];
	char mapped[32];
};

/* The i-th access of a sequence; no two at the same time. */
static void make(const struct run *run, uint64_t i, struct made *ret)
{
	uint64_t seed = i * 77 + 5;
	struct ctx_exp_memory_access *access = &ret->access;

	*ret = (struct made){.frames = {0x1000 + random_below(&seed, 9), 0x2000, 0x3000}};
	access->time_ns = FIXTURE_START_NS + 1000000 + i * 7;
	access->process = run->process;
	access->thread = run->threads[random_below(&seed, THREADS)];
	access->operation = (uint8_t)random_below(&seed, CTX_MEMORY_OPERATION_N);
	access->cpu = (int32_t)random_below(&seed, 4) - 1;
	access->address =
		random_below(&seed, 5) == 0 ? UINT64_MAX : 0x7f0000000000 + random_below(&seed, 999);
	access->latency = random_below(&seed, 3) == 0 ? random_below(&seed, 700) : 0;
	access->source = random_below(&seed, 2) == 0 ? UINT64_C(1) << 63 | i : 0;
	access->physical = i % 3 == 0 ? i << 12 : 0;
	access->n_frames = random_below(&seed, 4);
	snprintf(ret->mapped, sizeof(ret->mapped), "/lib/%u", (unsigned)random_below(&seed, 5));
}

static void put(const struct run *run, uint64_t i)
{
	struct made made;

	make(run, i, &made);
	made.access.frames = made.frames;
	made.access.mapped = i % 4 != 0 ? made.mapped : NULL;
	assert_int_equal(ctx_exp_access(run->writer, &made.access, NULL), CTX_OK);
}

static void write_all(struct run *run)
{
	for (uint64_t i = 0; i < STEPS; i++)
		put(run, i ^ 1); /* not in order of time */
	assert_int_equal(ctx_exp_close(run->writer, FIXTURE_START_NS + 10000000, NULL), CTX_OK);
}

struct reading {
	uint64_t n, n_damages, n_counted, latency, wanted_latency;
	uint32_t n_metrics;
};

static void check(const struct run *run, const struct ctx_event *event, struct reading *reading)
{
	const struct ctx_traced *operation = event->traced.operation;
	uint64_t i = (event->time_ns - 1000000) / 7;
	struct made made;

	make(run, i, &made);
	assert_int_equal(operation->kind, CTX_TRACED_MEMORY);
	assert_int_equal(operation->operation, made.access.operation);
	assert_int_equal(operation->address, made.access.address);
	assert_int_equal(operation->latency, made.access.latency);
	assert_int_equal(operation->detail, made.access.source);
	assert_int_equal(operation->physical, made.access.physical);
	assert_int_equal(operation->cpu, made.access.cpu);
	assert_int_equal(event->traced.stack.id != 0, made.access.n_frames != 0);
	if (i % 4 != 0)
		assert_string_equal(event->traced.file, made.mapped);
	else
		assert_null(event->traced.file);
	reading->n++;
	reading->wanted_latency += operation->latency;
}

static void read_back(const struct run *run, const char *path, struct reading *reading)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;

	*reading = (struct reading){0};
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	reading->n_metrics = source->info.n_metrics - (uint32_t)CTX_COUNT_OF(FIXTURE_METRICS);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
		if (event.kind == CTX_EV_TRACED)
			check(run, &event, reading);
		if (event.kind != CTX_EV_SAMPLE)
			continue;
		if (strcmp(source->info.metrics[event.sample.metric].word, "memory-accesses") == 0)
			reading->n_counted += event.sample.weight;
		else
			reading->latency += event.sample.weight;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
}

static void test_experiment_accesses__come_back(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;

	begin(&run, place->path, true);
	write_all(&run);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_metrics, CTX_MEMORY_METRIC_N);
	assert_int_equal(reading.n, STEPS);
	assert_int_equal(reading.n_counted, STEPS);
	assert_true(reading.latency != 0);
	assert_int_equal(reading.latency, reading.wanted_latency);
	assert_int_equal(reading.n_damages, 0);
}

static void test_experiment_accesses__a_damaged_block_costs_its_accesses(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;
	char name[512];
	uint8_t byte;
	int fd;

	begin(&run, place->path, true);
	write_all(&run);
	snprintf(name, sizeof(name), "%s/%s", place->path, CTX_EXP_ACCESSES_FILE);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n, STEPS - 2048, STEPS - 1);
}

static void test_experiment_accesses__what_makes_no_sense_is_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_memory_access access = {.time_ns = FIXTURE_START_NS, .address = 1};
	struct run run;

	begin(&run, place->path, true);
	access.process = run.process;
	access.thread = run.threads[0];
	assert_int_equal(ctx_exp_access(run.writer, &access, NULL), CTX_OK);
	access.operation = CTX_MEMORY_OPERATION_N;
	assert_int_equal(ctx_exp_access(run.writer, &access, NULL), CTX_E_ARG);
	access.operation = CTX_MEMORY_LOAD;
	access.thread = 99;
	assert_int_equal(ctx_exp_access(run.writer, &access, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

static void test_experiment_accesses__what_was_not_announced_is_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_memory_access access = {.time_ns = FIXTURE_START_NS, .address = 1};
	struct reading reading;
	struct run run;

	begin(&run, place->path, false);
	access.process = run.process;
	access.thread = run.threads[0];
	assert_int_equal(ctx_exp_access(run.writer, &access, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_metrics, 0);
}

/* The example of docs/experiment-format.md, kind 16. */
static void test_experiment_accesses__the_payload_is_that_of_the_document(void **state)
{
	static const uint8_t wanted[] = {0, 0, 5, 1, 0, 1, 3, 1, 1,   0,   6, 2,    0, 0x10, 0x20, 0,	9,
					 0, 0, 0, 0, 1, 0, 1, 2, '[', 's', 0, 0x82, 1, 0,    0x80, 0x20};
	const struct ctx_exp_packet packets[] = {
		{.time_ns = 1000, .cpu = 2, .stack = 1, .operation = CTX_MEMORY_FAULT, .size = 0x10},
		{.time_ns = 1005,
		 .cpu = 2,
		 .stack = 1,
		 .operation = CTX_MEMORY_STORE,
		 .size = 0x20,
		 .order = 1},
	};
	struct ctx_exp_packet got[2];
	struct ctx_exp_io_rest rest[2];
	struct ctx_exp_io_block block = {.packets = got, .rest = rest, .n = 2};
	struct ctx_exp_io_packets io = {0};
	struct ctx_buf out = {0};

	(void)state;
	assert_int_equal(ctx_exp_io_packets_reserve(&io, 2, NULL), CTX_OK);
	assert_int_equal(
		ctx_exp_io_packets_put(&io, 0, &(struct ctx_exp_io_rest){.descriptor = -1}, "[s", NULL),
		CTX_OK);
	assert_int_equal(ctx_exp_io_packets_put(
				 &io, 1,
				 &(struct ctx_exp_io_rest){
					 .descriptor = -1, .duration_ns = 9, .detail = 130, .physical = 4096},
				 NULL, NULL),
			 CTX_OK);
	ctx_exp_encode_accesses(packets, &io, 2, &out);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	for (size_t cut = 0; cut < out.n; cut++) { /* every cut is damage */
		assert_int_equal(
			ctx_exp_decode_accesses((struct ctx_bytes){out.bytes, cut}, 1000, &block, NULL),
			CTX_E_FORMAT);
		ctx_exp_io_block_deinit(&block);
		block.n_names = block.name_bytes = 0;
	}
	assert_int_equal(ctx_exp_decode_accesses((struct ctx_bytes){out.bytes, out.n}, 1000, &block, NULL),
			 CTX_OK);
	assert_int_equal(rest[1].detail, 130);
	assert_int_equal(rest[1].physical, 4096);
	ctx_exp_io_block_deinit(&block);
	ctx_exp_io_packets_deinit(&io);
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_accesses__come_back),
		place_test(test_experiment_accesses__a_damaged_block_costs_its_accesses),
		place_test(test_experiment_accesses__what_makes_no_sense_is_refused),
		place_test(test_experiment_accesses__what_was_not_announced_is_refused),
		cmocka_unit_test(test_experiment_accesses__the_payload_is_that_of_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
