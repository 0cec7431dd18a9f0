#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/perfdata/perfdata.h"

#include "formats/perfdata/pd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECES 64u
#define PIECE_BYTES 4096u

/*
 * Mixes one file in: its size, the beginning, the end, and pieces in between. Two recordings of the same size differ in
 * the times of every record, so any piece tells them apart.
 */
static enum ctx_status mix_file(const char *path, uint64_t *hash, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t bytes[PIECE_BYTES];
	struct stat info;
	uint64_t size;

	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	size = (uint64_t)info.st_size;
	*hash = *hash * 31 + ctx_xxh3(&size, sizeof(size));
	for (uint64_t i = 0; i <= PIECES; i++) {
		uint64_t last = size > PIECE_BYTES ? size - PIECE_BYTES : 0;
		size_t got = 0;
		enum ctx_status status =
			ctx_file_pread(fd, path, bytes, sizeof(bytes),
				       last / PIECES * i + (i == PIECES ? last % PIECES : 0), &got, err);

		if (status != CTX_OK && status != CTX_END)
			return status;
		*hash = *hash * 31 + ctx_xxh3(bytes, got);
		if (last == 0)
			break;
	}
	return CTX_OK;
}

enum ctx_status ctx_perfdata_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	uint64_t hash = 0;
	struct stat info;
	enum ctx_status status;

	if (stat(path, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (!S_ISDIR(info.st_mode)) {
		status = mix_file(path, &hash, err);
	} else {
		struct ctx_pd_file file = {0};

		status = ctx_pd_file_list(&file, path, err);
		for (size_t i = 0; i < file.n_parts && status == CTX_OK; i++) {
			char *name CTX_AUTO_FREE = ctx_path_join(path, file.parts[i].name);

			status = name != NULL ? mix_file(name, &hash, err) : ctx_err_nomem(err);
		}
		ctx_pd_file_deinit(&file);
	}
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return status;
}
