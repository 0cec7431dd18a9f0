/*
 * A pane: rows of one kind, of the selection, and which of them is selected.
 */
#ifndef CTX_BROWSE_PANE_H
#define CTX_BROWSE_PANE_H

#include "browse/browse_data.h"
#include "browse/canvas.h"
#include "browse/list.h"

struct ctx_pane;

enum ctx_pane_unfold {
	CTX_UNFOLD_OPEN,
	CTX_UNFOLD_CLOSE,
	CTX_UNFOLD_TOGGLE,
	CTX_UNFOLD_ALL,
};

struct ctx_pane_kind { /* NULL: the pane has none */
	const char *title;
	enum ctx_status (*load)(struct ctx_pane *pane, struct ctx_err *err); /* sets n_rows */
	void (*heading)(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf);
	void (*put)(const struct ctx_pane *pane, size_t row, size_t width,
		    struct ctx_buf *buf); /* safe text */
	enum ctx_look (*look)(const struct ctx_pane *pane, size_t row);
	uint32_t (*function)(const struct ctx_pane *pane, size_t row);	 /* CTX_NONE: of none */
	uint64_t (*id)(const struct ctx_pane *pane, size_t row);	 /* of a row, in every selection */
	size_t (*first)(const struct ctx_pane *pane);			 /* the row to look at first */
	bool (*unfold)(struct ctx_pane *pane, enum ctx_pane_unfold how); /* whether anything changed */
	void (*close)(struct ctx_pane *pane);
};

struct ctx_pane {
	const struct ctx_pane_kind *kind;
	struct ctx_browse_data *data; /* borrowed */
	struct ctx_list list;
	size_t n_rows;
	bool is_loaded;
	bool was_moved;		   /* the user selected a row: it stays, where it is there */
	char message[CTX_ERR_MAX]; /* instead of rows; "" none */
	void *impl;		   /* of the kind */
};

/* Loads the rows, unless they are. A failure becomes the pane's message, but for CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pane_load(struct ctx_pane *pane, struct ctx_err *err);

/* The rows are not those of the selection any more. */
void ctx_pane_forget(struct ctx_pane *pane);
void ctx_pane_close(struct ctx_pane *pane);

/* The function of the selected row; CTX_NONE. */
uint32_t ctx_pane_function(const struct ctx_pane *pane);

/* A pane of a report's rows (browse/pane_report.c). */
extern const struct ctx_pane_kind ctx_pane_functions, ctx_pane_waits, ctx_pane_threads, ctx_pane_source,
	ctx_pane_instructions;
/* Call trees (browse/pane_tree.c). */
extern const struct ctx_pane_kind ctx_pane_tree, ctx_pane_callers;
/* Functions of two intervals (browse/pane_compare.c). */
extern const struct ctx_pane_kind ctx_pane_compare;
/* What threads were in over time (browse/pane_chart.c). */
extern const struct ctx_pane_kind ctx_pane_chart;
/* Lists of things to know or to choose (browse/pane_lists.c). */
extern const struct ctx_pane_kind ctx_pane_metrics, ctx_pane_help, ctx_pane_notes;

/* Of panes of a report: the thread of a row of ctx_pane_threads; the warnings of the last report. */
uint32_t ctx_pane_thread(const struct ctx_pane *pane, size_t row);
/*
 * Of ctx_pane_chart: the interval of the chosen call, exactly where calls were seen, and what it was in words.
 * CTX_E_NOTFOUND: none is chosen. Reads the calls from its end on, at most some millions.
 */
CTX_MUST_CHECK enum ctx_status ctx_pane_chart_call(struct ctx_pane *pane, struct ctx_interval *ret,
						   struct ctx_buf *words, struct ctx_err *err);
size_t ctx_pane_n_notes(const struct ctx_pane *pane);
const char *ctx_pane_note(const struct ctx_pane *pane, size_t i);

#endif
