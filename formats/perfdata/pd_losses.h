/*
 * Losses in perf.data: LOST says how many records had no room, with the first one after them in the
 * same ring; LOST_SAMPLES (Linux 6.0 and later) is the total of each event, at the end.
 *
 * The file does not say which ring a record is of. Where records have a processor, a loss begins with
 * the last record of that processor; where they have none, it is only known where it was reported.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_LOSSES_H
#define CTX_FORMATS_PERFDATA_PD_LOSSES_H

#include "formats/perfdata/pd_reader.h"

void ctx_pd_losses_deinit(struct ctx_pd_losses *losses);

/* A record of this processor; -1, or one that cannot be, is ignored. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_losses_see(struct ctx_pd_losses *losses, int32_t cpu, uint64_t time,
						 struct ctx_err *err);

/* LOST or LOST_SAMPLES. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_losses_take(struct ctx_pd_reader *reader,
						  const struct ctx_pd_queued *item, struct ctx_err *err);

/* Emits what only the totals have, after the last record. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_losses_end(struct ctx_pd_reader *reader, struct ctx_err *err);

#endif
