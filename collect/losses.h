/*
 * Losses of a recording, located: from LOST records, counts of the events, and records that could not
 * be used, to lines of the log.
 *
 *	LOST in a ring ---------> since its record before, on its CPU, how many
 *	counts of its events ---> of which kind; what was lost after the last record that had room
 *
 * A ring that loses all the time gets at most 16 lines a second: further losses are joined.
 */
#ifndef CTX_COLLECT_LOSSES_H
#define CTX_COLLECT_LOSSES_H

#include "collect/perfrecord.h"
#include "collect/session.h"
#include "formats/experiment/exp_writer.h"

struct ctx_losses;

/* Borrows all three. Fails with CTX_E_NOMEM. The calls below fail as the writer does, too. */
CTX_MUST_CHECK enum ctx_status ctx_losses_create(const struct ctx_session *session,
						 struct ctx_exp_writer *writer, uint64_t start_ns,
						 struct ctx_losses **ret, struct ctx_err *err);
void ctx_losses_destroy(struct ctx_losses *losses);

/*
 * A LOST or LOST_SAMPLES record of a ring, whose record before was of `previous_ns` (0: there is
 * none).
 */
CTX_MUST_CHECK enum ctx_status ctx_losses_record(struct ctx_losses *losses, uint32_t ring,
						 const struct ctx_perf_record *record, uint64_t previous_ns,
						 struct ctx_err *err);

/* A record of that time that could not be used; CTX_LOSS_KIND_N: it is not known what it was. */
CTX_MUST_CHECK enum ctx_status ctx_losses_unusable(struct ctx_losses *losses, uint64_t time_ns,
						   enum ctx_loss_kind kind, struct ctx_err *err);

/* Writes what was joined for a second. */
CTX_MUST_CHECK enum ctx_status ctx_losses_tick(struct ctx_losses *losses, uint64_t now_ns,
					       struct ctx_err *err);

/*
 * The last record has been taken: writes what was joined, and what the events counted after the last
 * LOST record.
 */
CTX_MUST_CHECK enum ctx_status ctx_losses_finish(struct ctx_losses *losses, uint64_t now_ns,
						 struct ctx_err *err);

/* How many records were lost. NULL is allowed: 0. */
uint64_t ctx_losses_total(const struct ctx_losses *losses);

#endif
