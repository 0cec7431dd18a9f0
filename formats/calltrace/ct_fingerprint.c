#include "base/file_hash.h"
#include "base/fileio.h"
#include "formats/calltrace/calltrace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* With the time of change: people edit such texts, and their size may stay. */
enum ctx_status ctx_calltrace_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	enum ctx_status status;
	uint64_t hash;

	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	hash = (uint64_t)info.st_mtim.tv_sec * 1000000000 + (uint64_t)info.st_mtim.tv_nsec;
	status = ctx_file_hash(fd, path, (uint64_t)info.st_size, &hash, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return status;
}
