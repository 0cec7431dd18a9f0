/*
 * perf.data as an event source: reads files of Linux' `perf record` directly.
 *
 * Supports file mode, pipe mode (`perf record -o -`) and directories (`perf record --threads`),
 * with or without zstd compression, in either byte order. Samples are sorted by time, although the
 * file has them by CPU; memory is bounded by the rounds of the recording, not by the file. The
 * period is the weight, each event is a metric.
 *
 * Times of samples, maps, names and throttling never decrease, with three exceptions: after damage,
 * when a round exceeds the memory limit, and for samples without a time, which are at 0. Starts and
 * ends of processes and threads have the time when they happened, but are emitted with the first
 * sample and some time after the end. Totals (losses, unused records) come at the end.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h of
 * Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PERFDATA_H
#define CTX_FORMATS_PERFDATA_PERFDATA_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/*
 * Is the path perf.data: a file with the magic number, or a directory with such a file named data?
 */
bool ctx_perfdata_is(const char *path);

/*
 * Opens a recording. If the header lacks the times of the first and last sample, all records are
 * scanned for them. Close with (*ret)->close. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (not
 * perf.data, or nothing usable in it), CTX_E_VERSION, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_perfdata_open(const char *path, struct ctx_event_source **ret,
						 struct ctx_err *err);

/*
 * A fingerprint of the recording, 16 hex digits and a zero byte: a hash over the size and pieces of
 * every part. The cost does not depend on the size.
 */
CTX_MUST_CHECK enum ctx_status ctx_perfdata_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
