/*
 * Helpers of the feature readers; included by pd_facts*.c only.
 *
 * A reader parses a feature from a wire. Bytes that violate the format are CTX_E_FORMAT with the
 * reason in `err`; ctx_pd_fact_settle turns that into a line of damage.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_FACTS_READ_H
#define CTX_FORMATS_PERFDATA_PD_FACTS_READ_H

#include "formats/perfdata/pd_facts.h"
#include "formats/perfevent/pe_wire.h"

/* CTX_E_FORMAT: the bytes end before the feature does. */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_cut_short(struct ctx_err *err);

/* A text preceded by its length. Borrowed; NULL when the wire has failed. */
const char *ctx_pd_fact_text(struct ctx_pe_wire *wire);

/* Copies a text into the arena of the facts. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_keep(struct ctx_pd_facts *facts, const char *text,
						const char **ret, struct ctx_err *err);

/*
 * Handles the status of a reader: CTX_E_NOMEM is returned, other failures become a line of damage
 * with `reason`.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_settle(struct ctx_pd_facts *facts, uint32_t feature,
						  enum ctx_status status, const struct ctx_err *reason,
						  struct ctx_err *err);

/* EVENT_DESC. Events before the damage are kept. */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_read_events(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
							struct ctx_err *err);

/*
 * BUILD_ID. A record with a damaged body is a line of damage, and reading continues with the next.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_read_build_ids(struct ctx_pd_facts *facts,
							   struct ctx_pe_wire *wire, struct ctx_err *err);

#endif
