/*
 * What the code of counters (rt_count_code.h) cannot do itself: giving a thread its block, and recording the call stack of an execution.
 */
#ifndef CTX_RUNTIME_RT_COUNT_HITS_H
#define CTX_RUNTIME_RT_COUNT_HITS_H

#include "runtime/count_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_rt_counting {		    /* of the process; a forked child has it, too */
	struct ctx_rt_count_header *shared; /* NULL: off */
	/* As the header was when it was checked, and what follows from it: what another process writes there moves nothing here. */
	struct ctx_rt_count_header shape;
	struct ctx_rt_count_object *objects;
	const struct ctx_rt_count_site *sites;
	struct ctx_rt_count_owner *owners;
	bool has_thresholds;			  /* blocks have countdowns */
	uint64_t bases[CTX_RT_COUNT_OBJECTS_MAX]; /* of objects of the file; 0: not loaded */
	uint64_t **
		cells; /* by block: where it is, if it is a thread's of this process; wiped at fork. Of block 0 the process's id */
};
extern struct ctx_rt_counting ctx_rt_counting;

/* Where the block with this number is. */
static inline uint64_t *ctx_rt_counting_block(uint32_t number)
{
	return (uint64_t *)((uint8_t *)ctx_rt_counting.shared + ctx_rt_counting.shape.blocks_at +
			    number * ctx_rt_counting.shape.block_bytes);
}

/* On the stack, as the code and what it calls leave it. */
struct ctx_rt_count_hit {
	uint64_t raises, fp, rdi, flags, returns_to, site, rax, rcx;
	/* Behind it is what the function finds on its stack. */
};

/* Once there are cells, before anything is counted. */
void ctx_rt_count_hits_begin(void);

/* The thread's pointer to the cell of its block, from %fs. */
int32_t ctx_rt_count_tls(void);

/* Whether two sites are at one address. `other` may be behind the last. */
bool ctx_rt_count_is_same(uint32_t site, uint32_t other);

/* Counts where there was no block, and takes one, or records the call stack. Behind ctx_rt_count_heavy. errno is kept. */
void ctx_rt_count_work(const struct ctx_rt_count_hit *hit);

#endif
