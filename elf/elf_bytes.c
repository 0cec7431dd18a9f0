#include "elf/elf_bytes.h"

uint64_t ctx_elf_get_uint(struct ctx_cursor *cursor, size_t n, bool big_endian)
{
	const uint8_t *bytes = ctx_cursor_get_bytes(cursor, n);
	uint64_t value = 0;

	if (bytes == NULL)
		return 0;
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * (big_endian ? n - 1 - i : i);
	return value;
}

int64_t ctx_elf_get_sleb(struct ctx_cursor *cursor)
{
	const uint8_t *at = cursor->at;
	uint64_t value = 0;
	unsigned shift = 0;

	while (!cursor->failed && at < cursor->end && at - cursor->at < CTX_ELF_LEB_BYTES_MAX) {
		uint8_t byte = *at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if ((byte & 0x80) != 0)
			continue;
		if ((byte & 0x40) != 0 && shift < 64)
			value |= UINT64_MAX << shift;
		cursor->at = at;
		return (int64_t)value;
	}
	cursor->failed = true;
	return 0;
}

void ctx_elf_skip_leb(struct ctx_cursor *cursor)
{
	const uint8_t *at = cursor->at;

	while (!cursor->failed && at < cursor->end && at - cursor->at < CTX_ELF_LEB_BYTES_MAX) {
		if (*at++ < 0x80) {
			cursor->at = at;
			return;
		}
	}
	cursor->failed = true;
}
