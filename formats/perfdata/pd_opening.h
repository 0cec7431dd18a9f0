/*
 * Opens perf.data: the files, their headers, and data that only a scan of all records yields.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_OPENING_H
#define CTX_FORMATS_PERFDATA_PD_OPENING_H

#include "formats/perfdata/pd_file.h"

/*
 * Opens the files and reads header, events and facts. If the header lacks the times of the first
 * and last sample, scans all records. Damage adds lines to `damage`. Zero the struct before; deinit
 * it also after a failure. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_VERSION, CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_open(struct ctx_pd_file *file, const char *path,
						struct ctx_err *err);

#endif
