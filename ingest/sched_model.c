#include "ingest/sched_model.h"

#include "base/mem.h"
#include "model/profile.h"

#include <string.h>

/*
 * A wake-up before the thread left its CPU ends the next wait only within this time; an older one
 * ended another wait.
 */
#define EARLY_NS 1000000u

enum place {
	PLACE_UNKNOWN = 0,
	PLACE_ON,
	PLACE_LEAVING, /* off, by a sample without the reason */
	PLACE_OFF,
	PLACE_WOKEN,
};

struct ctx_sched_thread {
	uint8_t place;	     /* enum place */
	bool has_early;	     /* woken while it was on a CPU: */
	bool faults_on_text; /* its last page fault was for instructions, and it has not waited since */
	bool waits_for_text; /* that fault waits */
	uint64_t early_ns;   /* when it was woken, */
	uint32_t waker, external_waker, waker_raw_stack; /* and by whom */
};

void ctx_sched_model_deinit(struct ctx_sched_model *model)
{
	free(model->threads);
	*model = (struct ctx_sched_model){0};
}

static enum ctx_status find(struct ctx_sched_model *model, uint32_t number, struct ctx_sched_thread **ret,
			    struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&model->threads, &model->cap, (size_t)number + 1, err);

	if (status != CTX_OK)
		return status;
	if (number >= model->n) {
		memset(model->threads + model->n, 0, (number + 1 - model->n) * sizeof(*model->threads));
		model->n = (size_t)number + 1;
	}
	*ret = &model->threads[number];
	return CTX_OK;
}

enum ctx_status ctx_sched_model_start(struct ctx_sched_model *model, uint32_t number, struct ctx_err *err)
{
	struct ctx_sched_thread *thread;
	enum ctx_status status = find(model, number, &thread, err);

	if (status == CTX_OK)
		*thread = (struct ctx_sched_thread){.place = PLACE_ON};
	return status;
}

static struct ctx_thread_change *put(struct ctx_sched_changes *changes, const struct ctx_thread_change *seen,
				     enum ctx_state_change kind)
{
	struct ctx_thread_change *change = &changes->items[changes->n++];

	*change = *seen;
	change->change = kind;
	return change;
}

/* A change of the thread at this time without a stack. */
static struct ctx_thread_change *put_bare(struct ctx_sched_changes *changes,
					  const struct ctx_thread_change *seen, enum ctx_state_change kind)
{
	struct ctx_thread_change bare = {.time_ns = seen->time_ns,
					 .thread = seen->thread,
					 .cpu = seen->cpu,
					 .waker = CTX_NONE,
					 .external_waker = CTX_NONE};

	return put(changes, &bare, kind);
}

/* The thread is on a CPU again, so the reason of its wait is known. */
static void on_cpu(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		   struct ctx_sched_changes *changes)
{
	thread->place = PLACE_ON;
	if (thread->waits_for_text)
		put_bare(changes, seen, CTX_CHANGE_TEXT_FAULT);
	thread->waits_for_text = false;
}

static void on_runs(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		    struct ctx_sched_changes *changes)
{
	if (thread->place == PLACE_OFF && thread->has_early && seen->time_ns <= thread->early_ns + EARLY_NS) {
		struct ctx_thread_change *woken = put_bare(changes, seen, CTX_CHANGE_WOKEN);

		woken->cpu = -1;
		woken->waker = thread->waker;
		woken->external_waker = thread->external_waker;
		woken->waker_raw_stack = thread->waker_raw_stack;
	}
	thread->has_early = false;
	put(changes, seen, CTX_CHANGE_RUNS);
	on_cpu(thread, seen, changes);
}

static void put_off(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		    enum ctx_state_change kind, struct ctx_sched_changes *changes)
{
	/* A preempted thread does not wait: an early wake-up is ignored. */
	if (kind == CTX_CHANGE_PREEMPTED)
		thread->has_early = false;
	if (kind == CTX_CHANGE_BLOCKED && thread->faults_on_text) {
		thread->faults_on_text = false;
		thread->waits_for_text = true;
	}
	put(changes, seen, kind);
}

/* A sample before the switch: no change was recorded in between, so the thread was on a CPU. */
static void on_leaves(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		      struct ctx_sched_changes *changes)
{
	bool has_reason = seen->change != CTX_SEEN_LEAVES;

	on_cpu(thread, seen, changes);
	thread->place = has_reason ? PLACE_OFF : PLACE_LEAVING;
	if (seen->change != CTX_SEEN_DEAD)
		put_off(thread, seen, has_reason ? seen->change : CTX_CHANGE_BLOCKED, changes);
}

/* The record after the switch. */
static void on_left(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		    struct ctx_sched_changes *changes)
{
	bool is_preempted = seen->change == CTX_SEEN_OFF_PREEMPTED;
	bool was_guessed = thread->place == PLACE_LEAVING;

	if (thread->place == PLACE_OFF || thread->place == PLACE_WOKEN)
		return;
	thread->place = PLACE_OFF;
	if (!was_guessed || is_preempted)
		put_off(thread, seen, is_preempted ? CTX_CHANGE_PREEMPTED : CTX_CHANGE_BLOCKED, changes);
}

/* A thread off CPU is woken now, even if its leaving was not recorded. */
static void on_waking(struct ctx_sched_thread *thread, const struct ctx_thread_change *seen,
		      struct ctx_sched_changes *changes)
{
	put(changes, seen, CTX_CHANGE_WOKEN);
	if (thread->place != PLACE_ON) {
		thread->place = PLACE_WOKEN;
		thread->has_early = false;
		return;
	}
	thread->has_early = true;
	thread->early_ns = seen->time_ns;
	thread->waker = seen->waker;
	thread->external_waker = seen->external_waker;
	thread->waker_raw_stack = seen->waker_raw_stack;
}

enum ctx_status ctx_sched_model_take(struct ctx_sched_model *model, const struct ctx_thread_change *seen,
				     struct ctx_sched_changes *ret, struct ctx_err *err)
{
	struct ctx_sched_thread *thread;
	enum ctx_status status = find(model, seen->thread, &thread, err);

	if (status != CTX_OK)
		return status;
	ret->n = 0;
	switch (seen->change) {
	case CTX_CHANGE_RUNS:
		on_runs(thread, seen, ret);
		break;
	case CTX_CHANGE_PREEMPTED:
	case CTX_CHANGE_BLOCKED:
	case CTX_CHANGE_STOPPED:
	case CTX_SEEN_LEAVES:
	case CTX_SEEN_DEAD:
		on_leaves(thread, seen, ret);
		break;
	case CTX_SEEN_OFF:
	case CTX_SEEN_OFF_PREEMPTED:
		on_left(thread, seen, ret);
		break;
	case CTX_SEEN_WAKING:
		on_waking(thread, seen, ret);
		break;
	case CTX_SEEN_FAULT:
	case CTX_SEEN_TEXT_FAULT:
		on_cpu(thread, seen, ret);
		thread->faults_on_text = seen->change == CTX_SEEN_TEXT_FAULT;
		break;
	case CTX_CHANGE_ENTERS:
		thread->faults_on_text = false;
		/* fall through */
	case CTX_CHANGE_RETURNS:
	case CTX_CHANGE_TEXT_FAULT:
		on_cpu(thread, seen, ret);
		/* fall through */
	default:
		put(ret, seen, seen->change);
	}
	return CTX_OK;
}

enum ctx_status ctx_sched_model_acts(struct ctx_sched_model *model, uint32_t number, uint64_t time_ns,
				     struct ctx_sched_changes *ret, struct ctx_err *err)
{
	const struct ctx_thread_change seen = {.time_ns = time_ns, .thread = number, .cpu = -1};
	struct ctx_sched_thread *thread;
	enum ctx_status status = find(model, number, &thread, err);

	if (status != CTX_OK)
		return status;
	ret->n = 0;
	on_cpu(thread, &seen, ret);
	return CTX_OK;
}
