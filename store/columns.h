/*
 * Common part of all blocks: columns of numbers one after the other, packed into a payload. The
 * figure is in block_codec.h.
 */
#ifndef CTX_STORE_COLUMNS_H
#define CTX_STORE_COLUMNS_H

#include "base/compress.h"
#include "base/cursor.h"

#define COLUMN_VARINT_MAX 10 /* bytes of a number */

struct ctx_block_codec { /* all zero is valid; not for two threads at once */
	struct ctx_compressor compressor;
	struct ctx_buf columns;
	struct ctx_buf payload; /* result of the last encode; borrowed until the next call */
	uint64_t *values;	/* one column */
	size_t values_cap;
};

void ctx_block_codec_deinit(struct ctx_block_codec *codec);

/*
 * Appends a column of `n` values. `changes`: how often a value differs from the previous one, if
 * known.
 */
void ctx_column_put(struct ctx_buf *out, const uint64_t *values, size_t n);
void ctx_column_put_changing(struct ctx_buf *out, const uint64_t *values, size_t n, size_t changes);

/* Reads one. CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_column_get(struct ctx_cursor *cursor, uint64_t *values, size_t n,
					      struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_column_fits_32_bits(const uint64_t *values, size_t n, struct ctx_err *err);

/* Checks that nothing follows the last column. */
CTX_MUST_CHECK enum ctx_status ctx_columns_end(const struct ctx_cursor *cursor, struct ctx_err *err);

/* Turns codec->columns into codec->payload. */
CTX_MUST_CHECK enum ctx_status ctx_columns_pack(struct ctx_block_codec *codec, struct ctx_err *err);

/* A cursor over the columns of a payload; compressed ones must not be longer than `max_bytes`.
 * CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_columns_unpack(struct ctx_block_codec *codec, struct ctx_bytes payload,
						  size_t max_bytes, struct ctx_cursor *ret,
						  struct ctx_err *err);

/* Turns any bytes into codec->payload, compressed better (and slower) than columns. */
CTX_MUST_CHECK enum ctx_status ctx_bytes_encode(struct ctx_block_codec *codec, const void *bytes, size_t n,
						struct ctx_err *err);

/* Decodes them and appends them to `to`. CTX_E_FORMAT: damaged, or more than `max`. */
CTX_MUST_CHECK enum ctx_status ctx_bytes_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						size_t max, struct ctx_buf *to, struct ctx_err *err);

#endif
