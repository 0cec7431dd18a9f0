#include "report/strip_regions.h"

#include "base/mem.h"

#include <stdlib.h>

/* Spans with the function of the region as name. */
static bool make_spans(const struct ctx_profile *profile, const struct ctx_traced *operations, size_t n,
		       struct ctx_mark_spans *ret)
{
	ret->items = ctx_calloc(n + 1, sizeof(*ret->items));
	for (size_t i = 0; i < n && ret->items != NULL; i++) {
		const struct ctx_traced *operation = &operations[i];

		if (operation->operation != CTX_OMP_OF_REGION || operation->stack == CTX_TRIE_ROOT ||
		    operation->stack >= profile->cct.n)
			continue;
		ret->items[ret->n++] =
			(struct ctx_mark_span){.begin_ns = operation->time_ns - operation->duration_ns,
					       .end_ns = operation->time_ns,
					       .name = profile->cct.key[operation->stack],
					       .thread = operation->thread,
					       .kind = CTX_MARK_IS_INTERVAL};
	}
	return ret->items != NULL;
}

void ctx_strip_regions_print(const struct ctx_traced *operations, size_t n,
			     const struct ctx_strip_columns *columns, struct ctx_out *out)
{
	const struct ctx_profile *profile = out->profile;
	const char **texts CTX_AUTO_FREE = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*texts));
	struct ctx_mark_spans spans = {0};

	if (texts == NULL || !make_spans(profile, operations, n, &spans)) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (uint32_t i = 0; i < profile->n_functions; i++)
		texts[i] = profile->functions[i].name;
	ctx_strip_marks_print(&spans,
			      &(struct ctx_strip_names){texts, profile->n_functions,
							"parallel region: -r omp-regions",
							"parallel regions: -r omp-regions"},
			      columns, out);
	ctx_mark_spans_deinit(&spans);
}
