#include "collect/trace_drain.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model/profile.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define IDLE_NS 100000000u

struct ctx_trace_drain {
	struct ctx_trace_segments *segments;
	size_t limit; /* chunks */
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t ending;
	bool ends;
	struct ctx_trace_pool pool;
	uint64_t horizon_ns;
	uint64_t
		fullest_bytes; /* of the rings when they were pulled last, as if each were as large as can be */
	uint64_t pause_ns, longest_pause_ns;
};

/* What is nobody's stays where it is. */
static void pull_segment(struct ctx_trace_drain *drain, struct ctx_trace_segment *segment)
{
	for (uint32_t i = 0; i < segment->grant.slots && segment->process != CTX_NONE; i++) {
		uint64_t before = segment->rings[i].tail, pulled;

		ctx_trace_ring_pull(&segment->rings[i], &drain->pool);
		pulled = (segment->rings[i].tail - before) *
			 (CTX_RT_RING_BYTES_MAX / segment->grant.ring_bytes);
		drain->fullest_bytes = pulled > drain->fullest_bytes ? pulled : drain->fullest_bytes;
	}
}

/* With the lock. Those who wait for room are told that it will come. */
static void pull_all(struct ctx_trace_drain *drain)
{
	bool has_room = drain->pool.n_used < drain->limit;

	drain->fullest_bytes = has_room ? 0 : CTX_RT_RING_BYTES_MAX;
	if (has_room)
		drain->horizon_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	for (struct ctx_trace_segment *segment = drain->segments->first; segment != NULL;
	     segment = segment->next) {
		atomic_fetch_add(&segment->header->beat, 1);
		if (has_room)
			pull_segment(drain, segment);
	}
}

static void *run_thread(void *context)
{
	struct ctx_trace_drain *drain = context;

	pthread_mutex_lock(&drain->lock);
	while (!drain->ends) {
		uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC);
		struct timespec time;
		uint64_t until;

		if (now - drain->horizon_ns > drain->pause_ns)
			pull_all(drain);
		drain->pause_ns =
			ctx_trace_drain_pause(drain->pause_ns, drain->fullest_bytes, drain->longest_pause_ns);
		until = now + (drain->segments->first != NULL ? drain->pause_ns : IDLE_NS);
		time = (struct timespec){(time_t)(until / 1000000000), (long)(until % 1000000000)};
		(void)pthread_cond_timedwait(&drain->ending, &drain->lock, &time);
	}
	pthread_mutex_unlock(&drain->lock);
	return NULL;
}

enum ctx_status ctx_trace_drain_create(struct ctx_trace_segments *segments, size_t limit_bytes,
				       struct ctx_trace_drain **ret, struct ctx_err *err)
{
	struct ctx_trace_drain *drain = ctx_calloc(1, sizeof(*drain));
	pthread_condattr_t monotonic;

	if (drain == NULL)
		return ctx_err_nomem(err);
	drain->segments = segments;
	drain->limit = limit_bytes / sizeof(struct ctx_trace_chunk);
	pthread_mutex_init(&drain->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&drain->ending, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*ret = drain;
	return CTX_OK;
}

void ctx_trace_drain_destroy(struct ctx_trace_drain *drain)
{
	if (drain == NULL)
		return;
	pthread_mutex_lock(&drain->lock);
	drain->ends = true;
	pthread_cond_signal(&drain->ending);
	pthread_mutex_unlock(&drain->lock);
	if (drain->runs)
		pthread_join(drain->thread, NULL);
	for (struct ctx_trace_segment *segment = drain->segments->first; segment != NULL;
	     segment = segment->next)
		ctx_trace_drain_forget(drain, segment);
	ctx_trace_pool_deinit(&drain->pool);
	pthread_cond_destroy(&drain->ending);
	pthread_mutex_destroy(&drain->lock);
	free(drain);
}

/* Signals are for the other threads. */
void ctx_trace_drain_start(struct ctx_trace_drain *drain, uint64_t longest_pause_ns)
{
	sigset_t all, before;

	drain->pause_ns = CTX_TRACE_PAUSE_NS;
	drain->longest_pause_ns = longest_pause_ns;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	drain->runs = pthread_create(&drain->thread, NULL, run_thread, drain) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ctx_trace_drain_lock(struct ctx_trace_drain *drain)
{
	pthread_mutex_lock(&drain->lock);
}

void ctx_trace_drain_unlock(struct ctx_trace_drain *drain)
{
	pthread_mutex_unlock(&drain->lock);
}

static void hand_out(struct ctx_trace_segment *segment)
{
	for (uint32_t i = 0; i < segment->grant.slots; i++)
		ctx_trace_queue_move(&segment->rings[i].queue, &segment->rings[i].incoming);
}

uint64_t ctx_trace_drain_pull(struct ctx_trace_drain *drain, struct ctx_trace_chunk **spent)
{
	ctx_trace_pool_take_back(&drain->pool, *spent);
	*spent = NULL;
	pull_all(drain);
	for (struct ctx_trace_segment *segment = drain->segments->first; segment != NULL;
	     segment = segment->next)
		hand_out(segment);
	return drain->horizon_ns;
}

uint64_t ctx_trace_drain_pull_process(struct ctx_trace_drain *drain, int64_t pid)
{
	uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC);

	for (struct ctx_trace_segment *segment = drain->segments->first; segment != NULL;
	     segment = segment->next) {
		if (segment->pid != pid)
			continue;
		pull_segment(drain, segment);
		hand_out(segment);
	}
	return now;
}

void ctx_trace_drain_forget(struct ctx_trace_drain *drain, struct ctx_trace_segment *segment)
{
	for (uint32_t i = 0; i < segment->grant.slots; i++)
		ctx_trace_ring_clear(&segment->rings[i], &drain->pool);
}
