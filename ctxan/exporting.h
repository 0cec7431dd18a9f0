/*
 * --export: writes the selection in the format of another tool, or as a page.
 */
#ifndef CTX_CTXAN_EXPORTING_H
#define CTX_CTXAN_EXPORTING_H

#include "ctxan/options.h"
#include "query/selection.h"
#include "store/store.h"

/* Writes the selection to options->report.out. Remarks go to stderr unless options->quiet. */
CTX_MUST_CHECK enum ctx_status ctx_exporting_answer(struct ctx_store *store, const char *name,
						    const struct ctx_selection *selection,
						    const struct ctx_options *options, struct ctx_err *err);

/* CTX_E_ARG: the format is binary, and standard output a terminal. */
CTX_MUST_CHECK enum ctx_status ctx_exporting_check_terminal(const struct ctx_options *options,
							    struct ctx_err *err);

/* The same of a difference's two sides (compare/merged.h); the terminal is not checked. */
CTX_MUST_CHECK enum ctx_status ctx_exporting_difference(struct ctx_report_source *merged,
							const struct ctx_options *options,
							struct ctx_err *err);

#endif
