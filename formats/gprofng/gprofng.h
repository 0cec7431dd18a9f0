/*
 * Experiments of GNU gprofng and Solaris Studio (version 12 of their format) as an event source.
 *
 *	NAME.er/        an experiment: one process; its descendants are directories inside
 *	NAME.erg        a text file that lists experiments
 *
 * Events: clock profile and hardware counters as samples, maps, threads, usage, messages of the
 * collector. Stacks contain addresses of call instructions, unchanged. Source: gprofng/libcollector
 * and gprofng/src of GNU binutils 2.40.
 */
#ifndef CTX_FORMATS_GPROFNG_GPROFNG_H
#define CTX_FORMATS_GPROFNG_GPROFNG_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Is there a gprofng experiment or a group at this path? Looks into log.xml or the file. */
bool ctx_gprofng_is_experiment(const char *path);
bool ctx_gprofng_is_group(const char *path);

/*
 * Opens an experiment with its descendants, or a group. Reads through the data files once for their
 * times. Close with (*ret)->close. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_VERSION,
 * CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_open(const char *path, struct ctx_event_source **ret,
						struct ctx_err *err);

/*
 * 16 hex digits and a zero byte that change when the experiment (or one of the group) does: names,
 * sizes and times of all files but the database. CTX_E_IO, CTX_E_NOTFOUND, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
