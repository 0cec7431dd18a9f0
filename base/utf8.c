#include "base/utf8.h"

size_t ctx_utf8_decode(const char *text, size_t n, uint32_t *ret_code)
{
	const uint8_t *bytes = (const uint8_t *)text;
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	uint32_t code = bytes[0];

	*ret_code = UINT32_MAX;
	if (length == 1) {
		*ret_code = code;
		return 1;
	}
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || length > n)
		return 1;
	code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 1;
		code = code << 6 | (bytes[i] & 0x3fu);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 1;
	*ret_code = code;
	return length;
}

size_t ctx_utf8_encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

void ctx_utf8_put(struct ctx_buf *out, uint32_t code)
{
	char bytes[4];
	size_t n = ctx_utf8_encode(code, bytes);

	ctx_buf_put(out, bytes, n);
}
