/* What programs say of themselves, written to an experiment and read: begins and ends together, limits, damage. */
#include "chance.h"
#include "experiment_place.h"

#include "formats/experiment/exp_io_block.h"

#include <fcntl.h>
#include <stdlib.h>

#define STEPS 6000u
#define THREADS 3u
#define NAMES 5u

struct run {
	struct ctx_exp_writer *writer;
	uint32_t process, threads[THREADS];
};

static void begin(struct run *run, const char *path, bool has_marks)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_marks = has_marks;
	run->writer = place_begin(&options, &run->process, run->threads, THREADS);
}

/* The i-th mark of a sequence; no two at the same time. */
struct made {
	struct ctx_exp_mark mark;
	char name[16];
	uint64_t frames[2];
};

static void make(const struct run *run, uint64_t i, struct made *ret)
{
	static const uint8_t operations[] = {
		CTX_MARK_POINT,	   CTX_MARK_BEGIN,  CTX_MARK_BEGIN,   CTX_MARK_END,   CTX_MARK_END,
		CTX_MARK_BEGIN_ID, CTX_MARK_END_ID, CTX_MARK_COUNTER, CTX_MARK_PAUSE, CTX_MARK_RESUME};
	uint64_t seed = i * 77 + 5;

	*ret = (struct made){
		.mark = {.time_ns = FIXTURE_START_NS + 1000000 + i * 7,
			 .process = run->process,
			 .thread = run->threads[random_below(&seed, THREADS)],
			 .operation = operations[random_below(&seed, sizeof(operations))],
			 .value = (int64_t)random_below(&seed, 7) - 3,
			 .n_frames = random_below(&seed, 3)},
		.frames = {0x1000 + random_below(&seed, 9), 0x2000},
	};
	snprintf(ret->name, sizeof(ret->name), "name %u", (unsigned)random_below(&seed, NAMES));
}

static void write_all(struct run *run)
{
	struct made made;

	for (uint64_t from = 0; from < STEPS; from += 500) {
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			for (uint64_t i = from; i < from + 500; i++) {
				make(run, i, &made);
				made.mark.name = made.name;
				made.mark.frames = made.frames;
				if (made.mark.thread == run->threads[thread])
					assert_int_equal(ctx_exp_mark(run->writer, &made.mark, NULL), CTX_OK);
			}
		}
	}
	assert_int_equal(ctx_exp_close(run->writer, FIXTURE_START_NS + 10000000, NULL), CTX_OK);
}

static bool has_number(unsigned operation)
{
	return operation == CTX_MARK_BEGIN_ID || operation == CTX_MARK_END_ID;
}

/* The first pause behind the last resume. */
static uint64_t pause_of(const struct run *run, uint64_t i)
{
	uint64_t found = STEPS;
	struct made made;

	while (i-- > 0) {
		make(run, i, &made);
		if (made.mark.operation == CTX_MARK_RESUME)
			break;
		if (made.mark.operation == CTX_MARK_PAUSE)
			found = i;
	}
	return found;
}

/* Which mark the i-th one ends: all before it of its name, and of its number or thread, once more. STEPS: none. */
static uint64_t slowly_begun(const struct run *run, uint64_t i)
{
	uint64_t begins[STEPS];
	struct made end, made;
	size_t n = 0;

	make(run, i, &end);
	for (uint64_t k = 0; k < i; k++) {
		make(run, k, &made);
		if (has_number(made.mark.operation) != has_number(end.mark.operation) ||
		    strcmp(made.name, end.name) != 0 ||
		    (has_number(end.mark.operation) ? made.mark.value != end.mark.value
						    : made.mark.thread != end.mark.thread))
			continue;
		if (made.mark.operation == CTX_MARK_BEGIN || made.mark.operation == CTX_MARK_BEGIN_ID)
			begins[n++] = k;
		else if (made.mark.operation == CTX_MARK_END || made.mark.operation == CTX_MARK_END_ID)
			n -= n != 0;
	}
	return n != 0 ? begins[n - 1] : STEPS;
}

struct reading {
	uint64_t n, n_damages;
};

static void check_mark(const struct run *run, const struct ctx_event *event, bool checks_begins)
{
	const struct ctx_traced *got = event->traced.operation;
	uint64_t i = (event->time_ns - 1000000) / 7, begun = STEPS;
	bool ends = true;
	struct made made;

	make(run, i, &made);
	assert_int_equal(got->kind, CTX_TRACED_MARK);
	assert_int_equal(got->operation, made.mark.operation);
	assert_string_equal(event->traced.file, made.name);
	if (ctx_mark_has_value(made.mark.operation))
		assert_int_equal(got->value, made.mark.value);
	if (!checks_begins)
		return;
	if (got->operation == CTX_MARK_END || got->operation == CTX_MARK_END_ID)
		begun = slowly_begun(run, i);
	else if (got->operation == CTX_MARK_RESUME)
		begun = pause_of(run, i);
	else
		ends = false;
	assert_int_equal(got->failed, ends && begun == STEPS);
	assert_int_equal(got->duration_ns, ends && begun != STEPS ? (i - begun) * 7 : 0);
}

static void read_back(const struct run *run, const char *path, bool checks_begins, struct reading *reading)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;

	*reading = (struct reading){0};
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_int_equal(source->info.n_metrics, CTX_COUNT_OF(FIXTURE_METRICS));
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_TRACED) {
			check_mark(run, &event, checks_begins);
			reading->n++;
		}
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
}

static void test_experiment_marks__ends_have_the_time_since_their_begin(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;

	begin(&run, place->path, true);
	write_all(&run);
	read_back(&run, place->path, true, &reading);
	assert_int_equal(reading.n, STEPS);
	assert_int_equal(reading.n_damages, 0);
}

static void test_experiment_marks__a_damaged_block_costs_its_marks(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run;
	char name[512];
	uint8_t byte;
	int fd;

	begin(&run, place->path, true);
	write_all(&run);
	snprintf(name, sizeof(name), "%s/marktrace", place->path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
	read_back(&run, place->path, false, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n, STEPS - 2048, STEPS - 1);
}

static void test_experiment_marks__what_is_none_is_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_mark mark = {.name = "a"};
	struct run run;

	begin(&run, place->path, false);
	mark.process = run.process;
	mark.thread = run.threads[0];
	assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

static void test_experiment_marks__a_name_is_needed_and_the_number_known(void **state)
{
	struct place *place = *state;
	struct ctx_exp_mark mark = {.name = "", .time_ns = FIXTURE_START_NS};
	struct run run;

	begin(&run, place->path, true);
	mark.process = run.process;
	mark.thread = run.threads[0];
	assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_E_ARG);
	mark.name = NULL;
	assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_E_ARG);
	mark.name = "a";
	mark.operation = CTX_MARK_N;
	assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_E_ARG);
	mark.operation = CTX_MARK_RESUME;
	assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

/* Others than the first 4096 share a name; of more open intervals than 256 in a thread the outer ones are timed. */
static void test_experiment_marks__names_and_open_intervals_are_bounded(void **state)
{
	struct place *place = *state;
	struct ctx_exp_mark mark = {.time_ns = FIXTURE_START_NS};
	uint64_t n_others = 0, n_timed = 0, n_ends = 0;
	struct ctx_event_source *source;
	struct ctx_event event;
	char name[32];
	struct run run;

	begin(&run, place->path, true);
	mark.process = run.process;
	mark.thread = run.threads[0];
	mark.name = name;
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		mark.time_ns++;
		assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_OK);
	}
	snprintf(name, sizeof(name), "n0");
	for (unsigned i = 0; i < 1000; i++) {
		mark.operation = i < 500 ? CTX_MARK_BEGIN : CTX_MARK_END;
		mark.time_ns++;
		assert_int_equal(ctx_exp_mark(run.writer, &mark, NULL), CTX_OK);
	}
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 10000000, NULL), CTX_OK);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind != CTX_EV_TRACED)
			continue;
		n_others += strcmp(event.traced.file, "<Others>") == 0;
		n_ends += event.traced.operation->operation == CTX_MARK_END;
		n_timed +=
			event.traced.operation->operation == CTX_MARK_END && !event.traced.operation->failed;
	}
	source->close(source);
	assert_int_equal(n_others, 5000 - 4096);
	assert_int_equal(n_ends, 500);
	assert_int_equal(n_timed, 256);
}

/* The example of docs/experiment-format.md, kind 12. */
static void test_experiment_marks__the_payload_is_that_of_the_document(void **state)
{
	static const uint8_t wanted[] = {0, 0, 5, 1, 0, 1, 0, 1, 1, 0, 1, 5,   0, 0,
					 1, 0, 0, 0, 0, 0, 0, 1, 2, 2, 1, 'a', 1, 'b'};
	const struct ctx_exp_packet packets[] = {
		{.time_ns = 1000, .cpu = -1, .stack = 1, .operation = CTX_MARK_BEGIN},
		{.time_ns = 1005,
		 .cpu = -1,
		 .stack = 1,
		 .operation = CTX_MARK_COUNTER,
		 .size = ctx_zigzag_encode(-1),
		 .order = 1},
	};
	const struct ctx_exp_io_rest rest = {.descriptor = -1};
	struct ctx_exp_io_packets names = {0};
	struct ctx_buf out = {0};

	(void)state;
	assert_int_equal(ctx_exp_io_packets_reserve(&names, 2, NULL), CTX_OK);
	assert_int_equal(ctx_exp_io_packets_put(&names, 0, &rest, "a", NULL), CTX_OK);
	assert_int_equal(ctx_exp_io_packets_put(&names, 1, &rest, "b", NULL), CTX_OK);
	ctx_exp_encode_io(packets, &names, 2, &out);
	assert_int_equal(out.n, sizeof(wanted));
	assert_memory_equal(out.bytes, wanted, sizeof(wanted));
	ctx_exp_io_packets_deinit(&names);
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_marks__ends_have_the_time_since_their_begin),
		place_test(test_experiment_marks__a_damaged_block_costs_its_marks),
		place_test(test_experiment_marks__what_is_none_is_refused),
		place_test(test_experiment_marks__a_name_is_needed_and_the_number_known),
		place_test(test_experiment_marks__names_and_open_intervals_are_bounded),
		cmocka_unit_test(test_experiment_marks__the_payload_is_that_of_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
