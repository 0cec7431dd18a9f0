#include "compare/merged.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct ctx_merged {
	struct ctx_diff diff; /* of stacks */
	struct ctx_profile profile;
	struct ctx_strtab objects; /* paths */
	struct ctx_metric_info metric;
	struct ctx_thread_info threads[CTX_COMPARE_SIDES];
	struct ctx_process_info process;
	struct ctx_histogram sides[CTX_COMPARE_SIDES], both;
	struct ctx_report_part parts[CTX_COMPARE_SIDES], whole;
	uint32_t metric_id;
	uint64_t (*samples)[CTX_COMPARE_SIDES]; /* owned; by item: behind all items those without a stack */
	double (*weights)[CTX_COMPARE_SIDES];	/* owned; the same */
	struct ctx_interval interval;
	struct ctx_report_source source;
};

/* Of an item's stack: the node is one more. */
static uint32_t node_of(uint32_t item)
{
	return item + 1;
}

/* ---- profile ---- */

static enum ctx_status make_functions(struct ctx_merged *merged, struct ctx_err *err)
{
	const struct ctx_matching *matching = &merged->diff.items.matching;
	struct ctx_profile *profile = &merged->profile;
	enum ctx_status status = CTX_OK;

	profile->functions = ctx_calloc(matching->n_items + 1u, sizeof(*profile->functions));
	profile->objects = ctx_calloc(matching->n_items + 1u, sizeof(*profile->objects));
	if (profile->functions == NULL || profile->objects == NULL)
		return ctx_err_nomem(err);
	profile->n_functions = matching->n_items;
	for (uint32_t i = 0; i < matching->n_items && status == CTX_OK; i++) {
		const struct ctx_match_item *item = &matching->items[i];
		struct ctx_function_info *function = &profile->functions[i];
		const struct ctx_object_info *object;
		uint32_t id;

		*function = item->profile->functions[item->function];
		if (function->object == CTX_NONE)
			continue;
		object = &item->profile->objects[function->object];
		status = ctx_strtab_add_text(&merged->objects, object->path, &id, err);
		if (status != CTX_OK)
			break;
		if (id == profile->n_objects)
			profile->objects[profile->n_objects++] = *object;
		function->object = id;
	}
	return status;
}

/* Items of stacks have their parents in front of them. */
static enum ctx_status make_stacks(struct ctx_merged *merged, struct ctx_err *err)
{
	const struct ctx_diff_items *items = &merged->diff.items;
	uint32_t n = (uint32_t)items->n + 1;
	uint32_t *parent = ctx_calloc(n, sizeof(*parent)), *key = ctx_calloc(n, sizeof(*key));

	if (parent == NULL || key == NULL) {
		free(parent);
		free(key);
		return ctx_err_nomem(err);
	}
	key[0] = CTX_TRIE_ROOT_KEY;
	for (uint32_t i = 0; i < items->n; i++) {
		const struct ctx_diff_item *item = &items->items[i];
		parent[node_of(i)] = item->parent != CTX_NONE ? node_of(item->parent) : CTX_TRIE_ROOT;
		key[node_of(i)] = ctx_diff_item_function(items, i);
	}
	return ctx_trie_take(&merged->profile.cct, parent, key, n, err);
}

/* ---- weights ---- */

struct adding {
	struct ctx_merged *merged;
	const struct ctx_diff_spec *spec;
	enum ctx_compare_side side;
};

/* The means of the side's recordings. */
static void add_entry(const struct adding *adding, const struct ctx_diff_recording *links, double scale,
		      const struct ctx_hist_entry *entry)
{
	struct ctx_merged *merged = adding->merged;
	const struct ctx_sample sample = {.stack = entry->stack};
	uint32_t link = ctx_diff_first_link(&links->streams[0], &sample);
	size_t at = link != CTX_NONE ? links->links[link].item : merged->diff.items.n;

	merged->weights[at][adding->side] +=
		(double)entry->weight * scale / (double)adding->spec->sides[adding->side].n;
	merged->samples[at][adding->side] += entry->samples;
}

static enum ctx_status add_recording(const struct adding *adding, size_t at, struct ctx_report_source *source,
				     struct ctx_err *err)
{
	const struct ctx_diff_recording *links = &adding->merged->diff.items.recordings[at];
	struct ctx_weighted weighted = {.source = source, .side = adding->side};
	struct ctx_report_parts parts;
	double scale = 1;
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);

	for (size_t i = 0; status == CTX_OK && i < parts.n; i++)
		weighted.weight += parts.parts[i].histograms->weight;
	if (status == CTX_OK)
		status = ctx_weighting_scale(&adding->spec->weighting, &weighted, &scale, err);
	for (size_t i = 0; status == CTX_OK && i < parts.n; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t k = 0; k < histogram->n; k++)
			add_entry(adding, links, scale, &histogram->entries[k]);
	}
	return status;
}

static enum ctx_status add_histograms(struct ctx_merged *merged, const struct ctx_diff_spec *spec,
				      struct ctx_err *err)
{
	size_t n = merged->diff.items.n;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i <= n && status == CTX_OK; i++) {
		for (int side = 0; side < CTX_COMPARE_SIDES && status == CTX_OK; side++) {
			uint64_t runs = spec->sides[side].n, samples = merged->samples[i][side];
			struct ctx_hist_entry entry = {.weight = (uint64_t)llround(merged->weights[i][side]),
						       /* A stack that one of three runs had once is there. */
						       .samples = (samples + runs - 1) / runs,
						       .stack = i < n ? node_of((uint32_t)i) : CTX_TRIE_ROOT};

			if (entry.samples == 0)
				continue;
			status = ctx_histogram_add(&merged->sides[side], entry, err);
			if (status == CTX_OK)
				status = ctx_histogram_add(&merged->both, entry, err);
		}
	}
	return status;
}

static enum ctx_status weigh(struct ctx_merged *merged, const struct ctx_diff_spec *spec, struct ctx_err *err)
{
	size_t at = 0;
	enum ctx_status status = CTX_OK;

	merged->weights = ctx_calloc(merged->diff.items.n + 1, sizeof(*merged->weights));
	merged->samples = ctx_calloc(merged->diff.items.n + 1, sizeof(*merged->samples));
	if (merged->weights == NULL || merged->samples == NULL)
		return ctx_err_nomem(err);
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++) {
		const struct adding adding = {merged, spec, side};

		for (size_t i = 0; i < spec->sides[side].n && status == CTX_OK; i++)
			status = add_recording(&adding, at++, spec->sides[side].sources[i], err);
	}
	return status == CTX_OK ? add_histograms(merged, spec, err) : status;
}

/* ---- source ---- */

static enum ctx_status parts(struct ctx_report_source *source, const struct ctx_parts_query *query,
			     struct ctx_report_parts *ret, struct ctx_err *err)
{
	const struct ctx_merged *merged = source->impl;

	(void)err;
	*ret = query->per_thread ? (struct ctx_report_parts){.parts = merged->parts,
							     .n = CTX_COMPARE_SIDES,
							     .n_metrics = 1}
				 : (struct ctx_report_parts){.parts = &merged->whole, .n = 1, .n_metrics = 1};
	return CTX_OK;
}

/* One sample for each stack, one behind the other. */
static enum ctx_status samples(struct ctx_report_source *source, const struct ctx_samples_query *query,
			       ctx_report_sample_fn each, void *context, struct ctx_err *err)
{
	const struct ctx_merged *merged = source->impl;
	enum ctx_status status = CTX_OK;

	for (uint32_t side = 0; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_histogram *histogram = &merged->sides[side];
		struct ctx_sample sample = {.thread = side, .cpu = -1, .metric = merged->metric_id};

		if (query->thread != CTX_NONE && query->thread != side)
			continue;
		for (size_t i = 0; i < histogram->n && status == CTX_OK; i++) {
			sample.weight = histogram->entries[i].weight;
			sample.time_ns += sample.weight;
			sample.stack = histogram->entries[i].stack;
			status = each(context, &sample, err);
		}
	}
	return status;
}

static void describe(struct ctx_merged *merged, const struct ctx_diff_spec *spec)
{
	const struct ctx_report_selection *a = &spec->sides[CTX_COMPARE_A].sources[0]->selection;
	struct ctx_profile *profile = &merged->profile;
	uint64_t longest = 1;

	merged->metric = a->profile->metrics[a->metrics[0]];
	merged->metric.parts = NULL;
	merged->metric.n_parts = 0;
	merged->metric.samples = merged->both.samples;
	merged->metric.weight = merged->both.weight;
	for (int side = 0; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_histogram *histogram = &merged->sides[side];

		longest = histogram->weight > longest ? histogram->weight : longest;
		merged->parts[side] = (struct ctx_report_part){(uint32_t)side, histogram};
		merged->threads[side] = (struct ctx_thread_info){.tid = side + 1,
								 .name = side == CTX_COMPARE_A ? "A" : "B",
								 .samples = histogram->samples,
								 .weight = histogram->weight};
	}
	merged->whole = (struct ctx_report_part){CTX_NONE, &merged->both};
	merged->interval = (struct ctx_interval){0, longest};
	merged->process = (struct ctx_process_info){.parent = CTX_NONE,
						    .command = "comparison",
						    .lineage = "",
						    .cgroup = "",
						    .life = merged->interval};
	merged->threads[0].life = merged->threads[1].life = merged->interval;
	profile->name = "A and B";
	profile->run = merged->interval;
	profile->closed = true;
	profile->notes = "";
	profile->processes = &merged->process;
	profile->n_processes = 1;
	profile->threads = merged->threads;
	profile->n_threads = CTX_COMPARE_SIDES;
	profile->metrics = &merged->metric;
	profile->n_metrics = 1;
	merged->source = (struct ctx_report_source){.selection = {.profile = profile,
								  .path = "A and B",
								  .intervals = &merged->interval,
								  .n_intervals = 1,
								  .filter = "",
								  .metrics = &merged->metric_id,
								  .n_metrics = 1},
						    .impl = merged,
						    .parts = parts,
						    .samples = samples};
}

enum ctx_status ctx_merged_make(const struct ctx_diff_spec *spec, struct ctx_merged **ret,
				struct ctx_err *err)
{
	struct ctx_diff_spec stacks = *spec;
	struct ctx_merged *merged;
	enum ctx_status status;

	if (spec->weighting.weights == CTX_WEIGHTS_SHARE)
		return ctx_err_set(err, CTX_E_ARG, "exports have weights, not shares: without --per share");
	stacks.subject = CTX_DIFF_STACKS;
	stacks.total = stacks.folds = false;
	merged = ctx_calloc(1, sizeof(*merged));
	if (merged == NULL)
		return ctx_err_nomem(err);
	status = ctx_diff_make(&stacks, &merged->diff, err);
	if (status == CTX_OK)
		status = make_functions(merged, err);
	if (status == CTX_OK)
		status = make_stacks(merged, err);
	if (status == CTX_OK)
		status = weigh(merged, &stacks, err);
	if (status != CTX_OK) {
		ctx_merged_destroy(merged);
		return status;
	}
	describe(merged, &stacks);
	*ret = merged;
	return CTX_OK;
}

void ctx_merged_destroy(struct ctx_merged *merged)
{
	if (merged == NULL)
		return;
	free(merged->profile.functions);
	free(merged->profile.objects);
	ctx_trie_deinit(&merged->profile.cct);
	ctx_strtab_deinit(&merged->objects);
	for (int side = 0; side < CTX_COMPARE_SIDES; side++)
		ctx_histogram_deinit(&merged->sides[side]);
	ctx_histogram_deinit(&merged->both);
	free(merged->weights);
	free(merged->samples);
	ctx_diff_deinit(&merged->diff);
	free(merged);
}

struct ctx_report_source *ctx_merged_source(struct ctx_merged *merged)
{
	return &merged->source;
}
