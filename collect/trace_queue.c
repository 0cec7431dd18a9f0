#include "collect/trace_queue.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define UNUSED_MAX 4096u /* 32 MB */

static void free_chunks(struct ctx_trace_chunk *chunk)
{
	while (chunk != NULL) {
		struct ctx_trace_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void ctx_trace_pool_deinit(struct ctx_trace_pool *pool)
{
	free_chunks(pool->unused);
	*pool = (struct ctx_trace_pool){0};
}

void ctx_trace_pool_take_back(struct ctx_trace_pool *pool, struct ctx_trace_chunk *chunks)
{
	while (chunks != NULL) {
		struct ctx_trace_chunk *next = chunks->next;

		pool->n_used--;
		if (pool->n_unused < UNUSED_MAX) {
			chunks->next = pool->unused;
			pool->unused = chunks;
			pool->n_unused++;
		} else {
			free(chunks);
		}
		chunks = next;
	}
}

static struct ctx_trace_chunk *take(struct ctx_trace_pool *pool)
{
	struct ctx_trace_chunk *chunk = pool->unused;

	if (chunk != NULL) {
		pool->unused = chunk->next;
		pool->n_unused--;
	} else {
		chunk = malloc(sizeof(*chunk));
	}
	if (chunk == NULL)
		return NULL;
	pool->n_used++;
	chunk->next = NULL;
	chunk->n = 0;
	return chunk;
}

bool ctx_trace_queue_put(struct ctx_trace_queue *queue, struct ctx_trace_pool *pool, const uint64_t *words,
			 size_t n)
{
	struct ctx_trace_queue more = {0};

	while (more.n < n) {
		struct ctx_trace_chunk *chunk = take(pool);

		if (chunk == NULL) {
			ctx_trace_pool_take_back(pool, more.first);
			return false;
		}
		chunk->n = n - more.n < CTX_TRACE_CHUNK_WORDS ? n - more.n : CTX_TRACE_CHUNK_WORDS;
		memcpy(chunk->words, words + more.n, chunk->n * sizeof(*words));
		ctx_trace_queue_move(&more, &(struct ctx_trace_queue){chunk, chunk, 0, chunk->n});
	}
	ctx_trace_queue_move(queue, &more);
	return true;
}

void ctx_trace_queue_move(struct ctx_trace_queue *queue, struct ctx_trace_queue *from)
{
	if (from->first == NULL)
		return;
	if (queue->first == NULL)
		queue->first = from->first;
	else
		queue->last->next = from->first;
	queue->last = from->last;
	queue->n += from->n;
	*from = (struct ctx_trace_queue){0};
}

void ctx_trace_queue_peek(const struct ctx_trace_queue *queue, size_t skip, uint64_t *out, size_t n)
{
	const struct ctx_trace_chunk *chunk = queue->first;
	size_t at = queue->at + skip;

	while (n != 0) {
		size_t here;

		while (at >= chunk->n) {
			at -= chunk->n;
			chunk = chunk->next;
		}
		here = chunk->n - at < n ? chunk->n - at : n;
		memcpy(out, chunk->words + at, here * sizeof(*out));
		out += here;
		at += here;
		n -= here;
	}
}

void ctx_trace_queue_drop(struct ctx_trace_queue *queue, size_t n, struct ctx_trace_chunk **spent)
{
	queue->n -= n;
	queue->at += n;
	while (queue->first != NULL && queue->at >= queue->first->n) {
		struct ctx_trace_chunk *chunk = queue->first;

		queue->at -= chunk->n;
		queue->first = chunk->next;
		chunk->next = *spent;
		*spent = chunk;
	}
	if (queue->first == NULL)
		queue->last = NULL;
}
