/*
 * Works for 20 ms and executes itself again, as often as the argument says (5). From the second
 * time on a second thread makes the call, which takes over the process's id.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char left[16];

static void work(void)
{
	struct timespec now, begin;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 20000000);
}

static void *again(void *unused)
{
	char *argv[] = {"execchain", left, NULL};

	work();
	execv("/proc/self/exe", argv);
	perror("execv");
	_exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	pthread_t thread;

	work();
	if (n <= 0)
		return 7;
	snprintf(left, sizeof(left), "%d", n - 1);
	if (argc < 2)
		again(NULL);
	if (pthread_create(&thread, NULL, again, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 1;
}
