/*
 * From events to thread states: classifies stacks, separates interrupts from wakers, and turns
 * spans into samples.
 *
 *	CTX_EV_STATE, clock samples, lives of threads --> state_feed --> states.c --> samples of the state metrics, wake-ups
 */
#ifndef CTX_INGEST_STATE_FEED_H
#define CTX_INGEST_STATE_FEED_H

#include "base/strtab.h"
#include "ingest/stack_class.h"
#include "ingest/stackdict.h"
#include "model/event_source.h"

/* The sink; as in struct ctx_state_sink, with a raw stack that is never 0. */
struct ctx_state_feed_options {
	struct ctx_stack_forest *stacks; /* borrowed, as the resolver */
	struct ctx_resolver *resolver;
	struct ctx_state_sink sink;
	uint64_t user_clock_ns; /* as in struct ctx_source_info, */
	bool kernel_clock;
	uint64_t end_ns; /* and its states_end_ns: later events are ignored, and spans end there */
};

struct ctx_state_feed;

CTX_MUST_CHECK enum ctx_status ctx_state_feed_create(const struct ctx_state_feed_options *options,
						     struct ctx_state_feed **ret, struct ctx_err *err);
void ctx_state_feed_destroy(struct ctx_state_feed *feed);

/* States are unknown from this time on; 0: they are not. For a source that learns it late. */
void ctx_state_feed_end_at(struct ctx_state_feed *feed, uint64_t end_ns);

/* A CTX_EV_STATE; `raw_stack` is that of its stack, 0 without one. */
CTX_MUST_CHECK enum ctx_status ctx_state_feed_change(struct ctx_state_feed *feed,
						     const struct ctx_event *event, uint32_t raw_stack,
						     struct ctx_err *err);

/* A sample that shows its thread on a CPU. */
CTX_MUST_CHECK enum ctx_status ctx_state_feed_sample(struct ctx_state_feed *feed,
						     const struct ctx_event *event, uint32_t raw_stack,
						     struct ctx_err *err);

/* Starts and ends of threads and processes, losses, resource use; other events are ignored. */
CTX_MUST_CHECK enum ctx_status ctx_state_feed_life(struct ctx_state_feed *feed, const struct ctx_event *event,
						   struct ctx_err *err);

/* As ctx_states_known_until. */
uint64_t ctx_state_feed_known_until(const struct ctx_state_feed *feed, uint32_t thread);

/* The recording ends. */
CTX_MUST_CHECK enum ctx_status ctx_state_feed_finish(struct ctx_state_feed *feed, uint64_t time_ns,
						     struct ctx_err *err);

/* External wakers: names by number, in the arena. The array is owned by the caller (free()). */
CTX_MUST_CHECK enum ctx_status ctx_state_feed_external_wakers(const struct ctx_state_feed *feed,
							      struct ctx_arena *arena, const char ***ret,
							      uint32_t *ret_n, struct ctx_err *err);

#endif
