/*
 * Teams whose size changes: omp_set_dynamic, omp_set_num_threads between executions of a region, a clause that asks for more than
 * OMP_THREAD_LIMIT gives; target regions without a device, which run on the host, with a league of two teams. Prints a sum that does not
 * depend on any of them.
 */
#include <omp.h>
#include <stdio.h>

#define N 1000

static long sum_of(int n)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static long on_host(int n)
{
	long sum = 0;

#pragma omp target map(tofrom : sum)
#pragma omp parallel for reduction(+ : sum) num_threads(2)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static long league(int n)
{
	long sum = 0;

#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) num_teams(2) thread_limit(1)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static long many(int n)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(8)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(void)
{
	long sum = 0;

	omp_set_dynamic(1);
	sum += sum_of(N);
	omp_set_dynamic(0);
	for (int threads = 1; threads <= 4; threads++) {
		omp_set_num_threads(threads);
		sum += sum_of(N);
	}
	sum += many(N) + on_host(N) + league(N);
	printf("%ld\n", sum);
	return 0;
}
