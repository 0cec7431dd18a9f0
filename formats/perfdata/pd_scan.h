/*
 * Scan: reads all records once without order, for what the header should have told: when the first and the last
 * sample was, and in pipe mode the events and the features, which are records there.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_SCAN_H
#define CTX_FORMATS_PERFDATA_PD_SCAN_H

#include "formats/perfdata/pd_file.h"

/*
 * Sets file->first_sample and last_sample, adds events and facts. Costs one pass over the file. Records that cannot
 * be used are passed over in silence: the reader meets them again and counts them. Fails with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_scan(struct ctx_pd_file *file, struct ctx_err *err);

#endif
