#include "report/html_calls.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

/* Sums of calls have no begin and end. */
static bool has_single_calls(const struct ctx_profile *profile)
{
	return profile->traced[CTX_TRACED_CALL] != 0 && !profile->losses.call_log;
}

bool ctx_html_calls_are_there(const struct ctx_profile *profile)
{
	return has_single_calls(profile) || profile->traced[CTX_TRACED_SYNC] != 0;
}

/* --- calls --- */

static bool is_wanted(const struct ctx_html_calls *calls, const struct ctx_traced *call, bool passes)
{
	const struct ctx_report_selection *selection = calls->input->selection;
	uint64_t begin_ns = call->time_ns - call->duration_ns;
	uint64_t length_ns = call->duration_ns != 0 ? call->duration_ns : 1;

	if (call->stack >= selection->profile->cct.n || call->stack == CTX_TRIE_ROOT)
		return false;
	if (!calls->is_restricted)
		return passes || selection->filter == NULL || selection->filter[0] == '\0';
	if (!passes)
		return false;
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (ctx_interval_overlaps(selection->intervals[i],
					  (struct ctx_interval){begin_ns, begin_ns + length_ns}))
			return true;
	}
	return selection->n_intervals == 0;
}

static enum ctx_status add_call(void *context, const struct ctx_traced *call, bool passes,
				struct ctx_err *err)
{
	struct ctx_html_calls *calls = context;
	const struct ctx_trie *cct = &calls->input->selection->profile->cct;

	if (!is_wanted(calls, call, passes))
		return CTX_OK;
	calls->n_calls++;
	return ctx_call_spans_add(&calls->spans,
				  &(struct ctx_call_span){.begin_ns = call->time_ns - call->duration_ns,
							  .end_ns = call->time_ns,
							  .calls = 1,
							  .elapsed_ns = call->duration_ns,
							  .self_ns = call->self_ns,
							  .longest_ns = call->duration_ns,
							  .what = call->stack,
							  .thread = call->thread,
							  .depth = cct->depth[call->stack] - 1},
				  err);
}

/* --- locks --- */

static int by_hold(const void *a, const void *b)
{
	const struct ctx_html_hold *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->stack > right->stack) - (left->stack < right->stack);
}

static int by_thread_and_begin(const void *a, const void *b)
{
	const struct ctx_traced *left = a, *right = b;
	uint64_t left_ns = left->time_ns - left->duration_ns, right_ns = right->time_ns - right->duration_ns;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	/* The longer one is the outer one. */
	return (left->time_ns < right->time_ns) - (left->time_ns > right->time_ns);
}

/* The holds among the operations; owned by the caller. */
static enum ctx_status copy_holds(const struct ctx_report_traced *traced, struct ctx_traced **ret,
				  size_t *ret_n, struct ctx_err *err)
{
	struct ctx_traced *holds;
	size_t n = 0;

	for (size_t i = 0; i < traced->n; i++)
		n += traced->items[i].operation == CTX_SYNC_HOLD;
	holds = ctx_calloc(n, sizeof(*holds));
	if (holds == NULL)
		return ctx_err_nomem(err);
	n = 0;
	for (size_t i = 0; i < traced->n; i++) {
		if (traced->items[i].operation == CTX_SYNC_HOLD)
			holds[n++] = traced->items[i];
	}
	if (n != 0)
		qsort(holds, n, sizeof(*holds), by_thread_and_begin);
	*ret = holds;
	*ret_n = n;
	return CTX_OK;
}

static struct ctx_html_hold hold_of(const struct ctx_traced *operation)
{
	return (struct ctx_html_hold){.address = operation->address, .stack = operation->stack};
}

/* Sorted, each once. */
static enum ctx_status number_holds(struct ctx_html_calls *calls, const struct ctx_traced *holds, size_t n,
				    struct ctx_err *err)
{
	calls->holds = ctx_calloc(n, sizeof(*calls->holds));
	if (calls->holds == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		calls->holds[i] = hold_of(&holds[i]);
	qsort(calls->holds, n, sizeof(*calls->holds), by_hold);
	for (size_t i = 0; i < n; i++) {
		if (calls->n_holds == 0 || by_hold(&calls->holds[calls->n_holds - 1], &calls->holds[i]) != 0)
			calls->holds[calls->n_holds++] = calls->holds[i];
	}
	return CTX_OK;
}

static uint32_t number_of(const struct ctx_html_calls *calls, const struct ctx_traced *operation)
{
	const struct ctx_html_hold wanted = hold_of(operation), *found;

	found = bsearch(&wanted, calls->holds, calls->n_holds, sizeof(wanted), by_hold);
	return (uint32_t)(found - calls->holds);
}

/* A row of the hold's thread, of those from `first` on, in which nothing ends after its begin; a new one if there is none. */
static enum ctx_status find_row(struct ctx_html_calls *calls, size_t first, const struct ctx_traced *hold,
				size_t *ret, struct ctx_err *err)
{
	uint64_t begin_ns = hold->time_ns - hold->duration_ns;
	enum ctx_status status = CTX_OK;
	size_t row = first;

	while (row < calls->n_rows && calls->rows[row].end_ns > begin_ns)
		row++;
	if (row == calls->n_rows) {
		status = ctx_grow(&calls->rows, &calls->rows_cap, row + 1, err);
		if (status != CTX_OK)
			return status;
		calls->rows[calls->n_rows++] = (struct ctx_html_lock_row){.thread = hold->thread};
	}
	calls->rows[row].end_ns = hold->time_ns;
	*ret = row;
	return CTX_OK;
}

static enum ctx_status add_holds(struct ctx_html_calls *calls, const struct ctx_traced *holds, size_t n,
				 struct ctx_err *err)
{
	enum ctx_status status = number_holds(calls, holds, n, err);
	size_t first = 0, row = 0;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (i == 0 || holds[i].thread != holds[i - 1].thread)
			first = calls->n_rows;
		status = find_row(calls, first, &holds[i], &row, err);
		if (status == CTX_OK)
			status = ctx_call_spans_add(
				&calls->locks,
				&(struct ctx_call_span){.begin_ns = holds[i].time_ns - holds[i].duration_ns,
							.end_ns = holds[i].time_ns,
							.calls = 1,
							.elapsed_ns = holds[i].duration_ns,
							.self_ns = holds[i].duration_ns,
							.longest_ns = holds[i].duration_ns,
							.what = number_of(calls, &holds[i]),
							.thread = (uint32_t)row},
				err);
	}
	return status == CTX_OK ? ctx_call_spans_end(&calls->locks, err) : status;
}

static enum ctx_status collect_locks(struct ctx_html_calls *calls, struct ctx_err *err)
{
	struct ctx_report_source *source = calls->input->source;
	struct ctx_report_traced traced = {0};
	struct ctx_traced *holds CTX_AUTO_FREE = NULL;
	size_t n = 0;
	enum ctx_status status = source->traced(source, CTX_TRACED_SYNC, &traced, err);

	if (status == CTX_OK)
		status = copy_holds(&traced, &holds, &n, err);
	return status == CTX_OK ? add_holds(calls, holds, n, err) : status;
}

/* --- both --- */

enum ctx_status ctx_html_calls_collect(struct ctx_html_calls *calls, size_t most, struct ctx_err *err)
{
	struct ctx_report_source *source = calls->input->source;
	const struct ctx_report_selection *selection = calls->input->selection;
	const struct ctx_profile *profile = selection->profile;
	enum ctx_status status = CTX_OK;

	ctx_html_calls_deinit(calls);
	calls->interval = profile->run;
	if (calls->is_restricted && selection->n_intervals != 0)
		calls->interval =
			(struct ctx_interval){selection->intervals[0].begin_ns,
					      selection->intervals[selection->n_intervals - 1].end_ns};
	calls->spans.most = calls->locks.most = most;
	if (has_single_calls(profile))
		status = source->calls(source, 0, add_call, calls, err);
	if (status == CTX_OK)
		status = ctx_call_spans_end(&calls->spans, err);
	if (status == CTX_OK && profile->traced[CTX_TRACED_SYNC] != 0)
		status = collect_locks(calls, err);
	return status;
}

void ctx_html_calls_deinit(struct ctx_html_calls *calls)
{
	ctx_call_spans_deinit(&calls->spans);
	ctx_call_spans_deinit(&calls->locks);
	free(calls->rows);
	free(calls->holds);
	*calls = (struct ctx_html_calls){.input = calls->input, .is_restricted = calls->is_restricted};
}

enum ctx_status ctx_html_calls_reduce(struct ctx_html_calls *calls, size_t most, struct ctx_err *err)
{
	enum ctx_status status = ctx_call_spans_reduce(&calls->spans, most, err);

	return status == CTX_OK ? ctx_call_spans_reduce(&calls->locks, most, err) : status;
}

uint64_t ctx_html_calls_width(const struct ctx_html_calls *calls)
{
	uint64_t spans_ns = calls->spans.width_ns, locks_ns = calls->locks.width_ns;

	return spans_ns > locks_ns ? spans_ns : locks_ns;
}

void ctx_html_calls_mark(const struct ctx_html_calls *calls, bool *used)
{
	for (size_t i = 0; i < calls->spans.n; i++)
		used[calls->spans.items[i].what] = true;
	for (size_t i = 0; i < calls->n_holds; i++)
		used[calls->holds[i].stack] = true;
}

/* --- encoding --- */

/* One row: columns, so that they pack well. */
static void put_row(const struct ctx_call_span *items, size_t n, const uint32_t *numbers, struct ctx_buf *out)
{
	uint64_t end_ns = 0;
	int64_t before = 0;

	ctx_buf_put_varint(out, n);
	for (size_t i = 0; i < n; i++) {
		ctx_buf_put_zigzag(out, (int64_t)(items[i].begin_ns - end_ns));
		end_ns = items[i].end_ns;
	}
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_varint(out, items[i].end_ns - items[i].begin_ns);
	for (size_t i = 0; i < n; i++) {
		int64_t number = numbers != NULL ? numbers[items[i].what] : items[i].what;

		ctx_buf_put_zigzag(out, number - before);
		before = number;
	}
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_varint(out, items[i].calls * 2 + items[i].is_mixed);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_zigzag(out, (int64_t)(items[i].elapsed_ns - items[i].self_ns));
	for (size_t i = 0; i < n; i++) {
		if (items[i].calls == 1)
			continue;
		ctx_buf_put_zigzag(out, (int64_t)(items[i].end_ns - items[i].begin_ns - items[i].elapsed_ns));
		ctx_buf_put_zigzag(out, (int64_t)(items[i].elapsed_ns - items[i].longest_ns));
	}
}

/* Where the spans of a thread or row, and of a depth of it, end. */
static size_t end_of_thread(const struct ctx_call_spans *spans, size_t at)
{
	uint32_t thread = spans->items[at].thread;

	while (at < spans->n && spans->items[at].thread == thread)
		at++;
	return at;
}

static size_t end_of_depth(const struct ctx_call_spans *spans, size_t at, uint32_t thread, uint32_t depth)
{
	while (at < spans->n && spans->items[at].thread == thread && spans->items[at].depth == depth)
		at++;
	return at;
}

/* All depths from 0 on; those without calls are rows of none. */
static size_t put_thread(const struct ctx_call_spans *spans, size_t at, const uint32_t *nodes,
			 struct ctx_buf *out)
{
	uint32_t thread = spans->items[at].thread;
	size_t end = end_of_thread(spans, at);
	uint32_t n_depths = spans->items[end - 1].depth + 1;

	ctx_buf_put_varint(out, n_depths);
	for (uint32_t depth = 0; depth < n_depths; depth++) {
		size_t next = end_of_depth(spans, at, thread, depth);

		put_row(&spans->items[at], next - at, nodes, out);
		at = next;
	}
	return end;
}

/* The rows of a thread's locks, of which the first is `*row`. */
static void put_locks(const struct ctx_html_calls *calls, uint32_t thread, size_t *row, size_t *at,
		      struct ctx_buf *out)
{
	size_t end = *row;

	while (end < calls->n_rows && calls->rows[end].thread == thread)
		end++;
	ctx_buf_put_varint(out, end - *row);
	for (; *row < end; ++*row) {
		size_t next = end_of_depth(&calls->locks, *at, (uint32_t)*row, 0);

		put_row(&calls->locks.items[*at], next - *at, NULL, out);
		*at = next;
	}
}

void ctx_html_calls_put(const struct ctx_html_calls *calls, const uint32_t *nodes, struct ctx_buf *out)
{
	const struct ctx_call_spans *spans = &calls->spans;
	size_t at = 0, row = 0, lock = 0;

	ctx_buf_put_varint(out, ctx_html_calls_width(calls));
	ctx_buf_put_varint(out, calls->interval.begin_ns);
	ctx_buf_put_varint(out, calls->interval.end_ns - calls->interval.begin_ns);
	ctx_buf_put_varint(out, calls->n_holds);
	for (size_t i = 0; i < calls->n_holds; i++) {
		char text[24];
		int n = snprintf(text, sizeof(text), "0x%" PRIx64, calls->holds[i].address);

		ctx_buf_put_varint(out, (uint64_t)n);
		ctx_buf_put(out, text, (size_t)n);
		ctx_buf_put_varint(out, nodes[calls->holds[i].stack]);
	}
	for (uint32_t thread = 0; thread < calls->input->profile->n_threads; thread++) {
		if (at < spans->n && spans->items[at].thread == thread)
			at = put_thread(spans, at, nodes, out);
		else
			ctx_buf_put_varint(out, 0);
		put_locks(calls, thread, &row, &lock, out);
	}
}
