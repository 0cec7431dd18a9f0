/*
 * Which allocations of a thread are recorded where not all are: sampling by bytes.
 *
 * Points lie at random on the thread's allocated bytes, `interval` bytes apart on average, their distances
 * distributed exponentially (a Poisson process, as in jemalloc and tcmalloc). An allocation is recorded if at
 * least one point is in it: one of `size` bytes with the probability 1 - exp(-size / interval), whatever
 * others there are. Its reciprocal is how many allocations it stands for (model/heap_sampling.h). One of no
 * bytes counts as one of 1.
 *
 * Allocates nothing, and does not use the C library's mathematics.
 */
#ifndef CTX_RUNTIME_RT_SAMPLER_H
#define CTX_RUNTIME_RT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct ctx_rt_sampler { /* of a thread; all zero has not begun */
	int64_t left;	/* bytes up to the next point; negative: it was passed */
	uint64_t random;
	bool has_begun;
};

/* Begins anew; different seeds give different points. */
void ctx_rt_sampler_begin(struct ctx_rt_sampler *sampler, uint64_t interval, uint64_t seed);

/* A point was passed by an allocation of so many bytes; a thread that has not begun is given a seed. */
bool ctx_rt_sampler_pass(struct ctx_rt_sampler *sampler, uint64_t interval, uint64_t size);

/* Whether the thread's next allocation, which is of so many bytes, is recorded. A subtraction, mostly. */
static inline bool ctx_rt_sampler_take(struct ctx_rt_sampler *sampler, uint64_t interval, uint64_t size)
{
	size += size == 0;
	sampler->left -= (int64_t)size;
	if (__builtin_expect(sampler->left >= 0, 1))
		return false;
	return ctx_rt_sampler_pass(sampler, interval, size);
}

#endif
