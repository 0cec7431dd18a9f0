#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/gprofng/gp_experiment.h"
#include "formats/gprofng/gprofng.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 2 /* NAME.er/_f1.er/archives */

/* Files of the experiment, as opposed to those of analysers. */
static int counts(const struct dirent *entry)
{
	return strncmp(entry->d_name, "ctxan.db", 8) != 0 && strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

static enum ctx_status mix(struct ctx_buf *all, const char *path, int depth, struct ctx_err *err);

static enum ctx_status mix_inside(struct ctx_buf *all, const char *path, int depth, struct ctx_err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, counts, alphasort);
	enum ctx_status status = CTX_OK;

	if (n < 0)
		return errno == ENOMEM ? ctx_err_nomem(err) : ctx_err_errno(err, CTX_E_IO, "%s", path);
	for (int i = 0; i < n; i++) {
		char *inside CTX_AUTO_FREE = ctx_path_join(path, entries[i]->d_name);

		if (status == CTX_OK)
			status = inside != NULL ? mix(all, inside, depth + 1, err) : ctx_err_nomem(err);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Name, size and time of a file; recurses into directories. */
static enum ctx_status mix(struct ctx_buf *all, const char *path, int depth, struct ctx_err *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return CTX_OK; /* removed meanwhile */
	if (S_ISDIR(info.st_mode))
		return depth <= DEPTH_MAX ? mix_inside(all, path, depth, err) : CTX_OK;
	ctx_buf_put_string(all, ctx_path_base(path));
	ctx_buf_put_u64(all, (uint64_t)info.st_size);
	ctx_buf_put_u64(all, (uint64_t)info.st_mtim.tv_sec);
	ctx_buf_put_u64(all, (uint64_t)info.st_mtim.tv_nsec);
	return CTX_OK;
}

static enum ctx_status mix_group(struct ctx_buf *all, const char *path, struct ctx_err *err)
{
	struct ctx_gp_experiments experiments = {0};
	enum ctx_status status = ctx_gp_experiments_open(&experiments, path, err);

	for (size_t i = 0; i < experiments.n && status == CTX_OK; i++) {
		if (experiments.items[i]->root_process == i)
			status = mix_inside(all, experiments.items[i]->path, 0, err);
	}
	ctx_gp_experiments_deinit(&experiments);
	return status;
}

enum ctx_status ctx_gprofng_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_buf all = {0};
	enum ctx_status status;

	if (ctx_gp_group_is(path)) {
		status = mix(&all, path, 0, err);
		if (status == CTX_OK)
			status = mix_group(&all, path, err);
	} else {
		status = mix_inside(&all, path, 0, err);
	}
	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)ctx_xxh3(all.bytes, all.n));
	ctx_buf_deinit(&all);
	return status;
}
