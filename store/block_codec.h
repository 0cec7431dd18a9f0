/*
 * Columns of numbers as bytes: the samples of one time-tree leaf, chunks of long arrays (call stacks, locations), and the
 * lines of a function's code; plain bytes too.
 *
 * A payload is self-contained and trusts nobody: decoding arbitrary bytes gives CTX_E_FORMAT or valid
 * numbers, and never asks for more memory than the caller's `n` allows.
 *
 *	payload  = form (0 plain, 1 zstd) | zstd: raw length, varint | bytes
 *	bytes    = columns one after the other
 *	column   = kind | const: one varint | plain: n varints | runs: (length, value) varints until n are there
 *	samples  = metric, varint | columns: time deltas, raw stack, stack (0 where there is a raw one), kept depth, weight, cpu + 1, thread
 *	wakeups  = columns: differences of times (zigzag), wait, delay, thread, state, raw stack, waker + 1, outsider + 1, the waker's raw stack
 *	traced   = columns: time deltas, duration, size, differences of addresses (zigzag), old address, thread, cpu + 1, raw stack, file + 1,
 *		   descriptor + 1, operation, flags (1 failed, 2 leaked), size - leaked size of what is leaked
 *	lines    = n, varint | columns: address deltas (the first from the code's own), file + 1, line deltas (zigzag)
 */
#ifndef CTX_STORE_BLOCK_CODEC_H
#define CTX_STORE_BLOCK_CODEC_H

#include "base/buf.h"
#include "base/compress.h"
#include "model/code.h"
#include "model/sample.h"
#include "model/traced.h"
#include "model/wakeup.h"

#include <stddef.h>
#include <stdint.h>

/* More samples than this are not put into one block (CTX_E_LIMIT), and not believed when reading. */
#define CTX_BLOCK_SAMPLES_MAX ((size_t)1 << 25)

/* Entries of one chunk of a long array. */
#define CTX_CHUNK_ENTRIES ((size_t)1 << 16)

struct ctx_block_codec { /* all zero is valid; not for two threads at once */
	struct ctx_compressor compressor;
	struct ctx_buf columns;
	struct ctx_buf payload; /* what the last encode made; borrowed until the next call */
	uint64_t *values;	/* one column */
	size_t values_cap;
};

void ctx_block_codec_deinit(struct ctx_block_codec *codec);

/*
 * Encodes `n` (at least 1) samples of one metric in time order into codec->payload. `stack` is kept only
 * where raw_stack is 0: elsewhere it follows from the raw stack. CTX_E_ARG when times go back or metrics
 * differ, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_block_encode(struct ctx_block_codec *codec,
						const struct ctx_sample *samples, size_t n,
						struct ctx_err *err);

/*
 * Decodes exactly `n` samples (as the row says) into `samples`, which has room for them. `stack` is 0 where
 * raw_stack is not. Ids are not checked against anything: the caller knows the ranges. CTX_E_FORMAT,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_block_decode(struct ctx_block_codec *codec, const void *payload,
						size_t size_bytes, struct ctx_sample *samples, size_t n,
						struct ctx_err *err);

/* The same for one column of `n` values, up to CTX_CHUNK_ENTRIES. */
CTX_MUST_CHECK enum ctx_status ctx_column_encode(struct ctx_block_codec *codec, const uint64_t *values,
						 size_t n, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_column_decode(struct ctx_block_codec *codec, const void *payload,
						 size_t size_bytes, uint64_t *values, size_t n,
						 struct ctx_err *err);

/* The same for 1 to CTX_CHUNK_ENTRIES waits, in any order; their call stacks are not kept, and 0 afterwards. */
CTX_MUST_CHECK enum ctx_status ctx_wakeups_encode(struct ctx_block_codec *codec,
						  const struct ctx_wakeup *wakeups, size_t n,
						  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_wakeups_decode(struct ctx_block_codec *codec, const void *payload,
						  size_t size_bytes, struct ctx_wakeup *wakeups, size_t n,
						  struct ctx_err *err);

/*
 * The same for 1 to CTX_CHUNK_ENTRIES traced operations in order of time (CTX_E_ARG otherwise). Neither their call stacks nor their kinds
 * are kept; 0 afterwards.
 */
CTX_MUST_CHECK enum ctx_status ctx_traced_encode(struct ctx_block_codec *codec,
						 const struct ctx_traced *operations, size_t n,
						 struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_traced_decode(struct ctx_block_codec *codec, const void *payload,
						 size_t size_bytes, struct ctx_traced *operations, size_t n,
						 struct ctx_err *err);

/* The lines of a function's code that begins at `address` and is `n_bytes` long: ascending addresses in it. CTX_E_ARG. */
CTX_MUST_CHECK enum ctx_status ctx_lines_encode(struct ctx_block_codec *codec, uint64_t address,
						size_t n_bytes, const struct ctx_line_row *lines, size_t n,
						struct ctx_err *err);

struct ctx_line_rows {
	struct ctx_line_row *rows; /* owned */
	size_t n, cap;
};

/* Appends them to `to`. The files are not checked. CTX_E_FORMAT, CTX_E_NOMEM; `to` may have grown then. */
CTX_MUST_CHECK enum ctx_status ctx_lines_decode(struct ctx_block_codec *codec, const void *payload,
						size_t size_bytes, uint64_t address, size_t n_bytes,
						struct ctx_line_rows *to, struct ctx_err *err);

/* Any bytes, compressed better (and slower) than columns. */
CTX_MUST_CHECK enum ctx_status ctx_bytes_encode(struct ctx_block_codec *codec, const void *bytes, size_t n,
						struct ctx_err *err);

/* Appends them to `to`; more than `max` are CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_bytes_decode(struct ctx_block_codec *codec, const void *payload,
						size_t size_bytes, size_t max, struct ctx_buf *to,
						struct ctx_err *err);

#endif
