#include "compare/diff_items.h"

#include "base/mem.h"
#include "compare/diff_lines.h"
#include "compare/diff_stream.h"

#include <stdlib.h>
#include <string.h>

struct work {
	const struct ctx_diff_items_spec *spec;
	struct ctx_diff_items *items;
	size_t at; /* the recording that is being linked, */
	struct ctx_diff_recording *recording;
	const struct ctx_profile *profile;
	const uint32_t *item_of; /* by function: of the matching */
};

static void see_side(struct work *work, uint32_t item)
{
	work->items->items[item].sides |= 1u << work->spec->sides[work->at];
}

/* A further stream of a recording, whose table of `n` keys has no links yet. NULL: no memory. */
static uint32_t *add_stream(struct ctx_diff_recording *recording, const struct ctx_diff_stream *stream)
{
	uint32_t *table = ctx_calloc((size_t)stream->n_keys + 1, sizeof(*table));

	if (table == NULL)
		return NULL;
	memset(table, 0xff, ((size_t)stream->n_keys + 1) * sizeof(*table));
	recording->tables[recording->n_streams] = table;
	recording->streams[recording->n_streams] = *stream;
	recording->streams[recording->n_streams++].first = table;
	return table;
}

/* ---- functions and objects ---- */

static enum ctx_status take_matching(struct work *work, struct ctx_err *err)
{
	struct ctx_diff_items *items = work->items;
	enum ctx_status status = ctx_grow(&items->items, &items->cap, items->matching.n_items + 1u, err);

	for (uint32_t i = 0; i < items->matching.n_items && status == CTX_OK; i++) {
		const struct ctx_match_item *item = &items->matching.items[i];

		items->items[items->n++] = (struct ctx_diff_item){.sides = item->sides,
								  .profile = item->profile,
								  .function = item->function,
								  .caller = CTX_NONE,
								  .parent = CTX_NONE,
								  .thread = CTX_NONE};
	}
	return status;
}

/* The function's item itself, or once each item of the stack. */
static enum ctx_status link_functions(struct work *work, struct ctx_err *err)
{
	const struct ctx_trie *cct = &work->profile->cct;
	uint32_t *first = add_stream(
		work->recording,
		&(struct ctx_diff_stream){.metric = CTX_NONE, .key = CTX_DIFF_BY_STACK, .n_keys = cct->n});
	enum ctx_status status = first != NULL ? CTX_OK : ctx_err_nomem(err);

	for (uint32_t node = 1; node < cct->n && status == CTX_OK; node++) {
		struct ctx_diff_link link = {work->item_of[cct->key[node]], first[cct->parent[node]]};

		if (!work->spec->total)
			link.next = CTX_NONE;
		else if (ctx_diff_has_item(work->recording, link.next, link.item)) {
			first[node] = link.next;
			continue;
		}
		status = ctx_diff_link_add(work->recording, link, &first[node], err);
	}
	return status;
}

/* ---- callers ---- */

/* One item for a caller and what it called; CTX_NONE as a caller: nothing. */
static enum ctx_status find_call(struct work *work, uint32_t caller, uint32_t function, uint32_t *ret_item,
				 struct ctx_err *err)
{
	const uint32_t key[] = {caller != CTX_NONE ? work->item_of[caller] : CTX_NONE,
				work->item_of[function]};
	enum ctx_status status =
		ctx_diff_items_find(work->items, (struct ctx_bytes){key, sizeof(key)}, ret_item, err);
	struct ctx_diff_item *item;

	if (status != CTX_OK)
		return status;
	item = &work->items->items[*ret_item];
	if (item->profile == NULL) {
		item->profile = work->profile;
		item->function = function;
		item->caller = caller;
	}
	see_side(work, *ret_item);
	return CTX_OK;
}

/* Links of the functions above a node, and of their calls, in step: recursive calls are no calls. */
static enum ctx_status link_calls(struct work *work, struct ctx_err *err)
{
	const struct ctx_trie *cct = &work->profile->cct;
	struct ctx_diff_recording functions = {0};
	uint32_t *above CTX_AUTO_FREE = ctx_calloc((size_t)cct->n + 1, sizeof(*above));
	uint32_t *first = add_stream(
		work->recording,
		&(struct ctx_diff_stream){.metric = CTX_NONE, .key = CTX_DIFF_BY_STACK, .n_keys = cct->n});
	enum ctx_status status = first != NULL && above != NULL ? CTX_OK : ctx_err_nomem(err);

	if (status == CTX_OK)
		above[0] = CTX_NONE;
	for (uint32_t node = 1; node < cct->n && status == CTX_OK; node++) {
		uint32_t parent = cct->parent[node], caller = parent != 0 ? cct->key[parent] : CTX_NONE, call;

		above[node] = above[parent];
		first[node] = first[parent];
		if (ctx_diff_has_item(&functions, above[parent], work->item_of[cct->key[node]]))
			continue;
		status = ctx_diff_link_add(
			&functions, (struct ctx_diff_link){work->item_of[cct->key[node]], above[parent]},
			&above[node], err);
		if (status == CTX_OK)
			status = find_call(work, caller, cct->key[node], &call, err);
		if (status == CTX_OK)
			status = ctx_diff_link_add(work->recording,
						   (struct ctx_diff_link){call, first[parent]}, &first[node],
						   err);
	}
	free(functions.links);
	return status;
}

/* ---- stacks and trees ---- */

/* The item of a function below another stack. */
static enum ctx_status find_below(struct work *work, uint32_t parent, uint32_t function, uint32_t *ret_item,
				  struct ctx_err *err)
{
	const uint32_t key[] = {parent, work->item_of[function]};
	enum ctx_status status =
		ctx_diff_items_find(work->items, (struct ctx_bytes){key, sizeof(key)}, ret_item, err);

	struct ctx_diff_item *item;

	if (status != CTX_OK)
		return status;
	item = &work->items->items[*ret_item];
	if (item->profile == NULL) {
		item->profile = work->profile;
		item->function = function;
		item->parent = parent;
	}
	see_side(work, *ret_item);
	return CTX_OK;
}

/* The item of the stack's first instance of a function, if it has one above; CTX_NONE: it has none. */
static uint32_t instance_above(const struct work *work, uint32_t item, uint32_t function)
{
	const struct ctx_diff_items *items = work->items;

	while (item != CTX_NONE && ctx_diff_item_function(items, item) != function)
		item = items->items[item].parent;
	return item;
}

/* A link for each new item; `next` is the link of its parent for trees. */
static enum ctx_status link_item(struct work *work, uint32_t *link_of, uint32_t item, struct ctx_err *err)
{
	uint32_t parent = work->items->items[item].parent;
	struct ctx_diff_link link = {item, CTX_NONE};

	if (link_of[item] != CTX_NONE)
		return CTX_OK;
	if (work->spec->subject == CTX_DIFF_TREE && parent != CTX_NONE)
		link.next = link_of[parent];
	return ctx_diff_link_add(work->recording, link, &link_of[item], err);
}

static enum ctx_status link_stacks(struct work *work, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->profile;
	const struct ctx_trie *cct = &profile->cct;
	size_t n_most = work->items->n + cct->n + 1u;
	uint32_t *item_at CTX_AUTO_FREE = ctx_calloc((size_t)cct->n + 1, sizeof(*item_at));
	uint32_t *link_of CTX_AUTO_FREE = ctx_calloc(n_most, sizeof(*link_of));
	uint32_t *first = add_stream(
		work->recording,
		&(struct ctx_diff_stream){.metric = CTX_NONE, .key = CTX_DIFF_BY_STACK, .n_keys = cct->n});
	enum ctx_status status =
		first != NULL && item_at != NULL && link_of != NULL ? CTX_OK : ctx_err_nomem(err);

	if (status != CTX_OK)
		return status;
	memset(link_of, 0xff, n_most * sizeof(*link_of));
	item_at[0] = CTX_NONE;
	for (uint32_t node = 1; node < cct->n && status == CTX_OK; node++) {
		uint32_t function = cct->key[node], above = CTX_NONE;

		/* <Unknown> is not one function. */
		if (work->spec->folds && profile->functions[function].kind == CTX_FUNCTION_ORDINARY)
			above = instance_above(work, item_at[cct->parent[node]], work->item_of[function]);
		item_at[node] = above;
		if (above == CTX_NONE)
			status = find_below(work, item_at[cct->parent[node]], function, &item_at[node], err);
		if (status == CTX_OK)
			status = link_item(work, link_of, item_at[node], err);
		if (status == CTX_OK)
			first[node] = link_of[item_at[node]];
	}
	return status;
}

/* ---- threads, states, waits ---- */

static enum ctx_status link_threads(struct work *work, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->profile;
	uint32_t *first =
		add_stream(work->recording, &(struct ctx_diff_stream){.metric = CTX_NONE,
								      .key = CTX_DIFF_BY_THREAD,
								      .n_keys = profile->n_threads});
	enum ctx_status status = first != NULL ? CTX_OK : ctx_err_nomem(err);

	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		const char *name = profile->threads[i].name;
		struct ctx_diff_item *made;
		uint32_t item;

		status = ctx_diff_items_find(work->items, (struct ctx_bytes){name, strlen(name)}, &item, err);
		if (status != CTX_OK)
			break;
		made = &work->items->items[item];
		if (made->profile == NULL) {
			made->profile = profile;
			made->thread = i;
		}
		see_side(work, item);
		status = ctx_diff_link_add(work->recording, (struct ctx_diff_link){item, CTX_NONE}, &first[i],
					   err);
	}
	return status;
}

/* All recordings have all states. */
static enum ctx_status link_states(struct work *work, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->profile;
	enum ctx_status status = CTX_OK;

	for (uint32_t state = 0; state < CTX_STATE_N && status == CTX_OK; state++) {
		uint32_t item, *first;

		first = add_stream(
			work->recording,
			&(struct ctx_diff_stream){.metric = ctx_profile_state_metric(profile, state),
						  .key = CTX_DIFF_BY_METRIC,
						  .state = state,
						  .n_keys = 1});
		status = first == NULL
				 ? ctx_err_nomem(err)
				 : ctx_diff_items_find(work->items, (struct ctx_bytes){&state, sizeof(state)},
						       &item, err);
		if (status != CTX_OK)
			break;
		work->items->items[item].profile = profile;
		work->items->items[item].state = state;
		work->items->items[item].sides = 1u << CTX_COMPARE_A | 1u << CTX_COMPARE_B;
		status = ctx_diff_link_add(work->recording, (struct ctx_diff_link){item, CTX_NONE}, first,
					   err);
	}
	return status;
}

static enum ctx_status find_wait(struct work *work, enum ctx_thread_state state, struct ctx_wait_place place,
				 uint32_t *ret_item, struct ctx_err *err)
{
	const uint32_t key[] = {state, place.kind,
				place.caller != CTX_NONE ? work->item_of[place.caller] : CTX_NONE};
	enum ctx_status status =
		ctx_diff_items_find(work->items, (struct ctx_bytes){key, sizeof(key)}, ret_item, err);
	struct ctx_diff_item *item;

	if (status != CTX_OK)
		return status;
	item = &work->items->items[*ret_item];
	if (item->profile == NULL) {
		item->profile = work->profile;
		item->function = place.caller;
		item->state = state;
		item->kind = place.kind;
	}
	see_side(work, *ret_item);
	return CTX_OK;
}

struct seen_waits {
	struct work *work;
	const struct ctx_wait_kinds *kinds;
	enum ctx_thread_state state;
	uint32_t *first;
};

/* Only stacks that have waits get items. */
static enum ctx_status see_wait(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct seen_waits *seen = context;
	struct work *work = seen->work;
	enum ctx_status status;
	uint32_t item;

	if (sample->stack >= work->profile->cct.n || seen->first[sample->stack] != CTX_NONE)
		return CTX_OK;
	status = find_wait(work, seen->state, ctx_wait_kinds_find(seen->kinds, seen->state, sample->stack),
			   &item, err);
	if (status != CTX_OK)
		return status;
	return ctx_diff_link_add(work->recording, (struct ctx_diff_link){item, CTX_NONE},
				 &seen->first[sample->stack], err);
}

static enum ctx_status link_waits(struct work *work, struct ctx_err *err)
{
	struct ctx_report_source *source = work->spec->sources[work->at];
	const struct ctx_profile *profile = work->profile;
	struct ctx_wait_kinds kinds = {0};
	enum ctx_status status = ctx_wait_kinds_init(&kinds, profile, err);

	for (uint32_t state = 0; state < CTX_STATE_N && status == CTX_OK; state++) {
		struct ctx_diff_stream stream = {.metric = ctx_profile_state_metric(profile, state),
						 .key = CTX_DIFF_BY_STACK,
						 .state = state,
						 .skips_start = state == CTX_STATE_SLEEP,
						 .n_keys = profile->cct.n};
		struct seen_waits seen = {work, &kinds, state, NULL};
		const struct ctx_diff_each each = {see_wait, &seen};

		if ((CTX_STATES_OF_WAITS & CTX_STATE_BIT(state)) == 0)
			continue;
		seen.first = add_stream(work->recording, &stream);
		status = seen.first != NULL ? ctx_diff_stream_each(source, &stream, &each, err)
					    : ctx_err_nomem(err);
	}
	ctx_wait_kinds_deinit(&kinds);
	return status;
}

/* ---- all ---- */

static enum ctx_status check(const struct ctx_diff_items_spec *spec, struct ctx_err *err)
{
	bool needs_states = spec->subject == CTX_DIFF_STATES || spec->subject == CTX_DIFF_WAITS;
	bool needs_stacks = spec->subject == CTX_DIFF_CALLERS || spec->subject == CTX_DIFF_STACKS ||
			    spec->subject == CTX_DIFF_TREE || spec->total;

	for (size_t i = 0; i < spec->n; i++) {
		const struct ctx_report_selection *selection = &spec->sources[i]->selection;

		if (needs_states && !selection->profile->has_states)
			return ctx_err_set(err, CTX_E_ARG, "%s has no thread states: %s are not known",
					   selection->path,
					   spec->subject == CTX_DIFF_STATES ? "they" : "waits");
		if (needs_stacks && selection->profile->losses.call_stacks)
			return ctx_err_set(err, CTX_E_ARG,
					   "%s has no call stacks: inclusive times are not known",
					   selection->path);
	}
	return CTX_OK;
}

static enum ctx_status match(struct work *work, struct ctx_err *err)
{
	const struct ctx_diff_items_spec *spec = work->spec;
	struct ctx_match_recording *inputs CTX_AUTO_FREE = ctx_calloc(spec->n, sizeof(*inputs));
	const struct ctx_match_spec wanted = {
		.recordings = inputs,
		.n = spec->n,
		.subject = spec->subject == CTX_DIFF_OBJECTS ? CTX_MATCH_OBJECTS : CTX_MATCH_FUNCTIONS,
		.renames = spec->renames};

	if (inputs == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < spec->n; i++)
		inputs[i] = (struct ctx_match_recording){spec->sources[i]->selection.profile, spec->sides[i]};
	return ctx_matching_make(&wanted, &work->items->matching, err);
}

static enum ctx_status link_recording(struct work *work, struct ctx_err *err)
{
	switch (work->spec->subject) {
	case CTX_DIFF_FUNCTIONS:
	case CTX_DIFF_OBJECTS:
		return link_functions(work, err);
	case CTX_DIFF_CALLERS:
		return link_calls(work, err);
	case CTX_DIFF_STACKS:
	case CTX_DIFF_TREE:
		return link_stacks(work, err);
	case CTX_DIFF_THREADS:
		return link_threads(work, err);
	case CTX_DIFF_STATES:
		return link_states(work, err);
	case CTX_DIFF_WAITS:
		return link_waits(work, err);
	case CTX_DIFF_LINES:
	case CTX_DIFF_SUBJECTS:
		break;
	}
	return CTX_OK;
}

static enum ctx_status link_recordings(struct work *work, struct ctx_err *err)
{
	const struct ctx_diff_items_spec *spec = work->spec;
	struct ctx_diff_items *items = work->items;
	enum ctx_status status = CTX_OK;

	if (spec->subject == CTX_DIFF_LINES)
		return ctx_diff_lines_link(spec, items, err);
	if (spec->subject == CTX_DIFF_FUNCTIONS || spec->subject == CTX_DIFF_OBJECTS)
		status = take_matching(work, err);
	for (size_t i = 0; i < spec->n && status == CTX_OK; i++) {
		work->at = i;
		work->recording = &items->recordings[i];
		work->profile = spec->sources[i]->selection.profile;
		work->item_of = items->matching.item_of[i];
		status = link_recording(work, err);
	}
	return status;
}

enum ctx_status ctx_diff_items_make(const struct ctx_diff_items_spec *spec, struct ctx_diff_items *ret,
				    struct ctx_err *err)
{
	struct work work = {.spec = spec, .items = ret};
	enum ctx_status status = check(spec, err);

	*ret = (struct ctx_diff_items){0};
	if (status != CTX_OK)
		return status;
	ret->recordings = ctx_calloc(spec->n + 1, sizeof(*ret->recordings));
	ret->n_recordings = spec->n;
	status = ret->recordings != NULL ? match(&work, err) : ctx_err_nomem(err);
	if (status == CTX_OK)
		status = link_recordings(&work, err);
	if (status != CTX_OK)
		ctx_diff_items_deinit(ret);
	return status;
}
