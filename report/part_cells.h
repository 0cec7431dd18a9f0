/*
 * Common parts of reports of functions: cells for functions, and the --function filter.
 */
#ifndef CTX_REPORT_PART_CELLS_H
#define CTX_REPORT_PART_CELLS_H

#include "calltree/calltree.h"
#include "report/function_names.h"
#include "report/metric_view.h"
#include "report/out.h"

/* Name and object cells; CTX_TRIE_ROOT_KEY is <Total>, without an object. */
struct ctx_cell ctx_function_cell(const struct ctx_profile *profile, uint32_t function);
struct ctx_cell ctx_object_cell(const struct ctx_profile *profile, uint32_t function);

/* JSON: "inlined": true, only if the function represents inlined instances. */
struct ctx_cell ctx_inlined_cell(const struct ctx_profile *profile, uint32_t function);

/*
 * "pt_PID_TID (name)", the title of a thread's tree; with its life, "pt_PID_TID (name), 1.000-2.500
 * ms", if several threads had this tid. Valid until the section of `out` ends. CTX_NONE: NULL.
 * O(threads).
 */
const char *ctx_thread_title(struct ctx_out *out, uint32_t thread);

/* The life behind it, ", 1.000-2.500 ms"; "" if no other thread had this tid. O(threads). */
const char *ctx_thread_life(struct ctx_out *out, uint32_t thread);

/* "NAME [OBJECT]", the object without its directories; valid until the section of `out` ends. */
const char *ctx_function_title(struct ctx_out *out, uint32_t function);

/*
 * JSON: "parts": the clones and outlined parts that are counted with the function, only if there
 * are any.
 */
struct ctx_cell ctx_parts_cell(const struct ctx_profile *profile, uint32_t function);

/* Call trees of all parts, built first so that errors are returned before anything is printed. */
struct ctx_part_trees {
	struct ctx_calltree *trees; /* owned; by part, for each part all metrics (metric_trees.h) */
	size_t n;		    /* parts */
	size_t n_metrics;
};

/* `small_percent`: with several metrics, siblings below it in all of them come last. */
CTX_MUST_CHECK enum ctx_status ctx_part_trees_build(const struct ctx_profile *profile,
						    const struct ctx_report_parts *parts,
						    double small_percent, struct ctx_part_trees *ret,
						    struct ctx_err *err);
void ctx_part_trees_deinit(struct ctx_part_trees *trees);

/* One part of a report. */
struct ctx_part_page {
	struct ctx_out *out;
	uint32_t thread;
	const struct ctx_calltree
		*tree; /* of the first metric; those of the others, view->n_more, follow it */
	struct ctx_metric_view *view;
	size_t key; /* position of the sort key among the view's */
};

typedef enum ctx_status (*ctx_part_page_fn)(const struct ctx_part_page *page, struct ctx_err *err);

struct ctx_part_report {
	const struct ctx_report_kind *kind;
	bool calls; /* it shows them */
	const struct ctx_metric_form *form;
	const char *const *sort_keys;
	ctx_part_page_fn put; /* prints the rows of one part */
};

/*
 * Prints a whole report with one table per part: checks sort key and --function, then calls `put`
 * for every part.
 */
CTX_MUST_CHECK enum ctx_status ctx_part_trees_report(struct ctx_report_source *source,
						     const struct ctx_report_options *options,
						     const struct ctx_part_report *report,
						     struct ctx_err *err);

/* The first node after the subtree of `node`. O(depth). */
uint32_t ctx_subtree_end(const struct ctx_calltree *tree, uint32_t node);

/*
 * A number cell of a process's pid, of a thread's tid; a null cell if there is none, as for
 * CTX_NONE.
 */
struct ctx_cell ctx_pid_cell(const struct ctx_profile *profile, uint32_t process);
struct ctx_cell ctx_thread_cell(const struct ctx_profile *profile, uint32_t thread);

/*
 * JSON: "thread_id", which distinguishes the lives of a tid; only in the part of one thread.
 */
struct ctx_cell ctx_thread_id_cell(const struct ctx_profile *profile, uint32_t thread);

#endif
