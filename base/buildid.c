#include "base/buildid.h"

#include <string.h>

void ctx_buildid_format(const uint8_t *bytes, size_t n, char text[CTX_BUILDID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	n = n < CTX_BUILDID_BYTES ? n : CTX_BUILDID_BYTES;
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * n] = '\0';
}

bool ctx_buildid_is_plain(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 2 && n < CTX_BUILDID_TEXT && text[n] == '\0';
}
