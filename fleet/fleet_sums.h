/*
 * Sums of the chosen recordings' cells: the question, and how a row of its answer is read.
 *
 *	SELECT stack, weight, samples, calls ... GROUP BY stack --> rows: hash of the stack, sums
 *
 * Columns by which cells are added up come first in a row, in their order; the sums are its last CTX_FLEET_SUMS_BYTES bytes.
 */
#ifndef CTX_FLEET_FLEET_SUMS_H
#define CTX_FLEET_FLEET_SUMS_H

#include "base/cursor.h"
#include "fleet/fleet_profile.h"
#include "model/histogram.h"

#define CTX_FLEET_SUMS_BYTES 24u

struct ctx_fleet_sums { /* borrowed */
	const struct ctx_fleet_server *server;
	const struct ctx_fleet_choice *choice;
	const struct ctx_fleet_profile *fleet;
	const uint32_t *parts; /* of each chosen recording, in their order; NULL: the sums are not by part */
};

/* Appends " AND metric IN (...)": the keys of a metric that has samples, or of the parts of a sum. */
void ctx_fleet_sums_put_metric(const struct ctx_fleet_sums *sums, uint32_t metric, struct ctx_buf *sql);

/*
 * Asks for the sums of a metric's cells by columns of ctx_cell ("thread, stack"), ordered by them. Where there are parts "part" is a
 * column too. Errors as of the server.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_sums_ask(const struct ctx_fleet_sums *sums, const char *by,
						  uint32_t metric, struct ctx_buf *answer,
						  struct ctx_err *err);

/* The sums of a row; its stack is CTX_NONE. */
struct ctx_hist_entry ctx_fleet_sums_take(const struct ctx_fleet_sums *sums, uint32_t metric,
					  struct ctx_cursor *cursor);

#endif
