#include "ingest/state_feed.h"

#include "base/map64.h"
#include "base/mem.h"
#include "ingest/sched_model.h"

#include <string.h>

#define INTERRUPT_NAME "<interrupt>"

struct ctx_state_feed {
	struct ctx_stack_forest *stacks;
	struct ctx_resolver *resolver;
	struct ctx_state_sink sink;
	struct ctx_sched_model model;
	struct ctx_states *states;
	uint64_t end_ns; /* states end here */
	struct ctx_stack_classes classes;
	struct ctx_strtab external_wakers;
	struct ctx_map64 interrupts; /* raw stack of an interrupted thread -> of the interrupt alone */
	uint32_t *path;		     /* scratch, owned: locations, then nodes */
	size_t path_cap;
	uint32_t unknown; /* raw stack of <Unknown> alone */
};

static enum ctx_status put_span(void *context, const struct ctx_state_span *span, struct ctx_err *err)
{
	const struct ctx_state_feed *feed = context;
	struct ctx_state_span known = *span;

	if (known.raw_stack == CTX_TRIE_ROOT)
		known.raw_stack = feed->unknown;
	return feed->sink.span(feed->sink.context, &known, err);
}

static enum ctx_status put_wakeup(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	const struct ctx_state_feed *feed = context;
	struct ctx_wakeup known = *wakeup;

	if (known.raw_stack == CTX_TRIE_ROOT)
		known.raw_stack = feed->unknown;
	known.stack = feed->stacks->raw_to_stack[known.raw_stack];
	known.waker_stack = feed->stacks->raw_to_stack[known.waker_raw_stack];
	return feed->sink.wakeup(feed->sink.context, &known, err);
}

static enum ctx_status put_end(void *context, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_state_feed *feed = context;

	return feed->sink.thread_end(feed->sink.context, thread, err);
}

static enum ctx_status put_runs(void *context, uint32_t thread, uint64_t time_ns, bool runs,
				struct ctx_err *err)
{
	const struct ctx_state_feed *feed = context;

	return feed->sink.runs(feed->sink.context, thread, time_ns, runs, err);
}

static enum ctx_status make_unknown(struct ctx_state_feed *feed, struct ctx_err *err)
{
	uint32_t location;
	enum ctx_status status = ctx_resolver_absolute(feed->resolver, 0, &location, err);

	return status == CTX_OK
		       ? ctx_stack_forest_add(feed->stacks, CTX_TRIE_ROOT,
					      (struct ctx_trie_keys){&location, 1}, &feed->unknown, err)
		       : status;
}

enum ctx_status ctx_state_feed_create(const struct ctx_state_feed_options *options,
				      struct ctx_state_feed **ret, struct ctx_err *err)
{
	struct ctx_state_feed *feed = ctx_calloc(1, sizeof(*feed));
	struct ctx_state_sink sink = {feed, put_span, put_wakeup, put_end,
				      options->sink.runs != NULL ? put_runs : NULL};
	enum ctx_status status;

	if (feed == NULL)
		return ctx_err_nomem(err);
	feed->stacks = options->stacks;
	feed->resolver = options->resolver;
	feed->classes = (struct ctx_stack_classes){.raw = &feed->stacks->raw, .resolver = feed->resolver};
	feed->sink = options->sink;
	ctx_state_feed_end_at(feed, options->end_ns);
	status = make_unknown(feed, err);
	if (status == CTX_OK)
		status = ctx_states_create(&sink, &feed->states, err);
	if (status != CTX_OK) {
		ctx_state_feed_destroy(feed);
		return status;
	}
	ctx_states_user_clock(feed->states, options->user_clock_ns);
	if (options->kernel_clock)
		ctx_states_kernel_clock(feed->states);
	*ret = feed;
	return CTX_OK;
}

void ctx_state_feed_destroy(struct ctx_state_feed *feed)
{
	if (feed == NULL)
		return;
	ctx_sched_model_deinit(&feed->model);
	ctx_states_destroy(feed->states);
	ctx_stack_classes_deinit(&feed->classes);
	ctx_strtab_deinit(&feed->external_wakers);
	ctx_map64_deinit(&feed->interrupts);
	free(feed->path);
	free(feed);
}

void ctx_state_feed_end_at(struct ctx_state_feed *feed, uint64_t end_ns)
{
	feed->end_ns = end_ns != 0 ? end_ns : UINT64_MAX;
}

/* The part of a stack that belongs to an interrupt, without the interrupted code. */
static enum ctx_status interrupt_alone(struct ctx_state_feed *feed, uint32_t raw_stack, uint32_t *ret,
				       struct ctx_err *err)
{
	const struct ctx_trie *raw = &feed->stacks->raw;
	uint32_t *known = ctx_map64_place(&feed->interrupts, raw_stack);
	size_t depth = raw->depth[raw_stack], n = 0;
	enum ctx_status status;
	uint32_t entry;

	if (known == NULL)
		return ctx_err_nomem(err);
	if (*known != CTX_MAP64_NONE) {
		*ret = *known;
		return CTX_OK;
	}
	status = ctx_grow(&feed->path, &feed->path_cap, 2 * depth, err);
	if (status != CTX_OK)
		return status;
	status = ctx_stack_interrupt_entry(&feed->classes, raw_stack, &entry, err);
	if (status != CTX_OK)
		return status;
	/*
	 * From the leaf on, written from the end of the first half backwards: the forest expects
	 * the root first.
	 */
	for (uint32_t node = raw_stack; node != raw->parent[entry] && n < depth; node = raw->parent[node])
		feed->path[depth - ++n] = raw->key[node];
	status = ctx_stack_forest_add(feed->stacks, CTX_TRIE_ROOT,
				      (struct ctx_trie_keys){feed->path + depth - n, n}, feed->path + depth,
				      err);
	if (status == CTX_OK)
		*ret = *known = n != 0 ? feed->path[depth + n - 1] : CTX_TRIE_ROOT;
	return status;
}

/*
 * The bytes of a name without the current work item of a kernel worker, which changes:
 * "kworker/0:1-events".
 */
static size_t name_bytes(const char *name)
{
	return strncmp(name, "kworker/", strlen("kworker/")) == 0 ? strcspn(name, "-+") : strlen(name);
}

static enum ctx_status set_waker(struct ctx_state_feed *feed, const struct ctx_event *event,
				 uint32_t raw_stack, struct ctx_thread_change *change, struct ctx_err *err)
{
	const char *external_waker = event->state.waker == CTX_NONE ? event->state.external_waker : NULL;
	size_t n_external_waker = 0;
	unsigned classes;
	enum ctx_status status = ctx_stack_class_of(&feed->classes, raw_stack, &classes, err);

	change->waker = event->state.waker;
	change->waker_raw_stack = raw_stack;
	if (status == CTX_OK && (classes & CTX_STACK_INTERRUPT) != 0) {
		change->waker = CTX_NONE;
		external_waker = INTERRUPT_NAME;
		status = interrupt_alone(feed, raw_stack, &change->waker_raw_stack, err);
	}
	if (external_waker != NULL)
		n_external_waker = name_bytes(external_waker);
	if (status == CTX_OK && external_waker != NULL)
		status = ctx_strtab_add(&feed->external_wakers, external_waker, n_external_waker,
					&change->external_waker, err);
	return status;
}

static enum ctx_status put_changes(struct ctx_state_feed *feed, const struct ctx_sched_changes *changes,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (unsigned i = 0; i < changes->n && status == CTX_OK; i++)
		status = ctx_states_change(feed->states, &changes->items[i], err);
	return status;
}

/* A waker is on a CPU. */
static enum ctx_status take_waker(struct ctx_state_feed *feed, const struct ctx_event *event,
				  struct ctx_err *err)
{
	struct ctx_sched_changes changes;
	enum ctx_status status =
		ctx_sched_model_acts(&feed->model, event->state.waker, event->time_ns, &changes, err);

	return status == CTX_OK ? put_changes(feed, &changes, err) : status;
}

enum ctx_status ctx_state_feed_change(struct ctx_state_feed *feed, const struct ctx_event *event,
				      uint32_t raw_stack, struct ctx_err *err)
{
	struct ctx_thread_change change = {
		.time_ns = event->time_ns,
		.thread = event->thread,
		.change = event->state.change,
		.wait = event->state.wait,
		.cpu = event->state.cpu,
		.waker = CTX_NONE,
		.external_waker = CTX_NONE,
	};
	struct ctx_sched_changes changes;
	enum ctx_status status = CTX_OK;

	if (event->time_ns >= feed->end_ns)
		return CTX_OK;
	if (change.change == CTX_SEEN_WAKING && event->state.waker != CTX_NONE)
		status = take_waker(feed, event, err);
	if (status != CTX_OK)
		return status;
	if (ctx_state_change_has_waker(change.change)) {
		status = set_waker(feed, event, raw_stack, &change, err);
	} else if (raw_stack != CTX_TRIE_ROOT) {
		status = ctx_stack_class_of(&feed->classes, raw_stack, &change.classes, err);
		if (status == CTX_OK)
			status = ctx_stack_without_scheduler(&feed->classes, raw_stack, &change.raw_stack,
							     err);
		change.user_stack = ctx_stack_user_part(&feed->classes, raw_stack);
	}
	if (status == CTX_OK)
		status = ctx_sched_model_take(&feed->model, &change, &changes, err);
	return status == CTX_OK ? put_changes(feed, &changes, err) : status;
}

enum ctx_status ctx_state_feed_sample(struct ctx_state_feed *feed, const struct ctx_event *event,
				      uint32_t raw_stack, struct ctx_err *err)
{
	struct ctx_thread_sample sample = {.time_ns = event->time_ns,
					   .thread = event->thread,
					   .cpu = event->sample.cpu,
					   .raw_stack = raw_stack};
	enum ctx_status status;

	if (event->time_ns >= feed->end_ns)
		return CTX_OK;
	status = ctx_stack_class_of(&feed->classes, raw_stack, &sample.classes, err);
	return status == CTX_OK ? ctx_states_sample(feed->states, &sample, err) : status;
}

static enum ctx_status start_thread(struct ctx_state_feed *feed, const struct ctx_event *event,
				    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	/* Excludes the idle task of a CPU and the pseudo threads of unknown tasks. */
	if (event->thread_start.tid <= 0)
		return CTX_OK;
	if (event->time_ns != 0)
		status = ctx_sched_model_start(&feed->model, event->thread, err);
	return status == CTX_OK
		       ? ctx_states_start(feed->states, event->thread, event->process, event->time_ns, err)
		       : status;
}

enum ctx_status ctx_state_feed_life(struct ctx_state_feed *feed, const struct ctx_event *event,
				    struct ctx_err *err)
{
	if (event->time_ns >= feed->end_ns)
		return CTX_OK;
	switch (event->kind) {
	case CTX_EV_THREAD_START:
		return start_thread(feed, event, err);
	case CTX_EV_THREAD_EXIT:
		return ctx_states_end(feed->states, event->thread, event->time_ns, err);
	case CTX_EV_PROCESS_EXIT:
		return ctx_states_end_process(feed->states, event->process, event->time_ns, err);
	case CTX_EV_LOST:
		return ctx_loss_hides_states(&event->lost.loss)
			       ? ctx_states_lost(feed->states, &event->lost.loss, event->time_ns, err)
			       : CTX_OK;
	case CTX_EV_USAGE:
		ctx_states_live(feed->states, event->process, event->usage.threads);
		return CTX_OK;
	default:
		return CTX_OK;
	}
}

uint64_t ctx_state_feed_known_until(const struct ctx_state_feed *feed, uint32_t thread)
{
	return ctx_states_known_until(feed->states, thread);
}

enum ctx_status ctx_state_feed_finish(struct ctx_state_feed *feed, uint64_t time_ns, struct ctx_err *err)
{
	return ctx_states_finish(feed->states, time_ns < feed->end_ns ? time_ns : feed->end_ns, err);
}

enum ctx_status ctx_state_feed_external_wakers(const struct ctx_state_feed *feed, struct ctx_arena *arena,
					       const char ***ret, uint32_t *ret_n, struct ctx_err *err)
{
	uint32_t n = (uint32_t)feed->external_wakers.n;
	const char **names = ctx_calloc(n, sizeof(*names));

	if (names == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		names[i] = ctx_arena_strdup(arena, ctx_strtab_get(&feed->external_wakers, i));
		if (names[i] == NULL) {
			free(names);
			return ctx_err_nomem(err);
		}
	}
	*ret = names;
	*ret_n = n;
	return CTX_OK;
}
