/*
 * The text of a cell that has a name: safe, and not wider than its column.
 */
#ifndef CTX_REPORT_CELL_TEXT_H
#define CTX_REPORT_CELL_TEXT_H

#include "base/buf.h"
#include "report/cells.h"

/*
 * Appends drawing, name, object and index of a CTX_CELL_NAME, at most `width` columns (1 or more). The
 * name is shortened first, then the object; a place loses its directories, a line of source its end.
 */
void ctx_cell_put_text(struct ctx_buf *buf, const struct ctx_cell *cell, enum ctx_style style, size_t width,
		       bool ascii);

#endif
