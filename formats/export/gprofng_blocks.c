#include "formats/export/gprofng_blocks.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)65536)
#define HEAD_BYTES 4u
#define TYPE_EMPTY 0u
#define TYPE_CLOSED 65535u

static void put_u16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

void ctx_gpx_put_u32(uint8_t *at, uint32_t value)
{
	put_u16(at, (uint16_t)value);
	put_u16(at + 2, (uint16_t)(value >> 16));
}

void ctx_gpx_put_u64(uint8_t *at, uint64_t value)
{
	ctx_gpx_put_u32(at, (uint32_t)value);
	ctx_gpx_put_u32(at + 4, (uint32_t)(value >> 32));
}

/*
 * Appends the current block to the file, which is closed between blocks: there may be thousands of
 * files.
 */
static void flush(struct ctx_gpx_blocks *blocks, struct ctx_err *err)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (blocks->exists ? 0 : O_CREAT | O_EXCL);
	int fd CTX_AUTO_CLOSE = open(blocks->path, flags, 0644);

	if (fd < 0) {
		blocks->status = ctx_err_errno(err, CTX_E_IO, "%s", blocks->path);
		return;
	}
	blocks->exists = true;
	blocks->status = ctx_file_write(fd, blocks->path, blocks->block.bytes, blocks->block.n, err);
	ctx_buf_clear(&blocks->block);
}

/* The rest of the block is a CLOSED record of zeros. */
static void end_block(struct ctx_gpx_blocks *blocks, uint16_t type, struct ctx_err *err)
{
	size_t rest = BLOCK_BYTES - blocks->block.n;
	uint8_t *room = ctx_buf_reserve(&blocks->block, rest);

	if (room == NULL) {
		blocks->status = ctx_err_nomem(err);
		return;
	}
	memset(room, 0, rest);
	if (rest >= HEAD_BYTES && rest < BLOCK_BYTES) {
		put_u16(room, (uint16_t)rest);
		put_u16(room + 2, type);
	}
	blocks->block.n += rest;
	flush(blocks, err);
}

uint8_t *ctx_gpx_blocks_add(struct ctx_gpx_blocks *blocks, uint16_t type, size_t n, struct ctx_err *err)
{
	uint8_t *room;

	if (blocks->status == CTX_OK && (n < HEAD_BYTES || n > CTX_GPX_RECORD_MAX || n % 8 != 0))
		blocks->status = ctx_err_set(err, CTX_E_INTERNAL, "a record of %zu bytes", n);
	if (blocks->status == CTX_OK && n > BLOCK_BYTES - blocks->block.n)
		end_block(blocks, TYPE_CLOSED, err);
	if (blocks->status != CTX_OK)
		return NULL;
	room = ctx_buf_reserve(&blocks->block, n);
	if (room == NULL) {
		blocks->status = ctx_err_nomem(err);
		return NULL;
	}
	memset(room, 0, n);
	put_u16(room, (uint16_t)n);
	put_u16(room + 2, type);
	blocks->block.n += n;
	return room;
}

enum ctx_status ctx_gpx_blocks_finish(struct ctx_gpx_blocks *blocks, struct ctx_err *err)
{
	if (blocks->status == CTX_OK && blocks->block.n != 0)
		end_block(blocks, TYPE_EMPTY, err);
	else if (blocks->status == CTX_OK && !blocks->exists)
		flush(blocks, err);
	return blocks->status;
}

void ctx_gpx_blocks_deinit(struct ctx_gpx_blocks *blocks)
{
	free(blocks->path);
	ctx_buf_deinit(&blocks->block);
	*blocks = (struct ctx_gpx_blocks){0};
}
