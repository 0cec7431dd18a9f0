#include "formats/experiment/exp_text.h"

#include "base/compress.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/zstd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORTH_BYTES ((off_t)24 * 1024)	    /* packing saves several blocks of the file system */
#define WORTH_BYTES_LOG ((off_t)128 * 1024) /* which people read */
#define NAME_BYTES 512u
#define LEVEL 1 /* of such lines and headers no level below 9 makes less */
#define TRIAL_BYTES ((size_t)64 * 1024)

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

size_t ctx_exp_packed_data(const char *name)
{
	static const char *const NAMES[CTX_EXP_PACKED_DATA_FILES] = {"frameinfo", "profile", "hwcounters",
								     "states"};
	size_t i = 0;

	while (i < CTX_EXP_PACKED_DATA_FILES && strcmp(name, NAMES[i]) != 0)
		i++;
	return i;
}

/* Compresses `from` to `to`. False: it failed, or readers would refuse the result. */
static bool pack(int from, int to, const struct stat *plain)
{
	const struct ctx_zstd_content content = {.file = from,
						 .has_size = true,
						 .size = (uint64_t)plain->st_size,
						 .has_checksum = true,
						 .level = LEVEL,
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

	if (from < 0 || fstat(from, &plain) != 0 ||
	    plain.st_size < (strcmp(name, CTX_EXP_LOG_FILE) == 0 ? WORTH_BYTES_LOG : WORTH_BYTES))
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

/* Whether a part from its middle is packed to three quarters of it. */
static bool is_worth(int fd, off_t size)
{
	struct ctx_compressor compressor = {0};
	struct ctx_buf packed = {0};
	uint8_t *part = malloc(TRIAL_BYTES);
	size_t got = 0;
	bool is = false;

	if (part != NULL &&
	    ctx_file_pread(&(struct ctx_file_place){fd, "data", (uint64_t)size / 2}, part, TRIAL_BYTES, &got,
			   NULL) >= 0 &&
	    ctx_compress(&compressor, LEVEL, (struct ctx_bytes){part, got}, &packed, NULL) == CTX_OK)
		is = packed.n <= got / 4 * 3;
	ctx_buf_deinit(&packed);
	ctx_compressor_deinit(&compressor);
	free(part);
	return is;
}

void ctx_exp_pack_data(int dir, const char *name, unsigned mode)
{
	int fd CTX_AUTO_CLOSE = ctx_exp_open_file(dir, name);
	struct stat info;

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= WORTH_BYTES &&
	    info.st_size <= (off_t)CTX_EXP_PACKED_DATA_MAX && is_worth(fd, info.st_size))
		ctx_exp_pack_text(dir, name, mode);
}

enum ctx_status ctx_exp_unpack_data(int packed, int *ret, struct ctx_err *err)
{
	uint8_t *room CTX_AUTO_FREE = malloc(CTX_EXP_PACKED_DATA_MAX + 1);
	int fd CTX_AUTO_CLOSE = memfd_create("ctx-unpacked", MFD_CLOEXEC);
	struct ctx_zstd_reader *reader;
	struct ctx_err damage = {0};
	enum ctx_status status;
	size_t got = 0;

	if (room == NULL || fd < 0)
		return ctx_err_nomem(err);
	status = ctx_zstd_open(packed, &reader, err);
	if (status != CTX_OK)
		return status;
	status = ctx_zstd_read(reader, room, CTX_EXP_PACKED_DATA_MAX + 1, &got, &damage);
	ctx_zstd_close(reader);
	if (status == CTX_OK)
		status = ctx_err_set(&damage, CTX_E_LIMIT, "unpacks to more than %zu bytes",
				     CTX_EXP_PACKED_DATA_MAX);
	if (status != CTX_END && status != CTX_E_FORMAT)
		return ctx_err_set(err, status, "%s", damage.msg);
	/* What is good is used; blocks have checksums. */
	if (ctx_file_write(fd, "unpacked", room, got, err) != CTX_OK)
		return CTX_E_IO;
	*ret = fd;
	fd = -1;
	return status == CTX_END ? CTX_OK : ctx_err_set(err, status, "%s", damage.msg);
}
