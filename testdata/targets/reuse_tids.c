/*
 * Threads whose ids are used again: reuse_tids [THREADS]
 *
 * One thread after the other (main joins each before it makes the next): thread i computes for 1 +
 * i % 7 ms of CPU time and then naps for i % 5 ms. Its name is "short-I". Each prints what it
 * measured (own_times.h). In a pid namespace with a small pid_max the kernel has no choice but to
 * use ids again; the last line says how many ids there were.
 */
#include "own_times.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

struct short_thread {
	int number;
	char name[24]; /* the kernel takes 15 characters */
	int tid;
	struct own_times begin, end;
};

NOINLINE void compute_its_share(int number)
{
	compute_until(cpu_ns() + (1 + number % 7) * MS);
}

NOINLINE void nap_its_share(int number)
{
	if (number % 5 > 0)
		sleep_ns((number % 5) * MS);
}

static void *run(void *argument)
{
	struct short_thread *thread = argument;

	thread->tid = (int)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), thread->name);
	thread->begin = own_times();
	compute_its_share(thread->number);
	nap_its_share(thread->number);
	thread->end = own_times();
	return NULL;
}

static int count_ids(const int *tids, int n)
{
	int different = 0;

	for (int i = 0; i < n; i++) {
		bool is_new = true;

		for (int k = 0; k < i; k++)
			is_new = is_new && tids[k] != tids[i];
		different += is_new;
	}
	return different;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 150;
	int *tids = calloc(n > 0 ? (size_t)n : 1, sizeof(*tids));
	struct own_times begin = own_times();

	if (tids == NULL)
		return 1;
	for (int i = 0; i < n; i++) {
		struct short_thread thread = {.number = i};
		pthread_t id;
		int error;

		snprintf(thread.name, sizeof(thread.name), "short-%d", i);
		/* The id of a thread that was joined is free a little later. */
		for (int k = 0; (error = pthread_create(&id, NULL, run, &thread)) == EAGAIN && k < 10000; k++)
			sleep_ns(MS);
		if (error != 0)
			return 1;
		pthread_join(id, NULL);
		print_phase(thread.name, thread.tid, "life", thread.begin, thread.end);
		tids[i] = thread.tid;
	}
	print_phase("reuse_tids", getpid(), "main", begin, own_times());
	printf("{\"phase\":\"ids\",\"threads\":%d,\"ids\":%d}\n", n, count_ids(tids, n));
	free(tids);
	return 0;
}
