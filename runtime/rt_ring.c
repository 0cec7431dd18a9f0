#include "runtime/rt_ring.h"

#include <string.h>

/* Fills the rest of the ring if `words` do not fit there in one piece. */
static void pad(struct ctx_rt_ring *ring, uint64_t words)
{
	uint64_t n = ring->bytes / 8, at = ring->head / 8 & (n - 1);
	struct ctx_rt_word0 word = {.kind = CTX_RT_PAD};

	if (n - at >= words)
		return;
	word.words = (uint32_t)(n - at);
	ring->words[at] = ctx_rt_pack(&word);
	ring->head += (n - at) * 8;
}

__attribute__((hot)) void ctx_rt_ring_put(struct ctx_rt_ring *ring, const struct ctx_rt_operation *operation)
{
	unsigned n = ctx_rt_words(operation->kind), n_text = (operation->text_bytes + 7) / 8;
	struct ctx_rt_word0 word = {.words = 1 + n + n_text + operation->n_new,
				    .kind = operation->kind,
				    .end = operation->end,
				    .kept = operation->kept,
				    .n_new = operation->n_new};
	uint64_t *out;

	pad(ring, word.words);
	out = ring->words + (ring->head / 8 & (ring->bytes / 8 - 1));
	*out++ = ctx_rt_pack(&word);
	for (unsigned i = 0; i < n; i++)
		*out++ = operation->words[i];
	if (n_text != 0) {
		out[n_text - 1] = 0;
		memcpy(out, operation->text, operation->text_bytes);
		out += n_text;
	}
	for (uint32_t i = word.n_new; i-- > 0;)
		*out++ = operation->frames[i];
	ring->head += word.words * 8;
	atomic_store_explicit(&ring->slot->head, ring->head, memory_order_release);
}
