/*
 *	samples, operations --> time trees, in a thread of their own or here; of a live ingest --> window
 */
#include "ingest/ingest_impl.h"

enum ctx_status ctx_ingest_put_sample(struct ingest *in, const struct ctx_sample *sample, struct ctx_err *err)
{
	ctx_profile_builder_count(&in->entities, sample->thread, sample->metric, sample->weight);
	if (in->window != NULL)
		return ctx_window_add(in->window, sample, err);
	return in->worker != NULL ? ctx_tree_worker_add(in->worker, sample, err)
				  : ctx_tree_forest_add(in->trees, sample, err);
}

/*
 * A map, since a table of all threads and metrics could exceed memory: most pairs have no sample.
 * NULL: out of memory.
 */
static uint32_t *last_stack_of(struct ingest *in, uint32_t thread, uint32_t metric)
{
	uint32_t *place = ctx_map64_place(&in->last_stack, (uint64_t)thread << 32 | metric);

	if (place != NULL && *place == CTX_MAP64_NONE)
		*place = CTX_TRIE_ROOT;
	return place;
}

/* Calls that the source marks as new are new, even with an unchanged stack. */
static uint32_t limit_kept(const struct ingest *in, const struct ctx_sample *sample, uint32_t kept_frames)
{
	const struct ctx_trie *raw = &in->stacks.raw, *cct = &in->stacks.cct;
	uint32_t depth = raw->depth[sample->raw_stack];
	uint32_t kept = in->stacks.raw_to_stack[ctx_trie_ancestor(raw, sample->raw_stack,
								  kept_frames < depth ? kept_frames : depth)];

	return cct->depth[kept] < cct->depth[sample->kept_stack] ? kept : sample->kept_stack;
}

enum ctx_status ctx_ingest_put_at_stack(struct ingest *in, struct ctx_sample *sample, uint32_t kept_frames,
					struct ctx_err *err)
{
	const struct ctx_trie *cct = &in->stacks.cct;
	uint32_t *last = last_stack_of(in, sample->thread, sample->metric);

	if (last == NULL)
		return ctx_err_nomem(err);
	sample->stack = in->stacks.raw_to_stack[sample->raw_stack];
	sample->kept_stack = sample->stack == *last
				     ? sample->stack
				     : ctx_stack_paths_common(&in->paths, cct, sample->stack, *last);
	if (kept_frames != UINT32_MAX)
		sample->kept_stack = limit_kept(in, sample, kept_frames);
	sample->kept_depth = cct->depth[sample->kept_stack];
	*last = sample->stack;
	return ctx_ingest_put_sample(in, sample, err);
}

enum ctx_status ctx_ingest_put_traced(struct ingest *in, const struct ctx_traced *operation,
				      struct ctx_err *err)
{
	if (in->window != NULL)
		return ctx_window_add_traced(in->window, operation, err);
	in->entities.profile.traced[operation->kind]++;
	return in->worker != NULL ? ctx_tree_worker_add_traced(in->worker, operation, err)
				  : ctx_tree_forest_add_traced(in->trees, operation, err);
}

enum ctx_status ctx_ingest_end_thread(struct ingest *in, uint32_t thread, struct ctx_err *err)
{
	if (in->window != NULL)
		return CTX_OK;
	return in->worker != NULL ? ctx_tree_worker_end_thread(in->worker, thread, err)
				  : ctx_tree_forest_end_thread(in->trees, thread, err);
}
