/*
 * Finds the file of a load object after the ingest, only if it is the recorded one.
 */
#ifndef CTX_INGEST_OBJECT_FILE_H
#define CTX_INGEST_OBJECT_FILE_H

#include "base/buf.h"
#include "base/err.h"

struct ctx_object_file_request {
	const char *path; /* as it was mapped */
	const char *
		build_id; /* lower-case hex; "" unknown: only the archive is used then, since the file at `path` cannot be verified */
	const char *archive; /* directory of copies, "" none */
	const char *symfs;   /* these two as in struct ctx_ingest_options */
	const char *const *caches;
};

/*
 * Appends the file to `out`. CTX_E_NOTFOUND, with the reasons; CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT
 * (larger than max_bytes); `out` is then as it was.
 */
CTX_MUST_CHECK enum ctx_status ctx_object_file_read(const struct ctx_object_file_request *request,
						    size_t max_bytes, struct ctx_buf *out,
						    struct ctx_err *err);

#endif
