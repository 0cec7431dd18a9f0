/*
 * Payloads of several streams, each of one thing: the lengths of all in bytes, as varints, and later the streams
 * themselves. The compressor gives each statistics of its own (struct ctx_parts).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_STREAMS_H
#define CTX_FORMATS_EXPERIMENT_EXP_STREAMS_H

#include "base/buf.h"
#include "base/cursor.h"

/* Appends the lengths of n streams. An allocation failure is sticky in `out`. */
void ctx_exp_put_lengths(const struct ctx_buf *streams, size_t n, struct ctx_buf *out);

/* Appends the streams. ret_ends, n + 1 of them: where they begin in `out`, and where each ends. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_put_streams(const struct ctx_buf *streams, size_t n,
						   struct ctx_buf *out, size_t *ret_ends,
						   struct ctx_err *err);

/* The streams that begin at the cursor, which stands behind them then. False: they end early. */
bool ctx_exp_take_streams(struct ctx_cursor *cursor, const uint64_t *lengths, size_t n,
			  struct ctx_cursor *ret);

#endif
