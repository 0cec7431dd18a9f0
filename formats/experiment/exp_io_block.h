/*
 * Input and output in blocks: what a packet of it has besides its columns, and the names in a block. Marks and
 * accesses to memory have the same form.
 *
 * A name stands once in each block that has an operation with it, so a block can be read without any
 * other.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_IO_BLOCK_H
#define CTX_FORMATS_EXPERIMENT_EXP_IO_BLOCK_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/strtab.h"
#include "formats/experiment/exp_block.h"

#define CTX_EXP_IO_NAME_MAX 4096u /* bytes; longer ones are cut */

struct ctx_exp_io_rest {
	uint64_t duration_ns; /* of an access: its latency */
	int32_t descriptor;   /* -1 none */
	uint32_t name;	      /* in the block, from 1; 0 none */
	uint16_t error;	      /* errno; 0: it succeeded */
	/* Of an access alone: */
	uint64_t detail;   /* where the data was (model/data_source.h); 0 unknown */
	uint64_t physical; /* address; 0 unknown */
};

/* Writer: of packets that are buffered, by their order of arrival. All zero is empty. */
struct ctx_exp_io_packets {
	struct ctx_exp_io_rest *rest; /* owned */
	size_t cap;
	struct ctx_strtab names;
	size_t name_bytes;
};

void ctx_exp_io_packets_deinit(struct ctx_exp_io_packets *io);
/* Its packets were written. */
void ctx_exp_io_packets_clear(struct ctx_exp_io_packets *io);
size_t ctx_exp_io_packets_bytes(const struct ctx_exp_io_packets *io);
CTX_MUST_CHECK enum ctx_status ctx_exp_io_packets_reserve(struct ctx_exp_io_packets *io, size_t n,
							  struct ctx_err *err);
/* The rest of packet `i`, for which there is room; `name` NULL: none. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_io_packets_put(struct ctx_exp_io_packets *io, size_t i,
						      const struct ctx_exp_io_rest *rest, const char *name,
						      struct ctx_err *err);

/* Appends the payload of a block of packets, as ctx_exp_encode_packets does. */
void ctx_exp_encode_io(const struct ctx_exp_packet *packets, const struct ctx_exp_io_packets *io, size_t n,
		       struct ctx_buf *out);

/* The same of accesses: their last two columns come behind the names. */
void ctx_exp_encode_accesses(const struct ctx_exp_packet *packets, const struct ctx_exp_io_packets *io,
			     size_t n, struct ctx_buf *out);

/* Reader: a decoded block. */
struct ctx_exp_io_block {
	struct ctx_exp_packet *packets; /* the caller's, like `rest`: room for n */
	struct ctx_exp_io_rest *rest;
	size_t n;
	char *names;	   /* owned: zero-terminated; NULL none */
	uint32_t *name_at; /* owned: offset of a name in them, by its number - 1 */
	size_t n_names, name_bytes;
};

void ctx_exp_io_block_deinit(struct ctx_exp_io_block *block);

/*
 * Decodes a payload; rest[packets[i].order] is of packet i. Names are at most one for each packet. Bytes behind
 * the last one are ignored. CTX_E_FORMAT, CTX_E_NOMEM; then too the block is to be deinitialised.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_decode_io(struct ctx_bytes payload, uint64_t first_ns,
						 struct ctx_exp_io_block *ret, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_exp_decode_accesses(struct ctx_bytes payload, uint64_t first_ns,
						       struct ctx_exp_io_block *ret, struct ctx_err *err);

/* The name of a packet; NULL none. */
const char *ctx_exp_io_block_name(const struct ctx_exp_io_block *block, const struct ctx_exp_packet *packet);

#endif
