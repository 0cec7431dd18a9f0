#include "collect/trace_sync.h"

#include "base/clock.h"
#include "model/event_source.h"
#include "model/traced.h"

#include <pthread.h>

#define ROUNDS 5
#define CALLS 100u
#define MICROSECOND UINT64_C(1000)

static uint64_t calibrate_once(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint64_t sum = 0, longest = 0;

	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t before = ctx_clock_ns(CLOCK_MONOTONIC), taken;

		pthread_mutex_lock(&mutex);
		taken = ctx_clock_ns(CLOCK_MONOTONIC) - before;
		pthread_mutex_unlock(&mutex);
		sum += taken;
		longest = taken > longest ? taken : longest;
	}
	return longest > 6 * (sum / CALLS) ? longest : 6 * (sum / CALLS);
}

uint64_t ctx_trace_sync_calibrate(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t now = calibrate_once();

		least = now < least ? now : least;
	}
	return (least / MICROSECOND + 1) * MICROSECOND;
}

/* A thread of the process, by its id. Another one with this id is in another pid namespace. */
static uint32_t thread_of(const struct ctx_proctree *tree, int64_t tid, uint32_t process)
{
	uint32_t found, thread;

	return tid > 0 && ctx_proctree_lookup(tree, tid, &found, &thread) && found == process ? thread
											      : CTX_NONE;
}

/* The wait, and what its holder did meanwhile. */
static void read_wait(const struct ctx_trace_record *record, const struct ctx_proctree *tree,
		      struct ctx_trace_sync *ret)
{
	struct ctx_rt_wait what = ctx_rt_unpack_wait(record->words[3]);
	struct ctx_exp_sync *wait = &ret->operations[0], *block = &ret->operations[1];
	uint64_t pc = record->words[4];

	if (what.operation >= CTX_SYNC_HOLD)
		return;
	wait->operation = (uint8_t)what.operation;
	wait->failed = what.failed;
	wait->duration_ns = record->words[1];
	wait->object = record->words[2];
	wait->other = thread_of(tree, what.holder, wait->process);
	ret->n = 1;
	if (wait->other == CTX_NONE || wait->other == wait->thread)
		return;
	*block = *wait;
	block->operation = CTX_SYNC_BLOCK;
	block->failed = false;
	block->thread = wait->other;
	block->other = wait->thread;
	ret->holder_frame = pc - 1; /* in the call, like all callers */
	block->frames = &ret->holder_frame;
	block->n_frames = pc != 0 && pc < CTX_KERNEL_START;
	ret->n = 2;
}

void ctx_trace_sync_read(const struct ctx_trace_record *record, const struct ctx_exp_sync *who,
			 const struct ctx_proctree *tree, struct ctx_trace_sync *ret)
{
	struct ctx_exp_sync *first = &ret->operations[0];
	const uint64_t *words = record->words;

	*ret = (struct ctx_trace_sync){.operations = {*who}};
	first->time_ns = words[0];
	first->other = CTX_NONE;
	first->frames = record->frames;
	first->n_frames = record->n_frames;
	if (record->kind == CTX_RT_WAIT) {
		read_wait(record, tree, ret);
	} else if (record->kind == CTX_RT_HOLD) {
		first->operation = CTX_SYNC_HOLD;
		first->duration_ns = words[1];
		first->object = words[2];
		first->detail = ctx_rt_unpack_wait(words[3]).operation;
		ret->n = first->detail < CTX_SYNC_HOLD;
	} else {
		first->operation = CTX_SYNC_ORDER;
		first->held = words[1];
		first->object = words[2];
		first->detail = (uint32_t)words[3] & (CTX_SYNC_ORDER_HELD_READ | CTX_SYNC_ORDER_TAKEN_READ);
		ret->n = 1;
	}
	if (first->duration_ns > CTX_TRACED_WEIGHT_MAX || first->duration_ns > first->time_ns)
		ret->n = 0;
}
