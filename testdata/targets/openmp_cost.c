/*
 * How much CPU time of its master a parallel region takes whose body takes 10 us: openmp_cost [STEPS [THREADS]]. Prints that of the fastest round
 * for a region, in ns, and the steps of the body. With one thread nobody waits, and other programs cost it no time.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REGIONS 200
#define BODY_NS 10000
#define ROUNDS 200

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Work whose length does not follow from a clock: what is recorded would be hidden by it. Each step waits for the one before, in a
 * register, so that neither where the stack is nor another thread of the same core changes how long it takes.
 */
static void work(int64_t steps)
{
	uint64_t x = (uint64_t)steps;

	for (int64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static int64_t steps_of_body(void)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 20; i++) {
		int64_t begin = now_ns(), took;

		work(100000);
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	return 100000 * (int64_t)BODY_NS / best;
}

int main(int argc, char **argv)
{
	int64_t best = INT64_MAX, steps = argc > 1 ? atoll(argv[1]) : steps_of_body();
	int threads = argc > 2 ? atoi(argv[2]) : 1;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = now_ns(), took;

		for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(threads)
			work(steps);
		}
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	printf("%lld %lld\n", (long long)(best / REGIONS), (long long)steps);
	return 0;
}
