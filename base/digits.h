/*
 * Parses numbers in text.
 */
#ifndef CTX_BASE_DIGITS_H
#define CTX_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

extern const uint8_t ctx_digit_values[256]; /* by byte: one more than the digit; 0: none */

/* The value of a digit, hexadecimal ones in either case: 0 to 15; -1: not a digit. */
static inline int ctx_digit(char c)
{
	return ctx_digit_values[(unsigned char)c] - 1;
}

/*
 * Parses digits of `base`, up to 16, and moves *at to the first other character. False: no digits,
 * or overflow of 64 bits.
 */
bool ctx_digits_take(const char **at, unsigned base, uint64_t *ret);

/* "3", or "3-7": numbers up to `max`, the second not less; moves *at behind them. False: malformed. */
bool ctx_digits_take_range(const char **at, uint64_t max, uint64_t *ret_first, uint64_t *ret_last);

/*
 * The whole text, seconds with up to nine decimals ("12.5"), in nanoseconds. False: malformed, or
 * more than 140 years.
 */
bool ctx_seconds_parse(const char *text, uint64_t *ret_ns);

#endif
