#include "formats/experiment/exp_text.h"

#include "base/fileio.h"
#include "base/zstd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORTH_BYTES ((off_t)128 * 1024)
#define NAME_BYTES 512u

int ctx_exp_open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

int ctx_exp_open_text(int dir, const char *name, bool *ret_is_packed)
{
	int fd = ctx_exp_open_file(dir, name);
	char packed[NAME_BYTES];

	*ret_is_packed = false;
	if (fd >= 0 || errno != ENOENT)
		return fd;
	snprintf(packed, sizeof(packed), "%s" CTX_EXP_PACKED_END, name);
	*ret_is_packed = true;
	return ctx_exp_open_file(dir, packed);
}

/* Compresses `from` to `to`. False: it failed, or readers would refuse the result. */
static bool pack(int from, int to, const struct stat *plain)
{
	const struct ctx_zstd_content content = {.file = from,
						 .has_size = true,
						 .size = (uint64_t)plain->st_size,
						 .has_checksum = true,
						 .to_name = "text"};
	/* The time of the last line is that of the recording. */
	const struct timespec times[2] = {plain->st_atim, plain->st_mtim};
	struct stat packed;
	uint64_t bytes;

	return ctx_zstd_write(&content, to, &bytes, NULL) == CTX_OK && fstat(to, &packed) == 0 &&
	       bytes <= ctx_zstd_unpacked_max((uint64_t)packed.st_size) && futimens(to, times) == 0;
}

void ctx_exp_pack_text(int dir, const char *name, unsigned mode)
{
	int from CTX_AUTO_CLOSE = ctx_exp_open_file(dir, name);
	int to CTX_AUTO_CLOSE = -1;
	char packing[NAME_BYTES], packed[NAME_BYTES];
	struct stat plain;

	if (from < 0 || fstat(from, &plain) != 0 || plain.st_size < WORTH_BYTES)
		return;
	snprintf(packing, sizeof(packing), "%s" CTX_EXP_PACKING_END, name);
	snprintf(packed, sizeof(packed), "%s" CTX_EXP_PACKED_END, name);
	to = openat(dir, packing, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
	if (to < 0)
		return;
	if (!pack(from, to, &plain) || renameat(dir, packing, dir, packed) != 0) {
		(void)unlinkat(dir, packing, 0);
		return;
	}
	(void)unlinkat(dir, name, 0);
}
