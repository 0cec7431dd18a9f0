#include "ingest/private_dir.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BEGIN "ctxan-symbols-"
#define NAME_RANDOM "XXXXXX"
#define TRIES 10

static const char *temporary_place(void)
{
	const char *place = getenv("TMPDIR");

	return place != NULL && place[0] != '\0' ? place : "/tmp";
}

static bool is_ours(const char *name)
{
	return strncmp(name, NAME_BEGIN, strlen(NAME_BEGIN)) == 0 &&
	       strlen(name) == strlen(NAME_BEGIN NAME_RANDOM);
}

/* Locks an open directory if it is a leftover: ours, and not locked. */
static bool is_left(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* What cannot be removed now is removed by the next process that creates one. */
static void remove_all(const char *path)
{
	if (ctx_dir_remove(path, NULL) != CTX_OK)
		return;
}

/* Removes leftovers of killed processes. Errors are ignored. */
static void remove_stale(const char *place)
{
	DIR *dir = opendir(place);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char *path CTX_AUTO_FREE = NULL;
		int fd CTX_AUTO_CLOSE = -1;

		if (!is_ours(entry->d_name))
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		path = ctx_path_join(place, entry->d_name);
		if (fd >= 0 && path != NULL && is_left(fd))
			remove_all(path);
	}
	if (dir != NULL)
		closedir(dir);
}

/*
 * Creates and locks a directory. CTX_END: another process removed it as a leftover before it was
 * locked.
 */
static enum ctx_status try_create(const char *place, struct ctx_private_dir *ret, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(place, NAME_BEGIN NAME_RANDOM);
	struct stat info;
	int fd;

	if (path == NULL)
		return ctx_err_nomem(err);
	if (mkdtemp(path) == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !is_left(fd) || stat(path, &info) != 0) {
		ctx_close_cleanup(&fd);
		rmdir(path); /* without working locks no process removes leftovers */
		return CTX_END;
	}
	ret->path = path;
	ret->fd = fd;
	path = NULL;
	return CTX_OK;
}

enum ctx_status ctx_private_dir_create(struct ctx_private_dir *ret, struct ctx_err *err)
{
	const char *place = temporary_place();
	enum ctx_status status = CTX_END;

	remove_stale(place);
	for (int i = 0; i < TRIES && status == CTX_END; i++)
		status = try_create(place, ret, err);
	return status != CTX_END ? status : ctx_err_set(err, CTX_E_IO, "%s: no directory can be kept", place);
}

void ctx_private_dir_remove(struct ctx_private_dir *dir)
{
	if (dir->path != NULL)
		remove_all(dir->path);
	free(dir->path);
	ctx_close_cleanup(&dir->fd);
	*dir = (struct ctx_private_dir){.fd = -1};
}
