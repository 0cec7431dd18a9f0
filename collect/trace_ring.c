/*
 *	ring --copy, once--> queue --check--> record --> callback
 *	                               `--> last stack: kept frames and new ones
 */
#include "collect/trace_ring.h"

#include "base/mem.h"
#include "model/event_source.h"

#include <stdlib.h>
#include <string.h>

void ctx_trace_ring_deinit(struct ctx_trace_ring *ring)
{
	free(ring->frames);
	ring->frames = NULL;
}

void ctx_trace_reader_deinit(struct ctx_trace_reader *reader)
{
	free(reader->copy);
	reader->copy = NULL;
}

void ctx_trace_ring_clear(struct ctx_trace_ring *ring, struct ctx_trace_pool *pool)
{
	ctx_trace_pool_take_back(pool, ring->incoming.first);
	ctx_trace_pool_take_back(pool, ring->queue.first);
	ring->incoming = ring->queue = (struct ctx_trace_queue){0};
}

void ctx_trace_ring_pull(struct ctx_trace_ring *ring, struct ctx_trace_pool *pool)
{
	uint64_t head = atomic_load_explicit(&ring->slot->head, memory_order_acquire);
	uint64_t bytes = head - ring->tail;
	size_t whole = (size_t)(ring->bytes / 8), at = (size_t)(ring->tail / 8) & (whole - 1);
	size_t n = (size_t)(bytes / 8), first;
	struct ctx_trace_queue pulled = {0};

	if (bytes == 0)
		return;
	if (bytes > ring->bytes || bytes % 8 != 0) {
		ring->torn++;
		ring->tail = head & ~(uint64_t)7;
	} else {
		first = n < whole - at ? n : whole - at;
		if (!ctx_trace_queue_put(&pulled, pool, ring->words + at, first) ||
		    !ctx_trace_queue_put(&pulled, pool, ring->words, n - first)) {
			ctx_trace_pool_take_back(pool, pulled.first);
			return;
		}
		ctx_trace_queue_move(&ring->incoming, &pulled);
		ring->tail = head;
	}
	atomic_store_explicit(&ring->slot->tail, ring->tail, memory_order_release);
}

/* Is the first word of a record possible, with `left` words there? */
static bool is_possible(const struct ctx_trace_ring *ring, const struct ctx_rt_word0 *word, size_t left)
{
	uint32_t least;

	if (word->words == 0 || word->words > left)
		return false;
	if (word->kind == CTX_RT_PAD)
		return true;
	if (word->kind >= CTX_RT_KIND_N || ctx_rt_words((enum ctx_rt_kind)word->kind) == 0 ||
	    word->end >= CTX_TRUNCATED_N || word->kept > ring->depth ||
	    word->kept + word->n_new > CTX_RT_FRAMES_MAX)
		return false;
	least = 1 + ctx_rt_words((enum ctx_rt_kind)word->kind) + word->n_new;
	return ctx_rt_has_text((enum ctx_rt_kind)word->kind)
		       ? word->words > least && word->words <= least + CTX_RT_TEXT_MAX / 8
		       : word->words == least;
}

/* The stack of the record: what is kept of the last one, and the new frames towards the leaf. */
static void set_stack(struct ctx_trace_ring *ring, const struct ctx_rt_word0 *word, const uint64_t *frames,
		      struct ctx_trace_record *record)
{
	uint64_t *next = ring->frames + CTX_RT_FRAMES_MAX - word->kept;

	for (uint32_t i = 0; i < word->n_new; i++)
		*--next = frames[i] < CTX_KERNEL_START ? frames[i] : 0; /* the target has none of those */
	ring->depth = word->kept + word->n_new;
	ring->frames[CTX_RT_FRAMES_MAX] = ctx_frame_truncated((enum ctx_truncation)word->end);
	record->frames = next;
	record->n_frames = ring->depth + (word->end != CTX_TRUNCATED_NOT);
}

/* `words` begins with the word. */
static enum ctx_status take_record(struct ctx_trace_ring *ring, const struct ctx_trace_reader *reader,
				   const struct ctx_rt_word0 *word, const uint64_t *words,
				   struct ctx_err *err)
{
	struct ctx_trace_record record = {.kind = (enum ctx_rt_kind)word->kind};
	unsigned n = ctx_rt_words(record.kind);
	uint32_t n_text = word->words - 1 - n - word->n_new;
	bool has_stack = word->kept + word->n_new != 0;

	if (word->kind == CTX_RT_PAD)
		return CTX_OK;
	memcpy(record.words, words + 1, n * sizeof(*words));
	if (ctx_rt_has_text(record.kind)) {
		record.text = (const char *)(words + 1 + n);
		record.text_bytes = n_text * sizeof(*words);
	}
	if (has_stack)
		set_stack(ring, word, words + 1 + n + n_text, &record);
	else if (word->kind == CTX_RT_THREAD)
		ring->depth = 0;
	return reader->take(reader->context, &record, err);
}

/* The words of calls that lie together in the first chunk. */
static enum ctx_status take_calls(struct ctx_trace_ring *ring, struct ctx_trace_reader *reader, size_t *ret_n,
				  struct ctx_err *err)
{
	const struct ctx_trace_chunk *chunk = ring->queue.first;
	const uint64_t *words = chunk->words + ring->queue.at;
	size_t n = 0, most = chunk->n - ring->queue.at;
	enum ctx_status status;

	while (n < most && ctx_rt_is_call(words[n]))
		n++;
	status = reader->take_calls(reader->context, words, n, err);
	if (status != CTX_OK)
		return status;
	ctx_trace_queue_drop(&ring->queue, n, &reader->spent);
	*ret_n += n;
	return CTX_OK;
}

enum ctx_status ctx_trace_ring_read(struct ctx_trace_ring *ring, struct ctx_trace_reader *reader,
				    size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret_n = 0;
	if (ring->frames == NULL)
		ring->frames = ctx_calloc(CTX_RT_FRAMES_MAX + 1, sizeof(*ring->frames));
	if (reader->copy == NULL)
		reader->copy = ctx_calloc(CTX_RT_RECORD_WORDS_MAX, sizeof(*reader->copy));
	if (ring->frames == NULL || reader->copy == NULL)
		return ctx_err_nomem(err);
	while (ring->queue.n != 0) {
		struct ctx_rt_word0 word;

		ctx_trace_queue_peek(&ring->queue, 0, reader->copy, 1);
		if (ctx_rt_is_call(reader->copy[0]) && reader->take_calls != NULL) {
			status = take_calls(ring, reader, ret_n, err);
			if (status != CTX_OK)
				break;
			continue;
		}
		word = ctx_rt_unpack(reader->copy[0]);
		if (!is_possible(ring, &word, ring->queue.n)) {
			ring->damaged++;
			ctx_trace_queue_drop(&ring->queue, ring->queue.n, &reader->spent);
			break;
		}
		if (word.kind != CTX_RT_PAD)
			ctx_trace_queue_peek(&ring->queue, 1, reader->copy + 1, word.words - 1);
		status = take_record(ring, reader, &word, reader->copy, err);
		if (status != CTX_OK)
			break;
		ctx_trace_queue_drop(&ring->queue, word.words, &reader->spent);
		*ret_n += word.kind != CTX_RT_PAD;
	}
	return status == CTX_END ? CTX_OK : status;
}
