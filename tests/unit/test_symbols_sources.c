/*
 * Places of symbols: build-id caches in perf's layout, the running kernel, the map written by a
 * just-in-time compiler. Everything is made in a temporary directory, from this
 * program's own file where an ELF file is needed.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "chance.h"
#include "elf/elf_buildid.h"
#include "shell_commands.h"
#include "symbols/perf_map.h"
#include "symbols/symtab.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KERNEL_ID "00112233445566778899aabbccddeeff00112233"
#define OTHER_ID "ff112233445566778899aabbccddeeff00112233"

static char self[4096];
static char self_id[CTX_BUILDID_TEXT];

static void need_build_id(void)
{
	if (self_id[0] == '\0' || system("command -v objcopy >/dev/null") != 0) {
		print_message("skipped: no build id in programs, or no objcopy\n");
		skip();
	}
}

static void assert_origin_has(const struct ctx_symtab *table, const char *text)
{
	if (strstr(ctx_symtab_origin(table), text) == NULL)
		fail_msg("origin is \"%s\", which has no \"%s\"", ctx_symtab_origin(table), text);
}

static void assert_nothing_because(struct ctx_symtab *table, const char *reason)
{
	assert_memory_equal(ctx_symtab_origin(table), "none: ", 6);
	assert_origin_has(table, reason);
	assert_int_equal(ctx_symtab_count(table), 0);
	ctx_symtab_close(table);
}

static struct ctx_symbol symbol_at(struct ctx_symtab *table, uint64_t address)
{
	struct ctx_symbol symbol = {.name = "none", .linkage_name = "none", .aliases = "", .module = ""};
	uint32_t index;

	if (ctx_symtab_find(table, address, &index))
		assert_int_equal(ctx_symtab_get(table, index, &symbol, NULL), CTX_OK);
	return symbol;
}

/*
 * Build-id caches.
 */

/*
 * The folder of a build id in a cache of this name, made as perf makes it: a link from
 * .build-id/xx/rest.
 */
static const char *make_cached_folder(const char *cache, const char *id)
{
	const char *place = in_folder("%s/usr/bin/program/%s", cache, id);

	run("mkdir -p '%s' '%s'", place, in_folder("%s/.build-id/%.2s", cache, id));
	run("ln -sfn '../../usr/bin/program/%s' '%s'", id,
	    in_folder("%s/.build-id/%.2s/%s", cache, id, id + 2));
	return place;
}

static struct ctx_symtab *open_in_caches(const char *path, const char *id, const char *const *caches)
{
	const struct ctx_file_request request = {path, id, "", folder, "", caches};
	struct ctx_symtab *table = NULL;
	struct ctx_err err = {0};

	if (ctx_symtab_open(&request, &table, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return table;
}

static uint32_t own_count(void)
{
	struct ctx_symtab *table = open_in_caches(self, self_id, NULL);
	uint32_t count = ctx_symtab_count(table);

	assert_string_equal(ctx_symtab_origin(table), self);
	assert_true(count > 50);
	ctx_symtab_close(table);
	return count;
}

/*
 * The table from a debug file in a cache has what the program's own has; offsets become the same
 * addresses. Closes it.
 */
static void check_from_debug(struct ctx_symtab *table)
{
	struct ctx_symtab *whole = open_in_caches(self, self_id, NULL);
	uint64_t own_address, address;

	assert_origin_has(table, "/debug");
	assert_int_equal(ctx_symtab_count(table), ctx_symtab_count(whole));
	for (uint64_t offset = 0, found = 0; found < 20; offset += 16) {
		if (!ctx_symtab_address(whole, offset, &own_address))
			continue;
		assert_true(ctx_symtab_address(table, offset, &address));
		assert_int_equal(address, own_address);
		found++;
	}
	ctx_symtab_close(table);
	ctx_symtab_close(whole);
}

static void test_symbols_sources__a_cached_copy_gives_the_same_as_the_file(void **state)
{
	const char *const caches[] = {in_folder("nowhere"), in_folder("copy"), NULL};
	struct ctx_symtab *table;

	(void)state;
	need_build_id();
	run("cp '%s' '%s/elf'", self, make_cached_folder("copy", self_id));
	table = open_in_caches("/nonexistent", self_id, caches);
	assert_origin_has(table, in_folder("copy/.build-id/%.2s/%s/elf", self_id, self_id + 2));
	assert_int_equal(ctx_symtab_count(table), own_count());
	ctx_symtab_close(table);
	/* Without a build id nothing is looked for in a cache. */
	/* The reason need not repeat the path of the object itself. */
	assert_nothing_because(open_in_caches("/nonexistent", "", caches), "none: No such file");
}

static void test_symbols_sources__a_cached_file_of_another_build_id_is_never_used(void **state)
{
	const char *const caches[] = {in_folder("wrong"), in_folder("right"), NULL};
	const char *const wrong[] = {in_folder("wrong"), NULL};
	struct ctx_symtab *table;

	(void)state;
	need_build_id();
	run("objcopy --remove-section .note.gnu.build-id '%s' '%s/elf'", self,
	    make_cached_folder("wrong", self_id));
	assert_nothing_because(open_in_caches("/nonexistent", self_id, wrong), "build id is missing");
	make_cached_folder("wrong", OTHER_ID);
	run("cp '%s' '%s'", self, in_folder("wrong/usr/bin/program/%s/elf", OTHER_ID));
	assert_nothing_because(open_in_caches("/nonexistent", OTHER_ID, wrong), "wanted ff1122334455;");
	run("cp '%s' '%s/elf'", self, make_cached_folder("right", self_id));
	table = open_in_caches("/nonexistent", self_id, caches);
	assert_origin_has(table, in_folder("right"));
	assert_int_equal(ctx_symtab_count(table), own_count());
	ctx_symtab_close(table);
}

static void test_symbols_sources__a_stripped_cached_copy_takes_names_from_debug_beside_it(void **state)
{
	const char *const caches[] = {in_folder("stripped"), NULL};
	struct ctx_symtab *table;
	const char *place;

	(void)state;
	need_build_id();
	place = make_cached_folder("stripped", self_id);
	run("objcopy --strip-all '%s' '%s/elf'", self, place);
	table = open_in_caches("/nonexistent", self_id, caches);
	assert_origin_has(table, "/elf"); /* .dynsym and PLT */
	assert_true(ctx_symtab_count(table) < own_count());
	ctx_symtab_close(table);
	run("objcopy --only-keep-debug '%s' '%s/debug'", self, place);
	/* Offsets are those of the copy, which the debug file does not have. */
	check_from_debug(open_in_caches("/nonexistent", self_id, caches));
}

/* The offsets of a debug file are not those of the program, which lies at its own path still. */
static void test_symbols_sources__a_cache_with_debug_only_names_the_file_at_its_path(void **state)
{
	const char *const caches[] = {in_folder("debug_only"), NULL};
	const char *stripped = in_folder("stripped_program");

	(void)state;
	need_build_id();
	run("objcopy --only-keep-debug '%s' '%s/debug'", self, make_cached_folder("debug_only", self_id));
	run("objcopy --strip-all '%s' '%s'", self, stripped);
	check_from_debug(open_in_caches(stripped, self_id, caches));
}

/* Until perf 4.7 the link led to the file itself. */
static void test_symbols_sources__an_old_cache_has_the_file_where_the_folder_is_now(void **state)
{
	const char *const caches[] = {in_folder("old"), NULL};
	struct ctx_symtab *table;

	(void)state;
	need_build_id();
	run("mkdir -p '%s' '%s'", in_folder("old/usr"), in_folder("old/.build-id/%.2s", self_id));
	run("cp '%s' '%s'", self, in_folder("old/usr/%s", self_id));
	run("ln -s '../../usr/%s' '%s'", self_id, in_folder("old/.build-id/%.2s/%s", self_id, self_id + 2));
	table = open_in_caches("/nonexistent", self_id, caches);
	assert_origin_has(table, in_folder("old/.build-id"));
	assert_int_equal(ctx_symtab_count(table), own_count());
	ctx_symtab_close(table);
}

static void test_symbols_sources__the_vdso_is_found_in_a_cache(void **state)
{
	const char *const caches[] = {in_folder("vdso"), NULL};
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: an address */
	char id[CTX_BUILDID_TEXT];
	struct ctx_symtab *table;

	(void)state;
	if (image == NULL || !ctx_buildid_of_image(image, 4096, id)) {
		print_message("skipped: no vdso with a build id here\n");
		skip();
	}
	assert_int_equal(ctx_file_replace(in_folder("vdso.image"), image, 8192, NULL), CTX_OK);
	run("cp '%s' '%s/vdso'", in_folder("vdso.image"), make_cached_folder("vdso", id));
	table = open_in_caches("[vdso]", id, caches);
	assert_origin_has(table, "/vdso");
	assert_true(ctx_symtab_count(table) > 0);
	ctx_symtab_close(table);
}

static void test_symbols_sources__no_build_id_leads_out_of_the_cache(void **state)
{
	static const char *const ids[] = {"../../../../etc", "ab/../../../x", "ab", "AB012345", "abc\n"};
	const char *const caches[] = {in_folder("copy"), NULL};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(ids); i++)
		assert_nothing_because(open_in_caches("", ids[i], caches), "no file");
}

/*
 * The kernel.
 */

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 t first\n"
			       "ffffffff81000200 T second\n"
			       "ffffffff81000300 D data\n"
			       "ffffffffc0000000 t module_function\t[ext4]\n"
			       "ffffffffc0000100 t module_end\t[ext4]\n";

static void write_notes(const char *path, const char *id)
{
	static const uint8_t before[] = {4, 0, 0, 0, 4, 0, 0,  0, 6, 0, 0, 0, 'X', 'e', 'n', 0,	  1,   2,
					 3, 4, 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0,   0,	'G', 'N', 'U', 0};
	uint8_t notes[sizeof(before) + 20];

	memcpy(notes, before, sizeof(before));
	for (size_t i = 0; i < 20; i++) {
		unsigned byte;

		assert_int_equal(sscanf(id + 2 * i, "%2x", &byte), 1);
		notes[sizeof(before) + i] = (uint8_t)byte;
	}
	assert_int_equal(ctx_file_replace(path, notes, sizeof(notes), NULL), CTX_OK);
}

/* The running kernel according to the files of this test. */
static struct ctx_symtab_kernel running_kernel(void)
{
	write_text(in_folder("kallsyms"), kallsyms);
	write_notes(in_folder("notes"), KERNEL_ID);
	return (struct ctx_symtab_kernel){.build_id = KERNEL_ID,
					  .release = "",
					  .symbol = "_text",
					  .address = 0xffffffff81000000,
					  .proc = in_folder("kallsyms"),
					  .notes = in_folder("notes")};
}

static struct ctx_symtab *open_kernel(const struct ctx_symtab_kernel *kernel)
{
	struct ctx_symtab *table = NULL;
	struct ctx_err err = {0};

	if (ctx_symtab_open_kernel(kernel, &table, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return table;
}

static void test_symbols_sources__the_running_kernel_is_known_by_its_build_id(void **state)
{
	struct ctx_symtab_kernel kernel = running_kernel();
	struct ctx_symtab *table = open_kernel(&kernel);
	uint64_t address;

	(void)state;
	assert_string_equal(ctx_symtab_origin(table), "kallsyms");
	assert_string_equal(symbol_at(table, 0xffffffff810001ff).name, "first");
	assert_string_equal(symbol_at(table, 0xffffffff810002ff).name, "second");
	assert_string_equal(symbol_at(table, 0xffffffffc0000010).module, "[ext4]");
	assert_true(ctx_symtab_address(table, 0xffffffff81000123, &address));
	assert_int_equal(address, 0xffffffff81000123);
	ctx_symtab_close(table);
	kernel.build_id = OTHER_ID;
	assert_nothing_because(open_kernel(&kernel), "build id is " KERNEL_ID ", wanted " OTHER_ID);
}

static void test_symbols_sources__a_relocated_kernel_is_moved_without_modules(void **state)
{
	static const uint64_t moves[] = {0x1e000000, (uint64_t)-0x200000};
	struct ctx_symtab_kernel kernel = running_kernel();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(moves); i++) {
		struct ctx_symtab *table;

		kernel.address = 0xffffffff81000000 + moves[i];
		table = open_kernel(&kernel);
		assert_string_equal(ctx_symtab_origin(table), "kallsyms");
		assert_string_equal(symbol_at(table, 0xffffffff81000150 + moves[i]).name, "first");
		assert_string_equal(symbol_at(table, 0xffffffff81000350 + moves[i]).name, "none");
		assert_string_equal(symbol_at(table, 0xffffffff81000150).name, "none");
		assert_string_equal(symbol_at(table, 0xffffffffc0000010).name, "none");
		assert_string_equal(symbol_at(table, 0xffffffffc0000010 + moves[i]).name, "none");
		assert_int_equal(ctx_symtab_count(table), 3);
		ctx_symtab_close(table);
	}
}

static void test_symbols_sources__without_a_build_id_release_and_place_must_be_the_same(void **state)
{
	struct ctx_symtab_kernel kernel = running_kernel();
	struct utsname names;
	struct ctx_symtab *table;

	(void)state;
	assert_int_equal(uname(&names), 0);
	kernel.build_id = "";
	kernel.release = names.release;
	table = open_kernel(&kernel);
	assert_string_equal(ctx_symtab_origin(table), "kallsyms");
	assert_string_equal(symbol_at(table, 0xffffffff81000150).name, "first");
	ctx_symtab_close(table);
	/* One that cannot be compared is treated as missing. */
	kernel.build_id = OTHER_ID;
	kernel.notes = in_folder("nonexistent");
	table = open_kernel(&kernel);
	assert_string_equal(ctx_symtab_origin(table), "kallsyms");
	ctx_symtab_close(table);
	kernel.address += 0x200000;
	assert_nothing_because(open_kernel(&kernel), "_text is at ffffffff81000000");
	kernel.address -= 0x200000;
	kernel.release = "2.6.32-made-up";
	assert_nothing_because(open_kernel(&kernel), "wanted 2.6.32-made-up");
	kernel.release = "";
	assert_nothing_because(open_kernel(&kernel), "which kernel it was");
}

static void test_symbols_sources__a_kernel_that_cannot_be_placed_gives_no_names(void **state)
{
	struct ctx_symtab_kernel kernel = running_kernel();

	(void)state;
	kernel.symbol = "";
	assert_nothing_because(open_kernel(&kernel), "where the kernel lay");
	kernel.symbol = "_nonexistent";
	assert_nothing_because(open_kernel(&kernel), "no symbol _nonexistent");
	kernel.symbol = "module_function"; /* a module does not identify the kernel */
	assert_nothing_because(open_kernel(&kernel), "no symbol module_function");
	kernel.symbol = "_text";
	write_text(kernel.proc, "0000000000000000 T _text\n0000000000000000 T first\n");
	assert_nothing_because(open_kernel(&kernel), "kptr_restrict");
	write_text(kernel.proc, "");
	assert_nothing_because(open_kernel(&kernel), "no function");
	assert_int_equal(unlink(kernel.proc), 0);
	assert_nothing_because(open_kernel(&kernel), "No such file");
}

static void test_symbols_sources__a_cached_kallsyms_comes_before_the_running_kernel(void **state)
{
	struct ctx_symtab_kernel kernel = running_kernel();
	const char *const caches[] = {in_folder("none"), in_folder("zero"), in_folder("kernel"),
				      in_folder("late"), NULL};
	const char *path = in_folder("kernel/[kernel.kallsyms]/%s/kallsyms", KERNEL_ID);
	struct ctx_symtab *table;

	(void)state;
	run("mkdir -p '%s' '%s' '%s'", in_folder("late/[kernel.kallsyms]/%s", KERNEL_ID),
	    in_folder("zero/[kernel.kallsyms]/%s", KERNEL_ID),
	    in_folder("kernel/[kernel.kallsyms]/%s", KERNEL_ID));
	write_text(in_folder("zero/[kernel.kallsyms]/%s/kallsyms", KERNEL_ID), "0000000000000000 T _text\n");
	write_text(in_folder("late/[kernel.kallsyms]/%s/kallsyms", KERNEL_ID), kallsyms);
	/* Recorded at a third boot. */
	write_text(path, "ffffffff90000000 T _text\nffffffff90000100 t cached\nffffffff90000200 D data\n");
	kernel.caches = caches;
	table = open_kernel(&kernel);
	assert_string_equal(ctx_symtab_origin(table), path);
	assert_string_equal(symbol_at(table, 0xffffffff81000150).name, "cached");
	ctx_symtab_close(table);
	/* The cache is for one build id; the running kernel has another. */
	kernel.build_id = OTHER_ID;
	assert_nothing_because(open_kernel(&kernel), "wanted " OTHER_ID);
	kernel.build_id = "../" KERNEL_ID;
	assert_nothing_because(open_kernel(&kernel), "wanted ../");
}

/*
 * The files of this machine give the same names as its kallsyms alone.
 */
static void test_symbols_sources__this_machines_kernel_is_found(void **state)
{
	struct ctx_symtab_kernel kernel = {
		.build_id = "", .release = "", .symbol = "_text", .proc = "", .notes = ""};
	char id[CTX_BUILDID_TEXT];
	struct ctx_buf notes = {0};
	struct ctx_symtab *whole, *table;
	bool known = false;

	(void)state;
	if (ctx_file_read("/sys/kernel/notes", 1 << 20, &notes, NULL) == CTX_OK)
		known = ctx_buildid_of_notes(notes.bytes, notes.n, id);
	ctx_buf_deinit(&notes);
	if (!known || ctx_symtab_open_kallsyms("/proc/kallsyms", &whole, NULL) != CTX_OK) {
		print_message("skipped: /sys/kernel/notes or /proc/kallsyms cannot be used here\n");
		skip();
	}
	kernel.build_id = id;
	for (uint32_t i = 0; i < ctx_symtab_count(whole); i++) {
		struct ctx_symbol symbol;
		char names[4096];

		assert_int_equal(ctx_symtab_get(whole, i, &symbol, NULL), CTX_OK);
		snprintf(names, sizeof(names), " %s %s ", symbol.name, symbol.aliases);
		if (strstr(names, " _text ") != NULL)
			kernel.address = symbol.start;
	}
	table = open_kernel(&kernel);
	assert_string_equal(ctx_symtab_origin(table), "kallsyms");
	assert_int_equal(ctx_symtab_count(table), ctx_symtab_count(whole));
	ctx_symtab_close(table);
	ctx_symtab_close(whole);
}

/*
 * Perf maps.
 */

static struct ctx_symtab *open_perf_map(const char *path, const char *symfs)
{
	struct ctx_symtab *table = NULL;
	struct ctx_err err = {0};

	if (ctx_symtab_open_perf_map(path, symfs, &table, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return table;
}

static struct ctx_symtab *perf_map_of(const char *text)
{
	write_text(in_folder("perf.map"), text);
	return open_perf_map(in_folder("perf.map"), "");
}

static void test_symbols_sources__a_perf_map_names_addresses(void **state)
{
	struct ctx_symtab *table = perf_map_of("7f0000001000 40 Lmain;::a b  c \r\n"
					       "0x7F0000002000 0x10 _ZN3foo3barEv\n"
					       "ffffffffffffff00 ff top\n"
					       "7f0000003000 20 no newline");
	uint64_t address;

	(void)state;
	assert_string_equal(ctx_symtab_origin(table), in_folder("perf.map"));
	assert_int_equal(ctx_symtab_count(table), 4);
	assert_string_equal(symbol_at(table, 0x7f000000103f).name, "Lmain;::a b  c");
	assert_string_equal(symbol_at(table, 0x7f0000001040).name, "none");
	assert_string_equal(symbol_at(table, 0x7f0000000fff).name, "none");
	assert_string_equal(symbol_at(table, 0x7f0000002000).name, "foo::bar()");
	assert_string_equal(symbol_at(table, 0x7f0000003000).name, "no newline");
	assert_string_equal(symbol_at(table, 0xfffffffffffffffe).name, "top");
	assert_true(ctx_symtab_address(table, 0x7f0000001010, &address));
	assert_int_equal(address, 0x7f0000001010);
	ctx_symtab_close(table);
	write_text(in_folder("perf-1.map"), "10 10 in symfs\n");
	table = open_perf_map("/perf-1.map", folder);
	assert_string_equal(symbol_at(table, 0x10).name, "in symfs");
	ctx_symtab_close(table);
}

static void test_symbols_sources__of_a_perf_map_the_last_line_at_an_address_counts(void **state)
{
	struct ctx_symtab *table = perf_map_of("1000 100 zz\n"
					       "1000 80 aa\n"
					       "2000 100 around\n"
					       "2040 10 inside\n"
					       "3040 100 overwritten\n"
					       "3000 80 writer\n");

	(void)state;
	assert_string_equal(symbol_at(table, 0x1000).name, "aa");
	assert_string_equal(symbol_at(table, 0x1000).aliases, "");
	assert_string_equal(symbol_at(table, 0x1080).name, "none");
	assert_string_equal(symbol_at(table, 0x2000).name, "around");
	assert_string_equal(symbol_at(table, 0x2040).name, "inside");
	assert_string_equal(symbol_at(table, 0x2050).name, "around");
	assert_string_equal(symbol_at(table, 0x3050).name, "writer");
	assert_string_equal(symbol_at(table, 0x3090).name, "none");
	ctx_symtab_close(table);
}

static void test_symbols_sources__malformed_lines_of_a_perf_map_are_skipped(void **state)
{
	struct ctx_symtab *table = perf_map_of("\n"
					       "hello\n"
					       "1000\n"
					       "1000 10\n"
					       "1000 10 \n"
					       "1000 0 empty\n"
					       "1000 10000000000000000 seventeen digits\n"
					       "10000000000000000 10 seventeen digits\n"
					       "fffffffffffffff0 20 past the end\n"
					       "ffffffffffffffff ffffffffffffffff past the end\n"
					       "-1000 10 negative\n"
					       "1000 1g0 letters\n"
					       "0x 10 nothing\n"
					       " 1000 10 begins with a blank\n"
					       "2000 10 good\n"
					       "1000 10");

	(void)state;
	assert_int_equal(ctx_symtab_count(table), 1);
	assert_string_equal(symbol_at(table, 0x2000).name, "good");
	ctx_symtab_close(table);
	assert_nothing_because(perf_map_of(""), "no line");
	assert_nothing_because(perf_map_of("nothing of use\n"), "no line");
}

static bool is_used(const char *path)
{
	struct ctx_symtab *table = open_perf_map(path, "");
	bool used = ctx_symtab_count(table) == 1;

	ctx_symtab_close(table);
	return used;
}

static void test_symbols_sources__a_perf_map_that_anybody_could_have_written_is_not_used(void **state)
{
	const char *path = in_folder("strange.map");
	char *link = ctx_path_join(folder, "link.map");

	(void)state;
	assert_non_null(link);
	assert_nothing_because(open_perf_map(path, ""), "No such file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_nothing_because(open_perf_map(path, ""), "not a plain file");
	assert_int_equal(unlink(path), 0);
	assert_nothing_because(open_perf_map(folder, ""), "not a plain file");
	write_text(path, "1000 10 somebody's\n");
	assert_int_equal(symlink(path, link), 0);
	assert_nothing_because(open_perf_map(link, ""), "symbolic links");
	assert_true(is_used(path));
	free(link);
	if (geteuid() != 0) {
		print_message("skipped in part: only root can give a file away\n");
		return;
	}
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_nothing_because(open_perf_map(path, ""), "belongs to neither");
	/* A file of root is accepted for every user. */
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(seteuid(12345), 0);
	assert_true(is_used(path));
	assert_int_equal(seteuid(0), 0);
	assert_true(is_used(path));
	/* A user's own file is accepted for that user. */
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(seteuid(12345), 0);
	assert_true(is_used(path));
	assert_int_equal(seteuid(0), 0);
}

struct piece {
	uint64_t start, end;
	bool dropped;
};

/*
 * The rule of perf_map.h, by comparing each line with each. Lines are looked at in the order of
 * their starts, and of equal ones the latest first.
 */
static void drop_overwritten(struct piece *pieces, size_t n)
{
	for (uint64_t start = 0; start < 256; start++) {
		for (size_t i = n; i-- > 0;) {
			for (size_t k = i + 1; k < n && pieces[i].start == start; k++) {
				if (!pieces[k].dropped && pieces[k].start <= start && pieces[k].end > start)
					pieces[i].dropped = true;
			}
		}
	}
}

static void test_symbols_sources__perf_maps_equal_the_slow_rule(void **state)
{
	(void)state;
	for (int round = 0; round < 500; round++) {
		struct piece pieces[30];
		size_t n = 1 + next_random() % CTX_COUNT_OF(pieces);
		struct ctx_symset set = {0};
		struct ctx_buf text = {0};

		for (size_t i = 0; i < n; i++) {
			pieces[i].start = next_random() % 200;
			pieces[i].end = pieces[i].start + 1 + next_random() % 50;
			pieces[i].dropped = false;
			ctx_buf_printf(&text, "%" PRIx64 " %" PRIx64 " f%zu\n", pieces[i].start,
				       pieces[i].end - pieces[i].start, i);
		}
		drop_overwritten(pieces, n);
		ctx_buf_put_u8(&text, 0);
		assert_int_equal(ctx_perf_map_add((char *)text.bytes, text.n - 1, &set, NULL), CTX_OK);
		assert_int_equal(ctx_symset_freeze(&set, NULL), CTX_OK);
		for (uint64_t address = 0; address < 260; address++) {
			size_t best = SIZE_MAX;
			uint32_t index;
			char name[32];

			for (size_t i = 0; i < n; i++) {
				if (!pieces[i].dropped && pieces[i].start <= address &&
				    pieces[i].end > address &&
				    (best == SIZE_MAX || pieces[i].start > pieces[best].start))
					best = i;
			}
			assert_int_equal(ctx_symset_find(&set, address, &index), best != SIZE_MAX);
			if (best == SIZE_MAX)
				continue;
			snprintf(name, sizeof(name), "f%zu", best);
			assert_string_equal(set.text + set.entries[index].name, name);
		}
		ctx_symset_deinit(&set);
		ctx_buf_deinit(&text);
	}
}

/*
 * Each allocation fails once: a status, no crash, no leak, and never a table with a part of the
 * names.
 */
static void test_symbols_sources__out_of_memory_is_a_status(void **state)
{
	const char *const caches[] = {in_folder("memory"), NULL};
	const struct ctx_file_request request = {"", self_id, "", folder, "", caches};
	struct ctx_symtab_kernel kernel = running_kernel();
	const char *path = in_folder("memory.map");
	uint32_t expected[] = {0, 5, 2};

	(void)state;
	need_build_id();
	run("cp '%s' '%s/elf'", self, make_cached_folder("memory", self_id));
	write_text(path, "1000 10 a\n2000 10 b\n");
	expected[0] = own_count();
	for (int which = 0; which < 3; which++) {
		enum ctx_status status = CTX_E_NOMEM;

		for (long n = 0; status != CTX_OK; n++) {
			struct ctx_symtab *table = NULL;

			assert_true(n < 100000);
			fail_after = n;
			if (which == 0)
				status = ctx_symtab_open(&request, &table, NULL);
			else if (which == 1)
				status = ctx_symtab_open_kernel(&kernel, &table, NULL);
			else
				status = ctx_symtab_open_perf_map(path, "", &table, NULL);
			fail_after = -1;
			assert_true(status == CTX_OK || (status == CTX_E_NOMEM && table == NULL));
			if (status == CTX_OK)
				assert_int_equal(ctx_symtab_count(table), expected[which]);
			ctx_symtab_close(table);
		}
	}
}

static int know_self(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd CTX_AUTO_CLOSE = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ctx_buildid_of_fd(fd, self_id);
	return n < 0 ? -1 : make_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_sources__a_cached_copy_gives_the_same_as_the_file),
		cmocka_unit_test(test_symbols_sources__a_cached_file_of_another_build_id_is_never_used),
		cmocka_unit_test(
			test_symbols_sources__a_stripped_cached_copy_takes_names_from_debug_beside_it),
		cmocka_unit_test(test_symbols_sources__a_cache_with_debug_only_names_the_file_at_its_path),
		cmocka_unit_test(test_symbols_sources__an_old_cache_has_the_file_where_the_folder_is_now),
		cmocka_unit_test(test_symbols_sources__the_vdso_is_found_in_a_cache),
		cmocka_unit_test(test_symbols_sources__no_build_id_leads_out_of_the_cache),
		cmocka_unit_test(test_symbols_sources__the_running_kernel_is_known_by_its_build_id),
		cmocka_unit_test(test_symbols_sources__a_relocated_kernel_is_moved_without_modules),
		cmocka_unit_test(test_symbols_sources__without_a_build_id_release_and_place_must_be_the_same),
		cmocka_unit_test(test_symbols_sources__a_kernel_that_cannot_be_placed_gives_no_names),
		cmocka_unit_test(test_symbols_sources__a_cached_kallsyms_comes_before_the_running_kernel),
		cmocka_unit_test(test_symbols_sources__this_machines_kernel_is_found),
		cmocka_unit_test(test_symbols_sources__a_perf_map_names_addresses),
		cmocka_unit_test(test_symbols_sources__of_a_perf_map_the_last_line_at_an_address_counts),
		cmocka_unit_test(test_symbols_sources__malformed_lines_of_a_perf_map_are_skipped),
		cmocka_unit_test(
			test_symbols_sources__a_perf_map_that_anybody_could_have_written_is_not_used),
		cmocka_unit_test(test_symbols_sources__perf_maps_equal_the_slow_rule),
		cmocka_unit_test(test_symbols_sources__out_of_memory_is_a_status),
	};

	return cmocka_run_group_tests(tests, know_self, remove_folder);
}
