#include "fleet/fleet_stacks.h"

#include "base/cursor.h"
#include "fleet/fleet_text.h"

#include <stdlib.h>
#include <string.h>

static enum ctx_status unfit(struct ctx_err *err, const char *what)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the fleet's %s do not fit their hashes", what);
}

uint32_t ctx_fleet_profile_node(const struct ctx_fleet_profile *fleet, struct ctx_path_hash hash)
{
	uint32_t node = ctx_map64_get(&fleet->stack_of, hash.low);

	return node != CTX_MAP64_NONE && fleet->hashes[node].high == hash.high ? node : CTX_NONE;
}

/* ---- functions ---- */

static enum ctx_status find_object(struct ctx_fleet_profile *fleet, const char *path, uint32_t *ret,
				   struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	uint32_t *place, id = ctx_strtab_find(&fleet->texts, path, strlen(path));

	*ret = CTX_NONE;
	if (path[0] == '\0')
		return CTX_OK;
	place = ctx_map64_place(&fleet->object_of, id);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = profile->n_objects;
		if (ctx_grow(&profile->objects, &fleet->objects_cap, profile->n_objects + 1u, err) != CTX_OK)
			return CTX_E_NOMEM;
		profile->objects[profile->n_objects++] =
			(struct ctx_object_info){.path = path, .build_id = "", .symbols = ""};
	}
	*ret = *place;
	return CTX_OK;
}

static enum ctx_status take_function(struct ctx_fleet_profile *fleet, struct ctx_cursor *cursor,
				     struct ctx_err *err)
{
	struct ctx_profile *profile = &fleet->profile;
	uint64_t key = ctx_cursor_get_u64(cursor);
	enum ctx_status status = CTX_OK;
	struct ctx_function_info function = {.aliases = "", .parts = "", .object = CTX_NONE};
	const char *object;
	uint8_t kind, code_kind;
	uint32_t *place;

	function.name = ctx_fleet_text_keep(&fleet->texts, cursor, &status, err);
	function.linkage_name = ctx_fleet_text_keep(&fleet->texts, cursor, &status, err);
	object = ctx_fleet_text_keep(&fleet->texts, cursor, &status, err);
	if (status != CTX_OK)
		return status;
	kind = ctx_cursor_get_u8(cursor);
	function.inlined = ctx_cursor_get_u8(cursor) != 0;
	code_kind = ctx_cursor_get_u8(cursor);
	if (cursor->failed || kind > CTX_FUNCTION_ARTIFICIAL || code_kind >= CTX_CODE_N)
		return unfit(err, "functions");
	function.kind = (enum ctx_function_kind)kind;
	function.code_kind = (enum ctx_code_kind)code_kind;
	status = find_object(fleet, object, &function.object, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&fleet->function_of, key);
	if (place == NULL ||
	    ctx_grow(&profile->functions, &fleet->functions_cap, profile->n_functions + 1u, err) != CTX_OK)
		return ctx_err_nomem(err);
	*place = profile->n_functions;
	profile->functions[profile->n_functions++] = function;
	return CTX_OK;
}

static enum ctx_status ask_functions(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				     const struct ctx_buf *keys, struct ctx_err *err)
{
	const struct ctx_fleet_request request = {
		.sql = "SELECT function, any(name), any(linkage_name), any(object), any(kind), any(inlined), "
		       "any(code_kind) FROM ctx_function WHERE function GLOBAL IN (SELECT function FROM "
		       "wanted) GROUP BY "
		       "function ORDER BY function",
		.table = {"wanted", "function UInt64", {keys->bytes, keys->n}}};
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status = ctx_buf_check(keys, err);

	if (status != CTX_OK || keys->n == 0)
		return status;
	status = server->ask(server->context, &request, &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0)
		status = take_function(fleet, &cursor, err);
	return status;
}

/* ---- paths ---- */

/* A row of ctx_stack: its hash, and the bytes of its path. */
static bool take_stack(struct ctx_cursor *cursor, struct ctx_path_hash *ret_hash, struct ctx_bytes *ret)
{
	*ret_hash = ctx_path_take(cursor);
	ret->n = ctx_cursor_get_varint32(cursor);
	ret->at = ret->n <= ctx_cursor_left(cursor) / 8 ? ctx_cursor_get_bytes(cursor, ret->n * 8) : NULL;
	return ret->at != NULL && !cursor->failed;
}

/* The keys of all functions of the paths that are not known. */
static enum ctx_status collect_functions(const struct ctx_fleet_profile *fleet, const struct ctx_buf *stacks,
					 struct ctx_buf *keys, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(stacks->bytes, stacks->n);
	struct ctx_map64 seen = {0};
	struct ctx_path_hash hash;
	struct ctx_bytes path;
	enum ctx_status status = CTX_OK;

	while (ctx_cursor_left(&cursor) != 0 && status == CTX_OK) {
		struct ctx_cursor functions;

		if (!take_stack(&cursor, &hash, &path)) {
			status = unfit(err, "call stacks");
			break;
		}
		functions = ctx_cursor_make(path.at, path.n * 8);
		while (ctx_cursor_left(&functions) != 0 && status == CTX_OK) {
			uint64_t key = ctx_cursor_get_u64(&functions);
			uint32_t *place;

			if (ctx_map64_get(&fleet->function_of, key) != CTX_MAP64_NONE)
				continue;
			place = ctx_map64_place(&seen, key);
			if (place == NULL)
				status = ctx_err_nomem(err);
			else if (*place == CTX_MAP64_NONE)
				ctx_buf_put_u64(keys, key);
			if (place != NULL)
				*place = 1;
		}
	}
	ctx_map64_deinit(&seen);
	return status;
}

struct room { /* for one path, and what became of it */
	uint32_t *functions, *nodes;
	size_t functions_cap, nodes_cap;
	uint32_t node;
	struct ctx_path_hash hash;
};

static enum ctx_status make_node(struct ctx_fleet_profile *fleet, const struct ctx_bytes *path,
				 struct room *room, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(path->at, path->n * 8);
	struct ctx_path_hash hash = {0};
	enum ctx_status status = ctx_grow(&room->functions, &room->functions_cap, path->n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&room->nodes, &room->nodes_cap, path->n + 1, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < path->n; i++) {
		uint64_t key = ctx_cursor_get_u64(&cursor);

		hash = ctx_path_extend(hash, key);
		room->functions[i] = ctx_map64_get(&fleet->function_of, key);
		if (room->functions[i] == CTX_MAP64_NONE)
			return ctx_err_set(err, CTX_E_FORMAT,
					   "the fleet has call stacks of functions that it has not");
	}
	if (path->n != 0)
		status = ctx_trie_path(&fleet->profile.cct, CTX_TRIE_ROOT,
				       (struct ctx_trie_keys){room->functions, path->n}, room->nodes, err);
	room->node = path->n != 0 ? room->nodes[path->n - 1] : CTX_TRIE_ROOT;
	room->hash = hash;
	return status;
}

static enum ctx_status make_nodes(struct ctx_fleet_profile *fleet, const struct ctx_buf *stacks,
				  struct room *room, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(stacks->bytes, stacks->n);
	enum ctx_status status = CTX_OK;

	while (ctx_cursor_left(&cursor) != 0 && status == CTX_OK) {
		struct ctx_path_hash hash;
		struct ctx_bytes path;
		uint32_t *place;
		size_t had = fleet->hashes_cap;

		if (!take_stack(&cursor, &hash, &path))
			return unfit(err, "call stacks");
		status = make_node(fleet, &path, room, err);
		if (status != CTX_OK)
			return status;
		if (room->hash.low != hash.low || room->hash.high != hash.high)
			return unfit(err, "call stacks");
		status = ctx_grow(&fleet->hashes, &fleet->hashes_cap, fleet->profile.cct.n, err);
		if (status != CTX_OK)
			return status;
		if (fleet->hashes_cap > had)
			memset(fleet->hashes + had, 0, (fleet->hashes_cap - had) * sizeof(*fleet->hashes));
		place = ctx_map64_place(&fleet->stack_of, hash.low);
		if (place == NULL)
			return ctx_err_nomem(err);
		*place = room->node;
		fleet->hashes[room->node] = hash;
	}
	return status;
}

static enum ctx_status ask_stacks(struct ctx_fleet_profile *fleet, const struct ctx_fleet_server *server,
				  const struct ctx_buf *wanted, struct ctx_err *err)
{
	const struct ctx_fleet_request request = {
		.sql = "SELECT stack, any(path) FROM ctx_stack WHERE stack GLOBAL IN (SELECT stack FROM "
		       "wanted) GROUP BY "
		       "stack ORDER BY stack",
		.table = {"wanted", "stack FixedString(16)", {wanted->bytes, wanted->n}}};
	struct ctx_buf answer CTX_AUTO_BUF = {0}, keys CTX_AUTO_BUF = {0};
	struct room room = {0};
	enum ctx_status status = ctx_buf_check(wanted, err);

	if (status != CTX_OK || wanted->n == 0)
		return status;
	status = server->ask(server->context, &request, &answer, err);
	if (status == CTX_OK)
		status = collect_functions(fleet, &answer, &keys, err);
	if (status == CTX_OK)
		status = ask_functions(fleet, server, &keys, err);
	if (status == CTX_OK)
		status = make_nodes(fleet, &answer, &room, err);
	free(room.functions);
	free(room.nodes);
	return status;
}

enum ctx_status ctx_fleet_profile_learn(struct ctx_fleet_profile *fleet,
					const struct ctx_fleet_server *server, struct ctx_bytes hashes,
					struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(hashes.at, hashes.n);
	struct ctx_buf wanted CTX_AUTO_BUF = {0};
	enum ctx_status status;

	while (ctx_cursor_left(&cursor) >= CTX_PATH_HASH_BYTES) {
		struct ctx_path_hash hash = ctx_path_take(&cursor);

		if (ctx_fleet_profile_node(fleet, hash) != CTX_NONE)
			continue;
		ctx_buf_put_u64(&wanted, hash.low);
		ctx_buf_put_u64(&wanted, hash.high);
	}
	status = ask_stacks(fleet, server, &wanted, err);
	cursor = ctx_cursor_make(hashes.at, hashes.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) >= CTX_PATH_HASH_BYTES) {
		if (ctx_fleet_profile_node(fleet, ctx_path_take(&cursor)) == CTX_NONE)
			status = ctx_err_set(err, CTX_E_FORMAT,
					     "the fleet has cells of call stacks that it has not");
	}
	return status;
}
