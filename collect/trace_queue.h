/*
 * Words of a traced process's ring that the recorder has taken out of it and not yet read: chunks of a pool.
 * Nothing here locks.
 */
#ifndef CTX_COLLECT_TRACE_QUEUE_H
#define CTX_COLLECT_TRACE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_TRACE_CHUNK_WORDS 1022u

struct ctx_trace_chunk {
	struct ctx_trace_chunk *next;
	size_t n;
	uint64_t words[CTX_TRACE_CHUNK_WORDS];
};

/* All zero is valid. */
struct ctx_trace_pool {
	struct ctx_trace_chunk *unused; /* owned */
	size_t n_unused;
	size_t n_used; /* chunks that are in queues, or spent */
};

void ctx_trace_pool_deinit(struct ctx_trace_pool *pool);

/* Takes back a list of chunks, some thousands of which it keeps for later. */
void ctx_trace_pool_take_back(struct ctx_trace_pool *pool, struct ctx_trace_chunk *chunks);

/* All zero is an empty one. */
struct ctx_trace_queue {
	struct ctx_trace_chunk *first, *last; /* owned */
	size_t at;			      /* words of the first chunk that have been read */
	size_t n;			      /* words that have not */
};

/* Appends. False: out of memory; nothing was appended. */
bool ctx_trace_queue_put(struct ctx_trace_queue *queue, struct ctx_trace_pool *pool, const uint64_t *words,
			 size_t n);

/* Appends all of `from`, of which nothing has been read, and empties it. O(1). */
void ctx_trace_queue_move(struct ctx_trace_queue *queue, struct ctx_trace_queue *from);

/* Copies the `n` words behind the first `skip`; they must be there. */
void ctx_trace_queue_peek(const struct ctx_trace_queue *queue, size_t skip, uint64_t *out, size_t n);

/* Removes the first `n` words, which must be there; chunks of which nothing is left come to the list. */
void ctx_trace_queue_drop(struct ctx_trace_queue *queue, size_t n, struct ctx_trace_chunk **spent);

#endif
