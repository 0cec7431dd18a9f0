#include "base/file_hash.h"

#include "base/fileio.h"
#include "base/xxh.h"

#define PIECES 64u
#define PIECE_BYTES 4096u

enum ctx_status ctx_file_hash(int fd, const char *name, uint64_t size, uint64_t *hash, struct ctx_err *err)
{
	uint64_t last = size > PIECE_BYTES ? size - PIECE_BYTES : 0;
	uint8_t bytes[PIECE_BYTES];

	*hash = *hash * 31 + ctx_xxh3(&size, sizeof(size));
	for (uint64_t i = 0; i <= PIECES; i++) {
		size_t got = 0;
		enum ctx_status status = ctx_file_pread(
			&(struct ctx_file_place){fd, name,
						 last / PIECES * i + (i == PIECES ? last % PIECES : 0)},
			bytes, sizeof(bytes), &got, err);

		if (status != CTX_OK && status != CTX_END)
			return status;
		*hash = *hash * 31 + ctx_xxh3(bytes, got);
		if (last == 0)
			break;
	}
	return CTX_OK;
}
