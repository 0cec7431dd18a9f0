/*
 * How old allocations are when they are freed, in powers of ten.
 */
#ifndef CTX_REPORT_HEAP_AGES_H
#define CTX_REPORT_HEAP_AGES_H

#include <stdint.h>

/* Less than 1 us, 10 us, ..., 1000 s, at least that, and not freed. */
#define CTX_HEAP_AGES 12u

struct ctx_heap_age {
	uint64_t number; /* as ctx_traced_fixed gives it */
	uint64_t bytes;
};

struct ctx_heap_ages {
	struct ctx_heap_age of[CTX_HEAP_AGES]; /* the last is not filled in */
};

void ctx_heap_ages_add(struct ctx_heap_ages *ages, uint64_t age_ns, uint64_t number, uint64_t bytes);

/* The first age of a row of them; of the one behind them 2^64 - 1. */
uint64_t ctx_heap_age_first_ns(unsigned row);

/* "less than 10 us", "not freed" */
const char *ctx_heap_age_text(unsigned row);

#endif
