/* Experiments of many processes: the first ones have directories, all later ones share files. */
#include "experiment_place.h"

#include <dirent.h>
#include <malloc.h>

#define LONG_NS UINT64_C(100000000) /* as docs/experiment-format.md says: who ends sooner has no directory */

/* Bytes that are allocated; 0 where the allocator does not tell (sanitizers). */
static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A process from its start to its end, without the fixture, which remembers all of them. */
static void pass(struct ctx_exp_writer *writer, uint32_t i, uint32_t *image)
{
	uint64_t time_ns = FIXTURE_START_NS + (uint64_t)i * 100000;
	struct ctx_exp_process process = {.origin = CTX_EXP_FORK, .pid = 1000 + i, .time_ns = time_ns};
	const uint64_t frames[] = {0x400010, 0x400020 + i % 8};
	struct ctx_exp_sample sample = {.time_ns = time_ns + 10, .frames = frames, .n_frames = 2};
	const struct ctx_exp_exit end = {.time_ns = time_ns + 100};
	struct ctx_exp_thread thread = {.tid = 1000 + i, .name = "t", .time_ns = time_ns};
	uint32_t old, first;

	assert_int_equal(ctx_exp_process_start(writer, &process, &thread.process, NULL), CTX_OK);
	assert_int_equal(ctx_exp_fork_maps(writer, 0, thread.process, time_ns, NULL), CTX_OK);
	assert_int_equal(ctx_exp_thread_start(writer, &thread, &first, NULL), CTX_OK);
	sample.process = thread.process;
	sample.thread = first;
	if (i % 3 == 0)
		assert_int_equal(ctx_exp_sample(writer, &sample, NULL), CTX_OK);
	assert_int_equal(ctx_exp_thread_exit(writer, first, time_ns + 50, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_exit(writer, thread.process, &end, NULL), CTX_OK);
	/* One lives on, as the image of the one before: the end of the old one is told first. */
	old = *image;
	process.origin = CTX_EXP_EXEC;
	process.parent = old;
	process.command = "next";
	assert_int_equal(ctx_exp_process_exit(writer, old, &end, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &process, image, NULL), CTX_OK);
	if (i % 1000 == 0)
		assert_int_equal(ctx_exp_tick(writer, time_ns, NULL), CTX_OK);
}

static void test_experiment_many__what_has_ended_takes_no_memory(void **state)
{
	enum { FIRST = 20000, ALL = 60000 }; /* two processes each */
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t image, last_process, last_thread;
	size_t before = 0, after;

	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	image = fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < ALL; i++) {
		if (i == FIRST)
			before = allocated();
		pass(recording.writer, i, &image);
	}
	after = allocated();
	assert_true(after < before + 100000); /* little more than a byte each */
	/* Who ended long ago is not known any more, and nothing breaks. */
	last_process = ctx_exp_stats(recording.writer).processes - 1;
	last_thread = ctx_exp_stats(recording.writer).threads - 1;
	assert_int_equal(last_process, 2 * ALL + 1);
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t frame = 0x400010;
		struct ctx_exp_sample sample = {.time_ns = FIXTURE_START_NS + UINT64_C(20000000000),
						.process = i == 0 ? 300 : image,
						.thread = i == 0 ? 300 : last_thread,
						.frames = &frame,
						.n_frames = 1};

		assert_int_equal(ctx_exp_sample(recording.writer, &sample, NULL), CTX_OK);
	}
	assert_int_equal(ctx_exp_stats(recording.writer).late, 1);
	assert_int_equal(ctx_exp_process_exit(recording.writer, 300, &(struct ctx_exp_exit){0}, NULL),
			 CTX_OK);
	assert_int_equal(ctx_exp_thread_exit(recording.writer, 300, 0, NULL), CTX_OK);
	assert_null(ctx_exp_maps(recording.writer, 300));
	assert_int_equal(
		ctx_exp_process_exit(recording.writer, last_process + 1, &(struct ctx_exp_exit){0}, NULL),
		CTX_E_ARG);
	assert_int_equal(ctx_exp_close(recording.writer, FIXTURE_START_NS + UINT64_C(20000000001), NULL),
			 CTX_OK);
	fixture_contents_deinit(&recording.in);
}

/* A file of the experiment; absent ones have no bytes. */
static void load(const char *path, const char *name, struct ctx_buf *out)
{
	char *file = ctx_path_join(path, name);

	assert_non_null(file);
	if (access(file, F_OK) == 0)
		assert_int_equal(ctx_file_read(file, 64 << 20, out, NULL), CTX_OK);
	free(file);
}

static size_t size_of(const char *path, const char *name)
{
	struct ctx_buf bytes = {0};
	size_t n;

	load(path, name, &bytes);
	n = bytes.n;
	ctx_buf_deinit(&bytes);
	return n;
}

/* Bytes as du counts them, and directories in it. */
static uint64_t used(const char *path, uint32_t *ret_directories)
{
	DIR *dir = opendir(path);
	struct dirent *item;
	struct stat info;
	uint64_t bytes;

	assert_non_null(dir);
	assert_int_equal(stat(path, &info), 0);
	bytes = (uint64_t)info.st_blocks * 512;
	while ((item = readdir(dir)) != NULL) {
		char *name = ctx_path_join(path, item->d_name);

		assert_int_equal(lstat(name, &info), 0);
		if (S_ISREG(info.st_mode)) {
			bytes += (uint64_t)info.st_blocks * 512;
		} else if (item->d_name[0] != '.') {
			++*ret_directories;
			bytes += used(name, ret_directories);
		}
		free(name);
	}
	closedir(dir);
	return bytes;
}

/* A process: a thread, a sample if `width` is not 0, and the end so long after it. */
static uint32_t live_for(struct fixture_recording *recording, uint32_t width, uint64_t duration_ns)
{
	uint32_t process = fixture_descend(recording, CTX_EXP_FORK, 0);
	uint32_t thread = (uint32_t)recording->in.n_threads - 1;

	recording->now_ns += 1000;
	if (width != 0)
		fixture_put_sample(recording, process, thread, process % 4, 6, width);
	recording->now_ns += duration_ns;
	fixture_note(recording,
		     ctx_exp_process_exit(
			     recording->writer, process,
			     &(struct ctx_exp_exit){FIXTURE_START_NS + recording->now_ns, false, 0}, NULL));
	recording->in.processes[process].exited = true;
	recording->in.processes[process].exit_ns = recording->now_ns;
	return process;
}

static uint32_t live_shortly(struct fixture_recording *recording, uint32_t width)
{
	return live_for(recording, width, 1000);
}

/* As long as it takes for a directory. */
static uint32_t live_on(struct fixture_recording *recording, uint32_t width)
{
	return live_for(recording, width, LONG_NS);
}

static void test_experiment_many__four_descendants_have_directories(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t directories = 0;

	fixture_begin(&recording, &options);
	live_on(&recording, 0); /* without data: no directory, and it takes no place of one */
	for (uint32_t i = 0; i < 30; i++)
		live_on(&recording, 8);
	flush_and_check(&recording, place->path);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	close_and_check(&recording, place->path);
	used(place->path, &directories);
	assert_int_equal(directories, 4);
	assert_int_equal(size_of(place->path, "_f1.er/log.xml"), 0);
	assert_true(size_of(place->path, "_f2.er/log.xml") != 0);
	assert_true(size_of(place->path, "_f5.er/map.xml") != 0);
	assert_int_equal(size_of(place->path, "_f6.er/log.xml"), 0);
}

/* Nor does one that ends within 0.1 s of its first data, unless some of it was written before. */
static void test_experiment_many__who_ends_soon_has_no_directory(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t directories = 0, child;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 30; i++)
		live_for(&recording, 8, LONG_NS - 1);
	child = fixture_descend(&recording, CTX_EXP_FORK, 0); /* _f31 */
	fixture_put_sample(&recording, child, (uint32_t)recording.in.n_threads - 1, 0, 5, 8);
	fixture_flush(&recording);
	fixture_note(&recording,
		     ctx_exp_process_exit(
			     recording.writer, child,
			     &(struct ctx_exp_exit){FIXTURE_START_NS + recording.now_ns, false, 0}, NULL));
	recording.in.processes[child].exited = true;
	recording.in.processes[child].exit_ns = recording.now_ns;
	for (uint32_t i = 0; i < 4; i++)
		live_on(&recording, 8);
	flush_and_check(&recording, place->path);
	close_and_check(&recording, place->path);
	used(place->path, &directories);
	assert_int_equal(directories, 4);
	assert_int_equal(size_of(place->path, "_f1.er/log.xml"), 0);
	assert_true(size_of(place->path, "_f31.er/log.xml") != 0);
	assert_true(size_of(place->path, "_f34.er/profile") + size_of(place->path, "_f34.er/hwcounters") !=
		    0);
	assert_int_equal(size_of(place->path, "_f35.er/log.xml"), 0);
}

static void test_experiment_many__after_many_that_end_soon_nobody_has_one(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t directories = 0;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 63; i++)
		live_shortly(&recording, 8);
	live_on(&recording, 8); /* _f64 */
	for (uint32_t i = 0; i < 2; i++)
		live_shortly(&recording, 8);
	live_on(&recording, 8);
	close_and_check(&recording, place->path);
	used(place->path, &directories);
	assert_int_equal(directories, 1);
	assert_true(size_of(place->path, "_f64.er/log.xml") != 0);
}

static void test_experiment_many__random_recordings_of_many_processes_come_back(void **state)
{
	struct place *place = *state;

	for (uint32_t round = 0; round < 6; round++) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = 77 + round};

		options.overwrite = true;
		options.has_states = true;
		options.memory_bytes = round % 2 != 0 ? 1 : 0;
		fixture_begin(&recording, &options);
		for (uint32_t i = 0; i < 60; i++) {
			uint32_t parent = (uint32_t)fixture_random(&recording.seed, recording.in.n_processes);

			if (i % 3 == 0)
				live_shortly(&recording, 20);
			else if (!recording.in.processes[parent].exited)
				fixture_descend(&recording, i % 3 == 1 ? CTX_EXP_FORK : CTX_EXP_EXEC, parent);
			for (uint32_t k = 0; k < 40; k++)
				fixture_step(&recording, 20);
		}
		flush_and_check(&recording, place->path);
		close_and_check(&recording, place->path);
	}
}

static const char *const ROOT_FILES[] = {"log.xml", "map.xml", "frameinfo", "profile", "hwcounters"};

/* What a process that came and went has left is in memory, until it is old. */
static void test_experiment_many__short_processes_write_together(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	size_t before[CTX_COUNT_OF(ROOT_FILES)];
	uint64_t alive_ns;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 4; i++)
		live_on(&recording, 8);
	fixture_flush(&recording);
	recording.now_ns += 3000000000;
	alive_ns = recording.now_ns + FIXTURE_START_NS;
	fixture_note(&recording, ctx_exp_tick(recording.writer, alive_ns, NULL));
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++)
		before[i] = size_of(place->path, ROOT_FILES[i]);
	assert_int_equal(before[3], 0); /* the root process has no sample */
	for (uint32_t i = 0; i < 40; i++)
		live_shortly(&recording, 8);
	fixture_note(&recording, ctx_exp_tick(recording.writer, alive_ns + 500000000, NULL));
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++)
		assert_int_equal(size_of(place->path, ROOT_FILES[i]), before[i]);
	fixture_note(&recording, ctx_exp_tick(recording.writer, alive_ns + 600100000, NULL));
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++)
		assert_true(size_of(place->path, ROOT_FILES[i]) > before[i]);
	flush_and_check(&recording, place->path);
	/* Much is written before it is old. */
	before[1] = size_of(place->path, "map.xml");
	for (uint32_t i = 0; i < 2000; i++)
		live_shortly(&recording, 8);
	assert_true(size_of(place->path, "map.xml") >= before[1] + (100 << 10));
	close_and_check(&recording, place->path);
}

static void put_begin(const char *path, const char *name, const struct ctx_buf *bytes, size_t n)
{
	char *file = ctx_path_join(path, name);

	assert_int_equal(ctx_file_replace(file, bytes->bytes, n, NULL), CTX_OK);
	free(file);
}

/* After any of the writes of a tick the files agree with each other. */
static void test_experiment_many__a_kill_between_two_writes_leaves_what_agrees(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct ctx_buf before[CTX_COUNT_OF(ROOT_FILES)] = {0}, after[CTX_COUNT_OF(ROOT_FILES)] = {0};
	struct fixture_contents out;
	size_t n_before;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 30; i++)
		live_shortly(&recording, 8);
	fixture_flush(&recording);
	n_before = recording.in.n_samples;
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++)
		load(place->path, ROOT_FILES[i], &before[i]);
	for (uint32_t i = 0; i < 30; i++)
		live_shortly(&recording, 8);
	fixture_flush(&recording);
	assert_int_equal(recording.status, CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++) {
		load(place->path, ROOT_FILES[i], &after[i]);
		assert_true(after[i].n > before[i].n);
		put_begin(place->path, ROOT_FILES[i], &before[i], before[i].n);
	}
	for (size_t i = 0; i <= CTX_COUNT_OF(ROOT_FILES); i++) {
		assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
		assert_string_equal(out.damage != NULL ? out.damage : "", "");
		assert_in_range(out.n_samples, n_before, recording.in.n_samples);
		for (size_t s = 0; s < out.n_samples; s++)
			assert_int_not_equal(out.samples[s].objects, 0);
		fixture_contents_deinit(&out);
		if (i < CTX_COUNT_OF(ROOT_FILES))
			put_begin(place->path, ROOT_FILES[i], &after[i], after[i].n);
	}
	fixture_close(&recording);
	for (size_t i = 0; i < CTX_COUNT_OF(ROOT_FILES); i++) {
		ctx_buf_deinit(&before[i]);
		ctx_buf_deinit(&after[i]);
	}
	fixture_contents_deinit(&recording.in);
}

/* How often `what` is in a file of the experiment. */
static size_t count_in(const char *path, const char *name, const char *what)
{
	struct ctx_buf bytes = {0};
	size_t n = 0;

	load(path, name, &bytes);
	ctx_buf_put_u8(&bytes, 0);
	for (const char *at = (const char *)bytes.bytes; (at = strstr(at, what)) != NULL; at++)
		n++;
	ctx_buf_deinit(&bytes);
	return n;
}

static void test_experiment_many__a_fork_has_the_maps_of_its_parent_in_one_line(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t early, changed, same, of_same;

	fixture_begin(&recording, &options);
	for (uint32_t i = 1; i < 20; i++)
		fixture_put_map(&recording, 0, 0x400000 + i * 0x10000, 0x8000, "/usr/lib/libx.so", "00ff");
	early = fixture_descend(&recording, CTX_EXP_FORK, 0); /* the parent's lines are not written yet */
	recording.now_ns += 1000;
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	fixture_put_sample(&recording, early, early, 0, 5, 8);
	for (uint32_t i = 0; i < 4; i++)
		live_on(&recording, 8);
	fixture_flush(&recording);
	assert_int_equal(count_in(place->path, "map.xml", "<map "), 20);
	assert_int_equal(count_in(place->path, "_f1.er/map.xml", "<map "), 20);
	assert_int_equal(count_in(place->path, "_f2.er/map.xml", "<maps "), 1);
	assert_int_equal(count_in(place->path, "_f2.er/map.xml", "<map "), 0);
	changed = fixture_descend(&recording, CTX_EXP_FORK, 0);
	same = fixture_descend(&recording, CTX_EXP_FORK, 0);
	recording.now_ns += 1000;
	/* Copy on write, from either side: what the parent maps later is not its child's. */
	fixture_put_map(&recording, changed, 0x401000, 0x1000, "/usr/lib/mine.so", "00aa");
	fixture_put_map(&recording, 0, 0x402000, 0x1000, "/usr/lib/parents.so", "00bb");
	fixture_put_sample(&recording, same, same, 0, 9, 8);
	fixture_put_sample(&recording, changed, changed, 0, 9, 8);
	fixture_put_sample(&recording, 0, 0, 0, 9, 8);
	of_same = fixture_descend(&recording, CTX_EXP_FORK, same);
	recording.now_ns += 1000;
	fixture_put_sample(&recording, of_same, of_same, 0, 9, 8);
	flush_and_check(&recording, place->path);
	assert_int_equal(count_in(place->path, "map.xml", "process=\"7\" of=\"0\""), 1);
	assert_int_equal(count_in(place->path, "map.xml", "process=\"8\" of=\"7\""), 1);
	assert_int_equal(count_in(place->path, "map.xml", "<maps "), 3); /* and the last of the four */
	assert_int_equal(count_in(place->path, "map.xml", "<map "), 20 + 1 + 22);
	close_and_check(&recording, place->path);
}

/* A process whose thread ends with it. */
static void end_both(struct fixture_recording *recording, uint32_t process, uint32_t thread)
{
	const struct ctx_exp_exit end = {.time_ns = FIXTURE_START_NS + recording->now_ns};

	fixture_note(recording, ctx_exp_thread_exit(recording->writer, thread, end.time_ns, NULL));
	fixture_note(recording, ctx_exp_process_exit(recording->writer, process, &end, NULL));
	recording->in.threads[thread].exited = true;
	recording->in.processes[process].exited = true;
	recording->in.processes[process].exit_ns = recording->now_ns;
}

static uint32_t descend_and_end(struct fixture_recording *recording, enum ctx_exp_origin origin,
				uint32_t parent, uint32_t width)
{
	uint32_t process = fixture_descend(recording, origin, parent);
	uint32_t thread = (uint32_t)recording->in.n_threads - 1;

	recording->now_ns += 1000;
	if (width != 0)
		fixture_put_sample(recording, process, thread, 0, 6, width);
	recording->now_ns += 1000;
	end_both(recording, process, thread);
	return process;
}

#define BYTES_OF_LIFE 200u /* of log.xml, for one process with a command and a control group */

static void test_experiment_many__a_short_life_is_one_line(void **state)
{
	enum { N = 300 };
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	size_t before;

	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	for (uint32_t i = 0; i < 4; i++) /* these have a directory: their log comes first */
		(void)live_on(&recording, 8);
	fixture_flush(&recording);
	before = size_of(place->path, "log.xml");
	assert_int_equal(count_in(place->path, "log.xml", "kind=\"process\""), 5);
	for (uint32_t i = 0; i < N; i++)
		(void)descend_and_end(&recording, i % 3 == 0 ? CTX_EXP_EXEC : CTX_EXP_FORK, 0,
				      i % 2 == 0 ? 8 : 0);
	flush_and_check(&recording, place->path);
	assert_int_equal(count_in(place->path, "log.xml", "<life "), N);
	assert_int_equal(count_in(place->path, "log.xml", "kind=\"process\""), 5);
	assert_true(size_of(place->path, "log.xml") - before <= N * BYTES_OF_LIFE);
	/* Maps that are the parent's stand in the same line. */
	assert_int_equal(count_in(place->path, "map.xml", "<maps "), 0);
	assert_int_equal(count_in(place->path, "log.xml", " maps=\"0\""), N / 3);
	close_and_check(&recording, place->path);
}

static void test_experiment_many__what_lives_on_or_changes_has_lines_of_its_own(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t lives, outlives, threads, child;

	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 4; i++)
		(void)live_on(&recording, 8);
	lives = fixture_descend(&recording, CTX_EXP_FORK, 0);
	threads = (uint32_t)recording.in.n_threads;
	flush_and_check(&recording, place->path);
	recording.now_ns += 5;
	end_both(&recording, lives, threads - 1);
	flush_and_check(&recording, place->path);
	assert_int_equal(count_in(place->path, "log.xml", "<life "), 0);
	/* Its thread ends first; a second thread; a child whose parent waits as well. */
	outlives = fixture_descend(&recording, CTX_EXP_FORK, 0);
	recording.now_ns += 5;
	fixture_note(&recording, ctx_exp_thread_exit(recording.writer, threads,
						     FIXTURE_START_NS + recording.now_ns, NULL));
	recording.in.threads[threads].exited = true;
	flush_and_check(&recording, place->path);
	lives = fixture_descend(&recording, CTX_EXP_FORK, outlives);
	fixture_start_thread(&recording, lives, "second");
	lives = fixture_descend(&recording, CTX_EXP_FORK, 0);
	recording.now_ns += 5;
	child = descend_and_end(&recording, CTX_EXP_FORK, lives, 8);
	assert_true(child > lives);
	flush_and_check(&recording, place->path);
	assert_int_equal(count_in(place->path, "log.xml", "<life "), 1);
	/* The last line says that the recording was closed, whoever lived then. */
	(void)fixture_descend(&recording, CTX_EXP_FORK, 0);
	close_and_check(&recording, place->path);
}

/* A line that refers to the maps of another process stands on disk after these. */
static void test_experiment_many__maps_are_written_before_what_refers_to_them(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	uint32_t first, child;

	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	fixture_flush(&recording);
	/* The parent's are in common files, the child's in a directory. */
	fixture_put_map(&recording, 0, 0x600000, 0x1000, "/usr/lib/one.so", "00ff");
	first = fixture_descend(&recording, CTX_EXP_FORK, 0);
	recording.now_ns += 1000;
	assert_int_equal(count_in(place->path, "map.xml", "one.so"), 0);
	fixture_put_sample(&recording, first, first, 0, 5, 8);
	assert_int_equal(count_in(place->path, "map.xml", "one.so"), 1);
	for (uint32_t i = 0; i < 15; i++)
		live_shortly(&recording, 8);
	/* The other way round. */
	fixture_put_map(&recording, first, 0x700000, 0x1000, "/usr/lib/two.so", "00ff");
	child = fixture_descend(&recording, CTX_EXP_FORK, first);
	recording.now_ns += 1000;
	assert_int_equal(count_in(place->path, "_f1.er/map.xml", "two.so"), 0);
	fixture_put_sample(&recording, child, child, 0, 5, 8);
	assert_int_equal(count_in(place->path, "_f1.er/map.xml", "two.so"), 1);
	close_and_check(&recording, place->path);
}

/* With samples or without, 2,000 processes stay below the limit, but for their ends. */
static void test_experiment_many__du_stays_within_max_bytes(void **state)
{
	struct place *place = *state;

	for (uint32_t width = 0; width <= 50; width += 50) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = 3};
		struct fixture_contents out;
		struct ctx_exp_stats stats;
		uint32_t directories = 0;
		uint64_t bytes;

		options.overwrite = true;
		options.max_bytes = width != 0 ? 1 << 20 : 256 << 10;
		fixture_begin(&recording, &options);
		for (uint32_t i = 0; i < 2000; i++) {
			uint32_t process = live_shortly(&recording, width);

			for (uint32_t k = 0; k < 100 && i < 100; k++)
				fixture_put_sample(&recording, 0, 0, 0, 20, 300);
			fixture_put_usage(&recording, process);
			if (i % 50 == 0)
				fixture_flush(&recording);
		}
		stats = ctx_exp_stats(recording.writer);
		assert_true(stats.left_out[CTX_EXP_DESCRIBED_PROCESS] > 100);
		close_and_read(&recording, place->path, &out);
		assert_string_equal(out.damage != NULL ? out.damage : "", "");
		assert_true(out.closed);
		assert_non_null(strstr(out.warnings, "limit of"));
		assert_non_null(strstr(out.warnings, "not described"));
		assert_int_equal(out.n_samples + out.lost, recording.in.n_samples);
		assert_true(width == 0 || out.n_samples > 1000);
		bytes = used(place->path, &directories);
		/* Less: files are packed at the end. */
		assert_in_range(bytes, options.max_bytes / 4, options.max_bytes + options.max_bytes / 20);
		fixture_contents_deinit(&out);
		fixture_contents_deinit(&recording.in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_many__four_descendants_have_directories),
		place_test(test_experiment_many__who_ends_soon_has_no_directory),
		place_test(test_experiment_many__after_many_that_end_soon_nobody_has_one),
		place_test(test_experiment_many__random_recordings_of_many_processes_come_back),
		place_test(test_experiment_many__short_processes_write_together),
		place_test(test_experiment_many__a_kill_between_two_writes_leaves_what_agrees),
		place_test(test_experiment_many__a_fork_has_the_maps_of_its_parent_in_one_line),
		place_test(test_experiment_many__maps_are_written_before_what_refers_to_them),
		place_test(test_experiment_many__a_short_life_is_one_line),
		place_test(test_experiment_many__what_lives_on_or_changes_has_lines_of_its_own),
		place_test(test_experiment_many__what_has_ended_takes_no_memory),
		place_test(test_experiment_many__du_stays_within_max_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
