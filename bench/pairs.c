/*
 * The cost of one allocation and its release, at a depth of the stack: CPU time of many short rounds, each of which
 * fits into the ring of a recorder, with a pause for it. Prints the smallest and the mean, in ns.
 *
 *	pairs [DEPTH [ROUNDS [WHAT]]]	WHAT: heap; pread: of one byte; open: and its close; fputs: 20 bytes into a buffer;
 *					marks: an interval, by two calls of ctx_trace.h
 */
#include "../runtime/ctx_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 5000

static volatile size_t sizes[16] = {16, 24, 100, 48, 300, 64, 20, 1000, 32, 80, 24, 40, 56, 120, 200, 17};

static const char *what = "heap";
static FILE *sink;
static int zeros;

static void allocate(int i)
{
	void *block = malloc(sizes[i % 16]);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

static void use_files(int i)
{
	char byte;

	if (what[0] == 'p')
		i = (int)pread(zeros, &byte, 1, 0);
	else if (what[0] == 'o')
		close(open("/dev/null", O_RDONLY));
	else
		fputs("twenty bytes of text", sink);
	(void)i;
}

__attribute__((noinline)) static double measure(void)
{
	int is_heap = strcmp(what, "heap") == 0, is_marks = strcmp(what, "marks") == 0;
	struct timespec begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (int i = 0; i < PAIRS && is_heap; i++)
		allocate(i);
	for (int i = 0; i < PAIRS && is_marks; i++) {
		ctx_trace_begin("interval");
		ctx_trace_end("interval");
	}
	for (int i = 0; i < PAIRS && !is_heap && !is_marks; i++)
		use_files(i);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / PAIRS;
}

__attribute__((noinline)) static double descend(int depth)
{
	volatile double result = depth > 0 ? descend(depth - 1) : measure();

	return result;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 8, rounds = argc > 2 ? atoi(argv[2]) : 60;
	double least = 1e9, sum = 0;

	what = argc > 3 ? argv[3] : what;
	sink = fopen("/dev/null", "w");
	zeros = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < rounds; i++) {
		double ns = descend(depth);

		least = ns < least ? ns : least;
		sum += ns;
		usleep(20000);
	}
	printf("%.1f %.1f\n", least, sum / rounds);
	return 0;
}
