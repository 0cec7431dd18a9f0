/*
 * The files of an object: which are found, and which are refused. They are made with the compiler
 * and objcopy in a temporary directory; without these programs the tests are skipped.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "elf/debug_files.h"
#include "elf/image.h"
#include "shell_commands.h"
#include "symbols/symtab.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef01234567"
#define OTHER_ID "f123456789abcdef0123456789abcdef01234567"

/*
 * What the tests need: whole.so with DWARF, stripped.so, whole.debug of it, all of build id ID;
 * other.* the same of another program; noid.* without build ids.
 */
static bool make_objects(void)
{
	static const char script[] =
		"command -v cc objcopy strip zstd python3 >/dev/null || exit 1\n"
		"cd '%s' || exit 1\n"
		"echo 'static int __attribute__((noinline)) hidden(int a) { return a * 3 + 1; }\n"
		"int outer(int a) { return hidden(a) + hidden(a + 1); }' >whole.c\n"
		"echo 'static int __attribute__((noinline)) secret(int a) { return a * 5 + 2; }\n"
		"int other(int a) { return secret(a) ^ 1; }' >other.c\n"
		"so() { cc -O1 -g -shared -fPIC \"$@\"; }\n"
		"so -Wl,--build-id=0x" ID " -o whole.so whole.c || exit 1\n"
		"so -Wl,--build-id=0x" OTHER_ID " -o other.so other.c || exit 1\n"
		"so -Wl,--build-id=none -o noid.so whole.c || exit 1\n"
		"for name in whole other noid; do\n"
		"	objcopy --only-keep-debug $name.so $name.debug || exit 1\n"
		"	strip -o $name.stripped $name.so || exit 1\n"
		"	objcopy --add-gnu-debuglink=$name.debug $name.stripped $name.linked || exit 1\n"
		"done\n"
		"zstd -q whole.so -o whole.zst && zstd -q whole.stripped -o stripped.zst && zstd -q other.so "
		"-o other.zst\n";
	char text[4096];

	snprintf(text, sizeof(text), script, folder);
	return system(text) == 0;
}

static bool are_made;

static void need_objects(void)
{
	if (!are_made) {
		print_message("skipped: no cc, objcopy, strip, zstd or python3 here\n");
		skip();
	}
}

/* A separate place for each test: DIR/lib, DIR/root. */
static const char *make_place(const char *name)
{
	run("mkdir -p '%s' '%s'", in_folder("%s/lib", name), in_folder("%s/root", name));
	return in_folder("%s", name);
}

static void copy(const char *from, const char *to)
{
	run("mkdir -p \"$(dirname '%s')\" && cp '%s' '%s'", to, in_folder("%s", from), to);
}

static struct ctx_file_request request_of(const char *place)
{
	return (struct ctx_file_request){.path = in_folder("%s/lib/lib.so", ctx_path_base(place)),
					 .build_id = ID,
					 .archive = "",
					 .debug_root = in_folder("%s/root", ctx_path_base(place)),
					 .symfs = ""};
}

typedef enum ctx_status (*find_fn)(const struct ctx_file_request *request, struct ctx_found_file *ret,
				   struct ctx_err *err);

static void assert_found(find_fn find, const struct ctx_file_request *request, const char *origin)
{
	struct ctx_found_file file = {0};
	struct ctx_err err = {0};

	if (find(request, &file, &err) != CTX_OK)
		fail_msg("%s is not found: %s", origin, err.msg);
	assert_string_equal(file.origin, origin);
	if (strcmp(origin, "archive") == 0) {
		assert_null(file.path);
		assert_true(file.bytes.n > 64);
		assert_memory_equal(file.bytes.bytes, ELFMAG, SELFMAG);
	} else {
		assert_string_equal(file.path, origin);
		assert_int_equal(file.bytes.n, 0);
	}
	ctx_found_file_deinit(&file);
	ctx_found_file_deinit(&file);
}

static void assert_not_found(find_fn find, const struct ctx_file_request *request, const char *reason)
{
	struct ctx_found_file file = {0};
	struct ctx_err err = {0};

	assert_int_equal(find(request, &file, &err), CTX_E_NOTFOUND);
	if (strstr(err.msg, reason) == NULL)
		fail_msg("\"%s\" has no \"%s\"", err.msg, reason);
	assert_null(file.path);
}

/* The name of the function that whole.c does not export. */
static void assert_hidden_is_named(const struct ctx_file_request *request, const char *origin)
{
	struct ctx_symtab *table;
	struct ctx_symbol symbol;
	bool found = false;

	assert_int_equal(ctx_symtab_open(request, &table, NULL), CTX_OK);
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
		assert_int_equal(ctx_symtab_get(table, i, &symbol, NULL), CTX_OK);
		found = found || strcmp(symbol.name, "hidden") == 0;
		assert_string_not_equal(symbol.name, "secret");
	}
	assert_int_equal(found, origin != NULL);
	if (origin != NULL)
		assert_string_equal(ctx_symtab_origin(table), origin);
	ctx_symtab_close(table);
}

static void test_debug_files__the_image_is_the_nearest_file_of_the_build_id(void **state)
{
	struct ctx_file_request request = request_of(make_place("image"));
	const char *const caches[] = {in_folder("image/cache"), NULL};

	(void)state;
	need_objects();
	assert_not_found(ctx_debug_files_image, &request, "No such file");
	copy("other.so", request.path);
	assert_not_found(ctx_debug_files_image, &request, "build id is f123456789ab, wanted 0123456789ab");
	copy("noid.so", request.path);
	assert_not_found(ctx_debug_files_image, &request, "build id is missing");
	copy("whole.stripped", request.path);
	assert_found(ctx_debug_files_image, &request, request.path);
	copy("whole.so", in_folder("image/cache/.build-id/01/%s/elf", &ID[2]));
	request.caches = caches;
	assert_found(ctx_debug_files_image, &request, in_folder("image/cache/.build-id/01/%s/elf", &ID[2]));
	request.archive = in_folder("stripped.zst");
	assert_found(ctx_debug_files_image, &request, "archive");
	/* An archive whose build id is not what the recording says. */
	request.archive = in_folder("other.zst");
	request.caches = NULL;
	assert_found(ctx_debug_files_image, &request, request.path);
	assert_int_equal(unlink(request.path), 0);
	assert_not_found(ctx_debug_files_image, &request, "archive: build id is f123456789ab");
	assert_hidden_is_named(&request, NULL);
}

static void test_debug_files__a_symfs_is_prepended_to_all_paths(void **state)
{
	struct ctx_file_request request = request_of(make_place("symfs"));

	(void)state;
	need_objects();
	request.symfs = in_folder("symfs/fs");
	request.debug_root = "";
	request.path = "/lib/lib.so";
	copy("whole.linked", in_folder("symfs/fs/lib/lib.so"));
	assert_found(ctx_debug_files_image, &request, in_folder("symfs/fs/lib/lib.so"));
	copy("whole.debug", in_folder("symfs/fs/usr/lib/debug/lib/whole.debug"));
	assert_found(ctx_debug_files_dwarf, &request, in_folder("symfs/fs/usr/lib/debug/lib/whole.debug"));
	copy("whole.debug", in_folder("symfs/fs/usr/lib/debug/.build-id/01/%s.debug", &ID[2]));
	assert_found(ctx_debug_files_dwarf, &request,
		     in_folder("symfs/fs/usr/lib/debug/.build-id/01/%s.debug", &ID[2]));
}

static void test_debug_files__dwarf_is_in_the_image_or_in_the_debug_file_of_its_build_id(void **state)
{
	struct ctx_file_request request = request_of(make_place("dwarf"));
	const char *const caches[] = {in_folder("dwarf/cache"), NULL};
	const char *debug = in_folder("dwarf/root/.build-id/01/%s.debug", &ID[2]);

	(void)state;
	need_objects();
	copy("whole.so", request.path);
	assert_found(ctx_debug_files_dwarf, &request, request.path);
	copy("whole.stripped", request.path);
	assert_not_found(ctx_debug_files_dwarf, &request, "no debug information");
	copy("other.debug", debug);
	assert_not_found(ctx_debug_files_dwarf, &request, "build id is f123456789ab");
	copy("whole.debug", debug);
	assert_found(ctx_debug_files_dwarf, &request, debug);
	assert_hidden_is_named(&request, debug);
	copy("whole.debug", in_folder("dwarf/cache/.build-id/01/%s/debug", &ID[2]));
	request.caches = caches;
	assert_found(ctx_debug_files_dwarf, &request, in_folder("dwarf/cache/.build-id/01/%s/debug", &ID[2]));
	request.archive = in_folder("stripped.zst");
	assert_found(ctx_debug_files_dwarf, &request, in_folder("dwarf/cache/.build-id/01/%s/debug", &ID[2]));
	request.archive = in_folder("whole.zst");
	assert_found(ctx_debug_files_dwarf, &request, "archive");
	/* Only the image has the build id. */
	request.archive = "";
	request.caches = NULL;
	request.build_id = "";
	assert_found(ctx_debug_files_dwarf, &request, debug);
}

static void test_debug_files__a_debug_link_leads_to_three_places(void **state)
{
	struct ctx_file_request request = request_of(make_place("link"));
	const char *const places[] = {in_folder("link/lib/whole.debug"),
				      in_folder("link/lib/.debug/whole.debug"),
				      in_folder("link/root%s/link/lib/whole.debug", folder)};

	(void)state;
	need_objects();
	copy("whole.linked", request.path);
	for (size_t i = 0; i < CTX_COUNT_OF(places); i++) {
		copy("whole.debug", places[i]);
		assert_found(ctx_debug_files_dwarf, &request, places[i]);
		assert_hidden_is_named(&request, places[i]);
		/* One byte more: another checksum. */
		run("echo >>'%s'", places[i]);
		assert_not_found(ctx_debug_files_dwarf, &request, "checksum is");
		assert_hidden_is_named(&request, NULL);
	}
	/* Without build ids only the checksum is compared. */
	copy("noid.linked", request.path);
	copy("noid.debug", in_folder("link/lib/noid.debug"));
	request.build_id = "";
	assert_found(ctx_debug_files_dwarf, &request, in_folder("link/lib/noid.debug"));
	assert_hidden_is_named(&request, in_folder("link/lib/noid.debug"));
	copy("other.debug", in_folder("link/lib/noid.debug"));
	assert_not_found(ctx_debug_files_dwarf, &request, "checksum is");
}

/* A matching checksum of the wrong file: a mistaken link. */
static void test_debug_files__a_linked_file_of_another_build_id_is_not_used(void **state)
{
	struct ctx_file_request request = request_of(make_place("wrong"));

	(void)state;
	need_objects();
	copy("other.debug", in_folder("wrong/lib/wrong.debug"));
	run("cd '%s' && objcopy --add-gnu-debuglink=wrong.debug '%s' lib.so", in_folder("wrong/lib"),
	    in_folder("whole.stripped"));
	assert_not_found(ctx_debug_files_dwarf, &request, "build id is f123456789ab");
	assert_hidden_is_named(&request, NULL);
}

static void test_debug_files__a_debug_link_is_a_plain_name(void **state)
{
	struct ctx_file_request request = request_of(make_place("plain"));

	(void)state;
	need_objects();
	copy("whole.debug", in_folder("plain/up.debug"));
	/* name, padding, checksum: made by hand, as objcopy writes names only */
	run("cd '%s' && python3 -c \"\n"
	    "import zlib, struct, sys\n"
	    "crc = zlib.crc32(open('../up.debug', 'rb').read())\n"
	    "open('up', 'wb').write(b'../up.debug\\0' + struct.pack('<I', crc))\n"
	    "open('same', 'wb').write(b'up.debug\\0\\0\\0\\0' + struct.pack('<I', crc))\n"
	    "open('cut', 'wb').write(b'up.debug\\0\\0\\0\\0' + struct.pack('<I', crc)[:3])\n"
	    "open('endless', 'wb').write(b'u' * 40)\" &&"
	    "for s in up same cut endless; do objcopy --add-section .gnu_debuglink=$s '%s' $s.so || exit 1; "
	    "done",
	    in_folder("plain/lib"), in_folder("whole.stripped"));
	request.path = in_folder("plain/lib/up.so");
	assert_not_found(ctx_debug_files_dwarf, &request, "no debug information");
	copy("whole.debug", in_folder("plain/lib/up.debug"));
	request.path = in_folder("plain/lib/cut.so");
	assert_not_found(ctx_debug_files_dwarf, &request, "no debug information");
	request.path = in_folder("plain/lib/endless.so");
	assert_not_found(ctx_debug_files_dwarf, &request, "no debug information");
	request.path = in_folder("plain/lib/same.so");
	assert_found(ctx_debug_files_dwarf, &request, in_folder("plain/lib/up.debug"));
}

/* A server that is a directory: URL/buildid/ID/{debuginfo,executable}. */
static void test_debug_files__debuginfod_is_asked_last_where_the_user_wants_it(void **state)
{
	struct ctx_file_request request = request_of(make_place("server"));
	struct ctx_found_file file = {0};
	struct ctx_symtab *table;
	char url[600];

	(void)state;
	need_objects();
	if (dlopen("libdebuginfod.so.1", RTLD_NOW) == NULL) {
		print_message("skipped: no libdebuginfod here\n");
		skip();
	}
	copy("whole.debug", in_folder("server/files/buildid/%s/debuginfo", ID));
	copy("whole.stripped", in_folder("server/files/buildid/%s/executable", ID));
	/* Its answer may be any file. */
	copy("whole.so", in_folder("server/files/buildid/%s/debuginfo", OTHER_ID));
	setenv("DEBUGINFOD_CACHE_PATH", in_folder("server/cache"), 1);
	assert_not_found(ctx_debug_files_image, &request, "No such file");
	setenv("DEBUGINFOD_URLS", " ", 1);
	assert_not_found(ctx_debug_files_image, &request, "No such file");
	snprintf(url, sizeof(url), "file://%s", in_folder("server/files"));
	setenv("DEBUGINFOD_URLS", url, 1);
	assert_int_equal(ctx_debug_files_image(&request, &file, NULL), CTX_OK);
	assert_memory_equal(file.path, in_folder("server/cache"), strlen(in_folder("server/cache")));
	ctx_found_file_deinit(&file);
	assert_int_equal(ctx_debug_files_dwarf(&request, &file, NULL), CTX_OK);
	assert_memory_equal(file.path, in_folder("server/cache"), strlen(in_folder("server/cache")));
	ctx_found_file_deinit(&file);
	assert_int_equal(ctx_symtab_open(&request, &table, NULL), CTX_OK);
	assert_hidden_is_named(&request, ctx_symtab_origin(table));
	ctx_symtab_close(table);
	/* Nearer files come first. */
	copy("whole.so", request.path);
	assert_found(ctx_debug_files_dwarf, &request, request.path);
	assert_hidden_is_named(&request, request.path);
	request.build_id = OTHER_ID;
	request.path = "";
	assert_not_found(ctx_debug_files_dwarf, &request, "build id is 0123456789ab, wanted f123456789ab");
	request.build_id = "";
	assert_not_found(ctx_debug_files_dwarf, &request, "no file");
	request.build_id = "00112233";
	assert_not_found(ctx_debug_files_dwarf, &request, "debuginfod: ");
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

/* The code of a function, from the file as it is read by hand. */
static void compare_code(const struct ctx_file_request *request, const struct ctx_buf *file)
{
	struct ctx_elf_file image = {.fd = -1};
	struct ctx_symtab *table;
	struct ctx_buf code = {0};
	uint64_t address = 0;
	uint64_t offset = 0;
	uint64_t ignored;
	struct ctx_err err;

	assert_int_equal(ctx_symtab_open(request, &table, NULL), CTX_OK);
	while (!ctx_symtab_address(table, offset, &address))
		offset++;
	assert_int_equal(ctx_debug_files_open_image(request, &image, NULL), CTX_OK);
	assert_int_equal(image.machine, file->bytes[offsetof(Elf64_Ehdr, e_machine)] |
						file->bytes[offsetof(Elf64_Ehdr, e_machine) + 1] << 8);
	ctx_buf_put_text(&code, "kept");
	for (; ctx_symtab_address(table, offset, &ignored); offset++, address++) {
		assert_int_equal(ctx_elf_read_code(&image, address, 16, &code, NULL), CTX_OK);
		assert_true(code.n > 4 && code.n <= 20);
		assert_memory_equal(code.bytes + 4, file->bytes + offset, code.n - 4);
		if (code.n < 20)
			assert_false(ctx_symtab_address(table, offset + code.n - 4, &ignored));
		code.n = 4;
	}
	assert_int_equal(ctx_elf_read_code(&image, address, 16, &code, &err), CTX_E_NOTFOUND);
	assert_int_equal(ctx_elf_read_code(&image, UINT64_MAX, 16, &code, &err), CTX_E_NOTFOUND);
	assert_int_equal(ctx_elf_read_code(&image, address - 8, SIZE_MAX, &code, &err), CTX_OK);
	assert_int_equal(code.n, 4 + 8);
	assert_memory_equal(code.bytes, "kept", 4);
	ctx_buf_deinit(&code);
	ctx_elf_close(&image);
	ctx_symtab_close(table);
}

static void test_debug_files__code_is_read_unchanged_from_the_file(void **state)
{
	struct ctx_file_request request = request_of(make_place("code"));
	struct ctx_buf file = {0};

	(void)state;
	need_objects();
	copy("whole.so", request.path);
	assert_int_equal(ctx_file_read(request.path, 1 << 20, &file, NULL), CTX_OK);
	compare_code(&request, &file);
	request.archive = in_folder("whole.zst");
	request.path = "/nonexistent";
	compare_code(&request, &file);
	ctx_buf_deinit(&file);
}

/* Headers may claim more data than exists. */
static void test_debug_files__code_that_the_file_does_not_have_is_left_out(void **state)
{
	struct ctx_file_request request = request_of(make_place("short"));
	struct ctx_elf_file image = {.fd = -1};
	struct ctx_buf file = {0};
	struct ctx_buf code = {0};
	Elf64_Ehdr header;
	uint64_t address = 0;
	uint64_t offset = 0;

	(void)state;
	need_objects();
	assert_int_equal(ctx_file_read(in_folder("whole.so"), 1 << 20, &file, NULL), CTX_OK);
	memcpy(&header, file.bytes, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		uint8_t *at = file.bytes + header.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		memcpy(&segment, at, sizeof(segment));
		if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0)
			continue;
		offset = segment.p_offset;
		address = segment.p_vaddr;
		segment.p_filesz = (uint64_t)1 << 50;
		memcpy(at, &segment, sizeof(segment));
	}
	assert_int_equal(ctx_file_replace(request.path, file.bytes, file.n, NULL), CTX_OK);
	assert_int_equal(ctx_debug_files_open_image(&request, &image, NULL), CTX_OK);
	assert_int_equal(ctx_elf_read_code(&image, address, SIZE_MAX, &code, NULL), CTX_OK);
	assert_int_equal(code.n, file.n - offset);
	assert_int_equal(ctx_elf_read_code(&image, address + file.n, 16, &code, NULL), CTX_OK);
	assert_int_equal(code.n, file.n - offset);
	ctx_elf_close(&image);
	ctx_buf_deinit(&code);
	ctx_buf_deinit(&file);
}

/*
 * Each allocation of our own fails once: a status, no crash, no leak. libelf's are not among them.
 */
static void test_debug_files__out_of_memory_is_a_status(void **state)
{
	struct ctx_file_request request = request_of(make_place("memory"));
	long failures = 0;

	(void)state;
	need_objects();
	copy("whole.linked", request.path);
	copy("whole.debug", in_folder("memory/lib/whole.debug"));
	request.archive = in_folder("stripped.zst");
	for (long n = 0;; n++) {
		struct ctx_found_file file = {0};
		struct ctx_elf_file image = {.fd = -1};
		enum ctx_status dwarf, code;

		fail_after = n;
		dwarf = ctx_debug_files_dwarf(&request, &file, NULL);
		code = ctx_debug_files_open_image(&request, &image, NULL);
		if (fail_after >= 0) {
			fail_after = -1;
			assert_int_equal(dwarf, CTX_OK);
			assert_int_equal(code, CTX_OK);
			ctx_found_file_deinit(&file);
			ctx_elf_close(&image);
			break;
		}
		assert_true(dwarf == CTX_OK || dwarf == CTX_E_NOMEM);
		assert_true(code == CTX_OK || code == CTX_E_NOMEM);
		assert_true(dwarf == CTX_E_NOMEM || code == CTX_E_NOMEM);
		failures++;
		ctx_found_file_deinit(&file);
		ctx_elf_close(&image);
	}
	assert_true(failures > 5);
}

static int make_all(void **state)
{
	if (make_folder(state) != 0)
		return -1;
	are_made = make_objects();
	return 0;
}

/* Zeros as zstd packs them: blocks of one repeated byte, 128 KiB in four bytes each. */
static void test_debug_files__a_copy_that_unpacks_to_far_more_is_refused(void **state)
{
	static const uint8_t BEGIN[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58};
	static const uint8_t BLOCK[] = {0x02, 0x00, 0x10, 0x00}, LAST[] = {0x03, 0x00, 0x10, 0x00};
	struct ctx_buf packed = {0}, out = {0};
	struct ctx_err err = {0};

	(void)state;
	ctx_buf_put(&packed, BEGIN, sizeof(BEGIN));
	for (uint32_t i = 0; i < 1023; i++)
		ctx_buf_put(&packed, BLOCK, sizeof(BLOCK));
	ctx_buf_put(&packed, LAST, sizeof(LAST));
	assert_int_equal(ctx_image_unpack(packed.bytes, packed.n, CTX_IMAGE_BYTES_MAX, &out, &err),
			 CTX_E_LIMIT);
	assert_true(out.n < (size_t)80 << 20);
	ctx_buf_deinit(&out);
	/* 32 MiB are not worth a refusal. */
	packed.n = sizeof(BEGIN) + 255 * sizeof(BLOCK);
	ctx_buf_put(&packed, LAST, sizeof(LAST));
	assert_int_equal(ctx_image_unpack(packed.bytes, packed.n, CTX_IMAGE_BYTES_MAX, &out, &err), CTX_OK);
	assert_int_equal(out.n, (size_t)32 << 20);
	ctx_buf_deinit(&out);
	ctx_buf_deinit(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_files__the_image_is_the_nearest_file_of_the_build_id),
		cmocka_unit_test(test_debug_files__a_symfs_is_prepended_to_all_paths),
		cmocka_unit_test(
			test_debug_files__dwarf_is_in_the_image_or_in_the_debug_file_of_its_build_id),
		cmocka_unit_test(test_debug_files__a_debug_link_leads_to_three_places),
		cmocka_unit_test(test_debug_files__a_linked_file_of_another_build_id_is_not_used),
		cmocka_unit_test(test_debug_files__a_debug_link_is_a_plain_name),
		cmocka_unit_test(test_debug_files__debuginfod_is_asked_last_where_the_user_wants_it),
		cmocka_unit_test(test_debug_files__code_is_read_unchanged_from_the_file),
		cmocka_unit_test(test_debug_files__code_that_the_file_does_not_have_is_left_out),
		cmocka_unit_test(test_debug_files__out_of_memory_is_a_status),
		cmocka_unit_test(test_debug_files__a_copy_that_unpacks_to_far_more_is_refused),
	};

	return cmocka_run_group_tests_name("debug_files", tests, make_all, remove_folder);
}
