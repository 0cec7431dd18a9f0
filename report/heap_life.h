/*
 * Live heap bytes over time, from a list of operations in order of time. Memory allocated before
 * the first operation is unknown and not counted.
 *
 * Each process has its own address space, and its memory is freed when it ends. If an address is
 * allocated again without a free in between, the old block was freed unrecorded. Mapped files live beside,
 * and are not counted. Of sampled allocations (model/heap_sampling.h) bytes are estimates.
 */
#ifndef CTX_REPORT_HEAP_LIFE_H
#define CTX_REPORT_HEAP_LIFE_H

#include "base/map64.h"
#include "base/ranges.h"
#include "model/profile.h"
#include "report/report.h"

struct ctx_heap_block {
	uint64_t size;	  /* bytes, also 0; of a sampled block those of all that it stands for */
	uint64_t time_ns; /* when it was allocated */
	double number;	  /* of allocations that it stands for */
	uint32_t stack;
	uint32_t process;
	uint8_t operation;
	bool lives; /* false: it was freed, and the place is free */
};

struct ctx_heap_process {
	struct ctx_ranges maps;	 /* each with its stack, and its operation in the upper half */
	struct ctx_ranges files; /* the same of mapped files */
	uint64_t live;		 /* bytes, with those of maps */
	bool ended;
};

struct ctx_heap_life {
	const struct ctx_profile *profile;
	struct ctx_map64 addresses, places;
	struct ctx_heap_block *blocks; /* owned; by place */
	size_t n, cap;
	struct ctx_heap_process *processes; /* owned; one more for operations of no process */
	uint32_t *ends;			    /* owned; processes by their end */
	uint32_t n_ended;
	uint64_t live;	       /* bytes */
	uint64_t sample_bytes; /* may be set at the beginning */
	/* May be set: an allocation, no mapping, is freed. Not at the end of its process. */
	void (*freed)(void *context, const struct ctx_heap_block *block, uint64_t time_ns);
	void *context;
};

CTX_MUST_CHECK enum ctx_status ctx_heap_life_init(struct ctx_heap_life *life,
						  const struct ctx_profile *profile);
void ctx_heap_life_deinit(struct ctx_heap_life *life);

/*
 * Frees the memory of processes that ended before `time_ns`. Times must not go back;
 * ctx_heap_life_step calls this first.
 */
void ctx_heap_life_until(struct ctx_heap_life *life, uint64_t time_ns);

/* Applies one heap operation. `counts`: the operation is selected; others only free memory. */
CTX_MUST_CHECK enum ctx_status ctx_heap_life_step(struct ctx_heap_life *life,
						  const struct ctx_traced *operation, bool counts);

struct ctx_heap_held { /* a live block, or a part of a mapping */
	uint64_t bytes;
	double number; /* of allocations that it stands for */
	uint32_t stack;
	uint8_t operation;
};

/* Passes all that lives to `each`, mapped files too. Stops at the first status other than CTX_OK. */
enum ctx_status ctx_heap_life_each(const struct ctx_heap_life *life,
				   enum ctx_status (*each)(void *context, const struct ctx_heap_held *held),
				   void *context);

#endif
