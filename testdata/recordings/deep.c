/* Four threads, each with a stack that is deeper than 127 frames, the recorder's limit, for a part of its time. */
#include <pthread.h>

#define KEPT __attribute__((noinline))

static volatile double sink;

KEPT void burn(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

KEPT void work(long k)
{
	burn(k * 9000000);
}

KEPT void deep(int n)
{
	if (n == 0)
		burn(20000000);
	else
		deep(n - 1);
	sink += n;
}

static void *start(void *p)
{
	work((long)p);
	deep(300);
	return p;
}

int main(void)
{
	pthread_t t[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, start, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
