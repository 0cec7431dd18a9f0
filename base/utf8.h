/*
 * UTF-8 from untrusted bytes.
 */
#ifndef CTX_BASE_UTF8_H
#define CTX_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character of `n` (more than 0) bytes. Returns its length in bytes; 1 and
 * *ret_code UINT32_MAX where the bytes are not UTF-8 (overlong forms, surrogates and values above
 * U+10FFFF are not).
 */
size_t ctx_utf8_decode(const char *text, size_t n, uint32_t *ret_code);

#endif
