/*
 * Lines of callgrind.out, apart from what they mean together.
 *
 *	events: Ir Dr			header: key, value
 *	fn=(3) main			name: kind, number, text; (3) alone is the text of before
 *	+2 10 3				costs: positions, then one number for each event
 */
#ifndef CTX_FORMATS_CALLGRIND_CALLGRIND_LINES_H
#define CTX_FORMATS_CALLGRIND_CALLGRIND_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_CG_EVENTS_MAX 32u
#define CTX_CG_POSITIONS_MAX 2u

/* The rest of the line if it begins with the key ("events:", "fn="), without spaces around it; NULL: it does not. */
const char *ctx_cg_value(const char *line, const char *key);

struct ctx_cg_name {
	bool has_number;
	uint64_t number;
	const char *text; /* "" none: the one that the number had before */
};

/* "(12) text", "(12)", "text". False: an unusable number. */
bool ctx_cg_name_parse(const char *value, struct ctx_cg_name *ret);

struct ctx_cg_costs {
	uint64_t positions[CTX_CG_POSITIONS_MAX];
	size_t n; /* of the costs: the others are 0 */
	uint64_t costs[CTX_CG_EVENTS_MAX];
};

/*
 * A line of costs. `n_positions` of them are relative to those in *ret where they have a sign, and equal for "*". False:
 * another line; then *ret may have changed.
 */
bool ctx_cg_costs_parse(const char *line, size_t n_positions, struct ctx_cg_costs *ret);

#endif
