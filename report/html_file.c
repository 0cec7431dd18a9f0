#include "report/html_file.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)
#define LEVEL 6 /* 9 takes seven times as long for one percent less: a page is packed several times */
#define HEAD_MARK "/*CTX-HEAD*/"
#define PROFILE_MARK "/*CTX-PROFILE*/"

enum ctx_status ctx_html_gzip(const struct ctx_buf *in, struct ctx_buf *out, struct ctx_err *err)
{
	z_stream stream = {0};
	uint8_t *room;
	int rc;

	if (in->n > UINT_MAX / 2)
		return ctx_err_set(err, CTX_E_LIMIT, "%zu bytes are too many for a page", in->n);
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return ctx_err_nomem(err);
	ctx_buf_clear(out);
	room = ctx_buf_reserve(out, deflateBound(&stream, in->n));
	if (room == NULL) {
		deflateEnd(&stream);
		return ctx_err_nomem(err);
	}
	stream.next_in = in->bytes;
	stream.avail_in = (uInt)in->n;
	stream.next_out = room;
	stream.avail_out = (uInt)(out->cap - out->n);
	rc = deflate(&stream, Z_FINISH);
	out->n += stream.total_out;
	deflateEnd(&stream);
	return rc == Z_STREAM_END ? CTX_OK : ctx_err_set(err, CTX_E_INTERNAL, "zlib: %d", rc);
}

/* '<' occurs only in strings of the metadata: written as an escape, it cannot end the element. */
static void write_head(const struct ctx_buf *head, FILE *out)
{
	for (size_t i = 0; i < head->n; i++) {
		if (head->bytes[i] == '<')
			fputs("\\u003c", out);
		else
			putc(head->bytes[i], out);
	}
}

static void write_base64(const struct ctx_buf *bytes, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->n; i += 3) {
		size_t left = bytes->n - i;
		uint32_t three = (uint32_t)bytes->bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes->bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes->bytes[i + 2] : 0);

		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(left > 1 ? digits[three >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[three & 63] : '=', out);
	}
}

size_t ctx_html_file_size(struct ctx_html_template page, const struct ctx_html_file *file)
{
	size_t n = page.n - strlen(HEAD_MARK PROFILE_MARK) + file->head->n + (file->packed->n + 2) / 3 * 4;

	for (size_t i = 0; i < file->head->n; i++)
		n += file->head->bytes[i] == '<' ? strlen("\\u003c") - 1 : 0;
	return n;
}

enum ctx_status ctx_html_file_write(struct ctx_html_template page, const struct ctx_html_file *file,
				    FILE *out, struct ctx_err *err)
{
	const char *head_at = memmem(page.bytes, page.n, HEAD_MARK, strlen(HEAD_MARK));
	const char *profile_at = memmem(page.bytes, page.n, PROFILE_MARK, strlen(PROFILE_MARK));
	const char *end = page.bytes + page.n;

	if (head_at == NULL || profile_at == NULL || profile_at < head_at)
		return ctx_err_set(err, CTX_E_INTERNAL,
				   "the template of the page has no place for a profile");
	fwrite(page.bytes, 1, (size_t)(head_at - page.bytes), out);
	write_head(file->head, out);
	head_at += strlen(HEAD_MARK);
	fwrite(head_at, 1, (size_t)(profile_at - head_at), out);
	write_base64(file->packed, out);
	profile_at += strlen(PROFILE_MARK);
	fwrite(profile_at, 1, (size_t)(end - profile_at), out);
	return CTX_OK;
}
