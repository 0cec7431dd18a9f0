/*
 * What the processor says with a sample: its last branches, and the memory that it accessed. Both become
 * traced operations, and samples of their metrics.
 *
 *	branch stack --each entry--> operation at the stack {from, called from: to}; samples at `from`
 *	address, weight, data source --> operation at the stack of the sample; samples there
 */
#ifndef CTX_FORMATS_PERFDATA_PD_OPERATIONS_H
#define CTX_FORMATS_PERFDATA_PD_OPERATIONS_H

#include "formats/perfdata/pd_reader.h"
#include "model/traced_metrics.h"

/* Which of the two the event's samples can have. */
bool ctx_pd_event_has_branches(const struct ctx_pd_event *event);
bool ctx_pd_event_has_addresses(const struct ctx_pd_event *event);

/*
 * Appends the metrics of what the events have to those of the source, which have room for
 * CTX_PD_OPERATION_METRICS more.
 */
#define CTX_PD_OPERATION_METRICS (CTX_BRANCH_METRIC_N + CTX_MEMORY_METRIC_N)
void ctx_pd_operations_deinit(struct ctx_pd_operations *operations);
void ctx_pd_operations_announce(struct ctx_pd_reader *reader);

/* Emits those of a sample; `event` is the sample's own. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_operations_put(struct ctx_pd_reader *reader,
						     const struct ctx_pd_event *source,
						     const struct ctx_pe_sample *sample,
						     const struct ctx_event *event, struct ctx_err *err);

#endif
