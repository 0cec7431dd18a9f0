/*
 * The cost of taking a free lock and releasing it: CPU time of many short rounds, with a pause for a recorder.
 * Prints the smallest in ns of one mutex, and of two within each other.
 *
 *	locks [ROUNDS]
 *
 * A second thread sleeps meanwhile: with one thread alone the C library uses no atomic operations.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 20000

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

__attribute__((noinline)) static double measure(int nested)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (int i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(&one);
		if (nested) {
			pthread_mutex_lock(&two);
			pthread_mutex_unlock(&two);
		}
		pthread_mutex_unlock(&one);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / PAIRS;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	double least[2] = {1e9, 1e9};
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_on, NULL);
	for (int i = 0; i < 2 * rounds; i++) {
		double now = measure(i % 2);

		least[i % 2] = now < least[i % 2] ? now : least[i % 2];
		usleep(10000);
	}
	printf("%.1f %.1f\n", least[0], least[1]);
	return 0;
}
