/*
 * The time line of the browser: load and states, or functions, by column of a span of time.
 */
#ifndef CTX_BROWSE_TIMELINE_STRIP_H
#define CTX_BROWSE_TIMELINE_STRIP_H

#include "browse/browse_data.h"
#include "report/strip.h"

struct ctx_timeline_strip {
	struct ctx_report_source *source; /* of the span; NULL: not loaded */
	struct ctx_interval span;
	uint32_t thread, metric;
	unsigned columns;
	struct ctx_strips strips; /* letters of functions; its slices are the columns */
	bool *marks; /* owned; by column: a mark of the program, or an end of its interval; NULL: there are none */
	char *phases; /* owned; by column: the letter of a phase that begins there, or 0; NULL: there is one alone */
	double full; /* load of a full block: busy CPUs, or weight per ns */
	bool is_time;
};

/* Loads the columns of `span`, unless they are. */
CTX_MUST_CHECK enum ctx_status ctx_timeline_strip_load(struct ctx_timeline_strip *strip,
						       struct ctx_browse_data *data, struct ctx_interval span,
						       unsigned columns, struct ctx_err *err);
void ctx_timeline_strip_close(struct ctx_timeline_strip *strip, const struct ctx_browse_host *host);

/* Whether the program said something of itself in the column. */
bool ctx_timeline_strip_has_mark(const struct ctx_timeline_strip *strip, unsigned column);

/* The letter of the phase that begins in the column; 0: none does. */
char ctx_timeline_strip_phase(const struct ctx_timeline_strip *strip, unsigned column);

/* Of a column: the block of its load; the letter of its state or function, and its state. */
const char *ctx_timeline_strip_block(const struct ctx_timeline_strip *strip, unsigned column, bool ascii);
char ctx_timeline_strip_letter(const struct ctx_timeline_strip *strip, const struct ctx_profile *profile,
			       unsigned column, unsigned *ret_state);

#endif
