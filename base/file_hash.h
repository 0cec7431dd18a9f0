/*
 * A hash that tells two recordings apart without reading them whole: of the size, the beginning, the
 * end, and pieces between. Two recordings of the same size differ in the times of every record, so
 * any piece distinguishes them.
 */
#ifndef CTX_BASE_FILE_HASH_H
#define CTX_BASE_FILE_HASH_H

#include "base/err.h"

#include <stdint.h>

/* Mixes the first `size` bytes of an open file into the hash. `name` is for errors. Fails with CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_file_hash(int fd, const char *name, uint64_t size, uint64_t *hash,
					     struct ctx_err *err);

/* That of a whole file, as 16 hexadecimal digits. Fails with CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_file_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
