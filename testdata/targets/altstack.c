/*
 * altstack SECONDS: a timer's handler, on a stack of its own, interrupts recursions of different
 * depths and takes a fifth of the time. SECONDS are CPU time. Built by the flow that records it,
 * with -O2 and without frame pointers.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile double sink;

__attribute__((noinline)) static double spin(unsigned n)
{
	double sum = 0;

	for (unsigned i = 1; i < n; i++)
		sum += sqrt(sum + i) / i;
	return sum;
}

__attribute__((noinline)) static double below(unsigned depth)
{
	return depth == 0 ? spin(20000) : below(depth - 1) + depth;
}

static void on_alarm(int number)
{
	(void)number;
	sink += below(5);
}

__attribute__((noinline)) static double recurse(unsigned depth)
{
	double here = spin(depth * 37 + 20000);

	return depth == 0 ? here : recurse(depth - 1) + here;
}

int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1;
	stack_t stack = {.ss_size = 65536, .ss_sp = malloc(65536)};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval interval = {{0, 2000}, {0, 2000}};
	struct timespec now;
	double sum = 0;

	if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0 || sigaction(SIGALRM, &action, NULL) != 0 ||
	    setitimer(ITIMER_REAL, &interval, NULL) != 0)
		return 1;
	do {
		for (unsigned i = 0; i < 40; i++)
			sum += recurse(i % 4);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < end);
	printf("%g\n", sum + sink);
	return 0;
}
