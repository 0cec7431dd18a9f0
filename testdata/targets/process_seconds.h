/*
 * The CPU time of the process so far, in seconds.
 */
#ifndef TESTDATA_PROCESS_SECONDS_H
#define TESTDATA_PROCESS_SECONDS_H

#include <time.h>

static inline double process_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
