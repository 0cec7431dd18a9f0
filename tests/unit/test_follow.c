/* Reading an experiment that is being written: exp_follow.h. */
#include "experiment_place.h"

#include "formats/experiment/exp_follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

/* ---- a reading that goes on ---- */

struct following {
	struct ctx_event_source *source;
	struct ctx_exp_follow_state state;
	struct fixture_contents out;
	struct fixture_reading reading;
};

static void begin_following(struct following *following, const char *path)
{
	assert_int_equal(ctx_exp_follow_open(path, &following->source, NULL), CTX_OK);
	following->out = (struct fixture_contents){0};
	following->reading =
		(struct fixture_reading){.out = &following->out, .info = &following->source->info};
	following->out.has_states = following->source->info.has_states;
}

/* Takes what there is. */
static void go_on(struct following *following)
{
	struct ctx_event_source *source = following->source;
	struct ctx_event event;
	enum ctx_status status;

	assert_int_equal(ctx_exp_follow_update(source, &following->state, NULL), CTX_OK);
	while (memset(&event, 0xa5, sizeof(event)), (status = source->next(source, &event, NULL)) == CTX_OK) {
		assert_true(event.time_ns < following->state.until_ns);
		fixture_read_event(&following->reading, &event);
	}
	assert_int_equal(status, CTX_END);
	assert_true(source->progress(source) <= source->info.bytes);
}

static void end_following(struct following *following)
{
	following->out.duration_ns = following->source->info.duration_ns;
	following->out.closed = following->source->info.closed;
	following->out.states_end_ns = following->source->info.states_end_ns;
	following->source->close(following->source);
	for (size_t i = 0; i < following->reading.n_dictionaries; i++)
		free(following->reading.dictionaries[i].nodes);
	free(following->reading.dictionaries);
	source_check_deinit(&following->reading.check);
}

/* The first samples and changes of a whole reading, one after the other. */
static void check_beginning(const struct fixture_contents *part, const struct fixture_contents *whole,
			    uint64_t until_ns)
{
	size_t n = 0;

	while (n < whole->n_samples && whole->samples[n].time_ns < until_ns)
		n++;
	assert_int_equal(part->n_samples, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(part->samples[i].time_ns, whole->samples[i].time_ns);
		assert_int_equal(part->samples[i].tid, whole->samples[i].tid);
		assert_int_equal(part->samples[i].objects, whole->samples[i].objects);
		assert_int_equal(part->samples[i].n_frames, whole->samples[i].n_frames);
		assert_memory_equal(part->samples[i].frames, whole->samples[i].frames,
				    sizeof(whole->samples[i].frames));
	}
	for (n = 0; n < whole->n_changes && whole->changes[n].time_ns < until_ns;)
		n++;
	assert_int_equal(part->n_changes, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(part->changes[i].time_ns, whole->changes[i].time_ns);
		assert_int_equal(part->changes[i].tid, whole->changes[i].tid);
		assert_int_equal(part->changes[i].waker_tid, whole->changes[i].waker_tid);
	}
}

/* ---- beside the writer ---- */

static void test_follow__what_comes_beside_the_writer_is_the_whole(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = seed};
		struct following following;
		struct fixture_contents whole;
		uint64_t before_end = 0;

		options.overwrite = true;
		options.has_states = seed % 2 == 0;
		fixture_begin(&recording, &options);
		begin_following(&following, place->path);
		for (unsigned i = 1; i <= 4000; i++) {
			fixture_step(&recording, 2 + (uint32_t)seed);
			if (i % 500 != 0)
				continue;
			go_on(&following);
			assert_int_equal(following.state.is, CTX_EXP_RECORDED);
			assert_true(recording.now_ns < following.state.until_ns + UINT64_C(3000000000));
			before_end = following.out.n_samples + following.out.n_changes;
		}
		fixture_close(&recording);
		assert_int_equal(recording.status, CTX_OK);
		go_on(&following);
		assert_int_equal(following.state.is, CTX_EXP_ENDED);
		end_following(&following);
		/* Most of it had come before. */
		assert_true(before_end * 2 > following.out.n_samples + following.out.n_changes);
		assert_int_equal(fixture_read(place->path, &whole, NULL), CTX_OK);
		check_beginning(&following.out, &whole, UINT64_MAX);
		fixture_check(&recording.in, &following.out);
		fixture_contents_deinit(&whole);
		fixture_contents_deinit(&following.out);
		fixture_contents_deinit(&recording.in);
	}
}

/* ---- files that grow byte by byte ---- */

#define FILES_MAX 200u

struct growing {
	char *from, *to;
	struct ctx_buf bytes;
	size_t done;
	bool is_data; /* blocks with times, not lines and not stacks */
};

struct copy {
	struct growing files[FILES_MAX];
	size_t n;
	int lock;
	char *path;
};

static void add_files(struct copy *copy, const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *item;

	assert_non_null(dir);
	assert_int_equal(mkdir(to, 0700), 0);
	while ((item = readdir(dir)) != NULL) {
		struct growing file = {.from = ctx_path_join(from, item->d_name),
				       .to = ctx_path_join(to, item->d_name)};

		if (item->d_type == DT_DIR && item->d_name[0] == '_')
			add_files(copy, file.from, file.to);
		if (item->d_type != DT_REG) {
			free(file.from);
			free(file.to);
			continue;
		}
		assert_int_equal(ctx_file_read(file.from, 1 << 24, &file.bytes, NULL), CTX_OK);
		file.is_data = strchr(item->d_name, '.') == NULL && strcmp(item->d_name, "frameinfo") != 0;
		assert_true(copy->n < FILES_MAX);
		copy->files[copy->n++] = file;
	}
	closedir(dir);
}

static void grow(struct growing *file, size_t by)
{
	int fd = open(file->to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	size_t left = file->bytes.n - file->done;

	by = by < left ? by : left;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->bytes.bytes + file->done, by), by);
	close(fd);
	file->done += by;
}

/* The first time that is not there: blocks of several processes are in no order of time. */
static uint64_t missing_since(const struct growing *file)
{
	size_t at = CTX_EXP_FILE_HEADER_BYTES;
	uint64_t since_ns = UINT64_MAX;

	while (at < file->bytes.n) {
		struct ctx_exp_block_header header;

		assert_int_equal(ctx_exp_decode_block_header(file->bytes.bytes + at, file->bytes.n - at,
							     &header, NULL),
				 CTX_OK);
		at += header.header_bytes + header.frame_bytes;
		if (at > file->done && header.first_ns < since_ns)
			since_ns = header.first_ns;
	}
	return since_ns;
}

/* What the recorder says when everything before `time_ns` is written. */
static void say_alive(const struct copy *copy, uint64_t time_ns)
{
	char *path = ctx_path_join(copy->path, "last.xml");
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	time_ns += CTX_EXP_FOLLOW_LAG_NS;
	fprintf(file, "<experiment version=\"1\"/>\n<event kind=\"alive\" tstamp=\"%llu.%09llu\"/>\n\n\n",
		(unsigned long long)(time_ns / 1000000000), (unsigned long long)(time_ns % 1000000000));
	assert_int_equal(fclose(file), 0);
	free(path);
}

/* As if by a recorder: the log is locked. */
static void begin_copy(struct copy *copy, const char *from)
{
	char *log;

	add_files(copy, from, copy->path);
	log = ctx_path_join(copy->path, "log.xml");
	copy->lock = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(copy->lock >= 0);
	assert_int_equal(flock(copy->lock, LOCK_EX | LOCK_NB), 0);
	free(log);
}

static void end_copy(struct copy *copy)
{
	for (size_t i = 0; i < copy->n; i++) {
		free(copy->files[i].from);
		free(copy->files[i].to);
		ctx_buf_deinit(&copy->files[i].bytes);
	}
	free(copy->path);
}

/* Each file by its own number of bytes; the time up to which all is there. */
static uint64_t grow_all(struct copy *copy, uint64_t *seed)
{
	uint64_t since_ns = UINT64_MAX;

	for (size_t i = 0; i < copy->n; i++) {
		struct growing *file = &copy->files[i];

		if (file->is_data)
			grow(file, fixture_random(seed, 1 + file->bytes.n / 6));
		if (file->is_data && missing_since(file) < since_ns)
			since_ns = missing_since(file);
	}
	return since_ns;
}

static void check_torn(struct copy *copy, const struct fixture_contents *whole, uint64_t seed)
{
	struct following following;
	uint64_t horizon_ns = 0;
	char *last;

	while (ctx_exp_follow_open(copy->path, &following.source, NULL) == CTX_END)
		for (size_t i = 0; i < copy->n; i++)
			grow(&copy->files[i], fixture_random(&seed, 100));
	following.source->close(following.source);
	begin_following(&following, copy->path);
	/* Lines and stacks, a few bytes at a time: nothing is known to be there. */
	for (unsigned step = 0; step < 12; step++) {
		for (size_t i = 0; i < copy->n; i++)
			if (!copy->files[i].is_data || step % 4 == 0)
				grow(&copy->files[i], fixture_random(&seed, 300));
		go_on(&following);
		assert_int_equal(following.out.n_samples, 0);
	}
	for (size_t i = 0; i < copy->n; i++)
		if (!copy->files[i].is_data)
			grow(&copy->files[i], SIZE_MAX);
	while (horizon_ns != UINT64_MAX) {
		horizon_ns = grow_all(copy, &seed);
		if (horizon_ns != UINT64_MAX)
			say_alive(copy, horizon_ns);
		go_on(&following);
		assert_int_equal(following.state.is, CTX_EXP_RECORDED);
		if (horizon_ns != UINT64_MAX)
			check_beginning(&following.out, whole, horizon_ns);
	}
	/* At the end there are no last words, which were of a time after it here. */
	last = ctx_path_join(copy->path, "last.xml");
	assert_true(unlink(last) == 0 || errno == ENOENT);
	free(last);
	close(copy->lock);
	go_on(&following);
	assert_int_equal(following.state.is, CTX_EXP_ENDED);
	go_on(&following); /* nothing more */
	end_following(&following);
	check_beginning(&following.out, whole, UINT64_MAX);
	assert_int_equal(following.out.n_damage, 0);
	assert_int_equal(following.out.duration_ns, whole->duration_ns);
	fixture_contents_deinit(&following.out);
}

static void test_follow__torn_ends_of_files_are_read_later(void **state)
{
	struct place *place = *state;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct ctx_exp_options options = fixture_options(place->path);
		struct fixture_recording recording = {.seed = seed};
		struct copy *copy = calloc(1, sizeof(*copy));
		struct fixture_contents whole;
		char name[32];

		assert_non_null(copy);
		snprintf(name, sizeof(name), "copy%u.er", (unsigned)seed);
		copy->path = ctx_path_join(place->directory, name);
		options.overwrite = true;
		options.has_states = seed % 2 == 0;
		fixture_begin(&recording, &options);
		for (unsigned i = 0; i < 1500; i++)
			fixture_step(&recording, 2 + (uint32_t)seed);
		fixture_close(&recording);
		assert_int_equal(recording.status, CTX_OK);
		assert_int_equal(fixture_read(place->path, &whole, NULL), CTX_OK);
		begin_copy(copy, place->path);
		check_torn(copy, &whole, seed);
		end_copy(copy);
		free(copy);
		fixture_contents_deinit(&whole);
		fixture_contents_deinit(&recording.in);
	}
}

/* ---- beginnings and ends ---- */

static void test_follow__an_experiment_that_is_not_there_yet_is_no_error(void **state)
{
	struct place *place = *state;
	struct ctx_event_source *source;
	struct copy copy = {.path = strdup(place->path)};

	assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_END);
	assert_int_equal(mkdir(place->path, 0700), 0);
	assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_END);
	assert_int_equal(rmdir(place->path), 0);
	/* Its first lines are being written. */
	copy.files[0] = (struct growing){.to = ctx_path_join(place->path, "log.xml"), .from = strdup("")};
	copy.n = 1;
	ctx_buf_put_text(&copy.files[0].bytes,
			 "<experiment version=\"1\"/>\n<event kind=\"run\" tstamp=\"1.0\" "
			 "unix_ns=\"1700000000000000000\"/>\n");
	begin_copy(&copy, place->directory);
	while (copy.files[0].done < copy.files[0].bytes.n) {
		assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_END);
		grow(&copy.files[0], 1);
	}
	assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_OK);
	source->close(source);
	close(copy.lock);
	end_copy(&copy);
	/* No experiment, and none will be. */
	assert_int_equal(ctx_exp_follow_open("/dev/null", &source, NULL), CTX_E_FORMAT);
}

static void test_follow__a_killed_recorder_is_told_from_one_that_ended(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5};
	struct copy copy = {0};
	struct following following;

	fixture_begin(&recording, &options);
	for (unsigned i = 0; i < 3000; i++)
		fixture_step(&recording, 4);
	copy.path = ctx_path_join(place->directory, "copy.er");
	begin_copy(&copy, place->path);
	for (size_t i = 0; i < copy.n; i++)
		grow(&copy.files[i], copy.files[i].is_data ? copy.files[i].bytes.n - 10 : SIZE_MAX);
	begin_following(&following, copy.path);
	go_on(&following);
	assert_int_equal(following.state.is, CTX_EXP_RECORDED);
	assert_true(following.out.n_samples > 0);
	close(copy.lock);
	go_on(&following);
	assert_int_equal(following.state.is, CTX_EXP_KILLED);
	assert_true(following.out.n_damage > 0); /* the torn blocks */
	assert_non_null(strstr(following.out.warnings, "the recorder was killed"));
	end_following(&following);
	fixture_contents_deinit(&following.out);
	end_copy(&copy);
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
}

static void test_follow__another_experiment_in_its_place_is_told(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 5}, second = {.seed = 6};
	struct following following;
	char *moved = ctx_path_join(place->directory, "moved.er");

	fixture_begin(&recording, &options);
	begin_following(&following, place->path);
	assert_int_equal(rename(place->path, moved), 0);
	go_on(&following);
	assert_int_equal(following.state.is, CTX_EXP_REMOVED);
	fixture_begin(&second, &options);
	go_on(&following);
	assert_int_equal(following.state.is, CTX_EXP_REPLACED);
	end_following(&following);
	fixture_contents_deinit(&following.out);
	fixture_close(&recording);
	fixture_close(&second);
	fixture_contents_deinit(&recording.in);
	fixture_contents_deinit(&second.in);
	free(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_follow__what_comes_beside_the_writer_is_the_whole),
		place_test(test_follow__torn_ends_of_files_are_read_later),
		place_test(test_follow__an_experiment_that_is_not_there_yet_is_no_error),
		place_test(test_follow__a_killed_recorder_is_told_from_one_that_ended),
		place_test(test_follow__another_experiment_in_its_place_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
