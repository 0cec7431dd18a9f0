#include "fleet/fleet_tests.h"

#include "base/mem.h"

#include <stdlib.h>

enum ctx_status ctx_fleet_tests_make(struct ctx_fleet_tests *ret, const char *const *texts, size_t n,
				     struct ctx_err *err)
{
	struct ctx_fleet_tests tests = {.expressions = ctx_calloc(n + 1, sizeof(struct ctx_expression *))};
	enum ctx_status status = tests.expressions != NULL ? CTX_OK : ctx_err_nomem(err);

	for (; status == CTX_OK && tests.n < n; tests.n += status == CTX_OK)
		status = ctx_expression_parse(texts[tests.n], &tests.expressions[tests.n], NULL, err);
	if (status != CTX_OK) {
		ctx_fleet_tests_deinit(&tests);
		return status;
	}
	*ret = tests;
	return CTX_OK;
}

void ctx_fleet_tests_deinit(struct ctx_fleet_tests *tests)
{
	for (size_t i = 0; i < tests->n; i++)
		ctx_expression_destroy(tests->expressions[i]);
	free(tests->expressions);
	*tests = (struct ctx_fleet_tests){0};
}

enum ctx_status ctx_fleet_tests_bind(struct ctx_fleet_tests *tests, const struct ctx_profile *profile,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < tests->n && status == CTX_OK; i++)
		status = ctx_expression_bind(tests->expressions[i], profile, err);
	return status;
}

bool ctx_fleet_tests_pass(const struct ctx_fleet_tests *tests, uint32_t stack)
{
	const struct ctx_expression_subject subject = {.stack = stack};
	bool passes = true;

	for (size_t i = 0; i < tests->n && passes; i++)
		passes = ctx_expression_is_true(tests->expressions[i], &subject);
	return passes;
}
