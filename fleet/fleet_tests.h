/*
 * Tests of call stacks (--focus, --ignore, --show, --hide): expressions that are evaluated for the stacks of a histogram, as filters
 * are for the samples of a recording.
 */
#ifndef CTX_FLEET_FLEET_TESTS_H
#define CTX_FLEET_FLEET_TESTS_H

#include "model/expression.h"

struct ctx_fleet_tests { /* owned by the caller (ctx_fleet_tests_deinit); all zero: no tests */
	struct ctx_expression **expressions;
	size_t n;
};

/* CTX_E_ARG: not an expression; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_tests_make(struct ctx_fleet_tests *ret, const char *const *texts,
						    size_t n, struct ctx_err *err);
void ctx_fleet_tests_deinit(struct ctx_fleet_tests *tests);

/* For the stacks that the profile has now. Again when it has more. Cost: ctx_expression_bind. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_tests_bind(struct ctx_fleet_tests *tests,
						    const struct ctx_profile *profile, struct ctx_err *err);

/* Whether all are true for a CCT node. */
bool ctx_fleet_tests_pass(const struct ctx_fleet_tests *tests, uint32_t stack);

#endif
