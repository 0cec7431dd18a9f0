/*
 * wakeups(time_ns, wait_ns, delay_ns, thread, state, stack, raw_stack, waker, outsider, waker_stack, waker_raw_stack): the
 * waits that were ended as rows. Bounds of time_ns choose the blocks.
 */
#include "store/vtab.h"

enum column {
	TIME_NS,
	WAIT_NS,
	DELAY_NS,
	THREAD,
	STATE,
	STACK,
	RAW_STACK,
	WAKER,
	OUTSIDER,
	WAKER_STACK,
	WAKER_RAW_STACK,
	N_COLUMNS
};

static enum ctx_status init(void *context, struct ctx_store *store, struct ctx_interval window,
			    struct ctx_err *err)
{
	return wakeup_walk_init(context, store, window, err);
}

static enum ctx_status next(void *context, size_t *ret_n, struct ctx_err *err)
{
	struct wakeup_walk *walk = context;
	enum ctx_status status = wakeup_walk_next(walk, err);

	*ret_n = walk->n;
	return status;
}

/* A wait that begins in the window and ends behind it is no row. */
static bool has(const void *context, size_t i)
{
	const struct wakeup_walk *walk = context;

	return ctx_interval_has(walk->window, walk->wakeups[i].time_ns);
}

static void deinit(void *context)
{
	wakeup_walk_deinit(context);
}

static void result_id(sqlite3_context *context, uint32_t id)
{
	if (id == CTX_NONE)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, id);
}

static void column(const void *context, size_t i, sqlite3_context *result, int which)
{
	const struct wakeup_walk *walk = context;
	const struct ctx_wakeup *wakeup = &walk->wakeups[i];
	/* The waker's stack: 0 is not known. */
	const uint32_t waker_raw = wakeup->waker_raw_stack != 0 ? wakeup->waker_raw_stack : CTX_NONE;
	const uint32_t waker_stack = wakeup->waker_raw_stack != 0 ? wakeup->waker_stack : CTX_NONE;
	const uint32_t ids[N_COLUMNS] = {
		[THREAD] = wakeup->thread,	 [STATE] = wakeup->state,	[STACK] = wakeup->stack,
		[RAW_STACK] = wakeup->raw_stack, [WAKER] = wakeup->waker,	[OUTSIDER] = wakeup->outsider,
		[WAKER_STACK] = waker_stack,	 [WAKER_RAW_STACK] = waker_raw,
	};
	const uint64_t times[] = {wakeup->time_ns, wakeup->wait_ns, wakeup->delay_ns};

	if (which < THREAD)
		sqlite3_result_int64(result, (int64_t)times[which]);
	else if (which == STATE)
		sqlite3_result_text(result, ctx_state_name((enum ctx_thread_state)wakeup->state), -1,
				    SQLITE_STATIC);
	else if (which < N_COLUMNS)
		result_id(result, ids[which]);
}

const struct vtab_blocks vtab_wakeups = {
	.name = "wakeups",
	.declaration = "CREATE TABLE wakeups(time_ns INTEGER, wait_ns INTEGER, delay_ns INTEGER, thread "
		       "INTEGER, state TEXT, stack INTEGER, raw_stack INTEGER, waker INTEGER, outsider "
		       "INTEGER, waker_stack INTEGER, waker_raw_stack INTEGER)",
	.walk_bytes = sizeof(struct wakeup_walk),
	.init = init,
	.next = next,
	.has = has,
	.column = column,
	.deinit = deinit,
};
