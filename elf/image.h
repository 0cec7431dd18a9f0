/*
 * The bytes of an archived file: plain, or any number of zstd frames (with or without a content
 * size), decompressed as a stream.
 */
#ifndef CTX_ELF_IMAGE_H
#define CTX_ELF_IMAGE_H

#include "base/buf.h"
#include "base/err.h"

#define CTX_IMAGE_BYTES_MAX ((size_t)1 << 31) /* of the decompressed file */

/*
 * Appends the file's contents to `out`, decompressed if it begins with a zstd frame. Fails with
 * CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT (damaged or truncated frame), CTX_E_LIMIT
 * (larger than max_bytes), CTX_E_NOMEM; the contents of `out` are then undefined.
 */
CTX_MUST_CHECK enum ctx_status ctx_image_read(const char *path, size_t max_bytes, struct ctx_buf *out,
					      struct ctx_err *err);

/* The same for bytes in memory. */
CTX_MUST_CHECK enum ctx_status ctx_image_unpack(const void *bytes, size_t n, size_t max_bytes,
						struct ctx_buf *out, struct ctx_err *err);

#endif
