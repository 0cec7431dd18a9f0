/* Four threads that call at once. */
#include <pthread.h>

static volatile int sum;

int inner(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

int outer(int n)
{
	return inner(n) + inner(2 * n);
}

void *work(void *p)
{
	for (int i = 0; i < 3; i++)
		outer(10);
	return p;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return outer(1) < 0;
}
