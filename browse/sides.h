/*
 * The browser of a comparison: tables of what changed from side A to side B, one at a time.
 *
 *	host --print--> rows of cells (report/rows.h) --outline--> rows that are seen --> canvas
 *
 * A table is made when it is shown first. No curses: tests press keys and read the canvas.
 */
#ifndef CTX_BROWSE_SIDES_H
#define CTX_BROWSE_SIDES_H

#include "browse/host.h"
#include "browse/list.h"
#include "browse/outline.h"
#include "browse/prompt.h"
#include "report/rows.h"

#include <stdbool.h>

/* A table: remarks, then rows, of which those below a closed one are not seen. */
struct ctx_sides_table {
	struct ctx_rows rows;
	size_t first;			 /* rows before are remarks about the whole table */
	struct ctx_outline_row *outline; /* owned; of the rows from `first` on */
	size_t *seen;			 /* owned; their numbers, counted from `first` */
	struct ctx_list list;		 /* of what is seen */
	bool is_loaded;
	char message[CTX_ERR_MAX]; /* instead of rows; "" none */
};

struct ctx_sides {
	const struct ctx_sides_host *host;
	struct ctx_sides_table *tables; /* owned; as many as the host has */
	size_t shown;
	bool ascii;
	unsigned n_rows, n_columns; /* of the screen */
	bool shows_help, shows_remarks;
	struct ctx_list text; /* of the help, or the remarks */
	bool asks;	      /* for a word to search */
	struct ctx_prompt prompt;
	char search[CTX_PROMPT_MAX];
	char message[CTX_ERR_MAX]; /* until the next key; "" none */
	bool quits, redraws;
};

/* Released by ctx_sides_deinit, after a failure too. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_sides_init(struct ctx_sides *sides, const struct ctx_sides_host *host,
					      bool ascii, struct ctx_err *err);
void ctx_sides_deinit(struct ctx_sides *sides);

void ctx_sides_resize(struct ctx_sides *sides, unsigned rows, unsigned columns);

/* A key (browse/keys.h), or a press of the mouse on a row of the screen. Only CTX_E_NOMEM is returned. */
CTX_MUST_CHECK enum ctx_status ctx_sides_press(struct ctx_sides *sides, uint32_t key, unsigned row,
					       unsigned column, struct ctx_err *err);

/* ---- for what draws it (browse/sides_draw.h) ---- */

/*
 *	title
 *	tabs
 *	heading
 *	rows ...
 *	keys, a question, or a message
 */
enum { CTX_SIDES_TITLE_ROW, CTX_SIDES_TABS_ROW, CTX_SIDES_HEADING_ROW, CTX_SIDES_TABLE_ROW };

bool ctx_sides_is_too_small(const struct ctx_sides *sides);

/* Rows of the screen for those of a table. */
size_t ctx_sides_height(const struct ctx_sides *sides);

struct ctx_sides_table *ctx_sides_shown(const struct ctx_sides *sides);

/* Makes the table that is shown, unless it is made. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_sides_load(struct ctx_sides *sides, struct ctx_err *err);

#endif
