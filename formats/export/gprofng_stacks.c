#include "formats/export/gprofng_stacks.h"

#include "base/mem.h"
#include "formats/gprofng/gp_map.h"
#include "model/event_source.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_AT ((uint64_t)0x1000) /* one page, and CTX_GP_TRUNCATIONS has one page */
#define MARK_STEP 16u
#define MAX_NODES ((uint64_t)UINT32_MAX / 4)

/* Frames */

uint32_t ctx_gpx_parent(const struct ctx_gpx_stacks *stacks, uint32_t node)
{
	uint32_t parent;

	if (node < stacks->n_raw)
		return stacks->code->raw_stacks->parent[node];
	parent = stacks->input->profile->cct.parent[node - stacks->n_raw];
	return parent != 0 ? stacks->n_raw + parent : 0;
}

uint32_t ctx_gpx_depth(const struct ctx_gpx_stacks *stacks, uint32_t node)
{
	if (node < stacks->n_raw)
		return stacks->code->raw_stacks->depth[node];
	return stacks->input->profile->cct.depth[node - stacks->n_raw];
}

uint32_t ctx_gpx_place(const struct ctx_gpx_stacks *stacks, uint32_t node)
{
	if (node < stacks->n_raw)
		return stacks->code->raw_stacks->key[node];
	return stacks->n_locations + stacks->input->profile->cct.key[node - stacks->n_raw];
}

/* The function that was not inlined: the last one of a chain of inlined calls. */
static uint32_t real_function(const struct ctx_code *code, const struct ctx_location *location)
{
	uint32_t site = location->site, function = location->function;

	while (site != CTX_NONE && site < code->n_sites) {
		function = code->sites[site].function;
		site = code->sites[site].caller;
	}
	return function;
}

/* The first page of an object is unused: 0 is not an address. */
static struct ctx_gpx_frame mark_of(const struct ctx_profile *profile, uint32_t function)
{
	const struct ctx_function_info *info = &profile->functions[function];
	struct ctx_gpx_frame frame = {.kind = CTX_GPX_FRAME_CODE,
				      .object = profile->n_objects + CTX_GPX_MARKS,
				      .function = function,
				      .address = MARKS_AT + (uint64_t)function * MARK_STEP};
	const char *text = info->name + strlen("<Truncated-stack");

	if (info->kind != CTX_FUNCTION_TRUNCATED || strncmp(info->name, "<Truncated-stack", 16) != 0)
		return frame;
	if (text[0] == '>')
		frame.kind = CTX_GPX_FRAME_UNWIND;
	for (unsigned reason = CTX_TRUNCATED_UNKNOWN; reason < CTX_TRUNCATED_N; reason++) {
		const char *words = ctx_truncation_text((enum ctx_truncation)reason);

		if (strncmp(text, ": ", 2) != 0 || strncmp(text + 2, words, strlen(words)) != 0 ||
		    strcmp(text + 2 + strlen(words), ">") != 0)
			continue;
		if (reason == CTX_TRUNCATED_DEPTH)
			frame.kind = CTX_GPX_FRAME_DEPTH;
		frame.object = profile->n_objects + CTX_GPX_TRUNCATIONS;
		frame.address = MARKS_AT + reason * CTX_GP_TRUNCATION_STEP;
	}
	return frame;
}

static struct ctx_gpx_frame frame_of(const struct ctx_profile *profile, uint32_t function, uint32_t object,
				     uint64_t address)
{
	struct ctx_gpx_frame frame = {CTX_GPX_FRAME_CODE, object, function, address};

	if (object < profile->n_objects)
		return frame;
	if (function < profile->n_functions && profile->functions[function].kind != CTX_FUNCTION_UNKNOWN)
		return mark_of(profile, function);
	frame.kind = CTX_GPX_FRAME_ABSOLUTE;
	return frame;
}

struct ctx_gpx_frame ctx_gpx_frame(const struct ctx_gpx_stacks *stacks, uint32_t place)
{
	const struct ctx_profile *profile = stacks->input->profile;
	const struct ctx_code *code = stacks->code;
	struct ctx_gpx_frame none = {0};

	if (place < stacks->n_locations) {
		const struct ctx_location *location = &code->locations[place];

		if (location->joins)
			return none;
		return frame_of(profile, real_function(code, location), location->object, location->address);
	}
	if (place - stacks->n_locations < profile->n_functions) {
		uint32_t function = place - stacks->n_locations;
		const struct ctx_function_info *info = &profile->functions[function];

		return info->inlined ? none : frame_of(profile, function, info->object, info->offset);
	}
	return none;
}

/* Samples */

struct reading {
	struct ctx_gpx_stacks *stacks;
	bool *used_nodes; /* owned */
};

static uint64_t key_of(uint32_t process, uint32_t node)
{
	return (uint64_t)process << 32 | node;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static enum ctx_status note_pair(struct ctx_gpx_stacks *stacks, uint32_t process, uint32_t node,
				 struct ctx_err *err)
{
	uint32_t *at = ctx_map64_place(&stacks->pair_of, key_of(process, node));

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at != CTX_MAP64_NONE)
		return CTX_OK;
	*at = 0; /* numbers are assigned when all are known */
	if (ctx_grow(&stacks->pairs, &stacks->pairs_cap, stacks->n_pairs + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	stacks->pairs[stacks->n_pairs++] = (struct ctx_gpx_pair){.process = process, .node = node};
	stacks->uses[process].n_pairs++;
	return CTX_OK;
}

static enum ctx_status note_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct reading *reading = context;
	struct ctx_gpx_stacks *stacks = reading->stacks;
	const struct ctx_profile *profile = stacks->input->profile;
	struct ctx_gpx_use *use;
	uint32_t process, node;

	if (sample->thread >= profile->n_threads || sample->raw_stack >= stacks->n_raw ||
	    sample->stack >= profile->cct.n)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample of something that is not in the database");
	process = profile->threads[sample->thread].process;
	if (process >= profile->n_processes)
		return ctx_err_set(err, CTX_E_FORMAT, "a thread of no process");
	node = ctx_gpx_node(stacks, sample);
	use = &stacks->uses[process];
	if (use->samples++ == 0 || sample->time_ns < use->first_ns)
		use->first_ns = sample->time_ns;
	if (sample->time_ns > use->last_ns)
		use->last_ns = sample->time_ns;
	stacks->samples++;
	if (sample->weight > stacks->heaviest)
		stacks->heaviest = sample->weight;
	if (stacks->divisor_ns != 1)
		stacks->divisor_ns = common_divisor(stacks->divisor_ns, sample->weight);
	if (node == 0)
		return CTX_OK;
	reading->used_nodes[node] = true;
	return note_pair(stacks, process, node, err);
}

static int by_process(const void *a, const void *b)
{
	const struct ctx_gpx_pair *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static enum ctx_status number_pairs(struct ctx_gpx_stacks *stacks, struct ctx_err *err)
{
	size_t at = 0;

	if (stacks->n_pairs != 0)
		qsort(stacks->pairs, stacks->n_pairs, sizeof(*stacks->pairs), by_process);
	for (size_t i = 0; i < stacks->n_pairs; i++) {
		uint32_t *place = ctx_map64_place(&stacks->pair_of,
						  key_of(stacks->pairs[i].process, stacks->pairs[i].node));

		if (place == NULL)
			return ctx_err_nomem(err);
		*place = (uint32_t)i;
	}
	for (uint32_t i = 0; i < stacks->input->profile->n_processes; i++) {
		stacks->uses[i].first_pair = at;
		at += stacks->uses[i].n_pairs;
	}
	return CTX_OK;
}

/* Marks the frames of used stacks. Parents have smaller numbers, so one sweep is enough. */
static void mark_places(struct ctx_gpx_stacks *stacks, bool *used_nodes)
{
	for (uint32_t node = stacks->n_nodes - 1; node > 0; node--) {
		uint32_t parent, place;

		if (!used_nodes[node] || node == stacks->n_raw)
			continue;
		parent = ctx_gpx_parent(stacks, node);
		place = ctx_gpx_place(stacks, node);
		used_nodes[parent] = true;
		if (place < stacks->n_places)
			stacks->used[place] = true;
	}
}

static enum ctx_status read_samples(struct ctx_gpx_stacks *stacks, struct ctx_err *err)
{
	const struct ctx_export_input *input = stacks->input;
	bool *used_nodes CTX_AUTO_FREE = ctx_calloc(stacks->n_nodes, sizeof(*used_nodes));
	struct reading reading = {.stacks = stacks, .used_nodes = used_nodes};
	enum ctx_status status;

	if (used_nodes == NULL)
		return ctx_err_nomem(err);
	status = input->source->samples(input->source, &(struct ctx_samples_query){.thread = CTX_NONE},
					note_sample, &reading, err);
	if (status == CTX_OK)
		status = number_pairs(stacks, err);
	if (status == CTX_OK)
		mark_places(stacks, used_nodes);
	return status;
}

enum ctx_status ctx_gpx_stacks_init(struct ctx_gpx_stacks *stacks, const struct ctx_export_input *input,
				    struct ctx_err *err)
{
	const struct ctx_profile *profile = input->profile;
	const struct ctx_code *code;
	struct ctx_report_code pulled;
	enum ctx_status status = input->source->code(input->source, &pulled, err);

	*stacks = (struct ctx_gpx_stacks){.input = input};
	if (status != CTX_OK)
		return status;
	stacks->code = code = pulled.code;
	if ((uint64_t)code->raw_stacks->n + profile->cct.n > MAX_NODES ||
	    (uint64_t)code->n_locations + profile->n_functions > MAX_NODES)
		return ctx_err_set(err, CTX_E_LIMIT, "too many stacks");
	stacks->n_raw = code->raw_stacks->n;
	stacks->n_nodes = code->raw_stacks->n + profile->cct.n;
	stacks->n_locations = (uint32_t)code->n_locations;
	stacks->n_places = stacks->n_locations + profile->n_functions;
	stacks->used = ctx_calloc(stacks->n_places, sizeof(*stacks->used));
	stacks->uses = ctx_calloc(profile->n_processes, sizeof(*stacks->uses));
	if (stacks->used == NULL || stacks->uses == NULL)
		return ctx_err_nomem(err);
	return read_samples(stacks, err);
}

void ctx_gpx_stacks_deinit(struct ctx_gpx_stacks *stacks)
{
	free(stacks->used);
	free(stacks->pairs);
	free(stacks->uses);
	ctx_map64_deinit(&stacks->pair_of);
	*stacks = (struct ctx_gpx_stacks){0};
}

struct ctx_gpx_pair *ctx_gpx_pair(const struct ctx_gpx_stacks *stacks, uint32_t process, uint32_t node)
{
	uint32_t at = ctx_map64_get(&stacks->pair_of, key_of(process, node));

	return at != CTX_MAP64_NONE ? &stacks->pairs[at] : NULL;
}
