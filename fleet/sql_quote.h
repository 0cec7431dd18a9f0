/*
 * Literals of ClickHouse's SQL. Names of functions, programs and labels are whatever was recorded: none gets into a statement but
 * through these.
 */
#ifndef CTX_FLEET_SQL_QUOTE_H
#define CTX_FLEET_SQL_QUOTE_H

#include "base/buf.h"

/* Appends the bytes as a string literal: 'it\x27s'. All but letters, digits and a few signs are \xHH, so that no rule of any server's lexer matters. */
void ctx_sql_put_literal(struct ctx_buf *sql, const char *bytes, size_t n);
void ctx_sql_put_text(struct ctx_buf *sql, const char *text); /* the same of a zero-terminated string */

#endif
