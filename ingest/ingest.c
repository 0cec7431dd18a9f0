/*
 *	event source --> ingest_events.c, one event after the other --> ingest_contents.c --> finished database
 */
#include "ingest/ingest.h"

#include "base/mem.h"
#include "ingest/ingest_impl.h"

#include <unistd.h>

#define EVENTS_PER_PROGRESS 65536u

void ctx_ingest_deinit(struct ingest *in)
{
	ctx_store_close(in->store);
	for (size_t i = 0; i < in->n_processes; i++) {
		ctx_addrspace_deinit(&in->processes[i].space);
		ctx_ranges_deinit(&in->processes[i].anonymous);
		ctx_stackdict_deinit(&in->processes[i].dict);
		ctx_chaindict_deinit(&in->processes[i].chains);
	}
	ctx_addrspace_deinit(&in->kernel_space);
	ctx_map64_deinit(&in->last_stack);
	ctx_stack_paths_deinit(&in->paths);
	ctx_tree_worker_destroy(in->worker);
	ctx_tree_forest_destroy(in->trees);
	ctx_unwinding_destroy(in->unwinding);
	ctx_state_feed_destroy(in->states);
	ctx_calls_destroy(in->calls);
	ctx_ingest_omp_deinit(in->omp);
	ctx_resolver_destroy(in->resolver);
	ctx_stack_forest_deinit(&in->stacks);
	ctx_profile_builder_deinit(&in->entities);
	ctx_strtab_deinit(&in->files);
	ctx_code_list_deinit(&in->code);
	free(in->source_files);
	free(in->processes);
	free(in->mappings);
	free(in->leaf_samples.items);
	free(in->shows_running);
	ctx_clock_share_deinit(&in->clock_share);
}

static enum ctx_status read_all(struct ingest *in, const struct ctx_ingest_options *options,
				struct ctx_err *err)
{
	for (;;) {
		struct ctx_event event;
		enum ctx_status status = in->source->next(in->source, &event, err);

		if (status == CTX_END)
			return CTX_OK;
		if (status == CTX_OK)
			status = ctx_ingest_event(in, &event, err);
		if (status != CTX_OK)
			return status;
		if (++in->stats.events % EVENTS_PER_PROGRESS == 0 && options->progress != NULL)
			options->progress(options->progress_context, in->source->progress(in->source),
					  in->source->info.bytes, in->stats.samples);
	}
}

enum ctx_status ctx_ingest_begin(struct ingest *in, const struct ctx_ingest_options *options,
				 struct ctx_err *err)
{
	const struct ctx_source_info *info = &in->source->info;
	struct ctx_resolver_options resolver = {
		.kallsyms = info->kallsyms,
		.debug_root = options->debug_root,
		.symfs = options->symfs,
		.caches = options->caches,
		.cache_names = options->cache_names,
		.kernel = &info->kernel,
		.symbols = info->symbols,
		.n_symbols = info->n_symbols,
		.no_inlines = options->no_inlines,
	};
	enum ctx_status status = ctx_profile_builder_init(&in->entities, info, err);

	if (status == CTX_OK)
		status = ctx_resolver_create(&resolver, &in->entities.profile.arena, &in->resolver, err);
	if (status == CTX_OK)
		status = ctx_stack_forest_init(&in->stacks, in->resolver, err);
	if (status == CTX_OK)
		status = ctx_ingest_begin_calls(in, err);
	if (status == CTX_OK)
		status = ctx_ingest_begin_omp(in, err);
	if (status == CTX_OK)
		status = ctx_ingest_begin_states(in, err);
	return status;
}

enum ctx_status ctx_ingest_plant_trees(struct ingest *in, const struct ctx_ingest_options *options,
				       struct ctx_err *err)
{
	return ctx_tree_forest_create(
		&(struct ctx_tree_forest_options){.store = in->store,
						  .params = options->tree,
						  .run = in->entities.profile.run,
						  .cct = &in->stacks.cct,
						  .single_thread = in->source->info.n_threads == 1,
						  .n_metrics = in->entities.profile.n_metrics,
						  .calls_metric =
							  ctx_profile_calls_metric(&in->entities.profile)},
		&in->trees, err);
}

static enum ctx_status ingest_init(struct ingest *in, const char *path,
				   const struct ctx_ingest_options *options, struct ctx_err *err)
{
	enum ctx_status status = ctx_ingest_begin(in, options, err);

	if (status == CTX_OK)
		status = ctx_store_create(path, &in->store, err);
	if (status == CTX_OK)
		status = ctx_ingest_plant_trees(in, options, err);
	return status;
}

/* With a second processor the trees get their own thread; without one they are fed from here. */
static enum ctx_status start_worker(struct ingest *in, struct ctx_err *err)
{
	struct ctx_err why;
	enum ctx_status status;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return CTX_OK;
	ctx_trie_keep_old(&in->stacks.cct);
	status = ctx_tree_worker_start(in->trees, &in->stacks.cct, &in->worker, &why);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

enum ctx_status ctx_ingest(struct ctx_event_source *source, const char *path,
			   const struct ctx_ingest_options *options, struct ctx_ingest_stats *stats,
			   struct ctx_err *err)
{
	struct ingest in = {.source = source};
	enum ctx_status status = ingest_init(&in, path, options, err);
	struct ctx_store *store;

	if (status == CTX_OK && !options->one_thread)
		status = start_worker(&in, err);
	if (status == CTX_OK)
		status = read_all(&in, options, err);
	if (status == CTX_OK)
		status = ctx_ingest_put_contents(&in, options, err);
	if (status == CTX_OK) {
		store = in.store;
		in.store = NULL;
		status = ctx_store_commit(store, err);
	}
	if (status == CTX_OK && stats != NULL)
		*stats = in.stats;
	ctx_ingest_deinit(&in);
	return status;
}
