/*
 * Reading a ring of a traced process (runtime/shared_layout.h).
 *
 *	ring in shared memory --pull--> incoming --> queue --read--> records
 *
 * The memory belongs to the target, which may write anything there at any time: what is read is copied
 * first, each word once, and checked in the copy. A ring whose words make no sense is damaged: what it
 * holds is skipped, and counted. Pulling and reading may be done by two threads (trace_drain.h).
 */
#ifndef CTX_COLLECT_TRACE_RING_H
#define CTX_COLLECT_TRACE_RING_H

#include "base/err.h"
#include "collect/trace_queue.h"
#include "runtime/shared_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_trace_record {
	enum ctx_rt_kind kind;
	uint64_t words[CTX_RT_ARGUMENTS_MAX]; /* ctx_rt_words(kind) of them; the first is the time */
	const char *text; /* of kinds with text: text_bytes of it, with zero bytes at its end */
	size_t text_bytes;
	const uint64_t *frames; /* leaf first, with the mark of a stack that ends early; NULL none */
	size_t n_frames;
};

/* Of sums of calls (enum ctx_rt_sum): the period, and what the next words need. */
struct ctx_trace_call_sums {
	uint64_t begin_ticks, begin_ns; /* begin_ns 0: there is no period */
	uint64_t ticks;			/* of the period; 0: not known yet */
	uint64_t end_ns;
	uint64_t calls; /* that the next ENTER or TOOK stands for */
	uint64_t function;
	uint32_t left; /* calls that end with the next event */
};

/* Where the reader of a ring of calls is. */
struct ctx_trace_call_state {
	uint64_t ticks;	   /* of the last word */
	uint32_t depth;	   /* open calls */
	uint32_t resuming; /* so many of the next ones that begin have begun before */
	uint32_t unseen;   /* then so many, when words were missing */
	bool is_open;	   /* a CTX_RT_CALLS was seen: the words mean something */
	struct ctx_trace_call_sums sums;
};

struct ctx_trace_ring {
	struct ctx_rt_slot *slot; /* shared, borrowed, like the words */
	const uint64_t *words;
	uint64_t bytes; /* of the words; a power of two */
	/* Of who pulls. */
	uint64_t tail;
	uint64_t torn; /* times that the head was impossible */
	struct ctx_trace_queue incoming;
	/* Of who reads. */
	struct ctx_trace_call_state calls; /* of a ring of calls */
	uint64_t lost_from; /* calls that were missing when their thread ended, reported then */
	struct ctx_trace_queue queue;
	uint64_t damaged; /* times that something was skipped */
	uint32_t depth;	  /* of the last stack */
	/* The last stack: its leaf is at CTX_RT_FRAMES_MAX - depth; the last place is for the mark. */
	uint64_t *frames; /* owned; CTX_RT_FRAMES_MAX + 1, made when first needed */
};

/* The queues must be empty: ctx_trace_ring_clear. */
void ctx_trace_ring_deinit(struct ctx_trace_ring *ring);
void ctx_trace_ring_clear(struct ctx_trace_ring *ring, struct ctx_trace_pool *pool);

/* Moves what the target has written to `incoming`, and gives its room back. Without memory it stays. */
void ctx_trace_ring_pull(struct ctx_trace_ring *ring, struct ctx_trace_pool *pool);

/*
 * Takes one record. CTX_END: this record is to stay in the queue, with all behind it. Other statuses end
 * the reading, and are its result.
 */
typedef enum ctx_status ctx_trace_ring_fn(void *context, const struct ctx_trace_record *record,
					  struct ctx_err *err);

/* Takes words of calls. Statuses but CTX_OK end the reading, and are its result. */
typedef enum ctx_status ctx_trace_calls_fn(void *context, const uint64_t *words, size_t n,
					   struct ctx_err *err);

struct ctx_trace_reader {
	ctx_trace_ring_fn *take;
	ctx_trace_calls_fn *take_calls; /* NULL: there are none */
	void *context;
	uint64_t *copy;		       /* owned: the words of one record, made when first needed */
	struct ctx_trace_chunk *spent; /* to be given back to the pool */
};

void ctx_trace_reader_deinit(struct ctx_trace_reader *reader);

/*
 * Hands out all records of the queue, or up to one that stays, and removes them. `*ret_n` is how many. Fails with CTX_E_NOMEM, and as the callback does.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_ring_read(struct ctx_trace_ring *ring,
						   struct ctx_trace_reader *reader, size_t *ret_n,
						   struct ctx_err *err);

#endif
