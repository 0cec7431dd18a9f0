/*
 * Common parts of reports of thread states.
 */
#ifndef CTX_REPORT_STATE_CELLS_H
#define CTX_REPORT_STATE_CELLS_H

#include "report/out.h"

/* Keys of the ten states, "USER", ..., by state; all numbers are ns. */
extern const struct ctx_column ctx_state_columns[CTX_STATE_N];

/* Cells of `numbers`, by state. */
void ctx_state_fill(const uint64_t numbers[CTX_STATE_N], struct ctx_cell cells[CTX_STATE_N]);

uint64_t ctx_state_sum(const uint64_t numbers[CTX_STATE_N], unsigned states);

/* The state with the most time; CTX_STATE_N if all are 0. */
unsigned ctx_state_most(const uint64_t numbers[CTX_STATE_N]);

/*
 * A note for the report header on incompletely recorded states: "states: min: switches with stacks,
 * faults; no wakers, ..."; NULL: nothing is missing, or it is unknown. Missing data follows the
 * semicolon.
 */
const char *ctx_state_note(const struct ctx_profile *profile, char *buf, size_t size);

/* CTX_E_NOTFOUND for an experiment without states. */
CTX_MUST_CHECK enum ctx_status ctx_state_check(const struct ctx_profile *profile, struct ctx_err *err);

#endif
