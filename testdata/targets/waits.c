/*
 * Waits of a known length: four threads sleep 12 times 20 ms each; three of them hold one lock for
 * 10 ms before each sleep.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void spin(long ms)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
static void *work(void *kind)
{
	for (int i = 0; i < 12; i++) {
		if (kind) {
			pthread_mutex_lock(&lock);
			spin(10);
			pthread_mutex_unlock(&lock);
		}
		usleep(20000);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, i < 3 ? "locks" : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
