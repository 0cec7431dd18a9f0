/*
 * Traces in the Trace Event Format (JSON) as an event source: of Chrome, Perfetto, clang -ftime-trace, node
 * --trace-events, PyTorch's profiler, Bazel, and what --export chrome-trace writes; also packed by gzip.
 *
 *	{"traceEvents": [EVENT, ...], ...}	or	[EVENT, ...		(the end may be missing)
 *
 *	B E		begin and end of a slice of a thread	calls
 *	X		a slice with its duration		calls
 *	b e, S F	slices that may go from thread to thread, by category and id: calls of lanes, threads of their own
 *	n, i I R	moments					marks
 *	C		values of counters			marks (whole numbers)
 *	M		names of processes and threads
 *	s t f, ...	flows, objects, samples, ...		counted, not read
 *
 * A function is the name of a slice; its load object is the category, or without one the file's name. Times are of
 * `ts` and `dur` in microseconds with their fractions.
 *
 * Memory: names, threads, open slices, and a buffer of 64 MiB; what does not fit is sorted in a temporary file (in
 * $TMPDIR, else /tmp) of up to 48 bytes per event. Source: "Trace Event Format" of the Chromium project.
 */
#ifndef CTX_FORMATS_TRACEEVENT_TRACEEVENT_H
#define CTX_FORMATS_TRACEEVENT_TRACEEVENT_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/*
 * Is it such a file? By its begin: an object with the key "traceEvents", or an array of objects with "ph"; within the first
 * 64 KiB.
 */
bool ctx_traceevent_is(const char *path);

/*
 * Opens a file, and reads all of it. A file that is cut or has errors is read as far as events are whole. Close with
 * (*ret)->close. CTX_E_NOTFOUND, CTX_E_FORMAT (no event at all), CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_traceevent_open(const char *path, struct ctx_event_source **ret,
						   struct ctx_err *err);

#endif
