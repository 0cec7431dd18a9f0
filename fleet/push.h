/*
 * Push: a recording's rows into the tables of a fleet.
 *
 *	struct ctx_report_source (of the whole run) --> functions, stacks, cells --> a row of ctx_recording
 *
 * Inserts into several tables are not one transaction, so every push has a number of its own, which its cells bear, and the row
 * that names this number comes last, after the server has counted the cells. Readers see recordings by these rows: a push that was
 * killed has none, and its cells are nobody's until they are removed (fleet/fleet_check.h). Pushed again, a recording that is there
 * changes nothing; of two that were pushed at the same time readers take the smaller number.
 */
#ifndef CTX_FLEET_PUSH_H
#define CTX_FLEET_PUSH_H

#include "fleet/push_parts.h"

/*
 * CTX_E_ARG: the recording has no time of day, no samples any more, or is longer than a month; a label without a key.
 * CTX_E_IO: the server, or one of its shards, refused, or did not count what was sent. Memory: some 200 MB at most, besides the
 * recording's own.
 */
CTX_MUST_CHECK enum ctx_status ctx_push_recording(const struct ctx_push_spec *spec,
						  struct ctx_push_result *ret, struct ctx_err *err);

#endif
