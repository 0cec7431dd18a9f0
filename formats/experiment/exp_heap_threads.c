#include "formats/experiment/exp_heap_threads.h"

#include "formats/experiment/exp_streams.h"

void ctx_exp_heap_own_deinit(struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS])
{
	for (size_t i = 0; i < CTX_EXP_HEAP_SLOTS * CTX_EXP_HEAP_OWN; i++)
		ctx_buf_deinit(&slots[i / CTX_EXP_HEAP_OWN].streams[i % CTX_EXP_HEAP_OWN]);
}

void ctx_exp_heap_own_clear(struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS])
{
	for (size_t i = 0; i < CTX_EXP_HEAP_SLOTS * CTX_EXP_HEAP_OWN; i++)
		ctx_buf_clear(&slots[i / CTX_EXP_HEAP_OWN].streams[i % CTX_EXP_HEAP_OWN]);
}

void ctx_exp_heap_join(const struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS], struct ctx_buf *lengths,
		       struct ctx_buf out[CTX_EXP_HEAP_OWN])
{
	for (size_t slot = 0; slot < CTX_EXP_HEAP_SLOTS; slot++) {
		ctx_exp_put_lengths(slots[slot].streams, CTX_EXP_HEAP_OWN, lengths);
		for (size_t i = 0; i < CTX_EXP_HEAP_OWN; i++) {
			const struct ctx_buf *stream = &slots[slot].streams[i];

			ctx_buf_put(&out[i], stream->bytes, stream->n);
			out[i].failed = out[i].failed || stream->failed;
		}
	}
}

bool ctx_exp_heap_split(struct ctx_cursor *lengths, struct ctx_cursor joined[CTX_EXP_HEAP_OWN],
			struct ctx_exp_heap_own_in ret[CTX_EXP_HEAP_SLOTS])
{
	for (size_t slot = 0; slot < CTX_EXP_HEAP_SLOTS; slot++) {
		for (size_t i = 0; i < CTX_EXP_HEAP_OWN; i++) {
			uint64_t n = ctx_cursor_get_varint(lengths);

			if (!ctx_exp_take_streams(&joined[i], &n, 1, &ret[slot].streams[i]))
				return false;
		}
	}
	return !lengths->failed;
}
