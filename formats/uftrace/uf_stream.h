/*
 * A file read from its begin to its end through a buffer. The file is open only while the buffer is filled, so that
 * there may be more of them than descriptors.
 */
#ifndef CTX_FORMATS_UFTRACE_UF_STREAM_H
#define CTX_FORMATS_UFTRACE_UF_STREAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_UF_STREAM_BYTES 65536u /* of the buffer; less for smaller files */

struct ctx_uf_stream {
	char *path;	/* owned */
	uint8_t *bytes; /* owned; NULL until the first use and after the end */
	size_t at, n;	/* in the buffer: the next byte, and behind the last one */
	size_t cap;
	uint64_t offset; /* of bytes[0] in the file */
	bool ended;	 /* nothing follows the buffer */
};

void ctx_uf_stream_deinit(struct ctx_uf_stream *stream);

/* Back to the begin; the buffer is released. */
void ctx_uf_stream_rewind(struct ctx_uf_stream *stream);

/* Releases the buffer until more is needed; the place stays. */
void ctx_uf_stream_park(struct ctx_uf_stream *stream);

/* Use ctx_uf_stream_need. */
CTX_MUST_CHECK enum ctx_status ctx_uf_stream_fill(struct ctx_uf_stream *stream, struct ctx_err *err);

/* Bytes that are in the buffer. */
static inline size_t ctx_uf_stream_left(const struct ctx_uf_stream *stream)
{
	return stream->n - stream->at;
}

/*
 * Has at least `n` (at most CTX_UF_STREAM_BYTES) bytes in the buffer, or all that are left. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK static inline enum ctx_status ctx_uf_stream_need(struct ctx_uf_stream *stream, size_t n,
								struct ctx_err *err)
{
	return ctx_uf_stream_left(stream) >= n || stream->ended ? CTX_OK : ctx_uf_stream_fill(stream, err);
}

/* The offset of the next byte in the file. */
static inline uint64_t ctx_uf_stream_offset(const struct ctx_uf_stream *stream)
{
	return stream->offset + stream->at;
}

#endif
