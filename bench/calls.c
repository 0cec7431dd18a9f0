/*
 * calls N ROUNDS: N calls of a function that does nothing; prints ns of a call, the smallest of some rounds. Built by calls.sh with
 * hooks of all kinds, and with EMPTY: hooks that do nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))

#ifdef EMPTY
__attribute__((noipa)) PLAIN void __cyg_profile_func_enter(void *function, void *caller);
__attribute__((noipa)) PLAIN void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)function;
	(void)caller;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
#endif

volatile long sink;

__attribute__((noinline)) void leaf(long x);

void leaf(long x)
{
	sink += x;
}

PLAIN static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

PLAIN int main(int n, char **arguments)
{
	long calls = n > 1 ? atol(arguments[1]) : 1000000, rounds = n > 2 ? atol(arguments[2]) : 20;
	double best = 1e18;

	for (long round = 0; round < rounds; round++) {
		double begin = now_ns(), took;

		for (long i = 0; i < calls; i++)
			leaf(i);
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	fprintf(stderr, "%.1f\n", best / (double)calls);
	return 0;
}
