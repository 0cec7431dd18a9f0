/*
 * Two threads that wake each other in turn, so that every turn is a switch: the worst case for a
 * recorder of switches.
 *	ping_pong pipe|futex 1|2 TURNS
 * on one processor or on two. Prints the number of switches and their duration in seconds.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int to[2][2];	      /* pipes */
static _Atomic unsigned turn; /* of thread 0 or 1 */
static bool has_pipes;
static long n_turns;
static int n_cpus;

static void give(unsigned to_whom)
{
	char byte = 0;

	if (has_pipes) {
		if (write(to[to_whom][1], &byte, 1) != 1)
			exit(1);
		return;
	}
	atomic_store(&turn, to_whom);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for_turn(unsigned whose)
{
	char byte;

	if (has_pipes && read(to[whose][0], &byte, 1) != 1)
		exit(1);
	while (!has_pipes && atomic_load(&turn) != whose)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - whose, NULL, NULL, 0);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		exit(1);
}

static void *run_other(void *unused)
{
	pin(n_cpus - 1);
	for (long i = 0; i < n_turns; i++) {
		wait_for_turn(1);
		give(0);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;
	struct timespec begin, end;
	struct rusage used;

	if (argc != 4)
		return 2;
	has_pipes = strcmp(argv[1], "pipe") == 0;
	n_cpus = atoi(argv[2]) > 1 ? 2 : 1;
	n_turns = atol(argv[3]);
	if (pipe(to[0]) != 0 || pipe(to[1]) != 0 || pthread_create(&other, NULL, run_other, NULL) != 0)
		return 1;
	pin(0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < n_turns; i++) {
		give(1);
		wait_for_turn(0);
	}
	pthread_join(other, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %.6f\n", used.ru_nvcsw + used.ru_nivcsw,
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}
