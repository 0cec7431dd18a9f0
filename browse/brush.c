#include "browse/brush.h"

#include <string.h>

static uint64_t length_of(struct ctx_interval interval)
{
	return interval.end_ns - interval.begin_ns;
}

static bool same(struct ctx_interval a, struct ctx_interval b)
{
	return a.begin_ns == b.begin_ns && a.end_ns == b.end_ns;
}

struct ctx_brush ctx_brush_make(struct ctx_interval run, struct ctx_interval now)
{
	if (ctx_interval_is_empty(run))
		run.end_ns = run.begin_ns + 1;
	return (struct ctx_brush){
		.run = run, .view = run, .now = ctx_interval_is_empty(now) ? run : now, .kept = run};
}

bool ctx_brush_set(struct ctx_brush *brush, struct ctx_interval now)
{
	now.begin_ns = now.begin_ns > brush->run.begin_ns ? now.begin_ns : brush->run.begin_ns;
	now.end_ns = now.end_ns < brush->run.end_ns ? now.end_ns : brush->run.end_ns;
	if (ctx_interval_is_empty(now) || same(now, brush->now))
		return false;
	if (!brush->is_brushing) {
		if (brush->n_before == CTX_BRUSH_HISTORY)
			memmove(brush->before, brush->before + 1,
				--brush->n_before * sizeof(brush->before[0]));
		brush->before[brush->n_before++] = brush->now;
	}
	brush->now = now;
	/* The time line shows the interval. */
	if (!ctx_interval_contains(brush->view, now))
		brush->view = brush->run;
	return true;
}

/* Moves by `by`, but stays inside the run with its length. */
static struct ctx_interval moved(const struct ctx_brush *brush, bool later, uint64_t by)
{
	struct ctx_interval now = brush->now;
	uint64_t room = later ? brush->run.end_ns - now.end_ns : now.begin_ns - brush->run.begin_ns;

	by = by < room ? by : room;
	return later ? (struct ctx_interval){now.begin_ns + by, now.end_ns + by}
		     : (struct ctx_interval){now.begin_ns - by, now.end_ns - by};
}

static uint64_t minus(uint64_t from, uint64_t by, uint64_t least)
{
	return from - least > by ? from - by : least;
}

static uint64_t plus(uint64_t to, uint64_t by, uint64_t most)
{
	return most - to > by ? to + by : most;
}

static struct ctx_interval resized(const struct ctx_brush *brush, enum ctx_brush_step step,
				   uint64_t column_ns)
{
	struct ctx_interval now = brush->now, run = brush->run;
	uint64_t length = length_of(now), half = length / 2 != 0 ? length / 2 : 1;

	switch (step) {
	case CTX_BRUSH_NARROWER:
		return length < 4 ? now
				  : (struct ctx_interval){now.begin_ns + length / 4, now.end_ns - length / 4};
	case CTX_BRUSH_WIDER:
		return (struct ctx_interval){minus(now.begin_ns, half, run.begin_ns),
					     plus(now.end_ns, half, run.end_ns)};
	case CTX_BRUSH_BEGIN_EARLIER:
		return (struct ctx_interval){minus(now.begin_ns, column_ns, run.begin_ns), now.end_ns};
	case CTX_BRUSH_BEGIN_LATER:
		return (struct ctx_interval){plus(now.begin_ns, column_ns, now.end_ns - 1), now.end_ns};
	case CTX_BRUSH_END_EARLIER:
		return (struct ctx_interval){now.begin_ns, minus(now.end_ns, column_ns, now.begin_ns + 1)};
	default:
		return (struct ctx_interval){now.begin_ns, plus(now.end_ns, column_ns, run.end_ns)};
	}
}

static bool zoom(struct ctx_brush *brush, struct ctx_interval view)
{
	bool changed = !same(view, brush->view);

	brush->view = view;
	return changed;
}

static bool undo(struct ctx_brush *brush)
{
	if (brush->n_before == 0)
		return false;
	brush->now = brush->before[--brush->n_before];
	if (!ctx_interval_contains(brush->view, brush->now))
		brush->view = brush->run;
	return true;
}

bool ctx_brush_step(struct ctx_brush *brush, enum ctx_brush_step step, unsigned columns)
{
	uint64_t column_ns = length_of(brush->view) / columns;

	switch (step) {
	case CTX_BRUSH_EARLIER:
	case CTX_BRUSH_LATER:
		return ctx_brush_set(brush, moved(brush, step == CTX_BRUSH_LATER, length_of(brush->now)));
	case CTX_BRUSH_WHOLE:
		return ctx_brush_set(brush, brush->run);
	case CTX_BRUSH_UNDO:
		return undo(brush);
	case CTX_BRUSH_ZOOM_IN:
		return zoom(brush, brush->now);
	case CTX_BRUSH_ZOOM_OUT:
		return zoom(brush, brush->run);
	default:
		return ctx_brush_set(brush, resized(brush, step, column_ns != 0 ? column_ns : 1));
	}
}

struct ctx_interval ctx_brush_column(const struct ctx_brush *brush, unsigned column, unsigned columns)
{
	uint64_t begin_ns = brush->view.begin_ns, length = length_of(brush->view);

	return (struct ctx_interval){begin_ns + (uint64_t)((unsigned __int128)length * column / columns),
				     begin_ns +
					     (uint64_t)((unsigned __int128)length * (column + 1) / columns)};
}

/* The column of a time in the view. */
static unsigned column_of(const struct ctx_brush *brush, uint64_t time_ns, unsigned columns)
{
	uint64_t length = length_of(brush->view);
	unsigned column = (unsigned)((unsigned __int128)(time_ns - brush->view.begin_ns) * columns / length);

	/* Rounded down, the column may end before the time. */
	while (column + 1 < columns && ctx_brush_column(brush, column, columns).end_ns <= time_ns)
		column++;
	return column < columns ? column : columns - 1;
}

bool ctx_brush_columns(const struct ctx_brush *brush, struct ctx_interval interval, unsigned columns,
		       unsigned *first, unsigned *last)
{
	struct ctx_interval view = brush->view;

	if (!ctx_interval_overlaps(interval, view))
		return false;
	interval.begin_ns = interval.begin_ns > view.begin_ns ? interval.begin_ns : view.begin_ns;
	interval.end_ns = interval.end_ns < view.end_ns ? interval.end_ns : view.end_ns;
	*first = column_of(brush, interval.begin_ns, columns);
	*last = column_of(brush, interval.end_ns - 1, columns);
	return true;
}

struct ctx_interval ctx_brush_between(const struct ctx_brush *brush, unsigned from, unsigned to,
				      unsigned columns)
{
	unsigned first = from < to ? from : to, last = from < to ? to : from;

	return (struct ctx_interval){ctx_brush_column(brush, first, columns).begin_ns,
				     ctx_brush_column(brush, last, columns).end_ns};
}

void ctx_brush_begin(struct ctx_brush *brush, unsigned columns)
{
	unsigned first = 0, last = 0;

	ctx_brush_columns(brush, brush->now, columns, &first, &last);
	brush->is_brushing = true;
	brush->has_anchor = false;
	brush->kept = brush->now;
	brush->cursor = first;
}

bool ctx_brush_move(struct ctx_brush *brush, int by, unsigned columns)
{
	long to = (long)brush->cursor + by;

	to = to < 0 ? 0 : to;
	brush->cursor = to < (long)columns ? (unsigned)to : columns - 1;
	if (!brush->has_anchor)
		return false;
	return ctx_brush_set(brush, ctx_brush_between(brush, brush->anchor, brush->cursor, columns));
}

void ctx_brush_mark(struct ctx_brush *brush)
{
	brush->has_anchor = true;
	brush->anchor = brush->cursor;
}

void ctx_brush_accept(struct ctx_brush *brush)
{
	struct ctx_interval now = brush->now;

	/* One step of undo, whatever the cursor passed. */
	brush->now = brush->kept;
	brush->is_brushing = false;
	ctx_brush_set(brush, now);
}

void ctx_brush_cancel(struct ctx_brush *brush)
{
	brush->now = brush->kept;
	brush->is_brushing = false;
}
