/*
 * Two walks over the directory: the first looks at every name, the second removes. Both know the
 * same names, so that what appears in between is not removed either.
 */
#include "formats/experiment/exp_remove.h"

#include "base/fileio.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_reader.h"
#include "formats/experiment/exp_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum level {
	LEVEL_EXPERIMENT,
	LEVEL_PROCESS,	/* _f1.er */
	LEVEL_ARCHIVES, /* archives */
	LEVEL_NONE,
};

struct walk {
	const char *path; /* of the experiment, for messages */
	bool removes;
};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

/* The end of a database's name: "", "-journal", "-wal", "-shm". */
static bool is_database_end(const char *text)
{
	return is_one_of(text, (const char *const[]){"", "-journal", "-wal", "-shm", NULL});
}

/* "ctxan.db", also while it is written: "ctxan.db.<pid>.tmp". */
static bool is_database(const char *name)
{
	static const char BASE[] = "ctxan.db";
	size_t digits;

	if (strncmp(name, BASE, sizeof(BASE) - 1) != 0)
		return false;
	name += sizeof(BASE) - 1;
	if (is_database_end(name))
		return true;
	digits = name[0] == '.' ? strspn(name + 1, "0123456789") : 0;
	return digits != 0 && strncmp(name + 1 + digits, ".tmp", 4) == 0 &&
	       is_database_end(name + 1 + digits + 4);
}

/* "<hex>.zst", "path-<hex>.zst", "source-3.zst", "kallsyms.zst". */
static bool is_copy(const char *name)
{
	size_t hex;

	if (ctx_exp_is_source_name(name) || strcmp(name, CTX_EXP_ARCHIVE_KALLSYMS) == 0)
		return true;
	if (strncmp(name, "path-", 5) == 0)
		name += 5;
	hex = strspn(name, "0123456789abcdef");
	return hex >= 2 && hex <= 64 && strcmp(name + hex, ".zst") == 0;
}

/* A copy, also while it is written: "<copy>.<pid>.tmp". */
static bool is_archived(const char *name)
{
	const char *zst = strstr(name, ".zst.");
	char copy[CTX_EXP_ARCHIVE_NAME_MAX];
	size_t digits;

	if (strcmp(name, "complete") == 0 || is_copy(name))
		return true;
	if (zst == NULL || (size_t)(zst - name) + 5 > sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)(zst - name) + 4, name);
	digits = strspn(zst + 5, "0123456789");
	return digits != 0 && strcmp(zst + 5 + digits, ".tmp") == 0 && is_copy(copy);
}

/* Whether a regular file of this name is one of ours. */
static bool is_own_file(enum level level, const char *name)
{
	char plain[32];
	size_t n = strcspn(name, ".");

	static const char *const OF_PROCESSES[] = {CTX_EXP_LOG_FILE,
						   CTX_EXP_LOG_FILE CTX_EXP_PACKED_END,
						   CTX_EXP_LOG_FILE CTX_EXP_PACKING_END,
						   CTX_EXP_MAP_FILE,
						   CTX_EXP_MAP_FILE CTX_EXP_PACKED_END,
						   CTX_EXP_MAP_FILE CTX_EXP_PACKING_END,
						   "frameinfo",
						   "profile",
						   "hwcounters",
						   "stacks",
						   NULL};
	static const char *const OF_ALL[] = {"overview", "notes", "last.xml", NULL};

	if (level == LEVEL_ARCHIVES)
		return is_archived(name);
	if (level == LEVEL_EXPERIMENT && n < sizeof(plain) &&
	    is_one_of(name + n, (const char *const[]){CTX_EXP_PACKED_END, CTX_EXP_PACKING_END, NULL})) {
		snprintf(plain, sizeof(plain), "%.*s", (int)n, name);
		if (ctx_exp_packed_data(plain) < CTX_EXP_PACKED_DATA_FILES)
			return true;
	}
	return is_one_of(name, OF_PROCESSES) || ctx_exp_is_record_file(name) ||
	       (level == LEVEL_EXPERIMENT && (is_one_of(name, OF_ALL) || is_database(name)));
}

/* The level of a directory of this name; LEVEL_NONE: not ours. */
static enum level level_of_directory(enum level level, const char *name)
{
	if (level != LEVEL_EXPERIMENT)
		return LEVEL_NONE;
	return strcmp(name, "archives") == 0 ? LEVEL_ARCHIVES
	       : ctx_exp_is_lineage(name)    ? LEVEL_PROCESS
					     : LEVEL_NONE;
}

static enum ctx_status walk_directory(const struct walk *walk, int fd, enum level level, struct ctx_err *err);

static enum ctx_status enter(const struct walk *walk, int parent, const char *name, enum level level,
			     struct ctx_err *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum ctx_status status;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s/%s", walk->path, name);
	status = walk_directory(walk, fd, level, err);
	if (status == CTX_OK && walk->removes && unlinkat(parent, name, AT_REMOVEDIR) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "%s/%s", walk->path, name);
	return status;
}

static enum ctx_status visit(const struct walk *walk, int fd, const char *name, enum level level,
			     struct ctx_err *err)
{
	enum level below = level_of_directory(level, name);
	struct stat info;

	if (fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "%s/%s", walk->path, name);
	if (S_ISDIR(info.st_mode) && below != LEVEL_NONE)
		return enter(walk, fd, name, below, err);
	if (!S_ISREG(info.st_mode) || !is_own_file(level, name))
		return ctx_err_set(err, CTX_E_ARG,
				   "%s: holds \"%s\", which is no file of an experiment: not overwritten",
				   walk->path, name);
	if (walk->removes && unlinkat(fd, name, 0) != 0 && errno != ENOENT)
		return ctx_err_errno(err, CTX_E_IO, "%s/%s", walk->path, name);
	return CTX_OK;
}

/* Closes `fd`. */
static enum ctx_status walk_directory(const struct walk *walk, int fd, enum level level, struct ctx_err *err)
{
	DIR *dir = fdopendir(fd);
	enum ctx_status status = CTX_OK;
	struct dirent *entry;

	if (dir == NULL) {
		status = ctx_err_errno(err, CTX_E_IO, "%s", walk->path);
		close(fd);
		return status;
	}
	while (status == CTX_OK && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			status = visit(walk, fd, entry->d_name, level, err);
	}
	closedir(dir);
	return status;
}

enum ctx_status ctx_exp_remove(const char *path, struct ctx_err *err)
{
	/* Held until all is removed: two recorders do not remove at once. */
	int log CTX_AUTO_CLOSE = ctx_exp_open_log(path);
	struct walk walk = {.path = path};
	struct stat info;
	enum ctx_status status = CTX_OK;

	if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) || log < 0 || !ctx_exp_is_experiment(path))
		return ctx_err_set(err, CTX_E_ARG, "%s: not an experiment, so it is not overwritten", path);
	if (flock(log, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return ctx_err_set(err, CTX_E_ARG, "%s: is being recorded by another ctxrec", path);
	for (int i = 0; i < 2 && status == CTX_OK; i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return ctx_err_errno(err, CTX_E_IO, "%s", path);
		walk.removes = i == 1;
		status = walk_directory(&walk, fd, LEVEL_EXPERIMENT, err);
	}
	if (status == CTX_OK && rmdir(path) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "%s", path);
	return status;
}
