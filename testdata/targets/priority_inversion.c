/*
 * A priority inversion: priority_inversion
 *
 * Three threads on one processor. "low" (SCHED_IDLE) takes a mutex and needs 20 ms of CPU time to
 * give it back (hold_resource). As soon as it has it, "high" (nice -10, or as nice as it is where
 * that is refused) asks for the mutex (need_resource), and "middle" (nice 0) computes for 300 ms of
 * CPU time (compute_on). middle needs no lock, and yet high waits for it: low does not get the
 * processor.
 *
 * Each thread prints how long it took for all that it did, and its phase (teller.h): "hold" is
 * low's time with the mutex, "need" the time until high had it, "compute" that of middle. The last
 * line says when high waited.
 */
#include "teller.h"

#include <sched.h>
#include <semaphore.h>

static pthread_mutex_t resource = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, is_needed;
static int64_t need_begin_ns;

static void stay_on_first_cpu(void)
{
	cpu_set_t allowed, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			return;
		}
	}
}

static void be_idle_class(void)
{
	struct sched_param none = {0};

	sched_setscheduler(0, SCHED_IDLE, &none);
}

NOINLINE void hold_resource(struct teller *low)
{
	int64_t begin = now_ns();

	pthread_mutex_lock(&resource);
	sem_post(&is_held);
	compute_until(cpu_ns() + 20 * MS);
	low->phase_ns = now_ns() - begin;
	low->times = 1;
	pthread_mutex_unlock(&resource);
}

NOINLINE void need_resource(struct teller *high)
{
	need_begin_ns = now_ns();
	sem_post(&is_needed);
	pthread_mutex_lock(&resource);
	high->phase_ns = now_ns() - need_begin_ns;
	high->times = 1;
	pthread_mutex_unlock(&resource);
}

NOINLINE void compute_on(struct teller *middle)
{
	int64_t begin = now_ns();

	compute_until(cpu_ns() + 300 * MS);
	middle->phase_ns = now_ns() - begin;
	middle->times = 1;
}

static void be_low(struct teller *low)
{
	low->phase = "hold";
	be_idle_class();
	hold_resource(low);
}

static void be_middle(struct teller *middle)
{
	middle->phase = "compute";
	while (sem_wait(&is_needed) != 0)
		;
	compute_on(middle);
}

static void be_high(struct teller *high)
{
	high->phase = "need";
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -10);
	while (sem_wait(&is_held) != 0)
		;
	need_resource(high);
}

int main(void)
{
	struct teller low, middle, high;

	stay_on_first_cpu();
	sem_init(&is_held, 0, 0);
	sem_init(&is_needed, 0, 0);
	start_teller(&middle, "middle", 0, be_middle);
	start_teller(&high, "high", 0, be_high);
	start_teller(&low, "low", 0, be_low);
	finish_teller(&high);
	finish_teller(&middle);
	finish_teller(&low);
	printf("{\"phase\":\"inversion\",\"begin\":%" PRId64 ",\"end\":%" PRId64 "}\n", need_begin_ns,
	       need_begin_ns + high.phase_ns);
	return 0;
}
