/*
 * --sql: the rows of a query as a text table, JSON or CSV.
 */
#ifndef CTX_CTXAN_SQL_H
#define CTX_CTXAN_SQL_H

#include "report/report.h"
#include "store/store.h"

/*
 * Runs `sql` and prints each row as it comes: text (tab-separated with a heading), CSV, or JSON (an
 * array of objects). CTX_E_ARG with SQLite's message for a wrong statement.
 */
CTX_MUST_CHECK enum ctx_status ctx_sql_print(struct ctx_store *store, const char *sql,
					     enum ctx_report_format format, FILE *out, struct ctx_err *err);

#endif
