/*
 * Doubts: whom lost records can have been of, and what is unknown because of that.
 *
 *	               begin   end         seen again
 *	on that CPU    ....|UNKNOWN|as before, or UNKNOWN|
 *	on another     ....................................	leaving it would have been seen there
 *	off the CPUs   ....|UNKNOWN|as before, or UNKNOWN|
 *
 * A loss comes at its begin, or later where the source knows it only then: what a thread was seen
 * doing in between stays.
 */
#ifndef CTX_INGEST_STATES_DOUBT_H
#define CTX_INGEST_STATES_DOUBT_H

#include "ingest/states_impl.h"

/* The thread was in `state` since the last span, up to now. Fails as the sink does, like all below. */
CTX_MUST_CHECK enum ctx_status ctx_states_put_span(struct ctx_states *states, uint32_t number,
						   enum ctx_thread_state state, uint32_t raw_stack,
						   struct ctx_err *err);

struct ctx_states_seen {
	uint32_t thread;
	bool follows; /* from what it did before, if no record is missing */
	int32_t cpu;  /* the thread has been on this one up to now; -1: not so, or not known */
};

/*
 * A thread is seen: its doubt is over. `*ret_had_cpu`: it has been on seen->cpu since the end of the
 * loss, for nobody saw it come there; not emitted yet.
 */
CTX_MUST_CHECK enum ctx_status ctx_states_settle(struct ctx_states *states,
						 const struct ctx_states_seen *seen, bool *ret_had_cpu,
						 struct ctx_err *err);

/* In a loss that goes on a thread that is on no CPU may run unseen. */
void ctx_states_doubt(struct ctx_states *states, uint32_t number);

/* The time passes: what the losses that are over by `time_ns` leave unknown is emitted. */
CTX_MUST_CHECK enum ctx_status ctx_states_pass_losses(struct ctx_states *states, uint64_t time_ns,
						      struct ctx_err *err);

/* Whether lost records of that CPU can be of this thread. */
bool ctx_states_concerns(const struct ctx_states_thread *thread, int32_t cpu);

/* Whether the thread's time up to a loss has to be emitted before the doubt is added. */
bool ctx_states_was_known(const struct ctx_states_thread *thread, const struct ctx_states_doubt *doubt);

/* Adds a loss to the doubt of a thread, which can be in doubt already, or to that of all. */
void ctx_states_add_doubt(struct ctx_states_thread *thread, const struct ctx_states_doubt *doubt);
void ctx_states_add_loss(struct ctx_states *states, const struct ctx_states_doubt *doubt);

#endif
