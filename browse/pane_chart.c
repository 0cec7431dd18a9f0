/*
 * A flame chart: what each thread was in over the interval, a line for each depth below its states.
 *
 *	71 worker  exact calls
 *	state    UUUUUUUUULLLLLUUUUUUUUUUUUUU
 *	locks         -===		locks were held for some of a column, for more than half of it
 *	         |worker---------------------
 *	         |parse---|lock|parse-|parse-
 *	          |lex-|       |lex--| |lex-
 *
 * A column has the deepest call that was open for more than half of its time, and that one's callers; where calls were
 * not seen, what more than half of its samples are in. A call that was entered in a column begins a frame
 * there, also if the one before is of the same function.
 */
#include "browse/pane.h"

#include "base/mem.h"
#include "report/figures.h"
#include "report/held_locks.h"
#include "report/names.h"
#include "report/state_cells.h"

#include <inttypes.h>
#include <stdlib.h>

#define THREADS 12u	    /* the heaviest ones */
#define CALLS_MOST 3000000u /* that are looked at for the exact begin and end of one */
#define LOCKS_MOST 1000000u /* operations of synchronisation in the run: of more no locks are shown */
#define LABEL 9u	    /* columns: those of the time line */

enum row_kind {
	ROW_THREAD,
	ROW_STATES,
	ROW_LOCKS,
	ROW_CALLS,
};

struct row {
	enum row_kind kind;
	uint32_t depth;	    /* of calls: from 1 on */
	size_t first_slice; /* of the thread */
};

struct chart {
	struct ctx_report_source *source; /* borrowed: the selection's */
	struct ctx_report_slices slices;
	struct ctx_held_locks held; /* owned */
	struct row *rows;	    /* owned */
	size_t n, cap;
	size_t column; /* that is chosen */
};

/* Columns of a row that are one frame: [first, end). */
struct frame {
	size_t first, end;
	uint32_t node; /* CTX_TRIE_ROOT: nothing */
};

static struct chart *chart_of(const struct ctx_pane *pane)
{
	return pane->impl;
}

static const struct ctx_trie *cct_of(const struct chart *chart)
{
	return &chart->source->selection.profile->cct;
}

static const struct ctx_report_slice *slice_of(const struct chart *chart, const struct row *row,
					       size_t column)
{
	return &chart->slices.slices[row->first_slice + column];
}

/* ---- rows ---- */

static enum ctx_status add_row(struct chart *chart, struct row row, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&chart->rows, &chart->cap, chart->n + 1, err);

	if (status == CTX_OK)
		chart->rows[chart->n++] = row;
	return status;
}

static enum ctx_status add_thread(struct chart *chart, size_t first_slice, struct ctx_err *err)
{
	const struct ctx_trie *cct = cct_of(chart);
	struct row row = {.kind = ROW_THREAD, .first_slice = first_slice};
	enum ctx_status status = add_row(chart, row, err);
	uint32_t deepest = 0;

	for (size_t i = 0; i < chart->slices.per_thread; i++) {
		uint32_t depth = cct->depth[slice_of(chart, &row, i)->call];

		deepest = depth > deepest ? depth : deepest;
	}
	row.kind = ROW_STATES;
	if (status == CTX_OK && chart->source->selection.profile->has_states)
		status = add_row(chart, row, err);
	row.kind = ROW_LOCKS;
	if (status == CTX_OK && ctx_held_locks_any(&chart->held, first_slice, chart->slices.per_thread))
		status = add_row(chart, row, err);
	row.kind = ROW_CALLS;
	for (row.depth = 1; row.depth <= deepest && status == CTX_OK; row.depth++)
		status = add_row(chart, row, err);
	return status;
}

static void close_chart(struct ctx_pane *pane)
{
	struct chart *chart = chart_of(pane);

	if (chart != NULL) {
		ctx_held_locks_deinit(&chart->held);
		free(chart->rows);
	}
	free(chart);
	pane->impl = NULL;
}

static enum ctx_status load_chart(struct ctx_pane *pane, struct ctx_err *err)
{
	size_t column = chart_of(pane) != NULL ? chart_of(pane)->column : 0;
	struct chart *chart;
	enum ctx_status status;

	close_chart(pane);
	chart = pane->impl = ctx_calloc(1, sizeof(*chart));
	if (chart == NULL)
		return ctx_err_nomem(err);
	status = ctx_browse_data_source(pane->data, &chart->source, err);
	if (status == CTX_OK)
		status = chart->source->slices(chart->source, pane->data->columns, THREADS, &chart->slices,
					       err);
	if (status == CTX_OK)
		status = ctx_held_locks_make(chart->source, &chart->slices, LOCKS_MOST, &chart->held, err);
	/* The first are those of all threads together. */
	for (size_t at = chart->slices.per_thread; status == CTX_OK && at < chart->slices.n;
	     at += chart->slices.per_thread)
		status = add_thread(chart, at, err);
	if (status != CTX_OK) {
		close_chart(pane);
		return status;
	}
	chart->column = column < chart->slices.per_thread ? column : 0;
	pane->n_rows = chart->n;
	return CTX_OK;
}

/* ---- frames ---- */

static uint32_t node_at(const struct chart *chart, const struct row *row, size_t column)
{
	const struct ctx_trie *cct = cct_of(chart);
	uint32_t node = slice_of(chart, row, column)->call;

	return cct->depth[node] < row->depth ? CTX_TRIE_ROOT : ctx_trie_ancestor(cct, node, row->depth);
}

/* Whether a frame ends before the column: another one is there, or one that was entered there. */
static bool is_border(const struct chart *chart, const struct row *row, size_t column)
{
	const struct ctx_report_slice *slice = slice_of(chart, row, column);
	uint32_t node = node_at(chart, row, column);

	return node != node_at(chart, row, column - 1) || (node == slice->call && slice->entered != 0);
}

static struct frame frame_at(const struct chart *chart, const struct row *row, size_t column)
{
	struct frame frame = {column, column + 1, node_at(chart, row, column)};

	while (frame.first > 0 && !is_border(chart, row, frame.first))
		frame.first--;
	while (frame.end < chart->slices.per_thread && !is_border(chart, row, frame.end))
		frame.end++;
	return frame;
}

static const char *name_of(const struct chart *chart, uint32_t node)
{
	const struct ctx_profile *profile = chart->source->selection.profile;
	uint32_t function = cct_of(chart)->key[node];

	return function < profile->n_functions ? profile->functions[function].name : "<Unknown>";
}

static void put_frame(const struct ctx_pane *pane, const struct chart *chart, const struct frame *frame,
		      bool chosen, struct ctx_buf *buf)
{
	bool ascii = pane->data->ascii;
	struct ctx_buf name CTX_AUTO_BUF = {0}, cut CTX_AUTO_BUF = {0};
	size_t room = frame->end - frame->first - 1, width = 0;

	ctx_buf_put_text(buf, chosen ? ">" : ascii ? "|" : "▏");
	if (room > 3) {
		ctx_name_put_text(&name, name_of(chart, frame->node), ascii);
		ctx_text_shorten(&cut, (const char *)name.bytes, name.n, room, ascii);
		width = ctx_text_width((const char *)cut.bytes, cut.n);
		ctx_buf_put(buf, cut.bytes, cut.n);
		buf->failed |= cut.failed || name.failed;
	}
	for (; width < room; width++)
		ctx_buf_put_text(buf, chosen ? "=" : ascii ? "-" : "─");
}

static void put_calls(const struct ctx_pane *pane, const struct chart *chart, size_t number,
		      struct ctx_buf *buf)
{
	const struct row *row = &chart->rows[number];

	ctx_buf_printf(buf, "%*s", (int)LABEL, "");
	for (size_t at = 0; at < chart->slices.per_thread;) {
		struct frame frame = frame_at(chart, row, at);
		bool chosen = number == pane->list.selected && frame.first <= chart->column &&
			      chart->column < frame.end;

		if (frame.node == CTX_TRIE_ROOT)
			ctx_buf_printf(buf, "%*s", (int)(frame.end - frame.first), "");
		else
			put_frame(pane, chart, &frame, chosen, buf);
		at = frame.end;
	}
}

static void put_thread(const struct ctx_pane *pane, const struct chart *chart, const struct row *row,
		       struct ctx_buf *buf)
{
	const struct ctx_profile *profile = chart->source->selection.profile;
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, slice_of(chart, row, 0)->thread);

	if (thread != NULL) {
		ctx_buf_printf(buf, "%" PRId64 " ", thread->tid);
		ctx_name_put_text(buf, thread->name, pane->data->ascii);
	}
	ctx_buf_put_text(buf,
			 ctx_profile_elapsed_metric(profile) != CTX_NONE ? "  exact calls" : "  sampled");
}

static void put_states(const struct chart *chart, const struct row *row, struct ctx_buf *buf)
{
	ctx_buf_printf(buf, "%-*s", (int)LABEL, "state");
	for (size_t i = 0; i < chart->slices.per_thread; i++) {
		unsigned state = ctx_state_most(slice_of(chart, row, i)->state_ns);

		ctx_buf_put_u8(buf, state < CTX_STATE_N
					    ? (uint8_t)ctx_state_letter((enum ctx_thread_state)state)
					    : ' ');
	}
}

static void put_locks(const struct chart *chart, const struct row *row, struct ctx_buf *buf)
{
	ctx_buf_printf(buf, "%-*s", (int)LABEL, "locks");
	for (size_t i = 0; i < chart->slices.per_thread; i++) {
		const struct ctx_report_slice *slice = slice_of(chart, row, i);

		ctx_buf_put_u8(
			buf, (uint8_t)ctx_held_locks_mark(chart->held.ns[row->first_slice + i],
							  slice->interval.end_ns - slice->interval.begin_ns));
	}
}

static void put_row(const struct ctx_pane *pane, size_t number, size_t width, struct ctx_buf *buf)
{
	const struct chart *chart = chart_of(pane);
	const struct row *row = &chart->rows[number];

	(void)width;
	if (row->kind == ROW_THREAD)
		put_thread(pane, chart, row, buf);
	else if (row->kind == ROW_STATES)
		put_states(chart, row, buf);
	else if (row->kind == ROW_LOCKS)
		put_locks(chart, row, buf);
	else
		put_calls(pane, chart, number, buf);
}

static enum ctx_look look_of_row(const struct ctx_pane *pane, size_t number)
{
	enum row_kind kind = chart_of(pane)->rows[number].kind;

	return kind == ROW_THREAD   ? CTX_LOOK_HEADING
	       : kind == ROW_STATES ? CTX_LOOK_DIM
	       : kind == ROW_LOCKS  ? CTX_LOOK_LOCKS
				    : CTX_LOOK_PLAIN;
}

/* ---- the chosen frame ---- */

/* False: the row has no calls, or none in the column. */
static bool chosen_frame(const struct ctx_pane *pane, struct frame *ret)
{
	const struct chart *chart = chart_of(pane);
	size_t number = pane->list.selected;

	if (chart == NULL || number >= chart->n || chart->rows[number].kind != ROW_CALLS)
		return false;
	*ret = frame_at(chart, &chart->rows[number], chart->column);
	return ret->node != CTX_TRIE_ROOT;
}

static struct ctx_interval interval_of(const struct chart *chart, const struct row *row,
				       const struct frame *frame)
{
	return (struct ctx_interval){slice_of(chart, row, frame->first)->interval.begin_ns,
				     slice_of(chart, row, frame->end - 1)->interval.end_ns};
}

static void put_ms(struct ctx_buf *buf, uint64_t time_ns)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, time_ns, 1000 * 1000, 6);
	ctx_buf_put_text(buf, figure);
}

static void chart_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	const struct chart *chart = chart_of(pane);
	struct frame frame;
	struct ctx_interval interval;

	(void)width;
	if (!chosen_frame(pane, &frame)) {
		ctx_buf_put_text(buf, "Calls over time (arrows choose one, Enter selects its interval)");
		return;
	}
	interval = interval_of(chart, &chart->rows[pane->list.selected], &frame);
	ctx_buf_put_text(buf, "in columns from ");
	put_ms(buf, interval.begin_ns);
	ctx_buf_put_text(buf, " to ");
	put_ms(buf, interval.end_ns);
	ctx_buf_printf(buf, " ms, depth %u: ", chart->rows[pane->list.selected].depth);
	ctx_name_put_text(buf, name_of(chart, frame.node), pane->data->ascii);
}

static uint32_t function_of(const struct ctx_pane *pane, size_t number)
{
	struct frame frame;

	(void)number;
	return chosen_frame(pane, &frame) ? cct_of(chart_of(pane))->key[frame.node] : CTX_NONE;
}

/* To the next frame of the row, or the one before. */
static bool step(struct ctx_pane *pane, enum ctx_pane_unfold how)
{
	struct chart *chart = chart_of(pane);
	size_t number = pane->list.selected, at;
	struct frame frame;

	if (chart == NULL || number >= chart->n || chart->rows[number].kind != ROW_CALLS)
		return false;
	frame = frame_at(chart, &chart->rows[number], chart->column);
	at = how == CTX_UNFOLD_CLOSE ? frame.first - 1 : frame.end;
	while (at < chart->slices.per_thread) { /* 0 - 1 is more */
		frame = frame_at(chart, &chart->rows[number], at);
		if (frame.node != CTX_TRIE_ROOT) {
			chart->column = frame.first;
			return true;
		}
		at = how == CTX_UNFOLD_CLOSE ? frame.first - 1 : frame.end;
	}
	return false;
}

/* ---- the exact call ---- */

struct search {
	uint32_t thread, node;
	struct ctx_interval within; /* its columns */
	struct ctx_traced found;
	bool has_found;
	size_t n;
};

/* Of calls in order of their ends: the first that was open in the columns for as long as any. */
static enum ctx_status look_at(void *context, const struct ctx_traced *call, bool passes, struct ctx_err *err)
{
	struct search *search = context;
	uint64_t begin_ns = call->time_ns - call->duration_ns;

	(void)passes;
	(void)err;
	if (++search->n > CALLS_MOST)
		return CTX_END;
	if (call->thread != search->thread || call->stack != search->node ||
	    begin_ns >= search->within.end_ns || call->time_ns < search->within.begin_ns)
		return CTX_OK;
	if (!search->has_found || call->duration_ns > search->found.duration_ns)
		search->found = *call;
	search->has_found = true;
	return call->time_ns >= search->within.end_ns ? CTX_END : CTX_OK;
}

static void put_words(const struct ctx_pane *pane, const struct search *search, uint32_t depth,
		      struct ctx_buf *words)
{
	char took[40], self[40];

	ctx_time_format(search->found.duration_ns, took, sizeof(took));
	ctx_time_format(search->found.self_ns, self, sizeof(self));
	ctx_name_put_text(words, name_of(chart_of(pane), search->node), pane->data->ascii);
	ctx_buf_put_text(words, ": begin ");
	put_ms(words, search->found.time_ns - search->found.duration_ns);
	ctx_buf_printf(words, " ms, took %s, self %s, depth %u", took, self, depth);
}

enum ctx_status ctx_pane_chart_call(struct ctx_pane *pane, struct ctx_interval *ret, struct ctx_buf *words,
				    struct ctx_err *err)
{
	struct chart *chart = chart_of(pane);
	const struct ctx_profile *profile = chart->source->selection.profile;
	struct search search = {0};
	const struct row *row;
	struct frame frame;
	enum ctx_status status = CTX_OK;

	if (!chosen_frame(pane, &frame))
		return ctx_err_set(err, CTX_E_NOTFOUND, "no call is chosen: Up, Down, Left, Right");
	row = &chart->rows[pane->list.selected];
	search.thread = slice_of(chart, row, 0)->thread;
	search.node = frame.node;
	search.within = interval_of(chart, row, &frame);
	if (ctx_profile_elapsed_metric(profile) != CTX_NONE && !profile->losses.call_log)
		status = chart->source->calls(chart->source, search.within.begin_ns, look_at, &search, err);
	if (status != CTX_OK && status != CTX_END)
		return status;
	*ret = search.within;
	if (search.has_found) {
		*ret = (struct ctx_interval){search.found.time_ns - search.found.duration_ns,
					     search.found.time_ns};
		put_words(pane, &search, row->depth, words);
	} else {
		ctx_buf_put_text(words, "the columns of ");
		ctx_name_put_text(words, name_of(chart, frame.node), pane->data->ascii);
	}
	return ctx_buf_check(words, err);
}

const struct ctx_pane_kind ctx_pane_chart = {
	.title = "Chart",
	.load = load_chart,
	.heading = chart_heading,
	.put = put_row,
	.look = look_of_row,
	.function = function_of,
	.unfold = step,
	.close = close_chart,
};
