#include "base/digits.h"

#define SECONDS_MAX (INT64_MAX / 2000000000) /* twice as many, in nanoseconds, fit into an int64_t */

const uint8_t ctx_digit_values[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool ctx_digits_take(const char **at, unsigned base, uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;

	for (;; (*at)++) {
		int digit = ctx_digit(**at);

		if (digit < 0 || digit >= (int)base)
			break;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret = value;
	return *at != start;
}

bool ctx_digits_take_range(const char **at, uint64_t max, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t first, last;

	if (!ctx_digits_take(at, 10, &first))
		return false;
	last = first;
	if (**at == '-') {
		(*at)++;
		if (!ctx_digits_take(at, 10, &last))
			return false;
	}
	if (last < first || last > max)
		return false;
	*ret_first = first;
	*ret_last = last;
	return true;
}

bool ctx_seconds_parse(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds, fraction = 0;

	if (!ctx_digits_take(&text, 10, &seconds) || seconds > SECONDS_MAX)
		return false;
	if (*text == '.') {
		const char *start = ++text;

		if (!ctx_digits_take(&text, 10, &fraction) || text - start > 9)
			return false;
		for (int64_t i = text - start; i < 9; i++)
			fraction *= 10;
	}
	if (*text != '\0')
		return false;
	*ret_ns = seconds * 1000000000u + fraction;
	return true;
}
