#include "formats/experiment/exp_xml.h"

#include <stdbool.h>
#include <string.h>

/* Length of the UTF-8 character at `at` if XML 1.0 allows it, else 0. */
static size_t character_length(const uint8_t *at)
{
	static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t value;
	size_t n;

	if (at[0] < 0x80)
		return at[0] >= 0x20 && at[0] != 0x7f ? 1 : 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		n = 2;
	else if ((at[0] & 0xf0) == 0xe0)
		n = 3;
	else if (at[0] >= 0xf0 && at[0] <= 0xf4)
		n = 4;
	else
		return 0;
	value = at[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3fu);
	}
	if (value < SMALLEST[n] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ||
	    value == 0xfffe || value == 0xffff)
		return 0;
	return n;
}

static const char *entity(uint8_t byte)
{
	switch (byte) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static void put_escaped(struct ctx_buf *out, const char *text)
{
	static const char DIGITS[] = "0123456789abcdef";
	const uint8_t *at = (const uint8_t *)text;

	while (*at != '\0') {
		const char *name = entity(*at);
		size_t n = *at != '\\' ? character_length(at) : 0;

		if (name != NULL) {
			ctx_buf_put_text(out, name);
		} else if (n != 0) {
			ctx_buf_put(out, at, n);
			at += n - 1;
		} else {
			char hex[4] = {'\\', 'x', DIGITS[*at >> 4], DIGITS[*at & 15]};

			ctx_buf_put(out, hex, sizeof(hex));
		}
		at++;
	}
}

void ctx_exp_xml_attribute(struct ctx_buf *out, const char *name, const char *text)
{
	ctx_buf_put_text(out, " ");
	ctx_buf_put_text(out, name);
	ctx_buf_put_text(out, "=\"");
	put_escaped(out, text);
	ctx_buf_put_text(out, "\"");
}

/* Many lines are mostly numbers, and printf takes ten times as long. */
#define DIGITS_MAX 20u

/* Writes the digits up to `end`, at least `least`; returns the first. */
static char *put_digits(char *end, uint64_t value, unsigned base, unsigned least)
{
	char *at = end;

	while (value != 0 || (unsigned)(end - at) < least) {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	}
	return at;
}

static void put_value(struct ctx_buf *out, const char *name, const char *text, size_t n)
{
	ctx_buf_put_text(out, " ");
	ctx_buf_put_text(out, name);
	ctx_buf_put_text(out, "=\"");
	ctx_buf_put(out, text, n);
	ctx_buf_put_text(out, "\"");
}

void ctx_exp_xml_number(struct ctx_buf *out, const char *name, uint64_t value)
{
	char text[DIGITS_MAX], *end = text + sizeof(text);
	char *at = put_digits(end, value, 10, 1);

	put_value(out, name, at, (size_t)(end - at));
}

void ctx_exp_xml_signed(struct ctx_buf *out, const char *name, int64_t value)
{
	char text[DIGITS_MAX + 1], *end = text + sizeof(text);
	char *at = put_digits(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, 1);

	if (value < 0)
		*--at = '-';
	put_value(out, name, at, (size_t)(end - at));
}

void ctx_exp_xml_hex(struct ctx_buf *out, const char *name, uint64_t value)
{
	char text[DIGITS_MAX], *end = text + sizeof(text);
	char *at = put_digits(end, value, 16, 1);

	*--at = 'x';
	*--at = '0';
	put_value(out, name, at, (size_t)(end - at));
}

void ctx_exp_xml_time(struct ctx_buf *out, const char *name, uint64_t time_ns)
{
	char text[DIGITS_MAX + 2], *end = text + sizeof(text);
	char *at = put_digits(end, time_ns % 1000000000u, 10, 9);

	*--at = '.';
	at = put_digits(at, time_ns / 1000000000u, 10, 1);
	put_value(out, name, at, (size_t)(end - at));
}
