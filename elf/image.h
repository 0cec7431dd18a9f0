/*
 * The bytes of an archived file: plain, or any number of zstd frames (with or without a content
 * size), unpacked as a stream.
 */
#ifndef CTX_ELF_IMAGE_H
#define CTX_ELF_IMAGE_H

#include "base/buf.h"
#include "base/err.h"

#define CTX_IMAGE_BYTES_MAX ((size_t)1 << 31) /* of the unpacked file */

/*
 * Appends the file's contents to `out`, unpacked when it begins as a zstd frame does. Fails with
 * CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT (damaged or cut frame), CTX_E_LIMIT (larger
 * than max_bytes), CTX_E_NOMEM; then `out` holds nothing of use.
 */
CTX_MUST_CHECK enum ctx_status ctx_image_read(const char *path, size_t max_bytes, struct ctx_buf *out,
					      struct ctx_err *err);

/* The same for bytes that are in memory already. */
CTX_MUST_CHECK enum ctx_status ctx_image_unpack(const void *bytes, size_t n, size_t max_bytes,
						struct ctx_buf *out, struct ctx_err *err);

#endif
