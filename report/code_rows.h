/*
 * Rows of code: the weight by line, or by instruction.
 *
 *	histogram by raw stack --every location of the stack--> its site, the site that it is inlined into, ... --> rows
 *
 * A sample counts once for each row on its stack (inclusive), and for the innermost row of its leaf
 * (exclusive). Source: requirements E10, E15.
 */
#ifndef CTX_REPORT_CODE_ROWS_H
#define CTX_REPORT_CODE_ROWS_H

#include "report/out.h"

struct ctx_code_sum {
	uint64_t exclusive, inclusive;
	uint64_t exclusive_samples, inclusive_samples;
};

/* Inputs of rows of code. All borrowed from the source. */
struct ctx_code_view {
	const struct ctx_profile *profile;
	const struct ctx_code *code;
	const struct ctx_histogram *raw;      /* all selected threads together, by raw stack */
	const struct ctx_code_reader *reader; /* NULL: no instructions and texts are available */
};

/*
 * Checks that all ids of a view exist; the functions below rely on it. CTX_E_ARG: there is no code
 * or no histogram; CTX_E_FORMAT: an id does not exist. O(locations + sites + entries).
 */
CTX_MUST_CHECK enum ctx_status ctx_code_check(const struct ctx_code_view *view, struct ctx_err *err);

/* Queries the view from a source, and checks --function and the view. */
CTX_MUST_CHECK enum ctx_status ctx_code_view_pull(struct ctx_report_source *source, const char *function,
						  struct ctx_code_view *ret, struct ctx_err *err);

/* Begins a report of code: its totals are the histogram's. */
void ctx_code_begin(struct ctx_out *out, struct ctx_out_spec spec, const struct ctx_code_view *view);

/*
 * The function that contains a location, not one that is inlined there; CTX_NONE: none.
 * O(inlining).
 */
uint32_t ctx_code_real_function(const struct ctx_code *code, uint32_t location);

/* The rows to which locations are attributed. */
struct ctx_code_adding {
	const uint32_t *by_site;     /* the row of a site; CTX_NONE: none. NULL: there are no sites */
	const uint32_t *by_location; /* the row of a location without a site */
	struct ctx_code_sum *sums;   /* of `n` rows */
	size_t n;
};

/* Adds the histogram to the sums. O(all frames of all entries). */
CTX_MUST_CHECK enum ctx_status ctx_code_add_up(const struct ctx_code_view *view,
					       const struct ctx_code_adding *rows, struct ctx_err *err);

/* A line. The meaning of `owner` is the caller's: a function, a section. */
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

/* The line of a place in `function`; false: skip it. A key's owner is not CTX_NONE. */
typedef bool (*ctx_line_key_fn)(const void *context, uint32_t function, uint32_t file, uint32_t line,
				struct ctx_line_key *ret);

/* Finds the lines of all sites, including those without weight, and adds up the histogram. */
CTX_MUST_CHECK enum ctx_status ctx_line_rows_build(const struct ctx_code_view *view, ctx_line_key_fn key_of,
						   const void *context, struct ctx_line_rows *ret,
						   struct ctx_err *err);
void ctx_line_rows_deinit(struct ctx_line_rows *rows);

/* Label of code without a line number. */
#define CTX_NO_LINE "<instructions without line numbers>"

/* Hot: a weight of at least three quarters of the largest of its column. */
static inline bool ctx_code_is_hot(uint64_t weight, uint64_t largest)
{
	return weight != 0 && weight >= largest - largest / 4;
}

/*
 * Chooses which of `n` lines or instructions are shown when long runs without weight are left out:
 * `shown` gets those at most `context` away from one with weight, and short gaps.
 */
void ctx_code_mark_shown(const bool *has_weight, size_t n, size_t context, bool *shown);

#endif
