/*
 * The memory in which traced processes and the recorder share counters of indicators: how often functions were entered.
 *
 *	one memory file for all processes of a recording:
 *	  struct ctx_rt_count_header
 *	  struct ctx_rt_count_object [n_objects]
 *	  struct ctx_rt_count_site [n_sites]       by object, then ascending by address; several may have the same address
 *	  struct ctx_rt_count_owner [n_blocks]     whose a block is
 *	  then, from header.blocks_at on, n_blocks blocks of block_bytes:
 *	    uint64_t bases [n_objects]             where each object is loaded, of the owner; 0: it is not
 *	    uint64_t counters [n_sites]            executions; they never go back, whoever owns the block
 *	    uint64_t countdowns [n_sites]          up to the next one with a call stack; of sites with a threshold
 *
 * The recorder fills in what is in front of the blocks before the first process has it. A process asks for it by the number CTX_RT_ASK_COUNT
 * in the place of its number of segments (runtime/shared_layout.h), and makes the entries of the functions jump to code that counts
 * (rt_count.h). A thread takes a block at its first execution, and is from then on the only one that writes there. It stays its own when it
 * has ended: the recorder reads what it has counted, and frees the block. Block 0 is never taken: there is counted, by atomic
 * operations, who can have no block.
 */
#ifndef CTX_RUNTIME_COUNT_LAYOUT_H
#define CTX_RUNTIME_COUNT_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define CTX_RT_COUNT_MAGIC UINT64_C(0x31544e554f4354ff)
#define CTX_RT_COUNT_VERSION 1u
#define CTX_RT_ASK_COUNT 0xeeu
#define CTX_RT_COUNT_OBJECTS_MAX 64u
#define CTX_RT_COUNT_PAGE 4096u

struct ctx_rt_count_header {
	_Alignas(8) uint64_t magic;
	uint32_t version;
	uint32_t n_objects, n_sites, n_blocks;
	uint64_t block_bytes; /* a multiple of CTX_RT_COUNT_PAGE */
	uint64_t blocks_at, bytes;
	_Atomic uint32_t n_used;   /* blocks from this number on have never had an owner */
	_Atomic uint32_t unmapped; /* processes that could not map the file */
};

struct ctx_rt_count_object {
	_Alignas(8) uint64_t device, inode; /* of its file, as stat says */
	uint32_t first, n;		    /* of its sites */
	_Atomic uint64_t patched,
		refused; /* sites, of all processes, that are counted, and that could not be patched */
};

struct ctx_rt_count_site {
	_Alignas(8) uint64_t address; /* of the function's entry, in the object's own address space */
	uint32_t object, unused;
	uint64_t
		threshold; /* every so many executions of a thread are recorded with the call stack; 0: none */
};

enum ctx_rt_count_state {
	CTX_RT_COUNT_FREE,
	CTX_RT_COUNT_TAKING,
	CTX_RT_COUNT_OWNED,
};

struct ctx_rt_count_owner {
	_Alignas(8) _Atomic uint32_t state; /* enum ctx_rt_count_state; the last that is written */
	uint32_t pid, tid;		    /* as the target has them */
	uint32_t unused;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
};

static inline struct ctx_rt_count_object *ctx_rt_count_objects(struct ctx_rt_count_header *header)
{
	return (struct ctx_rt_count_object *)(header + 1);
}

static inline struct ctx_rt_count_site *ctx_rt_count_sites(struct ctx_rt_count_header *header)
{
	return (struct ctx_rt_count_site *)(ctx_rt_count_objects(header) + header->n_objects);
}

static inline struct ctx_rt_count_owner *ctx_rt_count_owners(struct ctx_rt_count_header *header)
{
	return (struct ctx_rt_count_owner *)(ctx_rt_count_sites(header) + header->n_sites);
}

static inline uint64_t *ctx_rt_count_block(struct ctx_rt_count_header *header, uint32_t number)
{
	return (uint64_t *)((uint8_t *)header + header->blocks_at + number * header->block_bytes);
}

/* Words from a block's begin. */
static inline uint64_t ctx_rt_count_counter(const struct ctx_rt_count_header *header, uint32_t site)
{
	return header->n_objects + site;
}

static inline uint64_t ctx_rt_count_countdown(const struct ctx_rt_count_header *header, uint32_t site)
{
	return (uint64_t)header->n_objects + header->n_sites + site;
}

/* Sets the sizes in a header that has its numbers. Without thresholds blocks have no countdowns. */
static inline void ctx_rt_count_shape(struct ctx_rt_count_header *header, int has_thresholds)
{
	const uint64_t page = CTX_RT_COUNT_PAGE;
	uint64_t words = (uint64_t)header->n_objects + header->n_sites * (uint64_t)(has_thresholds ? 2 : 1);
	uint64_t front = sizeof(*header) + header->n_objects * sizeof(struct ctx_rt_count_object) +
			 (uint64_t)header->n_sites * sizeof(struct ctx_rt_count_site) +
			 header->n_blocks * sizeof(struct ctx_rt_count_owner);

	header->block_bytes = (words * 8 + page - 1) / page * page;
	header->blocks_at = (front + page - 1) / page * page;
	header->bytes = header->blocks_at + header->n_blocks * header->block_bytes;
}

#endif
