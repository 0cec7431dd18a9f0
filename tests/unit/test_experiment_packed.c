/* log.xml and map.xml packed: exp_text.h. */
#include "experiment_place.h"

#include "base/xxh.h"
#include "base/zstd_file.h"
#include "formats/experiment/exp_follow.h"
#include "formats/experiment/exp_remove.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LINES 3000u /* of 100 bytes: more than 128 KiB, and than one step of the reader */

/* What a reading says: all events, in order, and how many are damage. */
struct said {
	uint64_t digest;
	uint32_t events, maps, damage;
	char first_damage[300];
};

static void hear(struct said *said, const struct ctx_event *event)
{
	const uint64_t facts[] = {said->digest, event->kind, event->time_ns, event->process, event->thread};

	said->events++;
	said->maps += event->kind == CTX_EV_MAP;
	said->digest = ctx_xxh3(facts, sizeof(facts));
	if (event->kind != CTX_EV_DAMAGE)
		return;
	if (said->damage++ == 0)
		snprintf(said->first_damage, sizeof(said->first_damage), "%s", event->text);
}

static struct said read_all(const char *path)
{
	struct ctx_event_source *source;
	struct ctx_event event = {0};
	struct said said = {0};

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		hear(&said, &event);
		memset(&event, 0, sizeof(event));
	}
	source->close(source);
	return said;
}

static char *name_in(const char *path, const char *name)
{
	char *file = ctx_path_join(path, name);

	assert_non_null(file);
	return file;
}

static bool is_there(const char *path, const char *name)
{
	char *file = name_in(path, name);
	bool is = access(file, F_OK) == 0;

	free(file);
	return is;
}

static void put(const char *path, const char *name, const void *bytes, size_t n)
{
	char *file = name_in(path, name);

	assert_int_equal(ctx_file_replace(file, bytes, n, NULL), CTX_OK);
	free(file);
}

static void load_packed(const char *path, const char *name, struct ctx_buf *out)
{
	char *file = name_in(path, name);

	assert_int_equal(ctx_file_read(file, 64 << 20, out, NULL), CTX_OK);
	free(file);
}

/* As `zstd -d --rm` does. */
static void unpack_by_hand(const char *path, const char *name)
{
	struct ctx_buf text = {0};
	char packed[64], *file;

	snprintf(packed, sizeof(packed), "%s.zst", name);
	place_load_text(path, name, &text);
	put(path, name, text.bytes, text.n);
	file = name_in(path, packed);
	assert_int_equal(unlink(file), 0);
	free(file);
	ctx_buf_deinit(&text);
}

/* Many lines of the log and of maps, also of a process with a directory of its own. */
static void put_lines(struct fixture_recording *recording, uint32_t process, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		recording->now_ns += 1000;
		fixture_put_map(recording, process, ((process + UINT64_C(1)) << 40) + (uint64_t)i * 0x10000,
				0x1000, i % 2 == 0 ? "/usr/lib/libone.so.1" : "/usr/lib/libother.so.2",
				"0123456789abcdef");
		assert_int_equal(
			ctx_exp_remark(recording->writer, FIXTURE_START_NS + recording->now_ns,
				       "a line that is a little longer than most of those of real life",
				       NULL),
			CTX_OK);
		if (i % 100 == 0)
			fixture_put_sample(recording, process, process, 0, 5, 8);
	}
}

static void make(const char *path, uint32_t n)
{
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 3};

	options.overwrite = true;
	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	put_lines(&recording, 0, n);
	(void)fixture_descend(&recording, CTX_EXP_FORK, 0);
	put_lines(&recording, 1, n);
	fixture_close(&recording);
	assert_int_equal(recording.status, CTX_OK);
	fixture_contents_deinit(&recording.in);
}

static void test_experiment_packed__large_texts_are_packed_and_mean_the_same(void **state)
{
	static const char *const NAMES[] = {"log.xml", "map.xml", "_f1.er/map.xml"};
	struct place *place = *state;
	struct said packed, plain;
	char fingerprints[2][17];

	make(place->path, 20);
	for (size_t i = 0; i < CTX_COUNT_OF(NAMES); i++)
		assert_true(is_there(place->path, NAMES[i]));
	make(place->path, LINES); /* in the place of the first one */
	assert_true(ctx_exp_is_experiment(place->path));
	assert_false(ctx_exp_is_recorded(place->path));
	packed = read_all(place->path);
	assert_int_equal(packed.damage, 0);
	assert_true(packed.maps >= 2 * LINES);
	assert_int_equal(ctx_exp_fingerprint(place->path, fingerprints[0], NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(NAMES); i++) {
		assert_false(is_there(place->path, NAMES[i]));
		unpack_by_hand(place->path, NAMES[i]);
		plain = read_all(place->path);
		assert_int_equal(plain.events, packed.events);
		assert_int_equal(plain.digest, packed.digest);
	}
	assert_int_equal(ctx_exp_fingerprint(place->path, fingerprints[1], NULL), CTX_OK);
	assert_string_not_equal(fingerprints[0], fingerprints[1]);
}

static void test_experiment_packed__the_packed_log_has_the_time_of_the_plain_one(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct stat plain, packed;
	char *log;
	int fd;

	fixture_begin(&recording, &options);
	put_lines(&recording, 0, LINES);
	log = ctx_exp_log_path(place->path);
	assert_null(strstr(log, ".zst"));
	fd = open(log, O_RDONLY | O_CLOEXEC);
	free(log);
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
	log = ctx_exp_log_path(place->path);
	assert_non_null(strstr(log, "/log.xml.zst"));
	assert_int_equal(fstat(fd, &plain), 0);
	assert_int_equal(stat(log, &packed), 0);
	assert_int_equal(plain.st_nlink, 0);
	assert_int_equal(packed.st_mtim.tv_sec, plain.st_mtim.tv_sec);
	assert_int_equal(packed.st_mtim.tv_nsec, plain.st_mtim.tv_nsec);
	assert_int_equal(packed.st_mode, plain.st_mode);
	assert_true(packed.st_size < plain.st_size / 4);
	close(fd);
	free(log);
}

/* A kill while it is packed leaves a part, or both; the plain one counts. */
static void test_experiment_packed__a_plain_text_counts_before_a_packed_one(void **state)
{
	static const char PART[] = "(\xb5/\xfd part of a frame";
	struct place *place = *state;
	struct said before;

	make(place->path, 20);
	before = read_all(place->path);
	put(place->path, "map.xml.tmp", PART, sizeof(PART) - 1);
	put(place->path, "log.xml.zst", PART, sizeof(PART) - 1);
	put(place->path, "map.xml.zst", PART, sizeof(PART) - 1);
	put(place->path, "_f1.er/map.xml.tmp", PART, sizeof(PART) - 1);
	assert_int_equal(read_all(place->path).digest, before.digest);
	assert_int_equal(ctx_exp_remove(place->path, NULL), CTX_OK); /* all are its own names */
	assert_false(is_there(place->directory, "run.er"));
}

static void test_experiment_packed__a_recording_that_failed_stays_plain(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};

	fixture_begin(&recording, &options);
	put_lines(&recording, 0, LINES);
	ctx_exp_fail(recording.writer, "the disk caught fire");
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
	assert_true(is_there(place->path, "log.xml"));
	assert_false(is_there(place->path, "log.xml.zst"));
	assert_int_equal(read_all(place->path).damage, 0);
}

/* The reader has the beginning of the plain file when the recorder packs it. */
static void test_experiment_packed__who_follows_gets_the_end_from_the_packed_text(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct ctx_exp_follow_state is;
	struct ctx_event_source *source;
	struct ctx_event event = {0};
	struct said followed = {0}, whole;

	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	put_lines(&recording, 0, LINES);
	fixture_flush(&recording);
	assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_OK);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ctx_exp_follow_update(source, &is, NULL), CTX_OK);
		while (source->next(source, &event, NULL) == CTX_OK) {
			hear(&followed, &event);
			memset(&event, 0, sizeof(event));
		}
		assert_int_equal(is.is, i == 0 ? CTX_EXP_RECORDED : CTX_EXP_ENDED);
		if (i != 0)
			continue;
		put_lines(&recording, 0, 10);
		fixture_close(&recording);
		assert_false(is_there(place->path, "log.xml") || is_there(place->path, "map.xml"));
	}
	source->close(source);
	fixture_contents_deinit(&recording.in);
	whole = read_all(place->path);
	assert_int_equal(followed.damage, 0);
	assert_int_equal(followed.events, whole.events);
	assert_int_equal(followed.maps, whole.maps);
}

/* ---- what is not to be trusted ---- */

static void test_experiment_packed__damage_costs_what_is_behind_it(void **state)
{
	struct place *place = *state;
	struct ctx_buf map = {0};
	struct said whole, harmed;

	make(place->path, LINES);
	whole = read_all(place->path);
	load_packed(place->path, "map.xml.zst", &map);
	for (unsigned i = 0; i < 12; i++) {
		bool is_cut = i % 2 == 0;
		size_t at = (size_t)i * map.n / 12;

		if (!is_cut)
			map.bytes[at] ^= 0x55;
		put(place->path, "map.xml.zst", map.bytes, is_cut ? at : map.n);
		harmed = read_all(place->path);
		assert_true(harmed.damage != 0);
		assert_non_null(strstr(harmed.first_damage, "map.xml.zst: "));
		assert_true(harmed.events <= whole.events + harmed.damage);
		if (!is_cut)
			map.bytes[at] ^= 0x55;
	}
	/* Something behind the frame. */
	ctx_buf_put_text(&map, "<map/>");
	put(place->path, "map.xml.zst", map.bytes, map.n);
	harmed = read_all(place->path);
	assert_int_equal(harmed.damage, 1);
	assert_int_equal(harmed.maps, whole.maps);
	ctx_buf_deinit(&map);
}

static void test_experiment_packed__a_damaged_log_is_read_as_far_as_it_is_good(void **state)
{
	struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	struct ctx_buf log = {0};
	struct said harmed;

	make(place->path, LINES);
	load_packed(place->path, "log.xml.zst", &log);
	put(place->path, "log.xml.zst", log.bytes, log.n - 100);
	harmed = read_all(place->path);
	assert_non_null(strstr(harmed.first_damage, "cut short; the rest is left out"));
	assert_int_equal(harmed.damage, 2); /* and the line that is cut */
	put(place->path, "log.xml.zst", log.bytes, 10);
	assert_int_equal(ctx_exp_open(place->path, &source, &err), CTX_E_FORMAT);
	put(place->path, "log.xml.zst", "", 0);
	assert_int_equal(ctx_exp_open(place->path, &source, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "not an experiment"));
	ctx_buf_deinit(&log);
}

/* Replaces a packed text by one of `n` times these lines; without the size in the frame unless `says`. */
static void put_bomb(const char *path, const char *name, const char *line, size_t n, bool says)
{
	struct ctx_buf text = {0};
	char packed[64], *to = name_in(path, "bomb"), *file;
	struct ctx_zstd_content content = {.file = -1, .to_name = "bomb"};
	int from, fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t bytes;

	snprintf(packed, sizeof(packed), "%s.zst", name);
	file = name_in(path, packed);
	place_load_text(path, name, &text);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_text(&text, line);
	assert_false(text.failed);
	assert_true(fd >= 0);
	put(path, "plain", text.bytes, text.n);
	free(to);
	to = name_in(path, "plain");
	from = open(to, O_RDONLY | O_CLOEXEC);
	content.file = from;
	content.has_size = says;
	content.size = text.n;
	assert_int_equal(ctx_zstd_write(&content, fd, &bytes, NULL), CTX_OK);
	assert_int_equal(unlink(to), 0);
	free(to);
	to = name_in(path, "bomb");
	assert_int_equal(rename(to, file), 0);
	close(from);
	close(fd);
	free(to);
	free(file);
	ctx_buf_deinit(&text);
}

static void test_experiment_packed__bombs_are_refused(void **state)
{
	/* 100 MB of a line that means nothing, which would be 100 MB of memory if each were an event. */
	static const char LINE[] =
		"<nothing at=\"0.000000000\" text=\"0000000000000000000000000000000000000\"/>\n";
	const size_t n = 100000000 / (sizeof(LINE) - 1);
	struct place *place = *state;
	struct said whole;

	make(place->path, LINES);
	whole = read_all(place->path);
	for (int says = 0; says < 2; says++) {
		struct ctx_event_source *source;
		struct ctx_err err = {0};
		struct said said;

		make(place->path, LINES);
		put_bomb(place->path, "map.xml", LINE, n, says != 0);
		said = read_all(place->path);
		assert_int_equal(said.damage, 1);
		assert_non_null(strstr(said.first_damage, "map.xml.zst: unpacks to more than "));
		assert_true(says != 0 ? said.maps < whole.maps : said.maps == whole.maps);
		if (says == 0)
			continue;
		put_bomb(place->path, "log.xml", LINE, n, says != 0);
		assert_int_equal(ctx_exp_open(place->path, &source, &err), CTX_E_LIMIT);
		assert_non_null(strstr(err.msg, "run.er: log.xml.zst: unpacks to more than "));
	}
}

static void test_experiment_packed__holes_and_links_are_not_read(void **state)
{
	struct place *place = *state;
	struct ctx_event_source *source;
	char *map = name_in(place->path, "map.xml.zst"), *log = name_in(place->path, "log.xml.zst"), *other;
	struct said whole, said;

	make(place->path, LINES);
	whole = read_all(place->path);
	if (truncate(map, (off_t)2 << 40) == 0) {
		said = read_all(place->path);
		assert_int_equal(said.damage, 1);
		assert_int_equal(said.maps, whole.maps);
	}
	other = name_in(place->directory, "other");
	assert_int_equal(rename(log, other), 0);
	assert_int_equal(symlink(other, log), 0);
	assert_false(ctx_exp_is_experiment(place->path));
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_E_FORMAT);
	free(map);
	free(log);
	free(other);
}

/* ---- data files of many short processes ---- */

static void put_short_lives(struct fixture_recording *recording, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t process = fixture_descend(recording, CTX_EXP_FORK, 0);
		uint32_t thread = (uint32_t)recording->in.n_threads - 1;
		struct ctx_exp_exit end;

		recording->now_ns += 1000;
		fixture_put_sample(recording, process, thread, 0, 6, 8);
		recording->now_ns += 1000;
		end = (struct ctx_exp_exit){.time_ns = FIXTURE_START_NS + recording->now_ns};
		fixture_note(recording, ctx_exp_thread_exit(recording->writer, thread, end.time_ns, NULL));
		fixture_note(recording, ctx_exp_process_exit(recording->writer, process, &end, NULL));
	}
}

static void make_lives(const char *path, uint32_t n)
{
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 3};

	options.overwrite = true;
	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	put_short_lives(&recording, n);
	fixture_close(&recording);
	assert_int_equal(recording.status, CTX_OK);
	fixture_contents_deinit(&recording.in);
}

#define LIVES 2000u /* with a block of 100 bytes each */

static void test_experiment_packed__small_blocks_are_packed_and_mean_the_same(void **state)
{
	struct place *place = *state;
	struct said packed, harmed;
	struct ctx_buf profile = {0};

	make_lives(place->path, LIVES);
	assert_false(is_there(place->path, "profile") || is_there(place->path, "frameinfo"));
	packed = read_all(place->path);
	assert_int_equal(packed.damage, 0);
	assert_true(packed.events > 5 * LIVES);
	/* Both: the plain one counts. */
	load_packed(place->path, "profile.zst", &profile);
	unpack_by_hand(place->path, "profile");
	put(place->path, "profile.zst", "no frame", 8);
	assert_int_equal(read_all(place->path).digest, packed.digest);
	unpack_by_hand(place->path, "frameinfo");
	assert_int_equal(read_all(place->path).digest, packed.digest);
	/* Damage costs what is behind it. */
	make_lives(place->path, LIVES); /* replaces all of them */
	put(place->path, "profile.zst", profile.bytes, profile.n / 2);
	harmed = read_all(place->path);
	assert_non_null(strstr(harmed.first_damage, "profile.zst: zstd: "));
	assert_true(harmed.events < packed.events - LIVES / 3 && harmed.events > packed.events / 2);
	ctx_buf_deinit(&profile);
}

static void test_experiment_packed__data_for_more_memory_than_is_allowed_are_left_out(void **state)
{
	struct place *place = *state;
	struct said said;

	make_lives(place->path, LIVES);
	put_bomb(place->path, "profile", "0000000000000000000000000000000", (size_t)17 << 15, false);
	said = read_all(place->path);
	assert_non_null(strstr(said.first_damage, "profile.zst: unpacks to more than 16777216 bytes"));
	assert_true(said.events > LIVES);
}

/* What waits for its time is in the plain file when it is found, and in the packed one when it is read. */
static void test_experiment_packed__who_follows_gets_packed_blocks(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 3};
	struct ctx_exp_follow_state is;
	struct ctx_event_source *source;
	struct ctx_event event = {0};
	struct said followed = {0}, whole;

	fixture_begin(&recording, &options);
	put_short_lives(&recording, LIVES);
	fixture_flush(&recording);
	assert_int_equal(ctx_exp_follow_open(place->path, &source, NULL), CTX_OK);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ctx_exp_follow_update(source, &is, NULL), CTX_OK);
		if (i == 0) {
			put_short_lives(&recording, 10);
			fixture_close(&recording);
			assert_false(is_there(place->path, "profile"));
		}
		while (source->next(source, &event, NULL) == CTX_OK) {
			hear(&followed, &event);
			memset(&event, 0, sizeof(event));
		}
	}
	assert_int_equal(is.is, CTX_EXP_ENDED);
	source->close(source);
	fixture_contents_deinit(&recording.in);
	whole = read_all(place->path);
	assert_int_equal(followed.damage, 0);
	assert_int_equal(followed.events, whole.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_packed__large_texts_are_packed_and_mean_the_same),
		place_test(test_experiment_packed__the_packed_log_has_the_time_of_the_plain_one),
		place_test(test_experiment_packed__a_plain_text_counts_before_a_packed_one),
		place_test(test_experiment_packed__a_recording_that_failed_stays_plain),
		place_test(test_experiment_packed__who_follows_gets_the_end_from_the_packed_text),
		place_test(test_experiment_packed__damage_costs_what_is_behind_it),
		place_test(test_experiment_packed__a_damaged_log_is_read_as_far_as_it_is_good),
		place_test(test_experiment_packed__bombs_are_refused),
		place_test(test_experiment_packed__small_blocks_are_packed_and_mean_the_same),
		place_test(test_experiment_packed__data_for_more_memory_than_is_allowed_are_left_out),
		place_test(test_experiment_packed__who_follows_gets_packed_blocks),
		place_test(test_experiment_packed__holes_and_links_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
