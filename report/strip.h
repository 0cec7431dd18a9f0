/*
 * The strip of a thread: a row of blocks, as high as the thread was busy, and below it a letter a column for
 * the function that dominated; where there are thread states another letter for the state that had most of it.
 */
#ifndef CTX_REPORT_STRIP_H
#define CTX_REPORT_STRIP_H

#include "report/out.h"

#define CTX_STRIP_LETTERS 26

struct ctx_strips {
	const struct ctx_report_selection *selection; /* borrowed */
	struct ctx_report_slices slices;
	uint32_t functions[CTX_STRIP_LETTERS]; /* by letter */
	uint64_t dominated
		[CTX_STRIP_LETTERS]; /* slices of the first strip that it dominates; 0: of others only */
	unsigned n_letters;
	bool has_others;
	uint64_t other_slices; /* of the first strip, of functions without a letter */
};

/*
 * Gives letters to the functions with the most slices: those of the first strip (all threads together), then
 * those of the others. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_strips_init(struct ctx_strips *strips,
					       const struct ctx_report_selection *selection,
					       const struct ctx_report_slices *slices, struct ctx_err *err);

/* Prints strips of all threads, the time axis, and what the letters mean. */
void ctx_strips_print(const struct ctx_strips *strips, struct ctx_out *out);

#endif
