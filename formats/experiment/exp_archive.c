#include "formats/experiment/exp_archive.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "base/zstd_file.h"
#include "elf/elf_buildid.h"
#include "model/jit_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECT_MAX_BYTES ((uint64_t)1 << 30)
#define VDSO_MAX_BYTES ((size_t)64 * 1024)
#define USUAL_MODE 0644u /* of what is no file: the vdso, the kernel's functions */

void ctx_exp_archive_name(const char *path, const char *build_id, char out[CTX_EXP_ARCHIVE_NAME_MAX])
{
	if (ctx_buildid_is_plain(build_id))
		snprintf(out, CTX_EXP_ARCHIVE_NAME_MAX, "%s.zst", build_id);
	else
		snprintf(out, CTX_EXP_ARCHIVE_NAME_MAX, "path-%016llx.zst",
			 (unsigned long long)ctx_xxh3(path, strlen(path)));
}

struct content {
	int file; /* -1: copy the image */
	struct ctx_exp_image image;
	uint64_t size;		     /* of the file; the frame says it, if it is true */
	char key[CTX_EXP_STORE_KEY]; /* in the store; "" none */
};

/* Others may read a copy if they may read both the original and the experiment. */
static mode_t mode_of_copy(int dir, unsigned original)
{
	struct stat info;

	return fstat(dir, &info) == 0 ? 0600u | (original & info.st_mode & 0044u) : 0600u;
}

/* archives/ is as open as the directory it is in. */
static mode_t mode_of_archives(int dir)
{
	struct stat info;

	return fstat(dir, &info) == 0 ? 0700u | (info.st_mode & 0055u) : 0700u;
}

static enum ctx_status open_archives(int dir, int *ret, struct ctx_err *err)
{
	if (mkdirat(dir, "archives", mode_of_archives(dir)) != 0 && errno != EEXIST)
		return ctx_err_errno(err, CTX_E_IO, "archives");
	*ret = openat(dir, "archives", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret >= 0 ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "archives");
}

/* Compresses a file or memory to archives/<name>. */
static enum ctx_status write_copy(const struct ctx_exp_store_end *to, const struct content *content,
				  uint64_t *ret_bytes, struct ctx_err *err)
{
	const struct ctx_zstd_content packing = {.file = content->file,
						 .bytes = {content->image.bytes, content->image.n},
						 /* A file that has a key does not change. */
						 .has_size = content->key[0] != '\0',
						 .size = content->size,
						 .level = 3,
						 .to_name = "archives"};
	struct ctx_exp_store_writing writing;
	enum ctx_status status = ctx_exp_store_begin_writing(to, &writing, err);

	if (status != CTX_OK)
		return status;
	status = ctx_zstd_write(&packing, writing.fd, ret_bytes, err);
	return ctx_exp_store_end_writing(&writing, status, err);
}

/* To archives/<name>: from the store, or compressed. */
static enum ctx_status put(const struct ctx_exp_copies_to *to, const char *name,
			   const struct content *content, uint64_t *ret_bytes, struct ctx_err *err)
{
	int archives CTX_AUTO_CLOSE = -1;
	struct ctx_exp_store_end end = {.name = name, .mode = mode_of_copy(to->dir, content->image.mode)};
	enum ctx_status status = open_archives(to->dir, &archives, err);

	if (status != CTX_OK)
		return status;
	end.archives = archives;
	if (faccessat(archives, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return CTX_END;
	status = ctx_exp_store_take(to->store, content->key, &end, ret_bytes, err);
	if (status != CTX_END)
		return status;
	status = write_copy(&end, content, ret_bytes, err);
	if (status == CTX_OK)
		ctx_exp_store_give(to->store, content->key, &end);
	return status;
}

enum ctx_status ctx_exp_archive_bytes(int dir, const char *name, const struct ctx_exp_image *image,
				      struct ctx_err *err)
{
	const struct ctx_exp_copies_to to = {.dir = dir};
	struct content content = {.file = -1, .image = *image};
	uint64_t written;

	return put(&to, name, &content, &written, err);
}

/* A write from memory that is not mapped fails with EFAULT instead of a signal. */
static bool is_mapped(const uint8_t *byte)
{
	int pipes[2];
	bool readable;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return false;
	readable = write(pipes[1], byte, 1) == 1;
	close(pipes[0]);
	close(pipes[1]);
	return readable;
}

/* An image in memory ends with its section headers, as the kernel builds it. */
static size_t image_size(const uint8_t *image, size_t n)
{
	Elf64_Ehdr header;
	uint64_t end;

	if (n < sizeof(header))
		return 0;
	memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	if (header.e_shoff > n)
		return 0;
	end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	return end <= n ? (size_t)end : 0;
}

bool ctx_exp_own_vdso(const uint8_t **ret_image, size_t *ret_n, char build_id[CTX_BUILDID_TEXT])
{
	const uint8_t *image = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	size_t n = 0, page = (size_t)getpagesize();

	while (image != NULL && n < VDSO_MAX_BYTES && is_mapped(image + n))
		n += page;
	*ret_image = image;
	*ret_n = n != 0 ? image_size(image, n) : 0;
	build_id[0] = '\0';
	return *ret_n != 0 && ctx_buildid_of_image(image, *ret_n, build_id);
}

static enum ctx_status archive_vdso(const struct ctx_exp_copies_to *to, const char *build_id,
				    uint64_t *ret_bytes, struct ctx_err *err)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX], found[CTX_BUILDID_TEXT];
	struct content content = {.file = -1};
	enum ctx_status status;
	const uint8_t *image;
	size_t n;

	if (!ctx_exp_own_vdso(&image, &n, found))
		return ctx_err_set(err, CTX_E_NOTFOUND, "this process has no vdso");
	if (strcmp(found, build_id) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "another vdso than this process's");
	ctx_exp_archive_name("[vdso]", build_id, name);
	content.image = (struct ctx_exp_image){image, n, USUAL_MODE};
	status = put(to, name, &content, ret_bytes, err);
	*ret_bytes = n;
	return status;
}

int ctx_exp_archive_open(const char *path, struct ctx_err *err)
{
	struct stat info;
	int file;

	if (path[0] != '/' || path[1] == '/') {
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "not a file");
		return -1;
	}
	/* Not a device or a pipe: opening one may block or have side effects. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
		return -1;
	}
	/* Any user may create links in /tmp. */
	file = open(path,
		    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (ctx_jit_code_is(path) ? O_NOFOLLOW : 0));
	if (file < 0)
		(void)ctx_err_errno(err, CTX_E_NOTFOUND, "cannot be opened");
	return file;
}

/* Perf maps of JIT code: any user may create files in /tmp, and links to files of others. */
static bool is_honest_map(const struct stat *info)
{
	return info->st_nlink == 1;
}

/* Without a build id the file cannot be verified; it must at least be a load object. */
static bool is_elf(int file)
{
	char magic[SELFMAG];

	return pread(file, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, ELFMAG, sizeof(magic)) == 0;
}

enum ctx_status ctx_exp_archive_opened(const struct ctx_exp_copies_to *to,
				       const struct ctx_exp_opened *object, uint64_t *ret_bytes,
				       struct ctx_err *err)
{
	struct content content = {.file = object->file};
	const char *path = object->path, *build_id = object->build_id;
	char name[CTX_EXP_ARCHIVE_NAME_MAX], found[CTX_BUILDID_TEXT];
	enum ctx_status status;
	struct stat info;

	if (fstat(object->file, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
	content.image.mode = info.st_mode;
	content.size = (uint64_t)info.st_size;
	if ((uint64_t)info.st_size > OBJECT_MAX_BYTES)
		return ctx_err_set(err, CTX_E_NOTFOUND, "larger than 1 GiB");
	if (ctx_jit_code_is(path) ? !is_honest_map(&info) : build_id[0] == '\0' && !is_elf(object->file))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not the object that was mapped");
	ctx_buildid_of_fd(object->file, found);
	if (build_id[0] != '\0' && strcmp(found, build_id) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "changed since: its build id is another one");
	ctx_exp_archive_name(path, build_id, name);
	/* A list of JIT code has one reader, and grows. */
	if (!ctx_jit_code_is(path))
		ctx_exp_store_key_of_file(object->file, build_id, content.key);
	if (lseek(object->file, 0, SEEK_SET) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "read");
	status = put(to, name, &content, ret_bytes, err);
	if (status == CTX_END)
		*ret_bytes = (uint64_t)info.st_size;
	return status;
}

enum ctx_status ctx_exp_archive_object(const struct ctx_exp_copies_to *to, const char *path,
				       const char *build_id, uint64_t *ret_bytes, struct ctx_err *err)
{
	int file CTX_AUTO_CLOSE = -1;
	struct ctx_exp_opened object = {.path = path, .build_id = build_id};

	*ret_bytes = 0;
	if (strcmp(path, "[vdso]") == 0)
		return archive_vdso(to, build_id, ret_bytes, err);
	object.file = file = ctx_exp_archive_open(path, err);
	return file >= 0 ? ctx_exp_archive_opened(to, &object, ret_bytes, err) : CTX_E_NOTFOUND;
}

/* Without permission to see addresses, every line begins with zeros. */
static bool shows_addresses(const struct ctx_buf *text)
{
	size_t zeros;

	for (zeros = 0; zeros < text->n && text->bytes[zeros] == '0'; zeros++)
		;
	return text->n != 0 && (zeros < 16 || memmem(text->bytes, text->n, "\nffff", 5) != NULL);
}

enum ctx_status ctx_exp_archive_kallsyms(const struct ctx_exp_copies_to *to, const char *key,
					 uint64_t *ret_bytes, struct ctx_err *err)
{
	struct content content = {.file = -1};
	struct ctx_buf text = {0};
	int archives CTX_AUTO_CLOSE = -1;
	enum ctx_status status = open_archives(to->dir, &archives, err);
	const struct ctx_exp_store_end end = {archives, CTX_EXP_ARCHIVE_KALLSYMS,
					      mode_of_copy(to->dir, USUAL_MODE)};

	*ret_bytes = 0;
	/* Reading the kernel's list takes longer than everything else: the store is asked first. */
	if (status == CTX_OK && faccessat(archives, end.name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
		status = ctx_exp_store_take(to->store, key, &end, ret_bytes, err);
		if (status == CTX_OK)
			return CTX_OK;
		status = status == CTX_END ? CTX_OK : status;
	}
	if (status != CTX_OK)
		return status;
	status = ctx_file_read("/proc/kallsyms", (size_t)256 << 20, &text, err);
	if (status != CTX_OK) {
		ctx_buf_deinit(&text);
		return status == CTX_E_NOMEM ? status : CTX_E_NOTFOUND;
	}
	content.image = (struct ctx_exp_image){text.bytes, text.n, USUAL_MODE};
	snprintf(content.key, sizeof(content.key), "%s", key);
	if (!shows_addresses(&text))
		status = ctx_err_set(err, CTX_E_NOTFOUND,
				     "/proc/kallsyms shows no addresses (kernel.kptr_restrict)");
	else
		status = put(to, CTX_EXP_ARCHIVE_KALLSYMS, &content, ret_bytes, err);
	ctx_buf_deinit(&text);
	return status;
}
