/*
 * Traces of calls in text: our own form (docs/text-traces.md), what `uftrace dump` and `trace-cmd report`
 * (function_graph) print, the text of the kernel's function_graph tracer, and strace's with times.
 *
 * The file is read twice: for the range of its times, then for the events. Memory: open calls, names, and
 * a buffer for each part of the file. Lines that cannot be read are damage, with their number; ends
 * without a begin are left out, and calls whose end is missing end with their caller: both are counted.
 */
#ifndef CTX_FORMATS_CALLTRACE_CALLTRACE_H
#define CTX_FORMATS_CALLTRACE_CALLTRACE_H

#include "model/event_source.h"

/* Whether the file's begin is that of such a text. */
bool ctx_calltrace_is(const char *path);

/* CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT (too many parts), CTX_E_FORMAT (no text of these kinds, or no line of a call). */
CTX_MUST_CHECK enum ctx_status ctx_calltrace_open(const char *path, struct ctx_event_source **ret,
						  struct ctx_err *err);

/* A hash of its size, its time and its ends, in hexadecimal. */
CTX_MUST_CHECK enum ctx_status ctx_calltrace_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
