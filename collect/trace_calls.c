#include "collect/trace_calls.h"

#include "runtime/rt_call_tree.h"

#include <stdio.h>

#define DEPTH_MAX (1u << 24) /* as in rt_calls.h */

static void put(struct ctx_trace_calls *out, const struct ctx_exp_call *call)
{
	out->items[out->n++] = *call;
}

struct lost {
	uint64_t words, from;
	uint32_t kept; /* open calls that are so all the time */
};

/* What is open beyond those that stay ends where words are missing first: when it did is not known. */
static void put_lost(struct ctx_trace_call_state *state, struct ctx_call_clock *clock,
		     const struct lost *lost, struct ctx_trace_calls *ret)
{
	uint64_t from = lost->from > state->ticks ? lost->from : state->ticks;
	uint32_t left = state->depth > lost->kept ? state->depth - lost->kept : 0;

	put(ret, &(struct ctx_exp_call){.time_ns = ctx_call_clock_ns(clock, from),
					.function = CTX_EXP_CALLS_LOST,
					.left = left,
					.unwound = left != 0,
					.resumed = true,
					.lost = lost->words});
	state->depth -= left;
}

void ctx_trace_calls_end_lost(uint64_t lost, uint64_t lost_from, struct ctx_trace_call_state *state,
			      struct ctx_call_clock *clock, struct ctx_trace_calls *ret)
{
	ret->n = 0;
	state->depth += state->sums.left;
	ret->depth = state->depth;
	put_lost(state, clock, &(struct lost){lost != 0 ? lost : 1, lost_from, 0}, ret);
	*state = (struct ctx_trace_call_state){0};
}

void ctx_trace_calls_end_unwritten(uint64_t from_ns, struct ctx_trace_call_state *state,
				   struct ctx_trace_calls *ret)
{
	uint32_t left = state->depth + state->sums.left;

	ret->n = 0;
	ret->depth = left;
	put(ret, &(struct ctx_exp_call){.time_ns = from_ns,
					.function = CTX_EXP_CALLS_LOST,
					.left = left,
					.unwound = left != 0,
					.resumed = true,
					.lost = 1});
	/* If another thread writes them yet, that ends. */
	*state = (struct ctx_trace_call_state){.depth = 1};
}

bool ctx_trace_calls_sync(const struct ctx_trace_record *record, struct ctx_trace_call_state *state,
			  struct ctx_call_clock *clock, struct ctx_trace_calls *ret)
{
	const uint64_t *words = record->words;

	ret->n = 0;
	state->depth += state->sums.left;
	ret->depth = state->depth;
	if (words[1] > DEPTH_MAX || (uint32_t)words[4] > DEPTH_MAX || words[4] >> 32 > DEPTH_MAX)
		return false;
	if (words[2] != 0 && words[3] < words[0] && words[0] >= state->ticks) {
		put_lost(state, clock, &(struct lost){words[2], words[3], (uint32_t)words[1]}, ret);
		put(ret, &(struct ctx_exp_call){.time_ns = ctx_call_clock_ns(clock, words[0]), .left = 1});
	}
	state->ticks = words[0];
	state->is_open = true;
	state->resuming = (uint32_t)words[4];
	state->unseen = (uint32_t)(words[4] >> 32);
	state->sums = (struct ctx_trace_call_sums){0};
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

const char *ctx_trace_sums_letters(const struct ctx_trace_sums *sums, char out[64])
{
	out[0] = '\0';
	if (sums->memory_bytes != 0)
		snprintf(out, 64, "S%lluR%u", (unsigned long long)sums->memory_bytes,
			 (unsigned)(sums->share * CTX_RT_SHARE_ONE));
	return out;
}

uint64_t ctx_trace_second_ticks(struct ctx_call_clock *clock)
{
	if (clock->n == 0)
		return 0;
	ctx_call_clock_look(clock);
	return ctx_call_clock_ticks(clock, 1000000000);
}

/* Sums */

void ctx_trace_calls_add_unwritten(const struct ctx_rt_slot *slot,
				   struct ctx_trace_calls_unwritten *unwritten)
{
	uint64_t from_ns = atomic_load(&slot->unwritten);

	if (from_ns == 0 || from_ns > CTX_RT_SUM_VALUE_MAX)
		return;
	if (unwritten->threads++ == 0 || from_ns < unwritten->first_ns)
		unwritten->first_ns = from_ns;
}

/* Of the walk through the tree: the period's ticks are as long as its time. What begins does so within the period. */
static uint64_t sums_ns(const struct ctx_trace_call_state *state, bool begins)
{
	const struct ctx_trace_call_sums *sums = &state->sums;
	uint64_t passed = state->ticks - sums->begin_ticks, span_ns = sums->end_ns - sums->begin_ns;

	passed = passed < sums->ticks ? (uint64_t)((unsigned __int128)passed * span_ns / sums->ticks)
				      : span_ns;
	return sums->begin_ns + (begins && passed == span_ns ? span_ns - 1 : passed);
}

static bool read_period(enum ctx_rt_sum sum, uint64_t value, struct ctx_trace_call_state *state)
{
	struct ctx_trace_call_sums *sums = &state->sums;

	switch (sum) {
	case CTX_RT_SUM_BEGIN:
		*sums = (struct ctx_trace_call_sums){
			.begin_ticks = state->ticks, .begin_ns = value, .left = sums->left};
		return state->depth == 0;
	case CTX_RT_SUM_TICKS:
		sums->ticks = value;
		return value != 0;
	case CTX_RT_SUM_END:
		sums->end_ns = value > sums->begin_ns ? value : sums->begin_ns + 1;
		return value > sums->begin_ns;
	case CTX_RT_SUM_CALLS:
		sums->calls = value;
		return value <= CTX_EXP_CALLS_SUM_MAX;
	default:
		sums->function = value;
		return value != 0;
	}
}

/* False: it makes no sense here. An event without function and calls that end: there is none yet. */
static bool read_sum(uint64_t word, struct ctx_trace_call_state *state, struct ctx_exp_call *ret)
{
	struct ctx_trace_call_sums *sums = &state->sums;
	enum ctx_rt_sum sum = (enum ctx_rt_sum)(word >> 57 & 7);
	uint64_t value = word & CTX_RT_SUM_VALUE_MAX;

	if (sum != CTX_RT_SUM_DONE && sum != CTX_RT_SUM_TOOK)
		return (sum == CTX_RT_SUM_BEGIN || sums->begin_ns != 0) && sum < CTX_RT_SUM_TOOK &&
		       read_period(sum, value, state);
	if (sums->end_ns == 0 || sums->ticks == 0)
		return false;
	ret->time_ns = sums_ns(state, sum == CTX_RT_SUM_TOOK);
	if (sum == CTX_RT_SUM_DONE) {
		ret->left = sums->left + state->depth;
		ret->unwound = true;
		sums->left = state->depth = 0;
		return true;
	}
	ret->function = sums->function;
	ret->took_ns = (uint64_t)((unsigned __int128)value * (sums->end_ns - sums->begin_ns) / sums->ticks);
	ret->took_ns += ret->took_ns == 0;
	ret->calls = sums->calls;
	return sums->function != 0 && sums->calls != 0 && sums->calls <= CTX_EXP_CALLS_SUM_MAX &&
	       ret->took_ns <= CTX_EXP_CALLS_TOOK_MAX;
}

/* Of a walk: calls that end do so with what begins next. */
static bool read_walk(uint64_t word, struct ctx_trace_call_state *state, struct ctx_exp_call *ret)
{
	struct ctx_trace_call_sums *sums = &state->sums;
	uint64_t value = word & CTX_RT_CALL_VALUE_MAX;

	if (sums->end_ns == 0 || sums->ticks == 0)
		return false;
	switch (ctx_rt_call_of(word)) {
	case CTX_RT_CALL_ENTER:
		state->ticks += word >> CTX_RT_CALL_ADDRESS_BITS & CTX_RT_CALL_TICKS_MAX;
		*ret = (struct ctx_exp_call){.time_ns = sums_ns(state, true),
					     .function =
						     word & ((UINT64_C(1) << CTX_RT_CALL_ADDRESS_BITS) - 1),
					     .left = sums->left,
					     .is_sum = true,
					     .calls = sums->calls};
		if (ret->function == 0 || state->depth >= DEPTH_MAX || ret->calls > CTX_EXP_CALLS_SUM_MAX)
			return false;
		sums->left = 0;
		state->depth++;
		return true;
	case CTX_RT_CALL_ADVANCE:
		state->ticks += value;
		return true;
	case CTX_RT_CALL_UNWIND:
		if (value > state->depth)
			return false;
		state->depth -= (uint32_t)value;
		sums->left += (uint32_t)value;
		return true;
	default:
		return false;
	}
}

static bool read_count(uint64_t word, const struct ctx_trace_call_state *state, struct ctx_exp_call *ret)
{
	uint64_t value = word & CTX_RT_SUM_VALUE_MAX;

	ret->counter = (uint8_t)(value >> 48);
	ret->counted = value & CTX_RT_COUNT_MAX;
	return value >> 48 < CTX_CALL_COUNTERS && ret->counted != 0 &&
	       ret->counted <= CTX_EXP_CALLS_COUNTED_MAX && state->depth != 0 && state->sums.begin_ns == 0;
}

/* False: it makes no sense here. */
static bool read_word(uint64_t word, struct ctx_trace_call_state *state, struct ctx_exp_call *ret)
{
	uint64_t value = word & CTX_RT_CALL_VALUE_MAX;

	*ret = (struct ctx_exp_call){0};
	if (ctx_rt_call_of(word) == CTX_RT_CALL_SUM && (word >> 57 & 7) == CTX_RT_SUM_COUNT)
		return read_count(word, state, ret);
	if (ctx_rt_call_of(word) == CTX_RT_CALL_SUM)
		return read_sum(word, state, ret);
	if (state->sums.begin_ns != 0)
		return read_walk(word, state, ret);
	switch (ctx_rt_call_of(word)) {
	case CTX_RT_CALL_ENTER:
		state->ticks += word >> CTX_RT_CALL_ADDRESS_BITS & CTX_RT_CALL_TICKS_MAX;
		ret->function = word & ((UINT64_C(1) << CTX_RT_CALL_ADDRESS_BITS) - 1);
		ret->resumed = state->resuming != 0;
		ret->unseen = !ret->resumed && state->unseen != 0;
		state->resuming -= ret->resumed;
		state->unseen -= ret->unseen;
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
	case CTX_RT_CALL_SUM:
		return false;
	}
	state->resuming = state->unseen = 0;
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
	ret->depth = state->depth + state->sums.left;
	for (size_t i = 0; i < n; i++) {
		struct ctx_exp_call call;

		if (!state->is_open || !read_word(words[i], state, &call)) {
			strange++;
			continue;
		}
		if (call.function == 0 && call.left == 0 && call.counted == 0)
			continue;
		if (state->sums.begin_ns == 0)
			call.time_ns = ctx_call_clock_ns(clock, state->ticks);
		put(ret, &call);
	}
	return strange;
}
