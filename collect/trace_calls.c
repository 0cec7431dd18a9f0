#include "collect/trace_calls.h"

#define DEPTH_MAX (1u << 24) /* as in rt_calls.h */

static void put(struct ctx_trace_calls *out, const struct ctx_exp_call *call)
{
	out->items[out->n++] = *call;
}

bool ctx_trace_calls_sync(const struct ctx_trace_record *record, struct ctx_trace_call_state *state,
			  struct ctx_call_clock *clock, struct ctx_trace_calls *ret)
{
	const uint64_t *words = record->words;

	ret->n = 0;
	ret->depth = state->depth;
	if (words[1] > DEPTH_MAX || words[4] > DEPTH_MAX)
		return false;
	state->ticks = words[0];
	state->is_open = true;
	state->resuming = (uint32_t)words[4];
	if (words[1] < state->depth) {
		put(ret, &(struct ctx_exp_call){.time_ns = ctx_call_clock_ns(clock, words[0]),
						.left = state->depth - (uint32_t)words[1],
						.unwound = true});
		state->depth = (uint32_t)words[1];
	}
	return true;
}

void ctx_trace_calls_add_lost(const struct ctx_trace_record *record, struct ctx_call_clock *clock,
			      struct ctx_trace_calls_lost *lost)
{
	uint64_t begin_ns, end_ns;

	if (record->words[2] == 0 || record->words[3] > record->words[0] ||
	    record->words[2] > UINT64_MAX - lost->words)
		return;
	begin_ns = ctx_call_clock_ns(clock, record->words[3]);
	end_ns = ctx_call_clock_ns(clock, record->words[0]);
	if (lost->intervals++ == 0 || begin_ns < lost->first_ns)
		lost->first_ns = begin_ns;
	if (end_ns > lost->last_ns)
		lost->last_ns = end_ns;
	lost->words += record->words[2];
}

/* False: it makes no sense here. */
static bool read_word(uint64_t word, struct ctx_trace_call_state *state, struct ctx_exp_call *ret)
{
	uint64_t value = word & CTX_RT_CALL_VALUE_MAX;

	*ret = (struct ctx_exp_call){0};
	switch (ctx_rt_call_of(word)) {
	case CTX_RT_CALL_ENTER:
		state->ticks += word >> CTX_RT_CALL_ADDRESS_BITS & CTX_RT_CALL_TICKS_MAX;
		ret->function = word & ((UINT64_C(1) << CTX_RT_CALL_ADDRESS_BITS) - 1);
		ret->resumed = state->resuming != 0;
		state->resuming -= state->resuming != 0;
		if (ret->function == 0 || state->depth >= DEPTH_MAX)
			return false;
		state->depth++;
		return true;
	case CTX_RT_CALL_LEAVE:
		state->ticks += value;
		ret->left = 1;
		break;
	case CTX_RT_CALL_ADVANCE:
		state->ticks += value;
		return true;
	case CTX_RT_CALL_UNWIND:
		ret->left = value <= state->depth ? (uint32_t)value : 0;
		ret->unwound = true;
		break;
	}
	state->resuming = 0;
	if (ret->left == 0 || ret->left > state->depth)
		return false;
	state->depth -= ret->left;
	return true;
}

size_t ctx_trace_calls_read(const uint64_t *words, size_t n, struct ctx_trace_call_state *state,
			    struct ctx_call_clock *clock, struct ctx_trace_calls *ret)
{
	size_t strange = 0;

	ret->n = 0;
	ret->depth = state->depth;
	for (size_t i = 0; i < n; i++) {
		struct ctx_exp_call call;

		if (!state->is_open || !read_word(words[i], state, &call)) {
			strange++;
			continue;
		}
		if (call.function == 0 && call.left == 0)
			continue;
		call.time_ns = ctx_call_clock_ns(clock, state->ticks);
		put(ret, &call);
	}
	return strange;
}
