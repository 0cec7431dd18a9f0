/*
 * Ingest: turns an event source into a database.
 *
 * One pass over the events in time order. Stacks are resolved to functions and interned, each
 * sample goes to the time tree of its thread and to the one of all threads, leaves become sample
 * blocks as they close. Memory depends on distinct stacks, functions and live threads, not on
 * samples. Thread identity is the source's thread number: one life of a tid.
 */
#ifndef CTX_INGEST_INGEST_H
#define CTX_INGEST_INGEST_H

#include "base/err.h"
#include "ingest/ingest_options.h"
#include "model/event_source.h"

/*
 * Reads `source` to its end and writes the database at `path` (which appears only when complete).
 * The caller closes the source. Fails with what source and store fail with, CTX_E_NOMEM, CTX_E_ARG
 * (tree parameters). `stats` may be NULL.
 */
CTX_MUST_CHECK enum ctx_status ctx_ingest(struct ctx_event_source *source, const char *path,
					  const struct ctx_ingest_options *options,
					  struct ctx_ingest_stats *stats, struct ctx_err *err);

#endif
