/*
 * Where what stands on a screen. Pure.
 *
 *	title
 *	where the time went
 *	load		| time line	|
 *	state		| time line	|
 *	interval	| time line	|
 *	tabs
 *	heading
 *	rows ...
 *	keys, a question, or a message
 */
#ifndef CTX_BROWSE_LAYOUT_H
#define CTX_BROWSE_LAYOUT_H

#include <stdbool.h>

#define CTX_LAYOUT_LEAST_ROWS 24u
#define CTX_LAYOUT_LEAST_COLUMNS 80u
/* Columns of a tab: " 1 Title". */
#define CTX_TAB_WIDTH(title) ((unsigned)strlen(title) + 3)
#define CTX_LAYOUT_LABEL 9u /* columns in front of the time line */

struct ctx_layout {
	unsigned rows, columns;
	bool is_too_small; /* nothing below is set */
	unsigned title, shares, load, states, axis, tabs, heading, table, n_table, keys;
	unsigned line, n_line; /* columns of the time line: the first, how many */
};

struct ctx_layout ctx_layout_make(unsigned rows, unsigned columns);

#endif
