/*
 * Opening of perf.data: the files, what their headers say, and what only a pass over all records
 * can.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_OPENING_H
#define CTX_FORMATS_PERFDATA_PD_OPENING_H

#include "formats/perfdata/pd_file.h"

/*
 * Opens and reads header, events and facts; where the file does not tell the time of its samples,
 * reads all records once for it. What is damaged is a line in `damage`. Zero the struct before;
 * deinit it also after a failure. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_VERSION, CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_file_open(struct ctx_pd_file *file, const char *path,
						struct ctx_err *err);

#endif
