#include "experiment_fixture.h"

static void test_experiment__samples_of_two_data_files_come_back(void **state)
{
	char *directory = fixture_directory();
	char *path = ctx_path_join(directory, "run.er");
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 7};
	struct fixture_contents out;
	uint32_t process, thread;

	(void)state;
	assert_int_equal(ctx_exp_create(&options, &recording.writer, NULL), CTX_OK);
	process = fixture_start_process(&recording, CTX_EXP_FOUNDER, CTX_NONE, "./app");
	thread = fixture_start_thread(&recording, process, "app");
	for (uint32_t i = 0; i < 3000; i++) {
		recording.now_ns += 1000;
		fixture_put_sample(&recording, process, thread, i % 4, 10, 8);
	}
	fixture_close(&recording);
	assert_int_equal(recording.status, CTX_OK);
	assert_int_equal(fixture_read(path, &out, NULL), CTX_OK);
	assert_int_equal(out.n_damage, 0);
	assert_int_equal(out.late, 0);
	assert_true(out.closed);
	fixture_check_samples(&recording.in, &out);
	fixture_contents_deinit(&recording.in);
	fixture_contents_deinit(&out);
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_experiment__samples_of_two_data_files_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
