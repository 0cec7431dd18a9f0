/*
 * A tarball of arbitrary bytes: only regular files are extracted, each at the path of a build id,
 * with a limited total size, and nothing outside the directory.
 */
#include "base/buildid.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/private_dir.h"
#include "ingest/symbol_tarball.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((uint64_t)1 << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For the callback of nftw, which has no context argument. */
static size_t top_length;
static uint64_t bytes_found;

/* ".build-id/xx/rest/elf", "[kernel.kallsyms]/id/kallsyms" */
static bool is_place(const char *path)
{
	char id[CTX_BUILDID_TEXT] = "", first[3] = "", file[9] = "";

	if (sscanf(path, ".build-id/%2[0-9a-f]/%62[0-9a-f]/%8[a-z]", first, id + 2, file) == 3) {
		id[0] = first[0];
		id[1] = first[1];
		return ctx_buildid_is_plain(id) && strlen(path) == 12 + strlen(id) + strlen(file);
	}
	return sscanf(path, "[kernel.kallsyms]/%64[0-9a-f]/%8[a-z]", id, file) == 2 &&
	       ctx_buildid_is_plain(id) && strcmp(file, "kallsyms") == 0 &&
	       strlen(path) == 19 + strlen(id) + strlen(file);
}

static int check_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
	(void)at;
	if (type == FTW_D)
		return 0;
	if (type != FTW_F || !S_ISREG(info->st_mode) || !is_place(path + top_length + 1))
		abort();
	bytes_found += (uint64_t)info->st_size;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_private_dir directory = {.fd = -1};
	int fd CTX_AUTO_CLOSE = memfd_create("tarball", MFD_CLOEXEC);
	struct ctx_err err = {0};
	enum ctx_status status;
	char path[32];

	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	if (fd < 0 || ctx_file_write(fd, "tarball", data, size, NULL) != CTX_OK ||
	    ctx_private_dir_create(&directory, NULL) != CTX_OK)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = ctx_symbol_tarball_unpack(path, directory.path, BYTES_MAX, &err);
	if (status != CTX_OK && (status == CTX_END || err.msg[0] == '\0' || status == CTX_E_IO))
		abort();
	top_length = strlen(directory.path);
	bytes_found = 0;
	if (nftw(directory.path, check_one, 16, FTW_PHYS) != 0 || bytes_found > BYTES_MAX)
		abort();
	ctx_private_dir_remove(&directory);
	return 0;
}
