/*
 * Cells and columns of a report's table, independent of the output format.
 *
 * Names in cells are borrowed until the section ends (report/out.h); `drawing` and `index` are
 * copied.
 */
#ifndef CTX_REPORT_CELLS_H
#define CTX_REPORT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_style {
	CTX_STYLE_COUNT,   /* an integer as it is */
	CTX_STYLE_WEIGHT,  /* scaled to ms or s in text; its title gets the unit */
	CTX_STYLE_PERCENT, /* in text: the number's share of the total weight */
	CTX_STYLE_TIME,	   /* ns; ms in text */
	CTX_STYLE_BYTES,   /* MiB in text */
	CTX_STYLE_NAME,	   /* text, left-aligned; cut when it is the last column */
	/*
	 * a file and line: at most half of the width left by numbers, cut from the left; one per
	 * table
	 */
	CTX_STYLE_PLACE,
	/*
	 * one of several names of a row: in text these and places share the width that numbers leave,
	 * also that of the last column
	 */
	CTX_STYLE_KEY,
	CTX_STYLE_SOURCE, /* the last column: a line of a program, cut at its end */
};

struct ctx_column {
	const char *key;   /* JSON and CSV; NULL: in text only */
	const char *title; /* text; NULL: in JSON and CSV only */
	enum ctx_style style;
};

/* HTML: whether this row is the target of links to its function. */
enum ctx_anchor {
	CTX_ANCHOR_NONE,
	CTX_ANCHOR_ROW,	   /* in a list of functions */
	CTX_ANCHOR_STANZA, /* its stanza of callers and callees: preferred to a row */
};

enum ctx_cell_kind {
	CTX_CELL_NULL, /* JSON null, otherwise empty */
	CTX_CELL_NUMBER,
	CTX_CELL_SIGNED,
	CTX_CELL_NAME,
	CTX_CELL_BOOL,	 /* JSON true, false; otherwise "true", "false" */
	CTX_CELL_FIGURE, /* a decimal number as text, in `name`; JSON: without quotes */
	CTX_CELL_ABSENT, /* JSON: not even the key; otherwise empty */
};

struct ctx_cell {
	enum ctx_cell_kind kind : 8;
	enum ctx_anchor anchor : 8; /* HTML: for the function of `link` */
	unsigned level : 16;	    /* HTML: indentation, instead of the drawing */
	uint32_t link;		    /* HTML: 1 + id of the function that the name belongs to; 0 none */
	uint64_t number;	    /* CTX_CELL_SIGNED: converted from int64_t */
	const char *name;	    /* any bytes */
	const char *drawing;	    /* text: safe text before the name, kept whole; NULL none. Copied. */
	const char *object;	    /* text: " [object]" after the name, without directories; NULL none */
	const char *index;	    /* text: safe text after the name, " [3]"; NULL none. Copied. */
	const struct ctx_cell_frames
		*frames; /* text: instead of name and object (report/fold.h); NULL none */
};

static inline struct ctx_cell ctx_cell_number(uint64_t number)
{
	return (struct ctx_cell){.kind = CTX_CELL_NUMBER, .number = number};
}

static inline struct ctx_cell ctx_cell_signed(int64_t number)
{
	return (struct ctx_cell){.kind = CTX_CELL_SIGNED, .number = (uint64_t)number};
}

static inline struct ctx_cell ctx_cell_name(const char *name) /* NULL: an empty cell */
{
	return (struct ctx_cell){.kind = name != NULL ? CTX_CELL_NAME : CTX_CELL_NULL, .name = name};
}

/* "-12.5": borrowed like a name. */
static inline struct ctx_cell ctx_cell_figure(const char *figure)
{
	return (struct ctx_cell){.kind = CTX_CELL_FIGURE, .name = figure};
}

static inline struct ctx_cell ctx_cell_bool(bool value)
{
	return (struct ctx_cell){.kind = CTX_CELL_BOOL, .number = value};
}

/* A key only where it is true. */
static inline struct ctx_cell ctx_cell_if(bool value)
{
	return (struct ctx_cell){.kind = value ? CTX_CELL_BOOL : CTX_CELL_ABSENT, .number = value};
}

#endif
