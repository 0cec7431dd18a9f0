#include "browse/layout.h"

struct ctx_layout ctx_layout_make(unsigned rows, unsigned columns)
{
	struct ctx_layout layout = {.rows = rows, .columns = columns};

	layout.is_too_small = rows < CTX_LAYOUT_LEAST_ROWS || columns < CTX_LAYOUT_LEAST_COLUMNS;
	if (layout.is_too_small)
		return layout;
	layout.title = 0;
	layout.shares = 1;
	layout.load = 2;
	layout.states = 3;
	layout.axis = 4;
	layout.tabs = 5;
	layout.heading = 6;
	layout.table = 7;
	layout.n_table = rows - 8;
	layout.keys = rows - 1;
	layout.line = CTX_LAYOUT_LABEL;
	layout.n_line = columns - CTX_LAYOUT_LABEL;
	return layout;
}
