#include "ingest/stackdict.h"

#include "base/mem.h"

#include <string.h>

enum ctx_status ctx_stack_forest_init(struct ctx_stack_forest *forest, struct ctx_resolver *resolver,
				      struct ctx_err *err)
{
	enum ctx_status status;

	*forest = (struct ctx_stack_forest){.resolver = resolver};
	status = ctx_trie_init(&forest->cct, err);
	if (status == CTX_OK)
		status = ctx_trie_init(&forest->raw, err);
	if (status == CTX_OK)
		status = ctx_grow(&forest->raw_to_stack, &forest->raw_to_stack_cap, 1, err);
	if (status != CTX_OK) {
		ctx_stack_forest_deinit(forest);
		return status;
	}
	forest->raw_to_stack[0] = CTX_TRIE_ROOT;
	return CTX_OK;
}

void ctx_stack_forest_deinit(struct ctx_stack_forest *forest)
{
	ctx_trie_deinit(&forest->cct);
	ctx_trie_deinit(&forest->raw);
	free(forest->raw_to_stack);
	free(forest->functions);
	free(forest->path);
	free(forest->ends);
	ctx_chain_table_deinit(&forest->known);
	*forest = (struct ctx_stack_forest){0};
}

void ctx_stackdict_deinit(struct ctx_stackdict *dict)
{
	free(dict->nodes);
	free(dict->path);
	*dict = (struct ctx_stackdict){0};
}

void ctx_stackdict_reset(struct ctx_stackdict *dict)
{
	dict->n = 0;
}

enum ctx_status ctx_stackdict_append(struct ctx_stackdict *dict, const struct ctx_event_stacks *stacks,
				     struct ctx_err *err)
{
	enum ctx_status status;

	if (stacks->first != dict->n + 1)
		return ctx_err_set(err, CTX_E_FORMAT, "stack %u follows stack %zu", stacks->first, dict->n);
	status = ctx_grow(&dict->nodes, &dict->cap, dict->n + stacks->n, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < stacks->n; i++) {
		uint32_t parent = stacks->parents[i];

		if (parent > dict->n)
			return ctx_err_set(err, CTX_E_FORMAT,
					   "stack %zu has the later stack %u as its parent", dict->n + 1,
					   parent);
		dict->nodes[dict->n++] =
			(struct ctx_source_node){.address = stacks->addresses[i], .parent = parent};
	}
	return CTX_OK;
}

enum ctx_status ctx_stack_locate(const struct ctx_stack_scope *scope, uint64_t frame, uint32_t *ret_location,
				 struct ctx_err *err)
{
	struct ctx_resolver *resolver = scope->forest->resolver;
	struct ctx_mapped map;

	if (frame >= CTX_KERNEL_START) /* includes markers */
		return ctx_resolver_is_pseudo(frame)
			       ? ctx_resolver_absolute(resolver, frame, ret_location, err)
			       : ctx_resolver_kernel(resolver, scope->kernel, frame, ret_location, err);
	if (ctx_frame_is_named(frame))
		return ctx_resolver_named(resolver, frame, ret_location, err);
	if (!ctx_addrspace_find(scope->process, frame, &map))
		return ctx_resolver_absolute(resolver, frame, ret_location, err);
	return ctx_resolver_in_object(resolver, map.object, map.file_offset + (frame - map.begin),
				      ret_location, err);
}

/* Puts the function that is inside the next location, `of`, into its functions. Returns how many they are then. */
static size_t put_inside(const struct ctx_stack_forest *forest, uint32_t inside, uint32_t *of, size_t n_of)
{
	uint32_t n = ctx_map64_get(forest->inside, inside);
	size_t at = n < n_of ? n : n_of;

	memmove(of + at + 1, of + at, (n_of - at) * sizeof(*of));
	of[at] = ctx_resolver_location_function(forest->resolver, inside);
	return n_of + 1;
}

static bool is_inside(const struct ctx_stack_forest *forest, uint32_t location)
{
	return forest->inside != NULL && ctx_map64_get(forest->inside, location) != CTX_MAP64_NONE;
}

/*
 * Writes the functions of new raw stacks, concatenated, to forest->functions, and the number up to
 * each raw stack to forest->ends. A part of a function called by the function itself is not a call. The
 * stub of a procedure linkage table is put in where it has left the stack (ctx_resolver_stub_between).
 */
static enum ctx_status expand(struct ctx_stack_forest *forest, uint32_t caller, struct ctx_trie_keys path,
			      struct ctx_err *err)
{
	size_t n_functions = 0;
	uint32_t from = forest->raw.key[forest->raw.parent[forest->raw.n - path.n]];
	enum ctx_status status = ctx_grow(&forest->ends, &forest->ends_cap, path.n, err);

	for (size_t i = 0; i < path.n && status == CTX_OK; from = path.keys[i++]) {
		bool is_part;
		size_t n_of = ctx_resolver_function_count(forest->resolver, path.keys[i], &is_part);
		uint32_t *of, stub;

		status = ctx_resolver_stub_between(forest->resolver, from, path.keys[i], &stub, err);
		if (status == CTX_OK)
			status = ctx_grow(&forest->functions, &forest->functions_cap, n_functions + 2 + n_of,
					  err);
		if (status != CTX_OK)
			return status;
		if (stub != CTX_NONE)
			forest->functions[n_functions++] = stub;
		of = &forest->functions[n_functions];
		ctx_resolver_functions(forest->resolver, path.keys[i], n_of, of);
		/* The first stub's time is that of the one that jumped to it. */
		if (stub != CTX_NONE && n_of == 1 && ctx_resolver_is_first_stub(forest->resolver, of[0]))
			n_of = 0;
		if (n_of != 0 && is_part && of[0] == caller)
			memmove(of, of + 1, --n_of * sizeof(*of));
		if (is_inside(forest, path.keys[i]))
			n_of = 0;
		else if (is_inside(forest, from))
			n_of = put_inside(forest, from, of, n_of);
		n_functions += n_of;
		if (n_functions != 0)
			caller = forest->functions[n_functions - 1];
		forest->ends[i] = n_functions;
	}
	return status;
}

enum ctx_status ctx_stack_forest_add(struct ctx_stack_forest *forest, uint32_t raw, struct ctx_trie_keys path,
				     uint32_t *nodes, struct ctx_err *err)
{
	uint32_t before = forest->raw.n, stack;
	enum ctx_status status = ctx_trie_path(&forest->raw, raw, path, nodes, err);
	size_t old = 0, n_new = forest->raw.n - before;

	if (status != CTX_OK || n_new == 0)
		return status;
	old = path.n - n_new; /* the new nodes are the consecutive end of the path */
	stack = forest->raw_to_stack[old != 0 ? nodes[old - 1] : raw];
	status = ctx_grow(&forest->raw_to_stack, &forest->raw_to_stack_cap, forest->raw.n, err);
	if (status == CTX_OK)
		status = expand(forest, forest->cct.key[stack],
				(struct ctx_trie_keys){path.keys + old, n_new}, err);
	if (status == CTX_OK)
		status = ctx_grow(&forest->path, &forest->path_cap, forest->ends[n_new - 1], err);
	if (status == CTX_OK)
		status = ctx_trie_path(&forest->cct, stack,
				       (struct ctx_trie_keys){forest->functions, forest->ends[n_new - 1]},
				       forest->path, err);
	for (size_t i = 0; i < n_new && status == CTX_OK; i++)
		forest->raw_to_stack[before + i] =
			forest->ends[i] != 0 ? forest->path[forest->ends[i] - 1] : stack;
	return status;
}

enum ctx_status ctx_stackdict_resolve(struct ctx_stackdict *dict, const struct ctx_stack_scope *scope,
				      uint32_t id, uint32_t *ret_raw, struct ctx_err *err)
{
	uint32_t generation = scope->process->generation + 1;
	uint32_t raw = CTX_TRIE_ROOT;
	size_t n = 0;

	if (id > dict->n)
		return ctx_err_set(err, CTX_E_FORMAT, "stack %u is not in the dictionary", id);
	while (id != 0 && dict->nodes[id - 1].generation != generation) {
		enum ctx_status status = ctx_grow(&dict->path, &dict->path_cap, n + 1, err);

		if (status != CTX_OK)
			return status;
		dict->path[n++] = id;
		id = dict->nodes[id - 1].parent;
	}
	if (id != 0)
		raw = dict->nodes[id - 1].raw;
	while (n > 0) {
		struct ctx_source_node *node = &dict->nodes[dict->path[--n] - 1];
		uint32_t location;
		enum ctx_status status = ctx_stack_locate(scope, node->address, &location, err);

		if (status == CTX_OK)
			status = ctx_stack_forest_add(scope->forest, raw,
						      (struct ctx_trie_keys){&location, 1}, &raw, err);
		if (status != CTX_OK)
			return status;
		node->raw = raw;
		node->generation = generation;
	}
	*ret_raw = raw;
	return CTX_OK;
}
