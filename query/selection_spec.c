#include "query/selection_spec.h"

#include <stdlib.h>

void ctx_selection_spec_deinit(struct ctx_selection_spec *spec)
{
	free(spec->intervals);
	free(spec->filters);
	for (size_t i = 0; i < spec->n_tests; i++) {
		free(spec->tests[i].expression);
		free(spec->tests[i].label);
	}
	free(spec->tests);
	free(spec->indexes);
	*spec = (struct ctx_selection_spec){0};
}
