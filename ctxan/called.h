/*
 * Intervals that are named by calls: -i call:parse#3.
 *
 *	call:parse	the first call of parse, in order of their ends, from its begin to its end
 *	call:parse#3	the third one
 *	call:parse#*	all of them
 *
 * They stand for their times and, unless threads or processes are given, for their threads. A name is one
 * of a function, as --function has it, but of one alone. A name may hold '#'; only digits, or '*', behind
 * the last one are a number.
 */
#ifndef CTX_CTXAN_CALLED_H
#define CTX_CTXAN_CALLED_H

#include "query/selection_spec.h"
#include "store/store.h"

#define CTX_CALLED_MAX 65536u /* calls that a text may name */

struct ctx_called_words {
	const char **intervals; /* owned, with their texts; NULL: nothing was replaced */
	size_t n, cap;
	char *threads; /* owned */
	const char **given;
	size_t n_given;
	const char *given_threads;
};

/*
 * Replaces such texts in `spec` by times and threads. CTX_E_ARG: no such call; CTX_E_NOTFOUND: no such function, or no
 * calls were recorded; fails as ctx_store_scan_traced does. Nothing has to be released on failure.
 */
CTX_MUST_CHECK enum ctx_status ctx_called_replace(struct ctx_store *store, struct ctx_selection_spec *spec,
						  struct ctx_called_words *ret, struct ctx_err *err);

/* Puts the given texts back. */
void ctx_called_restore(struct ctx_called_words *words, struct ctx_selection_spec *spec);
void ctx_called_deinit(struct ctx_called_words *words);

#endif
