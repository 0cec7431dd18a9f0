/*
 * stack(id, parent, function, depth), raw_stack(id, parent, location, stack), location(id, object,
 * function, address, site, file, line, joins), site(id, function, file, line, caller): long arrays
 * as rows. Arrays not loaded by opening are loaded at the first use, and kept.
 */
#include "store/vtab.h"

#include "base/mem.h"

enum kind { KIND_STACK, KIND_RAW_STACK, KIND_LOCATION, KIND_SITE };

struct cursor {
	struct vtab_cursor cursor;
	int64_t end;
};

static const struct vtab_wish by_id[] = {{0, {SQLITE_INDEX_CONSTRAINT_EQ}}};

static int64_t count(const struct ctx_store *store, int kind)
{
	switch (kind) {
	case KIND_STACK:
		return store->profile.cct.n;
	case KIND_RAW_STACK:
		return store->n_raw_stacks;
	case KIND_LOCATION:
		return store->n_locations;
	default:
		return store->n_sites;
	}
}

static enum ctx_status next(struct vtab_cursor *base, struct ctx_err *err)
{
	(void)err;
	return base->row < ((struct cursor *)base)->end ? CTX_OK : CTX_END;
}

static enum ctx_status first(struct vtab_cursor *base, sqlite3_value *const *values, struct ctx_err *err)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct ctx_code *code;
	enum ctx_status status = CTX_OK;

	cursor->end = count(base->store, base->table->kind);
	if (base->table->kind != KIND_STACK)
		status = ctx_store_code(base->store, &code, err);
	if (status != CTX_OK)
		return status;
	if (values[0] != NULL && sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
		int64_t id = sqlite3_value_int64(values[0]);

		base->row = id >= 0 && id < cursor->end ? id : cursor->end;
		cursor->end = id >= 0 && id < cursor->end ? id + 1 : cursor->end;
	}
	return next(base, err);
}

static void stack_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_trie *cct = &store->profile.cct;

	if (which == 1)
		ctx_result_id(context, i == 0 ? CTX_NONE : cct->parent[i]);
	else
		ctx_result_id(context, which == 2 ? cct->key[i] : cct->depth[i]);
}

static void raw_stack_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_trie *raw = &store->code.raw_stacks;

	if (which == 1)
		ctx_result_id(context, i == 0 ? CTX_NONE : raw->parent[i]);
	else
		ctx_result_id(context, which == 2 ? raw->key[i] : store->raw_to_stack[i]);
}

static void result_line(sqlite3_context *context, uint32_t line)
{
	ctx_result_id(context, line != 0 ? line : CTX_NONE);
}

static void location_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_location *location = &store->code.locations[i];
	const struct ctx_site *site = location->site != CTX_NONE ? &store->code.sites[location->site] : NULL;

	if (which == 3)
		sqlite3_result_int64(context, (int64_t)location->address);
	else if (which == 5)
		ctx_result_id(context, site != NULL ? site->file : CTX_NONE);
	else if (which == 6)
		result_line(context, site != NULL ? site->line : 0);
	else if (which == 7)
		sqlite3_result_int64(context, location->joins);
	else
		ctx_result_id(context, which == 1   ? location->object
				       : which == 2 ? location->function
						    : location->site);
}

static void site_column(const struct ctx_store *store, sqlite3_context *context, int64_t i, int which)
{
	const struct ctx_site *site = &store->code.sites[i];

	if (which == 3)
		result_line(context, site->line);
	else
		ctx_result_id(context, which == 1 ? site->function : which == 2 ? site->file : site->caller);
}

static void column(const struct vtab_cursor *cursor, sqlite3_context *context, int which)
{
	const struct ctx_store *store = cursor->store;
	int64_t i = cursor->row;

	if (which == 0)
		sqlite3_result_int64(context, i);
	else if (cursor->table->kind == KIND_STACK)
		stack_column(store, context, i, which);
	else if (cursor->table->kind == KIND_RAW_STACK)
		raw_stack_column(store, context, i, which);
	else if (cursor->table->kind == KIND_LOCATION)
		location_column(store, context, i, which);
	else
		site_column(store, context, i, which);
}

#define TABLE(kind_of, name_of, declares)                                                                    \
	{                                                                                                    \
		.name = (name_of), .declaration = (declares), .wishes = by_id,                               \
		.n_wishes = CTX_COUNT_OF(by_id), .is_by_id = true, .kind = (kind_of),                        \
		.cursor_bytes = sizeof(struct cursor), .first = first, .next = next, .column = column        \
	}

const struct vtab_table ctx_vtab_stack =
	TABLE(KIND_STACK, "stack",
	      "CREATE TABLE stack(id INTEGER, parent INTEGER, function INTEGER, depth INTEGER)");
const struct vtab_table ctx_vtab_raw_stack =
	TABLE(KIND_RAW_STACK, "raw_stack",
	      "CREATE TABLE raw_stack(id INTEGER, parent INTEGER, location INTEGER, stack INTEGER)");
const struct vtab_table ctx_vtab_location =
	TABLE(KIND_LOCATION, "location",
	      "CREATE TABLE location(id INTEGER, object INTEGER, function INTEGER, address INTEGER, "
	      "site INTEGER, file INTEGER, line INTEGER, joins INTEGER)");
const struct vtab_table ctx_vtab_site =
	TABLE(KIND_SITE, "site",
	      "CREATE TABLE site(id INTEGER, function INTEGER, file INTEGER, line INTEGER, caller INTEGER)");
