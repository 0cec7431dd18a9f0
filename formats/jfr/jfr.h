/*
 * Recordings of Java's Flight Recorder (JFR, version 2) as an event source: of OpenJDK's recorder, and of
 * async-profiler's. A file of chunks, or a directory of such files: of one virtual machine or of several, on the clock
 * of the day.
 *
 *	chunk --jfr_types--> types --jfr_chunk--> events, entries of pools --jfr_names--> functions, stacks, threads
 *	      '--jfr_facts--> metrics, periods, VM      '--jfr_records--> records --sorted--> events
 *
 * What events become is in jfr_events.h. At most the records of the chunks that overlap, and one chunk's bytes, are in
 * memory. Damage is an event with the file and the offset; what is whole is read.
 */
#ifndef CTX_FORMATS_JFR_JFR_H
#define CTX_FORMATS_JFR_JFR_H

#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Whether the file begins with a chunk, or it is a directory with such a file *.jfr. */
bool ctx_jfr_is(const char *path);

/* CTX_E_NOTFOUND, CTX_E_FORMAT, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_open(const char *path, struct ctx_event_source **ret,
					    struct ctx_err *err);

/* Of the contents of the file, or of all files of the directory. CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
