/*
 * Names of functions without symbols, and of functions that the compiler cloned or split. Truth is
 * the symbol table of the same program before it was stripped, as nm prints it; small cases are
 * written in assembler, or are ELF files made here byte by byte.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "chance.h"
#include "shell_commands.h"
#include "symbols/symtab.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

/*
 * Runs a shell script in the folder; skips the test if it fails, as tools differ between machines.
 */
static void need(const char *script)
{
	if (!ran("cd '%s' && { %s; } >need.out 2>&1", folder, script)) {
		print_message("skipped: this does not work here: %s\n", script);
		skip();
	}
}

static struct ctx_symtab *open_path(const char *path)
{
	const struct ctx_file_request request = {path, "", "", folder, "", NULL};
	struct ctx_symtab *table;

	assert_int_equal(ctx_symtab_open(&request, &table, NULL), CTX_OK);
	return table;
}

static struct ctx_symbol get(struct ctx_symtab *table, uint32_t index)
{
	struct ctx_symbol symbol;

	assert_int_equal(ctx_symtab_get(table, index, &symbol, NULL), CTX_OK);
	return symbol;
}

static struct ctx_symbol symbol_at(struct ctx_symtab *table, uint64_t address)
{
	uint32_t index;

	if (ctx_symtab_find(table, address, &index))
		return get(table, index);
	return (struct ctx_symbol){.name = "none", .linkage_name = "none", .aliases = "", .module = ""};
}

static uint32_t index_of(struct ctx_symtab *table, const char *linkage_name)
{
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
		if (strcmp(get(table, i).linkage_name, linkage_name) == 0)
			return i;
	}
	fail_msg("no symbol %s", linkage_name);
	return 0;
}

static const char *static_name(uint64_t start)
{
	static char text[64];

	snprintf(text, sizeof(text), "<static>@0x%" PRIx64, start);
	return text;
}

/*
 * Static functions.
 */

/*
 * Each function of a whole table is in the stripped one: by its name, or as a static function with
 * the same addresses.
 */
static void compare_stripped(const char *whole_path, const char *stripped_path, size_t at_least)
{
	struct ctx_symtab *whole = open_path(whole_path);
	struct ctx_symtab *stripped = open_path(stripped_path);
	size_t same = 0, unnamed = 0, missing = 0;

	for (uint32_t i = 0; i < ctx_symtab_count(whole); i++) {
		struct ctx_symbol want = get(whole, i);
		struct ctx_symbol found = symbol_at(stripped, want.start);

		if (strcmp(found.name, want.name) == 0) {
			same++;
			assert_int_equal(found.size, want.size);
		} else if (strcmp(found.name, "none") == 0) {
			missing++;
		} else if (strncmp(found.name, "<static>@", 9) == 0) {
			/* A signal trampoline's begins one byte early. */
			assert_true(found.start == want.start || found.start + 1 == want.start);
			assert_string_equal(found.name, static_name(found.start));
			assert_string_equal(found.linkage_name, found.name);
			assert_int_equal(get(stripped, found.whole).start, found.start);
			assert_true(strcmp(want.name, "_init") != 0);
			unnamed++;
		}
	}
	print_message("%s: %zu named, %zu static, %zu not known\n", ctx_path_base(stripped_path), same,
		      unnamed, missing);
	assert_true(same > 1);
	assert_true(unnamed >= at_least);
	/* crtstuff.c and _fini have no unwind tables. */
	assert_true(missing < 10 + unnamed / 20);
	ctx_symtab_close(whole);
	ctx_symtab_close(stripped);
}

static const char parts_c[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"__attribute__((cold, noinline)) static void complain(int a) { printf(\"%d\\n\", a); abort(); }\n"
	"static NOINLINE int scaled(int a, int b, int by) { int s = 0; for (int i = a; i < b; i++) s += i * "
	"by; return s; }\n"
	"struct two { int a, b; };\n"
	"static NOINLINE int by_part(struct two *t, int unused) { (void)unused; return t->a * 3; }\n"
	"NOINLINE int checked(int a) { if (__builtin_expect(a > 1000, 0)) { complain(a); } return scaled(a, "
	"100, 7); }\n"
	"static NOINLINE int other(int a) { if (__builtin_expect(a < 0, 0)) { complain(a); } return "
	"scaled(a, 50, 7) + 1; }\n"
	"int exported(int a) { struct two t = {a, 2}; return checked(a) + other(a) + by_part(&t, 1); }\n"
	"int main(int argc, char **argv) { (void)argv; return exported(argc) & 1; }\n";

static void test_symbol_names__static_functions_of_stripped_files_are_known_by_their_unwind_tables(
	void **state)
{
	(void)state;
	write_text(in_folder("parts.c"), parts_c);
	need("cc -O2 -rdynamic -o parts parts.c && strip -o parts.stripped parts");
	compare_stripped(in_folder("parts"), in_folder("parts.stripped"), 4);
	need("cc -O2 -static-pie -o alone parts.c && strip -o alone.stripped alone");
	/* Nothing but unwind tables: names of none, extents of all. */
	struct ctx_symtab *table = open_path(in_folder("alone.stripped"));

	assert_true(ctx_symtab_count(table) > 500);
	assert_string_equal(ctx_symtab_origin(table), in_folder("alone.stripped"));
	ctx_symtab_close(table);
}

/*
 * The system's libc, where its symbols are installed: the table without them has its static
 * functions.
 */
static void test_symbol_names__libc_has_its_static_functions(void **state)
{
	const struct ctx_file_request request = {LIBC, "", "", "", "", NULL};
	struct ctx_symtab *whole;
	bool installed;

	(void)state;
	if (access(LIBC, R_OK) != 0) {
		print_message("skipped: no %s here\n", LIBC);
		skip();
	}
	assert_int_equal(ctx_symtab_open(&request, &whole, NULL), CTX_OK);
	installed = strcmp(ctx_symtab_origin(whole), LIBC) != 0;
	if (installed) {
		struct ctx_symtab *stripped = open_path(LIBC);
		size_t covered = 0, unnamed = 0, all = 0;

		for (uint32_t i = 0; i < ctx_symtab_count(whole); i++) {
			struct ctx_symbol want = get(whole, i);
			struct ctx_symbol found = symbol_at(stripped, want.start);

			all++;
			covered += strcmp(found.name, "none") != 0;
			if (strncmp(found.name, "<static>@", 9) != 0)
				continue;
			unnamed++;
			assert_in_range(want.start - found.start, 0, found.size - 1);
		}
		print_message("%zu of %zu functions are covered, %zu of them static\n", covered, all,
			      unnamed);
		assert_true(unnamed > 500);
		assert_true(covered * 100 > all * 95);
		ctx_symtab_close(stripped);
	}
	ctx_symtab_close(whole);
	if (!installed) {
		print_message("skipped: no symbols of libc are installed\n");
		skip();
	}
}

static void test_symbol_names__a_symbol_without_a_size_does_not_swallow_the_next_function(void **state)
{
	struct ctx_symtab *table;
	uint64_t sizeless, follower, behind;

	(void)state;
	/*
	 * sizeless has a table entry of 8 bytes; 16 bytes of nothing; a function of 32; label in
	 * it; bytes that nobody knows.
	 */
	write_text(in_folder("unsized.s"),
		   "	.text\n	.globl sizeless, label, lonely\n"
		   "sizeless:\n	.cfi_startproc\n	.skip 8, 0x90\n	.cfi_endproc\n"
		   "	.skip 8, 0x90\n"
		   "	.cfi_startproc\n	.skip 16, 0x90\n"
		   "label:	.skip 16, 0x90\n	.cfi_endproc\n"
		   "	.skip 32, 0x90\n"
		   "lonely:	.skip 16, 0x90\n"
		   "	.cfi_startproc\n	.skip 16, 0x90\n	.cfi_endproc\n"
		   "	.section .note.GNU-stack,\"\",@progbits\n");
	need("cc -shared -nostdlib -o unsized.so unsized.s && strip unsized.so");
	table = open_path(in_folder("unsized.so"));
	sizeless = get(table, index_of(table, "sizeless")).start;
	assert_string_equal(symbol_at(table, sizeless + 7).name, "sizeless");
	assert_string_equal(symbol_at(table, sizeless + 8).name, "none");
	assert_string_equal(symbol_at(table, sizeless + 15).name, "none");
	follower = sizeless + 16;
	assert_string_equal(symbol_at(table, follower).name, static_name(follower));
	assert_string_equal(symbol_at(table, follower + 15).name, static_name(follower));
	/* A label in a function without a name: a name is better than none. */
	assert_string_equal(symbol_at(table, follower + 16).name, "label");
	assert_string_equal(symbol_at(table, follower + 31).name, "label");
	assert_string_equal(symbol_at(table, follower + 32).name, "none");
	behind = follower + 64;
	assert_string_equal(symbol_at(table, behind).name, "lonely");
	assert_string_equal(symbol_at(table, behind + 15).name, "lonely");
	assert_string_equal(symbol_at(table, behind + 16).name, static_name(behind + 16));
	assert_string_equal(symbol_at(table, behind + 31).name, static_name(behind + 16));
	assert_string_equal(symbol_at(table, behind + 32).name, "none");
	ctx_symtab_close(table);
}

/*
 * Unwind tables made by hand.
 */

#define TEXT_ADDRESS 0x401000
#define TEXT_BYTES 0x1000
#define FRAME_ADDRESS 0x500000

struct frame { /* an .eh_frame that is being written */
	struct ctx_buf bytes;
	size_t entry; /* where the open entry begins */
	bool wide;    /* with a length of 64 bits */
};

static void begin_entry(struct frame *frame, bool wide)
{
	frame->entry = frame->bytes.n;
	frame->wide = wide;
	if (wide) {
		ctx_buf_put_u32(&frame->bytes, UINT32_MAX);
		ctx_buf_put_u64(&frame->bytes, 0);
	} else {
		ctx_buf_put_u32(&frame->bytes, 0);
	}
}

static void end_entry(struct frame *frame)
{
	size_t head = frame->wide ? 12 : 4;
	uint64_t length;

	while (frame->bytes.n % 8 != 0)
		ctx_buf_put_u8(&frame->bytes, 0);
	length = frame->bytes.n - frame->entry - head;
	memcpy(frame->bytes.bytes + frame->entry + head - (frame->wide ? 8 : 4), &length,
	       frame->wide ? 8 : 4);
}

/* `augmentation` with its data behind it: `n` bytes in all. */
static size_t put_cie(struct frame *frame, uint8_t version, const char *augmentation, const void *data,
		      size_t n)
{
	size_t offset = frame->bytes.n;

	begin_entry(frame, false);
	ctx_buf_put_u32(&frame->bytes, 0);
	ctx_buf_put_u8(&frame->bytes, version);
	ctx_buf_put(&frame->bytes, augmentation, strlen(augmentation) + 1);
	ctx_buf_put_varint(&frame->bytes, 1);
	ctx_buf_put_u8(&frame->bytes, 0x78);
	ctx_buf_put_varint(&frame->bytes, 16);
	if (augmentation[0] == 'z') {
		ctx_buf_put_varint(&frame->bytes, n);
		ctx_buf_put(&frame->bytes, data, n);
	}
	end_entry(frame);
	return offset;
}

static void put_fde(struct frame *frame, size_t cie, bool wide, uint8_t encoding, uint64_t start,
		    uint64_t size)
{
	static const uint8_t widths[] = {8, 0, 2, 4, 8};
	uint8_t width = widths[encoding & 7];

	begin_entry(frame, wide);
	ctx_buf_put_u32(&frame->bytes, (uint32_t)(frame->bytes.n - cie));
	if ((encoding & 0x70) == 0x10)
		start -= FRAME_ADDRESS + frame->bytes.n;
	if (width == 0) {
		ctx_buf_put_varint(&frame->bytes, start);
		ctx_buf_put_varint(&frame->bytes, size);
	} else {
		ctx_buf_put(&frame->bytes, &start, width);
		ctx_buf_put(&frame->bytes, &size, width);
	}
	ctx_buf_put_u8(&frame->bytes, 0); /* no augmentation data */
	end_entry(frame);
}

/* An ELF file with .text, this .eh_frame, and no symbols. */
static void put_object(struct ctx_buf *out, const struct frame *frame)
{
	static const char names[] = "\0.text\0.eh_frame\0.shstrtab";
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3};
	Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT_ADDRESS};
	Elf64_Shdr sections[4] = {0};

	segment.p_filesz = segment.p_memsz = TEXT_BYTES;
	sections[1] = (Elf64_Shdr){.sh_name = 1,
				   .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_addr = TEXT_ADDRESS,
				   .sh_size = TEXT_BYTES};
	sections[2] = (Elf64_Shdr){.sh_name = 7,
				   .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC,
				   .sh_addr = FRAME_ADDRESS,
				   .sh_offset = sizeof(header) + sizeof(segment) + TEXT_BYTES,
				   .sh_size = frame->bytes.n};
	sections[3] = (Elf64_Shdr){.sh_name = 17,
				   .sh_type = SHT_STRTAB,
				   .sh_offset = sections[2].sh_offset + frame->bytes.n,
				   .sh_size = sizeof(names)};
	sections[1].sh_offset = segment.p_offset = sizeof(header) + sizeof(segment);
	header.e_shoff = sections[3].sh_offset + sizeof(names);
	ctx_buf_put(out, &header, sizeof(header));
	ctx_buf_put(out, &segment, sizeof(segment));
	for (size_t i = 0; i < TEXT_BYTES; i++)
		ctx_buf_put_u8(out, 0x90);
	ctx_buf_put(out, frame->bytes.bytes, frame->bytes.n);
	ctx_buf_put(out, names, sizeof(names));
	ctx_buf_put(out, sections, sizeof(sections));
	assert_false(out->failed);
}

static struct ctx_symtab *open_frame(struct frame *frame)
{
	struct ctx_buf object = {0};
	struct ctx_symtab *table;

	put_object(&object, frame);
	assert_int_equal(ctx_symtab_open_bytes(object.bytes, object.n, &table, NULL), CTX_OK);
	ctx_buf_deinit(&object);
	ctx_buf_deinit(&frame->bytes);
	return table;
}

static void test_symbol_names__every_way_to_write_an_address_is_read(void **state)
{
	static const uint8_t encodings[] = {0x00, 0x01, 0x03, 0x04, 0x0b, 0x0c, 0x10, 0x1b, 0x1c};
	struct frame frame = {0};
	struct ctx_symtab *table;
	uint64_t start = TEXT_ADDRESS;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(encodings); i++) {
		/* With a personality of 4 bytes and a language's data before it, or alone. */
		const uint8_t data[] = {0x1b, 1, 2, 3, 4, 0x1b, encodings[i]};
		size_t cie = i % 2 != 0 ? put_cie(&frame, 1, "zPLR", data, sizeof(data))
					: put_cie(&frame, 3, "zRS", &encodings[i], 1);

		put_fde(&frame, cie, i % 3 == 0, encodings[i], start, 0x20);
		put_fde(&frame, cie, false, encodings[i], start + 0x30, 8);
		ctx_buf_put_u32(&frame.bytes, 0); /* an end in the middle, as linkers leave them */
		ctx_buf_put_u32(&frame.bytes, 0);
		start += 0x40;
	}
	put_fde(&frame, put_cie(&frame, 1, "", NULL, 0), false, 0, start, 0x2000);
	table = open_frame(&frame);
	assert_int_equal(ctx_symtab_count(table), 2 * CTX_COUNT_OF(encodings) + 1);
	for (uint64_t at = TEXT_ADDRESS; at < start; at += 0x40) {
		assert_string_equal(symbol_at(table, at + 0x1f).name, static_name(at));
		assert_string_equal(symbol_at(table, at + 0x20).name, "none");
		assert_string_equal(symbol_at(table, at + 0x30).name, static_name(at + 0x30));
		assert_string_equal(symbol_at(table, at + 0x38).name, "none");
	}
	/* Cut at the end of the section. */
	assert_int_equal(symbol_at(table, start).size, TEXT_ADDRESS + TEXT_BYTES - start);
	ctx_symtab_close(table);
}

static void test_symbol_names__unreadable_files_give_no_names(void **state)
{
	static const uint8_t absolute[] = {0x00}, indirect[] = {0x80}, relative[] = {0x30},
			     omitted[] = {0xff};
	struct frame frame = {0};
	struct ctx_symtab *table;
	size_t cie;

	(void)state;
	put_fde(&frame, put_cie(&frame, 1, "zR", indirect, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 1, "zR", relative, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 1, "zR", omitted, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 4, "zR", absolute, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 1, "eh", absolute, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 1, "zXR", absolute, 1), false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, put_cie(&frame, 1, "zSSSSSSSSSSSSSSSSSR", absolute, 1), false, 0, TEXT_ADDRESS, 16);
	cie = put_cie(&frame, 1, "zR", absolute, 1);
	put_fde(&frame, cie + 4, false, 0, TEXT_ADDRESS, 16); /* no entry begins there */
	put_fde(&frame, SIZE_MAX, false, 0, TEXT_ADDRESS, 16);
	put_fde(&frame, cie, false, 0, 0, 16); /* of a section that the linker dropped */
	put_fde(&frame, cie, false, 0, TEXT_ADDRESS, 0);
	put_fde(&frame, cie, false, 0, FRAME_ADDRESS, 16);	  /* no code */
	put_fde(&frame, cie, false, 0, TEXT_ADDRESS, UINT64_MAX); /* beyond all addresses */
	put_fde(&frame, cie, false, 0, TEXT_ADDRESS + 0x100, UINT64_MAX - TEXT_ADDRESS - 0x100);
	put_fde(&frame, cie, false, 0, TEXT_ADDRESS + 0x180, 16); /* begins in the one before */
	table = open_frame(&frame);
	assert_int_equal(ctx_symtab_count(table), 1);
	assert_string_equal(symbol_at(table, TEXT_ADDRESS + 0x180).name, static_name(TEXT_ADDRESS + 0x100));
	ctx_symtab_close(table);
}

static void test_symbol_names__damaged_unwind_tables_make_no_crash(void **state)
{
	static const uint8_t data[] = {0x1b, 1, 2, 3, 4, 0x1b, 0x1b};

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct frame frame = {0};
		struct ctx_symtab *table;
		size_t cie = put_cie(&frame, 1, "zPLR", data, sizeof(data));

		for (uint64_t i = 0; i < 5; i++)
			put_fde(&frame, cie, i == 3, 0x1b, TEXT_ADDRESS + 0x40 * i, 0x30);
		for (uint64_t i = 1 + next_random() % 4; i-- > 0;)
			frame.bytes.bytes[next_random() % frame.bytes.n] = (uint8_t)next_random();
		if (round % 4 == 0)
			frame.bytes.n = next_random() % frame.bytes.n;
		table = open_frame(&frame);
		for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
			struct ctx_symbol symbol = get(table, i);

			assert_true(symbol.start >= TEXT_ADDRESS &&
				    symbol.start + symbol.size <= TEXT_ADDRESS + TEXT_BYTES);
		}
		ctx_symtab_close(table);
	}
}

/*
 * Clones and parts.
 */

static void assert_part(struct ctx_symtab *table, const char *linkage_name, const char *whole,
			const char *readable)
{
	struct ctx_symbol part = get(table, index_of(table, linkage_name));

	assert_string_equal(part.name, readable);
	assert_string_equal(get(table, part.whole).linkage_name, whole);
}

static void test_symbol_names__a_clone_leads_to_its_function_E11(void **state)
{
	static const char names[] =
		"foo foo.cold foo.isra.0 foo.isra.0.cold foo.constprop.0.isra.0 foo.part.12 foo.clone.3 "
		"foo.cold.1 "
		"gone.part.0 gone.part.0.cold gone2.isra.0.constprop.1 _Z3barv _Z3barv.cold _Z3bazi.part.0 "
		"_Z3bazi.isra.0.cold foo.lto_priv.0 foo.lto_priv.0.cold foo.llvm.4711 foo.lto_priv.1.cold "
		"foo.partial foo.cold.x foo. foo.0 .cold .part.0 foo.part.  foo.isra.1x foo.localalias";
	struct ctx_buf text = {0};
	struct ctx_symtab *table;

	(void)state;
	ctx_buf_put_text(&text, "	.text\n");
	for (const char *at = names + strspn(names, " "); *at != '\0'; at += strspn(at, " ")) {
		int n = (int)strcspn(at, " ");

		ctx_buf_printf(&text,
			       "	.type \"%.*s\", @function\n\"%.*s\":	.skip 16, 0x90\n	"
			       ".size \"%.*s\", 16\n",
			       n, at, n, at, n, at);
		at += n;
	}
	ctx_buf_put_u8(&text, 0);
	write_text(in_folder("clones.s"), (const char *)text.bytes);
	ctx_buf_deinit(&text);
	need("cc -shared -nostdlib -o clones.so clones.s");
	table = open_path(in_folder("clones.so"));
	assert_part(table, "foo", "foo", "foo");
	assert_part(table, "foo.cold", "foo", "foo [cold]");
	assert_part(table, "foo.cold.1", "foo", "foo [cold.1]");
	assert_part(table, "foo.isra.0", "foo", "foo [isra.0]");
	assert_part(table, "foo.isra.0.cold", "foo", "foo [isra.0.cold]");
	assert_part(table, "foo.constprop.0.isra.0", "foo", "foo [constprop.0.isra.0]");
	assert_part(table, "foo.part.12", "foo", "foo [part.12]");
	assert_part(table, "foo.clone.3", "foo", "foo [clone.3]");
	/* The original function is gone: the part represents it. */
	assert_part(table, "gone.part.0", "gone.part.0", "gone [part.0]");
	assert_part(table, "gone.part.0.cold", "gone.part.0", "gone [part.0.cold]");
	assert_part(table, "gone2.isra.0.constprop.1", "gone2.isra.0.constprop.1",
		    "gone2 [isra.0.constprop.1]");
	assert_part(table, "_Z3barv.cold", "_Z3barv", "bar() [cold]");
	assert_part(table, "_Z3bazi.part.0", "_Z3bazi.part.0", "baz(int) [part.0]");
	assert_part(table, "_Z3bazi.isra.0.cold", "_Z3bazi.isra.0.cold", "baz(int) [isra.0.cold]");
	/* Another function of that name, from another file. */
	assert_part(table, "foo.lto_priv.0", "foo.lto_priv.0", "foo [lto_priv.0]");
	assert_part(table, "foo.lto_priv.0.cold", "foo.lto_priv.0", "foo [lto_priv.0.cold]");
	assert_part(table, "foo.lto_priv.1.cold", "foo.lto_priv.1.cold", "foo [lto_priv.1.cold]");
	assert_part(table, "foo.llvm.4711", "foo.llvm.4711", "foo");
	for (const char *at = strstr(names, "foo.partial"); *at != '\0'; at += strspn(at, " ")) {
		char name[64];
		int n = (int)strcspn(at, " ");

		snprintf(name, sizeof(name), "%.*s", n, at);
		assert_part(table, name, name, name);
		at += n;
	}
	ctx_symtab_close(table);
}

/*
 * Two files with a static function of one name each: their parts are distinguished by their file,
 * or not at all.
 */
static void test_symbol_names__parts_of_functions_with_one_name_go_to_that_of_their_file(void **state)
{
	static const char source[] =
		"	.file \"%s.c\"\n	.text\n"
		"	.type twin, @function\ntwin:	.skip 16, 0x90\n	.size twin, 16\n"
		"	.type twin.cold, @function\ntwin.cold:	.skip 16, 0x90\n	.size twin.cold, 16\n"
		"	.globl only_%s\n	.type only_%s, @function\nonly_%s:	.skip 16, "
		"0x90\n	.size only_%s, 16\n"
		"	.type only_%s.cold, @function\nonly_%s.cold:	.skip 16, 0x90\n	.size "
		"only_%s.cold, 16\n";
	/*
	 * A static function that was replaced by its clone, while another file has one of that
	 * name.
	 */
	static const char third[] =
		"	.file \"c.c\"\n	.text\n"
		"	.type lone, @function\nlone:	.skip 16, 0x90\n	.size lone, 16\n"
		"	.type twin.isra.0, @function\ntwin.isra.0:	.skip 16, 0x90\n	.size "
		"twin.isra.0, 16\n";
	static const char fourth[] = "	.file \"d.c\"\n	.text\n"
				     "	.type lone.isra.0, @function\nlone.isra.0:	.skip 16, "
				     "0x90\n	.size lone.isra.0, 16\n"
				     "	.type only_a.isra.0, @function\nonly_a.isra.0:	.skip 16, "
				     "0x90\n	.size only_a.isra.0, 16\n";
	struct ctx_symtab *table;
	size_t parts = 0;
	char text[2048];

	(void)state;
	for (const char *name = "ab"; *name != '\0'; name++) {
		char letter[2] = {*name, '\0'};
		char file[8];

		snprintf(text, sizeof(text), source, letter, letter, letter, letter, letter, letter, letter,
			 letter);
		snprintf(file, sizeof(file), "%s.s", letter);
		write_text(in_folder("%s", file), text);
	}
	write_text(in_folder("c.s"), third);
	write_text(in_folder("d.s"), fourth);
	need("cc -shared -nostdlib -o twins.so a.s b.s c.s d.s");
	table = open_path(in_folder("twins.so"));
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
		struct ctx_symbol part = get(table, i);

		if (strcmp(part.linkage_name, "twin.cold") != 0)
			continue;
		assert_string_equal(get(table, part.whole).linkage_name, "twin");
		assert_int_equal(get(table, part.whole).start + 16, part.start);
		parts++;
	}
	assert_int_equal(parts, 2);
	assert_part(table, "only_a.cold", "only_a", "only_a [cold]");
	assert_part(table, "only_b.cold", "only_b", "only_b [cold]");
	assert_part(table, "twin.isra.0", "twin.isra.0", "twin [isra.0]");
	assert_part(table, "lone.isra.0", "lone.isra.0", "lone [isra.0]");
	assert_part(table, "only_a.isra.0", "only_a", "only_a [isra.0]");
	ctx_symtab_close(table);
}

static void test_symbol_names__the_kernels_parts_stay_in_their_module(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000100 t work\n"
				   "ffffffff81000200 t work.cold\n"
				   "ffffffff81000300 t modular.part.0\n"
				   "ffffffffc0000000 t modular	[ext4]\n"
				   "ffffffffc0000100 t modular.isra.0	[ext4]\n"
				   "ffffffffc0000200 t work.constprop.0	[ext4]\n";
	struct ctx_symtab *table;

	(void)state;
	assert_int_equal(ctx_symtab_open_kallsyms_bytes(text, sizeof(text) - 1, &table, NULL), CTX_OK);
	assert_part(table, "work.cold", "work", "work [cold]");
	assert_part(table, "modular.part.0", "modular.part.0", "modular [part.0]");
	assert_part(table, "modular.isra.0", "modular", "modular [isra.0]");
	assert_part(table, "work.constprop.0", "work.constprop.0", "work [constprop.0]");
	ctx_symtab_close(table);
}

/*
 * Two clones whose aliases make each the other's part: neither is a part, and there is no endless
 * loop.
 */
static void test_symbol_names__aliases_that_are_clones_of_each_other_are_not_parts(void **state)
{
	static const char text[] = "ffffffff81000000 T a\n"
				   "ffffffff81000000 T b.cold\n"
				   "ffffffff81000100 t b\n"
				   "ffffffff81000100 t a.cold\n"
				   "ffffffff81000100 t c.cold\n"
				   "ffffffff81000200 t c\n"
				   "ffffffff81000200 t c.part.0\n";
	struct ctx_symtab *table;

	(void)state;
	assert_int_equal(ctx_symtab_open_kallsyms_bytes(text, sizeof(text) - 1, &table, NULL), CTX_OK);
	/*
	 * b.cold -> b, which is called c.cold -> c, which is called c.part.0 and is the same
	 * function
	 */
	assert_part(table, "b.cold", "c.part.0", "b [cold]");
	assert_part(table, "c.cold", "c.part.0", "c [cold]");
	assert_part(table, "c.part.0", "c.part.0", "c [part.0]");
	ctx_symtab_close(table);
}

/*
 * What the compiler makes of parts.c: every part that nm lists whose function nm lists once is that
 * function's.
 */
static void test_symbol_names__parts_that_the_compiler_makes_are_folded(void **state)
{
	struct ctx_symtab *table;
	char line[512];
	size_t folded = 0;
	FILE *nm;

	(void)state;
	write_text(in_folder("parts.c"), parts_c);
	need("cc -O2 -o parts parts.c && nm parts | sed -n 's/.* [tT] //p' >parts.nm");
	table = open_path(in_folder("parts"));
	nm = fopen(in_folder("parts.nm"), "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm) != NULL) {
		char *dot;

		line[strcspn(line, "\n")] = '\0';
		dot = strchr(line, '.');
		if (dot == NULL || dot == line ||
		    (strncmp(dot, ".cold", 5) != 0 && strncmp(dot, ".isra", 5) != 0 &&
		     strncmp(dot, ".part", 5) != 0 && strncmp(dot, ".constprop", 10) != 0))
			continue;
		struct ctx_symbol part = get(table, index_of(table, line));
		bool is_there = ran("grep -qx '%.*s' '%s'", (int)(dot - line), line, in_folder("parts.nm"));

		assert_true(strncmp(part.name, line, (size_t)(dot - line)) == 0 &&
			    strncmp(part.name + (dot - line), " [", 2) == 0);
		if (is_there) {
			*dot = '\0';
			assert_string_equal(get(table, part.whole).linkage_name, line);
			folded++;
		}
	}
	assert_int_equal(fclose(nm), 0);
	ctx_symtab_close(table);
	print_message("%zu parts are folded\n", folded);
}

/*
 * The procedure linkage table.
 */

/* Each slot has the name that objdump gives it. */
static size_t compare_plt(const char *name)
{
	struct ctx_symtab *table = open_path(in_folder("%s", name));
	size_t slots = 0;
	char command[1024];
	char line[4096];
	FILE *objdump;

	snprintf(command, sizeof(command), "objdump -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null",
		 in_folder("%s", name));
	objdump = popen(command, "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump) != NULL) {
		char want[1024];
		uint64_t address;
		struct ctx_symbol symbol;

		/* 0000000000001030 <puts@plt>: */
		if (sscanf(line, "%" SCNx64 " <%1023[^>]>:", &address, want) != 2 ||
		    strstr(want, "@plt") == NULL)
			continue;
		symbol = symbol_at(table, address);
		assert_int_equal(symbol.start, address);
		assert_string_equal(symbol_at(table, address + symbol.size - 1).name, symbol.name);
		if (strstr(want, "@plt-") == NULL) /* the first slot, which leads to the linker */
			assert_string_equal(symbol.linkage_name, want);
		slots++;
	}
	pclose(objdump);
	ctx_symtab_close(table);
	return slots;
}

static void test_symbol_names__slots_of_every_kind_are_named_as_objdump_does(void **state)
{
	static const char source[] =
		"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
		"void *table(int i);\n"
		"void *table(int i) { void *const all[] = {(void *)puts, (void *)getenv, (void *)strtol}; "
		"return all[i]; }\n"
		"int main(int argc, char **argv) { puts(argv[0]); printf(\"%p\", table(argc));\n"
		"return (int)strlen(getenv(\"HOME\")) + (int)strtol(argv[0], 0, 10); }\n";
	static const struct {
		const char *name, *options;
	} kinds[] = {{"lazy", "-fcf-protection=none -Wl,-z,lazy"},
		     {"now", "-fcf-protection=none -Wl,-z,now"},
		     {"ibt", "-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy"},
		     {"ibtnow", "-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,now"},
		     {"fixed", "-fno-pie -no-pie"}};
	char script[512];

	(void)state;
	write_text(in_folder("plt.c"), source);
	need("command -v objdump && echo '#include <features.h>' | cc -dM -E - | grep -q x86_64");
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		snprintf(script, sizeof(script),
			 "cc -O1 -fno-builtin %s -o %s plt.c && strip -o %s.stripped %s", kinds[i].options,
			 kinds[i].name, kinds[i].name, kinds[i].name);
		need(script);
		assert_true(compare_plt(kinds[i].name) >= 4);
		snprintf(script, sizeof(script), "%s.stripped", kinds[i].name);
		assert_true(compare_plt(script) >= 4);
	}
}

/* Each allocation fails once: a status, no crash, no leak; and a table that was made is whole. */
static void test_symbol_names__out_of_memory_is_a_status(void **state)
{
	struct ctx_file_request request = {"", "", "", folder, "", NULL};
	long failures = 0;
	bool done = false;

	(void)state;
	write_text(in_folder("parts.c"), parts_c);
	need("cc -O2 -o parts parts.c && strip -K main -K checked -K checked.cold -o few parts");
	request.path = in_folder("few");
	for (long n = 0; !done; n++) {
		struct ctx_symtab *table = NULL;
		enum ctx_status status;
		struct ctx_symbol symbol;

		fail_after = n;
		status = ctx_symtab_open(&request, &table, NULL);
		for (uint32_t i = 0; status == CTX_OK && i < ctx_symtab_count(table); i++)
			status = ctx_symtab_get(table, i, &symbol, NULL);
		done = fail_after >= 0;
		fail_after = -1;
		assert_int_equal(status, done ? CTX_OK : CTX_E_NOMEM);
		failures += !done;
		/* A failed lookup works later. */
		for (uint32_t i = 0; table != NULL && i < ctx_symtab_count(table); i++)
			assert_int_equal(ctx_symtab_get(table, i, &symbol, NULL), CTX_OK);
		ctx_symtab_close(table);
	}
	assert_true(failures > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_symbol_names__static_functions_of_stripped_files_are_known_by_their_unwind_tables),
		cmocka_unit_test(test_symbol_names__libc_has_its_static_functions),
		cmocka_unit_test(
			test_symbol_names__a_symbol_without_a_size_does_not_swallow_the_next_function),
		cmocka_unit_test(test_symbol_names__every_way_to_write_an_address_is_read),
		cmocka_unit_test(test_symbol_names__unreadable_files_give_no_names),
		cmocka_unit_test(test_symbol_names__damaged_unwind_tables_make_no_crash),
		cmocka_unit_test(test_symbol_names__a_clone_leads_to_its_function_E11),
		cmocka_unit_test(
			test_symbol_names__parts_of_functions_with_one_name_go_to_that_of_their_file),
		cmocka_unit_test(test_symbol_names__the_kernels_parts_stay_in_their_module),
		cmocka_unit_test(test_symbol_names__aliases_that_are_clones_of_each_other_are_not_parts),
		cmocka_unit_test(test_symbol_names__parts_that_the_compiler_makes_are_folded),
		cmocka_unit_test(test_symbol_names__slots_of_every_kind_are_named_as_objdump_does),
		cmocka_unit_test(test_symbol_names__out_of_memory_is_a_status),
	};

	return cmocka_run_group_tests_name("symbol_names", tests, make_folder, remove_folder);
}
