/*
 * The options of a selection as text, for commands that show the same again.
 */
#ifndef CTX_CTXAN_SELECTION_WORDS_H
#define CTX_CTXAN_SELECTION_WORDS_H

#include "base/buf.h"
#include "ctxan/options.h"

/*
 * Appends the options that say what of a recording is shown (intervals, threads, processes,
 * processors, filters, hidden frames, the metric), as typed into a shell, each after a space.
 */
void ctx_selection_words_put(const struct ctx_options *options, struct ctx_buf *text);

#endif
