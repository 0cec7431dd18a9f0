#include "report/fold.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "calltree/calltree.h"
#include "report/function_names.h"
#include "report/kernel_calls.h"

#include <stdlib.h>
#include <string.h>

#define KERNEL_REGION 1u

static bool is_kernel(const struct ctx_profile *profile, const struct ctx_function_info *function)
{
	return function->object < profile->n_objects &&
	       ctx_object_is_kernel(profile->objects[function->object].path);
}

/* The label of a function of the kernel, among `labels`. */
static enum ctx_status label_kernel(const struct ctx_function_info *function, struct ctx_strtab *labels,
				    struct ctx_restack_rule *rule, struct ctx_err *err)
{
	const char *what = ctx_kernel_call(function->name, &rule->refines);
	struct ctx_buf label CTX_AUTO_BUF = {0};
	enum ctx_status status;

	rule->region = KERNEL_REGION;
	rule->inner = true;
	ctx_buf_printf(&label, "[kernel]%s%s", what != NULL ? " " : "", what != NULL ? what : "");
	status = ctx_buf_check(&label, err);
	return status == CTX_OK ? ctx_strtab_add(labels, (const char *)label.bytes, label.n, &rule->key, err)
				: status;
}

/* Rules of all functions; keys of regions are numbers of `labels` behind the functions. */
static enum ctx_status make_rules(struct ctx_fold *fold, const struct ctx_profile *profile,
				  const struct ctx_fold_options *options, struct ctx_strtab *labels,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	fold->rules = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*fold->rules));
	if (fold->rules == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++) {
		const struct ctx_function_info *function = &profile->functions[i];
		struct ctx_restack_rule *rule = &fold->rules[i];

		*rule = (struct ctx_restack_rule){.key = i,
						  .hidden = options->hidden != NULL && options->hidden[i],
						  .apart = function->kind != CTX_FUNCTION_ORDINARY,
						  .begins = options->root != NULL &&
							    ctx_function_matches(profile, i, options->root)};
		if (options->regions != NULL && options->regions[i] != 0) {
			rule->region = KERNEL_REGION + options->regions[i];
			rule->refines = true;
		}
		if (!options->kernel || !is_kernel(profile, function))
			continue;
		status = label_kernel(function, labels, rule, err);
		rule->key += profile->n_functions;
	}
	return status;
}

/* The functions of the profile, and one for each label. */
static enum ctx_status add_labels(struct ctx_fold *fold, const struct ctx_profile *profile,
				  const struct ctx_strtab *labels, struct ctx_err *err)
{
	uint32_t n = profile->n_functions;
	struct ctx_function_info *functions = ctx_calloc(n + labels->n, sizeof(*functions));

	if (functions == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(functions, profile->functions, n * sizeof(*functions));
	fold->profile.functions = functions;
	for (uint32_t i = 0; i < labels->n; i++) {
		const char *label = ctx_arena_strdup(&fold->arena, ctx_strtab_get(labels, i));

		if (label == NULL)
			return ctx_err_nomem(err);
		functions[n + i] = (struct ctx_function_info){
			.name = label, .linkage_name = label, .aliases = "", .object = CTX_NONE};
	}
	fold->profile.n_functions = n + (uint32_t)labels->n;
	return CTX_OK;
}

enum ctx_status ctx_fold_init(struct ctx_fold *fold, const struct ctx_profile *profile,
			      const struct ctx_fold_options *options, struct ctx_err *err)
{
	struct ctx_strtab labels CTX_CLEANUP(ctx_strtab_deinit) = {0};
	struct ctx_restack_rules rules = {
		.recursion = options->recursion, .begin = options->root != NULL, .keep = options->keep};
	enum ctx_status status;

	*fold = (struct ctx_fold){.profile = *profile};
	fold->profile.functions = NULL;
	status = make_rules(fold, profile, options, &labels, err);
	rules.of_key = fold->rules;
	if (status == CTX_OK)
		status = ctx_restack_init(&fold->restack, &profile->cct, &rules, err);
	if (status == CTX_OK)
		status = add_labels(fold, profile, &labels, err);
	fold->profile.cct = fold->restack.to;
	return status;
}

void ctx_fold_deinit(struct ctx_fold *fold)
{
	free(fold->profile.functions);
	ctx_restack_deinit(&fold->restack);
	free(fold->rules);
	ctx_arena_deinit(&fold->arena);
	*fold = (struct ctx_fold){0};
}

enum ctx_status ctx_fold_find(struct ctx_fold *fold, uint32_t stack, uint32_t *ret_node, struct ctx_err *err)
{
	enum ctx_status status = ctx_restack_find(&fold->restack, stack, ret_node, err);

	fold->profile.cct = fold->restack.to;
	return status;
}

enum ctx_status ctx_fold_histogram(struct ctx_fold *fold, const struct ctx_histogram *from,
				   struct ctx_histogram *to, struct ctx_err *err)
{
	enum ctx_status status = ctx_restack_histogram(&fold->restack, from, to, err);

	fold->profile.cct = fold->restack.to;
	return status;
}

static void descend(const struct ctx_calltree *tree, uint32_t *ret_node, uint64_t *ret_weight)
{
	uint32_t at = 0;

	/* The first child is the heaviest. */
	for (uint32_t child = tree->nodes[0].first_child;
	     child != CTX_CALLTREE_NONE && tree->nodes[child].cum != 0 &&
	     tree->nodes[child].cum >= tree->nodes[at].base;
	     child = tree->nodes[child].first_child)
		at = child;
	*ret_node = tree->nodes[at].stack;
	*ret_weight = tree->nodes[at].cum;
}

enum ctx_status ctx_fold_hottest(struct ctx_fold *fold, const struct ctx_histogram *histogram,
				 uint32_t *ret_node, uint64_t *ret_weight, struct ctx_err *err)
{
	struct ctx_histogram folded CTX_CLEANUP(ctx_histogram_deinit) = {0};
	struct ctx_calltree tree;
	enum ctx_status status = ctx_fold_histogram(fold, histogram, &folded, err);

	if (status == CTX_OK)
		status = ctx_calltree_build(&fold->profile.cct, fold->profile.n_functions, &folded, &tree,
					    err);
	if (status != CTX_OK)
		return status;
	descend(&tree, ret_node, ret_weight);
	ctx_calltree_deinit(&tree);
	return CTX_OK;
}

struct ctx_fold_frame ctx_fold_frame(const struct ctx_profile *profile, uint32_t function, uint32_t instances)
{
	struct ctx_fold_frame frame = {.name = "<Total>", .function = function, .instances = instances};

	if (function >= profile->n_functions)
		return frame;
	frame.name = profile->functions[function].name;
	if (profile->functions[function].object < profile->n_objects)
		frame.object = profile->objects[profile->functions[function].object].path;
	return frame;
}

enum ctx_status ctx_fold_path(const struct ctx_fold *fold, uint32_t node, struct ctx_fold_frame **ret_frames,
			      size_t *ret_n, struct ctx_err *err)
{
	size_t n = fold->profile.cct.depth[node];
	struct ctx_fold_frame *frames = ctx_calloc(n + 1, sizeof(*frames));

	if (frames == NULL)
		return ctx_err_nomem(err);
	for (size_t i = n; i-- > 0; node = fold->profile.cct.parent[node])
		frames[i] = ctx_fold_frame(&fold->profile, fold->profile.cct.key[node],
					   fold->restack.instances[node]);
	*ret_frames = frames;
	*ret_n = n;
	return CTX_OK;
}
