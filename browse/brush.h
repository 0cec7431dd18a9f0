/*
 * The interval of the browser: steps by keys, columns of the time line. Pure.
 *
 *	run   |------------------------------------------------|
 *	view       |==========================|			what the time line shows (zoom)
 *	now              [-------]				what the panes show
 */
#ifndef CTX_BROWSE_BRUSH_H
#define CTX_BROWSE_BRUSH_H

#include "model/interval.h"

#include <stdbool.h>
#include <stddef.h>

#define CTX_BRUSH_HISTORY 32u

struct ctx_brush {
	struct ctx_interval run, view, now;
	struct ctx_interval before[CTX_BRUSH_HISTORY]; /* for undo, the last one at n_before - 1 */
	size_t n_before;
	bool is_brushing;	  /* by keys: the cursor moves one end */
	struct ctx_interval kept; /* the interval before brushing */
	bool has_anchor;
	unsigned anchor, cursor; /* columns */
};

enum ctx_brush_step {
	CTX_BRUSH_EARLIER, /* by its length */
	CTX_BRUSH_LATER,
	CTX_BRUSH_NARROWER, /* to the half in the middle */
	CTX_BRUSH_WIDER,
	CTX_BRUSH_BEGIN_EARLIER, /* by a column */
	CTX_BRUSH_BEGIN_LATER,
	CTX_BRUSH_END_EARLIER,
	CTX_BRUSH_END_LATER,
	CTX_BRUSH_WHOLE,
	CTX_BRUSH_UNDO,
	CTX_BRUSH_ZOOM_IN,  /* the view becomes the interval */
	CTX_BRUSH_ZOOM_OUT, /* the view becomes the run */
};

struct ctx_brush ctx_brush_make(struct ctx_interval run, struct ctx_interval now);

/* One step; `columns` is the width of the time line, not 0. Whether anything changed. */
bool ctx_brush_step(struct ctx_brush *brush, enum ctx_brush_step step, unsigned columns);

/* Another interval, cut to the run; an empty one is ignored. The old one can be undone. */
bool ctx_brush_set(struct ctx_brush *brush, struct ctx_interval now);

/* The time of a column of the view, and the columns that an interval covers: [*first, *last]. */
struct ctx_interval ctx_brush_column(const struct ctx_brush *brush, unsigned column, unsigned columns);
bool ctx_brush_columns(const struct ctx_brush *brush, struct ctx_interval interval, unsigned columns,
		       unsigned *first, unsigned *last);

/* From a column to another, in either order. */
struct ctx_interval ctx_brush_between(const struct ctx_brush *brush, unsigned from, unsigned to,
				      unsigned columns);

/* Brushing by keys: a cursor; an anchor; the interval between both. */
void ctx_brush_begin(struct ctx_brush *brush, unsigned columns);
bool ctx_brush_move(struct ctx_brush *brush, int by, unsigned columns);
void ctx_brush_mark(struct ctx_brush *brush);
void ctx_brush_accept(struct ctx_brush *brush);
void ctx_brush_cancel(struct ctx_brush *brush);

#endif
