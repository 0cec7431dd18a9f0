/*
 * Shell quoting.
 */
#ifndef CTX_BASE_SHELLWORD_H
#define CTX_BASE_SHELLWORD_H

#include "base/buf.h"

/*
 * Appends `word` so that a shell reads one word with the same bytes: unchanged, or in single quotes
 * where required. ctx_buf_check reports failures.
 */
void ctx_shellword_put(struct ctx_buf *out, const char *word);

#endif
