#include "runtime/rt_nops.h"

#include <stdbool.h>

/* Bytes of the operand behind 0f 1f: an address in memory. 0: it is none, or not there. */
static size_t operand_at(const uint8_t *code, size_t n)
{
	size_t bytes = 1;
	bool has_base = false;

	if (n == 0 || (code[0] & 0x38) != 0 || code[0] >> 6 == 3)
		return 0;
	if ((code[0] & 7) == 4) {
		if (n < 2)
			return 0;
		has_base = (code[1] & 7) != 5;
		bytes++;
	} else {
		has_base = (code[0] & 7) != 5;
	}
	if (code[0] >> 6 == 1)
		bytes++;
	else if (code[0] >> 6 == 2 || !has_base)
		bytes += 4;
	return bytes <= n ? bytes : 0;
}

size_t ctx_rt_nop(const uint8_t *code, size_t n)
{
	size_t at = 0, operand;

	while (at < n && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < n && code[at] == 0x90)
		return at + 1;
	if (n - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f)
		return 0;
	operand = operand_at(code + at + 2, n - at - 2);
	return operand != 0 ? at + 2 + operand : 0;
}

size_t ctx_rt_nops(const uint8_t *code, size_t n)
{
	size_t at = 0, more = 1;

	while (at < n && more != 0) {
		more = ctx_rt_nop(code + at, n - at);
		at += more;
	}
	return at;
}
