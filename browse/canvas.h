/*
 * A screen as pieces of text with places and looks. Pure: curses draws it, tests read it.
 */
#ifndef CTX_BROWSE_CANVAS_H
#define CTX_BROWSE_CANVAS_H

#include "base/buf.h"

/* How text looks; where there are no colours, some are bold, underlined or reverse. */
enum ctx_look {
	CTX_LOOK_PLAIN,
	CTX_LOOK_BAR, /* reverse: the title */
	CTX_LOOK_HEADING,
	CTX_LOOK_SELECTED,
	CTX_LOOK_HOT,
	CTX_LOOK_DIM,
	CTX_LOOK_NOTE,
	CTX_LOOK_BRUSHED, /* of the time line: in the interval */
	CTX_LOOK_BUSY,	  /* on a CPU */
	CTX_LOOK_WAITS,
	CTX_LOOK_LOCKS,
	CTX_LOOK_MORE,
	CTX_LOOK_LESS,
	CTX_LOOK_N,
};

struct ctx_canvas_piece {
	unsigned row, column;
	enum ctx_look look;
	size_t at, n; /* bytes of the text */
};

struct ctx_canvas {
	unsigned rows, columns;
	struct ctx_buf text;
	struct ctx_canvas_piece *pieces; /* owned; a later one covers an earlier one */
	size_t n, cap;
	bool has_cursor;
	unsigned cursor_row, cursor_column;
};

void ctx_canvas_deinit(struct ctx_canvas *canvas);

/* Empties it; the size may be another one. */
void ctx_canvas_begin(struct ctx_canvas *canvas, unsigned rows, unsigned columns);

/*
 * Puts safe text (report/names.h), which is cut at the end of the line. What is outside the screen is
 * ignored.
 */
void ctx_canvas_put(struct ctx_canvas *canvas, unsigned row, unsigned column, enum ctx_look look,
		    const char *text);

/* The same for a whole line: padded with blanks. */
void ctx_canvas_line(struct ctx_canvas *canvas, unsigned row, enum ctx_look look, const char *text);

/* CTX_E_NOMEM if anything was lost. */
CTX_MUST_CHECK enum ctx_status ctx_canvas_check(const struct ctx_canvas *canvas, struct ctx_err *err);

#endif
