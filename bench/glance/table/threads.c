/* 200 threads, worker-1 to worker-200, that compute. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 200

static volatile unsigned long results[THREADS];

__attribute__((noinline)) static unsigned long crunch(unsigned long n)
{
	unsigned long sum = n;

	for (unsigned long i = 0; i < 6000000; i++)
		sum = sum * 31 + (i ^ sum >> 7);
	return sum;
}

static void *work(void *place)
{
	unsigned long number = (unsigned long)place;
	char name[16];

	snprintf(name, sizeof(name), "worker-%lu", number + 1);
	pthread_setname_np(pthread_self(), name);
	results[number] = crunch(number);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
