#include "query/filters.h"

#include "base/mem.h"
#include "query/index_key.h"

#include <stdlib.h>

enum ctx_status ctx_filters_check(const struct ctx_selection_spec *spec, struct ctx_wrong_place *ret_place,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret_place = (struct ctx_wrong_place){0};
	for (size_t i = 0; i < spec->n_filters && status == CTX_OK; i++)
		status = ctx_wrong_place_check("filter", spec->filters[i], ret_place, err);
	for (size_t i = 0; i < spec->n_tests && status == CTX_OK; i++)
		status = ctx_wrong_place_check(spec->tests[i].label, spec->tests[i].expression, ret_place,
					       err);
	for (size_t i = 0; i < spec->n_indexes && status == CTX_OK; i++)
		status = ctx_index_definition_check(spec, i, ret_place, err);
	if (status == CTX_OK && spec->by != NULL)
		status = ctx_index_keys_check(spec, spec->by, ret_place, err);
	return status;
}

enum ctx_status ctx_filters_bind(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				 struct ctx_expression ***ret, struct ctx_err *err)
{
	size_t n = spec->n_filters + spec->n_tests;
	struct ctx_expression **filters = ctx_calloc(n, sizeof(struct ctx_expression *));
	enum ctx_status status = filters != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		bool test = i >= spec->n_filters;

		status = ctx_expression_parse(test ? spec->tests[i - spec->n_filters].expression
						   : spec->filters[i],
					      &filters[i], NULL, err);
		if (status == CTX_OK)
			status = ctx_expression_bind(filters[i], profile, err);
		if (status != CTX_OK)
			ctx_err_prefix(err, status, "--filter");
	}
	if (status != CTX_OK) {
		for (size_t i = 0; filters != NULL && i < n; i++)
			ctx_expression_destroy(filters[i]);
		free(filters);
		return status;
	}
	*ret = filters;
	return CTX_OK;
}
