/*
 * Losses: joined when there are very many; located and told apart by the counts of their events, from
 * LOST records to lines of an experiment.
 */
#include "collect/losses.h"
#include "collect/lost_counts.h"
#include "experiment_fixture.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RINGS 2u
#define EVENTS 3u /* of a ring: of the side band, a clock, a switch */

static void test_losses__very_many_are_joined_and_none_is_forgotten(void **state)
{
	enum { N = 20000 };
	struct ctx_loss *losses = calloc(N, sizeof(*losses));
	uint64_t sum = 0, joined = 0, unlocated = 0;
	size_t n;

	(void)state;
	assert_non_null(losses);
	for (size_t i = 0; i < N; i++) {
		uint64_t begin_ns = (i * 7919 % N) * 100000;

		losses[i] = (struct ctx_loss){.time = {begin_ns, begin_ns + 50000},
					      .located = i % 1000 != 0,
					      .cpu = (int32_t)(i % 5) - 1,
					      .count = i};
		sum += i;
		unlocated += i % 1000 == 0 ? i : 0;
	}
	n = ctx_losses_tidy(losses, N);
	assert_true(n <= CTX_LOSSES_MAX && n >= 5 + 1);
	for (size_t i = 0; i < n; i++) {
		joined += losses[i].count;
		unlocated -= losses[i].located ? 0 : losses[i].count;
		if (i != 0 && losses[i].located && losses[i - 1].located)
			assert_true(losses[i - 1].time.begin_ns <= losses[i].time.begin_ns);
	}
	assert_int_equal(joined, sum);
	assert_int_equal(unlocated, 0);
	free(losses);
}

/* A session whose events are pipes, in which the counts are put that are read from them. */
struct world {
	struct ctx_session session;
	struct ctx_perf_events events;
	struct ctx_ring rings[RINGS];
	int fds[RINGS * EVENTS], ends[RINGS * EVENTS];
	int ring_fds[RINGS];
	int32_t ring_cpus[RINGS];
	struct ctx_exp_writer *writer;
	struct ctx_losses *losses;
	char *directory, *path;
};

static void count(struct world *world, uint32_t ring, uint64_t side_band, uint64_t samples, uint64_t changes)
{
	const uint64_t lost[EVENTS] = {side_band, samples, changes};

	for (uint64_t i = 0; i < EVENTS; i++) {
		uint64_t values[] = {0, 100 * ring + i, lost[i]};

		assert_int_equal(write(world->ends[ring * EVENTS + i], values, sizeof(values)),
				 sizeof(values));
	}
}

static void lose(struct world *world, uint32_t ring, uint64_t since_ms, uint64_t ms, uint64_t n)
{
	struct ctx_perf_record record = {.type = PERF_RECORD_LOST,
					 .cpu = world->ring_cpus[ring],
					 .time_ns = FIXTURE_START_NS + ms * 1000000,
					 .lost = n};

	assert_int_equal(ctx_losses_record(world->losses, ring, &record,
					   since_ms != 0 ? FIXTURE_START_NS + since_ms * 1000000 : 0, NULL),
			 CTX_OK);
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct ctx_exp_options options = {
		.metrics = FIXTURE_METRICS, .n_metrics = 1, .start_ns = FIXTURE_START_NS};

	assert_non_null(world);
	world->directory = fixture_directory();
	options.path = world->path = ctx_path_join(world->directory, "x.er");
	assert_int_equal(ctx_exp_create(&options, &world->writer, NULL), CTX_OK);
	world->events.n = 1;
	world->session = (struct ctx_session){.events = &world->events,
					      .rings = world->rings,
					      .n_rings = RINGS,
					      .ring_fds = world->ring_fds,
					      .ring_cpus = world->ring_cpus,
					      .fds = world->fds,
					      .n_fds = RINGS * EVENTS,
					      .read_format = 1};
	for (uint32_t i = 0; i < RINGS * EVENTS; i++) {
		int ends[2];

		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		world->fds[i] = ends[0];
		world->ends[i] = ends[1];
		if (i % EVENTS == 0) {
			world->ring_fds[i / EVENTS] = ends[0];
			world->ring_cpus[i / EVENTS] = (int32_t)(3 + i / EVENTS);
		} else {
			*ctx_map64_place(&world->session.event_of_id, 100 * (i / EVENTS) + i % EVENTS) =
				i % EVENTS - 1;
		}
	}
	assert_int_equal(
		ctx_losses_create(&world->session, world->writer, FIXTURE_START_NS, &world->losses, NULL),
		CTX_OK);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	for (uint32_t i = 0; i < RINGS * EVENTS; i++) {
		close(world->fds[i]);
		close(world->ends[i]);
	}
	ctx_losses_destroy(world->losses);
	ctx_map64_deinit(&world->session.event_of_id);
	free(world->path);
	fixture_remove(world->directory);
	free(world);
	return 0;
}

/* The recording ends; its log has just these losses. */
static void check_log(struct world *world, uint64_t end_ms, const char *const *lines, size_t n)
{
	char *path = ctx_path_join(world->path, "log.xml");
	struct ctx_buf log = {0};
	const char *at;

	assert_int_equal(ctx_losses_finish(world->losses, FIXTURE_START_NS + end_ms * 1000000, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + end_ms * 1000000, NULL), CTX_OK);
	assert_int_equal(ctx_file_read(path, 1 << 20, &log, NULL), CTX_OK);
	ctx_buf_put_u8(&log, 0);
	at = (const char *)log.bytes;
	for (size_t i = 0; i < n; i++) {
		at = strstr(at, "<event kind=\"lost\"");
		if (at == NULL || strncmp(at, lines[i], strlen(lines[i])) != 0)
			fail_msg("instead of %s: %.*s", lines[i], at != NULL ? (int)strcspn(at, "\n") : 0,
				 at);
		at++;
	}
	assert_null(strstr(at, "<event kind=\"lost\""));
	ctx_buf_deinit(&log);
	free(path);
}

static void test_losses__have_their_cpu_their_time_and_their_kinds(void **state)
{
	static const char *const LINES[] = {
		"<event kind=\"lost\" tstamp=\"0.010000000\" count=\"7\" gap_ns=\"10000000\" cpu=\"3\" "
		"samples=\"4\" changes=\"1\" others=\"2\"/>\n",
		"<event kind=\"lost\" tstamp=\"0.030000000\" count=\"5\" gap_ns=\"10000000\" cpu=\"4\" "
		"samples=\"5\" changes=\"0\" others=\"0\"/>\n",
		/* Three more had been lost by then, of which nobody knows which kinds they are. */
		"<event kind=\"lost\" tstamp=\"0.120000000\" count=\"2\" gap_ns=\"1000000\" cpu=\"3\"/>\n",
		"<event kind=\"lost\" tstamp=\"0.220000000\" count=\"3\" gap_ns=\"1000000\" cpu=\"3\"/>\n",
		/* And then it is known again. */
		"<event kind=\"lost\" tstamp=\"0.320000000\" count=\"6\" gap_ns=\"1000000\" cpu=\"3\" "
		"samples=\"0\" changes=\"6\" others=\"0\"/>\n",
		/* After the last record of the ring that had room. */
		"<event kind=\"lost\" tstamp=\"0.500000000\" count=\"9\" gap_ns=\"100000000\" cpu=\"4\" "
		"samples=\"9\" changes=\"0\" others=\"0\"/>\n",
	};
	struct world *world = *state;

	count(world, 0, 2, 4, 1);
	lose(world, 0, 0, 10, 7);
	count(world, 1, 0, 5, 0);
	lose(world, 1, 20, 30, 5);
	count(world, 0, 4, 6, 2);
	lose(world, 0, 119, 120, 2);
	count(world, 0, 4, 6, 2);
	lose(world, 0, 219, 220, 3);
	count(world, 0, 4, 6, 8);
	lose(world, 0, 319, 320, 6);
	assert_int_equal(ctx_losses_total(world->losses), 23);
	world->rings[1].last_ns = FIXTURE_START_NS + 400000000;
	count(world, 0, 4, 6, 8);
	count(world, 1, 0, 14, 0); /* is read twice */
	count(world, 1, 0, 14, 0);
	check_log(world, 500, LINES, CTX_COUNT_OF(LINES));
	assert_int_equal(ctx_losses_total(world->losses), 32);
}

/* A ring without room all the time does not fill the disk with lines. */
static void test_losses__of_a_ring_have_a_few_lines_a_second(void **state)
{
	const char *lines[17];
	struct world *world = *state;

	world->session.read_format = 0;
	for (uint64_t i = 0; i < 100; i++)
		lose(world, 0, 1 + 5 * i, 4 + 5 * i, 1);
	for (size_t i = 0; i < 16; i++)
		lines[i] = "<event kind=\"lost\" tstamp=\"0.0";
	lines[16] =
		"<event kind=\"lost\" tstamp=\"0.499000000\" count=\"84\" gap_ns=\"418000000\" cpu=\"3\"/>\n";
	check_log(world, 600, lines, 17);
	assert_int_equal(ctx_losses_total(world->losses), 100);
}

/* The kernel counts for us; nothing was lost by an event that nobody enabled. */
static void test_losses__counts_of_an_event_can_be_read(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .read_format = ctx_lost_counts_format(),
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	struct ctx_lost_count lost;
	uint64_t id;
	int fd;

	(void)state;
	if (attr.read_format == 0)
		skip();
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
	assert_true(ctx_lost_count_read(fd, &lost));
	assert_int_equal(lost.id, id);
	assert_int_equal(lost.lost, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses__very_many_are_joined_and_none_is_forgotten),
		cmocka_unit_test_setup_teardown(test_losses__have_their_cpu_their_time_and_their_kinds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_losses__of_a_ring_have_a_few_lines_a_second, setup,
						teardown),
		cmocka_unit_test(test_losses__counts_of_an_event_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
