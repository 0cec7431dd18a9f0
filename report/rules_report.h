/*
 * What rules found (rules/rules.h), for people, programs, merge requests and CI servers.
 */
#ifndef CTX_REPORT_RULES_REPORT_H
#define CTX_REPORT_RULES_REPORT_H

#include "compare/diff.h"
#include "rules/rules.h"

#include <stdio.h>

enum ctx_rules_format {
	CTX_RULES_TEXT,
	CTX_RULES_JSON,
	CTX_RULES_MARKDOWN,
	CTX_RULES_JUNIT, /* XML: a test case for each rule; one that is not judged is skipped */
};

struct ctx_rules_report {
	const struct ctx_rules *rules;
	const struct ctx_rule_findings *findings;
	const char *name;		   /* of the rules' file, or "default" */
	const struct ctx_diff_side *sides; /* CTX_COMPARE_SIDES; A is empty without a comparison */
	size_t limit; /* findings of a rule that text and Markdown show; 0: all. The other formats have all */
	bool ascii;   /* no other characters in text */
};

/* CTX_E_NOMEM; what was written is checked by who owns `out`. All names may hold any bytes. */
CTX_MUST_CHECK enum ctx_status ctx_rules_report_print(const struct ctx_rules_report *report,
						      enum ctx_rules_format format, FILE *out,
						      struct ctx_err *err);

#endif
