/*
 * Which programs can have the runtime: this one, and copies of it that are made into others.
 */
#include "runtime/program_check.h"

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
	strcpy(loader, "/lib/ld-musl.so.1"); /* shorter than glibc's */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_check__says_what_a_program_is),
	};

	return cmocka_run_group_tests(tests, read_own, forget_own);
}
