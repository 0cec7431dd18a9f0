/* Detects experiments and changes to them, from names, sizes and first lines only. */
#include "formats/experiment/exp_reader.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "base/zstd_file.h"
#include "formats/experiment/exp_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char FIRST[] = "<experiment version=\"";

static int open_log(const char *path, bool *ret_is_packed)
{
	int dir CTX_AUTO_CLOSE = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir >= 0 ? ctx_exp_open_text(dir, CTX_EXP_LOG_FILE, ret_is_packed) : -1;
}

/* Whether the first bytes of the text are those of a log. */
static bool is_log(int fd, bool is_packed)
{
	const struct ctx_file_place place = {fd, CTX_EXP_LOG_FILE, 0};
	struct ctx_zstd_reader *reader = NULL;
	char text[sizeof(FIRST) - 1];
	enum ctx_status status;
	size_t got;

	if (!is_packed)
		return ctx_file_pread(&place, text, sizeof(text), &got, NULL) == CTX_OK &&
		       memcmp(text, FIRST, sizeof(text)) == 0;
	status = ctx_zstd_open(fd, &reader, NULL);
	if (status == CTX_OK)
		status = ctx_zstd_read(reader, text, sizeof(text), &got, NULL);
	ctx_zstd_close(reader);
	/* Who opens it is told why it cannot be read. */
	return status == CTX_E_LIMIT || (status == CTX_OK && memcmp(text, FIRST, sizeof(text)) == 0);
}

bool ctx_exp_is_experiment(const char *path)
{
	bool is_packed;
	int fd CTX_AUTO_CLOSE = open_log(path, &is_packed);

	return fd >= 0 && is_log(fd, is_packed);
}

int ctx_exp_open_log(const char *path)
{
	bool is_packed;

	return open_log(path, &is_packed);
}

char *ctx_exp_log_path(const char *path)
{
	char *plain = ctx_path_join(path, CTX_EXP_LOG_FILE);
	char *packed CTX_AUTO_FREE = ctx_path_join(path, CTX_EXP_LOG_FILE CTX_EXP_PACKED_END);
	struct stat info;

	if (plain == NULL || packed == NULL || lstat(plain, &info) == 0 || lstat(packed, &info) != 0)
		return plain;
	free(plain);
	return strdup(packed);
}

bool ctx_exp_is_recorded(const char *path)
{
	int log CTX_AUTO_CLOSE = ctx_exp_open_log(path);

	return log >= 0 && flock(log, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool ctx_exp_is_lineage(const char *name)
{
	if (*name != '_')
		return false;
	while (*name == '_') {
		size_t n;

		if (strchr("fxpn", name[1]) == NULL || name[1] == '\0')
			return false;
		n = strspn(name + 2, "0123456789");
		if (n == 0)
			return false;
		name += 2 + n;
	}
	return strcmp(name, ".er") == 0;
}

struct entry {
	char *name; /* relative to the experiment */
	uint64_t size;
	int64_t seconds, nanoseconds;
};

struct entries {
	struct entry *items;
	size_t n, cap;
};

static void deinit(struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++)
		free(entries->items[i].name);
	free(entries->items);
}

/*
 * Is it a file of the experiment? A database may be in the directory too, with auxiliary files of
 * its engine.
 */
static bool counts(const char *name)
{
	return strncmp(name, "ctxan.db", 8) != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

struct folder {
	int fd;
	const char *below; /* its name relative to the experiment, "" */
};

static enum ctx_status add(struct entries *entries, struct folder folder, const char *name, bool *ret_is_dir,
			   struct ctx_err *err)
{
	struct entry entry = {0};
	struct stat info;
	enum ctx_status status;

	*ret_is_dir = false;
	if (fstatat(folder.fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return CTX_OK; /* removed meanwhile */
	*ret_is_dir = S_ISDIR(info.st_mode);
	if (*ret_is_dir)
		return CTX_OK;
	status = ctx_grow(&entries->items, &entries->cap, entries->n + 1, err);
	if (status != CTX_OK)
		return status;
	entry.name = ctx_path_join(folder.below, name);
	if (entry.name == NULL)
		return ctx_err_nomem(err);
	entry.size = (uint64_t)info.st_size;
	entry.seconds = info.st_mtim.tv_sec;
	entry.nanoseconds = info.st_mtim.tv_nsec;
	entries->items[entries->n++] = entry;
	return CTX_OK;
}

/* Lists `path`; one level of directories below it too, if `below` is "". */
static enum ctx_status list(struct entries *entries, const char *path, const char *below, struct ctx_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	enum ctx_status status = CTX_OK;
	struct dirent *item;

	if (dir == NULL) {
		enum ctx_status kind = errno == ENOENT || errno == ENOTDIR ? CTX_E_NOTFOUND : CTX_E_IO;

		status = ctx_err_errno(err, kind, "%s", path);
		if (fd >= 0)
			close(fd);
		return status;
	}
	while (status == CTX_OK && (item = readdir(dir)) != NULL) {
		bool is_dir = false;

		if (!counts(item->d_name))
			continue;
		status = add(entries, (struct folder){fd, below}, item->d_name, &is_dir, err);
		if (status == CTX_OK && is_dir && below[0] == '\0') {
			char *deeper CTX_AUTO_FREE = ctx_path_join(path, item->d_name);

			status = deeper != NULL ? list(entries, deeper, item->d_name, err)
						: ctx_err_nomem(err);
		}
	}
	closedir(dir);
	return status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

enum ctx_status ctx_exp_fingerprint(const char *path, char ret_hex[17], struct ctx_err *err)
{
	struct entries entries = {0};
	struct ctx_buf all = {0};
	enum ctx_status status = list(&entries, path, "", err);

	if (status == CTX_OK && entries.n != 0)
		qsort(entries.items, entries.n, sizeof(*entries.items), by_name);
	for (size_t i = 0; i < entries.n; i++) {
		ctx_buf_put_string(&all, entries.items[i].name);
		ctx_buf_put_u64(&all, entries.items[i].size);
		ctx_buf_put_u64(&all, (uint64_t)entries.items[i].seconds);
		ctx_buf_put_u64(&all, (uint64_t)entries.items[i].nanoseconds);
	}
	/* When a recorder is killed, no file changes, but what the experiment is. */
	if (ctx_exp_is_recorded(path))
		ctx_buf_put_text(&all, "recorded");
	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK)
		snprintf(ret_hex, 17, "%016llx", (unsigned long long)ctx_xxh3(all.bytes, all.n));
	deinit(&entries);
	ctx_buf_deinit(&all);
	return status;
}
