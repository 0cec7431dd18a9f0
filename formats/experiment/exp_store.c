#include "formats/experiment/exp_store.h"

#include "base/buildid.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zstd.h>

#define LONGEST_FRAME_HEADER 18u
#define COPY_MODE 0600u

/* malloc'ed; NULL: no home, or no memory. */
static char *usual_place(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n = -1;

	if (geteuid() == 0)
		return strdup("/var/cache/ctxrec");
	if (cache != NULL && cache[0] == '/')
		n = asprintf(&path, "%s/ctxrec", cache);
	else if (home != NULL && home[0] == '/')
		n = asprintf(&path, "%s/.cache/ctxrec", home);
	return n >= 0 ? path : NULL;
}

static void make_directories(char *path)
{
	for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	(void)mkdir(path, 0700);
}

enum ctx_status ctx_exp_store_open(const char *path, struct ctx_exp_store *ret, struct ctx_err *err)
{
	char *place CTX_AUTO_FREE = path != NULL ? strdup(path) : usual_place();
	struct stat info;

	*ret = (struct ctx_exp_store){.dir = -1};
	if (place == NULL)
		return ctx_err_set(err, CTX_E_IO, "no place for a store: HOME is not set");
	make_directories(place);
	ret->dir = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ret->dir < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", place);
	if (fstat(ret->dir, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 0022u) == 0)
		return CTX_OK;
	close(ret->dir);
	ret->dir = -1;
	return ctx_err_set(err, CTX_E_PERM, "%s: not this user's alone", place);
}

/* Whether inodes of this file system are numbered and dated by the kernel. */
static bool is_honest(int file)
{
	static const unsigned long honest[] = {EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
					       OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC,     F2FS_SUPER_MAGIC,
					       0x2fc12fc1 /* ZFS */,  0xca451a4e /* bcachefs */};
	struct statfs info;
	bool is = false;

	if (fstatfs(file, &info) != 0)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(honest); i++)
		is = is || (unsigned long)info.f_type == honest[i];
	return is;
}

void ctx_exp_store_key_of_file(int file, const char *build_id, char ret[CTX_EXP_STORE_KEY])
{
	struct stat info;
	uint64_t identity[7], low, high;

	ret[0] = '\0';
	if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink == 0 || !is_honest(file))
		return; /* without a name it will not be met again */
	identity[0] = info.st_dev;
	identity[1] = info.st_ino;
	identity[2] = (uint64_t)info.st_size;
	identity[3] = (uint64_t)info.st_mtim.tv_sec;
	identity[4] = (uint64_t)info.st_mtim.tv_nsec;
	identity[5] = (uint64_t)info.st_ctim.tv_sec;
	identity[6] = (uint64_t)info.st_ctim.tv_nsec;
	low = ctx_xxh3_128(identity, sizeof(identity), &high);
	snprintf(ret, CTX_EXP_STORE_KEY, "%.*s-%016llx%016llx.zst", ctx_buildid_is_plain(build_id) ? 40 : 0,
		 build_id, (unsigned long long)high, (unsigned long long)low);
}

/* The size before compression, as the frame says. False: no such copy, or none of ours. */
static bool is_copy(int file, uint64_t *ret_bytes)
{
	uint8_t begin[LONGEST_FRAME_HEADER];
	unsigned long long bytes;
	struct stat info;
	size_t got;

	if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
	    ctx_file_pread(&(struct ctx_file_place){file, "store", 0}, begin, sizeof(begin), &got, NULL) < 0)
		return false;
	bytes = ZSTD_getFrameContentSize(begin, got);
	*ret_bytes = bytes;
	return bytes != ZSTD_CONTENTSIZE_UNKNOWN && bytes != ZSTD_CONTENTSIZE_ERROR;
}

enum ctx_status ctx_exp_store_begin_writing(const struct ctx_exp_store_end *to,
					    struct ctx_exp_store_writing *ret, struct ctx_err *err)
{
	ret->to = to;
	snprintf(ret->temporary, sizeof(ret->temporary), "%s.%ld.tmp", to->name, (long)getpid());
	ret->fd = openat(to->archives, ret->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			 to->mode);
	return ret->fd >= 0 ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "archives/%s", to->name);
}

enum ctx_status ctx_exp_store_end_writing(struct ctx_exp_store_writing *writing, enum ctx_status status,
					  struct ctx_err *err)
{
	const struct ctx_exp_store_end *to = writing->to;

	if (close(writing->fd) != 0 && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "archives/%s", to->name);
	if (status == CTX_OK && renameat(to->archives, writing->temporary, to->archives, to->name) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "archives/%s", to->name);
	if (status != CTX_OK)
		unlinkat(to->archives, writing->temporary, 0);
	return status;
}

/* The bytes of `from`; on file systems that can, both files share their blocks. */
static enum ctx_status copy_bytes(int from, int to, const char *name, struct ctx_err *err)
{
	struct ctx_buf bytes = {0};
	enum ctx_status status;
	ssize_t n;

	do {
		n = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0)
		return CTX_OK;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return ctx_err_errno(err, CTX_E_IO, "archives/%s", name);
	status = ctx_file_read_fd(from, "store", SIZE_MAX / 2, &bytes, err);
	if (status == CTX_OK)
		status = ctx_file_write(to, name, bytes.bytes, bytes.n, err);
	ctx_buf_deinit(&bytes);
	return status;
}

static enum ctx_status copy(int from, const struct ctx_exp_store_end *to, struct ctx_err *err)
{
	struct ctx_exp_store_writing writing;
	enum ctx_status status = ctx_exp_store_begin_writing(to, &writing, err);

	if (status != CTX_OK)
		return status;
	status = copy_bytes(from, writing.fd, to->name, err);
	return ctx_exp_store_end_writing(&writing, status, err);
}

enum ctx_status ctx_exp_store_take(struct ctx_exp_store *store, const char *key,
				   const struct ctx_exp_store_end *to, uint64_t *ret_bytes,
				   struct ctx_err *err)
{
	const struct timespec used[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
	int file CTX_AUTO_CLOSE = -1;

	if (store == NULL || store->dir < 0 || key[0] == '\0')
		return CTX_END;
	file = openat(store->dir, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0 || !is_copy(file, ret_bytes))
		return CTX_END;
	(void)futimens(file, used); /* the time of its last use; contents keep theirs */
	if (to->mode == COPY_MODE && linkat(store->dir, key, to->archives, to->name, 0) == 0)
		return CTX_OK;
	return copy(file, to, err);
}

void ctx_exp_store_give(struct ctx_exp_store *store, const char *key, const struct ctx_exp_store_end *from)
{
	int file CTX_AUTO_CLOSE = -1;

	if (store == NULL || store->dir < 0 || key[0] == '\0' || from->mode != COPY_MODE)
		return;
	/* A name that outlives a crash of the machine must not stand for a part of the contents. */
	file = openat(from->archives, from->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (file >= 0 && fdatasync(file) == 0 && linkat(from->archives, from->name, store->dir, key, 0) == 0)
		store->has_grown = true;
}

struct stored {
	char name[CTX_EXP_STORE_KEY];
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct stored *left = a, *right = b;

	if (left->used.tv_sec != right->used.tv_sec)
		return left->used.tv_sec < right->used.tv_sec ? -1 : 1;
	if (left->used.tv_nsec != right->used.tv_nsec)
		return left->used.tv_nsec < right->used.tv_nsec ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* Removes the least recently used copies. Another recorder may do so, too. */
static void trim(int dir, DIR *stream, uint64_t max_bytes)
{
	struct stored *items CTX_AUTO_FREE = NULL;
	size_t n = 0, cap = 0;
	uint64_t sum = 0;
	struct dirent *entry;

	while ((entry = readdir(stream)) != NULL) {
		struct stat info;

		if (strlen(entry->d_name) >= CTX_EXP_STORE_KEY ||
		    fstatat(dir, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
			continue;
		if (ctx_grow(&items, &cap, n + 1, NULL) != CTX_OK)
			return;
		memcpy(items[n].name, entry->d_name, strlen(entry->d_name) + 1);
		items[n].bytes = (uint64_t)info.st_blocks * 512;
		items[n].used = info.st_atim;
		sum += items[n++].bytes;
	}
	if (n != 0)
		qsort(items, n, sizeof(*items), by_use);
	for (size_t i = 0; i < n && sum > max_bytes; i++) {
		(void)unlinkat(dir, items[i].name, 0);
		sum -= items[i].bytes;
	}
}

void ctx_exp_store_close(struct ctx_exp_store *store, uint64_t max_bytes)
{
	int dir = store->dir >= 0 && store->has_grown ? openat(store->dir, ".", O_RDONLY | O_CLOEXEC) : -1;
	DIR *stream = dir >= 0 ? fdopendir(dir) : NULL;

	if (stream != NULL) {
		trim(store->dir, stream, max_bytes);
		closedir(stream);
	} else if (dir >= 0) {
		close(dir);
	}
	if (store->dir >= 0)
		close(store->dir);
	*store = (struct ctx_exp_store){.dir = -1};
}
