#include "formats/traceevent/te_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define PIECE_BYTES ((size_t)256 << 10)

enum ctx_status ctx_te_input_open(struct ctx_te_input *input, const char *path, struct ctx_err *err)
{
	struct stat info;

	*input = (struct ctx_te_input){.path = path};
	if (stat(path, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (!S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a regular file", path);
	input->bytes = malloc(PIECE_BYTES);
	if (input->bytes == NULL)
		return ctx_err_nomem(err);
	input->file = gzopen(path, "rbe");
	if (input->file == NULL) {
		ctx_te_input_close(input);
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	}
	gzbuffer(input->file, (unsigned)PIECE_BYTES / 4); /* what is not packed is then read without a copy */
	return CTX_OK;
}

void ctx_te_input_close(struct ctx_te_input *input)
{
	if (input->file != NULL)
		gzclose(input->file);
	free(input->bytes);
	*input = (struct ctx_te_input){0};
}

static uint64_t count_lines(const uint8_t *bytes, size_t n)
{
	const uint8_t *at = bytes, *end = bytes + n;
	uint64_t lines = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		lines++;
		at++;
	}
	return lines;
}

enum ctx_status ctx_te_input_next(struct ctx_te_input *input, struct ctx_err *err)
{
	int got, code = Z_OK;

	if (input->is_cut)
		return CTX_END;
	input->offset += input->n;
	input->lines += count_lines(input->bytes, input->n);
	input->n = 0;
	errno = 0;
	got = gzread(input->file, input->bytes, (unsigned)PIECE_BYTES);
	gzerror(input->file, &code);
	if (code == Z_ERRNO)
		return ctx_err_errno(err, CTX_E_IO, "%s", input->path);
	if (code == Z_MEM_ERROR)
		return ctx_err_nomem(err);
	input->is_cut = got < 0 || code == Z_BUF_ERROR || code == Z_DATA_ERROR;
	input->n = got > 0 ? (size_t)got : 0;
	return input->n != 0 ? CTX_OK : CTX_END;
}

uint64_t ctx_te_input_line(const struct ctx_te_input *input, size_t at)
{
	return input->lines + count_lines(input->bytes, at < input->n ? at : input->n) + 1;
}
