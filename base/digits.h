/*
 * Numbers that are written as text, read from where they begin.
 */
#ifndef CTX_BASE_DIGITS_H
#define CTX_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

extern const uint8_t ctx_digit_values[256]; /* by byte: one more than the digit; 0: none */

/* What a digit, hexadecimal ones too, in either case, stands for: 0 to 15; -1: it is none. */
static inline int ctx_digit(char c)
{
	return ctx_digit_values[(unsigned char)c] - 1;
}

/* Moves *at over digits of `base`, up to 16, to the first character that is none. False: there are
 * none, or more than 64 bits hold. */
bool ctx_digits_take(const char **at, unsigned base, uint64_t *ret);

/* The whole text, seconds with up to nine decimals ("12.5"), in nanoseconds. False: it is no such
 * thing, or more than 140 years. */
bool ctx_seconds_parse(const char *text, uint64_t *ret_ns);

#endif
