#include "formats/experiment/exp_callevents.h"

#include "base/map64.h"
#include "base/mem.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS, TIMES, FUNCTIONS, ADDRESSES, OTHERS };

#define SLOTS_FIRST 64u
#define UNWOUND 1u
#define RESUMED 2u
#define SUM 4u
#define TOOK 8u
#define LOST 16u
#define UNSEEN 32u
#define COUNTED 64u

/* Writing */

void ctx_exp_call_block_deinit(struct ctx_exp_call_block *block)
{
	for (size_t i = 0; i < CTX_EXP_CALLEVENTS_STREAMS; i++)
		ctx_buf_deinit(&block->streams[i]);
	free(block->slots);
	block->slots = NULL;
	block->n_slots = 0;
}

void ctx_exp_call_block_clear(struct ctx_exp_call_block *block)
{
	for (size_t i = 0; i < CTX_EXP_CALLEVENTS_STREAMS; i++)
		ctx_buf_clear(&block->streams[i]);
	if (block->n_functions != 0)
		memset(block->slots, 0, block->n_slots * sizeof(*block->slots));
	block->n = block->other_at = block->n_functions = 0;
	block->last_function = 0;
	block->depth = block->depth_now;
}

size_t ctx_exp_call_block_bytes(const struct ctx_exp_call_block *block)
{
	size_t bytes = sizeof(*block) + block->n_slots * sizeof(*block->slots);

	for (size_t i = 0; i < CTX_EXP_CALLEVENTS_STREAMS; i++)
		bytes += block->streams[i].cap;
	return bytes;
}

void ctx_exp_call_bufs_deinit(struct ctx_exp_call_bufs *bufs)
{
	for (size_t i = 0; i < bufs->n; i++) {
		ctx_exp_call_block_deinit(bufs->items[i]);
		free(bufs->items[i]);
	}
	free(bufs->items);
	*bufs = (struct ctx_exp_call_bufs){0};
}

size_t ctx_exp_call_bufs_bytes(const struct ctx_exp_call_bufs *bufs)
{
	size_t bytes = bufs->cap * sizeof(*bufs->items);

	for (size_t i = 0; i < bufs->n; i++)
		bytes += ctx_exp_call_block_bytes(bufs->items[i]);
	return bytes;
}

static struct ctx_exp_call_slot *find(const struct ctx_exp_call_block *block, uint64_t function)
{
	size_t i = ctx_hash64(function) & (block->n_slots - 1);

	while (block->slots[i].function != 0 && block->slots[i].function != function)
		i = (i + 1) & (block->n_slots - 1);
	return &block->slots[i];
}

static enum ctx_status grow(struct ctx_exp_call_block *block, struct ctx_err *err)
{
	struct ctx_exp_call_block more = {.n_slots = block->n_slots != 0 ? 2 * block->n_slots : SLOTS_FIRST};

	more.slots = ctx_calloc(more.n_slots, sizeof(*more.slots));
	if (more.slots == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < block->n_slots; i++) {
		if (block->slots[i].function != 0)
			*find(&more, block->slots[i].function) = block->slots[i];
	}
	free(block->slots);
	block->slots = more.slots;
	block->n_slots = more.n_slots;
	return CTX_OK;
}

static enum ctx_status put_function(struct ctx_exp_call_block *block, uint64_t function, bool *ret_new,
				    struct ctx_err *err)
{
	struct ctx_exp_call_slot *slot;

	if (2 * (block->n_functions + 1) > block->n_slots) {
		enum ctx_status status = grow(block, err);

		if (status != CTX_OK)
			return status;
	}
	slot = find(block, function);
	*ret_new = slot->function == 0;
	ctx_buf_put_varint(&block->streams[FUNCTIONS], slot->number);
	if (!*ret_new)
		return CTX_OK;
	*slot = (struct ctx_exp_call_slot){function, ++block->n_functions};
	ctx_buf_put_zigzag(&block->streams[ADDRESSES], (int64_t)(function - block->last_function));
	block->last_function = function;
	return CTX_OK;
}

enum ctx_status ctx_exp_call_put(struct ctx_exp_call_block *block, const struct ctx_exp_call *call,
				 bool *ret_new, struct ctx_err *err)
{
	bool enters = call->function != 0;
	unsigned what = (call->unwound ? UNWOUND : 0) | (call->resumed ? RESUMED : 0) |
			(call->is_sum ? SUM : 0) | (call->took_ns != 0 ? TOOK : 0) |
			(call->lost != 0 ? LOST : 0) | (call->unseen ? UNSEEN : 0) |
			(call->counted != 0 ? COUNTED : 0);
	enum ctx_status status = CTX_OK;

	*ret_new = false;
	if (block->n % 8 == 0)
		ctx_buf_put_u8(&block->streams[STEPS], 0);
	if (block->n == 0)
		block->first_ns = block->last_ns = call->time_ns;
	if (enters && !block->streams[STEPS].failed)
		block->streams[STEPS].bytes[block->streams[STEPS].n - 1] |= (uint8_t)(1u << block->n % 8);
	ctx_buf_put_varint(&block->streams[TIMES], call->time_ns - block->last_ns);
	if (what != 0 || call->left != (enters ? 0u : 1u)) {
		ctx_buf_put_varint(&block->streams[OTHERS], block->n - block->other_at);
		ctx_buf_put_varint(&block->streams[OTHERS], what);
		ctx_buf_put_varint(&block->streams[OTHERS], call->left);
		if (call->took_ns != 0)
			ctx_buf_put_varint(&block->streams[OTHERS], call->took_ns);
		if (call->is_sum || call->took_ns != 0)
			ctx_buf_put_varint(&block->streams[OTHERS], call->calls);
		if (call->lost != 0)
			ctx_buf_put_varint(&block->streams[OTHERS], call->lost);
		if (call->counted != 0) {
			ctx_buf_put_varint(&block->streams[OTHERS], call->counter);
			ctx_buf_put_varint(&block->streams[OTHERS], call->counted);
		}
		block->other_at = block->n + 1;
	}
	if (enters)
		status = put_function(block, call->function, ret_new, err);
	block->last_ns = call->time_ns;
	block->depth_now += (uint32_t)(enters && call->took_ns == 0) - call->left;
	block->n++;
	for (size_t i = 0; i < CTX_EXP_CALLEVENTS_STREAMS && status == CTX_OK; i++) {
		if (block->streams[i].failed)
			status = ctx_err_nomem(err);
	}
	return status;
}

enum ctx_status ctx_exp_calls_encode(const struct ctx_exp_call_block *block, struct ctx_buf *out,
				     struct ctx_err *err)
{
	size_t ends[CTX_EXP_CALLEVENTS_STREAMS + 1];

	ctx_buf_put_varint(out, block->thread);
	ctx_buf_put_varint(out, block->depth);
	ctx_exp_put_lengths(block->streams, CTX_EXP_CALLEVENTS_STREAMS, out);
	return ctx_exp_put_streams(block->streams, CTX_EXP_CALLEVENTS_STREAMS, out, ends, err);
}

/* Reading */

void ctx_exp_calls_in_deinit(struct ctx_exp_calls_in *in)
{
	free(in->functions);
	*in = (struct ctx_exp_calls_in){0};
}

/* Where the next of OTHERS is. */
static void find_other(struct ctx_exp_calls_in *in)
{
	in->to_other = ctx_cursor_left(&in->streams[OTHERS]) != 0
			       ? ctx_cursor_get_varint32(&in->streams[OTHERS])
			       : UINT32_MAX;
}

enum ctx_status ctx_exp_calls_begin(struct ctx_exp_calls_in *in, struct ctx_bytes payload, uint64_t first_ns,
				    uint32_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);
	uint64_t lengths[CTX_EXP_CALLEVENTS_STREAMS];

	in->thread = ctx_cursor_get_varint32(&cursor);
	in->depth = ctx_cursor_get_varint32(&cursor);
	for (size_t i = 0; i < CTX_EXP_CALLEVENTS_STREAMS; i++)
		lengths[i] = ctx_cursor_get_varint(&cursor);
	if (!ctx_exp_take_streams(&cursor, lengths, CTX_EXP_CALLEVENTS_STREAMS, in->streams))
		return ctx_err_set(err, CTX_E_FORMAT, "streams of calls end early");
	/* Each event has a byte of its time. */
	if (n > ctx_cursor_left(&in->streams[TIMES]) ||
	    ctx_cursor_left(&in->streams[STEPS]) < ((size_t)n + 7) / 8 || in->thread == UINT32_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "fewer calls than the header says");
	in->n = n;
	in->at = in->n_functions = 0;
	in->time_ns = first_ns;
	in->last_function = 0;
	find_other(in);
	return CTX_OK;
}

static enum ctx_status get_function(struct ctx_exp_calls_in *in, uint64_t *ret, struct ctx_err *err)
{
	uint32_t number = ctx_cursor_get_varint32(&in->streams[FUNCTIONS]);

	if (number > in->n_functions || in->streams[FUNCTIONS].failed)
		return ctx_err_set(err, CTX_E_FORMAT, "a call of an unknown function");
	if (number == 0) {
		enum ctx_status status =
			ctx_grow(&in->functions, &in->functions_cap, (size_t)in->n_functions + 1, err);

		if (status != CTX_OK)
			return status;
		in->last_function += (uint64_t)ctx_cursor_get_zigzag(&in->streams[ADDRESSES]);
		in->functions[in->n_functions++] = in->last_function;
		number = in->n_functions;
	}
	*ret = in->functions[number - 1];
	if (*ret == 0 || in->streams[ADDRESSES].failed)
		return ctx_err_set(err, CTX_E_FORMAT, "functions of the block end early");
	return CTX_OK;
}

static void get_other(struct ctx_exp_calls_in *in, struct ctx_exp_call *ret)
{
	uint64_t what = ctx_cursor_get_varint(&in->streams[OTHERS]);

	ret->unwound = (what & UNWOUND) != 0;
	ret->resumed = (what & RESUMED) != 0;
	ret->is_sum = (what & SUM) != 0;
	ret->unseen = (what & UNSEEN) != 0;
	ret->left = ctx_cursor_get_varint32(&in->streams[OTHERS]);
	if ((what & TOOK) != 0)
		ret->took_ns = ctx_cursor_get_varint(&in->streams[OTHERS]);
	if ((what & TOOK) != 0 && ret->took_ns == 0)
		ret->took_ns = UINT64_MAX; /* makes no sense */
	if ((what & (SUM | TOOK)) != 0)
		ret->calls = ctx_cursor_get_varint(&in->streams[OTHERS]);
	if ((what & LOST) != 0)
		ret->lost = ctx_cursor_get_varint(&in->streams[OTHERS]);
	if ((what & COUNTED) != 0) {
		uint32_t counter = ctx_cursor_get_varint32(&in->streams[OTHERS]);

		ret->counter = counter < CTX_CALL_COUNTERS ? (uint8_t)counter : CTX_CALL_COUNTERS;
		ret->counted = ctx_cursor_get_varint(&in->streams[OTHERS]);
	}
	find_other(in);
}

static bool makes_sense(const struct ctx_exp_call *call)
{
	return call->calls <= CTX_EXP_CALLS_SUM_MAX && call->took_ns <= CTX_EXP_CALLS_TOOK_MAX &&
	       (call->took_ns == 0 || call->function != 0) &&
	       (call->counted == 0 ||
		(call->function == 0 && call->left == 0 && call->counter < CTX_CALL_COUNTERS &&
		 call->counted <= CTX_EXP_CALLS_COUNTED_MAX)) &&
	       (call->lost == 0 ||
		(call->function == CTX_EXP_CALLS_LOST && call->lost <= CTX_EXP_CALLS_SUM_MAX &&
		 call->resumed && !call->is_sum && call->took_ns == 0));
}

enum ctx_status ctx_exp_calls_next(struct ctx_exp_calls_in *in, struct ctx_exp_call *ret, uint32_t *ret_kept,
				   struct ctx_err *err)
{
	bool enters;
	uint64_t passed;
	enum ctx_status status = CTX_OK;

	if (in->at == in->n)
		return CTX_END;
	enters = (in->streams[STEPS].at[in->at / 8] >> in->at % 8 & 1) != 0;
	in->at++;
	passed = ctx_cursor_get_varint(&in->streams[TIMES]);
	in->time_ns += passed;
	*ret = (struct ctx_exp_call){.time_ns = in->time_ns, .left = enters ? 0 : 1};
	if (in->to_other == 0)
		get_other(in, ret);
	else if (in->to_other != UINT32_MAX)
		in->to_other--;
	if (in->streams[TIMES].failed || in->time_ns < passed || in->streams[OTHERS].failed ||
	    ret->left > in->depth)
		return ctx_err_set(err, CTX_E_FORMAT, "a call ends that is not open, or the times end early");
	if (enters)
		status = get_function(in, &ret->function, err);
	if (status == CTX_OK && !makes_sense(ret))
		return ctx_err_set(err, CTX_E_FORMAT, "a sum of calls that makes no sense");
	*ret_kept = in->depth - ret->left;
	in->depth = *ret_kept + (enters && ret->took_ns == 0);
	return status;
}

void ctx_exp_open_calls_free(struct ctx_exp_open_calls *calls)
{
	if (calls == NULL)
		return;
	ctx_exp_calls_in_deinit(&calls->in);
	ctx_buf_deinit(&calls->payload);
	free(calls);
}
