/*
 * A thread that tells what it did: its life, and one phase that it measured itself.
 */
#ifndef TESTDATA_TELLER_H
#define TESTDATA_TELLER_H

#include "own_times.h"

#include <pthread.h>
#include <sys/syscall.h>

struct teller {
	char name[16];
	void (*work)(struct teller *teller);
	pthread_t thread;
	int tid;
	struct own_times begin, end;
	const char *phase; /* the one that it measured: how long altogether, how many times */
	int64_t phase_ns;
	long times;
};

static inline void *run_teller(void *argument)
{
	struct teller *teller = argument;

	pthread_setname_np(pthread_self(), teller->name);
	teller->tid = (int)syscall(SYS_gettid);
	teller->begin = own_times();
	teller->work(teller);
	teller->end = own_times();
	return NULL;
}

/* `number` is put behind the name; 0: none. */
static inline void start_teller(struct teller *teller, const char *name, int number,
				void (*work)(struct teller *teller))
{
	memset(teller, 0, sizeof(*teller));
	teller->work = work;
	if (number > 0)
		snprintf(teller->name, sizeof(teller->name), "%s-%d", name, number);
	else
		snprintf(teller->name, sizeof(teller->name), "%s", name);
	if (pthread_create(&teller->thread, NULL, run_teller, teller) != 0) {
		perror("pthread_create");
		exit(1);
	}
}

static inline void finish_teller(struct teller *teller)
{
	pthread_join(teller->thread, NULL);
	print_phase(teller->name, teller->tid, "life", teller->begin, teller->end);
	printf("{\"thread\":\"%s\",\"tid\":%d,\"phase\":\"%s\",\"wall\":%" PRId64 ",\"times\":%ld}\n",
	       teller->name, teller->tid, teller->phase, teller->phase_ns, teller->times);
}

#endif
