#include "collect/foreign_files.h"

#include "collect/procfs.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((off_t)64 << 20) /* the recorder stands still meanwhile */
#define ALL_BYTES_MAX ((uint64_t)1 << 30)

bool ctx_foreign_files_is_own(struct ctx_foreign_files *foreign, int64_t pid)
{
	if (foreign->own_namespace == 0)
		foreign->own_namespace = ctx_procfs_namespace(0, "mnt");
	return foreign->own_namespace != 0 && ctx_procfs_namespace(pid, "mnt") == foreign->own_namespace;
}

static bool copy_bytes(int from, int to, off_t bytes)
{
	off_t at = 0;

	while (at < bytes) {
		ssize_t n = sendfile(to, from, &at, (size_t)(bytes - at));

		if (n <= 0)
			return false;
	}
	return true;
}

int ctx_foreign_files_copy(struct ctx_foreign_files *foreign, int file)
{
	struct stat info;
	int copy;

	if (foreign->directory == NULL || fstat(file, &info) != 0 || info.st_size > FILE_BYTES_MAX ||
	    foreign->copied_bytes + (uint64_t)info.st_size > ALL_BYTES_MAX)
		return -1;
	copy = open(foreign->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (copy < 0)
		return -1;
	if (fchmod(copy, info.st_mode & 0777u) != 0 || !copy_bytes(file, copy, info.st_size)) {
		close(copy);
		return -1;
	}
	foreign->copied_bytes += (uint64_t)info.st_size;
	return copy;
}
