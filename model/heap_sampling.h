/*
 * Allocations that were sampled by bytes (runtime/rt_sampler.h): what each recorded one stands for.
 *
 * One of `size` bytes was recorded with the probability p = 1 - exp(-size / interval), whatever the others:
 * so it stands for 1 / p allocations, and sums of these are unbiased. The variance of such a sum is estimated
 * without bias too, by the sum of value^2 * (1 - p) / p^2 of what was recorded; its square root is the
 * standard error. Mappings are all recorded: p is 1.
 */
#ifndef CTX_MODEL_HEAP_SAMPLING_H
#define CTX_MODEL_HEAP_SAMPLING_H

#include "model/profile.h"
#include "model/traced.h"

/* The property of a recording that says how many bytes apart it was sampled. */
#define CTX_HEAP_SAMPLE_PROPERTY "heap_sample_bytes"

/* 0: every allocation was recorded. */
uint64_t ctx_heap_sample_bytes(const struct ctx_property *properties, size_t n);

/* How many allocations the operation stands for: 1, or more if it was sampled so many bytes apart. */
double ctx_heap_sample_number(uint64_t sample_bytes, const struct ctx_traced *operation);

/* `bytes` of each of `number` allocations, as a whole number that no sum of 64 of them overflows. */
uint64_t ctx_heap_sample_scale(uint64_t bytes, double number);

/* The variance that an operation which stands for `number` adds to a sum of `value` each. */
static inline double ctx_heap_sample_variance(double value, double number)
{
	return value * value * number * (number - 1);
}

#endif
