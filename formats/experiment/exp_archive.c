#include "formats/experiment/exp_archive.h"

#include "base/buildid.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"
#include "model/made_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define OBJECT_MAX_BYTES ((uint64_t)1 << 30)
#define VDSO_MAX_BYTES ((size_t)64 * 1024)
#define LEVEL 3
#define KALLSYMS "kallsyms.zst"
#define USUAL_MODE 0644u

void ctx_exp_archive_name(const char *path, const char *build_id, char out[CTX_EXP_ARCHIVE_NAME_MAX])
{
	if (ctx_buildid_is_plain(build_id))
		snprintf(out, CTX_EXP_ARCHIVE_NAME_MAX, "%s.zst", build_id);
	else
		snprintf(out, CTX_EXP_ARCHIVE_NAME_MAX, "path-%016llx.zst",
			 (unsigned long long)ctx_xxh3(path, strlen(path)));
}

/* One zstd frame that grows in a temporary file. */
struct copy {
	ZSTD_CCtx *context;
	int fd;
	uint8_t *out;
	size_t out_size;
	uint64_t bytes;
};

static enum ctx_status compress_part(struct copy *copy, const void *bytes, size_t n, ZSTD_EndDirective end,
				     struct ctx_err *err)
{
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t left;

	copy->bytes += n;
	do {
		ZSTD_outBuffer out = {copy->out, copy->out_size, 0};
		enum ctx_status status;

		left = ZSTD_compressStream2(copy->context, &out, &in, end);
		if (ZSTD_isError(left))
			return ctx_err_set(err, CTX_E_NOMEM, "zstd: %s", ZSTD_getErrorName(left));
		status = ctx_file_write(copy->fd, "archives", copy->out, out.pos, err);
		if (status != CTX_OK)
			return status;
	} while (in.pos < in.size || (end == ZSTD_e_end && left != 0));
	return CTX_OK;
}

static enum ctx_status compress_file(struct copy *copy, int from, struct ctx_err *err)
{
	size_t size = ZSTD_CStreamInSize();
	uint8_t *bytes CTX_AUTO_FREE = malloc(size);

	if (bytes == NULL)
		return ctx_err_nomem(err);
	for (;;) {
		ssize_t got = read(from, bytes, size);
		enum ctx_status status;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_NOTFOUND, "read");
		status =
			compress_part(copy, bytes, (size_t)got, got == 0 ? ZSTD_e_end : ZSTD_e_continue, err);
		if (status != CTX_OK || got == 0)
			return status;
	}
}

/* Compresses a file (`from` >= 0) or memory to archives/<name>, by way of a temporary name. */
static enum ctx_status store(int dir, const char *name, int from, const void *image, size_t n, unsigned mode,
			     uint64_t *ret_bytes, struct ctx_err *err)
{
	struct copy copy = {.out_size = ZSTD_CStreamOutSize()};
	int archives CTX_AUTO_CLOSE = -1;
	enum ctx_status status;
	char temporary[CTX_EXP_ARCHIVE_NAME_MAX + 32];

	if (mkdirat(dir, "archives", 0755) != 0 && errno != EEXIST)
		return ctx_err_errno(err, CTX_E_IO, "archives");
	archives = openat(dir, "archives", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (archives < 0)
		return ctx_err_errno(err, CTX_E_IO, "archives");
	if (faccessat(archives, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return CTX_END;
	snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", name,
		 (long)getpid()); /* two may do this at once */
	copy.fd = openat(archives, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (copy.fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "archives/%s", name);
	copy.context = ZSTD_createCCtx();
	copy.out = malloc(copy.out_size);
	if (copy.context == NULL || copy.out == NULL)
		status = ctx_err_nomem(err);
	else if (ZSTD_isError(ZSTD_CCtx_setParameter(copy.context, ZSTD_c_compressionLevel, LEVEL)))
		status = ctx_err_set(err, CTX_E_INTERNAL, "zstd: level");
	else if (from >= 0)
		status = compress_file(&copy, from, err);
	else
		status = compress_part(&copy, image, n, ZSTD_e_end, err);
	ZSTD_freeCCtx(copy.context);
	free(copy.out);
	if (close(copy.fd) != 0 && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "archives/%s", name);
	if (status == CTX_OK && renameat(archives, temporary, archives, name) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "archives/%s", name);
	if (status != CTX_OK)
		unlinkat(archives, temporary, 0);
	*ret_bytes = copy.bytes;
	return status;
}

enum ctx_status ctx_exp_archive_bytes(int dir, const char *name, const void *bytes, size_t n, unsigned mode,
				      struct ctx_err *err)
{
	uint64_t written;

	return store(dir, name, -1, bytes, n, mode, &written, err);
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

static enum ctx_status archive_vdso(int dir, const char *build_id, uint64_t *ret_bytes, struct ctx_err *err)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX], found[CTX_BUILDID_TEXT];
	const uint8_t *image;
	enum ctx_status status;
	size_t n;

	if (!ctx_exp_own_vdso(&image, &n, found))
		return ctx_err_set(err, CTX_E_NOTFOUND, "this process has no vdso");
	if (strcmp(found, build_id) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "another vdso than this process's");
	ctx_exp_archive_name("[vdso]", build_id, name);
	status = store(dir, name, -1, image, n, USUAL_MODE, ret_bytes, err);
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
	/* Not a device or a pipe: opening those could do something, or wait. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		(void)ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
		return -1;
	}
	/* Anybody may make links in /tmp. */
	file = open(path,
		    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (ctx_made_code_is(path) ? O_NOFOLLOW : 0));
	if (file < 0)
		(void)ctx_err_errno(err, CTX_E_NOTFOUND, "cannot be opened");
	return file;
}

/* Names of functions made at run time: anybody may make files in /tmp, and links to those of others. */
static bool is_honest_map(const struct stat *info)
{
	return info->st_nlink == 1;
}

/* Without a build id nothing tells that the file is the object: it must at least be one. */
static bool is_elf(int file)
{
	char magic[SELFMAG];

	return pread(file, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, ELFMAG, sizeof(magic)) == 0;
}

static enum ctx_status archive_file(int dir, int from, const char *path, const char *build_id,
				    uint64_t *ret_bytes, struct ctx_err *err)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX], found[CTX_BUILDID_TEXT];
	enum ctx_status status;
	struct stat info;

	if (fstat(from, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
	if ((uint64_t)info.st_size > OBJECT_MAX_BYTES)
		return ctx_err_set(err, CTX_E_NOTFOUND, "larger than 1 GiB");
	if (ctx_made_code_is(path) ? !is_honest_map(&info) : build_id[0] == '\0' && !is_elf(from))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not the object that was mapped");
	ctx_buildid_of_fd(from, found);
	if (build_id[0] != '\0' && strcmp(found, build_id) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "changed since: its build id is another one");
	ctx_exp_archive_name(path, build_id, name);
	if (lseek(from, 0, SEEK_SET) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "read");
	status = store(dir, name, from, NULL, 0, USUAL_MODE, ret_bytes, err);
	if (status == CTX_END)
		*ret_bytes = (uint64_t)info.st_size;
	return status;
}

enum ctx_status ctx_exp_archive_object(int dir, const char *path, const char *build_id, uint64_t *ret_bytes,
				       struct ctx_err *err)
{
	int from CTX_AUTO_CLOSE = -1;

	*ret_bytes = 0;
	if (strcmp(path, "[vdso]") == 0)
		return archive_vdso(dir, build_id, ret_bytes, err);
	from = ctx_exp_archive_open(path, err);
	return from >= 0 ? archive_file(dir, from, path, build_id, ret_bytes, err) : CTX_E_NOTFOUND;
}

enum ctx_status ctx_exp_archive_kallsyms(int dir, uint64_t *ret_bytes, struct ctx_err *err)
{
	struct ctx_buf text = {0};
	enum ctx_status status = ctx_file_read("/proc/kallsyms", (size_t)256 << 20, &text, err);
	size_t zeros;

	*ret_bytes = 0;
	if (status != CTX_OK) {
		ctx_buf_deinit(&text);
		return status == CTX_E_NOMEM ? status : CTX_E_NOTFOUND;
	}
	/* Without the right to see addresses every line begins with zeros. */
	for (zeros = 0; zeros < text.n && text.bytes[zeros] == '0'; zeros++)
		;
	if (text.n == 0 || (zeros >= 16 && memmem(text.bytes, text.n, "\nffff", 5) == NULL))
		status = ctx_err_set(err, CTX_E_NOTFOUND,
				     "/proc/kallsyms shows no addresses (kernel.kptr_restrict)");
	else
		status = store(dir, KALLSYMS, -1, text.bytes, text.n, USUAL_MODE, ret_bytes, err);
	ctx_buf_deinit(&text);
	return status;
}

static void put_line(struct ctx_exp_writer *writer, const char *path, const char *build_id,
		     enum ctx_status status, const char *reason, const char *file, uint64_t bytes)
{
	struct ctx_buf *out = &writer->log;

	ctx_buf_put_text(out, "<archive");
	ctx_exp_xml_attribute(out, "path", path);
	ctx_exp_xml_attribute(out, "build_id", build_id);
	if (status == CTX_OK || status == CTX_END) {
		ctx_exp_xml_attribute(out, "file", file);
		ctx_exp_xml_number(out, "bytes", bytes);
	} else {
		ctx_exp_xml_attribute(out, "missing", reason);
	}
	ctx_buf_put_text(out, "/>\n");
}

enum ctx_status ctx_exp_archive(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	uint32_t n = (uint32_t)writer->objects.names.n;
	enum ctx_status status = CTX_OK;

	if (writer->failed.status != CTX_OK)
		return ctx_err_set(err, writer->failed.status, "%s", writer->failed.msg);
	for (uint32_t i = 0; i < n && status != CTX_E_IO && status != CTX_E_NOMEM; i++) {
		const char *path = ctx_exp_objects_path(&writer->objects, i);
		const char *build_id = ctx_exp_objects_build_id(&writer->objects, i);
		struct ctx_err local = {0};
		char name[CTX_EXP_ARCHIVE_NAME_MAX];
		uint64_t bytes = 0;

		if (!writer->objects.sampled[i])
			continue;
		ctx_exp_archive_name(path, build_id, name);
		/* What is at its path, if that is it, or the file that was opened at its first sample. */
		status = ctx_exp_archive_object(writer->dir, path, build_id, &bytes, &local);
		if (status == CTX_E_NOTFOUND && writer->objects.files[i] != 0)
			status = archive_file(writer->dir, writer->objects.files[i] - 1, path, build_id,
					      &bytes, &local);
		put_line(writer, path, build_id, status, local.msg, name, bytes);
		if (status == CTX_E_IO || status == CTX_E_NOMEM)
			ctx_err_set(err, status, "%s/%s", writer->path, local.msg);
	}
	if (writer->kernel_seen && status != CTX_E_IO && status != CTX_E_NOMEM) {
		struct ctx_err local = {0};
		uint64_t bytes = 0;

		status = ctx_exp_archive_kallsyms(writer->dir, &bytes, &local);
		put_line(writer, "[kernel]", "", status, local.msg, KALLSYMS, bytes);
		if (status == CTX_E_IO || status == CTX_E_NOMEM)
			ctx_err_set(err, status, "%s/%s", writer->path, local.msg);
	}
	if (status == CTX_E_IO || status == CTX_E_NOMEM)
		return status;
	return ctx_exp_flush_log(writer, err);
}
