/*
 * OpenMP whose regions, tasks and threads are known, for C and C++: openmp [TIMES]. Two threads in each team. Prints what it
 * has measured: the work of all threads in the regions of `uneven` and `held`, in ns.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MILLISECOND 1000000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t spin(int64_t ns)
{
	int64_t begin = now_ns(), now = begin;

	while (now - begin < ns)
		now = now_ns();
	return now - begin;
}

static int64_t uneven_ns, held_ns;

/* The first thread works three times as long as the other. */
static void uneven(void)
{
#pragma omp parallel num_threads(2) reduction(+ : uneven_ns) /* region uneven */
	uneven_ns += spin((omp_get_thread_num() == 0 ? 3 : 1) * 2 * MILLISECOND);
}

/* One of them at a time. */
static void held(void)
{
#pragma omp parallel num_threads(2) /* region held */
	for (int i = 0; i < 3; i++) {
#pragma omp critical
		held_ns += spin(MILLISECOND);
	}
}

static omp_lock_t lock;

static void locked(void)
{
	omp_init_lock(&lock);
#pragma omp parallel num_threads(2) /* region locked */
	for (int i = 0; i < 3; i++) {
		omp_set_lock(&lock);
		spin(MILLISECOND / 2);
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
}

static void barriers(void)
{
#pragma omp parallel num_threads(2) /* region barriers */
	{
		spin(MILLISECOND / 10);
#pragma omp barrier
		spin(MILLISECOND / 10);
#pragma omp barrier
	}
}

static void in_order(void)
{
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(2) /* region in_order */
	for (int i = 0; i < 6; i++) {
#pragma omp ordered
		spin(MILLISECOND / 10);
	}
}

static long sum(void)
{
	long sum = 0;

#pragma omp parallel for num_threads(2) schedule(static) reduction(+ : sum) /* region sum */
	for (int i = 0; i < 1000; i++)
		sum += i;
	return sum;
}

static void outer(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) /* region outer */
	{
		spin(MILLISECOND / 100);

#pragma omp parallel num_threads(2) /* region inner */
		spin(MILLISECOND / 10);

		spin(MILLISECOND / 100); /* or clang would jump to the region */
	}
}

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a) firstprivate(n) /* task first */
	a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n) /* task second */
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static long tasks(void)
{
	long result = 0;

#pragma omp parallel num_threads(2) /* region tasks */
#pragma omp single
	result = fib(8);
	return result;
}

static long loop(void)
{
	long done = 0;

#pragma omp parallel num_threads(2) /* region loop */
#pragma omp single
#pragma omp taskloop num_tasks(10) /* task loop */
	for (int i = 0; i < 20; i++) {
#pragma omp atomic
		done += i;
	}
	return done;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	long results = 0;

	for (int i = 0; i < times; i++) {
		uneven();
		held();
	}
	locked();
	barriers();
	in_order();
	results += sum();
	outer();
	results += tasks();
	results += loop();
	printf("%ld %lld %lld\n", results, (long long)uneven_ns, (long long)held_ns);
	return 0;
}
