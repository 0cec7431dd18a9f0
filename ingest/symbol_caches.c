#include "ingest/symbol_caches.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "ingest/perf_settings.h"
#include "ingest/private_dir.h"
#include "ingest/symbol_tarball.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum origin { GIVEN, BESIDE, PERF };

struct ctx_symbol_cache {
	enum origin origin;
	char *path;
	bool is_tarball;
	uint64_t size; /* of a tarball, in bytes */
	struct timespec time;
	struct ctx_private_dir unpacked;
};

static enum ctx_status append(struct ctx_symbol_caches *caches, enum origin origin, const char *path,
			      const struct stat *info, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&caches->items, &caches->cap, caches->n + 1, err);
	char *copy;

	if (status != CTX_OK)
		return status;
	copy = strdup(path);
	if (copy == NULL)
		return ctx_err_nomem(err);
	caches->items[caches->n++] = (struct ctx_symbol_cache){
		.origin = origin,
		.path = copy,
		.is_tarball = !S_ISDIR(info->st_mode),
		.size = (uint64_t)info->st_size,
		.time = info->st_mtim,
		.unpacked = {.fd = -1},
	};
	return CTX_OK;
}

enum ctx_status ctx_symbol_caches_add(struct ctx_symbol_caches *caches, const char *path, struct ctx_err *err)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return ctx_err_errno(err, CTX_E_ARG, "--buildid-dir '%s'", path);
	if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_ARG, "--buildid-dir '%s': neither a directory nor a tarball",
				   path);
	return append(caches, GIVEN, path, &info, err);
}

enum ctx_status ctx_symbol_caches_add_beside(struct ctx_symbol_caches *caches, const char *recording,
					     struct ctx_err *err)
{
	static const char *const endings[] = {".tar.bz2", ".tar.gz", ".tar.xz", ".tar.zst", ".tar"};
	size_t n = strlen(recording);

	/* A recording can be a directory. */
	while (n > 1 && recording[n - 1] == '/')
		n--;
	for (size_t i = 0; i < CTX_COUNT_OF(endings); i++) {
		char *path CTX_AUTO_FREE = NULL;
		struct stat info;

		if (asprintf(&path, "%.*s%s", (int)n, recording, endings[i]) < 0) {
			path = NULL;
			return ctx_err_nomem(err);
		}
		if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
			return append(caches, BESIDE, path, &info, err);
	}
	return CTX_OK;
}

enum ctx_status ctx_symbol_caches_add_perf(struct ctx_symbol_caches *caches, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = NULL;
	enum ctx_status status = ctx_perf_settings_buildid_dir(&path, err);
	struct stat info;

	if (status != CTX_OK || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return status;
	return append(caches, PERF, path, &info, err);
}

uint64_t ctx_symbol_caches_hash(const struct ctx_symbol_caches *caches)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < caches->n; i++) {
		const struct ctx_symbol_cache *item = &caches->items[i];
		char real[PATH_MAX] = "";
		uint64_t parts[5] = {hash, item->origin};

		if (item->origin == PERF)
			continue;
		/* The tarball beside a recording can be moved together with it. */
		if (item->origin == GIVEN && realpath(item->path, real) != NULL)
			parts[2] = ctx_xxh3(real, strlen(real));
		if (item->is_tarball) {
			parts[3] = item->size;
			parts[4] = (uint64_t)item->time.tv_sec * UINT64_C(1000000000) +
				   (uint64_t)item->time.tv_nsec;
		}
		hash = ctx_xxh3(parts, sizeof(parts));
	}
	return hash;
}

static enum ctx_status unpack(struct ctx_symbol_cache *item, struct ctx_err *left_out, struct ctx_err *err)
{
	struct ctx_err reason = {0};
	enum ctx_status status = ctx_private_dir_create(&item->unpacked, &reason);

	if (status == CTX_OK)
		status = ctx_symbol_tarball_unpack(item->path, item->unpacked.path,
						   CTX_SYMBOL_TARBALL_BYTES_MAX, &reason);
	if (status == CTX_OK)
		return CTX_OK;
	if (item->origin == BESIDE && status != CTX_E_NOMEM) {
		*left_out = reason;
		return CTX_OK;
	}
	return ctx_err_set(err, status, "%s", reason.msg);
}

enum ctx_status ctx_symbol_caches_open(struct ctx_symbol_caches *caches, struct ctx_err *left_out,
				       struct ctx_err *err)
{
	size_t used = 0;

	caches->directories = ctx_calloc(caches->n + 1, sizeof(*caches->directories));
	caches->names = ctx_calloc(caches->n + 1, sizeof(*caches->names));
	if (caches->directories == NULL || caches->names == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < caches->n; i++) {
		struct ctx_symbol_cache *item = &caches->items[i];

		if (item->is_tarball) {
			enum ctx_status status = unpack(item, left_out, err);

			if (status != CTX_OK)
				return status;
			if (item->unpacked.path == NULL)
				continue;
		}
		caches->directories[used] = item->is_tarball ? item->unpacked.path : item->path;
		caches->names[used++] = item->path;
	}
	return CTX_OK;
}

void ctx_symbol_caches_deinit(struct ctx_symbol_caches *caches)
{
	for (size_t i = 0; i < caches->n; i++) {
		ctx_private_dir_remove(&caches->items[i].unpacked);
		free(caches->items[i].path);
	}
	free(caches->items);
	free(caches->directories);
	free(caches->names);
	*caches = (struct ctx_symbol_caches){0};
}

/* The index of the directory that `at` begins with; `*ret_n` is its length. False: none. */
static bool begins_with_one(const char *at, const char *const *directories, size_t *ret_place, size_t *ret_n)
{
	for (size_t i = 0; directories[i] != NULL; i++) {
		size_t n = strlen(directories[i]);

		if (n != 0 && strncmp(at, directories[i], n) == 0 && at[n] == '/') {
			*ret_place = i;
			*ret_n = n;
			return true;
		}
	}
	return false;
}

char *ctx_symbol_caches_rename(const char *text, const char *const *directories, const char *const *names)
{
	struct ctx_buf out CTX_AUTO_BUF = {0};
	size_t place, n;

	while (*text != '\0') {
		if (begins_with_one(text, directories, &place, &n)) {
			ctx_buf_put_text(&out, names[place]);
			text += n;
		} else {
			ctx_buf_put_u8(&out, (uint8_t)*text++);
		}
	}
	return out.failed ? NULL : ctx_memdup0(out.bytes, out.n);
}
