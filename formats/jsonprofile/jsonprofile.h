/*
 * Profiles in JSON as an event source: speedscope, V8's .cpuprofile, also in DevTools' traces, the Firefox Profiler's (jp_forms.h).
 * The file is parsed in memory; compressed ones are unpacked by formats/packed.
 */
#ifndef CTX_FORMATS_JSONPROFILE_JSONPROFILE_H
#define CTX_FORMATS_JSONPROFILE_JSONPROFILE_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Whether the file is an object or a list, and has the members of one of them in its first 256 MiB. */
bool ctx_jsonprofile_is(const char *path);

/* Whether it is a trace with a CPU profile in it. */
bool ctx_jsonprofile_is_in_trace(const char *path);

/* CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jsonprofile_open(const char *path, struct ctx_event_source **ret,
						    struct ctx_err *err);

#endif
