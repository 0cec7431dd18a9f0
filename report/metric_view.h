/*
 * Several metrics side by side, in the reports that support it. With one metric a row is printed
 * unchanged; with more:
 *
 *	text	a heading for each metric above its own columns; percentages and samples are dropped,
 *		and in a narrow table also digits, the columns in front, and finally the exclusive
 *		columns
 *	JSON	the row has "metrics": one object for each further metric
 *	CSV	further columns: base.lock, cum.lock, ...
 */
#ifndef CTX_REPORT_METRIC_VIEW_H
#define CTX_REPORT_METRIC_VIEW_H

#include "calltree/calltree.h"
#include "report/out.h"

/* How a report shows a metric. */
struct ctx_metric_form {
	const char *base_title, *cum_title;
	const char *base_key, *cum_key, *base_samples_key, *cum_samples_key;
	bool has_calls;	     /* "calls" of each metric in JSON; estimated ones are hidden in text */
	unsigned n_lead;     /* number of its first columns that are kept if there is room */
	unsigned lead_width; /* their width in text */
	unsigned cum_column; /* of its first two columns of inclusive weight, weight and %; 0: none */
	unsigned name;	     /* the column of names */
	unsigned wanted;     /* minimum width of names */
	unsigned n_traced;   /* of its last columns: only where calls were seen */
	bool traced_lead;    /* the same for its first columns */
};

struct ctx_metric_view {
	/* Set by the caller, borrowed. */
	const struct ctx_report_kind *kind;
	const struct ctx_metric_form *form;
	const struct ctx_report_selection *selection;
	const struct ctx_report_options *options;
	/* Set by ctx_metric_view_init. */
	uint64_t *weights;	    /* by metric, of all parts */
	size_t n_more;		    /* 0: of the following fields only sort_keys is set */
	bool has_lead, has_base;    /* text */
	bool has_seen;		    /* of a metric the calls were seen */
	bool has_cum;		    /* there are call stacks: inclusive weights are known */
	struct ctx_column *shown;   /* with one metric and without call stacks; else NULL */
	struct ctx_column *columns; /* text and CSV */
	struct ctx_cell *cells;
	size_t n_columns;
	const struct ctx_column *own; /* the kind's; without estimated calls (report/calls.h) */
	struct ctx_scale *scales;     /* text: by column */
	const char **groups;	      /* text: by column */
	const char **sort_keys; /* the report's, then base and cum of each further metric; NULL ends them */
	size_t n_own_keys;
	unsigned name_room; /* text: columns for names; 0: not limited */
	struct ctx_arena arena;
};

/* Queries the parts for a report with such a view, in every selected metric. */
CTX_MUST_CHECK enum ctx_status ctx_metric_view_pull(const struct ctx_metric_view *view,
						    struct ctx_report_source *source, bool calls,
						    struct ctx_report_parts *ret, struct ctx_err *err);

/* `sort_keys` may be NULL. Borrows its arguments; call ctx_metric_view_deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_metric_view_init(struct ctx_metric_view *view,
						    const struct ctx_report_parts *parts,
						    const char *const *sort_keys, struct ctx_err *err);
void ctx_metric_view_deinit(struct ctx_metric_view *view);

/* Begins the report with the view's columns, and the totals of the parts. */
void ctx_metric_view_begin(const struct ctx_metric_view *view, struct ctx_out *out,
			   const struct ctx_report_parts *parts);

/*
 * A row. `cells` as for the report's own table; `numbers` are the values of the first metric,
 * `more` (n_more) those of the others. After _begin JSON lists may follow, until ctx_out_row_end.
 */
void ctx_metric_view_row(struct ctx_metric_view *view, struct ctx_out *out, const struct ctx_cell *cells,
			 const struct ctx_flat_row *numbers, const struct ctx_flat_row *more);
void ctx_metric_view_row_begin(struct ctx_metric_view *view, struct ctx_out *out,
			       const struct ctx_cell *cells, const struct ctx_flat_row *numbers,
			       const struct ctx_flat_row *more);

/*
 * Without call stacks: makes the cells of inclusive weights and samples null. They are those whose
 * columns have the form's keys.
 */
void ctx_metric_view_hide_cum(const struct ctx_metric_view *view, struct ctx_cell *cells);

/* JSON: a row inside a list. */
void ctx_metric_view_list_row(const struct ctx_metric_view *view, struct ctx_out *out,
			      const struct ctx_cell *cells, const struct ctx_flat_row *more);

/*
 * Resolves a sort key of a further metric: the metric (from 1), and whether it is its cum. False:
 * it is one of the report's own keys.
 */
bool ctx_metric_view_key(const struct ctx_metric_view *view, size_t key, size_t *ret_metric, bool *ret_cum);

/* For keys and headings. Borrowed from the profile, or constant. */
const char *ctx_metric_word(const struct ctx_metric_info *metric);

/*
 * The heading of a metric's columns: its title, made safe and cut to `width` columns, and the unit,
 * unless the title includes it ("Bytes Allocated"). In the arena. NULL: no memory.
 */
const char *ctx_metric_heading(const struct ctx_metric_info *metric, const struct ctx_scale *scale,
			       size_t width, bool ascii, struct ctx_arena *arena);

#endif
