/*
 * A directory for each test of experiments, and the recording run.er in it that is closed and read
 * back.
 */
#ifndef CTX_TESTS_UNIT_EXPERIMENT_PLACE_H
#define CTX_TESTS_UNIT_EXPERIMENT_PLACE_H

#include "experiment_fixture.h"

#include "base/zstd_file.h"
#include "formats/experiment/exp_text.h"

#include <fcntl.h>

struct place {
	char *directory;
	char *path; /* of run.er in it */
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	place->directory = fixture_directory();
	place->path = ctx_path_join(place->directory, "run.er");
	assert_non_null(place->path);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	fixture_remove(place->directory);
	free(place->path);
	free(place);
	return 0;
}

#define place_test(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

/* Begins a recording of one process with `n` threads. */
static inline struct ctx_exp_writer *place_begin(const struct ctx_exp_options *options, uint32_t *ret_process,
						 uint32_t *threads, uint32_t n)
{
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 100,
					  .command = "c",
					  .time_ns = FIXTURE_START_NS};
	struct ctx_exp_writer *writer;

	assert_int_equal(ctx_exp_create(options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &process, ret_process, NULL), CTX_OK);
	for (uint32_t i = 0; i < n; i++) {
		struct ctx_exp_thread thread = {
			.process = *ret_process, .tid = 100 + i, .name = "t", .time_ns = FIXTURE_START_NS};

		assert_int_equal(ctx_exp_thread_start(writer, &thread, &threads[i], NULL), CTX_OK);
	}
	return writer;
}

/* What came out is released by the caller. */
static inline void close_and_read(struct fixture_recording *recording, const char *path,
				  struct fixture_contents *out)
{
	fixture_close(recording);
	assert_int_equal(recording->status, CTX_OK);
	assert_int_equal(fixture_read(path, out, NULL), CTX_OK);
}

/* What came out is what went in, which is released. */
static inline void close_and_check(struct fixture_recording *recording, const char *path)
{
	struct fixture_contents out;

	close_and_read(recording, path, &out);
	assert_true(out.closed);
	assert_true(out.duration_ns > recording->now_ns);
	assert_int_equal(out.has_states, recording->has_states);
	fixture_check(&recording->in, &out);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording->in);
}

/* Appends a text of the experiment, plain or packed, at most 64 MiB. */
static inline void place_load_text(const char *path, const char *name, struct ctx_buf *out)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	const size_t max = (size_t)64 << 20;
	uint8_t *room = ctx_buf_reserve(out, max);
	struct ctx_zstd_reader *reader = NULL;
	bool is_packed;
	size_t got;

	assert_true(dir >= 0 && room != NULL);
	fd = ctx_exp_open_text(dir, name, &is_packed);
	assert_true(fd >= 0);
	if (is_packed) {
		assert_int_equal(ctx_zstd_open(fd, &reader, NULL), CTX_OK);
		assert_int_equal(ctx_zstd_read(reader, room, max, &got, NULL), CTX_END);
	} else {
		assert_int_equal(ctx_file_pread(&(struct ctx_file_place){fd, name, 0}, room, max, &got, NULL),
				 CTX_END);
	}
	out->n += got;
	ctx_zstd_close(reader);
	close(fd);
	close(dir);
}

/* Data written so far is readable before the recording is closed. */
static inline void flush_and_check(struct fixture_recording *recording, const char *path)
{
	struct fixture_contents out;

	fixture_flush(recording);
	assert_int_equal(recording->status, CTX_OK);
	assert_int_equal(fixture_read(path, &out, NULL), CTX_OK);
	assert_false(out.closed);
	fixture_check(&recording->in, &out);
	fixture_contents_deinit(&out);
}

#endif
