/*
 * A directory for each test of experiments, and the recording run.er in it that is closed and read
 * back.
 */
#ifndef CTX_TESTS_UNIT_EXPERIMENT_PLACE_H
#define CTX_TESTS_UNIT_EXPERIMENT_PLACE_H

#include "experiment_fixture.h"

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
