/*
 *	CALL, threads that run or not --> open calls (open_calls.c) --> spans and completed calls --> trees, blocks
 */
#include "ingest/ingest_impl.h"

static enum ctx_status put_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct ingest *in = context;

	in->stats.spans++;
	return ctx_ingest_put_sample(in, sample, err);
}

static enum ctx_status put_call(void *context, const struct ctx_traced *call, struct ctx_err *err)
{
	return ctx_ingest_put_traced(context, call, err);
}

static enum ctx_status put_lost(void *context, const struct ctx_loss *loss, struct ctx_err *err)
{
	struct ingest *in = context;

	return ctx_profile_builder_lost(&in->entities, loss, err);
}

/* With states a thread's trees end after its last state, which is later. */
static enum ctx_status end_thread(void *context, uint32_t thread, struct ctx_err *err)
{
	struct ingest *in = context;

	return in->states == NULL ? ctx_ingest_end_thread(in, thread, err) : CTX_OK;
}

enum ctx_status ctx_ingest_begin_calls(struct ingest *in, struct ctx_err *err)
{
	const struct ctx_profile *profile = &in->entities.profile;
	const struct ctx_source_info *info = &in->source->info;
	uint32_t running = ctx_profile_calls_metric(profile);

	if (!info->has_calls)
		return CTX_OK;
	return ctx_calls_create(
		&(struct ctx_calls_options){.stacks = &in->stacks,
					    .sink = {in, put_sample, put_call, put_lost, end_thread},
					    .last_ns = profile->run.end_ns - 1,
					    .running = running,
					    .off = running + 1,
					    .first_counter = profile->n_metrics - info->n_call_counters,
					    .n_counters = info->n_call_counters,
					    .sums = info->call_sums},
		&in->calls, err);
}

enum ctx_status ctx_ingest_end_calls(struct ingest *in, const struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_profile *profile = &in->entities.profile;
	enum ctx_status status = CTX_OK;

	if (in->calls == NULL)
		return CTX_OK;
	if (event->kind == CTX_EV_THREAD_EXIT)
		return ctx_calls_end(in->calls, event->thread, event->time_ns, err);
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		if (profile->threads[i].process == event->process &&
		    profile->threads[i].life.end_ns == UINT64_MAX)
			status = ctx_calls_end(in->calls, i, event->time_ns, err);
	}
	return status;
}
