/*
 * Ended waits, in blocks; a block covers the time from the earliest begin of a wait to the latest
 * end.
 */
#include "store/store_check.h"
#include "store/store_impl.h"

/* ---- writing ---- */

static enum ctx_status check(const struct ctx_store *store, const void *items, size_t n, struct ctx_err *err)
{
	const struct ctx_wakeup *wakeups = items;

	for (size_t i = 0; i < n; i++) {
		if (wakeups[i].wait_ns > wakeups[i].time_ns || wakeups[i].state >= CTX_STATE_N ||
		    (wakeups[i].waker != CTX_NONE && wakeups[i].external_waker != CTX_NONE))
			return ctx_err_set(err, CTX_E_ARG, "%s: wait %zu cannot be", store->path, i);
	}
	return CTX_OK;
}

static struct ctx_interval span_of(const struct ctx_wakeup *wakeups, size_t n)
{
	struct ctx_interval span = {UINT64_MAX, 0};

	for (size_t i = 0; i < n; i++) {
		uint64_t begin_ns = wakeups[i].time_ns - wakeups[i].wait_ns;

		span.begin_ns = begin_ns < span.begin_ns ? begin_ns : span.begin_ns;
		span.end_ns = wakeups[i].time_ns > span.end_ns ? wakeups[i].time_ns : span.end_ns;
	}
	return span;
}

static enum ctx_status put(struct ctx_store *store, const void *items, size_t n, struct ctx_err *err)
{
	struct ctx_interval span = span_of(items, n);
	sqlite3_stmt *stmt = store->put[PUT_WAKEUPS];
	enum ctx_status status = ctx_wakeups_encode(&store->codec, items, n, err);

	if (status != CTX_OK)
		return status;
	ctx_bind_u64(stmt, 1, store->n_wakeup_blocks++);
	ctx_bind_u64(stmt, 2, n);
	ctx_bind_u64(stmt, 3, span.begin_ns);
	ctx_bind_u64(stmt, 4, span.end_ns);
	ctx_bind_blob(stmt, 5, store->codec.payload.bytes, store->codec.payload.n);
	return ctx_statement_run(stmt, store->path, err);
}

/* ---- reading ---- */

/* Checks that the codec cannot do: the ranges of ids. Fills in the stacks from the raw stacks. */
static enum ctx_status resolve(const struct ctx_store *store, const struct block *block,
			       struct ctx_wakeup *wakeups, struct ctx_err *err)
{
	const struct ctx_profile *profile = &store->profile;

	for (size_t i = 0; i < block->n; i++) {
		struct ctx_wakeup *wakeup = &wakeups[i];

		if (wakeup->wait_ns > wakeup->time_ns || wakeup->time_ns > block->span.end_ns ||
		    wakeup->time_ns - wakeup->wait_ns < block->span.begin_ns)
			return ctx_err_set(err, CTX_E_FORMAT, "wait %zu lies outside its block", i);
		if (wakeup->raw_stack >= store->n_raw_stacks ||
		    wakeup->waker_raw_stack >= store->n_raw_stacks || wakeup->state >= CTX_STATE_N ||
		    wakeup->thread >= profile->n_threads ||
		    !ctx_store_is_id(wakeup->waker, profile->n_threads, true) ||
		    !ctx_store_is_id(wakeup->external_waker, profile->external_wakers.n, true) ||
		    (wakeup->waker != CTX_NONE && wakeup->external_waker != CTX_NONE))
			return ctx_err_set(err, CTX_E_FORMAT, "wait %zu names something that is not there",
					   i);
		wakeup->stack = store->raw_to_stack[wakeup->raw_stack];
		wakeup->waker_stack = store->raw_to_stack[wakeup->waker_raw_stack];
	}
	return CTX_OK;
}

static enum ctx_status decode(struct block_walk *walk, const struct block *block, struct ctx_err *err)
{
	enum ctx_status status = ctx_wakeups_decode(&walk->codec, block->payload, walk->items, block->n, err);

	return status == CTX_OK ? resolve(walk->store, block, walk->items, err) : status;
}

const struct block_table ctx_wakeup_blocks = {
	.items = "waits",
	.select = "SELECT 0, n, first_ns, last_ns, payload FROM wakeup_block ORDER BY id",
	.item_bytes = sizeof(struct ctx_wakeup),
	.check = check,
	.put = put,
	.decode = decode,
};

enum ctx_status ctx_store_put_wakeups(struct ctx_store *store, const struct ctx_wakeup *wakeups, size_t n,
				      struct ctx_err *err)
{
	return ctx_blocks_put(store, &ctx_wakeup_blocks, wakeups, n, err);
}

static bool overlaps(const struct ctx_wakeup *wakeup, struct ctx_interval window)
{
	return wakeup->time_ns >= window.begin_ns && wakeup->time_ns - wakeup->wait_ns < window.end_ns;
}

enum ctx_status ctx_store_scan_wakeups(struct ctx_store *store, struct ctx_interval window,
				       ctx_store_wakeup_fn each, void *context, struct ctx_err *err)
{
	struct block_walk walk = {
		.store = store, .table = &ctx_wakeup_blocks, .kind = BLOCKS_OF_ALL_KINDS, .window = window};
	enum ctx_status status = ctx_store_need_samples(store, err);

	if (status != CTX_OK)
		return status;
	status = ctx_block_walk_init(&walk, err);
	while (status == CTX_OK && (status = ctx_block_walk_next(&walk, err)) == CTX_OK) {
		const struct ctx_wakeup *wakeups = walk.items;

		for (size_t i = 0; status == CTX_OK && i < walk.n; i++) {
			if (overlaps(&wakeups[i], window))
				status = each(context, &wakeups[i], err);
		}
	}
	ctx_block_walk_deinit(&walk);
	return status == CTX_END ? CTX_OK : status;
}
