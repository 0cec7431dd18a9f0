/*
 * Build-id caches as a list: directories, tarballs, perf's settings. Tarballs are made with
 * libarchive, hostile ones too; those that libarchive would not write are made byte by byte.
 */
#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/perf_settings.h"
#include "ingest/private_dir.h"
#include "ingest/symbol_caches.h"
#include "ingest/symbol_tarball.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_A "00112233445566778899aabbccddeeff00112233"
#define ID_B "ff112233445566778899aabbccddeeff00112233"
#define PLACE_A "/.build-id/00/112233445566778899aabbccddeeff00112233/"
#define PLACE_B "/.build-id/ff/112233445566778899aabbccddeeff00112233/"

/* Files only, below one directory. */
static size_t counted_files;

static int count_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	counted_files += type == FTW_F || type == FTW_SL;
	assert_false(S_ISLNK(info->st_mode));
	return 0;
}

static size_t files_in(const char *directory)
{
	counted_files = 0;
	assert_int_equal(nftw(directory, count_one, 16, FTW_PHYS), 0);
	return counted_files;
}

static void assert_file(const char *directory, const char *name, const char *content)
{
	struct ctx_buf text __attribute__((cleanup(ctx_buf_deinit))) = {0};
	char path[512];

	assert_true(snprintf(path, sizeof(path), "%s%s", directory, name) < (int)sizeof(path));
	assert_int_equal(ctx_file_read(path, 1 << 20, &text, NULL), CTX_OK);
	assert_int_equal(text.n, strlen(content));
	assert_memory_equal(text.bytes, content, text.n);
}

/*
 * Making tarballs.
 */

static struct archive *begin_tarball(const char *path, int (*filter)(struct archive *))
{
	struct archive *archive = archive_write_new();

	assert_non_null(archive);
	assert_int_equal(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	assert_int_equal(filter(archive), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(archive, path), ARCHIVE_OK);
	return archive;
}

static void end_tarball(struct archive *archive)
{
	assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
}

static void put(struct archive *archive, const char *name, mode_t type, const char *content)
{
	struct archive_entry *entry = archive_entry_new();
	bool is_file = type == AE_IFREG;

	assert_non_null(entry);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, 0755);
	archive_entry_set_size(entry, is_file ? (la_int64_t)strlen(content) : 0);
	if (type == AE_IFLNK)
		archive_entry_set_symlink(entry, content);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	if (is_file)
		assert_int_equal(archive_write_data(archive, content, strlen(content)), strlen(content));
	archive_entry_free(entry);
}

static void put_hardlink(struct archive *archive, const char *name, const char *target)
{
	struct archive_entry *entry = archive_entry_new();

	assert_non_null(entry);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_hardlink(entry, target);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	archive_entry_free(entry);
}

/* One file of each kind, as `perf archive` has them. */
static void put_ordinary(struct archive *archive)
{
	put(archive, ".build-id/00/112233445566778899aabbccddeeff00112233", AE_IFLNK,
	    "../../usr/bin/a/" ID_A);
	put(archive, "usr/bin/a/" ID_A "/", AE_IFDIR, "");
	put(archive, "usr/bin/a/" ID_A "/elf", AE_IFREG, "elf of a");
	put(archive, "usr/bin/a/" ID_A "/debug", AE_IFREG, "debug of a");
	put(archive, "usr/bin/a/" ID_A "/probes", AE_IFREG, "not wanted");
	put(archive, "[vdso]/" ID_B "/vdso", AE_IFREG, "vdso of b");
	put(archive, "[kernel.kallsyms]/" ID_B "/kallsyms", AE_IFREG, "names");
}

static void assert_ordinary(const char *directory)
{
	assert_file(directory, PLACE_A "elf", "elf of a");
	assert_file(directory, PLACE_A "debug", "debug of a");
	assert_file(directory, PLACE_B "vdso", "vdso of b");
	assert_file(directory, "/[kernel.kallsyms]/" ID_B "/kallsyms", "names");
	assert_int_equal(files_in(directory), 4);
}

/* A fresh directory to unpack into. */
static const char *fresh_directory(void)
{
	static unsigned number;
	char name[32];
	const char *path;

	snprintf(name, sizeof(name), "into%u", number++);
	path = in_folder("%s", name);
	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

static enum ctx_status unpack(const char *path, const char *into, struct ctx_err *err)
{
	return ctx_symbol_tarball_unpack(path, into, 1 << 20, err);
}

/*
 * Tarballs.
 */

static void test_symbol_tarball__every_compression_unpacks_to_the_layout_of_a_cache(void **state)
{
	static int (*const filters[])(struct archive *) = {
		archive_write_add_filter_none, archive_write_add_filter_gzip, archive_write_add_filter_bzip2,
		archive_write_add_filter_xz, archive_write_add_filter_zstd};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(filters); i++) {
		const char *path = in_folder("ordinary.tar");
		const char *into = fresh_directory();
		struct archive *archive = begin_tarball(path, filters[i]);
		struct ctx_err err = {0};

		put_ordinary(archive);
		end_tarball(archive);
		if (unpack(path, into, &err) != CTX_OK)
			fail_msg("%s", err.msg);
		assert_ordinary(into);
	}
}

static void test_symbol_tarball__older_layouts_are_understood(void **state)
{
	const char *path = in_folder("older.tar");
	const char *into = fresh_directory();
	struct archive *archive = begin_tarball(path, archive_write_add_filter_none);

	(void)state;
	put(archive, "./usr/bin/a/" ID_A, AE_IFREG, "whole");
	put(archive, "./.build-id/ff/112233445566778899aabbccddeeff00112233", AE_IFREG, "followed");
	put(archive, "./.build-id/ff/112233445566778899aabbccddeeff00112233/debug", AE_IFREG, "deeper");
	put(archive, "[kernel.kallsyms]/" ID_A, AE_IFREG, "names");
	end_tarball(archive);
	assert_int_equal(unpack(path, into, NULL), CTX_OK);
	assert_file(into, PLACE_A "elf", "whole");
	assert_file(into, PLACE_B "elf", "followed");
	assert_file(into, PLACE_B "debug", "deeper");
	assert_file(into, "/[kernel.kallsyms]/" ID_A "/kallsyms", "names");
	assert_int_equal(files_in(into), 4);
}

static void test_symbol_tarball__hostile_names_and_links_lead_nowhere(void **state)
{
	static const char *const names[] = {
		"../../outside",
		"/tmp/test_symbol_caches_outside",
		"../elf",
		"/elf",
		"elf",
		"..",
		"../../../../tmp/elf",
		".build-id/../elf",
		".build-id/00/../../../../elf",
		".build-id/00/..",
		"[kernel.kallsyms]/../kallsyms",
		"usr/bin/a/" ID_A ID_B "/elf", /* longer than any id */
		"usr/bin/a/001122334455667788 9aabbccddeeff00112233/elf",
		"usr/bin/a/00112233445566778899AABBCCDDEEFF00112233/elf",
		"usr/bin/a/0/elf",
		"perf.data",
		"usr/bin/a/" ID_A "/elf.1",
		".build-id/000/112233445566778899aabbccddeeff0011223x/elf",
	};
	const char *path = in_folder("hostile.tar");
	const char *into = fresh_directory();
	struct archive *archive = begin_tarball(path, archive_write_add_filter_none);
	struct ctx_err err = {0};
	struct stat info;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++)
		put(archive, names[i], AE_IFREG, "hostile");
	/* A link at the later path of a directory, and of a file. */
	put(archive, ".build-id", AE_IFLNK, "/tmp");
	put(archive, ".build-id/00", AE_IFLNK, "../../..");
	put(archive, ".build-id/00/112233445566778899aabbccddeeff00112233/elf", AE_IFLNK, "/etc/passwd");
	put_hardlink(archive, "usr/bin/a/" ID_A "/elf", "/etc/passwd");
	put_hardlink(archive, "usr/bin/a/" ID_A "/debug", "../../../etc/passwd");
	put(archive, "usr/bin/a/" ID_A "/vdso", AE_IFIFO, "");
	/* Only the end of a name matters. */
	put(archive, "../../../../../" ID_A "/elf", AE_IFREG, "kept below");
	put(archive, "//etc/" ID_B, AE_IFREG, "kept below, too");
	end_tarball(archive);
	if (unpack(path, into, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	assert_file(into, PLACE_A "elf", "kept below");
	assert_file(into, PLACE_B "elf", "kept below, too");
	assert_int_equal(files_in(into), 2);
	assert_int_not_equal(stat("/tmp/test_symbol_caches_outside", &info), 0);
	assert_int_not_equal(stat(in_folder("outside"), &info), 0);
}

static void test_symbol_tarball__of_two_files_of_one_id_the_first_counts(void **state)
{
	const char *path = in_folder("twice.tar");
	const char *into = fresh_directory();
	struct archive *archive = begin_tarball(path, archive_write_add_filter_none);

	(void)state;
	put(archive, "usr/bin/a/" ID_A "/elf", AE_IFREG, "first");
	put(archive, "usr/bin/b/" ID_A "/elf", AE_IFREG, "second, and longer");
	put_hardlink(archive, "usr/bin/c/" ID_A "/elf", "usr/bin/a/" ID_A "/elf");
	end_tarball(archive);
	assert_int_equal(unpack(path, into, NULL), CTX_OK);
	assert_file(into, PLACE_A "elf", "first");
	assert_int_equal(files_in(into), 1);
}

static void test_symbol_tarball__too_large_contents_stop_it(void **state)
{
	static const char *const names[] = {"usr/bin/b/" ID_B "/elf", "perf.data", "usr/bin/a/" ID_A "/elf"};
	char content[101] = "";

	(void)state;
	memset(content, 'x', sizeof(content) - 1);
	/* In the middle: one that is wanted, one that is not, one that exists already. */
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		const char *path = in_folder("large.tar");
		struct archive *archive = begin_tarball(path, archive_write_add_filter_none);
		struct ctx_err err = {0};

		put(archive, "usr/bin/a/" ID_A "/elf", AE_IFREG, content);
		put(archive, names[i], AE_IFREG, content);
		put(archive, "usr/bin/a/" ID_A "/debug", AE_IFREG, content);
		end_tarball(archive);
		assert_int_equal(ctx_symbol_tarball_unpack(path, fresh_directory(), 300, &err), CTX_OK);
		assert_int_equal(ctx_symbol_tarball_unpack(path, fresh_directory(), 299, &err), CTX_E_LIMIT);
		assert_non_null(strstr(err.msg, "more than 299 bytes"));
	}
}

/* A header block as tar has it, with any size and type. */
static void put_header(struct ctx_buf *out, const char *name, char type, const char *octal_size)
{
	char block[512] = "";
	unsigned sum = 0;

	snprintf(block, 100, "%s", name);
	memcpy(block + 100,
	       "0000755\0"
	       "0000000\0"
	       "0000000\0",
	       24);
	memcpy(block + 124, octal_size, 12);
	memcpy(block + 136, "00000000000", 12);
	memset(block + 148, ' ', 8);
	block[156] = type;
	memcpy(block + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < sizeof(block); i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 8, "%06o", sum);
	ctx_buf_put(out, block, sizeof(block));
}

static void test_symbol_tarball__huge_sizes_are_refused_before_a_byte_is_written(void **state)
{
	static const char sizes[][13] = {
		"77777777777\0",				    /* 8 GiB */
		"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff",	    /* 2^63 - 1 */
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xf0", /* negative */
	};
	static const char *const names[] = {"usr/bin/a/" ID_A "/elf", "perf.data"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes) * CTX_COUNT_OF(names); i++) {
		struct ctx_buf bytes __attribute__((cleanup(ctx_buf_deinit))) = {0};
		const char *path = in_folder("huge.tar");
		const char *into = fresh_directory();
		struct ctx_err err = {0};
		enum ctx_status status;

		put_header(&bytes, names[i % 2], '0', sizes[i / 2]);
		ctx_buf_put(&bytes, (char[1024]){"content"}, 1024);
		assert_int_equal(ctx_file_replace(path, bytes.bytes, bytes.n, NULL), CTX_OK);
		status = unpack(path, into, &err);
		assert_true(status == CTX_E_LIMIT || status == CTX_E_FORMAT);
		assert_non_null(strstr(err.msg, "huge.tar"));
		assert_int_equal(files_in(into), 0);
	}
}

/*
 * A file with a hole, as old GNU tar has it: the header says 100 bytes, the list of pieces that the
 * first is at 8 GiB.
 */
static void test_symbol_tarball__a_hole_that_is_larger_than_the_file_is_refused(void **state)
{
	struct ctx_buf bytes __attribute__((cleanup(ctx_buf_deinit))) = {0};
	const char *path = in_folder("hole.tar");
	unsigned sum = 0;
	char *header;

	(void)state;
	put_header(&bytes, "usr/bin/a/" ID_A "/elf", 'S', "00000000144\0");
	ctx_buf_put(&bytes, (char[1536]){"content"}, 1536);
	assert_int_equal(ctx_buf_check(&bytes, NULL), CTX_OK);
	header = (char *)bytes.bytes;
	memcpy(header + 257, "ustar  ", 8);
	memcpy(header + 386,
	       "77777777777\0"
	       "00000000144\0",
	       24);
	memcpy(header + 483, "00000000144\0", 12);
	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	assert_int_equal(ctx_file_replace(path, bytes.bytes, bytes.n, NULL), CTX_OK);
	assert_int_equal(unpack(path, fresh_directory(), NULL), CTX_E_LIMIT);
}

static void test_symbol_tarball__other_files_are_refused(void **state)
{
	static const char text[] = "PERFILE2 and something behind it, which is no tarball at all";
	const char *path = in_folder("no.tar.bz2");
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_file_replace(path, text, sizeof(text), NULL), CTX_OK);
	assert_int_equal(unpack(path, fresh_directory(), &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "no.tar.bz2: no usable tarball"));
	assert_int_equal(ctx_file_replace(path, "", 0, NULL), CTX_OK);
	assert_int_equal(unpack(path, fresh_directory(), &err), CTX_E_FORMAT);
	assert_int_equal(unpack(in_folder("nothing"), fresh_directory(), &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "nothing"));
	assert_int_equal(unpack(folder, fresh_directory(), &err), CTX_E_FORMAT);
	assert_int_equal(unpack(path, in_folder("nothing"), &err), CTX_E_IO);
}

/*
 * Truncated at every position: no extra files, no file too long; an error unless only the end is
 * missing.
 */
static void test_symbol_tarball__complete_files_of_a_truncated_one_are_extracted(void **state)
{
	static int (*const filters[])(struct archive *) = {
		archive_write_add_filter_none, archive_write_add_filter_gzip, archive_write_add_filter_zstd};
	const char *path = in_folder("cut.tar");

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(filters); i++) {
		struct ctx_buf bytes __attribute__((cleanup(ctx_buf_deinit))) = {0};
		struct archive *archive = begin_tarball(path, filters[i]);
		size_t step, damaged = 0;

		put_ordinary(archive);
		end_tarball(archive);
		assert_int_equal(ctx_file_read(path, 1 << 20, &bytes, NULL), CTX_OK);
		step = bytes.n / 50 + 1;
		for (size_t n = 0; n < bytes.n; n += step) {
			const char *into = fresh_directory();

			assert_int_equal(ctx_file_replace(path, bytes.bytes, n, NULL), CTX_OK);
			damaged += unpack(path, into, NULL) == CTX_E_FORMAT;
			assert_true(files_in(into) <= 4);
			assert_int_equal(ctx_dir_remove(into, NULL), CTX_OK);
		}
		assert_true(damaged > 20);
	}
}

static void test_symbol_tarball__damaged_bytes_make_an_error_or_less(void **state)
{
	const char *path = in_folder("flipped.tar");
	struct archive *archive = begin_tarball(path, archive_write_add_filter_gzip);
	struct ctx_buf bytes __attribute__((cleanup(ctx_buf_deinit))) = {0};

	(void)state;
	put_ordinary(archive);
	end_tarball(archive);
	assert_int_equal(ctx_file_read(path, 1 << 20, &bytes, NULL), CTX_OK);
	for (size_t i = 0; i < bytes.n; i++) {
		const char *into = fresh_directory();
		enum ctx_status status;

		bytes.bytes[i] ^= (uint8_t)(1u << i % 8);
		assert_int_equal(ctx_file_replace(path, bytes.bytes, bytes.n, NULL), CTX_OK);
		bytes.bytes[i] ^= (uint8_t)(1u << i % 8);
		status = unpack(path, into, NULL);
		assert_true(status == CTX_OK || status == CTX_E_FORMAT || status == CTX_E_LIMIT);
		assert_true(files_in(into) <= 4);
		assert_int_equal(ctx_dir_remove(into, NULL), CTX_OK);
	}
}

/*
 * The list.
 */

static size_t left_in(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* perf.data with a tarball beside, the user's home with a cache, temporary files in tmp. */
static int set_up_places(void **state)
{
	static bool done;
	struct archive *archive;

	(void)state;
	setenv("HOME", in_folder("home"), 1);
	setenv("TMPDIR", in_folder("tmp"), 1);
	unsetenv("PERF_CONFIG");
	unlink(in_folder("home/.perfconfig"));
	if (done)
		return 0;
	done = true;
	assert_int_equal(mkdir(in_folder("home"), 0700), 0);
	assert_int_equal(mkdir(in_folder("home/.debug"), 0700), 0);
	assert_int_equal(mkdir(in_folder("tmp"), 0700), 0);
	assert_int_equal(mkdir(in_folder("given"), 0700), 0);
	archive = begin_tarball(in_folder("perf.data.tar.bz2"), archive_write_add_filter_bzip2);
	put_ordinary(archive);
	end_tarball(archive);
	assert_int_equal(ctx_file_replace(in_folder("broken.data.tar.gz"), "x", 1, NULL), CTX_OK);
	return 0;
}

static void test_symbol_caches__given_ones_come_before_the_tarball_beside_and_perfs_own(void **state)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_err left_out = {0}, err = {0};

	(void)state;
	assert_int_equal(ctx_symbol_caches_add(&caches, in_folder("given"), &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_add(&caches, in_folder("perf.data.tar.bz2"), &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_add_beside(&caches, in_folder("perf.data//"), &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_add_perf(&caches, &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, &err), CTX_OK);
	assert_int_equal(left_out.status, CTX_OK);
	assert_string_equal(caches.directories[0], in_folder("given"));
	assert_ordinary(caches.directories[1]);
	assert_ordinary(caches.directories[2]);
	assert_string_not_equal(caches.directories[1], caches.directories[2]);
	assert_string_equal(caches.directories[3], in_folder("home/.debug"));
	assert_null(caches.directories[4]);
	assert_string_equal(caches.names[0], in_folder("given"));
	assert_string_equal(caches.names[2], in_folder("perf.data.tar.bz2"));
	assert_null(caches.names[4]);
	assert_int_equal(left_in(in_folder("tmp")), 2);
	ctx_symbol_caches_deinit(&caches);
	assert_int_equal(left_in(in_folder("tmp")), 0);
}

static void test_symbol_caches__missing_places_are_an_empty_list(void **state)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_err left_out = {0};

	(void)state;
	setenv("HOME", in_folder("nowhere"), 1);
	assert_int_equal(ctx_symbol_caches_add_beside(&caches, in_folder("other.data"), NULL), CTX_OK);
	assert_int_equal(ctx_symbol_caches_add_perf(&caches, NULL), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, NULL), CTX_OK);
	assert_null(caches.directories[0]);
	assert_int_equal(ctx_symbol_caches_hash(&caches), 0);
}

static void test_symbol_caches__a_given_one_must_be_good_one_beside_need_not(void **state)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_err left_out = {0}, err = {0};

	(void)state;
	assert_int_equal(ctx_symbol_caches_add(&caches, in_folder("nowhere"), &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "--buildid-dir"));
	assert_int_equal(ctx_symbol_caches_add(&caches, "", &err), CTX_E_ARG);
	assert_int_equal(ctx_symbol_caches_add(&caches, "/dev/null", &err), CTX_E_ARG);
	assert_int_equal(ctx_symbol_caches_add_beside(&caches, in_folder("broken.data"), &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, &err), CTX_OK);
	assert_int_equal(left_out.status, CTX_E_FORMAT);
	assert_non_null(strstr(left_out.msg, "broken.data.tar.gz"));
	ctx_symbol_caches_deinit(&caches);

	assert_int_equal(ctx_symbol_caches_add(&caches, in_folder("broken.data.tar.gz"), &err), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "broken.data.tar.gz"));
	ctx_symbol_caches_deinit(&caches);
	assert_int_equal(left_in(in_folder("tmp")), 0);
}

static void test_symbol_caches__no_place_for_temporary_files_is_an_error(void **state)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
	struct ctx_err left_out = {0}, err = {0};

	(void)state;
	setenv("TMPDIR", in_folder("nowhere"), 1);
	assert_int_equal(ctx_symbol_caches_add_beside(&caches, in_folder("perf.data"), NULL), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, &err), CTX_OK);
	assert_int_equal(left_out.status, CTX_E_IO);
	assert_null(caches.directories[0]);
	ctx_symbol_caches_deinit(&caches);
	assert_int_equal(ctx_symbol_caches_add(&caches, in_folder("perf.data.tar.bz2"), NULL), CTX_OK);
	assert_int_equal(ctx_symbol_caches_open(&caches, &left_out, &err), CTX_E_IO);
	assert_non_null(strstr(err.msg, "nowhere"));
}

static uint64_t hash_of_given(const char *path)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};

	assert_int_equal(ctx_symbol_caches_add(&caches, path, NULL), CTX_OK);
	return ctx_symbol_caches_hash(&caches);
}

static uint64_t hash_beside(const char *recording)
{
	struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};

	assert_int_equal(ctx_symbol_caches_add_beside(&caches, recording, NULL), CTX_OK);
	assert_int_equal(ctx_symbol_caches_add_perf(&caches, NULL), CTX_OK);
	return ctx_symbol_caches_hash(&caches);
}

static void test_symbol_caches__the_hash_differs_for_other_places_and_changed_tarballs(void **state)
{
	const struct timespec other[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	uint64_t tarball = hash_of_given(in_folder("perf.data.tar.bz2"));
	uint64_t beside = hash_beside(in_folder("perf.data"));

	(void)state;
	assert_int_not_equal(hash_of_given(in_folder("given")), hash_of_given(in_folder("home")));
	assert_int_equal(hash_of_given(in_folder("given")), hash_of_given(in_folder("home/../given")));
	/* perf's own cache is not counted; that of a recording without a tarball is nothing. */
	assert_int_equal(hash_beside(in_folder("other.data")), 0);
	assert_int_not_equal(beside, 0);
	assert_int_not_equal(tarball, beside);
	/* A recording that is moved with its tarball. */
	assert_int_equal(rename(in_folder("perf.data.tar.bz2"), in_folder("home/b.tar.bz2")), 0);
	assert_int_equal(hash_beside(in_folder("home/b")), beside);
	assert_int_equal(rename(in_folder("home/b.tar.bz2"), in_folder("perf.data.tar.bz2")), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_folder("perf.data.tar.bz2"), other, 0), 0);
	assert_int_not_equal(hash_beside(in_folder("perf.data")), beside);
	assert_int_not_equal(hash_of_given(in_folder("perf.data.tar.bz2")), tarball);
}

static void test_symbol_caches__temporary_paths_become_lasting_names(void **state)
{
	static const char *const directories[] = {"/tmp/x", "home", "", NULL};
	static const char *const names[] = {"p.tar", "home", "none", NULL};
	char *text;

	(void)state;
	text = ctx_symbol_caches_rename("none: /tmp/x/.build-id/elf: bad; home/a; /tmp/xy/z /tmp/x",
					directories, names);
	assert_string_equal(text, "none: p.tar/.build-id/elf: bad; home/a; /tmp/xy/z /tmp/x");
	free(text);
	text = ctx_symbol_caches_rename("", directories, names);
	assert_string_equal(text, "");
	free(text);
}

static void test_symbol_caches__out_of_memory_is_an_error_and_leaves_no_files(void **state)
{
	const char *given = in_folder("given"), *recording = in_folder("perf.data");
	bool failed;
	long n = 0;

	(void)state;
	do {
		struct ctx_symbol_caches caches __attribute__((cleanup(ctx_symbol_caches_deinit))) = {0};
		struct ctx_err left_out = {0}, err = {0};
		enum ctx_status status;

		fail_after = n++;
		status = ctx_symbol_caches_add(&caches, given, &err);
		if (status == CTX_OK)
			status = ctx_symbol_caches_add_beside(&caches, recording, &err);
		if (status == CTX_OK)
			status = ctx_symbol_caches_add_perf(&caches, &err);
		if (status == CTX_OK)
			status = ctx_symbol_caches_open(&caches, &left_out, &err);
		failed = fail_after == -1;
		fail_after = -1;
		/* Failures of cleaning up are ignored. */
		assert_true(status == CTX_E_NOMEM || (status == CTX_OK && caches.names != NULL));
		ctx_symbol_caches_deinit(&caches);
		assert_int_equal(left_in(in_folder("tmp")), 0);
	} while (failed);
	assert_true(n > 4);
}

/*
 * Temporary directories.
 */

static void test_private_dir__leftovers_of_killed_processes_are_removed_unless_in_use(void **state)
{
	struct ctx_private_dir first = {.fd = -1}, second = {.fd = -1};
	char left[512];
	struct stat info;

	(void)state;
	assert_int_equal(ctx_private_dir_create(&first, NULL), CTX_OK);
	snprintf(left, sizeof(left), "%s/sub", first.path);
	assert_int_equal(mkdir(left, 0700), 0);
	assert_int_equal(ctx_private_dir_create(&second, NULL), CTX_OK);
	assert_int_equal(stat(left, &info), 0);
	assert_int_equal(stat(second.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	ctx_private_dir_remove(&second);
	assert_null(second.path);

	/*
	 * As a killed process leaves it: existing, and not locked. Other files and names are kept.
	 */
	assert_int_equal(flock(first.fd, LOCK_UN), 0);
	assert_int_equal(mkdir(in_folder("tmp/ctxan-symbols-else"), 0700), 0);
	assert_int_equal(ctx_file_replace(in_folder("tmp/ctxan-symbols-ABCDEF"), "x", 1, NULL), CTX_OK);
	assert_int_equal(ctx_private_dir_create(&second, NULL), CTX_OK);
	assert_int_not_equal(stat(first.path, &info), 0);
	assert_int_equal(stat(in_folder("tmp/ctxan-symbols-else"), &info), 0);
	assert_int_equal(stat(in_folder("tmp/ctxan-symbols-ABCDEF"), &info), 0);
	ctx_private_dir_remove(&second);
	ctx_private_dir_remove(&first);
	assert_int_equal(rmdir(in_folder("tmp/ctxan-symbols-else")), 0);
	assert_int_equal(unlink(in_folder("tmp/ctxan-symbols-ABCDEF")), 0);
}

/*
 * perf's settings.
 */

static void assert_setting(const char *text, const char *expected)
{
	char *value = NULL;

	assert_int_equal(ctx_perf_settings_find(text, "buildid", "dir", &value, NULL), CTX_OK);
	if (expected == NULL)
		assert_null(value);
	else if (value == NULL)
		fail_msg("nothing found in '%s'", text);
	else
		assert_string_equal(value, expected);
	free(value);
}

static void test_perf_settings__values_are_read_as_perf_reads_them(void **state)
{
	(void)state;
	assert_setting("[buildid]\n\tdir = /a\n", "/a");
	assert_setting("; c\n[core] x=1\n[buildid] dir = \"/q dir\" # hello\n", "/q dir");
	assert_setting("[buildid]\n\tdir = /q2   dir   ; hello\n", "/q2 dir");
	assert_setting("[buildid]\n\tdir = /q3\\\n/x", "/q3/x");
	assert_setting("[BuildId]\r\n\tdir=\"/a;#\\\"b\"\r\n", "/a;#\"b");
	assert_setting("[buildid]\ndir = /a\n[core]\ndir = /b\n[buildid]\nother = /c\n", "/a");
	assert_setting("[buildid]\ndir = /a\ndir = /b\n", "/b");
	assert_setting("[buildid]\ndir =\n", "");
	assert_setting("[buildid]\ndirectory = /a\n# dir = /b\n; dir = /c\n", NULL);
	assert_setting("dir = /a\n[core]\ndir = /b\n[buildidx]\ndir = /c\n", NULL);
	assert_setting("[buildid\ndir = /a\n", "/a");
	assert_setting("[buildid]\ndir", NULL);
	assert_setting("[buildid]\ndir = \\", "\\");
	assert_setting("[", NULL);
	assert_setting("", NULL);
}

static void assert_buildid_dir(const char *expected)
{
	char *value = NULL;

	assert_int_equal(ctx_perf_settings_buildid_dir(&value, NULL), CTX_OK);
	assert_string_equal(value, expected);
	free(value);
}

static void test_perf_settings__the_cache_is_where_they_say_else_in_the_home(void **state)
{
	(void)state;
	assert_buildid_dir(in_folder("home/.debug"));
	write_text(in_folder("home/.perfconfig"), "[buildid]\ndir = /mine\n");
	assert_buildid_dir("/mine");
	write_text(in_folder("other"), "[buildid]\ndir = /other\n");
	setenv("PERF_CONFIG", in_folder("other"), 1);
	assert_buildid_dir("/other");
	setenv("PERF_CONFIG", in_folder("nowhere"), 1);
	assert_buildid_dir(in_folder("home/.debug"));
	setenv("PERF_CONFIG", folder, 1);
	assert_buildid_dir(in_folder("home/.debug"));
	unsetenv("PERF_CONFIG");
	setenv("PERF_BUILDID_DIR", "/not/read", 1);
	assert_buildid_dir("/mine");
	unsetenv("HOME");
	assert_buildid_dir("./.debug");
	if (geteuid() != 0)
		return;
	setenv("HOME", in_folder("home"), 1);
	assert_int_equal(chown(in_folder("home/.perfconfig"), 1, 1), 0);
	assert_buildid_dir(in_folder("home/.debug"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_tarball__every_compression_unpacks_to_the_layout_of_a_cache),
		cmocka_unit_test(test_symbol_tarball__older_layouts_are_understood),
		cmocka_unit_test(test_symbol_tarball__hostile_names_and_links_lead_nowhere),
		cmocka_unit_test(test_symbol_tarball__of_two_files_of_one_id_the_first_counts),
		cmocka_unit_test(test_symbol_tarball__too_large_contents_stop_it),
		cmocka_unit_test(test_symbol_tarball__huge_sizes_are_refused_before_a_byte_is_written),
		cmocka_unit_test(test_symbol_tarball__a_hole_that_is_larger_than_the_file_is_refused),
		cmocka_unit_test(test_symbol_tarball__other_files_are_refused),
		cmocka_unit_test(test_symbol_tarball__complete_files_of_a_truncated_one_are_extracted),
		cmocka_unit_test(test_symbol_tarball__damaged_bytes_make_an_error_or_less),
		cmocka_unit_test_setup(
			test_symbol_caches__given_ones_come_before_the_tarball_beside_and_perfs_own,
			set_up_places),
		cmocka_unit_test_setup(test_symbol_caches__missing_places_are_an_empty_list, set_up_places),
		cmocka_unit_test_setup(test_symbol_caches__a_given_one_must_be_good_one_beside_need_not,
				       set_up_places),
		cmocka_unit_test_setup(test_symbol_caches__no_place_for_temporary_files_is_an_error,
				       set_up_places),
		cmocka_unit_test_setup(
			test_symbol_caches__the_hash_differs_for_other_places_and_changed_tarballs,
			set_up_places),
		cmocka_unit_test(test_symbol_caches__temporary_paths_become_lasting_names),
		cmocka_unit_test_setup(test_symbol_caches__out_of_memory_is_an_error_and_leaves_no_files,
				       set_up_places),
		cmocka_unit_test_setup(
			test_private_dir__leftovers_of_killed_processes_are_removed_unless_in_use,
			set_up_places),
		cmocka_unit_test(test_perf_settings__values_are_read_as_perf_reads_them),
		cmocka_unit_test_setup(test_perf_settings__the_cache_is_where_they_say_else_in_the_home,
				       set_up_places),
	};

	return cmocka_run_group_tests_name("symbol_caches", tests, make_folder, remove_folder);
}
