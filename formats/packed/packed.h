/*
 * Packed recordings: one file compressed with gzip, xz, zstd or bzip2 (perf.data.gz). It is unpacked
 * and then opened like any other.
 */
#ifndef CTX_FORMATS_PACKED_PACKED_H
#define CTX_FORMATS_PACKED_PACKED_H

#include "base/err.h"

#include <stdbool.h>

/* Whether a file begins as compressed ones do. */
bool ctx_packed_is(const char *path);

/*
 * Unpacks a file into the new file `to`, which stays also after a failure. Fails with CTX_E_FORMAT
 * (damaged, cut), CTX_E_LIMIT (it unpacks to more than a GiB and more than 100 times its size),
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_packed_unpack(const char *path, const char *to, struct ctx_err *err);

#endif
