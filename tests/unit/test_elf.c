/*
 * ELF files written by hand, of both classes and byte orders: build ids, ranges, call frame
 * information, damage.
 */
#include "base/fileio.h"
#include "elf/cfi_reader.h"
#include "elf/elf_buildid.h"
#include "elf/elf_bytes.h"
#include "elf/elf_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The obvious encoder of DWARF 5, 7.6. */
static size_t put_sleb(uint8_t *out, int64_t value)
{
	size_t n = 0;

	for (;;) {
		uint8_t byte = (uint8_t)(value & 0x7f);

		value >>= 7;
		if ((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0)) {
			out[n++] = byte;
			return n;
		}
		out[n++] = byte | 0x80;
	}
}

static void assert_sleb(int64_t value)
{
	uint8_t bytes[16] = {0};
	size_t n = put_sleb(bytes, value);
	struct ctx_cursor cursor = ctx_cursor_make(bytes, n + 1);

	assert_int_equal(ctx_elf_get_sleb(&cursor), value);
	assert_int_equal(ctx_cursor_left(&cursor), 1);
	assert_false(cursor.failed);
	cursor = ctx_cursor_make(bytes, n + 1);
	ctx_elf_skip_leb(&cursor);
	assert_int_equal(ctx_cursor_left(&cursor), 1);
	/* Cut short. */
	cursor = ctx_cursor_make(bytes, n - 1);
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_true(cursor.failed);
}

static void test_elf__signed_leb128_of_every_length_round_trips(void **state)
{
	(void)state;
	assert_sleb(0);
	assert_sleb(INT64_MAX);
	assert_sleb(INT64_MIN);
	for (int bits = 0; bits < 63; bits++) {
		assert_sleb((INT64_C(1) << bits) - 1);
		assert_sleb(INT64_C(1) << bits);
		assert_sleb(-(INT64_C(1) << bits));
		assert_sleb(-(INT64_C(1) << bits) - 1);
	}
}

static void test_elf__a_padded_leb128_is_read_up_to_ten_bytes(void **state)
{
	uint8_t bytes[12];
	struct ctx_cursor cursor;

	(void)state;
	memset(bytes, 0x80, sizeof(bytes));
	bytes[9] = 0;
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_int_equal(ctx_cursor_left(&cursor), 2);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	ctx_elf_skip_leb(&cursor);
	assert_int_equal(ctx_cursor_left(&cursor), 2);

	bytes[9] = 0x80;
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_true(cursor.failed);
	assert_ptr_equal(cursor.at, bytes);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	ctx_elf_skip_leb(&cursor);
	assert_true(cursor.failed);
}

static void test_elf__integers_have_the_byte_order_of_the_file(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct ctx_cursor cursor = ctx_cursor_make(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(ctx_elf_get_uint(&cursor, 2, false), 0x0201);
	assert_int_equal(ctx_elf_get_uint(&cursor, 3, true), 0x030405);
	assert_int_equal(ctx_elf_get_uint(&cursor, 4, true), 0);
	assert_true(cursor.failed);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_true(ctx_elf_get_uint(&cursor, 8, true) == UINT64_C(0x0102030405060708));
}

/* --- files --- */

struct shape {
	bool is_64, big_endian;
	bool has_segments; /* otherwise the notes are in a section alone, as in a debug file */
	uint8_t note_align;
	size_t id_bytes;
};

struct file {
	struct ctx_buf bytes;
	struct shape shape;
};

static void put(struct file *file, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(&file->bytes,
			       (uint8_t)(value >> 8 * (file->shape.big_endian ? n - 1 - i : i)));
}

static void put_word(struct file *file, uint64_t value)
{
	put(file, value, file->shape.is_64 ? 8 : 4);
}

static void put_segment(struct file *file, uint32_t type, uint64_t offset, uint64_t address, uint64_t size)
{
	put(file, type, 4);
	if (file->shape.is_64)
		put(file, PF_R | PF_X, 4);
	put_word(file, offset);
	put_word(file, address);
	put_word(file, address);
	put_word(file, size);
	put_word(file, size);
	if (!file->shape.is_64)
		put(file, PF_R | PF_X, 4);
	put_word(file, type == PT_NOTE ? file->shape.note_align : 4096);
}

struct section {
	uint32_t name, type, flags;
	uint64_t address, offset, size, align;
};

static void put_section(struct file *file, const struct section *section)
{
	put(file, section->name, 4);
	put(file, section->type, 4);
	put_word(file, section->flags);
	put_word(file, section->address);
	put_word(file, section->offset);
	put_word(file, section->size);
	put(file, 0, 8);
	put_word(file, section->align);
	put_word(file, 0);
}

static void pad(struct file *file, size_t align)
{
	while (file->bytes.n % align != 0)
		ctx_buf_put_u8(&file->bytes, 0);
}

static void put_note(struct file *file, const char *name, uint32_t type, size_t n)
{
	put(file, strlen(name) + 1, 4);
	put(file, n, 4);
	put(file, type, 4);
	ctx_buf_put(&file->bytes, name, strlen(name) + 1);
	pad(file, file->shape.note_align);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(&file->bytes, (uint8_t)(0xa0 + i));
	pad(file, file->shape.note_align);
}

/*
 * One CIE, and a function of 32 bytes at 0x2010, relative to its place. Returns where they begin,
 * at address 0x3000.
 */
static size_t put_frames(struct file *file)
{
	size_t begin = file->bytes.n;

	put(file, 12, 4); /* CIE */
	put(file, 0, 4);
	ctx_buf_put(&file->bytes, "\1zR\0\1\x78\x10\1", 8); /* version, letters, factors, register, length */
	file->bytes.bytes[file->bytes.n - 1] = 1;
	ctx_buf_put_u8(&file->bytes, 0x1b); /* pcrel, sdata4 */
	ctx_buf_put(&file->bytes, "\0\0\0", 3);
	file->bytes.bytes[begin + (file->shape.big_endian ? 3 : 0)] = (uint8_t)(file->bytes.n - begin - 4);
	put(file, 16, 4); /* FDE */
	put(file, file->bytes.n - begin, 4);
	put(file, 0x2010 - (0x3000 + file->bytes.n - begin), 4);
	put(file, 32, 4);
	put(file, 0, 4);
	return begin;
}

#define CODE_AT 0x200 /* in the file, address 0x2000 */
#define CODE_BYTES 0x40

static void make(struct file *file, struct shape shape)
{
	static const char names[] = "\0.text\0.notes\0.eh_frame\0.names";
	size_t header_bytes = shape.is_64 ? 64 : 52, notes, notes_end, frames, frames_end, strings, sections;

	*file = (struct file){.shape = shape};
	ctx_buf_put(&file->bytes, ELFMAG, SELFMAG);
	ctx_buf_put_u8(&file->bytes, shape.is_64 ? ELFCLASS64 : ELFCLASS32);
	ctx_buf_put_u8(&file->bytes, shape.big_endian ? ELFDATA2MSB : ELFDATA2LSB);
	ctx_buf_put_u8(&file->bytes, EV_CURRENT);
	pad(file, 16);
	while (file->bytes.n < CODE_AT)
		ctx_buf_put_u8(&file->bytes, 0);
	for (size_t i = 0; i < CODE_BYTES; i++)
		ctx_buf_put_u8(&file->bytes, (uint8_t)i);
	notes = file->bytes.n;
	put_note(file, "Linux", 0x100, 5);
	put_note(file, "GNU", NT_GNU_ABI_TAG, 16);
	put_note(file, "GNU", NT_GNU_BUILD_ID, shape.id_bytes);
	notes_end = file->bytes.n;
	frames = put_frames(file);
	frames_end = file->bytes.n;
	strings = file->bytes.n;
	ctx_buf_put(&file->bytes, names, sizeof(names));
	pad(file, 8);
	sections = file->bytes.n;
	put_section(file, &(struct section){0});
	put_section(file, &(struct section){1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, CODE_AT,
					    CODE_BYTES, 16});
	put_section(file,
		    &(struct section){7, SHT_NOTE, SHF_ALLOC, 0, notes, notes_end - notes, shape.note_align});
	put_section(file,
		    &(struct section){14, SHT_PROGBITS, SHF_ALLOC, 0x3000, frames, frames_end - frames, 8});
	put_section(file, &(struct section){24, SHT_STRTAB, 0, 0, strings, sizeof(names), 1});

	/* The headers, in the room that was left for them. */
	strings = file->bytes.n;
	file->bytes.n = 16;
	put(file, ET_DYN, 2);
	put(file, shape.is_64 ? EM_X86_64 : EM_386, 2);
	put(file, EV_CURRENT, 4);
	put_word(file, 0);
	put_word(file, shape.has_segments ? header_bytes : 0);
	put_word(file, sections);
	put(file, 0, 4);
	put(file, header_bytes, 2);
	put(file, shape.is_64 ? 56 : 32, 2);
	put(file, shape.has_segments ? 2 : 0, 2);
	put(file, shape.is_64 ? 64 : 40, 2);
	put(file, 5, 2);
	put(file, 4, 2);
	assert_int_equal(file->bytes.n, header_bytes);
	if (shape.has_segments) {
		put_segment(file, PT_LOAD, CODE_AT, 0x2000, CODE_BYTES);
		put_segment(file, PT_NOTE, notes, 0, notes_end - notes);
	}
	file->bytes.n = strings;
	assert_false(file->bytes.failed);
}

static void assert_id(const char *text, size_t n)
{
	assert_int_equal(strlen(text), 2 * n);
	for (size_t i = 0; i < n; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", (unsigned)(uint8_t)(0xa0 + i));
		assert_memory_equal(text + 2 * i, digits, 2);
	}
}

static void check_file(const struct ctx_elf_file *elf, const struct shape *shape)
{
	struct ctx_cfi_section frames;
	struct ctx_buf code = {0};
	struct ctx_cfi_entry entry;
	struct ctx_cfi_cie cie;
	struct ctx_cfi_fde fde;
	uint64_t address, offset;
	size_t at = 0;

	assert_int_equal(elf->is_64, shape->is_64);
	assert_int_equal(elf->big_endian, shape->big_endian);
	assert_id(elf->build_id, shape->id_bytes < 32 ? shape->id_bytes : 32);
	assert_non_null(ctx_elf_section_at(elf, 0x2000));
	assert_non_null(ctx_elf_section_at(elf, 0x203f));
	assert_null(ctx_elf_section_at(elf, 0x1fff));
	assert_null(ctx_elf_section_at(elf, 0x2040));
	assert_int_equal(ctx_elf_address(elf->segments, elf->n_segments, CODE_AT + 1, &address),
			 shape->has_segments);
	if (shape->has_segments) {
		assert_int_equal(address, 0x2001);
		assert_false(ctx_elf_address(elf->segments, elf->n_segments, CODE_AT + CODE_BYTES, &address));
		assert_true(ctx_elf_offset(elf, 0x203f, &offset));
		assert_int_equal(offset, CODE_AT + 0x3f);
		assert_false(ctx_elf_offset(elf, 0x1fff, &offset));
		assert_false(ctx_elf_offset(elf, 0x2040, &offset));
		assert_int_equal(ctx_elf_read_code(elf, 0x203e, 16, &code, NULL), CTX_OK);
		assert_int_equal(code.n, 2);
		assert_memory_equal(code.bytes, "\x3e\x3f", 2);
		assert_int_equal(ctx_elf_read_code(elf, 0x2040, 1, &code, NULL), CTX_E_NOTFOUND);
		ctx_buf_deinit(&code);
	}
	assert_false(ctx_cfi_section_open(elf, CTX_CFI_DEBUG_FRAME, &frames));
	assert_true(ctx_cfi_section_open(elf, CTX_CFI_EH_FRAME, &frames));
	assert_int_equal(ctx_cfi_entry_next(&frames, &at, &entry), CTX_OK);
	assert_int_equal(entry.kind, CTX_CFI_ENTRY_CIE);
	assert_true(ctx_cfi_cie_read(&frames, &entry, &cie));
	assert_int_equal(ctx_cfi_entry_next(&frames, &at, &entry), CTX_OK);
	assert_int_equal(entry.cie_offset, 0);
	assert_true(ctx_cfi_fde_read(&frames, &entry, &cie, &fde));
	assert_int_equal(fde.begin, 0x2010);
	assert_int_equal(fde.end, 0x2030);
	assert_int_equal(ctx_cfi_entry_next(&frames, &at, &entry), CTX_END);
}

static void check_shape(struct shape shape)
{
	char path[] = "/tmp/test_elf.XXXXXX", text[CTX_BUILDID_TEXT];
	int fd CTX_AUTO_CLOSE = mkstemp(path);
	struct ctx_elf_file elf;
	struct file file;

	make(&file, shape);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.bytes.bytes, file.bytes.n), (ssize_t)file.bytes.n);
	assert_true(ctx_buildid_of_fd(fd, text));
	assert_id(text, shape.id_bytes < 32 ? shape.id_bytes : 32);
	assert_int_equal(ctx_elf_open_path(&elf, path, NULL), CTX_OK);
	unlink(path);
	check_file(&elf, &shape);
	ctx_elf_close(&elf);
	assert_int_equal(ctx_elf_open_bytes(&elf, file.bytes.bytes, file.bytes.n, NULL), CTX_OK);
	check_file(&elf, &shape);
	ctx_elf_close(&elf);
	assert_int_equal(ctx_elf_open_image(&elf, &file.bytes, NULL), CTX_OK);
	assert_null(file.bytes.bytes);
	check_file(&elf, &shape);
	ctx_elf_close(&elf);
}

static void test_elf__files_of_each_class_and_byte_order_are_read(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++)
		check_shape((struct shape){.is_64 = i & 1,
					   .big_endian = i & 2,
					   .has_segments = i & 4,
					   .note_align = i & 8 ? 8 : 4,
					   .id_bytes = 20});
	/* Of a longer one the first 32 bytes. */
	check_shape((struct shape){.is_64 = true, .has_segments = true, .note_align = 4, .id_bytes = 64});
}

static void test_elf__a_file_that_is_cut_anywhere_is_an_error_or_has_less(void **state)
{
	struct file file;

	(void)state;
	make(&file, (struct shape){.is_64 = true, .has_segments = true, .note_align = 4, .id_bytes = 20});
	for (size_t n = 0; n < file.bytes.n; n++) {
		uint8_t *cut = malloc(n + 1); /* its end is what a sanitizer watches */
		char text[CTX_BUILDID_TEXT];
		struct ctx_cfi_section frames;
		struct ctx_elf_file elf;
		bool found;

		memcpy(cut, file.bytes.bytes, n);
		found = ctx_buildid_of_image(cut, n, text);
		assert_int_equal(found, text[0] != '\0');
		if (ctx_elf_open_bytes(&elf, cut, n, NULL) == CTX_OK)
			(void)ctx_cfi_section_open(&elf, CTX_CFI_EH_FRAME, &frames);
		ctx_elf_close(&elf);
		free(cut);
	}
	ctx_buf_deinit(&file.bytes);
}

static void test_elf__only_regular_files_are_opened(void **state)
{
	struct ctx_elf_file elf;

	(void)state;
	assert_int_equal(ctx_elf_open_path(&elf, "/dev/null", NULL), CTX_E_FORMAT);
	ctx_elf_close(&elf);
	assert_int_equal(ctx_elf_open_path(&elf, "/nowhere/at/all", NULL), CTX_E_NOTFOUND);
	ctx_elf_close(&elf);
	assert_int_equal(ctx_elf_open_path(&elf, "/etc/passwd", NULL), CTX_E_FORMAT);
	ctx_elf_close(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf__signed_leb128_of_every_length_round_trips),
		cmocka_unit_test(test_elf__a_padded_leb128_is_read_up_to_ten_bytes),
		cmocka_unit_test(test_elf__integers_have_the_byte_order_of_the_file),
		cmocka_unit_test(test_elf__files_of_each_class_and_byte_order_are_read),
		cmocka_unit_test(test_elf__a_file_that_is_cut_anywhere_is_an_error_or_has_less),
		cmocka_unit_test(test_elf__only_regular_files_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
