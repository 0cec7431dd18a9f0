/*
 * Identities of the rows of a comparison, by what is compared: their columns and cells.
 */
#ifndef CTX_REPORT_DIFF_FORMS_H
#define CTX_REPORT_DIFF_FORMS_H

#include "compare/diff_links.h"
#include "report/fold.h"
#include "report/out.h"

#define CTX_DIFF_IDENTITY_MAX 8u

struct ctx_diff_form {
	const struct ctx_report_kind *kind; /* whose name and keys it has */
	const char *title;		    /* "load objects" */
	const char *one;		    /* "object" */
	const char *whole; /* text: what the weight of a row is, "self time"; NULL: by the spec */
	const struct ctx_column *columns; /* at most CTX_DIFF_IDENTITY_MAX */
	size_t n_columns;
	size_t name; /* the column that says <Total> in its row */
	void (*fill)(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		     struct ctx_cell *cells);
};

const struct ctx_diff_form *ctx_diff_form_of(enum ctx_diff_subject subject);

/* Whether a function of the item passes the filter of --function; NULL: all pass. */
bool ctx_diff_item_matches(const struct ctx_diff_items *items, uint32_t item, const char *filter);

/*
 * A cell of the functions of a stack's item, those below its ancestor `from` (CTX_NONE: all), in text. Valid until the
 * section of `out` ends.
 */
struct ctx_cell ctx_diff_frames_cell(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
				     uint32_t from);

/* JSON: the same functions as a list of names. */
void ctx_diff_put_path(struct ctx_out *out, const char *key, const struct ctx_diff_items *items,
		       uint32_t item, uint32_t from);

/* JSON: the lists of a row: of a stack its "frames". */
void ctx_diff_put_lists(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			enum ctx_diff_subject subject);

#endif
