#include "base/fileio.h"
#include "base/xxh.h"
#include "formats/calltrace/calltrace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define PIECES 64u
#define PIECE_BYTES 4096u

/* Its size and time of change, and pieces of it. */
enum ctx_status ctx_calltrace_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	uint64_t numbers[3], hash;

	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	numbers[0] = (uint64_t)info.st_size;
	numbers[1] = (uint64_t)info.st_mtim.tv_sec;
	numbers[2] = (uint64_t)info.st_mtim.tv_nsec;
	hash = ctx_xxh3(numbers, sizeof(numbers));
	for (uint64_t i = 0; i < PIECES; i++) {
		struct ctx_file_place place = {fd, path, numbers[0] / PIECES * i};
		char bytes[PIECE_BYTES];
		size_t got = 0;
		enum ctx_status status = ctx_file_pread(&place, bytes, sizeof(bytes), &got, err);

		if (status != CTX_OK && status != CTX_END)
			return status;
		hash = hash * 31 + ctx_xxh3(bytes, status == CTX_OK ? sizeof(bytes) : got);
	}
	snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return CTX_OK;
}
