/*
 * Reasons why something was not found: one line, separated by "; ".
 */
#ifndef CTX_ELF_REASONS_H
#define CTX_ELF_REASONS_H

#include "base/buf.h"

/* Appends one, at most its first CTX_ERR_MAX bytes. Errors stick in the buffer. */
void ctx_reasons_add(struct ctx_buf *reasons, const char *fmt, ...) CTX_PRINTF(2, 3);

#endif
