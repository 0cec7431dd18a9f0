/*
 *	overload THREADS SECONDS same|mixed|deep
 *
 * Threads that compute at the end of calls of known depth, all at once: `same`: 11 calls each; `mixed`: 6 to 65 calls, in
 * a fifth of the threads with frame pointers, in a twentieth with 1 KiB of stack each (20 to 40 KiB); `deep`: 45 calls with
 * 1 KiB each. Prints the CPU time of the process in seconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_barrier_t all_are_there;
static volatile int ends;
static const char *kind;

static __attribute__((noipa)) unsigned long compute(unsigned long x)
{
	while (!ends)
		for (int i = 0; i < 10000; i++)
			x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static __attribute__((noipa)) unsigned long small(int depth, unsigned long x)
{
	volatile unsigned long room[8] = {x};

	return (depth == 0 ? compute(x) : small(depth - 1, x + 1)) + room[0];
}

static __attribute__((noipa)) unsigned long wide(int depth, unsigned long x)
{
	volatile unsigned char room[1024];

	room[0] = (unsigned char)x;
	return (depth == 0 ? compute(x) : wide(depth - 1, x + 1)) + room[0];
}

static __attribute__((noipa, optimize("no-omit-frame-pointer"))) unsigned long framed(int depth,
										      unsigned long x)
{
	volatile unsigned long room[8] = {x};

	return (depth == 0 ? compute(x) : framed(depth - 1, x + 1)) + room[0];
}

static void *run(void *context)
{
	long i = (long)context;

	pthread_barrier_wait(&all_are_there);
	if (strcmp(kind, "deep") == 0)
		return (void *)wide(44, (unsigned long)i);
	if (strcmp(kind, "same") == 0)
		return (void *)small(10, (unsigned long)i);
	if (i % 20 == 0)
		return (void *)wide(20 + (int)(i % 40), (unsigned long)i);
	if (i % 5 == 1)
		return (void *)framed(5 + (int)(i % 50), (unsigned long)i);
	return (void *)small(5 + (int)(i % 60), (unsigned long)i);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[1]) : 0;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	struct timespec pause = {argc > 2 ? atoi(argv[2]) : 0, 0}, used;
	pthread_attr_t attr;

	if (n <= 0 || threads == NULL)
		return 1;
	kind = argv[3];
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	pthread_barrier_init(&all_are_there, NULL, (unsigned)n + 1);
	for (long i = 0; i < n; i++) {
		if (pthread_create(&threads[i], &attr, run, (void *)i) != 0)
			return 1;
	}
	pthread_barrier_wait(&all_are_there);
	nanosleep(&pause, NULL);
	ends = 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%ld.%09ld\n", (long)used.tv_sec, used.tv_nsec);
	return 0;
}
