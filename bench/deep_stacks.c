/*
 * Threads that compute at the end of a recursion of known depth, each the same work: what a recorder of deep stacks costs is
 * the CPU time above that of the program alone.
 *	deep_stacks DEPTH THREADS WORK
 * 288 bytes of stack for each call. cc -O2 -pthread, with -fno-omit-frame-pointer or -fomit-frame-pointer.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;
static int depth;
static long work;

static __attribute__((noinline)) uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < 200; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static __attribute__((noinline)) uint64_t compute(void)
{
	uint64_t x = 1;

	for (long i = 0; i < work; i++)
		x ^= leaf(x);
	return x;
}

static __attribute__((noinline)) uint64_t recurse(int n)
{
	volatile char room[260];
	uint64_t x;

	room[n % 260] = (char)n;
	x = n > 0 ? recurse(n - 1) : compute();
	return x + (uint64_t)room[0];
}

static void *run(void *context)
{
	sink = recurse(depth);
	return context;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0;
	pthread_t *threads = calloc((size_t)n + 1, sizeof(*threads));
	pthread_attr_t attr;

	if (n <= 0 || threads == NULL)
		return 2;
	depth = atoi(argv[1]);
	work = atol(argv[3]);
	if (n == 1) {
		run(NULL);
		return 0;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&threads[i], &attr, run, NULL) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
