/*
 * --browse: the browser in the terminal (browse/browse.h) on an open database.
 */
#ifndef CTX_CTXAN_BROWSING_H
#define CTX_CTXAN_BROWSING_H

#include "ctxan/options.h"
#include "query/selection.h"
#include "store/store.h"

/*
 * Until the user quits. `selection` is where it begins; its threads, processors and filters stay, its
 * intervals and metrics are chosen in the browser.
 */
CTX_MUST_CHECK enum ctx_status ctx_browsing_answer(struct ctx_store *store, const char *name,
						   const struct ctx_selection *selection,
						   const struct ctx_options *options, struct ctx_err *err);

#endif
