/*
 * Heap, synchronisation and I/O records: as operations, and as samples of the metrics that gprofng
 * derives from them.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_TRACED_H
#define CTX_FORMATS_GPROFNG_GP_TRACED_H

#include "formats/gprofng/gp_reader.h"

struct ctx_gp_traced;

/* Creates reader->traced; the experiments must be open. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_traced_create(struct ctx_gp_reader *reader, struct ctx_err *err);
void ctx_gp_traced_destroy(struct ctx_gp_traced *traced);

/* Notes that a data file of this log has records. */
void ctx_gp_traced_note(struct ctx_gp_traced *traced, const struct ctx_gp_log *log, size_t file);

/*
 * Reads the heap records of an experiment for its leaks. Unreadable records are skipped. CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_traced_read(struct ctx_gp_reader *reader,
						  const struct ctx_gp_experiment *experiment,
						  int64_t latest_ns, struct ctx_err *err);

/* Announces the metrics of the noted files, after the existing ones. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_traced_metrics(struct ctx_gp_reader *reader, struct ctx_err *err);

/* Is the record of one of these kinds? */
bool ctx_gp_traced_is(const struct ctx_gp_event *event);

/*
 * Appends the operation and its samples to reader->later; `like` is a sample without metric and
 * weight. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_traced_take(struct ctx_gp_reader *reader,
						  const struct ctx_gp_event *event,
						  const struct ctx_event *like, struct ctx_err *err);

#endif
