#include "experiment_place.h"

/* ---- helpers ---- */

static const struct fixture_process *process_of_pid(const struct fixture_contents *contents, int64_t pid)
{
	for (size_t i = 0; i < contents->n_processes; i++) {
		if (contents->processes[i].pid == pid)
			return &contents->processes[i];
	}
	fail();
	return NULL;
}

/* ---- round trips ---- */

static void test_experiment__samples_of_two_data_files_come_back(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 7};

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 3000; i++) {
		recording.now_ns += 1000;
		fixture_put_sample(&recording, 0, 0, i % 4, 10, 8);
	}
	close_and_check(&recording, place->path);
}

static void test_experiment__random_recordings_come_back(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = seed};
		uint64_t steps = fixture_random(&recording.seed, 3000);

		options.overwrite = true;
		fixture_begin(&recording, &options);
		for (uint64_t i = 0; i < steps; i++)
			fixture_step(&recording, 2 + (uint32_t)seed);
		close_and_check(&recording, place->path);
	}
}

static void test_experiment__little_memory_only_adds_epochs(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = seed};
		struct ctx_exp_stats stats;

		options.overwrite = true;
		options.memory_bytes = (size_t)256 << 10;
		fixture_begin(&recording, &options);
		for (uint32_t i = 0; i < 6000; i++) {
			fixture_step(&recording, 500);
			stats = ctx_exp_stats(recording.writer);
			assert_in_range(stats.memory_bytes, 0, (size_t)512 << 10);
		}
		assert_true(stats.epochs > 3);
		assert_int_equal(stats.samples, recording.in.n_samples);
		assert_int_equal(stats.processes, recording.in.n_processes);
		assert_int_equal(stats.threads, recording.in.n_threads);
		close_and_check(&recording, place->path);
	}
}

static void test_experiment__samples_out_of_order_come_back_in_order(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 5000; i++) {
		recording.now_ns = 5000 + fixture_random(&recording.seed, 100000);
		fixture_put_sample(&recording, 0, 0, i % 4, 5, 8);
	}
	recording.now_ns = 200000;
	close_and_check(&recording, place->path);
}

static void test_experiment__properties_notes_and_metrics_come_back(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct ctx_event_source *source;
	const struct ctx_source_info *info;

	options.comment = "two lines,\nno <markup>";
	fixture_begin(&recording, &options);
	recording.now_ns = 123456;
	fixture_close(&recording);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	info = &source->info;
	assert_string_equal(info->name, "run.er");
	assert_string_equal(info->format, "experiment 2");
	assert_string_equal(info->notes, options.comment);
	assert_string_equal(info->kallsyms, "");
	assert_string_equal(info->fallback_root, "");
	assert_int_equal(info->duration_ns, 123457);
	assert_int_equal(info->n_metrics, options.n_metrics);
	for (uint32_t i = 0; i < info->n_metrics; i++) {
		assert_string_equal(info->metrics[i].name, FIXTURE_METRICS[i].name);
		assert_string_equal(ctx_unit_word(info->metrics[i].unit), FIXTURE_METRICS[i].unit);
	}
	assert_int_equal(info->n_properties, options.n_properties + 1);
	for (size_t i = 0; i < options.n_properties; i++) {
		assert_string_equal(info->properties[i].key, FIXTURE_PROPERTIES[i].key);
		assert_string_equal(info->properties[i].value, FIXTURE_PROPERTIES[i].value);
	}
	assert_string_equal(info->properties[3].key, "start");
	assert_string_equal(info->properties[3].value, "2023-11-14 22:13:20 UTC");
	source->close(source);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment__what_became_of_the_stacks_is_a_property(void **state)
{
	static const struct ctx_exp_unwinding counts = {
		.ends = {[CTX_TRUNCATED_NOT] = 90, [CTX_TRUNCATED_COPY] = 10},
		.joined = 3,
		.gap = 50,
		.exec = 2,
		.unread = 7,
		.by_code = 4};
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct ctx_event_source *source;
	const struct ctx_property *last;

	fixture_begin(&recording, &options);
	assert_int_equal(ctx_exp_unwound(recording.writer, FIXTURE_START_NS + 5, &counts, NULL), CTX_OK);
	fixture_close(&recording);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	last = &source->info.properties[source->info.n_properties - 1];
	assert_string_equal(last->key, "unwinding");
	assert_string_equal(last->value, "90 of 100 stacks up to their root (3 with callers of an earlier "
					 "one) (50 with frames left out in the "
					 "middle) (2 in an execve); 10: copied stack too short; of 7 the "
					 "recorder may not read the memory of the "
					 "process; 4 by instructions");
	source->close(source);
	fixture_contents_deinit(&recording.in);
}

/* ---- lineage ---- */

static void check_lineage(const struct fixture_contents *out, uint32_t process, const char *lineage)
{
	assert_string_equal(process_of_pid(out, 1000 + (int64_t)process)->lineage, lineage);
}

static void test_experiment__lineages_distinguish_forks_and_execs(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct fixture_contents out;
	uint32_t f1, f2, x, deep;

	fixture_begin(&recording, &options);
	recording.now_ns += 50;
	f1 = fixture_descend(&recording, CTX_EXP_FORK, 0);
	f2 = fixture_descend(&recording, CTX_EXP_FORK, 0);
	recording.now_ns += 50;
	x = fixture_descend(&recording, CTX_EXP_EXEC, f2);
	deep = fixture_descend(&recording, CTX_EXP_FORK, f1);
	fixture_start_process(&recording, CTX_EXP_PRESENT, CTX_NONE, "daemon");
	recording.now_ns += 50;
	fixture_put_sample(&recording, deep, deep, 0, 10, 8); /* its parents have none */
	fixture_put_sample(&recording, x, x, 0, 10, 8);
	fixture_close(&recording);
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	fixture_check(&recording.in, &out);
	check_lineage(&out, 0, "");
	check_lineage(&out, f1, "_f1");
	check_lineage(&out, f2, "_f2");
	check_lineage(&out, x, "_f2_x1");
	check_lineage(&out, deep, "_f1_f1");
	check_lineage(&out, 5, "_p1005");
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

/* Forks have the title that their parent has then; the last one again is ignored, as one too soon is. */
static void test_experiment__the_last_title_of_a_process_comes_back(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct fixture_contents out;
	uint32_t before, after;
	char title[64];

	fixture_begin(&recording, &options);
	before = fixture_start_process(&recording, CTX_EXP_FORK, 0, NULL);
	after = before;
	for (unsigned i = 0; i < 100000; i++) { /* a new one each 0.2 s */
		recording.now_ns += 100000000;
		snprintf(title, sizeof(title), "app: <%u>", i / 2);
		assert_int_equal(ctx_exp_process_title(recording.writer, 0, title,
						       FIXTURE_START_NS + recording.now_ns, NULL),
				 CTX_OK);
		if (i == 10)
			after = fixture_start_process(&recording, CTX_EXP_FORK, 0, NULL);
	}
	fixture_close(&recording);
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_string_equal(out.processes[before].command, "./app");
	assert_string_equal(out.processes[after].command, "app: <5>");
	assert_true(strtoul(out.processes[0].command + 6, NULL, 10) > 50000 - 50000 / 50);
	assert_true(out.titles > 400 && out.titles < 500);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment__long_chains_of_forks_keep_their_samples(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t process = 0;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 300; i++) {
		recording.now_ns += 10;
		process = fixture_descend(&recording, i % 3 != 0 ? CTX_EXP_FORK : CTX_EXP_EXEC, process);
		recording.now_ns += 10;
		fixture_put_sample(&recording, process, process, i % 4, 4, 8);
	}
	close_and_check(&recording, place->path);
}

/* ---- limits and refusals ---- */

/* Though no buffer becomes full, or old, before the limit: what fits is kept. */
static void test_experiment__below_a_small_max_bytes_what_fits_is_kept(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5};
	struct fixture_contents out;
	struct ctx_exp_stats stats;

	options.max_bytes = 48 << 10;
	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 2000; i++) {
		recording.now_ns += 50000;
		fixture_put_sample(&recording, 0, 0, 0, 30, 300);
	}
	stats = ctx_exp_stats(recording.writer);
	assert_true(stats.dropped_by_limit > 0);
	assert_true(stats.bytes_written <= options.max_bytes);
	close_and_read(&recording, place->path, &out);
	assert_true(out.n_samples >= 100);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment__beyond_max_bytes_samples_are_counted_as_lost(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct fixture_contents out;
	struct ctx_exp_stats stats;

	options.max_bytes = 200000;
	fixture_begin(&recording, &options);
	fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		recording.now_ns += 100000;
		fixture_put_sample(&recording, i % 2, i % 2, i % 4, 20, 300);
		if (i % 500 == 0)
			fixture_flush(&recording);
	}
	stats = ctx_exp_stats(recording.writer);
	assert_true(stats.dropped_by_limit > 0);
	close_and_read(&recording, place->path, &out);
	assert_string_equal(out.damage != NULL ? out.damage : "", "");
	assert_true(out.closed);
	assert_true(out.n_samples > 500);
	assert_int_equal(out.n_samples + out.lost, recording.in.n_samples);
	assert_non_null(out.warnings);
	assert_non_null(strstr(out.warnings, "limit of 200000 bytes"));
	assert_in_range(stats.bytes_written, 120000, 200000);
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

static enum ctx_status create(const char *path, bool overwrite, struct ctx_err *err)
{
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_writer *writer = NULL;
	enum ctx_status status;

	options.overwrite = overwrite;
	status = ctx_exp_create(&options, &writer, err);
	if (status != CTX_OK)
		return status;
	return ctx_exp_close(writer, FIXTURE_START_NS, NULL);
}

static void test_experiment__only_experiments_are_overwritten(void **state)
{
	struct place *place = *state;
	char *file = ctx_path_join(place->directory, "file.er");
	char *folder = ctx_path_join(place->directory, "folder.er");
	char *log = ctx_path_join(folder, "log.xml");
	struct ctx_err err = {0};

	assert_int_equal(create(place->path, false, NULL), CTX_OK);
	assert_int_equal(create(place->path, false, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "exists"));
	assert_int_equal(create(place->path, true, NULL), CTX_OK);
	assert_int_equal(ctx_file_replace(file, "<experiment version=\"1\"/>\n", 26, NULL), CTX_OK);
	assert_int_equal(create(file, true, &err), CTX_E_ARG);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(create(folder, true, &err), CTX_E_ARG);
	assert_int_equal(ctx_file_replace(log, "<other version=\"1\"/>\n", 21, NULL), CTX_OK);
	assert_int_equal(create(folder, true, &err), CTX_E_ARG);
	assert_int_equal(access(log, F_OK), 0);
	assert_non_null(strstr(err.msg, "not an experiment"));
	free(file);
	free(folder);
	free(log);
}

static void test_experiment__names_without_er_and_wrong_arguments_are_refused(void **state)
{
	struct place *place = *state;
	struct ctx_exp_metric metric = FIXTURE_METRICS[0];
	struct ctx_exp_options options = fixture_options(place->path);
	struct ctx_exp_sample sample = {.metric = 4};
	struct ctx_exp_writer *writer;
	struct fixture_recording recording = {.seed = 1};
	char *other = ctx_path_join(place->directory, "run.txt");
	char *empty = ctx_path_join(place->directory, ".er");

	assert_int_equal(create(other, false, NULL), CTX_E_ARG);
	assert_int_equal(create(empty, false, NULL), CTX_E_ARG);
	options.metrics = &metric;
	options.n_metrics = 1;
	metric.file = "../profile";
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_E_ARG);
	metric.file = "overview";
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_E_ARG);
	assert_int_equal(access(place->path, F_OK), -1);
	options = fixture_options(place->path);
	fixture_begin(&recording, &options);
	assert_int_equal(ctx_exp_sample(recording.writer, &sample, NULL), CTX_E_ARG);
	sample.metric = 0;
	sample.thread = 1;
	assert_int_equal(ctx_exp_sample(recording.writer, &sample, NULL), CTX_E_ARG);
	sample.thread = 0;
	sample.process = 1;
	assert_int_equal(ctx_exp_sample(recording.writer, &sample, NULL), CTX_E_ARG);
	close_and_check(&recording, place->path);
	free(other);
	free(empty);
}

/* ---- unclosed ---- */

static void test_experiment__flushed_data_is_readable_while_recording(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5};

	fixture_begin(&recording, &options);
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < 400; i++)
			fixture_step(&recording, 20);
		flush_and_check(&recording, place->path);
	}
	close_and_check(&recording, place->path);
}

static void count_warnings(const char *path, const char *text, uint32_t want)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	uint32_t n = 0;

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK)
		n += event.kind == CTX_EV_WARNING && strstr(event.text, text) != NULL;
	source->close(source);
	assert_int_equal(n, want);
}

/* The room for the last words is taken in the beginning, and written over in place. */
static void test_experiment__says_why_and_when_a_recording_failed(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5};
	char *last = ctx_path_join(place->path, "last.xml");
	char command[1200];
	struct stat before, after;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 400; i++)
		fixture_step(&recording, 20);
	assert_int_equal(stat(last, &before), 0);
	assert_int_equal(before.st_size, 4096);
	count_warnings(place->path, "the recording goes on", 1);
	assert_int_equal(ctx_exp_tick(recording.writer, FIXTURE_START_NS + UINT64_C(4500000000), NULL),
			 CTX_OK);
	/* Killed: a copy without its lock. */
	snprintf(command, sizeof(command), "cp -r '%s' '%s.killed.er'", place->path, place->path);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s.killed.er", place->path);
	count_warnings(command, "its last sign of life is 4.500 s after", 1);
	assert_int_equal(ctx_dir_remove(command, NULL), CTX_OK);
	/* Failed, with a reason that does not fit. */
	memset(command, '"', sizeof(command));
	memcpy(command, "no space", 8);
	command[sizeof(command) - 1] = '\0';
	ctx_exp_fail(recording.writer, command);
	ctx_exp_fail(recording.writer, "the first reason counts");
	assert_int_equal(stat(last, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(after.st_size, before.st_size);
	fixture_close(&recording);
	count_warnings(place->path, "recording failed 4.500 s after its begin: no space\"\"\"", 1);
	fixture_contents_deinit(&recording.in);
	free(last);
}

static void test_experiment__a_fingerprint_changes_with_the_files(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5};
	char first[17], second[17];
	char *database = ctx_path_join(place->path, "ctxan.db");

	fixture_begin(&recording, &options);
	assert_int_equal(ctx_exp_fingerprint(place->path, first, NULL), CTX_OK);
	assert_int_equal(strspn(first, "0123456789abcdef"), 16);
	assert_int_equal(ctx_file_replace(database, "x", 1, NULL), CTX_OK);
	assert_int_equal(ctx_exp_fingerprint(place->path, second, NULL), CTX_OK);
	assert_string_equal(first, second);
	fixture_close(&recording);
	assert_int_equal(ctx_exp_fingerprint(place->path, second, NULL), CTX_OK);
	assert_string_not_equal(first, second);
	assert_int_equal(ctx_exp_fingerprint("/no/such/place.er", second, NULL), CTX_E_NOTFOUND);
	fixture_contents_deinit(&recording.in);
	free(database);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment__samples_of_two_data_files_come_back),
		place_test(test_experiment__random_recordings_come_back),
		place_test(test_experiment__little_memory_only_adds_epochs),
		place_test(test_experiment__samples_out_of_order_come_back_in_order),
		place_test(test_experiment__properties_notes_and_metrics_come_back),
		place_test(test_experiment__what_became_of_the_stacks_is_a_property),
		place_test(test_experiment__lineages_distinguish_forks_and_execs),
		place_test(test_experiment__the_last_title_of_a_process_comes_back),
		place_test(test_experiment__long_chains_of_forks_keep_their_samples),
		place_test(test_experiment__beyond_max_bytes_samples_are_counted_as_lost),
		place_test(test_experiment__below_a_small_max_bytes_what_fits_is_kept),
		place_test(test_experiment__only_experiments_are_overwritten),
		place_test(test_experiment__names_without_er_and_wrong_arguments_are_refused),
		place_test(test_experiment__flushed_data_is_readable_while_recording),
		place_test(test_experiment__says_why_and_when_a_recording_failed),
		place_test(test_experiment__a_fingerprint_changes_with_the_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
