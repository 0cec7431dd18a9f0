#include "store/store_impl.h"

#include "base/mem.h"

#include <string.h>

#define IN_MEMORY ":memory:" /* SQLite's name */

enum ctx_status ctx_store_create_in_memory(struct ctx_store **ret, struct ctx_err *err)
{
	struct ctx_store *store = ctx_calloc(1, sizeof(*store));
	enum ctx_status status;

	if (store == NULL)
		return ctx_err_nomem(err);
	store->lock_fd = -1;
	store->path = ctx_memdup0(IN_MEMORY, strlen(IN_MEMORY));
	status = store->path != NULL ? ctx_store_open_empty(store, IN_MEMORY, err) : ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	*ret = store;
	return CTX_OK;
}

/* What ctx_store_load and ctx_store_code read from a file. */
static void set_contents(struct ctx_store *store, const struct ctx_store_contents *contents)
{
	store->profile = *contents->profile;
	store->fingerprint = contents->fingerprint;
	store->raw_to_stack = (uint32_t *)(uintptr_t)contents->raw_to_stack;
	store->n_raw_stacks = contents->raw_stacks->n;
	store->n_locations = (uint32_t)contents->n_locations;
	store->n_sites = (uint32_t)contents->n_sites;
	store->code.loaded = true;
	store->code.code = (struct ctx_code){
		.raw_stacks = contents->raw_stacks,
		.raw_to_stack = contents->raw_to_stack,
		.locations = contents->locations,
		.n_locations = contents->n_locations,
		.sites = contents->sites,
		.n_sites = contents->n_sites,
		.files = contents->files,
		.n_files = contents->n_files,
	};
}

enum ctx_status ctx_store_lend(struct ctx_store *store, const struct ctx_store_contents *contents,
			       struct ctx_err *err)
{
	enum ctx_status status;

	if (store->temp_path != NULL || store->failed)
		return ctx_err_set(err, CTX_E_ARG, "%s: %s", store->path,
				   store->failed ? "not read after a failure" : "is a file");
	status = ctx_store_check_contents(contents, err);
	if (status != CTX_OK)
		return status;
	store->is_lent = true;
	store->leaf.store = store;
	set_contents(store, contents);
	status = ctx_store_end_writing(store, err);
	if (status == CTX_OK)
		status = ctx_store_harden(store, err);
	return status == CTX_OK ? ctx_store_load_trees(store, err) : status;
}
