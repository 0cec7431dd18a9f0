#include "formats/gprofng/gp_blocks.h"

#include "base/fileio.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((uint64_t)16 << 10)
#define RECORD_BYTES_MAX 65535u
#ifdef CTX_SANITIZED
#define WINDOW_BYTES                                                                                         \
	((size_t)128 << 10) /* larger blocks cost the sanitizers' allocator system calls and page faults */
#else
#define WINDOW_BYTES ((size_t)256 << 10)
#endif

enum ctx_status ctx_gp_blocks_init(struct ctx_gp_blocks *blocks, int fd, const char *name, bool big_endian,
				   struct ctx_err *err)
{
	struct stat info;

	*blocks = (struct ctx_gp_blocks){.fd = fd, .name = name, .big_endian = big_endian};
	if (fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", name);
	blocks->end = (uint64_t)info.st_size;
	blocks->window = malloc(WINDOW_BYTES);
	blocks->bytes = blocks->window;
	return blocks->window != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_gp_blocks_set(struct ctx_gp_blocks *blocks, const void *bytes, size_t n, uint64_t offset,
		       bool big_endian)
{
	*blocks = (struct ctx_gp_blocks){.fd = -1,
					 .name = "",
					 .big_endian = big_endian,
					 .at = offset,
					 .end = offset + n,
					 .bytes = bytes,
					 .bytes_at = offset,
					 .n_bytes = n};
}

void ctx_gp_blocks_deinit(struct ctx_gp_blocks *blocks)
{
	free(blocks->window);
	*blocks = (struct ctx_gp_blocks){0};
}

/* Reads `n` bytes at `at` into memory; never asks for bytes past the end of the file. */
static enum ctx_status fill(struct ctx_gp_blocks *blocks, size_t n, struct ctx_err *err)
{
	uint64_t left = blocks->end - blocks->at;
	size_t got;
	enum ctx_status status;

	status = ctx_file_pread(&(struct ctx_file_place){blocks->fd, blocks->name, blocks->at},
				blocks->window, left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES, &got, err);
	if (status < 0)
		return status;
	blocks->bytes_at = blocks->at;
	blocks->n_bytes = got;
	if (got < n) /* truncated while being read */
		blocks->end = blocks->at + got;
	return CTX_OK;
}

/* Skips a hole of the file, where nothing was ever written. */
static void skip_hole(struct ctx_gp_blocks *blocks)
{
	off_t data = lseek(blocks->fd, (off_t)blocks->at, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		blocks->at = blocks->end;
	else if (data > 0 && (uint64_t)data / STEP * STEP > blocks->at)
		blocks->at = (uint64_t)data / STEP * STEP;
}

static void resync(struct ctx_gp_blocks *blocks, bool is_wrong)
{
	if (is_wrong && blocks->invalid++ == 0)
		blocks->invalid_at = blocks->at;
	blocks->at = (blocks->at / STEP + 1) * STEP;
	if (!is_wrong && blocks->fd >= 0 && blocks->at < blocks->end)
		skip_hole(blocks);
}

enum ctx_status ctx_gp_blocks_search(struct ctx_gp_blocks *blocks, struct ctx_gp_record *ret,
				     struct ctx_err *err)
{
	while (blocks->at < blocks->end && blocks->end - blocks->at >= CTX_GP_RECORD_HEAD) {
		enum ctx_status status = ctx_gp_blocks_has(blocks, CTX_GP_RECORD_HEAD)
						 ? CTX_OK
						 : fill(blocks, CTX_GP_RECORD_HEAD, err);
		const uint8_t *head;
		uint32_t n, type;

		if (status != CTX_OK)
			return status;
		if (blocks->end - blocks->at < CTX_GP_RECORD_HEAD)
			break;
		head = blocks->bytes + (blocks->at - blocks->bytes_at);
		n = ctx_gp_u16(head, blocks->big_endian);
		type = ctx_gp_u16(head + 2, blocks->big_endian);
		if (n == 0 || n < CTX_GP_RECORD_HEAD || blocks->at % 4 != 0 || n > blocks->end - blocks->at) {
			resync(blocks, n != 0);
			continue;
		}
		if (type == CTX_GP_EMPTY || type == CTX_GP_CLOSED) {
			blocks->at += n;
			continue;
		}
		status = ctx_gp_blocks_has(blocks, n) ? CTX_OK : fill(blocks, n, err);
		if (status != CTX_OK)
			return status;
		if (n > blocks->end - blocks->at)
			continue; /* truncated meanwhile: reported at the top of the loop */
		*ret = (struct ctx_gp_record){.bytes = blocks->bytes + (blocks->at - blocks->bytes_at),
					      .n = n,
					      .type = type,
					      .offset = blocks->at};
		blocks->at += n;
		return CTX_OK;
	}
	return CTX_END;
}
