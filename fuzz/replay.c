/*
 * Runs a fuzz target over files or directories of files: makes a corpus an ordinary test with any
 * compiler.
 *
 *	fuzz_x corpus/fuzz_x [more files or directories]
 *
 * Every file is also run cut in half and with each of its first 64 bytes inverted, so that a small
 * corpus reaches the error paths.
 */
#include "base/buf.h"
#include "base/fileio.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)64 * 1024 * 1024)
#define INVERTED_BYTES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long runs;

/* A copy of exactly `n` bytes on the heap, so that a sanitizer detects a read past the end. */
static void run_one(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n != 0 ? n : 1);

	if (copy == NULL)
		exit(2);
	if (n != 0)
		memcpy(copy, bytes, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
	runs++;
}

static void run_variants(struct ctx_buf *file)
{
	run_one(file->bytes, file->n);
	run_one(file->bytes, file->n / 2);
	for (size_t i = 0; i < file->n && i < INVERTED_BYTES; i++) {
		file->bytes[i] ^= 0xff;
		run_one(file->bytes, file->n);
		file->bytes[i] ^= 0xff;
	}
}

static int run_path(const char *path)
{
	struct ctx_err err = {0};
	struct ctx_buf file = {0};
	struct dirent **names;
	struct stat info;
	int failed = 0;
	int n;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		n = scandir(path, &names, NULL, alphasort);
		for (int i = 0; i < n; i++) {
			char *below = ctx_path_join(path, names[i]->d_name);

			if (below != NULL && names[i]->d_name[0] != '.')
				failed |= run_path(below);
			free(below);
			free(names[i]);
		}
		if (n >= 0)
			free(names);
		return failed;
	}
	if (ctx_file_read(path, MAX_BYTES, &file, &err) != CTX_OK) {
		fprintf(stderr, "%s\n", err.msg);
		failed = 1;
	} else {
		run_variants(&file);
	}
	ctx_buf_deinit(&file);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= run_path(argv[i]);
	run_one(NULL, 0);
	printf("%lu inputs\n", runs);
	return failed;
}
