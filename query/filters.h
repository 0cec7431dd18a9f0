/*
 * The expressions of the command line: --filter, --by and --index. They are read before anything is opened, so that a slip of the
 * pen does not wait for an ingest.
 */
#ifndef CTX_QUERY_FILTERS_H
#define CTX_QUERY_FILTERS_H

#include "model/expression.h"
#include "query/selection_spec.h"

#include <stdio.h>

/* Where an expression is wrong. */
struct ctx_wrong_place {
	const char *text; /* the expression; NULL: it is no expression that is wrong. Belongs to argv */
	size_t column;	  /* from 1 */
};

/* CTX_E_ARG, CTX_E_LIMIT: "--filter: column 9: ...", and where that is. */
CTX_MUST_CHECK enum ctx_status ctx_filters_check(const struct ctx_selection_spec *spec,
						 struct ctx_wrong_place *ret_place, struct ctx_err *err);

/* The expression and a caret below its column; nothing where that would not be a line to look at. */
void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out);

/* --filter, bound to a profile. An array of n_filters, owned by the caller, each with ctx_expression_destroy. */
CTX_MUST_CHECK enum ctx_status ctx_filters_bind(const struct ctx_selection_spec *spec,
						const struct ctx_profile *profile,
						struct ctx_expression ***ret, struct ctx_err *err);

/* What --by asks for. `text` and `name` belong to argv, or are constant. */
struct ctx_index_key {
	const char *name; /* "thread", a name that --index gave, or the expression */
	const char *text; /* the expression */
	bool is_word;	  /* the name is one, of letters and digits, and may stand above a column */
};

/* CTX_E_ARG: a word that is no name of an index object. NULL: as --by says, without that threads. */
CTX_MUST_CHECK enum ctx_status ctx_index_key_find(const struct ctx_selection_spec *spec, const char *by,
						  struct ctx_index_key *ret, struct ctx_err *err);

/* Whether `by` is such a key: a known name, or an expression that can be parsed. CTX_E_ARG, and where it is wrong. */
CTX_MUST_CHECK enum ctx_status ctx_index_key_check(const struct ctx_selection_spec *spec, const char *by,
						   struct ctx_wrong_place *ret_place, struct ctx_err *err);

#endif
