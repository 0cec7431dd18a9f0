/*
 * Where an expression of the command line is wrong.
 */
#ifndef CTX_QUERY_WRONG_PLACE_H
#define CTX_QUERY_WRONG_PLACE_H

#include "base/err.h"

#include <stdio.h>

struct ctx_wrong_place {
	const char *text; /* the expression; NULL: the error is not in an expression. Belongs to argv */
	size_t column;	  /* from 1 */
};

/* Parses the value of --OPTION. CTX_E_ARG, CTX_E_LIMIT: "--filter: column 9: ...", and the place. */
CTX_MUST_CHECK enum ctx_status ctx_wrong_place_check(const char *option, const char *text,
						     struct ctx_wrong_place *ret, struct ctx_err *err);

/* The expression and a caret below the column; nothing if it cannot be shown on one line. */
void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out);

#endif
