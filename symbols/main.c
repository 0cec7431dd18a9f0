/*
 * ctxrec-sources: the source files of places in one load object (model/source_protocol.h). ctxrec
 * --archive-sources runs it.
 *
 * Debug information is untrusted. The reader limits its work by the size of the file; the limits
 * below cover anything that the reader misses: they end this process, and ctxrec continues without
 * the object.
 */
#include "base/buf.h"
#include "model/source_protocol.h"
#include "symbols/helper_limits.h"
#include "symbols/source_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX CTX_HELPER_OUTPUT_MAX

static enum ctx_status print_path(void *context, const char *path, struct ctx_err *err)
{
	size_t *left = context, n = strlen(path) + 1;

	if (n > *left)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %zu bytes of paths", OUTPUT_MAX);
	*left -= n;
	if (fwrite(path, 1, n, stdout) != n)
		return ctx_err_set(err, CTX_E_IO, "standard output cannot be written");
	return CTX_OK;
}

static enum ctx_status read_offsets(struct ctx_buf *out, struct ctx_err *err)
{
	size_t n;

	do {
		uint8_t *room = ctx_buf_reserve(out, BUFSIZ);

		if (room == NULL)
			return ctx_err_nomem(err);
		n = fread(room, 1, BUFSIZ, stdin);
		out->n += n;
	} while (n != 0);
	return CTX_OK;
}

int main(int argc, char **argv)
{
	struct ctx_source_files_request request = {
		.object = {.archive = "", .debug_root = "", .symfs = ""},
		.all = argc == 4 && strcmp(argv[3], "all") == 0,
	};
	struct ctx_buf offsets CTX_AUTO_BUF = {0};
	size_t left = OUTPUT_MAX;
	struct ctx_err err = {0};
	enum ctx_status status = CTX_OK;

	if (argc != 3 && !request.all) {
		fputs("usage: " CTX_SOURCE_HELPER_NAME
		      " PATH BUILD_ID [all]; ctxrec --archive-sources runs it\n",
		      stderr);
		return CTX_SOURCE_HELPER_FAILED;
	}
	ctx_helper_limit();
	request.object.path = argv[1];
	request.object.build_id = argv[2];
	if (!request.all)
		status = read_offsets(&offsets, &err);
	request.offsets = (const uint64_t *)(const void *)offsets.bytes;
	request.n_offsets = offsets.n / sizeof(*request.offsets);
	if (status == CTX_OK)
		status = ctx_source_files(&request, print_path, &left, &err);
	if (status == CTX_OK && fflush(stdout) != 0)
		status = ctx_err_set(&err, CTX_E_IO, "standard output cannot be written");
	if (status == CTX_OK)
		return CTX_SOURCE_HELPER_OK;
	fprintf(stderr, CTX_SOURCE_HELPER_NAME ": %s\n", err.msg);
	return status == CTX_E_NOTFOUND ? CTX_SOURCE_HELPER_NO_LINES : CTX_SOURCE_HELPER_FAILED;
}
