/*
 * How many bytes lived when: allocations and what freed them, of a list of operations in order of time. What was there before the
 * first of them is not known, and counts as nothing.
 *
 * Each process has addresses of its own, and what it has ends with it. An address that is given out again without having been
 * freed was freed unseen.
 */
#ifndef CTX_REPORT_HEAP_LIFE_H
#define CTX_REPORT_HEAP_LIFE_H

#include "base/map64.h"
#include "base/ranges.h"
#include "model/profile.h"
#include "report/report.h"

struct ctx_heap_block {
	uint64_t size; /* 0: was freed */
	uint32_t stack;
	uint32_t process;
	bool lives;
};

struct ctx_heap_process {
	struct ctx_ranges maps; /* each with its stack */
	uint64_t live;		/* bytes, with those of maps */
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
	uint64_t live; /* bytes */
};

CTX_MUST_CHECK enum ctx_status ctx_heap_life_init(struct ctx_heap_life *life,
						  const struct ctx_profile *profile);
void ctx_heap_life_deinit(struct ctx_heap_life *life);

/* Processes that ended before `time_ns` have nothing any more. Times do not go back; a step does this first. */
void ctx_heap_life_until(struct ctx_heap_life *life, uint64_t time_ns);

/* One operation of the heap. `counts`: an allocation that is to be looked at; others free what they free, no more. */
CTX_MUST_CHECK enum ctx_status ctx_heap_life_step(struct ctx_heap_life *life,
						  const struct ctx_traced *operation, bool counts);

/* Hands out what lives: its bytes and call stack; of a mapping each part. What `each` returns but CTX_OK ends it. */
enum ctx_status ctx_heap_life_each(const struct ctx_heap_life *life,
				   enum ctx_status (*each)(void *context, uint64_t bytes, uint32_t stack),
				   void *context);

#endif
