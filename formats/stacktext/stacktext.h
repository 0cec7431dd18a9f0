/*
 * Texts with call stacks as an event source: the output of perf script, and folded stacks
 * (st_line.h). Functions have names and no addresses.
 *
 * perf script: each event is a metric, weighed by its periods if every sample has one; threads are
 * those of the file, in processes of the printed pid (only the tid by default: then each thread is
 * one). Without times all samples are at 0, which a note says. Folded stacks: one thread, one metric
 * "count", no times.
 */
#ifndef CTX_FORMATS_STACKTEXT_STACKTEXT_H
#define CTX_FORMATS_STACKTEXT_STACKTEXT_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Whether the first lines of a file are such a text. */
bool ctx_stacktext_is(const char *path);

/*
 * Opens a text; reads it once for its events and times. Memory does not grow with its length, but
 * with names and threads. Lines that are neither are damage. CTX_E_NOTFOUND, CTX_E_FORMAT (no sample
 * in it), CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_stacktext_open(const char *path, struct ctx_event_source **ret,
						  struct ctx_err *err);

#endif
