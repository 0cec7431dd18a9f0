#include "store/schema.h"
#include "store/store_header.h"
#include "store/store_impl.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ctx_store_is_database(const char *path)
{
	struct ctx_store_header header;

	return ctx_store_header_read(path, &header, NULL) == CTX_OK &&
	       header.application_id == CTX_SCHEMA_APPLICATION_ID;
}

/*
 * The path as an escaped URI. "immutable": a database is replaced by renaming, never changed in
 * place, so SQLite needs no locks, looks for no files beside it, and read-only media are not a
 * special case.
 */
static char *make_uri(const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char tail[] = "?immutable=1";
	char *uri = ctx_calloc(strlen(path) * 3 + sizeof("file://./") + sizeof(tail), 1);
	char *out;

	if (uri == NULL)
		return NULL;
	out = stpcpy(uri, path[0] == '/' ? "file://" : "file:./");
	for (const unsigned char *at = (const unsigned char *)path; *at != '\0'; at++) {
		if (*at > ' ' && *at < 0x7f && strchr("%?#&=", *at) == NULL) {
			*out++ = (char)*at;
		} else {
			*out++ = '%';
			*out++ = digits[*at >> 4];
			*out++ = digits[*at & 15];
		}
	}
	memcpy(out, tail, sizeof(tail));
	return uri;
}

static int pages_read(const struct ctx_store *store)
{
	int now = 0, peak = 0;

	sqlite3_db_status(store->db, SQLITE_DBSTATUS_CACHE_MISS, &now, &peak, 0);
	return now;
}

enum ctx_status ctx_store_harden(struct ctx_store *store, struct ctx_err *err)
{
	ctx_store_distrust(store->db);
	return ctx_statement_exec(
		store->db, store->path,
		"PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;"
		"PRAGMA cache_size = -16384; PRAGMA mmap_size = 0",
		err);
}

static enum ctx_status open_file(struct ctx_store *store, struct ctx_err *err)
{
	char *uri CTX_AUTO_FREE = make_uri(store->path);
	int rc;

	if (uri == NULL)
		return ctx_err_nomem(err);
	rc = sqlite3_open_v2(
		uri, &store->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	return ctx_store_begin_reading(store, err);
}

enum ctx_status ctx_store_begin_reading(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status = ctx_store_harden(store, err);

	if (status == CTX_OK)
		status = ctx_schema_check(store->db, store->path, err);
	if (status == CTX_OK)
		status = ctx_store_load(store, err);
	if (status == CTX_OK)
		store->pages_at_open = pages_read(store);
	return status;
}

enum ctx_status ctx_store_new(const char *name, uint64_t size_bytes, struct ctx_store **ret,
			      struct ctx_err *err)
{
	struct ctx_store *store = ctx_calloc(1, sizeof(*store));

	if (store == NULL)
		return ctx_err_nomem(err);
	store->lock_fd = -1;
	store->max_entries = ((uint64_t)1 << 22) + size_bytes * 8;
	store->leaf.store = store;
	store->path = ctx_memdup0(name, strlen(name));
	if (store->path == NULL) {
		free(store);
		return ctx_err_nomem(err);
	}
	*ret = store;
	return CTX_OK;
}

enum ctx_status ctx_store_open(const char *path, struct ctx_store **ret, struct ctx_err *err)
{
	struct ctx_store_header header;
	struct ctx_store *store;
	enum ctx_status status = ctx_store_header_read(path, &header, err);

	if (status == CTX_OK)
		status = ctx_store_header_check(path, &header, err);
	if (status == CTX_OK)
		status = ctx_store_new(path, header.size_bytes, &store, err);
	if (status != CTX_OK)
		return status;
	status = open_file(store, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	*ret = store;
	return CTX_OK;
}

void ctx_store_close(struct ctx_store *store)
{
	if (store == NULL)
		return;
	for (int i = 0; i < N_PUT; i++)
		sqlite3_finalize(store->put[i]);
	sqlite3_finalize(store->get_node);
	sqlite3_finalize(store->get_list);
	ctx_leaf_reader_deinit(&store->leaf);
	ctx_code_state_deinit(&store->code);
	sqlite3_close_v2(store->db);
	/*
	 * Removed while the lock is still held: otherwise another process could take it for
	 * abandoned and start writing to it.
	 */
	if (store->temp_path != NULL && store->lock_fd >= 0)
		unlink(store->temp_path);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	ctx_block_codec_deinit(&store->codec);
	if (!store->is_lent) {
		ctx_profile_deinit(&store->profile);
		free(store->raw_to_stack);
	}
	ctx_map64_deinit(&store->tree_of);
	free(store->trees);
	free(store->temp_path);
	free(store->path);
	free(store);
}

const char *ctx_store_fingerprint(const struct ctx_store *store)
{
	return store->fingerprint;
}

const struct ctx_profile *ctx_store_profile(const struct ctx_store *store)
{
	return &store->profile;
}

const struct ctx_tree_info *ctx_store_trees(const struct ctx_store *store, size_t *ret_n)
{
	*ret_n = store->n_trees;
	return store->trees;
}

const struct ctx_tree_info *ctx_store_find_tree(const struct ctx_store *store, uint32_t thread,
						uint32_t metric)
{
	uint32_t id = ctx_map64_get(&store->tree_of, (uint64_t)thread << 32 | metric);

	if (id == CTX_MAP64_NONE)
		return NULL;
	if (store->trees[id].same_as != CTX_NONE)
		id = store->trees[id].same_as;
	return &store->trees[id];
}

struct ctx_store_cost ctx_store_cost(const struct ctx_store *store)
{
	struct ctx_store_cost cost = store->cost;

	cost.pages = (uint64_t)(pages_read(store) - store->pages_at_open);
	return cost;
}
