/*
 * Clocks of the kernel in nanoseconds. Also in signal handlers.
 */
#ifndef CTX_BASE_CLOCK_H
#define CTX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ctx_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

typedef uint64_t ctx_clock_fn(clockid_t clock); /* ctx_clock_ns, or that of a test */

#endif
