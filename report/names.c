#include "report/names.h"

#include "base/utf8.h"

#include "base/mem.h"
#include "report/report.h"

#include <string.h>

#define NOT_UTF8 UINT32_MAX

struct range {
	uint32_t first, last;
};

/* Zero columns: combining marks of common scripts, and variation selectors. */
static const struct range zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
	{0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0x302a, 0x302d},
	{0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

/* Two columns: East Asian wide and full-width forms, and emoji. */
static const struct range wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},	{0x2329, 0x232a},   {0x23e9, 0x23ec},	{0x2614, 0x2615},
	{0x2648, 0x2653},   {0x26a1, 0x26a1},	{0x2705, 0x2705},   {0x274c, 0x274c},	{0x2753, 0x2755},
	{0x2795, 0x2797},   {0x2b50, 0x2b50},	{0x2e80, 0x303e},   {0x3041, 0x33ff},	{0x3400, 0x4dbf},
	{0x4e00, 0xa4cf},   {0xa960, 0xa97f},	{0xac00, 0xd7a3},   {0xf900, 0xfaff},	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},   {0xffe0, 0xffe6},	{0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f},
	{0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

/*
 * Control characters; invisible and bidirectional formatting characters (such as U+202E); line
 * separators; noncharacters.
 */
static const struct range harmful[] = {
	{0x0000, 0x001f}, {0x007f, 0x009f},   {0x00ad, 0x00ad},	   {0x034f, 0x034f}, {0x061c, 0x061c},
	{0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},	   {0x200b, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164},   {0xfdd0, 0xfdef},	   {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	{0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
};

static bool is_in(const struct range *ranges, size_t n, uint32_t code)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && code >= ranges[low].first;
}

unsigned ctx_char_width(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (is_in(zero_width, CTX_COUNT_OF(zero_width), code))
		return 0;
	return is_in(wide, CTX_COUNT_OF(wide), code) ? 2 : 1;
}

bool ctx_char_is_harmful(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false;
	return (code & 0xfffe) == 0xfffe || is_in(harmful, CTX_COUNT_OF(harmful), code);
}

void ctx_name_put_text(struct ctx_buf *buf, const char *name, bool ascii)
{
	size_t n = strlen(name);

	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(name, n, &code);

		if (code == NOT_UTF8 || ctx_char_is_harmful(code) || (ascii && code >= 0x80)) {
			for (size_t i = 0; i < length; i++)
				ctx_buf_printf(buf, "\\x%02x", (unsigned)(uint8_t)name[i]);
		} else {
			ctx_buf_put(buf, name, length);
		}
		name += length;
		n -= length;
	}
}

static void put_json_escape(struct ctx_buf *buf, uint32_t code)
{
	if (code < 0x10000)
		ctx_buf_printf(buf, "\\u%04x", code);
	else
		ctx_buf_printf(buf, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

void ctx_name_put_json(struct ctx_buf *buf, const char *name)
{
	size_t n = strlen(name);

	ctx_buf_put_u8(buf, '"');
	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(name, n, &code);

		if (code == NOT_UTF8) {
			ctx_buf_put_text(buf, "\xef\xbf\xbd");
		} else if (code == '"' || code == '\\') {
			ctx_buf_put_u8(buf, '\\');
			ctx_buf_put_u8(buf, (uint8_t)code);
		} else if (ctx_char_is_harmful(code)) {
			put_json_escape(buf, code);
		} else {
			ctx_buf_put(buf, name, length);
		}
		name += length;
		n -= length;
	}
	ctx_buf_put_u8(buf, '"');
}

void ctx_name_put_csv(struct ctx_buf *buf, const char *name)
{
	size_t begin = buf->n, quotes = 0;
	uint8_t *more;

	ctx_buf_put_u8(buf, '"');
	ctx_name_put_text(buf, name, false);
	if (buf->failed)
		return;
	for (size_t i = begin + 1; i < buf->n; i++)
		quotes += buf->bytes[i] == '"';
	more = ctx_buf_reserve(buf, quotes + 1);
	if (more == NULL)
		return;
	/* Backwards, so that every byte moves once. */
	for (size_t i = buf->n, to = buf->n + quotes; i-- > begin + 1;) {
		buf->bytes[--to] = buf->bytes[i];
		if (buf->bytes[i] == '"')
			buf->bytes[--to] = '"';
	}
	buf->n += quotes;
	ctx_buf_put_u8(buf, '"');
}

const char *ctx_name_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

void ctx_name_put_object(struct ctx_buf *buf, const char *path, bool ascii)
{
	const char *name = ctx_name_of_path(path);

	if (*name == '\0') /* named by a source that knows no load objects */
		return;
	ctx_buf_put_text(buf, *name == '[' ? " " : " [");
	ctx_name_put_text(buf, name, ascii);
	ctx_buf_put_text(buf, *name == '[' ? "" : "]");
}

size_t ctx_text_width(const char *text, size_t n)
{
	size_t width = 0;

	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text, n, &code);

		width += code == NOT_UTF8 ? 1 : ctx_char_width(code);
		text += length;
		n -= length;
	}
	return width;
}

/* Bytes of the longest prefix that fits `width` columns. */
static size_t prefix_bytes(const char *text, size_t n, size_t width)
{
	size_t used = 0;

	while (used < n) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text + used, n - used, &code);
		size_t columns = code == NOT_UTF8 ? 1 : ctx_char_width(code);

		if (columns > width)
			break;
		width -= columns;
		used += length;
	}
	return used;
}

void ctx_text_cut(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii)
{
	size_t full = ctx_text_width(text, n);
	size_t ellipsis = ascii ? 2 : 1;
	size_t left, head, tail;

	if (full <= width) {
		ctx_buf_put(buf, text, n);
		return;
	}
	if (width <= ellipsis) {
		ctx_buf_put(buf, text, prefix_bytes(text, n, width));
		return;
	}
	left = (width - ellipsis) / 2;
	head = prefix_bytes(text, n, left);
	left = ctx_text_width(text, head);
	/* The tail is the longest suffix that fits the remaining columns. */
	for (tail = head; ctx_text_width(text + tail, n - tail) > width - ellipsis - left;) {
		size_t skipped =
			prefix_bytes(text + tail, n - tail,
				     ctx_text_width(text + tail, n - tail) - (width - ellipsis - left));
		uint32_t code;

		tail += skipped != 0 ? skipped : ctx_utf8_decode(text + tail, n - tail, &code);
	}
	ctx_buf_put(buf, text, head);
	ctx_buf_put_text(buf, ascii ? ".." : "…");
	ctx_buf_put(buf, text + tail, n - tail);
}

void ctx_text_cut_end(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii)
{
	size_t ellipsis = ascii ? 2 : 1;

	if (ctx_text_width(text, n) <= width) {
		ctx_buf_put(buf, text, n);
		return;
	}
	ctx_buf_put(buf, text, prefix_bytes(text, n, width > ellipsis ? width - ellipsis : width));
	if (width > ellipsis)
		ctx_buf_put_text(buf, ascii ? ".." : "…");
}

void ctx_text_cut_path(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii)
{
	size_t ellipsis = ascii ? 2 : 1;
	const char *at = text, *slash;

	if (ctx_text_width(text, n) <= width) {
		ctx_buf_put(buf, text, n);
		return;
	}
	while ((slash = memchr(at + 1, '/', n - (size_t)(at + 1 - text))) != NULL) {
		at = slash;
		if (ctx_text_width(at, n - (size_t)(at - text)) + ellipsis <= width) {
			ctx_buf_put_text(buf, ascii ? ".." : "…");
			ctx_buf_put(buf, at, n - (size_t)(at - text));
			return;
		}
	}
	at += *at == '/';
	ctx_text_cut(buf, at, n - (size_t)(at - text), width, ascii);
}

static void print(FILE *out, struct ctx_buf *buf)
{
	if (!buf->failed && buf->n != 0)
		fwrite(buf->bytes, 1, buf->n, out);
	ctx_buf_deinit(buf);
}

void ctx_report_put_name(FILE *out, const char *name)
{
	struct ctx_buf buf = {0};

	ctx_name_put_text(&buf, name, false);
	print(out, &buf);
}

void ctx_report_put_json_string(FILE *out, const char *text)
{
	struct ctx_buf buf = {0};

	ctx_name_put_json(&buf, text);
	print(out, &buf);
}
