/*
 * OpenMP's work-sharing constructs, one after the other in two regions of two threads: which constructs there are, with which schedule, and what
 * is done in each, is known. Prints how many iterations were done.
 */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static long done;

/* Some 0.2 ms. */
__attribute__((noinline)) static void turn(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 200000);
#pragma omp atomic
	done++;
}

/* An orphaned one: below the function that has it. */
__attribute__((noinline)) static void orphan(int n)
{
#pragma omp for schedule(guided, 2) /* loop guided */
	for (int i = 0; i < n; i++)
		turn();
}

int main(void)
{
#pragma omp parallel num_threads(2) /* region shares */
	{
#pragma omp for schedule(dynamic, 3) /* loop dynamic */
		for (int i = 0; i < 20; i++)
			turn();
		turn();
#pragma omp sections
		{
#pragma omp section
			turn();
#pragma omp section
			turn();
		}
		orphan(10);
	}
#pragma omp parallel for num_threads(2) schedule(dynamic, 4) /* region loop */
	for (int i = 0; i < 12; i++)
		turn();
	printf("%ld\n", done);
	return 0;
}
