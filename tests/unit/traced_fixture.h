/*
 * Tests of traced operations of an experiment: a recording of one process with three threads, whose operations are
 * known by their times, written as a recorder writes them, and damaged.
 */
#ifndef CTX_TESTS_UNIT_TRACED_FIXTURE_H
#define CTX_TESTS_UNIT_TRACED_FIXTURE_H

#include "chance.h"
#include "experiment_place.h"

#include <fcntl.h>

#define TRACED_THREADS 3u

struct traced_recording {
	struct ctx_exp_writer *writer;
	uint32_t process, threads[TRACED_THREADS];
};

static inline void traced_begin(struct traced_recording *recording, const struct ctx_exp_options *options)
{
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 100,
					  .command = "c",
					  .time_ns = FIXTURE_START_NS};

	assert_int_equal(ctx_exp_create(options, &recording->writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(recording->writer, &process, &recording->process, NULL),
			 CTX_OK);
	for (uint32_t i = 0; i < TRACED_THREADS; i++) {
		struct ctx_exp_thread thread = {.process = recording->process,
						.tid = 100 + i,
						.name = "t",
						.time_ns = FIXTURE_START_NS};

		assert_int_equal(
			ctx_exp_thread_start(recording->writer, &thread, &recording->threads[i], NULL),
			CTX_OK);
	}
}

/* The time of operation `i`, and back from the time at which it comes out. */
static inline uint64_t traced_time_ns(uint64_t i)
{
	return FIXTURE_START_NS + 1000000 + i * 7;
}

static inline size_t traced_number(uint64_t time_ns)
{
	return (size_t)(time_ns - 1000000) / 7;
}

/* Writes operation `i` if it is of this thread. */
typedef void traced_put(void *context, size_t i, uint32_t thread);

/* Writes n operations as a recorder reads rings: some of one thread, then those of another in the same time. */
static inline void traced_write(const struct traced_recording *recording, size_t n, size_t burst,
				traced_put *put, void *context)
{
	for (size_t from = 0; from < n; from += burst) {
		for (uint32_t thread = 0; thread < TRACED_THREADS; thread++) {
			for (size_t i = from; i < n && i < from + burst; i++)
				put(context, i, recording->threads[thread]);
		}
	}
	assert_int_equal(ctx_exp_close(recording->writer, traced_time_ns(n) + 1000000, NULL), CTX_OK);
}

/* Damages the first block of a data file. */
static inline void traced_damage(const char *path, const char *file)
{
	char name[512];
	uint8_t byte;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 300), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
	close(fd);
}

#endif
