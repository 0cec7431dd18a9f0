/* The library of dlclose_reload: built twice, with another name for its one function. */
#include <time.h>

#ifndef WORK
#define WORK plugin_work
#endif

int WORK(void);

int WORK(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 50000000);
	return 0;
}
