/*
 * perf.data as an event source: what Linux' `perf record` writes, read as it is.
 *
 * File mode, pipe mode (`perf record -o -`), directories (`perf record --threads`), with or without zstd
 * compression, in either byte order. Samples come in order of time although the file has them by processor;
 * memory is bounded by what the rounds of the recording hold, not by the file. Period is the weight, each event is
 * a metric.
 *
 * Times never decrease from sample to sample, nor do those of maps, names and throttling among them, except behind
 * damage, where a round is larger than memory may be, and for samples without a time, which are at 0. Starts and ends
 * of processes and threads bear the time when they happened, and are told with the first sample and a little after the
 * end. What is a sum over the file (losses, what was not used) comes at the end.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PERFDATA_H
#define CTX_FORMATS_PERFDATA_PERFDATA_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Does the path hold perf.data (a file with its magic number, or a directory with such a file named data)? */
bool ctx_perfdata_is(const char *path);

/*
 * Opens a recording. A file that does not tell when its first and last samples were is read through once for that.
 * Close with (*ret)->close. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (no perf.data, or nothing usable in it),
 * CTX_E_VERSION, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_perfdata_open(const char *path, struct ctx_event_source **ret,
						 struct ctx_err *err);

/* 16 hex digits and a zero byte that change when the recording does: size, and pieces of every part. Cost does
 * not depend on the size. */
CTX_MUST_CHECK enum ctx_status ctx_perfdata_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
