/*
 * Which programs can have the runtime: this one, and copies of it that are made into others.
 */
#include "runtime/program_check.h"

#include "base/mem.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ctx-program-XXXXXX";
static char *bytes;
static size_t n_bytes;

static int read_own(void **state)
{
	FILE *file = fopen("/proc/self/exe", "r");
	int fd = mkstemp(path);

	(void)state;
	if (file == NULL || fd < 0)
		return -1;
	close(fd);
	fseek(file, 0, SEEK_END);
	n_bytes = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(n_bytes);
	n_bytes = fread(bytes, 1, n_bytes, file);
	fclose(file);
	return 0;
}

static int forget_own(void **state)
{
	(void)state;
	unlink(path);
	free(bytes);
	return 0;
}

static enum ctx_program check(const void *image, size_t n, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(image, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
	return ctx_program_check(path);
}

static Elf64_Phdr *find(char *image, uint32_t type)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	Elf64_Phdr *segments = (Elf64_Phdr *)(image + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == type)
			return &segments[i];
	}
	return NULL;
}

static void test_program_check__says_what_a_program_is(void **state)
{
	char *image = malloc(n_bytes), *loader;
	static const char script[] = "#! /bin/sh -e\nexit 0\n";

	(void)state;
	assert_int_equal(check(bytes, n_bytes, 0755), CTX_PROGRAM_FITS);
	assert_int_equal(check(bytes, n_bytes, 04755), CTX_PROGRAM_PRIVILEGED);
	assert_int_equal(check(bytes, n_bytes, 02755), CTX_PROGRAM_PRIVILEGED);

	memcpy(image, bytes, n_bytes);
	image[EI_CLASS] = ELFCLASS32;
	assert_int_equal(check(image, n_bytes, 0755), CTX_PROGRAM_OTHER_MACHINE);
	memcpy(image, bytes, n_bytes);
	((Elf64_Ehdr *)image)->e_machine = EM_AARCH64;
	assert_int_equal(check(image, n_bytes, 0755), CTX_PROGRAM_OTHER_MACHINE);

	memcpy(image, bytes, n_bytes);
	loader = image + find(image, PT_INTERP)->p_offset;
	strcpy(loader, "/lib/ld-musl-a.so.1"); /* shorter than glibc's */
	assert_int_equal(check(image, n_bytes, 0755), CTX_PROGRAM_MUSL);
	strcpy(loader, "/lib/ld-uClibc.so.0");
	assert_int_equal(check(image, n_bytes, 0755), CTX_PROGRAM_OTHER_LIBC);
	memcpy(image, bytes, n_bytes);
	find(image, PT_INTERP)->p_type = PT_NULL;
	assert_int_equal(check(image, n_bytes, 0755), CTX_PROGRAM_STATIC);

	assert_int_equal(check("text", 4, 0755), CTX_PROGRAM_UNKNOWN);
	assert_int_equal(check(bytes, 100, 0755), CTX_PROGRAM_UNKNOWN);
	assert_int_equal(check(script, strlen(script), 0755), CTX_PROGRAM_FITS);
	assert_int_equal(check("#! /nowhere\n", 12, 0755), CTX_PROGRAM_UNKNOWN);
	free(image);
}

/* A copy of this machine's loader, whose symbols have no version 2.35, at the end of the image as its loader. */
static void test_program_check__a_loader_of_an_older_glibc_is_recognized(void **state)
{
	static char folder[] = "/tmp/ctx-loader-XXXXXX";
	static const char wanted[] = "GLIBC_2.35";
	char name[64], *image = ctx_calloc(1, n_bytes + sizeof(name)), *loader;
	Elf64_Phdr *interpreter;
	FILE *file;
	size_t n, replaced = 0;

	(void)state;
	memcpy(image, bytes, n_bytes);
	interpreter = find(image, PT_INTERP);
	file = fopen(image + interpreter->p_offset, "r");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	n = (size_t)ftell(file);
	rewind(file);
	loader = malloc(n);
	assert_int_equal(fread(loader, 1, n, file), n);
	fclose(file);

	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/ld-linux-x86-64.so.2", folder);
	memcpy(image + n_bytes, name, sizeof(name));
	interpreter->p_offset = n_bytes;
	interpreter->p_filesz = strlen(name) + 1;
	for (int is_old = 0; is_old < 2; is_old++) {
		for (size_t i = 0; is_old && i + sizeof(wanted) <= n; i++) {
			if (memcmp(loader + i, wanted, sizeof(wanted)) != 0)
				continue;
			loader[i + 7] = '1';
			replaced++;
		}
		file = fopen(name, "w");
		assert_int_equal(fwrite(loader, 1, n, file), n);
		fclose(file);
		assert_int_equal(check(image, n_bytes + sizeof(name), 0755),
				 is_old ? CTX_PROGRAM_OLD_LIBC : CTX_PROGRAM_FITS);
	}
	assert_true(replaced != 0);
	unlink(name);
	rmdir(folder);
	free(loader);
	free(image);
}

/* A program of 32 bits that is nothing but its tables. */
struct small {
	Elf32_Ehdr header;
	Elf32_Phdr segments[3];
	Elf32_Dyn dynamic[3];
	char loader[24], names[24];
};

static void test_program_check__knows_programs_of_32_bits(void **state)
{
	struct small image = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = EM_386,
			   .e_phoff = offsetof(struct small, segments),
			   .e_phentsize = sizeof(Elf32_Phdr),
			   .e_phnum = 3},
		.segments = {{.p_type = PT_LOAD, .p_vaddr = 0x8048000, .p_filesz = sizeof(image)},
			     {.p_type = PT_INTERP,
			      .p_offset = offsetof(struct small, loader),
			      .p_filesz = sizeof(image.loader)},
			     {.p_type = PT_DYNAMIC,
			      .p_offset = offsetof(struct small, dynamic),
			      .p_filesz = sizeof(image.dynamic)}},
		.dynamic = {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
			    {.d_tag = DT_STRTAB, .d_un.d_ptr = 0x8048000 + offsetof(struct small, names)}},
		.loader = "/nowhere/ld-linux.so.2",
		.names = "\0libc.so.6",
	};

	(void)state;
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_FITS_32);
	assert_int_equal(check(&image, sizeof(image), 04755), CTX_PROGRAM_PRIVILEGED);
	strcpy(image.names + 1, "libasan.so.8");
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_SANITIZED);
	strcpy(image.loader, "/lib/ld-musl-i386.so.1");
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_MUSL);
	strcpy(image.loader, "/lib/ld-linux-x86-64.so");
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_OTHER_LIBC);
	image.segments[1].p_type = PT_NOTE;
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_STATIC);
	image.header.e_phoff = sizeof(image) - 8;
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_UNKNOWN);
	image.header.e_machine = EM_ARM;
	assert_int_equal(check(&image, sizeof(image), 0755), CTX_PROGRAM_OTHER_MACHINE);
}

static void test_program_check__every_reason_has_a_text(void **state)
{
	(void)state;
	for (int i = CTX_PROGRAM_FITS + 1; i < CTX_PROGRAM_N; i++)
		assert_true(strlen(ctx_program_reason((enum ctx_program)i)) > 5);
	assert_string_equal(ctx_program_reason(CTX_PROGRAM_FITS), "");
	assert_true(ctx_program_hands_on(CTX_PROGRAM_STATIC) && ctx_program_hands_on(CTX_PROGRAM_MUSL));
	assert_false(ctx_program_hands_on(CTX_PROGRAM_SANITIZED) ||
		     ctx_program_hands_on(CTX_PROGRAM_OLD_LIBC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_check__says_what_a_program_is),
		cmocka_unit_test(test_program_check__a_loader_of_an_older_glibc_is_recognized),
		cmocka_unit_test(test_program_check__knows_programs_of_32_bits),
		cmocka_unit_test(test_program_check__every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, read_own, forget_own);
}
