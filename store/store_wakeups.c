/*
 * Waits that were ended: blocks of columns, each with the time that it covers (from the begin of the first wait to the last
 * end), so that a question about an interval reads few of them.
 */
#include "store/store_impl.h"

#include "base/mem.h"

#include <string.h>

/* ---- writing ---- */

static enum ctx_status check(const struct ctx_store *store, const struct ctx_wakeup *wakeups, size_t n,
			     struct ctx_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (wakeups[i].wait_ns > wakeups[i].time_ns || wakeups[i].state >= CTX_STATE_N ||
		    (wakeups[i].waker != CTX_NONE && wakeups[i].outsider != CTX_NONE))
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

static enum ctx_status put_block(struct ctx_store *store, const struct ctx_wakeup *wakeups, size_t n,
				 struct ctx_err *err)
{
	struct ctx_interval span = span_of(wakeups, n);
	sqlite3_stmt *stmt = store->put[PUT_WAKEUPS];
	enum ctx_status status = ctx_wakeups_encode(&store->codec, wakeups, n, err);

	if (status != CTX_OK)
		return status;
	ctx_bind_u64(stmt, 1, store->n_wakeup_blocks++);
	ctx_bind_u64(stmt, 2, n);
	ctx_bind_u64(stmt, 3, span.begin_ns);
	ctx_bind_u64(stmt, 4, span.end_ns);
	ctx_bind_blob(stmt, 5, store->codec.payload.bytes, store->codec.payload.n);
	return ctx_statement_run(stmt, store->path, err);
}

enum ctx_status ctx_store_put_wakeups(struct ctx_store *store, const struct ctx_wakeup *wakeups, size_t n,
				      struct ctx_err *err)
{
	enum ctx_status status = check(store, wakeups, n, err);

	for (size_t first = 0; first < n && status == CTX_OK; first += CTX_CHUNK_ENTRIES) {
		size_t some = n - first < CTX_CHUNK_ENTRIES ? n - first : CTX_CHUNK_ENTRIES;

		status = put_block(store, wakeups + first, some, err);
	}
	if (status == CTX_OK)
		return CTX_OK;
	store->failed = true;
	return status;
}

/* ---- reading ---- */

void wakeup_walk_deinit(struct wakeup_walk *walk)
{
	sqlite3_finalize(walk->stmt);
	ctx_block_codec_deinit(&walk->codec);
	free(walk->wakeups);
	*walk = (struct wakeup_walk){0};
}

enum ctx_status wakeup_walk_init(struct wakeup_walk *walk, struct ctx_store *store,
				 struct ctx_interval window, struct ctx_err *err)
{
	*walk = (struct wakeup_walk){.store = store, .window = window};
	return ctx_statement_prepare(store->db, store->path,
				     "SELECT n, first_ns, last_ns, payload FROM wakeup_block ORDER BY id",
				     &walk->stmt, err);
}

/* What the codec cannot know: the ranges of ids, and the stacks that follow from the raw ones. */
static enum ctx_status resolve(const struct ctx_store *store, struct ctx_interval span,
			       struct ctx_wakeup *wakeups, size_t n, struct ctx_err *err)
{
	const struct ctx_profile *profile = &store->profile;

	for (size_t i = 0; i < n; i++) {
		struct ctx_wakeup *wakeup = &wakeups[i];

		if (wakeup->wait_ns > wakeup->time_ns || wakeup->time_ns > span.end_ns ||
		    wakeup->time_ns - wakeup->wait_ns < span.begin_ns)
			return ctx_err_set(err, CTX_E_FORMAT, "wait %zu lies outside its block", i);
		if (wakeup->raw_stack >= store->n_raw_stacks ||
		    wakeup->waker_raw_stack >= store->n_raw_stacks || wakeup->state >= CTX_STATE_N ||
		    wakeup->thread >= profile->n_threads ||
		    !store_is_id(wakeup->waker, profile->n_threads, true) ||
		    !store_is_id(wakeup->outsider, profile->n_outsiders, true) ||
		    (wakeup->waker != CTX_NONE && wakeup->outsider != CTX_NONE))
			return ctx_err_set(err, CTX_E_FORMAT, "wait %zu names something that is not there",
					   i);
		wakeup->stack = store->raw_to_stack[wakeup->raw_stack];
		wakeup->waker_stack = store->raw_to_stack[wakeup->waker_raw_stack];
	}
	return CTX_OK;
}

static enum ctx_status decode(struct wakeup_walk *walk, struct ctx_interval span, struct ctx_err *err)
{
	uint64_t n = ctx_column_u64(walk->stmt, 0);
	const void *payload = sqlite3_column_blob(walk->stmt, 3);
	size_t size_bytes = (size_t)sqlite3_column_bytes(walk->stmt, 3);
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "claims %llu waits", (unsigned long long)n);
	if (payload == NULL && size_bytes != 0)
		return ctx_err_nomem(err);
	status = ctx_grow(&walk->wakeups, &walk->cap, (size_t)n, err);
	if (status == CTX_OK)
		status = ctx_wakeups_decode(&walk->codec, payload, size_bytes, walk->wakeups, (size_t)n, err);
	if (status == CTX_OK)
		status = resolve(walk->store, span, walk->wakeups, (size_t)n, err);
	walk->store->cost.blocks++;
	walk->store->cost.bytes += size_bytes;
	walk->n = status == CTX_OK ? (size_t)n : 0;
	return status;
}

enum ctx_status wakeup_walk_next(struct wakeup_walk *walk, struct ctx_err *err)
{
	const struct ctx_store *store = walk->store;
	int rc;

	walk->n = 0;
	if (ctx_interval_is_empty(walk->window))
		return CTX_END;
	while ((rc = sqlite3_step(walk->stmt)) == SQLITE_ROW) {
		struct ctx_interval span = {ctx_column_u64(walk->stmt, 1), ctx_column_u64(walk->stmt, 2)};
		enum ctx_status status;

		if (span.begin_ns >= walk->window.end_ns || span.end_ns < walk->window.begin_ns)
			continue;
		status = decode(walk, span, err);
		return status == CTX_OK ? status
					: ctx_err_prefix(err, status, "%s: a block of waits", store->path);
	}
	return rc == SQLITE_DONE ? CTX_END : ctx_statement_fail(store->db, rc, store->path, err);
}

bool wakeup_walk_has(const struct wakeup_walk *walk, size_t i)
{
	const struct ctx_wakeup *wakeup = &walk->wakeups[i];

	return wakeup->time_ns >= walk->window.begin_ns &&
	       wakeup->time_ns - wakeup->wait_ns < walk->window.end_ns;
}

enum ctx_status ctx_store_scan_wakeups(struct ctx_store *store, struct ctx_interval window,
				       ctx_store_wakeup_fn each, void *context, struct ctx_err *err)
{
	struct wakeup_walk walk;
	enum ctx_status status = wakeup_walk_init(&walk, store, window, err);

	while (status == CTX_OK && (status = wakeup_walk_next(&walk, err)) == CTX_OK) {
		for (size_t i = 0; status == CTX_OK && i < walk.n; i++) {
			if (wakeup_walk_has(&walk, i))
				status = each(context, &walk.wakeups[i], err);
		}
	}
	wakeup_walk_deinit(&walk);
	return status == CTX_END ? CTX_OK : status;
}
