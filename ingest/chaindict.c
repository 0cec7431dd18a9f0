#include "ingest/chaindict.h"

#include "base/mem.h"

#include <string.h>

void ctx_chaindict_deinit(struct ctx_chaindict *dict)
{
	ctx_chain_table_deinit(&dict->known);
	free(dict->addresses);
	free(dict->nodes);
	free(dict->path);
	free(dict->numbered);
	*dict = (struct ctx_chaindict){0};
}

/* The number of frames, from the root, that a new chain shares with the last new one. */
static size_t common_frames(const struct ctx_chaindict *dict, const struct ctx_chain *chain)
{
	size_t n = chain->n, max = n < dict->n_last ? n : dict->n_last, i = 0;

	while (i < max && dict->addresses[i] == chain->frames[n - 1 - i])
		i++;
	return i;
}

/* The locations of a chain into dict->path, from the root. */
static enum ctx_status locate(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope,
			      const struct ctx_chain *chain, struct ctx_err *err)
{
	size_t n = chain->n, kept = common_frames(dict, chain);
	enum ctx_status status = ctx_grow(&dict->addresses, &dict->addresses_cap, n, err);

	if (status == CTX_OK)
		status = ctx_grow(&dict->nodes, &dict->nodes_cap, n, err);
	if (status == CTX_OK)
		status = ctx_grow(&dict->path, &dict->path_cap, n, err);
	dict->n_last = kept;
	if (dict->n_nodes > kept)
		dict->n_nodes = kept;
	for (size_t i = kept; status == CTX_OK && i < n; i++) {
		dict->addresses[i] = chain->frames[n - 1 - i];
		status = ctx_stack_locate(scope, dict->addresses[i], &dict->path[i], err);
	}
	if (status == CTX_OK)
		dict->n_last = n;
	return status;
}

/* Interns a chain that is new for this process, and keeps its path for the next one. */
static enum ctx_status intern(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope,
			      const struct ctx_chain *chain, uint32_t *ret_raw, struct ctx_err *err)
{
	enum ctx_status status = locate(dict, scope, chain, err);
	size_t n = chain->n, from;
	uint32_t *place;

	if (status != CTX_OK)
		return status;
	if (n == 0) {
		dict->n_nodes = 0;
		*ret_raw = CTX_TRIE_ROOT;
		return CTX_OK;
	}
	/* Other processes run the same programs at other addresses: the same locations. */
	place = ctx_chain_table_place(&scope->forest->known, dict->path, n * sizeof(*dict->path));
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_CHAIN_NONE) {
		from = dict->n_nodes;
		status = ctx_stack_forest_add(
			scope->forest, from != 0 ? dict->nodes[from - 1] : CTX_TRIE_ROOT,
			(struct ctx_trie_keys){dict->path + from, n - from}, dict->nodes + from, err);
		if (status != CTX_OK)
			return status;
		dict->n_nodes = n;
		*place = dict->nodes[n - 1];
	}
	*ret_raw = *place;
	return CTX_OK;
}

/* Drops entries that may be stale. */
static void keep_up(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope)
{
	if (dict->generation == scope->process->generation &&
	    dict->kernel_generation == scope->kernel->generation && dict->epoch != 0)
		return;
	dict->epoch++;
	ctx_chain_table_clear(&dict->known);
	dict->n_last = 0;
	dict->n_nodes = 0;
	dict->generation = scope->process->generation;
	dict->kernel_generation = scope->kernel->generation;
}

enum ctx_status ctx_chaindict_resolve(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope,
				      const struct ctx_chain *chain, uint32_t *ret_raw, struct ctx_err *err)
{
	uint32_t *place;

	keep_up(dict, scope);
	place = ctx_chain_table_place(&dict->known, chain->frames, chain->n * sizeof(*chain->frames));
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_CHAIN_NONE) {
		enum ctx_status status = intern(dict, scope, chain, place, err);

		if (status != CTX_OK)
			return status;
	}
	*ret_raw = *place;
	return CTX_OK;
}

uint32_t ctx_chaindict_get(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope, uint32_t number)
{
	keep_up(dict, scope);
	if (number >= dict->n_numbered || dict->numbered[number].epoch != dict->epoch)
		return CTX_CHAIN_NONE;
	return dict->numbered[number].raw;
}

enum ctx_status ctx_chaindict_number(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope,
				     const struct ctx_chain *chain, uint32_t *ret_raw, struct ctx_err *err)
{
	size_t number = chain->number;
	enum ctx_status status = ctx_grow(&dict->numbered, &dict->numbered_cap, number + 1, err);

	if (status != CTX_OK)
		return status;
	while (dict->n_numbered <= number)
		dict->numbered[dict->n_numbered++] = (struct ctx_numbered_chain){0};
	keep_up(dict, scope);
	status = intern(dict, scope, chain, ret_raw, err);
	if (status == CTX_OK)
		dict->numbered[number] = (struct ctx_numbered_chain){.raw = *ret_raw, .epoch = dict->epoch};
	return status;
}
