/*
 * --diff: which words of the options select on which side.
 *
 *	--thread main		both sides
 *	--thread A:main		side A alone; B: likewise
 *
 * So for --interval, --filter, --thread, --process and --cpu.
 */
#ifndef CTX_CTXAN_SIDE_WORDS_H
#define CTX_CTXAN_SIDE_WORDS_H

#include "base/err.h"
#include "compare/matching.h"
#include "query/selection_spec.h"

/* Lists of one side alone. Of argv; NULL: none. */
struct ctx_side_lists {
	const char *threads, *processes, *cpus;
};

/* The side that a word names, its text behind the prefix; CTX_COMPARE_SIDES: none, the word itself. */
enum ctx_compare_side ctx_side_of(const char *word, const char **ret_text);

/* The words of one side: release with ctx_side_words_deinit. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_side_words_make(const struct ctx_selection_spec *both,
						   const struct ctx_side_lists *alone,
						   enum ctx_compare_side side, struct ctx_selection_spec *ret,
						   struct ctx_err *err);
void ctx_side_words_deinit(struct ctx_selection_spec *words);

#endif
