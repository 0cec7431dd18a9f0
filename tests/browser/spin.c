/*
 * What the tests of the source pane record: two phases, each with a function whose loop takes the
 * time, and one that is inlined into both.
 */
#include "spin.h"

#include <stdlib.h>
#include <time.h>

static volatile unsigned long long sink;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void many_turns(unsigned n)
{
	unsigned long long x = n + 1;

	for (unsigned i = 0; i < n; i++)
		x = turn(x); /* most of it is in spin.h */
	sink += x;
}

__attribute__((noinline)) static void divisions(unsigned n)
{
	unsigned long long sum = 0;

	for (unsigned i = 1; i < n; i++)
		sum += turn(i) % (i | 1); /* </script><img src=x onerror=window.harmed=1> */
	sink += sum;
}

static void phase(void (*work)(unsigned), double seconds)
{
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end)
		work(100000);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	phase(many_turns, seconds / 2);
	phase(divisions, seconds / 2);
	return 0;
}
