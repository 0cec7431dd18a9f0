/*
 *	ring --copy, once--> words of a record --check--> record --> callback
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

/* Copies `n` words from a position on, which is one in the ring whatever it is. */
static void copy_words(const struct ctx_trace_ring *ring, uint64_t position, uint64_t *out, size_t n)
{
	size_t at = (size_t)(position / 8 % CTX_RT_RING_WORDS);
	size_t first = n < CTX_RT_RING_WORDS - at ? n : CTX_RT_RING_WORDS - at;

	memcpy(out, ring->words + at, first * 8);
	memcpy(out + first, ring->words, (n - first) * 8);
}

/* What is between tail and head. False: the head is impossible. */
static bool count_words(const struct ctx_trace_ring *ring, size_t *ret_n)
{
	uint64_t bytes = atomic_load_explicit(&ring->slot->head, memory_order_acquire) - ring->tail;

	*ret_n = (size_t)(bytes / 8);
	return bytes <= CTX_RT_RING_BYTES && bytes % 8 == 0;
}

/* Is the first word of a record possible, with `left` words there? */
static bool is_possible(const struct ctx_trace_ring *ring, const struct ctx_rt_word0 *word, size_t left)
{
	if (word->words == 0 || word->words > left)
		return false;
	if (word->kind == CTX_RT_PAD)
		return true;
	return word->kind > CTX_RT_PAD && word->kind < CTX_RT_KIND_N &&
	       ctx_rt_words((enum ctx_rt_kind)word->kind) != 0 && word->end < CTX_TRUNCATED_N &&
	       word->kept <= ring->depth && word->kept + word->n_new <= CTX_RT_FRAMES_MAX &&
	       word->words == 1 + ctx_rt_words((enum ctx_rt_kind)word->kind) + word->n_new;
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
	bool has_stack = word->kept + word->n_new != 0;

	if (word->kind == CTX_RT_PAD)
		return CTX_OK;
	memcpy(record.words, words + 1, n * sizeof(*words));
	if (has_stack)
		set_stack(ring, word, words + 1 + n, &record);
	else if (word->kind == CTX_RT_THREAD)
		ring->depth = 0;
	return reader->take(reader->context, &record, err);
}

enum ctx_status ctx_trace_ring_read(struct ctx_trace_ring *ring, struct ctx_trace_reader *reader,
				    size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n, at = 0;

	*ret_n = 0;
	if (ring->frames == NULL)
		ring->frames = ctx_calloc(CTX_RT_FRAMES_MAX + 1, sizeof(*ring->frames));
	if (reader->copy == NULL)
		reader->copy = ctx_calloc(CTX_RT_RECORD_WORDS_MAX, sizeof(*reader->copy));
	if (ring->frames == NULL || reader->copy == NULL)
		return ctx_err_nomem(err);
	if (!count_words(ring, &n)) {
		ring->damaged++;
		ring->tail = atomic_load(&ring->slot->head) & ~(uint64_t)7;
		atomic_store(&ring->slot->tail, ring->tail);
		return CTX_OK;
	}
	while (at < n) {
		uint64_t position = ring->tail + at * 8;
		struct ctx_rt_word0 word;

		copy_words(ring, position, reader->copy, 1);
		word = ctx_rt_unpack(reader->copy[0]);
		if (!is_possible(ring, &word, n - at)) {
			ring->damaged++;
			at = n;
			break;
		}
		if (word.kind != CTX_RT_PAD)
			copy_words(ring, position + 8, reader->copy + 1, word.words - 1);
		status = take_record(ring, reader, &word, reader->copy, err);
		if (status != CTX_OK)
			break;
		at += word.words;
		*ret_n += word.kind != CTX_RT_PAD;
	}
	ring->tail += at * 8;
	atomic_store_explicit(&ring->slot->tail, ring->tail, memory_order_release);
	return status == CTX_END ? CTX_OK : status;
}
