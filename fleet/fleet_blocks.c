#include "fleet/fleet_blocks.h"

#include "base/map64.h"
#include "fleet/fleet_groups.h"
#include "model/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
	struct ctx_report_source source;
	struct ctx_histogram histogram;
	struct ctx_report_part part;
	struct ctx_interval interval; /* as long as what was recorded */
	const char *first, *last;     /* names of its groups */
	char *name;		      /* owned: "h1", "h1 ... h7" */
	size_t n;		      /* groups */
};

struct ctx_fleet_blocks {
	struct ctx_profile profile; /* the fleet's, of which it borrows all; says that there are no samples */
	struct ctx_fleet_groups *groups;
	const struct ctx_report_fleet_group **sorted; /* those with samples, by name */
	size_t n_groups;
	struct block *blocks;
	struct ctx_report_source **sources;
	size_t n;
};

/* ---- the sources ---- */

static enum ctx_status pull_parts(struct ctx_report_source *base, const struct ctx_parts_query *query,
				  struct ctx_report_parts *ret, struct ctx_err *err)
{
	struct block *block = base->impl;

	if (query->per_thread)
		return ctx_err_set(err, CTX_E_ARG, "a comparison of fleets has no threads");
	*ret = (struct ctx_report_parts){&block->part, 1, 1, {0}};
	return CTX_OK;
}

/* How long threads waited for a processor is not known of a block: nothing of a change is put down to it. */
static enum ctx_status pull_states(struct ctx_report_source *base, const struct ctx_report_states **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	(void)base;
	(void)err;
	*ret = NULL;
	*ret_n = 0;
	return CTX_OK;
}

static enum ctx_status pull_samples(struct ctx_report_source *base, const struct ctx_samples_query *query,
				    ctx_report_sample_fn each, void *context, struct ctx_err *err)
{
	(void)base;
	(void)query;
	(void)each;
	(void)context;
	return ctx_err_set(
		err, CTX_E_ARG,
		"fleets are compared by functions, objects, callers, stacks and tree: they have no "
		"samples one by one");
}

static enum ctx_status pull_raw(struct ctx_report_source *base, const struct ctx_histogram **ret,
				struct ctx_err *err)
{
	(void)ret;
	return pull_samples(base, NULL, NULL, NULL, err);
}

static enum ctx_status pull_code(struct ctx_report_source *base, struct ctx_report_code *ret,
				 struct ctx_err *err)
{
	(void)ret;
	return pull_samples(base, NULL, NULL, NULL, err);
}

static enum ctx_status pull_slices(struct ctx_report_source *base, size_t per_thread, size_t max_threads,
				   struct ctx_report_slices *ret, struct ctx_err *err)
{
	(void)per_thread;
	(void)max_threads;
	(void)ret;
	return pull_samples(base, NULL, NULL, NULL, err);
}

/* ---- making ---- */

static int by_name(const void *left, const void *right)
{
	const struct ctx_report_fleet_group *const *a = left, *const *b = right;

	return strcmp((*a)->value, (*b)->value);
}

/* Those with samples: of the others there is nothing to compare. */
static enum ctx_status sort_groups(struct ctx_fleet_blocks *blocks, const struct ctx_fleet_index_spec *spec,
				   struct ctx_err *err)
{
	const struct ctx_report_fleet_group *rows;
	size_t n;
	enum ctx_status status = ctx_fleet_groups_make(spec, &blocks->groups, err);

	if (status != CTX_OK)
		return status;
	rows = ctx_fleet_groups_rows(blocks->groups, &n);
	blocks->sorted = ctx_calloc(n, sizeof(*blocks->sorted));
	if (blocks->sorted == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].sum.samples != 0)
			blocks->sorted[blocks->n_groups++] = &rows[i];
	}
	if (blocks->n_groups == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no samples are selected");
	qsort(blocks->sorted, blocks->n_groups, sizeof(*blocks->sorted), by_name);
	blocks->n = blocks->n_groups < CTX_FLEET_BLOCKS_MAX ? blocks->n_groups : CTX_FLEET_BLOCKS_MAX;
	blocks->blocks = ctx_calloc(blocks->n, sizeof(*blocks->blocks));
	blocks->sources = ctx_calloc(blocks->n, sizeof(*blocks->sources));
	return blocks->blocks != NULL && blocks->sources != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Groups next to each other by name are of one block. */
static struct block *block_of(const struct ctx_fleet_blocks *blocks, size_t group)
{
	return &blocks->blocks[group * blocks->n / blocks->n_groups];
}

static void gather(struct ctx_fleet_blocks *blocks, bool by_recording)
{
	for (size_t i = 0; i < blocks->n_groups; i++) {
		struct block *block = block_of(blocks, i);

		const struct ctx_report_fleet_group *group = blocks->sorted[i];

		/* A recording by its name, not by its id. */
		block->last = by_recording && group->name != NULL ? group->name : group->value;
		if (block->n++ == 0)
			block->first = block->last;
		block->interval.end_ns += group->recorded_ns;
	}
}

/* Rows have a group and a stack each. */
static enum ctx_status fill(struct ctx_fleet_blocks *blocks, const struct ctx_report_index *rows,
			    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < rows->n && status == CTX_OK; i++) {
		const struct ctx_report_fleet_group key = {.value = rows->names[rows->keys[2 * i]]},
						    *at = &key;
		const struct ctx_report_fleet_group **found =
			bsearch(&at, blocks->sorted, blocks->n_groups, sizeof(*blocks->sorted), by_name);
		const struct ctx_hist_entry entry = {.stack = (uint32_t)rows->keys[2 * i + 1],
						     .samples = rows->sums[i].samples,
						     .weight = rows->sums[i].weight};

		if (found == NULL && entry.samples == 0)
			continue;
		if (found == NULL)
			return ctx_err_set(err, CTX_E_NOTFOUND,
					   "recordings were removed meanwhile: ask again");
		status = ctx_histogram_add(&block_of(blocks, (size_t)(found - blocks->sorted))->histogram,
					   entry, err);
	}
	return status;
}

static enum ctx_status finish(struct ctx_fleet_blocks *blocks, const struct ctx_report_selection *selection,
			      struct ctx_err *err)
{
	for (size_t i = 0; i < blocks->n; i++) {
		struct block *block = &blocks->blocks[i];
		struct ctx_report_selection own = *selection;

		if (asprintf(&block->name, block->n == 1 ? "%s" : "%s ... %s", block->first, block->last) <
		    0) {
			block->name = NULL;
			return ctx_err_nomem(err);
		}
		own.profile = &blocks->profile;
		own.path = block->name;
		own.intervals = &block->interval;
		own.n_intervals = 1;
		own.n_metrics = 1;
		own.clock_ns = 0;
		block->part = (struct ctx_report_part){CTX_NONE, &block->histogram};
		block->source = (struct ctx_report_source){.selection = own,
							   .impl = block,
							   .parts = pull_parts,
							   .raw_histogram = pull_raw,
							   .code = pull_code,
							   .states = pull_states,
							   .slices = pull_slices,
							   .samples = pull_samples};
		blocks->sources[i] = &block->source;
	}
	return CTX_OK;
}

static enum ctx_status make(struct ctx_fleet_blocks *blocks, const struct ctx_fleet_index_spec *spec,
			    struct ctx_err *err)
{
	struct ctx_fleet_index_spec first = *spec;
	struct ctx_fleet_index *index;
	enum ctx_status status = sort_groups(blocks, spec, err);

	first.n_metrics = 1;
	first.by_stack = true;
	if (status == CTX_OK)
		status = ctx_fleet_index_make(&first, &index, err);
	if (status != CTX_OK)
		return status;
	gather(blocks, strcmp(spec->by, "recording") == 0);
	status = fill(blocks, ctx_fleet_index_rows(index), err);
	ctx_fleet_index_destroy(index);
	return status;
}

enum ctx_status ctx_fleet_blocks_make(const struct ctx_fleet_index_spec *spec,
				      const struct ctx_report_selection *selection,
				      struct ctx_fleet_blocks **ret, struct ctx_err *err)
{
	struct ctx_fleet_blocks *blocks = ctx_calloc(1, sizeof(*blocks));
	enum ctx_status status = blocks != NULL ? make(blocks, spec, err) : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = finish(blocks, selection, err);
	if (status != CTX_OK) {
		ctx_fleet_blocks_destroy(blocks);
		return status;
	}
	/* Nothing is learnt any more. */
	blocks->profile = spec->fleet->profile;
	blocks->profile.losses.sample_blocks = true;
	*ret = blocks;
	return CTX_OK;
}

void ctx_fleet_blocks_destroy(struct ctx_fleet_blocks *blocks)
{
	if (blocks == NULL)
		return;
	for (size_t i = 0; i < blocks->n && blocks->blocks != NULL; i++) {
		ctx_histogram_deinit(&blocks->blocks[i].histogram);
		free(blocks->blocks[i].name);
	}
	ctx_fleet_groups_destroy(blocks->groups);
	free(blocks->sorted);
	free(blocks->blocks);
	free(blocks->sources);
	free(blocks);
}

struct ctx_report_source *const *ctx_fleet_blocks_sources(const struct ctx_fleet_blocks *blocks,
							  size_t *ret_n)
{
	*ret_n = blocks->n;
	return blocks->sources;
}

size_t ctx_fleet_blocks_n_groups(const struct ctx_fleet_blocks *blocks)
{
	return blocks->n_groups;
}
