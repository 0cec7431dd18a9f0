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

/* A sequence of one's own: the next 31 bits of it (a linear congruential generator). */
static inline uint64_t random_of(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static inline uint64_t random_below(uint64_t *seed, uint64_t n)
{
	return random_of(seed) % n;
}

#endif
