/*
 * Indicators of a metadata file, as `ctxan --check-indicators` says them: ctxrec has no parser of XML.
 */
#ifndef CTX_COLLECT_INDICATOR_LIST_H
#define CTX_COLLECT_INDICATOR_LIST_H

#include "base/arena.h"
#include "collect/indicator_spec.h"

#include <stddef.h>

struct ctx_indicator_listed {
	struct ctx_indicator_spec spec;
	const char *path; /* of the load object */
};

struct ctx_indicator_listing {		    /* all zero is a valid empty one */
	struct ctx_indicator_listed *items; /* owned */
	size_t n, cap;
	struct ctx_arena arena; /* of the paths */
};

void ctx_indicator_listing_deinit(struct ctx_indicator_listing *listing);

/* Adds the indicators of lines as ctxan prints them. Fails with CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_indicator_listing_parse(struct ctx_indicator_listing *listing,
							   const char *text, struct ctx_err *err);

/*
 * Those of a file. `match_symbols`: of load objects of another build by name. Fails with CTX_E_ARG (ctxan's message), CTX_E_NOTFOUND (ctxan
 * is not beside this program), CTX_E_IO, CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicator_listing_read(struct ctx_indicator_listing *listing,
							  const char *file, bool match_symbols,
							  struct ctx_err *err);

#endif
