/* Numbers by chance, the same in every run (xorshift). */
#ifndef CTX_TESTS_CHANCE_H
#define CTX_TESTS_CHANCE_H

#include <stdint.h>

static uint64_t random_state = 1;

static inline uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint64_t below(uint64_t n)
{
	return next_random() % n;
}

#endif
