#include "base/file_hash.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

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

enum ctx_status ctx_file_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t hash = 0;
	enum ctx_status status;
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	status = ctx_file_hash(fd, path, (uint64_t)info.st_size, &hash, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return status;
}
