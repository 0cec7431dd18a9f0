#include "formats/export/export_used.h"

#include "base/mem.h"

#define EXACT (UINT64_C(1) << 53) /* integers up to here are exact in a double */

/* During collection the row of a used id is 0. */
static enum ctx_status rows_init(struct ctx_export_rows *rows, uint32_t n, struct ctx_err *err)
{
	rows->row = malloc((size_t)n * sizeof(*rows->row) + 1);
	if (rows->row == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		rows->row[i] = CTX_NONE;
	return CTX_OK;
}

static void rows_number(struct ctx_export_rows *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (rows->row[i] != CTX_NONE)
			rows->row[i] = rows->n++;
	}
}

static enum ctx_status mark_leaves(struct ctx_export_used *used, const struct ctx_histogram *histogram,
				   struct ctx_err *err)
{
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];

		if (entry->samples == 0)
			continue;
		if (entry->stack >= used->profile->cct.n)
			return ctx_err_set(err, CTX_E_FORMAT, "stack %u of %u", entry->stack,
					   used->profile->cct.n);
		used->stacks.row[entry->stack] = 0;
	}
	return CTX_OK;
}

/* Parents precede their children: in a backward sweep each mark is set before it is propagated. */
static enum ctx_status mark_frames(struct ctx_export_used *used, struct ctx_err *err)
{
	const struct ctx_profile *profile = used->profile;
	const struct ctx_trie *cct = &profile->cct;

	used->has_bare = used->stacks.row[CTX_TRIE_ROOT] != CTX_NONE;
	for (uint32_t node = cct->n - 1; node > 0; node--) {
		uint32_t function = cct->key[node], object;

		if (used->stacks.row[node] == CTX_NONE)
			continue;
		if (function >= profile->n_functions)
			return ctx_err_set(err, CTX_E_FORMAT, "function %u of %u", function,
					   profile->n_functions);
		used->stacks.row[cct->parent[node]] = 0;
		used->functions.row[function] = 0;
		if (cct->depth[node] > used->deepest)
			used->deepest = cct->depth[node];
		object = profile->functions[function].object;
		if (object == CTX_NONE)
			continue;
		if (object >= profile->n_objects)
			return ctx_err_set(err, CTX_E_FORMAT, "object %u of %u", object, profile->n_objects);
		used->objects.row[object] = 0;
	}
	used->stacks.row[CTX_TRIE_ROOT] = CTX_NONE;
	return CTX_OK;
}

enum ctx_status ctx_export_used_init(struct ctx_export_used *used, const struct ctx_export_input *input,
				     struct ctx_err *err)
{
	const struct ctx_profile *profile = input->profile;
	enum ctx_status status;

	*used = (struct ctx_export_used){.profile = profile, .deepest = 1};
	status = input->source->parts(input->source,
				      &(struct ctx_parts_query){.per_thread = true, .calls = true},
				      &used->parts, err);
	if (status == CTX_OK)
		status = rows_init(&used->stacks, profile->cct.n, err);
	if (status == CTX_OK)
		status = rows_init(&used->functions, profile->n_functions, err);
	if (status == CTX_OK)
		status = rows_init(&used->objects, profile->n_objects, err);
	for (size_t i = 0; i < used->parts.n && status == CTX_OK; i++)
		status = mark_leaves(used, used->parts.parts[i].histograms, err);
	if (status == CTX_OK)
		status = mark_frames(used, err);
	if (status != CTX_OK)
		return status;
	rows_number(&used->stacks, profile->cct.n);
	rows_number(&used->functions, profile->n_functions);
	rows_number(&used->objects, profile->n_objects);
	return CTX_OK;
}

void ctx_export_used_deinit(struct ctx_export_used *used)
{
	free(used->stacks.row);
	free(used->functions.row);
	free(used->objects.row);
	*used = (struct ctx_export_used){0};
}

enum ctx_status ctx_export_used_stack(const struct ctx_export_used *used, uint32_t stack, uint32_t *ret_row,
				      struct ctx_err *err)
{
	if (stack == CTX_TRIE_ROOT && used->has_bare) {
		*ret_row = used->stacks.n;
		return CTX_OK;
	}
	if (stack >= used->profile->cct.n || used->stacks.row[stack] == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample has stack %u, which the selection has not",
				   stack);
	*ret_row = used->stacks.row[stack];
	return CTX_OK;
}

struct ctx_export_sums ctx_export_sum(const struct ctx_report_parts *parts)
{
	struct ctx_export_sums sums = {0};

	for (size_t i = 0; i < parts->n; i++) {
		const struct ctx_histogram *histogram = parts->parts[i].histograms;

		sums.samples += histogram->samples;
		sums.weight += histogram->weight;
		if (histogram->weight > parts->parts[sums.heaviest].histograms->weight)
			sums.heaviest = i;
	}
	return sums;
}

void ctx_export_remark_rounding(const struct ctx_export_input *input, const struct ctx_report_parts *parts)
{
	if (ctx_export_sum(parts).weight > EXACT)
		input->remark(input->remark_context,
			      "numbers above 2^53 are in the file, but readers in JavaScript round them");
}
