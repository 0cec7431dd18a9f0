#include "formats/calltrace/ct_lines.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <string.h>

#define BUFFER_BYTES (2 * CTX_CT_LINE_MAX)

enum ctx_status ctx_ct_lines_init(struct ctx_ct_lines *lines, int fd, const char *name,
				  const struct ctx_ct_range *range, struct ctx_err *err)
{
	*lines = (struct ctx_ct_lines){.fd = fd,
				       .name = name,
				       .offset = range->begin_offset,
				       .end_offset = range->end_offset,
				       .number = range->first_line - 1};
	lines->buffer = ctx_calloc(1, BUFFER_BYTES);
	return lines->buffer != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_ct_lines_deinit(struct ctx_ct_lines *lines)
{
	free(lines->buffer);
	*lines = (struct ctx_ct_lines){0};
}

/* Fills the buffer up. */
static enum ctx_status fill(struct ctx_ct_lines *lines, struct ctx_err *err)
{
	struct ctx_file_place place = {lines->fd, lines->name, lines->offset};
	uint64_t left = lines->end_offset - lines->offset;
	size_t want, got = 0;
	enum ctx_status status;

	memmove(lines->buffer, lines->buffer + lines->at, lines->n - lines->at);
	lines->n -= lines->at;
	lines->at = 0;
	want = BUFFER_BYTES - lines->n;
	if (left < want)
		want = (size_t)left;
	if (want == 0)
		return CTX_OK;
	status = ctx_file_pread(&place, lines->buffer + lines->n, want, &got, err);
	if (status == CTX_END)
		lines->end_offset = lines->offset + got;
	else if (status != CTX_OK)
		return status;
	else
		got = want;
	lines->n += got;
	lines->offset += got;
	return CTX_OK;
}

/* Passes the rest of a line that is too long. */
static enum ctx_status skip_rest(struct ctx_ct_lines *lines, struct ctx_err *err)
{
	for (;;) {
		const char *from = lines->buffer + lines->at;
		const char *end = memchr(from, '\n', lines->n - lines->at);
		enum ctx_status status;

		if (end != NULL) {
			lines->at += (size_t)(end - from) + 1;
			return CTX_OK;
		}
		lines->at = lines->n;
		if (lines->offset == lines->end_offset)
			return CTX_OK;
		status = fill(lines, err);
		if (status != CTX_OK)
			return status;
	}
}

enum ctx_status ctx_ct_lines_next(struct ctx_ct_lines *lines, struct ctx_ct_line *ret, struct ctx_err *err)
{
	const char *from = lines->buffer + lines->at, *end;
	size_t left = lines->n - lines->at;
	enum ctx_status status = CTX_OK;

	if (lines->is_inside) {
		lines->is_inside = false;
		status = skip_rest(lines, err);
		if (status != CTX_OK)
			return status;
		from = lines->buffer + lines->at;
		left = lines->n - lines->at;
	}
	if (left == 0 && lines->offset == lines->end_offset)
		return CTX_END;
	end = left != 0 ? memchr(from, '\n', left) : NULL;
	if (end == NULL && lines->offset != lines->end_offset) {
		status = fill(lines, err);
		if (status != CTX_OK)
			return status;
		from = lines->buffer;
		left = lines->n;
		if (left == 0)
			return CTX_END;
		end = memchr(from, '\n', left);
	}
	*ret = (struct ctx_ct_line){.text = from, .number = ++lines->number};
	ret->offset = lines->offset - left;
	if (end == NULL && left > CTX_CT_LINE_MAX) {
		ret->n = CTX_CT_LINE_MAX;
		ret->cut = true;
		lines->at = lines->n;
		lines->is_inside = true;
		return CTX_OK;
	}
	ret->n = end != NULL ? (size_t)(end - from) : left;
	lines->at += ret->n + (end != NULL);
	if (ret->n != 0 && from[ret->n - 1] == '\r')
		ret->n--;
	return CTX_OK;
}
