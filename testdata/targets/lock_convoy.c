/*
 * A lock convoy: lock_convoy [MILLISECONDS]
 *
 * Three threads "worker-1" to "worker-3" serve requests: each waits for one (next_request, here 400
 * us in nanosleep) and adds to a total, 50 us under a mutex (add_to_total): they would hardly meet.
 * The thread "reporter" takes the same mutex every 40 ms and keeps it for 20 ms, because it writes
 * its report (write_report: a slow disk, here nanosleep) before it gives the mutex back. The
 * workers queue up behind it, and when it lets go one hands the mutex to the next.
 *
 * Each thread prints how long it took for all that it did (teller.h); the phase "wait" of a worker
 * is the time that its calls of pthread_mutex_lock took that lasted more than 5 ms, `times` how
 * many these were. So with the reporter's phase "report": it is the time in write_report, and how
 * often it was called.
 */
#include "teller.h"

#include <stdatomic.h>
#include <stdbool.h>

#define WORKERS 3
#define HOLD_NS (20 * MS)
#define LONG_NS (5 * MS)

static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;
static volatile long total;

NOINLINE void add_to_total(struct teller *worker)
{
	int64_t begin = now_ns(), waited;

	pthread_mutex_lock(&total_lock);
	waited = now_ns() - begin;
	compute();
	total++;
	pthread_mutex_unlock(&total_lock);
	if (waited > LONG_NS) {
		worker->phase_ns += waited;
		worker->times++;
	}
}

NOINLINE void next_request(void)
{
	sleep_ns(MS * 4 / 10);
}

NOINLINE void work(struct teller *worker)
{
	worker->phase = "wait";
	while (!is_over) {
		next_request();
		add_to_total(worker);
	}
}

NOINLINE void write_report(struct teller *reporter)
{
	int64_t begin = now_ns();

	pthread_mutex_lock(&total_lock);
	sleep_ns(HOLD_NS); /* the slow disk */
	reporter->phase_ns += now_ns() - begin;
	reporter->times++;
	pthread_mutex_unlock(&total_lock);
}

NOINLINE void report(struct teller *reporter)
{
	reporter->phase = "report";
	while (!is_over) {
		sleep_ns(2 * HOLD_NS);
		write_report(reporter);
	}
}

int main(int argc, char **argv)
{
	struct teller reporter, workers[WORKERS];
	int64_t length_ms = argc > 1 ? atoi(argv[1]) : 1000;

	start_teller(&reporter, "reporter", 0, report);
	for (int i = 0; i < WORKERS; i++)
		start_teller(&workers[i], "worker", i + 1, work);
	sleep_ns(length_ms * MS);
	is_over = true;
	finish_teller(&reporter);
	for (int i = 0; i < WORKERS; i++)
		finish_teller(&workers[i]);
	return 0;
}
