/*
 * The strip of a thread: a row of blocks whose height is the load, below it a letter per column for
 * the dominant function, where calls were seen one for the deepest call that fills most of the column, one line for held locks, and
 * with thread states another letter for the dominant state.
 */
#ifndef CTX_REPORT_STRIP_H
#define CTX_REPORT_STRIP_H

#include "model/mark_spans.h"
#include "model/phase.h"
#include "report/held_locks.h"
#include "report/out.h"

#define CTX_STRIP_LETTERS 26

struct ctx_strips {
	const struct ctx_report_selection *selection; /* borrowed */
	struct ctx_report_slices slices;
	const struct ctx_mark_spans *marks;    /* borrowed; set by the caller; NULL: none */
	struct ctx_report_traced regions;      /* of OpenMP; the same */
	const struct ctx_phase_group *phases;  /* the same */
	const struct ctx_held_locks *held;     /* the same */
	uint32_t functions[CTX_STRIP_LETTERS]; /* by letter */
	uint64_t dominated
		[CTX_STRIP_LETTERS]; /* slices of the first strip that it dominates; 0: only slices of others */
	uint64_t calls
		[CTX_STRIP_LETTERS]; /* slices of single threads that are in a call of it, where calls were seen */
	bool has_calls;
	unsigned n_letters, first_call; /* those from first_call on are of calls alone */
	bool has_others;
	uint64_t other_slices; /* of the first strip, of functions without a letter */
};

/*
 * Assigns letters to the functions with the most slices: those of the first strip (all threads
 * together), then those of the others, then those of calls. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_strips_init(struct ctx_strips *strips,
					       const struct ctx_report_selection *selection,
					       const struct ctx_report_slices *slices, struct ctx_err *err);

/* The letter of a function; '.' of one that has none, ' ' for CTX_NONE. */
char ctx_strip_letter(const struct ctx_strips *strips, uint32_t function);

/* A block of that height, from 0 to 1: one column wide. */
const char *ctx_strip_block(double share, bool ascii);

/* Prints strips of all threads, the time axis, and the legend of the letters. */
void ctx_strips_print(const struct ctx_strips *strips, struct ctx_out *out);

#endif
