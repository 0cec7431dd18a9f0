/*
 * A page of a comparison: what its rows and its head share.
 */
#ifndef CTX_REPORT_DIFF_PAGE_H
#define CTX_REPORT_DIFF_PAGE_H

#include "compare/diff.h"
#include "report/diff_forms.h"
#include "report/out.h"

/* A change that would be found is no figure for people beyond so many times of what there is. */
#define CTX_DIFF_TENFOLD 9.0

#define CTX_DIFF_COLUMNS_MAX (CTX_DIFF_IDENTITY_MAX + 12u)

struct ctx_diff_page {
	struct ctx_out out;
	const struct ctx_diff_spec *spec;
	const struct ctx_report_kind *kind;
	const char *title;  /* NULL: the form's */
	double least_share; /* of struct ctx_diff_named */
	const struct ctx_report_options *options;
	const struct ctx_diff_form *form;
	struct ctx_diff diff;
	struct ctx_column columns[CTX_DIFF_COLUMNS_MAX];
	size_t n_columns;
};

/* Fills page->columns. */
void ctx_diff_page_columns(struct ctx_diff_page *page);

/* Cells of the numbers and the identity of a row; CTX_NONE: of everything, <Total>. */
void ctx_diff_page_fill(struct ctx_diff_page *page, uint32_t row,
			struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX]);

/* The cells of the identity in a row's cells. */
struct ctx_cell *ctx_diff_page_identity(struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX]);

/* A change as text with its unit: "+12.500 ms". Valid until the section ends. */
const char *ctx_diff_page_change(struct ctx_diff_page *page, double change);

/* The rows of a tree. */
CTX_MUST_CHECK enum ctx_status ctx_diff_page_put_tree(struct ctx_diff_page *page, struct ctx_err *err);

/* Text: title, sides, what is on one side only, what could have been found of everything. */
void ctx_diff_page_put_titles(struct ctx_diff_page *page);

/* JSON: sides, test, detectable. */
void ctx_diff_page_put_lists(struct ctx_diff_page *page);

#endif
