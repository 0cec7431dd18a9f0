/*
 * For exports that need more of load objects than a database has: where they were mapped, and their files, from the recording or
 * this machine.
 */
#ifndef CTX_CTXAN_EXPORTING_PLACES_H
#define CTX_CTXAN_EXPORTING_PLACES_H

#include "ctxan/opening.h"
#include "ingest/symbol_caches.h"
#include "model/export.h"
#include "store/store.h"

/* All mappings of the database, malloc'ed. CTX_E_NOMEM, CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_export_mappings(struct ctx_store *store, struct ctx_mapping_info **ret,
						   size_t *ret_n, struct ctx_err *err);

struct ctx_export_objects { /* all zero is a valid empty one */
	const struct ctx_profile *profile;
	const char *symfs;
	char *archives; /* owned; directory of the recording's copies, "" none */
	struct ctx_symbol_caches caches;
};

CTX_MUST_CHECK enum ctx_status ctx_export_objects_open(struct ctx_export_objects *objects,
						       const char *recording,
						       const struct ctx_profile *profile,
						       const struct ctx_opening_options *options,
						       struct ctx_err *err);
void ctx_export_objects_close(struct ctx_export_objects *objects);

/* struct ctx_export_input.object_file; the context is a struct ctx_export_objects. */
CTX_MUST_CHECK enum ctx_status ctx_export_objects_read(void *context, uint32_t object, struct ctx_buf *out,
						       struct ctx_err *err);

#endif
