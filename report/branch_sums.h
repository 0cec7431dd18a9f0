/*
 * Sums of the entries of branch stacks: edges, the blocks of code between them, and loops.
 *
 *	older entry: ... --> to |== block ==| from --> to	newer entry
 *	loop: entries --> head |== body ==| from --> head, again and again
 *
 * A block ran from the target of an entry to the next branch that was taken. So a branch inside of it was
 * passed, and not taken; and a loop's head inside of it was entered from before.
 */
#ifndef CTX_REPORT_BRANCH_SUMS_H
#define CTX_REPORT_BRANCH_SUMS_H

#include "base/map64.h"
#include "model/code.h"
#include "model/report_data.h"

struct ctx_branch_sum {
	uint64_t taken;
	uint64_t known, mispredicted; /* of `taken`: those whose prediction the processor tells */
	uint64_t timed, cycles;	      /* those with cycles since the entry before */
	uint64_t least, most;	      /* cycles of one of them */
};

struct ctx_branch_edge {
	uint32_t from, to; /* locations; CTX_NONE unknown */
	uint8_t kind;	   /* enum ctx_branch_operation, of the last one that says it */
	struct ctx_branch_sum sum;
};

struct ctx_branch_block {
	uint32_t end;	/* location of the branch that ended it */
	uint64_t begin; /* address of its first byte, in the object of `end` */
	struct ctx_branch_sum sum;
};

/* Runs that pass an address without a branch at it being taken, by object and address. */
struct ctx_branch_bound {
	uint32_t object;
	uint64_t address;
	uint64_t n; /* runs that begin, or end, here or before */
};

struct ctx_branch_loop {
	uint32_t head;		   /* location */
	uint64_t back;		   /* taken back to the head */
	uint64_t entries;	   /* from elsewhere */
	struct ctx_branch_sum sum; /* of the edges back */
};

struct ctx_branch_sums { /* arrays are owned (ctx_branch_sums_deinit) */
	const struct ctx_code *code;
	const struct ctx_profile *profile;
	struct ctx_branch_edge *edges;
	size_t n_edges, edges_cap;
	struct ctx_map64 edge_of; /* by raw stack */
	struct ctx_branch_block *blocks;
	size_t n_blocks, blocks_cap;
	struct ctx_map64 block_of; /* by location and length */
	struct ctx_branch_bound *begins, *ends;
	struct ctx_branch_loop *loops;
	size_t n_loops, loops_cap;
	struct ctx_branch_sum total;
};

void ctx_branch_sums_deinit(struct ctx_branch_sums *sums);

/* Adds an operation of kind CTX_TRACED_BRANCH. *sums has code and profile, and else all zero. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_branch_sums_add(struct ctx_branch_sums *sums,
						   const struct ctx_traced *branch, struct ctx_err *err);

/* After the last one: prepares what is passed, and finds loops. O(n log n). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_branch_sums_finish(struct ctx_branch_sums *sums, struct ctx_err *err);

/* How often a branch at a location was passed and not taken, as far as blocks tell. O(log n). */
uint64_t ctx_branch_sums_passed(const struct ctx_branch_sums *sums, uint32_t location);

/* Adds one sum to another. */
void ctx_branch_sum_join(struct ctx_branch_sum *to, const struct ctx_branch_sum *from);

#endif
