/*
 * A server that warms up, waits, serves requests in frames of 20 ms, and loads once more in between:
 *
 *	load_index 400 ms | nothing 300 ms | 25 frames | load_index 300 ms | 25 frames
 *
 * In a frame answer_request takes 6 ms of CPU time, then the program sleeps until the next one begins.
 */
#include <stdint.h>
#include <time.h>

#include "../targets/noinline.h"

#define MS 1000000

static volatile double result = 1;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(int64_t ns)
{
	int64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	do {
		for (int i = 0; i < 10000; i++)
			result = result * 1.0000001 + 0.5;
	} while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
}

NOINLINE void load_index(int64_t ns)
{
	burn(ns);
	result += 1;
}

NOINLINE void answer_request(int64_t ns)
{
	burn(ns);
	result += 2;
}

static void sleep_until(int64_t time_ns)
{
	struct timespec until = {time_ns / (1000 * MS), time_ns % (1000 * MS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

NOINLINE void serve(int frames)
{
	int64_t begin_ns = now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < frames; i++) {
		answer_request(6 * MS);
		sleep_until(begin_ns + (int64_t)(i + 1) * 20 * MS);
	}
}

int main(void)
{
	load_index(400 * MS);
	sleep_until(now_ns(CLOCK_MONOTONIC) + 300 * MS);
	serve(25);
	load_index(300 * MS);
	serve(25);
	return 0;
}
