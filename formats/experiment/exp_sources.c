/*
 * Copies of source files: lists sampled load objects with offsets, and copies a file.
 *
 *	places --> ctx_exp_each_sampled --> (the caller reads debug information) --> ctx_exp_archive_source --> archives/source-0.zst
 *	                                                                                                   `--> <source> in log.xml
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The names of source files' copies: "source-<number>.zst". Names are not derived from paths: two
 * paths with the same hash would share a file.
 */
static void source_name(uint32_t number, char out[CTX_EXP_ARCHIVE_NAME_MAX])
{
	snprintf(out, CTX_EXP_ARCHIVE_NAME_MAX, "source-%u.zst", number);
}

bool ctx_exp_is_source_name(const char *name)
{
	static const char BEGIN[] = "source-";
	size_t n;

	if (strncmp(name, BEGIN, sizeof(BEGIN) - 1) != 0)
		return false;
	name += sizeof(BEGIN) - 1;
	n = strspn(name, "0123456789");
	return n > 0 && n <= 10 && strcmp(name + n, ".zst") == 0;
}

enum ctx_status ctx_exp_each_sampled(struct ctx_exp_writer *writer, ctx_exp_sampled_fn *each, void *context,
				     struct ctx_err *err)
{
	uint32_t n = (uint32_t)writer->objects.names.n;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_exp_sampled object = {.path = ctx_exp_objects_path(&writer->objects, i),
						 .build_id = ctx_exp_objects_build_id(&writer->objects, i)};
		struct ctx_exp_offsets found;

		if (!writer->objects.sampled[i])
			continue;
		status = ctx_exp_places_get(&writer->places, i, &found, err);
		if (status != CTX_OK)
			return status;
		object.offsets = found.offsets;
		object.n_offsets = found.n;
		object.all = found.all;
		status = each(context, &object, err);
		free(found.offsets);
	}
	return status;
}

/*
 * The text of a regular file up to a size. The file is opened before it is checked, so that the
 * checked file is read.
 */
static enum ctx_status read_text(const struct ctx_exp_source *source, struct stat *info, struct ctx_buf *out,
				 struct ctx_err *err)
{
	uint64_t max_bytes = source->max_bytes < source->left_bytes ? source->max_bytes : source->left_bytes;
	int fd CTX_AUTO_CLOSE = -1;
	enum ctx_status status;

	if (source->file < 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no plain file that the process's user may read");
	/* Not a device or a pipe: opening one may block or have side effects. */
	if (source->file == 0 && stat(source->path, info) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "cannot be opened");
	if (source->file == 0 && !S_ISREG(info->st_mode))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
	fd = source->file != 0 ? fcntl(source->file, F_DUPFD_CLOEXEC, 0)
			       : open(source->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, info) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "cannot be opened");
	if (!S_ISREG(info->st_mode))
		return ctx_err_set(err, CTX_E_NOTFOUND, "not a plain file");
	if (info->st_size == 0) /* also files of /proc, which must not be read */
		return ctx_err_set(err, CTX_E_NOTFOUND, "empty");
	if ((uint64_t)info->st_size > source->max_bytes)
		return ctx_err_set(err, CTX_E_LIMIT, "too large: %llu bytes",
				   (unsigned long long)info->st_size);
	if ((uint64_t)info->st_size > source->left_bytes)
		return ctx_err_set(err, CTX_E_LIMIT, "larger than what is left for source files: %llu bytes",
				   (unsigned long long)info->st_size);
	status = ctx_file_read_fd(fd, "source", (size_t)max_bytes, out, err); /* it may be growing */
	if (status != CTX_OK)
		return status == CTX_E_NOMEM || status == CTX_E_LIMIT ? status : CTX_E_NOTFOUND;
	if (memchr(out->bytes, 0, out->n) != NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no text: there are zero bytes in it");
	return CTX_OK;
}

static void put_copied(struct ctx_buf *out, const char *path, const char *archive, size_t bytes,
		       bool is_newer)
{
	ctx_buf_put_text(out, "<source");
	ctx_exp_xml_attribute(out, "path", path);
	ctx_exp_xml_attribute(out, "archive", archive);
	ctx_exp_xml_number(out, "bytes", bytes);
	if (is_newer)
		ctx_exp_xml_number(out, "newer", 1);
	ctx_buf_put_text(out, "/>\n");
}

static void put_missing(struct ctx_buf *out, const char *path, const char *reason)
{
	ctx_buf_put_text(out, "<source");
	ctx_exp_xml_attribute(out, "path", path);
	ctx_exp_xml_attribute(out, "missing", reason);
	ctx_buf_put_text(out, "/>\n");
}

enum ctx_status ctx_exp_archive_source(struct ctx_exp_writer *writer, const struct ctx_exp_source *source,
				       uint64_t *ret_bytes, bool *ret_is_newer, struct ctx_err *err)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX];
	struct ctx_buf text = {0};
	struct ctx_err local = {0};
	struct stat info = {0};
	enum ctx_status status;

	*ret_bytes = 0;
	*ret_is_newer = false;
	if (writer->failed.status != CTX_OK)
		return ctx_err_set(err, writer->failed.status, "%s", writer->failed.msg);
	status = read_text(source, &info, &text, &local);
	source_name(writer->copying.n_sources, name);
	if (status == CTX_OK) {
		/* The experiment may be readable by more users than the file. */
		struct ctx_exp_image image = {text.bytes, text.n,
					      (info.st_mode & S_IROTH) != 0 ? 0644 : 0600};

		status = ctx_exp_archive_bytes(writer->dir, name, &image, &local);
		if (status == CTX_END)
			status = ctx_err_set(&local, CTX_E_IO, "archives/%s: is there already", name);
		if (status == CTX_E_IO)
			ctx_err_prefix(&local, status, "%s", writer->path);
	}
	if (status == CTX_OK) {
		*ret_bytes = text.n;
		*ret_is_newer = info.st_mtim.tv_sec > source->built_seconds;
		put_copied(&writer->log, source->path, name, text.n, *ret_is_newer);
		writer->copying.n_sources++;
	} else if (status == CTX_E_NOTFOUND || status == CTX_E_LIMIT) {
		put_missing(&writer->log, source->path, local.msg);
	}
	ctx_buf_deinit(&text);
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", local.msg);
	return writer->log.n >= CTX_EXP_BUFFER_BYTES ? ctx_exp_flush_log(writer, err) : CTX_OK;
}
