#include "formats/export/pprof_stacks.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>

struct adding {
	struct ctx_pprof_stacks *stacks;
	const struct ctx_profile *profile;
	struct ctx_map64 by_raw, by_stack; /* owned; thread << 32 | raw stack or stack: place in the items */
};

/* The CCT's node above the functions of a location; CTX_NONE: they are others. */
static uint32_t above(const struct adding *adding, const struct ctx_location *location, uint32_t node)
{
	const struct ctx_trie *cct = &adding->profile->cct;
	const struct ctx_code *code = adding->stacks->code.code;
	uint32_t site = location->site;

	if (site == CTX_NONE)
		return node != CTX_TRIE_ROOT && cct->key[node] == location->function ? cct->parent[node]
										     : CTX_NONE;
	while (site != CTX_NONE) {
		if (site >= code->n_sites || node == CTX_TRIE_ROOT ||
		    cct->key[node] != code->sites[site].function)
			return CTX_NONE;
		node = cct->parent[node];
		site = code->sites[site].caller;
	}
	return node;
}

/* Whether the functions of a raw stack's locations are those of the stack, one for one. */
static bool agrees(const struct adding *adding, uint32_t raw, uint32_t stack)
{
	const struct ctx_code *code = adding->stacks->code.code;
	const struct ctx_trie *raw_stacks = code->raw_stacks;

	for (; raw != CTX_TRIE_ROOT; raw = raw_stacks->parent[raw]) {
		uint32_t location = raw_stacks->key[raw];

		if (location >= code->n_locations)
			return false;
		if (code->locations[location].joins)
			continue;
		stack = above(adding, &code->locations[location], stack);
		if (stack == CTX_NONE)
			return false;
	}
	return stack == CTX_TRIE_ROOT;
}

static enum ctx_status add_item(struct ctx_pprof_stacks *stacks, const struct ctx_pprof_stack *item,
				struct ctx_err *err)
{
	if (stacks->n >= CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "too many stacks");
	if (ctx_grow(&stacks->items, &stacks->cap, stacks->n + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	stacks->items[stacks->n++] = *item;
	return CTX_OK;
}

/* The item of a thread's stack, by its raw stack or by its node alone. */
static enum ctx_status find_item(struct adding *adding, const struct ctx_sample *sample, bool by_raw,
				 uint32_t *ret, struct ctx_err *err)
{
	struct ctx_pprof_stacks *stacks = adding->stacks;
	const struct ctx_pprof_stack item = {.thread = sample->thread, .stack = sample->stack};
	uint32_t id = by_raw ? sample->raw_stack : sample->stack;
	uint32_t *place = ctx_map64_place(by_raw ? &adding->by_raw : &adding->by_stack,
					  (uint64_t)sample->thread << 32 | id);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)stacks->n;
		status = add_item(stacks, &item, err);
		if (status != CTX_OK)
			return status;
		if (by_raw && agrees(adding, sample->raw_stack, sample->stack))
			stacks->items[*place].raw = sample->raw_stack;
	}
	*ret = *place;
	return CTX_OK;
}

static enum ctx_status add_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct adding *adding = context;
	struct ctx_pprof_stacks *stacks = adding->stacks;
	struct ctx_pprof_stack *item;
	uint32_t place;
	enum ctx_status status;

	if (sample->thread >= adding->profile->n_threads ||
	    sample->raw_stack >= stacks->code.code->raw_stacks->n || sample->stack >= adding->profile->cct.n)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample of something that is not in the database");
	status = find_item(adding, sample, sample->raw_stack != CTX_TRIE_ROOT, &place, err);
	/* A raw stack that is another call stack than it was before. */
	if (status == CTX_OK && stacks->items[place].stack != sample->stack)
		status = find_item(adding, sample, false, &place, err);
	if (status != CTX_OK)
		return status;
	item = &stacks->items[place];
	item->samples++;
	item->weight += sample->weight;
	return CTX_OK;
}

static int by_thread(const void *a, const void *b)
{
	const struct ctx_pprof_stack *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->raw != right->raw)
		return left->raw < right->raw ? -1 : 1;
	return (left->stack > right->stack) - (left->stack < right->stack);
}

/* Several raw stacks of which none is used may be one stack: they become one item. */
static void merge_equal(struct ctx_pprof_stacks *stacks)
{
	size_t n = 0;

	if (stacks->n != 0)
		qsort(stacks->items, stacks->n, sizeof(*stacks->items), by_thread);
	for (size_t i = 0; i < stacks->n; i++) {
		if (n != 0 && by_thread(&stacks->items[n - 1], &stacks->items[i]) == 0) {
			stacks->items[n - 1].samples += stacks->items[i].samples;
			stacks->items[n - 1].weight += stacks->items[i].weight;
		} else {
			stacks->items[n++] = stacks->items[i];
		}
	}
	stacks->n = n;
}

static enum ctx_status read_samples(struct ctx_pprof_stacks *stacks, const struct ctx_export_input *input,
				    struct ctx_err *err)
{
	struct adding adding = {.stacks = stacks, .profile = input->profile};
	enum ctx_status status = input->source->samples(
		input->source, &(struct ctx_samples_query){.thread = CTX_NONE}, add_sample, &adding, err);

	ctx_map64_deinit(&adding.by_raw);
	ctx_map64_deinit(&adding.by_stack);
	if (status == CTX_OK)
		merge_equal(stacks);
	return status;
}

static enum ctx_status read_parts(struct ctx_pprof_stacks *stacks, const struct ctx_export_input *input,
				  struct ctx_err *err)
{
	struct ctx_report_parts parts = {0};
	enum ctx_status status = input->source->parts(
		input->source, &(struct ctx_parts_query){.per_thread = true, .calls = true}, &parts, err);

	for (size_t i = 0; i < parts.n && status == CTX_OK; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t k = 0; k < histogram->n && status == CTX_OK; k++) {
			const struct ctx_hist_entry *entry = &histogram->entries[k];

			if (entry->samples != 0)
				status = add_item(stacks,
						  &(struct ctx_pprof_stack){.thread = parts.parts[i].thread,
									    .stack = entry->stack,
									    .samples = entry->samples,
									    .weight = entry->weight},
						  err);
		}
	}
	return status;
}

enum ctx_status ctx_pprof_stacks_init(struct ctx_pprof_stacks *stacks, const struct ctx_export_input *input,
				      struct ctx_err *err)
{
	struct ctx_report_source *source = input->source;
	enum ctx_status status = CTX_OK;

	*stacks = (struct ctx_pprof_stacks){0};
	if (!input->is_difference && !input->profile->losses.sample_blocks && source->samples != NULL &&
	    source->code != NULL)
		status = source->code(source, &stacks->code, err);
	if (status != CTX_OK)
		return status;
	return stacks->code.code != NULL ? read_samples(stacks, input, err) : read_parts(stacks, input, err);
}

void ctx_pprof_stacks_deinit(struct ctx_pprof_stacks *stacks)
{
	free(stacks->items);
	*stacks = (struct ctx_pprof_stacks){0};
}
