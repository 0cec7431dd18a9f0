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
