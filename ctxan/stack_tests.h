/*
 * --focus, --ignore, --hide, --show: regular expressions for frames, with pprof's meanings. What
 * they drop are filters (docs/filters.md); what they hide is the source's (report/hiding_source.h).
 */
#ifndef CTX_CTXAN_STACK_TESTS_H
#define CTX_CTXAN_STACK_TESTS_H

#include "base/err.h"
#include "query/selection_spec.h"

/*
 * Adds the filter of an option: "focus" and "show" keep samples with a matching frame, "ignore"
 * those without one, "hide" those with any other frame. A frame matches by a part of its function's
 * name or of its load object's file name. CTX_E_ARG: not a regular expression.
 */
CTX_MUST_CHECK enum ctx_status ctx_stack_test_add(struct ctx_selection_spec *spec, const char *option,
						  const char *pattern, struct ctx_err *err);

#endif
