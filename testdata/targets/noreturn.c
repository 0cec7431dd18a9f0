/*
 * Calls that do not return: noreturn MS. Three threads burn MS milliseconds of CPU time each, in
 * turn
 *
 *	work, jump, leave, spin		leave never returns (longjmp), so its call is the last instruction of jump, and
 *					the return address is the first byte of whatever lies behind jump: behind
 *	work, behind, spin
 *	work, fall, ..., fall, spin	up to 199 times fall: more frames than a recording keeps (127)
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "noinline.h"

#define MS 1000000
#define DEPTHS 200

NOINLINE static unsigned long spin(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i * i;
	return sum;
}

NOINLINE __attribute__((noreturn)) static void leave(jmp_buf *to)
{
	spin(4000);
	longjmp(*to, 1);
}

NOINLINE __attribute__((noreturn)) void jump(jmp_buf *to)
{
	spin(10);
	leave(to);
}

NOINLINE unsigned long behind(void)
{
	unsigned long n = spin(2000);

	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE static unsigned long fall(int depth)
{
	unsigned long n = depth > 0 ? fall(depth - 1) : spin(4000);

	__asm__ volatile("" : "+r"(n)); /* so that the call is not the last thing */
	return n;
}

static long cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *work(void *arg)
{
	long end_ns = *(const long *)arg;

	for (volatile int turn = 0; cpu_time_ns() < end_ns; turn++) {
		jmp_buf here;

		if (setjmp(here) == 0)
			jump(&here);
		behind();
		fall(turn % DEPTHS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long end_ns = (argc == 2 ? atol(argv[1]) : 100) * MS;
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, &end_ns) != 0) {
			fputs("noreturn: no thread\n", stderr);
			return 1;
		}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
