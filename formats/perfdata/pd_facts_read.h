/*
 * What the readers of features share: only the files pd_facts*.c include this.
 *
 * A reader takes a feature from a wire. What does not follow the format is CTX_E_FORMAT with the reason in `err`;
 * ctx_pd_fact_settle makes a line of damage of it.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_FACTS_READ_H
#define CTX_FORMATS_PERFDATA_PD_FACTS_READ_H

#include "formats/perfdata/pd_facts.h"
#include "formats/perfevent/pe_wire.h"

/* CTX_E_FORMAT: the bytes end before the feature does. */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_cut_short(struct ctx_err *err);

/* A text with its length in front. Borrowed; NULL when the wire has failed. */
const char *ctx_pd_fact_text(struct ctx_pe_wire *wire);

/* A copy that lives as long as the facts. */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_keep(struct ctx_pd_facts *facts, const char *text,
						const char **ret, struct ctx_err *err);

/* What a reader returned, with its `reason`: damage becomes a line, memory that is short remains a failure. */
CTX_MUST_CHECK enum ctx_status ctx_pd_fact_settle(struct ctx_pd_facts *facts, uint32_t feature,
						  enum ctx_status status, const struct ctx_err *reason,
						  struct ctx_err *err);

/* EVENT_DESC; the events before the damage stay. */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_read_events(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
							struct ctx_err *err);

/* BUILD_ID; a record that is damaged inside is a line, and the next one is where it should be. */
CTX_MUST_CHECK enum ctx_status ctx_pd_facts_read_build_ids(struct ctx_pd_facts *facts,
							   struct ctx_pe_wire *wire, struct ctx_err *err);

#endif
