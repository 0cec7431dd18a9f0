/* Six threads answer requests of sessions; one more saves all sessions from time to time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define SESSIONS 100000u
#define CHECKPOINTS 40
#define SERVERS 6

struct session {
	uint64_t id, hits, last_seen;
};

static struct session sessions[SESSIONS];
static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ended;
static atomic_ulong answered;

static uint64_t touch_session(uint64_t id)
{
	uint64_t hits;

	pthread_mutex_lock(&sessions_lock);
	sessions[id % SESSIONS].last_seen = id;
	hits = ++sessions[id % SESSIONS].hits;
	pthread_mutex_unlock(&sessions_lock);
	return hits;
}

static uint64_t render_answer(uint64_t hits)
{
	for (int i = 0; i < 20000; i++)
		hits = hits * 6364136223846793005u + 1442695040888963407u;
	return hits;
}

static void *serve(void *argument)
{
	uint64_t id = (uintptr_t)argument;

	pthread_setname_np(pthread_self(), "server");
	while (!atomic_load(&ended)) {
		id = render_answer(touch_session(id));
		atomic_fetch_add(&answered, 1);
	}
	return NULL;
}

static uint64_t pack_session(const struct session *session)
{
	const uint8_t *bytes = (const uint8_t *)session;
	uint64_t packed = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(*session); i++)
		packed = (packed ^ bytes[i]) * 1099511628211u;
	return packed;
}

static uint64_t save_sessions(void)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&sessions_lock);
	for (unsigned round = 0; round < 12; round++)
		for (unsigned i = 0; i < SESSIONS; i++)
			sum += pack_session(&sessions[i]) >> round;
	pthread_mutex_unlock(&sessions_lock);
	return sum;
}

static void *keep(void *argument)
{
	uint64_t *sum = argument;

	pthread_setname_np(pthread_self(), "keeper");
	for (int i = 0; i < CHECKPOINTS; i++) {
		*sum += save_sessions();
		usleep(2000);
	}
	atomic_store(&ended, true);
	return NULL;
}

int main(void)
{
	pthread_t servers[SERVERS], keeper;
	uint64_t sum = 0;

	pthread_create(&keeper, NULL, keep, &sum);
	for (uintptr_t i = 0; i < SERVERS; i++)
		pthread_create(&servers[i], NULL, serve, (void *)(i * 7919));
	for (int i = 0; i < SERVERS; i++)
		pthread_join(servers[i], NULL);
	pthread_join(keeper, NULL);
	printf("%lu answers, %016llx\n", atomic_load(&answered), (unsigned long long)sum);
	return 0;
}
