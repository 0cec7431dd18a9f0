/*
 * The files of load objects for exports: from the recording, or from this machine.
 */
#ifndef CTX_CTXAN_EXPORTING_PLACES_H
#define CTX_CTXAN_EXPORTING_PLACES_H

#include "base/buf.h"
#include "ctxan/opening.h"
#include "ingest/symbol_caches.h"
#include "model/profile.h"

struct ctx_export_objects {
	const char *recording; /* these three are set by the caller */
	const struct ctx_profile *profile;
	const struct ctx_opening_options *options; /* --symfs, --buildid-dir */
	char *archives; /* owned; directory of the recording's copies, "" none; NULL: not determined yet */
	struct ctx_symbol_caches caches;
};

/* Determines `archives` and opens the caches, at the first call. Fails with their errors, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_export_objects_open(struct ctx_export_objects *objects,
						       struct ctx_err *err);
void ctx_export_objects_close(struct ctx_export_objects *objects);

/*
 * Appends the file of a load object, for struct ctx_report_source; the context is a struct
 * ctx_export_objects. CTX_E_NOTFOUND: it is not available. The first call opens the caches and
 * returns their errors.
 */
CTX_MUST_CHECK enum ctx_status ctx_export_objects_read(void *context, uint32_t object, struct ctx_buf *out,
						       struct ctx_err *err);

#endif
