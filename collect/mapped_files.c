/*
 *	(device, inode) --> file --> descriptor (the most recently used ones), build id
 *	(path, build id) -> file
 *	pid -------------> list of JIT code: directory, innermost pid
 */
#include "collect/mapped_files.h"

#include "base/fileio.h"
#include "base/map64.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "collect/foreign_files.h"
#include "collect/namespaces.h"
#include "collect/procfs.h"
#include "elf/elf_buildid.h"
#include "model/jit_code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define OPEN_MAX 256u	  /* descriptors kept open */
#define FILES_MAX 262144u /* noted; a file costs 300 bytes and its path */
#define PATH_BYTES_MAX ((size_t)64 << 20)
#define USERS_MAX 1024u /* beyond it files are opened without any rights */
#define JIT_MAX 1024u
#define TRIES_MAX 8u
#define SPARE_FILES 64u
#define FS_BTRFS 0x9123683e
#define FS_OVERLAY 0x794c7630

struct file {
	int fd;	      /* -1: not open */
	bool is_copy; /* fd is one: foreign_files.h */
	uint32_t major, minor;
	uint64_t inode;
	uint64_t address, size; /* of the last mapping */
	int64_t pid, parent_pid;
	const struct ctx_credentials *user;
	char *path; /* owned */
	const char *refusal;
	unsigned tries;
	struct timespec changed; /* when the build id was read */
	off_t bytes;
	char build_id[CTX_BUILDID_TEXT];
};

struct jit {
	int directory; /* -1: not found */
	int64_t inner_pid;
	const struct ctx_credentials *user;
};

struct ctx_mapped_files {
	struct file *files;
	size_t n, cap, path_bytes;
	struct ctx_map64 by_inode;
	struct ctx_strtab names; /* path, zero, build id */
	uint32_t *file_of_name;	 /* by id of the name */
	size_t file_of_name_cap;
	uint32_t open[OPEN_MAX]; /* a ring of files with descriptors; CTX_NONE: free */
	uint32_t next_open;
	struct ctx_credentials **users; /* each owned: their addresses stay */
	size_t n_users, users_cap;
	struct jit *jits;
	size_t n_jits, jits_cap;
	struct ctx_map64 jit_of_pid;
	struct ctx_foreign_files foreign;
};

static const struct ctx_credentials *nobody(void)
{
	static const struct ctx_credentials credentials = {.uid = 65534, .gid = 65534};

	return &credentials;
}

enum ctx_status ctx_mapped_files_create(struct ctx_mapped_files **ret, struct ctx_err *err)
{
	struct ctx_mapped_files *files = ctx_calloc(1, sizeof(*files));

	if (files == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < OPEN_MAX; i++)
		files->open[i] = UINT32_MAX;
	*ret = files;
	return CTX_OK;
}

void ctx_mapped_files_copy_to(struct ctx_mapped_files *files, const char *directory)
{
	files->foreign.directory = directory;
}

void ctx_mapped_files_destroy(struct ctx_mapped_files *files)
{
	if (files == NULL)
		return;
	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i].fd >= 0)
			close(files->files[i].fd);
		free(files->files[i].path);
	}
	for (size_t i = 0; i < files->n_jits; i++) {
		if (files->jits[i].directory >= 0)
			close(files->jits[i].directory);
	}
	for (size_t i = 0; i < files->n_users; i++)
		free(files->users[i]);
	ctx_map64_deinit(&files->by_inode);
	ctx_map64_deinit(&files->jit_of_pid);
	ctx_strtab_deinit(&files->names);
	free(files->file_of_name);
	free(files->users);
	free(files->files);
	free(files->jits);
	free(files);
}

/* Users */

static const struct ctx_credentials *intern_user(struct ctx_mapped_files *files,
						 const struct ctx_credentials *user)
{
	for (size_t i = 0; i < files->n_users; i++) {
		if (ctx_credentials_equal(files->users[i], user))
			return files->users[i];
	}
	if (files->n_users == USERS_MAX ||
	    ctx_grow(&files->users, &files->users_cap, files->n_users + 1, NULL) != CTX_OK)
		return nobody();
	files->users[files->n_users] = ctx_calloc(1, sizeof(*user));
	if (files->users[files->n_users] == NULL)
		return nobody();
	*files->users[files->n_users] = *user;
	return files->users[files->n_users++];
}

void ctx_mapped_files_see_user(struct ctx_mapped_files *files, struct ctx_mapper *mapper)
{
	struct ctx_credentials user;

	if (ctx_credentials_read(mapper->pid, &user))
		mapper->user = intern_user(files, &user);
}

static const struct ctx_credentials *user_of(struct ctx_mapped_files *files, struct ctx_mapper *mapper)
{
	ctx_mapped_files_see_user(files, mapper);
	return mapper->user != NULL ? mapper->user : nobody();
}

/* Opening */

/*
 * Resolves a path as the process does: "/" and links are below its root. Kernels before 5.6 lack the
 * call; the identity of the file is checked in any case.
 */
static int open_below(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root, path + strspn(path, "/"), (int)flags | O_NOFOLLOW);
	return fd;
}

/* Opens without rights to read: nothing happens to a device or a pipe. */
static int open_in_root(int64_t pid, const char *path, uint64_t flags)
{
	char name[64];
	int root CTX_AUTO_CLOSE = -1;

	if (pid > 0)
		snprintf(name, sizeof(name), "/proc/%" PRId64 "/root", pid);
	else
		snprintf(name, sizeof(name), "/");
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root >= 0 ? open_below(root, path, flags) : -1;
}

static int open_link(int64_t pid, const char *link)
{
	char name[128];

	snprintf(name, sizeof(name), "/proc/%" PRId64 "/%s", pid, link);
	return open(name, O_PATH | O_CLOEXEC);
}

/*
 * Whether an open file is the mapped one. btrfs and overlayfs report other devices in maps than in
 * stat.
 */
static bool is_same(int fd, const struct file *file)
{
	struct stat info;
	struct statfs system;

	if (fstat(fd, &info) != 0)
		return false;
	if (file->inode == 0)
		return file->build_id[0] != '\0';
	if (info.st_ino != file->inode)
		return false;
	return info.st_dev == makedev(file->major, file->minor) ||
	       (fstatfs(fd, &system) == 0 && (system.f_type == FS_BTRFS || system.f_type == FS_OVERLAY));
}

#define N_LINKS 2u /* to the mapped file itself */
#define N_PLACES 5u

/* The i-th place to look for a file; -1: not there. */
static int open_place(const struct file *file, unsigned i)
{
	const uint64_t flags = O_PATH | O_CLOEXEC;
	char range[64];

	switch (i) {
	case 0:
		snprintf(range, sizeof(range), "map_files/%" PRIx64 "-%" PRIx64, file->address,
			 file->address + file->size);
		return open_link(file->pid, range);
	case 1:
		return open_link(file->pid, "exe");
	case 2:
		return open_in_root(file->pid, file->path, flags);
	case 3:
		return file->parent_pid > 0 ? open_in_root(file->parent_pid, file->path, flags) : -1;
	default:
		return open_in_root(0, file->path, flags);
	}
}

static int open_again(int fd)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * Finds a place. The links of a process are found with the recorder's rights: the directories of
 * processes that hide from their own user belong to root. Paths are walked with the user's.
 */
static int find_place(const struct file *file, unsigned i)
{
	struct ctx_credentials_before before;
	int fd = -1;

	if (i < N_LINKS)
		return open_place(file, i);
	if (ctx_credentials_take(file->user, &before))
		fd = open_place(file, i);
	ctx_credentials_give_back(&before);
	return fd;
}

/* Opens for reading what is open without, with the rights of a user. */
static int open_as_user(int path, const struct ctx_credentials *user)
{
	struct ctx_credentials_before before;
	int fd = -1, error = EACCES;

	if (ctx_credentials_take(user, &before)) {
		fd = open_again(path);
		error = errno;
	}
	ctx_credentials_give_back(&before);
	errno = error;
	return fd;
}

/* -1: file->refusal says why. */
static int open_file(struct file *file)
{
	struct stat info;

	file->refusal = "not found, or no longer the file that was mapped";
	for (unsigned i = 0; i < N_PLACES; i++) {
		int path CTX_AUTO_CLOSE = find_place(file, i);
		int fd;

		if (path < 0 || !is_same(path, file))
			continue;
		if (fstat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
			file->refusal = "not a plain file";
			return -1;
		}
		fd = open_as_user(path, file->user);
		if (fd >= 0)
			return fd;
		file->refusal = errno == EACCES || errno == EPERM ? "the process's user may not read it"
								  : "cannot be opened";
	}
	return -1;
}

/* Reads the build id unless the file is as it was when it was read last. */
static void read_build_id(struct file *file, int fd, bool force)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return;
	if (!force && info.st_size == file->bytes && info.st_ctim.tv_sec == file->changed.tv_sec &&
	    info.st_ctim.tv_nsec == file->changed.tv_nsec)
		return;
	file->changed = info.st_ctim;
	file->bytes = info.st_size;
	ctx_buildid_of_fd(fd, file->build_id);
}

/* A file that the kernel has named by its build id must have it. */
static int open_and_check(struct file *file)
{
	char wanted[CTX_BUILDID_TEXT];
	int fd;

	if (file->tries == TRIES_MAX)
		return -1;
	file->tries++;
	fd = open_file(file);
	if (fd < 0)
		return -1;
	memcpy(wanted, file->build_id, sizeof(wanted));
	read_build_id(file, fd, true);
	if (file->inode != 0 || strcmp(file->build_id, wanted) == 0) {
		file->tries = 0;
		return fd;
	}
	memcpy(file->build_id, wanted, sizeof(wanted));
	file->refusal = "changed since: its build id is another one";
	close(fd);
	return -1;
}

/* The file at the same path of the recorder's own root; -1: it is another one, or not readable. */
static int open_own(const struct file *file)
{
	int path CTX_AUTO_CLOSE = find_place(file, N_PLACES - 1);

	return path >= 0 && is_same(path, file) ? open_as_user(path, file->user) : -1;
}

/* A descriptor to keep instead of one that keeps a mount of another namespace busy; or the same. */
static int leave_mount(struct ctx_mapped_files *files, struct file *file, int fd)
{
	int other;

	if (ctx_foreign_files_is_own(&files->foreign, file->pid))
		return fd;
	other = open_own(file);
	if (other < 0) {
		other = ctx_foreign_files_copy(&files->foreign, fd);
		file->is_copy = other >= 0;
	}
	if (other < 0)
		return fd;
	close(fd);
	return other;
}

/* Whether a copy is one of the file as it is now. Where nothing is found there is nothing newer. */
static bool is_current_copy(const struct file *file)
{
	for (unsigned i = 0; i < N_PLACES; i++) {
		int path CTX_AUTO_CLOSE = find_place(file, i);
		struct stat info;

		if (path >= 0 && is_same(path, file))
			return fstat(path, &info) == 0 && info.st_size == file->bytes &&
			       info.st_ctim.tv_sec == file->changed.tv_sec &&
			       info.st_ctim.tv_nsec == file->changed.tv_nsec;
	}
	return true;
}

/*
 * Keeps the descriptor; the one opened longest ago is closed for it. The recording itself needs
 * some: then it is not kept.
 */
static void keep_open(struct ctx_mapped_files *files, uint32_t number, int fd)
{
	uint32_t *place = &files->open[files->next_open % OPEN_MAX];
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || (rlim_t)fd + SPARE_FILES >= limit.rlim_cur) {
		close(fd);
		return;
	}
	if (*place != UINT32_MAX && files->files[*place].fd >= 0) {
		close(files->files[*place].fd);
		files->files[*place].fd = -1;
	}
	files->next_open++;
	*place = number;
	files->files[number].fd = fd;
}

/* Noting */

static uint64_t key_of(const struct ctx_mapped_file *mapped)
{
	return ctx_hash64(mapped->inode) ^ ((uint64_t)mapped->major << 32 | mapped->minor);
}

static uint32_t find_by_name(const struct ctx_mapped_files *files, const char *path, const char *build_id)
{
	struct ctx_buf key = {0};
	uint32_t id = UINT32_MAX;

	ctx_buf_put(&key, path, strlen(path) + 1);
	ctx_buf_put_text(&key, build_id);
	if (!key.failed)
		id = ctx_strtab_find(&files->names, (const char *)key.bytes, key.n);
	ctx_buf_deinit(&key);
	return id != UINT32_MAX ? files->file_of_name[id] : UINT32_MAX;
}

static enum ctx_status add_name(struct ctx_mapped_files *files, const char *path, const char *build_id,
				uint32_t number, struct ctx_err *err)
{
	struct ctx_buf key = {0};
	size_t before = files->names.n;
	enum ctx_status status;
	uint32_t id;

	ctx_buf_put(&key, path, strlen(path) + 1);
	ctx_buf_put_text(&key, build_id);
	status = ctx_buf_check(&key, err);
	if (status == CTX_OK)
		status = ctx_grow(&files->file_of_name, &files->file_of_name_cap, before + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&files->names, (const char *)key.bytes, key.n, &id, err);
	ctx_buf_deinit(&key);
	/* Without build ids two files can have one path in turn: the later one. */
	if (status == CTX_OK && (files->names.n != before || build_id[0] == '\0'))
		files->file_of_name[id] = number;
	return status;
}

/* A new file; UINT32_MAX in *ret: too many. */
static enum ctx_status new_file(struct ctx_mapped_files *files, const struct ctx_mapped_file *mapped,
				uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct file *file;

	*ret = UINT32_MAX;
	if (files->n == FILES_MAX || files->path_bytes > PATH_BYTES_MAX)
		return CTX_OK;
	files->path_bytes += strlen(mapped->path);
	status = ctx_grow(&files->files, &files->cap, files->n + 1, err);
	if (status != CTX_OK)
		return status;
	file = &files->files[files->n];
	*file = (struct file){
		.fd = -1, .major = mapped->major, .minor = mapped->minor, .inode = mapped->inode};
	file->path = ctx_memdup0(mapped->path, strlen(mapped->path));
	if (file->path == NULL)
		return ctx_err_nomem(err);
	if (mapped->inode != 0) {
		uint32_t *place = ctx_map64_place(&files->by_inode, key_of(mapped));

		if (place == NULL) {
			free(file->path);
			return ctx_err_nomem(err);
		}
		*place = (uint32_t)files->n;
	}
	snprintf(file->build_id, sizeof(file->build_id), "%s", mapped->build_id);
	*ret = (uint32_t)files->n++;
	return CTX_OK;
}

static uint32_t find(const struct ctx_mapped_files *files, const struct ctx_mapped_file *mapped)
{
	uint32_t number;
	const struct file *file;

	if (mapped->inode == 0)
		return find_by_name(files, mapped->path, mapped->build_id);
	number = ctx_map64_get(&files->by_inode, key_of(mapped));
	if (number == CTX_MAP64_NONE)
		return UINT32_MAX;
	file = &files->files[number];
	/* Only while it is open can the inode not have been used again. */
	return file->inode == mapped->inode && file->major == mapped->major && file->minor == mapped->minor &&
			       ((file->fd >= 0 && !file->is_copy) || strcmp(file->path, mapped->path) == 0)
		       ? number
		       : UINT32_MAX;
}

static bool is_file_name(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

static void reopen(struct ctx_mapped_files *files, uint32_t number)
{
	struct file *file = &files->files[number];
	int fd;

	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->is_copy = false;
	fd = open_and_check(file);
	if (fd >= 0)
		keep_open(files, number, leave_mount(files, file, fd));
}

enum ctx_status ctx_mapped_files_add(struct ctx_mapped_files *files, struct ctx_mapper *mapper,
				     const struct ctx_mapped_file *mapped, char build_id[CTX_BUILDID_TEXT],
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct file *file;
	uint32_t number;

	snprintf(build_id, CTX_BUILDID_TEXT, "%s", mapped->build_id);
	if (!is_file_name(mapped->path) || (mapped->inode == 0 && mapped->build_id[0] == '\0'))
		return CTX_OK;
	number = find(files, mapped);
	if (number == UINT32_MAX)
		status = new_file(files, mapped, &number, err);
	if (status != CTX_OK || number == UINT32_MAX)
		return status;
	file = &files->files[number];
	if (file->fd >= 0 && !file->is_copy) {
		read_build_id(file, file->fd, false);
	} else {
		file->pid = mapper->pid;
		file->parent_pid = mapper->parent_pid;
		file->address = mapped->address;
		file->size = mapped->size;
		file->user = user_of(files, mapper);
		if (file->fd < 0 || !is_current_copy(file))
			reopen(files, number);
	}
	snprintf(build_id, CTX_BUILDID_TEXT, "%s", file->build_id);
	return add_name(files, mapped->path, build_id, number, err);
}

/* JIT code */

/* The number of a process in its innermost pid namespace. */
static int64_t inner_pid_of(int64_t pid)
{
	struct ctx_buf text = {0};
	int64_t inner = 0;

	if (ctx_procfs_text(pid, "status", &text, NULL) == CTX_OK)
		inner = ctx_namespaces_parse_inner((const char *)text.bytes);
	ctx_buf_deinit(&text);
	return inner != 0 ? inner : pid;
}

enum ctx_status ctx_mapped_files_add_jit(struct ctx_mapped_files *files, struct ctx_mapper *mapper,
					 struct ctx_err *err)
{
	struct ctx_credentials_before before;
	enum ctx_status status;
	struct jit jit = {.directory = -1};
	uint32_t *place;

	if (ctx_map64_get(&files->jit_of_pid, (uint64_t)mapper->pid) != CTX_MAP64_NONE ||
	    files->n_jits == JIT_MAX)
		return CTX_OK;
	status = ctx_grow(&files->jits, &files->jits_cap, files->n_jits + 1, err);
	place = status == CTX_OK ? ctx_map64_place(&files->jit_of_pid, (uint64_t)mapper->pid) : NULL;
	if (place == NULL)
		return status == CTX_OK ? ctx_err_nomem(err) : status;
	*place = (uint32_t)files->n_jits;
	jit.user = user_of(files, mapper);
	jit.inner_pid = inner_pid_of(mapper->pid);
	if (ctx_credentials_take(jit.user, &before)) {
		jit.directory = open_in_root(mapper->pid, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (jit.directory < 0)
			jit.directory = open_in_root(0, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	ctx_credentials_give_back(&before);
	files->jits[files->n_jits++] = jit;
	return CTX_OK;
}

/* Any user may create files in /tmp, and links to files of others. */
static int open_list(const struct jit *jit, struct ctx_err *err)
{
	char path[CTX_JIT_CODE_PATH];
	struct stat info;
	int fd;

	ctx_jit_code_path(jit->inner_pid, path);
	fd = openat(jit->directory, strrchr(path, '/') + 1,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		(void)ctx_err_errno(err, CTX_E_NOTFOUND, "cannot be opened");
		return -1;
	}
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1)
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file, or a link");
	else if (info.st_uid != jit->user->uid && info.st_uid != 0)
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "it belongs to user %u, the process to user %u",
				  info.st_uid, jit->user->uid);
	else
		return fd;
	close(fd);
	return -1;
}

static int open_jit(const struct ctx_mapped_files *files, const char *path, struct ctx_err *err)
{
	int64_t pid = strtoll(path + strcspn(path, "0123456789"), NULL, 10);
	uint32_t number = ctx_map64_get(&files->jit_of_pid, (uint64_t)pid);
	struct ctx_credentials_before before;
	int fd = -1;

	if (number == CTX_MAP64_NONE || files->jits[number].directory < 0) {
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "the process's /tmp could not be opened");
		return -1;
	}
	if (ctx_credentials_take(files->jits[number].user, &before))
		fd = open_list(&files->jits[number], err);
	else
		(void)ctx_err_set(err, CTX_E_NOTFOUND,
				  "the rights of the process's user cannot be taken over");
	ctx_credentials_give_back(&before);
	return fd;
}

/* Results */

int ctx_mapped_files_open(struct ctx_mapped_files *files, const char *path, const char *build_id,
			  struct ctx_err *err)
{
	struct file *file;
	uint32_t number;
	int fd;

	if (ctx_jit_code_is(path))
		return open_jit(files, path, err);
	number = find_by_name(files, path, build_id);
	if (number == UINT32_MAX) {
		(void)ctx_err_set(err, CTX_E_NOTFOUND,
				  is_file_name(path) ? "not noted as mapped, or too many files were"
						     : "not a file");
		return -1;
	}
	file = &files->files[number];
	/* An own file position: what is copied begins at the front. */
	fd = file->fd >= 0 ? open_again(file->fd) : open_and_check(file);
	if (fd < 0)
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "%s",
				  file->refusal != NULL ? file->refusal : "cannot be opened");
	return fd;
}

void ctx_mapped_files_each(struct ctx_mapped_files *files, ctx_mapped_files_fn *take, void *context)
{
	bool goes_on = true;

	for (size_t i = 0; i < files->n && goes_on; i++) {
		struct file *file = &files->files[i];
		int fd = file->fd >= 0 ? open_again(file->fd) : open_and_check(file);

		if (fd < 0)
			continue;
		goes_on = take(context, file->path, fd);
		close(fd);
	}
}

const struct ctx_credentials *ctx_mapped_files_user(const struct ctx_mapped_files *files, const char *path,
						    const char *build_id)
{
	uint32_t number = find_by_name(files, path, build_id);

	return number != UINT32_MAX ? files->files[number].user : NULL;
}
