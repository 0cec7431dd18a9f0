/*
 * Columns of numbers as bytes: the samples of one time-tree leaf, chunks of long arrays (call
 * stacks, locations), and the lines of a function's code; plain bytes too.
 *
 * A payload is self-contained and untrusted: decoding arbitrary bytes gives CTX_E_FORMAT or valid
 * numbers, and never allocates more memory than the caller's `n` allows.
 *
 *	payload  = form (0 plain, 1 zstd) | zstd: raw length, varint | bytes
 *	bytes    = columns one after the other
 *	column   = kind | const: one varint | plain: n varints | runs: (length, value) varints until n are there
 *	samples  = metric, varint | columns: time deltas, raw stack, stack (0 where there is a raw one), kept depth, weight, cpu + 1, thread;
 *		   more calls, unless all are 0
 *	wakeups  = columns: differences of times (zigzag), wait, delay, thread, state, raw stack, waker + 1, external waker + 1, the waker's raw stack
 *	traced   = columns: time deltas, duration, size, differences of addresses (zigzag), old address, thread, cpu + 1, raw stack, file + 1,
 *		   descriptor + 1, operation, flags (1 failed, 2 leaked), size - leaked size of what is leaked
 *	lines    = n, varint | columns: address deltas (the first from the code's own), file + 1, line deltas (zigzag)
 */
#ifndef CTX_STORE_BLOCK_CODEC_H
#define CTX_STORE_BLOCK_CODEC_H

#include "model/code.h"
#include "model/sample.h"
#include "model/traced.h"
#include "model/wakeup.h"
#include "store/columns.h"

/*
 * Limit of samples in one block: larger ones are refused when writing (CTX_E_LIMIT) and when
 * reading.
 */
#define CTX_BLOCK_SAMPLES_MAX ((size_t)1 << 25)

/* Entries of one chunk of a long array. */
#define CTX_CHUNK_ENTRIES ((size_t)1 << 16)

/*
 * Encodes `n` (at least 1) samples of one metric in time order into codec->payload. `stack` is
 * stored only if raw_stack is 0: otherwise it follows from the raw stack. CTX_E_ARG when times go
 * back or metrics differ, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_block_encode(struct ctx_block_codec *codec,
						const struct ctx_sample *samples, size_t n,
						struct ctx_err *err);

/*
 * Decodes exactly `n` samples (as the row says) into `samples`, which has room for them. `stack` is
 * 0 where raw_stack is not. Ids are not checked: the caller knows their ranges. CTX_E_FORMAT,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_block_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						struct ctx_sample *samples, size_t n, struct ctx_err *err);

/* The same for one column of `n` values, up to CTX_CHUNK_ENTRIES. */
CTX_MUST_CHECK enum ctx_status ctx_column_encode(struct ctx_block_codec *codec, const uint64_t *values,
						 size_t n, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_column_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						 uint64_t *values, size_t n, struct ctx_err *err);

/*
 * The same for 1 to CTX_CHUNK_ENTRIES waits, in any order; their call stacks are not stored, and
 * are 0 after decoding.
 */
CTX_MUST_CHECK enum ctx_status ctx_wakeups_encode(struct ctx_block_codec *codec,
						  const struct ctx_wakeup *wakeups, size_t n,
						  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_wakeups_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						  struct ctx_wakeup *wakeups, size_t n, struct ctx_err *err);

/*
 * The same for 1 to CTX_CHUNK_ENTRIES traced operations in order of time (CTX_E_ARG otherwise).
 * Neither call stacks nor kinds are stored; both are 0 after decoding.
 */
CTX_MUST_CHECK enum ctx_status ctx_traced_encode(struct ctx_block_codec *codec,
						 const struct ctx_traced *operations, size_t n,
						 struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_traced_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						 struct ctx_traced *operations, size_t n,
						 struct ctx_err *err);

/*
 * Encodes the lines of a part of a function's code: code->n_lines of them, at ascending addresses
 * within its bytes (CTX_E_ARG otherwise). The bytes themselves are not needed.
 */
CTX_MUST_CHECK enum ctx_status ctx_lines_encode(struct ctx_block_codec *codec,
						const struct ctx_function_code *code, struct ctx_err *err);

struct ctx_line_rows {
	struct ctx_line_row *rows; /* owned */
	size_t n, cap;
};

/*
 * Decodes them and appends them to `to`; of `code` only the address and n_bytes are used. The files
 * are not checked. CTX_E_FORMAT, CTX_E_NOMEM; `to` may have grown then.
 */
CTX_MUST_CHECK enum ctx_status ctx_lines_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
						const struct ctx_function_code *code,
						struct ctx_line_rows *to, struct ctx_err *err);

#endif
