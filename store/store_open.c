#include "store/schema.h"
#include "store/store_impl.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's file header: magic, and at fixed offsets the values that we set (big-endian). */
#define HEADER_BYTES 100
#define AT_USER_VERSION 60
#define AT_APPLICATION_ID 68

static uint32_t big_endian_32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* CTX_E_FORMAT and CTX_E_VERSION are reported from the first bytes, before SQLite sees the file. */
static enum ctx_status check_header(const char *path, uint64_t *ret_size, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t header[HEADER_BYTES];
	enum ctx_status status;
	struct stat stat;
	size_t got = 0;

	if (fd < 0)
		return ctx_err_errno(err,
				     errno == ENOENT || errno == ENOTDIR ? CTX_E_NOTFOUND
				     : errno == EACCES			 ? CTX_E_PERM
									 : CTX_E_IO,
				     "%s", path);
	if (fstat(fd, &stat) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (!S_ISREG(stat.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database: not a regular file", path);
	status = ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, header, sizeof(header), &got, err);
	if (status < 0)
		return status;
	if (got < sizeof(header) || memcmp(header, "SQLite format 3", 16) != 0 ||
	    big_endian_32(header + AT_APPLICATION_ID) != CTX_SCHEMA_APPLICATION_ID)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database", path);
	if (big_endian_32(header + AT_USER_VERSION) != CTX_SCHEMA_VERSION)
		return ctx_err_set(err, CTX_E_VERSION,
				   "%s: has schema version %u, this program reads %d: ingest again", path,
				   big_endian_32(header + AT_USER_VERSION), CTX_SCHEMA_VERSION);
	*ret_size = (uint64_t)stat.st_size;
	return CTX_OK;
}

bool ctx_store_is_database(const char *path)
{
	uint64_t size;
	enum ctx_status status = check_header(path, &size, NULL);

	return status == CTX_OK || status == CTX_E_VERSION;
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
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
	sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
	return ctx_statement_exec(
		store->db, store->path,
		"PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;"
		"PRAGMA cache_size = -16384; PRAGMA mmap_size = 0",
		err);
}

static enum ctx_status open_file(struct ctx_store *store, struct ctx_err *err)
{
	char *uri CTX_AUTO_FREE = make_uri(store->path);
	enum ctx_status status;
	int rc;

	if (uri == NULL)
		return ctx_err_nomem(err);
	rc = sqlite3_open_v2(
		uri, &store->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	status = ctx_store_harden(store, err);
	if (status == CTX_OK)
		status = ctx_schema_check(store->db, store->path, err);
	return status;
}

enum ctx_status ctx_store_open(const char *path, struct ctx_store **ret, struct ctx_err *err)
{
	uint64_t size = 0;
	enum ctx_status status = check_header(path, &size, err);
	struct ctx_store *store;

	if (status != CTX_OK)
		return status;
	store = ctx_calloc(1, sizeof(*store));
	if (store == NULL)
		return ctx_err_nomem(err);
	store->lock_fd = -1;
	store->max_entries = ((uint64_t)1 << 22) + size * 8;
	store->leaf.store = store;
	store->path = ctx_memdup0(path, strlen(path));
	status = store->path != NULL ? open_file(store, err) : ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_store_load(store, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	store->pages_at_open = pages_read(store);
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
