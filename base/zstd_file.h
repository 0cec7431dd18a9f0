/*
 * zstd as a stream: what is too large for memory, or of a size that nobody vouches for.
 *
 *	file or memory --ctx_zstd_write--> a file of one frame --ctx_zstd_open, ctx_zstd_read--> bytes in order
 */
#ifndef CTX_BASE_ZSTD_FILE_H
#define CTX_BASE_ZSTD_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The most that a file of `packed_bytes` bytes is unpacked to: zstd packs a gigabyte of zeros into 64 KB;
 * load objects, symbols and logs to a twentieth as a rule.
 */
uint64_t ctx_zstd_unpacked_max(uint64_t packed_bytes);

/* What to compress. */
struct ctx_zstd_content {
	int file;		/* read from its position to its end; -1: the bytes */
	struct ctx_bytes bytes; /* if there is no file */
	/* Of the file, if it does not change: the frame begins with it. Of another size then: CTX_E_NOTFOUND. */
	bool has_size;
	uint64_t size;
	bool has_checksum; /* the frame ends with one */
	int level;
	const char *to_name; /* for messages */
};

/*
 * Compresses to the open file `to`, as one frame. `*ret_bytes` is the size before compression,
 * as far as it came. CTX_E_NOTFOUND: the content cannot be read, or changes; CTX_E_IO: `to` cannot be written to; CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_zstd_write(const struct ctx_zstd_content *content, int to,
					      uint64_t *ret_bytes, struct ctx_err *err);

struct ctx_zstd_reader;

/*
 * Reads the file of frames from its beginning. The file is not trusted: at most 8 MiB are kept of it, and
 * no more than ctx_zstd_unpacked_max is unpacked. The caller keeps the descriptor. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_zstd_open(int fd, struct ctx_zstd_reader **ret, struct ctx_err *err);
void ctx_zstd_close(struct ctx_zstd_reader *reader); /* NULL is allowed */

/*
 * The next `n` bytes; fewer: CTX_END, and `*ret_got` says how many. CTX_E_LIMIT: it unpacks, or claims to
 * unpack, to more than is allowed; CTX_E_FORMAT: damaged or cut; `*ret_got` bytes were good.
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_zstd_read(struct ctx_zstd_reader *reader, void *bytes, size_t n,
					     size_t *ret_got, struct ctx_err *err);

#endif
