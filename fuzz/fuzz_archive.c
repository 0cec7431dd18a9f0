/* Fuzz target: a damaged archive. What it claims is read, and its runs are opened. */
#include "store/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct ctx_archive *archive;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/fuzz_archive.%ld", (long)getpid());
	file = fopen(path, "w");
	if (file == NULL || (size != 0 && fwrite(data, 1, size, file) != size) || fclose(file) != 0)
		abort();
	if (ctx_archive_open(path, &archive, NULL) == CTX_OK) {
		if (!ctx_archive_is(path))
			abort();
		for (size_t i = 0; i < ctx_archive_n(archive); i++) {
			struct ctx_store *store;

			if (ctx_archive_run(archive, i)->name == NULL)
				abort();
			if (ctx_archive_open_run(archive, i, &store, NULL) == CTX_OK)
				ctx_store_close(store);
		}
		ctx_archive_close(archive);
	}
	unlink(path);
	return 0;
}
