#include "runtime/rt_calls_open.h"

#define SLOW __attribute__((noinline)) CTX_RT_KEEPS
#define LIKELY(condition) __builtin_expect((condition), 1)
#define NEAR ((uint64_t)1 << 20) /* two places so near are on one stack */

SLOW static uint64_t slow_ticks(void)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_CLOCK};

	ctx_rt_calls_heavy(&request);
	return request.result;
}

CTX_RT_KEEPS uint64_t ctx_rt_calls_ticks(void)
{
	return LIKELY(ctx_rt_calls_settings.has_tsc) ? ctx_rt_calls_tsc() : slow_ticks();
}

/* Words */

SLOW static bool wait_for_room(struct ctx_rt_calls *calls)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_WAIT, .calls = calls};

	ctx_rt_calls_heavy(&request);
	return ctx_rt_calls_has_room(calls);
}

/* For the recorder, too: there may be no later word. */
SLOW static void note_lost(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_slot *slot = calls->ring.slot;

	if (calls->lost_from == 0) {
		calls->lost = 0;
		calls->lost_from = ticks;
	}
	calls->lost++;
	if (slot == NULL)
		return;
	atomic_store_explicit(&slot->lost, calls->lost, memory_order_relaxed);
	atomic_store_explicit(&slot->lost_from, calls->lost_from, memory_order_release);
}

/*
 * Makes ready for some words. Where words were lost, the ring goes on with the calls that it has been told of. False: there is no
 * room; what is not written counts as lost.
 */
SLOW static bool make_ready(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_SYNC, .calls = calls, .value = ticks};

	if (!ctx_rt_calls_has_room(calls) &&
	    !(calls->waits && calls->ring.slot != NULL && wait_for_room(calls))) {
		note_lost(calls, ticks);
		return false;
	}
	if (calls->lost == 0)
		return true;
	/* Where nothing is missing, what is told first may have begun before. */
	if (calls->lost_from == 0 && calls->told < calls->depth)
		request.value = calls->open[calls->told + 1].ticks;
	ctx_rt_calls_heavy(&request);
	calls->last = request.value;
	calls->lost = 0;
	calls->lost_from = 0;
	return true;
}

/* Ticks since the last word; what does not fit the next word is a word of its own. */
static inline uint64_t advance(struct ctx_rt_calls *calls, uint64_t ticks, uint64_t most)
{
	uint64_t passed = ticks > calls->last ? ticks - calls->last : 0;

	calls->last += passed;
	if (LIKELY(passed <= most))
		return passed;
	ctx_rt_calls_append(calls, ctx_rt_call_word(CTX_RT_CALL_ADVANCE, passed & CTX_RT_CALL_VALUE_MAX));
	return 0;
}

/* Sums */

/* Time up to now is that of the innermost open call. */
static void sum_time(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_BORDER, .calls = calls, .value = ticks};

	if (calls->ring.slot != NULL && ticks >= calls->border)
		ctx_rt_calls_heavy(&request);
	ctx_rt_calls_pass(calls, ticks);
}

/* The calls above `depth` end. */
SLOW static void sum_ended(struct ctx_rt_calls *calls, uint32_t depth, uint64_t ticks)
{
	sum_time(calls, ticks);
	while (calls->depth > depth) {
		const struct ctx_rt_open_call *call = &calls->open[calls->depth];
		uint64_t passed = ticks > call->ticks ? ticks - call->ticks : 0;

		calls->depth--;
		ctx_rt_tree_leave(&calls->sums.tree, call->function, passed, call[-1].node,
				  ticks > call[-1].ticks ? ticks - call[-1].ticks : 0);
	}
}

CTX_RT_KEEPS void ctx_rt_open_abandon_sums(struct ctx_rt_calls *calls)
{
	struct ctx_rt_tree *tree = &calls->sums.tree;

	calls->lost = 0;
	if (tree->works != 0) {
		ctx_rt_tree_clear(tree);
		for (uint32_t i = 1; i <= calls->depth; i++)
			calls->open[i].node = ctx_rt_tree_enter(tree, calls->open[i].function);
		calls->sums.lost++;
		calls->sums.lost_from = calls->sums.begin_ticks;
	}
	tree->current = calls->open[calls->depth].node;
}

/* Open calls */

/* The ring gets those that it does not have, up to a depth. */
SLOW static void tell(struct ctx_rt_calls *calls, uint32_t depth, uint64_t ticks)
{
	if (ctx_rt_calls_settings.sums)
		return;
	while (calls->told < depth && make_ready(calls, ticks)) {
		/* Getting ready may have told less than all. */
		const struct ctx_rt_open_call *call = &calls->open[calls->told + 1];
		uint64_t passed = advance(calls, call->ticks, CTX_RT_CALL_TICKS_MAX);

		ctx_rt_calls_append(calls, ctx_rt_call_enter(passed, call->function));
		calls->told++;
	}
	if (calls->ring.slot != NULL)
		ctx_rt_calls_publish(calls);
}

/* The calls above `depth` are no more; how the ring is told so: a word for the last one, or for all. */
SLOW static void cut(struct ctx_rt_calls *calls, uint32_t depth, enum ctx_rt_call how, uint64_t ticks)
{
	uint32_t n = calls->told > depth ? calls->told - depth : 0;
	bool goes_on = calls->lost == 0;

	if (ctx_rt_calls_settings.sums) {
		sum_ended(calls, depth, ticks);
		return;
	}
	calls->depth = depth;
	if (n == 0 && calls->lost_from != 0 && ctx_rt_calls_tells_all())
		note_lost(calls, ticks);
	if (n == 0)
		return;
	calls->told = depth;
	if (!make_ready(calls, ticks) || !goes_on)
		return;
	if (how == CTX_RT_CALL_LEAVE) {
		ctx_rt_calls_append(calls,
				    ctx_rt_call_word(how, advance(calls, ticks, CTX_RT_CALL_VALUE_MAX)));
	} else {
		(void)advance(calls, ticks, 0);
		ctx_rt_calls_append(calls, ctx_rt_call_word(how, n));
	}
	ctx_rt_calls_publish(calls);
}

/* Of those up to a depth, those that have been open for long enough are told: outer ones are older. */
static void tell_long(struct ctx_rt_calls *calls, uint32_t depth, uint64_t ticks)
{
	uint32_t until = calls->told;

	/* Clocks of two processors may differ by some ticks. */
	while (!ctx_rt_calls_tells_all() && until < depth &&
	       (int64_t)(ticks - calls->open[until + 1].ticks) >= (int64_t)ctx_rt_calls_settings.min_ticks)
		until++;
	if (until > calls->told)
		tell(calls, until, ticks);
}

SLOW static void unwind(struct ctx_rt_calls *calls, uint32_t depth, uint64_t ticks)
{
	if (depth >= calls->depth)
		return;
	tell_long(calls, calls->depth, ticks);
	cut(calls, depth, CTX_RT_CALL_UNWIND, ticks);
}

/* The innermost one has returned. */
static void end_top(struct ctx_rt_calls *calls, uint64_t ticks)
{
	uint32_t depth = calls->depth;

	tell_long(calls, depth, ticks);
	if (!ctx_rt_calls_tells_all() && calls->told < depth && calls->ring.slot != NULL)
		atomic_store_explicit(
			&calls->ring.slot->left_out,
			atomic_load_explicit(&calls->ring.slot->left_out, memory_order_relaxed) + 1,
			memory_order_relaxed);
	cut(calls, depth - 1, CTX_RT_CALL_LEAVE, ticks);
}

static inline bool is_own(const struct ctx_rt_calls *calls, uint64_t place)
{
	return place < calls->stack_top && calls->stack_top - place <= calls->stack_bytes;
}

CTX_RT_KEEPS bool ctx_rt_open_is_over(const struct ctx_rt_calls *calls, uint64_t place, uint64_t sp)
{
	if (is_own(calls, sp))
		return place < sp || !is_own(calls, place);
	return place < sp && sp - place < NEAR && !is_own(calls, place);
}

CTX_RT_KEEPS void ctx_rt_open_count(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_COUNT, .calls = calls};

	ctx_rt_calls_heavy(&request);
	/* Where words are missing, these are, too. */
	if (request.result == 0 || calls->told == 0 || calls->lost != 0 || !make_ready(calls, ticks))
		return;
	(void)advance(calls, ticks, 0);
	for (uint64_t i = 0; i < CTX_CALL_COUNTERS; i++) {
		uint64_t counted = calls->counters.counted[i];

		if (counted != 0)
			ctx_rt_calls_append(calls, ctx_rt_sum_word(CTX_RT_SUM_COUNT,
								   i << 48 | (counted < CTX_RT_COUNT_MAX
										      ? counted
										      : CTX_RT_COUNT_MAX)));
	}
	ctx_rt_calls_publish(calls);
}

/* Ends what is not on the stack any more; `sp`: frames below it are not. */
SLOW static void settle(struct ctx_rt_calls *calls, uint64_t sp, uint64_t ticks)
{
	uint32_t depth = calls->depth;

	while (depth != 0 && ctx_rt_open_is_over(calls, calls->open[depth].place, sp))
		depth--;
	if (depth < calls->depth)
		calls->skipped = 0;
	unwind(calls, depth, ticks);
}

CTX_RT_KEEPS void ctx_rt_open_settle(struct ctx_rt_calls *calls, uint64_t sp, uint64_t ticks)
{
	settle(calls, sp, ticks);
	if (ctx_rt_calls_tells_all())
		tell(calls, calls->depth, ticks);
}

/*
 * Whether this is the call that ends. A function that calls a hook may have moved its stack pointer since its begin: down
 * (alloca), or up, where its last instruction is a jump to the hook.
 */
static bool is_it(const struct ctx_rt_open_call *call, const struct ctx_rt_deferred *what)
{
	return what->hook == CTX_RT_CALL_BY_HOOK ? call->function == what->function
						 : call->place == what->place;
}

/* The depth of the open call that ends; 0: there is none. */
static uint32_t find(const struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what)
{
	uint32_t depth = calls->depth;

	while (depth != 0 && !is_it(&calls->open[depth], what))
		depth--;
	return depth;
}

static bool make_more_room(struct ctx_rt_calls *calls)
{
	struct ctx_rt_calls_request request = {.need = CTX_RT_CALLS_GROW, .calls = calls};

	if (calls->depth < calls->room)
		return false; /* it is as deep as is wanted */
	ctx_rt_calls_heavy(&request);
	return calls->depth < calls->cap;
}

CTX_RT_KEEPS bool ctx_rt_open_enter(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what)
{
	uint64_t sp = what->place + (what->hook != CTX_RT_CALL_BY_HOOK);

	if (calls->depth != 0 && calls->open[calls->depth].place < sp)
		settle(calls, sp, what->ticks);
	if (calls->depth >= calls->cap && !make_more_room(calls)) {
		calls->skipped += what->hook == CTX_RT_CALL_BY_HOOK;
		return false;
	}
	calls->skipped = 0;
	if (ctx_rt_calls_settings.sums)
		sum_time(calls, what->ticks);
	calls->open[calls->depth + 1] = (struct ctx_rt_open_call){
		what->place, what->function, what->ticks,
		ctx_rt_calls_settings.sums ? ctx_rt_tree_enter(&calls->sums.tree, what->function) : 0};
	calls->depth++;
	if (ctx_rt_calls_tells_all())
		tell(calls, calls->depth, what->ticks);
	return true;
}

CTX_RT_KEEPS void ctx_rt_open_leave(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what)
{
	uint32_t depth = find(calls, what);

	if (what->hook == CTX_RT_CALL_BY_HOOK && calls->skipped != 0) {
		calls->skipped--;
		return;
	}
	if (depth == 0)
		return;
	unwind(calls, depth, what->ticks);
	end_top(calls, what->ticks);
	/* Where there is no room that has been counted. */
	if (ctx_rt_calls_tells_all() && (calls->lost_from == 0 || ctx_rt_calls_has_room(calls)))
		tell(calls, calls->depth, what->ticks);
}
