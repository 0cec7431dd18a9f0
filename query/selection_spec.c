#include "query/selection_spec.h"

#include <stdlib.h>

void ctx_selection_spec_deinit(struct ctx_selection_spec *spec)
{
	free(spec->intervals);
	free(spec->filters);
	free(spec->indexes);
	*spec = (struct ctx_selection_spec){0};
}
