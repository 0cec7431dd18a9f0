#include "report/tree_stacks.h"

#include "base/mem.h"

#include <stdlib.h>

/* Parts by other stacks. */
struct mapped {
	struct ctx_report_part *parts;
	struct ctx_histogram *histograms; /* by part, for each part all metrics */
	size_t n;			  /* histograms */
};

static void mapped_deinit(struct mapped *mapped)
{
	for (size_t i = 0; i < mapped->n; i++)
		ctx_histogram_deinit(&mapped->histograms[i]);
	free(mapped->histograms);
	free(mapped->parts);
	*mapped = (struct mapped){0};
}

static enum ctx_status find_of(struct ctx_tree_stacks *stacks, const char *function, struct ctx_err *err)
{
	const struct ctx_profile *profile = &stacks->profile;

	if (function == NULL)
		return CTX_OK;
	stacks->of = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*stacks->of));
	if (stacks->of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_functions; i++)
		stacks->of[i] = ctx_function_matches(profile, i, function);
	stacks->reversed.of = stacks->of;
	return CTX_OK;
}

static enum ctx_status map_histogram(struct ctx_tree_stacks *stacks, bool callers,
				     const struct ctx_histogram *from, struct ctx_histogram *to,
				     struct ctx_err *err)
{
	struct ctx_histogram folded CTX_CLEANUP(ctx_histogram_deinit) = {0};
	enum ctx_status status;

	if (!callers)
		return ctx_fold_histogram(&stacks->fold, from, to, err);
	status = ctx_fold_histogram(&stacks->fold, from, &folded, err);
	stacks->reversed.from = &stacks->fold.profile.cct;
	stacks->reversed.instances_from = stacks->fold.restack.instances;
	return status == CTX_OK ? ctx_reversed_histogram(&stacks->reversed, &folded, to, err) : status;
}

static enum ctx_status map_parts(struct ctx_tree_stacks *stacks, bool callers,
				 const struct ctx_report_parts *parts, struct mapped *mapped,
				 struct ctx_err *err)
{
	size_t n_metrics = parts->n_metrics;
	enum ctx_status status = CTX_OK;

	mapped->parts = ctx_calloc(parts->n, sizeof(*mapped->parts));
	mapped->histograms = ctx_calloc(parts->n, n_metrics * sizeof(*mapped->histograms));
	if (mapped->parts == NULL || mapped->histograms == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < parts->n; i++) {
		mapped->parts[i] = parts->parts[i];
		mapped->parts[i].histograms = &mapped->histograms[i * n_metrics];
		for (size_t m = 0; m < n_metrics && status == CTX_OK; m++)
			status = map_histogram(stacks, callers, &parts->parts[i].histograms[m],
					       &mapped->histograms[mapped->n++], err);
	}
	return status;
}

/* Folding, or only another beginning of stacks; then reversing. */
static enum ctx_status build_mapped(struct ctx_tree_stacks *stacks, const struct ctx_profile *profile,
				    const struct ctx_report_parts *given,
				    const struct ctx_tree_stacks_options *options, struct ctx_err *err)
{
	const struct ctx_fold_options fold = {
		.recursion = options->folds, .kernel = options->folds, .root = options->root};
	struct mapped mapped CTX_CLEANUP(mapped_deinit) = {0};
	struct ctx_report_parts parts = *given;
	enum ctx_status status = ctx_fold_init(&stacks->fold, profile, &fold, err);

	stacks->profile = stacks->fold.profile;
	if (status == CTX_OK)
		status = ctx_reversed_init(&stacks->reversed, err);
	if (status == CTX_OK)
		status = find_of(stacks, options->callers ? options->function : NULL, err);
	if (status == CTX_OK)
		status = map_parts(stacks, options->callers, given, &mapped, err);
	if (status != CTX_OK)
		return status;
	parts.parts = mapped.parts;
	stacks->profile.cct = options->callers ? stacks->reversed.to : stacks->fold.profile.cct;
	stacks->instances = options->callers ? stacks->reversed.instances : stacks->fold.restack.instances;
	return ctx_part_trees_build(&stacks->profile, &parts, options->small_percent, &stacks->trees, err);
}

enum ctx_status ctx_tree_stacks_init(struct ctx_tree_stacks *stacks, const struct ctx_profile *profile,
				     const struct ctx_report_parts *parts,
				     const struct ctx_tree_stacks_options *options, struct ctx_err *err)
{
	*stacks = (struct ctx_tree_stacks){.profile = *profile};
	if (options->folds || options->callers || options->root != NULL)
		return build_mapped(stacks, profile, parts, options, err);
	return ctx_part_trees_build(profile, parts, options->small_percent, &stacks->trees, err);
}

void ctx_tree_stacks_deinit(struct ctx_tree_stacks *stacks)
{
	ctx_part_trees_deinit(&stacks->trees);
	ctx_fold_deinit(&stacks->fold);
	ctx_reversed_deinit(&stacks->reversed);
	free(stacks->of);
	*stacks = (struct ctx_tree_stacks){0};
}
