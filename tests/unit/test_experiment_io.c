/* Input and output of an experiment: written, read, damaged; what descriptors are called at which time. */
#include "traced_fixture.h"

#include "formats/experiment/exp_io_block.h"
#include "formats/experiment/exp_io_names.h"
#include "model/io_call.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS 9000u

static void begin(struct traced_recording *run, const char *path, bool has_io)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_io = has_io;
	traced_begin(run, &options);
}

/* The i-th operation of a sequence: each has a file of its own or that of descriptor 7. */
struct made {
	struct ctx_exp_io io;
	char name[64];
	uint64_t frames[4];
};

static void make(const struct traced_recording *run, uint64_t i, struct made *ret)
{
	uint64_t seed = i * 77 + 5;

	*ret = (struct made){.io = {.time_ns = traced_time_ns(i),
				    .duration_ns = random_below(&seed, 1000000),
				    .process = run->process,
				    .thread = run->threads[random_below(&seed, TRACED_THREADS)],
				    .call = CTX_CALL_READ,
				    .descriptor = 7,
				    .size = random_below(&seed, 1 << 20),
				    .n_frames = 1 + random_below(&seed, 3)}};
	for (size_t k = 0; k < ret->io.n_frames; k++)
		ret->frames[k] = 0x1000 + random_below(&seed, 9);
	if (i == 0) {
		ret->io.call = CTX_CALL_OPEN;
		ret->io.size = 0;
		snprintf(ret->name, sizeof(ret->name), "/seven");
	} else if (random_below(&seed, 3) == 0) {
		ret->io.call = CTX_CALL_STAT;
		ret->io.descriptor = -1;
		ret->io.size = 0;
		snprintf(ret->name, sizeof(ret->name), "/file/%u", (unsigned)random_below(&seed, 500));
	} else if (random_below(&seed, 5) == 0) {
		ret->io.call = CTX_CALL_PWRITE;
		ret->io.error = (uint16_t)(1 + random_below(&seed, 100)); /* then the size says nothing */
	}
}

static void put(void *context, size_t i, uint32_t thread)
{
	const struct traced_recording *run = context;
	struct made made;

	make(run, i, &made);
	made.io.name = made.name[0] != '\0' ? made.name : NULL;
	made.io.frames = made.frames;
	if (made.io.thread == thread)
		assert_int_equal(ctx_exp_io(run->writer, &made.io, NULL), CTX_OK);
}

struct reading {
	uint64_t n, n_damages, n_nameless;
	uint64_t sums[10], samples[10]; /* by metric: of the operations, of the samples */
};

static void check_operation(const struct traced_recording *run, const struct ctx_event *event,
			    struct reading *reading)
{
	const struct ctx_traced *got = event->traced.operation;
	uint64_t i = traced_number(event->time_ns);
	unsigned metric = 0;
	struct made made;

	make(run, i, &made);
	assert_int_equal(got->kind, CTX_TRACED_IO);
	assert_int_equal(got->operation, ctx_io_call_operation(made.io.call));
	assert_int_equal(got->call, made.io.call);
	assert_int_equal(got->error, made.io.error);
	assert_int_equal(got->failed, made.io.error != 0);
	assert_int_equal(got->size, made.io.error == 0 ? made.io.size : 0);
	assert_int_equal(got->duration_ns, made.io.duration_ns);
	assert_int_equal(got->descriptor, made.io.descriptor);
	if (event->traced.file == NULL)
		reading->n_nameless++;
	else
		assert_string_equal(event->traced.file, made.name[0] != '\0' ? made.name : "/seven");
	metric = got->failed ? 8 : got->operation == CTX_IO_READ ? 0 : got->operation == CTX_IO_WRITE ? 3 : 6;
	reading->sums[metric] += got->duration_ns;
	if (metric < 6)
		reading->sums[metric + 1] += got->size;
	reading->n++;
}

static void read_back(const struct traced_recording *run, const char *path, struct reading *reading)
{
	static const char *const words[] = {"ioreadtime",   "ioreadbytes", "ioreadcnt",	  "iowritetime",
					    "iowritebytes", "iowritecnt",  "ioothertime", "ioothercnt",
					    "ioerrortime",  "ioerrorcnt"};
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;
	uint32_t n = CTX_COUNT_OF(FIXTURE_METRICS);

	*reading = (struct reading){0};
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_int_equal(source->info.n_metrics, n + CTX_COUNT_OF(words));
	for (uint32_t i = 0; i < CTX_COUNT_OF(words); i++)
		assert_string_equal(source->info.metrics[n + i].word, words[i]);
	assert_int_equal(source->info.metrics[n + 9].of, n + 8);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_TRACED)
			check_operation(run, &event, reading);
		if (event.kind == CTX_EV_SAMPLE)
			reading->samples[event.sample.metric - n] += event.sample.weight;
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
	assert_memory_equal(reading->sums, reading->samples, sizeof(reading->sums));
}

static void test_experiment_io__operations_of_several_threads_come_back_with_their_files(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct traced_recording run;

	begin(&run, place->path, true);
	traced_write(&run, STEPS, 500, put, &run);
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n, STEPS);
	assert_int_equal(reading.n_damages, 0);
	assert_int_equal(reading.n_nameless, 0);
}

static void test_experiment_io__a_damaged_block_costs_its_operations(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct traced_recording run;

	begin(&run, place->path, true);
	traced_write(&run, STEPS, 500, put, &run);
	traced_damage(place->path, "iotrace");
	read_back(&run, place->path, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n, STEPS - 2048, STEPS - 1);
}

static void test_experiment_io__is_refused_where_none_was_announced(void **state)
{
	struct place *place = *state;
	struct traced_recording run;
	struct ctx_exp_io io = {.call = CTX_CALL_READ};

	begin(&run, place->path, false);
	io.process = run.process;
	io.thread = run.threads[0];
	assert_int_equal(ctx_exp_io(run.writer, &io, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

/* A block of one operation with names as the bytes say. */
static enum ctx_status decode(const char *names, size_t n_names)
{
	static const struct ctx_exp_packet packet = {.operation = CTX_CALL_READ};
	struct ctx_exp_packet packets[1];
	struct ctx_exp_io_rest rest[1];
	struct ctx_exp_io_block block = {.packets = packets, .rest = rest, .n = 1};
	struct ctx_exp_io_packets io = {0};
	struct ctx_buf out = {0};
	enum ctx_status status;

	assert_int_equal(ctx_exp_io_packets_reserve(&io, 1, NULL), CTX_OK);
	assert_int_equal(ctx_exp_io_packets_put(&io, 0, &(struct ctx_exp_io_rest){0}, NULL, NULL), CTX_OK);
	ctx_exp_encode_io(&packet, &io, 1, &out);
	out.n--; /* the number of names */
	ctx_buf_put(&out, names, n_names);
	status = ctx_exp_decode_io((struct ctx_bytes){out.bytes, out.n}, 0, &block, NULL);
	ctx_exp_io_block_deinit(&block);
	ctx_exp_io_packets_deinit(&io);
	ctx_buf_deinit(&out);
	return status;
}

static void test_experiment_io__names_of_a_block_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(decode("\0", 1), CTX_OK);
	assert_int_equal(decode("\1\3abc", 5), CTX_OK);
	assert_int_equal(decode("\1\4abc", 5), CTX_E_FORMAT);	       /* ends early */
	assert_int_equal(decode("\1\0", 2), CTX_E_FORMAT);	       /* empty */
	assert_int_equal(decode("\2\1a\1b", 5), CTX_E_FORMAT);	       /* more names than operations */
	assert_int_equal(decode("\xff\xff\xff\x7f", 4), CTX_E_FORMAT); /* the same */
	assert_int_equal(decode("", 0), CTX_E_FORMAT);
}

/* Names */

struct namer {
	struct ctx_exp_io_names names;
	struct ctx_exp_io_descriptors descriptors;
	uint64_t now_ns;
};

/* The operation's file, "-" for none; it took 10 ns, and is the next one. */
static const char *step(struct namer *namer, struct ctx_exp_io_step what)
{
	const char *name = NULL;

	namer->now_ns += 100;
	what.end_ns += namer->now_ns;
	what.begin_ns = what.begin_ns != 0 ? what.begin_ns : what.end_ns - 10;
	assert_int_equal(ctx_exp_io_names_step(&namer->names, &namer->descriptors, &what, &name, NULL),
			 CTX_OK);
	return name != NULL ? name : "-";
}

#define STEP(...) step(&namer, (struct ctx_exp_io_step){__VA_ARGS__})

static void end(struct namer *namer)
{
	ctx_exp_io_descriptors_deinit(&namer->descriptors);
	ctx_exp_io_names_deinit(&namer->names);
}

static void test_experiment_io__names_follow_copies_and_closing(void **state)
{
	struct namer namer = {0};

	(void)state;
	assert_string_equal(STEP(.call = CTX_CALL_NAME, .descriptor = 0, .name = "/dev/tty"), "/dev/tty");
	assert_string_equal(STEP(.call = CTX_CALL_READ, .descriptor = 0), "/dev/tty");
	assert_string_equal(STEP(.call = CTX_CALL_READ, .descriptor = 3), "-");
	assert_string_equal(STEP(.call = CTX_CALL_OPEN, .descriptor = 3, .name = "/a"), "/a");
	assert_string_equal(STEP(.call = CTX_CALL_DUP, .descriptor = 4, .size = 3 + 1), "/a");
	assert_string_equal(STEP(.call = CTX_CALL_CLOSE, .descriptor = 3), "/a");
	assert_string_equal(STEP(.call = CTX_CALL_READ, .descriptor = 3), "-");
	assert_string_equal(STEP(.call = CTX_CALL_WRITE, .descriptor = 4), "/a");
	assert_string_equal(STEP(.call = CTX_CALL_DUP2, .descriptor = 4, .size = 0 + 1), "/dev/tty");
	assert_string_equal(STEP(.call = CTX_CALL_WRITE, .descriptor = 4), "/dev/tty");
	/* What failed changes nothing. */
	assert_string_equal(STEP(.call = CTX_CALL_OPEN, .descriptor = -1, .error = ENOENT, .name = "/b"),
			    "/b");
	assert_string_equal(STEP(.call = CTX_CALL_CLOSE, .descriptor = 4, .error = EIO), "/dev/tty");
	assert_string_equal(STEP(.call = CTX_CALL_WRITE, .descriptor = 4), "/dev/tty");
	/* A copy of what has no name has none; and a name that is found later counts from then on. */
	assert_string_equal(STEP(.call = CTX_CALL_DUP, .descriptor = 4, .size = 77 + 1), "-");
	assert_string_equal(STEP(.call = CTX_CALL_WRITE, .descriptor = 4), "-");
	assert_string_equal(STEP(.call = CTX_CALL_WRITE, .descriptor = 4, .name = "/found"), "/found");
	assert_string_equal(STEP(.call = CTX_CALL_FSYNC, .descriptor = 4), "/found");
	end(&namer);
}

static void test_experiment_io__sockets_are_called_by_their_addresses(void **state)
{
	struct namer namer = {0};

	(void)state;
	assert_string_equal(STEP(.call = CTX_CALL_SOCKET, .descriptor = 3, .name = "tcp socket"),
			    "tcp socket");
	assert_string_equal(STEP(.call = CTX_CALL_BIND, .descriptor = 3, .name = "inet *:80"), "inet *:80");
	assert_string_equal(STEP(.call = CTX_CALL_ACCEPT, .descriptor = 5, .size = 3 + 1), "inet *:80");
	assert_string_equal(STEP(.call = CTX_CALL_RECV, .descriptor = 5), "inet *:80");
	assert_string_equal(STEP(.call = CTX_CALL_SOCKET, .descriptor = 4, .name = "tcp socket"),
			    "tcp socket");
	assert_string_equal(
		STEP(.call = CTX_CALL_CONNECT, .descriptor = 4, .error = ECONNREFUSED, .name = "inet a:1"),
		"inet a:1");
	assert_string_equal(STEP(.call = CTX_CALL_SEND, .descriptor = 4), "tcp socket");
	assert_string_equal(
		STEP(.call = CTX_CALL_CONNECT, .descriptor = 4, .error = EINPROGRESS, .name = "inet a:2"),
		"inet a:2");
	assert_string_equal(STEP(.call = CTX_CALL_SEND, .descriptor = 4), "inet a:2");
	end(&namer);
}

static void test_experiment_io__relative_names_have_the_directory_of_their_time(void **state)
{
	struct namer namer = {0};
	char name[4000];

	(void)state;
	assert_string_equal(STEP(.call = CTX_CALL_STAT, .descriptor = -1, .name = "early"), "early");
	STEP(.call = CTX_CALL_NAME, .descriptor = -1, .name = "/home");
	assert_string_equal(STEP(.call = CTX_CALL_STAT, .descriptor = -1, .name = "x"), "/home/x");
	assert_string_equal(STEP(.call = CTX_CALL_OPEN, .descriptor = 3, .name = "./sub"), "/home/sub");
	assert_string_equal(STEP(.call = CTX_CALL_OPENAT, .descriptor = 4, .size = 3 + 1, .name = "x"),
			    "/home/sub/x");
	assert_string_equal(STEP(.call = CTX_CALL_OPENAT, .descriptor = 5, .size = 3 + 1, .name = "/x"),
			    "/x");
	assert_string_equal(STEP(.call = CTX_CALL_CHDIR, .descriptor = -1, .error = ENOENT, .name = "no"),
			    "/home/no");
	assert_string_equal(STEP(.call = CTX_CALL_CHDIR, .descriptor = -1, .name = "to"), "/home/to");
	assert_string_equal(STEP(.call = CTX_CALL_STAT, .descriptor = -1, .name = "."), "/home/to");
	assert_string_equal(STEP(.call = CTX_CALL_FCHDIR, .descriptor = 3), "/home/sub");
	assert_string_equal(STEP(.call = CTX_CALL_STREAM_OPEN, .descriptor = 6, .name = "y"), "/home/sub/y");
	STEP(.call = CTX_CALL_CHDIR, .descriptor = -1, .name = "/");
	assert_string_equal(STEP(.call = CTX_CALL_STAT, .descriptor = -1, .name = "etc"), "/etc");
	/* Too long together: as it was given. */
	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	STEP(.call = CTX_CALL_CHDIR, .descriptor = -1, .name = name);
	assert_string_equal(STEP(.call = CTX_CALL_STAT, .descriptor = -1, .name = name + 1), name + 1);
	end(&namer);
}

/* close has begun, the number is free, another thread's open is over before close returns. */
static void test_experiment_io__a_close_that_ends_late_does_not_forget_the_next_file(void **state)
{
	struct namer namer = {0};

	(void)state;
	STEP(.call = CTX_CALL_OPEN, .descriptor = 3, .name = "/first");
	STEP(.call = CTX_CALL_OPEN, .descriptor = 3, .name = "/second"); /* at 200 */
	assert_string_equal(STEP(.call = CTX_CALL_CLOSE, .descriptor = 3, .begin_ns = 150), "/first");
	assert_string_equal(STEP(.call = CTX_CALL_READ, .descriptor = 3), "/second");
	assert_string_equal(STEP(.call = CTX_CALL_CLOSE, .descriptor = 3), "/second");
	assert_string_equal(STEP(.call = CTX_CALL_READ, .descriptor = 3), "-");
	end(&namer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_io__operations_of_several_threads_come_back_with_their_files),
		place_test(test_experiment_io__a_damaged_block_costs_its_operations),
		place_test(test_experiment_io__is_refused_where_none_was_announced),
		cmocka_unit_test(test_experiment_io__names_of_a_block_are_bounded),
		cmocka_unit_test(test_experiment_io__names_follow_copies_and_closing),
		cmocka_unit_test(test_experiment_io__sockets_are_called_by_their_addresses),
		cmocka_unit_test(test_experiment_io__relative_names_have_the_directory_of_their_time),
		cmocka_unit_test(test_experiment_io__a_close_that_ends_late_does_not_forget_the_next_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
