/*
 * Rows of code: which lines, or instructions, took the weight?
 *
 *	histogram by raw stack --every location of the stack--> its site, the site that it is inlined into, ... --> rows
 *
 * A sample counts once for each row on its stack (inclusive), and for the innermost row of its leaf (exclusive). Source:
 * requirements E10, E15.
 */
#ifndef CTX_REPORT_CODE_ROWS_H
#define CTX_REPORT_CODE_ROWS_H

#include "report/out.h"

struct ctx_code_sum {
	uint64_t exclusive, inclusive;
	uint64_t exclusive_samples, inclusive_samples;
};

/*
 * Checks that the ids of an input lead somewhere, so that nothing below has to: CTX_E_ARG where there is no code or no
 * histogram, CTX_E_FORMAT for an id that does not exist. O(locations + sites + entries).
 */
CTX_MUST_CHECK enum ctx_status ctx_code_check(const struct ctx_report_input *input, struct ctx_err *err);

/* In front of a report that lists code: its order (as ctx_order_find), its filter, and the above. */
CTX_MUST_CHECK enum ctx_status ctx_code_prepare(const char *report, const struct ctx_report_input *input,
						const struct ctx_report_options *options,
						const char *const *sort_keys, size_t *ret_key,
						struct ctx_err *err);

/* The function that a location belongs to, not one that is inlined there; CTX_NONE: none. O(inlining). */
uint32_t ctx_code_real_function(const struct ctx_code *code, uint32_t location);

/*
 * Adds up the histogram in `sums`, `n` of them. `by_site` (NULL: there are no sites) says which row a site counts for,
 * `by_location` which one a location without a site does; CTX_NONE: none. O(all frames of all entries).
 */
CTX_MUST_CHECK enum ctx_status ctx_code_add_up(const struct ctx_report_input *input, const uint32_t *by_site,
					       const uint32_t *by_location, struct ctx_code_sum *sums,
					       size_t n, struct ctx_err *err);

/* A line; what `owner` is decides who asks: a function, a section. */
struct ctx_line_key {
	uint32_t owner;
	uint32_t file; /* CTX_NONE: no line */
	uint32_t line; /* 0: no line */
};

struct ctx_line_total {
	struct ctx_line_key key;
	struct ctx_code_sum sum;
};

struct ctx_line_rows {
	struct ctx_line_total *rows; /* owned; by owner, file, line */
	size_t n;
};

/* The line of a place in `function`; false: of no interest. A key's owner is not CTX_NONE. */
typedef bool (*ctx_line_key_fn)(const void *context, uint32_t function, uint32_t file, uint32_t line,
				struct ctx_line_key *ret);

/* Finds the lines of all sites, whether the histogram has them or not, and adds up. */
CTX_MUST_CHECK enum ctx_status ctx_line_rows_build(const struct ctx_report_input *input,
						   ctx_line_key_fn key_of, const void *context,
						   struct ctx_line_rows *ret, struct ctx_err *err);
void ctx_line_rows_deinit(struct ctx_line_rows *rows);

/* What lines without a number are called. */
#define CTX_NO_LINE "<instructions without line numbers>"

/* Hot: a weight of at least three quarters of the largest of its column. */
static inline bool ctx_code_is_hot(uint64_t weight, uint64_t largest)
{
	return weight != 0 && weight >= largest - largest / 4;
}

/*
 * Which of `n` lines or instructions are shown when long runs without weight are left out: `shown` gets those that are at
 * most `context` away from one with weight, and short gaps.
 */
void ctx_code_mark_shown(const bool *has_weight, size_t n, size_t context, bool *shown);

#endif
