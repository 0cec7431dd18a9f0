/*
 * Walks the records of a block file (profile, heaptrace, ..., data.frameinfo).
 *
 *	| head tsize,type | ... | head ... | EMPTY or CLOSED to the block's end | next block, perhaps of another thread
 *
 * After a record of size 0 (memory that was never written) the walk resumes at the next multiple of
 * 16 KiB. It does the same after a record that is misaligned or extends past the end of the file;
 * these are counted.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_BLOCKS_H
#define CTX_FORMATS_GPROFNG_GP_BLOCKS_H

#include "base/err.h"
#include "formats/gprofng/gp_wire.h"

#include <stddef.h>

#define CTX_GP_RECORD_HEAD 4u /* bytes: size and type */
#define CTX_GP_BLOCK_BYTES ((uint64_t)64 << 10)
#define CTX_GP_EMPTY 0u
#define CTX_GP_CLOSED 65535u

struct ctx_gp_record {
	const uint8_t *bytes; /* including its header; borrowed until the next call */
	size_t n;
	uint32_t type;
	uint64_t offset;
};

struct ctx_gp_blocks {
	int fd; /* borrowed; -1: everything is in `bytes` */
	const char *name;
	bool big_endian;
	uint64_t at, end; /* in the file */
	uint8_t *window;  /* owned when a file is read */
	const uint8_t *bytes;
	uint64_t bytes_at; /* file offset of `bytes` */
	size_t n_bytes;
	uint64_t invalid; /* offsets at which no valid record was found */
	uint64_t invalid_at;
};

/* Records of a file. `name` is for messages, borrowed. CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_blocks_init(struct ctx_gp_blocks *blocks, int fd, const char *name,
						  bool big_endian, struct ctx_err *err);

/* Records from `n` borrowed bytes in memory, which are at `offset` of their file. */
void ctx_gp_blocks_set(struct ctx_gp_blocks *blocks, const void *bytes, size_t n, uint64_t offset,
		       bool big_endian);

void ctx_gp_blocks_deinit(struct ctx_gp_blocks *blocks);

/* Slow path of ctx_gp_blocks_next. */
CTX_MUST_CHECK enum ctx_status ctx_gp_blocks_search(struct ctx_gp_blocks *blocks, struct ctx_gp_record *ret,
						    struct ctx_err *err);

/* Are `n` bytes at `at` in memory? If so, they are also inside the file. */
static inline bool ctx_gp_blocks_has(const struct ctx_gp_blocks *blocks, size_t n)
{
	return blocks->at >= blocks->bytes_at && blocks->at + n <= blocks->bytes_at + blocks->n_bytes;
}

/*
 * The next record that is neither EMPTY nor CLOSED. CTX_END, CTX_E_IO. Usually it directly follows
 * the previous one.
 */
CTX_MUST_CHECK static inline enum ctx_status ctx_gp_blocks_next(struct ctx_gp_blocks *blocks,
								struct ctx_gp_record *ret,
								struct ctx_err *err)
{
	if (ctx_gp_blocks_has(blocks, CTX_GP_RECORD_HEAD)) {
		const uint8_t *head = blocks->bytes + (blocks->at - blocks->bytes_at);
		uint32_t n = ctx_gp_u16(head, blocks->big_endian);
		uint32_t type = ctx_gp_u16(head + 2, blocks->big_endian);

		if (type != CTX_GP_EMPTY && type != CTX_GP_CLOSED && n >= CTX_GP_RECORD_HEAD &&
		    blocks->at % 4 == 0 && ctx_gp_blocks_has(blocks, n)) {
			*ret = (struct ctx_gp_record){
				.bytes = head, .n = n, .type = type, .offset = blocks->at};
			blocks->at += n;
			return CTX_OK;
		}
	}
	return ctx_gp_blocks_search(blocks, ret, err);
}

#endif
