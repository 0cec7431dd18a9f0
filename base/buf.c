#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

void ctx_buf_deinit(struct ctx_buf *buf)
{
	free(buf->bytes);
	*buf = (struct ctx_buf){0};
}

void ctx_buf_clear(struct ctx_buf *buf)
{
	buf->n = 0;
	buf->failed = false;
}

enum ctx_status ctx_buf_check(const struct ctx_buf *buf, struct ctx_err *err)
{
	return buf->failed ? ctx_err_nomem(err) : CTX_OK;
}

uint8_t *ctx_buf_reserve(struct ctx_buf *buf, size_t n)
{
	if (buf->failed)
		return NULL;
	/* At least one: an empty buffer has no address to return. */
	if (n > SIZE_MAX - 1 - buf->n ||
	    ctx_grow(&buf->bytes, &buf->cap, buf->n + (n != 0 ? n : 1), NULL) != CTX_OK) {
		buf->failed = true;
		return NULL;
	}
	return buf->bytes + buf->n;
}

void ctx_buf_put(struct ctx_buf *buf, const void *bytes, size_t n)
{
	uint8_t *out = n != 0 ? ctx_buf_reserve(buf, n) : NULL;

	if (out == NULL)
		return;
	memcpy(out, bytes, n);
	buf->n += n;
}

void ctx_buf_put_text(struct ctx_buf *buf, const char *text)
{
	ctx_buf_put(buf, text, strlen(text));
}

void ctx_buf_printf(struct ctx_buf *buf, const char *fmt, ...)
{
	va_list args;
	uint8_t *out;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	out = ctx_buf_reserve(buf, (size_t)n + 1);
	if (out == NULL)
		return;
	va_start(args, fmt);
	vsnprintf((char *)out, (size_t)n + 1, fmt, args);
	va_end(args);
	buf->n += (size_t)n;
}

void ctx_buf_put_u8(struct ctx_buf *buf, uint8_t value)
{
	ctx_buf_put(buf, &value, 1);
}

static void put_little_endian(struct ctx_buf *buf, uint64_t value, size_t n)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	ctx_buf_put(buf, bytes, n);
}

void ctx_buf_put_u16(struct ctx_buf *buf, uint16_t value)
{
	put_little_endian(buf, value, 2);
}

void ctx_buf_put_u32(struct ctx_buf *buf, uint32_t value)
{
	put_little_endian(buf, value, 4);
}

void ctx_buf_put_u64(struct ctx_buf *buf, uint64_t value)
{
	put_little_endian(buf, value, 8);
}

void ctx_buf_put_string(struct ctx_buf *buf, const char *text)
{
	size_t n = strlen(text);

	ctx_buf_put_varint(buf, n);
	ctx_buf_put(buf, text, n);
}
