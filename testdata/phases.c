/*
 * The known-answer program: phases and threads whose shares of time are fixed by how it is written.
 *
 *	main thread		phase_parse   300 ms  = tokenize 200 ms + build_ast 100 ms
 *				phase_solve   400 ms  = solve_step five deep, all of it in multiply
 *				phase_report  300 ms
 *	thread "worker-1", "worker-2"	1000 ms each = work_a 700 ms + work_b 300 ms, in turns of 10 ms
 *
 * All lengths are CPU time of the thread itself (CLOCK_THREAD_CPUTIME_ID), so that the shares hold
 * on any number of cores and on a busy machine; wall time is a second on three free cores, and more
 * on fewer. Of all CPU time: main 1/3, each worker 1/3; work_a 7/15, work_b 3/15, multiply 2/15,
 * phase_report 1/10, tokenize 1/15, build_ast 1/30.
 *
 * usage: phases [SCALE]	lengths are multiplied by SCALE (default 1)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "targets/noinline.h"

#define MS 1000000.0
#define SOLVE_DEPTH 5

static double scale = 1;

/* CPU time of this thread. */
static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/*
 * Arithmetic for so long; always inlined, so that the time is the caller's own (but for the clock,
 * which is asked once in some 20 us).
 */
static inline __attribute__((always_inline)) double burn(double until_ns)
{
	volatile double x = 1;

	do {
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001 + 0.5;
	} while (cpu_ns() < until_ns);
	return x;
}

NOINLINE double tokenize(double until_ns)
{
	return burn(until_ns) + 1;
}

NOINLINE double build_ast(double until_ns)
{
	return burn(until_ns) + 2;
}

NOINLINE double phase_parse(double begin_ns)
{
	double x = tokenize(begin_ns + 200 * MS * scale);

	return x + build_ast(begin_ns + 300 * MS * scale);
}

NOINLINE double multiply(double until_ns)
{
	return burn(until_ns) + 3;
}

NOINLINE double solve_step(int depth, double until_ns)
{
	if (depth < SOLVE_DEPTH)
		return solve_step(depth + 1, until_ns) + 1; /* + 1: no tail call */
	return multiply(until_ns) + 1;
}

NOINLINE double phase_solve(double begin_ns)
{
	return solve_step(1, begin_ns + 400 * MS * scale) + 1;
}

NOINLINE double phase_report(double begin_ns)
{
	return burn(begin_ns + 300 * MS * scale) + 4;
}

NOINLINE double work_a(double until_ns)
{
	return burn(until_ns) + 5;
}

NOINLINE double work_b(double until_ns)
{
	return burn(until_ns) + 6;
}

static void *worker(void *name)
{
	double begin_ns, x = 0;

	pthread_setname_np(pthread_self(), name);
	begin_ns = cpu_ns();
	for (int turn = 0; turn < 100; turn++) {
		x += work_a(begin_ns + (turn * 10 + 7) * MS * scale);
		x += work_b(begin_ns + (turn * 10 + 10) * MS * scale);
	}
	return x > 0 ? name : NULL;
}

int main(int argc, char **argv)
{
	static char names[2][16] = {"worker-1", "worker-2"};
	pthread_t threads[2];
	double begin_ns, x;

	if (argc > 1)
		scale = atof(argv[1]);
	if (!(scale > 0)) {
		fprintf(stderr, "usage: phases [SCALE]\n");
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, worker, names[i]) != 0)
			return 1;
	}
	begin_ns = cpu_ns();
	x = phase_parse(begin_ns);
	x += phase_solve(begin_ns + 300 * MS * scale);
	x += phase_report(begin_ns + 700 * MS * scale);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("phases: done (%d)\n", x > 0);
	return 0;
}
