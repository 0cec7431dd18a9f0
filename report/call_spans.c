#include "report/call_spans.h"

#include "base/mem.h"

#include <stdlib.h>

/*
 * An open run at a depth, with what its calls called: the run itself is the last layer, the one before is a depth
 * deeper. So a caller is appended, and two runs are joined from their ends.
 */
struct layers {
	struct ctx_call_span *items; /* owned; calls 0: nothing at this depth */
	size_t n, cap;
};

/* Of a thread: the open run at each depth. What is deeper than the last call lies in a call that is still open. */
struct ctx_call_lane {
	struct layers *open; /* owned */
	size_t n, cap;
	size_t end; /* runs at this depth and deeper are empty */
};

void ctx_call_spans_deinit(struct ctx_call_spans *spans)
{
	for (size_t i = 0; i < spans->n_lanes; i++) {
		for (size_t k = 0; k < spans->lanes[i].n; k++)
			free(spans->lanes[i].open[k].items);
		free(spans->lanes[i].open);
	}
	free(spans->lanes);
	free(spans->items);
	spans->lanes = NULL;
	spans->items = NULL;
	spans->n = spans->cap = spans->n_lanes = spans->lanes_cap = 0;
}

static uint64_t length_of(const struct ctx_call_span *span)
{
	return span->end_ns - span->begin_ns;
}

/* Adds the calls of `more`, which are at the same depth. */
static void join(struct ctx_call_span *to, const struct ctx_call_span *more)
{
	bool is_longer;

	if (more->calls == 0)
		return;
	if (to->calls == 0) {
		*to = *more;
		return;
	}
	is_longer = more->longest_ns > to->longest_ns ||
		    (more->longest_ns == to->longest_ns && more->begin_ns < to->begin_ns);
	to->is_mixed |= more->is_mixed || more->what != to->what;
	to->what = is_longer ? more->what : to->what;
	to->longest_ns = is_longer ? more->longest_ns : to->longest_ns;
	to->begin_ns = more->begin_ns < to->begin_ns ? more->begin_ns : to->begin_ns;
	to->end_ns = more->end_ns > to->end_ns ? more->end_ns : to->end_ns;
	to->calls += more->calls;
	to->elapsed_ns += more->elapsed_ns;
	to->self_ns += more->self_ns;
}

static enum ctx_status put(struct ctx_call_spans *spans, const struct ctx_call_span *span,
			   struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&spans->items, &spans->cap, spans->n + 1, err);

	if (status == CTX_OK)
		spans->items[spans->n++] = *span;
	return status;
}

/* The run is over. */
static enum ctx_status close_run(struct ctx_call_spans *spans, struct layers *run, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = run->n; i-- != 0 && status == CTX_OK;) {
		if (run->items[i].calls != 0)
			status = put(spans, &run->items[i], err);
	}
	run->n = 0;
	return status;
}

/* Those at `depth` and deeper. */
static enum ctx_status close_from(struct ctx_call_spans *spans, struct ctx_call_lane *lane, size_t depth,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t k = lane->end; k > depth && status == CTX_OK; k--)
		status = close_run(spans, &lane->open[k - 1], err);
	if (lane->end > depth)
		lane->end = depth;
	return status;
}

static enum ctx_status lane_of(struct ctx_call_spans *spans, const struct ctx_call_span *call,
			       struct ctx_call_lane **ret, struct ctx_err *err)
{
	size_t n = (size_t)call->depth + 2; /* with what it called */
	enum ctx_status status = ctx_grow(&spans->lanes, &spans->lanes_cap, (size_t)call->thread + 1, err);
	struct ctx_call_lane *lane;

	if (status != CTX_OK)
		return status;
	for (; spans->n_lanes <= call->thread; spans->n_lanes++)
		spans->lanes[spans->n_lanes] = (struct ctx_call_lane){0};
	lane = &spans->lanes[call->thread];
	status = ctx_grow(&lane->open, &lane->cap, n, err);
	for (; status == CTX_OK && lane->n < n; lane->n++)
		lane->open[lane->n] = (struct layers){0};
	*ret = lane;
	return status;
}

static enum ctx_status append(struct layers *run, const struct ctx_call_span *call, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&run->items, &run->cap, run->n + 1, err);

	if (status == CTX_OK)
		run->items[run->n++] = *call;
	return status;
}

static void swap(struct layers *left, struct layers *right)
{
	struct layers kept = *left;

	*left = *right;
	*right = kept;
}

/* The shorter one goes into the longer one, which is `to` then; `from` is empty afterwards. */
static void join_layers(struct layers *to, struct layers *from)
{
	if (from->n > to->n)
		swap(to, from);
	for (size_t i = 1; i <= from->n; i++)
		join(&to->items[to->n - i], &from->items[from->n - i]);
	from->n = 0;
}

static bool fits(const struct ctx_call_spans *spans, const struct layers *run,
		 const struct ctx_call_span *call)
{
	const struct ctx_call_span *top;

	if (run->n == 0)
		return false;
	top = &run->items[run->n - 1];
	return top->begin_ns <= call->begin_ns && call->end_ns - top->begin_ns <= spans->width_ns;
}

/* Of what has layers: the begin of the outermost. */
static uint64_t begin_of(const struct layers *run)
{
	size_t i = run->n;

	while (i > 1 && run->items[i - 1].calls == 0)
		i--;
	return run->items[i - 1].begin_ns;
}

/*
 * All that is open below `depth` becomes one run, at the depth below it. Of calls in order of their ends it is one already,
 * but for one without length at the begin of a call that goes on, and where callers are missing.
 */
static enum ctx_status gather(struct ctx_call_lane *lane, size_t depth, struct ctx_err *err)
{
	const struct ctx_call_span nothing = {0};
	enum ctx_status status = CTX_OK;

	for (size_t k = lane->end; k-- > depth + 2 && status == CTX_OK;) {
		if (lane->open[k].n == 0)
			continue;
		status = append(&lane->open[k], &nothing, err);
		if (status == CTX_OK)
			join_layers(&lane->open[k - 1], &lane->open[k]);
	}
	return status;
}

/* With what it called. */
static enum ctx_status add_short(struct ctx_call_spans *spans, struct ctx_call_lane *lane,
				 const struct ctx_call_span *call, struct ctx_err *err)
{
	struct layers *run = &lane->open[call->depth], *inner = &lane->open[call->depth + 1];
	enum ctx_status status = gather(lane, call->depth, err);

	/* Not of this call: the recording does not have what called it. */
	if (status == CTX_OK && inner->n != 0 && begin_of(inner) < call->begin_ns)
		status = close_run(spans, inner, err);
	lane->end = (size_t)call->depth + 1;
	if (status == CTX_OK && inner->n == 0 && fits(spans, run, call)) {
		join(&run->items[run->n - 1], call);
		return CTX_OK;
	}
	if (status == CTX_OK)
		status = append(inner, call, err);
	if (status != CTX_OK)
		return status;
	if (fits(spans, run, call)) {
		join_layers(run, inner);
		return CTX_OK;
	}
	status = close_run(spans, run, err);
	swap(run, inner);
	return status;
}

static enum ctx_status add(struct ctx_call_spans *spans, const struct ctx_call_span *call,
			   struct ctx_err *err)
{
	struct ctx_call_lane *lane;
	enum ctx_status status = lane_of(spans, call, &lane, err);

	if (status != CTX_OK)
		return status;
	if (spans->width_ns != 0 && length_of(call) < spans->width_ns)
		return add_short(spans, lane, call, err);
	status = close_from(spans, lane, call->depth, err);
	return status == CTX_OK ? put(spans, call, err) : status;
}

static enum ctx_status close_all(struct ctx_call_spans *spans, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < spans->n_lanes && status == CTX_OK; i++)
		status = close_from(spans, &spans->lanes[i], 0, err);
	return status;
}

/* --- wider runs --- */

static int by_number(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* As calls come: in order of their ends, what was called before what called it. */
static int by_end(const void *a, const void *b)
{
	const struct ctx_call_span *left = a, *right = b;
	int order = by_number(left->thread, right->thread);

	if (order == 0)
		order = by_number(left->end_ns, right->end_ns);
	if (order == 0)
		order = by_number(right->depth, left->depth);
	return order != 0 ? order : by_number(left->begin_ns, right->begin_ns);
}

static int by_place(const void *a, const void *b)
{
	const struct ctx_call_span *left = a, *right = b;
	int order = by_number(left->thread, right->thread);

	if (order == 0)
		order = by_number(left->depth, right->depth);
	if (order == 0)
		order = by_number(left->begin_ns, right->begin_ns);
	return order != 0 ? order : by_number(left->end_ns, right->end_ns);
}

/* The power of two, at least twice the width, at which at most half of `most` are long enough to stay by themselves. */
static uint64_t next_width(const struct ctx_call_spans *spans, size_t most)
{
	size_t counts[65] = {0}, n_long = 0;
	unsigned k = 64;

	for (size_t i = 0; i < spans->n; i++) {
		uint64_t length = length_of(&spans->items[i]);

		counts[length != 0 ? 64 - (unsigned)__builtin_clzll(length) : 0]++;
	}
	/* counts[k]: lengths from 2^(k-1) on. */
	while (k > 1 && (n_long += counts[k]) <= most / 2)
		k--;
	for (; k < 63 && (uint64_t)1 << k <= spans->width_ns; k++)
		;
	return k < 63 ? (uint64_t)1 << k : UINT64_MAX;
}

static enum ctx_status widen(struct ctx_call_spans *spans, size_t most, struct ctx_err *err)
{
	struct ctx_call_spans wider = {.most = SIZE_MAX, .width_ns = next_width(spans, most)};
	enum ctx_status status = close_all(spans, err);

	if (status != CTX_OK)
		return status;
	qsort(spans->items, spans->n, sizeof(*spans->items), by_end);
	for (size_t i = 0; i < spans->n && status == CTX_OK; i++)
		status = add(&wider, &spans->items[i], err);
	if (status == CTX_OK)
		status = close_all(&wider, err);
	if (status == CTX_OK) {
		wider.most = spans->most;
		ctx_call_spans_deinit(spans);
		*spans = wider;
		return CTX_OK;
	}
	ctx_call_spans_deinit(&wider);
	return status;
}

enum ctx_status ctx_call_spans_add(struct ctx_call_spans *spans, const struct ctx_call_span *call,
				   struct ctx_err *err)
{
	enum ctx_status status = add(spans, call, err);

	while (status == CTX_OK && spans->n >= 2 * spans->most && spans->width_ns != UINT64_MAX)
		status = widen(spans, spans->most, err);
	return status;
}

enum ctx_status ctx_call_spans_end(struct ctx_call_spans *spans, struct ctx_err *err)
{
	enum ctx_status status = close_all(spans, err);

	if (status == CTX_OK)
		status = ctx_call_spans_reduce(spans, spans->most, err);
	return status;
}

enum ctx_status ctx_call_spans_reduce(struct ctx_call_spans *spans, size_t most, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && spans->n > most && spans->width_ns != UINT64_MAX)
		status = widen(spans, most, err);
	if (spans->n != 0)
		qsort(spans->items, spans->n, sizeof(*spans->items), by_place);
	return status;
}
