/*
 * What indicators count, by construction: calls of functions, from whom, in threads and children; an inlined function; a
 * line; accesses to data. Prints each number.
 *
 *	indicators [THREADS [CHILDREN [windows]]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile int64_t counter;
volatile int32_t table[8];
static volatile int sink;

NOINLINE int leaf(int n)
{
	sink += n;
	return n + 1;
}

NOINLINE int often(int n)
{
	return leaf(n) + leaf(n + 1);
}

NOINLINE int seldom(int n)
{
	return leaf(n) * 2;
}

static inline __attribute__((always_inline)) int inlined(int n)
{
	sink += 3 * n;
	return sink;
}

NOINLINE int with_inlined(int n)
{
	return inlined(n) + 1;
}

NOINLINE int with_two_inlined(int n)
{
	int first = inlined(n + 7);

	return first + leaf(first) + inlined(n + 9);
}

NOINLINE void never(void)
{
	sink++;
}

NOINLINE void touch(int n)
{
	counter = n;	     /* one write */
	sink = (int)counter; /* one read */
	table[2] = n;	     /* LINE */
}

NOINLINE void begin_window(void)
{
	sink++;
}

NOINLINE void end_window(void)
{
	sink++;
}

/* Every tenth call takes 60 ms. */
NOINLINE int sometimes_slow(int n)
{
	struct timespec time = {.tv_nsec = 60000000};

	if (n % 10 == 3)
		nanosleep(&time, NULL);
	sink += n;
	return n;
}

/* Windows with seven calls each; 30 calls, of which three are slow. */
NOINLINE static void windows(void)
{
	for (int i = 0; i < 10; i++) {
		seldom(i);
		begin_window();
		for (int j = 0; j < 7; j++)
			often(j);
		end_window();
	}
	for (int i = 0; i < 30; i++)
		sometimes_slow(i);
}

static void work(void)
{
	for (int i = 0; i < 1000; i++)
		often(i);
	for (int i = 0; i < 100; i++)
		seldom(i);
	for (int i = 0; i < 50; i++)
		with_inlined(i);
	for (int i = 0; i < 20; i++)
		with_two_inlined(i);
	for (int i = 0; i < 300; i++)
		touch(i);
}

static void *run(void *unused)
{
	work();
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0, children = argc > 2 ? atoi(argv[2]) : 0;
	int times = 1 + threads + children;
	pthread_t ids[64];

	if (threads > 64)
		threads = 64;
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, run, NULL) != 0)
			return 1;
	}
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work();
			_exit(0);
		}
		if (pid < 0)
			return 1;
	}
	work();
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	while (wait(NULL) > 0)
		;
	if (argc > 3) {
		windows();
		return 0;
	}
	printf("leaf %d\noften %d\nseldom %d\nwith_inlined %d\ninlined %d\ntouch %d\nline %d\nwrites "
	       "%d\naccesses %d\n",
	       2120 * times, 1000 * times, 100 * times, 50 * times, 90 * times, 300 * times, 300 * times,
	       300 * times, 600 * times);
	return 0;
}
