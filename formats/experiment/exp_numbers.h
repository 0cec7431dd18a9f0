/*
 * Rows by number, for processes and threads: numbers are given from 0 on and never again, rows lie
 * in chunks of 256. A chunk is freed at the second sweep after all its rows have ended, so that
 * memory is that of what lives (and 8 bytes for each 256 that ever lived).
 *
 * Rows do not move.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_NUMBERS_H
#define CTX_FORMATS_EXPERIMENT_EXP_NUMBERS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_CHUNK_ROWS 256u

struct ctx_exp_chunk;

struct ctx_exp_numbers { /* all zero with row_bytes set is valid and empty */
	size_t row_bytes;
	size_t n;		       /* numbers given */
	struct ctx_exp_chunk **chunks; /* owned; NULL: freed */
	size_t n_chunks, chunks_cap;
	uint32_t *ended; /* chunks of which all rows have ended */
	size_t n_ended, ended_cap;
	size_t n_due; /* of these, the first ones: they were there at the last sweep */
};

/* Called for each row that goes. */
typedef void ctx_exp_release_fn(void *context, void *row);

/* Releases all rows. */
void ctx_exp_numbers_deinit(struct ctx_exp_numbers *numbers, ctx_exp_release_fn *release, void *context);

/* A zeroed row of the next number; NULL: out of memory. O(1). */
void *ctx_exp_numbers_add(struct ctx_exp_numbers *numbers);

/* The row of a number; NULL: it was not given, or is freed. O(1). */
void *ctx_exp_numbers_get(const struct ctx_exp_numbers *numbers, uint32_t number);

/* A row has ended; once for each. */
void ctx_exp_numbers_end(struct ctx_exp_numbers *numbers, uint32_t number);

/* Frees what had ended at the sweep before this one. O(freed). */
void ctx_exp_numbers_sweep(struct ctx_exp_numbers *numbers, ctx_exp_release_fn *release, void *context);

#endif
