/*
 * The payload of a block of heap operations (docs/experiment-format.md, section 8): streams, each of one thing.
 *
 *	allocation, freed in the same block --> number in the block <-- its release: a distance to it
 *	allocation that outlives the block ---> its address         <-- release in a later block: the address
 *
 * So a block needs no other one to be read, writing needs no memory of what lives, and a reader looks only
 * for what outlives a block. An address is kept only where a later block may name it: the operations of a short
 * life have the number of the allocation in their block instead, plus 1. It is at most CTX_EXP_HEAP_MAX: no
 * address of a heap is so low.
 *
 * What a program allocates is often freed in some other block: larger blocks are smaller files. A block of more
 * than CTX_EXP_HEAP_FEW operations has a kind of its own, so that older readers, which refuse it, skip it.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_HEAP_CODE_H
#define CTX_FORMATS_EXPERIMENT_EXP_HEAP_CODE_H

#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_heap_live.h"
#include "model/traced.h"

#define CTX_EXP_HEAP_MAX (CTX_EXP_HEAP_LIVE_MAX - 1) /* operations of a block */
#define CTX_EXP_HEAP_FEW 65535u			     /* of a block of kind CTX_EXP_BLOCK_HEAP */
#define CTX_EXP_HEAP_STREAMS 21u		     /* 13 of them where there is one thread */

/* What encoding and decoding need; reused. All zero is valid. */
struct ctx_exp_heap_coder;

void ctx_exp_heap_coder_free(struct ctx_exp_heap_coder *coder); /* NULL is allowed */

/* Operations in the order in which they happened, times too. Room for as many when decoding. */
struct ctx_exp_heap_block {
	struct ctx_exp_packet *packets;
	struct ctx_exp_heap_addresses *addresses; /* of packets[i] at [i] */
	size_t n;				  /* 1 to CTX_EXP_HEAP_MAX */
	uint64_t first_ns, last_ns;		  /* of the header; decoding */
	bool keeps_addresses; /* writing: also of what is freed in the block, and all times */
};

struct ctx_exp_heap_parts { /* of a payload, for the compressor: they have little in common */
	size_t ends[CTX_EXP_HEAP_STREAMS + 1];
	size_t n;
};

/* Appends the payload. Makes the coder if there is none. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_heap_encode(struct ctx_exp_heap_coder **coder,
						   const struct ctx_exp_heap_block *block,
						   struct ctx_buf *out, struct ctx_exp_heap_parts *ret,
						   struct ctx_err *err);

/* Decodes it; packets have their `place`. Fails with CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_heap_decode(struct ctx_exp_heap_coder **coder,
						   struct ctx_bytes payload,
						   const struct ctx_exp_heap_block *ret, struct ctx_err *err);

/* An operation that concerns what outlives its block. */
struct ctx_exp_heap_lasting {
	uint32_t place; /* in the block */
	uint32_t operation;
	uint64_t address, old_address; /* 0: none that lasts */
	uint64_t size;		       /* of mappings */
};

struct ctx_exp_heap_list {
	const struct ctx_exp_heap_lasting *items;
	size_t n;
};

/*
 * Only those operations, in their order: allocations that are not freed in the block, releases of what is
 * older, mappings. `*ret` is valid until the next call with the coder. CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_heap_find_lasting(struct ctx_exp_heap_coder **coder,
							 struct ctx_bytes payload, size_t n,
							 struct ctx_exp_heap_list *ret, struct ctx_err *err);

#endif
