/*
 * The expressions of the command line: --filter, --by and --index. They are parsed before any input
 * is opened, so that errors are reported before an ingest.
 */
#ifndef CTX_QUERY_FILTERS_H
#define CTX_QUERY_FILTERS_H

#include "model/expression.h"
#include "query/selection_spec.h"

#include <stdio.h>

/* Where an expression is wrong. */
struct ctx_wrong_place {
	const char *text; /* the expression; NULL: the error is not in an expression. Belongs to argv */
	size_t column;	  /* from 1 */
};

/* CTX_E_ARG, CTX_E_LIMIT: "--filter: column 9: ...", and the position. */
CTX_MUST_CHECK enum ctx_status ctx_filters_check(const struct ctx_selection_spec *spec,
						 struct ctx_wrong_place *ret_place, struct ctx_err *err);

/* The expression and a caret below the column; nothing if it cannot be shown on one line. */
void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out);

/*
 * --filter, bound to a profile. An array of n_filters, owned by the caller, each with
 * ctx_expression_destroy.
 */
CTX_MUST_CHECK enum ctx_status ctx_filters_bind(const struct ctx_selection_spec *spec,
						const struct ctx_profile *profile,
						struct ctx_expression ***ret, struct ctx_err *err);

/* The key of --by. `text` and `name` belong to argv, or are constant. */
struct ctx_index_key {
	const char *name; /* "thread", a name defined by --index, or the expression */
	const char *text; /* the expression */
	bool is_word;	  /* the name is a word of letters and digits, usable as a heading */
};

/*
 * CTX_E_ARG: a word that is not the name of an index object. NULL: the key of --by, or threads
 * without it.
 */
CTX_MUST_CHECK enum ctx_status ctx_index_key_find(const struct ctx_selection_spec *spec, const char *by,
						  struct ctx_index_key *ret, struct ctx_err *err);

/*
 * Checks that `by` is a known name or a valid expression. CTX_E_ARG with the position of the error.
 */
CTX_MUST_CHECK enum ctx_status ctx_index_key_check(const struct ctx_selection_spec *spec, const char *by,
						   struct ctx_wrong_place *ret_place, struct ctx_err *err);

#endif
