/*
 * Scan: reads all records once, unsorted, for data that the header lacks: the times of the first
 * and the last sample, and in pipe mode events and features, which are records there.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_SCAN_H
#define CTX_FORMATS_PERFDATA_PD_SCAN_H

#include "formats/perfdata/pd_file.h"

/*
 * Sets file->first_sample and last_sample, adds events and facts. One pass over the file. Unusable
 * records are skipped silently: the reader sees them again and reports them. Fails with CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_scan(struct ctx_pd_file *file, struct ctx_err *err);

#endif
