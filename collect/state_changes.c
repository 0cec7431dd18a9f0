#include "collect/state_changes.h"

#include "base/mem.h"
#include "model/profile.h"

#include <string.h>

/* A wait that ended before it was seen to begin is short; what woke the thread longer ago ended another one. */
#define EARLY_NS 1000000u

enum place {
	PLACE_UNKNOWN = 0,
	PLACE_ON,
	PLACE_LEAVING, /* off, as a sample says that does not tell why */
	PLACE_OFF,
	PLACE_WOKEN,
};

struct ctx_thread_seen {
	enum place place;
	bool has_early;		/* woken while it was on a CPU */
	uint64_t early_ns;	/* when */
	struct ctx_waker early; /* by whom */
};

void ctx_state_changes_deinit(struct ctx_state_changes *changes)
{
	free(changes->threads);
	*changes = (struct ctx_state_changes){0};
}

static enum ctx_status find(struct ctx_state_changes *changes, uint32_t thread, struct ctx_thread_seen **ret,
			    struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&changes->threads, &changes->cap, (size_t)thread + 1, err);

	if (status != CTX_OK)
		return status;
	if (thread >= changes->n) {
		memset(changes->threads + changes->n, 0,
		       (thread + 1 - changes->n) * sizeof(*changes->threads));
		changes->n = (size_t)thread + 1;
	}
	*ret = &changes->threads[thread];
	return CTX_OK;
}

static enum ctx_state_change change_of(enum ctx_pe_leaving leaving)
{
	switch (leaving) {
	case CTX_PE_LEAVING_BLOCKED:
		return CTX_CHANGE_BLOCKED;
	case CTX_PE_LEAVING_STOPPED:
		return CTX_CHANGE_STOPPED;
	case CTX_PE_LEAVING_DEAD:
		return CTX_CHANGE_N;
	default:
		return CTX_CHANGE_PREEMPTED;
	}
}

static struct ctx_state_step step_of(enum ctx_state_change change)
{
	return (struct ctx_state_step){.change = change, .waker = {.thread = CTX_NONE, .outsider = CTX_NONE}};
}

enum ctx_status ctx_state_changes_left(struct ctx_state_changes *changes, uint32_t thread,
				       enum ctx_pe_leaving leaving, struct ctx_state_step *ret,
				       struct ctx_err *err)
{
	struct ctx_thread_seen *seen;
	enum ctx_status status = find(changes, thread, &seen, err);

	if (status != CTX_OK)
		return status;
	*ret = step_of(change_of(leaving));
	seen->place = PLACE_OFF;
	/* Who is preempted waits for nobody: what woke it early did so in vain. */
	if (ret->change == CTX_CHANGE_PREEMPTED)
		seen->has_early = false;
	return CTX_OK;
}

enum ctx_status ctx_state_changes_leaves(struct ctx_state_changes *changes, uint32_t thread,
					 struct ctx_state_step *ret, struct ctx_err *err)
{
	struct ctx_thread_seen *seen;
	enum ctx_status status = find(changes, thread, &seen, err);

	if (status != CTX_OK)
		return status;
	*ret = step_of(CTX_CHANGE_BLOCKED);
	seen->place = PLACE_LEAVING;
	return CTX_OK;
}

enum ctx_status ctx_state_changes_switched_out(struct ctx_state_changes *changes, uint32_t thread,
					       bool is_preempted, struct ctx_state_step *ret,
					       struct ctx_err *err)
{
	struct ctx_thread_seen *seen;
	enum ctx_status status = find(changes, thread, &seen, err);

	if (status != CTX_OK)
		return status;
	*ret = step_of(is_preempted ? CTX_CHANGE_PREEMPTED : CTX_CHANGE_BLOCKED);
	if (seen->place == PLACE_LEAVING)
		ret->amends = is_preempted;
	if (seen->place == PLACE_OFF || seen->place == PLACE_WOKEN ||
	    (seen->place == PLACE_LEAVING && !is_preempted))
		ret->change = CTX_CHANGE_N;
	if (seen->place != PLACE_WOKEN)
		seen->place = PLACE_OFF;
	return CTX_OK;
}

enum ctx_status ctx_state_changes_switched_in(struct ctx_state_changes *changes, uint32_t thread,
					      uint64_t time_ns, struct ctx_state_step *ret,
					      struct ctx_err *err)
{
	struct ctx_thread_seen *seen;
	enum ctx_status status = find(changes, thread, &seen, err);

	if (status != CTX_OK)
		return status;
	*ret = step_of(CTX_CHANGE_RUNS);
	if (seen->place == PLACE_OFF && seen->has_early && time_ns <= seen->early_ns + EARLY_NS) {
		ret->was_woken = true;
		ret->waker = seen->early;
	}
	*seen = (struct ctx_thread_seen){.place = PLACE_ON};
	return CTX_OK;
}

enum ctx_status ctx_state_changes_woken(struct ctx_state_changes *changes, uint32_t thread, uint64_t time_ns,
					struct ctx_waker waker, struct ctx_state_step *ret,
					struct ctx_err *err)
{
	struct ctx_thread_seen *seen;
	enum ctx_status status = find(changes, thread, &seen, err);

	if (status != CTX_OK)
		return status;
	*ret = step_of(CTX_CHANGE_N);
	if (seen->place == PLACE_ON || (seen->place == PLACE_UNKNOWN && changes->from_start)) {
		seen->has_early = true;
		seen->early_ns = time_ns;
		seen->early = waker;
		ret->is_early = true;
	} else if (seen->place != PLACE_WOKEN) {
		*ret = (struct ctx_state_step){.change = CTX_CHANGE_WOKEN, .waker = waker};
		*seen = (struct ctx_thread_seen){.place = PLACE_WOKEN};
	}
	return CTX_OK;
}
