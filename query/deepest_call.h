/*
 * What a thread was in for most of a time: the deepest call of a histogram that has more than half of it.
 *
 *	main 10 > parse 8 > lex 3		of 10: parse
 *		        > read 4
 */
#ifndef CTX_QUERY_DEEPEST_CALL_H
#define CTX_QUERY_DEEPEST_CALL_H

#include "model/histogram.h"

struct ctx_deepest_call { /* all zero at first */
	uint64_t *weight; /* owned; by CCT node; zeros between two calls */
	int64_t *calls;	  /* owned; the same */
	bool *seen;	  /* owned; the same */
	uint32_t *nodes;  /* owned; that were seen */
	size_t n;
	uint32_t found;	  /* CCT node; CTX_TRIE_ROOT: no call has as much */
	uint64_t entered; /* how often */
};

void ctx_deepest_call_deinit(struct ctx_deepest_call *deepest);

/* Finds the deepest that has more than half of `whole` together with what is below it. CTX_E_NOMEM. O(entries x depth). */
CTX_MUST_CHECK enum ctx_status ctx_deepest_call_find(struct ctx_deepest_call *deepest,
						     const struct ctx_trie *cct,
						     const struct ctx_histogram *histogram, uint64_t whole,
						     struct ctx_err *err);

#endif
