/*
 * --export: the selection as a file of another tool, or as a page.
 */
#ifndef CTX_CTXAN_EXPORTING_H
#define CTX_CTXAN_EXPORTING_H

#include "ctxan/options.h"
#include "ctxan/selection.h"
#include "store/store.h"

/* The kind of this name, NULL: no such format. Kinds of other tools' formats and of pages. */
const struct ctx_export_kind *ctx_exporting_find(const char *name);

/* Kind number `number` from 0 on, in the order of --help; NULL behind the last. */
const struct ctx_export_kind *ctx_exporting_kind(size_t number);

/* Writes the selection to options->report.out. Remarks go to stderr unless options->quiet. */
CTX_MUST_CHECK enum ctx_status ctx_exporting_answer(struct ctx_store *store, const char *name,
						    const struct ctx_selection *selection,
						    const struct ctx_options *options, struct ctx_err *err);

#endif
