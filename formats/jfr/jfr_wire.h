/*
 * Numbers and texts of JFR files, from untrusted bytes. A number has up to nine bytes, each with seven bits from the
 * lowest on and a bit that tells that more follow, but the ninth, which has eight; or, in files without compression,
 * the bytes of its type from the highest on.
 */
#ifndef CTX_FORMATS_JFR_JFR_WIRE_H
#define CTX_FORMATS_JFR_JFR_WIRE_H

#include "base/cursor.h"

/* How a text is encoded: the byte before it. */
enum ctx_jfr_text {
	CTX_JFR_TEXT_NULL = 0,
	CTX_JFR_TEXT_EMPTY,
	CTX_JFR_TEXT_CONSTANT, /* the number of one in the constant pool of texts */
	CTX_JFR_TEXT_UTF8,
	CTX_JFR_TEXT_UTF16, /* a number for each unit */
	CTX_JFR_TEXT_LATIN1,
};

struct ctx_jfr_bytes {
	struct ctx_cursor cursor; /* its errors stick */
	bool compressed;
};

/* A number of a type of `width` bytes; one that is compressed may be larger. */
uint64_t ctx_jfr_get(struct ctx_jfr_bytes *bytes, unsigned width);

/* A number of items or bytes: of a type of 4 bytes. */
static inline uint32_t ctx_jfr_get_count(struct ctx_jfr_bytes *bytes)
{
	return (uint32_t)ctx_jfr_get(bytes, 4);
}

/* A number of `width` bytes, the highest first. */
uint64_t ctx_jfr_get_fixed(struct ctx_cursor *cursor, unsigned width);

void ctx_jfr_skip_text(struct ctx_jfr_bytes *bytes);

/*
 * Appends the text as UTF-8; nothing for a null. True: it is a constant, and *ret_constant is its number. Surrogates
 * without a partner are U+FFFD.
 */
bool ctx_jfr_get_text(struct ctx_jfr_bytes *bytes, struct ctx_buf *out, uint64_t *ret_constant);

#endif
