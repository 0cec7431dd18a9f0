/*
 * callgrind.out: what valgrind's callgrind and cachegrind's converters write, as samples without times.
 *
 * The file has sums: own costs by line, and for each call the inclusive cost of the callee. Call stacks do not follow from
 * that: where a function has two callers, its costs and callees cannot be attributed to either. So the own costs are
 * samples, and callers are unknown. Source: docs/cl-format.xml of Valgrind.
 */
#ifndef CTX_FORMATS_CALLGRIND_CALLGRIND_READER_H
#define CTX_FORMATS_CALLGRIND_CALLGRIND_READER_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Whether its first lines say so: "# callgrind format", "creator: callgrind", or a version and events. */
bool ctx_callgrind_is(const char *path);

/* Fails with CTX_E_FORMAT (no events), CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_callgrind_open(const char *path, struct ctx_event_source **ret,
						  struct ctx_err *err);

#endif
