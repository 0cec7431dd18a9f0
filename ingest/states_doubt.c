#include "ingest/states_doubt.h"

enum ctx_status ctx_states_put_span(struct ctx_states *states, uint32_t number, enum ctx_thread_state state,
				    uint32_t raw_stack, struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];
	bool on_cpu = (CTX_STATES_ON_CPU & CTX_STATE_BIT(state)) != 0;
	struct ctx_state_span span = {.begin_ns = thread->since_ns,
				      .end_ns = states->now_ns,
				      .thread = number,
				      .state = state,
				      .raw_stack = raw_stack,
				      .cpu = on_cpu ? thread->cpu : -1};

	if (span.begin_ns >= span.end_ns)
		return CTX_OK;
	thread->since_ns = states->now_ns;
	if (state == CTX_STATE_DATA_FAULT && thread->fault_ns == NEVER)
		thread->fault_ns = span.begin_ns;
	return ctx_span_queue_push(&states->queue, &span, err);
}

static bool is_off(const struct ctx_states_thread *thread)
{
	return thread->mode == WAITS || thread->mode == WANTS_CPU;
}

/* The time up to now is unknown. */
static enum ctx_status put_unknown(struct ctx_states *states, uint32_t number, struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];

	thread->silent_ns = 0;
	thread->ticked_here = false;
	return ctx_states_put_span(states, number, CTX_STATE_UNKNOWN, 0, err);
}

enum ctx_status ctx_states_settle(struct ctx_states *states, const struct ctx_states_seen *seen,
				  bool *ret_had_cpu, struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[seen->thread];
	bool is_over = thread->since_ns >= thread->doubt.until_ns;

	*ret_had_cpu = false;
	if (!thread->doubt.is_on)
		return CTX_OK;
	thread->doubt.is_on = false;
	if (seen->follows && is_over)
		return CTX_OK;
	thread->woken = thread->woken && seen->follows;
	if (!is_over || seen->cpu < 0 || seen->cpu != thread->doubt.cpu)
		return put_unknown(states, seen->thread, err);
	*ret_had_cpu = true;
	return CTX_OK;
}

static void add_doubt(struct ctx_states_doubt *doubt, const struct ctx_states_doubt *more)
{
	if (!doubt->is_on) {
		*doubt = *more;
		return;
	}
	if (doubt->cpu != more->cpu)
		doubt->cpu = -1;
	doubt->may_have_ended = doubt->may_have_ended || more->may_have_ended;
	if (doubt->until_ns < more->until_ns)
		doubt->until_ns = more->until_ns;
}

/* Whether a thread was not seen since an earlier loss, which is over. */
static bool is_unseen(const struct ctx_states_thread *thread)
{
	return thread->doubt.is_on && thread->since_ns >= thread->doubt.until_ns;
}

/* If it ended, it ended in that one. */
static void add_unseen(struct ctx_states_doubt *doubt, const struct ctx_states_doubt *more)
{
	if (doubt->cpu != more->cpu)
		doubt->cpu = -1;
	doubt->may_have_ended = doubt->may_have_ended || more->may_have_ended;
}

void ctx_states_doubt(struct ctx_states *states, uint32_t number)
{
	struct ctx_states_thread *thread = &states->threads[number];

	if (states->losses.is_on && (is_off(thread) || (thread->mode == NOT_SEEN && thread->start_ns != 0)))
		add_doubt(&thread->doubt, &states->losses);
}

enum ctx_status ctx_states_pass_losses(struct ctx_states *states, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t until_ns = states->losses.until_ns;

	if (!states->losses.is_on || time_ns < until_ns)
		return CTX_OK;
	states->losses.is_on = false;
	states->now_ns = until_ns;
	for (size_t i = 0; i < states->n_alive && status == CTX_OK; i++) {
		struct ctx_states_thread *thread = &states->threads[states->alive[i]];

		if (!thread->doubt.is_on || is_unseen(thread))
			continue;
		thread->doubt.until_ns = until_ns;
		/* What of its wait is known begins here. */
		if (thread->mode == WAITS)
			thread->wait_ns = until_ns;
		status = put_unknown(states, states->alive[i], err);
	}
	states->now_ns = time_ns;
	return status;
}

bool ctx_states_concerns(const struct ctx_states_thread *thread, int32_t cpu)
{
	if (thread->mode == NOT_SEEN)
		return thread->start_ns != 0;
	return thread->mode != ON_CPU || cpu < 0 || thread->cpu < 0 || thread->cpu == cpu;
}

/* A life in doubt since an earlier loss would have ended in that one. */
static bool goes_on_unseen(const struct ctx_states_thread *thread, const struct ctx_states_doubt *doubt)
{
	return is_unseen(thread) && (thread->doubt.may_have_ended || !doubt->may_have_ended);
}

bool ctx_states_was_known(const struct ctx_states_thread *thread, const struct ctx_states_doubt *doubt)
{
	return !thread->doubt.is_on || (is_unseen(thread) && !goes_on_unseen(thread, doubt));
}

void ctx_states_add_doubt(struct ctx_states_thread *thread, const struct ctx_states_doubt *doubt)
{
	if (goes_on_unseen(thread, doubt)) {
		add_unseen(&thread->doubt, doubt);
		return;
	}
	if (is_unseen(thread))
		thread->doubt.is_on = false;
	add_doubt(&thread->doubt, doubt);
}

void ctx_states_add_loss(struct ctx_states *states, const struct ctx_states_doubt *doubt)
{
	add_doubt(&states->losses, doubt);
}
