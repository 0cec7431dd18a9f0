#include "compare/weighting.h"

#include <string.h>

const char *ctx_weights_word(enum ctx_weights weights)
{
	static const char *const WORDS[CTX_WEIGHTS_N] = {"absolute", "per second", "per count", "share"};

	return WORDS[weights];
}

static double selected_seconds(const struct ctx_report_selection *selection)
{
	double ns = 0;

	for (size_t i = 0; i < selection->n_intervals; i++)
		ns += (double)(selection->intervals[i].end_ns - selection->intervals[i].begin_ns);
	return ns / 1e9;
}

static bool is_called(const struct ctx_function_info *function, const char *name)
{
	return strcmp(function->name, name) == 0 || strcmp(function->linkage_name, name) == 0;
}

/* Entering a stack is +1 there and -1 where the one before was left: the frames between were called. */
static int64_t calls_of(const struct ctx_profile *profile, const struct ctx_hist_entry *entry,
			const char *name)
{
	const struct ctx_trie *cct = &profile->cct;
	int64_t calls = 0;

	if (entry->calls == 0)
		return 0;
	for (uint32_t node = entry->stack; node != CTX_TRIE_ROOT; node = cct->parent[node])
		calls += is_called(&profile->functions[cct->key[node]], name) ? entry->calls : 0;
	return calls;
}

static enum ctx_status count_calls(struct ctx_report_source *source, const char *name, double *ret,
				   struct ctx_err *err)
{
	const struct ctx_report_selection *selection = &source->selection;
	struct ctx_report_parts parts;
	int64_t calls = 0;
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){.calls = true}, &parts, err);

	if (status != CTX_OK)
		return status;
	if (selection->profile->losses.call_stacks)
		return ctx_err_set(err, CTX_E_ARG, "%s has no call stacks: calls of %s are not known",
				   selection->path, name);
	for (size_t i = 0; i < parts.n; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t k = 0; k < histogram->n; k++)
			calls += calls_of(selection->profile, &histogram->entries[k], name);
	}
	if (calls <= 0)
		return ctx_err_set(err, CTX_E_ARG, "%s has no calls of a function '%s'", selection->path,
				   name);
	*ret = (double)calls;
	return CTX_OK;
}

enum ctx_status ctx_weighting_scale(const struct ctx_weighting *weighting,
				    const struct ctx_weighted *recording, double *ret, struct ctx_err *err)
{
	struct ctx_report_source *source = recording->source;
	double unit = 1, factor = 1;
	enum ctx_status status = CTX_OK;

	switch (weighting->weights) {
	case CTX_WEIGHTS_PER_SECOND:
		unit = selected_seconds(&source->selection);
		break;
	case CTX_WEIGHTS_PER_COUNT:
		unit = weighting->counts[recording->side];
		if (weighting->function != NULL)
			status = count_calls(source, weighting->function, &unit, err);
		break;
	case CTX_WEIGHTS_SHARE:
		factor = 100;
		unit = (double)recording->weight;
		break;
	case CTX_WEIGHTS_ABSOLUTE:
	case CTX_WEIGHTS_N:
		break;
	}
	if (status != CTX_OK)
		return status;
	if (!(unit > 0))
		return ctx_err_set(err, CTX_E_ARG, "%s: nothing is selected that weights could be divided by",
				   source->selection.path);
	*ret = factor / unit;
	return CTX_OK;
}
