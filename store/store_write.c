#include "store/schema.h"
#include "store/store_impl.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Nothing is read before commit, and a crash leaves only a temporary file: so there is no journal,
 * and a single sync at the end. The cache is large because the trees of many threads are filled
 * concurrently.
 */
static const char begin_sql[] =
	"PRAGMA page_size = 8192; PRAGMA encoding = 'UTF-8'; PRAGMA auto_vacuum = NONE;"
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
	"PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF;";

static const char *const put_sql[N_PUT] = {
	[PUT_TREE] = "INSERT OR REPLACE INTO time_tree VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[PUT_NODE] = "INSERT INTO node_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[PUT_LIST] = "INSERT INTO node_list VALUES (?, ?, ?, ?)",
	[PUT_BLOCK] = "INSERT INTO sample_block VALUES (?, ?, ?, ?, ?)",
	[PUT_TEXT] = "UPDATE source_file SET text = ?2 WHERE id = ?1",
	[PUT_CODE] = "INSERT INTO function_code VALUES (?, ?, ?, ?, ?, ?, ?)",
	[PUT_WAKEUPS] = "INSERT INTO wakeup_block VALUES (?, ?, ?, ?, ?)",
	[PUT_TRACED] = "INSERT INTO traced_block VALUES (?, ?, ?, ?, ?, ?)",
};

/* Opens the temporary file and locks it; CTX_E_IO if another process is writing it. */
static enum ctx_status claim(const char *temp_path, int *ret_fd, struct ctx_err *err)
{
	int fd = open(temp_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	struct stat stat;

	if (fd < 0)
		return ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO, "%s",
				     temp_path);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return ctx_err_set(err, CTX_E_IO, "%s: is being written by another process", temp_path);
	}
	/* Between open and lock another process may have taken it for abandoned and removed it. */
	if (fstat(fd, &stat) != 0 || stat.st_nlink == 0) {
		close(fd);
		return ctx_err_set(err, CTX_E_IO, "%s: was removed by another process", temp_path);
	}
	if (ftruncate(fd, 0) != 0) {
		enum ctx_status status = ctx_err_errno(err, CTX_E_IO, "%s", temp_path);

		close(fd);
		return status;
	}
	*ret_fd = fd;
	return CTX_OK;
}

/* True for "BASE.<digits>.tmp". */
static bool is_temp_name(const char *name, const char *base)
{
	size_t n = strlen(base);

	if (strncmp(name, base, n) != 0 || name[n] != '.')
		return false;
	name += n + 1;
	n = strspn(name, "0123456789");
	return n != 0 && strcmp(name + n, ".tmp") == 0;
}

/*
 * Removes temporary files of killed writers: those that no process has locked. Failures are
 * ignored.
 */
static void remove_stale(const char *path)
{
	const char *base = ctx_path_base(path);
	char *dir_name = ctx_memdup0(path, (size_t)(base - path));
	DIR *dir = dir_name != NULL ? opendir(*dir_name != '\0' ? dir_name : ".") : NULL;
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int fd = -1;

		if (is_temp_name(entry->d_name, base))
			fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (dir != NULL)
		closedir(dir);
	free(dir_name);
}

enum ctx_status ctx_store_open_empty(struct ctx_store *store, const char *name, struct ctx_err *err)
{
	char pragma[128];
	enum ctx_status status;
	int rc = sqlite3_open_v2(name, &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	snprintf(pragma, sizeof(pragma),
		 "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN EXCLUSIVE",
		 CTX_SCHEMA_APPLICATION_ID, CTX_SCHEMA_VERSION);
	status = ctx_statement_exec(store->db, store->path, begin_sql, err);
	if (status == CTX_OK)
		status = ctx_statement_exec(store->db, store->path, pragma, err);
	if (status == CTX_OK)
		status = ctx_schema_create(store->db, store->path, err);
	for (int i = 0; i < N_PUT && status == CTX_OK; i++)
		status = ctx_statement_prepare(store->db, store->path, put_sql[i], &store->put[i], err);
	return status;
}

static enum ctx_status open_temp(struct ctx_store *store, struct ctx_err *err)
{
	/* "./": a relative name that begins with "file:" is not a URI. */
	char *name CTX_AUTO_FREE = NULL;

	if (asprintf(&name, "%s%s", store->temp_path[0] == '/' ? "" : "./", store->temp_path) < 0) {
		name = NULL;
		return ctx_err_nomem(err);
	}
	return ctx_store_open_empty(store, name, err);
}

enum ctx_status ctx_store_create(const char *path, struct ctx_store **ret, struct ctx_err *err)
{
	struct ctx_store *store = ctx_calloc(1, sizeof(*store));
	enum ctx_status status = CTX_OK;

	if (store == NULL)
		return ctx_err_nomem(err);
	store->lock_fd = -1;
	store->path = ctx_memdup0(path, strlen(path));
	if (store->path == NULL || asprintf(&store->temp_path, "%s.%ld.tmp", path, (long)getpid()) < 0) {
		store->temp_path = NULL;
		status = ctx_err_nomem(err);
	}
	if (status == CTX_OK) {
		remove_stale(path);
		status = claim(store->temp_path, &store->lock_fd, err);
	}
	if (status == CTX_OK)
		status = open_temp(store, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	*ret = store;
	return CTX_OK;
}

static enum ctx_status run(struct ctx_store *store, enum put_statement which, struct ctx_err *err)
{
	enum ctx_status status = ctx_statement_run(store->put[which], store->path, err);

	if (status != CTX_OK)
		store->failed = true;
	return status;
}

enum ctx_status ctx_store_put_tree(struct ctx_store *store, const struct ctx_tree_info *tree,
				   struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->put[PUT_TREE];

	if (tree->id > INT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: more than 2 G time trees", store->path);
	ctx_bind_id(stmt, 1, tree->id);
	ctx_bind_id(stmt, 2, tree->thread);
	ctx_bind_id(stmt, 3, tree->metric);
	ctx_bind_u64(stmt, 4, tree->leaf_samples);
	ctx_bind_u64(stmt, 5, tree->fanout);
	ctx_bind_u64(stmt, 6, tree->percent);
	ctx_bind_u64(stmt, 7, tree->mode);
	ctx_bind_u64(stmt, 8, tree->keep_tail);
	ctx_bind_id(stmt, 9, tree->same_as);
	return run(store, PUT_TREE, err);
}

static enum ctx_status put_lists(struct ctx_store *store, uint32_t tree, const struct ctx_timenode *node,
				 struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->put[PUT_LIST];

	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(tree, node->id));
	ctx_bind_blob(stmt, 2, node->top, node->top_bytes);
	ctx_bind_blob(stmt, 3, node->tail, node->tail_bytes);
	ctx_bind_blob(stmt, 4, node->calls, node->calls_bytes);
	return run(store, PUT_LIST, err);
}

enum ctx_status ctx_store_put_node(struct ctx_store *store, uint32_t tree, const struct ctx_timenode *node,
				   struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->put[PUT_NODE];
	enum ctx_status status;

	if (tree > INT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: more than 2 G time trees", store->path);
	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(tree, node->id));
	ctx_bind_u64(stmt, 2, node->parent);
	ctx_bind_u64(stmt, 3, node->level);
	ctx_bind_u64(stmt, 4, node->interval.begin_ns);
	ctx_bind_u64(stmt, 5, node->interval.end_ns);
	ctx_bind_u64(stmt, 6, node->samples);
	ctx_bind_u64(stmt, 7, node->weight);
	ctx_bind_u64(stmt, 8, node->first_child);
	ctx_bind_u64(stmt, 9, node->n_children);
	ctx_bind_u64(stmt, 10, node->tail_samples);
	ctx_bind_u64(stmt, 11, node->tail_weight);
	ctx_bind_u64(stmt, 12, node->tail_largest);
	status = run(store, PUT_NODE, err);
	if (status == CTX_OK && node->top_bytes + node->tail_bytes + node->calls_bytes != 0)
		status = put_lists(store, tree, node, err);
	return status;
}

enum ctx_status ctx_store_put_leaf(struct ctx_store *store, struct ctx_store_node leaf,
				   const struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	sqlite3_stmt *stmt = store->put[PUT_BLOCK];
	enum ctx_status status;

	if (leaf.tree > INT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: more than 2 G time trees", store->path);
	if (n == 0)
		return CTX_OK;
	status = ctx_block_encode(&store->codec, samples, n, err);
	if (status != CTX_OK) {
		store->failed = true;
		return ctx_err_prefix(err, status, "%s: tree %u: leaf %u", store->path, leaf.tree, leaf.node);
	}
	sqlite3_bind_int64(stmt, 1, ctx_store_rowid(leaf.tree, leaf.node));
	ctx_bind_u64(stmt, 2, n);
	ctx_bind_u64(stmt, 3, samples[0].time_ns);
	ctx_bind_u64(stmt, 4, samples[n - 1].time_ns);
	ctx_bind_blob(stmt, 5, store->codec.payload.bytes, store->codec.payload.n);
	return run(store, PUT_BLOCK, err);
}

static enum ctx_status sync_dir(const char *dir, const char *path, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems cannot sync a directory; the rename is valid all the same. */
	if (fd >= 0 && fsync(fd) != 0 && errno == EIO)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	return CTX_OK;
}

enum ctx_status ctx_store_end_writing(struct ctx_store *store, struct ctx_err *err)
{
	for (int i = 0; i < N_PUT; i++) {
		sqlite3_finalize(store->put[i]);
		store->put[i] = NULL;
	}
	return ctx_statement_exec(store->db, store->path, "COMMIT", err);
}

static enum ctx_status finish(struct ctx_store *store, struct ctx_err *err)
{
	char *dir CTX_AUTO_FREE =
		ctx_path_dir(store->path); /* before the rename, after which nothing may fail */
	enum ctx_status status;
	int rc;

	if (store->temp_path == NULL || store->failed || !store->has_contents)
		return ctx_err_set(err, CTX_E_ARG, "%s: %s", store->path,
				   store->temp_path == NULL ? "is open for reading"
				   : store->failed	    ? "not committed after a failure"
							    : "not committed without contents");
	if (dir == NULL)
		return ctx_err_nomem(err);
	status = ctx_store_end_writing(store, err);
	if (status != CTX_OK)
		return status;
	rc = sqlite3_close(store->db);
	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	store->db = NULL;
	if (fsync(store->lock_fd) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", store->temp_path);
	if (rename(store->temp_path, store->path) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", store->path);
	free(store->temp_path);
	store->temp_path = NULL;
	return sync_dir(dir, store->path, err);
}

enum ctx_status ctx_store_commit(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status = finish(store, err);

	ctx_store_close(store);
	return status;
}
