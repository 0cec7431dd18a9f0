/* A calls B, which is interrupted: it sleeps for 20 ms, and says how long that was at least. Both also work. */
#include "noinline.h"

#include <stdio.h>
#include <time.h>

static volatile long sink;

NOINLINE static void work(long n)
{
	for (long i = 0; i < n; i++)
		sink++;
}

NOINLINE static void B(void)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	work(100000);
	(void)nanosleep(&pause, NULL);
	work(100000);
}

NOINLINE static void A(void)
{
	work(50000);
	B();
	work(50000);
}

int main(void)
{
	A();
	printf("20000000\n");
	return 0;
}
