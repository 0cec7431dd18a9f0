#include "ingest/live.h"

#include "base/mem.h"
#include "ingest/ingest_impl.h"

#include <string.h>

#define USAGE_BEFORE_NS UINT64_C(3000000000) /* resource use is sampled once a second, and compared */

struct ctx_live {
	struct ingest in;
	struct ctx_window window;
	struct ctx_ingest_options options;
	size_t n_properties; /* of the source, that the profile has */
};

enum ctx_status ctx_live_create(struct ctx_event_source *source, const struct ctx_ingest_options *options,
				struct ctx_live **ret, struct ctx_err *err)
{
	struct ctx_live *live = ctx_calloc(1, sizeof(*live));
	enum ctx_status status;

	if (live == NULL)
		return ctx_err_nomem(err);
	live->in.source = source;
	live->in.window = &live->window;
	live->options = *options;
	live->options.one_thread = true;
	live->n_properties = source->info.n_properties;
	status = ctx_ingest_begin(&live->in, &live->options, err);
	if (status != CTX_OK) {
		ctx_live_destroy(live);
		return status;
	}
	*ret = live;
	return CTX_OK;
}

void ctx_live_destroy(struct ctx_live *live)
{
	if (live == NULL)
		return;
	ctx_ingest_deinit(&live->in);
	ctx_window_deinit(&live->window);
	free(live);
}

/* Only reports of the window show it. */
static void drop_usage(struct ctx_profile *profile, uint64_t begin_ns)
{
	size_t n = 0;

	while (n < profile->n_usage && profile->usage[n].time_ns + USAGE_BEFORE_NS < begin_ns)
		n++;
	if (n < profile->n_usage / 2)
		return;
	profile->n_usage -= n;
	if (profile->n_usage != 0)
		memmove(profile->usage, profile->usage + n, profile->n_usage * sizeof(*profile->usage));
}

enum ctx_status ctx_live_read(struct ctx_live *live, uint64_t begin_ns, struct ctx_err *err)
{
	struct ingest *in = &live->in;
	enum ctx_status moved = ctx_window_move(&live->window, begin_ns, err);

	if (moved != CTX_OK)
		return moved;
	if (in->states != NULL)
		ctx_state_feed_end_at(in->states, in->source->info.states_end_ns);
	for (;;) {
		struct ctx_event event;
		enum ctx_status status = in->source->next(in->source, &event, err);

		if (status == CTX_OK)
			status = ctx_ingest_event(in, &event, err);
		if (status == CTX_END) {
			drop_usage(&in->entities.profile, live->window.begin_ns);
			return CTX_OK;
		}
		if (status != CTX_OK)
			return status;
	}
}

/* What the source learnt of the recording since the begin. */
static enum ctx_status take_info(struct ctx_live *live, struct ctx_err *err)
{
	const struct ctx_source_info *info = &live->in.source->info;
	struct ctx_profile *profile = &live->in.entities.profile;
	enum ctx_status status = CTX_OK;

	profile->run.end_ns = info->duration_ns != 0 ? info->duration_ns : 1;
	profile->closed = info->closed;
	for (size_t i = live->n_properties; i < info->n_properties && status == CTX_OK; i++) {
		struct ctx_event event = {.kind = CTX_EV_PROPERTY, .property = info->properties[i]};

		status = ctx_profile_builder_event(&live->in.entities, &event, err);
	}
	return status;
}

enum ctx_status ctx_live_end(struct ctx_live *live, struct ctx_store **ret, struct ctx_err *err)
{
	struct ingest *in = &live->in;
	enum ctx_status status = take_info(live, err);

	if (status == CTX_OK)
		status = ctx_store_create_in_memory(&in->store, err);
	if (status == CTX_OK)
		status = ctx_ingest_plant_trees(in, &live->options, err);
	if (status == CTX_OK)
		status = ctx_ingest_put_contents(in, &live->options, err);
	if (status == CTX_OK)
		*ret = in->store;
	return status;
}
