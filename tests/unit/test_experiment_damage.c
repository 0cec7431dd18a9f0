#include "experiment_place.h"
#include "tests/unit/every.h"

#include <dirent.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- helpers ---- */

/* A whole small experiment in memory, so that it can be put down again after each harm. */
struct image {
	char *names[16]; /* relative to the experiment */
	struct ctx_buf bytes[16];
	size_t n;
};

static void load_directory(struct image *image, const char *path, const char *below)
{
	char *full = below[0] != '\0' ? ctx_path_join(path, below) : strdup(path);
	struct dirent *item;
	DIR *dir = opendir(full);

	assert_non_null(dir);
	while ((item = readdir(dir)) != NULL) {
		char *name = below[0] != '\0' ? ctx_path_join(below, item->d_name) : strdup(item->d_name);
		char *file = ctx_path_join(path, name);
		struct stat info;

		assert_int_equal(lstat(file, &info), 0);
		if (S_ISDIR(info.st_mode) && item->d_name[0] == '_') {
			load_directory(image, path, name);
		} else if (S_ISREG(info.st_mode)) {
			assert_true(image->n < 16);
			assert_int_equal(ctx_file_read(file, 1 << 20, &image->bytes[image->n], NULL), CTX_OK);
			image->names[image->n++] = strdup(name);
		}
		free(name);
		free(file);
	}
	closedir(dir);
	free(full);
}

static void image_deinit(struct image *image)
{
	for (size_t i = 0; i < image->n; i++) {
		free(image->names[i]);
		ctx_buf_deinit(&image->bytes[i]);
	}
}

static void put_file(const char *path, const char *name, const uint8_t *bytes, size_t n)
{
	char *file = ctx_path_join(path, name);
	/*
	 * Cut to its length behind: a file that is emptied and written again goes to the disk at
	 * once on ext4, thousands of times here.
	 */
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	close(fd);
	free(file);
}

/*
 * Two processes, a block for each tick in each data file, an overview; state changes by each other
 * and by an external waker.
 */
static void make_small(const char *path, struct fixture_contents *in, uint32_t ticks)
{
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 11};

	options.n_metrics = 3;
	options.overwrite = true;
	options.has_states = true;
	fixture_begin(&recording, &options);
	fixture_descend(&recording, CTX_EXP_FORK, 0);
	for (uint32_t i = 0; i < ticks * 6; i++) {
		recording.now_ns += 100000000;
		fixture_put_sample(&recording, i % 3 == 2, i % 3 == 2, i % 2 * 2, 5, 8);
		if (i % 2 == 0)
			fixture_put_any_change(&recording, i % 3 == 2, 8);
		if (i % 6 == 5) {
			fixture_put_usage(&recording, i % 2);
			fixture_flush(&recording);
		}
	}
	assert_int_equal(recording.status, CTX_OK);
	fixture_close(&recording);
	*in = recording.in;
}

/* True if a sample of this time, thread and metric went in. */
static bool went_in(const struct fixture_contents *in, const struct fixture_sample *sample)
{
	for (size_t i = 0; i < in->n_samples; i++) {
		if (in->samples[i].time_ns == sample->time_ns && in->samples[i].metric == sample->metric)
			return true;
	}
	return false;
}

/* True if a change of this time went in, of this kind. */
static bool change_went_in(const struct fixture_contents *in, const struct fixture_change *change)
{
	for (size_t i = 0; i < in->n_changes; i++) {
		if (in->changes[i].time_ns == change->time_ns && in->changes[i].change == change->change)
			return true;
	}
	return false;
}

/*
 * Reads a damaged experiment: reading ends; all samples and changes that are read were written; if
 * some are missing, or have another stack, damage is reported. `tail_may_go`: a file that ends at
 * the begin of a block or line looks like one that is still being written.
 */
static void check_harmed(const char *path, struct fixture_contents *in, const char *file, bool data,
			 bool tail_may_go)
{
	struct fixture_contents out;
	struct ctx_err err = {0};
	enum ctx_status status = fixture_read(path, &out, &err);

	if (status != CTX_OK) {
		assert_string_equal(file, "log.xml"); /* all other harm is an event */
		assert_true(status == CTX_E_FORMAT || status == CTX_E_VERSION);
		assert_true(err.msg[0] != '\0');
		return;
	}
	assert_in_range(out.n_samples, 0, in->n_samples);
	for (size_t i = 0; i < out.n_samples; i++)
		assert_true(went_in(in, &out.samples[i]));
	assert_in_range(out.n_changes, 0, in->n_changes);
	for (size_t i = 0; i < out.n_changes; i++)
		assert_true(change_went_in(in, &out.changes[i]));
	if (data && !tail_may_go && out.n_damage == 0) {
		fixture_check_samples(in, &out);
		fixture_check_changes(in, &out);
	}
	if (data && out.n_damage != 0) {
		assert_non_null(strstr(out.damage, "offset "));
		assert_non_null(strstr(out.damage, tail_may_go ? "" : file));
	}
	if (!data)
		assert_int_equal(out.n_samples, in->n_samples);
	fixture_contents_deinit(&out);
}

static bool is_data(const char *name)
{
	return strstr(name, ".xml") == NULL && strcmp(name, "notes") != 0;
}

/* ---- bytes ---- */

/*
 * A first block, one between others and a last one: the number of bytes to harm and the time of
 * each reading both grow with it.
 */
#define HARMED_TICKS 3

static void test_experiment_damage__files_cut_at_every_byte_are_read_to_the_end(void **state)
{
	struct place *place = *state;
	struct fixture_contents in;
	struct image image = {0};

	make_small(place->path, &in, HARMED_TICKS);
	load_directory(&image, place->path, "");
	assert_true(image.n >= 9);
	for (size_t f = 0; f < image.n; f++) {
		const char *name = image.names[f];

		/*
		 * The metrics are in the log's first lines: without those, samples are of an
		 * unknown one.
		 */
		for (size_t n = 0; n < image.bytes[f].n; n += EVERY) {
			put_file(place->path, name, image.bytes[f].bytes, n);
			if (strcmp(name, "log.xml") == 0 && n < image.bytes[f].n / 2) {
				struct fixture_contents out;

				if (fixture_read(place->path, &out, NULL) == CTX_OK)
					fixture_contents_deinit(&out);
				continue;
			}
			check_harmed(place->path, &in, name, is_data(name), true);
		}
		put_file(place->path, name, image.bytes[f].bytes, image.bytes[f].n);
	}
	image_deinit(&image);
	fixture_contents_deinit(&in);
}

/* Six descendants, the last ones without a directory, with the maps of their parents. */
static void make_many(const char *path, struct fixture_contents *in)
{
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 12};

	options.n_metrics = 3;
	fixture_begin(&recording, &options);
	fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	for (uint32_t i = 1; i <= 6; i++) {
		recording.now_ns += 100000000;
		fixture_descend(&recording, CTX_EXP_FORK, i > 5 ? 5 : 0);
		fixture_put_sample(&recording, i, i, i % 2 * 2, 3, 8);
		if (i >= 5)
			fixture_flush(&recording);
	}
	fixture_put_map(&recording, 6, 0x500000, 0x1000, "/usr/lib/own.so", "00ff");
	fixture_put_sample(&recording, 6, 6, 0, 3, 8);
	assert_int_equal(recording.status, CTX_OK);
	fixture_close(&recording);
	*in = recording.in;
}

/* Blocks and lines of several processes in one file: cut, or changed, anywhere. */
static void test_experiment_damage__common_files_are_read_whatever_is_harmed(void **state)
{
	static const char *const NAMES[] = {"map.xml", "frameinfo", "profile", "hwcounters"};
	struct place *place = *state;
	struct fixture_contents in;

	make_many(place->path, &in);
	for (size_t f = 0; f < CTX_COUNT_OF(NAMES); f++) {
		char *file = ctx_path_join(place->path, NAMES[f]);
		struct ctx_buf whole = {0};

		assert_int_equal(ctx_file_read(file, 1 << 20, &whole, NULL), CTX_OK);
		for (size_t n = 0; n < whole.n;
		     n += 5 * EVERY) { /* each field of a record is hit somewhere */
			put_file(place->path, NAMES[f], whole.bytes, n);
			check_harmed(place->path, &in, NAMES[f], is_data(NAMES[f]), true);
			whole.bytes[n] ^= 0x10;
			put_file(place->path, NAMES[f], whole.bytes, whole.n);
			check_harmed(place->path, &in, NAMES[f], is_data(NAMES[f]), false);
			whole.bytes[n] ^= 0x10;
		}
		put_file(place->path, NAMES[f], whole.bytes, whole.n);
		ctx_buf_deinit(&whole);
		free(file);
	}
	fixture_contents_deinit(&in);
}

/* The blocks of a data file, by their magic. */
static size_t find_blocks(const struct ctx_buf *file, size_t *offsets, size_t max)
{
	size_t n = 0;

	for (size_t at = 16; at + 64 <= file->n && n < max; at++) {
		if (memcmp(file->bytes + at, CTX_EXP_BLOCK_MAGIC, 4) == 0)
			offsets[n++] = at;
	}
	return n;
}

/* Is byte `at` of a data file in the zstd frame of a block, behind its header? */
static bool is_in_frame(const struct ctx_buf *file, size_t at)
{
	size_t offsets[16], n = find_blocks(file, offsets, 16);

	while (n > 0 && offsets[n - 1] > at)
		n--;
	return n > 0 && at - offsets[n - 1] >= CTX_EXP_BLOCK_HEADER_BYTES;
}

static void test_experiment_damage__every_changed_byte_of_data_is_noticed(void **state)
{
	struct place *place = *state;
	struct fixture_contents in;
	struct image image = {0};
	uint64_t seed = 5;

	make_small(place->path, &in, HARMED_TICKS);
	load_directory(&image, place->path, "");
	for (size_t f = 0; f < image.n; f++) {
		uint8_t *bytes = image.bytes[f].bytes;
		const char *name = image.names[f];

		for (size_t i = 0; i < image.bytes[f].n; i += EVERY) {
			uint8_t was = bytes[i];
			uint8_t values[] = {(uint8_t)(was ^ 1u << fixture_random(&seed, 8)),
					    was == 0xff ? 0 : 0xff};
			/* Of a frame nothing is looked at but its checksum, which differs with any value. */
			size_t n_values = is_data(name) && is_in_frame(&image.bytes[f], i) ? 1 : 2;

			for (size_t v = 0; v < n_values; v++) {
				bytes[i] = values[v];
				put_file(place->path, name, bytes, image.bytes[f].n);
				if (is_data(name)) {
					/*
					 * The version's and the reserved bytes of the file header
					 * change nothing or all.
					 */
					check_harmed(place->path, &in, name, true, false);
				} else {
					struct fixture_contents out;
					enum ctx_status status =
						fixture_read_harmed(place->path, true, &out, NULL);

					assert_true(status == CTX_OK || strcmp(name, "log.xml") == 0);
					if (status == CTX_OK)
						assert_true(out.n_samples <= in.n_samples);
					if (status == CTX_OK)
						fixture_contents_deinit(&out);
				}
			}
			bytes[i] = was;
		}
		put_file(place->path, name, bytes, image.bytes[f].n);
	}
	image_deinit(&image);
	fixture_contents_deinit(&in);
}

static size_t file_of(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->n; i++) {
		if (strcmp(image->names[i], name) == 0)
			return i;
	}
	fail();
	return 0;
}

static void test_experiment_damage__a_lost_block_costs_itself_alone(void **state)
{
	struct place *place = *state;
	struct fixture_contents in, out;
	struct image image = {0};
	size_t offsets[16], n, f;
	char expected[64];

	make_small(place->path, &in, 4);
	load_directory(&image, place->path, "");
	f = file_of(&image, "profile");
	n = find_blocks(&image.bytes[f], offsets, 16);
	assert_int_equal(n, 4); /* one for each tick */
	image.bytes[f].bytes[offsets[1] + 70] ^= 4;
	put_file(place->path, "profile", image.bytes[f].bytes, image.bytes[f].n);
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_int_equal(out.n_damage, 1);
	snprintf(expected, sizeof(expected), "profile: offset %zu: checksum differs", offsets[1]);
	assert_non_null(strstr(out.damage, expected));
	assert_true(out.n_samples < in.n_samples && out.n_samples >= in.n_samples - 6);
	fixture_contents_deinit(&out);
	image_deinit(&image);
	fixture_contents_deinit(&in);
}

static void test_experiment_damage__lost_call_stacks_keep_their_samples(void **state)
{
	struct place *place = *state;
	struct fixture_contents in, out;
	struct image image = {0};
	size_t offsets[16], f, whole = 0;

	make_small(place->path, &in, 4);
	load_directory(&image, place->path, "");
	f = file_of(&image, "frameinfo");
	assert_true(find_blocks(&image.bytes[f], offsets, 16) >= 2);
	image.bytes[f].bytes[offsets[0] + 70] ^= 4;
	put_file(place->path, "frameinfo", image.bytes[f].bytes, image.bytes[f].n);
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_non_null(strstr(out.damage, "frameinfo: offset 16: checksum differs"));
	assert_non_null(strstr(out.damage, "lost their call stacks"));
	assert_int_equal(out.n_samples, in.n_samples);
	for (size_t i = 0; i < out.n_samples; i++)
		whole += out.samples[i].n_frames == 5 && out.samples[i].frames[4] != CTX_FRAME_TRUNCATED;
	assert_in_range(whole, 1, in.n_samples - 1);
	fixture_contents_deinit(&out);
	image_deinit(&image);
	fixture_contents_deinit(&in);
}

static void test_experiment_damage__other_files_are_refused(void **state)
{
	static const char NEWER[] = "<experiment version=\"4\"/>\n<event kind=\"run\" tstamp=\"0.0\"/>\n";
	static const char NO_RUN[] = "<experiment version=\"1\"/>\n<setting name=\"a\" value=\"b\"/>\n";
	char *directory = fixture_directory();
	struct fixture_contents out;
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(fixture_read("/no/such/run.er", &out, &err), CTX_E_NOTFOUND);
	assert_int_equal(fixture_read(directory, &out, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "no valid log.xml"));
	put_file(directory, "log.xml", (const uint8_t *)NEWER, sizeof(NEWER) - 1);
	assert_int_equal(fixture_read(directory, &out, &err), CTX_E_VERSION);
	assert_non_null(strstr(err.msg, "newer version (4"));
	put_file(directory, "log.xml", (const uint8_t *)NO_RUN, sizeof(NO_RUN) - 1);
	assert_int_equal(fixture_read(directory, &out, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "no run event"));
	fixture_remove(directory);
}

/* ---- names ---- */

static void check_xml_lines(const char *path, const char *name)
{
	char *file = ctx_path_join(path, name);
	struct ctx_buf text = {0};
	char *line, *rest;

	assert_int_equal(ctx_file_read(file, 1 << 20, &text, NULL), CTX_OK);
	ctx_buf_put_u8(&text, 0);
	rest = (char *)text.bytes;
	while ((line = strsep(&rest, "\n")) != NULL && rest != NULL) {
		xmlDocPtr document = xmlReadMemory(line, (int)strlen(line), NULL, "UTF-8",
						   XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);

		assert_non_null(document);
		xmlFreeDoc(document);
	}
	ctx_buf_deinit(&text);
	free(file);
}

static void test_experiment_damage__names_come_back_byte_for_byte(void **state)
{
	static const char *const NAMES[] = {"a\nb\r\tc",
					    "\"quoted\" 'too'",
					    "../../etc/passwd",
					    "<script>&amp;]]>",
					    "\x1b[31mred",
					    "bad \xff\xfe\xc0\x80 utf-8 \xed\xa0\x80",
					    "back\\slash\\",
					    "\\x41 \\x0a \\\\x41",
					    " spaces ",
					    "",
					    "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa7",
					    "<!DOCTYPE a>",
					    "\xef\xbf\xbe\x7f\x01"};
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 1};
	struct fixture_contents out;

	fixture_begin(&recording, &options);
	for (size_t i = 0; i < CTX_COUNT_OF(NAMES); i++) {
		uint32_t process = fixture_start_process(&recording, CTX_EXP_FORK, 0, NAMES[i]);
		uint32_t thread = fixture_start_thread(&recording, process, NAMES[i]);

		recording.now_ns++;
		fixture_put_map(&recording, process, 0x400000, 0x100000, NAMES[i], i % 2 != 0 ? "" : "00ff");
		recording.now_ns++;
		fixture_put_sample(&recording, process, thread, 0, 4, 5);
		fixture_note(&recording,
			     ctx_exp_warning(recording.writer, FIXTURE_START_NS + recording.now_ns, NAMES[i],
					     NULL));
		fixture_add_line(&recording.in.warnings, NAMES[i]);
	}
	fixture_close(&recording);
	assert_int_equal(recording.status, CTX_OK);
	check_xml_lines(place->path, "log.xml");
	check_xml_lines(place->path, "_f1.er/map.xml");
	check_xml_lines(place->path, "_f4.er/map.xml");
	check_xml_lines(place->path, "map.xml");
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	fixture_check(&recording.in, &out);
	for (size_t i = 0; i < CTX_COUNT_OF(NAMES); i++) {
		size_t m = 0;

		while (m < out.n_maps && strcmp(out.maps[m].path, NAMES[i]) != 0)
			m++;
		assert_true(m < out.n_maps);
	}
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

/* ---- a full disk ---- */

static void test_experiment_damage__a_full_disk_is_sticky_and_leaves_a_readable_prefix(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct fixture_recording recording = {.seed = 2};
	struct rlimit before, small;
	struct fixture_contents out;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	uint32_t good = 0;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 20000;
	fixture_begin(&recording, &options);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (uint32_t i = 0; i < 20000 && recording.status == CTX_OK; i++, good++) {
		recording.now_ns += 100000;
		fixture_put_sample(&recording, 0, 0, 0, 10, 300);
		if (i % 200 == 0)
			fixture_flush(&recording);
	}
	assert_int_equal(recording.status, CTX_E_IO);
	assert_int_equal(
		ctx_exp_lost(recording.writer, &(struct ctx_loss){.count = 1, .located = true}, NULL),
		CTX_E_IO);
	assert_int_equal(ctx_exp_close(recording.writer, FIXTURE_START_NS + recording.now_ns, NULL),
			 CTX_E_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(fixture_read(place->path, &out, NULL), CTX_OK);
	assert_true(out.n_samples >= 200 && out.n_samples <= recording.in.n_samples);
	for (size_t i = 0; i < out.n_samples; i++)
		assert_true(went_in(&recording.in, &out.samples[i]));
	fixture_contents_deinit(&out);
	fixture_contents_deinit(&recording.in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_damage__files_cut_at_every_byte_are_read_to_the_end),
		place_test(test_experiment_damage__every_changed_byte_of_data_is_noticed),
		place_test(test_experiment_damage__common_files_are_read_whatever_is_harmed),
		place_test(test_experiment_damage__a_lost_block_costs_itself_alone),
		place_test(test_experiment_damage__lost_call_stacks_keep_their_samples),
		cmocka_unit_test(test_experiment_damage__other_files_are_refused),
		place_test(test_experiment_damage__names_come_back_byte_for_byte),
		place_test(test_experiment_damage__a_full_disk_is_sticky_and_leaves_a_readable_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
