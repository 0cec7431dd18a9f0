#include "elf/elf_buildid.h"
#include "experiment_fixture.h"

#include "base/compress.h"
#include "formats/experiment/exp_archive.h"
#include "tests/unit/failing_malloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * Writes a little of everything; the first failure is returned. What the test notes down for itself
 * is not counted.
 */
static enum ctx_status write_little(const char *path)
{
	static const uint64_t FRAMES[] = {0x400010, 0x400020, 0x400030};
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_process root_process = {CTX_EXP_ROOT_PROCESS, CTX_NONE, 1000, "app",
					       FIXTURE_START_NS,     NULL,     0};
	struct ctx_exp_process child = {CTX_EXP_FORK, 0, 1001, "app", FIXTURE_START_NS + 5, NULL, 0};
	struct ctx_exp_map map = {0x400000, 0x1000, 0, 5, "/usr/bin/app", "00ff", FIXTURE_START_NS + 1};
	struct ctx_usage_info usage = {.time_ns = FIXTURE_START_NS + 9};
	struct ctx_exp_writer *writer = NULL;
	enum ctx_status status, closed;
	uint32_t number;

	options.overwrite = options.keep_places = true;
	status = ctx_exp_create(&options, &writer, NULL);
	if (status != CTX_OK)
		return status;
	status = ctx_exp_process_start(writer, &root_process, &number, NULL);
	if (status == CTX_OK)
		status = ctx_exp_map(writer, 0, &map, NULL);
	if (status == CTX_OK)
		status = ctx_exp_process_start(writer, &child, &number, NULL);
	if (status == CTX_OK)
		status = ctx_exp_fork_maps(writer, 0, 1, FIXTURE_START_NS + 5, NULL);
	for (uint32_t i = 0; i < 2 && status == CTX_OK; i++)
		status = ctx_exp_thread_start(
			writer, &(struct ctx_exp_thread){i, 1000 + i, "t", FIXTURE_START_NS + 6, 0}, &number,
			NULL);
	for (uint32_t i = 0; i < 8 && status == CTX_OK; i++) {
		struct ctx_exp_sample sample = {.time_ns = FIXTURE_START_NS + 10 + i,
						.process = i % 2,
						.thread = i % 2,
						.metric = i % 4,
						.weight = 1,
						.frames = FRAMES,
						.n_frames = i % 4};

		status = ctx_exp_sample(writer, &sample, NULL);
	}
	if (status == CTX_OK)
		status = ctx_exp_unmap(writer, 1,
				       &(struct ctx_exp_map){.address = 0x400800,
							     .size = 0x100,
							     .time_ns = FIXTURE_START_NS + 20},
				       NULL);
	if (status == CTX_OK)
		status = ctx_exp_usage(writer, &usage, NULL);
	closed = ctx_exp_close(writer, FIXTURE_START_NS + 30, NULL);
	return status == CTX_OK ? closed : status;
}

static enum ctx_status read_little(const char *path, uint32_t *samples)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status = ctx_exp_open(path, &source, NULL);

	*samples = 0;
	if (status != CTX_OK)
		return status;
	while ((status = source->next(source, &event, NULL)) == CTX_OK)
		*samples += event.kind == CTX_EV_SAMPLE;
	source->close(source);
	return status == CTX_END ? CTX_OK : status;
}

static void test_experiment_archive__a_failing_allocation_is_a_status(void **state)
{
	char *directory = fixture_directory();
	char *path = ctx_path_join(directory, "run.er");
	enum ctx_status status = CTX_E_NOMEM;
	uint32_t failures = 0, samples = 0;

	(void)state;
	assert_int_equal(write_little(path), CTX_OK);
	for (long n = 0; n < 100000; n++) {
		fail_after = n;
		status = write_little(path);
		if (fail_after >= 0)
			break;
		assert_true(status != CTX_E_INTERNAL);
		failures += status == CTX_E_NOMEM;
		fail_after = -1;
		if (status == CTX_OK) { /* then nothing is missing */
			assert_int_equal(read_little(path, &samples), CTX_OK);
			assert_int_equal(samples, 8);
		}
	}
	fail_after = -1;
	assert_int_equal(status, CTX_OK);
	assert_true(failures > 30);
	failures = 0;
	for (long n = 0; n < 100000; n++) {
		fail_after = n;
		status = read_little(path, &samples);
		if (fail_after >= 0)
			break;
		failures += status == CTX_E_NOMEM;
		if (status == CTX_OK)
			assert_int_equal(samples, 8);
	}
	fail_after = -1;
	assert_int_equal(status, CTX_OK);
	assert_int_equal(samples, 8);
	assert_true(failures > 30);
	free(path);
	fixture_remove(directory);
}

/* ---- archives ---- */

static void test_experiment_archive__names_are_flat_for_any_path(void **state)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX], other[CTX_EXP_ARCHIVE_NAME_MAX];

	(void)state;
	ctx_exp_archive_name("/usr/bin/app", "00ff", name);
	assert_string_equal(name, "00ff.zst");
	ctx_exp_archive_name("/usr/bin/app", "../../etc/passwd", name);
	assert_int_equal(strncmp(name, "path-", 5), 0);
	assert_int_equal(strspn(name + 5, "0123456789abcdef"), 16);
	assert_string_equal(name + 21, ".zst");
	ctx_exp_archive_name("/usr/bin/app", "", other);
	assert_string_equal(name, other);
	ctx_exp_archive_name("/usr/bin/app2", "", other);
	assert_string_not_equal(name, other);
}

static void test_experiment_archive__an_object_of_another_build_id_is_refused(void **state)
{
	char *directory = fixture_directory();
	int dir CTX_AUTO_CLOSE = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int self CTX_AUTO_CLOSE = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char build_id[CTX_BUILDID_TEXT], path[512] = "", name[CTX_EXP_ARCHIVE_NAME_MAX];
	struct ctx_err err = {0};
	uint64_t bytes;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	ctx_buildid_of_fd(self, build_id);
	assert_int_equal(ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, path, "00ff00ff",
						&bytes, &err),
			 CTX_E_NOTFOUND);
	assert_non_null(strstr(err.msg, "build id"));
	assert_int_equal(ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, "/no/such/file", "",
						&bytes, &err),
			 CTX_E_NOTFOUND);
	assert_int_equal(ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, "/dev/zero", "",
						&bytes, &err),
			 CTX_E_NOTFOUND);
	assert_int_equal(
		ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, "//anon", "", &bytes, &err),
		CTX_E_NOTFOUND);
	assert_int_equal(ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, "../relative", "",
						&bytes, &err),
			 CTX_E_NOTFOUND);
	assert_int_equal(faccessat(dir, "archives", F_OK, 0), -1);
	assert_int_equal(
		ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, path, build_id, &bytes, &err),
		CTX_OK);
	assert_true(bytes > 10000);
	assert_int_equal(
		ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, path, build_id, &bytes, &err),
		CTX_END);
	ctx_exp_archive_name(path, build_id, name);
	snprintf(path, sizeof(path), "archives/%s", name);
	assert_int_equal(faccessat(dir, path, F_OK, 0), 0);
	fixture_remove(directory);
}

static void test_experiment_archive__kallsyms_of_zeros_are_refused(void **state)
{
	char *directory = fixture_directory();
	int dir CTX_AUTO_CLOSE = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ctx_buf text = {0};
	bool shows = false, bol = true;
	uint64_t bytes;

	(void)state;
	/*
	 * What this machine shows decides what is asked for: a letter or digit but 0 at the front
	 * of some line.
	 */
	if (ctx_file_read("/proc/kallsyms", (size_t)256 << 20, &text, NULL) != CTX_OK)
		text.n = 0;
	for (size_t i = 0; i < text.n && !shows; i++) {
		shows = bol && text.bytes[i] == 'f';
		bol = text.bytes[i] == '\n';
	}
	assert_int_equal(ctx_exp_archive_kallsyms(&(struct ctx_exp_copies_to){.dir = dir}, "", &bytes, NULL),
			 shows ? CTX_OK : CTX_E_NOTFOUND);
	assert_int_equal(faccessat(dir, "archives/kallsyms.zst", F_OK, 0), shows ? 0 : -1);
	ctx_buf_deinit(&text);
	fixture_remove(directory);
}

/*
 * An experiment with this program mapped and sampled, said to be of `host`; `copy` is what a killed
 * recorder would have left.
 */
static void make_of_host(const char *path, const char *copy, const char *host)
{
	struct ctx_property property = {"host", host};
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 1};
	char self[256] = "", build_id[CTX_BUILDID_TEXT], command[1200];
	int fd CTX_AUTO_CLOSE = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	ctx_buildid_of_fd(fd, build_id);
	options.properties = &property;
	options.n_properties = 1;
	options.overwrite = true;
	fixture_begin(&recording, &options);
	recording.now_ns++;
	fixture_put_map(&recording, 0, 0x400000, 0x100000, self, build_id);
	recording.now_ns++;
	fixture_put_sample(&recording, 0, 0, 0, 5, 5);
	assert_int_equal(ctx_exp_tick(recording.writer, FIXTURE_START_NS + UINT64_C(9000000000), NULL),
			 CTX_OK);
	snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s' '%s'", copy, path, copy);
	assert_int_equal(system(command), 0);
	fixture_close(&recording);
	assert_int_equal(recording.status, CTX_OK);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment_archive__a_killed_recording_is_archived_late_on_its_own_host_only(void **state)
{
	char *directory = fixture_directory();
	char *path = ctx_path_join(directory, "run.er");
	char *copy = ctx_path_join(directory, "killed.er");
	char *archives = ctx_path_join(copy, "archives");
	struct ctx_event_source *source;
	struct utsname host;
	uint32_t copied = 7;

	(void)state;
	assert_int_equal(uname(&host), 0);
	make_of_host(path, copy, "not-this-host");
	assert_int_equal(ctx_exp_archive_late(copy, &copied, NULL), CTX_OK);
	assert_int_equal(copied, 0);
	assert_int_equal(access(archives, F_OK), -1);
	make_of_host(path, copy, host.nodename);
	assert_int_equal(ctx_exp_archive_late(path, &copied, NULL), CTX_OK); /* closed in order */
	assert_int_equal(copied, 0);
	assert_int_equal(ctx_exp_archive_late(copy, &copied, NULL), CTX_OK);
	assert_true(copied >= 1);
	assert_int_equal(access(archives, F_OK), 0);
	assert_int_equal(ctx_exp_open(copy, &source, NULL), CTX_OK);
	assert_false(source->info.closed);
	assert_string_equal(source->info.fallback_root, archives);
	source->close(source);
	free(path);
	free(copy);
	free(archives);
	fixture_remove(directory);
}

static enum ctx_status check_sampled(void *context, const struct ctx_exp_sampled *object, struct ctx_err *err)
{
	(void)err;
	++*(uint32_t *)context;
	assert_string_equal(object->path, "/usr/bin/app");
	assert_int_equal(object->n_offsets, 2);
	assert_int_equal(object->offsets[0], 0x1010);
	assert_int_equal(object->offsets[1], 0x1020);
	assert_false(object->all);
	return CTX_OK;
}

/* The names in a log are untrusted: only copies of sources in archives/ are returned. */
static void test_experiment_archive__sources_are_found_by_the_log_and_nowhere_else(void **state)
{
	static const char HOSTILE[] = "<source path=\"/a\" archive=\"../log.xml\"/>\n"
				      "<source path=\"/b\" archive=\"source-7.zst\"/>\n"
				      "<source path=\"/c\" archive=\"source-9.zst\"/>\n";
	static const uint64_t FRAMES[] = {0x400020, 0x400010, 0x400020};
	char *directory = fixture_directory(), *path = ctx_path_join(directory, "s.er");
	char *text = ctx_path_join(directory, "text.c"), *log = ctx_path_join(path, "log.xml");
	char *link = ctx_path_join(path, "archives/source-9.zst");
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_process root_process = {CTX_EXP_ROOT_PROCESS, CTX_NONE, 1000, "app",
					       FIXTURE_START_NS,     NULL,     0};
	struct ctx_exp_map map = {0x400000, 0x1000, 0x1000, 5, "/usr/bin/app", "00ff", FIXTURE_START_NS + 1};
	struct ctx_exp_sample sample = {
		.time_ns = FIXTURE_START_NS + 10, .weight = 1, .frames = FRAMES, .n_frames = 3};
	struct ctx_exp_source wanted = {.path = text, .max_bytes = 100, .left_bytes = 100};
	struct ctx_event_source *source;
	struct ctx_exp_writer *writer;
	uint32_t number, objects = 0;
	uint64_t bytes;
	bool is_newer;
	FILE *file;

	(void)state;
	assert_int_equal(ctx_file_replace(text, "int a;\n", 7, NULL), CTX_OK);
	options.keep_places = true;
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &root_process, &number, NULL), CTX_OK);
	assert_int_equal(ctx_exp_map(writer, 0, &map, NULL), CTX_OK);
	assert_int_equal(ctx_exp_thread_start(writer,
					      &(struct ctx_exp_thread){0, 1000, "t", FIXTURE_START_NS, 0},
					      &number, NULL),
			 CTX_OK);
	assert_int_equal(ctx_exp_sample(writer, &sample, NULL), CTX_OK);
	assert_int_equal(ctx_exp_each_sampled(writer, check_sampled, &objects, NULL), CTX_OK);
	assert_int_equal(objects, 1);
	assert_int_equal(ctx_exp_archive_source(writer, &wanted, &bytes, &is_newer, NULL), CTX_OK);
	assert_int_equal(bytes, 7);
	assert_true(is_newer); /* than 1970 */
	wanted.left_bytes = 6;
	assert_int_equal(ctx_exp_archive_source(writer, &wanted, &bytes, &is_newer, NULL), CTX_E_LIMIT);
	wanted.path = directory;
	assert_int_equal(ctx_exp_archive_source(writer, &wanted, &bytes, &is_newer, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_exp_close(writer, FIXTURE_START_NS + 30, NULL), CTX_OK);
	file = fopen(log, "a");
	assert_non_null(file);
	fputs(HOSTILE, file);
	fclose(file);
	assert_int_equal(symlink(text, link), 0);
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_int_equal(source->info.n_sources, 1);
	assert_string_equal(source->info.sources[0].path, text);
	assert_string_equal(ctx_path_base(source->info.sources[0].archive), "source-0.zst");
	source->close(source);
	free(path);
	free(text);
	free(log);
	free(link);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_experiment_archive__sources_are_found_by_the_log_and_nowhere_else),
		cmocka_unit_test(test_experiment_archive__kallsyms_of_zeros_are_refused),
		cmocka_unit_test(test_experiment_archive__a_failing_allocation_is_a_status),
		cmocka_unit_test(test_experiment_archive__names_are_flat_for_any_path),
		cmocka_unit_test(test_experiment_archive__an_object_of_another_build_id_is_refused),
		cmocka_unit_test(
			test_experiment_archive__a_killed_recording_is_archived_late_on_its_own_host_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
