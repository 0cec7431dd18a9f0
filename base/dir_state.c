#include "base/dir_state.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 2

void ctx_file_put_state(struct ctx_buf *out, const char *path)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return;
	ctx_buf_put_string(out, ctx_path_base(path));
	ctx_buf_put_u64(out, (uint64_t)info.st_size);
	ctx_buf_put_u64(out, (uint64_t)info.st_mtim.tv_sec);
	ctx_buf_put_u64(out, (uint64_t)info.st_mtim.tv_nsec);
}

struct walk {
	struct ctx_buf *out;
	const char *but;
};

static enum ctx_status put_inside(const struct walk *walk, const char *path, int depth, struct ctx_err *err);

static enum ctx_status put(const struct walk *walk, const char *path, int depth, struct ctx_err *err)
{
	struct stat info;

	if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return depth <= DEPTH_MAX ? put_inside(walk, path, depth, err) : CTX_OK;
	ctx_file_put_state(walk->out, path);
	return CTX_OK;
}

static enum ctx_status put_inside(const struct walk *walk, const char *path, int depth, struct ctx_err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	enum ctx_status status = CTX_OK;

	if (n < 0)
		return errno == ENOMEM ? ctx_err_nomem(err) : ctx_err_errno(err, CTX_E_IO, "%s", path);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		bool counts = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
			      strncmp(name, walk->but, strlen(walk->but)) != 0;
		char *inside CTX_AUTO_FREE = counts ? ctx_path_join(path, name) : NULL;

		if (status == CTX_OK && counts)
			status = inside != NULL ? put(walk, inside, depth + 1, err) : ctx_err_nomem(err);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum ctx_status ctx_dir_put_state(struct ctx_buf *out, const char *path, const char *but, struct ctx_err *err)
{
	return put_inside(&(struct walk){out, but}, path, 0, err);
}
