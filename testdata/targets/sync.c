/*
 * Waits for locks and other objects as often as its functions' names say, for ctxrec --sync; exits with 7:
 *
 *	sync all       each of the parts below
 *	sync deadlock  two threads that wait for each other, until it is killed; says so when they do
 *
 * What a thread waits for is given to it when it was seen to sleep, and 3 ms later: so nothing depends on luck.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "noinline.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, quiet = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static int flag; /* of the conditions */
static pthread_t joined;
static atomic_int tid; /* of the thread that is going to wait; 0: it has not come so far */

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong: %s\n", what);
	fflush(stdout);
	_exit(1);
}

static void nap_ms(int ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000L};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* Behind this a thread waits for one thing alone. (The lock makes it known to the runtime.) */
static void come(void)
{
	pthread_mutex_lock(&quiet);
	pthread_mutex_unlock(&quiet);
	atomic_store(&tid, (int)syscall(SYS_gettid));
}

static void until_it_waits(void)
{
	char path[64], line[512], state = 0;

	while (atomic_load(&tid) == 0)
		nap_ms(1);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_exchange(&tid, 0));
	while (state != 'S') {
		FILE *file = fopen(path, "re");

		check(file != NULL && fgets(line, sizeof(line), file) != NULL, "a thread has gone");
		fclose(file);
		state = strrchr(line, ')')[2];
		nap_ms(1);
	}
	nap_ms(3);
}

static struct timespec after_ms(clockid_t clock, long ms)
{
	struct timespec then;

	clock_gettime(clock, &then);
	then.tv_sec += ms / 1000;
	then.tv_nsec += ms % 1000 * 1000000;
	then.tv_sec += then.tv_nsec / 1000000000;
	then.tv_nsec %= 1000000000;
	return then;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, function, NULL) == 0, "pthread_create");
	return thread;
}

NOINLINE void ends(pthread_t thread)
{
	check(pthread_join(thread, NULL) == 0, "join");
}

/* What the other thread does: waits once. */

NOINLINE void *waits_5_mutex(void *unused)
{
	come();
	check(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0, "mutex");
	return unused;
}

NOINLINE void *waits_2_timed(void *unused)
{
	struct timespec until = after_ms(CLOCK_MONOTONIC, 900000);

	come();
	check(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == 0, "clocklock");
	pthread_mutex_unlock(&mutex);
	return unused;
}

NOINLINE void *waits_2_read(void *unused)
{
	come();
	check(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0, "rdlock");
	return unused;
}

NOINLINE void *waits_2_write(void *unused)
{
	come();
	check(pthread_rwlock_wrlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0, "wrlock");
	return unused;
}

NOINLINE void *waits_3_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	come();
	while (!flag)
		check(pthread_cond_wait(&condition, &mutex) == 0, "cond_wait");
	pthread_mutex_unlock(&mutex);
	return unused;
}

NOINLINE void *waits_3_semaphore(void *unused)
{
	come();
	errno = 77;
	check(sem_wait(&semaphore) == 0 && errno == 77, "sem_wait");
	return unused;
}

NOINLINE void *waits_2_barrier(void *unused)
{
	int result;

	come();
	result = pthread_barrier_wait(&barrier);
	check(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD, "barrier");
	return unused;
}

NOINLINE void *waits_2_join(void *unused)
{
	come();
	check(pthread_join(joined, NULL) == 0, "join");
	return unused;
}

NOINLINE void *waits_2_mtx(void *unused)
{
	come();
	check(mtx_lock(&mtx) == thrd_success && mtx_unlock(&mtx) == thrd_success, "mtx");
	return unused;
}

NOINLINE void *waits_2_cnd(void *unused)
{
	mtx_lock(&mtx);
	come();
	while (!flag)
		check(cnd_wait(&cnd, &mtx) == thrd_success, "cnd_wait");
	mtx_unlock(&mtx);
	return unused;
}

/* What the main thread does meanwhile. */

NOINLINE void has_the_mutex(void *(*waits)(void *), int n)
{
	while (n-- > 0) {
		pthread_t thread;

		check(pthread_mutex_lock(&mutex) == 0, "lock");
		thread = start(waits);
		until_it_waits();
		check(pthread_mutex_unlock(&mutex) == 0, "unlock");
		ends(thread);
	}
}

NOINLINE void has_the_rwlock(int (*lock)(pthread_rwlock_t *), void *(*waits)(void *), int n)
{
	while (n-- > 0) {
		pthread_t thread;

		check(lock(&rwlock) == 0, "rwlock");
		thread = start(waits);
		until_it_waits();
		check(pthread_rwlock_unlock(&rwlock) == 0, "unlock");
		ends(thread);
	}
}

static void gives_conditions(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		flag = 0;
		thread = start(waits_3_condition);
		until_it_waits();
		pthread_mutex_lock(&mutex);
		flag = 1;
		pthread_mutex_unlock(&mutex);
		pthread_cond_signal(&condition);
		ends(thread);
	}
	for (int i = 0; i < 2; i++) {
		flag = 0;
		thread = start(waits_2_cnd);
		until_it_waits();
		mtx_lock(&mtx);
		flag = 1;
		mtx_unlock(&mtx);
		cnd_broadcast(&cnd);
		ends(thread);
	}
}

static void gives_others(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		thread = start(waits_3_semaphore);
		until_it_waits();
		sem_post(&semaphore);
		ends(thread);
	}
	for (int i = 0; i < 2; i++) {
		thread = start(waits_2_barrier);
		until_it_waits();
		pthread_barrier_wait(&barrier);
		ends(thread);
	}
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		joined = start(waits_5_mutex); /* two of these are its five */
		until_it_waits();
		thread = start(waits_2_join);
		until_it_waits();
		pthread_mutex_unlock(&mutex);
		ends(thread);
	}
	for (int i = 0; i < 2; i++) {
		mtx_lock(&mtx);
		thread = start(waits_2_mtx);
		until_it_waits();
		mtx_unlock(&mtx);
		ends(thread);
	}
}

NOINLINE void holds_300(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&quiet);
		pthread_mutex_unlock(&quiet);
	}
}

/* The time is up, twice each. */
NOINLINE void *times_out_6(void *unused)
{
	for (int i = 0; i < 2; i++) {
		struct timespec until = after_ms(CLOCK_REALTIME, 5);
		int error = errno = 77;

		check(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT && errno == error, "timedlock");
		check(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "sem_timedwait");
		until = after_ms(CLOCK_REALTIME, 5);
		check(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "sem_timedwait");
	}
	return unused;
}

static void times_out(void)
{
	pthread_mutex_lock(&mutex);
	ends(start(times_out_6));
	pthread_mutex_unlock(&mutex);
}

/* Locks in inverse orders */

NOINLINE void *left_then_right(void *unused)
{
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&right);
	pthread_mutex_unlock(&right);
	pthread_mutex_unlock(&left);
	return unused;
}

NOINLINE void *right_then_left(void *unused)
{
	pthread_mutex_lock(&right);
	pthread_mutex_lock(&left);
	pthread_mutex_unlock(&right);
	pthread_mutex_unlock(&left);
	return unused;
}

/* One thread in both orders, and tried ones, are no danger. */
static void is_no_danger(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_mutex_lock(&quiet);
	pthread_mutex_unlock(&quiet);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_lock(&quiet);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	check(pthread_mutex_trylock(&left) == 0, "trylock");
	pthread_mutex_unlock(&left);
	pthread_mutex_unlock(&quiet);
}

/* What the functions have to say and do is not changed */

static void kinds_of_mutexes(void)
{
	pthread_mutex_t recursive, checked;
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &kind);
	check(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0, "recursive");
	check(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0, "recursive");
	check(pthread_mutex_unlock(&recursive) == EPERM, "recursive, not held");
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &kind);
	check(pthread_mutex_unlock(&checked) == EPERM, "checked, not held");
	check(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK, "checked");
	check(pthread_mutex_trylock(&checked) == EBUSY && pthread_mutex_unlock(&checked) == 0, "checked");
}

static pthread_mutex_t robust;

static void *dies_with_it(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

static void robust_mutexes(void)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &kind);
	ends(start(dies_with_it));
	check(pthread_mutex_lock(&robust) == EOWNERDEAD, "robust");
	check(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0, "robust");
	ends(start(dies_with_it));
	check(pthread_mutex_lock(&robust) == EOWNERDEAD && pthread_mutex_unlock(&robust) == 0, "robust");
	check(pthread_mutex_lock(&robust) == ENOTRECOVERABLE, "robust, given up");
}

static void cleans_up(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&mutex);
}

static void *is_cancelled_waiting(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(cleans_up, NULL);
	come();
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static void *is_cancelled_before(void *unused)
{
	(void)unused;
	while (atomic_load(&tid) == 0)
		sched_yield(); /* no cancellation point */
	sem_wait(&semaphore);
	return NULL;
}

static void cancellation(void)
{
	pthread_t thread = start(is_cancelled_waiting);
	void *result = NULL;
	int value;

	until_it_waits();
	pthread_cancel(thread);
	check(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "cancelled in cond_wait");
	check(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0, "the mutex behind it");
	sem_post(&semaphore);
	thread = start(is_cancelled_before);
	pthread_cancel(thread);
	atomic_store(&tid, 1);
	check(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "cancelled before sem_wait");
	check(sem_getvalue(&semaphore, &value) == 0 && value == 1, "the semaphore behind it");
	check(sem_wait(&semaphore) == 0, "sem_wait");
	atomic_store(&tid, 0);
}

static void errors(void)
{
	const struct timespec no_time = {.tv_nsec = -1};
	int value;

	errno = 77;
	sem_post(&semaphore);
	check(sem_timedwait(&semaphore, &no_time) == -1 && errno == EINVAL, "no time");
	check(pthread_mutex_clocklock(&left, 12345, &no_time) == EINVAL, "no clock");
	check(pthread_rwlock_timedrdlock(&rwlock, &no_time) == EINVAL, "no time");
	check(pthread_rwlock_clockwrlock(&rwlock, 12345, &no_time) == EINVAL, "no clock");
	errno = 77;
	check(sem_wait(&semaphore) == 0 && errno == 77, "errno");
	check(sem_getvalue(&semaphore, &value) == 0 && value == 0, "sem_getvalue");
	check(pthread_rwlock_wrlock(&rwlock) == 0 && pthread_rwlock_rdlock(&rwlock) == EDEADLK, "rwlock");
	check(pthread_rwlock_tryrdlock(&rwlock) == EBUSY && pthread_rwlock_unlock(&rwlock) == 0, "rwlock");
	check(mtx_trylock(&mtx) == thrd_success && mtx_trylock(&mtx) == thrd_busy, "mtx");
	check(mtx_unlock(&mtx) == thrd_success, "mtx");
}

/* A child has the locks that its thread had. */
NOINLINE void holds_20_in_child(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&left);
		pthread_mutex_unlock(&left);
	}
}

static void forks(void)
{
	int status;
	pid_t child;

	pthread_mutex_lock(&quiet);
	child = fork();
	if (child == 0) {
		check(pthread_mutex_trylock(&quiet) == EBUSY && pthread_mutex_unlock(&quiet) == 0, "child");
		holds_20_in_child();
		_exit(5);
	}
	pthread_mutex_unlock(&quiet);
	check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "child");
}

NOINLINE void deadlock(void)
{
	pthread_spinlock_t spin;

	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&mutex); /* the other thread takes left only when it has right */
	(void)start(right_then_left);
	while (pthread_mutex_trylock(&right) == 0) {
		pthread_mutex_unlock(&right);
		nap_ms(1);
	}
	puts("waits");
	fflush(stdout);
	pthread_mutex_lock(&right);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "deadlock") == 0)
		deadlock();
	check(argc == 2 && strcmp(argv[1], "all") == 0, "arguments");
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	mtx_init(&mtx, mtx_timed);
	cnd_init(&cnd);
	has_the_mutex(waits_5_mutex, 3);
	has_the_mutex(waits_2_timed, 2);
	has_the_rwlock(pthread_rwlock_wrlock, waits_2_read, 2);
	has_the_rwlock(pthread_rwlock_rdlock, waits_2_write, 2);
	gives_conditions();
	gives_others();
	holds_300();
	times_out();
	ends(start(left_then_right));
	ends(start(right_then_left));
	is_no_danger();
	kinds_of_mutexes();
	robust_mutexes();
	cancellation();
	errors();
	forks();
	puts("all is right");
	return 7;
}
