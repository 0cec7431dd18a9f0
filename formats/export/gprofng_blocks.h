/*
 * Writes the records of a block file of gprofng's format: blocks of 64 KiB filled with consecutive
 * records. When the next record does not fit, the rest of the block becomes a CLOSED record.
 *
 *	| size,type ... | size,type ... | rest,CLOSED ... | next block
 *
 * A block stays in memory until it is full, so many files can be written at once. The first failure
 * sticks in `status` and is returned by ctx_gpx_blocks_finish.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_BLOCKS_H
#define CTX_FORMATS_EXPORT_GPROFNG_BLOCKS_H

#include "base/buf.h"

#define CTX_GPX_RECORD_MAX 65000u /* bytes of a record */

struct ctx_gpx_blocks { /* a path, otherwise all zero: an empty file that does not exist yet */
	char *path;	/* owned */
	struct ctx_buf block;
	bool exists;
	enum ctx_status status;
};

/*
 * Room for a record of `n` bytes (a multiple of 8), zeroed except for its header; NULL after a
 * failure. Valid until the next call.
 */
uint8_t *ctx_gpx_blocks_add(struct ctx_gpx_blocks *blocks, uint16_t type, size_t n, struct ctx_err *err);

/*
 * Writes the last block: the file is complete, and exists even without records. Returns the first
 * failure.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_blocks_finish(struct ctx_gpx_blocks *blocks, struct ctx_err *err);

/* Releases the writer without writing. */
void ctx_gpx_blocks_deinit(struct ctx_gpx_blocks *blocks);

/* Unaligned little-endian numbers. */
void ctx_gpx_put_u32(uint8_t *at, uint32_t value);
void ctx_gpx_put_u64(uint8_t *at, uint64_t value);

#endif
