/*
 * For programs that measure themselves: clocks, and what a phase of a thread took, printed as a
 * line of JSON.
 */
#ifndef TESTDATA_OWN_TIMES_H
#define TESTDATA_OWN_TIMES_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "noinline.h"

#define MS INT64_C(1000000)

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of this thread. A system call: asked often, it would be what takes the time. */
static inline int64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Arithmetic in user mode, some 50 us; inlined, so that it is the caller's own time. */
static inline __attribute__((always_inline)) void compute(void)
{
	volatile double x = 1;

	for (int i = 0; i < 25000; i++)
		x = x * 1.0000001 + 0.5;
}

/* Until the thread has used so much CPU time. */
static inline __attribute__((always_inline)) void compute_until(int64_t cpu_time_ns)
{
	do
		compute();
	while (cpu_ns() < cpu_time_ns);
}

static inline void sleep_ns(int64_t length_ns)
{
	struct timespec left = {length_ns / 1000000000, length_ns % 1000000000};

	while (nanosleep(&left, &left) != 0)
		;
}

/*
 * Until the kernel has the thread of this process waiting: then it waits for what it announced that
 * it would wait for.
 */
static inline void wait_until_blocked(int tid)
{
	char path[64], text[128], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		if (n <= 0)
			return;
		text[n] = 0;
		if (sscanf(text, "%*d (%*[^)]) %c", &state) != 1)
			return;
		sleep_ns(MS);
	}
}

/*
 * How long this thread could have run but waited for a CPU, as the scheduler counts it; -1 where it
 * does not.
 */
static inline int64_t waited_for_cpu_ns(void)
{
	char text[96] = "";
	int64_t waited = -1;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%*d %" SCNd64, &waited) != 1)
		waited = -1;
	close(fd);
	return waited;
}

/*
 * What the hypervisor took from all processors so far, in steps of 10 ms: the kernel takes it for
 * no thread's CPU time.
 */
static inline int64_t stolen_ns(void)
{
	char text[256] = "";
	int64_t ticks = 0;
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "cpu %*d %*d %*d %*d %*d %*d %*d %" SCNd64, &ticks) != 1)
		ticks = 0;
	close(fd);
	return ticks * 1000000000 / sysconf(_SC_CLK_TCK);
}

struct own_times {
	int64_t at_ns;	 /* CLOCK_MONOTONIC */
	int64_t cpu_ns;	 /* user and system together: exact */
	int64_t user_ns; /* how the kernel divides it: by clock ticks */
	int64_t system_ns;
	int64_t wait_cpu_ns; /* -1: not known */
	int64_t stolen_ns;
	long voluntary;	  /* switches: it had to wait */
	long involuntary; /* switches: the CPU was taken from it */
	long major_faults;
};

/* Of the calling thread, since it began. */
static inline struct own_times own_times(void)
{
	struct own_times times = {0};
	struct rusage usage;

	times.stolen_ns = stolen_ns();
	times.wait_cpu_ns = waited_for_cpu_ns();
	times.cpu_ns = cpu_ns();
	/* Last, so that nearly all that comes before at_ns is counted. */
	getrusage(RUSAGE_THREAD, &usage);
	times.at_ns = now_ns();
	times.user_ns = usage.ru_utime.tv_sec * INT64_C(1000000000) + usage.ru_utime.tv_usec * 1000;
	times.system_ns = usage.ru_stime.tv_sec * INT64_C(1000000000) + usage.ru_stime.tv_usec * 1000;
	times.voluntary = usage.ru_nvcsw;
	times.involuntary = usage.ru_nivcsw;
	times.major_faults = usage.ru_majflt;
	return times;
}

/*
 * One phase of one thread: lengths in ns; begin and end are absolute, life_* counted from the
 * thread's start.
 */
static inline void print_phase(const char *thread, int tid, const char *phase, struct own_times begin,
			       struct own_times end)
{
	int64_t wait_cpu =
		begin.wait_cpu_ns < 0 || end.wait_cpu_ns < 0 ? -1 : end.wait_cpu_ns - begin.wait_cpu_ns;

	printf("{\"thread\":\"%s\",\"tid\":%d,\"phase\":\"%s\",\"begin\":%" PRId64 ",\"end\":%" PRId64
	       ",\"wall\":%" PRId64 ",\"cpu\":%" PRId64 ",\"user\":%" PRId64 ",\"system\":%" PRId64
	       ",\"wait_cpu\":%" PRId64 ",\"stolen\":%" PRId64 ",\"life_cpu\":%" PRId64
	       ",\"life_wait_cpu\":%" PRId64 ",\"waits\":%ld,\"preempted\":%ld,\"life_waits\":%ld"
	       ",\"life_preempted\":%ld,\"major_faults\":%ld}\n",
	       thread, tid, phase, begin.at_ns, end.at_ns, end.at_ns - begin.at_ns, end.cpu_ns - begin.cpu_ns,
	       end.user_ns - begin.user_ns, end.system_ns - begin.system_ns, wait_cpu,
	       end.stolen_ns - begin.stolen_ns, end.cpu_ns, end.wait_cpu_ns, end.voluntary - begin.voluntary,
	       end.involuntary - begin.involuntary, end.voluntary, end.involuntary,
	       end.major_faults - begin.major_faults);
}

#endif
