/*
 * The truth for ELF tables is nm's output for available files (this program, libc, libstdc++),
 * looked up by the obvious slow scan. Variants (stripped, separate debug file, damaged)
 * are made from this program's own file with binutils; where those are missing the test says so and
 * is skipped.
 */
#include "base/compress.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "chance.h"
#include "shell_commands.h"
#include "symbols/demangle.h"
#include "symbols/symset.h"
#include "symbols/symtab.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSTDCXX "/lib/x86_64-linux-gnu/libstdc++.so.6"
#define FILE_BYTES_MAX ((size_t)256 << 20)

static char self[4096];

static struct ctx_symtab *open_table(const struct ctx_file_request *request)
{
	struct ctx_symtab *table = NULL;
	struct ctx_err err;

	assert_int_equal(ctx_symtab_open(request, &table, &err), CTX_OK);
	return table;
}

static struct ctx_symtab *open_path(const char *path)
{
	const struct ctx_file_request request = {path, "", "", "", "", NULL};

	return open_table(&request);
}

static struct ctx_symbol symbol_at(struct ctx_symtab *table, uint64_t address)
{
	struct ctx_symbol symbol = {.name = "none", .linkage_name = "none", .aliases = ""};
	uint32_t index;

	if (ctx_symtab_find(table, address, &index))
		assert_int_equal(ctx_symtab_get(table, index, &symbol, NULL), CTX_OK);
	return symbol;
}

static bool has_name(const struct ctx_symbol *symbol, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(symbol->linkage_name, name) == 0)
		return true;
	for (const char *at = symbol->aliases; (at = strstr(at, name)) != NULL; at++) {
		if ((at == symbol->aliases || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	}
	return false;
}

/*
 * Every function that nm lists with a size is found at its first byte, among the names of one start
 * address.
 */
static void compare_with_nm(const char *path, const char *options)
{
	struct ctx_symtab *table = open_path(path);
	char command[8192];
	char line[65536];
	size_t compared = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -f sysv --defined-only --without-symbol-versions %s '%s'",
		 options, path);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm) != NULL) {
		char name[sizeof(line)];
		uint64_t address;
		uint64_t size;
		struct ctx_symbol symbol;

		/* name |address| class | type|size| line | section */
		if (sscanf(line, "%[^ |] |%" SCNx64 "| %*c | FUNC|%" SCNx64, name, &address, &size) != 3)
			continue;
		symbol = symbol_at(table, address);
		assert_int_equal(symbol.start, address);
		assert_true(symbol.size >= size);
		/* Aliases are shown demangled, so only plain names can be compared in them. */
		if (strncmp(name, "_Z", 2) != 0 && !has_name(&symbol, name))
			fail_msg("%s: %" PRIx64 ": no %s in %s", path, address, name, symbol.linkage_name);
		compared++;
	}
	assert_int_equal(pclose(nm), 0);
	assert_true(compared > 30);
	ctx_symtab_close(table);
}

static void test_symbols__every_function_that_nm_lists_is_found(void **state)
{
	(void)state;
	need_command("nm");
	compare_with_nm(self, "");
	if (access(LIBC, R_OK) == 0)
		compare_with_nm(LIBC, "-D");
	if (access(LIBSTDCXX, R_OK) == 0)
		compare_with_nm(LIBSTDCXX, "-D");
}

/* A set as it was put in. */
struct heap {
	struct ctx_symset_raw raw[40];
	size_t n;
	struct ctx_symset_extent extents[20]; /* by start; those that begin in another are left out */
	size_t extent_n;
};

static bool is_in_sized(const struct heap *heap, uint64_t address)
{
	for (size_t i = 0; i < heap->n; i++) {
		if (heap->raw[i].start <= address && address - heap->raw[i].start < heap->raw[i].size)
			return true;
	}
	return false;
}

static bool starts_at(const struct heap *heap, uint64_t address)
{
	for (size_t i = 0; i < heap->n; i++) {
		if (heap->raw[i].start == address)
			return true;
	}
	return false;
}

/* Where a symbol without a size ends. */
static uint64_t unsized_end(const struct heap *heap, const struct ctx_symset_raw *raw)
{
	uint64_t end = raw->limit;

	for (size_t i = 0; i < heap->n; i++) {
		if (heap->raw[i].start > raw->start && heap->raw[i].start < end)
			end = heap->raw[i].start;
	}
	for (size_t i = 0; i < heap->extent_n; i++) {
		const struct ctx_symset_extent *extent = &heap->extents[i];

		if (extent->start > raw->start && extent->start < end)
			end = extent->start;
		if (extent->start <= raw->start && extent->end > raw->start && extent->end < end)
			end = extent->end;
	}
	return end;
}

/*
 * The obvious slow version of a set: the rules of symset.h, by looking at everything for every
 * address.
 */
static uint64_t slow_start(const struct heap *heap, uint64_t address)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < heap->n; i++) {
		const struct ctx_symset_raw *raw = &heap->raw[i];
		bool sized = raw->size != 0;
		uint64_t end = sized ? raw->start + raw->size : unsized_end(heap, raw);

		if (!sized && is_in_sized(heap, raw->start))
			continue;
		if (raw->start <= address && address < end && (best == UINT64_MAX || raw->start > best))
			best = raw->start;
	}
	for (size_t i = 0; i < heap->extent_n; i++) {
		uint64_t start = heap->extents[i].start;

		if (is_in_sized(heap, start) || starts_at(heap, start) || starts_at(heap, start + 1))
			continue;
		if (start <= address && address < heap->extents[i].end &&
		    (best == UINT64_MAX || start > best))
			best = start;
	}
	return best;
}

static void fill_at_random(struct heap *heap, struct ctx_symset *set)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	size_t extents = next_random() % (CTX_COUNT_OF(heap->extents) + 1);
	uint64_t end = 0;

	*heap = (struct heap){.n = next_random() % (CTX_COUNT_OF(heap->raw) + 1)};
	for (size_t i = 0; i < heap->n; i++) {
		struct ctx_symset_raw *raw = &heap->raw[i];

		*raw = (struct ctx_symset_raw){.start = next_random() % 200,
					       .size = next_random() % 3 == 0 ? 0 : next_random() % 60,
					       .limit = 240,
					       .name = names[next_random() % CTX_COUNT_OF(names)],
					       .module = ""};
		if (raw->size > raw->limit - raw->start)
			raw->size = raw->limit - raw->start;
		assert_int_equal(ctx_symset_add(set, raw, NULL), CTX_OK);
	}
	/* In order, with one that begins in the one before now and then, and put in backwards. */
	for (size_t i = 0; i < extents && end < 220; i++) {
		struct ctx_symset_extent *extent = &heap->extents[heap->extent_n++];

		extent->start = end + next_random() % 8;
		extent->end = end = extent->start + 1 + next_random() % 20;
		if (end - extent->start > 1 && next_random() % 4 == 0)
			assert_int_equal(ctx_symset_add_extent(set, end - 1, 30, NULL), CTX_OK);
	}
	for (size_t i = heap->extent_n; i-- > 0;)
		assert_int_equal(ctx_symset_add_extent(set, heap->extents[i].start,
						       heap->extents[i].end - heap->extents[i].start, NULL),
				 CTX_OK);
}

static void test_symbols__lookups_equal_the_slow_scan(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ctx_symset set = {0};
		struct heap heap;

		fill_at_random(&heap, &set);
		assert_int_equal(ctx_symset_freeze(&set, NULL), CTX_OK);
		for (uint64_t address = 0; address < 260; address++) {
			uint64_t want = slow_start(&heap, address);
			uint32_t index;

			if (!ctx_symset_find(&set, address, &index)) {
				assert_int_equal(want, UINT64_MAX);
				continue;
			}
			assert_int_equal(set.entries[index].start, want);
			assert_int_equal(set.entries[index].name == 0, !starts_at(&heap, want));
		}
		ctx_symset_deinit(&set);
	}
}

static void test_symbols__aliases_share_the_last_name_E11(void **state)
{
	struct ctx_symset set = {0};
	const struct ctx_symset_raw raw[] = {
		{.start = 16, .size = 8, .limit = 64, .name = "b", .module = ""},
		{.start = 16, .size = 8, .limit = 64, .name = "a", .module = ""},
		{.start = 16, .size = 4, .limit = 64, .name = "b", .module = ""},
		{.start = 16, .size = 0, .limit = 64, .name = "z", .module = ""}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(raw); i++)
		assert_int_equal(ctx_symset_add(&set, &raw[i], NULL), CTX_OK);
	assert_int_equal(ctx_symset_freeze(&set, NULL), CTX_OK);
	assert_int_equal(set.n, 1);
	assert_string_equal(set.text + set.entries[0].name, "b");
	assert_int_equal(set.entries[0].alias_count, 2);
	assert_memory_equal(set.text + set.entries[0].aliases, "a\0z", 4);
	ctx_symset_deinit(&set);
}

static void test_symbols__a_stripped_file_takes_names_from_the_debug_file_of_its_build_id(void **state)
{
	struct ctx_symtab *whole = open_path(self);
	const char *id = ctx_symtab_build_id(whole);
	const char *path = in_folder("stripped");
	const char *root = in_folder("debug");
	struct ctx_file_request request = {path, id, "", root, "", NULL};
	struct ctx_symtab *table;

	(void)state;
	if (id[0] == '\0') {
		print_message("skipped: the compiler puts no build id into programs\n");
		ctx_symtab_close(whole);
		skip();
	}
	need_command("objcopy");
	run("strip -o '%s' '%s' && mkdir -p '%s/.build-id/%.2s'", path, self, root, id);
	table = open_table(&request);
	assert_string_equal(ctx_symtab_origin(table), path); /* .dynsym and PLT only */
	ctx_symtab_close(table);
	run("objcopy --only-keep-debug '%s' '%s/.build-id/%.2s/%s.debug'", self, root, id, id + 2);
	table = open_table(&request);
	assert_non_null(strstr(ctx_symtab_origin(table), ".debug"));
	assert_int_equal(ctx_symtab_count(table), ctx_symtab_count(whole));
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
		struct ctx_symbol a;
		struct ctx_symbol b;

		assert_int_equal(ctx_symtab_get(table, i, &a, NULL), CTX_OK);
		assert_int_equal(ctx_symtab_get(whole, i, &b, NULL), CTX_OK);
		assert_string_equal(a.linkage_name, b.linkage_name);
		assert_int_equal(a.start, b.start);
		assert_int_equal(a.size, b.size);
	}
	ctx_symtab_close(table);
	/* A recorder that knew no build id: the file itself says which debug file is its own. */
	request.build_id = "";
	table = open_table(&request);
	assert_non_null(strstr(ctx_symtab_origin(table), ".debug"));
	ctx_symtab_close(table);
	ctx_symtab_close(whole);
}

/* Old versions of perf wrote 20 bytes whatever the length was. */
static void test_symbols__a_short_build_id_may_be_padded_to_20_bytes(void **state)
{
	static const char padded[] = "0123456789abcdef000000000000000000000000";
	static const char other[] = "0123456789abcdef000000000000000000000001";
	const char *path = in_folder("short.so");
	struct ctx_file_request request = {path, padded, "", "", "", NULL};
	struct ctx_symtab *table;

	(void)state;
	need_command("cc");
	run("echo 'int shortly(void) { return 1; }' | cc -shared -fPIC -Wl,--build-id=0x0123456789abcdef "
	    "-o '%s' -x c -",
	    path);
	table = open_table(&request);
	assert_string_equal(ctx_symtab_build_id(table), "0123456789abcdef");
	assert_true(ctx_symtab_count(table) > 0);
	ctx_symtab_close(table);
	request.build_id = other;
	table = open_table(&request);
	assert_int_equal(ctx_symtab_count(table), 0);
	ctx_symtab_close(table);
}

static void test_symbols__a_file_of_another_build_id_is_never_used(void **state)
{
	const struct ctx_file_request request = {self, "0123456789abcdef", "", folder, "", NULL};
	struct ctx_symtab *table = open_table(&request);
	uint64_t address;

	(void)state;
	assert_int_equal(ctx_symtab_count(table), 0);
	assert_memory_equal(ctx_symtab_origin(table), "none: ", 6);
	assert_non_null(strstr(ctx_symtab_origin(table), "wanted 0123456789ab"));
	assert_false(ctx_symtab_address(table, 0x1000, &address));
	ctx_symtab_close(table);
}

/* Two frames, as a streaming writer leaves them, give the same table as the file. */
static void test_symbols__an_archive_gives_the_same_as_the_file(void **state)
{
	struct ctx_compressor compressor = {0};
	struct ctx_buf file = {0};
	struct ctx_buf packed = {0};
	const char *path = in_folder("archive.zst");
	const struct ctx_file_request request = {"[vdso]", "", path, "", "", NULL};
	struct ctx_symtab *whole = open_path(self);
	struct ctx_symtab *table;

	(void)state;
	assert_int_equal(ctx_file_read(self, FILE_BYTES_MAX, &file, NULL), CTX_OK);
	assert_int_equal(ctx_compress(&compressor, 1, (struct ctx_bytes){file.bytes, 5000}, &packed, NULL),
			 CTX_OK);
	assert_int_equal(ctx_compress(&compressor, 1, (struct ctx_bytes){file.bytes + 5000, file.n - 5000},
				      &packed, NULL),
			 CTX_OK);
	assert_int_equal(ctx_file_replace(path, packed.bytes, packed.n, NULL), CTX_OK);
	table = open_table(&request);
	assert_string_equal(ctx_symtab_origin(table), "archive");
	assert_int_equal(ctx_symtab_count(table), ctx_symtab_count(whole));
	ctx_symtab_close(table);
	assert_int_equal(ctx_file_replace(path, packed.bytes, packed.n - 9, NULL), CTX_OK);
	table = open_table(&request);
	assert_int_equal(ctx_symtab_count(table), 0);
	assert_non_null(strstr(ctx_symtab_origin(table), "cut short"));
	ctx_symtab_close(table);
	ctx_symtab_close(whole);
	ctx_buf_deinit(&file);
	ctx_buf_deinit(&packed);
	ctx_compressor_deinit(&compressor);
}

static void use_all(struct ctx_symtab *table)
{
	struct ctx_symbol symbol;

	for (uint32_t i = 0; i < ctx_symtab_count(table); i++)
		assert_int_equal(ctx_symtab_get(table, i, &symbol, NULL), CTX_OK);
	ctx_symtab_close(table);
}

static void test_symbols__damaged_files_make_a_table_and_no_crash(void **state)
{
	struct ctx_buf file = {0};
	struct ctx_symtab *table;
	const char *path = in_folder("small");

	(void)state;
	need_command("strip");
	run("strip -o '%s' '%s'", path, self);
	assert_int_equal(ctx_file_read(path, FILE_BYTES_MAX, &file, NULL), CTX_OK);
	for (size_t i = 0; i < 300; i++) {
		assert_int_equal(
			ctx_symtab_open_bytes(file.bytes, i < 128 ? i : next_random() % file.n, &table, NULL),
			CTX_OK);
		use_all(table);
	}
	for (size_t i = 0; i < 3000; i++) {
		/* Damage has the largest effect in the headers at both ends of the file. */
		size_t at = next_random() % 3 == 0 ? next_random() % file.n : next_random() % 1024;
		uint8_t old;

		if (next_random() % 3 == 0)
			at = file.n - 1 - at % (file.n < 2048 ? file.n : 2048);
		at %= file.n;
		old = file.bytes[at];
		file.bytes[at] = (uint8_t)next_random();
		assert_int_equal(ctx_symtab_open_bytes(file.bytes, file.n, &table, NULL), CTX_OK);
		use_all(table);
		if (next_random() % 4 != 0)
			file.bytes[at] = old;
	}
	ctx_buf_deinit(&file);
}

static void test_symbols__offsets_become_addresses_where_a_segment_is_executable(void **state)
{
	struct ctx_symtab *table = open_path(self);
	uint64_t address;

	(void)state;
	assert_false(ctx_symtab_address(table, UINT64_MAX, &address));
	assert_false(ctx_symtab_address(table, 0x7fffffffffff, &address));
	ctx_symtab_close(table);
}

static void test_symbols__names_are_demangled(void **state)
{
	static const char *const pairs[][2] = {
		{"_Z3fooi", "foo(int)"},
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_D8demangle4testFZv", "demangle.test()"},
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_RINvNtC3std3mem8align_ofdEC3foo", "std::mem::align_of::<f64>"},
		{"_RNvMs0_NtCs1234_5alloc3vecINtB5_3VechE4push", "<alloc::vec::Vec<u8>>::push"},
		{"_Dmain", "D main"},
		{"_ZdlPvm@plt", "operator delete(void*, unsigned long)@plt"}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(pairs); i++) {
		struct ctx_buf text = {0};

		assert_true(ctx_demangle(pairs[i][0], &text));
		ctx_buf_put_u8(&text, 0);
		assert_string_equal((const char *)text.bytes, pairs[i][1]);
		ctx_buf_clear(&text);
		assert_false(ctx_demangle("main", &text));
		assert_false(ctx_demangle("_start", &text));
		ctx_buf_deinit(&text);
	}
}

/* Each A<x, x> refers twice to the one before: 40 of them would be 2^40 letters. */
static void test_symbols__a_name_that_unfolds_without_end_stays_as_it_is(void **state)
{
	struct ctx_buf name = {0};
	struct ctx_buf text = {0};

	(void)state;
	ctx_buf_put_text(&name, "_Z1f1AIiiES_IS0_S0_E");
	for (int i = 1; i <= 35; i++) {
		char digit = (char)(i <= 10 ? '0' + i - 1 : 'A' + i - 11);

		if (i > 1)
			ctx_buf_printf(&name, "S_IS%c_S%c_E", digit, digit);
	}
	ctx_buf_put_u8(&name, 0);
	ctx_buf_put_text(&text, "kept");
	assert_false(ctx_demangle((const char *)name.bytes, &text));
	assert_int_equal(text.n, 4);
	ctx_buf_clear(&name);
	ctx_buf_put_text(&name, "_Z1f");
	for (int i = 0; i < 4000; i++)
		ctx_buf_put_u8(&name, 'P');
	ctx_buf_put(&name, "i", 2);
	ctx_demangle((const char *)name.bytes,
		     &text); /* either result is right; the stack must not overflow */
	ctx_buf_deinit(&name);
	ctx_buf_deinit(&text);
}

static void test_symbols__kallsyms_functions_reach_to_the_next_symbol(void **state)
{
	static const char text[] = "ffffffffc0001000 t m2\t[b]\n"
				   "ffffffff81000100 t second\n"
				   "ffffffff81000000 T alpha\n"
				   "ffffffff81000000 T beta\n"
				   "ffffffff81000180 D data\n"
				   "ffffffffc0000000 t m1\t[a]\n"
				   "broken line\n";
	struct ctx_symtab *table;
	struct ctx_symbol symbol;

	(void)state;
	assert_int_equal(ctx_symtab_open_kallsyms_bytes(text, sizeof(text) - 1, &table, NULL), CTX_OK);
	assert_int_equal(ctx_symtab_count(table), 4);
	symbol = symbol_at(table, 0xffffffff810000ff);
	assert_string_equal(symbol.name, "beta");
	assert_string_equal(symbol.aliases, "alpha");
	assert_int_equal(symbol.size, 0x100);
	assert_string_equal(symbol_at(table, 0xffffffff8100017f).name, "second");
	assert_string_equal(symbol_at(table, 0xffffffff81000180).name, "none");
	assert_string_equal(symbol_at(table, 0xffffffffc0000fff).module, "[a]");
	assert_string_equal(symbol_at(table, 0xffffffffc0001000).module, "[b]");
	assert_string_equal(symbol_at(table, 0xffffffffc0011000).name, "none");
	ctx_symtab_close(table);
}

static void test_symbols__kallsyms_of_zeros_is_an_error(void **state)
{
	static const char text[] = "0000000000000000 T a\n0000000000000000 t b\n";
	struct ctx_symtab *table;
	struct ctx_err err;

	(void)state;
	assert_int_equal(ctx_symtab_open_kallsyms_bytes(text, sizeof(text) - 1, &table, &err), CTX_E_FORMAT);
	assert_int_equal(ctx_symtab_open_kallsyms("/nonexistent", &table, &err), CTX_E_NOTFOUND);
}

static int know_self(void **state)
{
	return readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ? -1 : make_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols__every_function_that_nm_lists_is_found),
		cmocka_unit_test(test_symbols__lookups_equal_the_slow_scan),
		cmocka_unit_test(test_symbols__aliases_share_the_last_name_E11),
		cmocka_unit_test(
			test_symbols__a_stripped_file_takes_names_from_the_debug_file_of_its_build_id),
		cmocka_unit_test(test_symbols__a_short_build_id_may_be_padded_to_20_bytes),
		cmocka_unit_test(test_symbols__a_file_of_another_build_id_is_never_used),
		cmocka_unit_test(test_symbols__an_archive_gives_the_same_as_the_file),
		cmocka_unit_test(test_symbols__damaged_files_make_a_table_and_no_crash),
		cmocka_unit_test(test_symbols__offsets_become_addresses_where_a_segment_is_executable),
		cmocka_unit_test(test_symbols__names_are_demangled),
		cmocka_unit_test(test_symbols__a_name_that_unfolds_without_end_stays_as_it_is),
		cmocka_unit_test(test_symbols__kallsyms_functions_reach_to_the_next_symbol),
		cmocka_unit_test(test_symbols__kallsyms_of_zeros_is_an_error),
	};

	return cmocka_run_group_tests(tests, know_self, remove_folder);
}
