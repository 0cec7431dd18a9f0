/*
 * Evidence of rows whose sums are known by recording alone: Student's test of two means with a common variance.
 */
#ifndef CTX_REPORT_RULE_EVIDENCE_H
#define CTX_REPORT_RULE_EVIDENCE_H

#include "compare/matching.h"
#include "rules/rules.h"

struct ctx_rule_sums {
	const double *values; /* by row, then by recording: those of A, then those of B */
	size_t n;	      /* rows */
	size_t n_runs[CTX_COMPARE_SIDES];
	bool selects; /* a row with less than a thousandth of all rows together is not tested */
};

/*
 * Sets the means of one figure of the rows, and with two sides their verdict; interval and p where there are three
 * recordings or more. Of many rows those with a verdict are chosen as in a comparison (CTX_DIFF_RATE). O(n log n).
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_rule_sums_judge(const struct ctx_rule_sums *sums,
						   const struct ctx_rule_row *rows, size_t figure,
						   struct ctx_err *err);

#endif
