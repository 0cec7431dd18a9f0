/*
 * zstd frames in memory, with contexts kept between calls (creating one costs more than a small
 * block).
 */
#ifndef CTX_BASE_COMPRESS_H
#define CTX_BASE_COMPRESS_H

#include "base/buf.h"
#include "base/err.h"

struct ctx_compressor { /* all zero is valid; not for two threads at once */
	void *compress_context;
	void *decompress_context;
};

void ctx_compressor_deinit(struct ctx_compressor *compressor);

/* Appends one zstd frame holding the bytes to `out`. `level`: 1 (fast) .. 19. Fails with
 * CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_compress(struct ctx_compressor *compressor, int level,
					    struct ctx_bytes bytes, struct ctx_buf *out, struct ctx_err *err);

/*
 * The same for bytes of several kinds: each part, which ends where `ends` says, gets statistics of its own. The
 * last one ends where the bytes end.
 */
struct ctx_parts {
	struct ctx_bytes bytes;
	const size_t *ends;
	size_t n;
};
CTX_MUST_CHECK enum ctx_status ctx_compress_parts(struct ctx_compressor *compressor, int level,
						  struct ctx_parts parts, struct ctx_buf *out,
						  struct ctx_err *err);

/*
 * Appends the contents of one zstd frame, which must be exactly `raw_bytes` long, to `out`. Nothing
 * larger is ever allocated, whatever the frame claims. Fails with CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_decompress(struct ctx_compressor *compressor, struct ctx_bytes frame,
					      size_t raw_bytes, struct ctx_buf *out, struct ctx_err *err);

#endif
