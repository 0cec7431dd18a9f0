/* A client asks an engine, request by request. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define REQUESTS 120

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static bool waiting, closing;
static uint64_t question;
static atomic_ullong answer;
static atomic_bool answered;

static uint64_t solve(uint64_t value)
{
	for (int i = 0; i < 1000000; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	return value;
}

static void *run_engine(void *unused)
{
	pthread_setname_np(pthread_self(), "engine");
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!waiting && !closing)
			pthread_cond_wait(&arrived, &lock);
		if (closing)
			break;
		waiting = false;
		atomic_store(&answer, solve(question));
		atomic_store(&answered, true);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void send_question(uint64_t value)
{
	atomic_store(&answered, false);
	pthread_mutex_lock(&lock);
	question = value;
	waiting = true;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

static uint64_t await_answer(void)
{
	while (!atomic_load(&answered))
		usleep(15000);
	return atomic_load(&answer);
}

int main(void)
{
	pthread_t engine;
	uint64_t value = 1;

	pthread_create(&engine, NULL, run_engine, NULL);
	for (int i = 0; i < REQUESTS; i++) {
		send_question(value);
		value = await_answer();
	}
	pthread_mutex_lock(&lock);
	closing = true;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
	pthread_join(engine, NULL);
	printf("%016llx\n", (unsigned long long)value);
	return 0;
}
