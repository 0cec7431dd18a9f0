/*
 * wakeups(time_ns, wait_ns, delay_ns, thread, state, stack, raw_stack, waker, outsider,
 * waker_stack, waker_raw_stack): ended waits as rows. Constraints on time_ns select the blocks.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum column {
	TIME_NS,
	WAIT_NS,
	DELAY_NS,
	THREAD,
	STATE,
	STACK,
	RAW_STACK,
	WAKER,
	EXTERNAL_WAKER,
	WAKER_STACK,
	WAKER_RAW_STACK,
	N_COLUMNS
};

static enum ctx_status next_block(struct vtab_timed_cursor *timed, struct ctx_err *err)
{
	return ctx_vtab_blocks_next(timed, &ctx_wakeup_blocks, err);
}

static void column(const struct vtab_cursor *cursor, sqlite3_context *result, int which)
{
	const struct vtab_timed_cursor *timed = (const struct vtab_timed_cursor *)cursor;
	const struct ctx_wakeup *wakeup = (const struct ctx_wakeup *)timed->items + timed->at;
	/* The waker's stack; 0: unknown. */
	const uint32_t waker_raw = wakeup->waker_raw_stack != 0 ? wakeup->waker_raw_stack : CTX_NONE;
	const uint32_t waker_stack = wakeup->waker_raw_stack != 0 ? wakeup->waker_stack : CTX_NONE;
	const uint32_t ids[N_COLUMNS] = {
		[THREAD] = wakeup->thread,   [STATE] = wakeup->state,
		[STACK] = wakeup->stack,     [RAW_STACK] = wakeup->raw_stack,
		[WAKER] = wakeup->waker,     [EXTERNAL_WAKER] = wakeup->external_waker,
		[WAKER_STACK] = waker_stack, [WAKER_RAW_STACK] = waker_raw,
	};
	const uint64_t times[] = {wakeup->time_ns, wakeup->wait_ns, wakeup->delay_ns};

	if (which < THREAD)
		sqlite3_result_int64(result, (int64_t)times[which]);
	else if (which == STATE)
		sqlite3_result_text(result, ctx_state_name((enum ctx_thread_state)wakeup->state), -1,
				    SQLITE_STATIC);
	else if (which < N_COLUMNS)
		ctx_result_id(result, ids[which]);
}

const struct vtab_table ctx_vtab_wakeups = {
	.name = "wakeups",
	.declaration = "CREATE TABLE wakeups(time_ns INTEGER, wait_ns INTEGER, delay_ns INTEGER, thread "
		       "INTEGER, state TEXT, stack INTEGER, raw_stack INTEGER, waker INTEGER, outsider "
		       "INTEGER, waker_stack INTEGER, waker_raw_stack INTEGER)",
	.wishes = ctx_vtab_blocks_wishes,
	.n_wishes = CTX_COUNT_OF(ctx_vtab_blocks_wishes),
	.next_block = next_block,
	.cursor_bytes = sizeof(struct vtab_blocks_cursor),
	.first = ctx_vtab_timed_first,
	.next = ctx_vtab_timed_next,
	.column = column,
	.reset = ctx_vtab_blocks_reset,
};
