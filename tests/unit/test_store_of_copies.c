/*
 * The store of copies of load objects, and when the kernel's list of functions can come from it.
 */
#include "base/mem.h"
#include "formats/experiment/exp_kernel.h"
#include "formats/experiment/exp_store.h"

#include "tests/unit/test_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static void write_bytes(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* A frame of zstd that says its size, `n` bytes unpacked. */
static void write_copy(const char *path, size_t n)
{
	char packed[4096], *bytes = ctx_calloc(1, n);
	size_t size;

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(rand() & 1);
	size = ZSTD_compress(packed, sizeof(packed), bytes, n, 1);
	assert_false(ZSTD_isError(size));
	write_bytes(path, packed, size);
	free(bytes);
}

static ino_t inode(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return info.st_ino;
}

struct places {
	struct ctx_exp_store store;
	struct ctx_exp_store_end end;
};

static void open_places(struct places *places, const char *store, const char *name)
{
	assert_int_equal(ctx_exp_store_open(in_folder("%s", store), &places->store, NULL), CTX_OK);
	(void)mkdir(in_folder("archives"), 0700);
	places->end = (struct ctx_exp_store_end){
		.archives = open(in_folder("archives"), O_RDONLY | O_DIRECTORY), .name = name, .mode = 0600};
	assert_true(places->end.archives >= 0);
}

static void close_places(struct places *places, uint64_t max_bytes)
{
	close(places->end.archives);
	ctx_exp_store_close(&places->store, max_bytes);
}

static void test_store__a_copy_is_linked_the_second_time(void **state)
{
	struct places places;
	uint64_t bytes = 0;

	(void)state;
	open_places(&places, "store", "a.zst");
	assert_int_equal(ctx_exp_store_take(&places.store, "key", &places.end, &bytes, NULL), CTX_END);
	write_copy(in_folder("archives/a.zst"), 1000);
	ctx_exp_store_give(&places.store, "key", &places.end);
	places.end.name = "b.zst";
	assert_int_equal(ctx_exp_store_take(&places.store, "key", &places.end, &bytes, NULL), CTX_OK);
	assert_int_equal(bytes, 1000);
	assert_true(inode(in_folder("archives/a.zst")) == inode(in_folder("archives/b.zst")));
	/* A copy that others may read is a file of its own. */
	places.end.name = "c.zst";
	places.end.mode = 0644;
	assert_int_equal(ctx_exp_store_take(&places.store, "key", &places.end, &bytes, NULL), CTX_OK);
	assert_true(inode(in_folder("archives/a.zst")) != inode(in_folder("archives/c.zst")));
	/* And is none for the store. */
	ctx_exp_store_give(&places.store, "open", &places.end);
	assert_int_equal(faccessat(places.store.dir, "open", F_OK, 0), -1);
	assert_int_equal(ctx_exp_store_take(&places.store, "", &places.end, &bytes, NULL), CTX_END);
	assert_int_equal(ctx_exp_store_take(NULL, "key", &places.end, &bytes, NULL), CTX_END);
	close_places(&places, UINT64_MAX);
}

static void test_store__what_is_no_copy_of_ours_is_not_taken(void **state)
{
	struct places places;
	uint64_t bytes;

	(void)state;
	open_places(&places, "store", "d.zst");
	write_bytes(in_folder("store/torn"), "\x28\xb5\x2f", 3);
	write_bytes(in_folder("store/other"), "not a frame of zstd at all", 26);
	write_bytes(in_folder("store/empty"), "", 0);
	write_copy(in_folder("outside"), 100);
	assert_int_equal(symlink(in_folder("outside"), in_folder("store/link")), 0);
	assert_int_equal(mkfifo(in_folder("store/pipe"), 0600), 0);
	assert_int_equal(mkdir(in_folder("store/folder"), 0700), 0);
	for (size_t i = 0; i < 7; i++) {
		static const char *const keys[] = {"torn", "other",  "empty",  "link",
						   "pipe", "folder", "missing"};

		assert_int_equal(ctx_exp_store_take(&places.store, keys[i], &places.end, &bytes, NULL),
				 CTX_END);
		assert_int_equal(faccessat(places.end.archives, "d.zst", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	}
	close_places(&places, UINT64_MAX);
}

static void test_store__others_may_not_write_to_it(void **state)
{
	struct ctx_exp_store store;
	struct ctx_err err;

	(void)state;
	assert_int_equal(mkdir(in_folder("open"), 0700), 0);
	assert_int_equal(chmod(in_folder("open"), 0777), 0);
	assert_int_equal(ctx_exp_store_open(in_folder("open"), &store, &err), CTX_E_PERM);
	assert_int_equal(store.dir, -1);
	ctx_exp_store_close(&store, 0);
	assert_int_equal(symlink(in_folder("store"), in_folder("store-link")), 0);
	assert_int_equal(ctx_exp_store_open(in_folder("store-link"), &store, &err), CTX_E_IO);
	write_bytes(in_folder("file"), "x", 1);
	assert_int_equal(ctx_exp_store_open(in_folder("file"), &store, &err), CTX_E_IO);
	assert_int_equal(ctx_exp_store_open(in_folder("new/with/parents"), &store, &err), CTX_OK);
	ctx_exp_store_close(&store, 0);
}

static void test_store__the_least_recently_used_go_first(void **state)
{
	struct places places;
	uint64_t bytes;
	char name[32];

	(void)state;
	open_places(&places, "old-store", "e.zst");
	for (unsigned i = 0; i < 8; i++) {
		const struct timespec times[] = {{.tv_sec = 1000 + (i * 5) % 8}, {.tv_nsec = UTIME_OMIT}};

		snprintf(name, sizeof(name), "old-%u", i);
		write_copy(in_folder("archives/e.zst"), 3000);
		assert_int_equal(linkat(places.end.archives, "e.zst", places.store.dir, name, 0), 0);
		assert_int_equal(unlinkat(places.end.archives, "e.zst", 0), 0);
		assert_int_equal(utimensat(places.store.dir, name, times, 0), 0);
	}
	/* The oldest one is used. */
	assert_int_equal(ctx_exp_store_take(&places.store, "old-0", &places.end, &bytes, NULL), CTX_OK);
	places.end.name = "f.zst";
	write_copy(in_folder("archives/f.zst"), 3000);
	ctx_exp_store_give(&places.store, "new", &places.end);
	close_places(&places, 3 * 4096);
	open_places(&places, "old-store", "g.zst");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "old-%u", i);
		/* Times of use: 0 now, 1 1005, 2 1002, 3 1007, 4 1004, 5 1001, 6 1006, 7 1003. */
		assert_int_equal(faccessat(places.store.dir, name, F_OK, 0), i == 0 || i == 3 ? 0 : -1);
	}
	assert_int_equal(faccessat(places.store.dir, "new", F_OK, 0), 0);
	close_places(&places, UINT64_MAX);
}

static void test_store__key_changes_with_the_file(void **state)
{
	char first[CTX_EXP_STORE_KEY], second[CTX_EXP_STORE_KEY];
	const char *path = in_folder("object");
	int fd, devnull = open("/dev/null", O_RDONLY);

	(void)state;
	write_bytes(path, "object", 6);
	fd = open(path, O_RDONLY);
	ctx_exp_store_key_of_file(fd, "00ff", first);
	if (first[0] == '\0')
		skip(); /* /tmp is on a file system whose inodes are not trusted */
	assert_memory_equal(first, "00ff-", 5);
	ctx_exp_store_key_of_file(fd, "00ff", second);
	assert_string_equal(first, second);
	ctx_exp_store_key_of_file(fd, "../00", second);
	assert_int_equal(second[0], '-');
	assert_null(strchr(second, '/'));
	/* The same contents, size and times of contents: the inode was changed. */
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(futimens(fd, (struct timespec[]){{.tv_sec = 5}, {.tv_sec = 5}}), 0);
	ctx_exp_store_key_of_file(fd, "00ff", second);
	assert_string_not_equal(first, second);
	ctx_exp_store_key_of_file(devnull, "00ff", second);
	assert_string_equal(second, "");
	close(fd);
	close(devnull);
}

static struct ctx_exp_kernel_texts texts(const char *boot_id, const char *modules, const char *kallsyms)
{
	static char paths[3][256];

	snprintf(paths[0], sizeof(paths[0]), "%s", in_folder("boot_id"));
	snprintf(paths[1], sizeof(paths[1]), "%s", in_folder("modules"));
	snprintf(paths[2], sizeof(paths[2]), "%s", in_folder("kallsyms"));
	write_bytes(paths[0], boot_id, strlen(boot_id));
	write_bytes(paths[1], modules, strlen(modules));
	write_bytes(paths[2], kallsyms, strlen(kallsyms));
	return (struct ctx_exp_kernel_texts){paths[0], paths[1], paths[2]};
}

#define LOW "0000000000000000 A fixed\nffffffff81000000 T _text\n"
#define HIGH "0000000000000000 A fixed\nffffffffb2e00000 T startup_64\n"
#define MODULES                                                                                              \
	"xfs 1556480 1 - Live 0xffffffffc0a00000\nlibcrc32c 16384 1 xfs, Live 0xffffffffc0600000 (E)\n"

static void key_of(const uint64_t *addresses, size_t n, const struct ctx_exp_kernel_texts *read,
		   char ret[CTX_EXP_STORE_KEY])
{
	struct ctx_exp_kernel kernel = {0};

	for (size_t i = 0; i < n; i++)
		ctx_exp_kernel_see(&kernel, addresses[i]);
	ctx_exp_kernel_key(&kernel, read, ret);
	ctx_exp_kernel_deinit(&kernel);
}

static void test_kernel__list_is_the_same_while_sampled_code_is(void **state)
{
	static const uint64_t core[] = {UINT64_C(0xffffffff81234567), UINT64_C(0xffffffff82000000)};
	static const uint64_t high[] = {UINT64_C(0xffffffffb2e12345), UINT64_C(0xffffffff81000000)};
	static const uint64_t module[] = {UINT64_C(0xffffffff81234567), UINT64_C(0xffffffffc0a00010),
					  UINT64_C(0xffffffffc0a00010), UINT64_C(0xffffffffc0b7bfff)};
	static const uint64_t elsewhere[] = {UINT64_C(0xffffffff81234567), UINT64_C(0xffffffffc0b7c000)};
	char key[CTX_EXP_STORE_KEY], same[CTX_EXP_STORE_KEY];
	struct ctx_exp_kernel_texts read = texts("boot-1\n", MODULES, LOW);

	(void)state;
	key_of(NULL, 0, &read, key);
	assert_string_equal(key, "");
	key_of(core, 2, &read, key);
	assert_memory_equal(key, "kallsyms-", 9);
	/* Modules do not matter as long as none was sampled. */
	read = texts("boot-1\n", "", LOW);
	key_of(core, 2, &read, same);
	assert_string_equal(key, same);
	key_of(module, 4, &read, same);
	assert_string_equal(same, "");
	key_of(high, 2, &read, same);
	assert_string_equal(same, "");
	read = texts("boot-1\n", "", HIGH);
	key_of(high, 2, &read, same);
	assert_string_equal(key, same);
	read = texts("boot-1\n", MODULES, LOW);
	key_of(module, 4, &read, same);
	assert_memory_equal(same, "kallsyms-", 9);
	assert_string_not_equal(key, same);
	/* A BPF program, or a module that is gone. */
	key_of(elsewhere, 2, &read, key);
	assert_string_equal(key, "");
	/* The module is elsewhere now: its old place is no module's, its new one another key. */
	read = texts("boot-1\n", "xfs 1556480 1 - Live 0xffffffffc0a01000\n", LOW);
	key_of(module, 4, &read, key);
	assert_string_equal(key, "");
	read = texts("boot-2\n", MODULES, LOW);
	key_of(module, 4, &read, key);
	assert_string_not_equal(key, same);
	read = texts("", MODULES, LOW);
	key_of(core, 2, &read, key);
	assert_string_equal(key, "");
	/* Addresses that are not shown. */
	read = texts("boot-1\n", "xfs 1556480 1 - Live 0x0000000000000000\n", "0000000000000000 T _text\n");
	key_of(module, 4, &read, key);
	assert_string_equal(key, "");
}

static void test_kernel__more_pages_than_are_kept_mean_no_key(void **state)
{
	struct ctx_exp_kernel_texts read = texts("boot-1\n", MODULES, LOW);
	struct ctx_exp_kernel kernel = {0};
	char key[CTX_EXP_STORE_KEY];

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		ctx_exp_kernel_see(&kernel, UINT64_C(0xffff888000000000) + (i << 12));
	assert_true(kernel.has_more);
	ctx_exp_kernel_key(&kernel, &read, key);
	assert_string_equal(key, "");
	ctx_exp_kernel_deinit(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store__a_copy_is_linked_the_second_time),
		cmocka_unit_test(test_store__what_is_no_copy_of_ours_is_not_taken),
		cmocka_unit_test(test_store__others_may_not_write_to_it),
		cmocka_unit_test(test_store__the_least_recently_used_go_first),
		cmocka_unit_test(test_store__key_changes_with_the_file),
		cmocka_unit_test(test_kernel__list_is_the_same_while_sampled_code_is),
		cmocka_unit_test(test_kernel__more_pages_than_are_kept_mean_no_key),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
