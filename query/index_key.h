/*
 * The keys of an index: --by and --index.
 *
 *	--by command,function,TSTAMP/1000000
 *	     word    word     expression		separated by commas outside parentheses and strings
 *
 * A key can have a name of its own: ms=TSTAMP/1000000. Some words stand for expressions (thread: THRID), others for what no expression says: the function
 * of the leaf, the command, the kind of a wait.
 */
#ifndef CTX_QUERY_INDEX_KEY_H
#define CTX_QUERY_INDEX_KEY_H

#include "model/report_data.h"
#include "query/selection_spec.h"
#include "query/wrong_place.h"

struct ctx_index_keys {
	struct ctx_report_index_key keys[CTX_INDEX_KEYS_MAX];
	const char *texts[CTX_INDEX_KEYS_MAX]; /* the expression of each; NULL: it is not one */
	size_t n;
	char *owned; /* names and texts that are in no table */
};

/*
 * The keys of `by`; NULL: those of --by, or threads without it. CTX_E_ARG: a word that is no key, a
 * key that is there twice, or is missing; CTX_E_LIMIT: too many. Expressions are not parsed. The
 * keys borrow from the spec.
 */
CTX_MUST_CHECK enum ctx_status ctx_index_keys_read(const struct ctx_selection_spec *spec, const char *by,
						   struct ctx_index_keys *ret, struct ctx_err *err);
void ctx_index_keys_deinit(struct ctx_index_keys *keys);

/* Checks the keys of `by` with their expressions; CTX_E_ARG with the position of the error in it. */
CTX_MUST_CHECK enum ctx_status ctx_index_keys_check(const struct ctx_selection_spec *spec, const char *by,
						    struct ctx_wrong_place *ret_place, struct ctx_err *err);

/* The same for the i-th --index. */
CTX_MUST_CHECK enum ctx_status ctx_index_definition_check(const struct ctx_selection_spec *spec, size_t i,
							  struct ctx_wrong_place *ret_place,
							  struct ctx_err *err);

/* Whether --by has a key that samples of thread states alone have; that accesses to memory alone have. */
bool ctx_index_keys_ask_states(const struct ctx_selection_spec *spec);
bool ctx_index_keys_ask_accesses(const struct ctx_selection_spec *spec);

#endif
