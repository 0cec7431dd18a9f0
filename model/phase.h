/*
 * Phases of a recording (timetree/phase_segments.h), for reports and for intervals that are named by them.
 */
#ifndef CTX_MODEL_PHASE_H
#define CTX_MODEL_PHASE_H

#include "base/buf.h"
#include "base/err.h"
#include "model/histogram.h"
#include "model/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_phase {
	struct ctx_interval interval;
	uint32_t letter;		/* from 0; phases that are alike have the same */
	bool idle;			/* next to nothing happens in it */
	struct ctx_histogram histogram; /* by CCT node; empty if only intervals were asked for */
};

/* A period of a thread's samples, or of those in one function (timetree/period.h). */
struct ctx_phase_period {
	uint32_t thread;   /* thread id */
	uint32_t function; /* CTX_NONE: of all samples of the thread */
	uint64_t length_ns;
	uint64_t jitter_ns; /* standard deviation of one period's length */
	uint64_t cycles;    /* that were seen */
	double strength;    /* autocorrelation at this length: 0 .. 1 */
};

/* The phases of one process, or of all together. */
struct ctx_phase_group {
	uint32_t process; /* process id; CTX_NONE: all */
	uint64_t samples;
	bool too_few;		  /* samples to tell: there are no phases then */
	struct ctx_phase *phases; /* in order of time; they tile the interval that was divided */
	size_t n;
	uint32_t n_letters;
	double *similarity; /* n_letters * n_letters: 0 nothing in common, 1 the same */
};

struct ctx_phases {
	struct ctx_phase_group *groups; /* owned; the first: all processes together */
	size_t n_groups;
	size_t processes_left_out;	  /* lighter ones, or of too few samples */
	struct ctx_phase_period *periods; /* owned; the strongest first */
	size_t n_periods;
};

void ctx_phases_deinit(struct ctx_phases *phases);

#define CTX_PHASE_LEAST_SAMPLES 200u /* below, phases are not looked for */
#define CTX_PHASE_LETTERS 104u	     /* at most in a group */

/* "A" ... "Z", "AA" ... "CZ"; "?" for others. A constant. */
const char *ctx_phase_letter(uint32_t letter);

/* The same for a column of one character: '*' for two letters, ' ' for NULL. */
char ctx_phase_mark(const struct ctx_phase *phase);

/* The phase at a time; NULL: none. O(log phases). */
const struct ctx_phase *ctx_phase_at(const struct ctx_phase_group *group, uint64_t time_ns);

/* Does an interval's text name phases, and no times: "phase:B", "phase:cc1/B"? */
bool ctx_phase_text_is(const char *text);

/*
 * The process whose phases such a text names, as --process has it: "cc1" of "phase:cc1/B". Appends it and a zero byte to
 * `out`; false: those of the run.
 */
bool ctx_phase_text_process(const char *text, struct ctx_buf *out);

struct ctx_interval_list {
	struct ctx_interval *items; /* owned */
	size_t n, cap;
};

/*
 * Appends the intervals that "phase:B" (all with the letter), "phase:2" (the second one) or "phase:2..4" (from the
 * second up to the fourth) names in a group; what names a process is not looked at. CTX_E_ARG, with what phases there are; CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_phase_intervals_find(const struct ctx_phase_group *group, const char *text,
							struct ctx_interval_list *ret, struct ctx_err *err);

#endif
