/*
 * UTF-8 from untrusted bytes, and from code points.
 */
#ifndef CTX_BASE_UTF8_H
#define CTX_BASE_UTF8_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character of `n` (more than 0) bytes. Returns its length in bytes; 1 and
 * *ret_code UINT32_MAX where the bytes are not UTF-8 (overlong forms, surrogates and values above
 * U+10FFFF are not).
 */
size_t ctx_utf8_decode(const char *text, size_t n, uint32_t *ret_code);

/* Encodes a code point of at most U+10FFFF; surrogates, too, though they are not UTF-8. Returns the length, 1 to 4 bytes. */
size_t ctx_utf8_encode(uint32_t code, char out[4]);

/* Appends the same; a failure is in the buffer. */
void ctx_utf8_put(struct ctx_buf *out, uint32_t code);

#endif
