/*
 * pprof's profiles (profile.proto; Go, Rust, gperftools, jemalloc, many services) as an event source.
 * They are mostly compressed: formats/packed unpacks them.
 *
 * Each type of value is a metric, the default one first. Locations with lines are functions by name,
 * with inlined ones, files and lines; those without are addresses of their mapping, which are looked
 * up as in any recording. There are no times: all samples are at 0. All are of one thread; labels are
 * not read. Source: proto/profile.proto of github.com/google/pprof.
 */
#ifndef CTX_FORMATS_PPROF_PPROF_READER_H
#define CTX_FORMATS_PPROF_PPROF_READER_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Whether the file is a profile, unpacked: all its fields are known, and its string table begins with "". */
bool ctx_pprof_is(const char *path);

/*
 * Reads the file into memory (2 GiB at most). Fails with CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_IO,
 * CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pprof_open(const char *path, struct ctx_event_source **ret,
					      struct ctx_err *err);

#endif
